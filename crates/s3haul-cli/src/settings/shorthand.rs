//! Maps of strings as the AWS tools read them: `name=value,name2=value2` or a JSON object.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

use crate::failure::Failure;

/// Reads a map; the order of the names is that of the command line.
pub(super) fn map(flag: &str, text: &str) -> Result<Vec<(String, String)>, Failure> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str::<BTreeMap<String, String>>(text)
            .map(|map| map.into_iter().collect())
            .map_err(|error| {
                Failure::usage(format!("Error parsing parameter '{flag}': Invalid JSON: {error}"))
            });
    }
    let invalid = |problem| {
        Failure::usage(format!("Error parsing parameter '{flag}': {problem} in `{text}`"))
    };
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        let name = name(&mut rest).map_err(invalid)?;
        let value = value(&mut rest).map_err(invalid)?;
        if pairs.iter().any(|(other, _)| *other == name) {
            return Err(invalid("Second instance of a name"));
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

fn name(rest: &mut Peekable<Chars<'_>>) -> Result<String, &'static str> {
    let mut name = String::new();
    loop {
        match rest.next() {
            Some('=') if !name.trim().is_empty() => return Ok(name.trim().to_owned()),
            Some('=') => return Err("Expected a name before '='"),
            Some(',') | None => return Err("Expected: '='"),
            Some(character) => name.push(character),
        }
    }
}

fn value(rest: &mut Peekable<Chars<'_>>) -> Result<String, &'static str> {
    while rest.next_if(|character| character.is_whitespace()).is_some() {}
    match rest.peek() {
        Some(&quote @ ('"' | '\'')) => quoted(rest, quote),
        _ => Ok(bare(rest)),
    }
}

/// Up to the next comma; a backslash takes a comma for itself.
fn bare(rest: &mut Peekable<Chars<'_>>) -> String {
    let mut value = String::new();
    while let Some(character) = rest.next() {
        match character {
            ',' => break,
            '\\' => value.push(rest.next_if_eq(&',').unwrap_or('\\')),
            other => value.push(other),
        }
    }
    value.trim_end().to_owned()
}

/// Up to the closing quote; a backslash takes a quote or a backslash for itself.
fn quoted(rest: &mut Peekable<Chars<'_>>, quote: char) -> Result<String, &'static str> {
    rest.next();
    let mut value = String::new();
    loop {
        match rest.next() {
            None => return Err("Missing closing quote"),
            Some('\\') => {
                let escaped = rest.next_if(|character| *character == quote || *character == '\\');
                value.push(escaped.unwrap_or('\\'));
            }
            Some(character) if character == quote => break,
            Some(character) => value.push(character),
        }
    }
    while rest.next_if(|character| character.is_whitespace()).is_some() {}
    match rest.next() {
        None | Some(',') => Ok(value),
        Some(_) => Err("Expected: ','"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        map("--metadata", text).unwrap()
    }

    fn own(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn shorthand_and_json_give_the_same() {
        let expected = own(&[("a", "1"), ("b", "two words")]);
        assert_eq!(read("a=1,b=two words"), expected);
        assert_eq!(read("a=1, b=\"two words\""), expected);
        assert_eq!(read(r#"{"a":"1","b":"two words"}"#), expected);
    }

    #[test]
    fn quotes_and_backslashes_protect_commas() {
        assert_eq!(read(r"a=1\,2,b=x"), own(&[("a", "1,2"), ("b", "x")]));
        assert_eq!(read("a='1,2',b=x=y"), own(&[("a", "1,2"), ("b", "x=y")]));
        assert_eq!(read(r#"a="say \"hi\"""#), own(&[("a", "say \"hi\"")]));
        assert_eq!(read("a=,b=x"), own(&[("a", ""), ("b", "x")]));
    }

    proptest::proptest! {
        #[test]
        fn what_is_quoted_comes_back(
            map in proptest::collection::btree_map("[a-zA-Z][a-zA-Z0-9-]{0,8}", ".*", 1..5),
        ) {
            let quoted = map.iter().map(|(name, value)| {
                let value = value.replace('\\', r"\\").replace('"', "\\\"");
                format!("{name}=\"{value}\"")
            });
            let text = quoted.collect::<Vec<_>>().join(",");
            let expected: Vec<(String, String)> = map.into_iter().collect();
            proptest::prop_assert_eq!(super::map("--metadata", &text).unwrap(), expected);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["a", "a,b=1", "=1", "a=\"x", "a=1,a=2", "{\"a\":1}", "{"] {
            assert!(map("--metadata", text).is_err(), "{text}");
        }
    }
}
