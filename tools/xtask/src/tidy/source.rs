//! A file as the rules see it: its raw text, and the same text with comments and literals blanked,
//! so that a rule about code does not fire on prose. Blanking keeps every line where it was.

/// One file of the workspace.
pub(super) struct Source {
    /// Path from the workspace's root, with `/`.
    pub(super) path: String,
    /// What is in it.
    pub(super) text: String,
    /// The same with comments, strings and character literals replaced by blanks; empty for files
    /// other than Rust.
    pub(super) code: String,
}

impl Source {
    /// Takes a file's path and text.
    pub(super) fn new(path: &str, text: String) -> Self {
        let code = if is_rust(path) { blank(&text) } else { String::new() };
        Self { path: path.to_owned(), text, code }
    }

    /// Whether it is Rust.
    pub(super) fn is_rust(&self) -> bool {
        is_rust(&self.path)
    }

    /// Names of modules that only tests have: `#[cfg(test)] mod name;`.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let items = self.code.match_indices(CFG_TEST).filter_map(|(start, _)| {
            let item = self.code[start + CFG_TEST.len()..].split([';', '{']).next()?;
            let (_, name) = item.split_once("mod ")?;
            Some(name.trim().to_owned())
        });
        items.collect()
    }

    /// For each line, whether it lies in an item marked `#[cfg(test)]`.
    pub(super) fn test_lines(&self) -> Vec<bool> {
        let mut lines = vec![false; self.code.lines().count() + 1];
        for (start, _) in self.code.match_indices(CFG_TEST) {
            let first = line_of(&self.code, start);
            let last = line_of(&self.code, end_of_item(&self.code, start + CFG_TEST.len()));
            lines[first - 1..last].fill(true);
        }
        lines
    }
}

const CFG_TEST: &str = "#[cfg(test)]";

fn is_rust(path: &str) -> bool {
    std::path::Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// Line of an offset, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Offset of the last byte of the item that starts here: its `;` or its closing brace.
fn end_of_item(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return offset,
            b'}' => depth -= 1,
            b';' if depth == 0 => return offset,
            _ => {}
        }
    }
    code.len()
}

/// Replaces comments, strings and character literals by blanks of the same length.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'/', b'/', ..] => end_of_line(bytes, at),
            [b'/', b'*', ..] => end_of_block_comment(bytes, at),
            [b'"', ..] => end_of_string(bytes, at),
            [b'r', b'"' | b'#', ..] if !is_inside_word(bytes, at) => end_of_raw_string(bytes, at),
            [b'\'', ..] => end_of_character(bytes, at),
            _ => at,
        };
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end.max(at + 1);
    }
    String::from_utf8(code).expect("whole characters are blanked")
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
}

fn end_of_block_comment(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut offset = at;
    while offset + 1 < bytes.len() {
        match &bytes[offset..offset + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                offset += 1;
                continue;
            }
        }
        offset += 2;
        if depth == 0 {
            return offset;
        }
    }
    bytes.len()
}

fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut offset = at + 1;
    while offset < bytes.len() {
        match bytes[offset] {
            b'\\' => offset += 2,
            b'"' => return offset + 1,
            _ => offset += 1,
        }
    }
    bytes.len()
}

/// `r"..."`, `r#"..."#`; anything else that starts so, such as `r#match`, is left alone.
fn end_of_raw_string(bytes: &[u8], at: usize) -> usize {
    let hashes = bytes[at + 1..].iter().take_while(|&&byte| byte == b'#').count();
    if bytes.get(at + 1 + hashes) != Some(&b'"') {
        return at;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let start = at + 2 + hashes;
    let rest = bytes[start..].windows(close.len()).position(|window| window == close);
    rest.map_or(bytes.len(), |length| start + length + close.len())
}

fn is_inside_word(bytes: &[u8], at: usize) -> bool {
    // `br"..."` is a raw string too: a lone `b` before the `r` is no word.
    let Some(before) = at.checked_sub(1) else { return false };
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if bytes[before] == b'b' {
        return before.checked_sub(1).is_some_and(|further| is_word(bytes[further]));
    }
    is_word(bytes[before])
}

/// A character literal, or `at` when the quote opens a lifetime.
fn end_of_character(bytes: &[u8], at: usize) -> usize {
    if bytes.get(at + 1) == Some(&b'\\') {
        let close = bytes.iter().skip(at + 3).position(|&byte| byte == b'\'');
        return close.map_or(at, |length| at + 3 + length + 1);
    }
    // One character is up to four bytes long.
    let close = bytes.iter().skip(at + 2).take(4).position(|&byte| byte == b'\'');
    let Some(length) = close else { return at };
    let literal = &bytes[at + 1..at + 2 + length];
    let is_one = std::str::from_utf8(literal).is_ok_and(|text| text.chars().count() == 1);
    if is_one { at + 3 + length } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let text =
            "a // b\nc /* d /* e */ f */ g \"h \\\" i\" j r#\"k \" l\"# m 'n' '\\'' 'é' &'o p";
        let code = blank(text);
        assert_eq!(code.len(), text.len());
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(words, ["a", "c", "g", "j", "m", "&'o", "p"]);
        assert_eq!(code.lines().count(), 2);
    }

    #[test]
    fn raw_identifiers_and_byte_strings_are_told_apart() {
        assert_eq!(blank("let r#match = var\"x\";").trim_end(), "let r#match = var   ;");
        assert_eq!(blank(r##"br#"todo"# end"##).trim_start_matches('b').trim(), "end");
    }

    #[test]
    fn lines_of_test_items_are_known() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}\n";
        let source = Source::new("x.rs", text.to_owned());
        let lines = source.test_lines();
        assert_eq!(lines[..6], [false, true, true, true, true, false]);
        let source = Source::new("x.rs", "#[cfg(test)]\nmod helpers;\nfn a() {}\n".to_owned());
        assert_eq!(source.test_lines()[..3], [true, true, false]);
        assert_eq!(source.test_modules(), ["helpers"]);
    }
}
