//! Manifests that are text: lines, comma-separated values, JSON lines, and reports in both forms.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use s3haul::job::{ManifestEntry, Version};
use s3haul::plan::s3_uri;
use s3haul::{Error, ErrorKind};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::detect::TextFormat;
use super::row::{Column, Row, TEXT_MAX, TOO_LONG, check_lengths, named};
use super::url;
use crate::render::listing::quoted_address;
use crate::report::Records;
use crate::settings::DryRunOf;

/// Longest row that is read.
const ROW_MAX: u64 = 4 * 1024 * 1024;

/// Where text comes from.
pub(super) type Text = Box<dyn BufRead + Send>;

/// The entries of a manifest, one by one. After an error there are no more.
pub(super) struct TextEntries {
    text: Text,
    shape: Shape,
    keys: KeyForm,
    /// How the manifest is called in errors.
    name: String,
    number: u64,
    is_over: bool,
    dry_run_of: DryRunOf,
    /// Cleared by the first row of a report, and set by the last one of a command that came to its
    /// end. Rows chosen from a report have neither.
    is_complete: Arc<AtomicBool>,
}

/// How a row is read.
#[derive(Debug, PartialEq, Eq)]
enum Shape {
    Lines,
    Guessed,
    Jsonl,
    ReportJsonl,
    /// Comma-separated values whose first row has not been read.
    Csv,
    Cells(Vec<Option<Column>>),
    ReportCsv,
    ReportCells(ReportColumns),
}

/// How keys are written in comma-separated values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyForm {
    /// As they are.
    Plain,
    /// URL-encoded.
    Encoded,
    /// One of both: a key that only the former can be decides about all that follow.
    Unclear,
}

/// Where a report has what matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReportColumns {
    /// How many there are.
    count: usize,
    event: usize,
    action: Option<usize>,
    outcome: usize,
    source: usize,
    target: usize,
    /// Reports of before there were versions have none.
    version_id: Option<usize>,
}

/// Why a row cannot be read.
enum Trouble {
    Io(io::Error),
    Row(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

type Read1<T> = Result<Option<T>, Trouble>;

impl TextEntries {
    /// Reads a text from its beginning.
    pub(super) fn new(text: Text, format: TextFormat, name: &str) -> Self {
        let shape = match format {
            TextFormat::Lines => Shape::Lines,
            TextFormat::Guessed => Shape::Guessed,
            TextFormat::Csv | TextFormat::S3Batch => Shape::Csv,
            TextFormat::Jsonl => Shape::Jsonl,
            TextFormat::ReportCsv => Shape::ReportCsv,
            TextFormat::ReportJsonl => Shape::ReportJsonl,
        };
        let is_batch = format == TextFormat::S3Batch;
        let keys = if is_batch { KeyForm::Encoded } else { KeyForm::Unclear };
        let name = name.to_owned();
        Self {
            text,
            shape,
            keys,
            name,
            number: 0,
            is_over: false,
            dry_run_of: None,
            is_complete: Arc::default(),
        }
    }

    /// Takes keys of comma-separated values without names as they were found to be written.
    pub(super) fn with_keys(self, keys: KeyForm) -> Self {
        Self { keys, ..self }
    }

    /// Takes rows of a dry run only if they are of these actions.
    pub(super) fn with_dry_run_of(self, dry_run_of: DryRunOf) -> Self {
        Self { dry_run_of, ..self }
    }

    /// Notes there whether a report is of a command that came to its end.
    pub(super) fn noting_ends(self, is_complete: Arc<AtomicBool>) -> Self {
        Self { is_complete, ..self }
    }

    /// Reads comma-separated values with these columns and no line of names, with URL-encoded keys.
    pub(super) fn of_columns(text: Text, columns: Vec<Option<Column>>, name: &str) -> Self {
        let (shape, keys) = (Shape::Cells(columns), KeyForm::Encoded);
        Self { shape, keys, ..Self::new(text, TextFormat::Csv, name) }
    }

    /// Looks through comma-separated values for what shows how keys are written. The error is
    /// about the first row that may be either where none does.
    pub(super) fn key_form(mut self) -> s3haul_wire::error::Result<KeyForm> {
        let mut unclear = None;
        while let Ok(Some(cells)) = self.record() {
            let found = self.cells_entry(&cells);
            if self.keys != KeyForm::Unclear {
                return Ok(self.keys);
            }
            if let (Err(why), None) = (found, &unclear) {
                unclear = Some(self.describe(Trouble::Row(why)));
            }
        }
        unclear.map_or(Ok(self.keys), Err)
    }

    /// The next entry; rows that name nothing are passed over.
    fn next_entry(&mut self) -> Read1<ManifestEntry> {
        loop {
            let found = match &self.shape {
                Shape::Lines => self.line()?.map(|line| line_entry(&line)),
                Shape::Guessed => self.line()?.map(|line| guessed_entry(&line)),
                Shape::Jsonl => self.line()?.map(|line| json_entry(&line)),
                Shape::ReportJsonl => self.line()?.map(|line| self.report_entry(&line)),
                _ => self.record()?.map(|cells| self.cells_entry(&cells)),
            };
            match found {
                None => return Ok(None),
                Some(Ok(None)) => {}
                Some(Ok(Some(entry))) => {
                    check_lengths(&entry).map_err(Trouble::Row)?;
                    return Ok(Some(entry));
                }
                Some(Err(why)) => return Err(Trouble::Row(why)),
            }
        }
    }

    /// The next line without its end.
    fn line(&mut self) -> Read1<String> {
        let mut line = Vec::new();
        self.number += 1;
        (&mut self.text).take(ROW_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.len() as u64 == ROW_MAX {
            return Err(Trouble::Row("it is too long".to_owned()));
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        text_of(line).map(Some)
    }

    /// The next row of comma-separated values.
    fn record(&mut self) -> Read1<Vec<String>> {
        self.number += 1;
        let found = match self.shape {
            Shape::ReportCsv | Shape::ReportCells(_) => {
                Records::next_ended(&mut self.text, ROW_MAX)?
            }
            _ => Records::next_or_rest(&mut self.text, ROW_MAX)?,
        };
        let Some(cells) = found else { return Ok(None) };
        cells.into_iter().map(text_of).collect::<Result<_, _>>().map(Some)
    }

    /// Object named by a row of cells; the first row may be a header.
    fn cells_entry(&mut self, cells: &[String]) -> Result<Option<ManifestEntry>, String> {
        if cells.len() == 1 && cells[0].is_empty() {
            return Ok(None);
        }
        match &self.shape {
            Shape::Csv => {
                let may_have_names = self.keys != KeyForm::Encoded;
                let (columns, has_names) = columns_of(cells, may_have_names)?;
                self.shape = Shape::Cells(columns);
                if !has_names {
                    return self.cells_entry(cells);
                }
                self.keys = KeyForm::Plain;
                Ok(None)
            }
            Shape::ReportCsv => {
                self.shape = Shape::ReportCells(ReportColumns::of(cells)?);
                Ok(None)
            }
            Shape::ReportCells(columns) => {
                let ReportColumns { count, event, action, outcome, source, target, version_id } =
                    *columns;
                check_count(cells, count)?;
                let cell = |index: usize| cells[index].as_str();
                self.note_ends(cell(event), cell(outcome));
                let version_id = version_id.map_or("", cell);
                refuse_dry_run([cell(outcome), action.map_or("", cell)], self.dry_run_of)?;
                acted_upon(cell(event), cell(outcome), [cell(source), cell(target)], version_id)
            }
            Shape::Cells(columns) => {
                check_count(cells, columns.len())?;
                let mut named = cells.iter().zip(columns);
                if let Some((key, _)) = named.find(|(_, column)| **column == Some(Column::Key)) {
                    self.keys = self.keys.seen(key)?;
                }
                cells_entry(cells, columns, self.keys).map(Some)
            }
            Shape::Lines | Shape::Guessed | Shape::Jsonl | Shape::ReportJsonl => Ok(None),
        }
    }

    fn report_entry(&self, line: &str) -> Named {
        let Some(json) = json_row(line)? else { return Ok(None) };
        let event = json.event.unwrap_or_default();
        let is_of_report = match event.as_str() {
            "object" => !json.outcome.is_empty(),
            "report" | "warning" | "fatal" | "end" => true,
            _ => false,
        };
        if !is_of_report {
            return Err(NO_REPORT.to_owned());
        }
        refuse_dry_run([&json.outcome, &json.action], self.dry_run_of)?;
        self.note_ends(&event, &json.outcome);
        let version_id = json.version_id.unwrap_or_default();
        acted_upon(&event, &json.outcome, [&json.source, &json.target], &version_id)
    }

    fn note_ends(&self, event: &str, outcome: &str) {
        match event {
            "report" => self.is_complete.store(false, Ordering::Relaxed),
            "end" => self.is_complete.store(outcome == "complete", Ordering::Relaxed),
            _ => {}
        }
    }

    fn describe(&self, trouble: Trouble) -> Error {
        let name = &self.name;
        match trouble {
            Trouble::Io(error) => {
                let message = format!("could not read the manifest `{name}`: {error}");
                Error::new(ErrorKind::Local, message)
            }
            Trouble::Row(why) => {
                let number = self.number;
                let unit = match self.shape {
                    Shape::Lines | Shape::Guessed | Shape::Jsonl | Shape::ReportJsonl => "line",
                    _ => "row",
                };
                let message =
                    format!("{unit} {number} of the manifest `{name}` cannot be understood: {why}");
                Error::new(ErrorKind::Config, message)
            }
        }
    }
}

impl Iterator for TextEntries {
    type Item = s3haul_wire::error::Result<ManifestEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let found = self.next_entry().map_err(|trouble| self.describe(trouble)).transpose();
        self.is_over = !matches!(found, Some(Ok(_)));
        found
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, Trouble> {
    if bytes.contains(&0) {
        let message = "it has a NUL character: keys are separated by line breaks, in UTF-8";
        return Err(Trouble::Row(message.to_owned()));
    }
    String::from_utf8(bytes).map_err(|_| Trouble::Row("it is not UTF-8".to_owned()))
}

fn check_count(cells: &[String], expected: usize) -> Result<(), String> {
    if cells.len() == expected {
        return Ok(());
    }
    Err(format!("it has {} cells and not {expected}", cells.len()))
}

type Named = Result<Option<ManifestEntry>, String>;

fn line_entry(line: &str) -> Named {
    if line.is_empty() {
        return Ok(None);
    }
    named(quoted_address(line).as_deref().unwrap_or(line))
        .map(Some)
        .ok_or_else(|| "it is no address of an object".to_owned())
}

/// The same of a line that may be of something else than a list of keys: a quoted cell, or a row of
/// cells with tabs between them.
fn guessed_entry(line: &str) -> Named {
    if line.starts_with('"') && quoted_address(line).is_none() {
        return Err("it begins with a quote, as comma-separated values and JSON do: say \
                    --from-format csv, or lines if the quote is of the key"
            .to_owned());
    }
    if line.contains('\t') {
        return Err("it has a tab, as rows of a listing do: have it written with --format jsonl, \
                    or say --from-format lines if the tab is of the key"
            .to_owned());
    }
    line_entry(line)
}

impl KeyForm {
    /// What is known once a key was seen.
    fn seen(self, key: &str) -> Result<Self, String> {
        match self {
            Self::Unclear if url::is_plain(key) => Ok(Self::Plain),
            Self::Unclear if url::is_unclear(key) => Err(format!(
                "`{key}` may be a key as it is, or URL-encoded as S3 Batch Operations has it: put \
                 a line of names such as `bucket,key` first, or say --from-format s3-batch"
            )),
            known => Ok(known),
        }
    }
}

/// Columns of comma-separated values by their first row, and whether that holds their names.
fn columns_of(
    first: &[String],
    may_have_names: bool,
) -> Result<(Vec<Option<Column>>, bool), String> {
    let columns: Vec<_> = first.iter().map(|name| Column::of(name)).collect();
    if may_have_names && columns.contains(&Some(Column::Key)) {
        refuse_twice(first, Column::of)?;
        return Ok((columns, true));
    }
    if !(2..=3).contains(&first.len()) {
        let message = "without a line of names, of which one is `key`, rows have a bucket, a key \
                       and perhaps a version";
        return Err(message.to_owned());
    }
    // S3 Batch Operations wants versions in all rows or in none.
    let mut columns = vec![Some(Column::Bucket), Some(Column::Key), Some(Column::VersionId)];
    columns.truncate(first.len());
    Ok((columns, false))
}

fn cells_entry(
    cells: &[String],
    columns: &[Option<Column>],
    keys: KeyForm,
) -> Result<ManifestEntry, String> {
    let mut row = Row::default();
    for (cell, column) in cells.iter().zip(columns) {
        let Some(column) = column else { continue };
        let is_understood = match (column, keys) {
            (Column::Key, KeyForm::Encoded) => {
                url::decoded(cell).is_some_and(|key| row.set(Column::Key, &key))
            }
            _ => row.set(*column, cell),
        };
        if !is_understood && cell.len() > TEXT_MAX {
            return Err(format!("it has a cell {TOO_LONG}"));
        }
        if !is_understood {
            return Err(format!("`{cell}` is not {}", column.meaning()));
        }
    }
    Ok(row.into_entry())
}

/// Refuses names of which two mean the same column: which of them counts would be a guess.
pub(super) fn refuse_twice<T: PartialEq>(
    names: &[impl AsRef<str>],
    meaning: impl Fn(&str) -> Option<T>,
) -> Result<(), String> {
    let meanings: Vec<_> = names.iter().map(|name| meaning(name.as_ref())).collect();
    let is_twice = |at: &usize| meanings[*at].is_some() && meanings[..*at].contains(&meanings[*at]);
    match (0..names.len()).find(is_twice) {
        Some(at) => Err(format!("it has the column `{}` twice", names[at].as_ref())),
        None => Ok(()),
    }
}

impl ReportColumns {
    fn of(names: &[String]) -> Result<Self, String> {
        refuse_twice(names, |name| Some(name.to_owned()))?;
        let column = |wanted: &str| {
            let found = names.iter().position(|name| name == wanted);
            found.ok_or_else(|| format!("a report has a column `{wanted}`"))
        };
        Ok(Self {
            count: names.len(),
            event: column("event")?,
            action: column("action").ok(),
            outcome: column("outcome")?,
            source: column("source")?,
            target: column("target")?,
            version_id: column("version_id").ok(),
        })
    }
}

/// Content of a row of JSON.
#[derive(Default)]
struct JsonRow {
    event: Option<String>,
    action: String,
    outcome: String,
    /// A warning that something is missing.
    has_failed: bool,
    source: String,
    target: String,
    bucket: Option<String>,
    key: Option<String>,
    version_id: Option<String>,
    is_latest: Option<bool>,
    is_delete_marker: Option<bool>,
    size: Option<u64>,
    last_modified: Option<String>,
    etag: Option<String>,
    /// `None` where there is no such field, empty where it is null.
    storage_class: Option<String>,
}

/// A field of a row of JSON. Names of columns are spelled in any way in which tables spell them.
#[derive(Clone, Copy, PartialEq)]
enum JsonField {
    Event,
    Action,
    Outcome,
    Failed,
    Source,
    Target,
    Of(Column),
    Other,
}

impl<'de> Deserialize<'de> for JsonField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(JsonFieldVisitor)
    }
}

struct JsonFieldVisitor;

impl Visitor<'_> for JsonFieldVisitor {
    type Value = JsonField;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<JsonField, E> {
        Ok(match name {
            "event" => JsonField::Event,
            "action" => JsonField::Action,
            "outcome" => JsonField::Outcome,
            "failed" => JsonField::Failed,
            "source" => JsonField::Source,
            "target" => JsonField::Target,
            _ => Column::of(name).map_or(JsonField::Other, JsonField::Of),
        })
    }
}

impl<'de> Deserialize<'de> for JsonRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(JsonRowVisitor)
    }
}

struct JsonRowVisitor;

impl<'de> Visitor<'de> for JsonRowVisitor {
    type Value = JsonRow;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<JsonRow, M::Error> {
        let mut row = JsonRow::default();
        let mut seen: Vec<JsonField> = Vec::with_capacity(16);
        while let Some(field) = map.next_key()? {
            if field != JsonField::Other {
                if seen.contains(&field) {
                    return Err(M::Error::custom("it has one field twice"));
                }
                seen.push(field);
            }
            match field {
                JsonField::Event => row.event = map.next_value()?,
                JsonField::Action => row.action = text(&mut map)?,
                JsonField::Outcome => row.outcome = text(&mut map)?,
                // Others may call a number so.
                JsonField::Failed => row.has_failed = map.next_value::<Value>()? == true,
                JsonField::Source => row.source = text(&mut map)?,
                JsonField::Target => row.target = text(&mut map)?,
                JsonField::Of(Column::Bucket) => row.bucket = map.next_value()?,
                JsonField::Of(Column::Key) => row.key = map.next_value()?,
                JsonField::Of(Column::VersionId) => row.version_id = map.next_value()?,
                JsonField::Of(Column::IsLatest) => row.is_latest = map.next_value()?,
                JsonField::Of(Column::IsDeleteMarker) => row.is_delete_marker = map.next_value()?,
                JsonField::Of(Column::Size) => row.size = map.next_value()?,
                JsonField::Of(Column::LastModified) => row.last_modified = map.next_value()?,
                JsonField::Of(Column::Etag) => row.etag = map.next_value()?,
                JsonField::Of(Column::StorageClass) => row.storage_class = Some(text(&mut map)?),
                JsonField::Other => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(row)
    }
}

/// A text; empty for null.
fn text<'de, M: MapAccess<'de>>(map: &mut M) -> Result<String, M::Error> {
    Ok(map.next_value::<Option<String>>()?.unwrap_or_default())
}

fn json_row(line: &str) -> Result<Option<JsonRow>, String> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    // A list would be taken for the fields in their order.
    if !line.trim_start().starts_with('{') {
        return Err(json_problem(line));
    }
    serde_json::from_str(line).map(Some).map_err(|_| json_problem(line))
}

/// What is wrong with a line that is no row of JSON, in words of manifests.
fn json_problem(line: &str) -> String {
    let fields = match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return "it is not a JSON object".to_owned(),
        Err(error) if error.is_eof() => {
            return "the JSON object is cut off at the end of the line".to_owned();
        }
        Err(error) => return format!("it is not JSON, from character {} on", error.column()),
    };
    let wrong = fields.iter().find_map(|(name, value)| {
        let meaning = wrong_field(name, value)?;
        Some(format!("`{value}` is not {meaning}"))
    });
    wrong.unwrap_or_else(|| "it has one field twice".to_owned())
}

/// What the value of a field should be; `None` if it is that, or if the field does not matter.
fn wrong_field(name: &str, value: &Value) -> Option<&'static str> {
    let is_absent = value.is_null();
    match name {
        "event" | "action" | "outcome" | "source" | "target" => {
            (!value.is_string() && !is_absent).then_some("a text")
        }
        _ => {
            let column = Column::of(name)?;
            let is_right = match column {
                Column::IsLatest | Column::IsDeleteMarker => value.is_boolean(),
                Column::Size => value.is_u64(),
                _ => value.is_string(),
            };
            (!is_right && !is_absent).then(|| column.meaning())
        }
    }
}

/// The events of `--json` that name an object which is there.
const EVENTS: [&str; 4] = ["listed", "object_head", "tags", "archive"];

/// What is wrong with a line of `--json`, or of something else.
const NO_REPORT: &str = "it is no row of a report of objects, which has an `event` and an \
                         `outcome`: write one with --report";

fn json_entry(line: &str) -> Named {
    let Some(json) = json_row(line)? else { return Ok(None) };
    if json.event.as_deref() == Some("warning") && !json.has_failed {
        return Ok(None);
    }
    if let Some(event) = json.event.as_deref().filter(|event| !EVENTS.contains(event)) {
        return no_object(event, !json.outcome.is_empty()).map_or(Ok(None), Err);
    }
    let key = json.key.ok_or("it has no `key`")?;
    let mut row = Row {
        bucket: json.bucket,
        key,
        version_id: json.version_id.unwrap_or_default(),
        is_latest: json.is_latest,
        is_delete_marker: json.is_delete_marker,
        size: json.size,
        etag: json.etag.unwrap_or_default(),
        storage_class: json.storage_class,
        ..Row::default()
    };
    let time = json.last_modified.unwrap_or_default();
    if !row.set(Column::LastModified, &time) {
        return Err(format!("`{time}` is not {}", Column::LastModified.meaning()));
    }
    Ok(Some(row.into_entry()))
}

/// What is wrong with an event that names no object which is there. Nothing with the totals of a
/// listing, at its end.
fn no_object(event: &str, has_outcome: bool) -> Option<String> {
    Some(match event {
        "listing_summary" => return None,
        "object" if has_outcome => "it is a row of a report: say --from-format report".to_owned(),
        "object" => NO_REPORT.to_owned(),
        "error" | "fatal" | "warning" => format!(
            "it is the event `{event}`, so that the listing did not come to its end, or lacks \
             something"
        ),
        "prefix" => "it is a prefix, and no object: have them listed with --recursive".to_owned(),
        _ => format!("it is the event `{event}`, which names no object"),
    })
}

/// Refuses what was not done, where it would be taken for done: objects that were never copied
/// would be removed.
fn refuse_dry_run([outcome, action]: [&str; 2], dry_run_of: DryRunOf) -> Result<(), String> {
    if outcome != "dry_run" || dry_run_of.is_none_or(|actions| actions.contains(&action)) {
        return Ok(());
    }
    Err("the report is of a dry run of something else, so that nothing of it was done".to_owned())
}

/// The object of a row of a report. What failed or was skipped was not done, and is left out:
/// removing what was to be copied before would lose it. What was done to a version was not done to
/// the object that is current by now.
fn acted_upon(event: &str, outcome: &str, sides: [&str; 2], version_id: &str) -> Named {
    if event != "object" || !matches!(outcome, "done" | "dry_run") {
        return Ok(None);
    }
    let address = sides.into_iter().find(|text| s3_uri::is_s3(text));
    let address = address.ok_or_else(|| "it names no object of S3".to_owned())?;
    let version = if version_id.is_empty() { Version::Current } else { Version::Named };
    Ok(line_entry(address)?.map(|entry| ManifestEntry { version, ..entry }))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
