//! Which entries of a batch are taken: what patterns and conditions include, what scripts choose,
//! and new names.

use std::collections::HashMap;
use std::sync::Arc;

use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::entry::{Entry, EntryBatch, OwnedEntry, Preselected, SourceBatch};
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::job::names::COLLISION;
use crate::job::prepare::Prepared;
use crate::location::Location;
use crate::plan::expected::Expected;
use crate::script::rename::{Candidate, Chooser, Decision, SharedChooser};
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::ListedObject;

/// What was taken of a batch.
pub(crate) struct Selected {
    entries: EntryBatch,
    heads: Vec<Option<Box<ObjectHead>>>,
    expected: Vec<Option<Box<Expected>>>,
    rows: Vec<Row>,
}

/// A row that is taken, and its name at the target where a script, a template or an earlier run
/// made one.
type Row = (usize, Option<String>);

/// An entry that is taken, before it is an action.
pub(crate) struct Taken<'a> {
    pub(crate) entry: Entry<'a>,
    row: (&'a EntryBatch, usize),
    /// Name at the target, where a script, a template or an earlier run made one.
    pub(crate) name: Option<String>,
    /// Headers, where the object was asked for by itself.
    pub(crate) head: Option<Box<ObjectHead>>,
    /// What a plan found of it and of its target.
    pub(crate) expected: Option<Box<Expected>>,
}

impl<'a> Taken<'a> {
    /// The entry of a row as it is; `None` where there is none.
    pub(crate) fn of_row(batch: &'a EntryBatch, row: usize) -> Option<Self> {
        let (entry, row) = (batch.get(row)?, (batch, row));
        Some(Self { entry, row, name: None, head: None, expected: None })
    }

    /// A copy of the entry that outlives its batch.
    pub(crate) fn to_owned_entry(&self) -> Option<OwnedEntry> {
        OwnedEntry::of_row(self.row.0, self.row.1)
    }
}

impl Selected {
    /// Copies of some of the entries that were taken, with their rows and new names.
    pub(crate) fn owned_where(
        &self,
        is_meant: impl Fn(Entry<'_>) -> bool,
    ) -> Vec<(usize, Option<String>, OwnedEntry)> {
        let rows = self.rows.iter();
        rows.filter(|(row, _)| self.entries.get(*row).is_some_and(&is_meant))
            .filter_map(|(row, name)| {
                Some((*row, name.clone(), OwnedEntry::of_row(&self.entries, *row)?))
            })
            .collect()
    }

    /// The same with what is expected of both sides of some rows.
    #[must_use]
    pub(crate) fn expecting(mut self, expected: HashMap<usize, Box<Expected>>) -> Self {
        for (row, expected) in expected {
            self.expected.resize(self.expected.len().max(row + 1), None);
            self.expected[row] = Some(expected);
        }
        self
    }

    /// Makes something of every entry that was taken.
    pub(crate) fn map<T>(mut self, mut make: impl FnMut(Taken<'_>) -> Option<T>) -> Vec<T> {
        let rows = self.rows.into_iter();
        rows.filter_map(|(row, name)| {
            let head = self.heads.get_mut(row).and_then(Option::take);
            let expected = self.expected.get_mut(row).and_then(Option::take);
            make(Taken { name, head, expected, ..Taken::of_row(&self.entries, row)? })
        })
        .collect()
    }
}

/// Selects entries; collisions of new names are reported as failures.
pub(crate) async fn select(
    job: &Prepared,
    engine: &Engine,
    batch: SourceBatch,
) -> Result<Selected> {
    let SourceBatch { entries, heads, expected, preselected } = batch;
    let rows = match preselected {
        Preselected::Names(names) => {
            let rows = names.into_iter().enumerate().collect();
            return Ok(Selected { entries, heads, expected, rows });
        }
        Preselected::Entry => {
            let rows = entries.iter().filter(|(_, entry)| meets(job, entry));
            let rows = rows.map(|(row, _)| row).collect::<Vec<_>>();
            if let Some(chooser) = chooser_that_learns(job) {
                Chooser::learn(chooser, objects(&entries, &rows))?;
            }
            rows
        }
        Preselected::No => wanted(job, &entries),
    };
    let (entries, rows) = choose(job, engine, entries, rows).await?;
    Ok(Selected { entries, heads, expected, rows })
}

/// The chooser of a job that has to know all sources before it decides on any.
pub(crate) fn chooser_that_learns(job: &Prepared) -> Option<&SharedChooser> {
    job.chooser.as_ref().filter(|chooser| Chooser::needs_sources(chooser))
}

/// Learns which entries of a batch are sources.
pub(crate) async fn learn(
    job: &Prepared,
    chooser: &SharedChooser,
    entries: EntryBatch,
) -> Result<()> {
    let (chooser, rows) = (Arc::clone(chooser), wanted(job, &entries));
    blocking(move || Chooser::learn(&chooser, objects(&entries, &rows))).await
}

fn objects<'b>(
    entries: &'b EntryBatch,
    rows: &'b [usize],
) -> impl Iterator<Item = ListedObject<'b>> + Clone {
    rows.iter().filter_map(|row| Some(entries.get(*row)?.script_object()))
}

/// Rows that patterns and conditions include.
fn wanted(job: &Prepared, entries: &EntryBatch) -> Vec<usize> {
    let is_in_place = job.acts_in_place();
    let is_of_kind = |entry: &Entry<'_>| match entry {
        Entry::File(_) => true,
        // A job on versions never takes an object in place of one.
        Entry::Object(object) => {
            (job.spec.versions.is_none() || object.version_id.is_some())
                && (is_in_place || !object.listed.is_folder_marker())
                && job.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(object.listed.key))
        }
    };
    let wanted = entries.iter().filter(|(_, entry)| is_of_kind(entry) && meets(job, entry));
    wanted.map(|(row, _)| row).collect()
}

/// Whether filters and conditions take an entry.
fn meets(job: &Prepared, entry: &Entry<'_>) -> bool {
    let name = entry.relative();
    job.filter.includes(name) && job.spec.conditions.takes(name, &entry.condition_facts())
}

/// Applies scripts and templates.
async fn choose(
    job: &Prepared,
    engine: &Engine,
    entries: EntryBatch,
    rows: Vec<usize>,
) -> Result<(EntryBatch, Vec<Row>)> {
    let Some(chooser) = &job.chooser else {
        return Ok((entries, rows.into_iter().map(|row| (row, None)).collect()));
    };
    let name = |row: usize| Some((row, job.target_name(entries.get(row)?.relative()).into_owned()));
    let named: Vec<_> = rows.into_iter().filter_map(name).collect();
    let chooser = Arc::clone(chooser);
    // A script may take its time.
    let (entries, named, decisions) = blocking(move || {
        let candidates: Vec<_> = named
            .iter()
            .filter_map(|(row, name)| {
                Some(Candidate { object: entries.get(*row)?.script_object(), name })
            })
            .collect();
        let decisions = Chooser::choose(&chooser, &candidates);
        drop(candidates);
        (entries, named, decisions)
    })
    .await;
    let mut rows = Vec::with_capacity(named.len());
    for ((row, _), decision) in named.into_iter().zip(decisions?) {
        match decision {
            Decision::Skip => {}
            Decision::Keep => rows.push((row, None)),
            Decision::Rename(name) => rows.push((row, Some(name))),
            Decision::Collides(name) => {
                if let Some(entry) = entries.get(row) {
                    let source = entry.location(engine, Place::Source);
                    report_collision(job, engine, source, &name, entry.size());
                }
            }
        }
    }
    Ok((entries, rows))
}

/// Reports that an object is not transferred, because its new name is that of another.
fn report_collision(job: &Prepared, engine: &Engine, source: Location, name: &str, bytes: u64) {
    let target = match job.plan.target_directory() {
        Some(folder) if job.plan.action == ActionKind::Download => {
            Location::Local(folder.join(name))
        }
        _ => engine.target_object(name.to_owned()),
    };
    tell_collision(job, engine, source, target, name, bytes);
}

/// The same of a target.
pub(crate) fn tell_collision(
    job: &Prepared,
    engine: &Engine,
    source: Location,
    target: Location,
    name: &str,
    bytes: u64,
) {
    let message = format!(
        "the new name `{name}` is also that of another object of this job: nothing was written"
    );
    engine.report.planned(bytes);
    engine.report.object(ObjectEvent {
        action: job.plan.action,
        is_move: engine.settings.is_move,
        source,
        target: Some(target),
        bytes,
        reason: Some(COLLISION),
        expected: None,
        outcome: Outcome::Failed(Error::new(ErrorKind::Config, message)),
    });
}
