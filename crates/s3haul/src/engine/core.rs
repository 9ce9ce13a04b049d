//! What all actions of a job share: settings, clients, limits, reporter.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::bandwidth::Bandwidth;
use super::buffers::Buffers;
use super::route::can_read;
use super::settings::Settings;
use crate::engine::inline_io::InlineGate;
use crate::engine::limits::Limits;
use crate::engine::object::{change_of, changed};
use crate::engine::open_uploads::OpenUploads;
use crate::engine::reporter::Reporter;
use crate::engine::shared_limits::SharedLimits;
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::location::{Location, ObjectName};
use crate::plan::content_type::ContentTypes;
use crate::plan::expected::Expected;
use s3haul_wire::error::{Error, ErrorKind};
use s3haul_wire::{Client, CustomerKey};

/// Settings, clients and bounds of a job. Every task and every blocking call that must have ended
/// before the job returns holds an `Arc` of it.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) settings: Settings,
    /// Reads and removes the source.
    pub(crate) source: Client,
    /// Finishes moves, also after an early end.
    pub(crate) source_finishing: Client,
    /// Writes the target.
    pub(crate) target: Client,
    /// Copies go through this machine, because the target cannot read the source.
    pub(crate) relays: bool,
    pub(crate) limits: Arc<Limits>,
    pub(crate) bandwidth: Arc<Bandwidth>,
    pub(crate) buffers: Arc<Buffers>,
    pub(crate) report: Arc<Reporter>,
    pub(crate) uploads: Arc<OpenUploads>,
    /// Ends the job: what is in flight is given up.
    pub(crate) stop: CancellationToken,
    /// Cancels source removals that outlive the job.
    pub(crate) give_up: CancellationToken,
    content_types: Arc<OnceLock<ContentTypes>>,
    inline_reads: OnceLock<Arc<InlineGate>>,
    tags_asked: AtomicBool,
    copy_checked: AtomicU32,
    /// The service of the target has no conditions on what is written.
    pub(crate) conditions_refused: AtomicBool,
    /// Whether a warning that tags of the source cannot be read was reported.
    pub(crate) tags_warned: AtomicBool,
    _alive: mpsc::Sender<Infallible>,
}

/// Signals that every handle of an engine has been dropped.
#[derive(Debug)]
pub(crate) struct Ended(mpsc::Receiver<Infallible>);

impl Ended {
    /// Waits until every holder of the engine is gone.
    pub(crate) async fn wait(&mut self) {
        let none: Option<Infallible> = self.0.recv().await;
        debug_assert!(none.is_none());
    }
}

impl Engine {
    /// An engine and the means to wait for its end.
    pub(crate) fn new(
        settings: Settings,
        source: Client,
        target: Client,
        report: Arc<Reporter>,
    ) -> (Arc<Self>, Ended) {
        let (alive, ended) = mpsc::channel(1);
        let SharedLimits { limits, bandwidth, content_types } =
            SharedLimits::of_job(&settings.tuning);
        let buffers = Arc::default();
        let uploads =
            OpenUploads::new(target.clone(), report.journal_handle(), settings.portion.clone());
        let relays = settings.streams_copies || !can_read(target.config(), source.config());
        // Requests that race late ones are among those that the job bounds.
        report.watch_listings([source.has_listed(), target.has_listed()]);
        let source_finishing = source.within(limits.requests()).unhalted();
        let [source, target] = [source, target]
            .map(|client| client.within(limits.requests()).halted_by(report.early_end()));
        let engine = Self {
            settings,
            source,
            source_finishing,
            target,
            relays,
            limits,
            bandwidth,
            buffers,
            report,
            uploads,
            stop: CancellationToken::new(),
            give_up: CancellationToken::new(),
            content_types,
            inline_reads: OnceLock::new(),
            tags_asked: AtomicBool::new(false),
            copy_checked: AtomicU32::new(0),
            conditions_refused: AtomicBool::new(false),
            tags_warned: AtomicBool::new(false),
            _alive: alive,
        };
        (Arc::new(engine), Ended(ended))
    }

    /// Sends one request within the bound of requests in flight of the job. Slots of large
    /// objects, memory and bandwidth are acquired before it.
    pub(crate) async fn send<R: Future>(&self, request: impl FnOnce() -> R) -> R::Output {
        let _permit = self.limits.request().await;
        request().await
    }

    /// Media type of a file or key by its name. The system's tables are read with the first; that
    /// is about a millisecond, once, so it is not worth a thread.
    pub(crate) fn guess_content_type(&self, name: &str) -> Option<&str> {
        let types = self.content_types.get_or_init(|| {
            let mut types = ContentTypes::builtin();
            for table in &self.settings.media_type_tables {
                if let Ok(text) = std::fs::read(table) {
                    types.add_table(&String::from_utf8_lossy(&text));
                }
            }
            types
        });
        types.guess(name)
    }

    /// Loops that act at once, each on one object: as many as requests are worth making now, unless
    /// there is only one object.
    pub(crate) fn workers_wanted(&self) -> usize {
        if self.settings.is_one {
            return 1;
        }
        let wanted = self.source.requests_wanted().max(self.target.requests_wanted());
        wanted.min(self.limits.requests_max())
    }

    /// Leave to read pieces of large files on the threads that send them, from the first call on
    /// with a watchdog where there are several.
    pub(crate) fn inline_reads(&self) -> Arc<InlineGate> {
        let new = || {
            let runtime = Handle::current();
            let threads = runtime.metrics().num_workers();
            let (gate, watchdog) = InlineGate::among(threads);
            if threads > 1 {
                tokio::task::spawn_blocking(move || watchdog.run(&runtime));
            }
            gate
        };
        Arc::clone(self.inline_reads.get_or_init(new))
    }

    /// Whether an earlier call was made: the first caller finds out whether tags can be read.
    pub(crate) fn has_asked_tags(&self) -> bool {
        self.tags_asked.swap(true, Ordering::Relaxed)
    }

    /// Whether earlier calls covered all of these bits: the first copy that touches each property
    /// is checked for what the server applied.
    pub(crate) fn has_checked(&self, touched: u32) -> bool {
        touched & !self.copy_checked.fetch_or(touched, Ordering::Relaxed) == 0
    }

    /// Whether it is known that the service of the target heeds conditions on what is written:
    /// Amazon S3 does, others may ignore them.
    pub(crate) fn heeds_conditions(&self) -> bool {
        self.target.config().endpoint.url.is_none()
    }

    /// Whether a copy of this size goes in parts.
    pub(crate) fn is_large_copy(&self, size: u64) -> bool {
        if self.relays {
            self.settings.is_multipart(size)
        } else {
            self.settings.is_multipart_copy(size)
        }
    }

    /// Names an object of the source.
    pub(crate) fn source_object(&self, key: String) -> Location {
        Location::Object(ObjectName::new(self.settings.source_bucket.clone(), key))
    }

    /// Names an object of the source in one version, or in its current one.
    pub(crate) fn source_version(&self, key: String, version_id: Option<String>) -> Location {
        let name = ObjectName::new(self.settings.source_bucket.clone(), key);
        Location::Object(name.in_version(version_id))
    }

    /// Names an object of the target.
    pub(crate) fn target_object(&self, key: String) -> Location {
        Location::Object(ObjectName::new(self.settings.target_bucket.clone(), key))
    }

    /// The event of an object in a dry run; after it was acted on, its outcome is replaced.
    pub(crate) fn event(
        &self,
        action: ActionKind,
        source: Location,
        target: Option<Location>,
        bytes: u64,
    ) -> ObjectEvent {
        let is_move = self.settings.is_move;
        let outcome = Outcome::DryRun;
        ObjectEvent {
            action,
            is_move,
            source,
            target,
            bytes,
            reason: None,
            expected: None,
            outcome,
        }
    }

    /// Reports the outcome of an object. A target that exists and must not be replaced is no
    /// failure.
    pub(crate) fn conclude(&self, event: ObjectEvent, result: Result<(), Error>) {
        let outcome = match (result, &event.expected) {
            (Ok(()), _) => Outcome::Done,
            (Err(error), Some(expected)) => Outcome::Failed(unexpected(error, expected)),
            (Err(error), None) if self.is_refused_overwrite(&error) => Outcome::Skipped,
            (Err(error), None) => Outcome::Failed(error),
        };
        self.report.object(ObjectEvent { outcome, ..event });
    }

    /// Reports the outcome of an object that was changed in place, and whether anything had to be
    /// done.
    pub(crate) fn conclude_in_place(&self, event: ObjectEvent, result: Result<bool, Error>) {
        let outcome = match result {
            Ok(true) => Outcome::Done,
            Ok(false) => Outcome::Skipped,
            Err(error) => Outcome::Failed(error),
        };
        self.report.object(ObjectEvent { outcome, ..event });
    }

    /// Reports an entry that failed before it became an action.
    pub(crate) fn conclude_unplanned(
        &self,
        action: ActionKind,
        source: Location,
        target: Option<Location>,
        error: Error,
    ) {
        self.report.planned(0);
        self.conclude(self.event(action, source, target, 0), Err(error));
    }

    fn is_refused_overwrite(&self, error: &Error) -> bool {
        self.settings.no_overwrite && error.kind() == ErrorKind::PreconditionFailed
    }
}

/// The error of an action on what was found before: a condition that did not hold means that one of
/// its sides is no longer so.
fn unexpected(error: Error, expected: &Expected) -> Error {
    let is_of_request = error.operation().is_some();
    match error.kind() {
        ErrorKind::PreconditionFailed | ErrorKind::SourceChanged if is_of_request => {
            changed("the source or the target", Some(expected)).with_source(error)
        }
        // Something may have been done by then: a move copies before it removes.
        ErrorKind::SourceChanged => {
            let message = change_of("the source", Some(expected));
            Error::new(ErrorKind::PreconditionFailed, message).with_source(error)
        }
        _ => error,
    }
}

/// One of the two buckets of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// That of the source: `rm`, `mv`.
    Source,
    /// That of the target: `sync --delete`.
    Target,
    /// That of the source, for an object whose copy is safe: removed also after an early end.
    Moved,
}

impl Place {
    pub(crate) fn client(self, engine: &Engine) -> &Client {
        match self {
            Self::Source => &engine.source,
            Self::Target => &engine.target,
            Self::Moved => &engine.source_finishing,
        }
    }

    pub(crate) fn bucket(self, engine: &Engine) -> &str {
        match self {
            Self::Source | Self::Moved => &engine.settings.source_bucket,
            Self::Target => &engine.settings.target_bucket,
        }
    }

    /// The key that the job's objects there are encrypted with, where it gives one.
    pub(crate) fn customer_key(self, engine: &Engine) -> Option<&CustomerKey> {
        match self {
            Self::Source | Self::Moved => engine.settings.source_customer_key.as_ref(),
            Self::Target => engine.settings.properties.customer_key.as_ref(),
        }
    }

    pub(crate) fn version(
        self,
        engine: &Engine,
        key: String,
        version_id: Option<String>,
    ) -> Location {
        let name = ObjectName::new(self.bucket(engine), key);
        Location::Object(name.in_version(version_id))
    }
}
