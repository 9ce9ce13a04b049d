//! The XML of S3: error answers, small documents, and request bodies.
//!
//! Answers are read into a small tree of elements. Depth and number of elements are limited,
//! document types (and with them entities of the document's own) are refused, and whatever is
//! not understood is an error, never a panic. Pages of listings are read by the same rules, but for
//! their entries, of which no tree is kept.

use std::fmt::Write as _;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::error::{Error, ErrorKind, Result, ServiceError};

/// Elements that may stand inside one another.
pub(crate) const DEPTH_MAX: usize = 16;
/// Elements of one document; a page of a listing has some 10,000.
pub(crate) const ELEMENTS_MAX: usize = 200_000;

/// An element: its name without prefix, its text and its children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Reads a document and gives its root.
    pub(crate) fn parse(document: &[u8]) -> Result<Self> {
        let mut reader = Reader::from_reader(document);
        let mut builder = Builder::default();
        loop {
            match reader.read_event().map_err(|error| malformed().with_source(error))? {
                Event::Eof => return builder.finish(),
                event => builder.add(event)?,
            }
        }
    }

    /// Reads a document whose root must have a name.
    pub(crate) fn parse_as(document: &[u8], name: &str) -> Result<Self> {
        let root = Self::parse(document)?;
        if is_named(root.name.as_bytes(), name) { Ok(root) } else { Err(malformed()) }
    }

    /// First child with a name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children with a name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Text of the first child with a name; empty where there is none.
    pub(crate) fn text_of(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| child.text.as_str())
    }

    /// Text of the first child with a name, unless it is empty or absent.
    pub(crate) fn filled(&self, name: &str) -> Option<String> {
        Some(self.text_of(name)).filter(|text| !text.is_empty()).map(str::to_owned)
    }
}

/// The elements that are open while a document is read.
#[derive(Default)]
pub(crate) struct Builder {
    open: Vec<Element>,
    root: Option<Element>,
    elements: usize,
}

impl Builder {
    /// Takes what a reader found next.
    pub(crate) fn add(&mut self, event: Event<'_>) -> Result<()> {
        let damaged = |error| malformed().with_source(error);
        match event {
            Event::Start(start) => self.open(start.local_name().as_ref())?,
            Event::Empty(start) => {
                self.open(start.local_name().as_ref())?;
                self.close()?;
            }
            Event::End(_) => self.close()?,
            Event::Text(text) => self.text(&text.decode().map_err(damaged)?),
            Event::CData(data) => self.text(&data.decode().map_err(damaged)?),
            Event::GeneralRef(reference) => {
                let name = reference.decode().map_err(damaged)?;
                self.text(resolve(&name).ok_or_else(malformed)?.encode_utf8(&mut [0; 4]));
            }
            Event::DocType(_) => return Err(malformed()),
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::Eof => {}
        }
        Ok(())
    }

    /// Elements that are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Takes out the last child of the element that is open, if it is wanted.
    pub(crate) fn take_child(&mut self, is_wanted: fn(&Element) -> bool) -> Option<Element> {
        self.open.last_mut()?.children.pop_if(|child| is_wanted(child))
    }

    fn open(&mut self, name: &[u8]) -> Result<()> {
        self.elements += 1;
        let too_much = self.open.len() >= DEPTH_MAX || self.elements > ELEMENTS_MAX;
        if too_much || (self.open.is_empty() && self.root.is_some()) {
            return Err(malformed());
        }
        let name = std::str::from_utf8(name).map_err(|_| malformed())?.to_owned();
        self.open.push(Element { name, ..Element::default() });
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let element = self.open.pop().ok_or_else(malformed)?;
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if let Some(element) = self.open.last_mut() {
            element.text.push_str(text);
        }
    }

    /// The root, once the document is at its end.
    pub(crate) fn finish(self) -> Result<Element> {
        if self.open.is_empty() { self.root.ok_or_else(malformed) } else { Err(malformed()) }
    }
}

/// The character of a predefined entity or a character reference, without `&` and `;`.
pub(crate) fn resolve(reference: &str) -> Option<char> {
    match reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = reference.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// The server's answer is not the document that it should be.
pub(crate) fn malformed() -> Error {
    Error::new(ErrorKind::Server, "the server's answer could not be understood")
}

/// Reads an `<Error>` document; `None` if the body is none. Unknown elements are ignored.
pub(crate) fn parse_error(body: &[u8]) -> Option<ServiceError> {
    // Answers that are no errors may be large: only the name of the first element is looked at.
    root_name(body).filter(|root| is_error_root(root))?;
    let root = Element::parse(body).ok()?;
    // Older services wrap it: `<ErrorResponse><Error>…</Error><RequestId>`.
    let error = if root.name == "Error" { &root } else { root.child("Error")? };
    let request_id = error.filled("RequestId").or_else(|| root.filled("RequestId"));
    Some(ServiceError {
        status: 0,
        code: error.text_of("Code").trim().to_owned(),
        message: error.text_of("Message").trim().to_owned(),
        request_id: request_id.unwrap_or_default(),
        region: error.filled("Region"),
        endpoint: error.filled("Endpoint"),
    })
}

/// Whether XML 1.0 can carry a text: it has no way to write most control characters.
pub(crate) fn fits(text: &str) -> bool {
    text.chars().all(|character| {
        matches!(character, '\t' | '\n' | '\r')
            || (character >= ' ' && !matches!(character, '\u{fffe}' | '\u{ffff}'))
    })
}

/// Writes a document.
pub(crate) struct Writer(String);

impl Writer {
    /// Begins a document with room for `capacity` bytes and opens its root.
    pub(crate) fn new(root: &str, capacity: usize) -> Self {
        let mut writer = Self(String::with_capacity(capacity + 128));
        let _ = write!(writer.0, "<{root} xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
        writer
    }

    /// Opens an element.
    pub(crate) fn open(&mut self, name: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Closes an element.
    pub(crate) fn close(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Writes an element with a text. Blanks that a reader would normalise are references.
    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.open(name);
        let mut rest = text;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\t', '\n', '\r']) {
            self.0.push_str(&rest[..at]);
            self.0.push_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                b'\'' => "&apos;",
                b'\t' => "&#9;",
                b'\n' => "&#10;",
                _ => "&#13;",
            });
            rest = &rest[at + 1..];
        }
        self.0.push_str(rest);
        self.close(name);
    }

    /// Writes `<TagSet>`-like lists of tags: the inside only.
    pub(crate) fn tags(&mut self, tags: &[(String, String)]) {
        for (key, value) in tags {
            self.open("Tag");
            self.text("Key", key);
            self.text("Value", value);
            self.close("Tag");
        }
    }

    /// Closes the root and gives the document.
    pub(crate) fn finish(mut self, root: &str) -> bytes::Bytes {
        self.close(root);
        bytes::Bytes::from(self.0)
    }
}

/// Name of a document's root without its prefix; `None` where its start tag is not there.
pub(crate) fn root_name(body: &[u8]) -> Option<&[u8]> {
    let mut rest = body;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix(b"!--") {
            rest = &comment[memchr::memmem::find(comment, b"-->")?..];
        } else if !matches!(rest.first(), Some(b'?' | b'!')) {
            let is_end = |byte: &u8| matches!(byte, b'>' | b'/') || byte.is_ascii_whitespace();
            let name = &rest[..rest.iter().position(is_end)?];
            let prefix = memchr::memchr(b':', name).map_or(0, |at| at + 1);
            return Some(&name[prefix..]);
        }
    }
    None
}

/// Whether a root has the name that is expected, or the one that moto gives it:
/// `CompleteMultipartUploadResponse`, `GetBucketVersioningResponse`.
pub(crate) fn is_named(root: &[u8], name: &str) -> bool {
    let is_response = |operation: &[u8]| match name {
        "VersioningConfiguration" => operation == b"GetBucketVersioning",
        _ => name.strip_suffix("Result").map(str::as_bytes) == Some(operation),
    };
    root == name.as_bytes() || root.strip_suffix(b"Response").is_some_and(is_response)
}

/// Whether a document with this root reports an error.
pub(crate) fn is_error_root(root: &[u8]) -> bool {
    matches!(root, b"Error" | b"ErrorResponse")
}

/// Seconds since 1970 of an ISO-8601 time in UTC such as `2013-05-24T00:00:00.000Z`; fractions
/// are cut off.
pub(crate) fn parse_time(text: &[u8]) -> Option<i64> {
    parse_exact_time(text).map(|(time_s, _)| time_s)
}

/// The same, and the microseconds of that second; what is finer is cut off, as the AWS tools do.
pub(crate) fn parse_exact_time(text: &[u8]) -> Option<(i64, u32)> {
    let (first, rest) = text.split_first_chunk::<19>()?;
    let &[y1, y2, y3, y4, b'-', o1, o2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2] =
        first
    else {
        return None;
    };
    let digit = |byte: u8| i64::from(byte.wrapping_sub(b'0'));
    let two = |high, low| digit(high) * 10 + digit(low);
    let all = [y1, y2, y3, y4, o1, o2, d1, d2, h1, h2, n1, n2, s1, s2];
    let is_number = all.iter().fold(true, |all, byte| all & byte.is_ascii_digit());
    let (year, month, day) = (two(y1, y2) * 100 + two(y3, y4), two(o1, o2), two(d1, d2));
    let (hour, minute, second) = (two(h1, h2), two(n1, n2), two(s1, s2));
    let (fraction, zone) = match rest {
        [b'.', rest @ ..] => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            rest.split_at(digits)
        }
        rest => (&rest[..0], rest),
    };
    let places = fraction.iter().copied().chain(std::iter::repeat(b'0')).take(6);
    let microseconds = places.fold(0, |us, byte| us * 10 + u32::from(byte - b'0'));
    let valid = is_number
        && matches!(zone, b"Z" | b"" | b"+00:00")
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    let second_of_day = hour * 3600 + minute * 60 + second;
    valid.then(|| (days_from_civil(year, month, day) * 86_400 + second_of_day, microseconds))
}

/// Days since 1970 of a date; years begin in March inside, so that the leap day is the last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let shifted = (month + 9) % 12;
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_errors() {
        let body = b"<?xml version=\"1.0\"?>\n<Error><Code>PermanentRedirect</Code>\
            <Message>Use &lt;that&gt; one</Message>\
            <Endpoint>b.s3.eu-west-1.amazonaws.com</Endpoint>\
            <Region>eu-west-1</Region><Odd><Deep/></Odd><RequestId>4442</RequestId></Error>";
        let error = parse_error(body).unwrap();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("PermanentRedirect", "Use <that> one")
        );
        assert_eq!(error.region.as_deref(), Some("eu-west-1"));
        assert_eq!(error.request_id, "4442");
        let kept_alive =
            b"<?xml version=\"1.0\"?>\n   \n  <Error><Code>InternalError</Code></Error>";
        assert_eq!(parse_error(kept_alive).unwrap().code, "InternalError");
        let wrapped =
            b"<ErrorResponse><Error><Code>X</Code></Error><RequestId>7</RequestId></ErrorResponse>";
        assert_eq!(parse_error(wrapped).unwrap().request_id, "7");
        for none in
            [&b""[..], b"<html>", b"plain", b"<CopyObjectResult/>", b"<Error><Code>X", b"<!<<"]
        {
            assert_eq!(parse_error(none), None);
        }
    }

    #[test]
    fn refuses_what_s3_never_sends() {
        for document in [
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            "<a>&b;</a>",
            "<a></b>",
            "<a/><b/>",
            "<a>&#xD800;</a>",
            "text",
            &("<a>".repeat(50) + &"</a>".repeat(50)),
        ] {
            assert!(Element::parse(document.as_bytes()).is_err(), "{document}");
        }
    }

    #[test]
    fn reads_names_with_prefix_cdata_and_references() {
        let root = Element::parse(b"<s:A><s:B c='d'><![CDATA[<x>]]>&amp;&#x41;&#66; </s:B></s:A>")
            .unwrap();
        assert_eq!(root.text_of("B"), "<x>&AB ");
        assert_eq!(root.filled("C"), None);
    }

    #[test]
    fn characters_that_xml_cannot_carry_are_found() {
        assert!(fits("a\n\tb\r é😀"));
        assert!(!fits("a\u{1}") && !fits("\0") && !fits("\u{ffff}"));
    }

    #[test]
    fn reads_times() {
        assert_eq!(parse_time(b"2013-05-24T00:00:00.000Z"), Some(1_369_353_600));
        assert_eq!(parse_time(b"1970-01-01T00:00:01Z"), Some(1));
        for wrong in [
            "",
            "2013-05-24",
            "2013-13-24T00:00:00Z",
            "2013-05-24T00:00:00.0+02:00",
            "2013-05-24 00:00:00Z",
        ] {
            assert_eq!(parse_time(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            text in any::<String>().prop_filter("XML carries it", |text| fits(text)),
        ) {
            let mut writer = Writer::new("Root", 0);
            writer.text("Key", &text);
            let root = Element::parse(&writer.finish("Root")).unwrap();
            prop_assert_eq!(root.text_of("Key"), text);
        }

        #[test]
        fn hostile_documents_do_not_panic(
            document in "(<[a-c/!?]{0,2}>?|&#?x?[0-9a-f]{0,3};?|[]\\[CDAT<>&;]|Error){0,30}",
        ) {
            let _ = Element::parse(document.as_bytes());
            let _ = parse_error(document.as_bytes());
        }

        #[test]
        fn times_are_those_of_a_calendar(
            second in 0_i64..253_402_300_799,
            fraction in "(\\.[0-9]{0,10})?",
        ) {
            let time = jiff::Timestamp::from_second(second).unwrap();
            let text = format!("{}{fraction}Z", time.strftime("%Y-%m-%dT%H:%M:%S"));
            let digits = format!("{:0<6}", fraction.trim_start_matches('.'));
            let microseconds = digits[..6].parse().unwrap();
            prop_assert_eq!(parse_exact_time(text.as_bytes()), Some((second, microseconds)));
            prop_assert_eq!(parse_time(text.as_bytes()), Some(second));
        }
    }
}
