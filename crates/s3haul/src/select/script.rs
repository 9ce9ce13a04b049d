//! What a script says of the names of one side of a `sync`.
//!
//! A name that the source has and the script does not want stays as it is on both sides; one that
//! only the target has is removed only if the script wants it. So it is with conditions.

use crate::engine::limits::blocking;
use crate::entry::EntryBatch;
use crate::script::{Limits, Program, Runtime};
use s3haul_wire::error::Result;

/// A script and what it said of the present batch.
pub(crate) struct Selection {
    program: Program,
    /// Made with the first batch.
    runtime: Option<Runtime>,
    wanted: Vec<bool>,
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

    /// Applies the script to a batch, on a thread that may block, and gives the batch back.
    pub(crate) async fn apply(&mut self, batch: EntryBatch) -> Result<EntryBatch> {
        let (program, runtime) = (self.program.clone(), self.runtime.take());
        let (runtime, batch, wanted) = blocking(move || {
            let mut runtime = match runtime {
                Some(runtime) => runtime,
                None => Runtime::new(&[program], Limits::default())?,
            };
            let rows: Vec<_> = batch.iter().map(|(row, _)| row).collect();
            let mut wanted = vec![false; batch.len()];
            for at in runtime.select(batch.iter().map(|(_, entry)| entry.script_object()))? {
                wanted[rows[at]] = true;
            }
            Ok::<_, crate::Error>((runtime, batch, wanted))
        })
        .await?;
        (self.runtime, self.wanted) = (Some(runtime), wanted);
        Ok(batch)
    }
}
