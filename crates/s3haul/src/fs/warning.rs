//! Texts of warnings about local files, word for word as the AWS tools print them.
//!
//! Each is what follows `warning: `. Scripts match on them.

use std::fmt::Write as _;
use std::path::Path;

/// A file that cannot be uploaded because it is no regular file.
pub const SPECIAL: &str =
    "File is character special device, block special device, FIFO, or socket.";
/// A file that is gone, or a link to nothing.
pub const MISSING: &str = "File does not exist.";
/// A file or directory that may not be read.
pub const UNREADABLE: &str = "File/Directory is not readable.";
/// A file whose time is no date; it is transferred all the same.
pub const INVALID_TIME: &str = "File has an invalid timestamp. Passing epoch time as timestamp.";
/// A key that would leave the target directory.
pub const PARENT_REFERENCE: &str = "File references a parent directory.";
/// A key whose name at the target would be empty (the AWS tools fail for it).
pub const NO_NAME: &str = "The key is the prefix itself, and leaves no name for the target.";
/// A directory that holds itself through a link (the AWS tools walk until the path is too long).
pub const LOOP: &str = "Directory is a link to one of the directories it lies in.";
/// A directory in which a server on this machine keeps its buckets (the AWS tools know none).
pub const SERVER_STORE: &str =
    "Directory is the store of `s3haul serve`, whose buckets are left out.";

/// The text for a file that is skipped for a reason.
pub fn skipping(path: impl std::fmt::Display, reason: &str) -> String {
    format!("Skipping file {path}. {reason}")
}

/// The text for a downloaded file whose modification time could not be set.
pub fn time_not_set(path: &Path, cause: &str) -> String {
    let path = path.display();
    let reason = format!(
        "Successfully Downloaded {path} but was unable to update the last modified time. {cause}"
    );
    skipping(path, &reason)
}

/// The text for a downloaded file whose permissions could not be set.
pub fn mode_not_set(path: &Path, cause: &str) -> String {
    let path = path.display();
    let reason =
        format!("Successfully Downloaded {path} but was unable to set its permissions. {cause}");
    skipping(path, &reason)
}

/// The text for a name that is not UTF-8.
pub fn undecodable(directory: &Path, name: &[u8]) -> String {
    let name = bytes_literal(name);
    let reason = format!(
        "There was an error trying to decode the the file {name} in directory \"{}\". \n\
         Please check your locale settings.  The filename was decoded as: utf-8\n\
         On posix platforms, check the LC_CTYPE environment variable.",
        directory.display()
    );
    skipping(name, &reason)
}

/// Bytes as Python prints them: `b'caf\xe9'`.
fn bytes_literal(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { '"' } else { '\'' };
    let mut text = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\'' if quote == '\'' => text.push_str("\\'"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text.push(quote);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_print_as_python_bytes() {
        assert_eq!(bytes_literal(b"caf\xe9"), "b'caf\\xe9'");
        assert_eq!(bytes_literal(b"it's"), "b\"it's\"");
        assert_eq!(bytes_literal(b"'\"\\\n"), "b'\\'\"\\\\\\n'");
    }
}
