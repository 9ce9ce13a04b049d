//! Ranges against the filter that they stand for.

use proptest::prelude::*;

use super::*;
use crate::plan::filter::{FilterRoots, FilterRule};

fn filter(rules: &[(bool, &str)]) -> Filter {
    let rules: Vec<_> = rules
        .iter()
        .map(|(is_include, pattern)| {
            let rule = if *is_include { FilterRule::Include } else { FilterRule::Exclude };
            rule((*pattern).to_owned())
        })
        .collect();
    let roots = FilterRoots { source: "b/root/".to_owned(), target: "/data/".to_owned() };
    Filter::new(&rules, &roots, "b/root/")
}

fn range(start: &str, end: Option<&str>) -> NameRange {
    NameRange { start: start.to_owned(), end: end.map(str::to_owned) }
}

/// Rules, and the ranges that they leave.
type Case<'a> = (&'a [(bool, &'a str)], &'a [NameRange]);

#[test]
fn what_is_left_out_whole_is_not_listed() {
    let (out, take) = (false, true);
    let cases: [Case<'_>; 9] = [
        (&[], &[NameRange::all()]),
        (&[(out, "*")], &[]),
        (&[(out, "*"), (take, "logs/2024*")], &[range("logs/2024", Some("logs/2025"))]),
        (&[(out, "*"), (take, "*.txt")], &[NameRange::all()]),
        (&[(out, "*"), (take, "a/?.txt")], &[range("a/", Some("a0"))]),
        (&[(out, "*"), (take, "one")], &[range("one", Some("one\0"))]),
        (&[(out, "tmp/*")], &[range("", Some("tmp/")), range("tmp0", None)]),
        (
            &[(out, "tmp/*"), (take, "tmp/keep*")],
            &[range("", Some("tmp/")), range("tmp/keep", Some("tmp/keeq")), range("tmp0", None)],
        ),
        (
            &[(take, "tmp/keep*"), (out, "tmp/*"), (out, "*.txt")],
            &[range("", Some("tmp/")), range("tmp0", None)],
        ),
    ];
    for (rules, expected) in cases {
        assert_eq!(filter(rules).ranges(), expected, "{rules:?}");
    }
}

#[test]
fn bounds_are_those_of_listings() {
    let bounds = |start: &str, end: Option<&str>| {
        let RangeBounds { prefix, after, through } = range(start, end).bounds("r/");
        (prefix, after, through)
    };
    let expected = |prefix: &str, after: &str, through: Option<&str>| {
        (prefix.to_owned(), after.to_owned(), through.map(str::to_owned))
    };
    assert_eq!(bounds("", None), expected("r/", "", None));
    assert_eq!(bounds("logs/2024", Some("logs/2025")), expected("r/logs/2024", "", None));
    assert_eq!(bounds("one", Some("one\0")), expected("r/one", "", Some("r/one")));
    assert_eq!(bounds("", Some("tmp/")), expected("r/", "", Some("r/tmp/")));
    assert_eq!(bounds("tmp0", None), expected("r/", "r/tmp/\u{10ffff}", None));
    assert_eq!(bounds("a/x", Some("a0")), expected("r/a/", "r/a/w\u{10ffff}", None));
    assert_eq!(bounds("\0", None), expected("r/", "", None));
}

#[test]
fn too_many_ranges_become_one() {
    let patterns: Vec<String> = (100..200).map(|n| format!("d{n}/*")).collect();
    let mut rules = vec![(false, "*")];
    rules.extend(patterns.iter().map(|pattern| (true, pattern.as_str())));
    assert_eq!(filter(&rules).ranges(), [range("d100/", Some("d1990"))]);
}

fn name() -> impl Strategy<Value = String> {
    "[ab/\\x00~é\u{d7ff}\u{e000}\u{10ffff}]{0,5}"
}

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ab/é\u{d7ff}\u{10ffff}]{0,3}\\*?",
        1 => "[ab/*?é]{0,4}",
        1 => "\\[[ab]\\][ab/]{0,2}\\*?",
    ]
}

proptest! {
    #[test]
    fn nothing_that_is_included_lies_outside(
        rules in proptest::collection::vec((any::<bool>(), pattern()), 0..6),
        names in proptest::collection::vec(name(), 1..40),
    ) {
        let rules: Vec<_> = rules.iter().map(|(kind, text)| (*kind, text.as_str())).collect();
        let filter = filter(&rules);
        let ranges = filter.ranges();
        for pair in ranges.windows(2) {
            let end = pair[0].end.as_ref().expect("only the last has no end");
            prop_assert!(*end < pair[1].start, "{:?}", ranges);
        }
        for name in &names {
            let is_listed = ranges.iter().any(|range| range.contains(name));
            prop_assert!(is_listed || !filter.includes(name), "{:?} {:?}", name, ranges);
            for range in ranges.iter().filter(|range| range.contains(name)) {
                let RangeBounds { prefix, after, through } = range.bounds("r/");
                let key = format!("r/{name}");
                prop_assert!(key.starts_with(&prefix), "{:?} {:?}", key, range);
                prop_assert!(after.is_empty() || key > after, "{:?} {:?}", key, range);
                prop_assert!(through.is_none_or(|end| key <= end), "{:?} {:?}", key, range);
            }
        }
    }

    #[test]
    fn ranges_of_a_prefix_hold_what_starts_so(prefix in name(), name in name()) {
        let range = NameRange::of_prefix(&prefix);
        prop_assert_eq!(range.contains(&name), name.starts_with(&prefix));
    }
}

#[test]
fn no_range_is_listed_after_a_text_within_a_folder() {
    let apart = |start: &str, end: Option<&str>| range(start, end).apart_from_folder();
    let (head, rest) = apart("tmp0", None);
    assert_eq!(
        (head.clone(), rest.clone()),
        (range("tmp0", Some("tmp1")), Some(range("tmp1", None)))
    );
    assert_eq!(head.bounds("r/").after, "");
    assert!(!rest.unwrap().bounds("r/").after.contains("tmp/"));
    assert_eq!(apart("tmp0", Some("tmp1")), (range("tmp0", Some("tmp1")), None));
    assert_eq!(apart("tmp0", Some("tmp0a")), (range("tmp0", Some("tmp0a")), None));
    assert_eq!(apart("tmp", None), (range("tmp", None), None));
}
