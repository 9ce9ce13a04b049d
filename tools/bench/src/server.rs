//! `s3haul serve` as a child.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

/// Unit of the times in `/proc/PID/stat`, on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// A server on a free port; stops when this value is dropped.
pub(super) struct Server {
    child: Child,
    exports: Vec<(String, String)>,
}

impl Server {
    /// Starts a server with these arguments and waits until it listens.
    pub(super) fn start(s3haul: &Path, args: &[&str]) -> Result<Self> {
        let mut child = Command::new(s3haul)
            .arg("serve")
            .args(args)
            .args(["--address", "127.0.0.1:0", "--stop-with-stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("could not start `s3haul serve`")?;
        let output = child.stdout.take().context("the server has no standard output")?;
        let mut server = Self { child, exports: Vec::new() };
        for line in BufReader::new(output).lines() {
            let line = line?;
            if let Some((name, value)) =
                line.strip_prefix("export ").and_then(|rest| rest.split_once('='))
            {
                server.exports.push((name.to_owned(), value.trim_matches('\'').to_owned()));
            }
            if server.is_known() {
                return Ok(server);
            }
        }
        bail!("`s3haul serve {}` ended before it listened", args.join(" "))
    }

    fn is_known(&self) -> bool {
        ["ENDPOINT", "ACCESS_KEY", "SECRET", "REGION"]
            .iter()
            .all(|part| self.exports.iter().any(|(name, _)| name.contains(part)))
    }

    /// A command whose environment reaches the server.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.envs(self.exports.iter().map(|(name, value)| (name, value)));
        command.env("AWS_CONFIG_FILE", "/dev/null");
        command
    }

    /// A variable that it told.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let told = self.exports.iter().find(|(told, _)| told == name);
        told.map(|(_, value)| value.as_str())
    }

    /// Host and port.
    pub(super) fn authority(&self) -> String {
        let url = self.exports.iter().find(|(name, _)| name.contains("ENDPOINT"));
        url.map_or(String::new(), |(_, url)| url.replace("http://", ""))
    }

    /// User and system time so far, in seconds.
    pub(super) fn cpu_s(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // Behind the name, which may hold anything: state, then numbers; the times are 14 and 15.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let ticks: u32 =
            fields.skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
        Ok(f64::from(ticks) / TICKS_PER_SECOND)
    }

    /// Memory of its own (not the mapped key file) now, in MiB.
    pub(super) fn own_mib(&self) -> f64 {
        super::usage::status_kib(self.child.id(), "RssAnon:") / 1024.0
    }

    /// Lets it end in order, so that its ledger is on disk.
    pub(super) fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { bail!("the server failed ({status})") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone where it was stopped in order.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
