//! The `s3haul` command as a library.
//!
//! A command line goes through three stages, called in turn by `commands::dispatch`: `args` parses
//! it (clap derive, no logic), `settings` turns flags, environment and `~/.aws/config` into plain
//! values, `commands` run on those values and a `Printer` and return an exit code. Only colour and
//! the hand-over to `aws` are settled before. A job emits events, which `render` turns into lines
//! or JSON. Version, help and usage errors
//! read no configuration and start no runtime.

mod args;
mod batch;
mod browse;
mod commands;
mod complete;
mod drop_in;
pub mod embed;
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
mod memory;
mod metrics;
mod observe;
mod open_files;
mod panics;
mod plan;
mod printer;
mod progress;
mod render;
mod report;
mod runtime;
mod settings;
mod standard_streams;
mod table;
mod terminal;
mod watch;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;

use args::{ColorChoice, GlobalArgs, ProgressChoice};
use failure::Failure;
use printer::{LostLines, Printer, ProgressStyle};
use render::escape::{is_printable, push_name, tame};
use settings::Environment;

/// Prepares the process of the command for what it may use, before anything else. Where its address
/// space is limited (`ulimit -v`) that starts the program anew.
pub fn prepare_process() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    memory::restart_with_one_arena();
}

/// Runs a command line (the program's name first) to its end and gives the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    panics::tell_quietly();
    let args: Vec<OsString> = args.into_iter().collect();
    let environment = Environment::of_process(args.iter().skip(1).cloned().collect());
    if drop_in::is_for_aws(&args) {
        return match drop_in::hand_over(&args, &environment) {
            Ok(status) => status,
            Err(failure) => {
                let printer = Printer::new(None);
                report(&failure, &printer);
                failure.status
            }
        };
    }
    if let Some(status) = complete::run(&args, &environment) {
        return status;
    }
    match args::parse(args) {
        Ok((global, command)) => run_command(&global, &command, environment),
        Err(error) => report_usage(&error),
    }
}

/// The whole command line as clap has it, for man pages, completions and reference documents.
pub fn command() -> clap::Command {
    args::command()
}

fn run_command(global: &GlobalArgs, command: &args::Command, environment: Environment) -> u8 {
    let printer = Printer::new(color(global, &environment)).with_progress(progress(global));
    let printer = Arc::new(printer);
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
    let Some(error) = printer.output_failure() else { return status };
    let failure = Failure::unwritten(error);
    let lost_lines = printer.lost_lines();
    if lost_lines == LostLines::Warn {
        printer.error(|buffer| _ = writeln!(buffer, "warning: {}", failure.message));
        printer.flush();
        return status;
    }
    report(&failure, &printer);
    printer.flush();
    match status {
        exit::SUCCESS if lost_lines == LostLines::FailAsAws => exit::FAILED,
        exit::SUCCESS | exit::WARNED | exit::BROKEN_PIPE => exit::OTHER,
        status => status,
    }
}

fn color(global: &GlobalArgs, environment: &Environment) -> Option<bool> {
    match global.color.unwrap_or_default() {
        ColorChoice::On => Some(true),
        ColorChoice::Off => Some(false),
        ColorChoice::Auto => environment.get(env_vars::NO_COLOR).map(|_| false),
    }
}

fn progress(global: &GlobalArgs) -> ProgressStyle {
    match global.progress.unwrap_or_default() {
        ProgressChoice::Plain => ProgressStyle::Plain,
        ProgressChoice::Auto | ProgressChoice::None => ProgressStyle::Auto,
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
    let is_error = error.use_stderr();
    let (mut stream, is_terminal): (Box<dyn Write>, bool) = if is_error {
        (Box::new(io::stderr()), io::stderr().is_terminal())
    } else {
        (Box::new(io::stdout()), io::stdout().is_terminal())
    };
    // Colours as clap decides on them. None if an argument, which may have come from a key, holds
    // control characters: clap would pass them on.
    let is_dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    let is_plain = std::env::args_os().all(|word| word.to_str().is_some_and(is_printable));
    let has_colours = !is_dumb && is_plain && std::env::var_os(env_vars::NO_COLOR).is_none();
    let is_coloured = is_terminal && has_colours;
    let mut bytes =
        if is_coloured { text.ansi().to_string() } else { text.to_string() }.into_bytes();
    if is_terminal {
        tame(&mut bytes, 0, is_coloured);
    }
    let mut write = || {
        standard_streams::output_error().filter(|_| !is_error).map_or(Ok(()), Err)?;
        stream.write_all(&bytes)?;
        stream.flush()
    };
    match write() {
        _ if is_error => exit::USAGE,
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            report(&Failure::unwritten(&error), &Printer::new(None));
            exit::OTHER
        }
        _ => exit::SUCCESS,
    }
}
