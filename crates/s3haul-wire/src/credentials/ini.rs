//! The dialect of `~/.aws/config` and `~/.aws/credentials`.
//!
//! It is what Python's `RawConfigParser` reads, because that is what the AWS tools use: `[section]`
//! lines, `key = value` or `key: value`, keys without regard to case, comments on lines of their
//! own that begin with `#` or `;`, and deeper indented lines that continue the value before them.
//! A value that is empty on its own line and continued is a nested section, one level deep.
//! Beyond that parser a byte order mark is skipped.

use std::collections::{BTreeMap, HashSet};

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// What stands after the `=`.
    Text(String),
    /// An indented block of `key = value` lines.
    Nested(BTreeMap<String, String>),
}

/// Keys and values of one section.
pub(crate) type Section = BTreeMap<String, Value>;

/// A file: sections with their names as written, in order.
pub(crate) type Sections = Vec<(String, Section)>;

/// A line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    /// What is wrong with it.
    pub(crate) problem: &'static str,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

/// Reads a whole file.
pub(crate) fn parse(text: &str) -> Result<Sections, SyntaxError> {
    let mut parser = Parser::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut count = 0;
    for line in
        text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
    {
        count += 1;
        parser.line(line).map_err(|problem| SyntaxError { line: count, problem })?;
    }
    parser.finish().map_err(|problem| SyntaxError { line: count, problem })
}

#[derive(Default)]
struct Parser {
    sections: Sections,
    names: HashSet<String>,
    open: Option<OpenKey>,
}

/// A key whose value may still be continued.
struct OpenKey {
    key: String,
    indent: usize,
    lines: Vec<String>,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), &'static str> {
        let text = line.trim();
        if text.is_empty() {
            if let Some(open) = &mut self.open {
                open.lines.push(String::new());
            }
            return Ok(());
        }
        if text.starts_with(['#', ';']) {
            return Ok(());
        }
        let indent = line.len() - line.trim_start().len();
        if let Some(open) = &mut self.open
            && indent > open.indent
        {
            open.lines.push(text.to_owned());
            return Ok(());
        }
        self.close()?;
        if let Some(rest) = text.strip_prefix('[') {
            return self.begin_section(rest);
        }
        let Some((key, value)) = split_pair(text) else {
            return Err("expected `key = value`");
        };
        if self.sections.is_empty() {
            return Err("expected a [section] first");
        }
        let lines = vec![value.to_owned()];
        self.open = Some(OpenKey { key: key.to_lowercase(), indent, lines });
        Ok(())
    }

    fn begin_section(&mut self, rest: &str) -> Result<(), &'static str> {
        let end = rest.rfind(']').ok_or("expected `]` after the section's name")?;
        let name = rest[..end].to_owned();
        if !self.names.insert(name.clone()) {
            return Err("duplicate section name");
        }
        self.sections.push((name, Section::new()));
        Ok(())
    }

    fn close(&mut self) -> Result<(), &'static str> {
        let (Some(open), Some((_, section))) = (self.open.take(), self.sections.last_mut()) else {
            return Ok(());
        };
        let value = value_of(&open.lines)?;
        match section.insert(open.key, value) {
            None => Ok(()),
            Some(_) => Err("duplicate key"),
        }
    }

    fn finish(mut self) -> Result<Sections, &'static str> {
        self.close()?;
        Ok(self.sections)
    }
}

/// Splits at the first `=` or `:`.
fn split_pair(text: &str) -> Option<(&str, &str)> {
    let at = text.find(['=', ':'])?;
    let (key, value) = (text[..at].trim(), text[at + 1..].trim());
    (!key.is_empty()).then_some((key, value))
}

fn value_of(lines: &[String]) -> Result<Value, &'static str> {
    let text = lines.join("\n");
    let text = text.trim_end();
    if !text.starts_with('\n') {
        return Ok(Value::Text(text.to_owned()));
    }
    let pairs = text.lines().filter(|line| !line.is_empty()).map(|line| {
        let (key, value) = line.split_once('=').ok_or("expected `key = value`")?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    });
    Ok(Value::Nested(pairs.collect::<Result<_, &'static str>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section<'s>(sections: &'s Sections, name: &str) -> &'s Section {
        &sections.iter().find(|(known, _)| known == name).unwrap().1
    }

    fn text(sections: &Sections, name: &str, key: &str) -> Option<String> {
        match section(sections, name).get(key)? {
            Value::Text(text) => Some(text.clone()),
            Value::Nested(_) => None,
        }
    }

    #[test]
    fn reads_sections_comments_and_both_delimiters() {
        let file = "# top\n[default]\nRegion = eu-west-1\n; note\noutput: json\n\n\
                    [profile a b]\nregion=us-east-2\nkey = a=b # not a comment\n";
        let sections = parse(file).unwrap();
        assert_eq!(text(&sections, "default", "region").as_deref(), Some("eu-west-1"));
        assert_eq!(text(&sections, "default", "output").as_deref(), Some("json"));
        assert_eq!(text(&sections, "profile a b", "key").as_deref(), Some("a=b # not a comment"));
    }

    #[test]
    fn indented_lines_nest_below_an_empty_value_and_continue_others() {
        let file = "[default]\ns3 =\n  max_concurrent_requests = 20\n\n  # note\n  \
                    max_bandwidth=50MB/s\nregion = a\n  b\n";
        let sections = parse(file).unwrap();
        let Value::Nested(s3) = &section(&sections, "default")["s3"] else { panic!("not nested") };
        assert_eq!(s3["max_concurrent_requests"], "20");
        assert_eq!(s3["max_bandwidth"], "50MB/s");
        assert_eq!(text(&sections, "default", "region").as_deref(), Some("a\nb"));
    }

    #[test]
    fn blank_lines_belong_to_a_value_that_goes_on() {
        let sections =
            parse("[a]\rx = 1\r\n\r\n # note\r\n  2\r\n\r\ns3 =\n\n\n  y = 3\n\n").unwrap();
        assert_eq!(text(&sections, "a", "x").as_deref(), Some("1\n\n2"));
        let nested = Value::Nested([("y".to_owned(), "3".to_owned())].into());
        assert_eq!(section(&sections, "a")["s3"], nested);
    }

    #[test]
    fn an_empty_value_alone_is_text() {
        assert_eq!(text(&parse("[a]\ns3 =\n[b]\n").unwrap(), "a", "s3").as_deref(), Some(""));
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_comes_back(
            pairs in proptest::collection::btree_map(
                "[a-z_]{1,9}", "[!-~]([ -~]{0,9}[!-~])?", 0..6),
            nested in proptest::collection::btree_map("[a-z_]{1,9}", "[!-~]{0,9}", 1..6),
        ) {
            let lines = |pairs: &BTreeMap<String, String>, start: &str| {
                let line = |(key, value)| format!("{start}{key} = {value}\n");
                pairs.iter().map(line).collect::<Vec<_>>().concat()
            };
            let (top, inner) = (lines(&pairs, ""), lines(&nested, "\t"));
            let sections = parse(&format!("[p q]\n{top}nested 1 =\n{inner}")).unwrap();
            let mut expected: Section =
                pairs.into_iter().map(|(key, value)| (key, Value::Text(value))).collect();
            expected.insert("nested 1".to_owned(), Value::Nested(nested));
            proptest::prop_assert_eq!(section(&sections, "p q"), &expected);
        }

        #[test]
        fn nothing_makes_it_panic(text in "(\\PC|\n|\t| |=|\\[|\\])*") {
            _ = parse(&text);
        }
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (file, line) in [
            ("region = x\n", 1),
            ("[a]\nregion\n", 2),
            ("[a\n", 1),
            ("[a]\n[b]\n[a]\n", 3),
            ("[a]\nx=1\nX=2\ny=3\n", 4),
        ] {
            assert_eq!(parse(file).unwrap_err().line, line, "{file:?}");
        }
    }
}
