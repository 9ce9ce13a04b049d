//! Events of a running job: the one contract between the engine and its user interfaces.
//!
//! Events are given by reference, so that a sink that only counts costs no allocation.

use crate::location::{Location, ObjectName};
use crate::plan::expected::Expected;
use s3haul_wire::error::Error;

/// What is done to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// Local file or stream to S3.
    Upload,
    /// S3 to a local file or stream.
    Download,
    /// S3 to S3, by the server.
    Copy,
    /// Removal.
    Delete,
    /// Reading or changing of tags.
    Tag,
    /// Changing of headers, storage class, encryption, ACL or lock.
    Set,
    /// Restoring from an archive.
    Restore,
    /// Removal of a delete marker, so that what it hides is there again.
    Undelete,
}

impl ActionKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Upload,
        Self::Download,
        Self::Copy,
        Self::Delete,
        Self::Tag,
        Self::Set,
        Self::Restore,
        Self::Undelete,
    ];
}

/// How one object ended.
#[derive(Debug)]
pub enum Outcome {
    /// It is done.
    Done,
    /// It would have been done: the job is a dry run.
    DryRun,
    /// Nothing had to be done (for instance the target exists and is not to be overwritten).
    Skipped,
    /// It failed; the rest of the job goes on.
    Failed(Error),
    /// It was not tried, or not to its end, because the job ended early.
    NotTried,
}

/// One object's end.
#[derive(Debug)]
pub struct ObjectEvent {
    /// What was done.
    pub action: ActionKind,
    /// The source is removed after the action: the command was `mv`.
    pub is_move: bool,
    /// Source, or what is deleted.
    pub source: Location,
    /// Target, absent for a deletion.
    pub target: Option<Location>,
    /// Size of the object in bytes, where known.
    pub bytes: u64,
    /// Why it was decided on: the word of `plan::compare::Reason`; nothing where all is taken.
    pub reason: Option<&'static str>,
    /// Both sides as they were found, in a dry run as far as it looked at them, in a job that is
    /// planned, and in one that does a plan.
    pub expected: Option<Box<Expected>>,
    /// Result.
    pub outcome: Outcome,
}

/// Something that happened in a job.
#[derive(Debug)]
pub enum Event {
    /// An action was queued; `bytes` is what it will move.
    Planned {
        /// Bytes that the action will move.
        bytes: u64,
    },
    /// Nothing more will be planned: totals are final.
    PlanComplete,
    /// Bytes were moved on behalf of an action not yet ended. Their sum is all that was moved:
    /// every byte of an object that ends well is reported here once, before its `Object` event;
    /// what is redone or belongs to an object that failed is taken back with a negative number.
    Progress {
        /// Bytes since the last report.
        bytes: i64,
    },
    /// An object ended.
    Object(ObjectEvent),
    /// Tags of an object, where they were asked for; its `Object` event follows.
    Tags {
        /// The object.
        object: ObjectName,
        /// Keys and values.
        tags: Vec<(String, String)>,
    },
    /// Whether an object can be read or is archived, where that was asked for; its `Object` event
    /// follows.
    Archive {
        /// The object.
        object: ObjectName,
        /// Its storage class.
        storage_class: String,
        /// `not archived`, `archived`, `in progress` or `restored`.
        state: &'static str,
        /// HTTP date until which a restored one can be read.
        until: Option<String>,
    },
    /// Something the user should know that is not a failure. Most make the exit status 2, for
    /// which the job's summary counts them. The text is what follows `warning: `.
    Warning {
        /// The text.
        message: String,
    },
    /// The job as a whole cannot go on (for instance the listing failed).
    Fatal {
        /// The cause.
        error: Error,
    },
}

/// Receives the events of a job, from several threads at once.
pub trait EventSink: Send + Sync {
    /// Takes one event. Must be quick and never block for long.
    fn emit(&self, event: &Event);

    /// Whether each object is wanted that is not tried because the job ended early. Else nothing
    /// more is planned then.
    fn wants_untried(&self) -> bool {
        false
    }
}

/// A sink that drops all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _event: &Event) {}
}
