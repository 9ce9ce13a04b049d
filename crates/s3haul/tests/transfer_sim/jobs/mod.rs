//! Whole jobs: a seed picks objects, a command, limits, weather and what others do meanwhile; the
//! job runs to its end, and what came of it is compared with a reference.
//!
//! `S3HAUL_TEST_SEED` is the first seed and `S3HAUL_TEST_SEEDS` how many there are; a failure names
//! its seed. What the weather does depends on the seed alone; in which order files are read by
//! several threads does not, so that a seed may need a second try to fail again.

mod model;
mod plan;
mod planted;
mod run;
mod skies;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use s3haul::job::TransferCommand;

use plan::Plan;
use planted::{Bug, planted};
use run::{Aftermath, Connect, pipes, run};

/// Seeds of a test, where nothing else is asked for.
const SEEDS: u64 = 300;

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

/// Runs seeds on all processors; gives those that failed.
#[expect(clippy::print_stdout, reason = "who waits for thousands sees the first at once")]
fn failing(seeds: std::ops::Range<u64>) -> Vec<u64> {
    let (next, failed) = (AtomicU64::new(seeds.start), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) {
                return;
            }
            let plan = Plan::of(seed);
            let wrong = model::violations(&plan, &aftermath(&plan, &pipes));
            if !wrong.is_empty() {
                let wrong = wrong.join("\n  ");
                println!("S3HAUL_TEST_SEED={seed} S3HAUL_TEST_SEEDS=1\n  {wrong}\n  {plan}");
                failed.lock().unwrap().push(seed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    failed.into_inner().unwrap()
}

#[test]
fn whole_jobs_lose_nothing() {
    let failed = failing(seeds());
    assert!(failed.is_empty(), "seeds {failed:?}");
}

/// The seed at which the model sees a bug for what it is, and what it says.
fn caught(bug: Bug, word: &str) -> Option<(u64, Vec<String>)> {
    let matters = |plan: &Plan| match bug {
        Bug::DropsIfMatch => plan.meddling.is_some(),
        Bug::DeletesBeforeArrival => plan.command == TransferCommand::Move,
        Bug::CompletesWithoutPart | Bug::RetriesFromTheMiddle => true,
    };
    (1..=SEEDS).map(Plan::of).filter(matters).find_map(|plan| {
        let after = aftermath(&plan, &move |sim| planted(sim, Some(bug)));
        let wrong = model::violations(&plan, &after);
        wrong.iter().any(|wrong| wrong.contains(word)).then_some((plan.seed, wrong))
    })
}

#[test]
fn planted_bugs_are_caught() {
    for (bug, word) in [
        (Bug::DropsIfMatch, "LOST"),
        (Bug::CompletesWithoutPart, "torn"),
        (Bug::DeletesBeforeArrival, "LOST"),
        (Bug::RetriesFromTheMiddle, "torn"),
    ] {
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
