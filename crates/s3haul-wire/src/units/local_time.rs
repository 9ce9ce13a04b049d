//! Local times as `aws s3 ls` prints them, cheap enough for a million lines.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Offsets of time zones have only ever changed on quarter hours since S3 exists.
const OFFSET_PERIOD_S: i64 = 15 * 60;

/// Offsets that are remembered: objects of a page are often of the same days.
const OFFSETS: usize = 256;

const DAY_S: i64 = 24 * 3600;

/// Length of `YYYY-MM-DD HH:MM:SS`.
pub const TIME_BYTES: usize = 19;

/// The zone of this machine, which `TZ` may name in ways that only the C library knows.
pub fn local_zone() -> TimeZone {
    TimeZone::try_system().unwrap_or_else(|_| {
        let named = std::env::var("TZ").ok();
        named.as_deref().and_then(zone_of_c_library).unwrap_or_else(TimeZone::system)
    })
}

/// A zone of the folder `posix`, or one with summer time and no rule when that is: then it is that
/// of the United States (tzset(3)).
fn zone_of_c_library(name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    match name.strip_prefix("posix/") {
        Some(name) => TimeZone::get(name).ok(),
        None => TimeZone::posix(&format!("{name},M3.2.0,M11.1.0")).ok(),
    }
}

/// Formats times in one zone; keeps offsets and the date of the last time it was asked for.
#[derive(Debug)]
pub struct LocalTime {
    zone: TimeZone,
    /// Period and offset, each period at a place of its own or of few others.
    offsets: [Option<(i64, i64)>; OFFSETS],
    date: Option<(i64, [u8; 10])>,
}

impl LocalTime {
    /// The zone of this machine.
    pub fn system() -> Self {
        Self::new(local_zone())
    }

    /// UTC.
    pub fn utc() -> Self {
        Self::new(TimeZone::UTC)
    }

    fn new(zone: TimeZone) -> Self {
        Self { zone, offsets: [None; OFFSETS], date: None }
    }

    /// Appends `YYYY-MM-DD HH:MM:SS`.
    pub fn push(&mut self, buffer: &mut Vec<u8>, seconds: i64) {
        buffer.extend_from_slice(&self.text(seconds, b' '));
    }

    /// `YYYY-MM-DDTHH:MM:SSZ`; right only in UTC.
    pub fn iso(&mut self, seconds: i64) -> String {
        let mut buffer = Vec::with_capacity(20);
        self.push_iso(&mut buffer, seconds);
        String::from_utf8(buffer).unwrap_or_default()
    }

    /// Appends `YYYY-MM-DDTHH:MM:SSZ`; right only in UTC.
    pub fn push_iso(&mut self, buffer: &mut Vec<u8>, seconds: i64) {
        buffer.extend_from_slice(&self.text(seconds, b'T'));
        buffer.push(b'Z');
    }

    /// Date and time of day, with something between them.
    #[inline]
    pub fn text(&mut self, seconds: i64, between: u8) -> [u8; TIME_BYTES] {
        let local = seconds.saturating_add(self.offset(seconds));
        let (day, second) = (local.div_euclid(DAY_S), local.rem_euclid(DAY_S));
        // In narrow numbers and one piece: this runs for each line.
        let second = u32::try_from(second).unwrap_or_default();
        let [h1, h2] = two_digits(second / 3600);
        let [m1, m2] = two_digits(second / 60 % 60);
        let [s1, s2] = two_digits(second % 60);
        let [y1, y2, y3, y4, _, o1, o2, _, d1, d2] = self.date(day);
        [y1, y2, y3, y4, b'-', o1, o2, b'-', d1, d2, between, h1, h2, b':', m1, m2, b':', s1, s2]
    }

    fn offset(&mut self, seconds: i64) -> i64 {
        let period = seconds.div_euclid(OFFSET_PERIOD_S);
        let place = usize::try_from(period.unsigned_abs()).unwrap_or_default() % OFFSETS;
        match self.offsets[place] {
            Some((known, offset)) if known == period => offset,
            _ => {
                let time = Timestamp::from_second(seconds).unwrap_or_default();
                let offset = i64::from(self.zone.to_offset(time).seconds());
                self.offsets[place] = Some((period, offset));
                offset
            }
        }
    }

    /// `YYYY-MM-DD` of a day since 1970-01-01.
    fn date(&mut self, day: i64) -> [u8; 10] {
        if let Some((known, text)) = self.date
            && known == day
        {
            return text;
        }
        let text = date_text(day).unwrap_or(*b"0000-00-00");
        self.date = Some((day, text));
        text
    }
}

/// Counts years from March on, so that the day that may be missing is the last one: then a date
/// follows from the number of a day without a table. Some 400 years have as many days as any other.
fn date_text(day: i64) -> Option<[u8; 10]> {
    const DAYS_OF_400_YEARS: i64 = 146_097;
    /// From 0000-03-01 to 1970-01-01.
    const DAYS_BEFORE_1970: i64 = 719_468;
    let day = day.checked_add(DAYS_BEFORE_1970)?;
    let (cycle, day) = (day.div_euclid(DAYS_OF_400_YEARS), day.rem_euclid(DAYS_OF_400_YEARS));
    let leap_days = day / 36_524 - day / 1_460 - day / (DAYS_OF_400_YEARS - 1);
    let year_of_cycle = (day + leap_days) / 365;
    let day = day - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    let year = u32::try_from(year).ok().filter(|year| *year <= 9999)?;
    let narrow = |number: i64| u32::try_from(number).unwrap_or_default();
    let mut text = *b"0000-00-00";
    text[..2].copy_from_slice(&two_digits(year / 100));
    text[2..4].copy_from_slice(&two_digits(year % 100));
    text[5..7].copy_from_slice(&two_digits(narrow(month)));
    text[8..].copy_from_slice(&two_digits(narrow(day_of_month)));
    Some(text)
}

/// The last two digits.
fn two_digits(number: u32) -> [u8; 2] {
    let number = u8::try_from(number % 100).unwrap_or_default();
    [b'0' + number / 10, b'0' + number % 10]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_calendar_in_any_zone() {
        let zones =
            [TimeZone::UTC, TimeZone::system(), TimeZone::fixed(jiff::tz::Offset::constant(-9))];
        for zone in zones {
            let mut time = LocalTime::new(zone.clone());
            let years = (-60_000_000_000..250_000_000_000).step_by(76_543_217);
            let days = (1_700_000_000..1_710_000_000).step_by(54_321);
            for seconds in years.chain(days).chain([0, 1, 951_782_400]) {
                let mut buffer = Vec::new();
                time.push(&mut buffer, seconds);
                let expected = Timestamp::from_second(seconds).unwrap().to_zoned(zone.clone());
                let expected = expected.strftime("%Y-%m-%d %H:%M:%S").to_string();
                assert_eq!(String::from_utf8(buffer).unwrap(), expected);
            }
        }
        assert_eq!(LocalTime::utc().iso(1), "1970-01-01T00:00:01Z");
    }

    #[test]
    fn zones_of_the_c_library_are_known() {
        for (name, expected) in [
            ("CET-1CEST", Some("2024-01-01 01:00:00")),
            (":EST5EDT4", Some("2023-12-31 19:00:00")),
            ("posix/UTC", Some("2024-01-01 00:00:00")),
            ("Nowhere/Else", None),
        ] {
            let shown = zone_of_c_library(name).map(|zone| {
                String::from_utf8(LocalTime::new(zone).text(1_704_067_200, b' ').to_vec()).unwrap()
            });
            assert_eq!(shown.as_deref(), expected, "{name}");
        }
    }
}
