//! Which ranges of names a filter can take in, so that the rest need not be listed.
//!
//! The rules are gone through from the last, which wins: what an exact pattern (`tmp/*`, `*`)
//! decides is decided; a pattern of any other form may take in whatever begins like it. So the
//! ranges hold every name that the filter includes, and usually others: names are still asked
//! about one by one.

use super::{Filter, Matcher};
use crate::plan::glob::Token;

/// More ranges than this become one: each is a listing of its own.
const RANGES_MAX: usize = 64;

/// Names from one, it included, up to another, it excluded, in the order of their UTF-8 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameRange {
    /// The first name.
    pub start: String,
    /// The first name behind; none: to the last.
    pub end: Option<String>,
}

/// How a range is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeBounds {
    /// All keys of the range start so.
    pub prefix: String,
    /// All keys of the range come after this one; empty: nothing but the prefix bounds them.
    pub after: String,
    /// All keys of the range come before this one or are it.
    pub through: Option<String>,
}

impl NameRange {
    /// All names.
    pub fn all() -> Self {
        Self::default()
    }

    /// The names that start so.
    pub fn of_prefix(prefix: &str) -> Self {
        Self { start: prefix.to_owned(), end: successor(prefix) }
    }

    /// Whether every name lies in it.
    pub fn is_all(&self) -> bool {
        self.start.is_empty() && self.end.is_none()
    }

    /// Whether a name lies in it.
    pub fn contains(&self, name: &str) -> bool {
        name >= self.start.as_str() && self.end.as_deref().is_none_or(|end| name < end)
    }

    /// What lies in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Option<Self> {
        let start = self.start.as_str().max(&other.start);
        let end = match (self.end.as_deref(), other.end.as_deref()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let is_empty = end.is_some_and(|end| end <= start);
        (!is_empty).then(|| Self { start: start.to_owned(), end: end.map(str::to_owned) })
    }

    /// What lies before and behind another.
    fn without(&self, other: &Self) -> impl Iterator<Item = Self> + use<> {
        let before = Self { start: String::new(), end: Some(other.start.clone()) };
        let behind = other.end.clone().map(|start| Self { start, end: None });
        let before = Some(before).filter(|before| before.end.as_deref() != Some(""));
        let parts = [before, behind].map(|part| part.and_then(|part| part.and(self)));
        parts.into_iter().flatten()
    }

    /// Cuts off what begins like the start, where only a text within a folder lies before the start
    /// (`tmp/…` before `tmp0`): MinIO lists nothing after such texts where the folder has a sibling
    /// of many objects (`tmp-1`), and says that there is nothing. A prefix needs no such text.
    pub fn apart_from_folder(self) -> (Self, Option<Self>) {
        let head = Self::of_prefix(&self.start);
        let rest = head.end.clone().filter(|_| self.start.ends_with('0'));
        let rest = rest.and_then(|start| Self { start, end: None }.and(&self));
        match rest {
            Some(rest) => (head, Some(rest)),
            None => (self, None),
        }
    }

    /// How keys that are `root` and a name of this range are listed. The bounds may hold a few
    /// keys more, as S3 lists after a key and not from one.
    pub fn bounds(&self, root: &str) -> RangeBounds {
        let Some(end) = &self.end else {
            let after = if self.start.is_empty() { String::new() } else { before(&self.start) };
            let after = if after.is_empty() { after } else { format!("{root}{after}") };
            return RangeBounds { prefix: root.to_owned(), after, through: None };
        };
        let common: String = self
            .start
            .chars()
            .zip(end.chars())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a)
            .collect();
        let (start_rest, end_rest) = (&self.start[common.len()..], &end[common.len()..]);
        let mut prefix = format!("{root}{common}");
        let mut through = Some(format!("{root}{}", end.strip_suffix('\0').unwrap_or(end)));
        if let Some(first) = start_rest.chars().next()
            && successor(first.encode_utf8(&mut [0; 4])).as_deref() == Some(end_rest)
        {
            // The end is that of all names which begin like the start.
            prefix.push(first);
            through = None;
        }
        let is_bounded = prefix.len() == root.len() + self.start.len();
        let after =
            if is_bounded { String::new() } else { format!("{root}{}", before(&self.start)) };
        RangeBounds { prefix, after, through }
    }
}

impl Filter {
    /// Ranges of names, in order and apart from each other, outside of which nothing is taken in.
    /// None at all: everything is left out.
    pub fn ranges(&self) -> Vec<NameRange> {
        let mut open = vec![NameRange::all()];
        let mut taken = Vec::new();
        for rule in self.rules.iter().rev() {
            let (reach, is_exact) = rule.matcher.reach();
            if rule.is_include {
                taken.extend(open.iter().filter_map(|range| range.and(&reach)));
            }
            if is_exact {
                open = open.iter().flat_map(|range| range.without(&reach)).collect();
            }
        }
        taken.append(&mut open);
        merge(taken)
    }
}

impl Matcher {
    /// A range that holds all matches, and whether all that it holds are matches. Single names
    /// count as not exact: leaving one out is not worth a listing.
    fn reach(&self) -> (NameRange, bool) {
        match self {
            Self::Always => (NameRange::all(), true),
            Self::StartsWith(text) => (NameRange::of_prefix(text), true),
            Self::Equals(text) => {
                (NameRange { start: text.clone(), end: Some(format!("{text}\0")) }, false)
            }
            Self::General(head, tokens) => match tokens.first() {
                Some(Token::Text(text)) if head.is_empty() => (NameRange::of_prefix(text), false),
                _ => (NameRange::all(), false),
            },
            Self::EndsWith(_) | Self::Contains(_) => (NameRange::all(), false),
        }
    }
}

/// Puts ranges in order and joins those that meet.
fn merge(mut ranges: Vec<NameRange>) -> Vec<NameRange> {
    ranges.sort_by(|one, other| one.start.cmp(&other.start));
    let mut merged: Vec<NameRange> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end.as_ref().is_none_or(|end| *end >= range.start) => {
                let is_longer = match (&last.end, &range.end) {
                    (Some(end), Some(other)) => other > end,
                    (end, _) => end.is_some(),
                };
                if is_longer {
                    last.end = range.end;
                }
            }
            _ => merged.push(range),
        }
    }
    if merged.len() > RANGES_MAX {
        let start = std::mem::take(&mut merged[0].start);
        let end = merged.pop().and_then(|last| last.end);
        return vec![NameRange { start, end }];
    }
    merged
}

/// The first text behind all that start so.
fn successor(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // Between the two lie the surrogates, which are no characters.
        let next =
            if last == '\u{d7ff}' { Some('\u{e000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

/// A text before this one with little between them.
fn before(text: &str) -> String {
    let mut before = text.to_owned();
    match before.pop() {
        None | Some('\0') => {}
        Some(last) => {
            let previous = if last == '\u{e000}' { 0xd7ff } else { last as u32 - 1 };
            before.extend(char::from_u32(previous));
            before.push(char::MAX);
        }
    }
    before
}

#[cfg(test)]
mod tests;
