//! Atomic local writes below a root that no key can escape.
//!
//! A target is written to a temporary file `.<name>.s3haul-tmp` beside it and renamed over it at
//! the end, so that a reader sees the old contents or the new, never a mixture. A temporary file
//! that is not committed is removed when it is dropped. One that a killed process left is not
//! locked: the next write to the same name removes it, and no walk of a source sees it. Keys are
//! names chosen by others: they are resolved at descriptor level (`openat2` with `RESOLVE_BENEATH`
//! where the kernel has it, otherwise component by component), so that neither `..` nor a link
//! planted in the target leads outside, even while the tree is changed by others. Nothing is
//! written through a link that stays inside, either: two keys would be one file.

mod directories;
mod leftover;
mod names;
mod pending;
mod root;

pub(in crate::fs) use names::is_temporary;
pub use names::{Escape, EscapeReason, collapse, refused};
#[cfg(any(test, feature = "fuzzing"))]
pub(super) use names::{split_checked, temporary_name};
pub use pending::{Access, Committed, Finish, KeptIf, PendingFile};
pub use root::{CreateError, TargetRoot};

use std::path::Path;

use s3haul_wire::error::{Error, Result};

/// Removes a local file (the source of a finished `mv`, or a file that `sync --delete` drops).
pub fn remove_file(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(|source| Error::local("could not remove", path, source))
}

#[cfg(test)]
mod tests;
