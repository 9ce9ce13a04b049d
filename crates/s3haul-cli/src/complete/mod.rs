//! Completes a command line that is being typed: commands, flags and their values from the
//! definition of the command line, profiles from the configuration, buckets and keys from the
//! service.
//!
//! The script of a shell (`commands/completions`) calls `s3haul __complete SHELL CURRENT WORD...`
//! and gets a candidate a line. Everything is tried once, nothing prompts, and errors are silent.

mod addresses;
mod cache;
mod line;

use std::ffi::OsString;
use std::io::Write as _;
use std::sync::Arc;

use clap::{Arg, ValueEnum as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};

use crate::args::{Shell, command};
use crate::exit;
use crate::render::escape::is_printable;
use crate::settings::Environment;
use addresses::{Addresses, Profiles, Reach};
use line::Line;

/// The word that the scripts call the program with.
const WORD: &str = "__complete";

/// Completes a line, if the program was called by the script of a shell.
pub(crate) fn run(args: &[OsString], environment: &Environment) -> Option<u8> {
    let [_, word, shell, current, words @ ..] = args else { return None };
    if word != WORD {
        return None;
    }
    let words: Option<Vec<String>> =
        words.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let found = Shell::from_str(&shell.to_string_lossy(), false).ok().and_then(|shell| {
        let line = Line::new(shell, &current.to_string_lossy(), &words?)?;
        Some(candidates(&line, environment))
    });
    let mut text = found.unwrap_or_default().join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    // The shell that asked may be gone.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Some(exit::SUCCESS)
}

fn candidates(line: &Line, environment: &Environment) -> Vec<String> {
    let words = line.words.split_last().map_or(&[][..], |(_, words)| words);
    let mut definition = with_completers(command(), &words.into(), environment);
    let arguments = line.arguments();
    let index = arguments.len().saturating_sub(1);
    let found = complete(&mut definition, arguments, index, None).unwrap_or_default();
    let is_flag = |candidate: &CompletionCandidate| {
        candidate.get_value().as_encoded_bytes().starts_with(b"-")
    };
    // Before anything is typed, flags would hide the rest.
    let only_others = line.words.last().is_some_and(String::is_empty) && !found.iter().all(is_flag);
    let shown = found.iter().filter(|candidate| !(only_others && is_flag(candidate)));
    let written = shown.filter_map(|candidate| {
        let about = candidate.get_help().map(ToString::to_string);
        let about = about.as_deref().and_then(|about| about.lines().next());
        // A name that would move the cursor has to be typed.
        let value = candidate.get_value().to_str().filter(|value| is_printable(value))?;
        line.written(value, about)
    });
    written.collect()
}

/// The definition with what completes profiles and addresses.
fn with_completers(
    definition: clap::Command,
    words: &Arc<[String]>,
    environment: &Environment,
) -> clap::Command {
    let definition = definition.mut_args(|arg| with_completer(arg, words, environment));
    definition.mut_subcommands(|inner| with_completers(inner, words, environment))
}

fn with_completer(arg: Arg, words: &Arc<[String]>, environment: &Environment) -> Arg {
    if matches!(arg.get_long(), Some("profile" | "source-profile" | "target-profile")) {
        return arg.add(ArgValueCompleter::new(Profiles(environment.clone())));
    }
    let names: Vec<&str> =
        arg.get_value_names().unwrap_or_default().iter().map(clap::builder::Str::as_str).collect();
    let (source, target) = (Some("source"), Some("target"));
    let (reach, sides) = match names[..] {
        ["S3Uri"] => (Reach::S3, [None; 2]),
        ["S3Uri|FILE" | "FOLDER"] => (Reach::Files, [None; 2]),
        ["SOURCE", "TARGET"] => (Reach::Files, [source, target]),
        ["SOURCE"] => (Reach::Files, [source; 2]),
        ["TARGET"] => (Reach::Files, [target; 2]),
        _ => return arg,
    };
    let (words, environment) = (Arc::clone(words), environment.clone());
    arg.add(ArgValueCompleter::new(Addresses { words, environment, reach, sides }))
}
