//! What the journal does for each object, to be counted by itself.

use std::path::{Path, PathBuf};

use super::keeper::{Journal, JournalRequest, Subject};
use super::state::Position;
use super::store::Ending;
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::location::{Location, ObjectName};

/// Objects of a batch.
const BATCH: usize = 1000;

/// A job that uploads so many batches of 1,000 files and keeps its journal in a folder.
pub fn batches(folder: &Path, count: usize) {
    let journal = Journal::new(JournalRequest {
        folder: folder.to_owned(),
        command: "cp".to_owned(),
        directory: PathBuf::from("/"),
        job: "{}".to_owned(),
        identity: String::new(),
        manifest: String::new(),
        from_beginning: true,
        is_of_plan: false,
    });
    journal.begin(None);
    let path = |number| PathBuf::from(format!("/data/2026/photos/a-{number:08}.jpg"));
    let event = |number| ObjectEvent {
        action: ActionKind::Upload,
        is_move: false,
        source: Location::Local(path(number)),
        target: Some(Location::Object(ObjectName::new("bucket", "key"))),
        bytes: 4096,
        reason: None,
        expected: None,
        outcome: Outcome::Done,
    };
    let paths: Vec<_> = (0..BATCH).map(path).collect();
    let events: Vec<_> = (0..BATCH).map(event).collect();
    for batch in 0..count {
        let mark = |path: &PathBuf| journal.mark(Subject::File(path), false);
        journal.begun(paths.iter().map(mark).collect());
        let name = format!("{batch:08}");
        journal.looked(Position { name, ..Position::default() });
        for event in &events {
            journal.ended(event);
        }
    }
    journal.finish(None, Ending::Done);
}
