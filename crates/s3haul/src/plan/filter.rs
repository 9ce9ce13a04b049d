//! `--include` and `--exclude`, exactly as the AWS tools apply them.
//!
//! Each pattern is joined to the source root and to the target root (an absolute pattern replaces
//! the root) and matched as Python's `fnmatch` against the whole path; the last match wins and
//! everything starts out included. Roots are part of the pattern, so `[` in a root is special.
//! Compiled once for each side: what the root decides is decided then, so that most patterns come
//! down to comparing the start or the end of the relative name.

mod ranges;

use serde::{Deserialize, Serialize};

use super::glob::{self, Text, Token};

pub use ranges::{NameRange, RangeBounds};

/// A pattern: * matches anything, ? one character, `[abc]` one of several. Of several rules the
/// last that matches counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum FilterRule {
    /// What matches is taken.
    Include(String),
    /// What matches is left out.
    Exclude(String),
}

impl FilterRule {
    /// Whether what matches is taken.
    fn is_include(&self) -> bool {
        matches!(self, Self::Include(_))
    }

    /// The pattern as given.
    pub(super) fn pattern(&self) -> &str {
        match self {
            Self::Include(pattern) | Self::Exclude(pattern) => pattern,
        }
    }
}

/// Roots that the patterns are joined to, such as `/home/me/data` and `bucket/prefix/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterRoots {
    /// Root of the source.
    pub source: String,
    /// Root of the target; the source again for commands that have none.
    pub target: String,
}

/// The rules as they apply to the names of one side of a job. Cheap to clone is not needed: share
/// it in an `Arc`.
#[derive(Clone, Debug)]
pub struct Filter {
    rules: Vec<Rule>,
    path_prefix: String,
}

#[derive(Clone, Debug)]
struct Rule {
    is_include: bool,
    matcher: Matcher,
    /// The pattern's tokens over the whole path, for decisions about directories.
    tokens: Vec<Token>,
}

/// A pattern with the known start of the path worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Matcher {
    Always,
    Equals(String),
    StartsWith(String),
    EndsWith(String),
    Contains(String),
    /// Anything else, over what is left of the known start and the relative name.
    General(String, Vec<Token>),
}

impl Filter {
    /// Compiles rules for paths that are `path_prefix` and a relative name: `bucket/prefix/` or
    /// `/home/me/data/`.
    pub fn new(rules: &[FilterRule], roots: &FilterRoots, path_prefix: &str) -> Self {
        let mut compiled = Vec::new();
        for rule in rules {
            for root in [&roots.source, &roots.target] {
                let tokens = glob::compile_fnmatch(&join(root, rule.pattern()));
                if let Some(matcher) = specialize(tokens.clone(), path_prefix) {
                    compiled.push(Rule { is_include: rule.is_include(), matcher, tokens });
                }
            }
        }
        compiled.dedup_by(|next, kept| {
            next.is_include == kept.is_include && next.tokens == kept.tokens
        });
        Self { rules: compiled, path_prefix: path_prefix.to_owned() }
    }

    /// A filter that takes in everything.
    pub fn all() -> Self {
        Self { rules: Vec::new(), path_prefix: String::new() }
    }

    /// Whether no rule can ever leave anything out.
    pub fn is_all(&self) -> bool {
        self.rules.iter().all(|rule| rule.is_include)
    }

    /// Whether the file or object of this relative name is taken in.
    pub fn includes(&self, relative: &str) -> bool {
        let decisive = self.rules.iter().rev().find(|rule| rule.matcher.matches(relative));
        decisive.is_none_or(|rule| rule.is_include)
    }

    /// Whether everything below a directory (relative, ending in `/`) is surely left out, so that
    /// it need not be looked into. May say false though all is left out.
    pub fn excludes_all_below(&self, directory: &str) -> bool {
        let path = format!("{}{directory}", self.path_prefix);
        for rule in self.rules.iter().rev() {
            if rule.is_include {
                if may_match_below(&rule.tokens, &path) {
                    return false;
                }
                continue;
            }
            // A pattern that ends in a star and matches the directory matches whatever follows.
            let open_ended = rule.tokens.last() == Some(&Token::Star);
            if open_ended && glob::matches(&rule.tokens, Text::new(&path, "")) {
                return true;
            }
        }
        false
    }
}

impl Matcher {
    fn matches(&self, relative: &str) -> bool {
        match self {
            Self::Always => true,
            Self::Equals(text) => relative == text,
            Self::StartsWith(text) => relative.starts_with(text.as_str()),
            Self::EndsWith(text) => relative.ends_with(text.as_str()),
            Self::Contains(text) => relative.contains(text.as_str()),
            Self::General(head, tokens) => glob::matches(tokens, Text::new(head, relative)),
        }
    }
}

/// Joins as Python's `os.path.join` does.
fn join(root: &str, pattern: &str) -> String {
    if pattern.starts_with('/') {
        pattern.to_owned()
    } else if root.is_empty() || root.ends_with('/') {
        format!("{root}{pattern}")
    } else {
        format!("{root}/{pattern}")
    }
}

/// Works the known start of all paths into a pattern; `None` when it can match none of them.
fn specialize(tokens: Vec<Token>, prefix: &str) -> Option<Matcher> {
    let mut rest = prefix;
    let mut left = tokens.into_iter();
    let mut remaining: Vec<Token> = Vec::new();
    for token in left.by_ref() {
        if rest.is_empty() || token == Token::Star {
            remaining.push(token);
            break;
        }
        match token {
            Token::Text(text) => {
                match (rest.strip_prefix(text.as_str()), text.strip_prefix(rest)) {
                    (Some(after), _) => rest = after,
                    (None, Some(after)) => {
                        remaining.push(Token::Text(after.to_owned()));
                        rest = "";
                        break;
                    }
                    (None, None) => return None,
                }
            }
            Token::Any | Token::Class(_) => {
                let first = rest.chars().next()?;
                let (head, after) = rest.split_at(first.len_utf8());
                if !glob::matches(std::slice::from_ref(&token), Text::new(head, "")) {
                    return None;
                }
                rest = after;
            }
            Token::Star | Token::Never => return None,
        }
    }
    remaining.extend(left);
    classify(rest, remaining)
}

fn classify(head: &str, tokens: Vec<Token>) -> Option<Matcher> {
    let matcher = match (head, tokens.as_slice()) {
        (_, [Token::Star]) => Matcher::Always,
        ("", []) => Matcher::Equals(String::new()),
        // The pattern ends before the known start of every path does.
        (_, []) => return None,
        ("", [Token::Text(text)]) => Matcher::Equals(text.clone()),
        ("", [Token::Text(text), Token::Star]) => Matcher::StartsWith(text.clone()),
        ("", [Token::Star, Token::Text(text)]) => Matcher::EndsWith(text.clone()),
        ("", [Token::Star, Token::Text(text), Token::Star]) => Matcher::Contains(text.clone()),
        _ if tokens.contains(&Token::Never) => return None,
        _ => Matcher::General(head.to_owned(), tokens),
    };
    Some(matcher)
}

/// Whether a pattern may match some path that starts with `directory`, judged by its literal start.
fn may_match_below(tokens: &[Token], directory: &str) -> bool {
    match tokens.first() {
        Some(Token::Text(text)) if tokens.len() == 1 => text.starts_with(directory),
        Some(Token::Text(text)) => {
            text.starts_with(directory) || directory.starts_with(text.as_str())
        }
        Some(Token::Never) | None => false,
        Some(Token::Any | Token::Class(_) | Token::Star) => true,
    }
}

#[cfg(test)]
mod tests;
