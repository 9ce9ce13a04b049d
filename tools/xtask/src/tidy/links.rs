//! Links between documents: each leads to a file and a heading that are there, and the pages of the
//! site lead to each other.
//!
//! Links to other hosts are not followed. Of two headings of one text the first counts.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, Violation};

/// The folder of the site. A page of it links to nothing outside, which the site would not have.
const SITE: &str = "docs/";
/// Its contents.
const CONTENTS: &str = "docs/SUMMARY.md";
/// Parts of other pages, which are not pages of the site.
const PARTS: [&str; 2] = ["docs/bench/limit/about.md", "docs/bench/python/about.md"];

/// Adds dead links, and pages that the contents of the site leave out.
pub(super) fn check(files: &[Source], violations: &mut Vec<Violation>) {
    let documents: BTreeMap<&str, Vec<Line<'_>>> = files
        .iter()
        .filter(|file| has_extension(&file.path, "md"))
        .map(|file| (file.path.as_str(), prose(&file.text)))
        .collect();
    let headings: BTreeMap<&str, BTreeSet<String>> =
        documents.iter().map(|(path, lines)| (*path, anchors(lines))).collect();
    let is_there = |path: &str| {
        let folder = format!("{}/", path.trim_end_matches('/'));
        files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
    };
    for (path, lines) in &documents {
        for (number, target) in lines.iter().flat_map(links) {
            let rule = match resolved(path, target) {
                Some((to, _)) if !is_there(&to) => format!("dead link: there is no `{to}`"),
                Some((to, anchor)) if !has_anchor(&headings, &to, anchor) => {
                    format!("dead link: `{to}` has no heading `#{anchor}`")
                }
                Some((to, _)) if path.starts_with(SITE) && !to.starts_with(SITE) => {
                    format!("`{to}` is not part of the site: give the address of the repository")
                }
                _ => continue,
            };
            violations.push(Violation { file: (*path).to_owned(), line: number, rule });
        }
    }
    check_contents(&documents, violations);
}

fn check_contents(documents: &BTreeMap<&str, Vec<Line<'_>>>, violations: &mut Vec<Violation>) {
    let Some(contents) = documents.get(CONTENTS) else { return };
    let listed: BTreeSet<String> = contents
        .iter()
        .flat_map(links)
        .filter_map(|(_, target)| Some(resolved(CONTENTS, target)?.0))
        .collect();
    for path in documents.keys().filter(|path| path.starts_with(SITE)) {
        let is_page = *path != CONTENTS && !PARTS.contains(path);
        if is_page && !listed.contains(*path) {
            let rule = format!("`{CONTENTS}` has to list this page");
            violations.push(Violation { file: (*path).to_owned(), line: 1, rule });
        }
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|found| found == extension)
}

fn has_anchor(headings: &BTreeMap<&str, BTreeSet<String>>, path: &str, anchor: &str) -> bool {
    anchor.is_empty() || headings.get(path).is_none_or(|anchors| anchors.contains(anchor))
}

/// A line of prose, with its number.
type Line<'t> = (usize, &'t str);

/// The lines outside blocks of code.
fn prose(text: &str) -> Vec<Line<'_>> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            lines.push((number, line));
        }
    }
    lines
}

/// Where the links of a line lead to.
fn links<'t>((number, line): &Line<'t>) -> Vec<(usize, &'t str)> {
    let mut found = Vec::new();
    let mut is_code = false;
    let mut rest = *line;
    while let Some(at) = rest.find(['`', ']']) {
        is_code ^= rest[at..].starts_with('`');
        let after = &rest[at + 1..];
        if !is_code
            && rest[at..].starts_with("](")
            && let Some(end) = after.find(')')
        {
            found.push((*number, &after[1..end]));
        }
        rest = after;
    }
    found
}

/// The file and heading of a link; `None` for other hosts.
fn resolved<'t>(from: &str, target: &'t str) -> Option<(String, &'t str)> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    if path.is_empty() {
        return Some((from.to_owned(), anchor));
    }
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                folders.pop();
            }
            part => folders.push(part),
        }
    }
    Some((folders.join("/"), anchor))
}

/// Names of the headings, as GitHub and mdBook make them.
fn anchors(lines: &[Line<'_>]) -> BTreeSet<String> {
    let headings = lines.iter().filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(path, (*text).to_owned())).collect();
        let mut violations = Vec::new();
        check(&files, &mut violations);
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn dead_links_and_headings_are_found() {
        let page = ("docs/a.md", "# One\n## `503 Slow`, and --more\n");
        let link = |target: &str| broken(&[page, ("README.md", &format!("[x]({target})\n"))]);
        for target in ["docs/a.md", "docs", "docs/a.md#503-slow-and---more", "https://a.b/c", "#"] {
            assert_eq!(link(target), Vec::<String>::new(), "{target}");
        }
        for target in ["a.md", "docs/b.md", "docs/a.md#two", "#here", "../docs/a.mdx"] {
            assert_eq!(link(target).len(), 1, "{target}");
        }
        let quoted = "`[x](none.md)` and\n```text\n[x](none.md)\n```\n";
        assert_eq!(broken(&[("README.md", quoted)]), Vec::<String>::new());
    }

    #[test]
    fn pages_of_the_site_are_listed_and_stay_within_it() {
        let files = [
            ("README.md", ""),
            ("docs/SUMMARY.md", "[a](a.md)\n"),
            ("docs/a.md", "[b](b.md)\n"),
            ("docs/b.md", "[out](../README.md)\n"),
        ];
        let found = broken(&files);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("docs/b.md:1: `README.md` is not part of the site"));
        assert_eq!(found[1], "docs/b.md:1: `docs/SUMMARY.md` has to list this page");
    }
}
