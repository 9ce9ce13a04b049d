//! The page of the Python package: a table for each workload, and what it is held to. Pure: the
//! same runs always give the same page.

use std::fmt::Write as _;

use super::libraries::{COMMAND, OURS};
use crate::record::{Outcome, Run, Unit};
use crate::report::{Spread, escaped, seconds, short, times};
use support::term;

const INTRODUCTION: &str = "\
# The Python package beside other libraries

Made by `make bench NAME=python`: each library in turn (A B C A B C …) behind a warm-up round, \
each run a whole process with the start of the interpreter and the imports, the server another \
process of the same machine, files in memory. Medians of the rounds are shown, and of ratios the \
median of those of each round; all runs are in `python/runs.jsonl`. What takes long runs once \
only (`--once-above`, 20 s unless the command below says otherwise). Where several commands are \
below, libraries of one table may have run at different times. Of each run it is checked that \
the numbers of objects and bytes are right; of uploads and downloads also names and sizes, of \
downloads some of the content, of a sync that it wrote nothing. CPU time is that of the process \
and its children, user and system. A ratio of 3 is three times what the package needs; `command` \
is the command `s3haul`, a program of its own. The scripts are in `tools/bench/src/python`.
";

/// What is wanted of a workload next to another library.
struct Bar {
    workload: &'static str,
    other: &'static str,
    /// Least ratios of its wall and CPU time to ours.
    wall: Option<f64>,
    cpu: Option<f64>,
}

/// Ours may take 10 % more than the command.
const AS_COMMAND: Option<f64> = Some(1.0 / 1.1);

const BARS: [Bar; 5] = [
    Bar { workload: "list-arrow", other: "obstore", wall: Some(5.0), cpu: Some(5.0) },
    Bar { workload: "list-pandas", other: "obstore", wall: Some(5.0), cpu: Some(5.0) },
    Bar { workload: "read", other: "obstore", wall: None, cpu: Some(2.0) },
    Bar { workload: "upload", other: COMMAND, wall: AS_COMMAND, cpu: AS_COMMAND },
    Bar { workload: "download", other: COMMAND, wall: AS_COMMAND, cpu: AS_COMMAND },
];

/// Medians of a library's runs of a workload.
struct Row<'a> {
    library: &'a str,
    /// None where no run did the work.
    figures: Option<Figures>,
    remark: Option<String>,
}

struct Figures {
    rounds: usize,
    wall_s: f64,
    cpu_s: f64,
    cpu_each: f64,
    peak_mib: f64,
    requests: Option<u64>,
    wall_to_ours: Option<f64>,
    cpu_to_ours: Option<f64>,
}

/// The whole page; `about` is what the runs were made with.
pub(super) fn page(runs: &[Run], about: &str) -> String {
    let mut page = format!("{INTRODUCTION}\n{}\n", about.trim());
    let bars = bars(runs);
    if !bars.is_empty() {
        page.push_str(
            "\n## Bars\n\n| workload | next to | wall | CPU | |\n|---|---|---|---|---|\n",
        );
        page.push_str(&bars);
    }
    for workload in distinct(runs.iter().map(|run| run.workload.as_str())) {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.workload == workload).collect();
        section(&runs, &mut page);
    }
    page
}

fn section(runs: &[&Run], page: &mut String) {
    let first = runs[0];
    let unit = match first.unit {
        Unit::Object => "CPU µs an object",
        Unit::Gigabyte => "CPU s a GB",
        Unit::MillionKeys => "CPU s a million keys",
        Unit::Run => "CPU ms",
    };
    let _ = writeln!(
        page,
        "\n## {}: {}\n\n| library | wall s | CPU s | {unit} | peak MiB | requests | \
         wall to s3haul | CPU to s3haul | |\n|---|---|---|---|---|---|---|---|---|",
        first.workload,
        escaped(&first.title),
    );
    for row in rows(runs) {
        page.push_str(&line(&row));
    }
}

fn line(row: &Row<'_>) -> String {
    let mut remark = row.remark.as_deref().map_or_else(String::new, escaped);
    let Some(figures) = &row.figures else {
        return format!("| {} | | | | | | | | {remark} |\n", row.library);
    };
    if figures.rounds == 1 {
        remark.push_str(if remark.is_empty() { "one run" } else { "; one run" });
    }
    format!(
        "| {} | {} | {} | {} | {:.0} | {} | {} | {} | {remark} |\n",
        row.library,
        seconds(figures.wall_s),
        seconds(figures.cpu_s),
        short(figures.cpu_each),
        figures.peak_mib,
        figures.requests.map_or_else(String::new, term::count),
        times(figures.wall_to_ours),
        times(figures.cpu_to_ours),
    )
}

/// Ours, the command, then the others by wall time.
fn rows<'a>(runs: &[&'a Run]) -> Vec<Row<'a>> {
    let libraries = distinct(runs.iter().map(|run| run.tool.as_str()));
    let mut rows: Vec<Row<'a>> = libraries.into_iter().map(|library| row(library, runs)).collect();
    let rank = |row: &Row<'_>| match row.library {
        OURS => 0,
        COMMAND => 1,
        _ => 2,
    };
    let wall = |row: &Row<'_>| row.figures.as_ref().map_or(f64::INFINITY, |found| found.wall_s);
    rows.sort_by(|a, b| rank(a).cmp(&rank(b)).then(wall(a).total_cmp(&wall(b))));
    rows
}

fn row<'a>(library: &'a str, runs: &[&Run]) -> Row<'a> {
    let own = |run: &&&Run| run.tool == library;
    let remark = runs.iter().filter(own).find_map(|run| match &run.outcome {
        Outcome::Done { .. } => None,
        Outcome::Absent(why) => Some(why.clone()),
        Outcome::Failed(how) => Some(format!("failed: {how}")),
    });
    Row { library, figures: figures(library, runs), remark }
}

/// Wall time, CPU time, memory and requests of a run that did the work.
fn done(run: &Run) -> Option<(f64, f64, f64, Option<u64>)> {
    match &run.outcome {
        Outcome::Done { wall_s, cpu_s, peak_mib, requests } => {
            Some((*wall_s, *cpu_s, *peak_mib, *requests))
        }
        _ => None,
    }
}

fn figures(library: &str, runs: &[&Run]) -> Option<Figures> {
    let (mut wall_s, mut cpu_s, mut peak_mib) = (Vec::new(), Vec::new(), Vec::new());
    let (mut wall_ratios, mut cpu_ratios, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for run in runs.iter().filter(|run| run.tool == library) {
        let Some((wall, cpu, peak, requests)) = done(run) else { continue };
        wall_s.push(wall);
        cpu_s.push(cpu);
        peak_mib.push(peak);
        counts.extend(requests);
        let is_ours = |other: &&&Run| other.tool == OURS && other.round == run.round;
        let ours = runs.iter().find(is_ours).and_then(|ours| done(ours));
        if let Some((ours_wall, ours_cpu, ..)) = ours {
            wall_ratios.push(wall / ours_wall);
            cpu_ratios.push(cpu / ours_cpu);
        }
    }
    counts.sort_unstable();
    let scale = match runs[0].unit {
        Unit::Object => 1e6,
        Unit::Gigabyte | Unit::MillionKeys => 1.0,
        Unit::Run => 1e3,
    };
    let median = |values| Spread::of(values).map(|spread| spread.median);
    let (rounds, cpu_s) = (wall_s.len(), median(cpu_s)?);
    Some(Figures {
        rounds,
        wall_s: median(wall_s)?,
        cpu_s,
        cpu_each: cpu_s * scale / runs[0].amount,
        peak_mib: median(peak_mib)?,
        requests: counts.get(counts.len() / 2).copied(),
        wall_to_ours: median(wall_ratios),
        cpu_to_ours: median(cpu_ratios),
    })
}

/// Lines of the table of bars, of workloads that were measured.
fn bars(runs: &[Run]) -> String {
    let mut lines = String::new();
    for bar in &BARS {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.workload == bar.workload).collect();
        let Some(figures) = runs.first().and_then(|_| figures(bar.other, &runs)) else { continue };
        let (wall, wall_is_met) = held(figures.wall_to_ours, bar.wall);
        let (cpu, cpu_is_met) = held(figures.cpu_to_ours, bar.cpu);
        let verdict = if wall_is_met && cpu_is_met { "met" } else { "missed" };
        let _ =
            writeln!(lines, "| {} | {} | {wall} | {cpu} | {verdict} |", bar.workload, bar.other);
    }
    lines
}

/// A ratio with what is wanted of it, and whether it is that.
fn held(found: Option<f64>, wanted: Option<f64>) -> (String, bool) {
    let Some(wanted) = wanted else { return (times(found), true) };
    let is_met = found.is_some_and(|found| found >= wanted);
    (format!("{} (at least {})", times(found), times(Some(wanted))), is_met)
}

/// Each value once, in the order of first appearance.
fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Place;

    fn run(workload: &str, tool: &str, round: u32, outcome: Outcome) -> Run {
        Run {
            workload: workload.to_owned(),
            title: "some <work>".to_owned(),
            place: Place { server: "embedded".to_owned(), latency_ms: 0, is_tls: false },
            tool: tool.to_owned(),
            version: None,
            round,
            amount: 1000.0,
            unit: Unit::Object,
            outcome,
        }
    }

    fn took(wall_s: f64, cpu_s: f64) -> Outcome {
        Outcome::Done { wall_s, cpu_s, peak_mib: 10.0, requests: Some(5) }
    }

    #[test]
    fn ratios_are_medians_of_those_of_each_round() {
        let runs = [
            run("read", "obstore", 1, took(4.0, 4.0)),
            run("read", "s3haul", 1, took(2.0, 1.0)),
            run("read", "obstore", 2, took(9.0, 9.0)),
            run("read", "s3haul", 2, took(3.0, 3.0)),
            run("read", "obstore", 3, took(8.0, 8.0)),
            run("read", "s3haul", 3, took(1.0, 4.0)),
            run("read", "s3transfer", 1, Outcome::Absent("files|only".to_owned())),
        ];
        let page = page(&runs, "Machine: m.");
        let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
        assert_eq!(
            lines,
            [
                "| workload | next to | wall | CPU | |",
                "| read | obstore | 3.0 | 3.0 (at least 2.00) | met |",
                "| library | wall s | CPU s | CPU µs an object | peak MiB | requests | \
                 wall to s3haul | CPU to s3haul | |",
                "| s3haul | 2.00 | 3.00 | 3000 | 10 | 5 | 1.00 | 1.00 |  |",
                "| obstore | 8.00 | 8.00 | 8000 | 10 | 5 | 3.0 | 3.0 |  |",
                "| s3transfer | | | | | | | | files\\|only |",
            ]
        );
        assert!(page.contains("\n## read: some \\<work>\n"));
    }

    #[test]
    fn a_bar_is_missed_by_either_time() {
        let told = |wall_s, cpu_s| {
            bars(&[
                run("upload", "s3haul", 1, took(1.0, 1.0)),
                run("upload", "command", 1, took(wall_s, cpu_s)),
            ])
        };
        assert!(told(0.95, 0.95).ends_with("| met |\n"), "{}", told(0.95, 0.95));
        assert!(told(0.90, 0.95).ends_with("| missed |\n"));
        assert!(told(0.95, 0.90).ends_with("| missed |\n"));
        assert_eq!(bars(&[run("sync", "command", 1, took(1.0, 1.0))]), "");
        let failed = Outcome::Failed("x".to_owned());
        assert_eq!(bars(&[run("upload", "command", 1, failed)]), "");
    }
}
