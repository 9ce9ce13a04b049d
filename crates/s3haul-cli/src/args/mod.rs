//! The command line as types: one file a command, no logic, no defaults that depend on anything.
//!
//! Flags have the names and shapes of `aws s3`; the help texts are the reference documentation.

mod browse;
mod buckets;
mod check_server;
mod compare;
mod completions;
mod conditions;
mod deferred;
mod filters;
mod find;
mod global;
mod job;
mod jobs;
mod list;
mod list_buckets;
mod listing;
mod manifest;
mod object;
mod plan;
mod report;
mod requests;
mod restore;
mod run;
mod script;
mod secret;
mod serve;
mod set;
mod short_help;
mod sides;
mod stream;
mod summarize;
mod tag;
mod transfer;
mod uploads;
mod versions;

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::drop_in;

use deferred::Deferred;

pub(crate) use browse::BrowseArgs;
pub(crate) use buckets::{MbArgs, RbArgs, VersioningCommand, WebsiteArgs};
pub(crate) use check_server::{CheckServerArgs, FindingsFormat};
pub(crate) use compare::{CompareArgs, TreesArgs, VerifyArgs};
pub(crate) use completions::{CompletionsArgs, Shell};
pub(crate) use conditions::{ConditionArgs, as_source_class};
pub(crate) use filters::FilterArgs;
pub(crate) use find::FindArgs;
pub(crate) use global::{ColorChoice, GlobalArgs, ProgressChoice, SideProfile};
pub(crate) use job::{JobCommand, JobRunArgs, JobStartArgs, PrintJobArgs, WorkerArgs};
pub(crate) use jobs::{JobArgs, JobShowArgs, JobsArgs, JobsCommand, JournalArgs, PruneArgs};
pub(crate) use list::{ListArgs, LsArgs, TableArgs};
pub(crate) use list_buckets::ListBucketsArgs;
pub(crate) use listing::ListingArgs;
pub(crate) use manifest::FromArgs;
pub(crate) use object::{CustomerKeyArgs, ObjectArgs};
pub(crate) use plan::{ApplyArgs, PlanCommand, PlanFormat, PlanShowArgs};
pub(crate) use report::ReportArgs;
pub(crate) use requests::{ObjectsArgs, OutputArgs, PayerArgs, RequestArgs};
pub(crate) use restore::RestoreArgs;
pub(crate) use run::RunArgs;
pub(crate) use script::{EachArgs, MapArgs};
pub(crate) use secret::Secret;
pub(crate) use serve::ServeArgs;
pub(crate) use set::{ChangeArgs, SetArgs};
pub(crate) use sides::SidesArgs;
pub(crate) use stream::{CatArgs, HeadArgs, PipeArgs, PresignArgs, PresignMethod};
pub(crate) use summarize::SummarizeArgs;
pub(crate) use tag::{TagCommand, TagRemoveArgs};
pub(crate) use transfer::{CopyArgs, CpArgs, MvArgs, RmArgs, SyncArgs};
pub(crate) use uploads::{UploadsCommand, UploadsSelectionArgs};
pub(crate) use versions::{
    AsOfArgs, RemovalGuardArgs, RemovedVersionsArgs, UndeleteArgs, VersionsArgs,
};

/// Move, sync, list, describe and remove S3 data in bulk. The flags are those of `aws s3`, and the
/// word `s3` before a command is accepted. A link to the program that is named `aws` does `aws s3`
/// and leaves all else to the AWS command line.
#[derive(Debug, Parser)]
// Each command knows --version: else that would be the beginning of --versions.
#[command(name = "s3haul", version, propagate_version = true)]
// As in `aws`, the last of several holds: scripts append flags to a command that has them.
#[command(infer_long_args = true, args_override_self = true, max_term_width = 100)]
pub(crate) struct Cli<C: Subcommand> {
    /// Flags of all commands.
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    /// Command.
    #[command(subcommand)]
    pub(crate) command: C,
}

/// A command with or without the word `s3` before it.
#[derive(Debug, Subcommand)]
pub(crate) enum TopCommand {
    /// A command.
    #[command(flatten)]
    Plain(Command),
    /// Move, sync, list, describe and remove S3 data in bulk.
    ///
    /// The word `s3` may be left out: `s3haul s3 COMMAND` is `s3haul COMMAND`.
    #[command(hide = true)]
    S3 {
        /// Command.
        #[command(subcommand)]
        command: Command,
    },
}

/// The flags of all commands, and the command.
pub(crate) type Parsed = (GlobalArgs, Command);

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Copy files to S3, objects to files, or objects to objects.
    ///
    /// With --recursive all files or objects under the source are copied, many at a time. An
    /// s3:// source may hold * and ?, which match any characters. One of the paths may be - for
    /// standard input or output.
    Cp(Deferred<CpArgs>),
    /// Move files to S3, objects to files, or objects to objects.
    ///
    /// Each source is removed once its target is safe.
    Mv(Deferred<MvArgs>),
    /// Copy what differs from one folder or prefix to another.
    ///
    /// Both sides are listed and merged name by name. What is new or changed in the source is
    /// transferred, and with --delete what the source does not have is removed from the target.
    Sync(Deferred<SyncArgs>),
    /// Show where two folders, prefixes or buckets differ.
    ///
    /// Both sides are listed and merged name by name: what only one has, and what differs in size
    /// or in `ETag`s that can be compared. Empty objects whose keys end in a slash stand for
    /// folders and are left out. The exit status is 0 if there is no difference, and 1 if there is
    /// one.
    Compare(Deferred<CompareArgs>),
    /// Prove that two folders, prefixes or buckets hold the same bytes.
    ///
    /// Like `compare`, but everything is compared by content: by `ETag`s and stored checksums
    /// where they prove it, else both sides are read.
    Verify(Deferred<VerifyArgs>),
    /// Remove objects.
    ///
    /// Without --recursive the named object is removed; it is no error if there is none. With it,
    /// all objects below the address are removed. An address with * or ? removes all objects that
    /// match it; --raw takes these characters literally, as aws does. In a bucket with versioning
    /// objects are hidden behind delete markers; --versions, --noncurrent and --delete-markers-only
    /// remove for good. On a terminal, confirmation is requested before versions or a whole bucket
    /// are removed.
    Rm(Deferred<RmArgs>),
    /// Bring back objects that were removed, in a bucket with versioning.
    ///
    /// Removes the delete markers that hide them: without --recursive those of the named object.
    Undelete(Deferred<UndeleteArgs>),
    /// Show or change the tags of objects, many at a time.
    ///
    /// With --recursive the command applies to all objects below the address, with * and ? to those
    /// that match. Tags that S3 would refuse are refused before the first request.
    Tag {
        /// What to do.
        #[command(subcommand)]
        command: TagCommand,
    },
    /// Change storage class, headers, metadata, encryption, ACL or lock of objects.
    ///
    /// Takes one request to look at each object, and one or more to change it if it differs.
    /// Headers, metadata, storage class and encryption are changed by a copy of the object onto
    /// itself (in parts above 5 GB), which keeps all that is not named here, except the ACL unless
    /// --keep-acl is given; a versioned bucket keeps the old version, too. Archived objects have to
    /// be restored first.
    Set(Deferred<SetArgs>),
    /// Restore objects from the archive classes of Glacier, or show whether they are restored.
    ///
    /// Objects that are not archived or already restored are skipped; a restore that is in progress
    /// counts as done. Retrieval is billed in addition to the requests; --dryrun shows both.
    Restore(Deferred<RestoreArgs>),
    /// List buckets, or the objects under a prefix.
    ///
    /// Objects are listed up to the next slash, with PRE for what lies deeper. An address may
    /// hold * and ?, which match any characters; then whole keys are shown. The exit status is 1
    /// if a key was given and nothing found.
    Ls(LsArgs),
    /// List all objects under an address, many pages at a time.
    ///
    /// Lines are those of `ls --recursive`, by default in the order in which pages arrive. An
    /// address may hold * and ?, which match any characters.
    List(Deferred<ListArgs>),
    /// List the versions and delete markers of an object, or of all objects under an address.
    ///
    /// Lines and formats are those of `list --versions`, in the order of the keys and of each key
    /// the newest first. With --recursive, of a bucket, and for addresses that end in a slash or
    /// hold * or ?, all keys under the address are listed; without, those of the named object.
    Versions(Deferred<VersionsArgs>),
    /// Find objects by name, size, age, storage class, tags and metadata.
    ///
    /// Prints the addresses of what meets all conditions, as it is found. Most of them are decided
    /// by the listing alone; --tag and --metadata cost a request for each object that meets the
    /// others. The exit status is 0 also if nothing is found, and 1 if an object could not be
    /// looked at.
    Find(Deferred<FindArgs>),
    /// Count what is under an address: folders, storage classes, ages, sizes and more.
    ///
    /// All objects are listed, many pages at a time, and nothing is printed unless the listing
    /// is complete. An address may hold * and ?, which match any characters. The exit status is
    /// 1 if a key was given and nothing found.
    #[command(visible_alias = "du")]
    Summarize(Deferred<SummarizeArgs>),
    /// Look around in a bucket on the whole terminal, and tidy it up.
    ///
    /// Folders with their bytes and objects, while they are still being listed; previews and
    /// versions of objects. What is marked can be deleted, tagged, restored, moved to another class
    /// or downloaded, once a plan of it was shown and confirmed. A file with a listing is shown
    /// without a request. docs/browse.md has the keys.
    Browse(BrowseArgs),
    /// List or abort incomplete multipart uploads.
    ///
    /// Their parts are billed, and no listing of objects shows them.
    Uploads {
        /// What to do.
        #[command(subcommand)]
        command: UploadsCommand,
    },
    /// List buckets with their regions, and on request what is in them.
    ///
    /// The others are shown even if a bucket cannot be read; the exit status is then 1.
    ListBuckets(ListBucketsArgs),
    /// Compute over objects with JavaScript functions, one by one or all together.
    ///
    /// Scripts start with `js:`. They can only compute: they have no access to files or the
    /// network. docs/s3p.md describes how they are called and what limits they have.
    #[command(visible_aliases = ["reduce", "map-reduce"])]
    Map(Deferred<MapArgs>),
    /// Call a JavaScript function for each object, and print what it prints.
    Each(Deferred<EachArgs>),
    /// Make a bucket.
    ///
    /// It is made in the region of --region or of the configuration, else in that of the EC2
    /// instance that this runs on, else in us-east-1.
    Mb(MbArgs),
    /// Remove a bucket.
    ///
    /// It has to be empty, unless --force is given.
    Rb(RbArgs),
    /// Show whether a bucket keeps versions, or change that.
    ///
    /// `versions`, `undelete` and --as-of need it.
    Versioning {
        /// What to do.
        #[command(subcommand)]
        command: VersioningCommand,
    },
    /// Make a bucket a website: set what is served for folders and for errors.
    ///
    /// Nothing is printed. Redirects and routing rules that the bucket had are replaced.
    Website(WebsiteArgs),
    /// Print a URL that lets anyone read or write an object for a while.
    ///
    /// With --method PUT the object is written by a PUT request to the URL, which has to carry the
    /// headers of --content-type and --metadata.
    Presign(PresignArgs),
    /// Write objects to standard output.
    ///
    /// Several objects are written one after the other, those that match a pattern in the order
    /// of their keys.
    Cat(CatArgs),
    /// Show what S3 knows about an object or a bucket.
    Head(HeadArgs),
    /// Write standard input to an object.
    ///
    /// The same as `cp - S3Uri`.
    Pipe(Deferred<PipeArgs>),
    /// Run the commands of a file, one a line, in one process and many at a time.
    ///
    /// Lines are commands as they are typed, `cp a.txt s3://bucket/a.txt`, with the quotes and
    /// backslashes of a shell and nothing else of it; empty lines and what follows a # are ignored.
    /// They run in no order, over the same connections and within the same limits. All lines of a
    /// file are checked before the first one runs. Those that fail are reported with their line
    /// numbers, and the exit status is 1 if there are any.
    Run(Deferred<RunArgs>),
    /// Run a job that was written to a file.
    ///
    /// A job is a command with its options as JSON. --print-job writes it.
    Job {
        /// What to do.
        #[command(subcommand)]
        command: JobCommand,
    },
    /// Write down what a command would do, to look at it before it is done.
    ///
    /// `s3haul plan sync A B --plan FILE` is `s3haul sync A B --plan FILE`: the plan of cp, mv, rm,
    /// sync, tag, set, restore or undelete. docs/plans.md says what is promised.
    #[command(override_usage = "s3haul plan show <FILE>\n       \
        s3haul plan <COMMAND> <ARGS>... --plan <FILE>")]
    Plan {
        /// What to do.
        #[command(subcommand)]
        command: PlanCommand,
    },
    /// Do what a plan says and nothing else.
    ///
    /// Each action is done only while its source and its target are as they were when the plan was
    /// written; what has changed since is left alone and fails. Rows may have been removed from the
    /// plan by any program that reads and writes Parquet.
    Apply(ApplyArgs),
    /// List, watch and resume jobs that keep a journal.
    ///
    /// Copies, syncs, removals and changes of many objects keep one: docs/resume.md says what is
    /// promised.
    Jobs {
        /// What to do.
        #[command(subcommand)]
        command: JobsCommand,
    },
    /// Do shards of a job that `s3haul job start` began, together with other workers.
    ///
    /// Takes one shard after the other until all are done. Workers may come and go: what one leaves
    /// is taken over by the others. The exit status is that of the whole job. The flags about
    /// services are those of the folder; the job says what its own are.
    Worker(WorkerArgs),
    /// Find out what a service does of what S3 promises, and what of s3haul will not work there.
    ///
    /// Sends some hundreds of small requests, for a minute at most, in a bucket that is made for
    /// it, or below a prefix of the one that is named, and removes what it wrote. The exit status
    /// is 1 if something is missing that s3haul relies on. docs/services.md has the results for
    /// known services.
    CheckServer(CheckServerArgs),
    /// Serve a folder as an S3 endpoint on this machine, for trying and testing.
    ///
    /// Each folder in it that was made through the server is a bucket. Files that were put there in
    /// another way are not served. Prints shell commands to standard output that set the
    /// environment to reach the server.
    Serve(ServeArgs),
    /// Print a script that has a shell complete commands, flags, profiles, buckets and keys.
    ///
    /// For bash put `source <(s3haul completions bash)` into ~/.bashrc; for zsh the same with zsh
    /// into ~/.zshrc, after `compinit`; for fish run `s3haul completions fish >
    /// ~/.config/fish/completions/s3haul.fish`. Buckets and keys take a request each; what a moment
    /// ago was listed is kept in the cache folder. What takes longer than 0.7 seconds, needs a
    /// program for its credentials, or fails, is not completed.
    Completions(CompletionsArgs),
}

impl Command {
    /// Its first word, as it is typed.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Cp(_) => "cp",
            Self::Mv(_) => "mv",
            Self::Sync(_) => "sync",
            Self::Compare(_) => "compare",
            Self::Verify(_) => "verify",
            Self::Rm(_) => "rm",
            Self::Undelete(_) => "undelete",
            Self::Tag { .. } => "tag",
            Self::Set(_) => "set",
            Self::Restore(_) => "restore",
            Self::Ls(_) => "ls",
            Self::List(_) => "list",
            Self::Versions(_) => "versions",
            Self::Find(_) => "find",
            Self::Summarize(_) => "summarize",
            Self::Browse(_) => "browse",
            Self::Uploads { .. } => "uploads",
            Self::ListBuckets(_) => "list-buckets",
            Self::Map(_) => "map",
            Self::Each(_) => "each",
            Self::Mb(_) => "mb",
            Self::Rb(_) => "rb",
            Self::Versioning { .. } => "versioning",
            Self::Website(_) => "website",
            Self::Presign(_) => "presign",
            Self::Cat(_) => "cat",
            Self::Head(_) => "head",
            Self::Pipe(_) => "pipe",
            Self::Run(_) => "run",
            Self::Job { .. } => "job",
            Self::Plan { .. } => "plan",
            Self::Apply(_) => "apply",
            Self::Jobs { .. } => "jobs",
            Self::Worker(_) => "worker",
            Self::CheckServer(_) => "check-server",
            Self::Serve(_) => "serve",
            Self::Completions(_) => "completions",
        }
    }
}

/// The definition of the command line.
pub(crate) fn command() -> clap::Command {
    deferred::eager::<Cli<TopCommand>>()
}

/// Parses a command line, the program's name first.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, clap::Error> {
    let args = drop_in::with_help(args.into_iter().collect(), command);
    if args.iter().any(|word| word == "s3") {
        let is_aws = args.first().is_some_and(drop_in::is_aws);
        let (global, mut command) = parse_with(&mut Cli::<TopCommand>::command(), args)?;
        if is_aws {
            take_literally(&mut command);
        }
        return Ok((global, command));
    }
    // Half of the definition, and so half of the milliseconds that it takes to make.
    let parsed = Cli::<Command>::try_parse_from(&args);
    let Cli { global, command } = parsed.map_err(|error| explained(error, &args))?;
    match planned(&args, &command)? {
        Some(args) => parse(args),
        None => Ok((global, command)),
    }
}

/// Takes `*` and `?` in addresses literally, as `aws s3` does: a script that removes `a?` must not
/// remove `ab`.
fn take_literally(command: &mut Command) {
    match command {
        Command::Cp(args) => args.copy.raw = true,
        Command::Mv(args) => args.copy.raw = true,
        Command::Rm(args) => args.objects.raw = true,
        Command::Ls(args) => args.raw = true,
        _ => {}
    }
}

/// The command that `plan` is written before. It must not run for lack of a flag.
fn planned(args: &[OsString], command: &Command) -> Result<Option<Vec<OsString>>, clap::Error> {
    let Command::Plan { command: PlanCommand::Of(words) } = command else { return Ok(None) };
    let is_flag =
        |word: &OsString| word == "--plan" || word.to_string_lossy().starts_with("--plan=");
    let is_help = |word: &OsString| word == "--help" || word == "-h";
    let mut flags = words.iter().take_while(|word| *word != "--");
    if !flags.any(|word| is_flag(word) || is_help(word)) {
        let why = "`plan` needs a file: give --plan FILE";
        return Err(crate::args::command().error(ErrorKind::MissingRequiredArgument, why));
    }
    let mut args = args.to_vec();
    args.remove(args.len() - words.len() - 1);
    Ok(Some(args))
}

/// The same with a definition that is used more than once.
pub(crate) fn parse_with(
    definition: &mut clap::Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<Parsed, clap::Error> {
    let args: Vec<OsString> = args.into_iter().collect();
    let matches = definition.try_get_matches_from_mut(&args);
    let matches = matches.map_err(|error| explained(error, &args))?;
    let Cli { global, command } = Cli::from_arg_matches(&matches)?;
    let (TopCommand::Plain(command) | TopCommand::S3 { command }) = command;
    match planned(&args, &command)? {
        Some(args) => parse_with(definition, args),
        None => Ok((global, command)),
    }
}

/// The error as it may be shown, with a hint; help that was asked for by `-h` is short.
fn explained(error: clap::Error, args: &[OsString]) -> clap::Error {
    let is_short = match error.kind() {
        ErrorKind::DisplayHelp => args.iter().any(|word| word == "-h"),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => true,
        ErrorKind::DisplayVersion => return own_version(error),
        ErrorKind::UnknownArgument => return without_negative(error, args),
        _ => return drop_in::with_hint(without_keys(error), args),
    };
    let is_aws = args.first().is_some_and(drop_in::is_aws);
    let definition = if is_aws { command().bin_name("aws") } else { command() };
    let definition = if is_short { short_help::shorten(definition) } else { definition };
    definition.try_get_matches_from(args).err().unwrap_or(error)
}

/// The version of the program, also behind a command, whose name clap would print instead.
fn own_version(error: clap::Error) -> clap::Error {
    Cli::<TopCommand>::try_parse_from(["s3haul", "--version"]).err().unwrap_or(error)
}

/// Whether a flag of this name has a value, in any command.
fn takes_value(name: &str) -> bool {
    let all = command();
    let commands = all.get_subcommands().chain([&all]);
    let mut flags = commands.flat_map(clap::Command::get_arguments);
    flags.any(|flag| flag.get_long() == Some(name) && flag.get_action().takes_values())
}

/// The error with a hint where a flag has a negative number: clap takes that for another flag.
fn without_negative(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let is_number = word.starts_with('-') && word[1..].starts_with(|c: char| c.is_ascii_digit());
    let before = args
        .iter()
        .position(|arg| *arg.to_string_lossy() == *word)
        .and_then(|at| at.checked_sub(1));
    let flag = before.map(|at| args[at].to_string_lossy()).unwrap_or_default();
    if is_number && flag.strip_prefix("--").is_some_and(takes_value) {
        let hint = StyledStr::from(format!("the value of {flag} must not be negative"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    }
    error
}

/// The error without the value of a flag about keys: it may be a key in the wrong place.
fn without_keys(mut error: clap::Error) -> clap::Error {
    let about = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    if about.starts_with("--sse-c") || about.starts_with("--secret") {
        error.insert(ContextKind::InvalidValue, ContextValue::String("******".to_owned()));
    }
    error
}

#[cfg(test)]
mod tests;
