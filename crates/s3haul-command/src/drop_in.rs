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
    let is_aws = |name: &OsString| Path::new(name).file_stem() == Some(OsStr::new("aws"));
    args.first().is_some_and(is_aws) && service(&args[1..]) != Some(OsStr::new("s3"))
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
                    by the AWS command line, the next `aws` on PATH";
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
/// it: `ls help` shows no bucket of that name.
pub(crate) fn with_help(
    mut args: Vec<OsString>,
    definition: fn() -> clap::Command,
) -> Vec<OsString> {
    let [_, path @ .., last] = &args[..] else { return args };
    let is_plain = |word: &OsString| !word.to_string_lossy().starts_with('-');
    if last != "help" || path.is_empty() || !path.iter().all(is_plain) {
        return args;
    }
    let mut command = &definition();
    for word in path {
        match command.find_subcommand(word) {
            Some(found) => command = found,
            None => return args,
        }
    }
    if let Some(last) = args.last_mut() {
        *last = "--help".into();
    }
    args
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
            None => "single requests are the AWS command line's: `aws s3api`; `s3haul --help` \
                     lists what is here"
                .to_owned(),
        }),
        "configure" | "login" | "sso" => Some(format!(
            "profiles and credentials are those of the AWS tools: `aws {service}` writes \
             ~/.aws/config and ~/.aws/credentials, and s3haul reads them; or set \
             AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION"
        )),
        "s3control" | "s3tables" | "s3vectors" | "sts" | "iam" | "ec2" | "ecr" | "lambda"
        | "cloudformation" | "cloudfront" | "dynamodb" | "glacier" | "kms" | "logs" | "ssm" => {
            Some(format!("that is the AWS command line's: `aws {service}`; s3haul is for S3"))
        }
        _ => None,
    }
}

/// Commands of `aws s3api`, and what does the same here.
const OPERATIONS: [(&str, &str); 30] = [
    ("abort-multipart-upload", "uploads abort"),
    ("copy-object", "cp"),
    ("create-bucket", "mb"),
    ("delete-bucket", "rb"),
    ("delete-object", "rm"),
    ("delete-object-tagging", "tag remove --all"),
    ("delete-objects", "rm --from FILE"),
    ("get-bucket-location", "head s3://BUCKET"),
    ("get-bucket-versioning", "versioning get"),
    ("get-object", "cp"),
    ("get-object-attributes", "head"),
    ("get-object-legal-hold", "head"),
    ("get-object-retention", "head"),
    ("get-object-tagging", "tag get"),
    ("head-bucket", "head s3://BUCKET"),
    ("head-object", "head"),
    ("list-buckets", "list-buckets"),
    ("list-multipart-uploads", "uploads ls"),
    ("list-object-versions", "versions"),
    ("list-objects", "list"),
    ("list-objects-v2", "list"),
    ("list-parts", "uploads ls --sizes"),
    ("put-bucket-versioning", "versioning enable"),
    ("put-bucket-website", "website"),
    ("put-object", "cp"),
    ("put-object-acl", "set --acl"),
    ("put-object-legal-hold", "set --legal-hold"),
    ("put-object-retention", "set --retain-until"),
    ("put-object-tagging", "tag set"),
    ("restore-object", "restore"),
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
            ("s3haul help", "s3haul help"),
            ("s3haul ls --recursive help", "s3haul ls --recursive help"),
            ("s3haul mb b help", "s3haul mb b help"),
        ] {
            assert_eq!(with_help(words(line), crate::command), words(expected), "{line}");
        }
    }

    /// Hints name commands that there are.
    #[test]
    fn hints_name_commands() {
        for (name, ours) in OPERATIONS {
            let found = ours.split(' ').try_fold(crate::command(), |command, word| {
                if word.starts_with("s3://") || word == "FILE" {
                    return Some(command);
                }
                match word.strip_prefix("--") {
                    None => command.find_subcommand(word).cloned(),
                    Some(flag) => {
                        let mut all = command.get_arguments();
                        all.any(|arg| arg.get_long() == Some(flag)).then_some(command.clone())
                    }
                }
            });
            assert!(found.is_some(), "{name}: {ours}");
        }
        assert!(hint("lss", "").is_none());
    }
}
