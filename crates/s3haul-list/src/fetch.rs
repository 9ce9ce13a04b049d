//! One request of a listing, and what its answer is good for.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::page::{Merged, Page};
use crate::request::ListRequest;
use s3haul_wire::Client;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{ListObjects, ListPage};

/// Ends the names of buckets that list in no order.
const DIRECTORY_BUCKET: &str = "--x-s3";

/// Pages without a name in a row, each of which says that there is more, before a listing is taken
/// for one without end. S3 has such pages where it passes over many deleted objects.
const EMPTY_PAGES_MAX: u32 = 10_000;

/// Entries of a page unless the request sets another number.
const PAGE_SIZE: u32 = 1000;

/// What all requests of a listing share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) client: Client,
    pub(super) request: ListRequest,
    /// Prefix to ask for: that of the request, or a shorter one where the bucket wants a folder.
    pub(super) prefix: String,
    /// Pages without a name since the last that had one.
    empty_pages: AtomicU32,
}

/// Version of the API that lists objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// `ListObjects`; also stands for `ListObjectVersions`, which has one version only.
    One,
    /// `ListObjectsV2`.
    Two,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// After a key (empty: at the first one), asked from nothing else.
    Start { after: String },
    /// Where version 2 said.
    Token(String),
    /// Where version 1 said.
    Marker(String),
    /// Where a listing of versions said, after a page that ended with an entry (key and version).
    Entry { key: String, version_id: Option<String>, last: Option<(String, String)> },
}

impl Position {
    /// Version of the API that understands it.
    pub(super) fn version(&self, present: Version) -> Version {
        match self {
            Self::Start { .. } => present,
            Self::Token(_) => Version::Two,
            Self::Marker(_) | Self::Entry { .. } => Version::One,
        }
    }

    /// Whether a server understands both as the same. It does not see what an entry came after: it
    /// may begin pages of one with that entry, so that nothing is left of them.
    fn is_place(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Entry { key, version_id, .. },
                Self::Entry { key: other_key, version_id: other_id, .. },
            ) => key == other_key && version_id == other_id,
            _ => self == other,
        }
    }

    /// Whether keys before it are to be left out by an answer that knows nothing else of it.
    pub(super) fn is_start(&self) -> bool {
        matches!(self, Self::Start { .. })
    }
}

/// What an answer is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// In order, and after what it should be after.
    Good,
    /// The server answered version 1, though version 2 was asked.
    OldDocument,
    /// In order, but it begins before the key after which it should begin.
    StartIgnored,
    /// Not in the order of the keys' bytes.
    OutOfOrder,
}

/// A page that arrived.
pub(super) struct Fetched<P> {
    pub(super) page: P,
    /// Where more is, if there is more.
    pub(super) next: Option<Position>,
    pub(super) verdict: Verdict,
}

impl Context {
    pub(super) fn new(client: Client, request: ListRequest) -> Self {
        let mut prefix = request.prefix.clone();
        if request.bucket.ends_with(DIRECTORY_BUCKET) {
            prefix.truncate(prefix.rfind('/').map_or(0, |at| at + 1));
        }
        Self { client, request, prefix, empty_pages: AtomicU32::new(0) }
    }

    /// Whether the bucket lists in no order and only from its beginning.
    pub(super) fn is_directory_bucket(&self) -> bool {
        self.request.bucket.ends_with(DIRECTORY_BUCKET)
    }

    /// Whether no key can have the prefix and lie in the range.
    pub(super) fn is_empty(&self) -> bool {
        let ListRequest { prefix, range, .. } = &self.request;
        let is_after = range.after.as_str() > prefix.as_str() && !range.after.starts_with(prefix);
        let is_before = !range.reaches(prefix);
        is_after || is_before || !range.reaches(&range.after)
    }

    /// Adds to an error which part of the bucket it happened to.
    pub(super) fn explain(&self, error: Error, after: &str) -> Error {
        let name = format!("s3://{}/{}", self.request.bucket, self.request.prefix);
        let subject: &dyn fmt::Display =
            if after.is_empty() { &name } else { &format_args!("{name} after `{after}`") };
        error.with_subject(subject)
    }

    /// Sends a request for a page of keys after `floor`, when the permits allow.
    pub(super) async fn fetch<P: Page>(
        &self,
        position: &Position,
        version: Version,
        floor: &str,
    ) -> Result<Fetched<P>> {
        let permit = self.permit().await;
        let page = P::fetch(self, position, version).await;
        drop(permit);
        let checked = page
            .and_then(|page| within(page, &self.prefix))
            .and_then(|page| check(page, position, version, floor))
            .map(|fetched| self.doubt_end(fetched, position))
            .and_then(|fetched| self.progress(fetched));
        checked.map_err(|error| self.explain(error, floor))
    }

    /// A page that began after a key and is half full is not believed to be the last: for some such
    /// keys MinIO fills the page, but for an entry or two, and says that there is no more though
    /// there is. The listing goes on after its last key, which is one more request for a listing
    /// that ends there.
    fn doubt_end<P: Page>(&self, fetched: Fetched<P>, position: &Position) -> Fetched<P> {
        let Fetched { page, next: None, verdict: Verdict::Good } = &fetched else {
            return fetched;
        };
        let began_after = matches!(position, Position::Start { after } if !after.is_empty());
        let may_go_on = page.groups().is_empty() && is_doubtful(page.count(), &self.request);
        if P::VERSION != Version::Two || !began_after || !may_go_on {
            return fetched;
        }
        let after = page.key(page.count() - 1).to_owned();
        Fetched { next: Some(Position::Start { after }), ..fetched }
    }

    /// Fails if a server keeps announcing more but returns nothing: such a listing would not end.
    fn progress<P: Page>(&self, fetched: Fetched<P>) -> Result<Fetched<P>> {
        let is_empty = fetched.page.count() == 0 && fetched.page.groups().is_empty();
        if !is_empty || fetched.next.is_none() {
            self.empty_pages.store(0, Ordering::Relaxed);
            return Ok(fetched);
        }
        if self.empty_pages.fetch_add(1, Ordering::Relaxed) < EMPTY_PAGES_MAX {
            return Ok(fetched);
        }
        let message = format!(
            "the listing has no end: {EMPTY_PAGES_MAX} pages in a row had no key and said that \
             there are more"
        );
        Err(Error::new(ErrorKind::Server, message))
    }

    /// Asks for the names of folders.
    pub(super) async fn folders(
        &self,
        folder: &str,
        after: &str,
        version: Version,
    ) -> Result<ListPage> {
        let input = ListObjects {
            bucket: &self.request.bucket,
            prefix: if folder.starts_with(&self.prefix) { folder } else { &self.prefix },
            delimiter: Some("/"),
            start_after: Some(after).filter(|after| !after.is_empty()),
            ..ListObjects::default()
        };
        let _permit = self.permit().await;
        match version {
            Version::Two => self.client.list_objects(input).await,
            Version::One => self.client.list_objects_v1(input).await,
        }
    }

    async fn permit(&self) -> Option<tokio::sync::OwnedSemaphorePermit> {
        let permits = self.request.permits.as_ref()?;
        // A closed semaphore bounds nothing.
        Arc::clone(permits).acquire_owned().await.ok()
    }
}

/// Whether a page of so many keys that is said to be the last, and began after a key, may not be.
pub fn is_doubtful(count: usize, request: &ListRequest) -> bool {
    let page_size = request.page_size.unwrap_or(PAGE_SIZE) as usize;
    count > 0 && count >= page_size.div_ceil(2)
}

/// A server that knows no prefix would have others' keys taken, and perhaps removed.
fn within<P: Page>(page: P, prefix: &str) -> Result<P> {
    if prefix.is_empty() {
        // Not only needless: an empty text lies at no address, and the processor takes a trap for
        // each comparison with it.
        return Ok(page);
    }
    let mut names = page.keys().chain(page.groups().iter().map(String::as_str));
    let Some(name) = names.find(|name| !name.starts_with(prefix)) else {
        drop(names);
        return Ok(page);
    };
    let message =
        format!("the server listed `{name}`, which does not start with the prefix asked for");
    Err(Error::new(ErrorKind::Server, message))
}

fn check<P: Page>(
    mut page: P,
    position: &Position,
    version: Version,
    floor: &str,
) -> Result<Fetched<P>> {
    let is_truncated = page.is_truncated();
    if is_truncated && version == Version::Two && page.is_version_1() {
        return Ok(Fetched { page, next: None, verdict: Verdict::OldDocument });
    }
    page.drop_repeated(position, floor)?;
    let next = if is_truncated { Some(next_position(&page, position, version)?) } else { None };
    let verdict = judge(&page, position, floor);
    Ok(Fetched { page, next, verdict })
}

/// Position of the next page. A truncated page without a position, or with its own, is an
/// error.
fn next_position<P: Page>(page: &P, present: &Position, version: Version) -> Result<Position> {
    let message = match page.next(version) {
        None => "truncated listing has no continuation token",
        Some(next) if next.is_place(present) => {
            "listing does not advance: the continuation token is the same as before"
        }
        Some(next) => return Ok(next),
    };
    Err(Error::new(ErrorKind::Server, message))
}

fn judge<P: Page>(page: &P, position: &Position, floor: &str) -> Verdict {
    let names = Merged::new(page, floor);
    if !names.is_ascending() {
        return Verdict::OutOfOrder;
    }
    // The rest of a key's versions may follow on the next page.
    let may_repeat = matches!(position, Position::Entry { version_id: Some(_), .. });
    let is_after = names
        .first()
        .is_none_or(|first| first > floor || floor.is_empty() || (may_repeat && first == floor));
    match (is_after, position.is_start()) {
        (true, _) => Verdict::Good,
        (false, true) => Verdict::StartIgnored,
        (false, false) => Verdict::OutOfOrder,
    }
}

/// Version of the API that a server speaks, as far as its answers show.
#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) version: Version,
    /// Whether version 2 was answered.
    is_proven: bool,
    /// Why version 2 was given up.
    refusal: Option<Error>,
}

/// What to do with an answer.
pub(super) enum Step<P> {
    /// Use it.
    Take(Fetched<P>),
    /// Ask the same again in the present version.
    Again,
}

impl Dialect {
    pub(super) fn new(version: Version) -> Self {
        Self { version, is_proven: false, refusal: None }
    }

    /// Nothing will start in the middle any more: there, version 2 is as good as version 1 or
    /// better.
    pub(super) fn start_at_first_key(&mut self) {
        if self.is_proven {
            self.version = Version::Two;
        }
    }

    /// Judges the answer to a request that was sent in some version. A page out of order or not
    /// after its start is for the caller to judge.
    pub(super) fn step<P: Page>(
        &mut self,
        position: &Position,
        version: Version,
        result: Result<Fetched<P>>,
    ) -> Result<Step<P>> {
        let may_fall_back = version == Version::Two && position.is_start();
        match result {
            Ok(fetched) => {
                let is_old = fetched.verdict == Verdict::OldDocument;
                self.is_proven |= version == Version::Two && !is_old;
                let is_unfit = is_old || fetched.verdict == Verdict::StartIgnored;
                if may_fall_back && is_unfit {
                    self.version = Version::One;
                    return Ok(Step::Again);
                }
                if is_old {
                    let message = "the server answered another version of the API than before";
                    return Err(Error::new(ErrorKind::Server, message));
                }
                Ok(Step::Take(fetched))
            }
            Err(error) if may_fall_back && !self.is_proven && is_refusal(&error) => {
                self.version = Version::One;
                self.refusal.get_or_insert(error);
                Ok(Step::Again)
            }
            // The reason for refusing version 2 says more than that for refusing version 1.
            Err(error) => Err(self.refusal.take().filter(|_| is_refusal(&error)).unwrap_or(error)),
        }
    }
}

/// Whether a server may say so that does not know version 2.
fn is_refusal(error: &Error) -> bool {
    matches!(error.code(), "NotImplemented" | "InvalidArgument" | "MethodNotAllowed")
}
