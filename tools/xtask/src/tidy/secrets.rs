//! Types that hold secrets do not derive `Debug`: it would print them into logs and panics.

use super::Violation;
use super::source::{Source, line_of};

const DERIVE: &str = "#[derive(";

/// What names of fields with secrets contain.
const SECRET_NAMES: [&str; 8] = [
    "secret",
    "password",
    "session_token",
    "access_token",
    "refresh_token",
    "security_token",
    "user_info",
    "token_value",
];

/// Types that show what they hold.
const OPEN_TYPES: [&str; 4] = ["String", "str", "Vec<u8>", "Bytes"];

/// Adds what breaks the rule.
pub(super) fn check(file: &Source, violations: &mut Vec<Violation>) {
    if !file.is_rust() {
        return;
    }
    for (start, _) in file.code.match_indices(DERIVE) {
        let Some(fields) = fields_with_debug(&file.code[start..]) else { continue };
        if let Some(name) = fields.lines().find_map(secret_field) {
            let rule = format!("`{name}` is a secret: write `Debug` by hand, with `******`");
            let line = line_of(&file.code, start);
            violations.push(Violation { file: file.path.clone(), line, rule });
        }
    }
}

/// What stands between the braces of the item that derives `Debug` here.
fn fields_with_debug(code: &str) -> Option<&str> {
    let (derived, rest) = code[DERIVE.len()..].split_once(")]")?;
    derived.split([',', ' ', '\n']).find(|name| *name == "Debug")?;
    let (head, rest) = rest.split_once('{')?;
    let is_item = head.contains("struct ") || head.contains("enum ");
    if !is_item || head.contains(';') || head.contains("fn ") {
        return None;
    }
    let mut depth = 1;
    let end = rest.find(|character| {
        depth += i32::from(character == '{') - i32::from(character == '}');
        depth == 0
    });
    Some(&rest[..end?])
}

/// The name of a field that shows a secret.
fn secret_field(line: &str) -> Option<&str> {
    let (before, kind) = line.split_once(": ")?;
    let name = before.split_whitespace().last()?;
    let is_secret = SECRET_NAMES.iter().any(|part| name.contains(part));
    let is_open = OPEN_TYPES.iter().any(|open| kind.contains(open));
    (is_secret && is_open).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::violations_of;

    fn broken(text: &str) -> usize {
        violations_of("crates/s3haul/src/error.rs", &format!("//! Head.\n{text}\n")).len()
    }

    #[test]
    fn secrets_that_debug_would_print_are_found() {
        for text in [
            "#[derive(Clone, Debug)]\nstruct Keys {\n    secret_key: String,\n}",
            "#[derive(\n    Debug,\n)]\n#[serde(x)]\npub struct Keys {\n    a: u8,\n    \
             pub(crate) session_token: Option<String>,\n}",
            "#[derive(Debug)]\nenum Keys {\n    Fixed {\n        password: &str,\n    },\n}",
        ] {
            assert_eq!(broken(text), 1, "{text}");
        }
        for text in [
            "#[derive(Clone)]\nstruct Keys {\n    secret_key: String,\n}",
            "#[derive(Debug)]\nstruct Keys {\n    secret_key: Option<Secret>,\n}",
            "#[derive(Debug)]\nstruct Keys(u8);\nstruct Other {\n    secret_key: String,\n}",
            "#[derive(Debug)]\nstruct Count {\n    tokens: f64,\n}",
        ] {
            assert_eq!(broken(text), 0, "{text}");
        }
    }
}
