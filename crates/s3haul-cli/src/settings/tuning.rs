//! The limits of the profile's `s3 =` section.

use s3haul::job::Tuning;

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
        tuning.max_bandwidth = Some(positive("max_bandwidth", value, rate(value)?)?);
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
    let parsed = bytes(value).ok_or_else(|| Failure::other(format!("Invalid size value: {value}")))?;
    positive(key, value, parsed).map(Some)
}

fn positive(key: &str, value: &str, parsed: u64) -> Result<u64, Failure> {
    if parsed > 0 {
        return Ok(parsed);
    }
    Err(Failure::other(format!("Value for {key} must be a positive integer: {value}")))
}

/// A size: a number, or a number with KB, KiB and so on; all in powers of 1024.
fn bytes(value: &str) -> Option<u64> {
    const UNITS: [(&str, u32); 8] = [
        ("kib", 10),
        ("mib", 20),
        ("gib", 30),
        ("tib", 40),
        ("kb", 10),
        ("mb", 20),
        ("gb", 30),
        ("tb", 40),
    ];
    let value = value.trim().to_ascii_lowercase();
    for (unit, shift) in UNITS {
        if let Some(number) = value.strip_suffix(unit) {
            return number.trim().parse::<u64>().ok()?.checked_mul(1 << shift);
        }
    }
    value.parse().ok()
}

/// A rate in bytes (`10MB/s`) or bits (`80Mb/s`) a second, or a bare number of bytes.
fn rate(value: &str) -> Result<u64, Failure> {
    let invalid = || {
        Failure::other(format!(
            "Invalid rate: {value}. The value must be expressed as a rate in terms of bytes per \
             second (e.g. 10MB/s or 800KB/s) or bits per second (e.g. 10Mb/s or 800Kb/s)"
        ))
    };
    if let Ok(number) = value.parse() {
        return Ok(number);
    }
    let amount = value.strip_suffix("/s").ok_or_else(invalid)?;
    let (number, divisor) = match amount.as_bytes().last() {
        Some(b'B') => (amount.to_owned(), 1),
        Some(b'b') => (format!("{}B", &amount[..amount.len() - 1]), 8),
        _ => return Err(invalid()),
    };
    let number = number.strip_suffix('B').filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit()))
        .map_or(number.clone(), str::to_owned);
    Ok(bytes(&number).ok_or_else(invalid)? / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (value, expected) in [
            ("1024", Some(1024)),
            ("64MB", Some(64 << 20)),
            ("64 MiB", Some(64 << 20)),
            ("1gb", Some(1 << 30)),
            ("5TIB", Some(5 << 40)),
            ("1.5MB", None),
            ("MB", None),
            ("", None),
            ("-1", None),
            ("99999999999TB", None),
        ] {
            assert_eq!(bytes(value), expected, "{value}");
        }
    }

    #[test]
    fn rates_are_bytes_or_bits() {
        for (value, expected) in [
            ("1048576", Some(1 << 20)),
            ("10MB/s", Some(10 << 20)),
            ("80Mb/s", Some(10 << 20)),
            ("512B/s", Some(512)),
            ("512b/s", Some(64)),
            ("10MB", None),
            ("fast", None),
            ("/s", None),
        ] {
            assert_eq!(rate(value).ok(), expected, "{value}");
        }
    }
}
