//! Local trees: walking, reading and atomic writing.
//!
//! Everything here blocks and is meant for few, fat calls on threads made for blocking. It knows
//! nothing of S3 beyond the order of keys, and nothing of jobs. Paths that come from keys never
//! leave the root they are written below.
//!
//! * [`walk`] yields a tree in S3 key order, one directory's names in memory at a level.
//! * [`read`] reads whole small files and parts of large ones, and notices that a file changed.
//! * [`mod@write`] writes to a temporary file beside the target and renames it.
//! * [`busy_threads`] says how many threads wait for contents.
//! * [`meta`] holds sizes, times and identities of files; [`warning`] the texts scripts know.

mod busy;
mod descriptors;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
pub mod meta;
pub mod read;
pub mod walk;
pub mod warning;
pub mod write;

pub use busy::busy_threads;
pub use meta::{FileAttributes, FileIdentity, FileInfo, FileKind, sync_file_system};
pub use read::{WholeFile, open_source, open_with_identity, read_whole, skip_warning};
pub use walk::{FileBatch, LocalFile, Walk, WalkOptions};
pub use write::{
    Access, Committed, CreateError, Escape, EscapeReason, Finish, KeptIf, PendingFile, TargetRoot,
    collapse, refused, remove_file,
};
