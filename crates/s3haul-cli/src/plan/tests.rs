//! Plans as they are written and as other programs write them back.

use std::path::Path;

use proptest::prelude::*;
use s3haul::event::{ActionKind, ObjectEvent, Outcome};
use s3haul::location::{Location, ObjectName};
use s3haul::plan::expected::{Expected, State, TargetState};
use s3haul_wire::units::RequestCounts;

use super::row::{Column, JOB};
use super::{PlanFile, PlanWriter};
use crate::table::{Cell, ColumnKind, ColumnSpec, TableWriter};

fn state(is_object: bool) -> impl Strategy<Value = State> {
    let version = prop::option::of("[a-z0-9]{1,8}");
    let class = "(GLACIER)?";
    (0..1_u64 << 62, any::<i64>(), "[0-9a-f]{1,32}(-[0-9]{1,4})?", version, class).prop_map(
        move |(size, modified_ns, etag, version_id, storage_class)| {
            if !is_object {
                return State { size, modified_ns, ..State::default() };
            }
            State { size, modified_ns, etag: format!("\"{etag}\""), version_id, storage_class }
        },
    )
}

fn event() -> impl Strategy<Value = ObjectEvent> {
    let action = prop::sample::select(ActionKind::ALL.to_vec());
    let key = "[^/\u{0}]([^\u{0}]{0,20}[^/\u{0}])?";
    let counts = (0..9_u64, 0..9_u64, 0..9_u64);
    let target = prop::option::of(state(true));
    (action, key, state(true), state(false), target, counts, any::<bool>()).prop_map(
        |(action, key, object, file, target, counts, is_reasoned)| {
            let local = || Location::Local(format!("/w/{key}").into());
            let remote = |version| {
                Location::Object(ObjectName::new("bucket", key.clone()).in_version(version))
            };
            let (source, source_state) = match action {
                ActionKind::Upload => (local(), file),
                _ => (remote(object.version_id.clone()), object),
            };
            let (target, target_state) = match action {
                ActionKind::Upload | ActionKind::Copy => (Some(remote(None)), target),
                ActionKind::Download => (Some(local()), None),
                _ => (None, None),
            };
            let target_state = match (&target, target_state) {
                (None, _) => TargetState::Unknown,
                (Some(_), None) => TargetState::Missing,
                (Some(_), Some(state)) => TargetState::Found(state),
            };
            let mut expected = Expected::new(source_state, target_state);
            let (write, read, delete) = counts;
            expected.requests = RequestCounts { write, read, delete };
            ObjectEvent {
                action,
                is_move: false,
                source,
                target,
                bytes: expected.source.size,
                reason: is_reasoned.then_some("size"),
                expected: Some(expected),
                outcome: Outcome::DryRun,
            }
        },
    )
}

fn rows(path: &Path) -> Result<usize, String> {
    let plan = PlanFile::open(path).map_err(|error| error.to_string())?;
    let rows = plan.rows().map_err(|error| error.to_string())?;
    rows.map(|row| row.map_err(|error| error.to_string()))
        .collect::<Result<Vec<_>, _>>()
        .map(|rows| rows.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(events in prop::collection::vec(event(), 0..40)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.parquet");
        let writer = PlanWriter::create(&path, "{\"a\":1}").unwrap();
        for event in &events {
            writer.push(event);
        }
        prop_assert!(!path.exists(), "it is not complete yet");
        prop_assert_eq!(writer.finish().unwrap(), events.len() as u64);
        let plan = PlanFile::open(&path).unwrap();
        prop_assert_eq!(plan.job(), Some("{\"a\":1}"));
        let rows: Vec<_> = plan.rows().unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(rows.len(), events.len());
        for (row, event) in rows.into_iter().zip(&events) {
            prop_assert_eq!(row.action, event.action);
            prop_assert_eq!(&row.source, &event.source);
            prop_assert_eq!(&row.target, &event.target);
            prop_assert_eq!(&row.reason, event.reason.unwrap_or_default());
            prop_assert_eq!(Some(&row.expected), event.expected.as_ref());
        }
    }
}

/// Writes a table of one row, as another program might; `cell` gives what another one has there,
/// and nothing leaves the column out.
fn table(path: &Path, cell: impl Fn(Column, Cell<'static>) -> Option<Cell<'static>>) {
    let usual = |column| match column {
        Column::Action => Cell::Text("upload"),
        Column::Source => Cell::Text("/w/k"),
        Column::Target => Cell::Text("s3://bucket/k"),
        Column::TargetState => Cell::Text("missing"),
        Column::Job => Cell::Text("{}"),
        Column::Reason
        | Column::SourceEtag
        | Column::SourceVersion
        | Column::SourceClass
        | Column::TargetEtag
        | Column::TargetVersion
        | Column::TargetClass => Cell::Text(""),
        _ => Cell::Number(0),
    };
    let cells = Column::ALL.into_iter();
    let cells: Vec<_> =
        cells.filter_map(|column| Some((column, cell(column, usual(column))?))).collect();
    let spec = |(column, cell): &(Column, Cell<'static>)| {
        let kind = match cell {
            Cell::Text(_) | Cell::Nothing => ColumnKind::Text,
            Cell::Number(_) => ColumnKind::Number,
            Cell::Flag(_) => ColumnKind::Flag,
        };
        ColumnSpec { name: column.name(), kind, is_optional: true }
    };
    let specs = cells.iter().map(spec).collect();
    let file = std::fs::File::create(path).unwrap();
    let mut table = TableWriter::new(file, "other", specs, &[]).unwrap();
    table.push(|number| cells[number].1).unwrap();
    table.finish().unwrap();
}

#[test]
fn tables_of_other_programs_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.parquet");
    // Any column may be optional, and the job is in its column where the footer has none.
    table(&path, |_, cell| Some(cell));
    assert_eq!(rows(&path), Ok(1));
    assert_eq!(PlanFile::open(&path).unwrap().job(), Some("{}"));
    // Texts without a value are empty.
    table(&path, |column, cell| match column {
        Column::Reason | Column::SourceEtag | Column::TargetVersion => Some(Cell::Nothing),
        _ => Some(cell),
    });
    assert_eq!(rows(&path), Ok(1));
    for left_out in Column::ALL {
        table(&path, |column, cell| (column != left_out).then_some(cell));
        let said = match left_out {
            Column::Job => Err("does not say which job it is of".to_owned()),
            _ if left_out.is_needed() => Err(format!("no column `{}`", left_out.name())),
            _ => Ok(1),
        };
        match (rows(&path), said) {
            (Err(error), Err(said)) => assert!(error.contains(&said), "{error}"),
            (read, said) => assert_eq!(read, said, "without {left_out:?}"),
        }
    }
    let wrong: [(Column, Cell<'static>, &str); 9] = [
        (Column::Action, Cell::Text("burn"), "row 1: `burn` is no action"),
        (Column::Action, Cell::Nothing, "row 1: `` is no action"),
        (Column::Action, Cell::Number(1), "row 1 has an invalid value in `action`"),
        (Column::Source, Cell::Text("k"), "row 1: `k` is not an absolute path"),
        (Column::Source, Cell::Nothing, "row 1: `` is not an absolute path"),
        (Column::SourceSize, Cell::Number(-1), "row 1 has an invalid value in `source_size`"),
        (Column::SourceModified, Cell::Nothing, "an invalid value in `source_modified_ns`"),
        (Column::TargetState, Cell::Text("unknown"), "row 1: its target cannot be `unknown`"),
        (Column::TargetSize, Cell::Flag(true), "row 1 has an invalid value in `target_size`"),
    ];
    for (changed, with, said) in wrong {
        table(&path, |column, cell| Some(if column == changed { with } else { cell }));
        let read = rows(&path);
        let is_refused = read.as_ref().is_err_and(|error| error.contains(said));
        assert!(is_refused, "{changed:?}: {read:?}");
    }
}

#[test]
fn a_row_of_another_job_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.parquet");
    let spec = |column: Column| {
        let kind = match column {
            Column::SourceSize
            | Column::SourceModified
            | Column::TargetSize
            | Column::TargetModified => ColumnKind::Number,
            _ => ColumnKind::Text,
        };
        ColumnSpec { name: column.name(), kind, is_optional: false }
    };
    let columns: Vec<_> = Column::ALL
        .into_iter()
        .filter(|column| column.is_needed() || *column == Column::Job)
        .collect();
    let file = std::fs::File::create(&path).unwrap();
    let specs = columns.iter().copied().map(spec).collect();
    let mut table = TableWriter::new(file, "other", specs, &[(JOB, "{}")]).unwrap();
    for job in ["{}", "{\"other\":1}"] {
        let cell = |number: usize| match columns[number] {
            Column::Action => Cell::Text("delete"),
            Column::Source => Cell::Text("s3://bucket/k"),
            Column::TargetState => Cell::Text("unknown"),
            Column::Job => Cell::Text(job),
            column if matches!(spec(column).kind, ColumnKind::Number) => Cell::Number(0),
            _ => Cell::Text(""),
        };
        table.push(cell).unwrap();
    }
    table.finish().unwrap();
    let error = rows(&path).unwrap_err();
    assert!(error.contains("row 2 is of another job"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_name_that_no_text_can_hold_ends_a_plan() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.parquet");
    let writer = PlanWriter::create(&path, "{}").unwrap();
    let name = std::ffi::OsStr::from_bytes(b"/w/\xff");
    writer.push(&ObjectEvent {
        action: ActionKind::Upload,
        is_move: false,
        source: Location::Local(name.into()),
        target: Some(Location::Object(ObjectName::new("bucket", "k"))),
        bytes: 0,
        reason: None,
        expected: Some(Expected::new(State::default(), TargetState::Missing)),
        outcome: Outcome::DryRun,
    });
    assert!(writer.finish().unwrap_err().contains("is not UTF-8: leave it out"));
    assert!(!path.exists());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left");
}
