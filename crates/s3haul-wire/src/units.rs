//! Sizes and ranges in bytes, counts of requests, and times as people read them.

mod local_time;

use std::fmt::Write as _;
use std::ops::{Add, Sub};

pub use local_time::{LocalTime, TIME_BYTES, local_zone};

/// One kibibyte in bytes.
pub const KIB: u64 = 1024;
/// One mebibyte in bytes.
pub const MIB: u64 = 1024 * KIB;
/// One gibibyte in bytes.
pub const GIB: u64 = 1024 * MIB;
/// One tebibyte in bytes.
pub const TIB: u64 = 1024 * GIB;

/// A half-open range of bytes, never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl ByteRange {
    /// Length in bytes.
    pub fn len(self) -> u64 {
        self.end - self.start
    }

    /// Whether the range holds no byte.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// Whether no format of rows has to quote or escape anything of a text: it is printable ASCII
/// without `"`, `,` and `\`. A text that is not may need none either.
pub fn is_plain(text: &str) -> bool {
    // Without stopping early: compilers make a few instructions of it.
    let is_special = |byte: u8| {
        u8::from(!(b' '..=b'~').contains(&byte)) | u8::from(matches!(byte, b'"' | b',' | b'\\'))
    };
    text.bytes().fold(0, |found, byte| found | is_special(byte)) == 0
}

/// Requests by what services charge for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// PUT, COPY, POST and LIST.
    pub write: u64,
    /// GET, HEAD and others.
    pub read: u64,
    /// DELETE, of one object or of many.
    pub delete: u64,
}

impl Add for RequestCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            write: self.write + other.write,
            read: self.read + other.read,
            delete: self.delete + other.delete,
        }
    }
}

impl Sub for RequestCounts {
    type Output = Self;

    /// What came since an earlier count.
    fn sub(self, earlier: Self) -> Self {
        Self {
            write: self.write.saturating_sub(earlier.write),
            read: self.read.saturating_sub(earlier.read),
            delete: self.delete.saturating_sub(earlier.delete),
        }
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A size or rate in a configuration file that cannot be read, with the text of the AWS tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// Not a size.
    #[error("Invalid size value: {0}")]
    Size(String),
    /// Not a rate.
    #[error(
        "Invalid rate: {0}. The value must be expressed as an integer in terms of bytes per second \
         (e.g. 10485760) or a rate in terms of bytes per second (e.g. 10MB/s or 800KB/s) or bits \
         per second (e.g. 10Mb/s or 800Kb/s)"
    )]
    Rate(String),
}

/// Suffixes of sizes in lower case, all powers of 1024 as the AWS tools read them; longer first.
const SIZE_SUFFIXES: [(&str, u64); 8] = [
    ("kib", KIB),
    ("mib", MIB),
    ("gib", GIB),
    ("tib", TIB),
    ("kb", KIB),
    ("mb", MIB),
    ("gb", GIB),
    ("tb", TIB),
];

/// Suffixes that people use beside these.
const SHORT_SUFFIXES: [(&str, u64); 4] = [("k", KIB), ("m", MIB), ("g", GIB), ("t", TIB)];

/// Reads a size such as `8388608`, `8MB` or `64KiB`; case does not matter.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let lower = text.to_ascii_lowercase();
    let (digits, factor) = SIZE_SUFFIXES
        .iter()
        .find_map(|&(suffix, factor)| Some((lower.strip_suffix(suffix)?, factor)))
        .unwrap_or((lower.as_str(), 1));
    let size = parse_integer(digits).and_then(|count| count.checked_mul(factor));
    size.ok_or_else(|| UnitError::Size(text.to_owned()))
}

/// Reads a size as people type it: what [`parse_size`] reads, `1.5GB`, `10K` and `512B`. A part of
/// a byte is left out.
pub fn parse_decimal_size(text: &str) -> Result<u64, UnitError> {
    let invalid = || UnitError::Size(text.to_owned());
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let factor = match &lower[number.len()..] {
        "" | "b" => 1,
        unit => SHORT_SUFFIXES
            .iter()
            .chain(&SIZE_SUFFIXES)
            .find(|(suffix, _)| *suffix == unit)
            .map(|(_, factor)| *factor)
            .ok_or_else(invalid)?,
    };
    let number = number.trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (Some(count), Some(part)) = (digits(whole), digits(fraction)) else {
        return Err(invalid());
    };
    let scale = u32::try_from(fraction.len()).ok().and_then(|places| 10_u128.checked_pow(places));
    let part = scale.map(|scale| u128::from(part) * u128::from(factor) / scale);
    let whole = count.checked_mul(factor).ok_or_else(invalid)?;
    let part = part.and_then(|part| u64::try_from(part).ok()).ok_or_else(invalid)?;
    whole.checked_add(part).ok_or_else(invalid)
}

/// Reads a rate in bytes a second, such as `1048576`, `10MB/s`, `512B/s` or (bits) `80Mb/s`.
pub fn parse_rate(text: &str) -> Result<u64, UnitError> {
    let invalid = || UnitError::Rate(text.to_owned());
    let per_second = |unit_length: usize| {
        let bare = &text[..text.len() - unit_length];
        parse_integer(bare).map_or_else(|| parse_size(&text[..text.len() - 2]), Ok)
    };
    if text.ends_with("B/s") {
        per_second(3)
    } else if text.ends_with("b/s") {
        per_second(3).map(|bits| bits / 8)
    } else {
        parse_integer(text).ok_or_else(invalid)
    }
}

/// Reads digits with blanks around them, as Python's `int` does.
fn parse_integer(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// A size as people read it: `1 Byte`, `10 Bytes`, `1.0 KiB`, `13.5 GiB`.
pub fn format_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    match bytes {
        1 => return "1 Byte".to_owned(),
        0..KIB => return format!("{bytes} Bytes"),
        _ => {}
    }
    #[expect(clippy::cast_precision_loss, reason = "one decimal place is shown")]
    let mut value = bytes as f64 / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next().unwrap_or(&"KiB");
    // Half to even, as Python rounds.
    while value.round_ties_even() >= 1024.0 {
        let Some(larger) = units.next() else { break };
        value /= 1024.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_the_aws_tools_read_them() {
        for (text, size) in [
            ("1", 1),
            ("1024", 1024),
            ("1KB", KIB),
            ("1KiB", KIB),
            ("10mb", 10 * MIB),
            ("8MiB", 8 * MIB),
            ("1GB", GIB),
            ("2tib", 2 * TIB),
            (" 7 ", 7),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "MB", "foo", "1.5MB", "-1", "10B", "99999999999999TB"] {
            assert_eq!(parse_size(text), Err(UnitError::Size(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn sizes_may_have_a_decimal_part() {
        for (text, size) in [
            ("0", 0),
            ("10", 10),
            ("10B", 10),
            ("10k", 10 * KIB),
            ("10KB", 10 * KIB),
            ("1.5GiB", GIB + GIB / 2),
            ("0.25 mb", MIB / 4),
            ("1.0001KB", KIB),
            ("1.99", 1),
            (" 2T ", 2 * TIB),
        ] {
            assert_eq!(parse_decimal_size(text), Ok(size), "{text}");
        }
        for text in ["", "K", ".5K", "5.K", "-1", "+1", "1e3", "1.2.3", "1PB", "99999999TB", "1,5K"]
        {
            assert!(parse_decimal_size(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_the_aws_tools_read_means_the_same(text in "[0-9]{1,4}([kmgtKMGT]i?[bB])?") {
            proptest::prop_assert_eq!(parse_decimal_size(&text), parse_size(&text));
        }
    }

    #[test]
    fn rates_are_bytes_or_bits_a_second() {
        for (text, rate) in [
            ("1048576", MIB),
            ("10MB/s", 10 * MIB),
            ("800KB/s", 800 * KIB),
            ("512B/s", 512),
            ("80Mb/s", 10 * MIB),
            ("1000b/s", 125),
            ("8KiB/s", 8 * KIB),
        ] {
            assert_eq!(parse_rate(text), Ok(rate), "{text}");
        }
        for text in ["10MB", "fast", "", "MB/s/s", "B/s", "b/s"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_print_as_the_aws_tools_print_them() {
        for (size, text) in [
            (0, "0 Bytes"),
            (1, "1 Byte"),
            (10, "10 Bytes"),
            (1000, "1000 Bytes"),
            (1023, "1023 Bytes"),
            (1024, "1.0 KiB"),
            (1_048_575, "1.0 MiB"),
            (1_048_063, "1023.5 KiB"),
            (1_048_064, "1.0 MiB"),
            (MIB, "1.0 MiB"),
            (GIB, "1.0 GiB"),
            (TIB, "1.0 TiB"),
            (1024 * TIB, "1.0 PiB"),
            (1024 * 1024 * TIB, "1.0 EiB"),
            (u64::MAX, "16.0 EiB"),
            (13 * GIB + GIB / 2, "13.5 GiB"),
        ] {
            assert_eq!(format_size(size), text, "{size}");
        }
    }
}
