//! `ListObjectVersions` from query to XML.

use s3s::{S3Result, s3_error};

use super::SimService;
use super::list::{self, Query, beyond, group_of};
use super::list_xml::{
    ENTRY_BYTES, HEAD_BYTES, NAMESPACE, Parameters, finish, write_etag, write_head, write_owner,
};
use crate::store::{Entry, Listed, Seek, Step, Version};
use crate::xml::Writer;

impl SimService {
    /// Answers `ListObjectVersions`.
    pub(super) fn list_versions(&self, parameters: &Parameters) -> S3Result<String> {
        if parameters.has("version-id-marker") && !parameters.has("key-marker") {
            return Err(s3_error!(
                InvalidArgument,
                "A version-id marker cannot be specified without a key marker."
            ));
        }
        let query = self.query(parameters, parameters.get("key-marker").to_owned(), true);
        let mut page = VersionPage::new(parameters, query.page_size);
        // With a version marker, the rest of the marker's own key comes first.
        let start = if parameters.has("version-id-marker") {
            Seek::At(query.after.clone().into_bytes())
        } else {
            list::start(&query)
        };
        let mut visit = |entry: Entry<'_>| page.visit(&entry, &query);
        self.store.scan(&parameters.bucket, start, &mut visit)?;
        let mut xml = Writer::new(HEAD_BYTES);
        xml.raw("<ListVersionsResult ");
        xml.raw(NAMESPACE);
        xml.raw(">");
        write_head(&mut xml, parameters, page.truncated);
        parameters.echo(&mut xml, "KeyMarker", "key-marker");
        parameters.echo(&mut xml, "VersionIdMarker", "version-id-marker");
        if page.truncated {
            xml.encoded("NextKeyMarker", &page.last.0, parameters.url);
            if !page.last.1.is_empty() {
                xml.element("NextVersionIdMarker", &page.last.1);
            }
        }
        Ok(finish(&xml, page.entries, &page.groups, "ListVersionsResult"))
    }
}

/// A page of versions.
struct VersionPage<'a> {
    entries: Writer,
    groups: Writer,
    parameters: &'a Parameters,
    page_size: usize,
    count: usize,
    truncated: bool,
    /// Key and version id of the last entry.
    last: (String, String),
}

impl<'a> VersionPage<'a> {
    fn new(parameters: &'a Parameters, page_size: usize) -> Self {
        Self {
            entries: Writer::fragment(page_size * ENTRY_BYTES),
            groups: Writer::fragment(0),
            parameters,
            page_size,
            count: 0,
            truncated: false,
            last: (String::new(), String::new()),
        }
    }

    /// Whether another entry fits; notes that the page is cut where not.
    fn is_full(&mut self) -> bool {
        let full = self.count == self.page_size;
        self.truncated = full && self.count > 0;
        full
    }

    fn visit(&mut self, entry: &Entry<'_>, query: &Query) -> Step {
        if !query.holds(entry.key) {
            // Only a version marker starts a scan below the prefix.
            let is_below = entry.key.as_bytes() < query.prefix.as_bytes();
            return if is_below {
                Step::Jump(query.prefix.clone().into_bytes())
            } else {
                Step::Stop
            };
        }
        if let Some(group) = group_of(entry.key, &query.prefix, &query.delimiter) {
            if self.is_full() {
                return Step::Stop;
            }
            self.count += 1;
            self.groups.open("CommonPrefixes");
            self.groups.encoded("Prefix", group, self.parameters.url);
            self.groups.close("CommonPrefixes");
            self.last = (group.to_owned(), String::new());
            return beyond(group).map_or(Step::Next, Step::Jump);
        }
        let computed;
        let versions: Vec<&Version> =
            if let Some(object) = entry.current.filter(|_| entry.versions.is_empty()) {
                computed = computed_version(object);
                vec![&computed]
            } else {
                entry.versions.iter().map(AsRef::as_ref).collect()
            };
        self.visit_versions(entry.key, &versions)
    }

    fn visit_versions(&mut self, key: &str, versions: &[&Version]) -> Step {
        let marker = self.parameters.get("version-id-marker");
        let is_marked = !marker.is_empty() && key == self.parameters.get("key-marker");
        let skipped = if is_marked { up_to_marker(versions, marker) } else { 0 };
        for (index, version) in versions.iter().enumerate().skip(skipped) {
            if self.is_full() {
                return Step::Stop;
            }
            self.count += 1;
            self.write_version(key, version, index == 0);
            self.last = (key.to_owned(), version.id.clone());
        }
        Step::Next
    }

    fn write_version(&mut self, key: &str, version: &Version, is_latest: bool) {
        let xml = &mut self.entries;
        let element = if version.delete_marker { "DeleteMarker" } else { "Version" };
        xml.open(element);
        xml.encoded("Key", key, self.parameters.url);
        xml.element("VersionId", &version.id);
        xml.element("IsLatest", if is_latest { "true" } else { "false" });
        xml.time("LastModified", version.modified_ms);
        if !version.delete_marker {
            write_etag(xml, &version.etag);
            xml.number("Size", version.size);
            xml.element("StorageClass", version.shown_storage_class());
        }
        write_owner(xml);
        xml.close(element);
    }
}

fn computed_version(object: Listed<'_>) -> Version {
    Version {
        id: "null".to_owned(),
        size: object.size,
        modified_ms: object.modified_ms,
        etag: object.etag.to_owned(),
        ..Version::default()
    }
}

/// Number of versions that come before the rest of a listing, which goes on after a version. That
/// may be gone: then it goes on with what is not newer, by the time that ids begin with.
fn up_to_marker(versions: &[&Version], marker: &str) -> usize {
    if let Some(at) = versions.iter().position(|version| version.id == marker) {
        return at + 1;
    }
    let marked_ms = marker.get(..12).and_then(|ms| i64::from_str_radix(ms, 16).ok());
    let is_newer = |version: &&&Version| marked_ms.is_some_and(|ms| version.modified_ms > ms);
    versions.iter().take_while(is_newer).count()
}
