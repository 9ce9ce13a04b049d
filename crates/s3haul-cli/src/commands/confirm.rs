//! Confirmation of removals on a terminal; scripts never see the question.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::escape::push_name;

/// Longest answer that is read.
const ANSWER_MAX: u64 = 256;

/// Whether a command may go on: it needs no confirmation, there is no terminal, or the answer is
/// yes. Blocks.
pub(super) fn is_confirmed(question: Option<&str>, printer: &Printer) -> Result<bool, Failure> {
    let Some(question) = question else { return Ok(true) };
    let input = io::stdin();
    if !(input.is_terminal() && printer.error_is_terminal()) {
        return Ok(true);
    }
    printer.error(|buffer| {
        push_name(buffer, question, true);
        buffer.extend_from_slice(b" [y/N] ");
    });
    let mut answer = String::new();
    input
        .lock()
        .take(ANSWER_MAX)
        .read_line(&mut answer)
        .map_err(|error| Failure::other(format!("cannot read the answer: {error}")))?;
    let is_yes = is_yes(&answer);
    if !is_yes {
        printer.error(|buffer| buffer.extend_from_slice(b"nothing was removed\n"));
    }
    Ok(is_yes)
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for yes in ["y\n", "yes\n", " Y \r\n", "YES"] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for no in ["", "\n", "n\n", "no\n", "ye\n", "y e s\n", "yes please\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }
}
