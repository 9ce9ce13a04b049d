//! `plan show`: what a plan says, summed up.

mod elsewhere;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use s3haul::event::ActionKind;
use s3haul::job::Summary;
use s3haul::location::Location;
use s3haul::plan::price::PriceTable;
use s3haul_wire::units::RequestCounts;
use serde::Serialize;

use crate::args::{PlanFormat, PlanShowArgs};
use crate::exit;
use crate::failure::Failure;
use crate::plan::{PlanFile, PlanRow};
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::{estimate, json};
use crate::settings::price_table_of;

/// The largest objects and the folders with most deletions that are shown.
const SHOWN: usize = 10;
/// Folders that deletions are counted in; those of further ones are counted together.
const FOLDERS_MAX: usize = 100_000;
/// Keys of one `DeleteObjects` request.
const KEYS_MAX: u64 = 1000;

/// What a plan says.
#[derive(Debug, Default)]
pub(super) struct Totals {
    actions: BTreeMap<&'static str, Count>,
    reasons: BTreeMap<String, u64>,
    requests: RequestCounts,
    largest: BinaryHeap<Reverse<(u64, String)>>,
    deleted: BTreeMap<String, Count>,
    deleted_elsewhere: Count,
}

/// Objects and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Count {
    objects: u64,
    bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes += bytes;
    }
}

impl Totals {
    /// Adds the rows of a plan. Blocks.
    pub(super) fn add_all(&mut self, plan: &PlanFile) -> Result<(), Failure> {
        for row in plan.rows()? {
            self.add(row?);
        }
        Ok(())
    }

    /// Number of actions.
    pub(super) fn actions(&self) -> u64 {
        self.actions.values().map(|count| count.objects).sum()
    }

    fn add(&mut self, row: PlanRow) {
        let PlanRow { action, source, reason, expected, .. } = row;
        let bytes = expected.source.size;
        self.actions.entry(json::action(action)).or_default().add(bytes);
        if !reason.is_empty() {
            *self.reasons.entry(reason).or_default() += 1;
        }
        self.requests = self.requests + expected.requests;
        let name = source.to_string();
        if action == ActionKind::Delete {
            let folder = name.rfind('/').map_or("", |end| &name[..=end]);
            if let Some(count) = self.deleted.get_mut(folder) {
                count.add(bytes);
            } else if self.deleted.len() < FOLDERS_MAX {
                self.deleted.entry(folder.to_owned()).or_default().add(bytes);
            } else {
                self.deleted_elsewhere.add(bytes);
            }
        }
        if matches!(action, ActionKind::Delete | ActionKind::Undelete)
            && matches!(source, Location::Object(_))
        {
            // They are removed many at a time: counted as keys here.
            self.requests.delete += 1;
            return;
        }
        let is_large = self.largest.len() < SHOWN
            || self.largest.peek().is_some_and(|least| bytes > least.0.0);
        if is_large {
            self.largest.push(Reverse((bytes, name)));
            if self.largest.len() > SHOWN {
                self.largest.pop();
            }
        }
    }

    /// The requests of all.
    fn summary(&self) -> Summary {
        let keys = ["delete", "undelete"].map(|action| {
            self.actions.get(action).map_or(0, |count| count.objects).min(self.requests.delete)
        });
        let keys = keys[0] + keys[1];
        let delete = self.requests.delete.saturating_sub(keys) + keys.div_ceil(KEYS_MAX);
        let requests_planned = RequestCounts { delete, ..self.requests };
        Summary { requests_planned, ..Summary::default() }
    }

    /// The largest objects, the largest first.
    fn largest(&self) -> Vec<(u64, String)> {
        let largest = self.largest.clone().into_sorted_vec();
        largest.into_iter().map(|Reverse(largest)| largest).collect()
    }

    /// What to consider before the plan is done.
    fn advice(&self) -> Vec<String> {
        let largest = self.largest.iter().map(|Reverse((bytes, _))| *bytes).max();
        elsewhere::advice(&self.actions, largest.unwrap_or(0))
    }

    /// Everything, for people.
    pub(super) fn lines(&self, prices: &PriceTable) -> Vec<String> {
        let mut lines = Vec::new();
        for (action, Count { objects, bytes }) in &self.actions {
            lines.push(format!("{action}: {objects} objects, {bytes} bytes"));
        }
        for (reason, count) in &self.reasons {
            lines.push(format!("because of `{reason}`: {count}"));
        }
        lines.push(estimate::of_plan(&self.summary(), prices));
        for (bytes, name) in self.largest() {
            lines.push(format!("largest: {bytes} bytes, {name}"));
        }
        for (folder, Count { objects, bytes }) in self.folders() {
            lines.push(format!("deleted in {folder}: {objects} objects, {bytes} bytes"));
        }
        let Count { objects, bytes } = self.deleted_elsewhere;
        if objects > 0 {
            lines.push(format!("deleted elsewhere: {objects} objects, {bytes} bytes"));
        }
        lines.extend(self.advice().iter().map(|text| format!("advice: {text}")));
        lines
    }

    fn folders(&self) -> Vec<(&str, Count)> {
        let mut folders: Vec<_> =
            self.deleted.iter().map(|(name, count)| (&**name, *count)).collect();
        folders.sort_by_key(|(name, count)| (Reverse(count.objects), *name));
        folders.truncate(SHOWN);
        folders
    }
}

/// Sums up a plan. Blocks.
pub(super) fn show(args: &PlanShowArgs, as_json: bool, printer: &Printer) -> Result<u8, Failure> {
    let prices = price_table_of(args.price_table.as_deref())?;
    let plan = PlanFile::open(&args.file)?;
    if args.format == Some(PlanFormat::S3Batch) {
        return elsewhere::print_manifest(&plan, printer);
    }
    let mut totals = Totals::default();
    totals.add_all(&plan)?;
    printer.output(|buffer| {
        if as_json {
            return push_json(buffer, &totals);
        }
        totals.lines(&prices).iter().for_each(|line| push_line(buffer, line));
    });
    Ok(exit::SUCCESS)
}

/// The totals for programs.
#[derive(Serialize)]
struct PlanLine<'a> {
    actions: &'a BTreeMap<&'static str, Count>,
    reasons: &'a BTreeMap<String, u64>,
    requests: estimate::Requests,
    largest: Vec<Named<'a>>,
    deleted: Vec<Named<'a>>,
    advice: &'a [String],
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(flatten)]
    count: Count,
}

fn push_json(buffer: &mut Vec<u8>, totals: &Totals) {
    let (largest, advice) = (totals.largest(), totals.advice());
    let line = PlanLine {
        actions: &totals.actions,
        reasons: &totals.reasons,
        requests: estimate::Requests::of(totals.summary().requests_planned),
        largest: largest
            .iter()
            .map(|(bytes, name)| Named { name, count: Count { objects: 1, bytes: *bytes } })
            .collect(),
        deleted: totals.folders().into_iter().map(|(name, count)| Named { name, count }).collect(),
        advice: &advice,
    };
    json::push(buffer, "plan", line);
}

fn push_line(buffer: &mut Vec<u8>, text: &str) {
    push_name(buffer, text, true);
    buffer.push(b'\n');
}
