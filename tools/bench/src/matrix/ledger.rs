//! What the embedded server's ledger says of a run: how many requests of which kind.
//!
//! The server writes a JSON line for each request, all tools pay the same for it, and flushes the
//! file whenever it is idle, so it can be read while the server runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// A file that has not grown for this long is whole: the server has nothing under way.
const QUIET: Duration = Duration::from_millis(30);
const LOOK: Duration = Duration::from_millis(5);
const QUIET_MAX: Duration = Duration::from_secs(30);

/// The ledger of a running server.
pub(super) struct Ledger {
    path: PathBuf,
    read_bytes: u64,
}

/// Requests since the last look.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Requests {
    /// Operation to number of requests.
    all: BTreeMap<String, u64>,
    /// The same, of those that were answered by a status of 200 to 299.
    good: BTreeMap<String, u64>,
}

/// The fields of a line that count.
#[derive(Deserialize)]
struct Line {
    operation: String,
    status: u16,
}

impl Requests {
    fn add(&mut self, line: &str) -> Result<()> {
        let line: Line = serde_json::from_str(line).context("a line of the ledger is no record")?;
        if (200..300).contains(&line.status) {
            *self.good.entry(line.operation.clone()).or_default() += 1;
        }
        *self.all.entry(line.operation).or_default() += 1;
        Ok(())
    }

    /// All of them.
    pub(crate) fn count(&self) -> u64 {
        self.all.values().sum()
    }

    /// Successful ones of an operation.
    pub(super) fn good(&self, operation: &str) -> u64 {
        self.good.get(operation).copied().unwrap_or_default()
    }

    /// Those that change objects, whatever became of them. Making a bucket that is there does not.
    pub(crate) fn writes(&self) -> u64 {
        let reads = |name: &str| {
            ["List", "Get", "Head"].iter().any(|verb| name.starts_with(verb))
                || name.ends_with("Bucket")
        };
        self.all.iter().filter(|(name, _)| !reads(name)).map(|(_, count)| count).sum()
    }
}

impl Ledger {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), read_bytes: 0 }
    }

    /// The requests that have come since the last call and are answered.
    pub(super) fn take(&mut self) -> Result<Requests> {
        self.wait_until_quiet()?;
        let mut file = File::open(&self.path).context("the server writes no ledger")?;
        file.seek(SeekFrom::Start(self.read_bytes))?;
        let mut file = BufReader::with_capacity(1 << 20, file);
        let (mut requests, mut line) = (Requests::default(), String::new());
        loop {
            line.clear();
            let length = file.read_line(&mut line)?;
            if length == 0 || !line.ends_with('\n') {
                return Ok(requests);
            }
            self.read_bytes += length as u64;
            requests.add(&line)?;
        }
    }

    fn wait_until_quiet(&self) -> Result<()> {
        let begin = Instant::now();
        let (mut length, mut since) = (self.length()?, Instant::now());
        while since.elapsed() < QUIET {
            if begin.elapsed() > QUIET_MAX {
                bail!("requests still arrive although nothing runs");
            }
            std::thread::sleep(LOOK);
            let now = self.length()?;
            if now != length {
                (length, since) = (now, Instant::now());
            }
        }
        Ok(())
    }

    fn length(&self) -> Result<u64> {
        Ok(std::fs::metadata(&self.path).context("the server writes no ledger")?.len())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn record(operation: &str, status: u16) -> String {
        format!(
            "{{\"at_us\":1,\"operation\":\"{operation}\",\"status\":{status},\"bucket\":\"b\"}}\n"
        )
    }

    #[test]
    fn each_look_counts_what_is_new() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut ledger = Ledger::new(file.path());
        assert_eq!(ledger.take().unwrap(), Requests::default());
        let lines =
            [record("PutObject", 200), record("PutObject", 503), record("CreateBucket", 409)];
        file.write_all(lines.concat().as_bytes()).unwrap();
        let requests = ledger.take().unwrap();
        assert_eq!((requests.count(), requests.writes(), requests.good("PutObject")), (3, 2, 1));
        // A line that is not whole yet waits for the next look.
        let late = record("DeleteObjects", 200);
        file.write_all(&late.as_bytes()[..20]).unwrap();
        assert_eq!(ledger.take().unwrap().count(), 0);
        file.write_all(&late.as_bytes()[20..]).unwrap();
        assert_eq!(ledger.take().unwrap().writes(), 1);
    }

    #[test]
    fn what_is_no_ledger_is_told() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"nonsense\n").unwrap();
        assert!(Ledger::new(file.path()).take().is_err());
        assert!(Ledger::new(Path::new("/nonexistent/ledger")).take().is_err());
    }
}
