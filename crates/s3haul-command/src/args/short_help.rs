//! `-h`: the flags that are used most, grouped, on one screen. `--help` has all of them.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// Columns of a screen.
const WIDTH: usize = 80;
/// A help text of a flag that is longer is cut at a colon or semicolon.
const HELP_MAX: usize = 90;
/// Possible values that take more than this are left to `--help`.
const VALUES_MAX: usize = 60;

/// Flags under a heading.
type Group = (&'static str, &'static [&'static str]);

const OBJECTS: &str = "Which objects";
const WORK: &str = "What is done";
const OUTPUT: &str = "What is printed";

/// Flags of all commands, shown after those of a command that talks to S3.
const COMMON: [Group; 1] = [("All commands", &["profile", "region", "endpoint-url", "json"])];

/// The flags of each command that are used most.
const USUAL: [(&str, &[Group]); 37] = [
    ("cp", COPY),
    ("mv", COPY),
    (
        "sync",
        &[(OBJECTS, &["exclude", "include"]), (WORK, &["delete", "size-only", "dryrun", "quiet"])],
    ),
    (
        "ls",
        &[
            (OBJECTS, &["recursive", "exclude", "include"]),
            (OUTPUT, &["human-readable", "summarize"]),
        ],
    ),
    (
        "rm",
        &[
            (OBJECTS, &["recursive", "exclude", "include", "older-than"]),
            (WORK, &["dryrun", "quiet"]),
        ],
    ),
    ("mb", &[(WORK, &["versioning", "object-lock", "tags"])]),
    ("rb", &[(WORK, &["force", "versions"])]),
    ("presign", &[(WORK, &["expires-in", "method", "content-type"])]),
    ("website", &[(WORK, &["index-document", "error-document"])]),
    ("cat", &[(OBJECTS, &["range", "raw"])]),
    ("pipe", &[(WORK, &["content-type", "storage-class", "metadata", "no-overwrite"])]),
    ("head", &[(OBJECTS, &["version-id"])]),
    (
        "compare",
        &[
            (OBJECTS, &["exclude", "include"]),
            (WORK, &["checksum", "size-only"]),
            (OUTPUT, &["show", "format"]),
        ],
    ),
    ("verify", &[(OBJECTS, &["exclude", "include"]), (OUTPUT, &["show", "format"])]),
    (
        "undelete",
        &[(OBJECTS, &["recursive", "since", "exclude", "include"]), (WORK, &["dryrun", "quiet"])],
    ),
    (
        "versions",
        &[(OBJECTS, &["recursive", "exclude", "include"]), (OUTPUT, &["format", "output-file"])],
    ),
    ("versioning get", &[]),
    ("versioning enable", &[]),
    ("versioning suspend", &[]),
    (
        "list",
        &[
            (OBJECTS, &["exclude", "include", "versions"]),
            (OUTPUT, &["format", "sort", "output-file"]),
        ],
    ),
    (
        "find",
        &[
            (OBJECTS, &["name", "min-size", "newer-than", "older-than", "tag"]),
            (OUTPUT, &["format"]),
        ],
    ),
    (
        "summarize",
        &[(OBJECTS, &["exclude", "include", "versions"]), (OUTPUT, &["depth", "top", "format"])],
    ),
    ("list-buckets", &[(OUTPUT, &["bucket-name-prefix", "count", "format"])]),
    ("uploads ls", &[(OUTPUT, &["older-than", "sizes"])]),
    ("uploads abort", &[(WORK, &["older-than", "dryrun", "quiet"])]),
    ("tag get", &[(OBJECTS, &["recursive", "exclude", "include"]), (OUTPUT, &["format"])]),
    ("tag set", TAG),
    ("tag add", TAG),
    ("tag remove", &[(OBJECTS, CHOICE), (WORK, &["keys", "all", "dryrun"])]),
    ("set", &[(OBJECTS, CHOICE), (WORK, &["storage-class", "cache-control", "dryrun"])]),
    (
        "restore",
        &[(OBJECTS, &["recursive"]), (WORK, &["days", "tier", "wait", "status", "dryrun"])],
    ),
    ("map", &[(WORK, &["map", "reduce", "finally", "filter"])]),
    ("each", &[(WORK, &["each", "filter"])]),
    ("run", &[(WORK, &["dryrun", "jobs", "report", "retry-failed"])]),
    ("serve", &[(WORK, &["address", "memory", "latency", "weather", "access-key", "secret-key"])]),
    ("help", &[]),
    ("s3", &[]),
];

const CHOICE: &[&str] = &["recursive", "exclude", "include"];
const COPY: &[Group] = &[(OBJECTS, CHOICE), (WORK, &["dryrun", "storage-class", "quiet"])];
const TAG: &[Group] = &[(OBJECTS, CHOICE), (WORK, &["tags", "dryrun", "quiet"])];

/// The commands of `aws s3`, in the order of the overview, then the others by what they are for.
const AS_AWS: [&str; 9] = ["cp", "mv", "sync", "ls", "rm", "mb", "rb", "presign", "website"];
const OTHERS: [(&str, &[&str]); 4] = [
    ("One object", &["cat", "pipe", "head"]),
    ("What is there", &["list", "find", "summarize", "list-buckets", "versions", "uploads"]),
    (
        "Checks and changes",
        &["compare", "verify", "tag", "set", "restore", "undelete", "versioning"],
    ),
    ("Scripts and tools", &["map", "each", "run", "serve"]),
];

/// The definition with what `-h` shows.
pub(super) fn shorten(mut command: Command) -> Command {
    command.build();
    let overview = overview(&command);
    let command = shorten_below(command, "").override_help(overview.clone());
    command.mut_subcommand("s3", |inner| inner.override_help(overview))
}

fn shorten_below(command: Command, path: &str) -> Command {
    let is_group = command.has_subcommands();
    let names: Vec<String> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let mut command = command.max_term_width(WIDTH);
    for name in names {
        // `s3 cp` is `cp`.
        let below =
            if path.is_empty() || path == "s3" { name.clone() } else { format!("{path} {name}") };
        command = command.mut_subcommand(name, |inner| shorten_below(inner, &below));
    }
    let groups = groups(path);
    let more = if is_group { "COMMAND --help" } else { "--help" };
    command
        .mut_args(|arg| short_arg(arg, &groups))
        .after_help(format!("`s3haul {path} {more}` explains these flags and has all others."))
}

/// What is shown of a command, in its order.
fn groups(path: &str) -> Vec<Group> {
    let own = USUAL.iter().find(|(name, _)| *name == path).map_or(&[][..], |(_, groups)| groups);
    let common: &[Group] = if path == "serve" { &[] } else { &COMMON };
    [own, common].concat()
}

fn short_arg(arg: Arg, groups: &[Group]) -> Arg {
    let help = arg.get_help().map(|help| first_sentence(&help.to_string()));
    let arg = match help {
        Some(help) => arg.help(help),
        None => arg,
    };
    if arg.is_positional() || arg.get_id() == "help" {
        return arg;
    }
    let values: usize =
        arg.get_possible_values().iter().map(|value| value.get_name().len() + 2).sum();
    let arg = arg.hide_possible_values(values > VALUES_MAX);
    let all =
        groups.iter().flat_map(|(heading, names)| names.iter().map(move |name| (heading, name)));
    let place = all.enumerate().find(|(_, (_, name))| arg.get_long() == Some(**name));
    match place {
        Some((order, (heading, _))) => arg.help_heading(*heading).display_order(order),
        None => arg.hide_short_help(true),
    }
}

/// The beginning of a help text that says the most.
fn first_sentence(help: &str) -> String {
    let sentence = help.split(". ").next().unwrap_or(help).trim_end_matches('.');
    if sentence.len() <= HELP_MAX {
        return sentence.to_owned();
    }
    sentence.split([':', ';']).next().unwrap_or(sentence).to_owned()
}

/// The help of the program itself: all commands on one screen.
fn overview(command: &Command) -> String {
    let mut text = String::from(
        "Move, sync, list, describe and remove S3 data in bulk.\n\nUsage: s3haul [OPTIONS] \
         <COMMAND>\n\nAs in `aws s3`:\n",
    );
    for name in AS_AWS {
        push_command(&mut text, command, name);
    }
    for (heading, names) in OTHERS {
        _ = writeln!(text, "{heading}:");
        for name in names {
            push_command(&mut text, command, name);
        }
    }
    text.push_str(
        "\n`COMMAND -h` shows the flags that are used most, `COMMAND --help` explains all.",
    );
    text
}

fn push_command(text: &mut String, command: &Command, name: &str) {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    let about = about.map(|about| first_sentence(&about.to_string())).unwrap_or_default();
    let line = format!("  {name:<13} {about}");
    text.push_str(shortened(&line));
    text.push('\n');
}

/// The parts of a line that a screen has room for.
fn shortened(line: &str) -> &str {
    if line.len() <= WIDTH {
        return line;
    }
    let room = &line[..line.floor_char_boundary(WIDTH)];
    room.rfind([',', ':']).map_or(room, |cut| &room[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands that do something, by their words.
    fn leaves(command: &Command, path: &str, into: &mut Vec<(String, Command)>) {
        for inner in command.get_subcommands() {
            let name = format!("{path} {}", inner.get_name()).trim().to_owned();
            if name == "s3" || inner.get_name() == "help" {
                continue;
            }
            if inner.has_subcommands() {
                leaves(inner, &name, into);
            } else {
                into.push((name, inner.clone()));
            }
        }
    }

    #[test]
    fn each_command_has_up_to_ten_usual_flags_that_it_knows() {
        let mut definition = super::super::command();
        definition.build();
        let mut found = Vec::new();
        leaves(&definition, "", &mut found);
        for (name, command) in &found {
            assert!(USUAL.iter().any(|(known, _)| known == name), "`{name}` is not in the table");
            let flags: Vec<_> =
                groups(name).iter().flat_map(|(_, names)| names.iter().copied()).collect();
            assert!(flags.len() <= 10, "{name}: {flags:?}");
            for flag in flags {
                let mut all = command.get_arguments();
                assert!(all.any(|arg| arg.get_long() == Some(flag)), "{name} has no --{flag}");
            }
        }
        for (name, _) in USUAL {
            let is_known = found.iter().any(|(known, _)| known == name);
            assert!(is_known || matches!(name, "help" | "s3"), "{name} is no command");
        }
        let listed = OTHERS.iter().flat_map(|(_, names)| names.iter()).chain(&AS_AWS);
        let listed: std::collections::BTreeSet<_> = listed.copied().collect();
        let names = found.iter().map(|(name, _)| name.split(' ').next().unwrap());
        assert_eq!(listed, names.collect(), "the overview has all commands");
    }

    #[test]
    fn helps_are_cut_at_sentences() {
        assert_eq!(first_sentence("One. Two."), "One");
        let long = format!("Begin: {}; end", "x".repeat(HELP_MAX));
        assert_eq!(first_sentence(&long), "Begin");
    }
}
