//! The methods of the Python package are made from the definition of the command line, so that both
//! have the same commands, flags and words.
//!
//! So is their reference. `S3HAUL_TEST_BLESS=1` writes both.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/s3haul/_commands.py");
const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/python-reference.md");

/// Functions that a parameter has in common before it is explained once.
const COMMON_MIN: usize = 3;

/// Width of a line of the file.
const WIDTH: usize = 100;

/// Flags of all commands that single calls have, too; the others are those of the client.
const LIMITS: [&str; 4] =
    ["max_concurrent_requests", "max_requests_per_second", "max_bandwidth", "max_memory"];

/// Flags about what is printed, which a call does not do, and about jobs, for which there are
/// methods.
const PRINTING: [&str; 20] = [
    "quiet",
    "only_show_errors",
    "progress_frequency",
    "progress_multiline",
    "print_job",
    "format",
    "fields",
    "no_header",
    "output_file",
    "human_readable",
    "header",
    "help",
    "version",
    "plan",
    "estimate",
    "resume",
    "yes",
    "show_progress",
    // The defaults, which need no word.
    "follow_symlinks",
    "guess_mime_type",
];

/// Parameters of transfers that Python alone has, with their types and meaning.
const ENGINE: [(&str, &str, &str); 3] = [
    (
        "engine",
        "Literal[\"ray\"] | None",
        "Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`",
    ),
    ("address", "str | None", "Address of the cluster, as `ray.init` takes it"),
    (
        "job_folder",
        "StrPath | None",
        "New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`, or a \
         directory that they share",
    ),
];

/// What a method returns, and the words that its command begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Transfer,
    Rows,
    Compared,
    /// The words that make the command print JSON.
    Query(&'static [&'static str]),
    Text,
}

impl Kind {
    fn of(command: &str) -> Option<Self> {
        Some(match command {
            "cp" | "mv" | "rm" | "sync" | "undelete" | "set" | "restore" | "tag set"
            | "tag add" | "tag remove" | "tag clear" => Self::Transfer,
            "list" | "versions" | "find" => Self::Rows,
            "compare" | "verify" => Self::Compared,
            "summarize" => Self::Query(&["--format", "json"]),
            "tag get" | "head" | "ls" | "list-buckets" | "uploads ls" | "uploads abort" | "mb"
            | "rb" | "versioning get" | "versioning enable" | "versioning suspend" | "website"
            | "presign" => Self::Query(&["--json"]),
            "map" | "each" => Self::Text,
            _ => return None,
        })
    }

    fn method(self) -> &'static str {
        match self {
            Self::Transfer => "_transfer",
            Self::Rows => "_rows",
            Self::Compared => "_compared",
            Self::Query(_) => "_query",
            Self::Text => "_text",
        }
    }

    fn type_name(self, is_async: bool) -> &'static str {
        match self {
            Self::Transfer => "Result",
            Self::Rows | Self::Compared if is_async => "AsyncRows",
            Self::Rows | Self::Compared => "Rows",
            Self::Query(_) => "Records",
            Self::Text => "str",
        }
    }

    fn is_awaited(self) -> bool {
        !matches!(self, Self::Rows | Self::Compared)
    }
}

/// The name of a method.
fn method_name(command: &str) -> String {
    match command {
        "cp" => "copy".to_owned(),
        "mv" => "move".to_owned(),
        "rm" => "remove".to_owned(),
        "mb" => "make_bucket".to_owned(),
        "rb" => "remove_bucket".to_owned(),
        "restore" | "set" | "list" => command.to_owned(),
        _ => command.replace([' ', '-'], "_"),
    }
}

/// A parameter of a method.
struct Parameter {
    name: String,
    kind: String,
    default: &'static str,
    help: String,
}

fn text_of(styled: Option<&clap::builder::StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default().replace('\\', "\\\\")
}

fn value_type(arg: &Arg) -> String {
    use std::any::TypeId;
    let parser = arg.get_value_parser();
    let names: Vec<_> = arg.get_possible_values();
    if !names.is_empty() {
        let names: Vec<_> = names.iter().map(|name| format!("{:?}", name.get_name())).collect();
        return format!("Literal[{}]", names.join(", "));
    }
    let is = |of: TypeId| parser.type_id() == of;
    let numbers = [
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i64>(),
        TypeId::of::<u16>(),
        TypeId::of::<std::num::NonZeroU32>(),
    ];
    let value = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name);
    if numbers.into_iter().any(is) {
        "int".to_owned()
    } else if is(TypeId::of::<std::path::PathBuf>()) {
        "StrPath".to_owned()
    } else if ["SIZE", "RATE", "BYTES", "NUMBER|PERCENT%"].contains(&value) {
        "str | int".to_owned()
    } else if ["TIME", "AGE", "DATE"].contains(&value) {
        "str | datetime | timedelta".to_owned()
    } else if ["metadata", "add_metadata", "tags"].contains(&arg.get_id().as_str()) {
        "str | Mapping[str, str]".to_owned()
    } else {
        "str".to_owned()
    }
}

fn parameter(arg: &Arg) -> Parameter {
    let mut name = arg.get_id().as_str().replace('-', "_");
    // Words of Python.
    if name == "from" || name == "finally" {
        name.push('_');
    }
    let help = text_of(arg.get_help());
    let (kind, default) = match arg.get_action() {
        ArgAction::SetTrue => ("bool".to_owned(), "False"),
        ArgAction::Append => (format!("Sequence[{}] | None", value_type(arg)), "None"),
        _ if arg.get_num_args().is_some_and(|count| count.max_values() > 1) => {
            (format!("Sequence[{}] | None", value_type(arg)), "None")
        }
        _ => (format!("{} | None", value_type(arg)), "None"),
    };
    Parameter { name, kind, default, help }
}

/// Positional parameters: those of commands with two paths are a source and a target.
fn positionals(command: &Command) -> Vec<(String, String, bool)> {
    let mut found = Vec::new();
    for arg in command.get_positionals() {
        let name = arg.get_id().as_str().replace('-', "_");
        let count = arg.get_num_args().map_or(1, |count| count.max_values());
        let help = text_of(arg.get_help());
        match (count, arg.get_action()) {
            (2, _) => {
                found.push(("source".to_owned(), help.clone(), true));
                found.push(("target".to_owned(), help, true));
            }
            (1, ArgAction::Set) => found.push((name, help, arg.is_required_set())),
            _ => found.push((format!("*{name}"), help, true)),
        }
    }
    found
}

fn parameters(command: &Command, kind: Kind) -> Vec<Parameter> {
    let is_wanted = |arg: &&Arg| {
        let id = arg.get_id().as_str().replace('-', "_");
        let is_limit = LIMITS.contains(&id.as_str());
        !arg.is_positional()
            && !arg.is_hide_set()
            && !PRINTING.contains(&id.as_str())
            && (is_limit || !arg.is_global_set())
    };
    let mut found: Vec<_> = command.get_arguments().filter(is_wanted).map(parameter).collect();
    // Those of all commands come last.
    found.sort_by_key(|parameter| LIMITS.contains(&parameter.name.as_str()));
    if found.iter().any(|parameter| parameter.name == "include") {
        let at = found.iter().position(|parameter| parameter.name == "exclude").unwrap();
        found.insert(
            at,
            Parameter {
                name: "filters".to_owned(),
                kind: "Sequence[tuple[Literal[\"exclude\", \"include\"], str]] | None".to_owned(),
                default: "None",
                help: "Patterns in the order in which they count, the last one that matches \
                    decides: `[(\"exclude\", \"*\"), (\"include\", \"*.csv\")]`. `exclude` and \
                    `include` are short for all excludes and then all includes"
                    .to_owned(),
            },
        );
    }
    if kind == Kind::Transfer {
        found.extend(ENGINE.map(|(name, kind, help)| Parameter {
            name: name.to_owned(),
            kind: kind.to_owned(),
            default: "None",
            help: help.to_owned(),
        }));
    }
    found
}

/// Writes text as lines with this indentation.
fn push_wrapped(file: &mut String, text: &str, first: &str, indent: &str) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(file, "{}", line.trim_end()).unwrap();
            indent.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    writeln!(file, "{}", line.trim_end()).unwrap();
}

fn push_method(file: &mut String, path: &str, command: &Command, kind: Kind, is_async: bool) {
    let name = method_name(path);
    let (positionals, mut parameters) = (positionals(command), parameters(command, kind));
    if is_async {
        parameters.retain(|parameter| !ENGINE.iter().any(|(name, ..)| parameter.name == *name));
    }
    let has_progress = kind == Kind::Transfer;
    let is_coroutine = is_async && kind.is_awaited();
    let word = if is_coroutine { "async def" } else { "def" };
    writeln!(file, "\n    {word} {name}(\n        self,").unwrap();
    let is_open = positionals.iter().any(|(name, ..)| name.starts_with('*'));
    for (name, _, is_required) in &positionals {
        let kind = if *is_required { "StrPath" } else { "StrPath | None = None" };
        writeln!(file, "        {name}: {kind},").unwrap();
    }
    if !is_open {
        writeln!(file, "        *,").unwrap();
    }
    for Parameter { name, kind, default, .. } in &parameters {
        let line = format!("        {name}: {kind} = {default},");
        if line.len() <= WIDTH {
            writeln!(file, "{line}").unwrap();
            continue;
        }
        // A long choice has a line for each word.
        let line = line.replace("Literal[", "Literal[\n            ");
        let line =
            line.replace("\", \"", "\",\n            \"").replace("] |", ",\n        ]\n        |");
        writeln!(file, "{line}").unwrap();
    }
    if has_progress {
        writeln!(file, "        progress: ProgressTarget = None,").unwrap();
    }
    writeln!(file, "    ) -> {}:", kind.type_name(is_async)).unwrap();
    if is_async {
        writeln!(file, "        \"\"\"Like `Commands.{name}`.\"\"\"").unwrap();
    } else {
        push_doc(file, command, &positionals, &parameters, has_progress);
    }
    let mut words: Vec<_> = path.split(' ').collect();
    if let Kind::Query(flags) = kind {
        words.extend(flags);
    }
    let words: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
    let paths: Vec<_> = positionals.iter().map(|(name, ..)| name.as_str()).collect();
    let awaited = if is_coroutine { "await " } else { "" };
    writeln!(file, "        return {awaited}self.{}(", kind.method()).unwrap();
    writeln!(file, "            [{}],", words.join(", ")).unwrap();
    writeln!(file, "            [{}],", paths.join(", ")).unwrap();
    writeln!(file, "            {{").unwrap();
    for Parameter { name, .. } in &parameters {
        writeln!(file, "                {name:?}: {name},").unwrap();
    }
    writeln!(file, "            }},").unwrap();
    if has_progress {
        writeln!(file, "            progress,").unwrap();
    }
    writeln!(file, "        )").unwrap();
}

fn push_doc(
    file: &mut String,
    command: &Command,
    positionals: &[(String, String, bool)],
    parameters: &[Parameter],
    has_progress: bool,
) {
    let indent = " ".repeat(8);
    let about = text_of(command.get_about());
    let about = format!("{}.", about.trim_end_matches('.'));
    push_wrapped(file, &about, &format!("{indent}\"\"\""), &indent);
    let long = text_of(command.get_long_about());
    for paragraph in long.split("\n\n").skip(1) {
        writeln!(file).unwrap();
        push_wrapped(file, paragraph, &indent, &indent);
    }
    writeln!(file, "\n{indent}Args:").unwrap();
    let deep = " ".repeat(16);
    for (name, help, _) in positionals {
        push_argument(file, name.trim_start_matches('*'), help, &deep);
    }
    for Parameter { name, help, .. } in parameters {
        push_argument(file, name, help, &deep);
    }
    if has_progress {
        let help = "A function that gets a `Progress` ten times a second, or True for a bar";
        push_argument(file, "progress", help, &deep);
    }
    writeln!(file, "{indent}\"\"\"").unwrap();
}

fn push_argument(file: &mut String, name: &str, help: &str, indent: &str) {
    let help = if help.is_empty() { "`s3://bucket/key` or a path" } else { help };
    let help = format!("{}.", help.trim_end_matches('.'));
    push_wrapped(file, &help, &format!("            {name}: "), indent);
}

/// Leaf commands by their words, in the order of the command line.
fn leaves<'a>(command: &'a Command, path: &str, found: &mut Vec<(String, &'a Command)>) {
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        let path = format!("{path} {}", inner.get_name()).trim().to_owned();
        if inner.has_subcommands() {
            leaves(inner, &path, found);
        } else {
            found.push((path, inner));
        }
    }
}

/// The functions with their parameters; those that many have are explained once.
fn reference(found: &[(String, &Command)]) -> String {
    let functions: Vec<_> = found
        .iter()
        .filter_map(|(path, command)| Some((path, *command, Kind::of(path)?)))
        .map(|(path, command, kind)| (method_name(path), command, kind, parameters(command, kind)))
        .collect();
    let row = |parameter: &Parameter| {
        let Parameter { name, kind, help, .. } = parameter;
        let kind = kind.replace(" | None", "").replace(" | ", " or ");
        format!("| `{name}` | `{kind}` | {} |", help.replace('|', "\\|"))
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for parameter in functions.iter().flat_map(|function| &function.3) {
        *counts.entry(row(parameter)).or_default() += 1;
    }
    let is_common = |parameter: &Parameter| counts[&row(parameter)] >= COMMON_MIN;
    let mut text = "# The functions of the Python package\n\n\
        Made from the definition of the command line, as the functions themselves: \
        [python.md](python.md) says how they are used, and what there is beside them. All \
        parameters but paths and URLs are given by name. In `s3haul.aio` they are coroutines, and \
        listings are iterated with `async for`.\n"
        .to_owned();
    for (name, command, kind, parameters) in &functions {
        let positionals = positionals(command);
        let paths: Vec<_> = positionals.iter().map(|(name, ..)| name.as_str()).collect();
        let about = text_of(command.get_about());
        // The client makes more of what these print.
        let returned = match name.as_str() {
            "summarize" => "Summary",
            "presign" => "str",
            "head" => "dict[str, Any]",
            _ => kind.type_name(false),
        };
        let arguments: Vec<_> = paths.into_iter().chain(["…"]).collect();
        write!(text, "\n## `{name}({}) -> {returned}`\n\n", arguments.join(", ")).unwrap();
        writeln!(text, "{}.", about.trim_end_matches('.')).unwrap();
        let (common, own): (Vec<_>, Vec<_>) = parameters.iter().partition(|p| is_common(p));
        if !own.is_empty() {
            text.push_str("\n| parameter | type | meaning |\n|---|---|---|\n");
            for parameter in own {
                writeln!(text, "{}", row(parameter)).unwrap();
            }
        }
        let names: Vec<_> =
            common.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
        if !names.is_empty() {
            writeln!(text, "\n[Common](#common-parameters): {}.", names.join(", ")).unwrap();
        }
    }
    text.push_str("\n## Common parameters\n\n| parameter | type | meaning |\n|---|---|---|\n");
    for (row, _) in counts.iter().filter(|(_, count)| **count >= COMMON_MIN) {
        writeln!(text, "{row}").unwrap();
    }
    text
}

fn generated(found: &[(String, &Command)]) -> String {
    let mut file = "\
# Made from the definition of the command line, and held by a test:
# S3HAUL_TEST_BLESS=1 cargo test -p s3haul-cli --test python_commands
\"\"\"The commands as methods.\"\"\"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from ._call import AsyncCall, Call, ProgressTarget, Records, StrPath
from ._result import Result
from ._rows import AsyncRows, Rows

"
    .to_owned();
    for is_async in [false, true] {
        let (name, base, about) = if is_async {
            ("AsyncCommands", "AsyncCall", "The commands as coroutines.")
        } else {
            ("Commands", "Call", "The commands as methods.")
        };
        write!(file, "\nclass {name}({base}):\n    \"\"\"{about}\"\"\"\n").unwrap();
        for (path, command) in found {
            if let Some(kind) = Kind::of(path) {
                push_method(&mut file, path, command, kind, is_async);
            }
        }
        if !is_async {
            file.push('\n');
        }
    }
    file
}

#[test]
fn the_methods_of_the_python_package_are_those_of_the_command_line() {
    let mut command = s3haul_cli::command();
    command.build();
    let mut found = Vec::new();
    leaves(&command, "", &mut found);
    for (file, text) in [(FILE, generated(&found)), (REFERENCE, reference(&found))] {
        if std::env::var_os("S3HAUL_TEST_BLESS").is_some() {
            std::fs::write(file, &text).unwrap();
        }
        let held = std::fs::read_to_string(file).unwrap_or_default();
        assert!(held == text, "{file} is not up to date: run this test with S3HAUL_TEST_BLESS=1");
    }
}
