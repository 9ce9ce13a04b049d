//! Where probes work: a bucket that is made for them, or a prefix in one that is there. Knows what
//! was written, and removes it without relying on listings.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use s3haul_wire::ops::{CreateBucket, DeleteObject, ListObjects, ListVersions, Versioning};
use s3haul_wire::{Client, Error, ErrorKind, Result};

/// Requests of the clearing up at once.
const REQUESTS_AT_ONCE: usize = 16;
/// Pages that are read to find what is left.
const PAGES_MAX: usize = 20;
/// How often listings are asked for what is left.
const ROUNDS_MAX: u32 = 3;
/// Longest time that the clearing up takes.
const CLEARING_MAX: Duration = Duration::from_secs(30);

/// A bucket or a prefix for probes.
pub struct Ground {
    pub(super) client: Client,
    pub(super) bucket: String,
    pub(super) prefix: String,
    is_own: bool,
    traces: Mutex<Traces>,
}

/// What has to be removed.
#[derive(Default)]
struct Traces {
    keys: BTreeSet<String>,
    /// Keys and upload ids.
    uploads: BTreeSet<(String, String)>,
    /// The bucket was asked for, or its versioning was looked at.
    is_open: bool,
    has_versions: bool,
}

impl Ground {
    /// A bucket to be made, or a prefix below the given one (bucket and key). No request is sent
    /// yet.
    pub fn new(client: Client, place: Option<(String, String)>) -> Self {
        let name = format!("s3haul-check-{:016x}", fastrand::u64(..));
        let is_own = place.is_none();
        let (bucket, prefix) = match place {
            None => (name, String::new()),
            Some((bucket, folder)) if folder.is_empty() || folder.ends_with('/') => {
                (bucket, format!("{folder}{name}/"))
            }
            Some((bucket, folder)) => (bucket, format!("{folder}/{name}/")),
        };
        Self { client, bucket, prefix, is_own, traces: Mutex::default() }
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.prefix)
    }

    /// Whether the bucket is made for the probes.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Makes the bucket, or looks whether the named one is there.
    pub async fn open(&self) -> Result<()> {
        if self.is_own {
            self.traces().is_open = true;
            let bucket = &self.bucket;
            let made = self.client.create_bucket(CreateBucket { bucket, ..<_>::default() }).await;
            // Where it was refused, or never asked for, there is nothing to remove.
            let is_certain =
                |error: &Error| error.service_error().is_some() || error.is_endpoint_down();
            self.traces().is_open = !made.as_ref().is_err_and(is_certain);
            return made;
        }
        self.client.head_bucket(&self.bucket).await?;
        // Not every service knows versioning.
        let versioning = self.client.get_bucket_versioning(&self.bucket).await;
        let mut traces = self.traces();
        traces.has_versions = versioning.is_ok_and(|versioning| versioning != Versioning::Off);
        traces.is_open = true;
        Ok(())
    }

    /// Notes that a key may exist from now on.
    pub(super) fn note_key(&self, key: &str) {
        self.traces().keys.insert(key.to_owned());
    }

    pub(super) fn note_upload(&self, key: &str, upload_id: &str) {
        self.traces().uploads.insert((key.to_owned(), upload_id.to_owned()));
    }

    pub(super) fn note_versions(&self) {
        self.traces().has_versions = true;
    }

    fn traces(&self) -> MutexGuard<'_, Traces> {
        self.traces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes everything that the probes left, and the bucket if it was made for them. Returns
    /// what could not be removed, each with the reason.
    pub async fn clear(&self) -> Vec<String> {
        let Traces { keys, uploads, is_open, has_versions } = std::mem::take(&mut *self.traces());
        if !is_open {
            return Vec::new();
        }
        let clearing = async {
            for (key, upload_id) in uploads {
                // What stays is found below.
                _ = self.client.abort_multipart(&self.bucket, &key, &upload_id).await;
            }
            self.remove_all(keys.iter().map(|key| (key.as_str(), None))).await;
            if has_versions {
                self.remove_versions(&keys).await?;
            }
            self.remove_listed().await?;
            self.abort_listed().await;
            if self.is_own { self.remove_bucket(&keys).await } else { Ok(()) }
        };
        let address = self.address();
        match tokio::time::timeout(CLEARING_MAX, clearing).await {
            Ok(Ok(())) => Vec::new(),
            Ok(Err(error)) => vec![format!("{address}: {error}")],
            Err(_) => vec![format!("{address}: removing took more than 30 s")],
        }
    }

    /// Removes objects and versions; failures show in the listings that follow.
    async fn remove_all(&self, names: impl Iterator<Item = (&str, Option<&str>)>) {
        let mut removals = Vec::new();
        for (key, version_id) in names {
            let input =
                DeleteObject { bucket: &self.bucket, key, version_id, ..DeleteObject::default() };
            removals.push(self.client.delete_object(input));
        }
        let mut removals = stream::iter(removals).buffer_unordered(REQUESTS_AT_ONCE);
        while removals.next().await.is_some() {}
    }

    /// Removes versions and delete markers. Keys that XML cannot hold are listed as others: where
    /// one of those that were written may be meant, it is removed instead.
    async fn remove_versions(&self, keys: &BTreeSet<String>) -> Result<()> {
        let odd: Vec<_> = keys.iter().filter(|key| as_listed(key) != **key).collect();
        let meant = |listed: &str| odd.iter().find(|key| as_listed(key) == listed);
        for _ in 0..PAGES_MAX {
            let page = self.client.list_versions(ListVersions {
                bucket: &self.bucket,
                prefix: &self.prefix,
                ..<_>::default()
            });
            let page = page.await?;
            if page.versions.is_empty() {
                return Ok(());
            }
            let names = page.versions.iter().map(|it| {
                let key = meant(&it.key).map_or(it.key.as_str(), |key| key.as_str());
                (key, Some(it.version_id.as_str()))
            });
            self.remove_all(names).await;
        }
        Err(Error::new(ErrorKind::Server, "versions stay in its listing after their removal"))
    }

    /// Removes what a listing shows although it was removed, or was never noted.
    async fn remove_listed(&self) -> Result<()> {
        let mut left = 0;
        for _ in 0..ROUNDS_MAX {
            let mut token: Option<String> = None;
            left = 0;
            for _ in 0..PAGES_MAX {
                let page = self.client.list_objects_unchecked(ListObjects {
                    bucket: &self.bucket,
                    prefix: &self.prefix,
                    continuation_token: token.as_deref(),
                    ..<_>::default()
                });
                let page = page.await?;
                left += page.len();
                self.remove_all(page.keys().map(|key| (key, None))).await;
                token = page.next_token.clone();
                if token.is_none() {
                    break;
                }
            }
            if left == 0 {
                return Ok(());
            }
        }
        let message = format!("{left} objects stay in its listing after their removal");
        Err(Error::new(ErrorKind::Server, message))
    }

    /// Aborts uploads that were begun without an answer. Where uploads cannot be listed, those
    /// that are known are gone already.
    async fn abort_listed(&self) {
        let listed = self.client.list_multipart_uploads(&self.bucket, &self.prefix, None).await;
        for upload in listed.unwrap_or_default().uploads {
            _ = self.client.abort_multipart(&self.bucket, &upload.key, &upload.upload_id).await;
        }
    }

    /// Removes the bucket. Services over a file system may have kept folders of objects that they
    /// refused, which no listing shows.
    async fn remove_bucket(&self, keys: &BTreeSet<String>) -> Result<()> {
        let removed = self.client.delete_bucket(&self.bucket).await;
        if !removed.as_ref().is_err_and(|error| error.code() == "BucketNotEmpty") {
            return match removed {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                removed => removed,
            };
        }
        for folder in folders(keys).iter().rev() {
            self.remove_all([(folder.as_str(), None)].into_iter()).await;
        }
        self.client.delete_bucket(&self.bucket).await
    }
}

/// A key as services list it that write what XML cannot hold as U+FFFD.
fn as_listed(key: &str) -> String {
    let is_odd =
        |c: char| matches!(c, '\0'..' ' | '\u{fffe}' | '\u{ffff}') && !"\t\n\r".contains(c);
    key.chars().map(|c| if is_odd(c) { '\u{fffd}' } else { c }).collect()
}

/// The folders that keys lie in; those within others come after them.
fn folders(keys: &BTreeSet<String>) -> BTreeSet<String> {
    let ends = |key: &String| key.match_indices('/').map(|(at, _)| at + 1).collect::<Vec<_>>();
    keys.iter().flat_map(|key| ends(key).into_iter().map(|end| key[..end].to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_xml_cannot_hold_is_listed_otherwise() {
        assert_eq!(as_listed("a\u{1}b\u{ffff}"), "a\u{fffd}b\u{fffd}");
        for plain in ["a/\t\r\n b", "é\u{fffd}\u{1f600}"] {
            assert_eq!(as_listed(plain), plain);
        }
    }

    #[test]
    fn folders_within_others_come_after_them() {
        let keys = ["a/b/c", "a/d", "e", "f//g"].map(str::to_owned).into();
        let folders: Vec<_> = folders(&keys).into_iter().collect();
        assert_eq!(folders, ["a/", "a/b/", "f/", "f//"]);
    }
}
