//! Shows a command as one would type it, runs it, and tells what it took.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::tree::Totals;
use support::term;

const MEMORY_POLL: Duration = Duration::from_millis(5);

/// Runs the command under demonstration in one folder with one set of variables.
pub(super) struct Shell {
    binary: PathBuf,
    folder: PathBuf,
    variables: BTreeMap<String, String>,
}

/// What a command printed and took.
pub(super) struct Ran {
    pub(super) stdout: Vec<u8>,
    wall: Duration,
    peak_kib: u64,
}

impl Shell {
    /// A shell whose commands reach the server of these variables and read no configuration files.
    pub(super) fn new(binary: &Path, folder: &Path, server: &BTreeMap<String, String>) -> Self {
        let mut variables = server.clone();
        for (name, value) in [
            ("AWS_CONFIG_FILE", "/dev/null"),
            ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"),
            ("AWS_EC2_METADATA_DISABLED", "true"),
        ] {
            variables.insert(name.to_owned(), value.to_owned());
        }
        variables.entry("AWS_REGION".to_owned()).or_insert_with(|| "us-east-1".to_owned());
        Self { binary: binary.to_owned(), folder: folder.to_owned(), variables }
    }

    /// Shows and runs a command; fails when it does.
    pub(super) fn run(&self, args: &[&str]) -> Result<Ran> {
        self.run_with_input(args, None)
    }

    /// Shows and runs a command that reads its standard input.
    pub(super) fn run_with_input(&self, args: &[&str], input: Option<&[u8]>) -> Result<Ran> {
        let shown: Vec<String> = args.iter().map(|argument| quote(argument)).collect();
        let pipe = if input.is_some() { "… | " } else { "" };
        term::heading(&format!("$ {pipe}s3haul {}", shown.join(" ")));
        let started = Instant::now();
        let mut child = self
            .command(args)
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start `{}`", self.binary.display()))?;
        let (output, peak_kib) = collect(&mut child, input)?;
        let wall = started.elapsed();
        if !output.status.success() {
            let stdout = String::from_utf8_lossy(&output.stdout);
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("`s3haul {}` failed ({})\n{stdout}{stderr}", shown.join(" "), output.status);
        }
        Ok(Ran { stdout: output.stdout, wall, peak_kib })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        for name in ["AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN"] {
            command.env_remove(name);
        }
        command.envs(&self.variables).current_dir(&self.folder).args(args);
        command
    }
}

impl Ran {
    /// Prints time and memory.
    pub(super) fn tell(&self) {
        term::dim(&format!("  {}", self.figures().join(" · ")));
    }

    /// Prints time and memory, and the rates at which objects and bytes were done.
    pub(super) fn tell_rates(&self, moved: Totals) {
        let seconds = self.wall.as_secs_f64().max(1e-6);
        let mut figures = self.figures();
        let noun = if moved.files == 1 { "object" } else { "objects" };
        figures.push(format!("{} {noun}", term::count(moved.files)));
        figures.push(term::bytes(moved.bytes));
        figures.push(format!("{} objects/s", term::count(rate(moved.files, seconds))));
        figures.push(format!("{}/s", term::bytes(rate(moved.bytes, seconds))));
        term::dim(&format!("  {}", figures.join(" · ")));
    }

    /// Prints the last lines of what the command printed.
    pub(super) fn tell_last_lines(&self, count: usize) {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        let skipped = lines.len().saturating_sub(count);
        if skipped > 0 {
            term::line(&format!("  … {} lines", term::count(skipped as u64)));
        }
        for line in &lines[skipped..] {
            term::line(&format!("  {}", show(line)));
        }
    }

    /// What it printed, as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    fn figures(&self) -> Vec<String> {
        let mut figures = vec![term::seconds(self.wall)];
        if self.peak_kib > 0 {
            figures.push(format!("peak memory {}", term::bytes(self.peak_kib * 1024)));
        }
        figures
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a figure for people"
)]
fn rate(amount: u64, seconds: f64) -> u64 {
    (amount as f64 / seconds) as u64
}

/// Control characters of odd names would garble the terminal.
fn show(line: &str) -> String {
    let shown =
        |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    line.chars().map(shown).collect()
}

fn quote(argument: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

/// Feeds and drains a child, watching its memory meanwhile.
fn collect(child: &mut Child, input: Option<&[u8]>) -> Result<(std::process::Output, u64)> {
    let pid = child.id();
    let ended = AtomicBool::new(false);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let memory = scope.spawn(|| watch_memory(pid, &ended));
        let stderr = scope.spawn(|| drain(stderr));
        let stdout = scope.spawn(|| drain(stdout));
        if let (Some(mut pipe), Some(bytes)) = (stdin, input) {
            // A command that ends early is judged by its status, not by the broken pipe.
            let _ = pipe.write_all(bytes);
        }
        let status = child.wait();
        ended.store(true, Ordering::Relaxed);
        let stdout = stdout.join().unwrap_or_default();
        let stderr = stderr.join().unwrap_or_default();
        let peak_kib = memory.join().unwrap_or_default();
        Ok((std::process::Output { status: status?, stdout, stderr }, peak_kib))
    })
}

fn drain(pipe: Option<impl std::io::Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What could be read is enough: the status tells whether the command did its work.
        let _ = pipe.read_to_end(&mut bytes);
    }
    bytes
}

/// Highest resident memory of a process as far as `/proc` tells; zero where there is none. The
/// kernel keeps the peak, so a poll now and then misses only growth in the last milliseconds.
fn watch_memory(pid: u32, ended: &AtomicBool) -> u64 {
    let path = format!("/proc/{pid}/status");
    let mut peak_kib = 0;
    while !ended.load(Ordering::Relaxed) {
        let Ok(status) = std::fs::read_to_string(&path) else { break };
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
        peak_kib = peak_kib.max(kib.unwrap_or(0));
        std::thread::sleep(MEMORY_POLL);
    }
    peak_kib
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_as_one_would_type_them() {
        assert_eq!(quote("s3://demo/tree/"), "s3://demo/tree/");
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("it's"), "'it'\\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(show("a\u{7f}b\tc漢"), "a\\u{7f}b\\tc漢");
    }
}
