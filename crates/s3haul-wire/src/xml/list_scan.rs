//! Pages of listings out of their XML.
//!
//! A page of 1,000 keys has 300 KB of XML, and a bucket may have a million pages. The scanner
//! jumps from one `<` to the next and copies keys and `ETag`s straight into the page's columns.
//! It understands what S3 services send, and nothing else: attributes, comments, CDATA, unknown
//! entities, repeated elements or a wrong end make it give up, and the strict reader decides. So
//! it may be fast without being clever, and both must agree (tested).

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::list_page::{ListPage, ListedObject, ListedVersion, PageBuilder, VersionPage};
use crate::error::Result;
use crate::xml::document::{Element, malformed, parse_exact_time, resolve};
use crate::xml::row_layout::{Layout, RowTemplate, Value, is_plain, leading_digits};

/// Elements inside one another that the scanner passes over.
const DEPTH_MAX: usize = 8;
/// Length of `2006-01-02T15:04:05.000Z`.
const TIME_BYTES: usize = 24;
/// Length of an MD5.
const MD5_DIGITS: usize = 32;
/// Length of one in quotes that are written as references.
const ESCAPED_ETAG_BYTES: usize = MD5_DIGITS + 12;

/// Reads a page of `ListObjectsV2` or `ListObjects`.
pub(crate) fn objects(body: &[u8]) -> Result<ListPage> {
    match Scanner::new(body).page() {
        Some(page) => Ok(page),
        None => strict(body),
    }
}

/// Position in a page, and what was read of it.
struct Scanner<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
    /// Keys are in the encoding of URLs.
    url: bool,
    entries: PageBuilder,
    page: ListPage,
    /// How the last object is written.
    layout: Option<Layout<'a>>,
}

/// What was read of one object, beside its key and `ETag`.
#[derive(Default)]
struct Entry {
    seen: u32,
    size: u64,
    last_modified: (i64, u32),
    storage_class: u32,
    template: RowTemplate,
}

/// Fields that may stand once in their parent.
mod field {
    pub(super) const KEY: u32 = 1;
    pub(super) const SIZE: u32 = 2;
    pub(super) const LAST_MODIFIED: u32 = 4;
    pub(super) const ETAG: u32 = 8;
    pub(super) const STORAGE_CLASS: u32 = 16;
    pub(super) const IS_TRUNCATED: u32 = 1;
    pub(super) const TOKEN: u32 = 2;
    pub(super) const MARKER: u32 = 4;
    pub(super) const ENCODING: u32 = 8;
    pub(super) const OF_VERSION_1: u32 = 16;
    pub(super) const OF_VERSION_2: u32 = 32;
}

/// A start tag that was passed.
struct Tag<'a> {
    name: &'a [u8],
    /// `<Name/>`.
    is_empty: bool,
}

impl<'a> Scanner<'a> {
    fn new(body: &'a [u8]) -> Self {
        let entries = PageBuilder::for_document(body.len());
        let (url, page) = (is_in_url_encoding(body), ListPage::default());
        Self { whole: body, rest: body, url, entries, page, layout: None }
    }

    /// Reads the page; `None` if it holds anything unexpected.
    fn page(mut self) -> Option<ListPage> {
        self.skip_blanks();
        if let Some(rest) = self.rest.strip_prefix(b"<?xml ") {
            self.rest = &rest[memmem::find(rest, b"?>")? + 2..];
            self.skip_blanks();
        }
        self.root()?;
        let mut seen = 0;
        loop {
            while self.same_again().is_some() {}
            let start = self.position();
            if self.at_end(b"ListBucketResult")? {
                break;
            }
            let tag = self.open()?;
            if tag.name == b"Contents" && !tag.is_empty {
                self.contents(start)?;
            } else {
                self.of_the_page(&tag, &mut seen)?;
            }
        }
        self.skip_blanks();
        let url_was_told = seen & field::ENCODING != 0;
        if !self.rest.is_empty() || (self.url && !url_was_told) {
            return None;
        }
        let mut page = self.entries.finish()?;
        page.common_prefixes = self.page.common_prefixes;
        page.is_truncated = self.page.is_truncated;
        page.next_token = self.page.next_token;
        let marks = field::OF_VERSION_1 | field::OF_VERSION_2 | field::TOKEN;
        page.is_version_1 = seen & marks == field::OF_VERSION_1;
        Some(page)
    }

    /// Passes the root's start tag, the only one that may have attributes.
    fn root(&mut self) -> Option<()> {
        let rest = self.rest.strip_prefix(b"<ListBucketResult")?;
        let end = memchr(b'>', rest)?;
        let attributes = &rest[..end];
        if !attributes.is_empty() {
            let space = attributes.strip_prefix(b" xmlns=\"http://")?.strip_suffix(b"\"")?;
            if space.iter().any(|byte| !byte.is_ascii_graphic() || matches!(byte, b'"' | b'<')) {
                return None;
            }
        }
        self.rest = &rest[end + 1..];
        Some(())
    }

    /// Reads an element that applies to the whole page.
    fn of_the_page(&mut self, tag: &Tag<'a>, seen: &mut u32) -> Option<()> {
        match tag.name {
            b"CommonPrefixes" => return self.common_prefixes(tag),
            b"IsTruncated" => {
                once(seen, field::IS_TRUNCATED)?;
                self.page.is_truncated = flag(std::str::from_utf8(self.plain(tag)?).ok()?).ok()?;
            }
            b"NextContinuationToken" => {
                once(seen, field::TOKEN)?;
                (*seen & field::MARKER == 0).then_some(())?;
                let token = String::from_utf8(self.plain(tag)?.to_vec()).ok()?;
                self.page.next_token = Some(token).filter(|token| !token.is_empty());
            }
            b"NextMarker" => {
                once(seen, field::MARKER)?;
                let marker = self.key(tag)?;
                // Which of both counts the strict reader knows.
                (*seen & field::TOKEN == 0).then_some(())?;
                self.page.next_token = Some(marker).filter(|marker| !marker.is_empty());
            }
            b"EncodingType" => {
                once(seen, field::ENCODING)?;
                self.plain(tag)?;
            }
            name => {
                *seen |= match name {
                    b"Marker" => field::OF_VERSION_1,
                    b"KeyCount" => field::OF_VERSION_2,
                    _ => 0,
                };
                self.skip(tag, 0)?;
            }
        }
        Some(())
    }

    /// Bytes before what is left.
    fn position(&self) -> usize {
        self.whole.len() - self.rest.len()
    }

    /// Reads one object if it is written like the last one.
    #[inline]
    fn same_again(&mut self) -> Option<()> {
        let (found, rest) = self.layout.as_mut()?.read(self.rest)?;
        if found.is_plain {
            self.entries.keys.extend_from_slice(found.key);
        } else {
            self.entry_key(found.key)?;
        }
        if found.is_quoted {
            append_quoted(found.etag, &mut self.entries.etags);
        } else {
            self.entries.etags.extend_from_slice(found.etag);
        }
        self.rest = rest;
        self.entries.end(found.size, found.last_modified, found.storage_class)
    }

    /// Reads one object, whose layout begins at `start`.
    fn contents(&mut self, start: usize) -> Option<()> {
        let mut entry = Entry::default();
        loop {
            let before = self.rest.len();
            // The fields in the order in which S3 sends them, each at most once a round; what is
            // not one of them as it should be goes the long way.
            if let Some(text) = self.field(b"<Key>", b"</Key>") {
                once(&mut entry.seen, field::KEY)?;
                let end = self.position() - "</Key>".len();
                entry.template.add(Value::Key, end - text.len(), end);
                self.entry_key(text)?;
            }
            if let Some(text) =
                self.field_of::<TIME_BYTES, _, _>(b"<LastModified>", b"</LastModified>")
            {
                once(&mut entry.seen, field::LAST_MODIFIED)?;
                if !text.is_empty() {
                    entry.last_modified = parse_exact_time(text)?;
                    let end = self.position() - "</LastModified>".len();
                    entry.template.add(Value::Time, end - text.len(), end);
                }
            }
            if let Some(text) = self.field_of::<ESCAPED_ETAG_BYTES, _, _>(b"<ETag>", b"</ETag>") {
                once(&mut entry.seen, field::ETAG)?;
                let end = self.position() - "</ETag>".len();
                entry.template.add_etag(text, end - text.len());
                append_etag(text, &mut self.entries.etags)?;
            }
            if let Some(rest) = strip(self.rest, b"<Size>") {
                once(&mut entry.seen, field::SIZE)?;
                let start = self.whole.len() - rest.len();
                entry.size = self.size(rest)?;
                let end = self.position() - "</Size>".len();
                entry.template.add(Value::Size, start, end);
            }
            if let Some(text) = self.class_field() {
                once(&mut entry.seen, field::STORAGE_CLASS)?;
                memchr(b'&', text).is_none().then_some(())?;
                entry.storage_class = self.entries.storage_class(text)?;
            }
            if let Some(rest) = strip(self.rest, b"</Contents>") {
                self.rest = rest;
                (entry.seen & field::KEY != 0).then_some(())?;
                let class = entry.storage_class;
                self.layout =
                    Layout::of(self.whole, start, self.position(), &entry.template, class);
                return self.entries.end(entry.size, entry.last_modified, entry.storage_class);
            }
            self.skip_blanks();
            if self.rest.len() == before {
                self.other_field()?;
            }
        }
    }

    fn entry_key(&mut self, text: &[u8]) -> Option<()> {
        if is_plain(text) {
            self.entries.keys.extend_from_slice(text);
            return Some(());
        }
        let text = unescape(text).filter(|text| !self.url || is_text(text))?;
        append_key(self.url, &text, &mut self.entries.keys);
        Some(())
    }

    /// Text of the element that is next, if it is the one between these tags: of the length that S3
    /// gives it, which is quick, or of any.
    #[inline]
    fn field_of<const LENGTH: usize, const OPEN: usize, const CLOSE: usize>(
        &mut self,
        open: &[u8; OPEN],
        close: &[u8; CLOSE],
    ) -> Option<&'a [u8]> {
        let rest = strip(self.rest, open)?;
        if let Some((text, rest)) = rest.split_first_chunk::<LENGTH>()
            && let Some(rest) = strip(rest, close)
            && lacks(text, b'<')
        {
            self.rest = rest;
            return Some(text);
        }
        self.field(open, close)
    }

    /// Passes a field that is not of interest. A field that is, in another form, is unexpected.
    fn other_field(&mut self) -> Option<()> {
        let tag = self.open()?;
        match tag.name {
            b"Key" | b"LastModified" | b"ETag" | b"Size" | b"StorageClass" => None,
            _ => self.skip(&tag, 0),
        }
    }

    /// The size in the element that is next, whose start tag is before `rest`.
    #[inline]
    fn size(&mut self, rest: &'a [u8]) -> Option<u64> {
        let (size, after) = leading_digits(rest);
        if let Some(rest) = strip(after, b"</Size>") {
            self.rest = rest;
            return Some(size);
        }
        self.field(b"<Size>", b"</Size>").and_then(digits)
    }

    /// Text of the storage class that is next, if there is one: the usual one, or any.
    #[inline]
    fn class_field(&mut self) -> Option<&'a [u8]> {
        if let Some(rest) = strip(self.rest, b"<StorageClass>STANDARD</StorageClass>") {
            self.rest = rest;
            return Some(b"STANDARD");
        }
        self.field(b"<StorageClass>", b"</StorageClass>")
    }

    /// Text of the element that is next, if it is the one between these tags.
    #[inline]
    fn field<const OPEN: usize, const CLOSE: usize>(
        &mut self,
        open: &[u8; OPEN],
        close: &[u8; CLOSE],
    ) -> Option<&'a [u8]> {
        let rest = strip(self.rest, open)?;
        let (text, rest) = rest.split_at(memchr(b'<', rest)?);
        self.rest = strip(rest, close)?;
        Some(text)
    }

    fn common_prefixes(&mut self, tag: &Tag<'a>) -> Option<()> {
        if tag.is_empty {
            return None;
        }
        let before = self.page.common_prefixes.len();
        while !self.at_end(b"CommonPrefixes")? {
            let tag = self.open()?;
            if tag.name == b"Prefix" {
                let prefix = self.key(&tag)?;
                self.page.common_prefixes.push(prefix);
            } else {
                self.skip(&tag, 0)?;
            }
        }
        (self.page.common_prefixes.len() > before).then_some(())
    }

    /// Text of an element that holds a key.
    fn key(&mut self, tag: &Tag<'a>) -> Option<String> {
        let text = self.text(tag).filter(|text| is_text(text))?;
        let mut bytes = Vec::with_capacity(text.len());
        append_key(self.url, &text, &mut bytes);
        String::from_utf8(bytes).ok()
    }

    /// Text of an element, and passes its end tag.
    fn text(&mut self, tag: &Tag<'a>) -> Option<Cow<'a, [u8]>> {
        unescape(self.raw(tag)?)
    }

    /// Text without references.
    fn plain(&mut self, tag: &Tag<'a>) -> Option<&'a [u8]> {
        let text = self.raw(tag)?;
        (memchr(b'&', text).is_none() && is_text(text)).then_some(text)
    }

    /// Text as it stands.
    fn raw(&mut self, tag: &Tag<'a>) -> Option<&'a [u8]> {
        if tag.is_empty {
            return Some(b"");
        }
        let (text, rest) = self.rest.split_at(memchr(b'<', self.rest)?);
        let rest = rest.strip_prefix(b"</")?.strip_prefix(tag.name)?;
        self.rest = rest.strip_prefix(b">")?;
        Some(text)
    }

    /// Passes an element that is not of interest, with all that is in it.
    fn skip(&mut self, tag: &Tag<'a>, depth: usize) -> Option<()> {
        if tag.is_empty {
            return Some(());
        }
        loop {
            let (text, rest) = self.rest.split_at(memchr(b'<', self.rest)?);
            // What means nothing here has to be right all the same.
            unescape(text).filter(|text| is_text(text))?;
            self.rest = rest;
            if self.at_end(tag.name)? {
                return Some(());
            }
            let inner = self.open()?;
            if depth == DEPTH_MAX {
                return None;
            }
            self.skip(&inner, depth + 1)?;
        }
    }

    /// Skips blanks, and the end tag of an element if it is next; returns whether it was.
    fn at_end(&mut self, name: &[u8]) -> Option<bool> {
        self.skip_blanks();
        let Some(rest) = self.rest.strip_prefix(b"</") else { return Some(false) };
        self.rest = rest.strip_prefix(name)?.strip_prefix(b">")?;
        Some(true)
    }

    /// Passes a start tag without attributes.
    fn open(&mut self) -> Option<Tag<'a>> {
        let rest = self.rest.strip_prefix(b"<")?;
        let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
        let (name, rest) = rest.split_at(length);
        let is_empty = rest.starts_with(b"/>");
        self.rest = rest.strip_prefix(if is_empty { &b"/>"[..] } else { b">" })?;
        (!name.is_empty()).then_some(Tag { name, is_empty })
    }

    fn skip_blanks(&mut self) {
        while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }
}

/// What follows a tag, if it is the one. The length is part of the type, so that the comparison
/// is a few instructions and no call.
#[inline]
fn strip<'a, const LENGTH: usize>(rest: &'a [u8], tag: &[u8; LENGTH]) -> Option<&'a [u8]> {
    let (first, rest) = rest.split_first_chunk::<LENGTH>()?;
    (first == tag).then_some(rest)
}

/// Whether the keys of a page are in the encoding of URLs. The element that says so may stand
/// before or after the keys, and is looked for there first.
fn is_in_url_encoding(page: &[u8]) -> bool {
    /// Bytes before and after the keys.
    const ENDS: usize = 1024;
    let finder = memmem::Finder::new(b"<EncodingType>url</EncodingType>");
    let is_in = |part: &[u8]| finder.find(part).is_some();
    let (first, last) = (page.len().min(ENDS), page.len().saturating_sub(ENDS));
    is_in(&page[..first]) || is_in(&page[last..]) || is_in(page)
}

/// Notes a field; `None` if it was there already.
fn once(seen: &mut u32, field: u32) -> Option<()> {
    let first = *seen & field == 0;
    *seen |= field;
    first.then_some(())
}

/// Whether bytes are UTF-8. Those of keys that are not encoded are looked at all together.
fn is_text(text: &[u8]) -> bool {
    text.is_ascii() || std::str::from_utf8(text).is_ok()
}

/// Appends a key as it is meant.
fn append_key(url: bool, text: &[u8], into: &mut Vec<u8>) {
    if url {
        decode_url(text, into);
    } else {
        into.extend_from_slice(text);
    }
}

/// Appends an `ETag`, whose quotes are escaped by most services.
#[inline]
fn append_etag(text: &[u8], into: &mut Vec<u8>) -> Option<()> {
    let inner = text.strip_prefix(b"&quot;").and_then(|text| text.strip_suffix(b"&quot;"));
    match inner {
        Some(inner) if memchr(b'&', inner).is_none() => append_quoted(inner, into),
        _ => into.extend_from_slice(&unescape(text)?),
    }
    Some(())
}

/// Appends what stood within quotes.
#[inline]
fn append_quoted(inner: &[u8], into: &mut Vec<u8>) {
    if let Ok(inner) = <&[u8; MD5_DIGITS]>::try_from(inner) {
        let mut quoted = [b'"'; MD5_DIGITS + 2];
        quoted[1..=MD5_DIGITS].copy_from_slice(inner);
        into.extend_from_slice(&quoted);
        return;
    }
    into.push(b'"');
    into.extend_from_slice(inner);
    into.push(b'"');
}

/// Whether a byte is not in a text. Of a fixed length, so that it takes no loop.
#[inline]
fn lacks<const LENGTH: usize>(text: &[u8; LENGTH], byte: u8) -> bool {
    text.iter().fold(0, |any, other| any | u8::from(*other == byte)) == 0
}

/// Resolves references; `None` if one is not known.
fn unescape(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let Some(mut at) = memchr(b'&', text) else { return Some(Cow::Borrowed(text)) };
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let (name, after) = rest.split_at(memchr(b';', rest)?);
        let character = resolve(std::str::from_utf8(name).ok()?)?;
        plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &after[1..];
        let Some(next) = memchr(b'&', rest) else { break };
        at = next;
    }
    plain.extend_from_slice(rest);
    Some(Cow::Owned(plain))
}

/// A number of digits only; 0 for none.
fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// A page as both readers read it.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn both(body: &[u8]) -> (Option<ListPage>, Result<ListPage>) {
    (Scanner::new(body).page(), strict(body))
}

/// Reads a page with the strict reader.
fn strict(body: &[u8]) -> Result<ListPage> {
    let root = Element::parse_as(body, "ListBucketResult")?;
    let decode = Decoder::of(&root);
    let mut entries = PageBuilder::for_document(body.len());
    for entry in root.all("Contents") {
        let (last_modified_s, last_modified_us) = time(entry.text_of("LastModified"))?;
        let object = ListedObject {
            key: &decode.text(entry.child("Key").ok_or_else(malformed)?)?,
            size: number(entry.text_of("Size"))?,
            last_modified_s,
            last_modified_us,
            etag: entry.text_of("ETag"),
            storage_class: entry.text_of("StorageClass"),
        };
        entries.push(object).ok_or_else(malformed)?;
    }
    let mut page = entries.finish().ok_or_else(malformed)?;
    page.common_prefixes = decode.common_prefixes(&root)?;
    page.is_truncated = flag(root.text_of("IsTruncated"))?;
    // The token of version 2 is opaque, the marker of version 1 is a key.
    page.next_token = match root.filled("NextContinuationToken") {
        Some(token) => Some(token),
        None => decode.filled(&root, "NextMarker")?,
    };
    let has = |name| root.child(name).is_some();
    page.is_version_1 = has("Marker") && !has("KeyCount") && !has("NextContinuationToken");
    Ok(page)
}

/// Reads a page of `ListObjectVersions`: versions and delete markers stay in the server's order.
pub(crate) fn versions(body: &[u8]) -> Result<VersionPage> {
    let root = Element::parse_as(body, "ListVersionsResult")?;
    let decode = Decoder::of(&root);
    let mut versions = Vec::with_capacity(root.children.len());
    for entry in &root.children {
        let is_delete_marker = match entry.name.as_str() {
            "Version" => false,
            "DeleteMarker" => true,
            _ => continue,
        };
        let (last_modified_s, last_modified_us) = time(entry.text_of("LastModified"))?;
        versions.push(ListedVersion {
            key: decode.text(entry.child("Key").ok_or_else(malformed)?)?,
            version_id: entry.text_of("VersionId").to_owned(),
            is_latest: flag(entry.text_of("IsLatest"))?,
            is_delete_marker,
            size: number(entry.text_of("Size"))?,
            last_modified_s,
            last_modified_us,
            etag: entry.text_of("ETag").to_owned(),
            storage_class: entry.text_of("StorageClass").to_owned(),
        });
    }
    let page = VersionPage {
        versions,
        common_prefixes: decode.common_prefixes(&root)?,
        is_truncated: flag(root.text_of("IsTruncated"))?,
        next_key_marker: decode.filled(&root, "NextKeyMarker")?,
        next_version_id_marker: root.filled("NextVersionIdMarker"),
        may_leave_out: false,
    };
    if page.is_truncated && page.next_key_marker.is_none() { Err(malformed()) } else { Ok(page) }
}

/// Undoes `encoding-type=url` where the server says that it did it.
pub(crate) struct Decoder {
    url: bool,
}

impl Decoder {
    pub(crate) fn of(root: &Element) -> Self {
        Self { url: root.text_of("EncodingType") == "url" }
    }

    /// Text of an element that holds a key.
    pub(crate) fn text(&self, element: &Element) -> Result<String> {
        if !self.url {
            return Ok(element.text.clone());
        }
        let mut bytes = Vec::with_capacity(element.text.len());
        decode_url(element.text.as_bytes(), &mut bytes);
        String::from_utf8(bytes).map_err(|error| malformed().with_source(error))
    }

    /// Key in a child, unless it is empty or absent.
    pub(crate) fn filled(&self, parent: &Element, name: &str) -> Result<Option<String>> {
        let child = parent.child(name).filter(|child| !child.text.is_empty());
        child.map(|child| self.text(child)).transpose()
    }

    fn common_prefixes(&self, root: &Element) -> Result<Vec<String>> {
        let mut prefixes = Vec::new();
        for group in root.all("CommonPrefixes") {
            let before = prefixes.len();
            for prefix in group.all("Prefix") {
                prefixes.push(self.text(prefix)?);
            }
            if prefixes.len() == before {
                return Err(malformed());
            }
        }
        Ok(prefixes)
    }
}

/// Appends what a text of `encoding-type=url` stands for: `+` is a blank, `%XX` a byte. A `%`
/// without two digits stands for itself.
pub(crate) fn decode_url(text: &[u8], into: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'%', b'+', rest) {
        into.extend_from_slice(&rest[..at]);
        let digit = |index: usize| char::from(*rest.get(at + index)?).to_digit(16);
        let step = match (rest[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                into.push(u8::try_from(high * 16 + low).expect("two hexadecimal digits"));
                3
            }
            (b'+', ..) => {
                into.push(b' ');
                1
            }
            _ => {
                into.push(b'%');
                1
            }
        };
        rest = &rest[at + step..];
    }
    into.extend_from_slice(rest);
}

fn number(text: &str) -> Result<u64> {
    if text.is_empty() { Ok(0) } else { text.parse().map_err(|_| malformed()) }
}

fn time(text: &str) -> Result<(i64, u32)> {
    if text.is_empty() {
        Ok((0, 0))
    } else {
        parse_exact_time(text.as_bytes()).ok_or_else(malformed)
    }
}

fn flag(text: &str) -> Result<bool> {
    match text {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        _ => Err(malformed()),
    }
}

#[cfg(test)]
mod tests;
