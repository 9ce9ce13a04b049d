//! Removal of objects.
//!
//! Keys come in batches as they were listed and go out as `DeleteObjects` of up to 1,000 keys; a
//! single key, a key that XML cannot carry, and all keys at servers without `DeleteObjects` go out
//! as `DeleteObject`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_channel::Receiver;
use futures_util::future::join_all;
use tokio::sync::OwnedSemaphorePermit;

use crate::action::queue::{Action, Planned};
use crate::engine::core::{Engine, Place};
use crate::engine::limits::{DetachOnDrop, Tasks};
use crate::engine::object::{head_at, refuse_changed};
use crate::engine::remove_object::{
    answered, is_gone, removal_kind, remove_checked, replaced, send_removal,
};
use crate::engine::settings::KEYS_MAX;
use crate::engine::worker_pool::WorkerCount;
use crate::event::ObjectEvent;
use crate::plan::action::DeleteAction;
use crate::plan::expected::Expected;
use s3haul_wire::error::{Error, ErrorKind, Result, ServiceError};
use s3haul_wire::ops::{DeleteObjects, DeleteRefused, ObjectIdentifier};
use s3haul_wire::units::RequestCounts;

/// `DeleteObject` requests that one batch has in flight where it goes key by key; the request
/// permits bound all batches together.
const SINGLES_IN_FLIGHT_MAX: usize = 64;

impl Planned for DeleteAction {
    /// One `DeleteObjects` takes as many.
    const BATCH_MAX: usize = KEYS_MAX;

    fn expecting(self, expected: Box<Expected>) -> Self {
        // A version never changes.
        let etag = if self.version_id.is_some() { "" } else { &expected.source.etag };
        Self { etag: etag.to_owned(), expected: Some(expected), ..self }
    }

    fn requests(&self, _: &Engine) -> (RequestCounts, u64) {
        (RequestCounts::default(), 1)
    }
}

impl Action for DeleteAction {
    type Place = Place;

    fn event(self, engine: &Engine, place: &Place) -> ObjectEvent {
        let source = place.version(engine, self.key, self.version_id);
        let event = engine.event(removal_kind(engine), source, None, self.size);
        ObjectEvent { expected: self.expected, ..event }
    }

    async fn run(engine: Arc<Engine>, place: Place, actions: Receiver<Vec<Self>>) {
        let batches_refused = Arc::new(AtomicBool::new(false));
        let (mut tasks, workers) = (Tasks::new(), WorkerCount::default());
        let (batches_in, batches_out) = async_channel::bounded::<Vec<DeleteAction>>(1);
        while let Ok(mut rest) = actions.recv().await {
            while !rest.is_empty() {
                let behind = rest.split_off(rest.len().min(KEYS_MAX));
                if workers.should_grow(&engine) {
                    let (engine, queue) = (Arc::clone(&engine), batches_out.clone());
                    let refused = Arc::clone(&batches_refused);
                    tasks.spawn(async move {
                        while let Ok(batch) = queue.recv().await {
                            remove_batch(&engine, place, batch, &refused).await;
                        }
                    });
                }
                let sent = batches_in.send(rest).await;
                debug_assert!(sent.is_ok(), "a receiver is held here");
                rest = behind;
            }
        }
        drop((batches_in, batches_out));
        tasks.finish().await;
    }
}

async fn remove_batch(
    engine: &Arc<Engine>,
    place: Place,
    batch: Vec<DeleteAction>,
    refused: &Arc<AtomicBool>,
) {
    let batch = still_expected(engine, place, batch).await;
    let (mut together, alone): (Vec<_>, Vec<_>) =
        batch.into_iter().partition(|action| fits_xml(&action.key));
    remove_each(engine, place, alone).await;
    if together.len() >= 2 && !refused.load(Ordering::Relaxed) {
        // What has no permit yet is not sent after cancellation.
        let permit = engine.limits.owned_request().await;
        let (engine, refused) = (Arc::clone(engine), Arc::clone(refused));
        let removal = async move {
            let _permit = permit;
            remove_together(&engine, place, together, &refused).await
        };
        together = DetachOnDrop::new(removal).await;
    }
    remove_each(engine, place, together).await;
}

/// One `DeleteObjects`; reports its removals. The end of a cancelled job waits for it, for a
/// limited time. Returns those that are to be sent as requests of their own.
async fn remove_together(
    engine: &Engine,
    place: Place,
    batch: Vec<DeleteAction>,
    refused: &AtomicBool,
) -> Vec<DeleteAction> {
    let objects: Vec<_> = batch.iter().map(identifier).collect();
    let input = DeleteObjects {
        bucket: place.bucket(engine),
        objects: &objects,
        bypass_governance: engine.settings.bypass_governance,
    };
    let removal = place.client(engine).delete_objects(input);
    match answered(engine, removal, unknown(engine)).await {
        Ok(outcome) => conclude_batch(engine, place, batch, outcome.refused),
        Err(error) if is_unknown_operation(&error) => {
            refused.store(true, Ordering::Relaxed);
            batch
        }
        Err(error) => {
            for action in batch {
                conclude(engine, place, action, Err(error.duplicate()));
            }
            Vec::new()
        }
    }
}

/// The removals whose objects are as they were planned, or as a manifest has them; reports the
/// others. A version never changes, and Amazon S3 heeds the condition of the request.
async fn still_expected(
    engine: &Engine,
    place: Place,
    batch: Vec<DeleteAction>,
) -> Vec<DeleteAction> {
    let is_looked_at = |action: &DeleteAction| {
        let is_known = engine.heeds_conditions() && !action.etag.is_empty();
        let is_old = action.is_of_manifest && !action.etag.is_empty();
        (action.expected.is_some() || is_old) && action.version_id.is_none() && !is_known
    };
    if !batch.iter().any(is_looked_at) {
        return batch;
    }
    let mut kept = Vec::with_capacity(batch.len());
    let mut batch = batch.into_iter();
    loop {
        let group: Vec<_> = batch.by_ref().take(SINGLES_IN_FLIGHT_MAX).collect();
        if group.is_empty() {
            return kept;
        }
        let looked = group.iter().map(|action| async {
            if !is_looked_at(action) {
                return Ok(());
            }
            let key = &action.key;
            if action.expected.is_some() {
                return refuse_changed(engine, place, key, action.expected.as_deref()).await;
            }
            let found = head_at(engine, place, key, None).await?;
            if found.etag == action.etag { Ok(()) } else { Err(replaced(place)) }
        });
        for (result, action) in join_all(looked).await.into_iter().zip(group) {
            match result {
                Ok(()) => kept.push(action),
                Err(error) if error.is_missing_object() => conclude(engine, place, action, Ok(())),
                Err(error) => conclude(engine, place, action, Err(error)),
            }
        }
    }
}

/// Reports the outcome of each removal of a batch, except for those that the server had no time
/// for, or whose condition did not hold: they are returned, to be retried as requests of their own.
fn conclude_batch(
    engine: &Engine,
    place: Place,
    batch: Vec<DeleteAction>,
    refused: Vec<DeleteRefused>,
) -> Vec<DeleteAction> {
    let mut refused = Refusals::new(refused);
    let mut again = Vec::new();
    for action in batch {
        match refused.of(&action).map_or(Ok(()), |refused| Err(error_of(refused))) {
            Err(error) if matches!(error.kind(), ErrorKind::Throttled | ErrorKind::Server) => {
                again.push(action);
            }
            // An attempt whose answer was lost may have removed it: that is looked at.
            Err(error)
                if error.kind() == ErrorKind::PreconditionFailed && action.expected.is_none() =>
            {
                again.push(action);
            }
            result => conclude(engine, place, action, gone_is_removed(result)),
        }
    }
    // A server that names keys otherwise than they were asked for removed fewer than it seems.
    for refused in refused.left() {
        let (key, version_id) = (refused.key.clone(), refused.version_id.clone());
        let action = DeleteAction { key, version_id, ..DeleteAction::default() };
        conclude(engine, place, action, Err(error_of(refused)));
    }
    again
}

/// What a `DeleteObjects` did not remove, by key and version.
struct Refusals {
    by_name: HashMap<(String, Option<String>), DeleteRefused>,
    /// Those that met an action: a manifest may name a key more than once, and where the server did
    /// not say which version it meant, it may have meant any of that key.
    met: HashSet<(String, Option<String>)>,
}

impl Refusals {
    fn new(refused: Vec<DeleteRefused>) -> Self {
        let name = |refused: &DeleteRefused| (refused.key.clone(), refused.version_id.clone());
        let by_name = refused.into_iter().map(|refused| (name(&refused), refused)).collect();
        Self { by_name, met: HashSet::new() }
    }

    /// That of an action.
    fn of(&mut self, action: &DeleteAction) -> Option<DeleteRefused> {
        if self.by_name.is_empty() {
            return None;
        }
        let mut name = (action.key.clone(), action.version_id.clone());
        if !self.by_name.contains_key(&name) {
            name.1.take()?;
        }
        let refused = self.by_name.get(&name)?.clone();
        self.met.insert(name);
        Some(refused)
    }

    /// Those that no action asked for.
    fn left(self) -> impl Iterator<Item = DeleteRefused> {
        let Self { by_name, met } = self;
        by_name.into_iter().filter(move |(name, _)| !met.contains(name)).map(|(_, refused)| refused)
    }
}

async fn remove_each(engine: &Arc<Engine>, place: Place, batch: Vec<DeleteAction>) {
    let mut batch = batch.into_iter();
    loop {
        let group: Vec<_> = batch.by_ref().take(SINGLES_IN_FLIGHT_MAX).collect();
        if group.is_empty() {
            return;
        }
        join_all(group.into_iter().map(|action| async move {
            let permit = engine.limits.owned_request().await;
            let engine = Arc::clone(engine);
            DetachOnDrop::new(async move {
                let removal = remove_alone(&engine, place, &action, permit);
                let result = answered(&engine, removal, unknown(&engine)).await;
                conclude(&engine, place, action, result);
            })
            .await;
        }))
        .await;
    }
}

async fn remove_alone(
    engine: &Engine,
    place: Place,
    action: &DeleteAction,
    permit: OwnedSemaphorePermit,
) -> Result<()> {
    let (key, version_id) = (action.key.as_str(), action.version_id.as_deref());
    let removed = send_removal(engine, place, key, version_id, action.if_match()).await;
    drop(permit);
    match (removed, action.if_match()) {
        (Err(error), Some(etag))
            if action.expected.is_none() || error.code() == "NotImplemented" =>
        {
            remove_checked(engine, place, (key, etag), error).await
        }
        (removed, _) => gone_is_removed(removed),
    }
}

/// Of a removal without an answer.
fn unknown(engine: &Engine) -> &'static str {
    if engine.settings.is_undelete {
        return "it is unknown whether the delete marker was removed";
    }
    "it is unknown whether the object was removed"
}

/// A removal that finds nothing has come to its end: an attempt whose answer was lost may have made
/// it, and a condition makes the next one fail, where a plain removal would succeed.
fn gone_is_removed(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if is_gone(&error) => Ok(()),
        result => result,
    }
}

fn conclude(engine: &Engine, place: Place, action: DeleteAction, result: Result<()>) {
    engine.conclude(action.event(engine, &place), result);
}

fn identifier(action: &DeleteAction) -> ObjectIdentifier {
    let etag = action.if_match().map(str::to_owned);
    ObjectIdentifier { key: action.key.clone(), version_id: action.version_id.clone(), etag }
}

/// Whether XML 1.0 has a way to write every character of the key.
fn fits_xml(key: &str) -> bool {
    key.chars().all(|c| match c {
        '\t' | '\n' | '\r' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => c >= ' ',
    })
}

fn is_unknown_operation(error: &Error) -> bool {
    error.code() == "NotImplemented"
        || error.service_error().is_some_and(|service| matches!(service.status, 405 | 501))
}

fn error_of(refused: DeleteRefused) -> Error {
    let kind = match refused.code.as_str() {
        "AccessDenied" => ErrorKind::AccessDenied,
        "SlowDown" => ErrorKind::Throttled,
        "InternalError"
        | "ServiceUnavailable"
        | "OperationAborted"
        | "ConditionalRequestConflict" => ErrorKind::Server,
        "PreconditionFailed" => ErrorKind::PreconditionFailed,
        "NoSuchKey" | "NoSuchVersion" => ErrorKind::NotFound,
        _ => ErrorKind::Request,
    };
    let DeleteRefused { code, message, .. } = refused;
    let service = ServiceError { status: 200, code, message, ..ServiceError::default() };
    Error::service(kind, "DeleteObjects", service)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;
    use crate::engine::remove_object::{remove_one, remove_source_object};
    use crate::engine::settings::Tuning;
    use crate::engine::testing::engine;
    use crate::event::ActionKind;
    use crate::plan::expected::{State, TargetState};
    use s3haul_wire::testing::{Reply, World};

    #[test]
    fn keys_that_xml_cannot_write_go_alone() {
        assert!(fits_xml("plain/ünïcode 🎉\t\r\n<&>\u{7f}\u{fffd}"));
        for key in ["nul\0", "bell\u{7}", "\u{1b}[0m", "\u{fffe}", "\u{ffff}"] {
            assert!(!fits_xml(key), "{key:?}");
        }
    }

    #[test]
    fn refusals_are_of_versions() {
        let action = |version: &str| DeleteAction {
            key: "k".to_owned(),
            version_id: Some(version.to_owned()).filter(|version| !version.is_empty()),
            ..DeleteAction::default()
        };
        let refused = |version_id: Option<&str>| DeleteRefused {
            key: "k".to_owned(),
            version_id: version_id.map(str::to_owned),
            code: "AccessDenied".to_owned(),
            message: String::new(),
        };
        let mut refusals = Refusals::new(vec![refused(Some("2"))]);
        let found = ["1", "2", ""].map(|version| refusals.of(&action(version)).is_some());
        assert_eq!(found, [false, true, false]);
        assert_eq!(refusals.left().count(), 0);
        // The server does not say which one.
        let mut refusals = Refusals::new(vec![refused(None)]);
        let found = ["1", "2"].map(|version| refusals.of(&action(version)).is_some());
        assert_eq!(found, [true, true]);
        assert_eq!(refusals.left().count(), 0);
    }

    /// Removals that were sent when a job was cancelled were in no report.
    #[tokio::test(start_paused = true)]
    async fn removals_that_were_sent_are_reported_after_cancellation() {
        for (names, is_answered) in
            [(&["a", "b"][..], true), (&["a", "b"], false), (&["a"], true), (&["a"], false)]
        {
            let world = World::new(|seen| {
                let reply = if seen.line().starts_with("DELETE") {
                    Reply::status(204, "", "")
                } else {
                    Reply::ok("<DeleteResult/>")
                };
                reply.after(Duration::from_secs(1))
            });
            let (engine, mut ended) = engine(&world, Tuning::default());
            let (report, give_up) = (Arc::clone(&engine.report), engine.give_up.clone());
            let action = |key: &&str| DeleteAction { key: (*key).into(), ..Default::default() };
            let batch = names.iter().map(action).collect();
            let refused = Arc::default();
            let removal = remove_batch(&engine, Place::Source, batch, &refused);
            assert!(timeout(Duration::from_millis(500), removal).await.is_err());
            if !is_answered {
                give_up.cancel();
            }
            drop(engine);
            ended.wait().await;
            let (counts, count) = (report.counts(), names.len() as u64);
            let wanted = if is_answered { (count, 0) } else { (0, count) };
            assert_eq!((counts.done, counts.failed), wanted, "{names:?}");
        }
    }

    /// What waits for its turn when a job is cancelled is not removed.
    #[tokio::test(start_paused = true)]
    async fn removals_that_were_not_sent_are_not_sent_after_cancellation() {
        for names in [&["a", "b"][..], &["a"]] {
            let world = World::new(|_| Reply::status(204, "", ""));
            let (engine, mut ended) = engine(&world, Tuning::default());
            let all = u32::try_from(engine.limits.requests_max()).unwrap();
            let permits = engine.limits.requests().acquire_many_owned(all).await.unwrap();
            let action = |key: &&str| DeleteAction { key: (*key).into(), ..Default::default() };
            let batch = names.iter().map(action).collect();
            let refused = Arc::default();
            let removal = remove_batch(&engine, Place::Source, batch, &refused);
            assert!(timeout(Duration::from_millis(500), removal).await.is_err());
            drop((permits, engine));
            ended.wait().await;
            assert_eq!(world.seen().len(), 0, "{names:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_meets_each_removal_of_its_key() {
        let world = World::new(|_| {
            Reply::ok(
                "<DeleteResult><Error><Key>a</Key><Code>AccessDenied</Code></Error>\
                 </DeleteResult>",
            )
        });
        let (engine, _ended) = engine(&world, Tuning::default());
        let batch = ["a", "b", "a"]
            .map(|key| DeleteAction { key: key.to_owned(), ..DeleteAction::default() });
        remove_batch(&engine, Place::Source, batch.into(), &Arc::default()).await;
        let counts = engine.report.counts();
        assert_eq!((counts.done, counts.failed), (1, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_under_another_name_is_not_lost() {
        let world = World::new(|_| {
            Reply::ok(
                "<DeleteResult><Error><Key>/b</Key><Code>AccessDenied</Code></Error>\
                 </DeleteResult>",
            )
        });
        let (engine, _ended) = engine(&world, Tuning::default());
        let batch =
            ["a", "b"].map(|key| DeleteAction { key: key.to_owned(), ..DeleteAction::default() });
        remove_batch(&engine, Place::Source, batch.into(), &Arc::default()).await;
        assert_eq!(engine.report.counts().failed, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_server_had_no_time_for_is_tried_again() {
        let world = World::new(|seen| {
            if seen.line().starts_with("DELETE") {
                return Reply::status(204, "", "");
            }
            Reply::ok(
                "<DeleteResult><Error><Key>a</Key><Code>SlowDown</Code></Error>\
                 <Error><Key>b</Key><Code>InternalError</Code></Error>\
                 <Error><Key>c</Key><Code>AccessDenied</Code></Error></DeleteResult>",
            )
        });
        let (engine, _ended) = engine(&world, Tuning::default());
        let action = |key: &str| DeleteAction { key: key.to_owned(), ..DeleteAction::default() };
        let batch = ["a", "b", "c", "d"].map(action);
        remove_batch(&engine, Place::Source, batch.into(), &Arc::default()).await;
        let counts = engine.report.counts();
        assert_eq!((counts.done, counts.failed), (3, 1));
        let alone = world.seen().iter().filter(|seen| seen.line().starts_with("DELETE")).count();
        assert_eq!(alone, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_gone_already_is_removed() {
        let world = World::new(|seen| {
            if seen.line().starts_with("DELETE") {
                return Reply::error(404, "NoSuchKey");
            }
            Reply::ok(
                "<DeleteResult><Error><Key>a</Key><Code>NoSuchKey</Code></Error></DeleteResult>",
            )
        });
        let (engine, _ended) = engine(&world, Tuning::default());
        for names in [&["a", "b"][..], &["c"]] {
            let action = |key: &&str| DeleteAction { key: (*key).into(), ..Default::default() };
            let batch = names.iter().map(action).collect();
            remove_batch(&engine, Place::Target, batch, &Arc::default()).await;
        }
        let counts = engine.report.counts();
        assert_eq!((counts.done, counts.failed), (3, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_without_conditional_removal_is_asked_for_the_state() {
        for (etag, is_removed) in [("\"a\"", true), ("\"b\"", false)] {
            let world = World::new(move |seen| match (seen.line(), seen.header("if-match")) {
                (_, Some(_)) => Reply::error(501, "NotImplemented"),
                (line, None) if line.starts_with("HEAD") => Reply::raw(format!(
                    "HTTP/1.1 200 OK\r\nx-amz-request-id: 1\r\ncontent-length: 1\r\n\
                     etag: {etag}\r\n\r\n"
                )),
                _ => Reply::status(204, "", ""),
            });
            let (mut engine, _ended) = engine(&world, Tuning::default());
            Arc::get_mut(&mut engine).unwrap().settings.is_move = true;
            let removed = remove_source_object(&engine, "k", "\"a\"", 1).await;
            assert_eq!(removed.is_ok(), is_removed, "{removed:?}");
            let last = world.seen().pop().unwrap();
            assert_eq!(last.line().starts_with("DELETE"), is_removed);
        }
    }

    /// `MinIO`, versitygw and moto ignore the `ETag`s of bulk removals.
    #[tokio::test(start_paused = true)]
    async fn a_plan_removes_nothing_that_has_changed_where_conditions_are_ignored() {
        let world = World::new(|seen| {
            let etag = if seen.line().contains("changed") { "\"b\"" } else { "\"a\"" };
            match seen.line() {
                line if line.starts_with("HEAD") => Reply::raw(format!(
                    "HTTP/1.1 200 OK\r\nx-amz-request-id: 1\r\ncontent-length: 1\r\n\
                     etag: {etag}\r\n\r\n"
                )),
                _ => Reply::ok("<DeleteResult/>"),
            }
        });
        let (engine, _ended) = engine(&world, Tuning::default());
        let planned = |key: &str| {
            let source = State { size: 1, etag: "\"a\"".to_owned(), ..State::default() };
            let action = DeleteAction { key: key.to_owned(), size: 1, ..DeleteAction::default() };
            action.expecting(Expected::new(source, TargetState::Unknown))
        };
        let batch = ["as planned", "changed", "too"].map(planned);
        remove_batch(&engine, Place::Target, batch.into(), &Arc::default()).await;
        let counts = engine.report.counts();
        assert_eq!((counts.done, counts.failed), (2, 1));
        let seen = world.seen();
        let removals: Vec<_> = seen.iter().filter(|it| !it.line().starts_with("HEAD")).collect();
        assert_eq!((seen.len(), removals.len()), (4, 1));
        let body = String::from_utf8_lossy(&removals[0].body);
        assert!(body.contains("<Key>as planned<") && !body.contains("changed"), "{body}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_source_of_a_finished_copy_is_removed_after_an_early_end() {
        let world = World::new(|_| Reply::status(204, "", ""));
        let (mut engine, _ended) = engine(&world, Tuning::default());
        Arc::get_mut(&mut engine).unwrap().settings.is_move = true;
        engine.report.early_end().store(true, Ordering::Relaxed);
        remove_source_object(&engine, "k", "\"a\"", 1).await.unwrap();
        assert!(world.seen()[0].line().starts_with("DELETE /source/k"));
        // Others are not worth a request any more.
        let error = remove_one(&engine, Place::Source, "l", None, None).await.unwrap_err();
        assert_eq!((error.kind(), world.seen().len()), (ErrorKind::Cancelled, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_stays_after_an_early_end_is_a_failure() {
        let world = World::new(|_| Reply::error(400, "ExpiredToken"));
        let (mut engine, _ended) = engine(&world, Tuning::default());
        Arc::get_mut(&mut engine).unwrap().settings.is_move = true;
        engine.report.early_end().store(true, Ordering::Relaxed);
        let result = remove_source_object(&engine, "k", "\"a\"", 1).await;
        assert!(result.is_err());
        let (source, target) =
            (engine.source_object("k".to_owned()), engine.target_object("k".to_owned()));
        engine.conclude(engine.event(ActionKind::Copy, source, Some(target), 1), result);
        let counts = engine.report.counts();
        assert_eq!((counts.failed, counts.not_tried), (1, 0));
    }
}
