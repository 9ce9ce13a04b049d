//! What `aws` takes beyond the commands here: `CMD help`, the commands of other services, and a
//! link named `aws` in the place of the program.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};

use crate::env_vars;
use crate::failure::Failure;
use crate::settings::Environment;

/// Programs named `aws` that may start each other, this one among them, before that is a circle.
const DEPTH_MAX: u32 = 8;

/// Flags of all commands without a value; the other ones of `aws` take one.
const SWITCHES: [&str; 10] = [
    "--debug",
    "--no-verify-ssl",
    "--no-paginate",
    "--no-sign-request",
    "--no-cli-pager",
    "--cli-auto-prompt",
    "--no-cli-auto-prompt",
    "--json",
    "--no-progress",
    "--v2-debug",
];

/// Whether the program was called as `aws`, for something else than `aws s3`.
pub(crate) fn is_for_aws(args: &[OsString]) -> bool {
    args.first().is_some_and(is_aws) && service(&args[1..]) != Some(OsStr::new("s3"))
}

/// Whether this name of the program is that of the AWS CLI.
pub(crate) fn is_aws(name: &OsString) -> bool {
    Path::new(name).file_stem() == Some(OsStr::new("aws"))
}

/// The first word that is no flag of all commands.
fn service(args: &[OsString]) -> Option<&OsStr> {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if !text.starts_with("--") {
            return Some(word);
        }
        if !text.contains('=') && !SWITCHES.contains(&&*text) {
            words.next();
        }
    }
    None
}

/// Has the next `aws` of the path do what was meant for it; comes back only where that failed, or
/// where the system cannot replace a process.
pub(crate) fn hand_over(args: &[OsString], environment: &Environment) -> Result<u8, Failure> {
    let what = service(&args[1..]).map_or_else(String::new, |word| {
        format!("`aws {}` is not a command of s3haul: ", word.to_string_lossy())
    });
    let fail = |why: &str| {
        let hint = "this `aws` is s3haul under another name and does `aws s3`; all else is done \
                    by the AWS CLI, the next `aws` on PATH";
        Failure::usage(format!("{what}{why}")).with_hint(hint)
    };
    let depth = environment.get(env_vars::S3HAUL_AWS_DEPTH).and_then(|depth| depth.parse().ok());
    let depth: u32 = depth.unwrap_or(0);
    if depth >= DEPTH_MAX {
        return Err(fail("the other `aws` on PATH leads back to this one"));
    }
    let path = std::env::var_os(env_vars::PATH).unwrap_or_default();
    let own = std::env::current_exe().ok();
    let Some(program) = other_aws(&path, own.as_deref()) else {
        return Err(fail("no other `aws` is on PATH"));
    };
    let mut command = Command::new(&program);
    command.args(&args[1..]).env(env_vars::S3HAUL_AWS_DEPTH, (depth + 1).to_string());
    run(&mut command)
        .map_err(|error| fail(&format!("`{}` could not be started: {error}", program.display())))
}

#[cfg(unix)]
fn run(command: &mut Command) -> std::io::Result<u8> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn run(command: &mut Command) -> std::io::Result<u8> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::exit::OTHER))
}

/// The first `aws` in these folders that is another program than this one.
fn other_aws(path: &OsStr, own: Option<&Path>) -> Option<PathBuf> {
    let real = |path: &Path| path.canonicalize().ok();
    let own = own.and_then(real);
    let name = format!("aws{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path)
        .map(|folder| folder.join(&name))
        .find(|candidate| is_program(candidate) && !is_same(candidate, own.as_deref()))
}

/// Whether both are one program, also by hard links.
fn is_same(candidate: &Path, own: Option<&Path>) -> bool {
    let Some(own) = own else { return false };
    if candidate.canonicalize().is_ok_and(|path| path == own) {
        return true;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let id = |path: &Path| path.metadata().map(|data| (data.dev(), data.ino())).ok();
        id(candidate).is_some_and(|candidate| id(own) == Some(candidate))
    }
    #[cfg(not(unix))]
    false
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// The command line with `--help` in the place of the word `help` behind a command, as `aws` has
/// it: `ls help` shows no bucket of that name. Flags of all commands may stand anywhere.
pub(crate) fn with_help(
    mut args: Vec<OsString>,
    definition: fn() -> clap::Command,
) -> Vec<OsString> {
    let [_, words @ .., last] = &args[..] else { return args };
    if last != "help" || words.is_empty() {
        return args;
    }
    let definition = definition();
    let Some(path) = without_flags(words, &definition) else { return args };
    let find = |command: &clap::Command, word| command.find_subcommand(word).cloned();
    let mut path = path.into_iter();
    let first = path.next().and_then(|word| find(&definition, word));
    let found = first.and_then(|first| path.try_fold(first, |command, word| find(&command, word)));
    if let (Some(_), Some(last)) = (found, args.last_mut()) {
        *last = "--help".into();
    }
    args
}

/// The words without the flags of all commands and their values; `None` if there are other flags.
fn without_flags<'a>(words: &'a [OsString], definition: &clap::Command) -> Option<Vec<&'a OsStr>> {
    let (mut words, mut found) = (words.iter(), Vec::new());
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let Some(flag) = text.strip_prefix("--") else {
            if text.starts_with('-') {
                return None;
            }
            found.push(word.as_os_str());
            continue;
        };
        let (name, value) = flag.split_once('=').map_or((flag, None), |(a, b)| (a, Some(b)));
        let takes_value = takes_value(name, definition)?;
        if takes_value && value.is_none() {
            words.next()?;
        }
    }
    Some(found)
}

/// Whether a flag of all commands, or an unambiguous beginning of one, takes a value; `None` if
/// there is no such flag.
fn takes_value(name: &str, definition: &clap::Command) -> Option<bool> {
    let flags = || {
        let all = definition.get_arguments();
        all.filter_map(|arg| Some((arg.get_long()?, arg.get_action().takes_values())))
    };
    if let Some((_, takes_value)) = flags().find(|(long, _)| *long == name) {
        return Some(takes_value);
    }
    let mut candidates = flags().filter(|(long, _)| long.starts_with(name));
    let (_, takes_value) = candidates.next()?;
    candidates.next().is_none().then_some(takes_value)
}

/// The error about an unknown command with a hint, where `aws` has such a command.
pub(crate) fn with_hint(mut error: clap::Error, args: &[OsString]) -> clap::Error {
    let Some(word) = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string) else {
        return error;
    };
    let operation = args.iter().skip_while(|arg| **arg != *word).nth(1);
    let operation = operation.map(|word| word.to_string_lossy()).unwrap_or_default();
    if let Some(hint) = hint(&word, &operation) {
        // `s3` resembles `s3api` and is of no use in its place.
        error.remove(ContextKind::SuggestedSubcommand);
        let hint = ContextValue::StyledStrs(vec![StyledStr::from(hint)]);
        error.insert(ContextKind::Suggested, hint);
    }
    error
}

fn hint(service: &str, operation: &str) -> Option<String> {
    match service {
        "s3api" => Some(match OPERATIONS.iter().find(|(name, _)| *name == operation) {
            Some((_, ours)) => format!("here `s3haul {ours}` does that"),
            None => format!(
                "`{}` belongs to the AWS CLI: use `aws s3api`; `s3haul --help` lists the commands \
                 of s3haul",
                format!("s3api {operation}").trim_end()
            ),
        }),
        "select" => Some(
            "S3 Select is not there yet: `aws s3api select-object-content` has it; `s3haul find` \
             and `--filter` select objects by what is known of them"
                .to_owned(),
        ),
        "configure" | "login" | "sso" => Some(format!(
            "profiles and credentials are those of the AWS tools: `aws {service}` writes \
             ~/.aws/config and ~/.aws/credentials, and s3haul reads them; or set \
             AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION"
        )),
        "s3control" | "s3tables" | "s3vectors" | "sts" | "iam" | "ec2" | "ecr" | "lambda"
        | "cloudformation" | "cloudfront" | "dynamodb" | "glacier" | "kms" | "logs" | "ssm" => {
            Some(format!("`{service}` belongs to the AWS CLI: use `aws {service}`"))
        }
        _ => None,
    }
}

/// Commands of `aws s3api`, and the whole command that does the same here. Words in capitals stand
/// for values.
const OPERATIONS: [(&str, &str); 29] = [
    ("abort-multipart-upload", "uploads abort s3://BUCKET/KEY"),
    ("copy-object", "cp s3://BUCKET/KEY s3://BUCKET/KEY"),
    ("create-bucket", "mb s3://BUCKET"),
    ("delete-bucket", "rb s3://BUCKET"),
    ("delete-object", "rm s3://BUCKET/KEY"),
    ("delete-object-tagging", "tag remove s3://BUCKET/KEY --all"),
    ("delete-objects", "rm s3://BUCKET --from FILE"),
    ("get-bucket-location", "head s3://BUCKET"),
    ("get-bucket-versioning", "versioning get s3://BUCKET"),
    ("get-object", "cp s3://BUCKET/KEY FILE"),
    ("get-object-attributes", "head s3://BUCKET/KEY"),
    ("get-object-legal-hold", "head s3://BUCKET/KEY"),
    ("get-object-retention", "head s3://BUCKET/KEY"),
    ("get-object-tagging", "tag get s3://BUCKET/KEY"),
    ("head-bucket", "head s3://BUCKET"),
    ("head-object", "head s3://BUCKET/KEY"),
    ("list-buckets", "list-buckets"),
    ("list-multipart-uploads", "uploads ls s3://BUCKET"),
    ("list-object-versions", "versions s3://BUCKET/"),
    ("list-objects", "list s3://BUCKET"),
    ("list-objects-v2", "list s3://BUCKET"),
    ("put-bucket-versioning", "versioning enable s3://BUCKET"),
    ("put-bucket-website", "website s3://BUCKET --index-document NAME"),
    ("put-object", "cp FILE s3://BUCKET/KEY"),
    ("put-object-acl", "set s3://BUCKET/KEY --acl ACL"),
    ("put-object-legal-hold", "set s3://BUCKET/KEY --legal-hold STATE"),
    ("put-object-retention", "set s3://BUCKET/KEY --retention MODE --retain-until TIME"),
    ("put-object-tagging", "tag set s3://BUCKET/KEY --tags KEY=VALUE"),
    ("restore-object", "restore s3://BUCKET/KEY --days DAYS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    #[test]
    fn only_what_is_not_s3_is_for_aws() {
        for (line, is_other) in [
            ("aws s3 ls", false),
            ("aws --profile p --debug s3 ls", false),
            ("/usr/bin/aws --region=x s3 ls", false),
            ("aws", true),
            ("aws --version", true),
            ("aws s3api head-object", true),
            ("aws --profile s3 ec2 s3", true),
            ("s3haul ec2", false),
            ("", false),
        ] {
            assert_eq!(is_for_aws(&words(line)), is_other, "{line}");
        }
    }

    #[test]
    fn the_word_help_behind_a_command_is_the_flag() {
        for (line, expected) in [
            ("s3haul ls help", "s3haul ls --help"),
            ("s3haul s3 tag get help", "s3haul s3 tag get --help"),
            ("s3haul s3 help", "s3haul s3 --help"),
            ("s3haul --region R ls help", "s3haul --region R ls --help"),
            ("s3haul --reg=R --debug s3 ls help", "s3haul --reg=R --debug s3 ls --help"),
            ("s3haul tag --profile ls get help", "s3haul tag --profile ls get --help"),
            ("s3haul ls --region help", "s3haul ls --region help"),
            ("s3haul --region ls help", "s3haul --region ls help"),
            ("s3haul --nope ls help", "s3haul --nope ls help"),
            ("s3haul --no ls help", "s3haul --no ls help"),
            ("s3haul help", "s3haul help"),
            ("s3haul ls --recursive help", "s3haul ls --recursive help"),
            ("s3haul mb b help", "s3haul mb b help"),
        ] {
            assert_eq!(with_help(words(line), crate::command), words(expected), "{line}");
        }
    }

    /// Each hint is a whole command line, which our own parser takes.
    #[test]
    fn hints_are_commands_that_parse() {
        for (name, ours) in OPERATIONS {
            let parse = |words: &[OsString]| crate::args::parse(words.to_vec());
            let mut line = words(&format!("s3haul {ours}"));
            for word in &mut line {
                let value = match word.to_str().unwrap() {
                    "MODE" => "governance",
                    "TIME" => "2030-01-31T12:00:00Z",
                    "STATE" => "on",
                    "DAYS" => "7",
                    "ACL" => "private",
                    _ => continue,
                };
                *word = value.into();
            }
            parse(&line).map_err(|error| format!("{name}: {ours}: {error}")).unwrap();
        }
        assert!(hint("lss", "").is_none());
        assert!(hint("select", "s3://b/x").unwrap().starts_with("S3 Select is not there yet"));
        let whole = "here `s3haul set s3://BUCKET/KEY --retention MODE --retain-until TIME` does";
        assert!(hint("s3api", "put-object-retention").unwrap().starts_with(whole));
        let none = hint("s3api", "list-parts").unwrap();
        assert!(none.starts_with("`s3api list-parts` belongs to the AWS CLI: use `aws s3api`"));
    }
}
