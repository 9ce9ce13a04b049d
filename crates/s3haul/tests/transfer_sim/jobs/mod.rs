//! Whole jobs: a seed picks objects, a command, limits, weather and what others do meanwhile; the
//! job runs to its end, and what came of it is compared with a reference.
//!
//! `S3HAUL_TEST_SEED` is the first seed and `S3HAUL_TEST_SEEDS` how many there are; a failure names
//! its seed. `S3HAUL_TEST_CANARY` names a planted bug: then seeds must fail. What the weather does
//! depends on the seed alone; in which order files are read by several threads does not, so that a
//! seed may need a second try to fail again.

mod kills;
mod model;
mod plan;
mod planted;
mod run;
mod skies;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use s3haul::job::TransferCommand;
use s3haul_sim::{FaultKind, Sim};
use s3haul_wire::env::Connector;

use kills::killed_and_resumed;
use plan::Plan;
use planted::{BUGS, Bug, planted};
use run::{Aftermath, Connect, pipes, run};

/// Seeds of a test by default.
const SEEDS: u64 = 300;

/// Weather that some of so many seeds must meet: what never strikes is not tested. (A missing
/// `100 Continue` has no effect, because the client does not wait for one.)
const WEATHER: [&str; 30] = [
    "burst",
    "changed",
    "clock_skew",
    "connection_bandwidth",
    "corrupt",
    "credentials_expired",
    "empty_page",
    "idle_close",
    "internal_error",
    "latency",
    "latency_tail",
    "lost_response",
    "not_found",
    "ok_with_error",
    "partition_refused",
    "partition_split",
    "pause_body",
    "repeated_key",
    "replaced",
    "replaced_between_parts",
    "reset_before",
    "reset_body",
    "reset_request",
    "respond",
    "short_page",
    "slow_down",
    "slow_first_byte",
    "stall",
    "total_bandwidth",
    "truncate",
];

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

fn seeds() -> std::ops::Range<u64> {
    let first = variable("S3HAUL_TEST_SEED", 1);
    first..first + variable("S3HAUL_TEST_SEEDS", SEEDS)
}

/// Runs a seed with the clock paused, as often as it takes a runtime of its own.
fn aftermath(plan: &Plan, connect: &Connect) -> Aftermath {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(Box::pin(run(plan, connect)))
}

/// What came of seeds.
#[derive(Default)]
struct Outcome {
    failed: Vec<u64>,
    /// How many seeds met what weather.
    met: BTreeMap<&'static str, u64>,
}

/// Runs seeds on all processors.
#[expect(clippy::print_stdout, reason = "progress of a run over thousands of seeds")]
fn outcome<C>(seeds: std::ops::Range<u64>, connect: C) -> Outcome
where
    C: Fn(Sim) -> Arc<dyn Connector> + Sync + 'static,
{
    let (next, outcome) = (AtomicU64::new(seeds.start), Mutex::<Outcome>::default());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return;
            }
            let plan = Plan::of(seed);
            let after = aftermath(&plan, &connect);
            let wrong = model::violations(&plan, &after);
            let mut outcome = outcome.lock().unwrap();
            for what in after.met.into_keys() {
                *outcome.met.entry(what).or_default() += 1;
            }
            if !wrong.is_empty() {
                let wrong = wrong.join("\n  ");
                println!("S3HAUL_TEST_SEED={seed} S3HAUL_TEST_SEEDS=1\n  {wrong}\n  {plan}");
                outcome.failed.push(seed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    outcome.into_inner().unwrap()
}

#[test]
fn whole_jobs_lose_nothing() {
    if let Ok(name) = std::env::var("S3HAUL_TEST_CANARY") {
        let bug = Bug::of(&name);
        let Outcome { failed, .. } = outcome(seeds(), move |sim| planted(sim, Some(bug)));
        return assert!(failed.is_empty(), "as it must, the planted bug fails at seeds {failed:?}");
    }
    let Outcome { failed, met } = outcome(seeds(), pipes);
    println!("seeds that met each kind of weather: {met:#?}");
    assert!(failed.is_empty(), "seeds {failed:?}");
    if seeds().count() as u64 >= SEEDS {
        let missed: Vec<_> = WEATHER.iter().filter(|what| !met.contains_key(*what)).collect();
        assert!(missed.is_empty(), "no seed meets {missed:?}");
    }
}

/// Kills at any moment, each followed by a run that resumes.
#[test]
fn killed_jobs_are_resumed_as_if_nothing_had_happened() {
    let (next, all) = (AtomicU64::new(seeds().start), Mutex::new((Vec::new(), 0_u64)));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds().contains(&seed) {
                return;
            }
            let plan = Plan::of(seed);
            if !plan.must_finish() {
                continue;
            }
            let (wrong, is_hit) = killed_and_resumed(&plan, None);
            let mut all = all.lock().unwrap();
            all.1 += u64::from(is_hit);
            if !wrong.is_empty() {
                let wrong = wrong.join("\n  ");
                println!("S3HAUL_TEST_SEED={seed} S3HAUL_TEST_SEEDS=1\n  {wrong}\n  {plan}");
                all.0.push(seed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let (failed, hits) = all.into_inner().unwrap();
    println!("{hits} jobs were killed before they were over");
    assert!(failed.is_empty(), "seeds {failed:?}");
    assert!(hits > 0 || seeds().count() < 10);
}

#[test]
fn bugs_of_a_journal_are_caught() {
    for bug in kills::BUGS {
        let caught = (1..=SEEDS).filter_map(|seed| bug.plan(seed)).find_map(|plan| {
            let (wrong, _) = killed_and_resumed(&plan, Some(bug));
            (!wrong.is_empty()).then_some((plan.seed, wrong))
        });
        let (seed, wrong) = caught.unwrap_or_else(|| panic!("{bug:?} is not seen"));
        println!("{bug:?} is seen at seed {seed}: {}", wrong.join("; "));
    }
}

/// Requests beyond the limit, by uploads that were given up, at 2 of 10,000 seeds.
#[test]
fn seeds_that_found_something_find_nothing_now() {
    for seed in [505_509, 508_895] {
        let plan = Plan::of(seed);
        let wrong = model::violations(&plan, &aftermath(&plan, &pipes));
        assert!(wrong.is_empty(), "seed {seed}: {wrong:?}");
    }
    // Moves that must not overwrite, whose answers to copies were lost: the sources stayed.
    for seed in [70_004_388, 70_005_881] {
        let (wrong, _) = killed_and_resumed(&Plan::of(seed), None);
        assert!(wrong.is_empty(), "seed {seed}: {wrong:?}");
    }
}

/// The seed at which the model sees a bug for what it is, and what it says.
fn caught(bug: Bug, word: &str) -> Option<(u64, Vec<String>)> {
    let matters = |plan: &Plan| match bug {
        Bug::DropsIfMatch => plan.meddling.is_some(),
        Bug::DeletesBeforeArrival => plan.command == TransferCommand::Move,
        Bug::IgnoresChecksums => {
            plan.scenario.faults.iter().any(|rule| rule.fault == FaultKind::Corrupt)
        }
        Bug::CompletesWithoutPart | Bug::RetriesFromTheMiddle | Bug::ForgetsUploads => true,
    };
    (1..=SEEDS).map(Plan::of).filter(matters).find_map(|plan| {
        let after = aftermath(&plan, &move |sim| planted(sim, Some(bug)));
        let wrong = model::violations(&plan, &after);
        wrong.iter().any(|wrong| wrong.contains(word)).then_some((plan.seed, wrong))
    })
}

#[test]
fn planted_bugs_are_caught() {
    for (bug, _, word) in BUGS {
        let (seed, wrong) = caught(bug, word).unwrap_or_else(|| panic!("{bug:?} is not seen"));
        println!("{bug:?} is seen at seed {seed}: {}", wrong.join("; "));
    }
}

/// What stands between client and server to plant bugs changes nothing by itself.
#[test]
fn without_a_bug_nothing_is_caught() {
    for seed in 1..=SEEDS / 10 {
        let plan = Plan::of(seed);
        let after = aftermath(&plan, &|sim| planted(sim, None));
        let wrong = model::violations(&plan, &after);
        assert!(wrong.is_empty(), "seed {seed}: {wrong:?}");
    }
}
