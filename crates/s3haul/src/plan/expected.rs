//! What a plan found of both sides, and what is done only while it is still so.

use s3haul_wire::units::RequestCounts;

/// A file or an object as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Size in bytes.
    pub size: u64,
    /// Last modification in nanoseconds since 1970; of objects in what the listing has, which is
    /// seconds or finer.
    pub modified_ns: i64,
    /// `ETag` with its quotes; empty for files, and where it is unknown.
    pub etag: String,
    /// Version of the object; none for files, and where the current one was meant.
    pub version_id: Option<String>,
    /// Storage class as it was listed; empty for files, and where it is not known.
    pub storage_class: String,
}

/// What the target had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetState {
    /// The action has no target beside its source, or it was not looked at.
    #[default]
    Unknown,
    /// Nothing.
    Missing,
    /// A file or an object.
    Found(State),
}

/// Both sides of an action as they were when it was planned, or when a run that is resumed looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// What is transferred, changed or removed.
    pub source: State,
    /// What is written over.
    pub target: TargetState,
    /// Requests that it takes when nothing fails; none for objects that are removed together with
    /// others.
    pub requests: RequestCounts,
    /// A plan found it.
    pub is_planned: bool,
}

impl Expected {
    /// What a plan found of both sides.
    pub fn new(source: State, target: TargetState) -> Box<Self> {
        Box::new(Self { source, target, requests: RequestCounts::default(), is_planned: true })
    }
}

impl TargetState {
    /// What was found, if there was something.
    pub(crate) fn of(found: Option<State>) -> Self {
        found.map_or(Self::Missing, Self::Found)
    }
}

impl State {
    /// The state of a file with a time in nanoseconds since 1970, which ends in 1677 and 2262.
    pub(crate) fn of_file(size: u64, modified_ns: i128) -> Self {
        let bounds = (i64::MIN.into(), i64::MAX.into());
        let modified_ns = modified_ns.clamp(bounds.0, bounds.1);
        Self { size, modified_ns: i64::try_from(modified_ns).unwrap_or(0), ..Self::default() }
    }

    /// Whether an object is still the one that was found: by its `ETag`, and where that is unknown
    /// by its size.
    pub(crate) fn is_object(&self, size: u64, etag: &str) -> bool {
        if self.etag.is_empty() { self.size == size } else { self.etag == etag }
    }

    /// Whether the `ETag`s prove that the bytes differ: those of parts depend on their size.
    pub(crate) fn differs_from(&self, other: &Self) -> bool {
        let is_telling = |etag: &str| !etag.is_empty() && !etag.contains('-');
        is_telling(&self.etag) && is_telling(&other.etag) && self.etag != other.etag
    }

    /// The condition of a request that the object is this one; none where the `ETag` is unknown.
    pub(crate) fn if_match(&self) -> Option<&str> {
        Some(self.etag.as_str()).filter(|etag| !etag.is_empty())
    }
}
