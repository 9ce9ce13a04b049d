//! Listing the objects and versions of a bucket, a page a request.

use super::build::get;
use crate::client::Client;
use crate::error::Result;
use crate::message::request::Request;
use crate::quirks;
use crate::xml::document::malformed;
use crate::xml::list_page::{ListPage, VersionPage};
use crate::xml::list_reader;

/// Input of `ListObjectsV2` and `ListObjects`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListObjects<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Only keys that start so.
    pub prefix: &'a str,
    /// Groups keys up to the next delimiter into common prefixes.
    pub delimiter: Option<&'a str>,
    /// Only keys strictly after this one (first page).
    pub start_after: Option<&'a str>,
    /// Token of the page before.
    pub continuation_token: Option<&'a str>,
    /// Keys a page, at most 1,000.
    pub max_keys: Option<u32>,
}

/// Input of `ListObjectVersions`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListVersions<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Only keys that start so.
    pub prefix: &'a str,
    /// Groups keys.
    pub delimiter: Option<&'a str>,
    /// Marker of the page before.
    pub key_marker: Option<&'a str>,
    /// Marker of the page before.
    pub version_id_marker: Option<&'a str>,
    /// Entries a page, at most 1,000.
    pub max_keys: Option<u32>,
}

impl Client {
    /// One page of `ListObjectsV2` (`encoding-type=url` always).
    pub async fn list_objects(&self, input: ListObjects<'_>) -> Result<ListPage> {
        let bucket = input.bucket;
        let page = self.list_objects_unchecked(input).await?;
        checked(page).map_err(|error| {
            error.with_operation("ListObjectsV2").with_subject(format_args!("s3://{bucket}"))
        })
    }

    /// Like [`Client::list_objects`], for callers that handle a page that does not say where the
    /// next one begins.
    pub async fn list_objects_unchecked(&self, input: ListObjects<'_>) -> Result<ListPage> {
        let request = listing(
            "ListObjectsV2",
            "ListBucketResult",
            input.bucket,
            input.prefix,
            input.delimiter,
        )
        .query("list-type", "2")
        .maybe("start-after", input.start_after)
        .maybe("continuation-token", input.continuation_token);
        let request = with_max_keys(request, input.max_keys);
        let answer = self.call(&request).await?;
        let page = list_reader::objects(&answer.body);
        let mut page = page.map_err(|_| self.damaged(&request, &answer))?;
        page.may_leave_out = quirks::may_leave_out(&answer.headers);
        Ok(page)
    }

    /// One page of `ListObjects` (version 1); `continuation_token` is the marker.
    pub async fn list_objects_v1(&self, input: ListObjects<'_>) -> Result<ListPage> {
        let request =
            listing("ListObjects", "ListBucketResult", input.bucket, input.prefix, input.delimiter)
                .maybe("marker", input.continuation_token.or(input.start_after));
        let request = with_max_keys(request, input.max_keys);
        let answer = self.call(&request).await?;
        let page = list_reader::objects(&answer.body).map(with_marker).and_then(checked);
        let mut page = page.map_err(|_| self.damaged(&request, &answer))?;
        page.may_leave_out = quirks::may_leave_out(&answer.headers);
        Ok(page)
    }

    /// One page of `ListObjectVersions`.
    pub async fn list_versions(&self, input: ListVersions<'_>) -> Result<VersionPage> {
        let request = listing(
            "ListObjectVersions",
            "ListVersionsResult",
            input.bucket,
            input.prefix,
            input.delimiter,
        )
        .query("versions", "")
        .maybe("key-marker", input.key_marker)
        .maybe("version-id-marker", input.version_id_marker);
        let request = with_max_keys(request, input.max_keys);
        let answer = self.call(&request).await?;
        let mut page =
            list_reader::versions(&answer.body).map_err(|_| self.damaged(&request, &answer))?;
        page.may_leave_out = quirks::may_leave_out(&answer.headers);
        Ok(page)
    }
}

fn listing<'a>(
    operation: &'static str,
    root: &'static str,
    bucket: &'a str,
    prefix: &'a str,
    delimiter: Option<&'a str>,
) -> Request<'a> {
    let request = get(operation, root, bucket, None)
        .query("encoding-type", "url")
        .maybe("delimiter", delimiter);
    if prefix.is_empty() { request } else { request.query("prefix", prefix) }
}

fn with_max_keys(request: Request<'_>, max_keys: Option<u32>) -> Request<'_> {
    match max_keys {
        Some(max_keys) => request.query("max-keys", max_keys.to_string()),
        None => request,
    }
}

/// Version 1 returns a marker only if a delimiter was given; else the last entry is it.
fn with_marker(mut page: ListPage) -> ListPage {
    if page.is_truncated && page.next_token.is_none() {
        let key = page.last().map(|object| object.key);
        let prefix = page.common_prefixes.last().map(String::as_str);
        page.next_token = key.max(prefix).map(str::to_owned);
    }
    page
}

/// A page that says that there is more but not where would end the listing early, unseen.
fn checked(page: ListPage) -> Result<ListPage> {
    if page.is_truncated && page.next_token.is_none() { Err(malformed()) } else { Ok(page) }
}
