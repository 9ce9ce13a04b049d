//! `summarize`: figures of all objects under an address.
//!
//! Each worker gathers a summary of its own; they are merged at the end. Nothing is written
//! unless the listing is complete.

use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Timestamp;
use s3haul::summary::{Summary, SummaryOptions, UploadFigures, VersionRow, open_uploads};
use s3haul_list::Order;
use s3haul_wire::Client;
use s3haul_wire::ops::{ListPage, VersionPage};

use super::listing::{PageWorker, SelectedPage, for_each_page, note_nothing};
use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::{Output, Printer};
use crate::render::html;
use crate::render::html::summary::Extras;
use crate::render::summary::render;
use crate::render::summary::report::{Report, Style};
use crate::settings::SummarizeSettings;

/// Folders that each worker keeps for the page.
const TREE_FOLDERS_MAX: usize = 100_000;

/// Summarizes what is under an address.
pub(super) async fn run(
    settings: SummarizeSettings,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    let client = client(settings.listing.client.clone())?;
    // Before the listing, so that an output file that cannot be created fails at once.
    let output = Output::new(settings.task.output_file.as_deref(), printer)?;
    let html = settings.task.html.as_deref();
    let html = html.map(|path| Output::new(Some(path), printer)).transpose()?;
    let now_s = Timestamp::now().as_second();
    let mut summary = gather(client.clone(), &settings, printer, now_s).await?;
    let uploads = uploads(client, &settings).await?;
    let figures = summary.figures();
    let report = Report {
        bucket: &settings.listing.bucket,
        prefix: &settings.listing.prefix,
        is_selection: settings.listing.is_selection(),
        at_s: now_s,
        depth: settings.task.depth as usize,
        top: settings.task.top as usize,
        figures: &figures,
        uploads: uploads.as_ref(),
    };
    let style = Style { unicode: settings.unicode };
    // A reader that has gone is seen below.
    _ = output.write(&render(&report, settings.format, style))?;
    output.commit()?;
    if let (Some(html), Some(details)) = (html, summary.details()) {
        let SummarizeSettings { prices, earlier, flags, .. } = &settings;
        let extras = Extras { details: &details, prices, earlier, flags };
        _ = html.write(&html::summary::page(&report, &extras))?;
        html.commit()?;
    }
    if printer.output_is_closed() {
        return Ok(exit::BROKEN_PIPE);
    }
    let markers = figures.versions.map_or(0, |versions| versions.delete_markers);
    let found = figures.total.objects + markers + uploads.map_or(0, |uploads| uploads.uploads);
    let nothing = found == 0 && !settings.listing.is_whole_bucket();
    if nothing {
        note_nothing(&settings.listing, printer);
    }
    Ok(if nothing { exit::FAILED } else { exit::SUCCESS })
}

async fn gather(
    client: Client,
    settings: &SummarizeSettings,
    printer: &Arc<Printer>,
    now_s: i64,
) -> Result<Summary, Failure> {
    let options = SummaryOptions {
        prefix: settings.listing.prefix.clone(),
        depth: settings.task.depth as usize,
        top: settings.task.top as usize,
        now_s,
        tree_folders_max: if settings.task.html.is_some() { TREE_FOLDERS_MAX } else { 0 },
        ..SummaryOptions::default()
    };
    let mut summary = Summary::new(options.clone());
    let make = move || Ok(Gatherer { summary: Summary::new(options.clone()) });
    let (listing, order) = (&settings.listing, Order::Any);
    let parts = if settings.task.versions {
        for_each_page::<VersionPage, _, _>(client, listing, order, printer, make).await?
    } else {
        for_each_page::<ListPage, _, _>(client, listing, order, printer, make).await?
    };
    for part in parts {
        summary.merge(part);
    }
    Ok(summary)
}

async fn uploads(
    client: Client,
    settings: &SummarizeSettings,
) -> Result<Option<UploadFigures>, Failure> {
    if !settings.task.uploads {
        return Ok(None);
    }
    let SummarizeSettings { listing, task, .. } = settings;
    let place = (listing.bucket.as_str(), listing.prefix.as_str());
    let is_wanted = |key: &str| listing.selection.includes_name(key);
    let top = task.top as usize;
    Ok(Some(open_uploads(client, place, is_wanted, listing.concurrency, top).await?))
}

struct Gatherer {
    summary: Summary,
}

impl PageWorker for Gatherer {
    type Done = Summary;

    fn page(&mut self, page: &SelectedPage<'_>) -> Result<ControlFlow<()>, Failure> {
        match page.whole() {
            Some(page) => self.summary.add_page(page),
            None => self.summary.add_objects(page.iter()),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> Result<Summary, Failure> {
        Ok(self.summary)
    }
}

impl PageWorker<VersionPage> for Gatherer {
    type Done = Summary;

    fn page(&mut self, page: &SelectedPage<'_, VersionPage>) -> Result<ControlFlow<()>, Failure> {
        let rows = page.entries().map(|entry| VersionRow {
            object: entry.object,
            is_latest: entry.version.is_some_and(|version| version.is_latest),
            is_delete_marker: entry.version.is_some_and(|version| version.is_delete_marker),
        });
        self.summary.add_versions(rows);
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> Result<Summary, Failure> {
        Ok(self.summary)
    }
}
