//! One round: a world is laid out, a job runs, something is killed, the job runs again.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::Again;
use super::check::{self, State};
use super::client::{Client, Running};
use super::plan::{Moment, Plan, Route, Verb, Victim};
use super::server::{Kind, Server};
use super::tree::{self, Contents};
use support::files;

/// Where a job that is to be resumed has its journal.
const JOURNAL: [&str; 2] = ["--journal", "journal"];
/// Where a job that is planned first has its plan.
const PLAN: &str = "plan.parquet";
/// Times that objects are read which a server may still be removing.
const READS_MAX: u32 = 5;
/// It has but a few requests left.
const QUIET_SOON: Duration = Duration::from_millis(200);

/// How a round ended in which nothing is wrong.
pub(super) struct Ended {
    /// The kill struck while the job ran.
    pub(super) is_hit: bool,
    /// The job's server was killed, and the job succeeded.
    pub(super) has_survived: bool,
    /// Unfinished files that were there after the kill.
    pub(super) temporary_files: u64,
    /// Uploads that were open after the last run, and were aborted.
    pub(super) open_uploads: u64,
}

/// Runs a plan. A failure keeps the folder and names it.
pub(super) fn round(binary: &Path, kind: Kind, plan: &Plan, again: Again) -> Result<Ended> {
    let mut scratch = tempfile::Builder::new().prefix("s3haul-kill-").tempdir()?;
    let world = World::lay_out(binary, kind, plan, scratch.path());
    let world = world.map(|world| World { again, ..world });
    let result = world.and_then(|mut world| world.play());
    result.with_context(|| {
        scratch.disable_cleanup(true);
        format!("all is kept in {}", scratch.path().display())
    })
}

struct World<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    server: Server,
    client: Client,
    again: Again,
}

impl<'a> World<'a> {
    fn lay_out(binary: &Path, kind: Kind, plan: &'a Plan, folder: &'a Path) -> Result<Self> {
        let server = Server::start(kind, binary, folder)?;
        let client = Client::new(binary, folder, server.url())?;
        let mut bucket = Contents::new();
        let mut put = |prefix: &str, contents: Contents| {
            let keyed =
                contents.into_iter().map(|(name, bytes)| (format!("{prefix}{name}"), bytes));
            bucket.extend(keyed);
        };
        put("", check::bystanders());
        if plan.route == Route::Up {
            tree::write(&folder.join("in"), &plan.source)?;
        } else {
            put("from/", plan.source.clone());
        }
        if plan.route == Route::Down {
            tree::write(&folder.join("out"), &plan.target)?;
        } else {
            put("to/", plan.target.clone());
        }
        tree::write(&folder.join("made"), &bucket)?;
        client.run(&["mb", "s3://box"])?;
        client.run(&["mv", "--recursive", "made", "s3://box", "--only-show-errors"])?;
        Ok(Self { plan, folder, server, client, again: Again::Same })
    }

    fn play(&mut self) -> Result<Ended> {
        if self.again == Again::Cluster {
            return self.play_in_shards();
        }
        let mut arguments = self.arguments();
        if self.again == Again::Apply {
            self.make_plan()?;
        }
        if self.again != Again::Same {
            arguments.extend(JOURNAL);
        }
        let mut running = self.client.start(&arguments, "killed")?;
        let is_there = running.wait_for(self.plan.moment)?;
        let (is_hit, is_done) = match self.plan.victim {
            Victim::Client => (running.kill()? && is_there, false),
            _ => self.kill_server_under(&mut running, is_there)?,
        };
        let (state, temporary_files) = self.expect_harmless()?;
        if is_done {
            self.expect_done(&state, "the job that succeeded")?;
        }
        self.run_again().context("the second run")?;
        self.expect_done(&self.state("second")?, "the second run")?;
        let open_uploads = self.abort_uploads()?;
        let has_survived = is_hit && is_done;
        Ok(Ended { is_hit, has_survived, temporary_files, open_uploads })
    }

    fn arguments(&self) -> Vec<&'static str> {
        match self.again {
            Again::Apply => vec!["apply", PLAN],
            Again::Same | Again::Resume | Again::Cluster => self.plan.arguments(),
        }
    }

    /// Three workers do the job, or what a plan of it says. What they do not come to others do.
    fn play_in_shards(&mut self) -> Result<Ended> {
        let folder = if self.plan.seed.is_multiple_of(2) { "s3://ops/job" } else { "shards" };
        self.client.run(&["mb", "s3://ops"])?;
        let what = if self.plan.seed.is_multiple_of(3) {
            self.make_plan()?;
            [PLAN, "--apply"]
        } else {
            let job = self.client.run(&[&self.plan.arguments()[..], &["--print-job"]].concat())?;
            fs::write(self.folder.join("job.json"), job)?;
            ["job.json", "--resume"]
        };
        let start = ["job", "start", what[0], what[1], "--at", folder, "--shards", "6"];
        self.client.run(&[&start[..], &["--budget", "0.2", "--lease", "3"]].concat())?;
        let worker = ["worker", "--job", folder];
        let names = ["worker-0", "worker-1", "worker-2"];
        let mut workers = names
            .iter()
            .map(|name| self.client.start(&worker, name))
            .collect::<Result<Vec<_>>>()?;
        // A worker prints a line for each shard.
        let Moment { lines, further } = self.plan.moment;
        let is_there = workers[0].wait_for(Moment { lines: lines % 3, further })?;
        let mut is_hit = false;
        if self.plan.victim == Victim::Client {
            let victims = 1 + usize::try_from(self.plan.seed % 3)?;
            for worker in workers.iter_mut().take(victims) {
                is_hit |= worker.kill()? && is_there;
            }
        } else {
            is_hit = self.kill_server(&mut workers[0], is_there)?;
        }
        let mut is_done = false;
        for worker in &mut workers {
            is_done |= worker.wait()?.success();
        }
        if self.plan.victim == Victim::ServerGone {
            self.server.restart()?;
        }
        let (_, temporary_files) = self.expect_harmless()?;
        let resumed = self.client.start(&["jobs", "resume", folder], "resumed")?.wait()?;
        // A worker whose server was killed may have warned of an upload that it could not abort.
        ensure!(matches!(resumed.code(), Some(0 | 2)), "jobs resume ended with {resumed}");
        self.expect_done(&self.state("second")?, "the workers")?;
        let job = self.client.run(&["jobs", "show", folder])?;
        ensure!(job.contains("state:      done"), "the job is not done:\n{job}");
        // What a killed worker copied is copied again by the one whose commit counts; what it did
        // of a plan needs nothing.
        let counts_each = !self.plan.seed.is_multiple_of(3);
        if counts_each && matches!(self.plan.verb, Verb::Copy | Verb::Tag) {
            let done = format!("done:       {} objects", self.plan.source.len());
            ensure!(job.contains(&done), "not each of {} once:\n{job}", self.plan.source.len());
        }
        let open_uploads = self.abort_uploads()?;
        Ok(Ended { is_hit, has_survived: is_hit && is_done, temporary_files, open_uploads })
    }

    /// Runs the command again, or goes on with the job that was killed, where it is not complete.
    fn run_again(&self) -> Result<()> {
        let jobs = self.client.run(&[&["jobs", "ls"], &JOURNAL[..]].concat())?;
        // A job that was killed as soon as it began has none.
        let Some(job) = jobs.lines().next().filter(|_| self.again != Again::Same) else {
            return self.client.run(&self.arguments()).map(drop);
        };
        let mut words = job.split_whitespace();
        let id = words.next().context("a job has a name")?;
        if words.next() == Some("done") {
            return Ok(());
        }
        self.client.run(&[&["jobs", "resume", id], &JOURNAL[..]].concat()).map(drop)
    }

    fn make_plan(&self) -> Result<()> {
        let plan = [&["plan"], &self.plan.arguments()[..], &["--plan", PLAN]].concat();
        self.client.run(&plan).map(drop)
    }

    /// Kills the server, and starts it again where it is to be back soon; gives whether the client
    /// ran then.
    fn kill_server(&mut self, client: &mut Running, is_there: bool) -> Result<bool> {
        self.server.kill();
        let is_hit = is_there && client.is_running()?;
        if let Victim::ServerBackAfter(pause) = self.plan.victim {
            sleep(pause);
            self.server.restart()?;
        }
        Ok(is_hit)
    }

    /// The same, and waits for the job; gives also whether it succeeded.
    fn kill_server_under(&mut self, client: &mut Running, is_there: bool) -> Result<(bool, bool)> {
        let is_hit = self.kill_server(client, is_there)?;
        let status = client.wait()?;
        if self.plan.victim == Victim::ServerGone {
            self.server.restart()?;
        }
        match status.code() {
            Some(0) => Ok((is_hit, true)),
            Some(1) if is_hit => Ok((true, false)),
            _ => bail!("the job whose server was killed ended with {status}"),
        }
    }

    /// What is there after the kill, in which nothing may be wrong, and its unfinished files.
    fn expect_harmless(&self) -> Result<(State, u64)> {
        let state = self.state_once_quiet("first")?;
        let wrong = check::after_kill(self.plan, &state);
        ensure!(wrong.is_empty(), "after the kill: {}", wrong.join("; "));
        let temporary_files = check::temporary_files(&state).count() as u64;
        Ok((state, temporary_files))
    }

    fn expect_done(&self, state: &State, what: &str) -> Result<()> {
        let wrong = check::at_end(self.plan, state);
        ensure!(wrong.is_empty(), "after {what}: {}", wrong.join("; "));
        if self.plan.verb == Verb::Tag {
            let tags = self.client.run(&["tag", "get", "--recursive", "s3://box/from/"])?;
            let tagged = tags.lines().filter(|line| line.ends_with("\tcolour=blue")).count();
            ensure!(tagged == self.plan.source.len(), "after {what}: {tagged} have their tag");
        }
        Ok(())
    }

    /// What is there when the server has carried out what it still had of a client that is gone:
    /// until then objects may go while they are read.
    fn state_once_quiet(&self, name: &str) -> Result<State> {
        for _ in 1..READS_MAX {
            if let Ok(state) = self.state(name) {
                return Ok(state);
            }
            sleep(QUIET_SOON);
        }
        self.state(name)
    }

    /// What is there now, read through the server.
    fn state(&self, name: &str) -> Result<State> {
        let folder = self.folder.join(name);
        files::remove(&folder)?;
        let copy = folder.to_string_lossy();
        self.client.run(&["cp", "--recursive", "s3://box", &copy, "--only-show-errors"])?;
        let mut others = tree::read(&folder)?;
        if let Some(mark) = self.server.kind().leftover_mark() {
            others.retain(|name, _| !name.contains(mark));
        }
        let (mut source, mut target) =
            (tree::split(&mut others, "from/"), tree::split(&mut others, "to/"));
        if self.plan.route == Route::Up {
            source = tree::read(&self.folder.join("in"))?;
        }
        if self.plan.route == Route::Down {
            target = tree::read(&self.folder.join("out"))?;
        }
        Ok(State { source, target, others })
    }

    /// Aborts incomplete uploads, which no process works on any more; returns their number.
    fn abort_uploads(&self) -> Result<u64> {
        let count = |listing: &str| listing.lines().filter(|line| !line.is_empty()).count() as u64;
        let open = count(&self.client.run(&["uploads", "ls", "s3://box"])?);
        self.client.run(&["uploads", "abort", "s3://box"])?;
        let left = self.client.run(&["uploads", "ls", "s3://box"])?;
        ensure!(count(&left) == 0, "uploads stay open:\n{left}");
        Ok(open)
    }
}
