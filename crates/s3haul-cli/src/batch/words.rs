//! Words of a command line as a shell splits them, without any expansion. Pure.

/// Why a line cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitError {
    /// A quote is not closed.
    Open(char),
    /// Nothing follows a backslash.
    Escape,
}

impl std::fmt::Display for SplitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Open(quote) => write!(f, "the quote {quote} is not closed"),
            Self::Escape => f.write_str("nothing follows the last backslash"),
        }
    }
}

/// Splits a line at spaces and tabs. Single and double quotes and backslashes quote as in a POSIX
/// shell; `#` at the beginning of a word starts a comment; nothing else means anything.
pub(crate) fn split(line: &str) -> Result<Vec<String>, SplitError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '#' if word.is_none() => break,
            '\'' => quoted(&mut characters, word.get_or_insert_default())?,
            '"' => double_quoted(&mut characters, word.get_or_insert_default())?,
            '\\' => {
                let next = characters.next().ok_or(SplitError::Escape)?;
                word.get_or_insert_default().push(next);
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitError> {
    for character in rest {
        if character == '\'' {
            return Ok(());
        }
        word.push(character);
    }
    Err(SplitError::Open('\''))
}

/// Within double quotes a backslash quotes only what else would mean something there.
fn double_quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), SplitError> {
    while let Some(character) = rest.next() {
        match character {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or(SplitError::Open('"'))? {
                next @ ('"' | '\\' | '$' | '`') => word.push(next),
                next => word.extend(['\\', next]),
            },
            other => word.push(other),
        }
    }
    Err(SplitError::Open('"'))
}

/// Words as a line that a shell and [`split`] take apart again.
pub(super) fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        if !word.is_empty() && word.chars().all(is_plain) {
            line.push_str(word);
        } else {
            line.push('\'');
            line.push_str(&word.replace('\'', "'\\''"));
            line.push('\'');
        }
    }
    line
}

fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "/:.,_-=+@%".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (line, expected) in [
            ("", &[][..]),
            ("  \t", &[]),
            ("# all of it", &[]),
            ("cp a  b # why", &["cp", "a", "b"]),
            ("a#b '#'", &["a#b", "#"]),
            ("'a b'\"c d\"e", &["a bc de"]),
            ("'' \"\"", &["", ""]),
            (r#""\"\\\$\`\n" \  '\'"#, &["\"\\$`\\n", " ", "\\"]),
            ("$HOME *.txt `x`", &["$HOME", "*.txt", "`x`"]),
        ] {
            assert_eq!(split(line).unwrap(), expected, "{line}");
        }
        assert_eq!(split("a 'b"), Err(SplitError::Open('\'')));
        assert_eq!(split("a \"b\\"), Err(SplitError::Open('"')));
        assert_eq!(split("a\\"), Err(SplitError::Escape));
    }

    proptest! {
        #[test]
        fn what_is_joined_is_split(words in prop::collection::vec("(?s).{0,6}", 0..6)) {
            let line = join(words.iter().map(String::as_str));
            prop_assert_eq!(split(&line).unwrap(), words);
        }

        #[test]
        fn anything_is_split_without_panic(line in "[a'\"\\\\ #]{0,12}") {
            _ = split(&line);
        }
    }
}
