//! The text of a script and what it is for.

use std::sync::Arc;

use super::engine::Limits;
use super::error::{ScriptError, ScriptErrorKind};
use super::runtime::Runtime;

/// What a script starts with on the command line.
pub const SCHEME: &str = "js:";

/// Whether a value of a flag is a script.
pub fn is_script(text: &str) -> bool {
    text.starts_with(SCHEME)
}

/// What a script is for, which decides how it is called.
///
/// Functions over one object (`Filter`, `Map`, `Each`) that take one parameter receive the
/// object; those that take none or more receive `(key, object)`. `ToKey` receives
/// `(key, object)` always.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Selects objects.
    Filter,
    /// Gives the new key of an object.
    ToKey,
    /// Makes a value of an object.
    Map,
    /// Is called for what it prints.
    Each,
    /// Is called with all objects of a batch for what it prints.
    EachList,
    /// Joins two values.
    Reduce,
    /// Makes the last value of what `Reduce` left.
    Finally,
}

impl Role {
    /// Name, as flags have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::ToKey => "to-key",
            Self::Map => "map",
            Self::Each => "each",
            Self::EachList => "map-list",
            Self::Reduce => "reduce",
            Self::Finally => "finally",
        }
    }

    /// Whether a function of one parameter receives the object instead of the key.
    pub(super) fn prefers_object(self) -> bool {
        matches!(self, Self::Filter | Self::Map | Self::Each)
    }

    /// Whether a regular expression may stand for a function.
    pub(super) fn takes_pattern(self) -> bool {
        self == Self::Filter
    }
}

/// A script that was checked: it has no syntax error and is a function, or a pattern where one
/// makes sense. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    role: Role,
    text: Arc<str>,
}

impl Program {
    /// Checks a script, `js:` and a function expression.
    pub fn compile(role: Role, text: &str) -> Result<Self, ScriptError> {
        let Some(code) = text.strip_prefix(SCHEME) else {
            let message = format!("a script starts with `{SCHEME}`");
            return Err(ScriptError::new(ScriptErrorKind::NotAFunction, role, message));
        };
        let code = code.trim_end().trim_end_matches(';');
        let program = Self { role, text: Arc::from(code) };
        Runtime::new(std::slice::from_ref(&program), Limits::default())?;
        Ok(program)
    }

    /// What the script is for.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The text after `js:`.
    pub fn text(&self) -> &str {
        &self.text
    }
}
