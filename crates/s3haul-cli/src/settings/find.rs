//! `find`: what it has beside `list`.

use s3haul::job::value::{Find, ListTask};
use s3haul::plan::conditions::{LabelError, Labels};
use s3haul::plan::s3_uri;

use super::list::{of_args, of_table};
use super::{JobRequest, Settings};
use crate::args::FindArgs;
use crate::failure::Failure;

/// Conditions on objects that need more than a listing.
#[derive(Clone, Debug)]
pub(crate) struct FindSettings {
    /// Tags.
    pub(crate) tags: Labels,
    /// Metadata.
    pub(crate) metadata: Labels,
}

impl JobRequest {
    /// For `find`.
    pub(crate) fn find(settings: &Settings, args: &FindArgs) -> Result<Self, Failure> {
        let task = ListTask {
            listing: of_args(&args.listing)?,
            versions: args.versions,
            find: Some(Find {
                names: args.names.clone(),
                tags: args.tags.clone(),
                metadata: args.metadata.clone(),
            }),
            format: args.format,
            summarize: args.summarize,
            ..of_table(&args.table)
        };
        Ok(Self::listing(settings, &args.listing, task))
    }
}

impl FindSettings {
    pub(super) fn new(find: &Find, task: &ListTask) -> Result<Self, Failure> {
        let path = &task.listing.source;
        if !s3_uri::is_s3(path) {
            return Err(Failure::usage(format!(
                "find looks for objects, and `{path}` is not their address: write \
                 s3://BUCKET/PREFIX"
            )));
        }
        let labels = |flag: &str, texts: &[String]| {
            let usage = |error: LabelError| Failure::usage(format!("{flag} {error}"));
            Labels::parse(texts.iter().map(String::as_str)).map_err(usage)
        };
        Ok(Self {
            tags: labels("--tag", &find.tags)?,
            metadata: labels("--metadata", &find.metadata)?.with_lower_keys(),
        })
    }

    /// Whether it takes requests.
    pub(crate) fn asks(&self) -> bool {
        !self.tags.is_empty() || !self.metadata.is_empty()
    }
}
