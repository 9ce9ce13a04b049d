//! Wildcards in S3 keys (`s3://b/logs/*.gz`), in the manner of s5cmd: `*` and `?` cross `/`.
//!
//! Ours alone: the AWS tools take such characters literally, so callers must ask for it.

use super::glob::{self, Text, Token};

/// A key pattern, split into what can be listed and what must be matched.
#[derive(Clone, Debug)]
pub struct Wildcard {
    prefix: String,
    /// A key that any of these matches behind the prefix is meant.
    patterns: Vec<Vec<Token>>,
    /// Length of the prefix up to and with its last `/`.
    root_length: usize,
}

impl Wildcard {
    /// Compiles a key with wildcards; `None` when it has none and names one object.
    pub fn parse(key: &str) -> Option<Self> {
        let first = key.find(['*', '?'])?;
        let (prefix, pattern) = key.split_at(first);
        Some(Self {
            prefix: prefix.to_owned(),
            patterns: vec![glob::compile_wildcard(pattern)],
            root_length: prefix.rfind('/').map_or(0, |slash| slash + 1),
        })
    }

    /// The same for whole trees: what the pattern matches, and all that lies below it. A pattern
    /// that ends in `/` means the latter alone.
    pub fn parse_tree(key: &str) -> Option<Self> {
        let mut tree = Self::parse(key)?;
        let below = format!("{}/*", key[tree.prefix.len()..].trim_end_matches('/'));
        if key.ends_with('/') {
            tree.patterns.clear();
        }
        // What ends in `*` takes what lies below by itself.
        if !key.ends_with('*') {
            tree.patterns.push(glob::compile_wildcard(&below));
        }
        Some(tree)
    }

    /// What to list: the key up to the first wildcard.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether a key matches the whole pattern.
    pub fn matches(&self, key: &str) -> bool {
        key.strip_prefix(self.prefix.as_str()).is_some_and(|rest| {
            self.patterns.iter().any(|pattern| glob::matches(pattern, Text::new("", rest)))
        })
    }

    /// Name that a matching key gets below the target: what follows the last `/` before the first
    /// wildcard.
    pub fn relative<'a>(&self, key: &'a str) -> &'a str {
        if key.starts_with(self.prefix.as_str()) { &key[self.root_length..] } else { key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_split_at_the_first_wildcard() {
        let wildcard = Wildcard::parse("logs/2024/a*/x?.gz").unwrap();
        assert_eq!(wildcard.prefix(), "logs/2024/a");
        assert!(wildcard.matches("logs/2024/a/x1.gz"));
        assert!(wildcard.matches("logs/2024/abc/d/e/x1.gz"));
        assert!(wildcard.matches("logs/2024/abc/x/.gz"), "`?` crosses `/` too");
        assert!(!wildcard.matches("logs/2024/abc/x12.gz"));
        assert!(!wildcard.matches("logs/2023/abc/x1.gz"));
        assert_eq!(wildcard.relative("logs/2024/abc/x1.gz"), "abc/x1.gz");
        assert!(Wildcard::parse("logs/2024/a").is_none());
    }

    #[test]
    fn without_a_slash_the_whole_key_is_relative() {
        let wildcard = Wildcard::parse("a*").unwrap();
        assert_eq!(wildcard.relative("ab/c"), "ab/c");
        assert_eq!(Wildcard::parse("*").unwrap().prefix(), "");
        assert_eq!(Wildcard::parse("logs/*").unwrap().relative("logs/x/y"), "x/y");
    }

    #[test]
    fn a_tree_has_what_matches_and_what_lies_below() {
        let is_in = |pattern: &str, key: &str| Wildcard::parse_tree(pattern).unwrap().matches(key);
        assert!(is_in("2025/*.jpg", "2025/a.jpg"));
        assert!(is_in("2025/*.jpg", "2025/a.jpg/thumbnail"));
        assert!(!is_in("2025/*.jpg", "2025/a.jpgx"));
        assert!(is_in("202?", "2025/a"));
        assert!(!is_in("202?", "2025a"));
        assert!(is_in("202*/", "2025/a"));
        assert!(!is_in("202*/", "2025"));
        assert!(is_in("202*", "2025"));
        assert!(Wildcard::parse_tree("2025/a.jpg").is_none());
    }

    #[test]
    fn brackets_are_ordinary() {
        let wildcard = Wildcard::parse("a[1]*").unwrap();
        assert!(wildcard.matches("a[1]x"));
        assert!(!wildcard.matches("a1x"));
    }
}
