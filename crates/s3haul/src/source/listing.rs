//! Listing of what a filter can take in: prefixes that it leaves out whole are not asked for.
//!
//! If that results in several ranges, their first page is listed as if there were only one: a tree
//! of one page costs one request. The rest is listed range by range, in order. A filter that takes
//! in nothing still sends one request, so that a missing bucket is noticed.

use std::collections::VecDeque;

use crate::engine::core::{Engine, Place};
use crate::job::prepare::Prepared;
use crate::plan::filter::{Filter, NameRange, RangeBounds};
use crate::plan::s3_uri::is_directory_bucket;
use crate::plan::versions::{VersionRule, VersionSelector};
use crate::source::hints::{Hints, Listed, Original};
use s3haul_list::{
    Boundary, KeyRange, ListRequest, Listing, Notice, Order, is_doubtful, list, objects, versions,
};
use s3haul_wire::Client;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{ListObjects, ListPage, ListedVersion, VersionPage};

/// One in so many of the requests that a job may have in flight lists.
const LISTING_SHARE: usize = 4;

/// What to list.
#[derive(Clone, Debug)]
pub(crate) struct NamesRequest<'a> {
    /// Which bucket.
    pub(crate) place: Place,
    /// What names are added to.
    pub(crate) root: &'a str,
    /// Only keys that start so; the root or longer.
    pub(crate) prefix: &'a str,
    /// Only names behind this one, about; empty: all.
    pub(crate) after: &'a str,
    /// Only names up to this one, it included; none: all.
    pub(crate) through: Option<&'a str>,
    /// Only names that this can take in; none: all.
    pub(crate) filter: Option<&'a Filter>,
    /// Keys a request.
    pub(crate) page_size: Option<u32>,
    /// The root is one key, and nothing else is meant.
    pub(crate) is_one: bool,
    /// Versions instead of objects.
    pub(crate) versions: Option<VersionRule>,
    /// What is not listed is removed elsewhere. A listing that brings no key says by a last page
    /// whether there is any at all, and a page is handed out once it and the one behind it are
    /// known to be in order.
    pub(crate) decides_removals: bool,
    /// The other side of a sync or comparison, which should have the same names.
    pub(crate) original: Option<Original>,
}

impl<'a> NamesRequest<'a> {
    /// All that the address of a job's source takes in.
    pub(crate) fn of_source(job: &'a Prepared) -> Self {
        let root = job.source_key();
        Self {
            place: Place::Source,
            root,
            prefix: job.wildcard.as_ref().map_or(root, |wildcard| wildcard.prefix()),
            after: "",
            through: None,
            filter: None,
            page_size: job.spec.page_size,
            is_one: !job.plan.is_directory && !root.is_empty(),
            versions: job.spec.versions,
            decides_removals: false,
            original: None,
        }
    }
}

/// The next request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A page from the first range on, whatever lies between the ranges.
    FirstPage,
    /// The ranges, one after the other.
    Ranges,
    /// Whether there is anything at all.
    Any,
    Done,
}

/// Pages of one range.
#[derive(Debug)]
enum Pages {
    Objects(Listing<ListPage, Error>),
    Versions(Listing<VersionPage, Error>),
}

/// A page that was listed.
#[derive(Debug)]
struct ListedPage {
    /// What of it is taken.
    page: ListPage,
    /// Entries that it had.
    count: usize,
    /// Its last key, where that is not the last one taken.
    last: Option<String>,
}

impl ListedPage {
    /// All of a page is taken.
    fn whole(page: ListPage) -> Self {
        Self { count: page.len(), page, last: None }
    }
}

impl Pages {
    /// The next page; none at the end.
    async fn next(&mut self, selector: Option<&mut VersionSelector>) -> Result<Option<ListedPage>> {
        match (self, selector) {
            (Self::Versions(listing), Some(selector)) => {
                let Some(page_range) = listing.next().await.transpose()? else { return Ok(None) };
                let versions = page_range.page.versions;
                let page = select(selector, &versions)?;
                let last = versions.last().map(|version| version.key.clone());
                Ok(Some(ListedPage { page, count: versions.len(), last }))
            }
            (Self::Objects(listing), _) => {
                let page_range = listing.next().await.transpose()?;
                Ok(page_range.map(|page_range| ListedPage::whole(page_range.page)))
            }
            (Self::Versions(_), None) => Ok(None),
        }
    }

    fn take_boundaries(&mut self) -> Vec<Boundary> {
        match self {
            Self::Objects(listing) => listing.take_boundaries(),
            Self::Versions(listing) => listing.take_boundaries(),
        }
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        match self {
            Self::Objects(listing) => listing.take_notices(),
            Self::Versions(listing) => listing.take_notices(),
        }
    }
}

/// The versions that a rule takes, as a page.
fn select(selector: &mut VersionSelector, versions: &[ListedVersion]) -> Result<ListPage> {
    let mut taken = Vec::new();
    for listed in versions {
        if selector.takes_listed(listed)? {
            taken.push(listed);
        }
    }
    ListPage::from_versions(taken)
}

/// A listing under way; dropping it ends it, with all its requests.
#[derive(Debug)]
pub(crate) struct NameListing {
    client: Client,
    bucket: String,
    request: ListRequest,
    root: String,
    ranges: VecDeque<NameRange>,
    stage: Stage,
    current: Option<Box<Pages>>,
    /// Where the current range leaves what it found out.
    hints: Option<Hints>,
    /// What should have the same names.
    original: Option<Original>,
    /// Takes versions, where these are listed.
    selector: Option<VersionSelector>,
    /// Objects or versions that were listed, taken or not.
    listed: u64,
    /// The last key handed out: what comes next lies behind it.
    last: String,
    /// The last key of which all versions were handed out.
    complete: String,
    proves_emptiness: bool,
    decides_removals: bool,
    /// The page behind the one that was handed out, where removals are decided.
    ahead: Option<ListPage>,
    /// Names come in the order of their bytes.
    is_ordered: bool,
}

impl NameListing {
    /// Lists in the order of keys. Requests count among those of the job.
    pub(crate) fn new(engine: &Engine, names: NamesRequest<'_>) -> Self {
        let place = names.place;
        let below = names.prefix.strip_prefix(names.root).unwrap_or_default();
        let whole = if names.is_one {
            NameRange { start: String::new(), end: Some("\0".to_owned()) }
        } else {
            let end = names.through.map(|through| format!("{through}\0"));
            let behind = NameRange { start: names.after.to_owned(), end };
            // Where nothing of the prefix lies behind it, the last name stands for nothing.
            NameRange::of_prefix(below).and(&behind).unwrap_or(behind)
        };
        // Where versions are read, what proves that there is nothing is that all were looked at.
        let lists_all = names.is_one || (names.versions.is_some() && names.decides_removals);
        // Directory buckets list whole folders only, in an order of their own.
        let filter =
            names.filter.filter(|_| !lists_all && !is_directory_bucket(place.bucket(engine)));
        let ranges = filter.map_or_else(|| vec![NameRange::all()], Filter::ranges);
        let ranges: VecDeque<_> = ranges.iter().filter_map(|range| range.and(&whole)).collect();
        let is_part = !names.after.is_empty() || names.through.is_some();
        let is_cut = is_part || ranges.len() != 1 || ranges[0] != whole;
        Self {
            client: place.client(engine).clone(),
            bucket: place.bucket(engine).to_owned(),
            request: ListRequest {
                order: Order::Ascending,
                concurrency: engine.limits.at_once().div_ceil(LISTING_SHARE),
                page_size: names.page_size,
                permits: Some(engine.limits.requests()),
                ..ListRequest::default()
            },
            root: names.root.to_owned(),
            stage: match ranges.len() {
                0 => Stage::Any,
                _ if names.versions.is_some() => Stage::Ranges,
                1 => Stage::Ranges,
                _ => Stage::FirstPage,
            },
            ranges,
            current: None,
            hints: None,
            original: names.original,
            selector: names.versions.map(VersionSelector::new),
            listed: 0,
            last: String::new(),
            complete: String::new(),
            proves_emptiness: names.decides_removals && is_cut,
            decides_removals: names.decides_removals,
            ahead: None,
            is_ordered: !is_directory_bucket(place.bucket(engine)),
        }
    }

    /// The next page; none at the end. After an error there is nothing more.
    pub(crate) async fn next(&mut self) -> Result<Option<ListPage>> {
        // Boxed: the future of a page is large, and part of many others.
        let page = match self.ahead.take() {
            None => Box::pin(self.read()).await?,
            page => page,
        };
        if self.decides_removals && page.is_some() {
            self.ahead = Box::pin(self.read()).await?;
            while self.ahead.as_ref().is_some_and(ListPage::is_empty) {
                self.ahead = Box::pin(self.read()).await?;
            }
        }
        Ok(page)
    }

    async fn read(&mut self) -> Result<Option<ListPage>> {
        loop {
            if let Some(listing) = &mut self.current {
                let page = listing.next(self.selector.as_mut()).await;
                for notice in listing.take_notices() {
                    self.is_ordered &= !notice.is_unordered();
                    tracing::info!(%notice, bucket = self.bucket, "listing");
                }
                match page {
                    Ok(Some(listed)) if self.decides_removals && !self.is_ordered => {
                        (self.current, self.stage) = (None, Stage::Done);
                        return Err(self.disorder(&listed.page));
                    }
                    Ok(Some(page)) => return Ok(Some(self.hand_out(page))),
                    Ok(None) => {
                        let boundaries = listing.take_boundaries();
                        self.current = None;
                        if let Some(hints) = self.hints.take() {
                            hints.keep(boundaries).await;
                        }
                    }
                    Err(error) => {
                        (self.current, self.stage) = (None, Stage::Done);
                        return Err(error);
                    }
                }
            }
            match self.stage {
                Stage::FirstPage => {
                    if let Some(page) = self.first_page().await {
                        return Ok(Some(self.hand_out(ListedPage::whole(page))));
                    }
                }
                Stage::Ranges => self.start_range().await,
                Stage::Any => {
                    self.stage = Stage::Done;
                    if let Some(page) = self.any().await {
                        return Ok(Some(self.hand_out(ListedPage::whole(page))));
                    }
                }
                Stage::Done => return Ok(None),
            }
        }
    }

    /// Objects or versions that were listed so far, taken or not.
    pub(crate) fn listed(&self) -> u64 {
        self.listed
    }

    /// The name up to which all were handed out, `before` if nothing was; `None` where names come
    /// in no order.
    pub(crate) fn through(&self, before: Option<String>) -> Option<String> {
        let last = self.last.strip_prefix(&*self.root).filter(|last| !last.is_empty());
        last.map(str::to_owned).or(before).filter(|_| self.is_ordered)
    }

    /// The same for a listing of versions whose keys are to be done whole: a page may end between
    /// two versions of one.
    pub(crate) fn through_whole_keys(&self, before: Option<String>) -> Option<String> {
        let last = self.complete.strip_prefix(&*self.root).filter(|last| !last.is_empty());
        last.map(str::to_owned).or(before).filter(|_| self.is_ordered)
    }

    /// The error where keys come in no order, with the first two that show it.
    fn disorder(&self, page: &ListPage) -> Error {
        let keys = || page.iter().map(|listed| listed.key);
        let mut pairs = std::iter::once(self.last.as_str()).chain(keys()).zip(keys());
        let first = (self.last.as_str(), keys().next().unwrap_or_default());
        let (last, next) = pairs.find(|(last, next)| next <= last).unwrap_or(first);
        let name = |key: &str| key.strip_prefix(&*self.root).unwrap_or(key).to_owned();
        disorder(&name(last), &name(next))
    }

    fn hand_out(&mut self, listed: ListedPage) -> ListPage {
        let ListedPage { page, count, last } = listed;
        self.listed += count as u64;
        let taken = page.last().map(|last| last.key);
        let last = last.as_deref().max(taken);
        if let Some(last) = last.filter(|last| *last > self.last.as_str()) {
            if self.selector.is_some() {
                let keys = page.iter().map(|listed| listed.key);
                let whole = keys.filter(|key| *key < last).max().max(Some(self.last.as_str()));
                whole.unwrap_or_default().to_owned().clone_into(&mut self.complete);
            }
            last.clone_into(&mut self.last);
        }
        page
    }

    async fn start_range(&mut self) {
        let Some(range) = self.ranges.pop_front() else {
            let is_proved = !self.proves_emptiness || !self.last.is_empty();
            self.stage = if is_proved { Stage::Done } else { Stage::Any };
            return;
        };
        let (range, rest) = range.apart_from_folder();
        if let Some(rest) = rest {
            self.ranges.push_front(rest);
        }
        let RangeBounds { prefix, after, through } = range.bounds(&self.root);
        // Bounds may overlap by some keys.
        let after = after.max(self.last.clone());
        self.start(prefix, KeyRange { after, through }).await;
    }

    async fn start(&mut self, prefix: String, range: KeyRange) {
        let mut request = ListRequest { prefix, range, ..self.request.clone() };
        let (client, bucket) = (self.client.clone(), self.bucket.as_str());
        let listed = if self.selector.is_some() { Listed::Versions } else { Listed::Objects };
        self.hints = Hints::recall(&client, bucket, listed, &mut request).await;
        if let Some(original) = &self.original {
            Box::pin(original.teach(&self.root, &mut request)).await;
        }
        self.current = Some(Box::new(match self.selector {
            Some(_) => Pages::Versions(list(versions(client, bucket), request)),
            None => Pages::Objects(list(objects(client, bucket), request)),
        }));
    }

    /// A page from the first range on. Where it is not the last, what is left of the ranges stays;
    /// where the server does not play along, everything between them is listed.
    async fn first_page(&mut self) -> Option<ListPage> {
        self.stage = Stage::Ranges;
        let first = self.ranges.front().map(|range| range.start.clone()).unwrap_or_default();
        let end = self.ranges.back().and_then(|range| range.end.clone());
        let hull = NameRange { start: first, end };
        if hull.clone().apart_from_folder().1.is_some() {
            return None;
        }
        let RangeBounds { prefix, after, .. } = hull.bounds(&self.root);
        let Some(page) = self.page(&prefix, &after, self.request.page_size).await else {
            self.ranges = VecDeque::from([hull]);
            return None;
        };
        let is_last = !page.is_truncated
            && (after.is_empty() || !is_doubtful(page.len(), self.request.page_size));
        if is_last {
            self.ranges.clear();
            return Some(page);
        }
        let last = page.iter().last().and_then(|object| object.key.strip_prefix(&*self.root));
        let rest = last.map(|last| NameRange { start: format!("{last}\0"), end: None });
        if let Some(rest) = rest.filter(|_| is_ascending(&page)) {
            self.ranges = self.ranges.iter().filter_map(|range| range.and(&rest)).collect();
            return Some(page);
        }
        self.ranges = VecDeque::from([hull]);
        None
    }

    /// A page that has a key if there is one. Not only the first: that may stand for a folder.
    async fn any(&mut self) -> Option<ListPage> {
        let root = self.root.clone();
        let page = self.page(&root, "", self.request.page_size).await;
        if page.is_none() {
            // The listing supports more dialects, and its errors are more precise.
            let through = Some(format!("{root}\0"));
            self.start(root, KeyRange { after: String::new(), through }).await;
        }
        page
    }

    async fn page(&self, prefix: &str, after: &str, max_keys: Option<u32>) -> Option<ListPage> {
        let permits = self.request.permits.as_deref()?;
        let permit = permits.acquire().await.ok()?;
        let start_after = Some(after).filter(|after| !after.is_empty());
        let bucket = self.bucket.as_str();
        let input = ListObjects { bucket, prefix, start_after, max_keys, ..ListObjects::default() };
        // Boxed: it is rarely asked for, and its future is as large as a listing.
        let page = Box::pin(self.client.list_objects(input)).await;
        drop(permit);
        page.ok()
    }
}

/// The error of a merge where two names came in the wrong order.
pub(super) fn disorder(last: &str, next: &str) -> Error {
    let message = format!(
        "the listing is not in the order of keys: `{next}` came after `{last}`; nothing more is \
         compared, because a missing name cannot be distinguished from a late one"
    );
    Error::new(ErrorKind::Server, message)
}

fn is_ascending(page: &ListPage) -> bool {
    page.iter().zip(page.iter().skip(1)).all(|(one, next)| one.key < next.key)
}
