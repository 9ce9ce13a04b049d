//! The page of the Python package: a table for each workload, and what it is held to. Pure: the
//! same runs always give the same page.

use std::fmt::Write as _;

use crate::matrix::libraries::COMMAND;
use crate::report::{Table, section, times};

const INTRODUCTION: &str = "\
# The Python package beside other libraries

Made by `make bench NAME=python`: each library in turn (A B C A B C …) behind a warm-up round, \
each run a whole process with the start of the interpreter and the imports, the server another \
process of the same machine, files in memory. Medians of the rounds are shown, and \
ratios of these; all runs are in `python/runs.jsonl`. What takes long runs once only \
(`--once-above`, 20 s unless the command below says otherwise). Where several commands are below, \
libraries of one table may have run at different times. Of each run it is checked that the \
numbers of objects and bytes are right; of uploads and downloads also names and sizes, of \
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

/// The whole page; `about` is what the runs were made with.
pub(super) fn page(tables: &[Table], about: &str) -> String {
    let mut page = format!("{INTRODUCTION}\n{}\n", about.trim());
    let bars = bars(tables);
    if !bars.is_empty() {
        page.push_str(
            "\n## Bars\n\n| workload | next to | wall | CPU | |\n|---|---|---|---|---|\n",
        );
        page.push_str(&bars);
    }
    for table in tables {
        section(table, &mut page);
    }
    page
}

/// Lines of the table of bars, of workloads that were measured.
fn bars(tables: &[Table]) -> String {
    let mut lines = String::new();
    for Bar { workload, other, wall, cpu } in &BARS {
        let table = tables.iter().find(|table| table.workload == *workload);
        let group = table.and_then(|table| table.groups.first());
        let Some(figures) = group.and_then(|group| group.of(other)) else { continue };
        let (wall, wall_is_met) = held(figures.wall_to_ours, *wall);
        let (cpu, cpu_is_met) = held(figures.cpu_to_ours, *cpu);
        let verdict = if wall_is_met && cpu_is_met { "met" } else { "missed" };
        let _ = writeln!(lines, "| {workload} | {other} | {wall} | {cpu} | {verdict} |");
    }
    lines
}

/// A ratio with what is wanted of it, and whether it is that.
fn held(found: Option<f64>, wanted: Option<f64>) -> (String, bool) {
    let Some(wanted) = wanted else { return (times(found), true) };
    let is_met = found.is_some_and(|found| found >= wanted);
    (format!("{} (at least {})", times(found), times(Some(wanted))), is_met)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Outcome, Place, Run, Unit};
    use crate::report::tables;

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
    fn bars_stand_before_the_tables() {
        let runs = [
            run("read", "obstore", 1, took(4.0, 4.0)),
            run("read", "s3haul", 1, took(2.0, 1.0)),
            run("read", "obstore", 2, took(9.0, 9.0)),
            run("read", "s3haul", 2, took(3.0, 3.0)),
            run("read", "obstore", 3, took(8.0, 8.0)),
            run("read", "s3haul", 3, took(1.0, 4.0)),
            run("read", "s3transfer", 1, Outcome::Absent("files|only".to_owned())),
        ];
        let page = page(&tables(&runs), "Machine: m.");
        let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
        assert_eq!(
            lines,
            [
                "| workload | next to | wall | CPU | |",
                "| read | obstore | 4.0 | 2.67 (at least 2.00) | met |",
                "| tool | wall s | CPU µs an object | peak MiB | requests | wall to s3haul | \
                 CPU to s3haul | |",
                "| s3haul | 2.00 | 3000 | 10 | 5 | 1.00 | 1.00 |  |",
                "| obstore | 8.00 | 8000 | 10 | 5 | 4.0 | 2.67 |  |",
                "| s3transfer | | | | | | | files\\|only |",
            ]
        );
        assert!(page.contains("\n## read: some \\<work>\n"));
    }

    #[test]
    fn a_bar_is_missed_by_either_time() {
        let told = |wall_s, cpu_s| {
            bars(&tables(&[
                run("upload", "s3haul", 1, took(1.0, 1.0)),
                run("upload", "command", 1, took(wall_s, cpu_s)),
            ]))
        };
        assert!(told(0.95, 0.95).ends_with("| met |\n"), "{}", told(0.95, 0.95));
        assert!(told(0.90, 0.95).ends_with("| missed |\n"));
        assert!(told(0.95, 0.90).ends_with("| missed |\n"));
        assert_eq!(bars(&tables(&[run("sync", "command", 1, took(1.0, 1.0))])), "");
        let failed = Outcome::Failed("x".to_owned());
        assert_eq!(bars(&tables(&[run("upload", "command", 1, failed)])), "");
    }
}
