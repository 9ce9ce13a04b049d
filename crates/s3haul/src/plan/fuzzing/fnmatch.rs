//! Python's `fnmatch` as slow as can be: a table of which part of the pattern matches which part
//! of the text.

/// A piece of a pattern.
enum Piece {
    Star,
    Any,
    One(char),
    /// Whether it is negated, and its ranges.
    Set(bool, Vec<(char, char)>),
}

impl Piece {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Star | Self::Any => true,
            Self::One(expected) => character == *expected,
            Self::Set(is_negated, ranges) => {
                let is_in = |range: &(char, char)| range.0 <= character && character <= range.1;
                ranges.iter().any(is_in) != *is_negated
            }
        }
    }
}

/// Whether a pattern matches a whole text; `has_sets` as in `fnmatch`, without as in wildcards.
pub(super) fn matches(pattern: &str, text: &str, has_sets: bool) -> bool {
    let (pieces, text) = (pieces(pattern, has_sets), text.chars().collect::<Vec<_>>());
    // Of each position in the text whether the pieces so far match what stands before it.
    let mut row = vec![false; text.len() + 1];
    row[0] = true;
    for piece in &pieces {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            let after_one = |row: &[bool]| at > 0 && row[at - 1] && piece.takes(text[at - 1]);
            next[at] = match piece {
                Piece::Star => row[at] || (at > 0 && next[at - 1]),
                _ => after_one(&row),
            };
        }
        row = next;
    }
    row[text.len()]
}

fn pieces(pattern: &str, has_sets: bool) -> Vec<Piece> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        match characters[at] {
            '*' => pieces.push(Piece::Star),
            '?' => pieces.push(Piece::Any),
            '[' if has_sets => {
                let from = at + 1 + usize::from(characters.get(at + 1) == Some(&'!'));
                // A bracket at the start belongs to the set.
                let end = (from + 1..characters.len()).find(|end| characters[*end] == ']');
                match end {
                    Some(end) => {
                        pieces.push(set(from > at + 1, &characters[from..end]));
                        at = end;
                    }
                    None => pieces.push(Piece::One('[')),
                }
            }
            other => pieces.push(Piece::One(other)),
        }
        at += 1;
    }
    pieces
}

/// Ranges at the start that run backwards are dropped before a set is looked at: `[b-a!x]` is
/// `[!x]`.
fn set(is_negated: bool, whole: &[char]) -> Piece {
    let mut inside = whole;
    while let [low, '-', high, rest @ ..] = inside
        && low > high
    {
        inside = rest;
    }
    match inside {
        ['!', rest @ ..] if !is_negated && inside.len() < whole.len() => {
            Piece::Set(true, ranges(rest))
        }
        _ => Piece::Set(is_negated, ranges(inside)),
    }
}

/// A hyphen between two characters makes a range, which holds nothing where it runs backwards.
fn ranges(inside: &[char]) -> Vec<(char, char)> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < inside.len() {
        if let (Some('-'), Some(high)) = (inside.get(at + 1), inside.get(at + 2)) {
            ranges.push((inside[at], *high));
            at += 3;
        } else {
            ranges.push((inside[at], inside[at]));
            at += 1;
        }
    }
    ranges
}
