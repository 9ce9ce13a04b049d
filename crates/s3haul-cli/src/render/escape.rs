//! Names on a terminal: control characters are shown as escapes, so that a key cannot move the
//! cursor or recolour the screen. Elsewhere names are written as they are.

/// Appends a name.
pub(crate) fn push_name(buffer: &mut Vec<u8>, name: &str, escape: bool) {
    if !escape || !name.chars().any(char::is_control) {
        buffer.extend_from_slice(name.as_bytes());
        return;
    }
    for character in name.chars() {
        if character.is_control() {
            buffer.extend(character.escape_default().map(|c| c as u8));
        } else {
            let mut bytes = [0; 4];
            buffer.extend_from_slice(character.encode_utf8(&mut bytes).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_only_on_request() {
        let push = |escape| {
            let mut buffer = Vec::new();
            push_name(&mut buffer, "a\x1b[31m\nü\u{85}", escape);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(push(false), "a\x1b[31m\nü\u{85}");
        assert_eq!(push(true), "a\\u{1b}[31m\\nü\\u{85}");
    }
}
