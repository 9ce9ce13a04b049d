//! The folder or file that downloads are written to, and what is left out before they are queued.

use std::path::Component;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use crate::action::download::target::DownloadTarget;
use crate::action::queue::{Action as _, Queue, Screened, start};
use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::fs::TargetRoot;
use crate::job::prepare::Prepared;
use crate::plan::action::{DownloadAction, RemoveFileAction};
use crate::plan::expected::TargetState;
use crate::plan::paths::Side;
use s3haul_wire::error::Result;

/// The queue of a job's downloads, with the checks that run before they are queued, and the future
/// that does them.
pub(crate) fn start_downloads(
    job: &Prepared,
    engine: &Arc<Engine>,
    target: DownloadTarget,
) -> (Queue<DownloadAction>, impl Future<Output = ()> + Send + use<>) {
    let (mut queue, downloads) = start(engine, target.clone());
    screen(job, target, &mut queue);
    (queue, downloads)
}

/// The same for removals of files.
pub(crate) fn start_removals(
    job: &Prepared,
    engine: &Arc<Engine>,
    root: TargetRoot,
) -> (Queue<RemoveFileAction>, impl Future<Output = ()> + Send + use<>) {
    let (mut queue, removals) = start(engine, root.clone());
    if job.spec.says_states() {
        queue.screen_with(Arc::new(move |engine, mut actions: Vec<RemoveFileAction>| {
            actions.retain(|action| {
                let refusal = root.removal_refusal(&action.relative);
                refusal.inspect(|escape| engine.report.warning(escape.warning())).is_none()
            });
            Screened { actions, is_end: false }
        }));
    }
    (queue, removals)
}

/// Installs the checks of downloads that run before they are queued, if the job has any.
fn screen(job: &Prepared, target: DownloadTarget, queue: &mut Queue<DownloadAction>) {
    // Of a sync, too: its walk shows no FIFO, and no file whose key is spelled otherwise.
    let no_overwrite = job.spec.no_overwrite;
    let guard = job.case_guard.clone();
    let is_forecast = job.spec.says_states();
    let is_planned = !is_forecast || job.spec.names.as_ref().is_some_and(|names| names.is_plan());
    let filters = [&job.filter, &job.target_filter].map(Arc::clone);
    let deletes = job.spec.sync.delete;
    let is_removed = move |name: &str| filters.iter().all(|filter| filter.includes(name));
    if !no_overwrite && guard.is_none() && !is_forecast {
        return;
    }
    queue.screen_with(Arc::new(move |engine, mut actions| {
        if no_overwrite {
            actions = skip_existing(engine, &target, actions, is_planned);
        }
        if is_forecast {
            actions = foresee(engine, &target, actions, deletes.then_some(&is_removed));
        }
        match &guard {
            Some(guard) => guard.screen(engine, &target, actions),
            None => Screened { actions, is_end: false },
        }
    }));
}

/// Leaves out objects whose files exist (`--no-overwrite`), unless a plan or an earlier run of a
/// move says what is there: not while one is made, or in a dry run. Blocks.
fn skip_existing(
    engine: &Engine,
    target: &DownloadTarget,
    actions: Vec<DownloadAction>,
    is_planned: bool,
) -> Vec<DownloadAction> {
    let is_left_to_plan = |action: &DownloadAction| {
        let expected = action.expected.as_deref().filter(|_| is_planned);
        expected.is_some_and(|expected| expected.target != TargetState::Unknown)
    };
    let (existing, missing): (Vec<_>, Vec<_>) = actions
        .into_iter()
        .partition(|action| !is_left_to_plan(action) && target.exists(&action.relative));
    for action in existing {
        action.leave_out(engine, target);
    }
    missing
}

/// Leaves out what a run skips because of a link, and warns of what it fails at because a folder
/// that does not make way is in its place. Blocks.
fn foresee(
    engine: &Engine,
    target: &DownloadTarget,
    mut actions: Vec<DownloadAction>,
    is_removed: Option<&dyn Fn(&str) -> bool>,
) -> Vec<DownloadAction> {
    let DownloadTarget::Below(root) = target else { return actions };
    actions.retain(|DownloadAction { relative, .. }| {
        let refusal = root.refusal(relative);
        if let Some(escape) = &refusal {
            engine.report.warning(escape.warning());
        } else if root.folder_stays(relative, is_removed) {
            let path = root.path_of(relative);
            let path = path.display();
            engine
                .report
                .warning(format!("`{path}` is a directory: the download to it would fail"));
        }
        refusal.is_none()
    });
    actions
}

pub(crate) async fn open_target(job: &Prepared) -> Result<DownloadTarget> {
    if let Some(folder) = job.plan.target_directory() {
        let folder = folder.to_owned();
        return match named_file(job, &folder) {
            // As with the AWS tools: for an object that is not there no folder is made.
            Some(file) if !exists(folder.clone()).await => Ok(DownloadTarget::Exactly(file)),
            _ => open_root(job, folder).await.map(DownloadTarget::Below),
        };
    }
    let path = match &job.plan.target {
        Some(Side::Local(path)) => PathBuf::from(path),
        _ => PathBuf::new(),
    };
    Ok(DownloadTarget::Exactly(path))
}

async fn exists(folder: PathBuf) -> bool {
    blocking(move || folder.exists()).await
}

/// The folder that a job writes to; made where it is missing, as the AWS tools do for a dry run
/// too, unless a plan is all that is wanted.
pub(crate) async fn open_root(job: &Prepared, folder: PathBuf) -> Result<TargetRoot> {
    let plans = job.spec.plans;
    blocking(
        move || {
            if plans { TargetRoot::open_unwritten(&folder) } else { TargetRoot::open(&folder) }
        },
    )
    .await
}

/// The one file of a job, if the paths alone determine its name.
fn named_file(job: &Prepared, folder: &Path) -> Option<PathBuf> {
    let name = job.plan.single_name();
    let mut components = Path::new(name).components();
    let is_plain = matches!(components.next(), Some(Component::Normal(first)) if first == name)
        && components.next().is_none();
    let is_told = !job.plan.is_directory && job.chooser.is_none() && job.spec.names.is_none();
    (is_told && is_plain).then(|| folder.join(name))
}
