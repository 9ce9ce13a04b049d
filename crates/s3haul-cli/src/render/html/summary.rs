//! The page of a summary: folders as a map, histograms, growth, and what costs money.

mod growth;
mod savings;

use std::ffi::OsString;

use s3haul::plan::price::PriceTable;
use s3haul::summary::{Contents, Counts, Details, RankedObject, TreeFolder, age_index};
use s3haul_wire::units::LocalTime;
use serde_json::Value;

pub(crate) use growth::Earlier;

use super::{Colour, Fact, Folder, Metric, Page, Scale, Section, Tree, Unit, millionths, render};
use crate::render::summary::report::{AGES, ODDITIES, Report, size_range};

/// Rows of a table at most, beside the folders.
const ROWS_MAX: usize = 100;
/// Columns of histograms.
const COUNTED: [(&str, Unit); 2] = [("Objects", Unit::Count), ("Bytes", Unit::Bytes)];

/// What the page has beside the figures.
pub(crate) struct Extras<'a> {
    /// Folders by class and age.
    pub(crate) details: &'a Details,
    /// Prices.
    pub(crate) prices: &'a PriceTable,
    /// Earlier summaries of the same, the earliest first.
    pub(crate) earlier: &'a [Earlier],
    /// Flags that reach the same service, for commands.
    pub(crate) flags: &'a [OsString],
}

/// The page as a file.
pub(crate) fn page(report: &Report<'_>, extras: &Extras<'_>) -> Vec<u8> {
    let cost = cost_of(&root(extras.details), extras);
    let mut sections = vec![savings::section(report, extras)];
    sections.push(sizes(report));
    sections.push(ages(report));
    sections.push(classes(report, extras));
    sections.extend(growth::sections(report, extras));
    sections.push(extensions(report));
    for (title, rows) in [
        ("Largest objects", &report.figures.largest),
        ("Newest objects", &report.figures.newest),
        ("Oldest objects", &report.figures.oldest),
    ] {
        sections.push(ranking(title, rows));
    }
    sections.push(odd_keys(report));
    sections.retain(|section| !section.is_empty());
    let selected = if report.is_selection { ", only what was selected" } else { "" };
    let made = LocalTime::utc().iso(report.at_s);
    render(&Page {
        title: format!("s3://{}/{}", report.bucket, report.prefix),
        kind: format!("Summary of {made}{selected}"),
        made: format!(
            "Made by s3haul summarize at {made}. Costs are estimates at the prices of {}; requests \
             and transfer are not in them.",
            extras.prices.name
        ),
        currency: extras.prices.currency.clone(),
        facts: facts(report, cost),
        tree: Some(tree(report, extras)),
        sections,
    })
}

fn facts(report: &Report<'_>, cost: Option<f64>) -> Vec<Fact> {
    let figures = report.figures;
    let mut facts = vec![
        Fact::new("Objects", Unit::Count, figures.total.objects),
        Fact::new("Bytes", Unit::Bytes, figures.total.bytes),
    ];
    if let Some(cost) = cost {
        facts.push(Fact::new("Storage a month", Unit::Cost, millionths(cost)));
    }
    if figures.total.objects > 0 {
        facts.push(Fact::new("Mean size", Unit::Bytes, figures.sizes.mean));
        facts.push(Fact::new("Largest", Unit::Bytes, figures.sizes.max));
        facts.push(Fact::new("Empty objects", Unit::Count, figures.empty_objects));
    }
    if let Some(versions) = figures.versions {
        facts.push(Fact::new("Old versions", Unit::Bytes, versions.noncurrent.bytes));
        facts.push(Fact::new("Delete markers", Unit::Count, versions.delete_markers));
    }
    facts
}

fn root(details: &Details) -> Contents {
    details.folders.first().map(|folder| folder.contents.clone()).unwrap_or_default()
}

/// What a month costs; none where a class has no price.
fn cost_of(contents: &Contents, extras: &Extras<'_>) -> Option<f64> {
    if !extras.prices.has_storage() {
        return None;
    }
    let classes = &extras.details.classes;
    let month = |class: &s3haul::summary::KindCounts| {
        extras.prices.month(classes.get(usize::from(class.kind))?, class.stored())
    };
    // Classes without a price are left out rather than all the others.
    Some(contents.kinds.iter().filter_map(month).sum())
}

fn tree(report: &Report<'_>, extras: &Extras<'_>) -> Tree {
    let details = extras.details;
    let has_costs = extras.prices.has_storage();
    let mut metrics = vec![
        Metric { name: "Bytes", unit: Unit::Bytes },
        Metric { name: "Objects", unit: Unit::Count },
    ];
    if has_costs {
        metrics.push(Metric { name: "Cost a month", unit: Unit::Cost });
    }
    let ages = AGES.map(str::to_owned).to_vec();
    let mut colours = vec![
        Colour::new("Storage class", Scale::Kinds, details.classes.clone()),
        Colour::new("Mean age", Scale::Ages, ages),
    ];
    let changes = growth::Changes::since(report, extras);
    if changes.is_some() {
        colours.push(Colour::new("Change", Scale::Changes, growth::labels()));
    }
    let folder = |folder: &TreeFolder| {
        let contents = &folder.contents;
        let mut values = vec![contents.counts.bytes, contents.counts.objects];
        if has_costs {
            let cost = millionths(cost_of(contents, extras).unwrap_or(0.0));
            values.push(u64::try_from(cost).unwrap_or(0));
        }
        let age_s = i64::try_from(contents.mean_age_s()).unwrap_or(i64::MAX);
        let age = u8::try_from(age_index(age_s)).unwrap_or(0);
        let mut colours = vec![contents.main_kind().unwrap_or(0), age];
        colours.extend(changes.as_ref().map(|changes| changes.of(&folder.name)));
        let is_at_least = folder.missing_max != Counts::default();
        Folder { path: folder.name.clone(), values, colours, is_at_least }
    };
    let folders: Vec<Folder> = details.folders.iter().map(folder).collect();
    Tree::new(&base_address(report), metrics, colours, &folders)
}

/// The address that paths of folders are relative to.
fn base_address(report: &Report<'_>) -> String {
    let base = report.prefix.rfind('/').map_or("", |at| &report.prefix[..=at]);
    format!("s3://{}/{base}", report.bucket)
}

fn counted(name: impl Into<Value>, counts: Counts) -> [Value; 3] {
    [name.into(), counts.objects.into(), counts.bytes.into()]
}

fn histogram(title: &str, name: (&'static str, Unit)) -> Section {
    Section::new(title, &[name, COUNTED[0], COUNTED[1]]).with_bars()
}

fn sizes(report: &Report<'_>) -> Section {
    let mut section = histogram("Objects by size", ("Size", Unit::Text));
    for range in &report.figures.sizes.histogram {
        section.push(counted(size_range(range.from), range.counts));
    }
    section
}

fn ages(report: &Report<'_>) -> Section {
    let mut section = histogram("Objects by age", ("Written", Unit::Text));
    if report.figures.total.objects > 0 {
        for (age, name) in report.figures.ages.iter().zip(AGES) {
            section.push(counted(name, age.counts));
        }
    }
    section
}

fn classes(report: &Report<'_>, extras: &Extras<'_>) -> Section {
    let columns = [("Class", Unit::Name), COUNTED[0], COUNTED[1], ("Cost a month", Unit::Cost)];
    let mut section = Section::new("Objects by storage class", &columns).with_bars();
    let root = root(extras.details);
    for class in &report.figures.storage_classes {
        let is_class =
            |name: usize| extras.details.classes.get(name).is_some_and(|name| *name == class.name);
        let kind = root.kinds.iter().find(|kind| is_class(usize::from(kind.kind)));
        let cost = kind.and_then(|kind| extras.prices.month(&class.name, kind.stored()));
        let [name, objects, bytes] = counted(class.name.clone(), class.counts);
        section.push([name, objects, bytes, cost.map(millionths).into()]);
    }
    section
}

fn extensions(report: &Report<'_>) -> Section {
    let mut section = histogram("Objects by extension", ("Extension", Unit::Name));
    for row in report.figures.extensions.iter().take(ROWS_MAX.min(report.top)) {
        let name = if row.name.is_empty() { "(none)" } else { &row.name };
        section.push(counted(name, row.counts));
    }
    section
}

fn ranking(title: &str, rows: &[RankedObject]) -> Section {
    let columns = [("Key", Unit::Name), ("Bytes", Unit::Bytes), ("Written", Unit::Text)];
    let mut section = Section::new(title, &columns);
    let mut time = LocalTime::utc();
    for row in rows.iter().take(ROWS_MAX) {
        let written = time.iso(row.last_modified_s);
        section.push([row.key.clone().into(), row.size.into(), written.into()]);
    }
    section
}

fn odd_keys(report: &Report<'_>) -> Section {
    let columns = [("What", Unit::Text), COUNTED[0], COUNTED[1], ("Such as", Unit::Name)];
    let mut section = Section::new("Keys that other tools cannot handle", &columns);
    for oddity in &report.figures.keys.oddities {
        let known = ODDITIES.iter().find(|(name, _)| *name == oddity.name);
        let what = known.map_or(oddity.name, |(_, what)| what);
        let [what, objects, bytes] = counted(what, oddity.counts);
        section.push([what, objects, bytes, oddity.example.clone().into()]);
    }
    section
}
