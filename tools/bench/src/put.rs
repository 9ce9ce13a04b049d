//! `bench put`: CPU time a file of `s3haul cp --recursive` next to that of a bare sender.
//!
//! Both upload the same number of objects of the same size to the same server (`s3haul serve
//! --null`, which keeps no bytes) in turn, A B A B, after a warm-up round. The bare sender
//! (`tools/bench/bare`) hashes, signs and sends from one buffer in memory; the
//! difference is what planning, files, checksums and bookkeeping cost.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use support::{process, term};

use super::server::Server;
use super::usage::{Usage, measure};

const CONCURRENCY: u64 = 64;
const FOLDERS: u64 = 26;

struct Plan {
    files_per_folder: u64,
    size_bytes: usize,
    rounds: u32,
}

/// Runs the benchmark; see [`super::BENCHES`] for its options.
pub(super) fn run(args: &[String]) -> Result<()> {
    let plan = parse(args)?;
    let binaries = build()?;
    let scratch = tempfile::tempdir().context("could not make a temporary folder")?;
    let tree = scratch.path().join("tree");
    make_tree(&plan, &tree)?;
    let server = Server::start(&binaries.s3haul, &["--null"])?;
    process::run_quietly(server.command(&binaries.s3haul).args(["mb", "s3://bench"]))?;
    let count = plan.files_per_folder * FOLDERS;
    term::heading(&format!(
        "put: {} files of {} bytes, {CONCURRENCY} requests in flight, {} rounds",
        term::count(count),
        plan.size_bytes,
        plan.rounds
    ));
    let mut bare = Vec::new();
    let mut ours = Vec::new();
    for round in 0..=plan.rounds {
        let b = measure(
            server
                .command(&binaries.bare)
                .args(["put", "--bucket", "bench", "--prefix", "bare/"])
                .args(["--endpoint", &format!("http://{}", server.authority())])
                .args(["--count", &count.to_string(), "--size", &plan.size_bytes.to_string()])
                .args(["--concurrency", &CONCURRENCY.to_string()]),
        )?;
        let target = format!("s3://bench/round-{round}/");
        let a = measure(
            server
                .command(&binaries.s3haul)
                .args(["cp", "--recursive", "--quiet"])
                .arg(&tree)
                .arg(&target),
        )?;
        check_arrived(&server, &binaries.s3haul, &target, count)?;
        if round > 0 {
            print_round(round, count, &b, &a);
            bare.push(b);
            ours.push(a);
        }
    }
    print_summary(count, &bare, &ours);
    Ok(())
}

fn parse(args: &[String]) -> Result<Plan> {
    let mut plan = Plan { files_per_folder: 512, size_bytes: 32 * 1024, rounds: 5 };
    let mut rest = args.iter();
    while let Some(flag) = rest.next() {
        let value = rest.next().with_context(|| format!("`{flag}` needs a value"))?;
        let number: u32 = value.parse().with_context(|| format!("`{flag} {value}`: no number"))?;
        match flag.as_str() {
            "--files-per-folder" => plan.files_per_folder = u64::from(number),
            "--size" => plan.size_bytes = usize::try_from(number)?,
            "--rounds" => plan.rounds = number,
            _ => bail!("unknown option `{flag}`: --files-per-folder, --size and --rounds exist"),
        }
    }
    Ok(plan)
}

struct Binaries {
    s3haul: PathBuf,
    bare: PathBuf,
}

fn build() -> Result<Binaries> {
    let step = ["build", "--release", "--quiet", "-p", "s3haul-cli"];
    process::run(&mut process::cargo(&step))?;
    let step = ["--release", "--quiet", "-p", "s3haul-bare"];
    process::run(&mut process::bench_cargo("build", &step))?;
    let folder = process::target().join("release");
    Ok(Binaries { s3haul: folder.join("s3haul"), bare: folder.join("bare") })
}

fn make_tree(plan: &Plan, tree: &Path) -> Result<()> {
    let mut bytes = vec![0_u8; plan.size_bytes];
    for folder in 0..FOLDERS {
        let letter = char::from(b'a' + u8::try_from(folder)?);
        let path = tree.join(letter.to_string());
        std::fs::create_dir_all(&path)?;
        for file in 0..plan.files_per_folder {
            let stamp = (folder << 32 | file).to_le_bytes();
            let length = bytes.len().min(stamp.len());
            bytes[..length].copy_from_slice(&stamp[..length]);
            std::fs::write(path.join(format!("file-{file:05}.bin")), &bytes)?;
        }
    }
    Ok(())
}

fn check_arrived(server: &Server, s3haul: &Path, target: &str, count: u64) -> Result<()> {
    let mut list = server.command(s3haul);
    let text = process::run_quietly(list.args(["ls", "--recursive", "--summarize", target]))?;
    if !text.contains(&format!("Total Objects: {count}\n")) {
        let tail: Vec<&str> = text.lines().rev().take(2).collect();
        bail!("not all {count} objects arrived below {target}: {tail:?}");
    }
    Ok(())
}

fn print_round(round: u32, count: u64, bare: &Usage, ours: &Usage) {
    term::line(&format!(
        "round {round}: bare {:6.1} µs  s3haul {:6.1} µs a file  ratio {:.2}  \
         wall {:.2} s / {:.2} s",
        bare.cpu_us_each(count),
        ours.cpu_us_each(count),
        ours.cpu_s / bare.cpu_s,
        bare.wall_s,
        ours.wall_s,
    ));
}

fn print_summary(count: u64, bare: &[Usage], ours: &[Usage]) {
    let median = |runs: &[Usage], pick: fn(&Usage) -> f64| {
        let mut values: Vec<f64> = runs.iter().map(pick).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let (bare_s, ours_s) = (median(bare, |run| run.cpu_s), median(ours, |run| run.cpu_s));
    let each = 1e6 / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    term::good(&format!(
        "median: bare {:.1} µs, s3haul {:.1} µs a file, ratio {:.2}, peak memory {:.0} MiB",
        bare_s * each,
        ours_s * each,
        ours_s / bare_s,
        median(ours, |run| run.peak_mib),
    ));
}
