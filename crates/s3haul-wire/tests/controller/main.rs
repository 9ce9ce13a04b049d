//! The controller against simulated services: the bars of `docs/design/03-controller.md`.
//!
//! The services and the clients are those of the example `controller_rounds`, which prints the
//! comparison. Time is simulated and the seeds are in the messages, so that nothing depends on
//! the machine.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures"
)]

#[path = "../../examples/controller_rounds/client.rs"]
mod client;
#[path = "../../examples/controller_rounds/latency.rs"]
mod latency;
#[path = "../../examples/controller_rounds/runs.rs"]
mod runs;
#[path = "../../examples/controller_rounds/service.rs"]
mod service;
#[path = "../../examples/controller_rounds/simulation.rs"]
mod simulation;

use s3haul_wire::controller::Class;

use client::{Client, Ours};
use runs::{CAP, READS, SMALL, WRITES};
use service::{Partitions, Service};
use simulation::{EVERYWHERE, Simulation};

/// Share of the allowed rate within 10 s, and refusals from then on.
fn finds_the_limit(class: Class, limit: f64, count: u64, median_ms: f64, seed: u64) {
    let what = format!("{count} partitions of {limit}/s, {median_ms} ms, seed {seed}");
    let mut service = Partitions::new(count, limit, median_ms, seed);
    let allowed = service.allowed();
    let mut client = Ours::new(class, CAP);
    let mut run = Simulation::new(&mut service, &mut client, &[EVERYWHERE], seed);
    run.run_until(if count > 16 { 15 } else { 25 });
    let reached = runs::reached(&run, 0, 0.95);
    assert!(reached.is_some_and(|seconds| seconds <= 10.0), "{what}: {reached:?}");
    let steady = run.figures(100, run.tenths.len());
    assert!(steady.all >= allowed * 0.95, "{what}: {:.0} of {allowed}", steady.all);
    assert!(steady.refused_share < 0.01, "{what}: {:.4} refused", steady.refused_share);
}

#[test]
fn writes_reach_the_limit_within_ten_seconds() {
    for (seed, (count, median_ms)) in (1..).zip([(1, 10.0), (1, 120.0), (4, 30.0), (16, 60.0)]) {
        finds_the_limit(Class::Write, WRITES, count, median_ms, seed);
    }
}

#[test]
fn reads_reach_the_limit_within_ten_seconds() {
    for (seed, (count, median_ms)) in (11..).zip([(1, 120.0), (2, 10.0), (8, 30.0)]) {
        finds_the_limit(Class::Read, READS, count, median_ms, seed);
    }
}

#[test]
fn sixty_four_partitions_far_away_are_filled_within_ten_seconds() {
    finds_the_limit(Class::Read, READS, 64, 120.0, 21);
}

/// A job of some thousand small objects is over before windows of goodput could show much: each
/// round trip must. With 256 in flight from the start 2,000 requests take eight round trips.
#[test]
fn two_thousand_requests_take_a_dozen_round_trips() {
    for (seed, median_ms) in (91..).zip([10.0, 30.0, 50.0, 120.0]) {
        let mut service = Partitions::new(64, READS, median_ms, seed);
        let mut client = Ours::new(Class::Read, 512);
        let mut run = Simulation::new(&mut service, &mut client, &[EVERYWHERE], seed);
        run.run_until(2);
        let tenths = (median_ms * 12.0 / 100.0).ceil() as usize;
        let done: u32 = run.tenths[..tenths].iter().map(|tenth| tenth.done[0]).sum();
        assert!(
            done >= 2_000,
            "seed {seed}, {median_ms} ms: {done} in {tenths} tenths of a second"
        );
    }
}

/// What such a beginning costs where it was too much.
#[test]
fn a_service_that_refuses_is_not_run_down() {
    for (seed, median_ms) in (101..).zip([10.0, 30.0, 120.0]) {
        let mut service = Partitions::new(1, WRITES, median_ms, seed);
        let mut client = Ours::new(Class::Write, 512);
        let mut run = Simulation::new(&mut service, &mut client, &[EVERYWHERE], seed);
        run.run_until(10);
        let figures = run.figures(0, 100);
        assert!(figures.refused_share < 0.07, "seed {seed}: {:.4}", figures.refused_share);
    }
}

/// Within 5 s of a change a whole second brings 95 % of the new limit, and so do the next five,
/// with less than 1 % refused.
fn recovers(factor: f64, count: u64, median_ms: f64, seed: u64) {
    let what = format!("{count} partitions, {median_ms} ms, limit × {factor}, seed {seed}");
    let mut service = Partitions::new(count, WRITES, median_ms, seed);
    let mut client = Ours::new(Class::Write, CAP);
    let mut run = Simulation::new(&mut service, &mut client, &[EVERYWHERE], seed);
    run.run_until(15);
    run.service.change(factor);
    run.run_until(25);
    let allowed = run.service.allowed();
    let reached = runs::reached(&run, 15, 0.95);
    assert!(reached.is_some_and(|seconds| seconds <= 5.0), "{what}: {reached:?}");
    let after = run.figures(200, 250);
    assert!(after.all >= allowed * 0.95, "{what}: {:.0} of {allowed}", after.all);
    assert!(after.refused_share < 0.01, "{what}: {:.4} refused", after.refused_share);
}

#[test]
fn recovers_within_five_seconds_when_the_limit_is_a_quarter() {
    for (seed, (count, median_ms)) in (31..).zip([(1, 10.0), (4, 30.0), (8, 120.0)]) {
        recovers(0.25, count, median_ms, seed);
    }
}

#[test]
fn recovers_within_five_seconds_when_the_limit_is_four_times_as_high() {
    for (seed, (count, median_ms)) in (41..).zip([(1, 120.0), (2, 10.0), (4, 30.0)]) {
        recovers(4.0, count, median_ms, seed);
    }
}

#[test]
fn follows_partitions_that_split() {
    let mut service = Partitions::new(1, WRITES, 30.0, 51).splitting_after(15);
    let mut client = Ours::new(Class::Write, CAP);
    let mut run = Simulation::new(&mut service, &mut client, &[EVERYWHERE], 51);
    run.run_until(30);
    assert!(run.service.allowed() >= 2.0 * WRITES, "the pressure was not kept up");
    let figures = run.figures(250, 300);
    assert!(figures.all >= 2.0 * WRITES * 0.95, "{:.0}", figures.all);
}

#[test]
fn a_hot_prefix_does_not_slow_the_rest() {
    let seed = 61;
    let figures = runs::hot_figures(&mut Ours::new(Class::Write, CAP), seed);
    let [hot, rest] = [figures.done[0], figures.done[1]];
    assert!(rest >= 10.0 * WRITES * 0.95, "seed {seed}: {rest:.0}/s of the rest");
    assert!(hot >= WRITES * 0.85, "seed {seed}: {hot:.0}/s of the hot prefix");
    assert!(figures.refused_share < 0.01, "seed {seed}: {:.4}", figures.refused_share);
}

#[test]
fn a_small_server_gives_nearly_what_its_best_fixed_number_gives() {
    for (seed, server) in (71..).zip(SMALL) {
        let (slots, best) = runs::best_fixed(server, seed);
        let ours = runs::small_figures(server, &mut Ours::new(Class::Write, CAP), seed);
        assert!(
            ours.all >= best * 0.95,
            "{server:?}, seed {seed}: {:.0}/s, and {best:.0}/s with {slots}",
            ours.all
        );
    }
}

#[test]
fn a_cap_holds_and_is_used() {
    let mut service = Partitions::new(4, WRITES, 30.0, 81);
    let mut client = Ours::new(Class::Write, 20);
    let mut run = Simulation::new(&mut service, &mut client, &[EVERYWHERE], 81);
    run.run_until(15);
    let mean_seconds = run.figures(50, 150).latency_ms / 1_000.0;
    let used = run.figures(50, 150).all * mean_seconds;
    assert!((18.5..=20.5).contains(&used), "{used:.1} in flight on average");
}

/// A storm that refuses a share of all requests whatever the rate is neither answered with less and
/// less, nor does it take long to be back at what was done before it.
#[test]
fn a_storm_that_is_not_ours_is_sailed_through() {
    for (seed, (share, is_limited)) in (111..).zip([
        (0.1, true),
        (0.3, true),
        (0.6, true),
        (0.1, false),
        (0.3, false),
        (0.6, false),
    ]) {
        let what = format!("{share} refused, limited: {is_limited}, seed {seed}");
        let storm = runs::storm(share, is_limited, &mut Ours::new(Class::Write, 512), seed);
        assert!(storm.within >= 0.75, "{what}: {storm:?}");
        assert!(storm.half_after.is_some_and(|seconds| seconds <= 0.5), "{what}: {storm:?}");
        assert!(storm.after >= 0.8, "{what}: {storm:?}");
    }
}

#[test]
fn half_of_the_rate_is_back_soon_after_an_outage() {
    for (seed, is_limited) in (121..).zip([true, false]) {
        let storm = runs::storm(1.0, is_limited, &mut Ours::new(Class::Write, 512), seed);
        let half_after = storm.half_after;
        assert!(
            half_after.is_some_and(|s| s <= 2.0),
            "limited: {is_limited}, seed {seed}: {storm:?}"
        );
    }
}

/// A job that begins in a storm knows no time before it.
#[test]
fn a_job_within_a_storm_does_what_may_be_done() {
    for (seed, share) in (131..).zip([0.1, 0.3, 0.6]) {
        let make = || -> Box<dyn Client> { Box::new(Ours::new(Class::Write, 512)) };
        let done = runs::storm_throughout(share, make, seed);
        assert!(done >= 0.75, "{share} refused, seed {seed}: {done:.2} of what may be done");
    }
}

/// A limit that halves for a while is no storm: few are refused meanwhile.
#[test]
fn a_limit_that_halves_and_comes_back_is_followed() {
    for seed in 141..144 {
        let mut service = Partitions::new(4, WRITES, 30.0, seed);
        let mut client = Ours::new(Class::Write, 512);
        let mut run = Simulation::new(&mut service, &mut client, &[EVERYWHERE], seed);
        run.run_until(10);
        run.service.change(0.5);
        run.run_until(20);
        let half = run.figures(120, 200);
        assert!(half.all >= 2.0 * WRITES * 0.95, "seed {seed}: {:.0}", half.all);
        assert!(half.refused_share < 0.02, "seed {seed}: {:.4} refused", half.refused_share);
        run.service.change(2.0);
        run.run_until(30);
        let reached = runs::reached(&run, 20, 0.95);
        assert!(reached.is_some_and(|seconds| seconds <= 5.0), "seed {seed}: {reached:?}");
        let refused = run.figures(200, 300).refused_share;
        assert!(refused < 0.02, "seed {seed}: {refused:.4} refused");
    }
}

/// What one job has refused depends little on its own rate where others share the limit. None of
/// them may take that for a storm and stop giving way.
#[test]
fn jobs_that_share_a_limit_all_give_way() {
    for (seed, jobs) in (151..).zip([2, 4, 8]) {
        let figures = runs::shared_figures(jobs, seed);
        let least = figures.done.iter().copied().fold(f64::INFINITY, f64::min);
        let fair = WRITES / jobs as f64;
        let what = format!("{jobs} jobs, seed {seed}: {figures:?}");
        assert!(figures.all >= WRITES * 0.95, "{what}");
        assert!(figures.refused_share < 0.03, "{what}");
        assert!(least >= fair * 0.2, "{what}");
    }
}

/// The seeds of runs with workers. With the last one chance is hard on them: of 24 seeds it has the
/// most refused.
const WORKER_SEEDS: [u64; 4] = [1, 2, 3, 8];

/// The mean of what several seeds give.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Three workers of a job begin at once, and no governor divides the limit between them.
#[test]
fn workers_fill_a_partition_together() {
    let refused = WORKER_SEEDS.map(|seed| {
        let [begin, rest] = runs::worker_figures(3, None, 30, seed);
        println!("seed {seed}: {begin:?}, {rest:?}");
        assert!(runs::worker_shares(&begin, 3).0 >= 0.95, "seed {seed}: {begin:?}");
        assert!(runs::worker_shares(&rest, 3).0 >= 0.95, "seed {seed}: {rest:?}");
        assert!(rest.refused_share <= 0.015, "seed {seed}: {rest:?}");
        rest.refused_share
    });
    assert!(mean(&refused) <= 0.01, "seeds {WORKER_SEEDS:?}: {refused:?}");
}

/// What is wanted of a partition that has room is done beside one that refuses.
#[test]
fn workers_with_a_hot_range_do_not_slow_a_cold_one() {
    let refused = WORKER_SEEDS.map(|seed| {
        let [begin, rest] = runs::worker_figures(3, Some(runs::COLD), 30, seed);
        println!("seed {seed}: {begin:?}, {rest:?}");
        let (hot, cold) = runs::worker_shares(&rest, 3);
        assert!(hot >= 0.95 && cold >= 0.95, "seed {seed}: {hot:.3}, {cold:.3}: {rest:?}");
        assert!(runs::worker_shares(&begin, 3).1 >= 0.9, "seed {seed}: {begin:?}");
        rest.refused_share
    });
    assert!(refused.iter().all(|share| *share <= 0.01), "{WORKER_SEEDS:?}: {refused:?}");
}
