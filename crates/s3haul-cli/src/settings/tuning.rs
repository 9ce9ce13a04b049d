//! Limits: those of the profile's `s3 =` section, and the flags that replace them.

use std::num::{NonZeroU32, NonZeroU64};

use s3haul::job::Tuning;
use s3haul::job::value::Limits;
use s3haul_wire::Profile;
use s3haul_wire::controller::Bounds;
use s3haul_wire::units::{parse_rate, parse_size};

use crate::args::GlobalArgs;
use crate::failure::Failure;
use crate::memory;

/// The limits that flags and the profile ask for.
pub(crate) fn limits(global: &GlobalArgs, profile: &Profile) -> Result<Limits, Failure> {
    let narrow = |value: NonZeroU64| NonZeroU32::try_from(value).unwrap_or(NonZeroU32::MAX);
    let configured = |key| count(profile, key).map(|value| value.map(narrow));
    let (at_once, a_second) =
        (configured("max_concurrent_requests")?, configured("max_requests_per_second")?);
    let given = |flag: Option<u32>| flag.and_then(NonZeroU32::new);
    let adaptive = profile.s3("adaptive_requests");
    let adaptive = adaptive.map(|value| super::client::flag("adaptive_requests", Some(value)));
    Ok(Limits {
        max_concurrent_requests: given(global.max_concurrent_requests).or(at_once),
        max_requests_per_second: given(global.max_requests_per_second).or(a_second),
        adaptive_requests: adaptive.transpose()?,
        max_bandwidth: bandwidth(global, profile)?,
        max_memory: global.max_memory.as_deref().map(memory::parse).transpose()?,
        max_queue_size: count(profile, "max_queue_size")?,
        multipart_threshold: size(profile, "multipart_threshold")?,
        multipart_chunksize: size(profile, "multipart_chunksize")?,
    })
}

/// How many requests at once, and how many a second.
pub(crate) fn bounds(limits: &Limits) -> Bounds {
    let default = Bounds::default();
    let at_once = limits.max_concurrent_requests.map(NonZeroU32::get);
    Bounds {
        max_concurrent_requests: at_once.unwrap_or(default.max_concurrent_requests),
        max_requests_per_second: limits.max_requests_per_second.map(NonZeroU32::get),
        is_adaptive: limits.adaptive_requests.unwrap_or(default.is_adaptive),
    }
}

/// Limits of the library with the settings applied.
pub(crate) fn tuning(limits: &Limits, bounds: Bounds) -> Tuning {
    let default = Tuning::default();
    let queue = limits.max_queue_size.map(|size| usize::try_from(size.get()));
    let or = |value: Option<NonZeroU64>, default| value.map_or(default, NonZeroU64::get);
    Tuning {
        max_concurrent_requests: bounds.max_concurrent_requests as usize,
        max_queue_size: queue.map_or(default.max_queue_size, |size| size.unwrap_or(usize::MAX)),
        multipart_threshold: or(limits.multipart_threshold, default.multipart_threshold),
        copy_threshold: or(limits.multipart_threshold, default.copy_threshold),
        multipart_chunksize: or(limits.multipart_chunksize, default.multipart_chunksize),
        max_bandwidth: limits.max_bandwidth.map(NonZeroU64::get),
        ..default
    }
}

fn bandwidth(global: &GlobalArgs, profile: &Profile) -> Result<Option<NonZeroU64>, Failure> {
    let configured = profile.s3("max_bandwidth").map(|value| {
        let rate = parse_rate(value).map_err(|error| Failure::other(error.to_string()))?;
        positive("max_bandwidth", value, rate)
    });
    let configured = configured.transpose()?;
    let Some(value) = &global.max_bandwidth else { return Ok(configured) };
    let refused = |why: &str| Failure::usage(format!("--max-bandwidth: {why}"));
    let rate = parse_rate(value).map_err(|error| refused(&error.to_string()))?;
    let rate = NonZeroU64::new(rate).ok_or_else(|| refused("the rate must be more than 0"))?;
    Ok(Some(rate))
}

fn count(profile: &Profile, key: &str) -> Result<Option<NonZeroU64>, Failure> {
    let Some(value) = profile.s3(key) else { return Ok(None) };
    positive(key, value, value.parse::<u64>().unwrap_or(0)).map(Some)
}

fn size(profile: &Profile, key: &str) -> Result<Option<NonZeroU64>, Failure> {
    let Some(value) = profile.s3(key) else { return Ok(None) };
    let parsed = parse_size(value).map_err(|error| Failure::other(error.to_string()))?;
    positive(key, value, parsed).map(Some)
}

fn positive(key: &str, value: &str, parsed: u64) -> Result<NonZeroU64, Failure> {
    NonZeroU64::new(parsed).ok_or_else(|| {
        Failure::other(format!("Value for {key} must be a positive integer: {value}"))
    })
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
        let limits = limits(global, &profile)?;
        let bounds = bounds(&limits);
        Ok((tuning(&limits, bounds), bounds))
    }

    #[test]
    fn configured_limits_replace_the_defaults() {
        let tuning = read(
            "  max_concurrent_requests = 20\n  max_queue_size = 10\n  \
             multipart_threshold = 32MB\n  multipart_chunksize = 16MiB\n  max_bandwidth = 50MB/s\n",
        )
        .unwrap();
        assert_eq!(tuning.max_concurrent_requests, 20);
        assert_eq!(tuning.max_queue_size, 10);
        assert_eq!((tuning.multipart_threshold, tuning.copy_threshold), (32 << 20, 32 << 20));
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
    fn bad_limits_have_the_messages_of_aws() {
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
