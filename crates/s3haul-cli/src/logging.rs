//! The developers' log of `--debug`, on standard error.

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::env_vars;
use crate::printer::Printer;
use crate::settings::Environment;

/// What is logged where the environment does not say.
const DEFAULT_FILTER: &str = "s3haul=debug,s3haul_cli=debug,s3haul_sim=debug,s3s=off";

/// Starts logging.
pub(crate) fn start(environment: &Environment, printer: &Printer) {
    let filter = environment.get(env_vars::S3HAUL_LOG).unwrap_or(DEFAULT_FILTER);
    let filter = filter.parse::<Targets>().or_else(|_| DEFAULT_FILTER.parse()).unwrap_or_default();
    let lines =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(printer.color());
    // Fails only where a subscriber is there already, as in tests that run several commands.
    _ = tracing_subscriber::registry().with(lines).with(filter).try_init();
}
