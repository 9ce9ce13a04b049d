//! The bare limits: loops that sign, hash, send and receive, and do nothing else.
//!
//! No planning, no files where none must be read, no parsing of listings, no retries, no output.
//! Shares no code with the library: hyper connections held one a slot and polled by the slot's
//! own task, `SigV4` by hand. The benchmarks compare the tools with the CPU time and the wall
//! time of this process. See [`options`] for its options.
#![expect(clippy::print_stdout, reason = "the line is what the benchmarks read")]

mod body;
mod objects;
mod options;
mod pages;
mod parts;
mod sign;
mod slots;
mod wire;

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::options::Options;
use crate::slots::Totals;
use crate::wire::Server;

fn main() -> Result<()> {
    let options = Options::read()?;
    let server = Arc::new(Server::new(&options)?);
    let begin = Instant::now();
    let totals = run(&options, &server)?;
    println!(
        "{{\"count\":{},\"bytes\":{},\"requests\":{},\"wall_s\":{:.6}}}",
        totals.count,
        totals.bytes,
        totals.requests,
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

fn run(options: &Options, server: &Arc<Server>) -> Result<Totals> {
    let run = slots::Run { server, concurrency: options.concurrency, threads: 1 };
    match options.operation.as_str() {
        "put" => run.of(objects::Put::new(options)?),
        "get" => run.of(objects::Get::new(options)?),
        "list" => run.of(pages::Pages::new(options)?),
        "sync" => pages::sync(options, &run),
        "put-parts" => run.on_all_cores().of(parts::Upload::new(options, server)?),
        "get-parts" => run.on_all_cores().of(parts::Download::new(options)?),
        other => bail!("unknown operation `{other}`"),
    }
}
