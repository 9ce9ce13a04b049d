//! What makes an answer believable as that of S3. Pure.
//!
//! Captive portals, proxies and programs on a wrong port answer any request with a page and a
//! status of success. Each operation says beside its name what its answer must bring
//! ([`Expects`]); anything else is an error of kind [`ErrorKind::NotS3`], which is final.
//!
//! An answer that is no document has no evidence in itself: servers of files send an `ETag` and
//! `Last-Modified`, too. There the headers that services put on every answer count
//! (`x-amz-request-id` and its like), or the `ETag` that the object is known to have. Some
//! compatible services have none of these headers (Garage, R2): such a host is believed when
//! another of its answers was a document of S3's, which [`Dialect`] remembers.

use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::Semaphore;

use super::request::{Expects, Operation};
use crate::error::{Error, ErrorKind};
use crate::sign::redact::Secrets;
use crate::xml::document::{is_error_root, is_named, root_name};

/// Longest body of an answer that should have none.
const EMPTY_MAX: usize = 16 * 1024;
/// Longest document that is no page of a listing.
const DOCUMENT_MAX: usize = 1024 * 1024;
/// Bytes of a `DeleteObjects` answer for each key: twice its name, escaped, and a message.
const REFUSED_KEY_MAX: usize = 16 * 1024;
/// Longest page of a listing.
const LISTING_MAX: usize = 64 * 1024 * 1024;
/// Blanks before a document: some services send these while they work.
const PROLOGUE_MAX: usize = 64 * 1024;
/// Characters of a body that an error shows.
const SHOWN_MAX: usize = 80;
/// The mark that most services have.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-amz-request-id");

/// A whole answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) belief: Belief,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// How often it was asked for.
    pub(crate) attempts: u32,
    /// How many of these were sent and not answered.
    pub(crate) unanswered: u32,
}

/// How far the head of an answer is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belief {
    /// It is S3's, or its body will show that it is.
    Sure,
    /// It may be S3's: the host must be known for answers without marks.
    Unmarked,
}

/// Why an answer is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// The status is none of this operation's.
    Status,
    /// Nothing says which object it is.
    NoETag,
    /// A page of HTML where none was stored.
    Html,
    /// A body where none belongs.
    Body,
    /// A document other than this one.
    Root(&'static str),
    /// The document is damaged or ends early.
    Malformed(&'static str),
    /// No header that services of S3 send.
    NoMark,
    /// More bytes than an answer to this operation has.
    Length(usize),
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Status => f.write_str("an unexpected status"),
            Self::NoETag => f.write_str("no ETag"),
            Self::Html => f.write_str("a web page"),
            Self::Body => f.write_str("a body where none belongs"),
            Self::Root(name) => write!(f, "no {name} document"),
            Self::Malformed(name) => write!(f, "an incomplete or damaged {name} document"),
            Self::NoMark => f.write_str("no x-amz-request-id"),
            Self::Length(length_max) => write!(f, "more than {length_max} bytes"),
        }
    }
}

impl Operation {
    /// Judges status and headers of a successful answer.
    pub(crate) fn check_head(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Belief, Doubt> {
        let has_etag = || headers.get(header::ETAG).is_some_and(|etag| !etag.is_empty());
        // What a web framework makes of any answer; that of a stored object is never weak.
        let is_weak = || headers.get(header::ETAG).is_some_and(|e| e.as_bytes().starts_with(b"W/"));
        match self.expects {
            // Some services say 201 of what is new: the `ETag` and the mark are the evidence.
            Expects::ETag if !matches!(status.as_u16(), 200 | 201) => Err(Doubt::Status),
            Expects::ETag if has_etag() && !is_weak() => Ok(of_mark(headers)),
            Expects::ETag => Err(Doubt::NoETag),
            Expects::Object if !matches!(status.as_u16(), 200 | 206) => Err(Doubt::Status),
            Expects::Object => match (has_etag(), is_html(headers)) {
                // A server of files has `ETag`s, too.
                (true, _) => Ok(of_mark(headers)),
                (false, true) => Err(Doubt::Html),
                (false, false) if headers.contains_key(header::LAST_MODIFIED) => {
                    Ok(of_mark(headers))
                }
                (false, false) => Err(Doubt::NoETag),
            },
            Expects::Document(_) if status != StatusCode::OK => Err(Doubt::Status),
            Expects::Document(_) | Expects::Anything => Ok(Belief::Sure),
            Expects::Nothing(statuses) if !statuses.contains(&status.as_u16()) => {
                Err(Doubt::Status)
            }
            Expects::Nothing(_) => Ok(of_mark(headers)),
        }
    }

    /// Judges a whole body.
    pub(crate) fn check_body(&self, body: &[u8]) -> Result<(), Doubt> {
        match (self.expects, root_name(body)) {
            (Expects::Object | Expects::Anything, _) => Ok(()),
            (Expects::Document(name), Some(root)) if is_named(root, name) => Ok(()),
            (Expects::Document(name), _) => Err(Doubt::Root(name)),
            // `CreateBucketResponse` and the like.
            (_, Some(root)) if root.starts_with(self.name.as_bytes()) => Ok(()),
            (_, None) if body.iter().all(u8::is_ascii_whitespace) => Ok(()),
            _ => Err(Doubt::Body),
        }
    }

    /// Whether a body can still become the one that is expected, or an error; `None` as long as
    /// too little of it is there.
    pub(crate) fn may_become(&self, beginning: &[u8]) -> Option<bool> {
        if beginning.len() > PROLOGUE_MAX {
            return Some(root_name(beginning).is_some());
        }
        let first = beginning.iter().find(|byte| !byte.is_ascii_whitespace())?;
        // A byte order mark may stand before the document.
        if !matches!(first, b'<' | 0xef) {
            return Some(matches!(self.expects, Expects::Object | Expects::Anything));
        }
        let root = root_name(beginning)?;
        Some(is_error_root(root) || self.check_body(beginning).is_ok())
    }

    /// Longest body of an answer, for a request about so many keys.
    pub(crate) fn body_max(&self, keys: u32) -> usize {
        match self.expects {
            Expects::ETag | Expects::Nothing(_) => EMPTY_MAX,
            Expects::Document(_) if self.is_listing() => LISTING_MAX,
            Expects::Document(_) => DOCUMENT_MAX + (keys as usize - 1) * REFUSED_KEY_MAX,
            Expects::Object | Expects::Anything => LISTING_MAX,
        }
    }
}

fn of_mark(headers: &HeaderMap) -> Belief {
    if is_marked(headers) { Belief::Sure } else { Belief::Unmarked }
}

/// Whether a header is there that only services of S3 send.
fn is_marked(headers: &HeaderMap) -> bool {
    let is_mark = |name: &str| name.starts_with("x-amz") || is_request_id(name);
    headers.contains_key(&REQUEST_ID) || headers.keys().any(|name| is_mark(name.as_str()))
}

/// Whether an answer refuses a condition and nothing in it is S3's: what stands before a server
/// refuses in this way, too. S3 has a document for it, but for HEAD.
pub(crate) fn is_foreign_refusal(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> bool {
    matches!(status, StatusCode::NOT_MODIFIED | StatusCode::PRECONDITION_FAILED)
        && !root_name(body).is_some_and(is_error_root)
        && !is_marked(headers)
}

/// Whether a header names the request, which is what a service puts on all answers or on none.
fn is_request_id(name: &str) -> bool {
    matches!(
        name,
        "x-amz-request-id"
            | "x-amz-id-2"
            | "x-amzn-requestid"
            | "x-guploader-uploadid"
            | "x-oss-request-id"
            | "x-cos-request-id"
            | "x-obs-request-id"
    )
}

fn is_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
    kind.get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}

/// What is known of the answers of a host.
#[derive(Debug)]
pub(crate) struct Dialect {
    known: AtomicU8,
    /// Held by the one request that asks the host for a document.
    asking: Semaphore,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { known: AtomicU8::new(UNHEARD), asking: Semaphore::new(1) }
    }
}

/// No answer in HTTP came yet.
const UNHEARD: u8 = 0;
/// It speaks HTTP.
const HTTP: u8 = 1;
/// All its answers name the request, as far as is known.
const MARKED: u8 = 2;
/// It answered as S3 without naming the request.
const PLAIN: u8 = 3;

impl Dialect {
    /// Whether an answer in HTTP ever came.
    pub(crate) fn was_heard(&self) -> bool {
        self.known.load(Ordering::Relaxed) != UNHEARD
    }

    /// An answer came, which need not be S3's.
    pub(crate) fn heard(&self) {
        if !self.was_heard() {
            self.known.store(HTTP, Ordering::Relaxed);
        }
    }

    /// An answer that can only be S3's had these headers: a document, or an error in one.
    pub(crate) fn learn(&self, headers: &HeaderMap) {
        let known = self.known.load(Ordering::Relaxed);
        if known == PLAIN {
            return;
        }
        let is_marked = headers.keys().any(|name| is_request_id(name.as_str()));
        let found = if is_marked { MARKED } else { PLAIN };
        if found != known {
            self.known.store(found, Ordering::Relaxed);
        }
    }

    /// The permit to ask the host for a document.
    pub(crate) fn asking(&self) -> &Semaphore {
        &self.asking
    }

    /// Whether an answer without marks may be the host's own; `None` where that is not known.
    pub(crate) fn may_be_unmarked(&self) -> Option<bool> {
        match self.known.load(Ordering::Relaxed) {
            MARKED => Some(false),
            PLAIN => Some(true),
            _ => None,
        }
    }
}

/// The error for an answer that is not believed, with what answered.
pub(crate) fn not_s3(
    endpoint: &str,
    doubt: Doubt,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    secrets: &Secrets,
) -> Error {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| shown(kind.as_bytes(), secrets));
    let kind = kind.map(|kind| format!(", {kind}")).unwrap_or_default();
    let body = match shown(body, secrets) {
        words if words.is_empty() => "no body".to_owned(),
        words => format!("body begins with `{words}`"),
    };
    let message = format!(
        "the server at {endpoint} does not answer as S3 does: {status}{kind}, {doubt}, {body}"
    );
    // A document that came in part may come whole another time.
    let kind =
        if matches!(doubt, Doubt::Malformed(_)) { ErrorKind::Server } else { ErrorKind::NotS3 };
    Error::new(kind, message)
}

/// The error for a server that answers in another protocol, with what it says first.
pub(crate) fn not_http(endpoint: &str, greeting: &[u8], secrets: &Secrets) -> Error {
    let words = match shown(greeting, secrets) {
        words if words.is_empty() => words,
        words => format!(": it says `{words}`"),
    };
    let message = format!("the server at {endpoint} does not speak HTTP/1.1{words}");
    Error::new(ErrorKind::NotS3, message)
}

/// The first words of bytes that may be anything, on one line. Secrets are taken out before the
/// text is cut, which could leave a part of one that is not recognized.
fn shown(bytes: &[u8], secrets: &Secrets) -> String {
    let text = secrets.redact(&String::from_utf8_lossy(bytes));
    let is_plain = |c: &char| !c.is_control() && !['`', char::REPLACEMENT_CHARACTER].contains(c);
    let spaced = text.split_whitespace().collect::<Vec<_>>().join(" ");
    spaced.chars().filter(is_plain).take(SHOWN_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::operation;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (http::HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        lines.iter().map(pair).collect()
    }

    fn head(
        expects: Expects,
        status: u16,
        lines: &[(&'static str, &'static str)],
    ) -> Result<Belief, Doubt> {
        let operation = Operation { expects, ..operation("TestObject") };
        operation.check_head(StatusCode::from_u16(status).unwrap(), &headers(lines))
    }

    #[test]
    fn heads_of_answers_need_evidence() {
        let (etag, html) = (("etag", "\"e\""), ("content-type", "Text/HTML; charset=utf-8"));
        let (id, modified) = (("x-amz-request-id", "1"), ("last-modified", "x"));
        let nothing = Expects::Nothing(&[204]);
        for (expects, status, lines, expected) in [
            (Expects::ETag, 200, &[etag][..], Ok(Belief::Unmarked)),
            (Expects::ETag, 200, &[etag, id], Ok(Belief::Sure)),
            (Expects::ETag, 201, &[etag, id], Ok(Belief::Sure)),
            (Expects::ETag, 201, &[id], Err(Doubt::NoETag)),
            (Expects::ETag, 202, &[etag, id], Err(Doubt::Status)),
            (Expects::ETag, 204, &[etag], Err(Doubt::Status)),
            (Expects::ETag, 200, &[id], Err(Doubt::NoETag)),
            (Expects::ETag, 200, &[("etag", "")], Err(Doubt::NoETag)),
            (Expects::Object, 200, &[etag], Ok(Belief::Unmarked)),
            (Expects::Object, 200, &[etag, id], Ok(Belief::Sure)),
            (Expects::Object, 206, &[modified], Ok(Belief::Unmarked)),
            (Expects::Object, 206, &[modified, id], Ok(Belief::Sure)),
            (Expects::Object, 200, &[id], Err(Doubt::NoETag)),
            (Expects::Object, 200, &[html, modified], Err(Doubt::Html)),
            (Expects::Object, 200, &[html, etag], Ok(Belief::Unmarked)),
            (Expects::Object, 200, &[html, etag, id], Ok(Belief::Sure)),
            (Expects::Object, 204, &[etag], Err(Doubt::Status)),
            (Expects::Document("A"), 200, &[html], Ok(Belief::Sure)),
            (Expects::Document("A"), 204, &[id], Err(Doubt::Status)),
            (nothing, 204, &[id], Ok(Belief::Sure)),
            (nothing, 204, &[("x-amzn-requestid", "1")], Ok(Belief::Sure)),
            (nothing, 204, &[("x-guploader-uploadid", "1")], Ok(Belief::Sure)),
            (nothing, 204, &[etag], Ok(Belief::Unmarked)),
            (nothing, 200, &[id], Err(Doubt::Status)),
        ] {
            assert_eq!(head(expects, status, lines), expected, "{expects:?} {status} {lines:?}");
        }
    }

    #[test]
    fn bodies_of_answers_need_evidence() {
        let body = |expects, body: &str| {
            let operation = Operation { expects, ..operation("CreateBucket") };
            (operation.check_body(body.as_bytes()).is_ok(), operation.may_become(body.as_bytes()))
        };
        let (listing, nothing) = (Expects::Document("List"), Expects::Nothing(&[200]));
        for (expects, text, expected) in [
            (listing, "<?xml version='1.0'?>\n<List xmlns='x'>", (true, Some(true))),
            (listing, "<s:List/>", (true, Some(true))),
            (listing, "<Listing/>", (false, Some(false))),
            (listing, "<Error>", (false, Some(true))),
            (listing, "", (false, None)),
            (listing, " \n<?xml ver", (false, None)),
            (listing, "noise", (false, Some(false))),
            (nothing, "", (true, None)),
            (nothing, "\r\n ", (true, None)),
            (nothing, "<CreateBucketResponse/>", (true, Some(true))),
            (nothing, "<!DOCTYPE html><html>", (false, Some(false))),
            (nothing, "ok", (false, Some(false))),
            (Expects::ETag, "{}", (false, Some(false))),
            (Expects::Object, "anything", (true, Some(true))),
        ] {
            assert_eq!(body(expects, text), expected, "{expects:?} {text}");
        }
        let blanks = " ".repeat(PROLOGUE_MAX + 1);
        assert_eq!(body(listing, &blanks).1, Some(false));
    }

    #[test]
    fn a_host_is_known_by_what_can_only_be_its_own() {
        let dialect = Dialect::default();
        assert!(!dialect.was_heard());
        dialect.heard();
        assert!(dialect.was_heard() && dialect.may_be_unmarked().is_none());
        dialect.learn(&headers(&[("x-amz-request-id", "1")]));
        dialect.heard();
        assert_eq!(dialect.may_be_unmarked(), Some(false));
        dialect.learn(&headers(&[("x-amz-version-id", "1")]));
        dialect.learn(&headers(&[("x-amz-request-id", "1")]));
        assert_eq!(dialect.may_be_unmarked(), Some(true), "a server of which not all nodes do");
    }

    #[test]
    fn roots_are_found_behind_comments_and_before_any_blank() {
        let namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
        for document in [
            format!("<ListBucketResult\txmlns=\"{namespace}\">"),
            format!("<ListBucketResult\n  xmlns=\"{namespace}\">"),
            "<?xml version=\"1.0\"?><!-- by <proxy> --><s3:ListBucketResult>".to_owned(),
            "<ListBucketResult/>".to_owned(),
        ] {
            let root = root_name(document.as_bytes());
            assert_eq!(root, Some(&b"ListBucketResult"[..]), "{document}");
        }
        assert_eq!(root_name(b"<!-- <a> "), None);
        assert_eq!(root_name(b"<Error"), None);
    }

    #[test]
    fn a_weak_etag_is_no_proof_of_a_write() {
        let weak = [("etag", "W/\"0-2jmj7l5rSw0yVb\"")];
        assert_eq!(head(Expects::ETag, 200, &weak), Err(Doubt::NoETag));
    }

    #[test]
    fn a_secret_that_is_cut_is_not_shown() {
        let secret = "0123456789abcdef".repeat(4);
        let mut secrets = Secrets::default();
        secrets.add(secret.as_bytes());
        let body = format!("{} {secret}", "x".repeat(SHOWN_MAX / 2));
        let error = not_http("h", body.as_bytes(), &secrets).to_string();
        assert!(!error.contains("0123"), "{error}");
    }

    #[test]
    fn errors_show_what_answered() {
        let none = &Secrets::default();
        let page = "<html>\r\n <head>\u{1b}[31m<title>`Log in`</title>".repeat(9);
        let page_headers = headers(&[("content-type", "text/html")]);
        let error = not_s3(
            "\"http://h/\"",
            Doubt::NoETag,
            StatusCode::OK,
            &page_headers,
            page.as_bytes(),
            none,
        );
        assert_eq!(
            error.to_string(),
            "the server at \"http://h/\" does not answer as S3 does: 200 OK, text/html, no ETag, \
             body begins with `<html> <head>[31m<title>Log in</title><html> <head>[31m<title>Log \
             in</title><htm`"
        );
        let (status, headers) = (StatusCode::NO_CONTENT, HeaderMap::new());
        let empty = not_s3("x", Doubt::NoMark, status, &headers, b"", none);
        assert!(empty.to_string().ends_with("204 No Content, no x-amz-request-id, no body"));
    }
}
