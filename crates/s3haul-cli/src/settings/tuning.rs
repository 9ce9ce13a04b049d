//! The limits of the profile's `s3 =` section.

use s3haul::job::Tuning;
use s3haul::units::{parse_rate, parse_size};

use super::profile::Profile;
use crate::failure::Failure;

/// Limits of the library with what the profile says.
pub(crate) fn tuning(profile: &Profile) -> Result<Tuning, Failure> {
    let mut tuning = Tuning::default();
    if let Some(value) = count(profile, "max_concurrent_requests")? {
        tuning.max_concurrent_requests = value;
    }
    if let Some(value) = count(profile, "max_queue_size")? {
        tuning.max_queue_size = value;
    }
    if let Some(value) = size(profile, "multipart_threshold")? {
        tuning.multipart_threshold = value;
    }
    if let Some(value) = size(profile, "multipart_chunksize")? {
        tuning.multipart_chunksize = value;
    }
    if let Some(value) = profile.s3("max_bandwidth") {
        let rate = parse_rate(value).map_err(|error| Failure::other(error.to_string()))?;
        tuning.max_bandwidth = Some(positive("max_bandwidth", value, rate)?);
    }
    Ok(tuning)
}

fn count(profile: &Profile, key: &str) -> Result<Option<usize>, Failure> {
    let Some(value) = profile.s3(key) else { return Ok(None) };
    let parsed = value.parse::<u64>().ok();
    let positive = positive(key, value, parsed.unwrap_or(0))?;
    Ok(Some(usize::try_from(positive).unwrap_or(usize::MAX)))
}

fn size(profile: &Profile, key: &str) -> Result<Option<u64>, Failure> {
    let Some(value) = profile.s3(key) else { return Ok(None) };
    let parsed = parse_size(value).map_err(|error| Failure::other(error.to_string()))?;
    positive(key, value, parsed).map(Some)
}

fn positive(key: &str, value: &str, parsed: u64) -> Result<u64, Failure> {
    if parsed > 0 {
        return Ok(parsed);
    }
    Err(Failure::other(format!("Value for {key} must be a positive integer: {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::environment::Environment;
    use crate::settings::profile::ProfileName;

    fn read(s3: &str) -> Result<Tuning, Failure> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("[default]\ns3 =\n{s3}")).unwrap();
        let path = file.path().to_str().unwrap();
        let environment = Environment::of(&[(crate::env_vars::AWS_CONFIG_FILE, path)]);
        let name = ProfileName::resolve(None, &environment);
        tuning(&Profile::load(&name, &environment)?)
    }

    #[test]
    fn configured_limits_replace_the_defaults() {
        let tuning = read(
            "  max_concurrent_requests = 20\n  max_queue_size = 10\n  \
             multipart_threshold = 64MB\n  multipart_chunksize = 16MiB\n  max_bandwidth = 50MB/s\n",
        )
        .unwrap();
        assert_eq!(tuning.max_concurrent_requests, 20);
        assert_eq!(tuning.max_queue_size, 10);
        assert_eq!(tuning.multipart_threshold, 64 << 20);
        assert_eq!(tuning.multipart_chunksize, 16 << 20);
        assert_eq!(tuning.max_bandwidth, Some(50 << 20));
    }

    #[test]
    fn bad_limits_are_told_as_aws_tells_them() {
        for (s3, message) in [
            ("  max_queue_size = 0\n", "Value for max_queue_size must be a positive integer: 0"),
            ("  max_queue_size = x\n", "Value for max_queue_size must be a positive integer: x"),
            ("  multipart_chunksize = 8XB\n", "Invalid size value: 8XB"),
            (
                "  max_bandwidth = 0MB/s\n",
                "Value for max_bandwidth must be a positive integer: 0MB/s",
            ),
        ] {
            let failure = read(s3).unwrap_err();
            assert_eq!((failure.message.as_str(), failure.status), (message, crate::exit::OTHER));
        }
        assert!(read("  max_bandwidth = fast\n").unwrap_err().message.starts_with("Invalid rate"));
    }
}
