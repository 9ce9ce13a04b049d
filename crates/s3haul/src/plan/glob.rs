//! Python's `fnmatch` on Unix, and the `*` and `?` of wildcards: one matcher for both.
//!
//! A pattern is compiled to tokens and matched against two texts laid end to end, so that a root
//! and a relative name never have to be joined. `*` crosses `/`. Matching needs no allocation and
//! at worst time proportional to pattern length times text length.

mod class;

pub(super) use class::Class;

/// One piece of a compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// These characters.
    Text(String),
    /// Any one character.
    Any,
    /// One character of a set.
    Class(Class),
    /// Any number of any characters.
    Star,
    /// Nothing matches: an empty set.
    Never,
}

/// Compiles a pattern as Python 3.11 `fnmatch` understands it.
pub(super) fn compile_fnmatch(pattern: &str) -> Vec<Token> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut tokens = Vec::new();
    let mut index = 0;
    while index < characters.len() {
        let character = characters[index];
        index += 1;
        match character {
            '*' => push_star(&mut tokens),
            '?' => tokens.push(Token::Any),
            '[' => match class::end_of_set(&characters, index) {
                Some(end) => {
                    tokens.push(class::compile(&characters[index..end]));
                    index = end + 1;
                }
                None => push_char(&mut tokens, '['),
            },
            _ => push_char(&mut tokens, character),
        }
    }
    tokens
}

/// Compiles a pattern in which only `*` and `?` are special.
pub(super) fn compile_wildcard(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for character in pattern.chars() {
        match character {
            '*' => push_star(&mut tokens),
            '?' => tokens.push(Token::Any),
            _ => push_char(&mut tokens, character),
        }
    }
    tokens
}

fn push_star(tokens: &mut Vec<Token>) {
    if tokens.last() != Some(&Token::Star) {
        tokens.push(Token::Star);
    }
}

fn push_char(tokens: &mut Vec<Token>, character: char) {
    if let Some(Token::Text(text)) = tokens.last_mut() {
        text.push(character);
    } else {
        tokens.push(Token::Text(character.to_string()));
    }
}

/// Two texts laid end to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    head: &'a str,
    tail: &'a str,
}

impl<'a> Text<'a> {
    pub(super) fn new(head: &'a str, tail: &'a str) -> Self {
        Self { head, tail }
    }

    fn len(self) -> usize {
        self.head.len() + self.tail.len()
    }

    fn char_at(self, position: usize) -> Option<char> {
        let rest = match position.checked_sub(self.head.len()) {
            Some(in_tail) => &self.tail[in_tail..],
            None => &self.head[position..],
        };
        rest.chars().next()
    }

    fn has_at(self, position: usize, text: &str) -> bool {
        let (text, tail) = (text.as_bytes(), self.tail.as_bytes());
        if let Some(in_tail) = position.checked_sub(self.head.len()) {
            return tail[in_tail..].starts_with(text);
        }
        let rest = &self.head.as_bytes()[position..];
        let (in_head, in_tail) = text.split_at(rest.len().min(text.len()));
        rest.starts_with(in_head) && tail.starts_with(in_tail)
    }
}

/// Whether the pattern matches the whole text.
pub(super) fn matches(tokens: &[Token], text: Text<'_>) -> bool {
    let (mut token, mut position) = (0, 0);
    // Where to go on when a piece does not fit: behind the last star, one character later.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if token == tokens.len() {
            if position == text.len() {
                return true;
            }
        } else if tokens[token] == Token::Star {
            token += 1;
            if token == tokens.len() {
                return true;
            }
            retry = Some((token, position));
            continue;
        } else if let Some(length) = step(&tokens[token], text, position) {
            position += length;
            token += 1;
            continue;
        }
        let Some((after_star, from)) = retry else { return false };
        let Some(skipped) = text.char_at(from) else { return false };
        position = from + skipped.len_utf8();
        token = after_star;
        retry = Some((after_star, position));
    }
}

/// Bytes that a token takes at a position, `None` when it does not fit there.
fn step(token: &Token, text: Text<'_>, position: usize) -> Option<usize> {
    match token {
        Token::Text(expected) => text.has_at(position, expected).then_some(expected.len()),
        Token::Any => text.char_at(position).map(char::len_utf8),
        Token::Class(class) => text
            .char_at(position)
            .filter(|&character| class.contains(character))
            .map(char::len_utf8),
        Token::Star | Token::Never => None,
    }
}

#[cfg(test)]
mod tests;
