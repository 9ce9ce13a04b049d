//! The developers' log of `--debug`, on standard error.

use tracing_subscriber::EnvFilter;

use crate::env_vars;
use crate::printer::Printer;
use crate::settings::Environment;

/// What is logged where the environment does not say.
const DEFAULT_FILTER: &str = "s3haul=debug,s3haul_cli=debug,s3haul_sim=debug,s3s=off";

/// Starts logging.
pub(crate) fn start(environment: &Environment, printer: &Printer) {
    let filter = environment.get(env_vars::S3HAUL_LOG).unwrap_or(DEFAULT_FILTER);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new(DEFAULT_FILTER));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(printer.color());
    // Fails only where a subscriber is there already, as in tests that run several commands.
    _ = subscriber.try_init();
}
