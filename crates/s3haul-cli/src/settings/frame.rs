//! What a job is whatever its command does: services, limits, printing, reports. A job becomes what
//! runs here; what of that depends on the process that runs it is found here, too.

use std::path::PathBuf;

use s3haul::job::value::{Job, Limits, Output, OutputLines, Reports, Service, Services};
use s3haul::job::{SharedLimits, Tuning};
use s3haul_wire::controller::Bounds;
use s3haul_wire::{ClientConfig, CustomerKey};

use super::{Environment, Settings, client, tuning};
use crate::args::GlobalArgs;
use crate::failure::Failure;
use crate::{memory, open_files};

/// What a job finds where it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    /// The environment.
    pub(crate) environment: Environment,
    /// Limits that the job shares with others.
    pub(crate) shared: Option<SharedLimits>,
    /// The file that metrics are written to meanwhile.
    pub(crate) metrics_file: Option<PathBuf>,
}

impl Machine {
    /// Where a job alone is run.
    pub(crate) fn new(global: &GlobalArgs, environment: Environment) -> Self {
        Self { environment, shared: None, metrics_file: global.metrics_file.clone() }
    }
}

/// Keys for SSE-C, which a job does not hold. They do not serialize.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    /// The key of the objects written, and of those downloaded.
    pub(crate) target: Option<CustomerKey>,
    /// The key of the source of a copy.
    pub(crate) source: Option<CustomerKey>,
}

/// What a job has beside its task, ready to run.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Client of the target, and of the source where that has none of its own.
    pub(super) client: ClientConfig,
    /// Client of the source, where it differs.
    pub(super) source_client: Option<ClientConfig>,
    /// Limits.
    pub(super) tuning: Tuning,
    /// Printing.
    pub(super) output: Output,
    /// Reports.
    pub(super) reports: Reports,
    /// Keys for SSE-C.
    pub(super) keys: Keys,
}

impl Frame {
    /// That of a job whose sides are in S3 or not.
    pub(super) fn of_job(
        job: &Job,
        keys: Keys,
        machine: &Machine,
        (has_source, has_target): (bool, bool),
    ) -> Result<Self, Failure> {
        let (mut tuning, load) = within_machine(&job.limits)?;
        tuning.shared.clone_from(&machine.shared);
        let Services { source, target } = &job.services;
        let one = if has_target { target } else { source };
        let client = |service| client(service, &tuning, load, &machine.environment);
        let has_two = has_source && has_target && source != target;
        Ok(Self {
            client: client(one),
            source_client: has_two.then(|| client(source)),
            output: job.output.clone(),
            reports: job.reports.clone(),
            keys,
            tuning,
        })
    }
}

/// What is printed, by the flags of all commands.
pub(super) fn output(settings: &Settings, lines: OutputLines) -> Output {
    Output { lines, json: settings.json, progress: settings.progress, ..Output::default() }
}

/// Limits as far as the memory and the open files of this process allow.
pub(super) fn within_machine(limits: &Limits) -> Result<(Tuning, Bounds), Failure> {
    let mut bounds = tuning::bounds(limits);
    bounds.max_concurrent_requests = open_files::requests_within(bounds.max_concurrent_requests);
    let spare = memory::Spare::of(limits.max_memory)?;
    bounds.max_concurrent_requests = spare.requests_within(bounds.max_concurrent_requests);
    let mut tuning = tuning::tuning(limits, bounds);
    spare.limit(&mut tuning);
    Ok((tuning, bounds))
}

/// The client of a service, within limits.
pub(super) fn client(
    service: &Service,
    tuning: &Tuning,
    load: Bounds,
    environment: &Environment,
) -> ClientConfig {
    let client = client::client(service, environment);
    let wanted = client.max_connections.max(tuning.max_concurrent_requests);
    ClientConfig { load, max_connections: open_files::connections_within(wanted), ..client }
}
