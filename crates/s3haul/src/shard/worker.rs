//! One of the workers of a job: which shard it runs next, and what it leaves of it.
//!
//! Claims spread workers over the shards and are never relied on. Whether a claim is given up is
//! judged by its changes and the clock of the worker that looks, so that clocks may differ: each
//! claim is written anew three times a lease, and one that stayed the same for a lease is taken
//! over.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::divided::{Begun, Step};
use super::folder::{FolderError, JobFolder};
use super::ledger::{Commit, Crowd, Ledger, LedgerError, Plan, Work};

/// Commits that are read at a time.
const READS_AT_ONCE: usize = 32;
/// Signs of life in a lease.
const BEATS: u32 = 3;
/// What the claims of workers begin with that wait.
const IDLE: &str = "idle-";
/// What the files beside the claims begin with whose shards their workers left to others.
const LEFT: &str = "left-";
/// Time until the next look after a shard turned out to be done.
const PAUSE_MIN: Duration = Duration::from_millis(50);
/// Longest time between two looks for a shard to run.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// A worker of a job.
#[derive(Debug)]
pub struct Worker {
    /// Where the job is.
    home: JobFolder,
    /// Where the files of its run are.
    folder: JobFolder,
    plan: Plan,
    name: String,
    ledger: Ledger,
    /// Commits that were read, and what is known of large objects.
    read: HashSet<String>,
    claims: Claims,
    /// It has said that it waits.
    is_idle: bool,
    /// Signs of life that it gave.
    beats: u64,
}

/// What a worker does next.
#[derive(Debug)]
pub enum Turn {
    /// Runs this shard, or step of a large object.
    Run(Claimed),
    /// Waits so long and asks again: others run all that is left.
    Wait(Duration),
    /// Nothing: all is done.
    Done,
}

/// A worker of a job, as its claim shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it is at; none while it waits.
    pub work: Option<Work>,
    /// It has given a sign of life within a lease.
    pub is_live: bool,
}

/// What is claimed as long as this is held.
#[derive(Debug)]
pub struct Claimed {
    /// What it is.
    pub work: Work,
    /// An earlier run of it came to no end.
    pub again: bool,
    /// Of a large object: how its upload was begun.
    pub(super) begun: Option<Begun>,
    /// Others have nothing to do.
    pub(super) yields: Arc<AtomicBool>,
    /// Cancelled when it turns out that others have taken it over.
    pub lost: CancellationToken,
    _beats: JoinSet<()>,
}

impl Worker {
    /// A worker of the job of a folder.
    pub async fn open(home: JobFolder) -> Result<Self, FolderError> {
        let text = home.read("job.json").await?;
        let missing = || FolderError::Missing { name: home.name() };
        let plan = Plan::from_json(&text.ok_or_else(missing)?);
        let plan = plan.map_err(|source| broken(&home, source))?;
        let folder = home.below(&plan.run);
        Ok(Self {
            ledger: Ledger::new(plan.cuts.clone()),
            home,
            folder,
            plan,
            name: name(),
            read: HashSet::new(),
            claims: Claims::default(),
            is_idle: false,
            beats: 0,
        })
    }

    /// Its own name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder's name.
    pub fn folder(&self) -> String {
        self.home.name()
    }

    /// Fails where the folder no longer has the run that was opened.
    async fn check(&self) -> Result<(), FolderError> {
        let name = self.home.name();
        match self.home.read("job.json").await? {
            None => Err(FolderError::Removed { name }),
            Some(text) if Plan::from_json(&text).as_ref() == Ok(&self.plan) => Ok(()),
            Some(_) => Err(FolderError::Replaced { name }),
        }
    }

    /// A worker that knows what an earlier one of the same job has read and seen.
    #[must_use]
    pub fn knowing(self, earlier: Self) -> Self {
        if earlier.plan != self.plan {
            return self;
        }
        let Self { ledger, read, claims, .. } = earlier;
        Self { ledger, read, claims, ..self }
    }

    /// The job.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What is known of the job since the last look.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Reads the commits that are new; gives what is left. Steps of large objects come first: they
    /// take longest.
    pub async fn look(&mut self) -> Result<Vec<Work>, FolderError> {
        self.check().await?;
        let found = self.folder.list("commit").await?;
        let found: HashSet<_> = found.into_iter().map(|(id, _)| format!("commit/{id}")).collect();
        let is_commit = |name: &&String| name.starts_with("commit/");
        if !self.read.iter().filter(is_commit).all(|name| found.contains(name)) {
            // No job removes its commits.
            self.ledger = Ledger::new(self.plan.cuts.clone());
            self.read.clear();
        }
        let new: Vec<_> = found.into_iter().filter(|name| !self.read.contains(name)).collect();
        for (name, text) in self.read_all(new).await? {
            let commit = Commit::from_json(&name, &text);
            self.ledger.add(commit.map_err(|source| broken(&self.home, source))?);
            self.read.insert(name);
        }
        if self.ledger.has_parts() {
            self.look_at_parts().await?;
        }
        let mut left = self.ledger.parts_left();
        let ranges = self.ledger.left().map_err(|source| broken(&self.home, source))?;
        left.extend(ranges.into_iter().map(Work::Range));
        Ok(left)
    }

    /// Reads what is new of large objects.
    async fn look_at_parts(&mut self) -> Result<(), FolderError> {
        let found = self.folder.list("part").await?;
        let new = found.into_iter().map(|(id, _)| format!("part/{id}"));
        let new: Vec<_> = new.filter(|name| !self.read.contains(name)).collect();
        // That a piece was sent is known from its name.
        let (pieces, others): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|name| matches!(step_of(name), Some((_, Step::Send(_)))));
        let mut texts = self.read_all(others).await?;
        texts.extend(pieces.into_iter().map(|name| (name, Vec::new())));
        for (name, text) in texts {
            let Some((id, step)) = step_of(&name) else { continue };
            let Some(object) = self.ledger.object(id) else { continue };
            let unreadable = |error: serde_json::Error| LedgerError::Unreadable {
                name: name.clone(),
                reason: error.to_string(),
            };
            match step {
                Step::Send(piece) => _ = object.sent.insert(piece),
                Step::Begin => {
                    let begun = serde_json::from_slice(&text).map_err(unreadable);
                    object.begun = Some(begun.map_err(|source| broken(&self.home, source))?);
                }
                Step::End => {
                    let end = Commit::from_json(&name, &text);
                    object.end = Some(end.map_err(|source| broken(&self.home, source))?);
                }
            }
            self.read.insert(name);
        }
        Ok(())
    }

    /// Reads files of the folder, many at a time.
    async fn read_all(&self, names: Vec<String>) -> Result<Vec<(String, Vec<u8>)>, FolderError> {
        let folder = &self.folder;
        let reading = stream::iter(names).map(|name| async move {
            let text = folder.read(&name).await?.unwrap_or_default();
            Ok::<_, FolderError>((name, text))
        });
        reading.buffer_unordered(READS_AT_ONCE).try_collect().await
    }

    /// Reads what later runs of failed objects came to.
    pub async fn look_at_retries(&mut self) -> Result<(), FolderError> {
        for (id, _) in self.folder.list("retry").await? {
            let name = format!("retry/{id}");
            let text = self.folder.read(&name).await?.unwrap_or_default();
            let retry = Commit::from_json(&name, &text);
            let retry = retry.map_err(|source| broken(&self.home, source))?;
            self.ledger.add_retry(id, retry);
        }
        Ok(())
    }

    /// Writes what a later run of what failed came to; `before` is what was known.
    pub async fn retried(
        &mut self,
        work: &Work,
        before: &Commit,
        retry: Commit,
    ) -> Result<(), FolderError> {
        // A shard that is done again as a whole does some of it a second time. What was done and
        // fails then is done nonetheless.
        let failed = retry.failed.min(before.failed);
        let newly = retry.done.min(before.failed - failed);
        let is_more = retry.done > newly;
        let all = if is_more { before.bytes.max(retry.bytes) } else { before.bytes + retry.bytes };
        // The sum of all retries: what the first commit has is not in it.
        let first = self.ledger.first(work);
        let (done, bytes) = first.map_or((0, 0), |first| (first.done, first.bytes));
        let retry = Commit {
            done: before.done + newly - done,
            failed,
            bytes: all - bytes,
            worker: self.name.clone(),
            ..retry
        };
        let id = work.id();
        self.folder.write(&format!("retry/{id}"), &retry.to_json()).await?;
        self.ledger.add_retry(id, retry);
        Ok(())
    }

    /// The workers that have claimed something of what is left, or wait.
    pub async fn crew(&mut self, left: &[Work]) -> Result<Vec<Member>, FolderError> {
        self.claims.look(&self.folder).await?;
        let lease = self.lease();
        let by_id: HashMap<String, &Work> = left.iter().map(|work| (work.id(), work)).collect();
        let ids = self.claims.0.keys().filter(|id| !id.starts_with(LEFT));
        let (idle, busy): (Vec<_>, Vec<_>) = ids.cloned().partition(|id| id.starts_with(IDLE));
        let waiting = idle.iter().filter_map(|id| {
            let name = id.strip_prefix(IDLE)?.to_owned();
            Some(Member { name, work: None, is_live: self.claims.is_live(id, lease) })
        });
        let mut crew: Vec<_> = waiting.collect();
        let names = busy.iter().map(|id| format!("claim/{id}")).collect();
        for (file, text) in self.read_all(names).await? {
            let id = file.trim_start_matches("claim/");
            let text = String::from_utf8_lossy(&text);
            // What was written of it may be gone by now.
            let (Some(name), Some(work)) = (text.split_whitespace().next(), by_id.get(id)) else {
                continue;
            };
            let (name, work) = (name.to_owned(), Some((*work).clone()));
            crew.push(Member { name, work, is_live: self.claims.is_live(id, lease) });
        }
        crew.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(crew)
    }

    /// What to do next. Of what is left, it begins to look `share` of the way through, or anywhere:
    /// workers that begin at different places rarely want the same.
    pub async fn next(&mut self, share: Option<f64>) -> Result<Turn, FolderError> {
        let left = self.look().await?;
        if left.is_empty() {
            self.clean().await?;
            return Ok(Turn::Done);
        }
        let lease = self.lease();
        self.claims.look(&self.folder).await?;
        let (behind, before) =
            left.split_at(place(left.len(), share.unwrap_or_else(fastrand::f64)));
        for work in before.iter().chain(behind) {
            let id = work.id();
            if self.claims.is_live(&id, lease) {
                continue;
            }
            let name = format!("claim/{id}");
            let is_dead = self.claims.is_known(&id);
            let is_mine = if is_dead {
                self.folder.write(&name, &claim(&self.name, 0)).await?;
                true
            } else {
                self.folder.create(&name, &claim(&self.name, 0)).await?
            };
            if !is_mine {
                continue;
            }
            let left = format!("claim/{LEFT}{id}");
            let again = is_dead || self.folder.read(&left).await?.is_some();
            let (yields, lost) = (Arc::default(), CancellationToken::new());
            let beats = self.beat(id.clone(), Arc::clone(&yields), lost.clone());
            let begun = match work {
                Work::Part(object, _) => self.ledger.begun(object).cloned(),
                Work::Range(_) => None,
            };
            let work = work.clone();
            let claimed = Claimed { work, again, begun, yields, lost, _beats: beats };
            self.be_idle(false).await?;
            // Its last worker may have ended since the commits were looked at.
            if self.folder.read(&place_of(&claimed.work)).await?.is_none() {
                return Ok(Turn::Run(claimed));
            }
            self.free(claimed).await?;
            return Ok(Turn::Wait(PAUSE_MIN));
        }
        self.be_idle(true).await?;
        Ok(Turn::Wait((lease / BEATS).min(PAUSE_MAX)))
    }

    /// Says that it waits, or does so no longer.
    async fn be_idle(&mut self, is_idle: bool) -> Result<(), FolderError> {
        let name = format!("claim/{IDLE}{}", self.name);
        if is_idle {
            self.beats += 1;
            self.folder.write(&name, &claim(&self.name, self.beats)).await?;
        } else if self.is_idle {
            self.folder.remove(&name).await?;
        }
        self.is_idle = is_idle;
        Ok(())
    }

    /// Into how many shards what is left of one is best cut: not at all while there are others that
    /// have no worker.
    pub async fn pieces(&mut self) -> Result<usize, FolderError> {
        let left = self.look().await?;
        self.claims.look(&self.folder).await?;
        let lease = self.lease();
        let is_short = left.iter().all(|work| self.claims.is_live(&work.id(), lease));
        Ok(if is_short { self.claims.crowd(lease).pieces() } else { 1 })
    }

    /// How long a claim may stay the same before its shard is taken over.
    pub fn lease(&self) -> Duration {
        Duration::from_secs_f64(self.plan.lease_s)
    }

    /// Commits what became of a shard, or of a large object at its end. False if another run of it
    /// was first: then that one counts.
    pub async fn commit(&mut self, claimed: Claimed, commit: Commit) -> Result<bool, FolderError> {
        self.check().await?;
        let name = place_of(&claimed.work);
        // An earlier worker may have done some of what is left, too.
        for range in commit.left().into_iter().filter(|_| claimed.again) {
            let left = format!("claim/{LEFT}{}", Work::Range(range).id());
            self.folder.write(&left, self.name.as_bytes()).await?;
        }
        let is_first = self.folder.create(&name, &commit.to_json()).await?;
        if is_first && matches!(claimed.work, Work::Range(_)) {
            self.read.insert(name);
            self.ledger.add(commit);
        }
        self.free(claimed).await?;
        Ok(is_first)
    }

    /// Writes how the upload of a large object was begun. False if another was first: then its
    /// upload is the one that counts.
    pub async fn begun(&self, claimed: Claimed, begun: &Begun) -> Result<bool, FolderError> {
        self.check().await?;
        let text = serde_json::to_vec(begun).unwrap_or_default();
        let is_first = self.folder.create(&place_of(&claimed.work), &text).await?;
        self.free(claimed).await?;
        Ok(is_first)
    }

    /// Writes that a piece of a large object was sent, or failed: the worker that completes the
    /// object sends what is missing.
    pub async fn sent(&self, claimed: Claimed) -> Result<(), FolderError> {
        let text = format!("{{\"worker\":\"{}\"}}\n", self.name);
        self.folder.create(&place_of(&claimed.work), text.as_bytes()).await?;
        self.free(claimed).await
    }

    /// Leaves an unfinished shard to other workers. They see that some of it may be done already.
    pub async fn release(&self, claimed: Claimed) -> Result<(), FolderError> {
        let id = claimed.work.id();
        if claimed.lost.is_cancelled() {
            return Ok(());
        }
        drop(claimed);
        self.folder.write(&format!("claim/{LEFT}{id}"), self.name.as_bytes()).await?;
        self.folder.remove(&format!("claim/{id}")).await
    }

    /// Takes away the claim of what is written.
    async fn free(&self, claimed: Claimed) -> Result<(), FolderError> {
        let id = claimed.work.id();
        if claimed.lost.is_cancelled() {
            return Ok(());
        }
        drop(claimed);
        self.folder.remove(&format!("claim/{id}")).await
    }

    /// Writes a claim anew again and again, and looks whether others have nothing to do. A beat
    /// that fails is made up for by the next.
    ///
    /// A worker that was stopped for longer than a lease finds another's claim, or none, and must
    /// not go on: what it would write or remove may be out of date.
    fn beat(&self, id: String, yields: Arc<AtomicBool>, lost: CancellationToken) -> JoinSet<()> {
        let (folder, worker, lease) = (self.folder.clone(), self.name.clone(), self.lease());
        let mut claims = Claims::default();
        let mut beats = JoinSet::new();
        beats.spawn(async move {
            for beat in 1_u64.. {
                tokio::time::sleep(lease / BEATS).await;
                let name = format!("claim/{id}");
                let found = folder.read(&name).await;
                let is_mine = |text: &Vec<u8>| text.starts_with(format!("{worker} ").as_bytes());
                if found.is_ok_and(|found| !found.as_ref().is_some_and(is_mine)) {
                    return lost.cancel();
                }
                let written = folder.write(&name, &claim(&worker, beat)).await;
                if let Err(error) = written.and(claims.look(&folder).await) {
                    tracing::info!(%error, "a claim was not renewed");
                }
                let crowd = claims.crowd(lease);
                if crowd.wants_part(fastrand::f64()) {
                    yields.store(true, Ordering::Relaxed);
                }
            }
        });
        beats
    }

    /// Removes claims of workers that died once their shard was done.
    async fn clean(&self) -> Result<(), FolderError> {
        for (id, _) in self.folder.list("claim").await? {
            self.folder.remove(&format!("claim/{id}")).await?;
        }
        Ok(())
    }
}

/// A name that no other worker has: host, process and chance.
fn name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.is_empty() { "worker" } else { host.trim() };
    format!("{host}-{}-{:08x}", std::process::id(), fastrand::u32(..))
}

/// What is known of the claims of a job: the state of each, and since when it is so.
#[derive(Debug, Default)]
struct Claims(HashMap<String, (String, Instant)>);

impl Claims {
    async fn look(&mut self, folder: &JobFolder) -> Result<(), FolderError> {
        let found = folder.list("claim").await?;
        let mut before = std::mem::take(&mut self.0);
        for (id, state) in found {
            let since = match before.remove(&id) {
                Some((known, since)) if known == state => since,
                _ => Instant::now(),
            };
            self.0.insert(id, (state, since));
        }
        Ok(())
    }

    /// Whether there is one.
    fn is_known(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// Whether one was renewed within a lease.
    fn is_live(&self, id: &str, lease: Duration) -> bool {
        self.0.get(id).is_some_and(|(_, since)| since.elapsed() < lease)
    }

    /// How many workers wait, and how many do not.
    fn crowd(&self, lease: Duration) -> Crowd {
        let live = self.0.keys().filter(|id| !id.starts_with(LEFT) && self.is_live(id, lease));
        let (idle, running): (Vec<_>, Vec<_>) = live.partition(|id| id.starts_with(IDLE));
        Crowd { idle: idle.len(), running: running.len() }
    }
}

/// Where it is written what became of something.
fn place_of(work: &Work) -> String {
    let folder = match work {
        Work::Range(_) => "commit",
        Work::Part(..) => "part",
    };
    format!("{folder}/{}", work.id())
}

/// Object and step that a file in `part` is of.
fn step_of(name: &str) -> Option<(&str, Step)> {
    let (id, suffix) = name.strip_prefix("part/")?.split_once('-')?;
    Some((id, Step::of_suffix(suffix)?))
}

fn broken(folder: &JobFolder, source: LedgerError) -> FolderError {
    FolderError::Ledger { name: folder.name(), source }
}

fn claim(worker: &str, beat: u64) -> Vec<u8> {
    format!("{worker} {beat}\n").into_bytes()
}

/// Which of so many lies this share of the way through.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a share of a small number"
)]
fn place(count: usize, share: f64) -> usize {
    ((count as f64 * share.clamp(0.0, 1.0)) as usize).min(count.saturating_sub(1))
}

#[cfg(test)]
mod tests;
