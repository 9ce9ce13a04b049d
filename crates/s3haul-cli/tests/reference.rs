//! `docs/reference.md` is made from the definition of the command line, and held to it.
//!
//! `S3HAUL_TEST_BLESS=1 cargo test -p s3haul-cli --test reference` writes it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference.md");

const HEAD: &str = "\
# Commands and flags

Made from the definition of the command line, as `s3haul COMMAND --help` is. Flags that three or
more commands have in common are explained once, [below](#flags-that-many-commands-have). A flag
may be shortened as long as it is unambiguous.
";

/// Commands that have a flag in common before it is explained once.
const COMMON_MIN: usize = 3;

/// Commands that do something, with their names.
fn leaves<'c>(command: &'c Command, path: &str, found: &mut Vec<(String, &'c Command)>) {
    for inner in command.get_subcommands() {
        if inner.is_hide_set() || inner.get_name() == "help" {
            continue;
        }
        let path = format!("{path} {}", inner.get_name()).trim().to_owned();
        if inner.has_subcommands() {
            leaves(inner, &path, found);
        }
        if !inner.has_subcommands() || inner.get_name() == "plan" {
            found.push((path, inner));
        }
    }
}

fn text(styled: Option<&StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default()
}

/// A text as it may stand in Markdown: flags are code, and what looks like a tag or a column is
/// none.
fn markdown(text: &str) -> String {
    let mut is_code = false;
    let mut words = Vec::new();
    for word in text.split_whitespace() {
        let flag = word.trim_end_matches(['.', ',', ';', ':', ')']);
        let (start, flag, end) = match flag.strip_prefix('(') {
            Some(inner) => ("(", inner, &word[flag.len()..]),
            None => ("", flag, &word[flag.len()..]),
        };
        words.push(match () {
            () if !is_code && flag.starts_with("--") => format!("{start}`{flag}`{end}"),
            () if is_code || word.contains('`') => word.replace('|', "\\|"),
            () => {
                let word = word.replace('|', "\\|").replace('<', "\\<").replace('*', "\\*");
                word.replace('_', "\\_").replace('[', "\\[")
            }
        });
        is_code ^= word.matches('`').count() % 2 == 1;
    }
    words.join(" ")
}

/// A row of the table of flags.
fn row(arg: &Arg) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(arg.get_short().map(|short| format!("-{short}")));
    names.extend(arg.get_long().map(|long| format!("--{long}")));
    let values = arg.get_value_names().unwrap_or_default();
    let values: Vec<&str> = values.iter().map(clap::builder::Str::as_str).collect();
    let mut name = names.join(", ");
    if arg.get_action().takes_values() {
        let is_optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
        let values = values.join(" ");
        name = match (name.is_empty(), is_optional) {
            (true, _) => values,
            (false, true) => format!("{name} [{values}]"),
            (false, false) => format!("{name} {values}"),
        };
    }
    let mut about = text(arg.get_long_help().or_else(|| arg.get_help()));
    if !about.is_empty() && !about.ends_with('.') {
        about.push('.');
    }
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !possible.is_empty() {
        write!(about, " One of {}.", possible.join(", ")).unwrap();
    }
    let default = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    let default: Vec<_> = default.filter(|_| arg.get_action().takes_values()).collect();
    if !default.is_empty() {
        write!(about, " The default is `{}`.", default.join(" ")).unwrap();
    }
    format!("| `{}` | {} |", name.replace('|', "\\|"), markdown(&about))
}

fn shown(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_shown = |arg: &&Arg| {
        let is_general = matches!(arg.get_long(), Some("help" | "version"));
        !arg.is_hide_set() && !is_general && !arg.is_global_set()
    };
    command.get_arguments().filter(is_shown)
}

/// A flag in the list of those that are explained elsewhere; `None` for arguments.
fn flag(row: &str) -> Option<String> {
    let name = row.split(['`', ' ']).find(|word| word.starts_with("--"))?;
    row.starts_with("| `-").then(|| format!("`{name}`"))
}

fn push_command(
    page: &mut String,
    path: &str,
    command: &Command,
    counts: &BTreeMap<String, usize>,
) {
    write!(page, "\n## {path}\n\n").unwrap();
    let about = text(command.get_long_about().or_else(|| command.get_about()));
    let mut paragraphs = about.split("\n\n");
    let first = paragraphs.next().unwrap_or_default().trim_end_matches('.');
    writeln!(page, "{}.", markdown(first)).unwrap();
    for paragraph in paragraphs {
        write!(page, "\n{}.\n", markdown(paragraph.trim_end_matches('.'))).unwrap();
    }
    let usage = command.clone().render_usage().to_string();
    let lines = usage.trim_start_matches("Usage:").lines().map(str::trim);
    write!(page, "\n```text\n{}\n```\n", lines.collect::<Vec<_>>().join("\n")).unwrap();
    let rows = |is_common: bool| {
        let rows = shown(command).map(row);
        rows.filter(move |row| (counts[row] >= COMMON_MIN) == is_common)
    };
    let own: Vec<String> = rows(false).collect();
    if !own.is_empty() {
        write!(page, "\n| flag | meaning |\n|---|---|\n{}\n", own.join("\n")).unwrap();
    }
    let common: Vec<String> = rows(true).filter_map(|row| flag(&row)).collect();
    if !common.is_empty() {
        let about = "[Flags that many commands have](#flags-that-many-commands-have)";
        write!(page, "\n{about}: {}.\n", common.join(", ")).unwrap();
    }
}

fn reference() -> String {
    let mut definition = s3haul_cli::command();
    definition.build();
    let mut found = Vec::new();
    leaves(&definition, "", &mut found);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in found.iter().flat_map(|(_, command)| shown(command)).map(row) {
        *counts.entry(row).or_default() += 1;
    }
    let mut page = HEAD.to_owned();
    for (path, command) in &found {
        push_command(&mut page, path, command, &counts);
    }
    let heading = |title: &str| format!("\n## {title}\n\n| flag | meaning |\n|---|---|\n");
    page.push_str(&heading("Flags that many commands have"));
    for (row, _) in counts.iter().filter(|(_, count)| **count >= COMMON_MIN) {
        writeln!(page, "{row}").unwrap();
    }
    page.push_str(&heading("Flags of all commands"));
    let global = definition.get_arguments().filter(|arg| !arg.is_hide_set());
    for row in global.filter(|arg| arg.is_global_set()).map(row) {
        writeln!(page, "{row}").unwrap();
    }
    page
}

#[test]
fn the_reference_is_made_from_the_definition_of_the_command_line() {
    let text = reference();
    if std::env::var_os("S3HAUL_TEST_BLESS").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    let held = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(held == text, "{FILE} is not up to date: run this test with S3HAUL_TEST_BLESS=1");
}
