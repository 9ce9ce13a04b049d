//! Numbers, times and random names.

use std::fmt::Write as _;

use super::Next;
use support::dice::Dice;

/// Hours of three years.
const HOURS: u64 = 3 * 365 * 24;
const DAY_SECONDS: u64 = 86_400;
/// Days from 1970 to 2020 and to 2022.
const DAYS_TO_2020: u64 = 18_262;
const DAYS_TO_2022: u64 = 18_993;

pub(super) const SEQRAW_PREFIX: &str = concat!(
    "archive-of-very-long-common-prefix--",
    "archive-of-very-long-common-prefix--",
    "archive-of-very-long-common-prefix--",
    "archive-of-very-long-common-prefix--",
    "archive-of-very-long-common-prefix--",
    "archive-of-very-long-common-prefix--",
);

/// Appends formatted text.
macro_rules! put {
    ($key:expr, $($format:tt)*) => {
        write!($key, $($format)*).expect("writing to a string cannot fail")
    };
}
pub(super) use put;

pub(super) fn seq(_count: u64, _dice: &mut Dice) -> Next {
    let mut number = 0;
    Box::new(move |_, key| {
        put!(key, "prod/data/export/v2/batch/file-{number:012}.json");
        number += 1;
    })
}

pub(super) fn seqraw(_count: u64, _dice: &mut Dice) -> Next {
    let mut number = 0;
    Box::new(move |_, key| {
        put!(key, "{number}");
        number += 7;
    })
}

pub(super) fn dates(count: u64, _dice: &mut Dice) -> Next {
    let each_hour = count / HOURS + 1;
    let mut number = 0;
    Box::new(move |dice, key| {
        let hour = number / each_hour;
        number += 1;
        let (year, month, day) = civil(DAYS_TO_2022 + hour / 24);
        let (hour, host, stamp) = (hour % 24, dice.below(40), dice.bits() >> 32);
        put!(key, "logs/{year}/{month:02}/{day:02}/{hour:02}/host-{host:02}-{stamp:08x}.gz");
        // Duplicates leave a gap that hours beyond the last one fill.
    })
}

pub(super) fn flatdates(_count: u64, _dice: &mut Dice) -> Next {
    const SPAN: f64 = 4.0 * 365.0 * 86_400.0;
    Box::new(|dice, key| {
        let second = whole(dice.fraction().sqrt() * SPAN);
        let (year, month, day) = civil(DAYS_TO_2020 + second / DAY_SECONDS);
        let second = second % DAY_SECONDS;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        put!(key, "evt-{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z-");
        put!(key, "{:06x}", dice.bits() >> 40);
    })
}

pub(super) fn uuid(_count: u64, _dice: &mut Dice) -> Next {
    Box::new(|dice, key| {
        put_uuid(dice, key);
    })
}

pub(super) fn hashp(_count: u64, _dice: &mut Dice) -> Next {
    Box::new(|dice, key| {
        let (hash, month, day) = (dice.bits() >> 48, dice.between(1, 12), dice.between(1, 28));
        let (user, image) = (dice.below(100_000), dice.below(100_000));
        put!(key, "{hash:04x}/2024/{month:02}/{day:02}/user-{user}/img_{image:05}.jpg");
    })
}

/// Appends 32 random hex digits in groups.
pub(super) fn put_uuid(dice: &mut Dice, key: &mut String) {
    let (high, low) = (dice.bits(), dice.bits());
    put!(key, "{:08x}-{:04x}-{:04x}-", high >> 32, (high >> 16) & 0xffff, high & 0xffff);
    put!(key, "{:04x}-{:012x}", low >> 48, low & 0xffff_ffff_ffff);
}

/// The part of a number before the point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the numbers of layouts are positive and far below 2^53"
)]
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}

/// Year, month and day of a day since 1970, counted in years that start in March.
pub(super) fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_civil() {
        assert_eq!(civil(DAYS_TO_2020), (2020, 1, 1));
        assert_eq!(civil(DAYS_TO_2020 + 59), (2020, 2, 29));
        assert_eq!(civil(DAYS_TO_2022), (2022, 1, 1));
    }
}
