//! Buckets.

use bytes::Bytes;
use http::Method;

use super::build::{delete, get, put, quick};
use crate::client::Client;
use crate::error::Result;
use crate::message::headers::{self, Headers};
use crate::message::payload::Payload;
use crate::message::request::{Expects, Request};
use crate::xml::document::{Element, Writer, malformed, parse_time};

/// A bucket of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Name.
    pub name: String,
    /// Creation in seconds since 1970.
    pub created_s: i64,
    /// Region, if the server returns it.
    pub region: Option<String>,
}

/// Input of `ListBuckets`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListBuckets<'a> {
    /// Only names that start so.
    pub prefix: Option<&'a str>,
    /// Only buckets of this region.
    pub region: Option<&'a str>,
}

/// Input of `CreateBucket`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CreateBucket<'a> {
    /// Name.
    pub bucket: &'a str,
    /// Tags (`mb --tags`).
    pub tags: &'a [(String, String)],
    /// Objects can be locked, which takes versioning and cannot be undone.
    pub object_lock: bool,
}

/// Whether a bucket keeps what is replaced and removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versioning {
    /// It never did.
    #[default]
    Off,
    /// It does.
    Enabled,
    /// It did, and has those versions still.
    Suspended,
}

/// A bucket's website: what is served for folders, and what for errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Website {
    /// Name that is added to addresses that end in `/`.
    pub index_document: Option<String>,
    /// Key of the object that is served for errors.
    pub error_document: Option<String>,
}

/// Buckets a page of `ListBuckets`.
const BUCKETS_PER_PAGE: &str = "1000";
/// Where buckets without a location constraint live.
const DEFAULT_REGION: &str = "us-east-1";

impl Client {
    /// All buckets (all pages).
    pub async fn list_buckets(&self, input: ListBuckets<'_>) -> Result<Vec<Bucket>> {
        let mut buckets = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let mut request = get("ListBuckets", "ListAllMyBucketsResult", "", None)
                .query("max-buckets", BUCKETS_PER_PAGE)
                .maybe("prefix", input.prefix)
                .maybe("bucket-region", input.region)
                .maybe("continuation-token", token.as_deref());
            request.bucket = None;
            let answer = self.call(&request).await?;
            let root = self.document(&request, &answer)?;
            read_buckets(&root, &mut buckets).map_err(|_| self.damaged(&request, &answer))?;
            let next = root.filled("ContinuationToken");
            // The same token again would be an endless loop.
            if next.is_none() || next == token {
                return Ok(buckets);
            }
            token = next;
        }
    }

    /// Creates a bucket in the client's region.
    pub async fn create_bucket(&self, input: CreateBucket<'_>) -> Result<()> {
        let region = self.config().endpoint.region.as_deref().unwrap_or(DEFAULT_REGION);
        let mut request = Request::new(
            quick("CreateBucket", Expects::Nothing(&[200, 201])),
            Method::PUT,
            input.bucket,
            None,
        );
        if input.object_lock {
            let mut headers = Headers::with_capacity(1);
            headers.fixed(&headers::BUCKET_OBJECT_LOCK, "true");
            request = request.headers(headers);
        }
        request.region_override = Some(region);
        request.payload = Payload::from_bytes(bucket_configuration(region, input.tags));
        self.call(&request).await.map(drop)
    }

    /// Removes an empty bucket.
    pub async fn delete_bucket(&self, bucket: &str) -> Result<()> {
        let request = delete("DeleteBucket", bucket, None);
        self.call(&request).await.map(drop)
    }

    /// Checks that a bucket exists and may be used; returns its region if the server names it.
    pub async fn head_bucket(&self, bucket: &str) -> Result<Option<String>> {
        let request =
            Request::new(quick("HeadBucket", Expects::Nothing(&[200])), Method::HEAD, bucket, None);
        let answer = self.call(&request).await?;
        Ok(headers::text(&answer.headers, &headers::BUCKET_REGION))
    }

    /// Sets a bucket's website; redirects and routing rules that it had are gone.
    pub async fn put_bucket_website(&self, bucket: &str, website: &Website) -> Result<()> {
        let payload = Payload::from_bytes(website_configuration(website));
        let request =
            put("PutBucketWebsite", bucket, None).query("website", "").payload(payload, None);
        self.call(&request).await.map(drop)
    }

    /// A bucket's website.
    pub async fn get_bucket_website(&self, bucket: &str) -> Result<Website> {
        let request = get("GetBucketWebsite", WEBSITE, bucket, None).query("website", "");
        let answer = self.call(&request).await?;
        let root = self.document(&request, &answer)?;
        let inner = |element, name| root.child(element).and_then(|found| found.filled(name));
        Ok(Website {
            index_document: inner("IndexDocument", "Suffix"),
            error_document: inner("ErrorDocument", "Key"),
        })
    }

    /// Whether a bucket has versions.
    pub async fn get_bucket_versioning(&self, bucket: &str) -> Result<Versioning> {
        let request = get("GetBucketVersioning", "VersioningConfiguration", bucket, None)
            .query("versioning", "");
        let answer = self.call(&request).await?;
        let root = self.document(&request, &answer)?;
        Ok(match root.text_of("Status") {
            "Enabled" => Versioning::Enabled,
            "Suspended" => Versioning::Suspended,
            _ => Versioning::Off,
        })
    }

    /// Has a bucket keep what is replaced and removed from now on, or not any more.
    pub async fn put_bucket_versioning(&self, bucket: &str, is_enabled: bool) -> Result<()> {
        let mut writer = Writer::new("VersioningConfiguration", 128);
        writer.text("Status", if is_enabled { "Enabled" } else { "Suspended" });
        let payload = Payload::from_bytes(writer.finish("VersioningConfiguration"));
        let request =
            put("PutBucketVersioning", bucket, None).query("versioning", "").payload(payload, None);
        self.call(&request).await.map(drop)
    }

    /// Region of a bucket.
    pub async fn get_bucket_location(&self, bucket: &str) -> Result<String> {
        let request = Request::location(bucket);
        let answer = self.call(&request).await?;
        let root = self.document(&request, &answer)?;
        Ok(match root.text.trim() {
            "" => DEFAULT_REGION,
            "EU" => "eu-west-1",
            region => region,
        }
        .to_owned())
    }
}

pub(super) fn read_buckets(root: &Element, into: &mut Vec<Bucket>) -> Result<()> {
    let Some(list) = root.child("Buckets") else { return Ok(()) };
    for bucket in list.all("Bucket") {
        let created_s = parse_time(bucket.text_of("CreationDate").as_bytes());
        into.push(Bucket {
            name: bucket.filled("Name").ok_or_else(malformed)?,
            created_s: created_s.ok_or_else(malformed)?,
            region: bucket.filled("BucketRegion"),
        });
    }
    Ok(())
}

/// Root of the document of a website.
const WEBSITE: &str = "WebsiteConfiguration";

/// Body of `PutBucketWebsite`.
fn website_configuration(website: &Website) -> Bytes {
    let mut writer = Writer::new(WEBSITE, 128);
    for (element, name, value) in [
        ("IndexDocument", "Suffix", &website.index_document),
        ("ErrorDocument", "Key", &website.error_document),
    ] {
        if let Some(value) = value {
            writer.open(element);
            writer.text(name, value);
            writer.close(element);
        }
    }
    writer.finish(WEBSITE)
}

/// Body of `CreateBucket`; none where there is nothing to say.
fn bucket_configuration(region: &str, tags: &[(String, String)]) -> Bytes {
    const ROOT: &str = "CreateBucketConfiguration";
    if region == DEFAULT_REGION && tags.is_empty() {
        return Bytes::new();
    }
    let mut writer = Writer::new(ROOT, 64 * (tags.len() + 1));
    if region != DEFAULT_REGION {
        writer.text("LocationConstraint", region);
    }
    if !tags.is_empty() {
        writer.open("Tags");
        writer.tags(tags);
        writer.close("Tags");
    }
    writer.finish(ROOT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_website_is_written_as_the_aws_tools_write_it() {
        let website =
            Website { index_document: Some("i.html".into()), error_document: Some("e&<".into()) };
        assert_eq!(
            website_configuration(&website),
            "<WebsiteConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <IndexDocument><Suffix>i.html</Suffix></IndexDocument>\
             <ErrorDocument><Key>e&amp;&lt;</Key></ErrorDocument></WebsiteConfiguration>"
        );
    }

    #[test]
    fn the_default_region_is_not_sent() {
        assert!(bucket_configuration(DEFAULT_REGION, &[]).is_empty());
        let tags = [("a".to_owned(), "<b>".to_owned())];
        assert_eq!(
            bucket_configuration("eu-west-1", &tags),
            "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <LocationConstraint>eu-west-1</LocationConstraint>\
             <Tags><Tag><Key>a</Key><Value>&lt;b&gt;</Value></Tag></Tags>\
             </CreateBucketConfiguration>"
        );
    }
}
