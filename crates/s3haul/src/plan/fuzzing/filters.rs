//! Filters, their ranges and wildcards against patterns matched the slow way.

use super::fnmatch;
use crate::plan::filter::{Filter, FilterRoots, FilterRule};
use crate::plan::wildcard::Wildcard;

/// Longest pattern, root or name that the slow way is given.
const TEXT_MAX: usize = 120;
/// Longest name that any filter is given: a key of S3 has at most 1,024 bytes.
const KEY_MAX: usize = 16 * 1024;
/// Most rules and names.
const LINES_MAX: usize = 8;

/// Lines: roots of source and target, then rules (`+pattern`, `-pattern`) and names. Names are
/// taken as the last rule that matches says; nothing that is taken lies outside the ranges that
/// are listed or in a folder that is not looked into.
///
/// # Panics
///
/// Where that does not hold.
pub fn filters(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let mut root = || short(lines.next().unwrap_or_default());
    let roots = FilterRoots { source: root().to_owned(), target: root().to_owned() };
    let (mut rules, mut names) = (Vec::new(), Vec::new());
    for line in lines.filter(|line| !line.is_empty()) {
        let kind: fn(String) -> FilterRule = match line.as_bytes()[0] {
            b'+' => FilterRule::Include,
            b'-' => FilterRule::Exclude,
            _ => {
                if names.len() < LINES_MAX {
                    names.push(line);
                }
                continue;
            }
        };
        rules.push(kind(short(&line[1..]).to_owned()));
    }
    rules.truncate(LINES_MAX);
    let prefix = format!("{}/", roots.source.trim_end_matches('/'));
    let filter = Filter::new(&rules, &roots, &prefix);
    let ranges = filter.ranges();
    for name in names {
        if name.len() > TEXT_MAX {
            let _ = filter.includes(&name[..name.floor_char_boundary(KEY_MAX)]);
            continue;
        }
        let includes = filter.includes(name);
        assert_eq!(includes, plain(&rules, &roots, &format!("{prefix}{name}")), "{name:?}");
        if includes {
            check_listed(&filter, name);
            assert!(ranges.iter().any(|range| range.contains(name)), "{name:?} {ranges:?}");
        }
        check_wildcards(&rules, name);
    }
    for range in &ranges {
        let bounds = range.bounds("root/");
        assert!(bounds.prefix.starts_with("root/"));
        for name in [Some(&range.start), range.end.as_ref()].into_iter().flatten() {
            let key = format!("root/{name}");
            let is_listed = key.starts_with(&bounds.prefix)
                && (bounds.after.is_empty() || key > bounds.after)
                && bounds.through.as_ref().is_none_or(|through| key <= *through);
            assert!(is_listed || !range.contains(name), "{name:?} {range:?} {bounds:?}");
        }
    }
}

fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_MAX)]
}

/// No folder of a name that is taken is passed over.
fn check_listed(filter: &Filter, name: &str) {
    for (slash, _) in name.match_indices('/') {
        assert!(!filter.excludes_all_below(&name[..=slash]), "{name:?}");
    }
}

fn plain(rules: &[FilterRule], roots: &FilterRoots, path: &str) -> bool {
    let decisive = rules.iter().rev().find(|rule| {
        [&roots.source, &roots.target].into_iter().any(|root| {
            let pattern = match () {
                () if rule.pattern().starts_with('/') => rule.pattern().to_owned(),
                () if root.is_empty() || root.ends_with('/') => format!("{root}{}", rule.pattern()),
                () => format!("{root}/{}", rule.pattern()),
            };
            fnmatch::matches(&pattern, path, true)
        })
    });
    decisive.is_none_or(|rule| matches!(rule, FilterRule::Include(_)))
}

fn check_wildcards(rules: &[FilterRule], name: &str) {
    for rule in rules {
        let Some(wildcard) = Wildcard::parse(rule.pattern()) else { continue };
        let is_match = wildcard.matches(name);
        assert_eq!(is_match, fnmatch::matches(rule.pattern(), name, false), "{rule:?} {name:?}");
        if is_match {
            assert!(name.starts_with(wildcard.prefix()) && name.ends_with(wildcard.relative(name)));
        }
    }
}
