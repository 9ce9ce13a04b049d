//! What a sitting has before it: workloads in places, and how long that took an earlier time.

use std::fmt::Write as _;
use std::time::Duration;

use super::bare;
use super::cell::is_last;
use super::kept::Kept;
use super::options::Options;
use super::table::{SERVERS, WORKLOADS, Workload};
use crate::record::{Outcome, Place, Run};
use support::term;

/// A workload in a place.
pub(super) type Row = (&'static Workload, Place);

/// All that is asked for, in the order in which it runs.
pub(super) fn rows(options: &Options) -> Vec<Row> {
    let wanted = WORKLOADS.iter().filter(|workload| options.wants(workload.name));
    let places = |workload: &'static Workload| {
        workload.places(options).into_iter().map(move |place| (workload, place))
    };
    wanted.flat_map(places).collect()
}

/// Whether each tool has all its runs of these sizes. Not every workload has a bare form.
pub(super) fn is_whole(row: &Row, tools: &[&str], options: &Options, kept: &Kept) -> bool {
    let (workload, place) = row;
    let title = workload.job(options).title();
    let is_end = |run: &Run| {
        let is_done = run.round >= options.rounds * workload.repeats;
        run.title == title && (is_done || is_last(&run.outcome, options))
    };
    let mut peers = tools.iter().filter(|tool| !bare::NAMES.contains(tool));
    peers.all(|tool| kept.has_row((workload.name, place, tool), is_end))
}

/// Where a run stands among those of several sittings.
pub(super) fn order(run: &Run) -> (usize, usize, bool, u64) {
    let workload = WORKLOADS.iter().position(|workload| workload.name == run.workload);
    let server = SERVERS.iter().position(|server| *server == run.place.server);
    let [workload, server] = [workload, server].map(|place| place.unwrap_or(usize::MAX));
    (workload, server, run.place.is_tls, run.place.latency_ms)
}

/// How much there is to do, in a line or two.
pub(super) fn about(rows: &[Row], tools: &[&str], options: &Options, earlier: &[Run]) -> String {
    let runs: u64 = rows
        .iter()
        .map(|(workload, _)| u64::from(options.rounds * workload.repeats + 1))
        .sum::<u64>()
        * tools.len() as u64;
    let limit = options.limit.as_secs();
    let mut text = format!(
        "{} workloads and places, {} tools, {} rounds behind a warm-up: at most {runs} runs of \
         at most {limit} s",
        rows.len(),
        tools.len(),
        options.rounds
    );
    if let Some(most) = options.once_above {
        let _ = write!(text, "; a tool that takes more than {} s has one", most.as_secs());
    }
    let (took, known) = took(rows, tools, options, earlier);
    if known > 0 {
        let took = term::seconds(took);
        let _ = write!(text, "\n  {known} were measured before: their runs took {took}");
    }
    text
}

/// What the kept runs of these rows and tools took, with their warm-ups, and of how many rows there
/// are some of these sizes.
fn took(rows: &[Row], tools: &[&str], options: &Options, earlier: &[Run]) -> (Duration, usize) {
    let (mut sum_s, mut known) = (0.0, 0);
    for (workload, place) in rows {
        let title = workload.job(options).title();
        let of_row = |run: &&Run| {
            run.workload == workload.name
                && run.place == *place
                && run.title == title
                && tools.contains(&run.tool.as_str())
        };
        let runs: Vec<&Run> = earlier.iter().filter(of_row).collect();
        known += usize::from(!runs.is_empty());
        for run in runs {
            let wall_s = match &run.outcome {
                Outcome::Done { wall_s, .. } => *wall_s,
                Outcome::Failed(how) if how.starts_with("more than") => options.limit.as_secs_f64(),
                Outcome::Absent(_) | Outcome::Failed(_) => 0.0,
            };
            let is_warmed = run.round == 1 && !is_last(&run.outcome, options);
            sum_s += if is_warmed { 2.0 * wall_s } else { wall_s };
        }
    }
    (Duration::try_from_secs_f64(sum_s).unwrap_or_default(), known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Unit;

    fn options(text: &str) -> Options {
        let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args).unwrap()
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
        let mut kept = Kept::create(folder.path(), Vec::new()).unwrap();
        let tools = ["s3haul", "bare", "aws"];
        for (tool, round, wall_s) in [("s3haul", 1, 0.1), ("s3haul", 2, 0.1), ("aws", 1, 0.5)] {
            kept.keep(&run(&rows[0], &options, tool, round, wall_s)).unwrap();
            assert!(!is_whole(&rows[0], &tools, &options, &kept), "{tool} {round}");
        }
        // One that is slow has one run.
        kept.keep(&run(&rows[0], &options, "aws", 1, 5.0)).unwrap();
        assert!(is_whole(&rows[0], &tools, &options, &kept));
        assert!(!is_whole(&rows[0], &["rclone"], &options, &kept));
        let larger = self::options("--only d-100 --rounds 2 --latencies 0 --scale 2");
        assert!(!is_whole(&rows[0], &tools, &larger, &kept));
    }

    #[test]
    fn the_estimate_counts_warm_ups_but_not_those_of_slow_tools() {
        let options = options("--only d-100 --rounds 2 --latencies 0,50");
        let rows = rows(&options);
        let earlier = [
            run(&rows[0], &options, "s3haul", 1, 0.25),
            run(&rows[0], &options, "s3haul", 2, 0.25),
            run(&rows[0], &options, "aws", 1, 5.0),
            run(&rows[0], &options, "rclone", 1, 99.0),
        ];
        let tools = ["s3haul", "aws"];
        assert_eq!(took(&rows, &tools, &options, &earlier), (Duration::from_millis(5750), 1));
        assert!(about(&rows, &tools, &options, &[]).contains("at most 12 runs"));
    }

    #[test]
    fn runs_of_several_sittings_stand_in_the_order_of_the_table() {
        let options = options("--only k-cp,a");
        let rows = rows(&options);
        let mut runs: Vec<Run> =
            rows.iter().map(|row| run(row, &options, "s3haul", 1, 1.0)).collect();
        let wanted = runs.clone();
        runs.reverse();
        runs.sort_by_key(order);
        assert_eq!(runs, wanted);
    }
}
