//! The commands: settings and a printer in, exit code out. None reads flags, files or the
//! environment.

mod asker;
mod buckets;
mod cat;
mod compare;
mod confirm;
mod head;
mod list;
mod list_buckets;
mod listing;
mod ls;
mod output;
mod presign;
mod script;
mod serve;
mod summarize;
mod transfer;
mod uploads;

use std::future::Future;
use std::sync::Arc;

use s3haul::env::Env;
use s3haul::job::Clients;
use s3haul::s3::{Client, ClientConfig};

use crate::args::{Command, GlobalArgs};
use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::runtime;
use crate::settings::{
    CatSettings, CompareSettings, Environment, HeadSettings, ListBucketsSettings, ListSettings,
    LsSettings, MbSettings, PresignSettings, RbSettings, ScriptSettings, ServeSettings, Settings,
    SummarizeSettings, TransferSettings, UploadsSettings, WebsiteSettings, refuse_unsupported,
};

/// Runs a command to its end.
pub(crate) fn dispatch(
    global: &GlobalArgs,
    command: Command,
    environment: Environment,
    printer: &Arc<Printer>,
) -> Result<u8, Failure> {
    refuse_unsupported(global)?;
    if let Command::Serve(args) = &command {
        let settings = ServeSettings::new(global, args, &environment)?;
        return runtime::serve_on(serve::run(settings, printer));
    }
    let settings = Settings::load(global, environment)?;
    match command {
        Command::Cp(args) => transfer(TransferSettings::cp(settings, &args)?, printer),
        Command::Mv(args) => transfer(TransferSettings::mv(settings, &args)?, printer),
        Command::Sync(args) => transfer(TransferSettings::sync(settings, &args)?, printer),
        Command::Compare(args) => {
            query(compare::run(CompareSettings::compare(settings, &args)?, printer))
        }
        Command::Verify(args) => {
            query(compare::run(CompareSettings::verify(settings, &args)?, printer))
        }
        Command::Rm(args) => transfer(TransferSettings::rm(settings, &args)?, printer),
        Command::Undelete(args) => transfer(TransferSettings::undelete(settings, &args)?, printer),
        Command::Tag { command } => transfer(TransferSettings::tag(settings, &command)?, printer),
        Command::Set(args) => transfer(TransferSettings::set(settings, &args)?, printer),
        Command::Restore(args) => transfer(TransferSettings::restore(settings, &args)?, printer),
        Command::Pipe(args) => transfer(TransferSettings::pipe(settings, &args)?, printer),
        Command::Ls(args) => query(ls::run(LsSettings::new(settings, &args)?, printer)),
        Command::List(args) => query(list::run(ListSettings::new(&settings, &args)?, printer)),
        Command::Versions(args) => {
            query(list::run(ListSettings::versions(&settings, &args)?, printer))
        }
        Command::Find(args) => query(list::run(ListSettings::find(&settings, &args)?, printer)),
        Command::Summarize(args) => {
            query(summarize::run(SummarizeSettings::new(&settings, &args)?, printer))
        }
        Command::ListBuckets(args) => {
            query(list_buckets::run(ListBucketsSettings::new(settings, &args), printer))
        }
        Command::Map(args) => query(script::run(ScriptSettings::map(&settings, &args)?, printer)),
        Command::Each(args) => query(script::run(ScriptSettings::each(&settings, &args)?, printer)),
        Command::Mb(args) => query(buckets::make(MbSettings::new(settings, &args)?, printer)),
        Command::Rb(args) => remove_bucket(RbSettings::new(settings, &args)?, printer),
        Command::Uploads { command } => {
            query(uploads::run(UploadsSettings::new(settings, &command)?, printer))
        }
        Command::Website(args) => {
            query(buckets::website(WebsiteSettings::new(settings, &args)?, printer))
        }
        Command::Presign(args) => {
            query(presign::run(PresignSettings::new(settings, &args)?, printer))
        }
        Command::Cat(args) => query(cat::run(CatSettings::new(settings, &args)?, printer)),
        Command::Head(args) => query(head::run(HeadSettings::new(settings, &args)?, printer)),
        Command::Serve(_) => Ok(exit::OTHER),
    }
}

fn transfer(settings: TransferSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    if !confirm::is_confirmed(settings.question.as_deref(), printer)? {
        return Ok(exit::FAILED);
    }
    runtime::block_on(async {
        let interrupt = Interrupt::listen();
        transfer::run(settings, printer, &interrupt).await
    })
}

fn remove_bucket(settings: RbSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let question = settings.empty_first.as_ref().and_then(|empty| empty.question.as_deref());
    if !confirm::is_confirmed(question, printer)? {
        return Ok(exit::FAILED);
    }
    runtime::block_on(buckets::remove(settings, printer))
}

/// Runs a command that only asks: Ctrl-C just ends it.
fn query(command: impl Future<Output = Result<u8, Failure>>) -> Result<u8, Failure> {
    runtime::block_on(async {
        let interrupt = Interrupt::listen();
        tokio::select! {
            result = command => result,
            () = interrupt.token().cancelled_owned() => Ok(exit::INTERRUPTED),
        }
    })
}

/// Clients of both sides: one, unless the source has its own.
fn clients(target: ClientConfig, source: Option<ClientConfig>) -> Result<Clients, Failure> {
    let target = client(target)?;
    let source = source.map_or_else(|| Ok(target.clone()), client)?;
    Ok(Clients { source, target })
}

/// A client for the real world.
fn client(config: ClientConfig) -> Result<Client, Failure> {
    Ok(Client::new(config, Env::system())?)
}
