//! What a session has before it: workloads in places.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::bare;
use super::options::{Options, means};
use super::results::Results;
use super::runner::is_last;
use super::table::{SERVERS, Workload};
use crate::record::{Place, Run};

/// A workload in a place.
pub(crate) type Row = (&'static Workload, Place);

/// All that is selected, in the order in which it runs. Names that no workload has are errors.
pub(crate) fn rows(workloads: &'static [Workload], options: &Options) -> Result<Vec<Row>> {
    let is_known = |only: &str| workloads.iter().any(|workload| means(only, workload.name));
    if let Some(name) = options.only.iter().find(|name| !is_known(name)) {
        let names: Vec<&str> = workloads.iter().map(|workload| workload.name).collect();
        bail!("there is no workload `{name}`, but {}", names.join(", "));
    }
    let wanted = workloads.iter().filter(|workload| options.wants(workload.name));
    let places = |workload: &'static Workload| {
        workload.places(options).into_iter().map(move |place| (workload, place))
    };
    Ok(wanted.flat_map(places).collect())
}

/// Whether each tool has all its runs of these sizes. Not every workload has a bare form.
pub(super) fn is_whole(row: &Row, tools: &[&str], options: &Options, results: &Results) -> bool {
    let (workload, place) = row;
    let title = workload.job(options).title();
    let is_end = |run: &Run| {
        let is_done = run.round >= options.rounds * workload.repeats;
        run.title == title && (is_done || is_last(&run.outcome, options))
    };
    let mut peers = tools.iter().filter(|tool| !bare::NAMES.contains(tool));
    peers.all(|tool| results.has_row((workload.name, place, tool), is_end))
}

/// Where a run stands among those of several sessions.
pub(super) fn order(workloads: &[Workload], run: &Run) -> (usize, usize, bool, u64) {
    let workload = workloads.iter().position(|workload| workload.name == run.workload);
    let server = SERVERS.iter().position(|server| *server == run.place.server);
    let [workload, server] = [workload, server].map(|place| place.unwrap_or(usize::MAX));
    (workload, server, run.place.is_tls, run.place.latency_ms)
}

/// How much there is to do, in a line.
pub(super) fn about(rows: &[Row], tools: usize, options: &Options) -> String {
    let rounds = |row: &Row| u64::from(options.rounds * row.0.repeats + 1);
    let runs = rows.iter().map(rounds).sum::<u64>() * tools as u64;
    let (rows, rounds, limit) = (rows.len(), options.rounds, options.limit.as_secs());
    let mut text = format!(
        "{rows} workloads and places, {tools} tools, {rounds} rounds behind a warm-up: at most \
         {runs} runs of at most {limit} s"
    );
    if let Some(most) = options.once_above() {
        let _ = write!(text, "; a tool that takes more than {} s has one", most.as_secs());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::table::WORKLOADS;
    use super::*;
    use crate::record::{Outcome, Unit};

    fn options(text: &str) -> Options {
        super::super::options::parse(text).unwrap()
    }

    fn rows(options: &Options) -> Vec<Row> {
        super::rows(WORKLOADS, options).unwrap()
    }

    fn run(row: &Row, options: &Options, tool: &str, round: u32, wall_s: f64) -> Run {
        Run {
            workload: row.0.name.to_owned(),
            title: row.0.job(options).title(),
            place: row.1.clone(),
            tool: tool.to_owned(),
            version: None,
            round,
            amount: 1.0,
            unit: Unit::Object,
            outcome: Outcome::Done { wall_s, cpu_s: 0.1, peak_mib: 1.0, requests: None },
        }
    }

    #[test]
    fn a_row_is_whole_once_each_tool_has_its_last_run() {
        let options = options("--only d-100 --rounds 2 --latencies 0");
        let rows = rows(&options);
        let folder = tempfile::tempdir().unwrap();
        let mut results = Results::create(folder.path(), Vec::new()).unwrap();
        let tools = ["s3haul", "bare", "aws"];
        for (tool, round, wall_s) in [("s3haul", 1, 0.1), ("s3haul", 2, 0.1), ("aws", 1, 0.5)] {
            results.keep(&run(&rows[0], &options, tool, round, wall_s)).unwrap();
            assert!(!is_whole(&rows[0], &tools, &options, &results), "{tool} {round}");
        }
        // One that is slow has one run.
        results.keep(&run(&rows[0], &options, "aws", 1, 5.0)).unwrap();
        assert!(is_whole(&rows[0], &tools, &options, &results));
        assert!(!is_whole(&rows[0], &["rclone"], &options, &results));
        let larger = self::options("--only d-100 --rounds 2 --latencies 0 --scale 2");
        assert!(!is_whole(&rows[0], &tools, &larger, &results));
    }

    #[test]
    fn runs_are_counted_with_their_warm_ups() {
        let options = options("--only d-100 --rounds 2 --latencies 0,50");
        assert!(about(&rows(&options), 2, &options).contains("at most 12 runs"));
    }

    #[test]
    fn runs_of_several_sessions_stand_in_the_order_of_the_table() {
        let options = options("--only k-cp,a");
        let rows = rows(&options);
        let mut runs: Vec<Run> =
            rows.iter().map(|row| run(row, &options, "s3haul", 1, 1.0)).collect();
        let wanted = runs.clone();
        runs.reverse();
        runs.sort_by_key(|run| order(WORKLOADS, run));
        assert_eq!(runs, wanted);
    }

    #[test]
    fn workloads_that_nobody_knows_are_errors() {
        let told = super::rows(WORKLOADS, &options("--only a,x")).err().unwrap().to_string();
        assert!(told.starts_with("there is no workload `x`, but a, a-down, b"), "{told}");
    }
}
