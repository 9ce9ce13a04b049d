//! Whether a name that is on both sides is to be transferred: the rules of `aws s3 sync`, and
//! those that its users ask for.

use crate::event::ActionKind;

/// What is known of a file or object without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Size in bytes.
    pub size: u64,
    /// Last modification in nanoseconds since 1970. S3 tells whole seconds.
    pub modified_ns: i128,
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
}

impl Reason {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Size => "size",
            Self::Time => "time",
            Self::Content => "content",
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
    let (source, target) = (source.modified_ns, target.modified_ns);
    let is_download = direction == ActionKind::Download;
    let is_different = match rule {
        Rule::SizeOnly | Rule::Content | Rule::Never => false,
        Rule::ExactTimes if is_download => source != target,
        Rule::SizeAndTime if is_download => target > source,
        Rule::SizeAndTime | Rule::ExactTimes | Rule::NewerSource => source > target,
    };
    is_different.then_some(Reason::Time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ActionKind::{Copy, Download, Upload};

    const SECOND: i128 = 1_000_000_000;

    fn decide(rule: Rule, direction: ActionKind, source: (u64, i128), target: (u64, i128)) -> bool {
        let facts = |(size, seconds)| Facts { size, modified_ns: seconds * SECOND };
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
        let older = Facts { size: 1, modified_ns: 5 * SECOND };
        let newer = Facts { size: 1, modified_ns: 5 * SECOND + 1 };
        assert_eq!(difference(Rule::SizeAndTime, Upload, newer, older), Some(Reason::Time));
        assert_eq!(difference(Rule::SizeAndTime, Download, older, newer), Some(Reason::Time));
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
