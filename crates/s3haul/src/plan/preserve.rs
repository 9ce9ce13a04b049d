//! Modification time, mode and owner of a file as user metadata of an object (`--preserve`).
//!
//! The names and forms are those that rclone writes with `--metadata` and other tools read:
//! `mtime` in seconds since 1970 with a fraction (<https://rclone.org/s3/#modification-times-and-hashes>),
//! `mode` in octal with the type of the file, `uid` and `gid`
//! (<https://rclone.org/local/#metadata>). s3fs has the same names and writes the mode in decimal
//! (<https://github.com/s3fs-fuse/s3fs-fuse/blob/master/src/metaheader.cpp>); that is read too, and cannot be mistaken:
//! of a regular file the octal form has six digits and begins with 10, the decimal one has five.
//!
//! Owners are written and not restored. Of a mode only the permissions of owner, group and others
//! are: write access to an object must not be enough to leave a setuid program on a disk.

use std::fmt::Write as _;

use super::compare::{Reason, Rule};
use crate::event::ActionKind;

/// Permissions of owner, group and others.
const PERMISSIONS: u32 = 0o777;
/// The bits of a mode that encode the type, and those of a regular file.
const TYPE_BITS: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
/// Nanoseconds a second.
const SECOND_NS: i128 = 1_000_000_000;

/// What a file has beside its name and contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Modification time in nanoseconds since 1970.
    pub modified_ns: i128,
    /// Type and permission bits.
    pub mode: u32,
    /// Owner.
    pub user: u32,
    /// Group.
    pub group: u32,
}

/// What is restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preserved {
    /// Modification time in nanoseconds since 1970.
    pub modified_ns: Option<i128>,
    /// Permissions of owner, group and others.
    pub permissions: Option<u32>,
}

impl Attributes {
    /// Adds them to metadata, but for what the user gave by the same name.
    pub fn add_to(self, metadata: &mut Vec<(String, String)>) {
        let pairs = [
            ("mtime", time_text(self.modified_ns)),
            ("mode", format!("{:o}", self.mode)),
            ("uid", self.user.to_string()),
            ("gid", self.group.to_string()),
        ];
        for (name, value) in pairs {
            if !metadata.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) {
                metadata.push((name.to_owned(), value));
            }
        }
    }
}

impl Preserved {
    /// Reads user metadata; what is missing or makes no sense is not restored.
    pub fn of(metadata: &[(String, String)]) -> Self {
        let value = |name: &str| {
            let pair = metadata.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
            pair.map(|(_, value)| value.trim())
        };
        Self {
            modified_ns: value("mtime").and_then(time_of),
            permissions: value("mode").and_then(permissions_of),
        }
    }
}

/// Whether times of `sync` are looked up in metadata (`--preserve`): where one side is local, and
/// the rule asks for times.
pub fn decides(rule: Rule, direction: ActionKind) -> bool {
    let has_local_side = matches!(direction, ActionKind::Upload | ActionKind::Download);
    let asks_for_times = match rule {
        Rule::SizeAndTime | Rule::NewerSource | Rule::ExactSeconds | Rule::ExactTimes => true,
        Rule::SizeOnly | Rule::Content | Rule::Never => false,
    };
    has_local_side && asks_for_times
}

/// What the listing alone decides where times are looked up: it has when an object was written,
/// to the second and by the clock of the server, and nothing of the file that it was made from.
pub fn listing_rule(rule: Rule, direction: ActionKind) -> Rule {
    if decides(rule, direction) { Rule::SizeOnly } else { rule }
}

/// Compares a file and an object of the same size by the time that the object preserves. Any other
/// time is a difference, with `--newer` only that of a newer source.
pub fn difference(
    rule: Rule,
    direction: ActionKind,
    file_ns: i128,
    object_ns: i128,
) -> Option<Reason> {
    if is_same_time(file_ns, object_ns) {
        return None;
    }
    let is_newer_source = match direction {
        ActionKind::Download => object_ns > file_ns,
        _ => file_ns > object_ns,
    };
    (rule != Rule::NewerSource || is_newer_source).then_some(Reason::Time)
}

/// Whether two times are one, as exactly as both are known: some tools and file systems know
/// whole seconds only.
fn is_same_time(one: i128, other: i128) -> bool {
    let is_whole = |time: i128| time.rem_euclid(SECOND_NS) == 0;
    let second = |time: i128| time.div_euclid(SECOND_NS);
    one == other || ((is_whole(one) || is_whole(other)) && second(one) == second(other))
}

fn time_text(nanoseconds: i128) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let (whole, rest) = (nanoseconds.abs() / SECOND_NS, nanoseconds.abs() % SECOND_NS);
    let mut text = format!("{sign}{whole}");
    if rest > 0 {
        let written = write!(text, ".{rest:09}");
        debug_assert!(written.is_ok(), "writing to a String cannot fail");
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

/// Seconds with as many digits of a fraction as are given; those beyond nanoseconds are cut off.
fn time_of(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let seconds = i128::from(whole.parse::<i64>().ok()?);
    let fraction: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let nanoseconds = seconds * SECOND_NS + fraction.parse::<i128>().ok()?;
    Some(if is_negative { -nanoseconds } else { nanoseconds })
}

fn permissions_of(text: &str) -> Option<u32> {
    let octal = u32::from_str_radix(text, 8).ok();
    let is_mode = |mode: &u32| *mode <= 0o7777 || mode & TYPE_BITS == REGULAR;
    let mode = octal.filter(is_mode).or_else(|| {
        let decimal: u32 = text.parse().ok()?;
        Some(decimal).filter(|mode| mode & TYPE_BITS == REGULAR && *mode <= REGULAR | 0o7777)
    })?;
    Some(mode & PERMISSIONS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn metadata(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_other_tools_write_is_read() {
        let read = |name: &str, value: &str| Preserved::of(&metadata(&[(name, value)]));
        let times = [
            ("1354040105.123456789", Some(1_354_040_105_123_456_789)),
            ("1547720072.89938138", Some(1_547_720_072_899_381_380)),
            ("1547721185", Some(1_547_721_185 * SECOND_NS)),
            ("1547721185.1234567891", Some(1_547_721_185_123_456_789)),
            ("-0.5", Some(-SECOND_NS / 2)),
            ("", None),
            ("-", None),
            ("1e9", None),
            ("2020-01-01T00:00:00Z", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in times {
            assert_eq!(read("mtime", text).modified_ns, expected, "{text}");
        }
        let modes = [
            ("100644", Some(0o644)),
            ("0100755", Some(0o755)),
            ("644", Some(0o644)),
            ("0600", Some(0o600)),
            ("33188", Some(0o644)),
            ("33261", Some(0o755)),
            ("33279", Some(0o777)),
            ("104755", Some(0o755)),
            ("40755", None),
            ("120777", None),
            ("rw-r--r--", None),
            ("", None),
        ];
        for (text, expected) in modes {
            assert_eq!(read("Mode", text).permissions, expected, "{text}");
        }
    }

    #[test]
    fn what_the_user_gives_wins() {
        let mut given = metadata(&[("colour", "blue"), ("Mtime", "7")]);
        let attributes = Attributes { modified_ns: 5, mode: 0o100_640, user: 500, group: 0 };
        attributes.add_to(&mut given);
        let expected =
            [("colour", "blue"), ("Mtime", "7"), ("mode", "100640"), ("uid", "500"), ("gid", "0")];
        assert_eq!(given, metadata(&expected));
    }

    #[test]
    fn preserved_times_decide_in_both_directions() {
        use ActionKind::{Copy, Download, Upload};
        let decide = |rule, direction, file_ns, object_ns| {
            difference(rule, direction, file_ns, object_ns).is_some()
        };
        for rule in [Rule::SizeAndTime, Rule::ExactTimes] {
            for direction in [Upload, Download] {
                assert!(decides(rule, direction) && !decides(rule, Copy));
                assert!(!decide(rule, direction, 5, 5));
                assert!(decide(rule, direction, 5, 6) && decide(rule, direction, 6, 5));
                // One side knows whole seconds only.
                assert!(!decide(rule, direction, SECOND_NS, SECOND_NS + 7));
                assert!(!decide(rule, direction, -1, -SECOND_NS));
                assert!(decide(rule, direction, 0, -1));
            }
        }
        assert!(
            decide(Rule::NewerSource, Upload, 6, 5) && !decide(Rule::NewerSource, Upload, 5, 6)
        );
        assert!(decide(Rule::NewerSource, Download, 5, 6));
        assert!(!decide(Rule::NewerSource, Download, 6, 5));
        assert!(!decides(Rule::SizeOnly, Upload) && !decides(Rule::Content, Download));
    }

    proptest! {
        #[test]
        fn what_is_written_comes_back(
            seconds in -100_000_000_000_i64..100_000_000_000,
            nanoseconds in prop_oneof![Just(0_i64), Just(500_000_000), 0..1_000_000_000_i64],
            permissions in 0_u32..=0o777,
        ) {
            let modified_ns = i128::from(seconds) * SECOND_NS + i128::from(nanoseconds);
            let mode = REGULAR | permissions;
            let mut metadata = Vec::new();
            Attributes { modified_ns, mode, user: 0, group: 0 }.add_to(&mut metadata);
            let expected =
                Preserved { modified_ns: Some(modified_ns), permissions: Some(permissions) };
            prop_assert_eq!(Preserved::of(&metadata), expected);
            let decimal = [("mode".to_owned(), mode.to_string())];
            prop_assert_eq!(Preserved::of(&decimal).permissions, Some(permissions));
        }
    }
}
