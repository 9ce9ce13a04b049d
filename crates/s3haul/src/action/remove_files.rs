//! Removal of local files that the source does not have (`sync --delete`).
//!
//! Names are resolved below the target folder and never lead out of it: a file that is reached
//! through a link to elsewhere stays, with a warning. Folders are never removed.

use std::sync::Arc;

use async_channel::Receiver;

use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::event::{ActionKind, ObjectEvent, Outcome};
use crate::fs::{CreateError, EscapeReason, TargetRoot};
use crate::location::Location;
use crate::plan::action::RemoveFileAction;

/// Removes all that comes until the channel closes.
pub(crate) async fn run_file_removals(
    engine: Arc<Engine>,
    root: TargetRoot,
    actions: Receiver<Vec<RemoveFileAction>>,
) {
    while let Ok(batch) = actions.recv().await {
        let (engine, root) = (Arc::clone(&engine), root.clone());
        blocking(move || batch.into_iter().for_each(|action| remove(&engine, &root, &action)))
            .await;
    }
}

fn remove(engine: &Engine, root: &TargetRoot, action: &RemoveFileAction) {
    if engine.report.ends_early() {
        return leave(engine, root, action, Outcome::NotTried);
    }
    let result = match root.remove(&action.relative) {
        Err(CreateError::Escape(escape)) if escape.reason == EscapeReason::InUse => {
            // A leftover when it was found, and by now a file on its way: most likely of this job,
            // which downloads the same name again.
            return leave(engine, root, action, Outcome::Skipped);
        }
        Err(CreateError::Escape(escape)) => {
            return engine.report.warning(escape.warning());
        }
        Err(CreateError::Failed(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    let source = Location::Local(root.path_of(&action.relative));
    engine.conclude(ActionKind::Delete, source, None, action.size, result);
}

/// Reports a file that stays.
fn leave(engine: &Engine, root: &TargetRoot, action: &RemoveFileAction, outcome: Outcome) {
    engine.report.object(ObjectEvent {
        action: ActionKind::Delete,
        is_move: false,
        source: Location::Local(root.path_of(&action.relative)),
        target: None,
        bytes: action.size,
        reason: None,
        outcome,
    });
}
