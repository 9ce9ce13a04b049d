//! `cp`, `mv`, `rm`, `sync`, `tag`, `undelete` and `pipe`: one job, its events printed as they
//! come.

mod closing;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use s3haul::event::{Event, EventSink, ObjectEvent, Outcome};
use s3haul::job::value::OutputLines;
use s3haul::job::{
    Clients, Manifest, NameSource, SharedLimits, Streams, Summary, TransferCommand, TransferSpec,
    Tuning, run_transfer,
};
use s3haul::journal::{self, Journal, Live};
use s3haul::location::ObjectName;
use s3haul::plan::charges::Charges;
use s3haul::plan::s3_uri;
use s3haul_wire::Client;
use s3haul_wire::units::RequestCounts;

use super::folder::{self, Advice as FolderAdvice};
use crate::commands::listing::THAT_MEETS;
use crate::commands::shared::clients;
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::manifest::ManifestFile;
use crate::observe::Observer;
use crate::plan::{PlanFile, PlanWriter, Planning};
use crate::printer::Printer;
use crate::progress::{self, Ticker, Totals};
use crate::render::{CommandSink, OutputSettings, estimate, events, tags};
use crate::report::{FailedNames, Recorded, ReportWriter};
use crate::settings::{
    Advice, JournalSettings, KeptJournal, ManifestSettings, PlanSettings, ReportSettings,
    TransferSettings, next_report, resume_command,
};
use crate::standard_streams;
use closing::Closing;

/// Said of a report whose run did not come to everything.
const INCOMPLETE: &str = "the report is of a command that did not come to its end: what it \
    never came to was not retried";
/// The same of one that names the objects.
pub(super) const INCOMPLETE_LIST: &str = "the --from report is of a command that did not finish: \
    objects that it never reached are missing";

/// Runs the job and gives its exit code.
pub(super) async fn run(
    settings: TransferSettings,
    printer: &Arc<Printer>,
    interrupt: &Interrupt,
) -> Result<u8, Failure> {
    let streams =
        Streams { input: standard_streams::input(), output: Box::new(printer.byte_stream()) };
    run_observed(settings, printer, interrupt, streams, None).await.map(|(status, _)| status)
}

/// The same for a program, which also gets the events and the summary.
pub(crate) async fn run_observed(
    settings: TransferSettings,
    printer: &Arc<Printer>,
    interrupt: &Interrupt,
    streams: Streams,
    observer: Option<Arc<dyn EventSink>>,
) -> Result<(u8, Summary), Failure> {
    let TransferSettings {
        mut spec,
        client,
        source_client,
        output,
        mut report,
        manifest,
        notices,
        journal,
        again,
        ..
    } = settings;
    observe(&mut spec.tuning, &output, printer);
    let clients = clients(client, source_client)?;
    let is_listed = manifest.is_some() || report.retry.is_some() || report.apply.is_some();
    let manifest = open_manifest(&mut spec, manifest, &clients)?;
    let totals = totals();
    let sink = new_sink(printer, output, &spec, &totals);
    for notice in &notices {
        sink.notice(notice);
    }
    let kept = KeptJob::open(journal, &spec, &sink)?;
    kept.show(&totals, &clients);
    spec.journal.clone_from(&kept.journal);
    kept.keep_report(&mut report, &sink);
    let reports = Reports { manifest, ..Reports::open(&report)? };
    kept.write_after(&reports);
    spec.names = reports.names().or(spec.names);
    // Without its list, the job would act on all that its source names.
    assert!(!is_listed || spec.names.is_some() || spec.manifest.is_some(), "the list is lost");
    if let Some(format) = output.tags.filter(|_| !spec.dry_run && sink.prints_tags()) {
        printer.output(|buffer| tags::push_header(buffer, format));
    }
    let sought = Sought::of(&spec, &clients);
    let writes_stream = sought.writes_stream;
    let (is_dry_run, is_part) = (spec.dry_run, spec.shard.is_some());
    let ticker = Ticker::start(Arc::clone(printer), totals, output);
    let events = reports.sink(&sink);
    let priced = is_dry_run.then(|| Arc::new(Priced::new(&spec, Arc::clone(&events))));
    let events = observed(priced.clone().map_or(events, |priced| priced as _), observer);
    // Boxed: it is as large as all stages together.
    let running = Box::pin(run_transfer(spec, clients, streams, events, interrupt.token()));
    let result = running.await;
    drop(ticker);
    let mut summary = result.map_err(Failure::of_arguments)?;
    if let Some(message) = interrupt.message().filter(|_| summary.cancelled) {
        sink.notice(message);
    }
    if let Some(priced) = priced {
        print_estimate(&summary, &priced.charges(), &report, output, &sink, printer);
    }
    sought.advise(&summary, &sink).await;
    sink.finish();
    let recorded = reports.finish(&mut summary, &sink)?;
    let broken_pipe = writes_stream && printer.output_is_closed();
    let status = exit::of_transfer(&summary, broken_pipe, recorded);
    let closing = Closing {
        printer,
        output,
        again: &again,
        failures: sink.take_failures(),
        resume: kept.resume(&summary),
        has_report: recorded && report.path.is_some(),
    };
    // The worker that runs a part of a job says more when the whole of it ends.
    let failed = if is_part { None } else { closing.print(&summary) };
    if output.json {
        printer.output(|buffer| events::push_summary(buffer, &summary, failed.as_ref(), status));
    }
    Ok((status, summary))
}

/// Opens the file that names the objects of a job, unless a worker opened it before.
pub(super) fn open_manifest(
    spec: &mut TransferSpec,
    settings: Option<ManifestSettings>,
    clients: &Clients,
) -> Result<Option<Arc<ManifestFile>>, Failure> {
    let Some(settings) = settings.filter(|_| spec.manifest.is_none()) else { return Ok(None) };
    let file = Arc::new(ManifestFile::open(settings, clients.source.clone())?);
    spec.manifest = Some(Arc::clone(&file) as Arc<dyn Manifest>);
    Ok(Some(file))
}

fn new_sink(
    printer: &Arc<Printer>,
    output: OutputSettings,
    spec: &TransferSpec,
    totals: &Arc<Totals>,
) -> Arc<CommandSink> {
    let working_dir = spec.working_dir.to_string_lossy();
    Arc::new(CommandSink::new(Arc::clone(printer), output, &working_dir, Arc::clone(totals)))
}

/// Prepares what progress and metrics show of a job.
fn observe(tuning: &mut Tuning, output: &OutputSettings, printer: &Printer) {
    progress::prepare(printer, output, tuning);
    if let Some(observer) = Observer::get() {
        let limits = tuning.shared.take().unwrap_or_else(|| SharedLimits::new(tuning));
        observer.look_at_limits(limits.clone());
        tuning.shared = Some(limits);
    }
}

/// Counts the objects of a job, and of all jobs of the process where progress or metrics show them.
fn totals() -> Arc<Totals> {
    let all = Observer::get().map(|observer| Arc::clone(observer.totals()));
    Arc::new(Totals::within(all))
}

fn observed(
    events: Arc<dyn EventSink>,
    observer: Option<Arc<dyn EventSink>>,
) -> Arc<dyn EventSink> {
    match observer {
        Some(observer) => Arc::new(Observed { events, observer }),
        None => events,
    }
}

/// Events to the command and to the program that runs it.
struct Observed {
    events: Arc<dyn EventSink>,
    observer: Arc<dyn EventSink>,
}

impl EventSink for Observed {
    fn emit(&self, event: &Event) {
        self.events.emit(event);
        self.observer.emit(event);
    }

    fn wants_untried(&self) -> bool {
        self.events.wants_untried() || self.observer.wants_untried()
    }
}

/// Events of a dry run, of which is added up what they would change of what storage costs.
struct Priced {
    events: Arc<dyn EventSink>,
    charges: Mutex<Charges>,
}

impl Priced {
    fn new(spec: &TransferSpec, events: Arc<dyn EventSink>) -> Self {
        let charges = Charges::new(spec.effect(), Timestamp::now().as_second());
        Self { events, charges: Mutex::new(charges) }
    }

    fn charges(&self) -> MutexGuard<'_, Charges> {
        self.charges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for Priced {
    fn emit(&self, event: &Event) {
        if let Event::Object(ObjectEvent { action, source, target, expected, outcome, .. }) = event
            && let (Outcome::DryRun, Some(expected)) = (outcome, expected)
        {
            self.charges().add(*action, source, target.as_ref(), expected);
        }
        self.events.emit(event);
    }

    fn wants_untried(&self) -> bool {
        self.events.wants_untried()
    }
}

/// The journal of a command.
struct KeptJob {
    journal: Option<Arc<Journal>>,
    /// It is that of an earlier run.
    is_resumed: bool,
    /// Its folder, where the command named it.
    named_folder: Option<PathBuf>,
    /// What it has in parts are uploads.
    writes_objects: bool,
}

impl KeptJob {
    fn open(
        settings: JournalSettings,
        spec: &TransferSpec,
        sink: &CommandSink,
    ) -> Result<Self, Failure> {
        let JournalSettings { kept, named_folder } = settings;
        let (journal, is_resumed) = match kept {
            KeptJournal::None => (None, false),
            KeptJournal::Resumed(journal) => (Some(journal), true),
            KeptJournal::New { request, resumes } => match journal::find_interrupted(&request) {
                Some(job) if resumes => {
                    (Some(Journal::resume(&request.folder, &job.id)?.journal), true)
                }
                earlier => {
                    if let Some(job) = earlier {
                        let command = resume_command(&job.id, named_folder.as_deref());
                        sink.notice(&format!(
                            "note: an earlier run of this command did not come to its end: \
                             `{command}` goes on with it"
                        ));
                    }
                    (Some(Journal::new(request)), false)
                }
            },
        };
        let writes_objects = s3_uri::is_s3(spec.target.as_deref().unwrap_or(&spec.source));
        Ok(Self { journal, is_resumed, named_folder, writes_objects })
    }

    /// Has the journal hold what is to be seen of the run from elsewhere.
    fn show(&self, totals: &Arc<Totals>, clients: &Clients) {
        let Some(journal) = &self.journal else { return };
        let (totals, clients) = (Arc::clone(totals), clients.clone());
        journal.show(move || {
            let (now, sent) = (totals.snapshot(), clients.requests_sent());
            Live {
                planned_objects: now.planned_objects,
                planned_bytes: now.planned_bytes,
                ended_objects: now.ended_objects,
                moved_bytes: now.moved_bytes,
                settled_bytes: now.settled_bytes,
                is_planned: now.is_final,
                requests: sent.write + sent.read + sent.delete,
                refused: clients.requests_refused(),
            }
        });
    }

    /// Writes the report of a run that resumes beside that of the earlier run.
    fn keep_report(&self, report: &mut ReportSettings, sink: &CommandSink) {
        let path = report
            .path
            .as_mut()
            .filter(|path| self.is_resumed && (path.is_file() || path.is_dir()));
        let Some(path) = path else { return };
        let name = next_report(path);
        let (kept, new) = (path.display(), name.display());
        sink.notice(&format!(
            "note: the report goes to `{new}`; that of the earlier run is `{kept}`"
        ));
        *path = name;
    }

    /// Has the journal count nothing as done that the report has not.
    fn write_after(&self, reports: &Reports) {
        if let Some((journal, writer)) = self.journal.as_ref().zip(reports.writer.clone()) {
            journal.write_after(move || writer.flush());
        }
    }

    /// How a job that left something undone is resumed.
    fn resume(&self, summary: &Summary) -> Option<Advice> {
        let journal = self.journal.as_ref().filter(|journal| journal.is_kept())?;
        let what = if summary.cancelled || summary.fatal || summary.not_tried > 0 {
            "goes on from here"
        } else if summary.failed > 0 {
            "tries again what failed"
        } else {
            return None;
        };
        let command = resume_command(journal.id(), self.named_folder.as_deref());
        let left = match if self.writes_objects { journal.objects_in_parts() } else { 0 } {
            0 => String::new(),
            1 => "; one upload stays open until then".to_owned(),
            uploads => format!("; {uploads} uploads stay open until then"),
        };
        Some(Advice { text: format!("`{command}` {what}{left}"), command: Some(command) })
    }
}

/// What a command looked for, to say what may help where it was not there.
struct Sought {
    named: Option<ObjectName>,
    source: Client,
    /// The address whose objects it acts on, where nothing is said of none.
    looks_at: Option<String>,
    /// Not all objects there are meant.
    is_narrowed: bool,
    writes_stream: bool,
}

impl Sought {
    fn of(spec: &TransferSpec, clients: &Clients) -> Self {
        Self {
            named: folder::named_object(spec),
            source: clients.source.clone(),
            looks_at: finds_its_objects(spec).then(|| spec.source.clone()),
            is_narrowed: !(spec.filters.is_empty()
                && spec.conditions.is_empty()
                && spec.filter.is_none()
                && spec.versions.is_none()),
            writes_stream: spec.target.as_deref() == Some("-"),
        }
    }

    async fn advise(self, summary: &Summary, sink: &CommandSink) {
        if let Some(object) = self.named.filter(|_| sink.lacks_object()) {
            let is_stream = self.writes_stream;
            let advice = if is_stream { FolderAdvice::Pattern } else { FolderAdvice::Recursive };
            sink.keep(folder::hint(&self.source, &object, advice).await);
        }
        if let Some(source) = self.looks_at.filter(|_| came_to_nothing(summary)) {
            let meant = if self.is_narrowed { THAT_MEETS } else { "" };
            let text = format!("note: nothing was found at `{source}`{meant}: nothing was done");
            sink.notice(&text);
        }
    }
}

/// Whether a command that `aws s3` has not acts on the objects of a listing.
fn finds_its_objects(spec: &TransferSpec) -> bool {
    let is_of_aws = match spec.command {
        TransferCommand::Copy
        | TransferCommand::Move
        | TransferCommand::Remove
        | TransferCommand::Sync => true,
        TransferCommand::Tag
        | TransferCommand::Set
        | TransferCommand::Restore
        | TransferCommand::Undelete => false,
    };
    !is_of_aws && spec.names.is_none() && spec.manifest.is_none() && spec.shard.is_none()
}

/// Whether a job went to its end without an object, and without a word about why.
fn came_to_nothing(summary: &Summary) -> bool {
    let told = Summary { requests_sent: RequestCounts::default(), ..*summary };
    told == Summary::default()
}

/// The reports of a command: the one that it takes its names from, and the one that it writes.
struct Reports {
    failed: Option<FailedNames>,
    /// The file that names the objects, which may be a report, too.
    manifest: Option<Arc<ManifestFile>>,
    writer: Option<Arc<ReportWriter>>,
    /// The plan that is done.
    apply: Option<PlanFile>,
    /// The plan that is written.
    plan: Option<Arc<PlanWriter>>,
}

impl Reports {
    fn open(settings: &ReportSettings) -> Result<Self, Failure> {
        let open = |path: &PathBuf| FailedNames::open(path, &settings.sides);
        let failed = settings.retry.as_ref().map(open).transpose()?;
        let create = |path: &PathBuf| ReportWriter::create(path, &settings.sides).map(Arc::new);
        let writer = settings.path.as_ref().map(create).transpose()?;
        let apply = settings.apply.as_deref().map(PlanFile::open).transpose();
        let apply = apply.map_err(Failure::of_arguments)?;
        let create = |plan: &PlanSettings| PlanWriter::create(&plan.path, &plan.job).map(Arc::new);
        let plan = settings.plan.as_ref().map(create).transpose()?;
        Ok(Self { failed, manifest: None, writer, apply, plan })
    }

    fn names(&self) -> Option<Arc<dyn NameSource>> {
        if let Some(plan) = self.apply.clone() {
            return Some(Arc::new(plan));
        }
        let failed = self.failed.clone()?;
        Some(Arc::new(failed))
    }

    /// Where events go.
    fn sink(&self, sink: &Arc<CommandSink>) -> Arc<dyn EventSink> {
        let sink = Arc::clone(sink);
        if let Some(plan) = &self.plan {
            return Arc::new(Planning { sink, plan: Arc::clone(plan) });
        }
        match &self.writer {
            Some(writer) => Arc::new(Recorded { sink, report: Arc::clone(writer) }),
            None => sink,
        }
    }

    /// Ends the report and the plan; false where the report could not be written, or the plan would
    /// lack something. That the report of an earlier run does not have everything is a warning.
    ///
    /// # Errors
    ///
    /// The plan could not be written.
    fn finish(self, summary: &mut Summary, sink: &CommandSink) -> Result<bool, Failure> {
        let came_to_end = !summary.cancelled && !summary.fatal;
        let lacks = match (&self.failed, &self.manifest) {
            (Some(failed), _) if !failed.is_complete() => Some(INCOMPLETE),
            (_, Some(list)) if !list.is_complete() => Some(INCOMPLETE_LIST),
            _ => None,
        };
        if let Some(message) = lacks.filter(|_| came_to_end) {
            sink.emit(&Event::Warning { message: message.to_owned() });
            summary.warnings += 1;
        }
        let written =
            self.writer.map_or(Ok(()), |report| report.finish(came_to_end && lacks.is_none()));
        if let Err(text) = &written {
            sink.notice(&format!("error: {text}"));
        }
        let plan = self.plan.filter(|_| came_to_end);
        let planned = plan.map_or(Ok(true), |plan| finish_plan(&plan, summary, sink))?;
        Ok(written.is_ok() && planned)
    }
}

/// Gives a plan its name; false where it would lack what failed.
fn finish_plan(plan: &PlanWriter, summary: &Summary, sink: &CommandSink) -> Result<bool, Failure> {
    let path = plan.path().display();
    if summary.failed + summary.not_tried > 0 {
        sink.notice(&format!(
            "error: the plan `{path}` was not written: it would lack what failed"
        ));
        return Ok(false);
    }
    let rows = plan.finish().map_err(Failure::other)?;
    let noun = if rows == 1 { "action" } else { "actions" };
    sink.notice(&format!(
        "note: the plan `{path}` has {rows} {noun}: `s3haul plan show` sums it up, `s3haul apply` \
         does it"
    ));
    Ok(true)
}

/// Prints what the command would cost, where its plan came to the end. Scripts that read standard
/// error find nothing there that `aws` does not write, unless they ask for it.
fn print_estimate(
    summary: &Summary,
    charges: &Charges,
    report: &ReportSettings,
    output: OutputSettings,
    sink: &CommandSink,
    printer: &Printer,
) {
    let is_shown = report.estimate || output.lines == OutputLines::All;
    if !is_shown || summary.cancelled || summary.fatal {
        return;
    }
    let prices = &report.prices;
    if output.json {
        if output.lines != OutputLines::None {
            printer.output(|buffer| estimate::push_json(buffer, summary, charges, prices));
        }
    } else if report.estimate || printer.error_is_terminal() {
        for line in estimate::lines(summary, charges, prices) {
            sink.notice(&line);
        }
    }
}
