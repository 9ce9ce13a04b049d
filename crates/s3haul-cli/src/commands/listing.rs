//! Goes through the pages of a listing: what `ls`, `list`, `summarize` and scripts have in common.
//!
//! Pages are worked on by blocking threads, so that parsing answers and working on them use
//! different cores: by one thread where the order of keys counts, else by one a core. Each thread
//! makes a worker of its own, which need be neither `Sync` nor `Send`, and returns at the end
//! what it gathered. Between them is a bounded queue of batches: when workers are slow, the listing
//! waits.
//!
//! Dropping the future ends it all (Ctrl-C does). After an error no worker's result is returned,
//! because the listing is not whole.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use async_channel::{Receiver, Sender};
use s3haul::hints::{Hints, Listed};
use s3haul::script::{Limits, Runtime};
use s3haul_list::{ListRequest, Notice, Order, PageRange, list, objects, versions};
use s3haul_wire::ops::{ListPage, ListedObject, VersionPage};
use s3haul_wire::{Client, Error};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};

use super::asker::Asker;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::json;
use crate::render::listing::Entry;
use crate::settings::{ListingSettings, Selection};

/// One in so many of the requests in flight lists, where others ask about what was listed.
const LISTING_SHARE: usize = 4;
/// Pages that are asked about at a time at least: of each there may be few objects to ask about.
const ASKING_WORKERS: usize = 16;
/// Pages of a batch at most: a thread is woken for each batch, which costs about as much as
/// printing a page.
const BATCH_PAGES: usize = 8;
/// Pages of one batch for each worker at most, where there are many.
const BATCHED_PAGES: usize = 64;
/// How long a page waits for others of its batch.
const BATCH_WAIT: Duration = Duration::from_millis(5);

type Listing<P> = s3haul_list::Listing<P, Error>;

/// Works on pages, all on one thread.
pub(crate) trait PageWorker<P = ListPage> {
    /// What it has at the end.
    type Done: Send + 'static;

    /// Whether a page may take so long that each has to go to the next idle worker.
    const IS_SLOW: bool = false;

    /// Takes a page. After `Break` the listing ends early and counts as complete, as when the
    /// output is closed.
    fn page(&mut self, page: &SelectedPage<'_, P>) -> Result<ControlFlow<()>, Failure>;

    /// There are no more pages.
    fn finish(self) -> Result<Self::Done, Failure>;
}

/// A page of objects or of versions.
pub(crate) trait Entries: Send + Sized + 'static {
    /// What such pages are of.
    const LISTED: Listed;
    /// Lists such pages.
    fn list(client: Client, bucket: &str, request: ListRequest) -> Listing<Self>;
    /// The page, where it is one of objects.
    fn objects(&self) -> Option<&ListPage>;
    /// Number of entries.
    fn count(&self) -> usize;
    /// One of them; the index is less than the number.
    fn entry(&self, index: usize) -> Option<Entry<'_>>;
}

impl Entries for ListPage {
    const LISTED: Listed = Listed::Objects;

    fn list(client: Client, bucket: &str, request: ListRequest) -> Listing<Self> {
        list(objects(client, bucket), request)
    }

    fn objects(&self) -> Option<&ListPage> {
        Some(self)
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn entry(&self, index: usize) -> Option<Entry<'_>> {
        self.get(index).map(Entry::from)
    }
}

impl Entries for VersionPage {
    const LISTED: Listed = Listed::Versions;

    fn list(client: Client, bucket: &str, request: ListRequest) -> Listing<Self> {
        list(versions(client, bucket), request)
    }

    fn objects(&self) -> Option<&ListPage> {
        None
    }

    fn count(&self) -> usize {
        self.versions.len()
    }

    fn entry(&self, index: usize) -> Option<Entry<'_>> {
        self.versions.get(index).map(Entry::from)
    }
}

/// A page and which of its entries are wanted.
pub(crate) struct SelectedPage<'a, P = ListPage> {
    page: &'a P,
    /// Indices in order; none: all.
    chosen: Option<&'a [u32]>,
}

impl<'a, P: Entries> SelectedPage<'a, P> {
    /// The wanted entries in the order of their keys.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a, P> {
        let (page, chosen) = (self.page, self.chosen);
        let index = move |at: usize| chosen.map_or(at, |chosen| chosen[at] as usize);
        (0..self.len()).filter_map(move |at| page.entry(index(at)))
    }

    /// The page, where all of it is wanted.
    pub(crate) fn whole(&self) -> Option<&'a P> {
        self.chosen.is_none().then_some(self.page)
    }

    /// Number of wanted entries.
    pub(crate) fn len(&self) -> usize {
        self.chosen.map_or(self.page.count(), <[u32]>::len)
    }
}

impl<'a> SelectedPage<'a> {
    /// The wanted objects in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ListedObject<'a>> + use<'a> {
        self.entries().map(|entry| entry.object)
    }

    /// Common prefixes, in listings up to a delimiter.
    pub(crate) fn common_prefixes(&self) -> &'a [String] {
        &self.page.common_prefixes
    }
}

/// Chooses entries of pages; each worker has its own.
struct Selector {
    selection: Selection,
    script: Option<Runtime>,
    asker: Option<Arc<Asker>>,
    chosen: Vec<u32>,
}

impl Selector {
    fn new(selection: Selection, asker: Option<Arc<Asker>>) -> Result<Self, Failure> {
        let script = selection.script.as_ref().map(std::slice::from_ref);
        let script = script.map(|script| Runtime::new(script, Limits::default())).transpose()?;
        Ok(Self { selection, script, asker, chosen: Vec::new() })
    }

    fn select<'a, P: Entries>(&'a mut self, page: &'a P) -> Result<SelectedPage<'a, P>, Failure> {
        if self.selection.is_all() && self.asker.is_none() {
            return Ok(SelectedPage { page, chosen: None });
        }
        self.choose_listed(page);
        if let Some(script) = &mut self.script {
            let chosen = std::mem::take(&mut self.chosen);
            let entries = chosen.iter().filter_map(|index| page.entry(*index as usize));
            let selected = script.select(entries.map(|entry| entry.object))?;
            self.chosen = selected.into_iter().map(|index| chosen[index]).collect();
        }
        // What costs a request comes last.
        if let Some(asker) = &self.asker {
            self.chosen = asker.choose(page, &self.chosen)?;
        }
        Ok(SelectedPage { page, chosen: Some(&self.chosen) })
    }

    fn choose_listed<P: Entries>(&mut self, page: &P) {
        self.chosen.clear();
        for index in 0..page.count() {
            if page.entry(index).is_some_and(|entry| self.selection.includes(&entry)) {
                self.chosen.extend(u32::try_from(index));
            }
        }
    }
}

/// Lists what the settings say, objects or all versions, and has workers go through it. `make` is
/// called on each worker's thread; what the workers gathered comes back in no order. What is to be
/// said of the server goes to the printer.
pub(crate) async fn for_each_page<P, W, F>(
    client: Client,
    settings: &ListingSettings,
    order: Order,
    printer: &Arc<Printer>,
    make: F,
) -> Result<Vec<W::Done>, Failure>
where
    P: Entries,
    W: PageWorker<P>,
    F: Fn() -> Result<W, Failure> + Send + Sync + 'static,
{
    for_each_asked_page(client, settings, order, printer, None, make).await
}

/// The same with only those entries that the asker takes.
pub(crate) async fn for_each_asked_page<P, W, F>(
    client: Client,
    settings: &ListingSettings,
    order: Order,
    printer: &Arc<Printer>,
    asker: Option<Arc<Asker>>,
    make: F,
) -> Result<Vec<W::Done>, Failure>
where
    P: Entries,
    W: PageWorker<P>,
    F: Fn() -> Result<W, Failure> + Send + Sync + 'static,
{
    let mut request = settings.request(order);
    if let Some(asker) = &asker {
        request.concurrency = request.concurrency.div_ceil(LISTING_SHARE);
        request.permits = Some(asker.permits());
    }
    let hints = Hints::recall(&client, &settings.bucket, P::LISTED, &mut request).await;
    let listing = (P::list(client, &settings.bucket, request), hints);
    let (is_json, printer) = (settings.json, Arc::clone(printer));
    let tell = move |notice: Notice| tell(&notice, is_json, &printer);
    let chosen = (settings.selection.clone(), asker);
    run(listing, settings.work_order(order), chosen, tell, make).await
}

/// Runs workers over the pages of a listing, which leaves what it finds out; `tell` receives the
/// notices about the server.
pub(crate) async fn run_workers<P, W, F>(
    listing: (Listing<P>, Option<Hints>),
    order: Order,
    selection: Selection,
    tell: impl Fn(Notice) + Send + 'static,
    make: F,
) -> Result<Vec<W::Done>, Failure>
where
    P: Entries,
    W: PageWorker<P>,
    F: Fn() -> Result<W, Failure> + Send + Sync + 'static,
{
    run(listing, order, (selection, None), tell, make).await
}

async fn run<P, W, F>(
    listing: (Listing<P>, Option<Hints>),
    order: Order,
    (selection, asker): (Selection, Option<Arc<Asker>>),
    tell: impl Fn(Notice) + Send + 'static,
    make: F,
) -> Result<Vec<W::Done>, Failure>
where
    P: Entries,
    W: PageWorker<P>,
    F: Fn() -> Result<W, Failure> + Send + Sync + 'static,
{
    let is_slow = W::IS_SLOW || selection.script.is_some() || asker.is_some();
    let count = workers(order, asker.is_some());
    // One batch waits for each worker.
    let (sender, pages) = async_channel::bounded(count);
    let make = Arc::new(make);
    let mut tasks = JoinSet::new();
    for _ in 0..count {
        let (make, pages) = (Arc::clone(&make), pages.clone());
        let selector = Selector::new(selection.clone(), asker.clone())?;
        tasks.spawn_blocking(move || work(&*make, selector, &pages));
    }
    drop(pages);
    // Beside the listing, on the threads that receive: this is another thread, and to wake it for
    // each page costs more than to hand the page on.
    let mut hand_out_task = JoinSet::new();
    let batch_pages = if is_slow { 1 } else { (BATCHED_PAGES / count).clamp(1, BATCH_PAGES) };
    hand_out_task.spawn(hand_out(listing, batch_pages, sender, tell));
    let listed = match hand_out_task.join_next().await {
        Some(Err(error)) => carry_on(error),
        Some(Ok(listed)) => listed,
        None => Ok(()),
    };
    let mut done = Vec::with_capacity(count);
    while let Some(joined) = tasks.join_next().await {
        let joined = joined.map_err(|error| Failure::other(format!("listing failed: {error}")));
        done.push(joined.and_then(|result| result));
    }
    // A worker that fails ends the listing without an error of its own.
    let done = done.into_iter().collect::<Result<Vec<_>, _>>()?;
    listed.map(|()| done)
}

/// What is said of nothing where there may be objects that were not asked for.
pub(super) const THAT_MEETS: &str = " that meets the conditions";

/// Says why a listing that printed nothing ends with [`crate::exit::FAILED`].
pub(super) fn note_nothing(settings: &ListingSettings, printer: &Printer) {
    let address = format!("s3://{}/{}", settings.bucket, settings.prefix);
    let escape = printer.error_is_terminal();
    printer.error(|buffer| {
        buffer.extend_from_slice(b"note: nothing was found at `");
        push_name(buffer, &address, escape);
        let meant = if settings.is_selection() { THAT_MEETS } else { "" };
        buffer.extend_from_slice(format!("`{meant}\n").as_bytes());
    });
}

/// A listing that panics is not one that failed.
fn carry_on(error: JoinError) -> Result<(), Failure> {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(error) => Err(Failure::other(format!("listing failed: {error}"))),
    }
}

fn workers(order: Order, is_asking: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match order {
        Order::Ascending => 1,
        // Those that wait for answers need no core.
        Order::Any if is_asking => cores.max(ASKING_WORKERS),
        Order::Any => cores,
    }
}

/// Sends pages to idle workers until the listing ends or no worker is left.
async fn hand_out<P>(
    (mut listing, hints): (Listing<P>, Option<Hints>),
    batch_pages: usize,
    sender: Sender<Vec<P>>,
    tell: impl Fn(Notice),
) -> Result<(), Failure> {
    while let Some(first) = listing.next().await {
        let (pages, end) = batch(first, &mut listing, batch_pages).await;
        listing.take_notices().into_iter().for_each(&tell);
        if !pages.is_empty() && sender.send(pages).await.is_err() {
            return Ok(());
        }
        end?;
    }
    // The workers need not wait for it.
    drop(sender);
    if let Some(hints) = hints {
        hints.keep(listing.take_boundaries()).await;
    }
    Ok(())
}

/// A page and those that come soon after it, up to an error.
async fn batch<P>(
    first: Result<PageRange<P>, Error>,
    listing: &mut Listing<P>,
    batch_pages: usize,
) -> (Vec<P>, Result<(), Error>) {
    let (mut pages, mut next) = (Vec::new(), Some(first));
    let until = Instant::now() + BATCH_WAIT;
    while let Some(piece) = next {
        match piece {
            Ok(piece) => pages.push(piece.page),
            Err(error) => return (pages, Err(error)),
        }
        if pages.len() >= batch_pages {
            break;
        }
        // `next` may be dropped while it waits.
        next = timeout_at(until, listing.next()).await.unwrap_or_default();
    }
    (pages, Ok(()))
}

fn tell(notice: &Notice, is_json: bool, printer: &Printer) {
    let message = notice.to_string();
    if is_json {
        return printer.output(|buffer| json::push_warning(buffer, &message));
    }
    printer.error(|buffer| buffer.extend_from_slice(format!("warning: {message}\n").as_bytes()));
}

fn work<P: Entries, W: PageWorker<P>>(
    make: &impl Fn() -> Result<W, Failure>,
    selector: Selector,
    pages: &Receiver<Vec<P>>,
) -> Result<W::Done, Failure> {
    let done = make().and_then(|worker| work_through(worker, selector, pages));
    if done.is_err() {
        pages.close();
    }
    done
}

fn work_through<P: Entries, W: PageWorker<P>>(
    mut worker: W,
    mut selector: Selector,
    pages: &Receiver<Vec<P>>,
) -> Result<W::Done, Failure> {
    while let Ok(batch) = pages.recv_blocking() {
        for page in batch {
            if worker.page(&selector.select(&page)?)?.is_break() {
                pages.close();
                return worker.finish();
            }
        }
    }
    worker.finish()
}
