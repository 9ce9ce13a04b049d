//! What must hold for any path, pattern or size on a command line and any name it is applied to.

mod filters;
mod fnmatch;
mod paths;

pub use filters::filters;
pub use paths::paths;

use s3haul_wire::units::{self, parse_decimal_size, parse_rate, parse_size};

/// Sizes and rates: what is read is what the digits say.
///
/// # Panics
///
/// Where it is not.
pub fn units(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let size = parse_size(&text);
    assert_eq!(size.as_ref().ok().copied(), plain_size(&text));
    let decimal = parse_decimal_size(&text);
    let is_signed = text.contains('+');
    if let (Ok(size), false) = (&size, is_signed) {
        assert_eq!(decimal.as_ref(), Ok(size), "people may write what the AWS tools read");
    }
    if let Ok(rate) = parse_rate(&text) {
        assert!(text.bytes().any(|byte| byte.is_ascii_digit()));
        let _ = units::format_size(rate);
    }
    for size in [size, decimal].into_iter().flatten() {
        assert!(units::format_size(size).len() <= "1023 Bytes".len());
    }
}

/// Digits and a unit of powers of 1024, the slow way.
fn plain_size(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let units = ["k", "m", "g", "t"]
        .iter()
        .zip(1_u32..)
        .flat_map(|(unit, power)| [(format!("{unit}b"), power), (format!("{unit}ib"), power)]);
    let unit = units.into_iter().find(|(unit, _)| text.ends_with(unit.as_str()));
    let (length, power) = unit.map_or((0, 0), |(unit, power)| (unit.len(), power));
    let digits = text[..text.len() - length].trim();
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    if digits.is_empty() {
        return None;
    }
    let mut number = 0_u128;
    for character in digits.chars() {
        let digit = character.to_digit(10)?;
        number = (number * 10 + u128::from(digit)).min(1 << 100);
    }
    u64::try_from(number.checked_mul(1024_u128.pow(power))?).ok()
}
