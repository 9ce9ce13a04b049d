//! Whether a source has anything at all, which is asked before a run goes on or removes something.

use std::sync::Arc;

use super::listing::NameListing;
use super::walk::FileStream;
use crate::engine::core::Engine;
use crate::fs::WalkOptions;
use crate::job::prepare::Prepared;
use crate::plan::paths::Side;
use crate::plan::versions::VersionRule;
use s3haul_wire::error::Result;

/// Whether the source of a job has anything at all, whatever of it an earlier run has dealt with.
/// It stops at the first page or batch that has something, taken or not.
pub(crate) async fn has_any(job: &Prepared, engine: &Arc<Engine>) -> Result<bool> {
    match &job.plan.source {
        Side::Local(folder) => {
            let follow_symlinks = job.spec.follow_symlinks;
            let options = WalkOptions { follow_symlinks, ..WalkOptions::default() };
            let mut files = FileStream::of_folder(engine, folder, &job.filter, options);
            while let Some(batch) = files.next().await {
                if !batch.is_empty() {
                    return Ok(true);
                }
            }
        }
        Side::Object(_) => {
            let mut listing = NameListing::of_source(job, engine, "");
            let counts_all = !matches!(job.spec.versions, None | Some(VersionRule::AsOf { .. }));
            while let Some(page) = listing.next().await? {
                if (counts_all && listing.listed() > 0)
                    || page.iter().any(|object| !object.is_folder_marker())
                {
                    return Ok(true);
                }
            }
        }
        Side::Stream => return Ok(true),
    }
    Ok(false)
}
