//! Conditions on what a listing contains about objects: name, size, age and class.
//!
//! The rules are ours; the AWS tools know names only. Conditions of different kinds must all hold,
//! of several regular expressions, globs or classes one. No time is looked up here: ages are
//! moments by now. Matching takes time in proportion to the name, whatever the expression is.

mod labels;

use regex_lite::Regex;
use thiserror::Error;

use super::glob::{self, Text, Token};
use super::price::STANDARD;

pub use labels::{LabelError, Labels};

/// Conditions on objects and files. The default has none. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Regular expressions, one of which is found in the name below the source.
    pub patterns: Vec<Pattern>,
    /// Globs, one of which matches the last component of the name.
    pub names: Vec<NameGlob>,
    /// Least size in bytes.
    pub size_min: Option<u64>,
    /// Greatest size in bytes.
    pub size_max: Option<u64>,
    /// Modified at this moment or later, in seconds since 1970.
    pub newer_than_s: Option<i64>,
    /// Modified before this moment, so that the two part all objects.
    pub older_than_s: Option<i64>,
    /// Storage classes, one of which it has; the case of letters does not matter.
    pub storage_classes: Vec<String>,
}

/// What is known of an object or a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectFacts<'a> {
    /// Size in bytes; a delete marker has none.
    pub size: Option<u64>,
    /// Last modification in seconds since 1970, rounded down.
    pub modified_s: i64,
    /// Storage class, empty if the server returned none, which means `STANDARD`. Files and delete
    /// markers have none.
    pub storage_class: Option<&'a str>,
}

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// A regular expression that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{pattern}` is not a regular expression: {reason}")]
pub struct PatternError {
    pattern: String,
    reason: String,
}

/// A pattern of a file's name: `*`, `?` and `[…]`.
#[derive(Clone, Debug)]
pub struct NameGlob(Vec<Token>);

impl Conditions {
    /// Whether everything is taken.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.names.is_empty() && !self.needs_facts()
    }

    /// Whether more than the name has to be known.
    pub fn needs_facts(&self) -> bool {
        let sizes = [self.size_min, self.size_max];
        let moments = [self.newer_than_s, self.older_than_s];
        sizes.iter().any(Option::is_some)
            || moments.iter().any(Option::is_some)
            || !self.storage_classes.is_empty()
    }

    /// Whether an object of this name below the source is taken.
    pub fn takes(&self, name: &str, facts: &ObjectFacts<'_>) -> bool {
        self.takes_size(facts.size)
            && self.newer_than_s.is_none_or(|moment| facts.modified_s >= moment)
            && self.older_than_s.is_none_or(|moment| facts.modified_s < moment)
            && self.takes_class(facts.storage_class)
            && self.takes_name(name)
    }

    /// Whether this name below the source is taken, as far as names go.
    pub fn takes_name(&self, name: &str) -> bool {
        let is_any = |globs: &[NameGlob]| globs.iter().any(|glob| glob.matches(name));
        (self.names.is_empty() || is_any(&self.names))
            && (self.patterns.is_empty()
                || self.patterns.iter().any(|pattern| pattern.0.is_match(name)))
    }

    fn takes_size(&self, size: Option<u64>) -> bool {
        if self.size_min.is_none() && self.size_max.is_none() {
            return true;
        }
        size.is_some_and(|size| {
            self.size_min.is_none_or(|least| size >= least)
                && self.size_max.is_none_or(|greatest| size <= greatest)
        })
    }

    fn takes_class(&self, class: Option<&str>) -> bool {
        if self.storage_classes.is_empty() {
            return true;
        }
        let class = class.map(|class| if class.is_empty() { STANDARD } else { class });
        class.is_some_and(|class| {
            self.storage_classes.iter().any(|wanted| wanted.eq_ignore_ascii_case(class))
        })
    }
}

impl Pattern {
    /// Compiles an expression, which is looked for anywhere in a name unless it says `^` or `$`.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Regex::new(text).map(Self).map_err(|error| {
            // The message shows the expression over several lines and ends with what is wrong.
            let told = error.to_string();
            let last = told.lines().last().unwrap_or_default();
            let reason = last.strip_prefix("error: ").unwrap_or(last).to_owned();
            PatternError { pattern: text.to_owned(), reason }
        })
    }
}

impl NameGlob {
    /// Compiles a glob.
    pub fn new(text: &str) -> Self {
        Self(glob::compile_fnmatch(text))
    }

    /// Whether it matches the last component of a name; that of `a/b/`, too, is `b`.
    fn matches(&self, name: &str) -> bool {
        let name = name.strip_suffix('/').unwrap_or(name);
        let last = name.rsplit('/').next().unwrap_or(name);
        glob::matches(&self.0, Text::new("", last))
    }
}

#[cfg(test)]
mod tests;
