//! What a script says of the names of one side of a `sync`.
//!
//! A name that the source has and the script does not want stays as it is on both sides; one that
//! only the target has is removed only if the script wants it. So it is with conditions.

use crate::engine::limits::blocking;
use crate::fs::WalkItem;
use crate::script::{Limits, Program, Runtime};
use s3haul_wire::error::Result;
use s3haul_wire::ops::{ListPage, ListedObject};

use crate::plan::local_facts::as_object;

/// A script and what it said of the present batch.
pub(crate) struct Selection {
    program: Program,
    /// Made with the first batch.
    runtime: Option<Runtime>,
    wanted: Vec<bool>,
}

/// Entries of a side that were read together.
pub(crate) trait Batch: Send + 'static {
    /// Number of entries.
    fn count(&self) -> usize;
    /// A file or an object; nothing for what else there is.
    fn object(&self, index: usize) -> Option<ListedObject<'_>>;
}

impl Batch for ListPage {
    fn count(&self) -> usize {
        self.len()
    }

    fn object(&self, index: usize) -> Option<ListedObject<'_>> {
        self.get(index)
    }
}

impl Batch for Vec<WalkItem> {
    fn count(&self) -> usize {
        self.len()
    }

    fn object(&self, index: usize) -> Option<ListedObject<'_>> {
        match self.get(index)? {
            WalkItem::File(file) => Some(as_object(file)),
            WalkItem::Warning(_) | WalkItem::Skipped { .. } => None,
        }
    }
}

impl Selection {
    /// Nothing asked yet.
    pub(crate) fn new(program: &Program) -> Self {
        Self { program: program.clone(), runtime: None, wanted: Vec::new() }
    }

    /// Whether an entry of the present batch is wanted.
    pub(crate) fn wants(&self, index: usize) -> bool {
        self.wanted.get(index).copied().unwrap_or_default()
    }

    /// Asks the script about a batch, on a thread that may block, and gives the batch back.
    pub(crate) async fn ask<B: Batch>(&mut self, batch: B) -> Result<B> {
        let (program, runtime) = (self.program.clone(), self.runtime.take());
        let (runtime, batch, wanted) = blocking(move || {
            let mut runtime = match runtime {
                Some(runtime) => runtime,
                None => Runtime::new(&[program], Limits::default())?,
            };
            let entries: Vec<_> = (0..batch.count())
                .filter_map(|index| Some((index, batch.object(index)?)))
                .collect();
            let mut wanted = vec![false; batch.count()];
            for at in runtime.select(entries.iter().map(|(_, object)| *object))? {
                wanted[entries[at].0] = true;
            }
            drop(entries);
            Ok::<_, crate::Error>((runtime, batch, wanted))
        })
        .await?;
        (self.runtime, self.wanted) = (Some(runtime), wanted);
        Ok(batch)
    }
}
