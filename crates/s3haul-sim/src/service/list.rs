//! Listings as pure functions over a scan: grouping by delimiter, paging, continuing.

use std::sync::Arc;

use s3s::S3Result;
use s3s::dto::ListMultipartUploadsInput;

use crate::store::{Entry, Listed, Seek, Step, Store, Upload};

/// Most entries of a page.
pub(super) const PAGE_MAX: usize = 1000;

/// What to list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pub(crate) prefix: String,
    pub(crate) delimiter: String,
    /// Keys up to and including this are left out; so is the group of keys that it names.
    pub(crate) after: String,
    pub(crate) page_size: usize,
}

/// Takes the entries of a page.
pub(crate) trait Page {
    /// An object.
    fn object(&mut self, key: &str, object: Listed<'_>);
    /// A group of keys up to a delimiter.
    fn group(&mut self, prefix: &str);
}

/// The least byte string above every string with this prefix; `None` for the empty prefix.
pub(super) fn beyond(prefix: &str) -> Option<Vec<u8>> {
    let mut bytes = prefix.as_bytes().to_vec();
    // No byte of UTF-8 is 255, so the last one can always be raised.
    *bytes.last_mut()? += 1;
    Some(bytes)
}

/// The group that a key belongs to, if any.
pub(super) fn group_of<'a>(key: &'a str, prefix: &str, delimiter: &str) -> Option<&'a str> {
    if delimiter.is_empty() {
        return None;
    }
    let at = key.get(prefix.len()..)?.find(delimiter)?;
    key.get(..prefix.len() + at + delimiter.len())
}

/// Where a listing starts: at its prefix, after its marker, or after the group its marker names.
pub(super) fn start(query: &Query) -> Seek {
    let prefix = query.prefix.as_bytes();
    if query.after.is_empty() || query.after.as_bytes() < prefix {
        return Seek::At(prefix.to_vec());
    }
    let is_group = query.after.starts_with(&query.prefix)
        && group_of(&query.after, &query.prefix, &query.delimiter) == Some(query.after.as_str());
    match beyond(&query.after).filter(|_| is_group) {
        Some(next) => Seek::At(next),
        None => Seek::After(query.after.as_bytes().to_vec()),
    }
}

/// Fills a page; gives the last entry's name where more follow.
pub(crate) fn list(
    store: &dyn Store,
    bucket: &str,
    query: &Query,
    page: &mut dyn Page,
) -> S3Result<Option<String>> {
    let mut count = 0;
    let mut last = String::new();
    let mut truncated = false;
    let mut visit = |entry: Entry<'_>| {
        if !entry.key.starts_with(&query.prefix) {
            return Step::Stop;
        }
        let Some(object) = entry.current else { return Step::Next };
        if count == query.page_size {
            truncated = count > 0;
            return Step::Stop;
        }
        count += 1;
        last.clear();
        if let Some(group) = group_of(entry.key, &query.prefix, &query.delimiter) {
            page.group(group);
            last.push_str(group);
            return beyond(group).map_or(Step::Next, Step::Jump);
        }
        page.object(entry.key, object);
        last.push_str(entry.key);
        Step::Next
    };
    store.scan(bucket, start(query), &mut visit)?;
    Ok(truncated.then_some(last))
}

/// A page of multipart uploads.
#[derive(Default)]
pub(super) struct UploadPage {
    pub(super) uploads: Vec<Arc<Upload>>,
    pub(super) prefixes: Vec<String>,
    /// Key and upload id to go on after.
    pub(super) next: Option<(String, String)>,
}

/// Fills a page of uploads, which come sorted by key and start.
pub(super) fn page_uploads(
    uploads: Vec<Arc<Upload>>,
    input: &ListMultipartUploadsInput,
    most: usize,
) -> UploadPage {
    let prefix = input.prefix.as_deref().unwrap_or_default();
    let delimiter = input.delimiter.as_deref().unwrap_or_default();
    let marker = input.key_marker.as_deref().unwrap_or_default();
    let id_marker = input.upload_id_marker.as_deref().unwrap_or_default();
    let is_before = |upload: &Upload| {
        let (key, marker) = (upload.key.as_bytes(), marker.as_bytes());
        let same = key == marker && (id_marker.is_empty() || upload.id.as_str() <= id_marker);
        key < marker || (same && !marker.is_empty())
    };
    let mut page = UploadPage::default();
    let mut last = None;
    for upload in uploads {
        if !upload.key.starts_with(prefix) || is_before(&upload) {
            continue;
        }
        let group = group_of(&upload.key, prefix, delimiter).map(str::to_owned);
        if let Some(group) = &group
            && (page.prefixes.last() == Some(group) || group == marker)
        {
            continue;
        }
        if page.uploads.len() + page.prefixes.len() == most {
            page.next = last;
            return page;
        }
        if let Some(group) = group {
            last = Some((group.clone(), String::new()));
            page.prefixes.push(group);
        } else {
            last = Some((upload.key.clone(), upload.id.clone()));
            page.uploads.push(upload);
        }
    }
    page
}
