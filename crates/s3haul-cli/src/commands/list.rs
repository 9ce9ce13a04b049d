//! `list` and `find`: all objects or versions under an address, or those that meet conditions, in
//! the order of arrival or of the keys.
//!
//! Each worker formats its pages into a buffer of its own and writes that in one piece, so that
//! printing takes as many cores as there are. Rows of a Parquet table go into one table.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use s3haul_list::Order;
use s3haul_wire::Client;
use s3haul_wire::ops::{ListPage, VersionPage};
use s3haul_wire::units::RequestCounts;

use super::asker::Asker;
use super::listing::{Entries, PageWorker, SelectedPage, for_each_asked_page, note_nothing};
use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::manifest::is_ambiguous;
use crate::printer::{Output, OutputStream, Printer};
use crate::render::listing::{
    Entry, Format, ParquetTable, RowFormat, RowStyle, push_requests, push_summary,
    push_summary_event,
};
use crate::settings::ListSettings;

/// Lists objects or versions.
pub(super) async fn run(settings: ListSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let way = Way::new(&settings, printer)?;
    let output = Arc::new(Output::new(settings.task.output_file.as_deref(), printer)?);
    let totals = if settings.format == Format::Parquet {
        list_table(&way, &output).await?
    } else {
        list_rows(&way, &output).await?
    };
    let requests = way.client.requests_sent();
    tracing::info!(objects = totals.objects, ?requests, "listed");
    if settings.task.summarize {
        let requests = settings.find.is_some().then_some(requests);
        summarize(&totals, requests, &settings, &output, printer)?;
    }
    let in_use = || Failure::other("listing failed: the output is still being written");
    Arc::into_inner(output).ok_or_else(in_use)?.commit()?;
    if printer.output_is_closed() {
        return Ok(exit::BROKEN_PIPE);
    }
    // As with find(1) it is no failure that nothing was found.
    let may_be_empty = settings.find.is_some() || settings.listing.is_whole_bucket();
    let nothing = totals.objects == 0 && !may_be_empty;
    if nothing {
        note_nothing(&settings.listing, printer);
    }
    let has_failed = way.asker.is_some_and(|asker| asker.failed() > 0);
    Ok(if nothing || has_failed { exit::FAILED } else { exit::SUCCESS })
}

/// Lists for a program, and gives the number of objects that could not be looked at. Workers do
/// with pages what they like.
pub(crate) async fn list_through<W, F>(
    settings: &ListSettings,
    printer: &Arc<Printer>,
    make: F,
) -> Result<u64, Failure>
where
    W: PageWorker<Done = Totals> + PageWorker<VersionPage, Done = Totals>,
    F: Fn() -> Result<W, Failure> + Send + Sync + 'static,
{
    let way = Way::new(settings, printer)?;
    list_with(&way, make).await?;
    Ok(way.asker.map_or(0, |asker| asker.failed()))
}

/// How it is listed.
struct Way<'a> {
    client: Client,
    asker: Option<Arc<Asker>>,
    settings: &'a ListSettings,
    printer: &'a Arc<Printer>,
}

impl<'a> Way<'a> {
    fn new(settings: &'a ListSettings, printer: &'a Arc<Printer>) -> Result<Self, Failure> {
        let client = client(settings.listing.client.clone())?;
        let find = settings.find.as_ref().filter(|find| find.asks());
        let asker = find.map(|find| Asker::new(client.clone(), &settings.listing, find, printer));
        Ok(Self { client, asker: asker.map(Arc::new), settings, printer })
    }
}

/// What was listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Objects, or versions.
    pub(crate) objects: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
}

impl Totals {
    /// Counts an entry.
    pub(crate) fn add(&mut self, entry: &Entry<'_>) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(entry.object.size);
    }

    /// Counts the objects of a page.
    pub(crate) fn add_page(&mut self, page: &ListPage) {
        self.objects += page.len() as u64;
        self.bytes = self.bytes.saturating_add(page.bytes());
    }

    fn sum(all: Vec<Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, totals| Self {
            objects: sum.objects + totals.objects,
            bytes: sum.bytes.saturating_add(totals.bytes),
        })
    }
}

async fn list_rows(way: &Way<'_>, output: &Arc<Output>) -> Result<Totals, Failure> {
    let settings = way.settings;
    let style =
        RowStyle { human_readable: settings.task.human_readable, escape: output.is_terminal() };
    let format = (settings.format, settings.fields.clone(), settings.listing.bucket.clone());
    let output = Arc::clone(output);
    let rows = move || {
        let (format, fields, bucket) = &format;
        RowFormat::new(*format, fields, bucket, style).with_addresses_of(is_ambiguous)
    };
    if settings.task.header {
        let mut header = Vec::new();
        rows().push_header(&mut header);
        if output.write(&header)?.is_break() {
            return Ok(Totals::default());
        }
    }
    let make = move || {
        let (rows, output) = (rows(), Arc::clone(&output));
        Ok(RowWorker { rows, output, buffer: Vec::new(), totals: Totals::default() })
    };
    list_with(way, make).await
}

async fn list_table(way: &Way<'_>, output: &Arc<Output>) -> Result<Totals, Failure> {
    let Way { settings, printer, .. } = way;
    if output.is_terminal() {
        return Err(Failure::usage(
            "Parquet cannot be shown on a terminal: name a file with --output-file",
        ));
    }
    let table = Table::new(OutputStream(Arc::clone(output)), &settings.fields);
    let table = Arc::new(Mutex::new(Some(table.map_err(table_failure)?)));
    let (shared, bucket) = (Arc::clone(&table), settings.listing.bucket.clone());
    let closed = Arc::clone(*printer);
    let make = move || {
        let (table, bucket, printer) = (Arc::clone(&shared), bucket.clone(), Arc::clone(&closed));
        Ok(TableWorker { table, bucket, printer, totals: Totals::default() })
    };
    let totals = list_with(way, make).await?;
    let table = table.lock().unwrap_or_else(PoisonError::into_inner).take();
    match table.map(Table::finish) {
        Some(Err(_)) if printer.output_is_closed() => {}
        Some(finished) => finished.map_err(table_failure)?,
        None => {}
    }
    Ok(totals)
}

async fn list_with<W, F>(way: &Way<'_>, make: F) -> Result<Totals, Failure>
where
    W: PageWorker<Done = Totals> + PageWorker<VersionPage, Done = Totals>,
    F: Fn() -> Result<W, Failure> + Send + Sync + 'static,
{
    let Way { client, asker, settings, printer } = way;
    let order = if settings.task.sort { Order::Ascending } else { Order::Any };
    let (listing, client, asker) = (&settings.listing, client.clone(), asker.clone());
    let totals = if settings.task.versions {
        for_each_asked_page::<VersionPage, _, _>(client, listing, order, printer, asker, make)
            .await?
    } else {
        for_each_asked_page::<ListPage, _, _>(client, listing, order, printer, asker, make).await?
    };
    Ok(Totals::sum(totals))
}

/// Formats pages as lines.
struct RowWorker {
    rows: RowFormat,
    output: Arc<Output>,
    buffer: Vec<u8>,
    totals: Totals,
}

impl<P: Entries> PageWorker<P> for RowWorker {
    type Done = Totals;

    fn page(&mut self, page: &SelectedPage<'_, P>) -> Result<ControlFlow<()>, Failure> {
        self.buffer.clear();
        match page.whole().and_then(P::objects) {
            Some(objects) if self.rows.push_page(&mut self.buffer, objects) => {
                self.totals.add_page(objects);
            }
            _ => {
                for entry in page.entries() {
                    self.totals.add(&entry);
                    self.rows.push(&mut self.buffer, &entry);
                }
            }
        }
        self.output.write(&self.buffer)
    }

    fn finish(self) -> Result<Totals, Failure> {
        Ok(self.totals)
    }
}

type Table = ParquetTable<OutputStream>;

/// Adds pages to the one table.
struct TableWorker {
    table: Arc<Mutex<Option<Table>>>,
    bucket: String,
    printer: Arc<Printer>,
    totals: Totals,
}

impl<P: Entries> PageWorker<P> for TableWorker {
    type Done = Totals;

    fn page(&mut self, page: &SelectedPage<'_, P>) -> Result<ControlFlow<()>, Failure> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(table) = table.as_mut() else { return Ok(ControlFlow::Break(())) };
        for entry in page.entries() {
            self.totals.add(&entry);
            match table.push(&entry, &self.bucket) {
                Err(_) if self.printer.output_is_closed() => return Ok(ControlFlow::Break(())),
                pushed => pushed.map_err(table_failure)?,
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> Result<Totals, Failure> {
        Ok(self.totals)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it goes where a function of an error is due")]
fn table_failure(error: io::Error) -> Failure {
    // The output says which file it is.
    Failure::other(error.to_string())
}

/// The totals end the lines of `aws s3 ls` and the events; beside data they go to standard error.
fn summarize(
    totals: &Totals,
    requests: Option<RequestCounts>,
    settings: &ListSettings,
    output: &Output,
    printer: &Printer,
) -> Result<(), Failure> {
    let Totals { objects, bytes } = *totals;
    let style = RowStyle { human_readable: settings.task.human_readable, escape: false };
    let mut lines = Vec::new();
    match settings.format {
        Format::Text => push_summary(&mut lines, objects, bytes, style),
        Format::Events => push_summary_event(&mut lines, objects, bytes, requests),
        _ => {
            push_summary(&mut lines, objects, bytes, style);
            if let Some(requests) = requests {
                push_requests(&mut lines, requests);
            }
            printer.error(|buffer| buffer.extend_from_slice(lines.trim_ascii_start()));
            return Ok(());
        }
    }
    output.write(&lines).map(drop)
}
