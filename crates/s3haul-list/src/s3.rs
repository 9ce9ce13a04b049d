//! Buckets as sources: the objects of a bucket and their versions, through the client.
//!
//! Servers differ, and what they differ in is known here: some know version 1 of the API only,
//! some answer version 2 with its documents or ignore where it should start. These are asked by
//! version 1 from then on.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use s3haul_wire::Client;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{ListObjects, ListPage, ListVersions, VersionPage};

use crate::fetch::starts_early;
use crate::page::Page;
use crate::request::{ListRequest, PAGE_SIZE};
use crate::source::{Answer, Fault, FolderNames, Query, Source};

/// Ends the names of buckets that list in no order.
const DIRECTORY_BUCKET: &str = "--x-s3";

/// The objects of a bucket.
pub fn objects(client: Client, bucket: impl Into<String>) -> Objects {
    Objects {
        client,
        bucket: bucket.into(),
        is_old: AtomicBool::new(false),
        is_new: AtomicBool::new(false),
    }
}

/// The versions and delete markers of a bucket's objects.
pub fn versions(client: Client, bucket: impl Into<String>) -> Versions {
    Versions(objects(client, bucket))
}

/// Whether a page of so many keys that is said to be the last, and began after a key, may not be:
/// for some such keys `MinIO` fills the page, but for an entry or two, and says that there is no
/// more though there is.
pub fn is_doubtful(count: usize, page_size: Option<u32>) -> bool {
    count > 0 && count >= (page_size.unwrap_or(PAGE_SIZE) as usize).div_ceil(2)
}

/// Lists the objects of a bucket, by version 2 of the API or, where that fails, by version 1.
#[derive(Debug)]
pub struct Objects {
    client: Client,
    bucket: String,
    /// Version 2 was refused, or its answers were of no use.
    is_old: AtomicBool,
    /// Version 2 was answered.
    is_new: AtomicBool,
}

/// Lists the versions of a bucket's objects.
#[derive(Debug)]
pub struct Versions(Objects);

/// Version of the API that lists objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Where a page of objects ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectCursor {
    /// Where version 2 said.
    Token(String),
    /// Where version 1 said.
    Marker(String),
}

/// Where a page of versions ended, as the server said and as its last entry is named. A server
/// does not see that entry: it may begin pages of one with it, so that nothing is left of them.
/// So cursors are equal where the markers are.
#[derive(Clone, Debug)]
pub struct VersionCursor {
    key: String,
    version_id: Option<String>,
    last: Option<(String, String)>,
}

impl PartialEq for VersionCursor {
    fn eq(&self, other: &Self) -> bool {
        (&self.key, &self.version_id) == (&other.key, &other.version_id)
    }
}

impl Objects {
    fn is_directory_bucket(&self) -> bool {
        self.bucket.ends_with(DIRECTORY_BUCKET)
    }

    /// Prefix to ask for: directory buckets want a folder.
    fn prefix<'a>(&self, prefix: &'a str) -> &'a str {
        if !self.is_directory_bucket() {
            return prefix;
        }
        &prefix[..prefix.rfind('/').map_or(0, |at| at + 1)]
    }

    /// Version for a request that follows no other. From the first key on, version 2 is as good as
    /// version 1 or better, if the server knows it.
    fn version(&self, start_after: &str) -> Version {
        let is_new = start_after.is_empty() && self.is_new.load(Ordering::Relaxed);
        if is_new || !self.is_old.load(Ordering::Relaxed) { Version::Two } else { Version::One }
    }

    async fn send(&self, query: &Query<ObjectCursor>, version: Version) -> Result<ListPage> {
        let input = ListObjects {
            bucket: &self.bucket,
            prefix: self.prefix(&query.prefix),
            delimiter: query.delimiter.as_deref(),
            max_keys: query.page_size,
            start_after: Some(query.start_after.as_str())
                .filter(|after| !after.is_empty() && query.cursor.is_none()),
            continuation_token: query.cursor.as_ref().map(|cursor| match cursor {
                ObjectCursor::Token(at) | ObjectCursor::Marker(at) => at.as_str(),
            }),
        };
        match version {
            Version::Two => self.client.list_objects_unchecked(input).await,
            Version::One => self.client.list_objects_v1(input).await,
        }
    }

    /// A page that starts after a key, by the version that the server understands.
    async fn start(&self, query: &Query<ObjectCursor>) -> Result<(ListPage, Version)> {
        let version = self.version(&query.start_after);
        let result = self.send(query, version).await;
        if version == Version::One {
            return result.map(|page| (page, version));
        }
        let refusal = match result {
            Ok(page) => {
                let is_old = is_old(&page, version);
                self.is_new.fetch_or(!is_old, Ordering::Relaxed);
                if !is_old && !starts_early(&page, &query.start_after) {
                    return Ok((page, version));
                }
                None
            }
            Err(error) if is_refusal(&error) && !self.is_new.load(Ordering::Relaxed) => Some(error),
            Err(error) => return Err(error),
        };
        self.is_old.store(true, Ordering::Relaxed);
        let result = self.send(query, Version::One).await;
        // The reason for refusing version 2 says more than that for refusing version 1.
        result
            .map(|page| (page, Version::One))
            .map_err(|error| refusal.filter(|_| is_refusal(&error)).unwrap_or(error))
    }

    /// A page that follows another, by the version of that one.
    async fn go_on(&self, query: &Query<ObjectCursor>) -> Result<(ListPage, Version)> {
        let version = match &query.cursor {
            Some(ObjectCursor::Marker(_)) => Version::One,
            _ => Version::Two,
        };
        let page = self.send(query, version).await?;
        if is_old(&page, version) {
            let message = "the server answered another version of the API than before";
            return Err(Error::new(ErrorKind::Server, message));
        }
        Ok((page, version))
    }

    async fn folders(&self, prefix: &str, after: &str, version: Version) -> Result<FolderNames> {
        let page = self.send(&Query::folders(prefix, after), version).await?;
        Ok(FolderNames::of_page(&page, page.is_truncated))
    }
}

impl Source for Objects {
    type Page = ListPage;
    type Cursor = ObjectCursor;
    type Error = Error;

    async fn page(&self, query: Query<ObjectCursor>) -> Result<Answer<ListPage, ObjectCursor>> {
        let (mut page, version) = match query.cursor {
            None => self.start(&query).await?,
            Some(_) => self.go_on(&query).await?,
        };
        let next = match (page.is_truncated, page.next_token.take()) {
            (false, _) => None,
            (true, None) => return Err(no_token()),
            (true, Some(token)) if version == Version::Two => Some(ObjectCursor::Token(token)),
            (true, Some(token)) => Some(ObjectCursor::Marker(token)),
        };
        let may_leave_out = page.may_leave_out;
        Ok(Answer { page, next, may_leave_out })
    }

    async fn folders(&self, prefix: &str, after: &str) -> Result<FolderNames> {
        Objects::folders(self, prefix, after, self.version(after)).await
    }

    fn explain(&self, error: Error, request: &ListRequest, after: &str) -> Error {
        let name = format!("s3://{}/{}", self.bucket, request.prefix);
        let subject: &dyn fmt::Display =
            if after.is_empty() { &name } else { &format_args!("{name} after `{after}`") };
        error.with_subject(subject)
    }

    fn is_unordered(&self) -> bool {
        self.is_directory_bucket()
    }

    fn is_last_doubtful(&self, page: &ListPage, page_size: Option<u32>) -> bool {
        is_doubtful(page.len(), page_size)
    }
}

impl Source for Versions {
    type Page = VersionPage;
    type Cursor = VersionCursor;
    type Error = Error;

    async fn page(
        &self,
        query: Query<VersionCursor>,
    ) -> Result<Answer<VersionPage, VersionCursor>> {
        let Objects { client, bucket, .. } = &self.0;
        let (key_marker, version_id_marker) = match &query.cursor {
            None => (query.start_after.as_str(), None),
            Some(cursor) => (cursor.key.as_str(), cursor.version_id.as_deref()),
        };
        let input = ListVersions {
            bucket,
            prefix: self.0.prefix(&query.prefix),
            delimiter: query.delimiter.as_deref(),
            key_marker: Some(key_marker).filter(|key| !key.is_empty()),
            version_id_marker,
            max_keys: query.page_size,
        };
        let mut page = client.list_versions(input).await?;
        let entry = |version: &s3haul_wire::ops::ListedVersion| {
            (version.key.clone(), version.version_id.clone())
        };
        // Some servers begin a page with the entry that the marker names.
        let repeated = query.cursor.and_then(|cursor| cursor.last);
        if repeated.is_some() && page.versions.first().map(entry) == repeated {
            page.versions.remove(0);
        }
        let next = match (page.is_truncated, page.next_key_marker.take()) {
            (false, _) => None,
            (true, None) => return Err(no_token()),
            (true, Some(key)) => Some(VersionCursor {
                key,
                version_id: page.next_version_id_marker.take(),
                last: page.versions.last().map(entry),
            }),
        };
        let may_leave_out = page.may_leave_out;
        Ok(Answer { page, next, may_leave_out })
    }

    async fn folders(&self, prefix: &str, after: &str) -> Result<FolderNames> {
        self.0.folders(prefix, after, Version::Two).await
    }

    fn explain(&self, error: Error, request: &ListRequest, after: &str) -> Error {
        self.0.explain(error, request, after)
    }

    fn is_unordered(&self) -> bool {
        self.0.is_unordered()
    }

    fn may_repeat_key(cursor: &VersionCursor) -> bool {
        cursor.version_id.is_some()
    }
}

/// Whether a page answers version 1 though version 2 was asked. One that is all is as good.
fn is_old(page: &ListPage, version: Version) -> bool {
    page.is_truncated && page.is_version_1 && version == Version::Two
}

/// Whether a server may say so that does not know version 2.
fn is_refusal(error: &Error) -> bool {
    matches!(error.code(), "NotImplemented" | "InvalidArgument" | "MethodNotAllowed")
}

fn no_token() -> Error {
    Error::new(ErrorKind::Server, "truncated listing has no continuation token")
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let is_ours = fault == Fault::Stopped;
        let kind = if is_ours { ErrorKind::Cancelled } else { ErrorKind::Server };
        Self::new(kind, fault.to_string())
    }
}

impl Page for ListPage {
    fn count(&self) -> usize {
        self.len()
    }

    fn key(&self, index: usize) -> &str {
        ListPage::key(self, index).unwrap_or_default()
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        ListPage::keys(self)
    }

    fn common_prefixes(&self) -> &[String] {
        &self.common_prefixes
    }

    fn truncate(&mut self, entries: usize, common_prefixes: usize) {
        ListPage::truncate(self, entries);
        self.common_prefixes.truncate(common_prefixes);
    }

    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.common_prefixes.retain(|name| is_wanted(name));
        ListPage::retain(self, is_wanted);
    }

    fn held_bytes(&self) -> usize {
        ListPage::held_bytes(self)
    }
}

impl Page for VersionPage {
    const HAS_REPEATS: bool = true;

    fn count(&self) -> usize {
        self.versions.len()
    }

    fn key(&self, index: usize) -> &str {
        self.versions.get(index).map_or("", |version| &version.key)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(|version| version.key.as_str())
    }

    fn common_prefixes(&self) -> &[String] {
        &self.common_prefixes
    }

    fn truncate(&mut self, entries: usize, common_prefixes: usize) {
        VersionPage::truncate(self, entries);
        self.common_prefixes.truncate(common_prefixes);
    }

    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.common_prefixes.retain(|name| is_wanted(name));
        self.versions.retain(|version| is_wanted(&version.key));
    }

    fn held_bytes(&self) -> usize {
        let texts = |version: &s3haul_wire::ops::ListedVersion| {
            version.key.len() + version.version_id.len() + version.etag.len()
        };
        let groups: usize = self.common_prefixes.iter().map(|group| group.len() + 24).sum();
        let versions: usize = self.versions.iter().map(|version| texts(version) + 160).sum();
        groups + versions
    }
}
