//! The dialect of `~/.aws/config` and `~/.aws/credentials`.
//!
//! It is what Python's `RawConfigParser` reads, because that is what the AWS tools use: `[section]`
//! lines, `key = value` or `key: value`, keys without regard to case, comments on lines of their
//! own that begin with `#` or `;`, and deeper indented lines that continue the value before them.
//! A value that is empty on its own line and continued is a nested section, one level deep.

use std::collections::BTreeMap;

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

/// A file: sections by their names as written.
pub(crate) type Sections = BTreeMap<String, Section>;

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
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        parser.line(line).map_err(|problem| SyntaxError { line: index + 1, problem })?;
    }
    let line = text.lines().count();
    parser.finish().map_err(|problem| SyntaxError { line, problem })
}

#[derive(Default)]
struct Parser {
    sections: Sections,
    section: Option<String>,
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
        if text.is_empty() || text.starts_with(['#', ';']) {
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
        if self.section.is_none() {
            return Err("expected a [section] first");
        }
        let lines = vec![value.to_owned()];
        self.open = Some(OpenKey { key: key.to_lowercase(), indent, lines });
        Ok(())
    }

    fn begin_section(&mut self, rest: &str) -> Result<(), &'static str> {
        let end = rest.rfind(']').ok_or("expected `]` after the section's name")?;
        let name = rest[..end].to_owned();
        if self.sections.contains_key(&name) {
            return Err("a section of this name was there before");
        }
        self.sections.insert(name.clone(), Section::new());
        self.section = Some(name);
        Ok(())
    }

    fn close(&mut self) -> Result<(), &'static str> {
        let (Some(open), Some(section)) = (self.open.take(), &self.section) else {
            return Ok(());
        };
        let value = value_of(&open.lines)?;
        let section = self.sections.entry(section.clone()).or_default();
        match section.insert(open.key, value) {
            None => Ok(()),
            Some(_) => Err("a key of this name was there before"),
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
    if lines.len() < 2 || !lines[0].is_empty() {
        return Ok(Value::Text(lines.join("\n")));
    }
    let pairs = lines[1..].iter().map(|line| {
        let (key, value) = line.split_once('=').ok_or("expected `key = value`")?;
        Ok((key.trim().to_owned(), value.trim().to_owned()))
    });
    Ok(Value::Nested(pairs.collect::<Result<_, &'static str>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sections: &Sections, section: &str, key: &str) -> Option<String> {
        match sections.get(section)?.get(key)? {
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
        let Value::Nested(s3) = &sections["default"]["s3"] else { panic!("not nested") };
        assert_eq!(s3["max_concurrent_requests"], "20");
        assert_eq!(s3["max_bandwidth"], "50MB/s");
        assert_eq!(text(&sections, "default", "region").as_deref(), Some("a\nb"));
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
            proptest::prop_assert_eq!(&sections["p q"], &expected);
        }

        #[test]
        fn nothing_makes_it_panic(text in "(\\PC|\n|\t| |=|\\[|\\])*") {
            _ = parse(&text);
        }
    }

    #[test]
    fn tells_the_line_of_a_mistake() {
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
