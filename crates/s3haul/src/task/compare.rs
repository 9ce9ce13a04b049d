//! `compare` and `verify`: what two trees have in common and where they differ.
//!
//! Both sides are listed in parallel and merged name by name, as `sync` does it. Pairs that the
//! listings cannot decide are looked at many at a time; results are still reported in the order of
//! names, through a window of bounded length. Nothing is written anywhere.

mod comparison;
pub(crate) mod outcome;
mod roots;
mod window;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::reporter::Reporter;
use crate::engine::settings::Settings;
use crate::engine::settings::Tuning;
use crate::event::{Event, EventSink};
use crate::fs::WalkOptions;
use crate::job::spec::Clients;
use crate::plan::content::Depth;
use crate::plan::filter::FilterRule;
use crate::plan::paths::Side;
use crate::source::hints::{NamesAhead, Original};
use crate::source::listing::NamesRequest;
use crate::source::side::SideStream;
use comparison::Comparison;
pub(crate) use outcome::{CompareSink, CompareSummary};
use roots::{Root, roots};
use s3haul_wire::error::Result;
use s3haul_wire::{CustomerKey, ObjectProperties};

/// Time that the end of a job waits for what cannot be interrupted: blocking file work.
const END_TIME_MAX: Duration = Duration::from_secs(30);

/// A comparison, fully resolved.
#[derive(Clone, Debug)]
pub struct CompareSpec {
    /// Source as typed: a folder, or `s3://…`.
    pub source: String,
    /// Target as typed.
    pub target: String,
    /// Working directory that relative paths start from.
    pub working_dir: PathBuf,
    /// Filters in command-line order.
    pub filters: Vec<FilterRule>,
    /// Follow symbolic links while walking.
    pub follow_symlinks: bool,
    /// Keys a LIST page.
    pub page_size: Option<u32>,
    /// How much work is spent to decide whether bytes are the same.
    pub depth: Depth,
    /// Another time, in whole seconds, is a difference.
    pub compares_times: bool,
    /// SSE-C key of the source's objects.
    pub source_customer_key: Option<CustomerKey>,
    /// SSE-C key of the target's objects.
    pub target_customer_key: Option<CustomerKey>,
    /// Limits.
    pub tuning: Tuning,
}

/// Compares two trees. Pairs that could not be looked at are reported and counted. `Err` if an
/// argument makes no sense or a side could not be listed to its end; everything before that has
/// been reported. After cancellation the result has `cancelled` set.
pub async fn run_compare(
    spec: CompareSpec,
    clients: Clients,
    sink: Arc<dyn CompareSink>,
    cancel: CancellationToken,
) -> Result<CompareSummary> {
    let (spec, sides) = blocking(move || roots(&spec).map(|sides| (spec, sides))).await?;
    let report = Arc::new(Reporter::new(Arc::new(Warnings(Arc::clone(&sink)))));
    let settings = Settings {
        source_bucket: bucket_of(&sides[0]),
        target_bucket: bucket_of(&sides[1]),
        source_customer_key: spec.source_customer_key.clone(),
        properties: ObjectProperties {
            customer_key: spec.target_customer_key.clone(),
            ..ObjectProperties::default()
        },
        tuning: spec.tuning.clone(),
        ..Settings::default()
    };
    let Clients { source, target } = clients;
    let (engine, mut ended) = Engine::new(settings, source, target, Arc::clone(&report));
    let result = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        result = compare(&spec, &sides, engine, sink.as_ref()) => Some(result),
    };
    let _ = tokio::time::timeout(END_TIME_MAX, ended.wait()).await;
    let is_cancelled = result.is_none();
    let mut summary = result.transpose()?.unwrap_or_default();
    summary.warnings = report.counts().warnings;
    summary.cancelled = is_cancelled;
    Ok(summary)
}

async fn compare(
    spec: &CompareSpec,
    sides: &[Root; 2],
    engine: Arc<Engine>,
    sink: &dyn CompareSink,
) -> Result<CompareSummary> {
    let ahead = Arc::new(NamesAhead::default());
    let open = |root, place| open(spec, root, (place, &sides[0].side), (&engine, &ahead));
    let (source, target) = (open(&sides[0], Place::Source), open(&sides[1], Place::Target));
    let filters = sides.each_ref().map(|root| &*root.filter);
    Comparison::new(spec, filters, &engine, sink).run(source, target).await
}

fn open(
    spec: &CompareSpec,
    root: &Root,
    (place, source): (Place, &Side),
    (engine, ahead): (&Arc<Engine>, &Arc<NamesAhead>),
) -> SideStream {
    let filter = Arc::clone(&root.filter);
    match &root.side {
        Side::Object(name) => {
            let request = NamesRequest {
                through: None,
                after: "",
                place,
                root: &name.key,
                prefix: &name.key,
                filter: Some(&root.filter),
                page_size: spec.page_size,
                is_one: false,
                versions: None,
                decides_removals: false,
                original: Some(match source {
                    Side::Object(source) if place == Place::Target => {
                        Original::of_source(engine, &source.key)
                    }
                    _ => Original::Folder(Arc::clone(ahead)),
                }),
            };
            SideStream::of_prefix(engine, request, filter)
        }
        Side::Local(folder) => {
            let follow_symlinks = spec.follow_symlinks;
            // The folder that was named is compared, also where it is a link.
            let options =
                WalkOptions { follow_symlinks, follows_root: true, ..WalkOptions::default() };
            SideStream::of_folder(folder, options, filter, engine, ahead)
        }
        Side::Stream => unreachable!("roots are never streams"),
    }
}

fn bucket_of(root: &Root) -> String {
    match &root.side {
        Side::Object(name) => name.bucket.clone(),
        Side::Local(_) | Side::Stream => String::new(),
    }
}

/// Hands on the warnings of an engine; it moves nothing.
struct Warnings(Arc<dyn CompareSink>);

impl EventSink for Warnings {
    fn emit(&self, event: &Event) {
        if let Event::Warning { message } = event {
            self.0.warning(message);
        }
    }
}
