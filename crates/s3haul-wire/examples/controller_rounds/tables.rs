//! The tables: each service with each client.

use s3haul_wire::controller::Class;

use crate::client::{Client, Fixed, Ours};
use crate::rivals::{BbrLike, EpochAimd, Gradient, SdkAdaptive};
use crate::runs::{
    CAP, COLD, READS, SMALL, WRITES, best_fixed, hot_figures, reached, shared_figures,
    small_figures, storm, storm_throughout, worker_figures, worker_shares,
};
use crate::service::Partitions;
use crate::simulation::{EVERYWHERE, Figures, Simulation};

/// A client by name, freshly made.
#[derive(Clone, Copy)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) make: fn(Class) -> Box<dyn Client>,
}

/// All clients of the comparison; the last is ours.
pub(crate) const CLIENTS: [Named; 9] = [
    Named { name: "fixed 10", make: |_| Box::new(Fixed::new(10)) },
    Named { name: "fixed 64", make: |_| Box::new(Fixed::new(64)) },
    Named { name: "fixed 256", make: |_| Box::new(Fixed::new(256)) },
    Named { name: "fixed 1,000", make: |_| Box::new(Fixed::new(1_000)) },
    Named { name: "SDK adaptive, 256", make: |_| Box::new(SdkAdaptive::new(256)) },
    Named { name: "gradient", make: |_| Box::new(Gradient::new()) },
    Named { name: "BBR-like", make: |_| Box::new(BbrLike::new()) },
    Named { name: "epoch AIMD", make: |_| Box::new(EpochAimd::new()) },
    Named { name: "ours", make: |class| Box::new(Ours::new(class, CAP)) },
];

/// Requests a second as a share of what is allowed, and refusals.
fn cell(figures: &Figures, allowed: f64) -> String {
    let share = figures.all / allowed * 100.0;
    format!("{share:.0} % ({:.1})", figures.refused_share * 100.0)
}

fn header(columns: &[String]) {
    println!("\n| client | {} |", columns.join(" | "));
    println!("|---|{}", "---|".repeat(columns.len()));
}

fn row(name: &str, cells: &[String]) {
    println!("| {name} | {} |", cells.join(" | "));
}

/// Services of the first table: partitions, limit of each, median latency.
const STEADY: [(u64, f64, f64); 6] = [
    (1, WRITES, 10.0),
    (1, READS, 120.0),
    (4, WRITES, 30.0),
    (16, READS, 60.0),
    (64, WRITES, 30.0),
    (64, READS, 120.0),
];

/// Goodput after ten seconds, as a share of what is allowed, and refusals.
pub(crate) fn steady(clients: &[Named], seed: u64) {
    println!("\nShare of the allowed rate from 10 s to 30 s (percent refused):");
    let columns = STEADY.map(|(count, limit, median)| format!("{count} × {limit}, {median} ms"));
    header(&columns);
    for client in clients {
        let cells = STEADY.map(|(count, limit, median)| {
            let mut service = Partitions::new(count, limit, median, seed);
            let mut client = (client.make)(Class::Write);
            let mut run = Simulation::new(&mut service, &mut *client, &[EVERYWHERE], seed);
            run.run_until(30);
            let allowed = run.service.allowed();
            cell(&run.figures(100, 300), allowed)
        });
        row(client.name, &cells);
    }
}

/// The start, a limit that changes, and partitions that split.
pub(crate) fn changes(clients: &[Named], seed: u64) {
    println!("\n4 × 3,500 writes/s, 30 ms. Time to 95 % of the allowed rate (percent refused):");
    let columns = ["start", "limit ÷ 4", "limit × 4", "splits after 60 s of load: 10 s later"];
    header(&columns.map(str::to_owned));
    for client in clients {
        let start = recovery(client, None, seed);
        let less = recovery(client, Some(0.25), seed);
        let more = recovery(client, Some(4.0), seed);
        row(client.name, &[start, less, more, split(client, seed)]);
    }
}

fn recovery(client: &Named, factor: Option<f64>, seed: u64) -> String {
    let mut service = Partitions::new(4, WRITES, 30.0, seed);
    let mut client = (client.make)(Class::Write);
    let mut run = Simulation::new(&mut service, &mut *client, &[EVERYWHERE], seed);
    let begin = factor.map_or(0, |factor| {
        run.run_until(30);
        run.service.change(factor);
        30
    });
    run.run_until(begin + 30);
    let figures = run.figures(begin as usize * 10, (begin + 10) as usize * 10);
    let reached = reached(&run, begin, 0.95);
    let refused = figures.refused_share * 100.0;
    reached.map_or_else(|| format!("– ({refused:.1})"), |s| format!("{s:.1} s ({refused:.1})"))
}

fn split(client: &Named, seed: u64) -> String {
    let mut service = Partitions::new(2, WRITES, 30.0, seed).splitting_after(60);
    let mut client = (client.make)(Class::Write);
    let mut run = Simulation::new(&mut service, &mut *client, &[EVERYWHERE], seed);
    run.run_until(80);
    let allowed = 4.0 * WRITES;
    cell(&run.figures(700, 800), allowed)
}

/// One partition of sixteen gets a stream of its own; what the others get.
pub(crate) fn hot(clients: &[Named], seed: u64) {
    println!("\nA hot prefix, one partition of 16, beside the rest: 3,500 writes/s each, 30 ms.");
    println!("Requests a second from 30 s to 50 s, and the share refused:");
    header(&["hot", "the rest", "refused"].map(str::to_owned));
    for client in clients {
        let mut client_of_run = (client.make)(Class::Write);
        let figures = hot_figures(&mut *client_of_run, seed);
        let [hot, rest] = [figures.done[0], figures.done[1]].map(|rate| format!("{rate:.0}"));
        row(client.name, &[hot, rest, format!("{:.1} %", figures.refused_share * 100.0)]);
    }
}

/// Goodput of a small server as a share of the best fixed number in flight.
pub(crate) fn small(clients: &[Named], seed: u64) {
    println!("\nSmall servers: share of the best fixed number in flight from 15 s to 45 s");
    println!("(mean latency):");
    let columns = SMALL
        .map(|(cores, work, network, _)| format!("{cores} cores, {work} ms, network {network} ms"));
    header(&columns);
    let best = SMALL.map(|server| best_fixed(server, seed));
    row("best fixed", &best.map(|(slots, rate)| format!("{slots}: {rate:.0}/s")));
    for client in clients {
        let cells = SMALL.iter().zip(best).map(|(server, (_, best))| {
            let mut client = (client.make)(Class::Write);
            let figures = small_figures(*server, &mut *client, seed);
            format!("{:.0} % ({:.0} ms)", figures.all / best * 100.0, figures.latency_ms)
        });
        row(client.name, &cells.collect::<Vec<_>>());
    }
}

/// Shares that storms refuse.
const STORMS: [f64; 3] = [0.1, 0.3, 0.6];

/// Storms that have nothing to do with the rate.
pub(crate) fn storms(clients: &[Named], seed: u64) {
    println!("\nRefused whatever the rate, 512 in flight at most, 30 ms: for five seconds, with a");
    println!(
        "limit of 4 × 3,500/s and without; and throughout 20 s, without. Done a second in the"
    );
    println!("storm by what may be done in it, time until half of the rate before, done in the");
    println!("two seconds after it by that before.");
    let columns = STORMS.map(|share| format!("{:.0} %", share * 100.0));
    header(&[columns.clone(), columns.clone(), columns].concat());
    for client in clients {
        let make = || match client.name {
            "ours" => Box::new(Ours::new(Class::Write, 512)),
            _ => (client.make)(Class::Write),
        };
        let one = |is_limited, share| {
            let storm = storm(share, is_limited, &mut *make(), seed);
            let half = storm.half_after.map_or_else(|| "–".to_owned(), |s| format!("{s:.1} s"));
            format!("{:.0} %, {half}, {:.0} %", storm.within * 100.0, storm.after * 100.0)
        };
        let limited = STORMS.map(|share| one(true, share));
        let free = STORMS.map(|share| one(false, share));
        let throughout =
            STORMS.map(|share| format!("{:.0} %", storm_throughout(share, make, seed) * 100.0));
        row(client.name, &[limited, free, throughout].concat());
    }
}

/// Jobs that share a partition.
pub(crate) fn shared(_clients: &[Named], seed: u64) {
    println!(
        "\nJobs of ours that share one partition of 3,500 writes/s, from ten seconds after the"
    );
    println!("last began: done a second by all, by the least and the most, refused:");
    header(&["all", "least", "most", "refused"].map(str::to_owned));
    for jobs in [2, 4, 8] {
        let figures = shared_figures(jobs, seed);
        let least = figures.done.iter().copied().fold(f64::INFINITY, f64::min);
        let most = figures.done.iter().copied().fold(0.0, f64::max);
        let rates = [figures.all, least, most].map(|rate| format!("{rate:.0}"));
        let refused = format!("{:.1} %", figures.refused_share * 100.0);
        row(&format!("{jobs} jobs"), &[rates.to_vec(), vec![refused]].concat());
    }
}

/// Seeds of the table of workers, from the one given on.
const WORKER_SEEDS: u64 = 8;

/// Workers of one job that share a partition, and those that have a hot and a cold one.
pub(crate) fn workers(_clients: &[Named], seed: u64) {
    println!("\nWorkers of ours that begin at once, 30 ms, 512 in flight at most each, least and");
    println!("most of {WORKER_SEEDS} seeds. One partition of 1,500 writes/s: share of it (percent");
    println!("refused). A hot one beside a cold one of which 900/s are wanted: the same of the");
    println!("hot one, and done of what is wanted of the cold one:");
    let columns =
        ["one", "hot", "cold"].map(|of| ["0–10 s", "10–60 s"].map(|time| format!("{of}, {time}")));
    header(columns.as_flattened());
    for workers in [2, 3, 10, 50] {
        let runs = |cold| -> Vec<[Figures; 2]> {
            let seeds = seed..seed + WORKER_SEEDS;
            seeds.map(|seed| worker_figures(workers, cold, 60, seed)).collect()
        };
        let (one, both) = (runs(None), runs(Some(COLD)));
        let range = |runs: &[[Figures; 2]], time: usize, of: &dyn Fn(&Figures) -> f64| {
            let all = || runs.iter().map(|run| of(&run[time]) * 100.0);
            let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
            format!("{least:.1}–{most:.1}")
        };
        let hot = |runs: &[[Figures; 2]], time| {
            let share = range(runs, time, &|figures| worker_shares(figures, workers).0);
            format!("{share} % ({})", range(runs, time, &|figures| figures.refused_share))
        };
        let cold = |time| range(&both, time, &|figures| worker_shares(figures, workers).1) + " %";
        let cells = [hot(&one, 0), hot(&one, 1), hot(&both, 0), hot(&both, 1), cold(0), cold(1)];
        row(&format!("{workers} workers"), &cells);
    }
}
