//! What is wrong with a script, and where.

use std::fmt;

use super::role::Role;
use s3haul_wire::error::{Error, ErrorKind};

/// Characters of a line that an excerpt shows.
const EXCERPT_MAX: usize = 100;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScriptErrorKind {
    /// The text is not JavaScript.
    Syntax,
    /// The text is JavaScript, but not a function that can be called.
    NotAFunction,
    /// The script threw.
    Threw,
    /// The script returned what makes no sense here.
    Result,
    /// A batch took too long.
    Time,
    /// The script needs more memory than it may have.
    Memory,
}

/// An error of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    kind: ScriptErrorKind,
    role: Role,
    message: String,
    position: Option<Position>,
    key: Option<String>,
    hint: Option<&'static str>,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// Line, from 1.
    pub(super) line: usize,
    /// Character in the line, from 1.
    pub(super) column: usize,
    /// Text of the line.
    pub(super) text: String,
}

impl ScriptError {
    pub(super) fn new(kind: ScriptErrorKind, role: Role, message: impl Into<String>) -> Self {
        Self { kind, role, message: message.into(), position: None, key: None, hint: None }
    }

    pub(super) fn at(mut self, position: Option<Position>) -> Self {
        self.position = position;
        self
    }

    pub(super) fn for_key(mut self, key: Option<String>) -> Self {
        self.key = key;
        self
    }

    pub(super) fn with_hint(mut self, hint: Option<&'static str>) -> Self {
        self.hint = hint;
        self
    }

    /// Kind of the error.
    pub fn kind(&self) -> ScriptErrorKind {
        self.kind
    }

    /// What the script was for.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Line and column, from 1, where they are known.
    pub fn position(&self) -> Option<(usize, usize)> {
        self.position.as_ref().map(|position| (position.line, position.column))
    }

    /// Key of the object that the script was called with.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

/// One line; with `{:#}` also the line of the script with a mark.
impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the `{}` script", self.role.name())?;
        match self.kind {
            ScriptErrorKind::Syntax => f.write_str(" cannot be read")?,
            ScriptErrorKind::NotAFunction => f.write_str(" cannot be called")?,
            _ => f.write_str(" failed")?,
        }
        if let Some(key) = &self.key {
            write!(f, " for the key `{}`", key.escape_debug())?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(Position { line, column, text }) = &self.position {
            write!(f, " (line {line}, column {column})")?;
            if f.alternate() {
                f.write_str(&excerpt(text, *column))?;
            }
        }
        match self.hint {
            Some(hint) if f.alternate() => write!(f, "\nhint: {hint}"),
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ScriptError {}

impl From<ScriptError> for Error {
    fn from(error: ScriptError) -> Self {
        Error::new(ErrorKind::Config, error.to_string())
    }
}

/// The line with a mark under the column; nothing where the column is not in it.
fn excerpt(text: &str, column: usize) -> String {
    let characters: Vec<char> = text.chars().map(plain).collect();
    let Some(at) = column.checked_sub(1).filter(|at| *at <= characters.len()) else {
        return String::new();
    };
    let first = at.saturating_sub(EXCERPT_MAX / 2);
    let last = characters.len().min(first + EXCERPT_MAX);
    let shown: String = characters[first..last].iter().collect();
    format!("\n  {shown}\n  {:width$}^", "", width = at - first)
}

/// A character that takes one place and commands no terminal.
fn plain(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_under_the_column_even_in_long_lines() {
        assert_eq!(excerpt("a + b", 3), "\n  a + b\n    ^");
        assert_eq!(excerpt("ab", 3), "\n  ab\n    ^");
        assert_eq!(excerpt("ab", 9), "");
        let text = format!("{}!{}", "x".repeat(300), "y".repeat(300));
        let excerpt = excerpt(&text, 301);
        let lines: Vec<_> = excerpt.lines().collect();
        assert_eq!(lines[1].chars().nth(lines[2].find('^').unwrap()), Some('!'));
        assert!(lines[1].len() <= EXCERPT_MAX + 2);
    }
}
