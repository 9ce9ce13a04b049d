//! `fuzz`: the targets of `fuzz/` under `libFuzzer`, for a chosen time.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use support::{process, term};

/// Seconds that one input may take, and megabytes.
const LIMITS: [&str; 2] = ["-timeout=10", "-rss_limit_mb=1024"];
/// Bytes of an input: long ones are for the tests.
const LENGTH_MAX: &str = "-max_len=32768";

/// Which targets, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Names of targets; all of them where none is given
    names: Vec<String>,
    /// Seconds a target
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Runs targets. What is found new goes to `target/fuzz/corpus`, what fails to `fuzz/artifacts`.
pub(crate) fn run(Arguments { names, seconds }: &Arguments) -> Result<()> {
    let known = targets()?;
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        bail!("`{name}` is no target; these are: {}", known.join(", "));
    }
    check_tools()?;
    for target in if names.is_empty() { &known } else { names } {
        term::heading(&format!("fuzz: {target} for {seconds} s"));
        process::run(&mut command(target, *seconds)?)?;
    }
    Ok(())
}

/// The names of all targets.
fn targets() -> Result<Vec<String>> {
    let folder = process::root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder).context("could not look into `fuzz/fuzz_targets`")?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn check_tools() -> Result<()> {
    if !process::output(&mut nightly(&["--version"])).is_ok_and(|output| output.status.success()) {
        bail!("fuzzing needs nightly: `rustup toolchain install nightly`");
    }
    let version = process::output(&mut nightly(&["fuzz", "--version"]));
    if !version.is_ok_and(|output| output.status.success()) {
        bail!("fuzzing needs cargo-fuzz: `cargo install --locked cargo-fuzz`");
    }
    Ok(())
}

/// Cargo of nightly, whatever toolchain runs us.
fn nightly(args: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.current_dir(process::root()).args(["run", "nightly", "cargo"]).args(args);
    command
}

/// `libFuzzer` on a target. There is no unsafe code, so there is no sanitizer, which costs half
/// the speed.
fn command(target: &str, seconds: u64) -> Result<Command> {
    let build = process::target().join("fuzz");
    let found = build.join("corpus").join(target);
    fs::create_dir_all(&found)
        .with_context(|| format!("could not make the folder `{}`", found.display()))?;
    let mut command = nightly(&["fuzz", "run", "--sanitizer", "none", target]);
    command.arg(&found).arg(Path::new("fuzz/corpus").join(target));
    command.arg("--").args(LIMITS).arg(LENGTH_MAX);
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-dict=fuzz/dictionaries/{target}.dict"));
    command.env("CARGO_TARGET_DIR", build);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_target_is_told_with_those_that_are() {
        let arguments = Arguments { names: vec!["rain".to_owned()], seconds: 1 };
        let message = run(&arguments).unwrap_err().to_string();
        assert!(message.starts_with("`rain` is no target; these are: answers, "), "{message}");
    }

    #[test]
    fn new_inputs_do_not_go_into_the_repository() {
        let command = command("xml", 7).unwrap();
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
        let first = args.iter().position(|arg| arg == "xml").unwrap() + 1;
        assert!(Path::new(&*args[first]).ends_with("fuzz/corpus/xml"));
        assert!(Path::new(&*args[first]).starts_with(process::target()));
        assert_eq!(args[first + 1], "fuzz/corpus/xml");
        assert!(args.iter().any(|arg| arg == "-max_total_time=7"));
    }
}
