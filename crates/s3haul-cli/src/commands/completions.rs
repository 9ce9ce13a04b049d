//! `completions`: the scripts that have shells complete command lines.

use crate::args::{CompletionsArgs, Shell};
use crate::exit;
use crate::printer::Printer;

/// Prints the script for a shell.
pub(super) fn run(args: CompletionsArgs, printer: &Printer) -> u8 {
    let script = match args.shell {
        Shell::Bash => include_str!("completions/s3haul.bash"),
        Shell::Zsh => include_str!("completions/_s3haul"),
        Shell::Fish => include_str!("completions/s3haul.fish"),
    };
    printer.output(|buffer| buffer.extend_from_slice(script.as_bytes()));
    exit::SUCCESS
}
