//! Filters against the whole-path rule they shortcut, and the consequences that users rely on.

use proptest::prelude::*;

use super::*;

fn exclude(pattern: &str) -> FilterRule {
    FilterRule::Exclude(pattern.to_owned())
}

fn include(pattern: &str) -> FilterRule {
    FilterRule::Include(pattern.to_owned())
}

fn roots(source: &str, target: &str) -> FilterRoots {
    FilterRoots { source: source.to_owned(), target: target.to_owned() }
}

/// The rule as documented: whole paths, in order, the last match wins.
fn naive(rules: &[FilterRule], roots: &FilterRoots, path: &str) -> bool {
    let mut included = true;
    for rule in rules {
        for root in [&roots.source, &roots.target] {
            let pattern = glob::compile_fnmatch(&join(root, rule.pattern()));
            if glob::matches(&pattern, Text::new(path, "")) {
                included = rule.is_include();
            }
        }
    }
    included
}

#[test]
fn the_last_match_wins() {
    let roots = roots("/data", "b/pre");
    let rules = [exclude("*"), include("*.txt"), exclude("secret*")];
    for prefix in ["/data/", "b/pre/"] {
        let filter = Filter::new(&rules, &roots, prefix);
        assert!(filter.includes("a.txt"), "{prefix}");
        assert!(filter.includes("d/e/a.txt"), "{prefix}");
        assert!(!filter.includes("a.jpg"), "{prefix}");
        assert!(!filter.includes("secret/a.txt"), "{prefix}");
        assert!(filter.includes("d/secret.txt"), "patterns start at the root: {prefix}");
    }
}

#[test]
fn absolute_patterns_replace_the_root() {
    let filter = Filter::new(&[exclude("/data/a*")], &roots("/data", "b"), "/data/");
    assert!(!filter.includes("abc"));
    assert!(filter.includes("xabc"));
    let elsewhere = Filter::new(&[exclude("/other/*")], &roots("/data", "b"), "/data/");
    assert!(elsewhere.includes("abc"));
    assert!(elsewhere.rules.is_empty(), "what never matches is dropped");
}

#[test]
fn brackets_in_the_root_are_special() {
    let filter = Filter::new(&[exclude("*")], &roots("/data[1]", "b"), "/data[1]/");
    assert!(filter.includes("abc"), "the root's own brackets are a set that does not match them");
    let filter = Filter::new(&[exclude("*")], &roots("/data[1]", "b"), "/data1/");
    assert!(!filter.includes("abc"));
}

#[test]
fn common_patterns_need_no_general_matching() {
    let matcher = |pattern: &str| {
        let filter = Filter::new(&[exclude(pattern)], &roots("/d", "b"), "/d/");
        assert_eq!(filter.rules.len(), 1, "the target's pattern can never match here");
        filter.rules[0].matcher.clone()
    };
    let text = str::to_owned;
    assert_eq!(matcher("*"), Matcher::Always);
    assert_eq!(matcher("a/b"), Matcher::Equals(text("a/b")));
    assert_eq!(matcher("a/*"), Matcher::StartsWith(text("a/")));
    assert_eq!(matcher("*.gz"), Matcher::EndsWith(text(".gz")));
    assert_eq!(matcher("*/.git/*"), Matcher::Contains(text("/.git/")));
    assert!(matches!(matcher("a?b"), Matcher::General(head, _) if head.is_empty()));
}

#[test]
fn a_single_key_is_matched_below_its_parent() {
    let filter = Filter::new(&[exclude("*"), include("k*")], &roots("b/p", "/x"), "b/p/");
    assert!(filter.includes("key"));
    assert!(!filter.includes("other"));
}

#[test]
fn directories_are_left_out_only_when_all_of_them_is() {
    let roots = roots("/d", "b");
    let pruned = |rules: &[FilterRule], directory: &str| {
        Filter::new(rules, &roots, "/d/").excludes_all_below(directory)
    };
    assert!(pruned(&[exclude("node_modules/*")], "node_modules/"));
    assert!(pruned(&[exclude("node_modules/*")], "node_modules/x/y/"));
    assert!(!pruned(&[exclude("node_modules/*")], "src/"));
    assert!(pruned(&[exclude("*.git/*")], "a/.git/"));
    assert!(!pruned(&[exclude("*.txt")], "a/"));
    assert!(!pruned(&[exclude("*"), include("*.txt")], "a/"));
    assert!(!pruned(&[exclude("*"), include("a/b/c*")], "a/"));
    assert!(pruned(&[exclude("*"), include("a/b/c*")], "b/"));
    assert!(pruned(&[include("*.txt"), exclude("a/*")], "a/"));
}

fn any_rules() -> impl Strategy<Value = Vec<FilterRule>> {
    let pattern = || "[ab/*?\\[\\]!-]{0,6}";
    let rule = prop_oneof![
        pattern().prop_map(FilterRule::Include),
        pattern().prop_map(FilterRule::Exclude),
    ];
    proptest::collection::vec(rule, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn shortcuts_change_nothing(
        rules in any_rules(),
        source in "(/[ab\\[\\]*?]{0,3}){1,2}",
        target in "[ab]{1,2}(/[ab?]{0,2}){0,2}",
        relative in "[ab\\[\\]*?/]{0,6}",
    ) {
        let roots = roots(&source, &target);
        for root in [&source, &target] {
            let prefix = join(root, "");
            let filter = Filter::new(&rules, &roots, &prefix);
            let expected = naive(&rules, &roots, &format!("{prefix}{relative}"));
            prop_assert_eq!(filter.includes(&relative), expected, "{:?}", filter);
        }
    }

    #[test]
    fn pruning_loses_nothing(
        rules in any_rules(),
        directory in "([ab]{1,2}/){1,2}",
        below in "[ab/]{1,5}",
    ) {
        let filter = Filter::new(&rules, &roots("/a", "b/a"), "/a/");
        if filter.excludes_all_below(&directory) {
            let relative = format!("{directory}{below}");
            prop_assert!(!filter.includes(&relative), "{}", relative);
        }
    }
}
