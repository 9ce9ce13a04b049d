//! `budgets`: instructions of the hot paths, counted by callgrind and held against a table.
//!
//! Counts do not depend on how busy a machine is, so a regression fails by what it does and not
//! by its time. Each path runs with a small and a large number of repetitions; the difference
//! leaves out what starting up costs. They do depend on the compiler (`rust-toolchain.toml` pins
//! it) and the architecture: only that of the table is measured.

mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::table::{Budget, Table, Verdict};
use support::server::without_settings;
use support::{install, process, term};

/// A path, and its small and its large number of repetitions.
struct HotPath {
    name: &'static str,
    about: &'static str,
    repetitions: [u64; 2],
}

const PATHS: [HotPath; 8] = [
    HotPath { name: "put", about: "a PUT of 512 bytes", repetitions: [100, 600] },
    HotPath { name: "get", about: "a GET of 512 bytes", repetitions: [100, 600] },
    HotPath { name: "list", about: "a LIST page of 1,000 keys", repetitions: [10, 60] },
    HotPath { name: "put-tls", about: "a PUT of 512 bytes over TLS", repetitions: [100, 600] },
    HotPath { name: "part-tls", about: "a part of 1 MiB over TLS", repetitions: [5, 30] },
    HotPath { name: "join", about: "a row of a merge join", repetitions: [3_000, 60_000] },
    HotPath { name: "filter", about: "a name against four filters", repetitions: [3_000, 60_000] },
    HotPath { name: "journal", about: "1,000 objects in a journal", repetitions: [10, 60] },
];

/// Runs of which the least counts: a body that arrives in more pieces is copied more.
const RUNS: usize = 3;

/// Counts, and compares with the table, or writes the table instead.
pub(crate) fn run(bless: bool) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        term::line("budgets: skipped, the table is for Linux on x86-64");
        return Ok(());
    }
    install::need("valgrind", "valgrind")?;
    let program = build()?;
    let path = process::root().join("tools/xtask/budgets.json");
    let counted = count_all(&program)?;
    if bless {
        let table = Table { budgets: counted };
        table.write(&path)?;
        term::good(&format!("budgets: wrote {}", path.display()));
        return Ok(());
    }
    judge(&Table::read(&path)?, &counted)
}

/// Building an example, too, gives dependencies the features of the tests, so that they are
/// compiled once; what these features cost is counted.
fn build() -> Result<PathBuf> {
    let step = ["build", "--quiet", "--workspace", "--bin", "hot_paths", "--example", "in_memory"];
    process::run(process::optimised(&mut process::cargo(&step)))?;
    Ok(process::target().join("debug/hot_paths"))
}

/// Two paths at a time, as valgrind uses one core: the least of the runs is the same.
fn count_all(program: &Path) -> Result<Vec<Budget>> {
    let (first, second) = PATHS.split_at(PATHS.len() / 2);
    let count = |paths: &[HotPath]| -> Result<Vec<_>> {
        paths.iter().map(|path| count(program, path)).collect()
    };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| count(second));
        let first = count(first);
        let second = second.join().unwrap_or_else(|_| bail!("the second half panicked"));
        Ok([first?, second?].into_iter().flatten().collect())
    })
}

fn count(program: &Path, path: &HotPath) -> Result<Budget> {
    let [few, many] = path.repetitions;
    let least = |repetitions| {
        let runs = (0..RUNS).map(|_| instructions(program, path.name, repetitions));
        runs.collect::<Result<Vec<_>>>().map(|counts| counts.into_iter().min().unwrap_or(0))
    };
    let difference = least(many)?
        .checked_sub(least(few)?)
        .with_context(|| format!("`{}` costs less the more of it there is", path.name))?;
    let instructions = difference / (many - few);
    Ok(Budget { path: path.name.to_owned(), about: path.about.to_owned(), instructions })
}

fn instructions(program: &Path, path: &str, repetitions: u64) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    // The client must not read the settings of the current user.
    without_settings(&mut valgrind)
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=no"])
        .arg(program)
        .args([path, &repetitions.to_string()]);
    let output = process::output(&mut valgrind)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("`hot_paths {path} {repetitions}` failed under valgrind:\n{stderr}");
    }
    collected(&stderr).with_context(|| format!("valgrind printed no count:\n{stderr}"))
}

/// Reads `==123== Collected : 456`.
fn collected(stderr: &str) -> Option<u64> {
    let line = stderr.lines().find_map(|line| line.split_once("Collected : "))?.1;
    line.trim().parse().ok()
}

fn judge(table: &Table, counted: &[Budget]) -> Result<()> {
    let mut over = Vec::new();
    for now in counted {
        let budget = table.of(&now.path)?;
        let text = format!(
            "{:<8} {:>9} instructions, budget {:>9} ({:+.1} %): {}",
            now.path,
            term::count(now.instructions),
            term::count(budget),
            table::percent(now.instructions, budget),
            now.about,
        );
        match table::verdict(now.instructions, budget) {
            Verdict::Within => term::line(&text),
            Verdict::FarBelow => {
                term::line(&format!("{text}; lower the budget: cargo xtask budgets --bless"));
            }
            Verdict::Over => {
                term::error(&text);
                over.push(now.path.as_str());
            }
        }
    }
    if over.is_empty() {
        return Ok(());
    }
    bail!(
        "more than {} % over the budget: {}; find out why, or where it has to be so: \
         cargo xtask budgets --bless",
        table::TOLERANCE_PERCENT,
        over.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read() {
        let stderr = "==7== Events    : Ir\n==7== Collected : 123456\n==7==\n";
        assert_eq!(collected(stderr), Some(123_456));
        assert_eq!(collected("==7== Events : Ir"), None);
    }

    #[test]
    fn a_regression_is_named() {
        let budget = |instructions| Budget {
            path: "put".to_owned(),
            about: "a PUT".to_owned(),
            instructions,
        };
        let table = Table { budgets: vec![budget(1_000)] };
        assert!(judge(&table, &[budget(1_100)]).is_ok());
        let error = judge(&table, &[budget(1_101)]).unwrap_err().to_string();
        assert!(error.contains("put") && error.contains("--bless"), "{error}");
    }
}
