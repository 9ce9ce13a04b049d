//! The `s3haul` command as a library.
//!
//! A command line goes through three stages: `args` parses it (clap derive, no logic),
//! `settings` turns flags, environment and `~/.aws/config` into plain values (the only place that
//! reads them), `commands` run on those values and a `Printer` and give an exit code. What a job
//! tells comes as events and becomes lines or JSON in `render`. Version, help and usage errors
//! read no configuration and start no runtime.

mod args;
mod batch;
mod commands;
pub mod env_vars;
pub mod exit;
mod failure;
#[doc(hidden)]
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod hints;
mod interrupt;
mod logging;
mod manifest;
mod open_files;
mod panics;
mod printer;
mod progress;
mod render;
mod report;
mod runtime;
mod settings;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;

use args::{ColorChoice, GlobalArgs};
use failure::Failure;
use printer::Printer;
use render::escape::{push_name, tame};
use settings::Environment;

/// Runs a command line (the program's name first) to its end and gives the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    panics::tell_quietly();
    match args::parse(args) {
        Ok((global, command)) => run_command(&global, command),
        Err(error) => report_usage(&error),
    }
}

/// The whole command line as clap has it, for man pages, completions and reference documents.
pub fn command() -> clap::Command {
    args::command()
}

fn run_command(global: &GlobalArgs, command: args::Command) -> u8 {
    let environment = Environment::of_process();
    let printer = Arc::new(Printer::new(color(global, &environment)));
    if global.debug {
        logging::start(&environment, &printer);
    }
    let status = match commands::dispatch(global, command, environment, &printer) {
        Ok(status) => status,
        Err(failure) => {
            report(&failure, &printer);
            if global.json {
                printer.output(|buffer| render::json::push_failure(buffer, &failure));
            }
            failure.status
        }
    };
    printer.flush();
    match printer.output_failure() {
        Some(error) if matches!(status, exit::SUCCESS | exit::BROKEN_PIPE) => {
            let message = format!("cannot write to standard output: {error}");
            report(&Failure::other(message), &printer);
            printer.flush();
            exit::OTHER
        }
        _ => status,
    }
}

fn color(global: &GlobalArgs, environment: &Environment) -> Option<bool> {
    match global.color.unwrap_or_default() {
        ColorChoice::On => Some(true),
        ColorChoice::Off => Some(false),
        ColorChoice::Auto => environment.get(env_vars::NO_COLOR).map(|_| false),
    }
}

fn report(failure: &Failure, printer: &Printer) {
    let (red, plain) = if printer.color() { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    let escape = printer.error_is_terminal();
    printer.error(|buffer| {
        buffer.extend_from_slice(format!("s3haul: {red}error{plain}: ").as_bytes());
        for line in failure.message.lines() {
            push_name(buffer, line, escape);
            buffer.push(b'\n');
        }
        if let Some(hint) = &failure.hint {
            buffer.extend_from_slice(b"hint: ");
            push_name(buffer, hint, escape);
            buffer.push(b'\n');
        }
    });
}

/// Prints help, version or a usage error the way clap has it, with the exit codes of `aws`.
fn report_usage(error: &clap::Error) -> u8 {
    let text = error.render();
    let (mut stream, is_terminal): (Box<dyn Write>, bool) = if error.use_stderr() {
        (Box::new(io::stderr()), io::stderr().is_terminal())
    } else {
        (Box::new(io::stdout()), io::stdout().is_terminal())
    };
    // Colours as clap decides on them; a word of the command line may have come from a key.
    let is_dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    let is_coloured = is_terminal && !is_dumb && std::env::var_os(env_vars::NO_COLOR).is_none();
    let mut bytes =
        if is_coloured { text.ansi().to_string() } else { text.to_string() }.into_bytes();
    if is_terminal {
        tame(&mut bytes, 0, is_coloured);
    }
    // Nobody is left to tell when this fails.
    _ = stream.write_all(&bytes).and_then(|()| stream.flush());
    if error.use_stderr() { exit::USAGE } else { exit::SUCCESS }
}
