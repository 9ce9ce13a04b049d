//! Runs that the tables print and the tests judge.

use std::time::Duration;

use s3haul_wire::controller::Class;

use crate::client::{Client, Fixed, Several};
use crate::service::{Partitions, SmallServer, Stormy};
use crate::simulation::{EVERYWHERE, Figures, Simulation, Stream};

/// Writes and reads a second that a partition takes.
pub(crate) const WRITES: f64 = 3_500.0;
pub(crate) const READS: f64 = 5_500.0;
/// Requests in flight at most, where a method finds the number itself.
pub(crate) const CAP: u32 = 65_536;

/// Seconds from `begin` until a whole second brings a share of what is allowed, within the 3 %
/// that are refused at most.
pub(crate) fn reached(run: &Simulation<'_>, begin: u64, share: f64) -> Option<f64> {
    let begin = begin as usize * 10;
    let allowed = run.service.allowed();
    let mut ends = begin + 10..run.tenths.len();
    let end = ends.find(|end| {
        let figures = run.figures(end - 10, *end);
        figures.all >= allowed * share && figures.refused_share < 0.03
    })?;
    Some((end - begin) as f64 / 10.0)
}

/// A run with a hot partition. The second stream is that of the rest.
pub(crate) fn hot_figures(client: &mut dyn Client, seed: u64) -> Figures {
    let mut service = Partitions::new(16, WRITES, 30.0, seed);
    let width = u64::MAX / 16;
    let hot = Stream::endless(5 * width, 6 * width - 1);
    let rest = Stream::endless(6 * width, u64::MAX);
    let mut run = Simulation::new(&mut service, client, &[hot, rest], seed);
    run.run_until(50);
    run.figures(300, 500)
}

/// Small servers: cores, milliseconds of work, milliseconds of network, crowd.
pub(crate) const SMALL: [(usize, f64, f64, f64); 4] = [
    (1, 5.0, 1.0, 400.0),
    (2, 10.0, 2.0, 1_000.0),
    (8, 4.0, 20.0, 2_000.0),
    (16, 20.0, 2.0, 500.0),
];

/// A run with a small server.
pub(crate) fn small_figures(
    server: (usize, f64, f64, f64),
    client: &mut dyn Client,
    seed: u64,
) -> Figures {
    let (cores, work, network, crowd) = server;
    let mut service = SmallServer::new(cores, work, network, crowd, seed);
    let mut run = Simulation::new(&mut service, client, &[EVERYWHERE], seed);
    run.run_until(45);
    run.figures(150, 450)
}

/// The fixed number in flight with the greatest goodput, and that.
pub(crate) fn best_fixed(server: (usize, f64, f64, f64), seed: u64) -> (u32, f64) {
    let slots = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512];
    let rates = slots.map(|slots| (slots, small_figures(server, &mut Fixed::new(slots), seed).all));
    rates.into_iter().max_by(|left, right| left.1.total_cmp(&right.1)).expect("there are some")
}

/// What a storm does to a job that goes on long before and after it, as shares of what it did
/// before: done a second in the storm's last seconds, by what may be done in it; seconds after its
/// end until a tenth of a second brings half; and done in the two seconds after its end.
#[derive(Debug)]
pub(crate) struct Storm {
    pub(crate) within: f64,
    pub(crate) half_after: Option<f64>,
    pub(crate) after: f64,
}

/// When storms begin, and how long they take.
pub(crate) const STORM_BEGINS: u64 = 10;
pub(crate) const STORM_SECONDS: u64 = 5;

/// A run with a storm in which this share of all requests is refused, with a limit that is reached
/// (4 × 3,500 writes) or without (the number in flight bounds).
pub(crate) fn storm(share: f64, is_limited: bool, client: &mut dyn Client, seed: u64) -> Storm {
    let service = if is_limited {
        Partitions::new(4, WRITES, 30.0, seed)
    } else {
        Partitions::new(64, WRITES, 30.0, seed)
    };
    let ends = STORM_BEGINS + STORM_SECONDS;
    let mut service = Stormy::new(service, share, STORM_BEGINS..ends);
    let mut run = Simulation::new(&mut service, client, &[EVERYWHERE], seed);
    run.run_until(ends + 10);
    let (begin, end) = (STORM_BEGINS as usize * 10, ends as usize * 10);
    let before = run.figures(begin - 30, begin).all;
    let within = run.figures(end - 40, end).all / (before * (1.0 - share));
    let is_half = |tenth: &usize| run.figures(*tenth, tenth + 1).all >= before / 2.0;
    let half_after =
        (end..run.tenths.len()).find(is_half).map(|tenth| (tenth - end + 1) as f64 / 10.0);
    Storm { within, half_after, after: run.figures(end, end + 20).all / before }
}

/// Done a second where this share is refused throughout, by what the same client does without.
pub(crate) fn storm_throughout(share: f64, make: impl Fn() -> Box<dyn Client>, seed: u64) -> f64 {
    let [calm, stormy] = [0.0, share].map(|share| {
        let service = Partitions::new(64, WRITES, 30.0, seed);
        let mut service = Stormy::new(service, share, 0..u64::MAX);
        let mut client = make();
        let mut run = Simulation::new(&mut service, &mut *client, &[EVERYWHERE], seed);
        run.run_until(20);
        run.figures(0, 200).all
    });
    stormy / (calm * (1.0 - share))
}

/// Jobs that share one partition of 3,500 writes a second, each begun three seconds after the one
/// before; from ten seconds after the last, half a minute.
pub(crate) fn shared_figures(jobs: usize, seed: u64) -> Figures {
    let mut service = Partitions::new(1, WRITES, 30.0, seed);
    let mut clients = Several::new(jobs, Duration::from_secs(3), Class::Write, 512);
    let streams = clients.streams(0, f64::INFINITY);
    let mut run = Simulation::new(&mut service, &mut clients, &streams, seed);
    let begin = jobs * 3 + 10;
    run.run_until(begin as u64 + 30);
    run.figures(begin * 10, begin * 10 + 300)
}

/// Writes a second that the partition takes which workers share.
pub(crate) const SHARED: f64 = 1_500.0;
/// Writes a second that workers together want of a partition that would give more.
pub(crate) const COLD: f64 = 900.0;

/// Workers that begin at once on one partition, each with shards of its own, and want as much as it
/// gives: the first ten seconds, and from there to the end. With `cold` writes a second they want
/// so many of a second partition, too; their streams of it come after those of the first.
pub(crate) fn worker_figures(
    workers: usize,
    cold: Option<f64>,
    seconds: u64,
    seed: u64,
) -> [Figures; 2] {
    let partitions = 1 + u64::from(cold.is_some());
    let mut service = Partitions::new(partitions, SHARED, 30.0, seed);
    let clients = Several::new(workers, Duration::ZERO, Class::Write, 512);
    let mut clients = clients.in_each_of(partitions);
    let mut streams = clients.streams(0, f64::INFINITY);
    if let Some(cold) = cold {
        streams.extend(clients.streams(1, cold / workers as f64));
    }
    let mut run = Simulation::new(&mut service, &mut clients, &streams, seed);
    run.run_until(seconds);
    [run.figures(0, 100), run.figures(100, seconds as usize * 10)]
}

/// Shares of what the first partition gives and of what is wanted of the second.
pub(crate) fn worker_shares(figures: &Figures, workers: usize) -> (f64, f64) {
    let (hot, cold) = figures.done.split_at(workers);
    (hot.iter().sum::<f64>() / SHARED, cold.iter().sum::<f64>() / COLD)
}
