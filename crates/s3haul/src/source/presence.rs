//! Whether a source has anything at all: checked before a job is resumed or removes something.

use std::sync::Arc;

use super::listing::{NameListing, NamesRequest};
use super::walk::FileStream;
use crate::engine::core::Engine;
use crate::fs::WalkOptions;
use crate::job::prepare::Prepared;
use crate::plan::filter::Filter;
use crate::plan::paths::Side;
use crate::plan::versions::VersionRule;
use s3haul_wire::error::Result;

/// Whether the source of a job has anything that a filter may take in, whatever of it an earlier
/// run has dealt with. It stops at the first page or batch that has something.
pub(crate) async fn has_any(
    job: &Prepared,
    engine: &Arc<Engine>,
    filter: &Arc<Filter>,
) -> Result<bool> {
    match &job.plan.source {
        Side::Local(folder) => {
            let follow_symlinks = job.spec.follow_symlinks;
            let options = WalkOptions { follow_symlinks, ..WalkOptions::default() };
            let mut files = FileStream::of_folder(engine, folder, filter, options, None);
            while let Some(batch) = files.next().await {
                if !batch.is_empty() {
                    return Ok(true);
                }
            }
        }
        Side::Object(_) => {
            let request = NamesRequest { filter: Some(filter), ..NamesRequest::of_source(job) };
            let mut listing = NameListing::new(engine, request);
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
