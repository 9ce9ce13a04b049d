//! Character sets `[seq]` and `[!seq]` as Python 3.11 `fnmatch` translates them.

use super::Token;

/// A set of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::plan) struct Class {
    negated: bool,
    /// Inclusive ranges.
    ranges: Vec<(char, char)>,
}

impl Class {
    pub(super) fn contains(&self, character: char) -> bool {
        let found = self.ranges.iter().any(|&(low, high)| (low..=high).contains(&character));
        found != self.negated
    }
}

/// Index of the `]` that ends a set whose inside starts at `start`; a `]` right at the start (or
/// behind `!`) belongs to the set.
pub(super) fn end_of_set(pattern: &[char], start: usize) -> Option<usize> {
    let mut index = start;
    if pattern.get(index) == Some(&'!') {
        index += 1;
    }
    if pattern.get(index) == Some(&']') {
        index += 1;
    }
    let length = pattern.get(index..)?.iter().position(|&character| character == ']')?;
    Some(index + length)
}

/// A character of a set, or the hyphen that makes a range of its neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Char(char),
    Hyphen,
}

/// Compiles the inside of a set.
pub(super) fn compile(inside: &[char]) -> Token {
    let items = items_of(inside);
    match items.as_slice() {
        [] => Token::Never,
        [Item::Char('!')] => Token::Any,
        [Item::Char('!'), rest @ ..] => class(true, rest),
        all => class(false, all),
    }
}

/// Splits at the hyphens that make ranges and drops ranges that run backwards, joining what is
/// left of their sides: `[b-ax]` is `[x]`, and so on, to the letter of Python's code.
fn items_of(inside: &[char]) -> Vec<Item> {
    let mut chunks = chunks_of(inside);
    for index in (1..chunks.len()).rev() {
        let (Some(&low), Some(&high)) = (chunks[index - 1].last(), chunks[index].first()) else {
            continue;
        };
        if low > high {
            let rest = chunks.remove(index);
            chunks[index - 1].pop();
            chunks[index - 1].extend_from_slice(&rest[1..]);
        }
    }
    let mut items = Vec::with_capacity(inside.len());
    for (index, chunk) in chunks.iter().enumerate() {
        if index > 0 {
            items.push(Item::Hyphen);
        }
        items.extend(chunk.iter().copied().map(Item::Char));
    }
    items
}

fn chunks_of(inside: &[char]) -> Vec<Vec<char>> {
    let mut chunks: Vec<Vec<char>> = Vec::new();
    let mut start = 0;
    // A hyphen makes a range only when a character of its own stands before it.
    let mut from = if inside.first() == Some(&'!') { 2 } else { 1 };
    while let Some(hyphen) = find_hyphen(inside, from) {
        chunks.push(inside[start..hyphen].to_vec());
        start = hyphen + 1;
        from = hyphen + 3;
    }
    match (inside.get(start..), chunks.last_mut()) {
        (Some([]), Some(last)) => last.push('-'),
        (Some(rest), _) => chunks.push(rest.to_vec()),
        (None, _) => {}
    }
    chunks
}

fn find_hyphen(inside: &[char], from: usize) -> Option<usize> {
    let offset = inside.get(from..)?.iter().position(|&character| character == '-')?;
    Some(from + offset)
}

/// Reads items as a regular expression reads a set: a hyphen between two characters is a range.
fn class(negated: bool, items: &[Item]) -> Token {
    let mut ranges = Vec::new();
    let mut index = 0;
    while let Some(&item) = items.get(index) {
        match (item, items.get(index + 1), items.get(index + 2)) {
            (Item::Char(low), Some(Item::Hyphen), Some(&Item::Char(high))) => {
                ranges.push((low, high));
                index += 3;
            }
            (Item::Char(single), ..) => {
                ranges.push((single, single));
                index += 1;
            }
            (Item::Hyphen, ..) => {
                ranges.push(('-', '-'));
                index += 1;
            }
        }
    }
    Token::Class(Class { negated, ranges })
}
