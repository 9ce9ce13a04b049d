//! A job of a billion keys on 250 workers, simulated by its shards: no key is touched, and time is
//! a number. Prints the figures of `docs/design/07-shards.md`.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a test that prints its figures")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use s3haul::shard::{Commit, Crowd, KeyRange, Ledger};

const KEYS: u64 = 1_000_000_000;
const WORKERS: usize = 250;
/// Objects a second of a worker.
const RATE: u64 = 1_400;
/// Some of them are so much slower.
const SLOWNESS: u64 = 20;
/// Seconds.
const BUDGET: u64 = 60;
const BEAT: u64 = 10;
const PAUSE: u64 = 5;
const SEED: u64 = 20_261_125;

fn name(key: u64) -> String {
    format!("{key:010}")
}

fn number(name: &str) -> u64 {
    name.parse().unwrap_or(0)
}

/// A shard that is run.
struct Run {
    range: KeyRange,
    begun: u64,
}

/// A job while it runs.
struct Job {
    ledger: Ledger,
    /// Shards without a worker.
    open: Vec<KeyRange>,
    runs: Vec<Option<Run>>,
    idle: Vec<bool>,
    slow: usize,
    dice: fastrand::Rng,
}

impl Job {
    fn crowd(&self) -> Crowd {
        Crowd {
            idle: self.idle.iter().filter(|idle| **idle).count(),
            running: self.runs.iter().flatten().count(),
        }
    }

    /// What a worker does at a time; gives when it looks again, unless all is done.
    fn turn(&mut self, worker: usize, now: u64) -> Option<u64> {
        let rate = if worker < self.slow { RATE / SLOWNESS } else { RATE };
        if let Some(run) = self.runs[worker].take() {
            let after = number(&run.range.after);
            let last = run.range.through.as_deref().map_or(KEYS, number);
            let (elapsed, done) = (now - run.begun, rate * (now - run.begun));
            let crowd = self.crowd();
            let share = self.dice.f64();
            let crowd = Crowd { running: crowd.running + 1, ..crowd };
            let yields = self.open.is_empty() && crowd.wants_part(share);
            if after + done < last && elapsed < BUDGET && !yields {
                self.runs[worker] = Some(run);
                return Some(now + BEAT.min((last - after - done).div_ceil(rate)));
            }
            let reached = Some(after + done).filter(|reached| *reached < last);
            self.commit(&run.range, reached, crowd);
        }
        self.idle[worker] = self.open.is_empty();
        if self.idle[worker] {
            return (self.crowd().running > 0).then_some(now + PAUSE);
        }
        let range = self.open.swap_remove(self.dice.usize(..self.open.len()));
        let last = range.through.as_deref().map_or(KEYS, number);
        let seconds = (last - number(&range.after)).div_ceil(rate);
        self.runs[worker] = Some(Run { range, begun: now });
        Some(now + BEAT.min(seconds))
    }

    fn commit(&mut self, range: &KeyRange, reached: Option<u64>, crowd: Crowd) {
        let last = range.through.as_deref().map_or(KEYS, number);
        let pieces = if self.open.is_empty() { crowd.pieces() as u64 } else { 1 };
        let cuts = reached.map_or_else(Vec::new, |reached| {
            let cut = |index| reached + (last - reached) * index / pieces;
            (1..pieces).map(cut).map(name).collect()
        });
        let KeyRange { after, through } = range.clone();
        let done = reached.unwrap_or(last) - number(&after);
        let reached = reached.map(name);
        let commit = Commit { after, through, reached, cuts, done, ..Commit::default() };
        self.open.extend(commit.left());
        self.ledger.add(commit);
    }
}

/// Does the job with so many slow workers. Gives the seconds that it took and that it would have
/// taken without any loss.
fn simulate(slow: usize) -> (u64, u64) {
    let mut dice = fastrand::Rng::with_seed(SEED);
    // As uneven as those of a lister that has seen little.
    let mut cuts: Vec<_> = (0..1_000).map(|_| dice.u64(..KEYS)).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let ledger = Ledger::new(cuts.into_iter().map(name).collect());
    let open = ledger.left().unwrap();
    let runs = (0..WORKERS).map(|_| None).collect();
    let mut job = Job { ledger, open, runs, idle: vec![false; WORKERS], slow, dice };
    let mut turns: BinaryHeap<_> = (0..WORKERS).map(|worker| Reverse((0, worker))).collect();
    let (mut end, mut looks) = (0, 0_u64);
    while let Some(Reverse((now, worker))) = turns.pop() {
        (end, looks) = (now, looks + 1);
        if let Some(next) = job.turn(worker, now) {
            turns.push(Reverse((next, worker)));
        }
    }
    assert_eq!(job.ledger.left().unwrap(), []);
    assert_eq!(job.ledger.totals().done, KEYS);
    let shards = job.ledger.commits().count() as u64;
    let rate = RATE * (WORKERS - slow) as u64 + RATE / SLOWNESS * slow as u64;
    let ideal = KEYS.div_ceil(rate);
    println!("{KEYS} keys, {WORKERS} workers, {slow} of them {SLOWNESS} x slower, seed {SEED}:");
    println!("  {shards} shards, {end} s for {ideal} s without any loss");
    println!("  {looks} looks, {} reads of commits", shards * WORKERS as u64);
    assert!(shards < 2 * KEYS / RATE / BUDGET, "{shards} shards");
    (end, ideal)
}

#[test]
fn a_billion_keys_on_250_workers() {
    let (end, ideal) = simulate(0);
    assert!(end <= ideal * 11 / 10, "{end} s for {ideal} s");
    let (end_with_slow, ideal_with_slow) = simulate(5);
    let delay = (end_with_slow - ideal_with_slow).saturating_sub(end - ideal);
    assert!(delay <= BUDGET, "slow workers delay the end by {delay} s");
}
