//! `--expires` and `--retain-until`: any of the usual ways to write a time.

use jiff::civil::DateTime;
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::failure::Failure;

/// The time as an HTTP date.
pub(super) fn http_date(text: &str, zone: &TimeZone) -> Result<String, Failure> {
    let time = timestamp(text, zone)?.to_zoned(TimeZone::UTC);
    Ok(time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string())
}

/// Reads seconds since 1970, or what [`moment`] does.
pub(super) fn timestamp(text: &str, zone: &TimeZone) -> Result<Timestamp, Failure> {
    let text = text.trim();
    seconds(text).or_else(|| moment(text, zone)).ok_or_else(|| {
        Failure::usage(format!(
            "Invalid timestamp \"{text}\": use a form such as 2030-01-31T12:00:00Z"
        ))
    })
}

/// HTTP dates, whose weekdays mean nothing, as in the AWS tools.
const HTTP_DATES: rfc2822::DateTimeParser = rfc2822::DateTimeParser::new().relaxed_weekday(true);

/// Reads an ISO 8601 time (local where it names no zone), an HTTP date, or what `date` prints.
pub(super) fn moment(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let local = || text.parse::<DateTime>().ok()?.to_zoned(zone.clone()).ok();
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<Zoned>().ok().map(|zoned| zoned.timestamp()))
        .or_else(|| HTTP_DATES.parse_timestamp(text).ok())
        .or_else(|| local().map(|zoned| zoned.timestamp()))
        .or_else(|| of_date(text, zone))
}

/// Reads what `date` prints, `Fri Nov 27 10:46:40 UTC 2026`. Names of other zones are refused: they
/// have several meanings, and the AWS tools take them for this machine's.
fn of_date(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (zone, [_, month, day, time, year]) = match *words.as_slice() {
        [name, month, day, time, "UTC" | "GMT", year] => {
            (TimeZone::UTC, [name, month, day, time, year])
        }
        [name, month, day, time, year] => (zone.clone(), [name, month, day, time, year]),
        _ => return None,
    };
    let text = format!("{year} {month} {day} {time}");
    let time = DateTime::strptime("%Y %b %d %H:%M:%S", text).ok()?;
    Some(time.to_zoned(zone).ok()?.timestamp())
}

/// Reads an age such as `7d` as seconds: a number and a unit.
pub(super) fn age(text: &str) -> Option<i64> {
    let unit = text.chars().next_back()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return None,
    };
    let number = text.strip_suffix(unit)?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse::<i64>().ok().filter(|_| is_number)?.checked_mul(seconds)
}

fn seconds(text: &str) -> Option<Timestamp> {
    Timestamp::from_second(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        for (text, expected) in [("7d", 604_800), ("0s", 0), ("90m", 5400), ("2w", 1_209_600)] {
            assert_eq!(age(text), Some(expected));
        }
        for text in ["", "7", "d", "-7d", "+7d", "7 d", "7D", "1.5h", "99999999999999999w", "7é"] {
            assert_eq!(age(text), None, "{text}");
        }
    }

    #[test]
    fn all_forms_become_http_dates() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        for (text, expected) in [
            ("0", "Thu, 01 Jan 1970 00:00:00 GMT"),
            ("2015-10-21T07:28:00Z", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("2015-10-21T09:28:00+02:00", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("2015-10-21T09:28:00", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("2015-10-21 09:28:00", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("2015-10-21", "Tue, 20 Oct 2015 22:00:00 GMT"),
            ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("Mon, 21 Oct 2015 09:28:00 +0200", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("Wed Oct 21 07:28:00 UTC 2015", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("Mon Oct  7 07:28:00 GMT 2015", "Wed, 07 Oct 2015 07:28:00 GMT"),
            ("Wed Oct 21 09:28:00 2015", "Wed, 21 Oct 2015 07:28:00 GMT"),
        ] {
            assert_eq!(http_date(text, &zone).unwrap(), expected, "{text}");
        }
        // A zone by a name that is not UTC's is not known for sure.
        for text in ["tomorrow", "Wed Oct 21 07:28:00 CEST 2015", "Mon, 32 Oct 2015 09:28:00 GMT"] {
            assert!(http_date(text, &zone).is_err(), "{text}");
        }
    }
}
