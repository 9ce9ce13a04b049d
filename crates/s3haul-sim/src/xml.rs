//! Writing S3's XML where `s3s` does not: listings, and errors of our own.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{HeaderValue, Response};
use percent_encoding::percent_encode_byte;

/// XML under construction.
pub(crate) struct Writer {
    text: String,
    /// The last time written, in seconds, and its text: neighbours often share it.
    last_time: (i64, String),
}

impl Writer {
    /// A document with its declaration.
    pub(crate) fn new(capacity: usize) -> Self {
        let mut text = String::with_capacity(capacity);
        text.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        Self { text, last_time: (0, String::new()) }
    }

    /// A piece of a document.
    pub(crate) fn fragment(capacity: usize) -> Self {
        Self { text: String::with_capacity(capacity), last_time: (0, String::new()) }
    }

    /// What was written so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Appends markup as it is.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// Appends an element with text.
    pub(crate) fn element(&mut self, name: &str, value: &str) {
        self.open(name);
        escape(&mut self.text, value);
        self.close(name);
    }

    /// Appends an element with a number.
    pub(crate) fn number(&mut self, name: &str, value: u64) {
        self.open(name);
        self.digits(value);
        self.close(name);
    }

    /// Appends an element with text that is URL-encoded where the client asked for that.
    pub(crate) fn encoded(&mut self, name: &str, value: &str, url: bool) {
        self.open(name);
        self.text_encoded(value, url);
        self.close(name);
    }

    /// Appends text, URL-encoded where the client asked for that.
    pub(crate) fn text_encoded(&mut self, value: &str, url: bool) {
        if url {
            url_encode(&mut self.text, value);
        } else {
            escape(&mut self.text, value);
        }
    }

    /// Appends a number.
    pub(crate) fn digits(&mut self, value: u64) {
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    /// Appends an element with a time.
    pub(crate) fn time(&mut self, name: &str, ms: i64) {
        self.open(name);
        self.time_text(ms);
        self.close(name);
    }

    /// Appends a time.
    pub(crate) fn time_text(&mut self, ms: i64) {
        let seconds = ms.div_euclid(1000);
        if self.last_time.1.is_empty() || self.last_time.0 != seconds {
            self.last_time = (seconds, iso_time(ms));
        }
        self.text.push_str(&self.last_time.1);
    }

    /// Opens an element.
    pub(crate) fn open(&mut self, name: &str) {
        self.text.push('<');
        self.text.push_str(name);
        self.text.push('>');
    }

    /// Closes an element.
    pub(crate) fn close(&mut self, name: &str) {
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
    }

    /// The text.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// The text behind that of another: moving a page within its memory costs a tenth of copying
    /// it to fresh memory.
    pub(crate) fn behind(mut self, head: &Writer) -> Writer {
        self.text.insert_str(0, &head.text);
        self
    }
}

/// Bytes that may stand in XML as they are.
const PLAIN_IN_XML: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20_u8;
    while byte < 0x7f {
        plain[byte as usize] = !matches!(byte, b'&' | b'<' | b'>' | b'"');
        byte += 1;
    }
    plain
};

/// Bytes that `encoding-type=url` leaves as they are, without the space.
const PLAIN_IN_URL: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20_u8;
    while byte < 0x7f {
        plain[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'*' | b'/');
        byte += 1;
    }
    plain
};

/// Whether all bytes are plain. Without an early end, so that it runs without branches.
fn is_plain(value: &str, plain: &[bool; 256]) -> bool {
    value.bytes().fold(true, |all, byte| all & plain[usize::from(byte)])
}

/// Escapes text; what XML cannot hold at all becomes a character reference, as in S3.
fn escape(out: &mut String, value: &str) {
    if is_plain(value, &PLAIN_IN_XML) {
        out.push_str(value);
        return;
    }
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => {
                write!(out, "&#x{:x};", u32::from(c)).expect("writing to a string cannot fail");
            }
            _ => out.push(c),
        }
    }
}

/// Encodes text as S3 does for `encoding-type=url`.
pub(crate) fn url_encode(out: &mut String, value: &str) {
    if is_plain(value, &PLAIN_IN_URL) {
        out.push_str(value);
        return;
    }
    // Run by run of plain bytes: listings of keys in other scripts are nearly all encoded.
    let is_plain = |byte: u8| PLAIN_IN_URL[usize::from(byte)];
    let bytes = value.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|byte| is_plain(**byte)).count();
        // Plain bytes are whole characters; only an empty run can lie within one.
        out.push_str(value.get(at..at + run).unwrap_or_default());
        at += run;
        if let Some(byte) = bytes.get(at) {
            out.push_str(if *byte == b' ' { "+" } else { percent_encode_byte(*byte) });
            at += 1;
        }
    }
}

/// A time in whole seconds, as listings show it: `2024-01-01T00:00:00.000Z`.
pub(crate) fn iso_time(ms: i64) -> String {
    let time = jiff::Timestamp::from_second(ms.div_euclid(1000)).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}

/// An error as S3 writes it.
pub(crate) struct ErrorBody<'a> {
    pub(crate) code: &'a str,
    pub(crate) message: &'a str,
    pub(crate) details: &'a [(&'static str, String)],
    pub(crate) resource: &'a str,
    pub(crate) request_id: &'a str,
}

impl ErrorBody<'_> {
    /// The document.
    pub(crate) fn to_xml(&self) -> String {
        let mut xml = Writer::new(512);
        xml.open("Error");
        xml.element("Code", self.code);
        xml.element("Message", self.message);
        for (name, value) in self.details {
            xml.element(name, value);
        }
        xml.element("Resource", self.resource);
        xml.element("RequestId", self.request_id);
        xml.close("Error");
        xml.finish()
    }

    /// The document as a response.
    pub(crate) fn to_response(&self, status: u16) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.to_xml()));
        *response.status_mut() =
            http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
        let kind = HeaderValue::from_static("application/xml");
        response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_civil() {
        assert_eq!(iso_time(1_704_067_200_999), "2024-01-01T00:00:00.000Z");
        assert_eq!(iso_time(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso_time(-1000), "1969-12-31T23:59:59.000Z");
    }

    #[test]
    fn text_is_escaped_and_encoded() {
        let mut text = String::new();
        escape(&mut text, "a<&>\"\r\u{1}\u{ffff}é");
        assert_eq!(text, "a&lt;&amp;&gt;&quot;&#xd;&#x1;&#xffff;é");
        let mut text = String::new();
        url_encode(&mut text, "a b+c/d~\u{ffff}*%");
        assert_eq!(text, "a+b%2Bc/d%7E%EF%BF%BF*%25");
        let mut text = String::new();
        url_encode(&mut text, "é=写/x");
        assert_eq!(text, "%C3%A9%3D%E5%86%99/x");
    }
}
