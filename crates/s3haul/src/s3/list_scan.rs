//! Pages of listings out of their XML.

use super::ops::{ListPage, ListedObject, ListedVersion, VersionPage};
use super::xml::{Element, malformed, parse_time};
use crate::error::Result;

/// Reads a page of ListObjectsV2 or ListObjects.
pub(crate) fn objects(body: &[u8]) -> Result<ListPage> {
    strict(body)
}

/// Reads a page with the strict reader.
fn strict(body: &[u8]) -> Result<ListPage> {
    let root = Element::parse_as(body, "ListBucketResult")?;
    let decode = Decoder::of(&root);
    let mut page = ListPage::default();
    for entry in root.all("Contents") {
        page.push(ListedObject {
            key: &decode.text(entry.child("Key").ok_or_else(malformed)?)?,
            size: number(entry.text_of("Size"))?,
            last_modified_s: time(entry.text_of("LastModified"))?,
            etag: entry.text_of("ETag"),
            storage_class: entry.text_of("StorageClass"),
        })?;
    }
    page.common_prefixes = decode.common_prefixes(&root)?;
    page.is_truncated = flag(root.text_of("IsTruncated"))?;
    // The token of version 2 is opaque, the marker of version 1 is a key.
    page.next_token = match root.filled("NextContinuationToken") {
        Some(token) => Some(token),
        None => decode.filled(&root, "NextMarker")?,
    };
    Ok(page)
}

/// Reads a page of ListObjectVersions: versions and delete markers stay in the server's order.
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
        versions.push(ListedVersion {
            key: decode.text(entry.child("Key").ok_or_else(malformed)?)?,
            version_id: entry.text_of("VersionId").to_owned(),
            is_latest: flag(entry.text_of("IsLatest"))?,
            is_delete_marker,
            size: number(entry.text_of("Size"))?,
            last_modified_s: time(entry.text_of("LastModified"))?,
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
        let prefix = |entry: &Element| self.text(entry.child("Prefix").ok_or_else(malformed)?);
        root.all("CommonPrefixes").map(prefix).collect()
    }
}

/// Appends what a text of `encoding-type=url` stands for: `+` is a blank, `%XX` a byte. A `%`
/// without two digits stands for itself.
fn decode_url(text: &[u8], into: &mut Vec<u8>) {
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

fn time(text: &str) -> Result<i64> {
    if text.is_empty() { Ok(0) } else { parse_time(text.as_bytes()).ok_or_else(malformed) }
}

fn flag(text: &str) -> Result<bool> {
    match text {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        _ => Err(malformed()),
    }
}
