//! `ListObjectsV2` and `ListObjects` from query to XML, and what all listings share.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use http::Uri;
use s3s::{S3Result, s3_error};

use super::SimService;
use super::access::Listing;
use super::convert::OWNER_ID;
use super::list::{self, KeyOrder, PAGE_MAX, Page, Query};
use crate::classify::query_pairs;
use crate::scenario::PageWeather;
use crate::store::Listed;
use crate::xml::Writer;

pub(super) const NAMESPACE: &str = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";
/// Bytes set aside for one entry.
pub(super) const ENTRY_BYTES: usize = 320;
/// Bytes set aside for what comes before the entries, without long keys.
pub(super) const HEAD_BYTES: usize = 1024;

/// The query of a listing, decoded.
pub(super) struct Parameters {
    pub(super) bucket: String,
    pairs: HashMap<String, String>,
    pub(super) url: bool,
    owner: bool,
    pub(super) max_keys: usize,
}

impl Parameters {
    pub(super) fn read(uri: &Uri) -> S3Result<Self> {
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

    pub(super) fn get(&self, name: &str) -> &str {
        self.pairs.get(name).map_or("", String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    fn query(&self, after: String) -> Query {
        Query {
            prefix: self.get("prefix").to_owned(),
            delimiter: self.get("delimiter").to_owned(),
            after,
            page_size: self.max_keys,
            order: KeyOrder::default(),
            repeats: false,
        }
    }

    /// Writes an echoed parameter, encoded where that was asked for.
    pub(super) fn echo(&self, xml: &mut Writer, element: &str, name: &str) {
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

pub(super) fn write_owner(xml: &mut Writer) {
    xml.open("Owner");
    xml.element("ID", OWNER_ID);
    xml.element("DisplayName", "s3haul");
    xml.close("Owner");
}

pub(super) fn write_etag(xml: &mut Writer, etag: &str) {
    xml.raw("<ETag>&quot;");
    xml.raw(etag);
    xml.raw("&quot;</ETag>");
}

impl Page for XmlPage<'_> {
    fn object(&mut self, key: &str, object: Listed<'_>) {
        self.count += 1;
        // In few pieces: this runs for each key of each page.
        let xml = &mut self.objects;
        xml.raw("<Contents><Key>");
        xml.text_encoded(key, self.parameters.url);
        xml.raw("</Key><LastModified>");
        xml.time_text(object.modified_ms);
        xml.raw("</LastModified><ETag>&quot;");
        xml.raw(object.etag);
        xml.raw("&quot;</ETag><Size>");
        xml.digits(object.size);
        xml.raw("</Size>");
        if self.parameters.owner {
            write_owner(xml);
        }
        xml.raw("<StorageClass>");
        xml.raw(object.storage_class);
        xml.raw("</StorageClass></Contents>");
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
    pub(super) fn list_xml(
        &self,
        listing: Listing,
        uri: &Uri,
        weather: PageWeather,
    ) -> S3Result<String> {
        let mut parameters = Parameters::read(uri)?;
        self.bucket_settings(&parameters.bucket)?;
        match listing {
            Listing::ObjectsV2 if !self.quirks.only_v1 => self.list_v2(&parameters, weather),
            Listing::ObjectsV2 | Listing::Objects => {
                parameters.owner = true;
                self.list_v1(&parameters)
            }
            Listing::Versions => self.list_versions(&parameters),
        }
    }

    /// A query with this server's quirks. A marker is a position that the client named.
    pub(super) fn query(&self, parameters: &Parameters, after: String, is_marker: bool) -> Query {
        let mut query = parameters.query(after);
        if self.quirks.folders_first {
            query.order = KeyOrder::FoldersFirst { skips_folder: is_marker };
        }
        if let Some(most) = self.quirks.page_entries_max {
            query.page_size = query.page_size.min(most);
        }
        query
    }

    fn list_v2(&self, parameters: &Parameters, weather: PageWeather) -> S3Result<String> {
        let token = parameters.pairs.get("continuation-token");
        let position = match token.filter(|token| !token.is_empty()) {
            Some(token) => Token::decode(token)?,
            None if self.quirks.ignores_start_after => Token::default(),
            None => Token { after: parameters.get("start-after").to_owned(), had_empty: false },
        };
        let mut page = XmlPage::new(parameters);
        let is_empty = self.quirks.empty_pages || weather.is_empty;
        let next = if is_empty && !position.had_empty {
            Some(Token { had_empty: true, ..position })
        } else {
            let mut query = self.query(parameters, position.after, token.is_none());
            // A page that repeats a key needs room for another, or the listing has no end.
            query.repeats = weather.repeats && token.is_some() && query.page_size > 1;
            query.page_size = shortened(query.page_size, weather.share);
            list::list(self.store.as_ref(), &parameters.bucket, &query, &mut page)?
                .map(|after| Token { after, had_empty: false })
        };
        let mut xml = Writer::new(HEAD_BYTES);
        xml.raw("<ListBucketResult ");
        xml.raw(NAMESPACE);
        xml.raw(">");
        write_head(&mut xml, parameters, next.is_some());
        xml.number("KeyCount", page.count);
        if let Some(token) = token {
            xml.element("ContinuationToken", token);
        }
        if let Some(next) = &next {
            xml.element("NextContinuationToken", &next.encode());
        }
        parameters.echo_some(&mut xml, "StartAfter", "start-after");
        Ok(finish(&xml, page.objects, &page.groups, "ListBucketResult"))
    }

    fn list_v1(&self, parameters: &Parameters) -> S3Result<String> {
        let mut page = XmlPage::new(parameters);
        let query = self.query(parameters, parameters.get("marker").to_owned(), true);
        let next = list::list(self.store.as_ref(), &parameters.bucket, &query, &mut page)?;
        let mut xml = Writer::new(HEAD_BYTES);
        xml.raw("<ListBucketResult ");
        xml.raw(NAMESPACE);
        xml.raw(">");
        write_head(&mut xml, parameters, next.is_some());
        parameters.echo(&mut xml, "Marker", "marker");
        // S3 names the next marker only where a delimiter is given.
        if let Some(next) = next.filter(|_| parameters.has("delimiter")) {
            xml.encoded("NextMarker", &next, parameters.url);
        }
        Ok(finish(&xml, page.objects, &page.groups, "ListBucketResult"))
    }
}

/// Room of a page of which only a share is filled: for two entries at least.
fn shortened(page_size: usize, share: Option<f64>) -> usize {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of at most a thousand"
    )]
    let room = |share: f64| (page_size as f64 * share) as usize;
    share.map_or(page_size, |share| room(share).max(2).min(page_size))
}

pub(super) fn write_head(xml: &mut Writer, parameters: &Parameters, truncated: bool) {
    xml.element("Name", &parameters.bucket);
    parameters.echo(xml, "Prefix", "prefix");
    parameters.echo_some(xml, "Delimiter", "delimiter");
    xml.number("MaxKeys", parameters.max_keys as u64);
    if parameters.url {
        xml.element("EncodingType", "url");
    }
    xml.element("IsTruncated", if truncated { "true" } else { "false" });
}

/// The document of a page: head, entries, groups.
pub(super) fn finish(head: &Writer, entries: Writer, groups: &Writer, root: &str) -> String {
    let mut xml = entries.behind(head);
    xml.raw(groups.text());
    xml.close(root);
    xml.finish()
}

/// Where a listing goes on.
#[derive(Debug, Default, PartialEq, Eq)]
struct Token {
    /// The last entry shown.
    after: String,
    /// Whether an empty page came before this one (a quirk).
    had_empty: bool,
}

impl Token {
    fn encode(&self) -> String {
        let version = if self.had_empty { '0' } else { '1' };
        BASE64.encode(format!("{version}/{}", self.after))
    }

    fn decode(token: &str) -> S3Result<Self> {
        let bytes = BASE64.decode(token).ok();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        match text.as_deref().and_then(|text| text.split_once('/')) {
            Some((version @ ("0" | "1"), after)) => {
                Ok(Self { after: after.to_owned(), had_empty: version == "0" })
            }
            _ => Err(s3_error!(InvalidArgument, "The continuation token provided is incorrect")),
        }
    }
}
