//! How many requests and rounds a listing takes, without any network: a simulated server over the
//! keys of a file, one key a line, sorted bytewise (`list_rounds --keys FILE`, or stdin).
//!
//! Every request takes one round, or with `--jitter` a log-normal time with a heavy tail of mean
//! about one. Prints one line: requests, requests ÷ the least possible, rounds, rounds ÷ the least
//! possible, microseconds a page spent deciding, contexts remembered at most, requests
//! for names of folders, pages held back at most, and `ok` or what is wrong.
//!
//! `--again` lists once more, with what the first listing found.
//!
//! `--table FOLDER` does this for all layouts whose key files (`NAME.keys` or `NAME-COUNT.keys`)
//! are in a folder, and compares them with the reference method; see [`table`].

#![expect(clippy::print_stdout, reason = "this is a program of its own")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures"
)]

mod bucket;
mod simulation;
mod table;

use std::io::Read;

use bucket::Bucket;
use simulation::{Figures, Settings};

const USAGE: &str = "list_rounds [--keys FILE] [--concurrency 64] [--jitter] [--ordered] \
                     [--lazy] [--again] [--prefix PREFIX] [--seed 1] | \
                     list_rounds [--table FOLDER]...";

/// What the command line says.
struct Arguments {
    keys: Option<String>,
    tables: Vec<String>,
    is_repeated: bool,
    settings: Settings,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let mut keys = None;
        let mut tables = Vec::new();
        let mut is_repeated = false;
        let mut settings = Settings {
            concurrency: 64,
            has_jitter: false,
            is_ordered: false,
            is_eager: true,
            prefix: String::new(),
            boundaries: Vec::new(),
            seed: 1,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| USAGE.to_owned());
            let number = |value: String| value.parse().map_err(|_| USAGE.to_owned());
            match name.as_str() {
                "--keys" => keys = Some(value()?),
                "--table" => tables.push(value()?),
                "--concurrency" => settings.concurrency = number(value()?)?,
                "--seed" => settings.seed = number(value()?)? as u64,
                "--prefix" => settings.prefix = value()?,
                "--jitter" => settings.has_jitter = true,
                "--ordered" => settings.is_ordered = true,
                "--again" => is_repeated = true,
                "--lazy" => settings.is_eager = false,
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(Self { keys, tables, is_repeated, settings })
    }
}

fn main() -> Result<(), String> {
    let Arguments { keys, tables, is_repeated, mut settings } = Arguments::read()?;
    if !tables.is_empty() {
        return table::print(&tables);
    }
    let mut text = String::new();
    match &keys {
        Some(path) => text = std::fs::read_to_string(path).map_err(|error| error.to_string())?,
        None => drop(std::io::stdin().read_to_string(&mut text).map_err(|it| it.to_string())?),
    }
    let bucket = Bucket::new(text, &settings.prefix);
    let figures = simulation::run(&bucket, &settings);
    print(&figures);
    if is_repeated {
        settings.boundaries = figures.boundaries;
        print(&simulation::run(&bucket, &settings));
    }
    Ok(())
}

fn print(figures: &Figures) {
    println!(
        "requests={} ratio={:.3} rounds={:.0} rounds/ideal={:.2} cpu_us/page={:.1} \
         contexts={} probes={} held={} {}",
        figures.requests,
        figures.ratio(),
        figures.rounds,
        figures.rounds / figures.rounds_ideal,
        figures.micros_a_page,
        figures.contexts_max,
        figures.probes,
        figures.held_pages_max,
        figures.verdict,
    );
}
