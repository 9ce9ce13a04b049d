//! All layouts in all ways, beside the reference method.
//!
//! Several folders hold the same layouts made with other dice: then a cell is the mean over them,
//! so that what helps one file by chance does not show. Jittered cells are the mean over six
//! seeds. Behind each cell stands how much more it is than the reference in percent, requests and
//! rounds; the last lines sum what is worse, and what is worse and better.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::bucket::Bucket;
use crate::simulation::{self, Settings};

/// Columns: concurrency, seeds of jitter (none: without), whether ordered.
const COLUMNS: [(usize, &[u64], bool); 4] =
    [(64, &[], false), (512, &[], false), (64, &[1, 2, 3, 4, 5, 6], false), (64, &[], true)];

/// Requests ÷ the least possible and rounds.
type Cell = (f64, f64);

/// The figures of the reference method for a million keys, by column.
const REFERENCE: [(&str, [Cell; 4]); 11] = [
    ("seq", [(1.09, 21.0), (1.33, 11.0), (1.14, 32.0), (1.16, 25.0)]),
    ("seqraw", [(1.08, 21.0), (1.29, 10.0), (1.11, 32.0), (1.14, 24.0)]),
    ("dates", [(1.12, 22.0), (1.14, 10.0), (1.12, 31.0), (1.14, 23.0)]),
    ("flatdates", [(1.12, 23.0), (1.41, 11.0), (1.17, 35.0), (1.16, 29.0)]),
    ("uuid", [(1.08, 19.0), (1.32, 7.0), (1.08, 29.0), (1.12, 23.0)]),
    ("hashp", [(1.08, 19.0), (1.24, 9.0), (1.09, 29.0), (1.14, 24.0)]),
    ("onebig", [(1.12, 24.0), (1.18, 19.0), (1.14, 34.0), (1.19, 42.0)]),
    ("cjk", [(1.10, 21.0), (1.22, 14.0), (1.13, 31.0), (1.14, 26.0)]),
    ("trie", [(1.18, 29.0), (1.66, 10.0), (1.17, 29.0), (1.24, 37.0)]),
    ("heavy", [(1.17, 29.0), (1.44, 20.0), (1.20, 55.0), (1.23, 40.0)]),
    ("hive", [(1.16, 30.0), (1.58, 16.0), (1.18, 49.0), (1.21, 61.0)]),
];

/// What one column sums up to.
#[derive(Clone, Copy, Default)]
struct Sum {
    /// Percent worse than the reference, where it is worse: requests, rounds.
    worse: Cell,
    /// The same with what is better.
    all: Cell,
}

/// Prints the table of the key files in some folders.
pub(crate) fn print(folders: &[String]) -> Result<(), String> {
    let mut rows: BTreeMap<String, Vec<[Cell; 4]>> = BTreeMap::new();
    let mut micros = Vec::new();
    for (name, path) in key_files(folders)? {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let bucket = Bucket::new(text, "");
        let mut cells = [(0.0, 0.0); 4];
        for (cell, column) in cells.iter_mut().zip(COLUMNS) {
            *cell = measure(&bucket, column, &mut micros).map_err(|it| format!("{path}: {it}"))?;
        }
        rows.entry(name).or_default().push(cells);
    }
    println!("{:<10} C=64 · C=512 · C=64 jittered · C=64 ordered", "layout");
    let mut sums = [Sum::default(); 4];
    for name in names(&rows) {
        let reference = REFERENCE.iter().find(|(known, _)| *known == name);
        print_row(name, &mean(&rows[name]), reference.map(|(_, cells)| cells), &mut sums);
    }
    print_sums(&sums);
    println!("{:.0} µs a page to decide", micros.iter().sum::<f64>() / micros.len() as f64);
    Ok(())
}

/// Those of the reference in its order, then the others.
fn names(rows: &BTreeMap<String, Vec<[Cell; 4]>>) -> Vec<&str> {
    let known = REFERENCE.iter().map(|(name, _)| *name).filter(|name| rows.contains_key(*name));
    let is_other = |name: &&str| REFERENCE.iter().all(|(known, _)| known != name);
    known.chain(rows.keys().map(String::as_str).filter(is_other)).collect()
}

fn key_files(folders: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if path.extension() == Some(Path::new("keys").as_os_str()) {
                let name = name.split('-').next().unwrap_or_default().to_owned();
                files.push((name, path.display().to_string()));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn measure(
    bucket: &Bucket,
    (concurrency, seeds, is_ordered): (usize, &[u64], bool),
    micros: &mut Vec<f64>,
) -> Result<Cell, String> {
    let has_jitter = !seeds.is_empty();
    let seeds = if has_jitter { seeds } else { &[1] };
    let mut cell = (0.0, 0.0);
    for seed in seeds {
        let figures = simulation::run(
            bucket,
            &Settings {
                concurrency,
                has_jitter,
                is_ordered,
                is_eager: true,
                prefix: String::new(),
                boundaries: Vec::new(),
                seed: *seed,
            },
        );
        if figures.verdict != "ok" {
            return Err(figures.verdict);
        }
        cell.0 += figures.ratio() / seeds.len() as f64;
        cell.1 += figures.rounds / seeds.len() as f64;
        micros.push(figures.micros_a_page);
    }
    Ok(cell)
}

fn mean(runs: &[[Cell; 4]]) -> [Cell; 4] {
    let mut mean = [(0.0, 0.0); 4];
    for (index, cell) in mean.iter_mut().enumerate() {
        let sum = |of: fn(&Cell) -> f64| runs.iter().map(|run| of(&run[index])).sum::<f64>();
        let count = runs.len() as f64;
        *cell = (sum(|cell| cell.0) / count, sum(|cell| cell.1) / count);
    }
    mean
}

fn print_row(name: &str, cells: &[Cell; 4], reference: Option<&[Cell; 4]>, sums: &mut [Sum; 4]) {
    let mut line = format!("{name:<10}");
    for (index, (ratio, rounds)) in cells.iter().enumerate() {
        let _ = write!(line, " {ratio:.3}·{rounds:<5.1}");
        let Some(reference) = reference.map(|cells| cells[index]) else {
            line.push_str("             ");
            continue;
        };
        let more = (100.0 * (ratio / reference.0 - 1.0), 100.0 * (rounds / reference.1 - 1.0));
        let _ = write!(line, " {:+5.1} {:+5.0} ", more.0, more.1);
        let sum = &mut sums[index];
        sum.worse = (sum.worse.0 + more.0.max(0.0), sum.worse.1 + more.1.max(0.0));
        sum.all = (sum.all.0 + more.0, sum.all.1 + more.1);
    }
    println!("{line}");
}

fn print_sums(sums: &[Sum; 4]) {
    for (name, of) in [("worse", (|sum| sum.worse) as fn(&Sum) -> Cell), ("all", |sum| sum.all)] {
        let mut line = format!("{name:<10}");
        for sum in sums {
            let (requests, rounds) = of(sum);
            let _ = write!(line, "             {requests:+5.1} {rounds:+5.0} ");
        }
        let total: f64 = sums.iter().map(of).map(|(requests, rounds)| requests + rounds).sum();
        println!("{line}  {total:+.0}");
    }
}
