//! `plan show`: what a plan says, summed up.

mod elsewhere;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use jiff::Timestamp;
use s3haul::event::ActionKind;
use s3haul::job::Summary;
use s3haul::job::value::{Job, Task, WriteOptions};
use s3haul::location::Location;
use s3haul::plan::charges::{Charges, Effect};
use s3haul::plan::price::PriceTable;
use s3haul_wire::units::{LocalTime, RequestCounts};
use serde::Serialize;

use crate::args::{PlanFormat, PlanShowArgs};
use crate::exit;
use crate::failure::Failure;
use crate::plan::{PlanFile, PlanRow};
use crate::printer::{Output, Printer};
use crate::render::escape::{push_name, quoted};
use crate::render::html::plan::PlanTree;
use crate::render::html::{Fact, Page, Section, Tree, Unit, millionths};
use crate::render::{estimate, html, json};
use crate::settings::{price_table_of, refuse_overwriting, restore_tier, set_copies};
use crate::terminal::number_of;

/// The largest objects and the folders with most deletions that are shown.
const SHOWN: usize = 10;
/// Folders that deletions are counted in; those of further ones are counted together.
const FOLDERS_MAX: usize = 100_000;
/// Keys of one `DeleteObjects` request.
const KEYS_MAX: u64 = 1000;
/// What is said of a plan of `mv`, whose actions are those of `cp`.
const MOVE: &str = "sources: each is removed once its target is safe";

/// What a plan says.
#[derive(Default)]
pub(super) struct Totals {
    actions: BTreeMap<&'static str, Count>,
    reasons: BTreeMap<String, u64>,
    requests: RequestCounts,
    largest: BinaryHeap<Reverse<(u64, String)>>,
    deleted: BTreeMap<String, Count>,
    deleted_elsewhere: Count,
    charges: Charges,
    /// The sources are removed, each once its target is safe.
    is_move: bool,
    /// S3 Batch Operations would not do what the job does.
    is_not_for_batch: bool,
    /// Folders, where a page is written.
    tree: Option<PlanTree>,
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
        let effect = plan.job().and_then(effect).unwrap_or_default();
        self.is_move |= effect.is_move;
        self.is_not_for_batch |= elsewhere::refused_job(plan).is_some();
        self.charges.begin_job(effect, Timestamp::now().as_second());
        for row in plan.rows().map_err(Failure::of_arguments)? {
            self.add(row.map_err(Failure::of_arguments)?);
        }
        Ok(())
    }

    /// Number of actions.
    pub(super) fn actions(&self) -> u64 {
        self.actions.values().map(|count| count.objects).sum()
    }

    fn add(&mut self, row: PlanRow) {
        let PlanRow { action, source, target, reason, expected } = row;
        self.charges.add(action, &source, target.as_ref(), &expected);
        let bytes = expected.source.size;
        self.actions.entry(json::action(action)).or_default().add(bytes);
        if !reason.is_empty() {
            *self.reasons.entry(reason).or_default() += 1;
        }
        self.requests = self.requests + expected.requests;
        let name = source.to_string();
        if let Some(tree) = &mut self.tree {
            tree.add(action, &name, bytes);
        }
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
        elsewhere::advice(&self.actions, largest.unwrap_or(0), !self.is_not_for_batch)
    }

    /// Everything, for people.
    pub(super) fn lines(&self, prices: &PriceTable) -> Vec<String> {
        let mut lines = Vec::new();
        for (action, Count { objects, bytes }) in &self.actions {
            lines.push(format!("{action}: {}", size(*objects, *bytes)));
        }
        if self.is_move {
            lines.push(MOVE.to_owned());
        }
        for (reason, count) in &self.reasons {
            lines.push(format!("because of `{reason}`: {count}"));
        }
        lines.push(estimate::of_plan(&self.summary(), &self.charges, prices));
        lines.extend(estimate::charges(&self.charges, prices));
        for (bytes, name) in self.largest() {
            lines.push(format!("largest: {}, {name}", number_of(bytes, "byte")));
        }
        for (folder, Count { objects, bytes }) in self.folders() {
            lines.push(format!("deleted in {folder}: {}", size(objects, bytes)));
        }
        let Count { objects, bytes } = self.deleted_elsewhere;
        if objects > 0 {
            lines.push(format!("deleted elsewhere: {}", size(objects, bytes)));
        }
        lines.extend(self.advice().iter().map(|text| format!("advice: {text}")));
        lines
    }

    /// Everything, as a page.
    fn page(&self, tree: Tree, file: &str, prices: &PriceTable) -> Page {
        let counted = [("Objects", Unit::Count), ("Bytes", Unit::Bytes)];
        let columns = [("Action", Unit::Text), counted[0], counted[1]];
        let mut actions = Section::new("Actions", &columns).with_bars();
        for (action, Count { objects, bytes }) in &self.actions {
            actions.push([(*action).into(), (*objects).into(), (*bytes).into()]);
        }
        let mut reasons = Section::new("Reasons", &[("Because of", Unit::Text), counted[0]]);
        for (reason, count) in &self.reasons {
            reasons.push([reason.clone().into(), (*count).into()]);
        }
        let mut largest =
            Section::new("Largest objects", &[("Object", Unit::Name), ("Bytes", Unit::Bytes)]);
        for (bytes, name) in self.largest() {
            largest.push([name.into(), bytes.into()]);
        }
        let columns = [("Folder", Unit::Name), counted[0], counted[1]];
        let mut deleted = Section::new("Most deletions", &columns);
        for (folder, Count { objects, bytes }) in self.folders() {
            deleted.push([folder.into(), objects.into(), bytes.into()]);
        }
        let mut next =
            Section::new("What to do", &[("What", Unit::Text), ("Command", Unit::Command)]);
        next.push(["Do it".into(), format!("s3haul apply {}", quoted(file)).into()]);
        if self.is_move {
            next.push([MOVE.into(), "".into()]);
        }
        for text in self.advice() {
            next.push([text.into(), "".into()]);
        }
        let requests = self.summary().requests_planned;
        let mut costs = estimate::charges(&self.charges, prices);
        costs.insert(0, estimate::of_plan(&self.summary(), &self.charges, prices));
        let writing = prices.clone().writing(self.charges.written_class());
        let made = LocalTime::utc().iso(Timestamp::now().as_second());
        let mut sections = vec![next, actions, reasons, largest, deleted];
        sections.retain(|section| !section.is_empty());
        Page {
            title: file.to_owned(),
            kind: format!("Plan, as shown on {made}"),
            made: format!("Made by s3haul plan show at {made}. Costs: {}.", costs.join("; ")),
            currency: prices.currency.clone(),
            facts: vec![
                Fact::new("Actions", Unit::Count, self.actions()),
                Fact::new(
                    "Requests",
                    Unit::Count,
                    requests.write + requests.read + requests.delete,
                ),
                Fact::new("Price of the requests", Unit::Cost, millionths(writing.cost(requests))),
            ],
            tree: Some(tree),
            sections,
        }
    }

    fn folders(&self) -> Vec<(&str, Count)> {
        let mut folders: Vec<_> =
            self.deleted.iter().map(|(name, count)| (&**name, *count)).collect();
        folders.sort_by_key(|(name, count)| (Reverse(count.objects), *name));
        folders.truncate(SHOWN);
        folders
    }
}

fn size(objects: u64, bytes: u64) -> String {
    format!("{}, {}", number_of(objects, "object"), number_of(bytes, "byte"))
}

/// What a job does to every object.
fn effect(job: &str) -> Option<Effect> {
    let class = |write: &WriteOptions| write.storage_class.clone();
    Some(match Job::from_json(job.as_bytes()).ok()?.task {
        Task::Copy(task) => Effect { written_class: class(&task.write), ..Effect::default() },
        Task::Move(task) => {
            Effect { written_class: class(&task.write), is_move: true, ..Effect::default() }
        }
        Task::Sync(task) => Effect { written_class: class(&task.write), ..Effect::default() },
        Task::Set(task) => Effect {
            rewrites: set_copies(&task),
            written_class: task.storage_class,
            ..Effect::default()
        },
        Task::Restore(task) => {
            Effect { restore_tier: restore_tier(task.action), ..Effect::default() }
        }
        _ => Effect::default(),
    })
}

/// Sums up a plan. Blocks.
pub(super) fn show(
    args: &PlanShowArgs,
    region: Option<&str>,
    as_json: bool,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    let read = [Some(&*args.file), args.prices.as_deref()];
    refuse_overwriting([args.html.as_deref()], read.into_iter().flatten())?;
    let prices = price_table_of(args.prices.as_deref(), region)?;
    let plan = PlanFile::open(&args.file).map_err(Failure::of_arguments)?;
    if args.format == Some(PlanFormat::S3Batch) {
        return elsewhere::print_manifest(&plan, printer);
    }
    let html = args.html.as_deref().map(|path| Output::new(Some(path), printer)).transpose()?;
    let tree = html.is_some().then(PlanTree::new);
    let mut totals = Totals { tree, ..Totals::default() };
    totals.add_all(&plan)?;
    if let (Some(html), Some(tree)) = (html, totals.tree.take()) {
        let page = totals.page(tree.finish(), &args.file.to_string_lossy(), &prices);
        _ = html.write(&html::render(&page))?;
        html.commit()?;
    }
    printer.output(|buffer| {
        if as_json {
            return push_json(buffer, &totals, &prices);
        }
        totals.lines(&prices).iter().for_each(|line| push_line(buffer, line));
    });
    Ok(exit::SUCCESS)
}

/// The totals for programs.
#[derive(Serialize)]
struct PlanLine<'a> {
    actions: &'a BTreeMap<&'static str, Count>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removes_sources: bool,
    reasons: &'a BTreeMap<String, u64>,
    requests: estimate::Requests,
    #[serde(flatten)]
    changes: estimate::Changes,
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

fn push_json(buffer: &mut Vec<u8>, totals: &Totals, prices: &PriceTable) {
    let (largest, advice) = (totals.largest(), totals.advice());
    let line = PlanLine {
        actions: &totals.actions,
        removes_sources: totals.is_move,
        reasons: &totals.reasons,
        requests: estimate::Requests::of(totals.summary().requests_planned),
        changes: estimate::Changes::of(&totals.charges, prices),
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
