//! What costs money, and the command that would change it.

use s3haul::plan::price::{STANDARD, Stored};
use s3haul::summary::{AGE_LIMITS, Counts, KindCounts};
use serde_json::Value;

use super::super::{Section, Unit, millionths};
use super::{Extras, cost_of};
use crate::render::escape::quoted;
use crate::render::summary::report::Report;

/// Objects that have not been written for so many days, up to so many, and the class that would be
/// cheaper for them.
const MOVES: [(i64, Option<i64>, &str); 2] =
    [(91, Some(365), "STANDARD_IA"), (365, None, "GLACIER_IR")];

/// A line of the table.
struct Line {
    what: String,
    counts: Option<Counts>,
    month: Option<f64>,
    saved: Option<f64>,
    once: Option<f64>,
    command: String,
}

impl From<Line> for Vec<Value> {
    fn from(line: Line) -> Self {
        let cost = |amount: Option<f64>| amount.map(millionths).into();
        vec![
            line.what.into(),
            line.counts.map(|counts| counts.objects).into(),
            line.counts.map(|counts| counts.bytes).into(),
            cost(line.month),
            cost(line.saved),
            cost(line.once),
            line.command.into(),
        ]
    }
}

/// The table; empty where nothing is stored.
pub(super) fn section(report: &Report<'_>, extras: &Extras<'_>) -> Section {
    let columns = [
        ("What", Unit::Text),
        ("Objects", Unit::Count),
        ("Bytes", Unit::Bytes),
        ("Cost a month", Unit::Cost),
        ("Saved a month", Unit::Cost),
        ("Once", Unit::Cost),
        ("Command", Unit::Command),
    ];
    let note = format!(
        "At the prices of {}. When objects were written says nothing about how often they are \
         read: reading costs extra in the classes that are cheaper to store in, and they bill a \
         minimum of 30 days and more. Commands with --dryrun only print what they would do.",
        extras.prices.name
    );
    let mut section = Section::new("What costs money", &columns).with_note(note);
    let flags = extras.flags.iter().map(quoted);
    let flags = flags.fold(String::new(), |all, flag| all + " " + &flag);
    let lines = [uploads(report, extras), versions(report, extras)];
    let lines =
        lines.into_iter().flatten().chain(small(report, extras)).chain(moves(report, extras));
    for line in lines {
        let command = if commands_fit(report) { line.command + &flags } else { String::new() };
        section.push(Vec::from(Line { command, ..line }));
    }
    section
}

/// Whether a command on the address is about what was counted: not where only some objects were,
/// nor where the prefix ends within a name, which only listings take.
fn commands_fit(report: &Report<'_>) -> bool {
    let is_folder = report.prefix.is_empty() || report.prefix.ends_with('/');
    is_folder && !report.is_selection
}

fn address(report: &Report<'_>) -> String {
    quoted(format!("s3://{}/{}", report.bucket, report.prefix))
}

/// The same for commands that would take `*` and `?` as patterns.
fn objects(report: &Report<'_>) -> String {
    let raw = if report.prefix.contains(['*', '?']) { " --raw" } else { "" };
    address(report) + raw
}

fn uploads(report: &Report<'_>, extras: &Extras<'_>) -> Option<Line> {
    let address = address(report);
    let Some(uploads) = report.uploads else {
        return Some(Line {
            what: "Incomplete uploads: not counted without --uploads".to_owned(),
            counts: None,
            month: None,
            saved: None,
            once: None,
            command: format!("s3haul uploads ls {address} --sizes"),
        });
    };
    let stored = Stored { billed_bytes: uploads.bytes, ..Stored::default() };
    let line = Line {
        what: "Incomplete uploads, whose parts are billed".to_owned(),
        counts: Some(Counts { objects: uploads.uploads, bytes: uploads.bytes }),
        month: extras.prices.month(STANDARD, stored),
        saved: None,
        once: None,
        command: format!("s3haul uploads abort {address} --older-than 7d --dryrun"),
    };
    Some(line).filter(|_| uploads.uploads > 0)
}

fn versions(report: &Report<'_>, extras: &Extras<'_>) -> Option<Line> {
    let address = objects(report);
    let Some(versions) = report.figures.versions else {
        return Some(Line {
            what: "Old versions: not counted without --versions".to_owned(),
            counts: None,
            month: None,
            saved: None,
            once: None,
            command: format!("s3haul summarize {address} --versions --html versions.html"),
        });
    };
    let line = Line {
        what: "Versions that are not current".to_owned(),
        counts: Some(versions.noncurrent),
        month: cost_of(&extras.details.noncurrent, extras),
        saved: None,
        once: None,
        command: format!("s3haul rm {address} --recursive --noncurrent --older-than 30d --dryrun"),
    };
    Some(line).filter(|_| versions.noncurrent.objects > 0)
}

/// Objects that are billed for more bytes than they have.
fn small(report: &Report<'_>, extras: &Extras<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    let beyond = |kind: &KindCounts| kind.billed_bytes.saturating_sub(kind.counts.bytes);
    for kind in super::root(extras.details).kinds {
        let old = extras.details.noncurrent.kinds.iter().find(|old| old.kind == kind.kind);
        let unused = beyond(&kind) - old.map_or(0, beyond);
        let Some(class) = extras.details.classes.get(usize::from(kind.kind)) else { continue };
        let Some(size) = extras.prices.break_even_bytes(class).filter(|_| unused > 0) else {
            continue;
        };
        let stored = Stored { billed_bytes: unused, ..Stored::default() };
        lines.push(Line {
            what: format!(
                "Bytes billed and not stored: small objects in {class}, of which those below \
                 {size} bytes are cheaper in {STANDARD}"
            ),
            counts: None,
            month: extras.prices.month(class, stored),
            saved: None,
            once: None,
            command: format!(
                "s3haul set {} --recursive --source-storage-class {} --max-size {size} \
                 --storage-class {STANDARD} --dryrun",
                objects(report),
                quoted(class)
            ),
        });
    }
    lines
}

/// Objects that another class would be cheaper for.
fn moves(report: &Report<'_>, extras: &Extras<'_>) -> Vec<Line> {
    let classes = &extras.details.classes;
    let is_standard = |kind: u8| classes.get(usize::from(kind)).is_some_and(|c| c == STANDARD);
    let Some(idle) = extras.details.idle.iter().find(|idle| is_standard(idle.kind)) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (from, to, class) in MOVES {
        let mut counts = Counts::default();
        let mut starts = 0;
        for ((_, ends), age) in AGE_LIMITS.iter().zip(idle.ages) {
            let is_within = starts >= from && to.is_none_or(|to| ends.is_some_and(|e| e <= to));
            if is_within {
                counts.objects += age.objects;
                counts.bytes = counts.bytes.saturating_add(age.bytes);
            }
            starts = ends.unwrap_or(starts);
        }
        if counts.objects == 0 {
            continue;
        }
        let stored = Stored {
            objects: counts.objects,
            large_objects: counts.objects,
            billed_bytes: counts.bytes,
        };
        let [now, then] = [STANDARD, class].map(|class| extras.prices.month(class, stored));
        let until = to.map_or(String::new(), |to| format!(" --newer-than {to}d"));
        let ages =
            to.map_or(format!("over {from} days ago"), |to| format!("{from} to {to} days ago"));
        lines.push(Line {
            what: format!("In {STANDARD}, written {ages}, 128 KiB and more: {class} is cheaper"),
            counts: Some(counts),
            month: now,
            saved: now.zip(then).map(|(now, then)| now - then),
            once: extras.prices.change(STANDARD, class, stored),
            command: format!(
                "s3haul set {} --recursive --source-storage-class {STANDARD} --min-size 128KiB \
                 --older-than {from}d{until} --storage-class {class} --dryrun",
                objects(report)
            ),
        });
    }
    lines
}
