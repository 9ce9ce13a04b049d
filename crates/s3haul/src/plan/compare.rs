//! Whether a name that is on both sides is to be transferred: the rules of `aws s3 sync`, and
//! those that its users ask for.

use crate::event::ActionKind;

/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// What is known of a file or object without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Size in bytes.
    pub size: u64,
    /// Last modification in microseconds since 1970, the precision of the AWS tools. S3 lists whole
    /// seconds, other servers milliseconds.
    pub modified_us: i64,
}

impl Facts {
    /// Those of an object, modified at a second since 1970 and microseconds of it.
    #[inline]
    pub fn of_object(size: u64, modified_s: i64, modified_us: u32) -> Self {
        let second_us = modified_s.saturating_mul(SECOND_US);
        Self { size, modified_us: second_us.saturating_add(modified_us.into()) }
    }

    /// Whole seconds since 1970 of the modification.
    pub fn modified_s(&self) -> i64 {
        self.modified_us.div_euclid(SECOND_US)
    }
}

/// The time of a file in microseconds since 1970, as the AWS tools round it: they take it from
/// `os.stat` as a float and make a `datetime` of that, to the nearest microsecond, ties to even.
#[expect(clippy::cast_precision_loss, reason = "the AWS tools lose the same")]
#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates")]
pub fn file_time_us(seconds: i64, nanoseconds: u32) -> i64 {
    let time = seconds as f64 + 1e-9 * f64::from(nanoseconds);
    let microseconds = (time.fract() * 1e6).round_ties_even() as i64;
    (time.trunc() as i64).saturating_mul(SECOND_US).saturating_add(microseconds)
}

/// What counts as a difference. Of several that are asked for the greatest holds, which is the
/// order of the AWS tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Another size, or a time that says so: an upload or a copy when the source is newer, a
    /// download when the local file is newer than the object (which is how `aws s3 sync` is, for
    /// it takes the object's time for that of the file it was made from).
    #[default]
    SizeAndTime,
    /// Another size, or a source that is newer, in all directions (`--newer`).
    NewerSource,
    /// Another size (`--size-only`).
    SizeOnly,
    /// Another size, or for downloads another second: what a download sets is a whole one, where
    /// a server lists milliseconds (`--as-of`).
    ExactSeconds,
    /// Another size, or for downloads any other time (`--exact-timestamps`).
    ExactTimes,
    /// Another size, or other content, whatever the times are (`--checksum`).
    Content,
    /// Nothing: what exists stays (`--no-overwrite`).
    Never,
}

/// Why something is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The target has no such name.
    Missing,
    /// The sizes differ.
    Size,
    /// The times say so.
    Time,
    /// The content differs.
    Content,
    /// The target has such a name, and the command writes over whatever is there.
    Overwrite,
}

impl Reason {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Size => "size",
            Self::Time => "time",
            Self::Content => "content",
            Self::Overwrite => "overwrite",
        }
    }
}

/// Compares what is on both sides. Nothing: they count as the same, or with [`Rule::Content`] it
/// takes a look at the content.
pub fn difference(
    rule: Rule,
    direction: ActionKind,
    source: Facts,
    target: Facts,
) -> Option<Reason> {
    if rule == Rule::Never {
        return None;
    }
    if source.size != target.size {
        return Some(Reason::Size);
    }
    let is_download = direction == ActionKind::Download;
    let seconds = || (source.modified_s(), target.modified_s());
    let (source, target) = (source.modified_us, target.modified_us);
    let is_different = match rule {
        Rule::SizeOnly | Rule::Content | Rule::Never => false,
        Rule::ExactTimes if is_download => source != target,
        Rule::ExactSeconds if is_download => {
            let (source_s, target_s) = seconds();
            source_s != target_s
        }
        Rule::SizeAndTime if is_download => target > source,
        Rule::SizeAndTime | Rule::ExactTimes | Rule::ExactSeconds | Rule::NewerSource => {
            source > target
        }
    };
    is_different.then_some(Reason::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ActionKind::{Copy, Download, Upload};

    fn decide(rule: Rule, direction: ActionKind, source: (u64, i64), target: (u64, i64)) -> bool {
        let facts = |(size, seconds)| Facts { size, modified_us: seconds * SECOND_US };
        difference(rule, direction, facts(source), facts(target)).is_some()
    }

    #[test]
    fn sizes_decide_before_times() {
        for direction in [Upload, Download, Copy] {
            for rule in [Rule::SizeAndTime, Rule::SizeOnly, Rule::ExactTimes, Rule::NewerSource] {
                assert!(decide(rule, direction, (1, 5), (2, 5)), "{rule:?} {direction:?}");
                assert!(!decide(rule, direction, (1, 5), (1, 5)), "{rule:?} {direction:?}");
            }
            assert!(!decide(Rule::Never, direction, (1, 9), (2, 5)));
            assert!(!decide(Rule::SizeOnly, direction, (1, 9), (1, 5)));
        }
    }

    #[test]
    fn times_decide_as_in_the_aws_tools() {
        let newer_source = ((1, 9), (1, 5));
        let newer_target = ((1, 5), (1, 9));
        for (rule, direction, at_newer_source, at_newer_target) in [
            (Rule::SizeAndTime, Upload, true, false),
            (Rule::SizeAndTime, Copy, true, false),
            (Rule::SizeAndTime, Download, false, true),
            (Rule::ExactTimes, Upload, true, false),
            (Rule::ExactTimes, Copy, true, false),
            (Rule::ExactTimes, Download, true, true),
            (Rule::NewerSource, Upload, true, false),
            (Rule::NewerSource, Copy, true, false),
            (Rule::NewerSource, Download, true, false),
        ] {
            let decided = |(source, target)| decide(rule, direction, source, target);
            assert_eq!(decided(newer_source), at_newer_source, "{rule:?} {direction:?}");
            assert_eq!(decided(newer_target), at_newer_target, "{rule:?} {direction:?}");
        }
    }

    #[test]
    fn a_fraction_of_a_second_counts() {
        let older = Facts { size: 1, modified_us: 5 * SECOND_US };
        let newer = Facts { size: 1, modified_us: 5 * SECOND_US + 1 };
        assert_eq!(difference(Rule::SizeAndTime, Upload, newer, older), Some(Reason::Time));
        assert_eq!(difference(Rule::SizeAndTime, Download, older, newer), Some(Reason::Time));
    }

    /// The times that Python 3.11 makes of what `os.stat` reports (`datetime.fromtimestamp`).
    #[test]
    fn the_time_of_a_file_is_rounded_as_the_aws_tools_round_it() {
        for (seconds, nanoseconds, expected_us) in [
            (0, 0, 0),
            (0, 500, 1),
            (0, 1_500, 2),
            (0, 2_500, 2),
            (1_700_000_000, 438_000_000, 1_700_000_000_438_000),
            (1_700_000_000, 999_999_400, 1_700_000_000_999_999),
            (1_700_000_000, 999_999_600, 1_700_000_001_000_000),
            (1_700_000_000, 999_999_999, 1_700_000_001_000_000),
            (-1, 999_999_999, 0),
            (-1, 1, -1_000_000),
            (-1, 500_000_000, -500_000),
            (1_700_000_000, 507_000_119, 1_700_000_000_507_000),
            (1_700_000_000, 507_000_499, 1_700_000_000_507_000),
            (1_700_000_000, 507_000_501, 1_700_000_000_507_000),
            (253_402_300_798, 123_456_789, 253_402_300_798_123_444),
            (-62_135_596_799, 123_456_789, -62_135_596_798_876_541),
            (-352_107_721, 698_935_572, -352_107_720_301_064),
            (-792_611_376, 881_836_553, -792_611_375_118_163),
            (1_301_595_691, 392_655_486, 1_301_595_691_392_655),
            (1_503_055_453, 976_787_301, 1_503_055_453_976_787),
            (1_179_419_893, 40_260_662, 1_179_419_893_040_261),
            (-630_859_430, 449_008_934, -630_859_429_550_991),
            (-699_973_233, 97_402_358, -699_973_232_902_598),
            (1_366_729_934, 63_469_421, 1_366_729_934_063_469),
        ] {
            assert_eq!(file_time_us(seconds, nanoseconds), expected_us, "{seconds} {nanoseconds}");
        }
    }

    proptest::proptest! {
        /// A naive model: floor to milliseconds where the server lists such, then compare.
        #[test]
        fn times_of_one_second_are_compared_to_the_millisecond(
            file_ms in 0..2_000_u32,
            object_ms in 0..2_000_u32,
        ) {
            let (file_s, object_s) = (i64::from(file_ms / 1000), i64::from(object_ms / 1000));
            let modified_us = file_time_us(file_s, file_ms % 1000 * 1_000_000);
            let file = Facts { size: 1, modified_us };
            let object = Facts::of_object(1, object_s, object_ms % 1000 * 1000);
            let differs = |rule, direction, source, target| {
                difference(rule, direction, source, target).is_some()
            };
            let rule = Rule::SizeAndTime;
            proptest::prop_assert_eq!(differs(rule, Upload, file, object), file_ms > object_ms);
            proptest::prop_assert_eq!(differs(rule, Copy, file, object), file_ms > object_ms);
            proptest::prop_assert_eq!(differs(rule, Download, object, file), file_ms > object_ms);
            let rule = Rule::ExactTimes;
            proptest::prop_assert_eq!(differs(rule, Upload, file, object), file_ms > object_ms);
            proptest::prop_assert_eq!(differs(rule, Download, object, file), file_ms != object_ms);
            let rule = Rule::ExactSeconds;
            proptest::prop_assert_eq!(differs(rule, Upload, file, object), file_ms > object_ms);
            proptest::prop_assert_eq!(differs(rule, Download, object, file), file_s != object_s);
            proptest::prop_assert!(!differs(Rule::SizeOnly, Upload, file, object));
        }
    }

    #[test]
    fn of_several_rules_the_last_of_the_aws_order_wins() {
        let given = [Rule::Never, Rule::SizeOnly, Rule::ExactTimes, Rule::NewerSource];
        assert_eq!(given.into_iter().max(), Some(Rule::Never));
        assert_eq!(given.into_iter().skip(1).max(), Some(Rule::ExactTimes));
        assert_eq!(Rule::SizeOnly.max(Rule::NewerSource), Rule::SizeOnly);
        assert_eq!(Rule::default().max(Rule::NewerSource), Rule::NewerSource);
    }
}
