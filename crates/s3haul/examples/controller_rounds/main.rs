//! How methods of finding a service's limit compare, without any network: simulated services in
//! steps of a millisecond, and clients with endless demand.
//!
//! `controller_rounds [--seed 1]` prints the tables of `docs/design/03-controller.md`. Services
//! are key ranges with token buckets (3,500 writes or 5,500 reads a second, a quarter of a second
//! saved, refusals after 10 ms, log-normal latencies with one in a hundred eight times as long),
//! some of which split under load; and small servers, whose latency grows by queueing.

#![expect(clippy::print_stdout, reason = "this is a program of its own")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures"
)]

mod client;
mod latency;
mod rivals;
mod runs;
mod service;
mod simulation;
mod tables;

const USAGE: &str = "controller_rounds [--seed 1]";

fn main() -> Result<(), String> {
    let mut seed = 1;
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match (name.as_str(), arguments.next().and_then(|value| value.parse().ok())) {
            ("--seed", Some(value)) => seed = value,
            _ => return Err(USAGE.to_owned()),
        }
    }
    println!("seed {seed}");
    tables::steady(seed);
    tables::changes(seed);
    tables::hot(seed);
    tables::small(seed);
    Ok(())
}
