//! A line of a file of commands: the command and its flags, or why it cannot be run.

use std::ffi::OsString;

use super::words::{join, split};
use crate::args::{self, Command, GlobalArgs};

/// Flags whose values are secrets.
const SECRET_FLAGS: [&str; 3] = ["--sse-c-key", "--sse-c-copy-source-key", "--secret-key"];
/// Flags that say how a key is used. What else stands there is a key in the wrong place.
const METHOD_FLAGS: [&str; 2] = ["--sse-c", "--sse-c-copy-source"];
/// The only method.
const METHOD: &str = "AES256";
/// What stands for a secret.
const HIDDEN: &str = "******";

/// A command of a file.
#[derive(Debug)]
pub(crate) struct Line {
    /// Flags of all commands, with those of `run` where the line has none.
    pub(crate) global: GlobalArgs,
    /// The command.
    pub(crate) command: Command,
}

/// Parses lines, one after the other.
#[derive(Debug)]
pub(crate) struct Parser {
    /// Built once: that costs more than to parse a line.
    definition: clap::Command,
}

impl Parser {
    /// Knows all commands.
    pub(crate) fn new() -> Self {
        Self { definition: args::command() }
    }

    /// The command of a line; none where there is only a comment. Flags that it has not are those
    /// of `outer`.
    pub(crate) fn parse(&mut self, text: &str, outer: &GlobalArgs) -> Result<Option<Line>, String> {
        let words = split(text).map_err(|error| error.to_string())?;
        let words = match words.first().map(String::as_str) {
            None => return Ok(None),
            // `aws s3 cp` is `s3 cp`, which is `cp`.
            Some("s3haul" | "aws") => &words[1..],
            Some(_) => &words[..],
        };
        let named = std::iter::once("s3haul").chain(words.iter().map(String::as_str));
        let parsed = args::parse_with(&mut self.definition, named.map(OsString::from));
        let (global, command) = parsed.map_err(|error| told(&error))?;
        if let Some(reason) = refusal(&global, &command) {
            return Err(reason.to_owned());
        }
        if words.iter().any(|word| is_stream(word)) {
            return Err("standard input and output cannot be shared by several commands".to_owned());
        }
        Ok(Some(Line { global: global.within(outer), command }))
    }
}

impl Line {
    /// A line as it may be shown: its words, without secrets.
    pub(crate) fn shown(text: &str) -> String {
        let Ok(words) = split(text) else {
            // Where a secret ends in it is unknown.
            return format!("{} …", text.split_whitespace().next().unwrap_or_default());
        };
        join(Self::without_secrets(&words).iter().map(String::as_str))
    }

    /// Words as they may be shown.
    pub(crate) fn without_secrets(words: &[String]) -> Vec<String> {
        let mut shown = Vec::with_capacity(words.len());
        let mut before = None;
        for word in words {
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (word.as_str(), None),
            };
            shown.push(match value {
                _ if before.is_some_and(|flag| is_hidden(flag, word)) => HIDDEN.to_owned(),
                Some(value) if is_hidden(flag, value) => format!("{flag}={HIDDEN}"),
                _ => without_user(word),
            });
            before = value.is_none().then_some(flag);
        }
        shown
    }
}

/// Whether the value of a flag is a secret.
fn is_hidden(flag: &str, value: &str) -> bool {
    let is_method = value == METHOD || value.starts_with("--");
    is_secret_flag(flag) || (METHOD_FLAGS.contains(&flag) && !is_method)
}

/// A word without the user and password of a URL in it.
fn without_user(word: &str) -> String {
    let hide = |(start, rest): (&str, &str)| {
        let authority = rest.split('/').next().unwrap_or(rest);
        let (user, _) = authority.rsplit_once('@')?;
        Some(format!("{start}://{HIDDEN}{}", &rest[user.len()..]))
    };
    let is_web = word.contains("http://") || word.contains("https://");
    let hidden = word.split_once("://").filter(|_| is_web).and_then(hide);
    hidden.unwrap_or_else(|| word.to_owned())
}

/// Whether a flag may be one of those with secrets; flags may be shortened.
fn is_secret_flag(flag: &str) -> bool {
    let is_other = matches!(flag, "--sse-c-copy-source");
    !is_other
        && flag.len() > "--sse-c".len()
        && SECRET_FLAGS.iter().any(|secret| secret.starts_with(flag))
}

/// Why a command that is understood cannot be run among others.
fn refusal(global: &GlobalArgs, command: &Command) -> Option<&'static str> {
    if global.debug || global.color.is_some() {
        return Some("--debug and --color are for all commands: give them to `run` itself");
    }
    let bounds = (global.max_concurrent_requests, global.max_requests_per_second);
    let texts = (&global.max_bandwidth, &global.max_memory);
    if bounds != (None, None) || texts != (&None, &None) {
        return Some(
            "--max-concurrent-requests, --max-requests-per-second, --max-bandwidth and \
             --max-memory hold for all commands together: give them to `run` itself",
        );
    }
    match command {
        Command::Run(_) => Some("`run` cannot run itself"),
        Command::Job { .. } => Some("a job has limits of its own: run it by itself"),
        Command::Serve(_) => Some("`serve` never ends"),
        Command::Browse(_) => Some("`browse` takes the whole terminal"),
        Command::Pipe(_) => Some("standard input cannot be shared by several commands"),
        Command::Cat(_) => Some("objects of several commands would mix on standard output"),
        _ => None,
    }
}

/// Whether a word stands for a standard stream, as a path or as the value of a flag.
fn is_stream(word: &str) -> bool {
    word == "-" || (word.starts_with("--") && word.ends_with("=-"))
}

/// What clap says, as one line without its usage.
fn told(error: &clap::Error) -> String {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return "help and version are no commands to run".to_owned();
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            return "it names no command".to_owned();
        }
        _ => {}
    }
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let text = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    text.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Line>, String> {
        let outer = GlobalArgs { region: Some("eu".into()), json: true, ..GlobalArgs::default() };
        Parser::new().parse(text, &outer)
    }

    #[test]
    fn lines_are_commands_with_the_flags_of_run() {
        for text in ["rm s3://b/k", "s3haul rm s3://b/k", "aws s3 rm s3://b/k", "s3 rm 's3://b/k'"]
        {
            let line = parse(text).unwrap().unwrap();
            let Command::Rm(args) = line.command else { panic!("{text}") };
            assert_eq!(args.objects.path, "s3://b/k");
            assert_eq!((line.global.region.as_deref(), line.global.json), (Some("eu"), true));
        }
        let line = parse("--region us ls").unwrap().unwrap();
        assert_eq!(line.global.region.as_deref(), Some("us"));
        assert!(parse(" # nothing").unwrap().is_none());
    }

    #[test]
    fn what_cannot_be_run_among_others_is_refused() {
        for (text, reason) in [
            ("run f", "cannot run itself"),
            ("serve d", "never ends"),
            ("browse s3://b", "whole terminal"),
            ("cat s3://b/k", "mix"),
            ("pipe s3://b/k", "standard input"),
            ("cp - s3://b/k", "standard input"),
            ("cp s3://b/k -", "standard input"),
            ("rm s3://b --from -", "standard input"),
            ("cp s3://b t --from=-", "standard input"),
            ("tag get s3://b --from -", "standard input"),
            ("rm --no-such-flag x", "unexpected argument '--no-such-flag'"),
            ("frobnicate", "unrecognized subcommand"),
            ("--version", "no commands to run"),
            ("rm --debug s3://b/k", "`run` itself"),
            ("cp s3://b/k t --max-bandwidth 1MB/s", "`run` itself"),
            ("cp s3://b/k t --max-concurrent-requests 1", "`run` itself"),
            ("cp s3://b/k t --max-requests-per-second 1", "`run` itself"),
            ("rm 's3://b", "not closed"),
            ("s3haul", "no command"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(
            Line::shown(
                "cp 'a b' s3://b --sse-c-key geheim --sse-c-copy-source-k=geheim --sse AES256"
            ),
            "cp 'a b' s3://b --sse-c-key '******' '--sse-c-copy-source-k=******' --sse AES256"
        );
        assert_eq!(Line::shown("cp a --sse-c AES256"), "cp a --sse-c AES256");
        assert_eq!(Line::shown("cp --sse-c --recursive a b"), "cp --sse-c --recursive a b");
        assert_eq!(Line::shown("cp a --sse-c geheim b"), "cp a --sse-c '******' b");
        assert_eq!(Line::shown("cp a --sse-c=geheim"), "cp a '--sse-c=******'");
        assert_eq!(Line::shown("serve d --secret-key geheim"), "serve d --secret-key '******'");
        assert_eq!(
            Line::shown("ls --endpoint-url http://user:geheim@host:1/x s3://b/a@b"),
            "ls --endpoint-url 'http://******@host:1/x' s3://b/a@b"
        );
    }
}
