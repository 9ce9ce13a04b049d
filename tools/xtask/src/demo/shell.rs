//! Shows a command as one would type it, runs it, and prints what it took.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use support::server::Server;
use support::term;

use super::tree::Totals;

/// Runs the command under demonstration in a folder against a server.
pub(super) struct Shell<'a> {
    pub(super) binary: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) server: &'a Server,
}

/// What a command printed and took.
pub(super) struct Ran {
    pub(super) stdout: Vec<u8>,
    wall: Duration,
}

impl Shell<'_> {
    /// Shows and runs a command; fails when it does.
    pub(super) fn run(&self, args: &[&str]) -> Result<Ran> {
        self.run_on(args, "", Stdio::null())
    }

    /// Shows and runs a command that reads a file as its standard input.
    pub(super) fn run_with_input(&self, args: &[&str], input: &Path) -> Result<Ran> {
        self.run_on(args, "… | ", Stdio::from(File::open(input)?))
    }

    fn run_on(&self, args: &[&str], pipe: &str, input: Stdio) -> Result<Ran> {
        let shown: Vec<String> = args.iter().map(|argument| quote(argument)).collect();
        term::heading(&format!("$ {pipe}s3haul {}", shown.join(" ")));
        let mut command = self.server.command(self.binary);
        let started = Instant::now();
        let output = command.args(args).current_dir(self.folder).stdin(input).output();
        let output =
            output.with_context(|| format!("could not start `{}`", self.binary.display()))?;
        let wall = started.elapsed();
        if !output.status.success() {
            let stdout = String::from_utf8_lossy(&output.stdout);
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("`s3haul {}` failed ({})\n{stdout}{stderr}", shown.join(" "), output.status);
        }
        Ok(Ran { stdout: output.stdout, wall })
    }
}

impl Ran {
    /// Prints the time.
    pub(super) fn tell(&self) {
        term::dim(&format!("  {}", term::seconds(self.wall)));
    }

    /// Prints the time, and the rates at which objects and bytes were done.
    pub(super) fn tell_rates(&self, moved: Totals) {
        let seconds = self.wall.as_secs_f64().max(1e-6);
        let mut figures = vec![term::seconds(self.wall)];
        let noun = if moved.files == 1 { "object" } else { "objects" };
        figures.push(format!("{} {noun}", term::count(moved.files)));
        figures.push(term::bytes(moved.bytes));
        figures.push(format!("{} objects/s", term::count(rate(moved.files, seconds))));
        figures.push(format!("{}/s", term::bytes(rate(moved.bytes, seconds))));
        term::dim(&format!("  {}", figures.join(" · ")));
    }

    /// Prints the last lines of what the command printed, and the time.
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
        self.tell();
    }

    /// What it printed, as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
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
