//! The page of a comparison: what differs where.

use s3haul::job::{CompareSummary, Compared, Depth, Evidence, Facts, Status, Tally};
use s3haul::summary::{Contents, Counts, FolderTree, TreeFolder, TreeObject};
use s3haul_wire::units::LocalTime;

use super::{Colour, Fact, Folder, Metric, Page, Scale, Section, Tree, Unit, render};

/// Folders that are kept.
const FOLDERS_MAX: usize = 100_000;
/// Differences that are listed by name.
const ROWS_MAX: usize = 1000;
/// Names of what a comparison finds, as kinds of the tree.
const KINDS: [&str; 5] =
    ["only in the source", "only in the target", "different", "not compared", "the same"];
/// The kind that is no difference.
const SAME: u8 = 4;

/// Gathers what a page shows while the comparison runs.
pub(crate) struct ComparePage {
    tree: FolderTree,
    rows: Section,
    count: usize,
}

impl ComparePage {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        let columns = [
            ("What", Unit::Text),
            ("Because of", Unit::Text),
            ("Name", Unit::Name),
            ("Bytes in the source", Unit::Bytes),
            ("Bytes in the target", Unit::Bytes),
            ("Error", Unit::Name),
        ];
        let rows = Section::new("Differences", &columns);
        Self { tree: FolderTree::new(FOLDERS_MAX), rows, count: 0 }
    }

    /// Adds a pair.
    pub(crate) fn add(&mut self, compared: &Compared) {
        let Compared { name, source, target, status } = compared;
        let kind = match status {
            Status::OnlySource => 0,
            Status::OnlyTarget => 1,
            Status::Different(_) => 2,
            Status::Failed(_) => 3,
            Status::Same(_) => SAME,
        };
        let bytes = source.or(*target).map_or(0, |facts| facts.size);
        self.tree.add(name, TreeObject { kind, bytes, billed_bytes: bytes, age_s: 0 });
        if kind == SAME {
            return;
        }
        self.count += 1;
        if self.count > ROWS_MAX {
            return;
        }
        let size = |facts: &Option<Facts>| facts.map(|facts| facts.size).into();
        let error = match status {
            Status::Failed(error) => error.to_string(),
            _ => String::new(),
        };
        self.rows.push([
            KINDS[usize::from(kind)].into(),
            status.reason().into(),
            name.clone().into(),
            size(source),
            size(target),
            error.into(),
        ]);
    }

    /// The page as a file.
    pub(crate) fn finish(
        mut self,
        depth: Depth,
        sides: [&str; 2],
        summary: &CompareSummary,
        at_s: i64,
    ) -> Vec<u8> {
        let [source, target] = sides;
        let kind = if depth == Depth::Proof { "Verification" } else { "Comparison" };
        let made = LocalTime::utc().iso(at_s);
        let mut rows = self.rows;
        if self.count > ROWS_MAX {
            rows = rows.with_note(format!("The first {ROWS_MAX} of {}.", self.count));
        }
        let mut sections = vec![totals(summary), rows];
        sections.retain(|section| !section.is_empty());
        render(&Page {
            title: format!("{source} ↔ {target}"),
            kind: format!("{kind} of {made}"),
            made: format!("Made by s3haul at {made}."),
            currency: String::new(),
            facts: facts(summary),
            tree: Some(tree(&self.tree.folders())),
            sections,
        })
    }
}

fn facts(summary: &CompareSummary) -> Vec<Fact> {
    let fact = |name, tally: Tally| Fact::new(name, Unit::Count, tally.objects);
    let mut facts = vec![
        fact("Only in the source", summary.only_source),
        fact("Only in the target", summary.only_target),
        fact("Different", summary.different),
        fact("The same", summary.same_total()),
        fact("Not compared", summary.failed),
    ];
    if summary.warnings > 0 {
        facts.push(Fact::new("Warnings", Unit::Count, summary.warnings));
    }
    if summary.is_empty() {
        facts.push(Fact::new("Result", Unit::Text, "Nothing is on either side"));
    }
    facts
}

fn totals(summary: &CompareSummary) -> Section {
    let columns = [("What", Unit::Text), ("Objects", Unit::Count), ("Bytes", Unit::Bytes)];
    let mut section = Section::new("What was found", &columns).with_bars();
    let tallies = [summary.only_source, summary.only_target, summary.different, summary.failed];
    let mut push = |name: &str, Tally { objects, bytes }: Tally| {
        section.push([name.into(), objects.into(), bytes.into()]);
    };
    for (name, tally) in KINDS.into_iter().zip(tallies) {
        push(name, tally);
    }
    for (evidence, tally) in Evidence::ALL.into_iter().zip(summary.same) {
        if tally.objects > 0 {
            push(&format!("the same by {evidence}"), tally);
        }
    }
    section
}

/// What of a folder differs.
fn different(contents: &Contents) -> Counts {
    let mut sum = Counts::default();
    for kind in contents.kinds.iter().filter(|kind| kind.kind != SAME) {
        sum.objects += kind.counts.objects;
        sum.bytes = sum.bytes.saturating_add(kind.counts.bytes);
    }
    sum
}

fn tree(folders: &[TreeFolder]) -> Tree {
    let metrics = vec![
        Metric { name: "Objects that differ", unit: Unit::Count },
        Metric { name: "Bytes that differ", unit: Unit::Bytes },
        Metric { name: "All objects", unit: Unit::Count },
        Metric { name: "All bytes", unit: Unit::Bytes },
    ];
    let labels = KINDS.map(str::to_owned).to_vec();
    let colours = vec![Colour::new("Mostly", Scale::Kinds, labels)];
    let folder = |folder: &TreeFolder| {
        let (differs, all) = (different(&folder.contents), folder.contents.counts);
        let kinds = folder.contents.kinds.iter().filter(|kind| kind.kind != SAME);
        let most = kinds.max_by_key(|kind| kind.counts.objects);
        Folder {
            path: folder.name.clone(),
            values: vec![differs.objects, differs.bytes, all.objects, all.bytes],
            colours: vec![most.map_or(SAME, |kind| kind.kind)],
            is_at_least: folder.missing_max != Counts::default(),
        }
    };
    let folders: Vec<Folder> = folders.iter().map(folder).collect();
    Tree::new("(all)", metrics, colours, &folders)
}
