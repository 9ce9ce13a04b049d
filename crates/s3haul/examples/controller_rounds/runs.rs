//! Runs that the tables print and the tests judge.

use crate::client::{Client, Fixed};
use crate::service::{Partitions, SmallServer};
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
    let hot = Stream { first: 5 * width, last: 6 * width - 1 };
    let rest = Stream { first: 6 * width, last: u64::MAX };
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
