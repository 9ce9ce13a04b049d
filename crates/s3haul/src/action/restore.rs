//! Archived objects: reported, restored, and waited for.
//!
//! Waiting keeps nothing of an object but its place among those at work: restores are begun for
//! all first, then objects are waited for one after the other, as many at once as there may be
//! requests. The restores run all the while, so that those that come later have ended, or nearly,
//! when they are looked at.

use std::sync::Arc;
use std::time::Duration;

use async_channel::Receiver;

use crate::action::queue::{Action, Planned};
use crate::action::request_counts::of_restore;
use crate::engine::core::{Engine, Place};
use crate::engine::object::{head, refuse_changed};
use crate::engine::worker_pool::run_each;
use crate::event::{ActionKind, ObjectEvent};
use crate::plan::action::RestoreAction;
use crate::plan::expected::Expected;
use crate::plan::restore::RestoreTask;
use crate::plan::restore::{ArchiveFacts, ArchiveState, INTELLIGENT_TIERING, is_never_archived};
use s3haul_wire::ObjectHead;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::{RestoreObject, Restoring};
use s3haul_wire::units::RequestCounts;

/// Pause before an object that is being restored is looked at again; it doubles each time.
const PAUSE_MIN: Duration = Duration::from_secs(1);
/// Longest pause.
const PAUSE_MAX: Duration = Duration::from_mins(1);

impl Planned for RestoreAction {
    fn expecting(self, expected: Box<Expected>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    fn requests(&self, engine: &Engine) -> (RequestCounts, u64) {
        (of_restore(&engine.settings, &self.storage_class), 0)
    }
}

impl Action for RestoreAction {
    type Place = ();

    fn event(self, engine: &Engine, (): &()) -> ObjectEvent {
        let source = engine.source_object(self.key);
        let event = engine.event(ActionKind::Restore, source, None, self.size);
        ObjectEvent { expected: self.expected, ..event }
    }

    async fn run(engine: Arc<Engine>, (): (), actions: Receiver<Vec<Self>>) {
        let work = |engine: Arc<Engine>, action: Self| async move {
            let expected = action.expected.as_deref();
            let result = async {
                refuse_changed(&engine, Place::Source, &action.key, expected).await?;
                match engine.settings.restore {
                    RestoreTask::Tell => tell(&engine, &action).await,
                    RestoreTask::Begin { waits, .. } => restore(&engine, &action.key, waits).await,
                }
            };
            let result = result.await;
            engine.conclude_in_place(action.event(&engine, &()), result);
        };
        run_each(engine, actions, work).await;
    }
}

/// Begins restores without reporting: the later pass that waits for the objects retries those that
/// failed, and reports them.
pub(crate) async fn run_beginnings(engine: Arc<Engine>, actions: Receiver<Vec<RestoreAction>>) {
    let work = |engine: Arc<Engine>, action: RestoreAction| async move {
        let expected = action.expected.as_deref();
        let result = async {
            refuse_changed(&engine, Place::Source, &action.key, expected).await?;
            restore(&engine, &action.key, false).await
        };
        if let Err(error) = result.await {
            tracing::debug!(key = action.key, %error, "a restore could not be begun");
        }
    };
    run_each(engine, actions, work).await;
}

async fn tell(engine: &Engine, action: &RestoreAction) -> Result<bool> {
    let (class, state) = if is_never_archived(&action.storage_class) {
        (action.storage_class.clone(), ArchiveState::NotArchived)
    } else {
        let head = head(engine, &action.key, None).await?;
        let state = state_of(&head);
        (head.properties.storage_class.unwrap_or_else(|| "STANDARD".to_owned()), state)
    };
    engine.report.archive(&engine.settings.source_bucket, &action.key, class, state);
    Ok(true)
}

fn state_of(head: &ObjectHead) -> ArchiveState {
    ArchiveState::of(ArchiveFacts {
        storage_class: head.properties.storage_class.as_deref().unwrap_or_default(),
        restore: head.restore.as_deref(),
        archive_status: head.archive_status.as_deref(),
    })
}

/// Ensures that an object is being restored or, if `waits`, waits until it is restored; returns
/// whether there was something to do or to wait for.
async fn restore(engine: &Engine, key: &str, waits: bool) -> Result<bool> {
    let mut has_begun = false;
    let mut pause = PAUSE_MIN;
    loop {
        let head = head(engine, key, None).await?;
        match state_of(&head) {
            ArchiveState::NotArchived => return Ok(has_begun),
            ArchiveState::Restored { .. } => return Ok(has_begun || waits),
            ArchiveState::InProgress => has_begun = true,
            ArchiveState::Archived if has_begun => {
                let message = "it was restored, and is archived again";
                return Err(Error::new(ErrorKind::Request, message));
            }
            ArchiveState::Archived => {
                begin(engine, key, &head).await?;
                has_begun = true;
            }
        }
        if !waits {
            return Ok(true);
        }
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(PAUSE_MAX);
    }
}

async fn begin(engine: &Engine, key: &str, head: &ObjectHead) -> Result<Restoring> {
    let RestoreTask::Begin { days, tier, .. } = engine.settings.restore else {
        return Ok(Restoring::UnderWay);
    };
    // What this class has archived comes back for good.
    let is_for_good = head.properties.storage_class.as_deref() == Some(INTELLIGENT_TIERING);
    let days = Some(days).filter(|_| !is_for_good);
    let bucket = &engine.settings.source_bucket;
    engine.send(|| engine.source.restore_object(RestoreObject { bucket, key, days, tier })).await
}
