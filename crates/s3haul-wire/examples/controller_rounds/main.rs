//! How methods of finding a service's limit compare, without any network: simulated services in
//! steps of a millisecond, and clients with endless demand.
//!
//! `controller_rounds [--seed 1] [--table steady] [--client ours]` prints the tables of
//! `docs/design/03-controller.md`, or one of them, or of one client. Services
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

const USAGE: &str = "controller_rounds [--seed 1] [--table steady] [--client ours]";

/// Prints a table of these clients with this seed.
type Table = fn(&[tables::Named], u64);

/// The tables by name.
const TABLES: [(&str, Table); 7] = [
    ("steady", tables::steady),
    ("changes", tables::changes),
    ("storms", tables::storms),
    ("hot", tables::hot),
    ("shared", tables::shared),
    ("workers", tables::workers),
    ("small", tables::small),
];

fn main() -> Result<(), String> {
    let (mut seed, mut table, mut client) = (1, None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--seed" => seed = value.parse().map_err(|_| USAGE)?,
            "--table" => table = Some(value),
            "--client" => client = Some(value),
            _ => return Err(USAGE.to_owned()),
        }
    }
    println!("seed {seed}");
    let mut clients = tables::CLIENTS.to_vec();
    clients.retain(|one| client.as_ref().is_none_or(|name| one.name == name));
    for (name, print) in TABLES {
        if table.as_ref().is_none_or(|wanted| wanted == name) {
            print(&clients, seed);
        }
    }
    Ok(())
}
