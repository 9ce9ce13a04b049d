//! Pages to look at: one HTML file each, which needs no network and no other file.
//!
//! The frame, its style and its scripts are files beside this one. What is shown is JSON in an
//! element that browsers do not run; the scripts put it on the page as text. The page names the
//! hashes of its own script and style, so that a browser runs nothing else.

pub(crate) mod compare;
pub(crate) mod jobs;
pub(crate) mod plan;
pub(crate) mod summary;
mod tree;

use s3haul_wire::{Checksum, ChecksumAlgorithm};
use serde::Serialize;
use serde_json::Value;

pub(crate) use tree::{Colour, Folder, Metric, Scale, Tree};

const FRAME: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    "'use strict';\n",
    include_str!("basics.js"),
    include_str!("tree.js"),
    include_str!("page.js"),
);

/// What a page shows.
#[derive(Serialize)]
pub(crate) struct Page {
    /// What it is about, such as an address.
    pub(crate) title: String,
    /// What it is, such as `Summary`.
    pub(crate) kind: String,
    /// Where the figures are from, in a sentence at the end.
    pub(crate) made: String,
    /// Currency of costs.
    pub(crate) currency: String,
    /// Figures at the top.
    pub(crate) facts: Vec<Fact>,
    /// Folders, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tree: Option<Tree>,
    /// Tables below.
    pub(crate) sections: Vec<Section>,
}

/// What a value is, which decides how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// Text of ours.
    Text,
    /// A key or another text of others.
    Name,
    /// A command to copy.
    Command,
    /// A number.
    Count,
    /// Bytes.
    Bytes,
    /// Millionths of the currency.
    Cost,
}

/// A figure at the top.
#[derive(Serialize)]
pub(crate) struct Fact {
    name: &'static str,
    unit: Unit,
    value: Value,
}

impl Fact {
    /// A figure with a name.
    pub(crate) fn new(name: &'static str, unit: Unit, value: impl Into<Value>) -> Self {
        Self { name, unit, value: value.into() }
    }
}

/// A table with a title.
#[derive(Serialize)]
pub(crate) struct Section {
    title: String,
    note: String,
    is_bars: bool,
    columns: Vec<Column>,
    rows: Vec<Vec<Value>>,
}

#[derive(Serialize)]
struct Column {
    name: &'static str,
    unit: Unit,
}

impl Section {
    /// A table without rows yet.
    pub(crate) fn new(title: impl Into<String>, columns: &[(&'static str, Unit)]) -> Self {
        let column = |&(name, unit): &(&'static str, Unit)| Column { name, unit };
        Self {
            title: title.into(),
            note: String::new(),
            is_bars: false,
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// Each row gets a bar that is as long as its first number.
    pub(crate) fn with_bars(self) -> Self {
        Self { is_bars: true, ..self }
    }

    /// A sentence above the table.
    pub(crate) fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds a row with a value for each column.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = Value>) {
        self.rows.push(row.into_iter().collect());
        debug_assert!(self.rows.last().is_some_and(|row| row.len() == self.columns.len()));
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// An amount in millionths, as pages have it.
#[expect(clippy::cast_possible_truncation, reason = "saturates, far beyond any bill")]
pub(crate) fn millionths(amount: f64) -> i64 {
    (amount * 1e6).round() as i64
}

/// The page as a file.
pub(crate) fn render(page: &Page) -> Vec<u8> {
    let hash = |text: &str| Checksum::of(ChecksumAlgorithm::Sha256, text.as_bytes()).value;
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    );
    let mut file = Vec::new();
    let mut rest = FRAME;
    while let Some((before, after)) = rest.split_once("{{") {
        file.extend_from_slice(before.as_bytes());
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "policy" => file.extend_from_slice(policy.as_bytes()),
            "style" => file.extend_from_slice(STYLE.as_bytes()),
            "script" => file.extend_from_slice(SCRIPT.as_bytes()),
            _ => push_data(&mut file, page),
        }
        rest = after;
    }
    file.extend_from_slice(rest.as_bytes());
    file
}

/// Appends JSON in which nothing can end the element that it stands in, or begin another.
fn push_data(file: &mut Vec<u8>, page: &Page) {
    let mut json = Vec::new();
    // The types here have only string keys, and a vector takes everything.
    _ = serde_json::to_writer(&mut json, page);
    for byte in json {
        match byte {
            // They stand in texts only, where escapes are as good.
            b'<' | b'>' | b'&' => file.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => file.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> String {
        let mut section = Section::new("Names", &[("Name", Unit::Name)]);
        section.push([name.into()]);
        let page = Page {
            title: name.to_owned(),
            kind: "Test".to_owned(),
            made: String::new(),
            currency: "USD".to_owned(),
            facts: vec![Fact::new("Name", Unit::Name, name)],
            tree: None,
            sections: vec![section],
        };
        String::from_utf8(render(&page)).unwrap()
    }

    /// Whatever names hold, the markup is the same: that of a page without them.
    #[test]
    fn names_never_become_markup() {
        let tags = |page: &str| page.matches('<').count();
        let plain = page("a");
        for hostile in [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "]]>&lt;&quot;{{data}}{{script}}",
            "\u{202e}\u{2028}\0\n\r\t\"'`\\",
        ] {
            let page = page(hostile);
            assert_eq!(tags(&page), tags(&plain), "{hostile}");
            let (_, data) = page.split_once("type=\"application/json\">").unwrap();
            let (data, _) = data.split_once("</script>").unwrap();
            let data: Value = serde_json::from_str(data).unwrap();
            assert_eq!(data["title"], hostile);
            assert_eq!(data["sections"][0]["rows"][0][0], hostile);
        }
    }

    #[test]
    fn a_page_needs_nothing_else() {
        let page = page("a");
        for text in ["http:", "https:", "src=", "href=", "@import", "url(", "innerHTML", "{{"] {
            assert!(!page.contains(text), "{text}");
        }
        assert!(page.contains("default-src 'none'; script-src 'sha256-"));
        assert!(!SCRIPT.contains("</") && !STYLE.contains("</"));
    }
}
