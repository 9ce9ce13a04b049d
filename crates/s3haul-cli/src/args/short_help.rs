//! `-h`: the flags that are used most, grouped, on one screen. `--help` has all of them.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// Flags under a heading.
type Group = (&'static str, &'static [&'static str]);

const OBJECTS: &str = "Which objects";
const UPLOADS: &str = "Which uploads";
const WORK: &str = "What is done";
const OUTPUT: &str = "What is printed";

/// Flags of all commands, shown after those of a command that talks to S3.
const COMMON: [Group; 1] = [("All commands", &["profile", "region", "endpoint-url", "json"])];

/// The flags of each command that are used most.
const USUAL: [(&str, &[Group]); 50] = [
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
    ("cat", &[(OBJECTS, &["range", "version-id", "raw"])]),
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
    ("job run", &[]),
    ("job start", &[(WORK, &["at", "shards", "budget", "lease", "resume"])]),
    ("worker", &[(WORK, &["job", "shard", "of", "once"])]),
    ("jobs ls", &[]),
    ("jobs show", &[]),
    ("jobs resume", &[]),
    ("jobs watch", &[]),
    ("jobs prune", &[(WORK, &["all"])]),
    ("plan show", &[(WORK, &["prices"]), (OUTPUT, &["html"])]),
    ("apply", &[(WORK, &["report", "resume", "no-journal"])]),
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
    ("browse", &[(WORK, &["prices"])]),
    (
        "summarize",
        &[(OBJECTS, &["exclude", "include", "versions"]), (OUTPUT, &["depth", "format", "html"])],
    ),
    ("list-buckets", &[(OUTPUT, &["bucket-name-prefix", "count", "format"])]),
    ("uploads ls", &[(UPLOADS, &["older-than"]), (OUTPUT, &["sizes"])]),
    ("uploads abort", &[(UPLOADS, &["older-than"]), (WORK, &["dryrun", "quiet"])]),
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
    ("completions", &[]),
    ("check-server", &[(OUTPUT, &["format", "name"])]),
    ("serve", &[(WORK, &["address", "memory", "latency", "weather", "access-key", "secret-key"])]),
    ("help", &[]),
    ("s3", &[]),
];

const CHOICE: &[&str] = &["recursive", "exclude", "include"];
const COPY: &[Group] = &[(OBJECTS, CHOICE), (WORK, &["dryrun", "storage-class", "quiet"])];
const TAG: &[Group] = &[(OBJECTS, CHOICE), (WORK, &["tags", "dryrun", "quiet"])];

/// What a command does, where the first sentence of its help is too long for a line.
const ABOUTS: [(&str, &str); 33] = [
    ("completions", "Have a shell complete command lines, up to keys"),
    ("website", "Serve a bucket as a website"),
    ("find", "Find objects by name, size, age, class, tags and metadata"),
    ("browse", "Look around on the whole terminal, and tidy up"),
    ("summarize", "Add up what is under an address, by folder, age, size and more"),
    ("versions", "List the versions and delete markers of objects"),
    ("set", "Change class, headers, metadata, encryption, ACL or lock"),
    ("restore", "Restore archived objects, or show their state"),
    ("undelete", "Bring back removed objects, in a bucket with versioning"),
    ("map", "Compute over objects with JavaScript functions"),
    ("each", "Call a JavaScript function for each object"),
    ("run", "Run the commands of a file, many at a time"),
    ("check-server", "Find out what of s3haul works on a service"),
    ("job", "Run a job that --print-job wrote, here or on many machines"),
    ("job start", "Begin a job that any number of workers do"),
    ("worker", "Do a job together with other workers"),
    ("jobs", "List, watch and resume jobs that keep a journal"),
    ("jobs resume", "Go on with a job that ended early, or retry what failed"),
    ("jobs watch", "Show the progress of a job that another process runs"),
    ("jobs prune", "Remove journals that are no longer needed"),
    ("plan", "Write down what a command would do, and look at it"),
    ("plan show", "Sum up a plan: what would be done, and what it costs"),
    ("apply", "Do what a plan says, where nothing has changed since"),
    ("serve", "Serve a folder as an S3 endpoint, for trying and testing"),
    ("tag get", "Print the tags of objects"),
    ("tag add", "Add tags to objects and keep the others"),
    ("uploads", "List or abort incomplete multipart uploads"),
    ("uploads ls", "List incomplete multipart uploads"),
    ("uploads abort", "Abort incomplete multipart uploads"),
    ("versioning get", "Print `enabled`, `suspended` or `off`"),
    ("versioning enable", "Keep versions from now on"),
    ("versioning suspend", "Keep no new versions; existing ones stay"),
    ("versioning", "Show or change whether a bucket keeps versions"),
];

/// What a flag does, for all commands or one, where the first sentence of its help is too long for
/// a line.
const TEXTS: [(&str, &str, &str); 75] = [
    ("", "profile", "Use this profile of the AWS configuration"),
    ("", "region", "Use this region"),
    ("", "endpoint-url", "Send requests to this URL instead of Amazon's"),
    ("", "json", "Print one JSON object a line instead of text"),
    ("", "exclude", "Leave out what matches this pattern (* ? [abc])"),
    ("", "include", "Take what matches, although excluded before"),
    ("", "older-than", "Only what was modified before (a date, or 7d)"),
    ("", "newer-than", "Only what was modified since (a date, or 7d)"),
    ("", "min-size", "Only what has at least this size, such as 1.5GB"),
    ("", "output-file", "Write to this file, replaced when complete"),
    ("", "filter", "Only objects for which this function is true"),
    ("", "versions", "Include old versions and delete markers"),
    ("", "metadata", "Store this metadata: name=value,name2=value2"),
    ("", "quiet", "Print nothing; the exit code is the result"),
    ("compare", "checksum", "Compare the content of what has the same size"),
    ("", "show", "only-source, only-target, different, same"),
    ("compare", "format", "Print text, jsonl or csv"),
    ("verify", "format", "Print text, jsonl or csv"),
    ("", "since", "Only what was removed since (a date, or 2h)"),
    ("list", "format", "Print text, jsonl, csv, tsv, parquet or keys"),
    ("versions", "format", "Print text, jsonl, csv, tsv, parquet or keys"),
    ("find", "format", "Print text, jsonl, csv, tsv or parquet"),
    ("tag get", "format", "Print text, jsonl or csv"),
    ("ls", "recursive", "List all objects under the address"),
    ("ls", "summarize", "Print number and total size at the end"),
    ("list", "sort", "Print in the order of the keys"),
    ("find", "name", "Only keys whose last part matches this pattern"),
    ("find", "tag", "Only objects that have this tag"),
    ("summarize", "format", "Print text, json or csv"),
    ("summarize", "html", "Also write a page to look at"),
    ("list-buckets", "format", "Print text, jsonl or csv"),
    ("list-buckets", "count", "Count the objects and bytes of each bucket"),
    ("list-buckets", "bucket-name-prefix", "Only buckets whose names start with this"),
    ("uploads ls", "older-than", "Only uploads begun this long ago, such as 7d"),
    ("uploads ls", "sizes", "Show bytes and parts too (more requests)"),
    ("uploads abort", "older-than", "Only uploads begun this long ago, such as 7d"),
    ("map", "map", "Called with each object: `js:(object) => …`"),
    ("map", "reduce", "Joins two results into one: `js:(a, b) => …`"),
    ("map", "finally", "Computes the output from the last result"),
    ("each", "each", "Called with each object: `js:(object) => …`"),
    ("mb", "versioning", "Turn versioning on"),
    ("mb", "object-lock", "Allow locks on objects; turns versioning on"),
    ("mb", "tags", "Tag the bucket; may be repeated"),
    ("rb", "versions", "With --force, remove all versions too, for good"),
    ("website", "index-document", "Served for folders, such as index.html"),
    ("website", "error-document", "The key of the object served for 4XX errors"),
    ("presign", "expires-in", "Valid for so long: 3600 by default, 604800 at most"),
    ("presign", "method", "GET to read (the default) or PUT to write"),
    ("presign", "content-type", "With PUT, demand this Content-Type"),
    ("cat", "range", "START-END, START- or -LENGTH (the last bytes)"),
    ("pipe", "content-type", "Set this Content-Type instead of guessing it"),
    ("run", "report", "Write the result of every command to this file"),
    ("run", "retry-failed", "Only run what failed according to this report"),
    ("job start", "at", "Write the job into this folder, which is new"),
    ("job start", "budget", "Seconds after which a shard ends"),
    ("job start", "lease", "Seconds after which a silent worker is dead"),
    ("job start", "resume", "Go on with the job, if the folder has it"),
    ("worker", "shard", "Which of the workers this one is, from 0"),
    ("worker", "job", "The folder of the job"),
    ("check-server", "path", "Work below this prefix, not in a new bucket"),
    ("check-server", "format", "Write text, json, or a row in markdown"),
    ("browse", "path", "A bucket, a prefix, or a file with a listing"),
    ("browse", "prices", "Take prices from this JSON file"),
    ("plan show", "prices", "Take prices from this JSON file"),
    ("plan show", "html", "Also write a page to look at"),
    ("apply", "resume", "Go on where an interrupted run ended"),
    ("restore", "days", "Keep the restored copies for so many days"),
    ("restore", "tier", "bulk, standard or expedited"),
    ("restore", "wait", "Wait until the objects can be read"),
    ("restore", "status", "Only print the state of each object"),
    ("serve", "weather", "Simulate faults, as this JSON file says"),
    ("serve", "secret-key", "The secret key that requests must be signed with"),
    ("serve", "access-key", "The access key that requests must be signed with"),
    ("serve", "address", "Listen here (127.0.0.1:9000); port 0: a free one"),
    ("serve", "latency", "Delay each request this long, such as 30ms"),
];

/// The commands of `aws s3`, in the order of the overview, then the others by what they are for.
const AS_AWS: [&str; 9] = ["cp", "mv", "sync", "ls", "rm", "mb", "rb", "presign", "website"];
const OTHERS: [(&str, &[&str]); 3] = [
    (
        "Single objects, and what is there",
        &[
            "cat",
            "pipe",
            "head",
            "list",
            "find",
            "summarize",
            "browse",
            "list-buckets",
            "versions",
            "uploads",
        ],
    ),
    (
        "Checks and changes",
        &["compare", "verify", "tag", "set", "restore", "undelete", "versioning"],
    ),
    (
        "Scripts and tools",
        &[
            "map",
            "each",
            "run",
            "plan",
            "apply",
            "job",
            "jobs",
            "worker",
            "check-server",
            "serve",
            "completions",
        ],
    ),
];

/// The definition with what `-h` shows.
pub(super) fn shorten(mut command: Command) -> Command {
    command.build();
    let overview = overview(&command);
    let command = shorten_below(command, "").override_help(overview.clone());
    command.mut_subcommand("s3", |inner| inner.override_help(overview))
}

fn shorten_below(mut command: Command, path: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    let text = short_text(&mut command, path);
    let mut command = command.override_help(text);
    for name in names {
        // `s3 cp` is `cp`.
        let below =
            if path.is_empty() || path == "s3" { name.clone() } else { format!("{path} {name}") };
        command = command.mut_subcommand(name, |inner| shorten_below(inner, &below));
    }
    command
}

/// What is shown of a command, in its order.
fn groups(path: &str) -> Vec<Group> {
    let own = USUAL.iter().find(|(name, _)| *name == path).map_or(&[][..], |(_, groups)| groups);
    let common: &[Group] = if matches!(path, "serve" | "completions") { &[] } else { &COMMON };
    [own, common].concat()
}

/// A heading and its rows: names, and what is said of each.
type Section = (&'static str, Vec<(String, String)>);

/// The short help of a command.
fn short_text(command: &mut Command, path: &str) -> StyledStr {
    let is_group = command.has_subcommands();
    let usage = command.render_usage().ansi().to_string();
    let sections = sections(command, path);
    let width =
        sections.iter().flat_map(|(_, rows)| rows).map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = format!("{}\n\n{usage}\n\n", about(command, path));
    let header = command.get_styles().get_header();
    for (heading, rows) in &sections {
        _ = writeln!(text, "{header}{heading}:{header:#}");
        for (name, help) in rows {
            _ = writeln!(text, "  {name:<width$}  {help}");
        }
    }
    let more = if is_group { "COMMAND --help" } else { "--help" };
    let what =
        if is_group { "explains the flags of each" } else { "explains these and all others" };
    _ = write!(text, "\n`s3haul {path} {more}` {what}.");
    text.into()
}

/// Subcommands, arguments and flags of a command.
fn sections(command: &Command, path: &str) -> Vec<Section> {
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    let inner = inner.map(|inner| {
        (inner.get_name().to_owned(), about(inner, &format!("{path} {}", inner.get_name())))
    });
    let inner: Vec<_> = inner.collect();
    // Several usages say by themselves what the arguments are.
    let positionals: Vec<_> = match path {
        "cp" | "mv" | "sync" | "serve" => Vec::new(),
        _ => command.get_positionals().map(|arg| row(arg, path)).collect(),
    };
    let flags = groups(path).into_iter().map(|(heading, names)| {
        let all = names
            .iter()
            .filter_map(|name| command.get_arguments().find(|arg| arg.get_long() == Some(name)));
        (heading, all.map(|arg| row(arg, path)).collect())
    });
    let sections = [("Commands", inner), ("Arguments", positionals)].into_iter().chain(flags);
    sections.filter(|(_, rows)| !rows.is_empty()).collect()
}

/// How an argument is written, and what it does.
fn row(arg: &Arg, path: &str) -> (String, String) {
    let name = arg.get_long().unwrap_or_else(|| arg.get_id().as_str());
    let of = |wanted: &str| {
        let found = TEXTS.iter().find(|(paths, known, _)| *paths == wanted && *known == name);
        found.map(|(_, _, text)| (*text).to_owned())
    };
    let help = || arg.get_help().map(|help| first_sentence(&help.to_string()));
    let text = of(path).or_else(|| of("")).or_else(help).unwrap_or_default();
    (arg.to_string(), text)
}

/// What a command does, on a line.
fn about(command: &Command, path: &str) -> String {
    let text = ABOUTS.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
    let about = || command.get_about().map(|about| first_sentence(&about.to_string()));
    text.or_else(about).unwrap_or_default()
}

fn first_sentence(help: &str) -> String {
    help.split(". ").next().unwrap_or(help).trim_end_matches('.').to_owned()
}

/// The help of the program itself: all commands on one screen.
fn overview(command: &Command) -> StyledStr {
    let header = command.get_styles().get_header();
    let mut text = format!(
        "Move, sync, list, describe and remove S3 data in bulk.\n{header}Usage:{header:#} s3haul \
         [OPTIONS] <COMMAND>\n\n"
    );
    for (heading, names) in [("As in `aws s3`", &AS_AWS[..])].into_iter().chain(OTHERS) {
        _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in names {
            let inner = command.find_subcommand(name);
            let about = inner.map(|inner| about(inner, name)).unwrap_or_default();
            _ = writeln!(text, "  {name:<13} {about}");
        }
    }
    text.push_str("\n`COMMAND -h` shows the flags used most often, `COMMAND --help` explains all.");
    text.into()
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

    /// On a screen of 24 lines and 80 columns, with nothing cut off.
    #[test]
    fn each_short_help_fits_a_screen_in_whole_sentences() {
        let mut definition = super::super::command();
        definition.build();
        let mut found = Vec::new();
        leaves(&definition, "", &mut found);
        for name in ["tag", "uploads", "versioning", "plan", "job", "jobs"] {
            found.push((name.to_owned(), definition.find_subcommand(name).unwrap().clone()));
        }
        let mut wide = Vec::new();
        for (name, command) in &mut found {
            let text = short_text(command, name).to_string();
            assert!(text.lines().count() <= 23, "{name}: {text}");
            wide.extend(lines_too_wide(name, &text));
        }
        wide.extend(lines_too_wide("", &overview(&definition).to_string()));
        assert!(wide.is_empty(), "{}", wide.join("\n"));
        for (path, flag, _) in TEXTS {
            let is_of = |name: &String| path.is_empty() || path == name;
            let is_used = found.iter().any(|(name, command)| {
                let mut all = command.get_arguments();
                let known = |arg: &Arg| arg.get_long().unwrap_or(arg.get_id().as_str()) == flag;
                is_of(name) && all.any(known)
            });
            assert!(is_used, "{path} --{flag}");
        }
        for (path, _) in ABOUTS {
            assert!(found.iter().any(|(name, _)| name == path), "{path}");
        }
    }

    fn lines_too_wide(name: &str, text: &str) -> Vec<String> {
        let lines = text.lines().filter(|line| line.chars().count() > 80);
        lines.map(|line| format!("{name}: {line}")).collect()
    }
}
