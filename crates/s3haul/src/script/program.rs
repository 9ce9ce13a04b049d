//! The text of a script and what it is for.

use std::sync::Arc;

use super::engine::Limits;
use super::error::{ScriptError, ScriptErrorKind};
use super::role::Role;
use super::runtime::Runtime;

/// What a script starts with on the command line.
pub const SCHEME: &str = "js:";

/// Whether a value of a flag is a script.
pub fn is_script(text: &str) -> bool {
    text.starts_with(SCHEME)
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
