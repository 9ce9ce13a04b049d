//! Pages of listings out of their XML.
//!
//! A page of 1,000 keys has 300 KB of XML, and a bucket may have a million pages. Entries that are
//! written like one of the last are read by its layout straight into the page's columns
//! (`row_layout`). All else is read by the XML reader, entry by entry, and leaves the next layout.

use memchr::{memchr, memmem};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::list_page::{ListPage, ListedObject, ListedVersion, PageBuilder, VersionPage};
use crate::error::Result;
use crate::xml::document::{Builder, Element, is_named, malformed, parse_exact_time};
use crate::xml::row_layout::{Layout, RowTemplate};

/// Layouts that are tried: entries of one page differ in storage class, or in fields that only
/// some of them have.
const LAYOUTS_MAX: usize = 4;
/// Length of an MD5.
const MD5_DIGITS: usize = 32;
/// Name of the elements that hold common prefixes.
const GROUP: &str = "CommonPrefixes";
/// Fields of an entry whose values a layout leaves open.
const ENTRY_FIELDS: [&str; 4] = ["Key", "LastModified", "ETag", "Size"];
/// The same of a group.
const GROUP_FIELDS: [&str; 1] = ["Prefix"];

/// Reads a page of `ListObjectsV2` or `ListObjects`.
pub(crate) fn objects(body: &[u8]) -> Result<ListPage> {
    let read = |url| PageReader::new(body, Decoder { url }).read();
    // What the page says of its encoding may stand after its keys.
    let url = is_in_url_encoding(body);
    read(url).or_else(|_| read(!url))
}

/// A page that is being read.
struct PageReader<'a> {
    body: &'a [u8],
    reader: Reader<&'a [u8]>,
    decode: Decoder,
    /// All but the entries and common prefixes that were read.
    document: Builder,
    rows: Rows,
    /// How the last entries are written; the latest that fitted is the first.
    layouts: Vec<Layout<'a>>,
    /// What an entry that is read by the XML reader is found to be.
    template: RowTemplate,
    /// Where the content of a field of that entry begins, as long as it is text alone.
    field: Option<usize>,
}

/// What was read of a page.
#[derive(Default)]
struct Rows {
    entries: PageBuilder,
    common_prefixes: Vec<String>,
}

impl<'a> PageReader<'a> {
    fn new(body: &'a [u8], decode: Decoder) -> Self {
        Self {
            body,
            reader: Reader::from_reader(body),
            decode,
            document: Builder::default(),
            rows: Rows { entries: PageBuilder::for_document(body.len()), ..Rows::default() },
            layouts: Vec::with_capacity(LAYOUTS_MAX),
            template: RowTemplate::default(),
            field: None,
        }
    }

    /// Reads the page; an error if its keys are in another encoding.
    fn read(mut self) -> Result<ListPage> {
        let mut start = 0;
        loop {
            let before = self.position();
            let event = self.reader.read_event().map_err(|error| malformed().with_source(error))?;
            self.note_field(&event, before);
            let (is_text, is_end) = (matches!(event, Event::Text(_)), event == Event::Eof);
            self.document.add(event)?;
            if is_end {
                break;
            }
            if self.document.depth() == 1 {
                if let Some(row) = self.document.take_child(is_row) {
                    self.row(&row, start)?;
                }
                // The reader looks for tags once it has read a text; else it can be moved.
                if !is_text {
                    self.entries_written_alike();
                    start = self.position();
                }
            }
        }
        page_of(&self.document.finish()?, &self.decode, self.rows)
    }

    /// Bytes that were read.
    fn position(&self) -> usize {
        self.body.len() - self.reader.get_ref().len()
    }

    /// Reads entries and common prefixes as long as they are written like one of the last.
    fn entries_written_alike(&mut self) {
        let Self { reader, layouts, rows, decode, .. } = self;
        let mut rest = *reader.get_ref();
        let mut at = 0;
        while let Some(layout) = layouts.get_mut(at) {
            let before = rest;
            while let Some(after) = same_again(layout, decode, rows, rest) {
                rest = after;
            }
            if rest.len() == before.len() {
                at += 1;
            } else {
                // It has just failed, so that the others come next.
                layouts.swap(0, at);
                at = 1;
            }
        }
        *reader.get_mut() = rest;
    }

    /// Notes where the values of an entry's fields lie: an event began at `before`.
    fn note_field(&mut self, event: &Event<'_>, before: usize) {
        match (event, self.document.depth()) {
            (Event::Start(start), 1) => {
                let is_prefix = start.local_name().as_ref() == GROUP.as_bytes();
                self.template = RowTemplate::new(is_prefix);
            }
            (Event::Start(_), 2) => self.field = Some(self.position()),
            (Event::Text(_) | Event::GeneralRef(_), _) => {}
            (Event::End(end), 3) => {
                let is_it = |name: &&&str| name.as_bytes() == end.local_name().as_ref();
                let Some(name) = fields(self.template.is_prefix).iter().find(is_it) else { return };
                match self.field.take() {
                    Some(start) => self.template.add(name, &self.body[start..before], start),
                    None => self.template.is_odd = true,
                }
            }
            _ => self.field = None,
        }
    }

    /// Takes an entry or common prefix that began at `start`.
    fn row(&mut self, row: &Element, start: usize) -> Result<()> {
        self.rows.push(row, &self.decode)?;
        let class = self.rows.entries.storage_class(row.text_of("StorageClass").as_bytes());
        let class = class.ok_or_else(malformed)?;
        // Of fields with one name only the first counts, which no layout knows.
        let is_repeated = |name: &&str| row.all(name).nth(1).is_some();
        self.template.is_odd |= fields(self.template.is_prefix).iter().any(is_repeated);
        let layout = Layout::of(self.body, start, self.position(), &self.template, class);
        if let Some(layout) = layout {
            self.layouts.truncate(LAYOUTS_MAX - 1);
            self.layouts.insert(0, layout);
        }
        Ok(())
    }
}

/// Reads one entry if it is written in a layout, and gives what follows it.
#[inline]
fn same_again<'a>(
    layout: &mut Layout<'a>,
    decode: &Decoder,
    Rows { entries, common_prefixes }: &mut Rows,
    rest: &'a [u8],
) -> Option<&'a [u8]> {
    let (found, rest) = layout.read(rest)?;
    if found.is_prefix {
        common_prefixes.push(decode.key(found.key)?);
        return Some(rest);
    }
    if found.is_plain {
        entries.keys.extend_from_slice(found.key);
    } else if memchr(b'&', found.key).is_none() && decode.is_text(found.key) {
        decode.append(found.key, &mut entries.keys);
    } else {
        return None;
    }
    if found.is_quoted {
        append_quoted(found.etag, &mut entries.etags);
    } else {
        entries.etags.extend_from_slice(found.etag);
    }
    entries.end(found.size, found.last_modified, found.storage_class)?;
    Some(rest)
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

/// Whether an element is an entry or common prefixes.
fn is_row(element: &Element) -> bool {
    matches!(element.name.as_str(), "Contents" | GROUP)
}

/// Names of the fields that a layout leaves open.
fn fields(is_prefix: bool) -> &'static [&'static str] {
    if is_prefix { &GROUP_FIELDS } else { &ENTRY_FIELDS }
}

impl Rows {
    /// Reads an entry or common prefixes out of their element.
    fn push(&mut self, row: &Element, decode: &Decoder) -> Result<()> {
        if row.name == GROUP {
            return decode.push_prefixes(row, &mut self.common_prefixes);
        }
        let (last_modified_s, last_modified_us) = time(row.text_of("LastModified"))?;
        let object = ListedObject {
            key: &decode.text(row.child("Key").ok_or_else(malformed)?)?,
            size: number(row.text_of("Size"))?,
            last_modified_s,
            last_modified_us,
            etag: row.text_of("ETag"),
            storage_class: row.text_of("StorageClass"),
        };
        self.entries.push(object).ok_or_else(malformed)
    }
}

/// The page of rows that were read and a document without them.
fn page_of(root: &Element, decode: &Decoder, rows: Rows) -> Result<ListPage> {
    if !is_named(root.name.as_bytes(), "ListBucketResult") || decode.url != Decoder::of(root).url {
        return Err(malformed());
    }
    let mut page = rows.entries.finish().ok_or_else(malformed)?;
    page.common_prefixes = rows.common_prefixes;
    let token = root.filled("NextContinuationToken");
    page.is_truncated = match root.text_of("IsTruncated") {
        // The token says that there is more. To take the page for the last one would make
        // `sync --delete` remove what follows.
        "" => token.is_some(),
        said => flag(said)?,
    };
    // The token of version 2 is opaque, the marker of version 1 is a key.
    page.next_token = match token {
        Some(token) => Some(token),
        None => decode.filled(root, "NextMarker")?,
    };
    let has = |name| root.child(name).is_some();
    page.is_version_1 = has("Marker") && !has("KeyCount") && !has("NextContinuationToken");
    Ok(page)
}

/// Reads a page out of its tree of elements.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn strict(body: &[u8]) -> Result<ListPage> {
    let root = Element::parse(body)?;
    let decode = Decoder::of(&root);
    let mut rows = Rows::default();
    for row in root.children.iter().filter(|child| is_row(child)) {
        rows.push(row, &decode)?;
    }
    page_of(&root, &decode, rows)
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
    let mut common_prefixes = Vec::new();
    for group in root.all(GROUP) {
        decode.push_prefixes(group, &mut common_prefixes)?;
    }
    let page = VersionPage {
        versions,
        common_prefixes,
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

    /// Whether what a text stands for is text if all keys together are.
    fn is_text(&self, text: &[u8]) -> bool {
        !self.url || std::str::from_utf8(text).is_ok()
    }

    /// Appends what a text stands for.
    fn append(&self, text: &[u8], into: &mut Vec<u8>) {
        if self.url {
            decode_url(text, into);
        } else {
            into.extend_from_slice(text);
        }
    }

    /// The key that a text without references stands for.
    fn key(&self, text: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(text).ok().filter(|text| !text.contains('&'))?;
        self.decoded(text).ok()
    }

    fn decoded(&self, text: &str) -> Result<String> {
        if !self.url {
            return Ok(text.to_owned());
        }
        let mut bytes = Vec::with_capacity(text.len());
        decode_url(text.as_bytes(), &mut bytes);
        String::from_utf8(bytes).map_err(|error| malformed().with_source(error))
    }

    /// Text of an element that holds a key.
    pub(crate) fn text(&self, element: &Element) -> Result<String> {
        self.decoded(&element.text)
    }

    /// Key in a child, unless it is empty or absent.
    pub(crate) fn filled(&self, parent: &Element, name: &str) -> Result<Option<String>> {
        let child = parent.child(name).filter(|child| !child.text.is_empty());
        child.map(|child| self.text(child)).transpose()
    }

    /// Adds the prefixes of a group, which has at least one.
    fn push_prefixes(&self, group: &Element, prefixes: &mut Vec<String>) -> Result<()> {
        group.child("Prefix").ok_or_else(malformed)?;
        for prefix in group.all("Prefix") {
            prefixes.push(self.text(prefix)?);
        }
        Ok(())
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
