//! The flags that select objects, as conditions, and `--as-of`.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use s3haul::job::value::{Moment, Select};
use s3haul::plan::conditions::{Conditions, Pattern};
use s3haul_wire::units::{local_zone, parse_decimal_size};

use super::timestamp::{age, moment};
use crate::args::{AsOfArgs, ConditionArgs};
use crate::failure::Failure;

/// The flags as a part of a job; ages are counted back from now.
pub(super) fn moments_and_sizes(args: &ConditionArgs) -> Result<Select, Failure> {
    // The system's zone is looked for among hundreds of files.
    let has_times = args.newer_than.is_some() || args.older_than.is_some();
    let zone = if has_times { local_zone() } else { TimeZone::UTC };
    at(args, Timestamp::now(), &zone)
}

fn at(args: &ConditionArgs, now: Timestamp, zone: &TimeZone) -> Result<Select, Failure> {
    let moment = |flag, text: &Option<String>| {
        let second = second(flag, text.as_deref(), now, zone)?;
        Ok::<_, Failure>(second.map(Moment::from_seconds))
    };
    Ok(Select {
        regex: args.regex.clone(),
        min_size: size("--min-size", args.min_size.as_deref())?,
        max_size: size("--max-size", args.max_size.as_deref())?,
        newer_than: moment("--newer-than", &args.newer_than)?,
        older_than: moment("--older-than", &args.older_than)?,
        storage_classes: args.storage_classes.clone(),
        ..Select::default()
    })
}

/// The conditions of a job.
pub(super) fn of_select(select: &Select) -> Result<Conditions, Failure> {
    let pattern = |text: &String| {
        Pattern::parse(text).map_err(|error| Failure::usage(format!("--regex: {error}")))
    };
    let conditions = Conditions {
        patterns: select.regex.iter().map(pattern).collect::<Result<_, _>>()?,
        names: Vec::new(),
        size_min: select.min_size,
        size_max: select.max_size,
        newer_than_s: select.newer_than.map(Moment::seconds),
        older_than_s: select.older_than.map(Moment::seconds),
        storage_classes: select.storage_classes.clone(),
    };
    refuse_contradictions(&conditions)?;
    Ok(conditions)
}

fn size(flag: &str, text: Option<&str>) -> Result<Option<u64>, Failure> {
    let read = |text: &str| {
        parse_decimal_size(text).map_err(|_| {
            Failure::usage(format!("{flag} `{text}`: write a number of bytes, 10KB or 1.5GiB"))
        })
    };
    text.map(read).transpose()
}

/// The first whole second at the time or after it: objects have whole seconds, so that what is
/// since or before the one is since or before the other.
pub(super) fn second(
    flag: &str,
    text: Option<&str>,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Option<i64>, Failure> {
    let whole = |time: Timestamp| time.as_second() + i64::from(time.subsec_nanosecond() > 0);
    let read = |text: &str| match age(text) {
        Some(seconds) => Some(whole(now).saturating_sub(seconds)),
        None => moment(text, zone).map(whole),
    };
    text.map(|text| {
        read(text).ok_or_else(|| {
            Failure::usage(format!(
                "{flag} `{text}`: write an age such as 7d, or a date such as 2030-01-31 or \
                 2030-01-31T12:00:00Z"
            ))
        })
    })
    .transpose()
}

/// `--as-of`.
pub(super) fn as_of(args: &AsOfArgs) -> Result<Option<Moment>, Failure> {
    let Some(text) = &args.as_of else { return Ok(None) };
    last_second(text, Timestamp::now(), &local_zone()).map(Moment::from_seconds).map(Some)
}

/// The last whole second up to a time. Times of S3 are whole seconds.
fn last_second(text: &str, now: Timestamp, zone: &TimeZone) -> Result<i64, Failure> {
    let whole = |time: Timestamp| time.as_second() - i64::from(time.subsec_nanosecond() < 0);
    let read = match age(text) {
        Some(seconds) => Some(whole(now).saturating_sub(seconds)),
        None => moment(text, zone).map(whole),
    };
    match read {
        Some(at_s) if at_s > now.as_second() => {
            Err(Failure::usage(format!("--as-of `{text}` lies in the future")))
        }
        Some(at_s) => Ok(at_s),
        None => Err(Failure::usage(format!(
            "--as-of `{text}`: write a moment such as 2030-01-31T12:00:00Z or 2030-01-31, or an \
             age such as 2h"
        ))),
    }
}

/// Refuses what nothing could meet.
fn refuse_contradictions(conditions: &Conditions) -> Result<(), Failure> {
    let Conditions { size_min, size_max, newer_than_s, older_than_s, .. } = conditions;
    if size_min.zip(*size_max).is_some_and(|(least, greatest)| least > greatest) {
        return Err(Failure::usage("--min-size is more than --max-size: nothing has such a size"));
    }
    if newer_than_s.zip(*older_than_s).is_some_and(|(since, before)| since >= before) {
        let message = "nothing is both newer than --newer-than and older than --older-than";
        return Err(Failure::usage(message));
    }
    if conditions.storage_classes.iter().any(String::is_empty) {
        return Err(Failure::usage("a storage class has no name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn read(args: &ConditionArgs) -> Result<Conditions, Failure> {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        of_select(&at(args, Timestamp::new(NOW - 1, 500_000_000).unwrap(), &zone)?)
    }

    #[test]
    fn sizes_and_times_become_bytes_and_seconds() {
        let text = |text: &str| Some(text.to_owned());
        let args = ConditionArgs {
            min_size: text("1.5KiB"),
            max_size: text("10MB"),
            newer_than: text("2015-10-21"),
            older_than: text("1d"),
            ..ConditionArgs::default()
        };
        let read = read(&args).unwrap();
        assert_eq!((read.size_min, read.size_max), (Some(1536), Some(10 << 20)));
        let midnight = 1_445_378_400;
        assert_eq!((read.newer_than_s, read.older_than_s), (Some(midnight), Some(NOW - 86_400)));
    }

    #[test]
    fn a_part_of_a_second_goes_to_the_next() {
        let since = |text: &str| {
            let newer_than = Some(text.to_owned());
            read(&ConditionArgs { newer_than, ..ConditionArgs::default() }).unwrap().newer_than_s
        };
        assert_eq!(since("1970-01-01T00:00:01Z"), Some(1));
        assert_eq!(since("1970-01-01T00:00:01.2Z"), Some(2));
        assert_eq!(since("1969-12-31T23:59:58.8Z"), Some(-1));
        assert_eq!(since("0s"), Some(NOW));
    }

    #[test]
    fn nonsense_is_refused() {
        let text = |text: &str| Some(text.to_owned());
        let none = ConditionArgs::default;
        for (args, said) in [
            (ConditionArgs { min_size: text("big"), ..none() }, "--min-size `big`"),
            (ConditionArgs { max_size: text("-1"), ..none() }, "--max-size `-1`"),
            (ConditionArgs { newer_than: text("7"), ..none() }, "--newer-than `7`"),
            (ConditionArgs { older_than: text("soon"), ..none() }, "--older-than `soon`"),
            (ConditionArgs { regex: vec!["(".to_owned()], ..none() }, "--regex: `(`"),
            (ConditionArgs { storage_classes: vec![String::new()], ..none() }, "class"),
            (
                ConditionArgs { min_size: text("2"), max_size: text("1"), ..none() },
                "--min-size is more",
            ),
            (
                ConditionArgs { newer_than: text("1d"), older_than: text("7d"), ..none() },
                "nothing is both",
            ),
        ] {
            let failure = read(&args).unwrap_err();
            assert!(failure.message.contains(said), "{}", failure.message);
            assert_eq!(failure.status, crate::exit::USAGE);
        }
    }
}
