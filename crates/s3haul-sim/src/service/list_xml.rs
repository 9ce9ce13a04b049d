//! `ListObjectsV2`, `ListObjects` and `ListObjectVersions` from query to XML.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use http::Uri;
use s3s::{S3Result, s3_error};

use super::SimService;
use super::access::Listing;
use super::convert::OWNER_ID;
use super::list::{self, PAGE_MAX, Page, Query, beyond, group_of};
use crate::classify::query_pairs;
use crate::store::{Entry, Listed, Step, Version};
use crate::xml::Writer;

const NAMESPACE: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";
/// Bytes set aside for one entry.
const ENTRY_BYTES: usize = 320;

/// The query of a listing, decoded.
struct Parameters {
    bucket: String,
    pairs: HashMap<String, String>,
    url: bool,
    owner: bool,
    max_keys: usize,
}

impl Parameters {
    fn read(uri: &Uri) -> S3Result<Self> {
        let path = percent_encoding::percent_decode_str(uri.path()).decode_utf8_lossy();
        let bucket = path.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned();
        let pairs: HashMap<String, String> =
            query_pairs(uri).map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let url = match pairs.get("encoding-type").map(String::as_str) {
            None | Some("") => false,
            Some("url") => true,
            Some(_) => {
                return Err(s3_error!(
                    InvalidArgument,
                    "Invalid Encoding Method specified in Request"
                ));
            }
        };
        let max_keys = match pairs.get("max-keys").filter(|text| !text.is_empty()) {
            None => PAGE_MAX,
            Some(text) => text.parse::<usize>().map(|keys| keys.min(PAGE_MAX)).map_err(|_| {
                s3_error!(
                    InvalidArgument,
                    "Provided max-keys not an integer or within integer range"
                )
            })?,
        };
        let owner = pairs.get("fetch-owner").is_some_and(|value| value == "true");
        Ok(Self { bucket, pairs, url, owner, max_keys })
    }

    fn get(&self, name: &str) -> &str {
        self.pairs.get(name).map_or("", String::as_str)
    }

    fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    fn query(&self, after: String) -> Query {
        Query {
            prefix: self.get("prefix").to_owned(),
            delimiter: self.get("delimiter").to_owned(),
            after,
            page_size: self.max_keys,
        }
    }

    /// Writes an echoed parameter, encoded where that was asked for.
    fn echo(&self, xml: &mut Writer, element: &str, name: &str) {
        xml.encoded(element, self.get(name), self.url);
    }

    fn echo_some(&self, xml: &mut Writer, element: &str, name: &str) {
        if self.has(name) {
            self.echo(xml, element, name);
        }
    }
}

/// Writes entries as XML.
struct XmlPage<'a> {
    objects: Writer,
    groups: Writer,
    parameters: &'a Parameters,
    count: u64,
}

impl<'a> XmlPage<'a> {
    fn new(parameters: &'a Parameters) -> Self {
        let objects = Writer::fragment(parameters.max_keys * ENTRY_BYTES);
        Self { objects, groups: Writer::fragment(0), parameters, count: 0 }
    }
}

fn write_owner(xml: &mut Writer) {
    xml.open("Owner");
    xml.element("ID", OWNER_ID);
    xml.element("DisplayName", "s3haul");
    xml.close("Owner");
}

fn write_etag(xml: &mut Writer, etag: &str) {
    xml.raw("<ETag>&quot;");
    xml.raw(etag);
    xml.raw("&quot;</ETag>");
}

impl Page for XmlPage<'_> {
    fn object(&mut self, key: &str, object: Listed<'_>) {
        self.count += 1;
        let xml = &mut self.objects;
        xml.open("Contents");
        xml.encoded("Key", key, self.parameters.url);
        xml.time("LastModified", object.modified_ms);
        write_etag(xml, object.etag);
        xml.number("Size", object.size);
        if self.parameters.owner {
            write_owner(xml);
        }
        xml.element("StorageClass", object.storage_class);
        xml.close("Contents");
    }

    fn group(&mut self, prefix: &str) {
        self.count += 1;
        self.groups.open("CommonPrefixes");
        self.groups.encoded("Prefix", prefix, self.parameters.url);
        self.groups.close("CommonPrefixes");
    }
}

impl SimService {
    /// Answers a listing.
    pub(super) fn list_xml(&self, listing: Listing, uri: &Uri) -> S3Result<String> {
        let mut parameters = Parameters::read(uri)?;
        self.bucket_settings(&parameters.bucket)?;
        match listing {
            Listing::ObjectsV2 => self.list_v2(&parameters),
            Listing::Objects => {
                parameters.owner = true;
                self.list_v1(&parameters)
            }
            Listing::Versions => self.list_versions(&parameters),
        }
    }

    fn list_v2(&self, parameters: &Parameters) -> S3Result<String> {
        let after = match parameters.pairs.get("continuation-token") {
            Some(token) => decode_token(token)?,
            None => parameters.get("start-after").to_owned(),
        };
        let mut page = XmlPage::new(parameters);
        let query = parameters.query(after);
        let next = list::list(self.store.as_ref(), &parameters.bucket, &query, &mut page)?;
        let mut xml = Writer::new(page.objects.len() + page.groups.len() + 1024);
        xml.raw("<ListBucketResult ");
        xml.raw(NAMESPACE);
        xml.raw(">");
        write_head(&mut xml, parameters, next.is_some());
        xml.number("KeyCount", page.count);
        if let Some(token) = parameters.pairs.get("continuation-token") {
            xml.element("ContinuationToken", token);
        }
        if let Some(next) = &next {
            xml.element("NextContinuationToken", &encode_token(next));
        }
        parameters.echo_some(&mut xml, "StartAfter", "start-after");
        Ok(finish(xml, &page, "ListBucketResult"))
    }

    fn list_v1(&self, parameters: &Parameters) -> S3Result<String> {
        let mut page = XmlPage::new(parameters);
        let query = parameters.query(parameters.get("marker").to_owned());
        let next = list::list(self.store.as_ref(), &parameters.bucket, &query, &mut page)?;
        let mut xml = Writer::new(page.objects.len() + page.groups.len() + 1024);
        xml.raw("<ListBucketResult ");
        xml.raw(NAMESPACE);
        xml.raw(">");
        write_head(&mut xml, parameters, next.is_some());
        parameters.echo(&mut xml, "Marker", "marker");
        // S3 names the next marker only where a delimiter is given.
        if let Some(next) = next.filter(|_| parameters.has("delimiter")) {
            xml.encoded("NextMarker", &next, parameters.url);
        }
        Ok(finish(xml, &page, "ListBucketResult"))
    }

    fn list_versions(&self, parameters: &Parameters) -> S3Result<String> {
        let mut page = VersionPage::new(parameters);
        let query = parameters.query(parameters.get("key-marker").to_owned());
        // With a version marker, the rest of the marker's own key comes first.
        let start = if parameters.has("version-id-marker") {
            crate::store::Seek::At(query.after.clone().into_bytes())
        } else {
            list::start(&query)
        };
        let mut visit = |entry: Entry<'_>| page.visit(&entry, &query);
        self.store.scan(&parameters.bucket, start, &mut visit)?;
        let mut xml = Writer::new(page.entries.len() + page.groups.len() + 1024);
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
        xml.raw(page.entries.text());
        xml.raw(page.groups.text());
        xml.close("ListVersionsResult");
        Ok(xml.finish())
    }
}

fn write_head(xml: &mut Writer, parameters: &Parameters, truncated: bool) {
    xml.element("Name", &parameters.bucket);
    parameters.echo(xml, "Prefix", "prefix");
    parameters.echo_some(xml, "Delimiter", "delimiter");
    xml.number("MaxKeys", parameters.max_keys as u64);
    if parameters.url {
        xml.element("EncodingType", "url");
    }
    xml.element("IsTruncated", if truncated { "true" } else { "false" });
}

fn finish(mut xml: Writer, page: &XmlPage<'_>, root: &str) -> String {
    xml.raw(page.objects.text());
    xml.raw(page.groups.text());
    xml.close(root);
    xml.finish()
}

fn encode_token(last: &str) -> String {
    BASE64.encode(format!("1/{last}"))
}

fn decode_token(token: &str) -> S3Result<String> {
    let bytes = BASE64.decode(token).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let last = text.as_deref().and_then(|text| text.strip_prefix("1/")).map(str::to_owned);
    last.ok_or_else(|| s3_error!(InvalidArgument, "The continuation token provided is incorrect"))
}

/// A page of versions.
struct VersionPage<'a> {
    entries: Writer,
    groups: Writer,
    parameters: &'a Parameters,
    count: usize,
    truncated: bool,
    /// Key and version id of the last entry.
    last: (String, String),
}

impl<'a> VersionPage<'a> {
    fn new(parameters: &'a Parameters) -> Self {
        Self {
            entries: Writer::fragment(parameters.max_keys * ENTRY_BYTES),
            groups: Writer::fragment(0),
            parameters,
            count: 0,
            truncated: false,
            last: (String::new(), String::new()),
        }
    }

    /// Whether another entry fits; notes that the page is cut where not.
    fn is_full(&mut self) -> bool {
        let full = self.count == self.parameters.max_keys;
        self.truncated = full && self.count > 0;
        full
    }

    fn visit(&mut self, entry: &Entry<'_>, query: &Query) -> Step {
        if !entry.key.starts_with(&query.prefix) {
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
        let mut skipping = is_marked && versions.iter().any(|version| version.id == marker);
        for (index, version) in versions.iter().enumerate() {
            if skipping {
                skipping = version.id != marker;
                continue;
            }
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
