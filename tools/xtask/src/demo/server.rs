//! Starts `s3haul serve` and reads from what it prints how to reach it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

const START_MAX: Duration = Duration::from_secs(20);
const STOP_MAX: Duration = Duration::from_secs(5);
/// After what is needed has been read, how long a further line may take.
const MORE_LINES_MAX: Duration = Duration::from_millis(100);
const LINES_QUEUED_MAX: usize = 64;

const ENDPOINT: &str = "AWS_ENDPOINT_URL";
const NEEDED: [&str; 3] = [ENDPOINT, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

/// A running server; stopped when dropped.
pub(super) struct Server {
    child: Child,
    /// The variables that a client needs.
    pub(super) variables: BTreeMap<String, String>,
}

impl Server {
    /// Starts the server on a free port, with its objects in a folder.
    pub(super) fn start(binary: &Path, folder: &Path) -> Result<Self> {
        let mut child = Command::new(binary)
            .arg("serve")
            .arg(folder)
            .args(["--address", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start `{}`", binary.display()))?;
        let (sender, lines) = sync_channel(LINES_QUEUED_MAX);
        if let Some(stdout) = child.stdout.take() {
            forward(stdout, sender.clone());
        }
        if let Some(stderr) = child.stderr.take() {
            forward(stderr, sender);
        }
        let mut server = Self { child, variables: BTreeMap::new() };
        server.read_variables(&lines)?;
        // Keeps the pipes empty, so that a talkative server never waits for us.
        std::thread::spawn(move || lines.into_iter().for_each(drop));
        Ok(server)
    }

    fn read_variables(&mut self, lines: &Receiver<String>) -> Result<()> {
        let deadline = Instant::now() + START_MAX;
        let mut seen = String::new();
        loop {
            let complete = NEEDED.iter().all(|name| self.variables.contains_key(*name));
            let left = deadline.saturating_duration_since(Instant::now());
            match lines.recv_timeout(if complete { MORE_LINES_MAX } else { left }) {
                Ok(line) => {
                    take_line(&line, &mut self.variables);
                    seen.push_str(&line);
                    seen.push('\n');
                }
                Err(RecvTimeoutError::Timeout) if complete => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("`serve` did not say how to reach it; it printed:\n{seen}")
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    bail!("`serve` ended at once ({status}); it printed:\n{seen}")
                }
            }
        }
    }

    /// Asks the server to end and waits; kills it when it takes long.
    fn stop(&mut self) {
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &pid]).stderr(Stdio::null()).status();
        let deadline = Instant::now() + STOP_MAX;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn forward(pipe: impl Read + Send + 'static, sender: SyncSender<String>) {
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
}

/// Reads `export NAME=VALUE`, and the endpoint from any other line that names one.
fn take_line(line: &str, variables: &mut BTreeMap<String, String>) {
    if let Some((name, value)) = line.trim().strip_prefix("export ").and_then(|l| l.split_once('='))
    {
        let value = value.trim_matches(['"', '\'']);
        variables.insert(name.trim().to_owned(), value.to_owned());
    } else if let Some(start) = line.find("http://") {
        let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | ')');
        let url = line[start..].split(is_end).next().unwrap_or_default();
        variables
            .entry(ENDPOINT.to_owned())
            .or_insert_with(|| url.trim_end_matches('/').to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_from_what_the_server_prints() {
        let mut variables = BTreeMap::new();
        take_line("serving /tmp/x on http://127.0.0.1:4566/ (ctrl-c ends)", &mut variables);
        take_line("  export AWS_ACCESS_KEY_ID=abc", &mut variables);
        take_line("export AWS_SECRET_ACCESS_KEY='d=e'", &mut variables);
        assert_eq!(variables[ENDPOINT], "http://127.0.0.1:4566");
        assert_eq!(variables["AWS_ACCESS_KEY_ID"], "abc");
        assert_eq!(variables["AWS_SECRET_ACCESS_KEY"], "d=e");
        take_line("export AWS_ENDPOINT_URL=http://[::1]:1", &mut variables);
        assert_eq!(variables[ENDPOINT], "http://[::1]:1");
    }
}
