//! `run --report` and `--retry-failed`: what became of every line, as a file.
//!
//! Rows are written when their lines end, so that a command that was killed leaves what it had
//! done. Columns are only ever added, at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::exit;
use crate::failure::Failure;
use crate::render::{csv, json};
use crate::report::{Format, Records, open_alone};

/// Names of the columns.
const COLUMNS: [&str; 6] = ["event", "outcome", "line", "exit_code", "command", "error"];
/// Longest row that is read.
const ROW_MAX: u64 = 4 * 1024 * 1024;

/// How a line ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LineResult {
    /// Number of the line.
    pub(crate) line: u64,
    /// Exit code of its command.
    pub(crate) exit_code: u8,
    /// The command as it may be shown.
    pub(crate) command: String,
    /// Why it did not do its work: the first object that failed, or the error of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl LineResult {
    /// `done`, `warned` or `failed`.
    pub(crate) fn outcome(&self) -> &'static str {
        match self.exit_code {
            exit::SUCCESS => "done",
            exit::WARNED => "warned",
            _ => "failed",
        }
    }
}

/// A row in both formats.
#[derive(Default, Serialize)]
struct RowOut<'a> {
    #[serde(skip)]
    event: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    outcome: &'a str,
    #[serde(flatten)]
    result: Option<&'a LineResult>,
    /// The file of commands; only in the first row.
    #[serde(skip_serializing_if = "str::is_empty")]
    source: &'a str,
}

impl RowOut<'_> {
    fn push(&self, format: Format, buffer: &mut Vec<u8>) {
        if format == Format::JsonLines {
            return json::push(buffer, self.event, self);
        }
        let number = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
        let line = number(self.result.map(|result| result.line));
        let code = number(self.result.map(|result| result.exit_code.into()));
        let command = self.result.map_or(self.source, |result| &result.command);
        let error = self.result.and_then(|result| result.error.as_deref()).unwrap_or_default();
        csv::push_row(buffer, &[self.event, self.outcome, &line, &code, command, error]);
    }
}

/// A report that is being written.
#[derive(Debug)]
pub(crate) struct LineReport {
    path: PathBuf,
    format: Format,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// The first failure; nothing more is written after it.
    failure: Option<io::Error>,
}

impl LineReport {
    /// Makes the file and writes its first row.
    pub(crate) fn create(path: &Path, source: &str) -> Result<Self, Failure> {
        let format = Format::of(path);
        let mut first = Vec::new();
        if format == Format::Csv {
            csv::push_row(&mut first, &COLUMNS);
        }
        RowOut { event: "run", source, ..RowOut::default() }.push(format, &mut first);
        let open = || {
            let mut file = open_alone(path)?;
            file.write_all(&first)?;
            let state = Mutex::new(State { file, failure: None });
            Ok(Self { path: path.to_owned(), format, state })
        };
        open().map_err(|error: io::Error| Failure::other(describe(path, &error)))
    }

    /// Adds a row.
    pub(crate) fn push(&self, result: &LineResult) {
        let outcome = result.outcome();
        self.write(&RowOut { event: "line", outcome, result: Some(result), source: "" });
    }

    /// Writes the last row; returns the first write error.
    pub(crate) fn finish(&self, is_complete: bool) -> Result<(), String> {
        let outcome = if is_complete { "complete" } else { "incomplete" };
        self.write(&RowOut { event: "end", outcome, ..RowOut::default() });
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.failure {
            None => Ok(()),
            Some(error) => Err(describe(&self.path, error)),
        }
    }

    fn write(&self, row: &RowOut<'_>) {
        let mut bytes = Vec::new();
        row.push(self.format, &mut bytes);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_none() {
            state.failure = state.file.write_all(&bytes).err();
        }
    }
}

fn describe(path: &Path, error: &io::Error) -> String {
    format!("could not write the report `{}`: {error}", path.display())
}

/// The lines that failed in an earlier run: 16 bytes each.
#[derive(Debug, Default)]
pub(crate) struct FailedLines {
    hasher: RandomState,
    lines: BTreeMap<u64, u64>,
    /// The earlier run came to all lines.
    pub(crate) is_complete: bool,
}

/// A row as far as it matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RowIn {
    event: String,
    outcome: String,
    line: u64,
    command: String,
    source: String,
}

impl FailedLines {
    /// Reads a report, which must be of this file.
    pub(crate) fn read(path: &Path, source: &str) -> Result<Self, Failure> {
        let cannot = |error: io::Error| {
            Failure::other(format!("could not read the report `{}`: {error}", path.display()))
        };
        let mut reader = BufReader::new(File::open(path).map_err(cannot)?);
        let format = Format::of(path);
        let mut failed = Self::default();
        let mut is_first = true;
        if format == Format::Csv {
            Records::next_or_rest(&mut reader, ROW_MAX).map_err(cannot)?;
        }
        while let Some(row) = next_row(&mut reader, format).map_err(cannot)? {
            if is_first && (row.event != "run" || row.source != source) {
                return Err(Failure::usage(format!(
                    "`{}` is not a report of `run` with the file `{source}`",
                    path.display()
                )));
            }
            is_first = false;
            match (row.event.as_str(), row.outcome.as_str()) {
                ("line", "failed") => {
                    let hash = failed.hasher.hash_one(&row.command);
                    failed.lines.insert(row.line, hash);
                }
                ("end", outcome) => failed.is_complete = outcome == "complete",
                _ => {}
            }
        }
        if is_first {
            let message = format!("`{}` is no report of `run`", path.display());
            return Err(Failure::usage(message));
        }
        Ok(failed)
    }

    /// The numbers of the lines that failed.
    pub(crate) fn numbers(&self) -> BTreeSet<u64> {
        self.lines.keys().copied().collect()
    }

    /// Whether a line failed; an error where it is another one by now.
    pub(crate) fn has(&self, line: u64, shown: &str) -> Result<bool, String> {
        match self.lines.get(&line) {
            None => Ok(false),
            Some(hash) if *hash == self.hasher.hash_one(shown) => Ok(true),
            Some(_) => Err("it is not the command that failed according to the report".to_owned()),
        }
    }
}

/// The next row; an incomplete last row is ignored.
fn next_row(reader: &mut impl BufRead, format: Format) -> io::Result<Option<RowIn>> {
    if format == Format::JsonLines {
        let mut line = Vec::new();
        reader.by_ref().take(ROW_MAX).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Ok(None);
        }
        return serde_json::from_slice(&line).map(Some).map_err(io::Error::other);
    }
    let Some(cells) = Records::next(reader, ROW_MAX)? else { return Ok(None) };
    let cell = |index: usize| {
        cells.get(index).map(|cell| String::from_utf8_lossy(cell).into_owned()).unwrap_or_default()
    };
    let command = cell(4);
    let line = cell(2).parse().unwrap_or_default();
    Ok(Some(RowIn { event: cell(0), outcome: cell(1), line, source: command.clone(), command }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(line: u64, exit_code: u8, error: Option<&str>) -> LineResult {
        let command = format!("cp 'a, \"{line}' s3://b");
        LineResult { line, exit_code, command, error: error.map(str::to_owned) }
    }

    #[test]
    fn what_failed_is_found_again_in_both_formats() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["r.jsonl", "r.csv"] {
            let path = folder.path().join(name);
            let report = LineReport::create(&path, "/w/f").unwrap();
            let all = [result(1, 0, None), result(2, 2, None), result(9, 254, Some("no\nway"))];
            for result in &all {
                report.push(result);
            }
            report.finish(true).unwrap();
            let failed = FailedLines::read(&path, "/w/f").unwrap();
            assert!(failed.is_complete);
            let has = |result: &LineResult| failed.has(result.line, &result.command);
            assert_eq!(all.each_ref().map(has), [Ok(false), Ok(false), Ok(true)]);
            assert!(failed.has(9, "another").is_err());
            assert_eq!(FailedLines::read(&path, "/w/g").unwrap_err().status, exit::USAGE);
            let whole = std::fs::read(&path).unwrap();
            std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
            assert!(!FailedLines::read(&path, "/w/f").unwrap().is_complete);
        }
    }

    /// What programs parse.
    #[test]
    fn version_1_looks_like_this() {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str| {
            let path = folder.path().join(name);
            let report = LineReport::create(&path, "/w/f").unwrap();
            report.push(&LineResult { command: "ls s3://b".into(), ..result(3, 1, Some("no")) });
            report.finish(false).unwrap();
            std::fs::read_to_string(path).unwrap()
        };
        assert_eq!(
            written("r.jsonl"),
            "{\"v\":1,\"event\":\"run\",\"source\":\"/w/f\"}\n\
             {\"v\":1,\"event\":\"line\",\"outcome\":\"failed\",\"line\":3,\"exit_code\":1,\
             \"command\":\"ls s3://b\",\"error\":\"no\"}\n\
             {\"v\":1,\"event\":\"end\",\"outcome\":\"incomplete\"}\n"
        );
        assert_eq!(
            written("r.csv"),
            "event,outcome,line,exit_code,command,error\nrun,,,,/w/f,\n\
             line,failed,3,1,ls s3://b,no\nend,incomplete,,,,\n"
        );
    }
}
