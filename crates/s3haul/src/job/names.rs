//! Names that a job takes from elsewhere than a listing: what failed in an earlier run, or a plan.
//!
//! They come as a stream that is read piece by piece, so that there may be any number of them.

use std::fmt::Debug;

use crate::event::ActionKind;
use crate::location::Location;
use crate::plan::expected::Expected;
use s3haul_wire::error::Result;

/// One thing to be done, as an earlier run decided it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// What is to be done.
    pub action: ActionKind,
    /// Source, or what is to be removed.
    pub source: Location,
    /// Target, absent for a removal.
    pub target: Option<Location>,
    /// It was refused, because its new name is also that of another object ([`COLLISION`]).
    pub collides: bool,
    /// Both sides as they were found, where a plan is done: the action is done only while they are
    /// still so, and its source is not looked at before.
    pub expected: Option<Box<Expected>>,
}

/// The reason in the event of an object whose new name is also that of another one. What holds
/// that name is not known to a later run, so that it has to be refused there, too.
pub const COLLISION: &str = "collision";

/// A stream of names. Reading it blocks.
pub type Names = Box<dyn Iterator<Item = Result<Named>> + Send>;

/// Where names come from; may be gone through more than once.
pub trait NameSource: Debug + Send + Sync {
    /// Starts at the first.
    fn names(&self) -> Result<Names>;

    /// Whether they are a plan: each comes with what is expected of both sides, and all of them
    /// are checked before the first is acted on.
    fn is_plan(&self) -> bool {
        false
    }
}
