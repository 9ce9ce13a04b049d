//! What is done about objects: the commands that one would type, planned first and then applied.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::event::{ActionKind, Event, EventSink, Outcome as ObjectOutcome};
use s3haul::job::value::OutputLines;
use s3haul::job::{Streams, Summary};
use s3haul::location::Location;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::args::{self, Command, GlobalArgs};
use crate::batch::Line;
use crate::browse::{Outcome, Planned, SharedTree, Step};
use crate::commands::plan::Totals;
use crate::commands::shared::SharedClients;
use crate::commands::transfer::run_observed;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::plan::PlanFile;
use crate::printer::Printer;
use crate::settings::{BrowseSettings, Environment, TransferSettings, command_line};

/// Messages of a command that are kept.
const MESSAGES_MAX: usize = 100;
/// Warnings of a plan that are shown beside what it comes to: of objects that are left out, mostly.
const WARNINGS_MAX: usize = 8;
/// Removed objects after which they are taken out of the tree.
const REMOVED_MAX: usize = 1000;

/// What a command would do about objects; nothing where it is done already. Commands that do
/// anything else are an error.
pub(in crate::commands) type TransferOf = fn(
    &GlobalArgs,
    &Command,
    Environment,
    &Arc<Printer>,
) -> Result<Option<Box<TransferSettings>>, Failure>;

/// Plans and applies commands, one action at a time.
pub(super) struct Jobs {
    settings: BrowseSettings,
    clients: Arc<SharedClients>,
    transfer_of: TransferOf,
    /// Plans, and files of keys. It is removed at the end, unless a command was copied that
    /// needs it or a plan was not done to its end.
    folder: Mutex<Option<TempDir>>,
    path: PathBuf,
    /// Number of the next file.
    number: AtomicU64,
    /// The plans that were made last.
    plans: Mutex<Vec<PathBuf>>,
    /// One of the commands reads keys from a file.
    has_names: Mutex<bool>,
    /// Objects that have ended since this was asked for.
    ended: Arc<AtomicU64>,
    token: Mutex<CancellationToken>,
}

impl Jobs {
    pub(super) fn new(
        settings: BrowseSettings,
        clients: Arc<SharedClients>,
        transfer_of: TransferOf,
    ) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("s3haul-browse-").tempdir();
        let folder = folder
            .map_err(|error| Failure::other(format!("cannot make a temporary folder: {error}")))?;
        Ok(Self {
            settings,
            clients,
            transfer_of,
            path: folder.path().to_owned(),
            folder: Mutex::new(Some(folder)),
            number: AtomicU64::new(1),
            plans: Mutex::default(),
            has_names: Mutex::default(),
            ended: Arc::default(),
            token: Mutex::default(),
        })
    }

    /// Objects that have ended since the last call.
    pub(super) fn ended(&self) -> u64 {
        self.ended.swap(0, Ordering::Relaxed)
    }

    /// Ends what runs.
    pub(super) fn cancel(&self) {
        held(&self.token).cancel();
    }

    /// Keeps the files of keys, if there are some, and gives their folder.
    pub(super) fn keep_names(&self) -> Option<PathBuf> {
        if !*held(&self.has_names) {
            return None;
        }
        Some(self.keep_files())
    }

    fn keep_files(&self) -> PathBuf {
        _ = held(&self.folder).take().map(TempDir::keep);
        self.path.clone()
    }

    fn file(&self, name: &str) -> PathBuf {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        self.path.join(format!("{number}-{name}"))
    }

    fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        held(&self.token).clone_from(&token);
        token
    }

    /// Plans commands and sums the plans up.
    pub(super) async fn plan(&self, steps: Vec<Step>) -> Result<Planned, String> {
        let token = self.begin();
        held(&self.plans).clear();
        *held(&self.has_names) = false;
        let (mut commands, mut plans, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            let words = self.words(step).map_err(|error| error.message)?;
            let plan = self.file("plan.parquet");
            commands.push(shown(&words));
            let path = plan.to_string_lossy().into_owned();
            let planning = words.iter().cloned().chain(["--plan".to_owned(), path]).collect();
            let ran = self.run(planning, None, &token).await.map_err(|error| error.message)?;
            let is_made = matches!(ran.status, exit::SUCCESS | exit::WARNED) && plan.exists();
            if !is_made {
                let first = ran.messages.into_iter().next();
                return Err(first.unwrap_or_else(|| "the plan was not made".to_owned()));
            }
            plans.push(plan);
            let is_warning = |message: &String| message.starts_with("warning: ");
            warnings.extend(ran.messages.into_iter().filter(is_warning));
        }
        held(&self.plans).clone_from(&plans);
        let prices = self.settings.prices.clone();
        let sum = tokio::task::spawn_blocking(move || -> Result<_, Failure> {
            let mut totals = Totals::default();
            for plan in &plans {
                totals.add_all(&PlanFile::open(plan)?)?;
            }
            Ok((totals.lines(&prices), totals.actions()))
        });
        let summed = sum.await.map_err(|error| error.to_string())?;
        let (mut lines, actions) = summed.map_err(|error| error.message)?;
        let are_more = warnings.len() > WARNINGS_MAX;
        lines.extend(warnings.into_iter().take(WARNINGS_MAX));
        lines.extend(are_more.then(|| "warning: there are more such objects".to_owned()));
        Ok(Planned { commands, lines, actions })
    }

    /// The words of a command; keys go to a file.
    fn words(&self, step: Step) -> Result<Vec<String>, Failure> {
        let Step { mut words, keys } = step;
        words.extend(self.settings.flags.iter().cloned());
        if !keys.is_empty() {
            let path = self.file("keys.jsonl");
            write_keys(&path, &keys).map_err(|error| {
                Failure::other(format!("cannot write `{}`: {error}", path.display()))
            })?;
            *held(&self.has_names) = true;
            words.extend(["--from".to_owned(), path.to_string_lossy().into_owned()]);
        }
        Ok(words)
    }

    /// Does the plans that were made last.
    pub(super) async fn apply(&self, tree: SharedTree) -> Outcome {
        let token = self.begin();
        let plans = std::mem::take(&mut *held(&self.plans));
        let mut outcome = Outcome::default();
        let removed =
            Arc::new(Removed { tree, ended: Arc::clone(&self.ended), rows: Mutex::default() });
        for plan in plans {
            if token.is_cancelled() {
                outcome.messages.push("cancelled: the rest was not tried".to_owned());
                break;
            }
            let words = vec!["apply".to_owned(), plan.to_string_lossy().into_owned()];
            let observer = Arc::clone(&removed) as Arc<dyn EventSink>;
            match self.run(words, Some(observer), &token).await {
                Ok(ran) => {
                    outcome.done += ran.summary.done;
                    outcome.failed += ran.summary.failed + ran.summary.not_tried;
                    let room = MESSAGES_MAX.saturating_sub(outcome.messages.len());
                    outcome.messages.extend(ran.messages.into_iter().take(room));
                }
                Err(failure) => {
                    outcome.failed += 1;
                    outcome.messages.push(failure.message);
                }
            }
        }
        removed.flush();
        if outcome.failed > 0 || token.is_cancelled() {
            // The journals that go on with it name the plans.
            let folder = self.keep_files();
            outcome.messages.push(format!("the plans stay in {}", folder.display()));
        }
        outcome
    }

    /// Runs a command to its end.
    async fn run(
        &self,
        words: Vec<String>,
        observer: Option<Arc<dyn EventSink>>,
        token: &CancellationToken,
    ) -> Result<Ran, Failure> {
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let program = std::iter::once(OsString::from("s3haul"));
        let parsed = args::parse(program.chain(words.iter().cloned()));
        let (global, command) = parsed.map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Failure::usage(first.strip_prefix("error: ").unwrap_or(first))
        })?;
        let environment = self.settings.environment.with_words(words);
        let messages = Arc::new(Mutex::new(Vec::new()));
        let printer = collecting(&messages);
        let prepare = async { (self.transfer_of)(&global, &command, environment, &printer) };
        let settings = self.clients.with(prepare).await?;
        let (status, summary) = match settings {
            Some(settings) => {
                let interrupt = Interrupt::by(token.clone());
                let run =
                    run_observed(quiet(*settings), &printer, &interrupt, no_streams(), observer);
                self.clients.with(Box::pin(run)).await?
            }
            None => (exit::SUCCESS, Summary::default()),
        };
        printer.flush();
        let messages = std::mem::take(&mut *held(&messages));
        Ok(Ran { status, summary, messages })
    }
}

/// How a command ended.
struct Ran {
    status: u8,
    summary: Summary,
    /// What it would have printed to standard error, as far as it is kept.
    messages: Vec<String>,
}

/// The same without a line for each object.
fn quiet(mut settings: TransferSettings) -> TransferSettings {
    settings.output.bar = false;
    settings.output.aws_progress = None;
    settings.output.lines = OutputLines::Errors;
    settings
}

fn no_streams() -> Streams {
    Streams { input: Box::new(std::io::empty()), output: Box::new(std::io::sink()) }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A printer that keeps messages and drops output.
fn collecting(messages: &Arc<Mutex<Vec<String>>>) -> Arc<Printer> {
    let messages = Arc::clone(messages);
    let keep = move |bytes: &[u8]| {
        let mut messages = held(&messages);
        let room = MESSAGES_MAX - messages.len();
        // How plans are applied is nothing that has to be said here.
        let text = String::from_utf8_lossy(bytes);
        let lines = text.lines().filter(|line| !line.starts_with("note: the plan"));
        messages.extend(lines.take(room).map(str::to_owned));
    };
    Arc::new(Printer::handing_on(Arc::new(|_: &[u8]| {}), Arc::new(keep)))
}

/// A command line as it may be shown.
fn shown(words: &[String]) -> String {
    command_line(Line::without_secrets(words).iter().map(OsStr::new))
}

/// Writes keys as `--from` reads them, whatever is in them.
fn write_keys(path: &Path, keys: &[String]) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create_new(path)?);
    for key in keys {
        serde_json::to_writer(&mut file, &serde_json::json!({ "key": key }))?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

/// Counts objects that end, and takes what is removed out of the tree.
struct Removed {
    tree: SharedTree,
    ended: Arc<AtomicU64>,
    rows: Mutex<Vec<(String, u64)>>,
}

impl Removed {
    fn flush(&self) {
        let rows = std::mem::take(&mut *held(&self.rows));
        self.tree.lock().remove(&rows);
    }
}

impl EventSink for Removed {
    fn emit(&self, event: &Event) {
        let Event::Object(object) = event else { return };
        self.ended.fetch_add(1, Ordering::Relaxed);
        let Location::Object(name) = &object.source else { return };
        let is_removed = object.action == ActionKind::Delete
            && matches!(object.outcome, ObjectOutcome::Done)
            && name.version_id.is_none();
        if !is_removed {
            return;
        }
        let mut rows = held(&self.rows);
        rows.push((name.key.clone(), object.bytes));
        let is_full = rows.len() >= REMOVED_MAX;
        drop(rows);
        if is_full {
            self.flush();
        }
    }
}
