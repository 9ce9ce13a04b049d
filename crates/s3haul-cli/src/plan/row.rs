//! The columns of a plan.

use s3haul::event::ObjectEvent;
use s3haul::location::Location;
use s3haul::plan::expected::{Expected, State, TargetState};

use crate::render::json;
use crate::report::text;
use crate::table::{Cell, TableError};

/// Key of the job in the footer.
pub(super) const JOB: &str = "s3haul.job";

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// What is done.
    Action,
    /// The file or object that is transferred, changed or removed.
    Source,
    /// What it becomes; empty where it stays or goes.
    Target,
    /// Why.
    Reason,
    /// Size of the source in bytes.
    SourceSize,
    /// Last modification of the source in nanoseconds since 1970.
    SourceModified,
    /// `ETag` of the source without its quotes; empty for files.
    SourceEtag,
    /// Version of the source; empty where the current one is meant.
    SourceVersion,
    /// Storage class of the source; empty for files, and where it is not known.
    SourceClass,
    /// What the target was: `missing`, `found` or `unknown`.
    TargetState,
    /// Its size in bytes, where it was found.
    TargetSize,
    /// Its last modification, where it was found.
    TargetModified,
    /// Its `ETag`, where it was found.
    TargetEtag,
    /// Its version, where it is known.
    TargetVersion,
    /// Its storage class, where it is known.
    TargetClass,
    /// PUT, COPY, POST and LIST requests that it takes.
    RequestsWrite,
    /// GET and HEAD requests.
    RequestsRead,
    /// DELETE requests.
    RequestsDelete,
    /// The job.
    Job,
}

impl Column {
    /// All, in order.
    pub(super) const ALL: [Self; 19] = [
        Self::Action,
        Self::Source,
        Self::Target,
        Self::Reason,
        Self::SourceSize,
        Self::SourceModified,
        Self::SourceEtag,
        Self::SourceVersion,
        Self::SourceClass,
        Self::TargetState,
        Self::TargetSize,
        Self::TargetModified,
        Self::TargetEtag,
        Self::TargetVersion,
        Self::TargetClass,
        Self::RequestsWrite,
        Self::RequestsRead,
        Self::RequestsDelete,
        Self::Job,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Source => "source",
            Self::Target => "target",
            Self::Reason => "reason",
            Self::SourceSize => "source_size",
            Self::SourceModified => "source_modified_ns",
            Self::SourceEtag => "source_etag",
            Self::SourceVersion => "source_version_id",
            Self::SourceClass => "source_storage_class",
            Self::TargetState => "target_state",
            Self::TargetSize => "target_size",
            Self::TargetModified => "target_modified_ns",
            Self::TargetEtag => "target_etag",
            Self::TargetVersion => "target_version_id",
            Self::TargetClass => "target_storage_class",
            Self::RequestsWrite => "requests_write",
            Self::RequestsRead => "requests_read",
            Self::RequestsDelete => "requests_delete",
            Self::Job => "job",
        }
    }

    /// Whether a plan cannot be done without it.
    pub(super) fn is_needed(self) -> bool {
        !matches!(
            self,
            Self::Reason
                | Self::SourceClass
                | Self::TargetClass
                | Self::RequestsWrite
                | Self::RequestsRead
                | Self::RequestsDelete
                | Self::Job
        )
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }
}

/// An event as a row: gives its cells.
pub(super) fn cells<'a>(
    event: &'a ObjectEvent,
    expected: &'a Expected,
    (source, target): (&'a str, &'a str),
) -> impl FnMut(usize) -> Cell<'a> {
    let none = || (Cell::Number(0), Cell::Number(0), Cell::Text(""), Cell::Text(""));
    let (state, found) = match &expected.target {
        TargetState::Unknown => ("unknown", none()),
        TargetState::Missing => ("missing", none()),
        TargetState::Found(state) => ("found", of_state(state)),
    };
    let class = match &expected.target {
        TargetState::Found(state) => state.storage_class.as_str(),
        TargetState::Unknown | TargetState::Missing => "",
    };
    let from = of_state(&expected.source);
    move |column| match Column::ALL[column] {
        Column::Action => Cell::Text(json::action(event.action)),
        Column::Source => Cell::Text(source),
        Column::Target => Cell::Text(target),
        Column::Reason => Cell::Text(event.reason.unwrap_or_default()),
        Column::SourceSize => from.0,
        Column::SourceModified => from.1,
        Column::SourceEtag => from.2,
        // An event names the version even where the state of the object is not known.
        Column::SourceVersion => Cell::Text(event.source.version_id().unwrap_or_default()),
        Column::SourceClass => Cell::Text(&expected.source.storage_class),
        Column::TargetState => Cell::Text(state),
        Column::TargetSize => found.0,
        Column::TargetModified => found.1,
        Column::TargetEtag => found.2,
        Column::TargetVersion => found.3,
        Column::TargetClass => Cell::Text(class),
        Column::RequestsWrite => number(expected.requests.write),
        Column::RequestsRead => number(expected.requests.read),
        Column::RequestsDelete => number(expected.requests.delete),
        Column::Job => Cell::Nothing,
    }
}

/// Both locations of an event as they are written. A text cannot hold any path: the error names it.
pub(super) fn sides(event: &ObjectEvent) -> Result<(String, String), TableError> {
    let side = |location: &Location| match location {
        Location::Local(path) if path.to_str().is_none() => Err(TableError::General(format!(
            "the name of `{}` is not UTF-8: leave it out with --exclude",
            path.display()
        ))),
        location => Ok(text(location).into_owned()),
    };
    Ok((side(&event.source)?, event.target.as_ref().map_or(Ok(String::new()), side)?))
}

fn number(number: u64) -> Cell<'static> {
    Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn of_state(state: &State) -> (Cell<'_>, Cell<'_>, Cell<'_>, Cell<'_>) {
    let etag = state.etag.trim_matches('"');
    let version = state.version_id.as_deref().unwrap_or_default();
    (number(state.size), Cell::Number(state.modified_ns), Cell::Text(etag), Cell::Text(version))
}
