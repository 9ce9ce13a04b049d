//! Local times as `aws s3 ls` prints them, cheap enough for a million lines.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Offsets of time zones have only ever changed on quarter hours since S3 exists.
const OFFSET_PERIOD_S: i64 = 15 * 60;

const DAY_S: i64 = 24 * 3600;

/// Formats times in one zone; keeps the offset and the date of the last time it was asked for.
pub(crate) struct LocalTime {
    zone: TimeZone,
    offset: Option<(i64, i64)>,
    date: Option<(i64, [u8; 10])>,
}

impl LocalTime {
    /// The zone of this machine.
    pub(crate) fn system() -> Self {
        Self::new(TimeZone::system())
    }

    /// UTC.
    pub(crate) fn utc() -> Self {
        Self::new(TimeZone::UTC)
    }

    fn new(zone: TimeZone) -> Self {
        Self { zone, offset: None, date: None }
    }

    /// Appends `YYYY-MM-DD HH:MM:SS`.
    pub(crate) fn push(&mut self, buffer: &mut Vec<u8>, seconds: i64) {
        self.push_with(buffer, seconds, b' ');
    }

    /// `YYYY-MM-DDTHH:MM:SSZ`; right only in UTC.
    pub(crate) fn iso(&mut self, seconds: i64) -> String {
        let mut buffer = Vec::with_capacity(20);
        self.push_with(&mut buffer, seconds, b'T');
        buffer.push(b'Z');
        String::from_utf8(buffer).unwrap_or_default()
    }

    fn push_with(&mut self, buffer: &mut Vec<u8>, seconds: i64, between: u8) {
        let local = seconds.saturating_add(self.offset(seconds));
        let (day, second) = (local.div_euclid(DAY_S), local.rem_euclid(DAY_S));
        buffer.extend_from_slice(&self.date(day));
        let two = |number: i64| {
            let number = u8::try_from(number % 100).unwrap_or_default();
            [b'0' + number / 10, b'0' + number % 10]
        };
        buffer.push(between);
        buffer.extend_from_slice(&two(second / 3600));
        buffer.push(b':');
        buffer.extend_from_slice(&two(second / 60 % 60));
        buffer.push(b':');
        buffer.extend_from_slice(&two(second % 60));
    }

    fn offset(&mut self, seconds: i64) -> i64 {
        let period = seconds.div_euclid(OFFSET_PERIOD_S);
        match self.offset {
            Some((known, offset)) if known == period => offset,
            _ => {
                let time = Timestamp::from_second(seconds).unwrap_or_default();
                let offset = i64::from(self.zone.to_offset(time).seconds());
                self.offset = Some((period, offset));
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
        let time = Timestamp::from_second(day.saturating_mul(DAY_S)).unwrap_or_default();
        let text = time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string();
        let text = text.as_bytes().first_chunk().copied().unwrap_or(*b"0000-00-00");
        self.date = Some((day, text));
        text
    }
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
            for seconds in (0..2_000_000_000).step_by(7_654_321).chain([0, 1, 951_782_400]) {
                let mut buffer = Vec::new();
                time.push(&mut buffer, seconds);
                let expected = Timestamp::from_second(seconds).unwrap().to_zoned(zone.clone());
                let expected = expected.strftime("%Y-%m-%d %H:%M:%S").to_string();
                assert_eq!(String::from_utf8(buffer).unwrap(), expected);
            }
        }
        assert_eq!(LocalTime::utc().iso(1), "1970-01-01T00:00:01Z");
    }
}
