//! Reports read back: the names of what failed, one by one.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use s3haul::event::ActionKind;
use s3haul::job::{COLLISION, NameSource, Named, Names};
use s3haul::location::Location;
use s3haul::plan::s3_uri;
use s3haul::{Error, ErrorKind};
use serde::Deserialize;

use super::parts::parts;
use super::records::Records;
use super::row::{COLUMNS, Format, Sides, is_parquet};
use crate::failure::Failure;
use crate::render::json;
use crate::table::{Cell, TableReader};

/// Longest row that is read.
const ROW_MAX: u64 = 4 * 1024 * 1024;

/// What failed in an earlier run.
#[derive(Clone, Debug)]
pub(crate) struct FailedNames {
    path: PathBuf,
    /// The end of the report was read, and it says that the run came to everything.
    is_complete: Arc<AtomicBool>,
}

/// A row as far as it matters here.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct RowIn {
    event: String,
    action: String,
    outcome: String,
    reason: String,
    source: String,
    target: String,
    path_base64: String,
    version_id: String,
}

impl FailedNames {
    /// Looks at the beginning of a report, which must be one of this command.
    pub(crate) fn open(path: &Path, sides: &Sides) -> Result<Self, Failure> {
        if path.metadata().is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
            return Err(Failure::usage(format!(
                "the report `{}` can be read only once, and its beginning is looked at before: \
                 write it to a file",
                path.display()
            )));
        }
        let first = Rows::open(path).and_then(|mut rows| rows.next().transpose())?;
        let Some(first) = first.filter(|row| row.event == "report") else {
            let message = format!("`{}` is no report of s3haul", path.display());
            return Err(Failure::usage(message));
        };
        let found = Sides { command: first.action, source: first.source, target: first.target };
        if found != *sides {
            return Err(Failure::usage(format!(
                "the report `{}` is of `{found}`, and this command is `{sides}`",
                path.display()
            )));
        }
        Ok(Self { path: path.to_owned(), is_complete: Arc::default() })
    }

    /// Whether the report was read to its end and is of a run that came to everything.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Relaxed)
    }
}

impl NameSource for FailedNames {
    fn names(&self) -> s3haul_wire::error::Result<Names> {
        let rows = Rows::open(&self.path)?;
        let is_complete = Arc::clone(&self.is_complete);
        Ok(Box::new(FailedRows { rows, is_complete }))
    }
}

/// The failures among rows.
struct FailedRows {
    rows: Rows,
    is_complete: Arc<AtomicBool>,
}

impl Iterator for FailedRows {
    type Item = s3haul_wire::error::Result<Named>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let row = match self.rows.next()? {
                Ok(row) => row,
                Err(error) => return Some(Err(error)),
            };
            match (row.event.as_str(), row.outcome.as_str()) {
                ("object", "failed" | "not_tried") => {
                    let why = "no such action";
                    return Some(named(&row).ok_or_else(|| self.rows.unreadable(why)));
                }
                ("end", outcome) => {
                    self.is_complete.store(outcome == "complete", Ordering::Relaxed);
                }
                _ => {}
            }
        }
    }
}

fn named(row: &RowIn) -> Option<Named> {
    let action = action_of(&row.action)?;
    let source = match location(&row.source, &row.path_base64)? {
        Location::Object(name) => {
            let version_id = Some(row.version_id.clone()).filter(|id| !id.is_empty());
            Location::Object(name.in_version(version_id))
        }
        source => source,
    };
    let target =
        if row.target.is_empty() { None } else { Some(location(&row.target, &row.path_base64)?) };
    let collides = row.reason == COLLISION;
    Some(Named { action, source, target, collides, expected: None })
}

/// The action of a word.
pub(crate) fn action_of(word: &str) -> Option<ActionKind> {
    ActionKind::ALL.into_iter().find(|action| json::action(*action) == word)
}

/// A file or an object as it is written in a row.
pub(crate) fn location(text: &str, path_base64: &str) -> Option<Location> {
    if text == "-" {
        return Some(Location::Stream);
    }
    if s3_uri::is_s3(text) {
        return s3_uri::parse(text).ok().map(Location::Object);
    }
    if path_base64.is_empty() {
        return Some(Location::Local(text.into()));
    }
    BASE64.decode(path_base64).ok().map(path_of).map(Location::Local)
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// The rows of a report in order.
enum Rows {
    Lines(Lines),
    Parts(Parts),
}

impl Rows {
    fn open(path: &Path) -> s3haul_wire::error::Result<Self> {
        if is_parquet(path) {
            Parts::open(path).map(Self::Parts)
        } else {
            Lines::open(path).map(Self::Lines)
        }
    }

    fn unreadable(&self, why: &str) -> Error {
        match self {
            Self::Lines(lines) => unreadable(&lines.path, lines.number, why),
            Self::Parts(parts) => unreadable(&parts.path, parts.number, why),
        }
    }
}

impl Iterator for Rows {
    type Item = s3haul_wire::error::Result<RowIn>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Lines(lines) => lines.next_row().transpose(),
            Self::Parts(parts) => parts.next_row().transpose(),
        }
    }
}

fn unreadable(path: &Path, number: u64, why: &str) -> Error {
    let path = path.display();
    let message = format!("row {number} of the report `{path}` cannot be understood: {why}");
    Error::new(ErrorKind::Config, message)
}

fn could_not_open(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| Error::local("could not open the report", path, source)
}

/// The rows of the parts of a report.
struct Parts {
    path: PathBuf,
    left: std::vec::IntoIter<PathBuf>,
    reader: Option<TableReader>,
    read: std::vec::IntoIter<RowIn>,
    number: u64,
}

impl Parts {
    fn open(path: &Path) -> s3haul_wire::error::Result<Self> {
        let left = parts(path).map_err(could_not_open(path))?.into_iter();
        let read = Vec::new().into_iter();
        Ok(Self { path: path.to_owned(), left, reader: None, read, number: 0 })
    }

    fn next_row(&mut self) -> s3haul_wire::error::Result<Option<RowIn>> {
        loop {
            if let Some(row) = self.read.next() {
                self.number += 1;
                return Ok(Some(row));
            }
            let Some(reader) = &mut self.reader else {
                let Some(part) = self.left.next() else { return Ok(None) };
                let file = File::open(&part).map_err(could_not_open(&part))?;
                let column = |name: &str| COLUMNS.iter().position(|column| *column == name);
                let reader = TableReader::open(file, column)
                    .map_err(|error| unreadable(&part, 1, &error.to_string()))?;
                self.reader = Some(reader);
                continue;
            };
            let mut rows = Vec::new();
            let read = reader.read(&mut |row, column, cell| {
                if rows.len() <= row {
                    rows.resize_with(row + 1, RowIn::default);
                }
                rows[row].take(COLUMNS[column], cell)
            });
            let wrong = |error| unreadable(&self.path, self.number + 1, &format!("{error}"));
            if read.map_err(wrong)? == 0 {
                self.reader = None;
            }
            self.read = rows.into_iter();
        }
    }
}

impl RowIn {
    /// Takes a cell in; false where it makes no sense.
    fn take(&mut self, column: &str, cell: Cell<'_>) -> bool {
        let place = match column {
            "event" => &mut self.event,
            "action" => &mut self.action,
            "outcome" => &mut self.outcome,
            "reason" => &mut self.reason,
            "source" => &mut self.source,
            "target" => &mut self.target,
            "path_base64" => &mut self.path_base64,
            "version_id" => &mut self.version_id,
            _ => return true,
        };
        match cell {
            Cell::Text(text) => text.clone_into(place),
            Cell::Nothing => {}
            Cell::Number(_) | Cell::Flag(_) => return false,
        }
        true
    }
}

/// The rows of a report of lines. An incomplete last row is ignored: the command that wrote it was
/// interrupted.
struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    format: Format,
    /// Of each column the one that it is for us; CSV only.
    columns: Vec<Option<usize>>,
    number: u64,
}

impl Lines {
    fn open(path: &Path) -> s3haul_wire::error::Result<Self> {
        let file = File::open(path).map_err(could_not_open(path))?;
        let format = Format::of(path);
        let reader = BufReader::with_capacity(64 * 1024, file);
        let mut rows =
            Self { path: path.to_owned(), reader, format, columns: Vec::new(), number: 0 };
        if format == Format::Csv {
            let names = rows.record()?.unwrap_or_default();
            let column = |name: &Vec<u8>| COLUMNS.iter().position(|c| c.as_bytes() == *name);
            rows.columns = names.iter().map(column).collect();
        }
        Ok(rows)
    }

    fn next_row(&mut self) -> s3haul_wire::error::Result<Option<RowIn>> {
        match self.format {
            Format::JsonLines => self.json_row(),
            Format::Csv => self.csv_row(),
        }
    }

    fn json_row(&mut self) -> s3haul_wire::error::Result<Option<RowIn>> {
        let mut line = Vec::new();
        self.number += 1;
        let read = (&mut self.reader).take(ROW_MAX).read_until(b'\n', &mut line);
        read.map_err(|error| self.failed(error))?;
        if line.last() != Some(&b'\n') {
            return match line.len() as u64 {
                ROW_MAX => Err(self.unreadable("it is too long")),
                _ => Ok(None),
            };
        }
        serde_json::from_slice(&line).map(Some).map_err(|error| self.unreadable(&error.to_string()))
    }

    fn csv_row(&mut self) -> s3haul_wire::error::Result<Option<RowIn>> {
        let Some(cells) = self.record()? else { return Ok(None) };
        let mut texts: [Cow<'_, str>; COLUMNS.len()] = Default::default();
        for (cell, column) in cells.iter().zip(&self.columns) {
            if let Some(column) = column {
                texts[*column] = String::from_utf8_lossy(cell);
            }
        }
        let [event, action, outcome, reason, _, _, source, target, _, path_base64, version_id] =
            texts.map(Cow::into_owned);
        Ok(Some(RowIn { event, action, outcome, reason, source, target, path_base64, version_id }))
    }

    fn record(&mut self) -> s3haul_wire::error::Result<Option<Vec<Vec<u8>>>> {
        self.number += 1;
        let record = Records::next(&mut self.reader, ROW_MAX);
        record.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::local("could not read the report", &self.path, error)
    }

    fn unreadable(&self, why: &str) -> Error {
        unreadable(&self.path, self.number, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::row::Row;
    use crate::report::writer::ReportWriter;
    use proptest::prelude::*;
    use s3haul::event::{ObjectEvent, Outcome};
    use s3haul::location::ObjectName;

    fn write(name: &str, folder: &Path, events: &[ObjectEvent]) -> PathBuf {
        let path = folder.join(name);
        let report = ReportWriter::create(&path, &sides()).unwrap();
        for event in events {
            report.push(&Row::of(event));
        }
        report.finish(true).unwrap();
        path
    }

    fn sides() -> Sides {
        Sides { command: "cp".into(), source: "/w".into(), target: "s3://b,\"x\"".into() }
    }

    fn event(path: PathBuf, key: &str, outcome: Outcome) -> ObjectEvent {
        let target = Some(Location::Object(ObjectName::new("b", key)));
        let (action, source) = (ActionKind::Upload, Location::Local(path));
        ObjectEvent {
            action,
            is_move: false,
            source,
            target,
            bytes: 1,
            reason: None,
            expected: None,
            outcome,
        }
    }

    fn failed(path: PathBuf, key: &str) -> ObjectEvent {
        event(path, key, Outcome::Failed(Error::new(ErrorKind::Local, "a \"bad\",\r\nline")))
    }

    proptest! {
        #[test]
        fn what_failed_comes_back_as_it_was(
            names in prop::collection::vec((prop::collection::vec(1_u8.., 1..9), ".{0,9}"), 0..9),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let expected: Vec<_> = names.into_iter().map(|(bytes, key)| {
                let path = Path::new("/w").join(path_of(bytes));
                (path, format!("k{key}\n,\"{key}"))
            }).collect();
            let mut events: Vec<_> =
                expected.iter().map(|(path, key)| failed(path.clone(), key)).collect();
            events.push(event("/w/done".into(), "done", Outcome::Done));
            for name in ["r.jsonl", "r.csv", "r.parquet"] {
                let path = write(name, folder.path(), &events);
                let report = FailedNames::open(&path, &sides()).unwrap();
                prop_assert!(!report.is_complete());
                let found: Vec<_> = report.names().unwrap().map(|named| {
                    let Named { action, source, target, .. } = named.unwrap();
                    assert_eq!(action, ActionKind::Upload);
                    match (source, target) {
                        (Location::Local(path), Some(Location::Object(name))) => (path, name.key),
                        other => panic!("{other:?}"),
                    }
                }).collect();
                prop_assert_eq!(&found, &expected);
                prop_assert!(report.is_complete());
            }
        }
    }

    #[test]
    fn versions_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let source = |version: Option<&str>| {
            let name = ObjectName::new("b", "k,");
            Location::Object(name.in_version(version.map(str::to_owned)))
        };
        let failed = |version| ObjectEvent {
            action: ActionKind::Delete,
            source: source(version),
            target: None,
            ..failed("/w".into(), "")
        };
        let events = [failed(Some("v,1")), failed(None)];
        for name in ["r.jsonl", "r.csv", "r.parquet"] {
            let path = write(name, folder.path(), &events);
            let report = FailedNames::open(&path, &sides()).unwrap();
            let found: Vec<_> =
                report.names().unwrap().map(|named| named.unwrap().source).collect();
            assert_eq!(found, [source(Some("v,1")), source(None)], "{name}");
        }
    }

    #[test]
    fn a_report_that_breaks_off_is_read_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let events = ["a", "b"].map(|name| failed(Path::new("/w").join(name), name));
        for name in ["r.jsonl", "r.csv"] {
            let path = write(name, folder.path(), &events);
            let whole = std::fs::read(&path).unwrap();
            for length in 0..whole.len() {
                std::fs::write(&path, &whole[..length]).unwrap();
                let Ok(report) = FailedNames::open(&path, &sides()) else { continue };
                let found = report.names().unwrap().map(Result::unwrap).count();
                assert!(found <= 2 && !report.is_complete(), "{name} {length}");
            }
        }
    }

    /// What another program made of a report, in one file.
    #[test]
    fn a_part_may_be_a_report_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = write("r.parquet", folder.path(), &[failed("/w/a".into(), "a")]);
        let parts = parts(&path).unwrap();
        assert_eq!(parts.len(), 2);
        assert!(FailedNames::open(&parts[0], &sides()).is_ok());
        let failure = FailedNames::open(&parts[1], &sides()).unwrap_err();
        assert!(failure.message.contains("is no report of s3haul"), "{failure:?}");
        std::fs::write(&parts[1], "broken").unwrap();
        let report = FailedNames::open(&path, &sides()).unwrap();
        let error = report.names().unwrap().next().unwrap().unwrap_err();
        assert!(error.to_string().contains("part-000001.parquet` cannot be understood"), "{error}");
    }

    #[test]
    fn the_report_of_another_command_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = write("r.csv", folder.path(), &[]);
        let other = Sides { target: "s3://c".into(), ..sides() };
        let failure = FailedNames::open(&path, &other).unwrap_err();
        assert!(failure.message.contains("is of `cp /w s3://b,\"x\"`"), "{}", failure.message);
        assert!(failure.message.contains("this command is `cp /w s3://c`"));
        std::fs::write(&path, "a,b\n1,2\n").unwrap();
        assert!(FailedNames::open(&path, &sides()).unwrap_err().message.contains("no report"));
    }

    #[test]
    fn an_invalid_row_is_reported_with_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = write("r.jsonl", folder.path(), &[]);
        let text =
            std::fs::read_to_string(&path).unwrap().replace("{\"v\":1,\"event\":\"end\"", "{");
        std::fs::write(&path, text).unwrap();
        let report = FailedNames::open(&path, &sides()).unwrap();
        let error = report.names().unwrap().next().unwrap().unwrap_err();
        assert!(error.to_string().contains("row 2 of the report"), "{error}");
    }
}
