//! Where probes work: a bucket that is made for them, or a prefix in one that is there. Knows what
//! was written, and removes it without relying on listings.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use http::Method;
use s3haul_wire::ops::{
    CreateBucket, DeleteObject, ListObjects, ListVersions, PlainRequest, Versioning,
};
use s3haul_wire::{Client, Error, ErrorKind, Result};

/// Requests of the clearing up at once.
const REQUESTS_AT_ONCE: usize = 32;
/// Pages that are read to find what is left.
const PAGES_MAX: usize = 20;
/// How often listings are asked for what is left.
const ROUNDS_MAX: u32 = 3;
/// Longest time that the clearing up takes.
const CLEARING_MAX: Duration = Duration::from_secs(25);

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
    /// Uploads that may be open, of which no answer came.
    unanswered: usize,
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
            // Also there: a service may have one bucket only, whatever it is called in requests.
            None => (name.clone(), format!("{name}/")),
            Some((bucket, folder)) if folder.is_empty() || folder.ends_with('/') => {
                (bucket, format!("{folder}{name}/"))
            }
            Some((bucket, folder)) => (bucket, format!("{folder}/{name}/")),
        };
        Self { client, bucket, prefix, is_own, traces: Mutex::default() }
    }

    /// The address of what is removed in the end.
    pub fn address(&self) -> String {
        let folder = if self.is_own { "" } else { self.prefix.as_str() };
        format!("s3://{}/{folder}", self.bucket)
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
            self.traces().is_open = made.as_ref().err().is_none_or(may_be_done);
            return made;
        }
        self.client.head_bucket(&self.bucket).await?;
        self.refuse_retention().await?;
        // Not every service knows versioning.
        let versioning = self.client.get_bucket_versioning(&self.bucket).await;
        let mut traces = self.traces();
        traces.has_versions = versioning.is_ok_and(|versioning| versioning != Versioning::Off);
        traces.is_open = true;
        Ok(())
    }

    /// Fails where objects are locked as soon as they are written: they could not be removed. Not
    /// every service knows locks, and not all credentials may ask for them.
    async fn refuse_retention(&self) -> Result<()> {
        let request = PlainRequest {
            method: Method::GET,
            bucket: &self.bucket,
            key: None,
            query: &[("object-lock", "")],
            headers: &[],
            body: Bytes::new(),
            md5: false,
        };
        let document = match self.client.send_plain(request).await {
            Ok(answer) => answer.body,
            Err(error) if error.kind() == ErrorKind::NotS3 => return Ok(()),
            Err(error) => return Err(error),
        };
        if !String::from_utf8_lossy(&document).contains("DefaultRetention>") {
            return Ok(());
        }
        let message = format!(
            "the bucket `{}` locks new objects (default retention), so that what is written could \
             not be removed",
            self.bucket
        );
        Err(Error::new(ErrorKind::Config, message))
    }

    /// Notes that a key may exist from now on.
    pub(super) fn note_key(&self, key: &str) {
        self.traces().keys.insert(key.to_owned());
    }

    /// Notes that an upload may be open from now on.
    pub(super) fn note_beginning(&self) {
        self.traces().unanswered += 1;
    }

    /// Notes what came of its beginning.
    pub(super) fn note_begun(&self, key: &str, begun: &Result<String>) {
        let mut traces = self.traces();
        if !begun.as_ref().is_err_and(may_be_done) {
            traces.unanswered = traces.unanswered.saturating_sub(1);
        }
        if let Ok(upload_id) = begun {
            traces.uploads.insert((key.to_owned(), upload_id.clone()));
        }
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
        let traces = std::mem::take(&mut *self.traces());
        if !traces.is_open {
            return Vec::new();
        }
        let cleared = tokio::time::timeout(CLEARING_MAX, self.remove_traces(traces)).await;
        let late = || {
            let message = format!("removing took more than {} s", CLEARING_MAX.as_secs());
            vec![Error::new(ErrorKind::Timeout, message)]
        };
        let failed = cleared.unwrap_or_else(|_| late());
        let address = self.address();
        failed.iter().map(|error| format!("{address}: {error}")).collect()
    }

    async fn remove_traces(
        &self,
        Traces { keys, uploads, unanswered, has_versions, .. }: Traces,
    ) -> Vec<Error> {
        let aborted = self.abort_uploads(&uploads, unanswered > 0).await;
        let mut ends = Vec::new();
        if has_versions {
            ends.push(self.remove_versions(&keys).await);
        }
        if !ends.iter().any(Result::is_ok) {
            self.remove_all(keys.iter().map(|key| (key.as_str(), None))).await;
        }
        ends.push(self.remove_listed().await);
        ends.push(aborted);
        if self.is_own {
            let removed = self.remove_bucket(&keys).await;
            if removed.is_ok() {
                return Vec::new();
            }
            ends.push(removed);
        }
        ends.into_iter().filter_map(Result::err).collect()
    }

    /// Whether a key that a listing shows is of the probes: a service may ignore the prefix.
    fn is_ours(&self, key: &str) -> bool {
        key.starts_with(&self.prefix)
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
            let ours: Vec<_> = page.versions.iter().filter(|it| self.is_ours(&it.key)).collect();
            if ours.is_empty() {
                if page.is_truncated && !page.versions.is_empty() {
                    let message = "the listing of versions shows more than was asked for";
                    return Err(Error::new(ErrorKind::Server, message));
                }
                return Ok(());
            }
            let names = ours.iter().map(|it| {
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
                let ours: Vec<_> = page.keys().filter(|key| self.is_ours(key)).collect();
                left += ours.len();
                self.remove_all(ours.into_iter().map(|key| (key, None))).await;
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

    /// Aborts the uploads that are known, then those that a listing shows: some may have been begun
    /// without an answer.
    async fn abort_uploads(
        &self,
        known: &BTreeSet<(String, String)>,
        may_be_more: bool,
    ) -> Result<()> {
        let known = self.abort_all(known.iter().map(|(key, id)| (key.as_str(), id.as_str()))).await;
        let listed = self.client.list_multipart_uploads(&self.bucket, &self.prefix, None).await;
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) if may_be_more => return known.and(Err(error)),
            // Nothing shows what a failed abort left.
            Err(_) => return known,
        };
        let ours = listed.uploads.iter().filter(|upload| self.is_ours(&upload.key));
        let ours: Vec<_> = ours.map(|it| (it.key.as_str(), it.upload_id.as_str())).collect();
        // Some services list the uploads of a whole key only, and so none.
        if ours.is_empty() && known.as_ref().is_err_and(|error| !error.may_pass()) {
            return known;
        }
        self.abort_all(ours.into_iter()).await
    }

    /// Aborts uploads, all of them also where one fails. Those that are gone are no failure.
    async fn abort_all(&self, uploads: impl Iterator<Item = (&str, &str)>) -> Result<()> {
        let aborts = uploads.map(|(key, id)| self.client.abort_multipart(&self.bucket, key, id));
        let failed = join_all(aborts).await.into_iter().filter_map(Result::err);
        let mut failed = failed.filter(|error| error.kind() != ErrorKind::NotFound);
        failed.next().map_or(Ok(()), Err)
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

/// Whether what failed may have been done: an answer was lost, that to an earlier attempt perhaps,
/// or the service failed on the way.
fn may_be_done(error: &Error) -> bool {
    let is_lost =
        matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout | ErrorKind::Server);
    let is_missing = error.service_error().is_some_and(|answer| answer.status == 501);
    (is_lost || error.effort().attempts > 1) && !is_missing && !error.is_endpoint_down()
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
    use s3haul_wire::error::{Effort, ServiceError};

    use super::*;

    #[test]
    fn a_failure_that_may_have_come_after_the_deed_is_told_apart() {
        let answered = |status, code: &str| {
            let answer = ServiceError { status, code: code.to_owned(), ..<_>::default() };
            Error::service(ErrorKind::Request, "CreateBucket", answer)
        };
        let second = Effort { attempts: 2, ..<_>::default() };
        assert!(!may_be_done(&answered(403, "AccessDenied")));
        assert!(may_be_done(&answered(409, "BucketAlreadyOwnedByYou").with_effort(second)));
        assert!(may_be_done(&Error::new(ErrorKind::Server, "500")));
        assert!(may_be_done(&Error::new(ErrorKind::Timeout, "no answer")));
        assert!(!may_be_done(&answered(501, "NotImplemented")));
        let down = Error::new(ErrorKind::Transport, "refused").with_endpoint_down();
        assert!(!may_be_done(&down.with_effort(second)));
    }

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
