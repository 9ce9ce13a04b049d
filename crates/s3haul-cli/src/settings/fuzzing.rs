//! What must hold for any text of a flag.

use jiff::tz::TimeZone;
use s3haul_wire::units::LocalTime;

use super::{shorthand, timestamp};

/// Maps, times and ages as flags have them; and any number as a time that is shown.
///
/// # Panics
///
/// Where one of these does.
pub fn flags(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    if text.len() <= 4096 {
        // Names are compared with each other, and a command line is no longer.
        if let Ok(map) = shorthand::map("--metadata", &text) {
            let length = |(name, value): &(String, String)| name.len() + value.len();
            assert!(map.iter().map(length).sum::<usize>() <= text.len());
        }
    }
    if let Ok(time) = timestamp::timestamp(&text, &zone) {
        let date = timestamp::http_date(&text, &zone).expect("it is a time");
        assert!(date.ends_with(" GMT") && time.as_second().abs() < 400_000_000_000, "{date}");
    }
    if let Some(age) = timestamp::age(&text) {
        assert!(age >= 0);
    }
    let mut time = LocalTime::utc();
    for number in text.split(|character: char| !matches!(character, '0'..='9' | '-')) {
        let Ok(seconds) = number.parse::<i64>() else { continue };
        let shown = time.iso(seconds);
        assert!(shown.ends_with('Z') && shown.len() >= 20, "{shown:?}");
    }
}
