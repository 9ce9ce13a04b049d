//! Removal of local files that the source does not have (`sync --delete`).
//!
//! Names are resolved below the target folder and never lead out of it: a file that is reached
//! through a link to elsewhere stays, with a warning. Folders are never removed.

use std::sync::Arc;

use async_channel::Receiver;

use crate::action::queue::{Action, Planned};
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::engine::object::changed;
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::fs::meta::nanoseconds;
use crate::fs::{CreateError, EscapeReason, FileInfo, FileKind, TargetRoot};
use crate::location::Location;
use crate::plan::action::RemoveFileAction;
use crate::plan::expected::{Expected, State};
use s3haul_wire::units::RequestCounts;

impl Planned for RemoveFileAction {
    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    fn requests(&self, _: &Engine) -> (RequestCounts, u64) {
        (RequestCounts::default(), 0)
    }
}

impl Action for RemoveFileAction {
    type Place = TargetRoot;

    fn event(self, engine: &Engine, root: &TargetRoot) -> ObjectEvent {
        let source = Location::Local(root.path_of(&self.relative));
        let event = engine.event(ActionKind::Delete, source, None, self.size);
        ObjectEvent { expected: self.expected, ..event }
    }

    async fn run(engine: Arc<Engine>, root: TargetRoot, actions: Receiver<Vec<Self>>) {
        while let Ok(batch) = actions.recv().await {
            let (engine, root) = (Arc::clone(&engine), root.clone());
            blocking(move || batch.into_iter().for_each(|action| remove(&engine, &root, action)))
                .await;
        }
    }
}

fn remove(engine: &Engine, root: &TargetRoot, action: RemoveFileAction) {
    let leave = |action: RemoveFileAction, outcome| {
        engine.report.object(ObjectEvent { outcome, ..action.event(engine, root) });
    };
    if engine.report.ends_early() {
        return leave(action, Outcome::NotTried);
    }
    if let Some(expected) = &action.expected {
        let state = |file: FileInfo| State::of_file(file.size, nanoseconds(file.modified));
        let result = match root.find(&action.relative) {
            Ok(Some(file)) if state(file) == expected.source => None,
            // What is gone is gone, as it is for objects, also where a folder has its place.
            Ok(None | Some(FileInfo { kind: FileKind::Directory, .. })) => Some(Ok(())),
            _ => Some(Err(changed("the file", Some(expected)))),
        };
        if let Some(result) = result {
            return engine.conclude(action.event(engine, root), result);
        }
    }
    let result = match root.remove(&action.relative) {
        Err(CreateError::Escape(escape)) if escape.reason == EscapeReason::InUse => {
            // A leftover when it was found, and by now a file on its way: most likely of this job,
            // which downloads the same name again.
            return leave(action, Outcome::Skipped);
        }
        Err(CreateError::Escape(escape)) => {
            engine.report.warning(escape.warning());
            return leave(action, Outcome::Skipped);
        }
        Err(CreateError::Failed(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    engine.conclude(action.event(engine, root), result);
}
