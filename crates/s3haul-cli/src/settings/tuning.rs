//! Limits: those of the profile's `s3 =` section, and the flags that replace them.

use s3haul::job::Tuning;
use s3haul_wire::Profile;
use s3haul_wire::controller::Bounds;
use s3haul_wire::units::{parse_rate, parse_size};

use crate::args::GlobalArgs;
use crate::failure::Failure;

/// How many requests at once, and how many a second.
pub(crate) fn bounds(global: &GlobalArgs, profile: &Profile) -> Result<Bounds, Failure> {
    let configured = |key| {
        let narrow = |value| u32::try_from(value).unwrap_or(u32::MAX);
        count(profile, key).map(|value| value.map(narrow))
    };
    let bounds = Bounds::default();
    let (at_once, a_second) =
        (configured("max_concurrent_requests")?, configured("max_requests_per_second")?);
    let at_once = global.max_concurrent_requests.or(at_once);
    Ok(Bounds {
        max_concurrent_requests: at_once.unwrap_or(bounds.max_concurrent_requests),
        max_requests_per_second: global.max_requests_per_second.or(a_second),
        is_adaptive: match profile.s3("adaptive_requests") {
            Some(value) => super::client::flag("adaptive_requests", Some(value))?,
            None => bounds.is_adaptive,
        },
    })
}

/// Limits of the library with what the flags and the profile say.
pub(crate) fn tuning(
    global: &GlobalArgs,
    profile: &Profile,
    bounds: Bounds,
) -> Result<Tuning, Failure> {
    let mut tuning = Tuning {
        max_concurrent_requests: bounds.max_concurrent_requests as usize,
        ..Tuning::default()
    };
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
    if let Some(value) = &global.max_bandwidth {
        let rate = parse_rate(value).map_err(|error| error.to_string());
        let rate = rate.map_err(|error| Failure::usage(format!("--max-bandwidth: {error}")))?;
        if rate == 0 {
            return Err(Failure::usage("--max-bandwidth: the rate must be more than 0"));
        }
        tuning.max_bandwidth = Some(rate);
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
    use crate::settings::profile::{self, ProfileName};

    fn read(s3: &str) -> Result<Tuning, Failure> {
        read_with(s3, &GlobalArgs::default()).map(|(tuning, _)| tuning)
    }

    fn read_with(s3: &str, global: &GlobalArgs) -> Result<(Tuning, Bounds), Failure> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("[default]\ns3 =\n{s3}")).unwrap();
        let path = file.path().to_str().unwrap();
        let environment = Environment::of(&[(crate::env_vars::AWS_CONFIG_FILE, path)]);
        let name = ProfileName::resolve(None, &environment);
        let profile = profile::load(&name, &environment)?;
        let bounds = bounds(global, &profile)?;
        Ok((tuning(global, &profile, bounds)?, bounds))
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
    fn flags_replace_what_is_configured() {
        let s3 = "  max_concurrent_requests = 20\n  max_requests_per_second = 7\n  \
                  max_bandwidth = 1MB/s\n  adaptive_requests = false\n";
        let (tuning, bounds) = read_with(s3, &GlobalArgs::default()).unwrap();
        assert_eq!((tuning.max_concurrent_requests, bounds.max_concurrent_requests), (20, 20));
        assert_eq!((bounds.max_requests_per_second, bounds.is_adaptive), (Some(7), false));
        let flags = GlobalArgs {
            max_concurrent_requests: Some(9),
            max_requests_per_second: Some(8),
            max_bandwidth: Some("2MB/s".to_owned()),
            ..GlobalArgs::default()
        };
        let (tuning, bounds) = read_with(s3, &flags).unwrap();
        assert_eq!((tuning.max_concurrent_requests, bounds.max_concurrent_requests), (9, 9));
        assert_eq!(bounds.max_requests_per_second, Some(8));
        assert_eq!(tuning.max_bandwidth, Some(2 << 20));
        let none = GlobalArgs { max_bandwidth: Some("0".to_owned()), ..GlobalArgs::default() };
        assert_eq!(read_with("", &none).unwrap_err().status, crate::exit::USAGE);
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
