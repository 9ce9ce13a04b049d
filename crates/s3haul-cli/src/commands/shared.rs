//! Clients that the commands of `run` have in common, so that there is one set of connections for
//! each endpoint and its credentials.

use s3haul::job::Clients;
use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use s3haul::shard::Worker;
use s3haul_wire::controller::Bounds;
use s3haul_wire::env::Env;
use s3haul_wire::{Admission, Client, ClientConfig, instance_region};

use crate::failure::Failure;
use crate::observe::Observer;
use crate::printer::Printer;
use crate::render::escape::push_name;
#[cfg(unix)]
use crate::terminal;

/// Clients that are kept at most; the oldest goes first.
const CLIENTS_MAX: usize = 64;

/// Bounds of all requests of the process.
static ADMISSION: OnceLock<Admission> = OnceLock::new();

/// Says what the clients of the process wait for; none where the user wants silence.
static WAITS: OnceLock<Arc<Printer>> = OnceLock::new();

/// The printer of the process, which asks on its terminal; none where a program runs commands.
static TERMINAL: OnceLock<Arc<Printer>> = OnceLock::new();

tokio::task_local! {
    static CLIENTS: Arc<SharedClients>;
    /// Why a command of `run` failed, where it has printed that itself.
    static FAILURE: OnceLock<String>;
}

/// Runs a command of `run`; gives also why objects of it failed.
pub(super) async fn noting_failure<T>(command: impl Future<Output = T>) -> (T, Option<String>) {
    let run = async { (command.await, FAILURE.with(|why| why.get().cloned())) };
    FAILURE.scope(OnceLock::new(), run).await
}

/// Notes why objects of a command failed, where it is one of `run`.
pub(super) fn note_failure(why: Option<String>) {
    let Some(why) = why else { return };
    _ = FAILURE.try_with(|failure| failure.set(why));
}

/// Clients by their settings.
#[derive(Default)]
pub(crate) struct SharedClients {
    clients: Mutex<Vec<Client>>,
    /// Bounds of requests by what was asked for, where they are not those of the process.
    admissions: Option<Mutex<Vec<(Bounds, Admission)>>>,
    /// Says what these clients wait for, where that is not the process's printer.
    waits: Option<Arc<Printer>>,
    /// The last worker, for a command about the same folder.
    worker: Mutex<Option<(String, Worker)>>,
}

impl SharedClients {
    /// Clients of a program that runs commands with bounds of their own.
    pub(crate) fn of_program(waits: Arc<Printer>) -> Self {
        Self { admissions: Some(Mutex::default()), waits: Some(waits), ..Self::default() }
    }

    /// Lets a command take its clients from here.
    pub(crate) async fn with<T>(self: &Arc<Self>, command: impl Future<Output = T>) -> T {
        CLIENTS.scope(Arc::clone(self), command).await
    }

    /// Lets the parts of a command have their clients in common, where they have not already.
    pub(crate) async fn sharing<T>(command: impl Future<Output = T>) -> T {
        match CLIENTS.try_with(Arc::clone) {
            Ok(_) => command.await,
            Err(_) => Arc::new(Self::default()).with(command).await,
        }
    }

    /// Keeps what a worker knows of its folder for later commands.
    pub(super) fn keep_worker(folder: String, worker: Worker) {
        Self::worker(|kept| *kept = Some((folder, worker)));
    }

    /// The last worker, if it was of this folder.
    pub(super) fn kept_worker(folder: &str) -> Option<Worker> {
        let is_same = |(name, _): &mut (String, Worker)| name == folder;
        Self::worker(|kept| kept.take_if(is_same)).flatten().map(|(_, worker)| worker)
    }

    fn worker<T>(with: impl FnOnce(&mut Option<(String, Worker)>) -> T) -> Option<T> {
        let lock = |shared: &Arc<Self>| {
            with(&mut shared.worker.lock().unwrap_or_else(PoisonError::into_inner))
        };
        CLIENTS.try_with(lock).ok()
    }

    fn get(&self, config: ClientConfig) -> Result<Client, Failure> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.iter().find(|client| *client.config() == config) {
            return Ok(client.clone());
        }
        let waits = self.waits.as_ref().or_else(|| WAITS.get());
        let client = connect(config, |bounds| self.admission(bounds), waits)?;
        if clients.len() == CLIENTS_MAX {
            clients.remove(0);
        }
        clients.push(client.clone());
        Ok(client)
    }

    fn admission(&self, bounds: Bounds) -> Admission {
        let Some(admissions) = &self.admissions else { return bound_requests(bounds) };
        let mut admissions = admissions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, admission)) = admissions.iter().find(|(of, _)| *of == bounds) {
            return admission.clone();
        }
        let admission = Admission::new(bounds);
        if admissions.len() == CLIENTS_MAX {
            admissions.remove(0);
        }
        admissions.push((bounds, admission.clone()));
        admission
    }
}

/// The region of the instance that this runs on, if it is one, once it was asked for.
static REGION: tokio::sync::OnceCell<Option<String>> = tokio::sync::OnceCell::const_new();

/// A client for the real world; a command of `run` shares it with others.
pub(crate) fn client(config: ClientConfig) -> Result<Client, Failure> {
    match CLIENTS.try_with(Arc::clone) {
        Ok(shared) => shared.get(config),
        Err(_) => connect(config, bound_requests, WAITS.get()),
    }
}

/// The same for a request whose answer is about the region that it names: where none is configured
/// it is that of the instance that this runs on, if it is one. Looked up once per process.
pub(super) async fn client_of_region(mut config: ClientConfig) -> Result<Client, Failure> {
    if config.endpoint.region.is_none() && config.endpoint.url.is_none() {
        let found = REGION.get_or_init(async || instance_region(&config, &Env::system()).await);
        config.endpoint.region = found.await.clone();
    }
    client(config)
}

/// A client without a limit of requests a second: the few that a job's folder takes, among them
/// signs of life, do not wait for those of the job.
pub(super) fn folder_client(config: ClientConfig) -> Result<Client, Failure> {
    let load = Bounds { max_requests_per_second: None, ..config.load };
    let config = ClientConfig { load, ..config };
    match CLIENTS.try_with(Arc::clone) {
        Ok(shared) if shared.admissions.is_some() => shared.get(config),
        _ => connect(config, Admission::new, WAITS.get()),
    }
}

/// Bounds all requests of the process; the first call counts.
pub(super) fn bound_requests(bounds: Bounds) -> Admission {
    let admission = ADMISSION.get_or_init(|| {
        let meter = Observer::get().map(|observer| Arc::clone(observer.meter()));
        Admission::metered(bounds, meter)
    });
    if let Some(observer) = Observer::get() {
        observer.look_at_requests(admission, bounds);
    }
    admission.clone()
}

/// Lets clients that are made from now on say what they wait for.
pub(super) fn say_waits(printer: &Arc<Printer>) {
    WAITS.get_or_init(|| Arc::clone(printer));
}

/// Lets clients that are made from now on ask for MFA codes on the terminal.
pub(super) fn ask_at_terminal(printer: &Arc<Printer>) {
    TERMINAL.get_or_init(|| Arc::clone(printer));
}

/// An environment that asks on the terminal of the process.
#[cfg(unix)]
fn asking(env: Env, printer: Arc<Printer>) -> Env {
    env.asking(move |question| {
        let mut escaped = Vec::new();
        push_name(&mut escaped, question, true);
        printer.aside(|| terminal::ask(&escaped))
    })
}

#[cfg(not(unix))]
fn asking(env: Env, _: Arc<Printer>) -> Env {
    env
}

fn connect(
    config: ClientConfig,
    admission: impl FnOnce(Bounds) -> Admission,
    waits: Option<&Arc<Printer>>,
) -> Result<Client, Failure> {
    let admission = admission(config.load);
    let mut env = Env::system();
    if let Some(printer) = waits.map(Arc::clone) {
        env = env.saying_waits(move |line| {
            printer.error(|buffer| {
                push_name(buffer, line, printer.error_is_terminal());
                buffer.push(b'\n');
            });
            printer.flush();
        });
    }
    if let Some(printer) = TERMINAL.get() {
        env = asking(env, Arc::clone(printer));
    }
    Ok(Client::with_admission(config, env, admission)?)
}

/// Clients of both sides: one, unless the source has its own.
pub(crate) fn clients(
    target: ClientConfig,
    source: Option<ClientConfig>,
) -> Result<Clients, Failure> {
    let target = client(target)?;
    let source = source.map_or_else(|| Ok(target.clone()), client)?;
    Ok(Clients { source, target })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(region: &str) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.endpoint.region = Some(region.to_owned());
        config
    }

    #[tokio::test]
    async fn equal_settings_share_a_client_within_a_run_only() {
        let shared = Arc::new(SharedClients::default());
        let get =
            |region: &'static str| shared.with(async move { client(config(region)).unwrap() });
        let first = get("a").await;
        assert!(get("a").await.is_clone_of(&first));
        assert!(!get("b").await.is_clone_of(&first));
        assert!(!client(config("a")).unwrap().is_clone_of(&first));
        for number in 0..CLIENTS_MAX {
            let region = format!("r{number}");
            shared.with(async { client(config(&region)).unwrap() }).await;
        }
        assert!(!get("a").await.is_clone_of(&first), "the oldest has gone");
    }
}
