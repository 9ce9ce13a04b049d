//! Tables of runs: `README.md` and `results.json`, beside the `runs.jsonl` that they are made of.
//!
//! Pure but for [`write`] and [`note`]: what is measured is decided elsewhere, and the
//! same runs always give the same files.

mod about;
mod figures;
mod markdown;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use self::about::About;
pub(crate) use self::figures::{Table, tables};
pub(crate) use self::markdown::{section, times};
use super::record;
use support::process;

/// Raw runs, one a line.
pub(crate) const RUNS: &str = "runs.jsonl";
/// What the runs were made with.
const ABOUT: &str = "about.md";

/// Where `make bench` keeps what it found.
pub(crate) fn folder() -> PathBuf {
    process::root().join("docs/bench")
}

/// Writes down what machine this is, which tools there are, when and what was asked for, a line
/// each. To be called where runs begin. Where these join earlier ones, both are listed; those of
/// another machine cannot be joined.
pub(crate) fn note(folder: &Path, tools: &[String], joins: bool) -> Result<()> {
    let date = process::run_quietly(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))?;
    let arguments = std::env::args().skip(1).map(|argument| about::shown(&argument));
    let command: Vec<String> =
        std::iter::once("cargo xtask bench".to_owned()).chain(arguments).collect();
    let now = About {
        machine: machine(),
        tools: tools.to_vec(),
        sessions: vec![format!("{}: `{}`", date.trim(), command.join(" "))],
    };
    let path = folder.join(ABOUT);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let about = if joins { About::parse(&text).joined(now)? } else { now };
    fs::create_dir_all(folder)
        .with_context(|| format!("could not create `{}`", folder.display()))?;
    save(&path, &about.text())
}

/// What the runs of a folder were made with.
pub(crate) fn about(folder: &Path) -> String {
    fs::read_to_string(folder.join(ABOUT)).unwrap_or_default()
}

/// Makes the tables of the runs in a folder, in the same folder.
pub(crate) fn write(folder: &Path) -> Result<()> {
    let runs = record::read(&folder.join(RUNS))?;
    let tables = figures::tables(&runs);
    save(&folder.join("README.md"), &markdown::page(&tables, &about(folder)))?;
    save(&folder.join("results.json"), &(serde_json::to_string_pretty(&tables)? + "\n"))
}

fn save(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("could not write `{}`", path.display()))
}

/// Processor, cores, memory and kernel, as far as they can be read.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let after = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':'])).to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = after(&read("/proc/meminfo"), "MemTotal");
    let kib: f64 = memory.trim_end_matches(" kB").parse().unwrap_or(f64::NAN);
    format!(
        "{} ({cores} cores), {:.0} GiB of memory, Linux {}",
        after(&read("/proc/cpuinfo"), "model name"),
        kib / (1024.0 * 1024.0),
        read("/proc/sys/kernel/osrelease").trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_runs_becomes_tables() {
        let folder = tempfile::tempdir().unwrap();
        let line = |tool: &str, round: u32, outcome: &str| {
            format!(
                "{{\"workload\":\"a-up\",\"title\":\"many small files, upload\",\
                 \"place\":{{\"server\":\"embedded\",\"latency_ms\":10,\"is_tls\":false}},\
                 \"tool\":\"{tool}\",\"version\":null,\"round\":{round},\"amount\":1000.0,\
                 \"unit\":\"object\",\"outcome\":{outcome}}}\n"
            )
        };
        let done = |cpu_s: f64| {
            format!(
                "{{\"done\":{{\"wall_s\":2.0,\"cpu_s\":{cpu_s},\"peak_mib\":20.0,\
                 \"requests\":1001}}}}"
            )
        };
        let runs = [
            line("s3haul", 1, &done(0.05)),
            line("bare", 1, &done(0.04)),
            line("aws", 1, &done(4.0)),
            line("s3p", 1, "{\"absent\":\"not <found> on PATH\"}"),
        ];
        save(&folder.path().join(RUNS), &runs.concat()).unwrap();
        write(folder.path()).unwrap();
        let page = fs::read_to_string(folder.path().join("README.md")).unwrap();
        assert!(page.contains("| s3haul | 2.00 | 50.0 |"), "{page}");
        assert!(page.contains("not \\<found> on PATH"), "{page}");
        let json = fs::read_to_string(folder.path().join("results.json")).unwrap();
        assert!(json.contains("\"cpu_to_bare\": 1.25"), "{json}");
    }
}
