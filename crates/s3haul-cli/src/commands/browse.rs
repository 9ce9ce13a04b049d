//! `browse`: the loop between the terminal, the listing and the service.
//!
//! One task draws and decides; whatever waits runs beside it and answers through a bounded queue.
//! The listing goes into the tree page by page. Changes are commands that are planned and applied
//! (`jobs`), and no others.

mod jobs;
mod look;
mod saved;
mod source;

use std::io::IsTerminal as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use s3haul_list::Order;
use s3haul_wire::Client;
use s3haul_wire::ops::ListPage;
use s3haul_wire::units::LocalTime;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval};

use self::jobs::{Jobs, TransferOf};
use self::source::Source;
use super::listing::{PageWorker, SelectedPage, for_each_page};
use crate::browse::{Answer, App, Ask, Listing, Look, Object, SharedTree, draw};
use crate::commands::inputs::{Inputs, no_screen};
use crate::commands::shared::SharedClients;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::settings::{BrowseSettings, ListingSettings};
use crate::terminal::{Input, Key, Screen};

/// How often what was listed since is shown.
const TICK: Duration = Duration::from_millis(150);
/// Keys and answers that wait at most.
const QUEUE_MAX: usize = 64;

/// Refuses to run where there is no terminal.
pub(super) fn check_terminal(printer: &Printer) -> Result<(), Failure> {
    if printer.output_is_terminal() && std::io::stdin().is_terminal() {
        return Ok(());
    }
    Err(Failure::other("`browse` needs a terminal for standard input and standard output")
        .with_hint("`s3haul summarize` and `s3haul list` print what is there"))
}

/// Shows the screen until it is left. `transfer_of` prepares the commands that are run.
pub(super) async fn run(
    settings: BrowseSettings,
    printer: &Arc<Printer>,
    interrupt: Arc<Interrupt>,
    transfer_of: TransferOf,
) -> Result<u8, Failure> {
    let (answers, inbox) = mpsc::channel(QUEUE_MAX);
    let said = answers.clone();
    // What would go to standard error is a message on the screen. One that finds no room is lost.
    let say = Arc::new(move |bytes: &[u8]| {
        for line in String::from_utf8_lossy(bytes).lines() {
            _ = said.try_send(Answer::Said(line.to_owned()));
        }
    });
    let quiet = Arc::new(Printer::handing_on(Arc::new(|_: &[u8]| {}), say));
    let clients = Arc::new(SharedClients::of_program(Arc::clone(&quiet)));
    let look =
        Look { color: printer.color(), unicode: settings.unicode, zone: LocalTime::system() };
    let source = Source::new(&settings.place, &clients).await?;
    let tree = SharedTree::new(source.prefix());
    let app = App::new(source.place(), &tree.lock());
    let jobs = Arc::new(Jobs::new(settings, clients, transfer_of)?);
    let screen = Screen::open(printer).map_err(|error| no_screen(&error))?;
    let mut browser = Browser {
        source,
        tree,
        app,
        look,
        jobs,
        screen,
        printer: quiet,
        answers,
        tasks: JoinSet::new(),
        listing: None,
        asking: None,
        opening: None,
    };
    browser.list();
    let left = browser.run(inbox, &interrupt).await;
    browser.finish().await;
    left
}

/// Everything at work.
struct Browser {
    source: Source,
    tree: SharedTree,
    app: App,
    look: Look,
    jobs: Arc<Jobs>,
    screen: Screen,
    printer: Arc<Printer>,
    answers: mpsc::Sender<Answer>,
    tasks: JoinSet<()>,
    listing: Option<AbortHandle>,
    /// The last question to the service, or the plan that is being made.
    asking: Option<AbortHandle>,
    /// The folder that is listed by itself.
    opening: Option<AbortHandle>,
}

impl Browser {
    /// Draws and answers until the screen is left; gives the exit code.
    async fn run(
        &mut self,
        mut inbox: mpsc::Receiver<Answer>,
        interrupt: &Interrupt,
    ) -> Result<u8, Failure> {
        let mut inputs = Inputs::start();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let interrupted = interrupt.token();
        loop {
            self.draw()?;
            tokio::select! {
                () = interrupted.cancelled() => return Ok(exit::INTERRUPTED),
                input = inputs.next() => match input? {
                    Input::Resized => {}
                    Input::Key(key) => if self.press(key)?.is_break() {
                        return Ok(exit::SUCCESS);
                    },
                },
                Some(answer) = inbox.recv() => {
                    self.app.take(answer);
                    // The rest of what is there: one drawing is enough for all.
                    while let Ok(answer) = inbox.try_recv() {
                        self.app.take(answer);
                    }
                    self.refresh(false)?;
                }
                Some(ended) = self.tasks.join_next() => carry_on_panic(ended),
                _ = ticks.tick() => self.refresh(true)?,
            }
        }
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let Self { screen, app, look, .. } = self;
        screen.draw(|buffer| draw(app, look, buffer)).map_err(|error| no_screen(&error))
    }

    fn press(&mut self, key: Key) -> Result<ControlFlow<()>, Failure> {
        if let Some(ask) = self.app.press(key)
            && self.ask(ask)?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        self.refresh(false)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Takes over what was listed, and all that came of a job meanwhile.
    fn refresh(&mut self, is_due: bool) -> Result<(), Failure> {
        let ended = self.jobs.ended();
        if ended > 0 {
            self.app.take(Answer::Ended(ended));
        }
        let ask = self.app.refresh(&self.tree.lock(), is_due);
        // Nothing that a listing asks for leaves the screen.
        ask.map_or(Ok(ControlFlow::Continue(())), |ask| self.ask(ask)).map(drop)
    }

    /// Does what the screen asks.
    fn ask(&mut self, ask: Ask) -> Result<ControlFlow<()>, Failure> {
        match ask {
            Ask::Leave => return Ok(ControlFlow::Break(())),
            Ask::List => self.list(),
            Ask::Plan(steps) => {
                let jobs = Arc::clone(&self.jobs);
                self.answer(async move { Answer::Planned(jobs.plan(steps).await) });
            }
            Ask::Apply => {
                let (jobs, tree) = (Arc::clone(&self.jobs), self.tree.clone());
                let answers = self.answers.clone();
                // Nothing but its own token ends it: what is under way comes to an end.
                self.tasks.spawn(async move {
                    let outcome = jobs.apply(tree).await;
                    _ = answers.send(Answer::Applied(outcome)).await;
                });
            }
            Ask::Cancel => {
                self.jobs.cancel();
                if let Some(asking) = self.asking.take() {
                    asking.abort();
                }
            }
            Ask::Copy(text, keeps_files) => self.copy(&text, keeps_files)?,
            Ask::Open { .. } => {
                // Neither a plan nor a pane waits for a folder, nor does it end them.
                let answer = look::answer(self.source.clone(), ask);
                let opening = self.spawn(answer);
                if let Some(before) = self.opening.replace(opening) {
                    before.abort();
                }
            }
            other => {
                let source = self.source.clone();
                self.answer(async move { look::answer(source, other).await });
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Has a question answered; the one before is not waited for any more.
    fn answer(&mut self, answer: impl Future<Output = Answer> + Send + 'static) {
        if let Some(before) = self.asking.take() {
            before.abort();
        }
        self.asking = Some(self.spawn(answer));
    }

    fn spawn(&mut self, answer: impl Future<Output = Answer> + Send + 'static) -> AbortHandle {
        let answers = self.answers.clone();
        self.tasks.spawn(async move {
            _ = answers.send(answer.await).await;
        })
    }

    fn copy(&mut self, text: &str, keeps_files: bool) -> Result<(), Failure> {
        let is_copied = self.screen.copy(text).map_err(|error| no_screen(&error))?;
        let said = match (is_copied, keeps_files.then(|| self.jobs.keep_names()).flatten()) {
            (false, _) => "too long to be copied".to_owned(),
            (true, Some(folder)) => format!("copied; the keys stay in {}", folder.display()),
            (true, None) => format!("copied: {text}"),
        };
        self.app.take(Answer::Said(said));
        Ok(())
    }

    /// Lists everything, from the beginning.
    fn list(&mut self) {
        if let Some(before) = self.listing.take() {
            before.abort();
        }
        // What is left of the listing before goes on in the old one, which is not shown any more.
        self.tree = SharedTree::new(self.source.prefix());
        let (tree, printer) = (self.tree.clone(), Arc::clone(&self.printer));
        self.listing = Some(match self.source.clone() {
            Source::Service { client, listing } => {
                self.tasks.spawn(async move { list(client, &listing, &tree, &printer).await })
            }
            Source::File(saved) => self.tasks.spawn_blocking(move || saved.read_into(&tree)),
        });
    }

    /// Ends what runs, and has what was begun come to its end.
    async fn finish(mut self) {
        drop(self.screen);
        self.jobs.cancel();
        for task in [self.listing, self.asking, self.opening].into_iter().flatten() {
            task.abort();
        }
        if let Source::File(saved) = &self.source {
            saved.stop();
        }
        drop(self.answers);
        while let Some(ended) = self.tasks.join_next().await {
            carry_on_panic(ended);
        }
    }
}

fn carry_on_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && let Ok(panic) = error.try_into_panic()
    {
        std::panic::resume_unwind(panic);
    }
}

/// Lists everything into the tree.
async fn list(
    client: Client,
    settings: &ListingSettings,
    tree: &SharedTree,
    printer: &Arc<Printer>,
) {
    let shared = tree.clone();
    let make = move || Ok(Planter { tree: shared.clone() });
    let listed = for_each_page::<ListPage, _, _>(client, settings, Order::Any, printer, make).await;
    tree.lock().listing = match listed {
        Ok(_) => Listing::Complete,
        Err(failure) => Listing::Failed(failure.message),
    };
}

/// Adds pages to the tree.
struct Planter {
    tree: SharedTree,
}

impl PageWorker for Planter {
    type Done = ();

    fn page(&mut self, page: &SelectedPage<'_>) -> Result<ControlFlow<()>, Failure> {
        let mut tree = self.tree.lock();
        for object in page.iter() {
            tree.add(&Object {
                key: object.key,
                size: object.size,
                modified_s: Some(object.last_modified_s),
                class: object.storage_class,
            });
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(self) -> Result<(), Failure> {
        Ok(())
    }
}
