//! Medians and ratios of runs: a table for each workload, in it a group for each place.

use serde::Serialize;

use crate::record::{Outcome, Place, Run, Unit};

/// The tool that the others are compared with.
pub(super) const OURS: &str = "s3haul";
/// The loop that does nothing but what has to be done.
pub(super) const BARE: &str = "bare";
/// The same with the reads and writes of small files.
pub(super) const BARE_FILES: &str = "bare-files";

/// All runs of a workload.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) workload: String,
    pub(super) title: String,
    pub(super) unit: Unit,
    pub(crate) groups: Vec<Group>,
}

/// The tools at one place, ours first, then the bare loop, then the rest by wall time.
#[derive(Debug, Serialize)]
pub(crate) struct Group {
    pub(super) place: Place,
    /// What was done there: the table's title, unless sizes were others.
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
}

/// A tool's medians.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(super) tool: String,
    pub(super) version: Option<String>,
    /// How many units of work each of its runs had.
    pub(super) amount: f64,
    /// None where no run did the work.
    pub(super) figures: Option<Figures>,
    /// Why there are no figures, or what went wrong in some of the runs.
    pub(super) remark: Option<String>,
}

/// Medians over the rounds. A ratio of 3 means: three times as much as that one.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(super) rounds: usize,
    pub(super) wall_s: Spread,
    pub(super) cpu_s: Spread,
    /// CPU time for a unit of work: µs an object, s a GB, s a million keys, ms a run.
    pub(super) cpu_each: f64,
    pub(super) peak_mib: f64,
    pub(super) requests: Option<u64>,
    /// Wall time for a unit of work, next to ours.
    pub(crate) wall_to_ours: Option<f64>,
    /// CPU time for a unit of work, next to ours.
    pub(crate) cpu_to_ours: Option<f64>,
    /// CPU time for a unit of work, next to the bare loop's.
    pub(super) cpu_to_bare: Option<f64>,
    #[serde(skip)]
    wall_each: f64,
}

/// Least, median and greatest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) max: f64,
}

impl Spread {
    /// None of no values.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Some(Self { min, median, max })
    }
}

impl Table {
    /// Unit of CPU time.
    pub(super) fn cpu_unit(&self) -> &'static str {
        match self.unit {
            Unit::Object => "CPU µs an object",
            Unit::Gigabyte => "CPU s a GB",
            Unit::MillionKeys => "CPU s a million keys",
            Unit::Run => "CPU ms",
        }
    }
}

impl Group {
    pub(crate) fn of(&self, tool: &str) -> Option<&Figures> {
        self.rows.iter().find(|row| row.tool == tool)?.figures.as_ref()
    }
}

/// Tables in the order in which workloads first appear.
pub(crate) fn tables(runs: &[Run]) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for workload in distinct(runs.iter().map(|run| &run.workload)) {
        let ours: Vec<&Run> = runs.iter().filter(|run| run.workload == *workload).collect();
        let groups = distinct(ours.iter().map(|run| &run.place)).into_iter().map(|place| {
            let here: Vec<&Run> = ours.iter().filter(|run| run.place == *place).copied().collect();
            group(place.clone(), &here)
        });
        tables.push(Table {
            workload: workload.clone(),
            title: ours[0].title.clone(),
            unit: ours[0].unit,
            groups: groups.collect(),
        });
    }
    tables
}

/// Each value once, in the order of first appearance.
fn distinct<'a, T: PartialEq>(values: impl Iterator<Item = &'a T>) -> Vec<&'a T> {
    let mut seen: Vec<&T> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

fn group(place: Place, runs: &[&Run]) -> Group {
    let mut rows: Vec<Row> = distinct(runs.iter().map(|run| &run.tool))
        .into_iter()
        .map(|tool| row(tool, runs))
        .collect();
    let rank = |row: &Row| match row.tool.as_str() {
        OURS => 0,
        BARE => 1,
        BARE_FILES => 2,
        _ => 3,
    };
    let wall = |row: &Row| row.figures.as_ref().map_or(f64::INFINITY, |figures| figures.wall_each);
    rows.sort_by(|a, b| rank(a).cmp(&rank(b)).then(wall(a).total_cmp(&wall(b))));
    let title = runs[0].title.clone();
    let mut group = Group { place, title, rows };
    let each = |tool| group.of(tool).map(|figures| (figures.wall_each, figures.cpu_each));
    let (ours, bare) = (each(OURS), each(BARE));
    for figures in group.rows.iter_mut().filter_map(|row| row.figures.as_mut()) {
        figures.wall_to_ours = ours.and_then(|(wall, _)| ratio(figures.wall_each, wall));
        figures.cpu_to_ours = ours.and_then(|(_, cpu)| ratio(figures.cpu_each, cpu));
        figures.cpu_to_bare = bare.and_then(|(_, cpu)| ratio(figures.cpu_each, cpu));
    }
    group
}

/// None where nothing was measured of the other.
fn ratio(value: f64, other: f64) -> Option<f64> {
    (other > 0.0).then(|| value / other)
}

fn row(tool: &str, runs: &[&Run]) -> Row {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.tool == tool).copied().collect();
    let remark = runs.iter().find_map(|run| match &run.outcome {
        Outcome::Done { .. } => None,
        Outcome::Absent(why) => Some(why.clone()),
        Outcome::Failed(how) => Some(format!("failed: {how}")),
    });
    Row {
        tool: tool.to_owned(),
        version: runs[0].version.clone(),
        amount: runs[0].amount,
        figures: figures(&runs),
        remark,
    }
}

fn figures(runs: &[&Run]) -> Option<Figures> {
    let (mut wall_s, mut cpu_s, mut peak_mib) = (Vec::new(), Vec::new(), Vec::new());
    let mut counts = Vec::new();
    for run in runs {
        if let Outcome::Done { wall_s: wall, cpu_s: cpu, peak_mib: peak, requests } = &run.outcome {
            wall_s.push(*wall);
            cpu_s.push(*cpu);
            peak_mib.push(*peak);
            counts.extend(*requests);
        }
    }
    counts.sort_unstable();
    let (rounds, wall_s, cpu_s) = (wall_s.len(), Spread::of(wall_s)?, Spread::of(cpu_s)?);
    let scale = match runs[0].unit {
        Unit::Object => 1e6,
        Unit::Gigabyte | Unit::MillionKeys => 1.0,
        Unit::Run => 1e3,
    };
    let amount = runs[0].amount;
    Some(Figures {
        rounds,
        wall_s,
        cpu_s,
        cpu_each: cpu_s.median * scale / amount,
        peak_mib: Spread::of(peak_mib)?.median,
        requests: counts.get(counts.len() / 2).copied(),
        wall_to_ours: None,
        cpu_to_ours: None,
        cpu_to_bare: None,
        wall_each: wall_s.median / amount,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(tool: &str, round: u32, amount: f64, outcome: Outcome) -> Run {
        Run {
            workload: "e".to_owned(),
            title: "tags".to_owned(),
            place: Place { server: "embedded".to_owned(), latency_ms: 0, is_tls: false },
            tool: tool.to_owned(),
            version: None,
            round,
            amount,
            unit: Unit::Object,
            outcome,
        }
    }

    fn done(wall_s: f64, cpu_s: f64) -> Outcome {
        Outcome::Done { wall_s, cpu_s, peak_mib: 10.0, requests: Some(5) }
    }

    #[test]
    fn medians_and_ratios_are_for_a_unit_of_work() {
        let runs = [
            run("aws", 1, 10.0, done(50.0, 40.0)),
            run("s3haul", 1, 1000.0, done(9.0, 3.0)),
            run("s3haul", 2, 1000.0, done(1.0, 1.0)),
            run("s3haul", 3, 1000.0, done(2.0, 2.0)),
            run("s4cmd", 1, 1000.0, Outcome::Absent("no tags".to_owned())),
        ];
        let tables = tables(&runs);
        let rows = &tables[0].groups[0].rows;
        let names: Vec<&str> = rows.iter().map(|row| row.tool.as_str()).collect();
        assert_eq!(names, ["s3haul", "aws", "s4cmd"]);
        let ours = rows[0].figures.as_ref().unwrap();
        assert_eq!(ours.wall_s, Spread { min: 1.0, median: 2.0, max: 9.0 });
        assert!((ours.cpu_each - 2000.0).abs() < 1e-6);
        assert_eq!(ours.cpu_to_bare, None);
        let aws = rows[1].figures.as_ref().unwrap();
        assert!((aws.cpu_to_ours.unwrap() - 2000.0).abs() < 1e-6);
        assert!((aws.wall_to_ours.unwrap() - 2500.0).abs() < 1e-6);
        assert!(rows[2].figures.is_none());
        assert_eq!(rows[2].remark.as_deref(), Some("no tags"));
    }

    #[test]
    fn a_failed_round_is_remarked_beside_the_figures_of_the_others() {
        let runs = [
            run("rclone", 1, 5.0, done(1.0, 1.0)),
            run("rclone", 2, 5.0, Outcome::Failed("3 of 5 arrived".to_owned())),
        ];
        let tables = tables(&runs);
        let row = &tables[0].groups[0].rows[0];
        assert_eq!(row.figures.as_ref().unwrap().rounds, 1);
        assert_eq!(row.remark.as_deref(), Some("failed: 3 of 5 arrived"));
    }

    #[test]
    fn even_numbers_of_values_have_a_median_between_two() {
        assert!((Spread::of(vec![4.0, 1.0]).unwrap().median - 2.5).abs() < 1e-9);
        assert_eq!(Spread::of(Vec::new()), None);
    }
}
