//! Large objects of a job in shards: left to several workers where a shard finds them, and done in
//! steps.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::action::copy::send_portion as copy_portion;
use crate::action::queue::{Action, Queue, Screened, start};
use crate::action::upload::send_portion as upload_portion;
use crate::engine::core::{Engine, Place};
use crate::engine::limits::blocking;
use crate::engine::object::{head, head_at};
use crate::engine::parts::upload_part_size;
use crate::event::ActionKind;
use crate::fs::FileInfo;
use crate::job::prepare::Prepared;
use crate::plan::action::{CopyAction, UploadAction};
use crate::shard::{Divided, Part};
use s3haul_wire::error::Result;

/// What may be divided.
pub(crate) trait Divisible: Action<Place = ()> {
    /// It, for several workers; none where it is one request, cannot be described, or is of a plan,
    /// which holds for both sides as one process finds them.
    fn divided(&self, engine: &Engine) -> Option<Divided>;

    /// The same again, by one of them.
    fn of_divided(object: &Divided) -> Self;

    /// Whether its source is gone.
    fn is_gone(&self, engine: &Engine) -> impl Future<Output = bool> + Send;

    /// Its source as it is by now; unchanged where that cannot be found out.
    fn looked_up(self, engine: &Engine) -> impl Future<Output = Self> + Send;
}

impl Divisible for UploadAction {
    fn divided(&self, engine: &Engine) -> Option<Divided> {
        if !engine.settings.is_multipart(self.size) || self.expected.is_some() {
            return None;
        }
        let source = self.path.to_str()?.to_owned();
        let (target, size) = (self.key.clone(), self.size);
        let part_size = part_size(engine, size);
        Some(Divided { source, target, size, part_size, ..Divided::default() })
    }

    fn of_divided(object: &Divided) -> Self {
        Self {
            path: PathBuf::from(&object.source),
            key: object.target.clone(),
            size: object.size,
            reason: None,
            expected: None,
        }
    }

    async fn is_gone(&self, _: &Engine) -> bool {
        let path = self.path.clone();
        blocking(move || {
            path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        })
        .await
    }

    async fn looked_up(self, _: &Engine) -> Self {
        let path = self.path.clone();
        match blocking(move || FileInfo::of_path(&path)).await {
            Ok(FileInfo { size, .. }) => Self { size, ..self },
            Err(_) => self,
        }
    }
}

impl Divisible for CopyAction {
    fn divided(&self, engine: &Engine) -> Option<Divided> {
        let is_divisible = engine.is_large_copy(self.size) && self.expected.is_none();
        is_divisible.then(|| Divided {
            source: self.source_key.clone(),
            version_id: self.version_id.clone(),
            target: self.target_key.clone(),
            size: self.size,
            etag: self.etag.clone(),
            part_size: part_size(engine, self.size),
            piece: 0,
        })
    }

    fn of_divided(object: &Divided) -> Self {
        Self {
            source_key: object.source.clone(),
            version_id: object.version_id.clone(),
            target_key: object.target.clone(),
            size: object.size,
            etag: object.etag.clone(),
            head: None,
            reason: None,
            expected: None,
        }
    }

    async fn is_gone(&self, engine: &Engine) -> bool {
        let found = head(engine, &self.source_key, self.version_id.as_deref()).await;
        found.is_err_and(|error| error.is_missing_object())
    }

    async fn looked_up(self, engine: &Engine) -> Self {
        match head(engine, &self.source_key, self.version_id.as_deref()).await {
            Ok(head) => Self { size: head.size, etag: head.etag, ..self },
            Err(_) => self,
        }
    }
}

fn part_size(engine: &Engine, size: u64) -> u64 {
    upload_part_size(engine.settings.tuning.multipart_chunksize, Some(size))
}

/// A queue, and the future that does its actions; in a shard, large ones are left to several
/// workers.
pub(crate) fn start_divided<A: Divisible>(
    job: &Prepared,
    engine: &Arc<Engine>,
) -> (Queue<A>, impl Future<Output = ()> + Send + use<A>) {
    let (mut queue, acting) = start(engine, ());
    if let Some(shard) = job.spec.shard.clone().filter(|shard| shard.divides()) {
        queue.screen_with(Arc::new(move |engine, mut actions: Vec<A>| {
            actions.retain(|action| !shard.leaves(action.bytes(), || action.divided(engine)));
            Screened { actions, is_end: false }
        }));
    }
    (queue, acting)
}

/// Does a step of an object. Only the last is an event.
pub(crate) async fn run_part(job: &Prepared, engine: &Arc<Engine>, part: &Part) -> Result<()> {
    let is_end = part.portion.is_end();
    match (job.plan.action, is_end) {
        (ActionKind::Upload, false) => {
            upload_portion(engine, &UploadAction::of_divided(&part.object)).await
        }
        (ActionKind::Upload, true) => end::<UploadAction>(engine, part).await,
        (_, false) => copy_portion(engine, CopyAction::of_divided(&part.object)).await,
        (_, true) => end::<CopyAction>(engine, part).await,
    }
}

async fn end<A: Divisible>(engine: &Arc<Engine>, part: &Part) -> Result<()> {
    let (queue, acting) = start::<A>(engine, ());
    let queued = async {
        let queue = queue;
        let mut action = A::of_divided(&part.object);
        // Without an upload nothing binds it to the state that was listed.
        if part.portion.upload().is_none() {
            action = action.looked_up(engine).await;
        }
        if is_moved(engine, &action, &part.object).await {
            return action.leave_out(engine, &());
        }
        // It is closed only if the job was cancelled.
        let _ = queue.push(vec![action]).await;
    };
    tokio::join!(queued, acting);
    engine.report.plan_complete();
    let counts = engine.report.counts();
    // It may have failed before it came to the upload, or sent the object whole since it has become
    // small: nothing goes on with the upload now, unless it was completed.
    let is_over = counts.not_tried == 0 && !counts.fatal;
    if let Some(upload) = part.portion.upload().filter(|_| is_over) {
        engine.send(|| engine.uploads.drop_begun(&engine.settings.target_bucket, upload)).await;
    }
    Ok(())
}

/// Whether an earlier run moved the object and died before it could say so.
async fn is_moved<A: Divisible>(engine: &Engine, action: &A, object: &Divided) -> bool {
    if !engine.settings.is_move || !action.is_gone(engine).await {
        return false;
    }
    let target = head_at(engine, Place::Target, &object.target, None).await;
    target.is_ok_and(|target| target.size == object.size)
}
