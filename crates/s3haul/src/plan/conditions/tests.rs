//! The conditions against a model that asks them one by one.

use proptest::prelude::*;

use super::*;

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::parse(text).unwrap()).collect()
}

fn named(conditions: &Conditions, name: &str) -> bool {
    conditions.takes(name, &ObjectFacts::default())
}

#[test]
fn expressions_are_found_anywhere_in_the_whole_name() {
    let gz =
        Conditions { patterns: patterns(&["\\.gz$", "^logs/\\d{4}/"]), ..Conditions::default() };
    for (name, taken) in [
        ("a/b.gz", true),
        ("a/b.gz/c", false),
        ("logs/2024/x", true),
        ("old/logs/2024/x", false),
        ("", false),
    ] {
        assert_eq!(named(&gz, name), taken, "{name}");
    }
    assert!(!gz.needs_facts() && !gz.is_empty() && Conditions::default().is_empty());
    let error = Pattern::parse("a(b").unwrap_err().to_string();
    assert_eq!(error, "`a(b` is not a regular expression: found open group without closing ')'");
}

/// Backtracking would take longer than the universe has existed.
#[test]
fn an_expression_of_bad_will_takes_no_longer() {
    let bad = Conditions { patterns: patterns(&["(a*)*(a*)*(a*)*b$"]), ..Conditions::default() };
    assert!(!named(&bad, &"a".repeat(1024)));
}

#[test]
fn globs_are_about_the_last_component() {
    let glob = Conditions {
        names: vec![NameGlob::new("*.gz"), NameGlob::new("[a-c]?")],
        ..Conditions::default()
    };
    for (name, taken) in [
        ("x.gz", true),
        ("d/x.gz", true),
        ("d.gz/x", false),
        ("d/b1", true),
        ("d/b1/", true),
        ("d1", false),
        ("b12", false),
    ] {
        assert_eq!(named(&glob, name), taken, "{name}");
    }
}

#[test]
fn an_empty_class_is_standard_and_files_have_none() {
    let classes = |names: &[&str]| Conditions {
        storage_classes: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Conditions::default()
    };
    let takes = |conditions: &Conditions, class| {
        conditions.takes("k", &ObjectFacts { storage_class: class, ..ObjectFacts::default() })
    };
    let standard = classes(&["standard", "GLACIER"]);
    assert!(takes(&standard, Some("")) && takes(&standard, Some("STANDARD")));
    assert!(takes(&standard, Some("GLACIER")) && !takes(&standard, Some("STANDARD_IA")));
    assert!(!takes(&standard, None) && !takes(&classes(&["GLACIER"]), Some("")));
    assert!(takes(&Conditions::default(), None));
}

#[test]
fn what_has_no_size_is_taken_by_no_size() {
    let marker = ObjectFacts { modified_s: 5, ..ObjectFacts::default() };
    for (size_min, size_max) in [(Some(0), None), (None, Some(u64::MAX))] {
        let sized = Conditions { size_min, size_max, ..Conditions::default() };
        assert!(!sized.takes("k", &marker));
    }
    let aged = Conditions { newer_than_s: Some(5), ..Conditions::default() };
    assert!(aged.takes("k", &marker));
}

#[derive(Clone, Debug)]
struct Thing {
    name: String,
    size: u64,
    modified_s: i64,
    class: Option<&'static str>,
}

fn things() -> impl Strategy<Value = Thing> {
    let class = prop::sample::select(vec![None, Some(""), Some("STANDARD"), Some("GLACIER")]);
    ("[ab/]{0,5}", 0..6_u64, -3..3_i64, class).prop_map(|(name, size, modified_s, class)| Thing {
        name,
        size,
        modified_s,
        class,
    })
}

/// Conditions of which each may be absent, with the text that the expression stands for.
fn conditions() -> impl Strategy<Value = (Conditions, Option<String>)> {
    let text = prop::option::of("[ab/]{1,2}");
    let sizes = (prop::option::of(0..6_u64), prop::option::of(0..6_u64));
    let moments = (prop::option::of(-3..3_i64), prop::option::of(-3..3_i64));
    let classes = prop::collection::vec(prop::sample::select(vec!["STANDARD", "GLACIER"]), 0..3);
    (text, sizes, moments, classes).prop_map(|(text, sizes, moments, classes)| {
        let conditions = Conditions {
            patterns: text.iter().map(|text| Pattern::parse(text).unwrap()).collect(),
            names: Vec::new(),
            size_min: sizes.0,
            size_max: sizes.1,
            newer_than_s: moments.0,
            older_than_s: moments.1,
            storage_classes: classes.into_iter().map(str::to_owned).collect(),
        };
        (conditions, text)
    })
}

proptest! {
    #[test]
    fn all_kinds_must_hold((conditions, text) in conditions(), thing in things()) {
        let class = match thing.class {
            Some("") => Some("STANDARD"),
            class => class,
        };
        let wanted = &conditions.storage_classes;
        let answers = [
            text.is_none_or(|text| thing.name.contains(&text)),
            conditions.size_min.unwrap_or(0) <= thing.size,
            conditions.size_max.unwrap_or(9) >= thing.size,
            conditions.newer_than_s.unwrap_or(-9) <= thing.modified_s,
            conditions.older_than_s.unwrap_or(9) > thing.modified_s,
            wanted.is_empty() || wanted.iter().any(|wanted| Some(wanted.as_str()) == class),
        ];
        let facts = ObjectFacts {
            size: Some(thing.size),
            modified_s: thing.modified_s,
            storage_class: thing.class,
        };
        prop_assert_eq!(conditions.takes(&thing.name, &facts), answers.iter().all(|yes| *yes));
        if !conditions.needs_facts() {
            let unknown = ObjectFacts::default();
            prop_assert_eq!(conditions.takes(&thing.name, &unknown), answers[0]);
        }
        prop_assert!(!conditions.is_empty() || conditions.takes(&thing.name, &facts));
    }

    /// Nothing is taken by both and nothing by neither.
    #[test]
    fn a_moment_parts_all_things(moment in -3..3_i64, thing in things()) {
        let newer = Conditions { newer_than_s: Some(moment), ..Conditions::default() };
        let older = Conditions { older_than_s: Some(moment), ..Conditions::default() };
        let facts = ObjectFacts { modified_s: thing.modified_s, ..ObjectFacts::default() };
        prop_assert_ne!(newer.takes(&thing.name, &facts), older.takes(&thing.name, &facts));
    }
}
