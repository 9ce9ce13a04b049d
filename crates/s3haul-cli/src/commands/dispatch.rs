//! From a parsed command line to the command that runs: what it is about to do, and how an
//! interrupt ends it.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use s3haul::hints;
use s3haul::job::value::{Job, OutputLines, Reports, Service, Task};
use s3haul::journal::Journal;

use crate::args::{
    ApplyArgs, Command, CopyArgs, GlobalArgs, JobArgs, JobCommand, JobRunArgs, JobStartArgs,
    JobsCommand, JournalArgs, ObjectsArgs, PlanCommand, PrintJobArgs, WorkerArgs,
};
use crate::commands::{
    browse, buckets, cat, check_server, compare, completions, confirm, head, jobs, list,
    list_buckets, ls, plan, presign, ray, run, script, serve, shards, shared, summarize, transfer,
    uploads, watch,
};
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::metrics::Export;
use crate::plan::PlanFile;
use crate::printer::{LostLines, Printer};
use crate::render::json;
use crate::runtime;
use crate::settings::{
    BrowseSettings, CatSettings, CheckServerSettings, CompareSettings, Environment, HeadSettings,
    JobRequest, JournalSettings, ListBucketsSettings, ListSettings, LsSettings, Machine,
    MbSettings, MetricsSettings, PresignSettings, RbSettings, RunSettings, ScriptSettings,
    ServeSettings, Settings, SummarizeSettings, TransferSettings, UploadsSettings,
    VersioningSettings, WebsiteSettings, is_utf8, refuse_unsupported,
};

/// Runs a command to its end.
pub(crate) fn dispatch(
    global: &GlobalArgs,
    command: &Command,
    environment: Environment,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    if let Command::Serve(args) = command {
        refuse_unsupported(global)?;
        MetricsSettings::refuse(global, "`serve` has its requests in --ledger")?;
        let settings = ServeSettings::new(global, args, &environment)?;
        return runtime::serve_on(serve::run(settings, printer));
    }
    if let Some(folder) = environment.cache("listings").filter(|_| !global.no_hints) {
        hints::keep_in(folder);
    }
    if let Command::Job { command: JobCommand::Run(args) } = command {
        if let (Some(address), Some(folder)) = (&args.ray, &args.at) {
            return ray::run((global, args), (address, folder), &environment);
        }
        return run_job(global, args, environment, printer);
    }
    let metrics = MetricsSettings::new(global, command.word(), &environment)?;
    exported(metrics, printer, || prepare(global, command, environment, printer))
}

/// Prepares and runs a command; its metrics have its end, whatever that is.
fn exported<'a>(
    metrics: MetricsSettings,
    printer: &'a Arc<Printer>,
    prepare: impl FnOnce() -> Result<Work<'a>, Failure>,
) -> Result<u8, Failure> {
    let mut export = Export::open(metrics, printer)?;
    let result = prepare().and_then(|work| carry_out(work, export.as_mut(), printer));
    if let Some(export) = export {
        export.finish(&result, printer);
    }
    result
}

/// What a command is about to do. Commands that only read files of this machine are done by then.
pub(crate) fn prepare<'a>(
    global: &GlobalArgs,
    command: &Command,
    environment: Environment,
    printer: &'a Arc<Printer>,
) -> Result<Work<'a>, Failure> {
    refuse_unsupported(global)?;
    if let Some(work) = of_folder(global, command, &environment, printer)? {
        return Ok(work);
    }
    if let Command::Jobs { command } = command {
        let jobs = |folder| {
            let folder = jobs::folder(folder, &environment)?;
            Ok(jobs::Jobs { folder, as_json: global.json, printer })
        };
        return match command {
            JobsCommand::Ls(args) => jobs(args).map(|jobs| jobs.list()),
            JobsCommand::Show(args) => jobs(&args.job.folder)?.show(args),
            JobsCommand::Resume(args) => return resume_job(global, args, environment, printer),
            JobsCommand::Watch(args) if watch::has_screen(global, printer) => {
                let job = watch::JournalJob {
                    folder: jobs::folder(&args.folder, &environment)?,
                    id: args.id.clone(),
                    named_folder: args.folder.journal.clone(),
                };
                return Ok(on_screen(async { Ok(job) }, &environment, printer));
            }
            JobsCommand::Watch(args) => return query(jobs(&args.folder)?.watch(args.id.clone())),
            JobsCommand::Prune(args) => jobs(&args.folder).map(|jobs| jobs.prune(args)),
        }
        .map(Work::Done);
    }
    if let Command::Completions(args) = command {
        return Ok(Work::Done(completions::run(*args, printer)));
    }
    if let Command::Plan { command: PlanCommand::Show(args) } = command {
        return plan::show(args, global.region.as_deref(), global.json, printer).map(Work::Done);
    }
    if let Command::Apply(args) = command {
        return apply(global, args, environment, printer);
    }
    if let Command::Job { command: JobCommand::Run(args) } = command {
        let (request, machine) =
            (JobRequest::file(global, args)?, Machine::new(global, environment));
        return job(&request, &args.journal, &machine, printer);
    }
    if global.no_verify_ssl {
        printer.warn_of_unverified();
    }
    let settings = Settings::load(global, environment)?;
    if let Command::Browse(args) = command {
        browse::check_terminal(printer)?;
        let settings = BrowseSettings::new(&settings, global, args)?;
        let run = |interrupt| {
            Box::pin(browse::run(settings, printer, interrupt, transfer_of)) as Running<'_>
        };
        return Ok(Work::Whole(None, Box::new(run)));
    }
    if let Command::CheckServer(args) = command {
        let settings = CheckServerSettings::new(&settings, args)?;
        let run =
            |interrupt| Box::pin(check_server::run(settings, printer, interrupt)) as Running<'_>;
        return Ok(Work::Whole(None, Box::new(run)));
    }
    if let Command::Run(args) = command {
        // Before its lines say what theirs mean.
        printer.set_lost_lines(LostLines::Fail);
        let settings = RunSettings::new(settings, args)?;
        let run = |interrupt| Box::pin(run::run(settings, printer, interrupt)) as Running<'_>;
        return Ok(Work::Whole(None, Box::new(run)));
    }
    work(&settings, command, printer)
}

/// What a command would do about objects; nothing where it is done already.
fn transfer_of(
    global: &GlobalArgs,
    command: &Command,
    environment: Environment,
    printer: &Arc<Printer>,
) -> Result<Option<Box<TransferSettings>>, Failure> {
    match prepare(global, command, environment, printer)? {
        Work::Transfer(settings, _) => Ok(Some(settings)),
        Work::Done(_) => Ok(None),
        Work::Query(_) | Work::Whole(..) => Err(Failure::usage("this command has no plan")),
    }
}

/// What is about the folder of a job that workers do.
fn of_folder<'a>(
    global: &GlobalArgs,
    command: &Command,
    environment: &Environment,
    printer: &'a Arc<Printer>,
) -> Result<Option<Work<'a>>, Failure> {
    let is_folder = |args: &JobArgs| shards::is_folder(&args.id);
    let (worker, retries) = match command {
        Command::Worker(args) => (args.clone(), false),
        Command::Jobs { command: JobsCommand::Resume(args) } if is_folder(args) => {
            (WorkerArgs { job: args.id.clone(), shard: None, of: None, once: false }, true)
        }
        Command::Jobs { command: JobsCommand::Show(args) } if is_folder(&args.job) => {
            let settings = Settings::load(global, environment.clone())?;
            let flags = shards::FolderFlags::new(global);
            let show = shards::show(args.clone(), flags, settings.client, global.json, printer);
            return query(show).map(Some);
        }
        Command::Jobs { command: JobsCommand::Watch(args) } if is_folder(args) => {
            let settings = Settings::load(global, environment.clone())?;
            if watch::has_screen(global, printer) {
                let (name, client) = (args.id.clone(), settings.client);
                let flags = shards::FolderFlags::new(global);
                let job = async move {
                    let worker = shards::open(&name, client).await?;
                    Ok(watch::FolderJob::new(name, flags, worker))
                };
                return Ok(Some(on_screen(job, environment, printer)));
            }
            let watch = shards::watch(args.id.clone(), settings.client, global.json, printer);
            return query(watch).map(Some);
        }
        Command::Job { command: JobCommand::Start(args) } => {
            return start_job(global, args, environment, printer).map(Some);
        }
        _ => return Ok(None),
    };
    let settings = Settings::load(global, environment.clone())?;
    let (global, as_json) = (global.clone(), global.json);
    let run = move |interrupt: Arc<Interrupt>| {
        Box::pin(async move {
            let opened = shards::open(&worker.job, settings.client.clone()).await?;
            let request = JobRequest::shared(&settings, &global, &opened.plan().job.to_string())?;
            if as_json {
                // The events of shards are all that says what was done.
                printer.set_lost_lines(LostLines::Fail);
            }
            begin(&request, printer);
            let work = shards::ShardWork {
                worker: opened,
                request,
                machine: settings.machine(),
                as_json,
                retries,
                flags: shards::FolderFlags::new(&global),
                is_proven: false,
                manifest: None,
                printer,
            };
            Box::pin(work.run(worker, &interrupt)).await
        }) as Running<'_>
    };
    Ok(Some(Work::Whole(None, Box::new(run))))
}

/// Begins a job that workers do.
fn start_job<'a>(
    global: &GlobalArgs,
    args: &JobStartArgs,
    environment: &Environment,
    printer: &'a Arc<Printer>,
) -> Result<Work<'a>, Failure> {
    let settings = Settings::load(global, environment.clone())?;
    let request = job_to_start(global, args)?;
    if request.is_unverified() {
        printer.warn_of_unverified();
    }
    let machine = settings.machine();
    let question = TransferSettings::of_job(&request, &machine)?.question;
    let (args, flags) = (args.clone(), shards::FolderFlags::new(global));
    let start = move |interrupt: Arc<Interrupt>| {
        let start = shards::start(args, flags, (request, machine), settings.client, printer);
        Box::pin(async move {
            tokio::select! {
                // The error of what was cancelled is none.
                biased;
                () = interrupt.token().cancelled_owned() => Ok(exit::INTERRUPTED),
                result = start => result,
            }
        }) as Running<'_>
    };
    Ok(Work::Whole(question, Box::new(start)))
}

/// A job on the whole terminal, until that is left.
fn on_screen<'a, W: watch::Watched>(
    job: impl Future<Output = Result<W, Failure>> + Send + 'a,
    environment: &Environment,
    printer: &'a Arc<Printer>,
) -> Work<'a> {
    let unicode = is_utf8(environment);
    let show = move |interrupt| {
        let show = async move { watch::run(job.await?, unicode, printer, interrupt).await };
        Box::pin(show) as Running<'_>
    };
    Work::Whole(None, Box::new(show))
}

/// The job of a file, or of a plan that workers do.
fn job_to_start(global: &GlobalArgs, args: &JobStartArgs) -> Result<JobRequest, Failure> {
    let path = Path::new(&args.file);
    if !args.apply {
        return JobRequest::of_file(global, &args.file).map_err(|failure| {
            let is_plan = PlanFile::open(path).is_ok();
            failure.with_some_hint(is_plan.then(|| "--apply has workers do a plan".to_owned()))
        });
    }
    let plan = PlanFile::open(path).map_err(Failure::of_arguments)?;
    let job = plan
        .job()
        .ok_or_else(|| Failure::usage("the plan has no rows: there is nothing to be done"))?;
    JobRequest::of_plan(global, path, job)
}

/// Runs the job of a file: from here on it is what its command is.
fn run_job(
    global: &GlobalArgs,
    args: &JobRunArgs,
    environment: Environment,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    refuse_unsupported(global)?;
    let metrics = MetricsSettings::new(global, "job run", &environment)?;
    let mut as_json = false;
    let prepare = || {
        let (request, machine) =
            (JobRequest::file(global, args)?, Machine::new(global, environment));
        as_json = request.job.output.json && !global.json;
        job(&request, &args.journal, &machine, printer)
    };
    exported(metrics, printer, prepare).inspect_err(|failure| {
        if as_json {
            printer.output(|buffer| json::push_failure(buffer, failure));
        }
    })
}

/// What a job is about to do that flags did not make.
pub(crate) fn job<'a>(
    request: &JobRequest,
    journal: &JournalArgs,
    machine: &Machine,
    printer: &'a Arc<Printer>,
) -> Result<Work<'a>, Failure> {
    begin(request, printer);
    work_of_job(request, machine, journal, printer)
}

/// Warns of certificates that are not verified, and sets what lost lines mean.
fn begin(request: &JobRequest, printer: &Printer) {
    if request.is_unverified() {
        printer.warn_of_unverified();
    }
    printer.set_lost_lines(request.lost_lines());
}

/// Goes on with the job of a journal. It was confirmed when it was begun.
fn resume_job<'a>(
    global: &GlobalArgs,
    args: &JobArgs,
    environment: Environment,
    printer: &'a Arc<Printer>,
) -> Result<Work<'a>, Failure> {
    let folder = jobs::folder(&args.folder, &environment)?;
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let resumed = Journal::resume(&folder, &args.id)?;
    let metrics_file = global.metrics_file.as_ref();
    let metrics_file = metrics_file.and_then(|path| std::path::absolute(path).ok());
    // It is empty where that was removed before the job began, which has no relative paths then.
    if !resumed.directory.as_os_str().is_empty() {
        std::env::set_current_dir(&resumed.directory).map_err(|error| {
            let directory = resumed.directory.display();
            let message =
                format!("the job was started in `{directory}`, and that is gone: {error}");
            Failure::other(message)
        })?;
    }
    let mut settings = Settings::load(global, environment)?;
    settings.metrics_file = metrics_file;
    let request = JobRequest::resumed(&settings, global, &resumed.job)?;
    let named_folder = args.folder.journal.is_some().then_some(folder);
    let journal = JournalSettings::resumed(resumed, &request, named_folder)?;
    begin(&request, printer);
    let runnable = TransferSettings {
        question: None,
        journal,
        ..TransferSettings::of_job(&request, &settings.machine())?
    };
    transfer(runnable, printer)
}

/// Does what a plan says. It was looked at, and needs no confirmation.
fn apply<'a>(
    global: &GlobalArgs,
    args: &ApplyArgs,
    environment: Environment,
    printer: &'a Arc<Printer>,
) -> Result<Work<'a>, Failure> {
    let plan = PlanFile::open(&args.file).map_err(Failure::of_arguments)?;
    let settings = Settings::load(global, environment)?;
    let Some(planned) = plan.job() else {
        if !args.output.quiet {
            let note = b"note: the plan has no rows: there is nothing to be done\n";
            printer.error(|buffer| buffer.extend_from_slice(note));
        }
        return Ok(Work::Done(exit::SUCCESS));
    };
    let request = JobRequest::applied(&settings, global, args, planned)?;
    job(&request, &args.journal, &settings.machine(), printer)
}

/// Runs the command if it is confirmed or needs no confirmation.
fn carry_out(
    work: Work<'_>,
    export: Option<&mut Export>,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    if let Work::Done(status) = work {
        return Ok(status);
    }
    if work.says_waits() {
        shared::say_waits(printer);
    }
    shared::ask_at_terminal(printer);
    if !confirm::is_confirmed(work.question(), printer)? {
        return Ok(exit::FAILED);
    }
    runtime::block_on(async {
        if let Some(export) = export {
            export.start(printer)?;
        }
        work.run(&Arc::new(Interrupt::listen())).await
    })
}

/// A command that runs.
type Running<'a> = Pin<Box<dyn Future<Output = Result<u8, Failure>> + Send + 'a>>;

/// What a command line is about to do; nothing of it is begun.
pub(crate) enum Work<'a> {
    /// Nothing any more; this is the exit code.
    Done(u8),
    /// Ends what it is at when it is interrupted.
    Transfer(Box<TransferSettings>, &'a Arc<Printer>),
    /// Only asks: an interrupt just ends it.
    Query(Running<'a>),
    /// Sees to interrupts itself. On a terminal the question has to be answered with yes.
    Whole(Option<String>, Box<dyn FnOnce(Arc<Interrupt>) -> Running<'a> + Send + 'a>),
}

impl Work<'_> {
    /// Does it.
    pub(crate) async fn run(self, interrupt: &Arc<Interrupt>) -> Result<u8, Failure> {
        match self {
            Self::Done(status) => Ok(status),
            Self::Transfer(settings, printer) => {
                Box::pin(transfer::run(*settings, printer, interrupt)).await
            }
            Self::Query(command) => tokio::select! {
                // The error of what was cancelled is none.
                biased;
                () = interrupt.token().cancelled_owned() => Ok(exit::INTERRUPTED),
                result = command => result,
            },
            Self::Whole(_, command) => command(Arc::clone(interrupt)).await,
        }
    }

    /// Whether it is said what is being waited for.
    pub(crate) fn says_waits(&self) -> bool {
        match self {
            Self::Transfer(settings, _) => settings.output.lines == OutputLines::All,
            Self::Query(_) | Self::Whole(..) => true,
            Self::Done(_) => false,
        }
    }

    /// The question that has to be answered with yes on a terminal, if any.
    pub(crate) fn question(&self) -> Option<&str> {
        match self {
            Self::Transfer(settings, _) => settings.question.as_deref(),
            Self::Whole(question, _) => question.as_deref(),
            Self::Query(_) | Self::Done(_) => None,
        }
    }
}

/// Checks the flags of a command; what makes no sense is refused here.
pub(crate) fn work<'a>(
    settings: &Settings,
    command: &Command,
    printer: &'a Arc<Printer>,
) -> Result<Work<'a>, Failure> {
    let (request, print, journal) = request(settings, command)?;
    // What cannot run is not printed.
    let work = work_of_job(&request, &settings.machine(), journal, printer)?;
    if !print.print_job {
        begin(&request, printer);
        return Ok(work);
    }
    let text = request.print("--print-job")?;
    query(async move {
        printer.output(|buffer| buffer.extend_from_slice(text.as_bytes()));
        Ok(exit::SUCCESS)
    })
}

/// What the flags of a command say of its job.
pub(crate) type Requested<'a> = (JobRequest, PrintJobArgs, &'a JournalArgs);

/// The job that a command is.
pub(crate) fn request<'a>(
    settings: &Settings,
    command: &'a Command,
) -> Result<Requested<'a>, Failure> {
    let of_copy = |request: JobRequest, copy: &'a CopyArgs| (request, copy.print, &copy.journal);
    let of_objects =
        |request: JobRequest, objects: &'a ObjectsArgs| (request, objects.print, &objects.journal);
    let plain = |request: JobRequest, print| (request, print, &JournalArgs::NONE);
    Ok(match command {
        Command::Cp(args) => of_copy(JobRequest::cp(settings, args)?, &args.copy),
        Command::Mv(args) => of_copy(JobRequest::mv(settings, args)?, &args.copy),
        Command::Sync(args) => of_copy(JobRequest::sync(settings, args)?, &args.copy),
        Command::Rm(args) => of_objects(JobRequest::rm(settings, args)?, &args.objects),
        Command::Undelete(args) => of_objects(JobRequest::undelete(settings, args)?, &args.objects),
        Command::Tag { command } => {
            of_objects(JobRequest::tag(settings, command)?, command.selection())
        }
        Command::Set(args) => of_objects(JobRequest::set(settings, args)?, &args.selection),
        Command::Restore(args) => of_objects(JobRequest::restore(settings, args)?, &args.selection),
        Command::Pipe(args) => plain(JobRequest::pipe(settings, args)?, args.print),
        Command::List(args) => plain(JobRequest::list(settings, args)?, args.listing.print),
        Command::Versions(args) => {
            plain(JobRequest::versions(settings, args)?, args.list.listing.print)
        }
        Command::Find(args) => plain(JobRequest::find(settings, args)?, args.listing.print),
        Command::Summarize(args) => {
            plain(JobRequest::summarize(settings, args)?, args.listing.print)
        }
        Command::Compare(args) => plain(JobRequest::compare(settings, args)?, args.trees.print),
        Command::Verify(args) => plain(JobRequest::verify(settings, args)?, args.trees.print),
        Command::Map(args) => plain(JobRequest::map(settings, args)?, args.listing.print),
        Command::Each(args) => plain(JobRequest::each(settings, args)?, args.listing.print),
        Command::Ls(args) => plain(JobRequest::ls(settings, args)?, args.print),
        Command::ListBuckets(args) => plain(JobRequest::list_buckets(settings, args), args.print),
        Command::Uploads { command } => {
            plain(JobRequest::uploads(settings, command)?, command.selection().print)
        }
        Command::Cat(args) => plain(JobRequest::cat(settings, args)?, args.print),
        Command::Head(args) => plain(JobRequest::head(settings, args)?, args.print),
        Command::Presign(args) => plain(JobRequest::presign(settings, args)?, args.print),
        Command::Mb(args) => plain(JobRequest::make_bucket(settings, args), args.print),
        Command::Rb(args) => plain(JobRequest::remove_bucket(settings, args), args.print),
        Command::Versioning { command } => {
            plain(JobRequest::versioning(settings, command), command.bucket().print)
        }
        Command::Website(args) => plain(JobRequest::website(settings, args), args.print),
        Command::Browse(_)
        | Command::CheckServer(_)
        | Command::Run(_)
        | Command::Job { .. }
        | Command::Jobs { .. }
        | Command::Plan { .. }
        | Command::Apply(_)
        | Command::Worker(_)
        | Command::Serve(_)
        | Command::Completions(_) => {
            return Err(Failure::usage("this command cannot be run by another"));
        }
    })
}

/// Refuses fields of a job that its command would ignore.
fn refuse_unused(job: &Job) -> Result<(), Failure> {
    if job.task.is_transfer() {
        return Ok(());
    }
    let has_target = matches!(job.task, Task::Compare(_));
    let has_lines = matches!(job.task, Task::Uploads(_) | Task::RemoveBucket(_));
    if !has_lines && job.output.lines != OutputLines::All {
        return Err(Failure::usage(
            "the job says which lines are printed, and its command prints all",
        ));
    }
    if job.reports != Reports::default() {
        return Err(Failure::usage("the job asks for reports, and its command writes none"));
    }
    if !has_target && job.services.target != Service::default() {
        return Err(Failure::usage("the job has a service of a target, and its command has none"));
    }
    Ok(())
}

/// What runs for a job, whether flags or a file asked for it.
fn work_of_job<'a>(
    request: &JobRequest,
    machine: &Machine,
    journal: &JournalArgs,
    printer: &'a Arc<Printer>,
) -> Result<Work<'a>, Failure> {
    let journal = JournalSettings::new(request, journal, machine)?;
    refuse_unused(&request.job)?;
    request.check_files(machine)?;
    let frame = || request.frame(machine);
    match &request.job.task {
        Task::List(task) => query(list::run(ListSettings::of_job(frame()?, task)?, printer)),
        Task::Summarize(task) => {
            let (service, environment) = (&request.job.services.source, &machine.environment);
            let settings = SummarizeSettings::of_job(frame()?, task, service, environment)?;
            query(summarize::run(settings, printer))
        }
        Task::Compare(task) => {
            query(compare::run(CompareSettings::of_job(request, machine, task)?, printer))
        }
        Task::Map(task) => query(script::run(ScriptSettings::map(frame()?, task)?, printer)),
        Task::Each(task) => query(script::run(ScriptSettings::each(frame()?, task)?, printer)),
        Task::Ls(task) => query(ls::run(LsSettings::of_job(frame()?, task)?, printer)),
        Task::ListBuckets(task) => {
            query(list_buckets::run(ListBucketsSettings::of_job(frame()?, task)?, printer))
        }
        Task::Uploads(task) => {
            query(uploads::run(UploadsSettings::of_job(frame()?, task)?, printer))
        }
        Task::Cat(task) => query(cat::run(CatSettings::of_job(frame()?, task)?, printer)),
        Task::Head(task) => query(head::run(HeadSettings::of_job(frame()?, task)?, printer)),
        Task::Presign(task) => {
            query(presign::run(PresignSettings::of_job(frame()?, task)?, printer))
        }
        Task::MakeBucket(task) => {
            query(buckets::make(MbSettings::of_job(frame()?, task)?, printer))
        }
        Task::RemoveBucket(task) => {
            let settings = RbSettings::of_job(request, machine, task)?;
            let question = settings.empty_first.as_ref().and_then(|empty| empty.question.clone());
            let remove =
                |interrupt| Box::pin(buckets::remove(settings, printer, interrupt)) as Running<'_>;
            Ok(Work::Whole(question, Box::new(remove)))
        }
        Task::Versioning(task) => {
            query(buckets::versioning(VersioningSettings::of_job(frame()?, task)?, printer))
        }
        Task::Website(task) => {
            query(buckets::website(WebsiteSettings::of_job(frame()?, task)?, printer))
        }
        _ => {
            let settings = TransferSettings::of_job(request, machine)?;
            transfer(TransferSettings { journal, ..settings }, printer)
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it ends the arms of a match that may fail")]
fn transfer(settings: TransferSettings, printer: &Arc<Printer>) -> Result<Work<'_>, Failure> {
    Ok(Work::Transfer(Box::new(settings), printer))
}

#[expect(clippy::unnecessary_wraps, reason = "it ends the arms of a match that may fail")]
fn query<'a>(
    command: impl Future<Output = Result<u8, Failure>> + Send + 'a,
) -> Result<Work<'a>, Failure> {
    Ok(Work::Query(Box::pin(command)))
}
