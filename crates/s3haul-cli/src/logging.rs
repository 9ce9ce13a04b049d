//! The developers' log of `--debug`, on standard error.

use std::io::{self, Write};

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::env_vars;
use crate::printer::Printer;
use crate::render::escape::tame;
use crate::settings::Environment;

/// What is logged where the environment does not say.
const DEFAULT_FILTER: &str = "s3haul=debug,s3haul_cli=debug,s3haul_sim=debug";

/// Starts logging.
pub(crate) fn start(environment: &Environment, printer: &Printer) {
    let filter = environment.get(env_vars::S3HAUL_LOG).unwrap_or(DEFAULT_FILTER);
    let filter = filter.parse::<Targets>().or_else(|_| DEFAULT_FILTER.parse()).unwrap_or_default();
    // Libraries log requests and answers with signatures and keys: never enabled, by any setting.
    let ours = filter_fn(|event| event.target().starts_with("s3haul"));
    let (is_terminal, is_coloured) = (printer.error_is_terminal(), printer.color());
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(move || Lines { is_terminal, is_coloured })
        .with_ansi(is_coloured);
    // Fails only where a subscriber is there already, as in tests that run several commands.
    _ = tracing_subscriber::registry().with(lines.with_filter(ours).with_filter(filter)).try_init();
}

/// Standard error; a terminal is not given what it would obey.
struct Lines {
    is_terminal: bool,
    is_coloured: bool,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return io::stderr().write(bytes);
        }
        let mut tamed = bytes.to_vec();
        tame(&mut tamed, 0, self.is_coloured);
        io::stderr().write_all(&tamed)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
