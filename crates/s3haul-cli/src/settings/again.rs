//! The command line that tries again what failed.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use s3haul::job::value::{Credentials, EndpointUrl, Job, Service, Task};
use s3haul::plan::s3_uri;

use super::journal::{has_password, moves_below_itself};
use super::{JobRequest, Machine};
use crate::args;
use crate::render::escape::quoted;

/// How the command of a job can be typed again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    typed: Typed,
    report: Option<PathBuf>,
    retried: Option<PathBuf>,
    /// A second run does only what is left.
    leaves_done: bool,
    /// The list of its objects could be read only once.
    is_used_up: bool,
    /// A second run would give new names to what the first one has moved.
    renames_again: bool,
    /// It does what a plan says.
    is_plan: bool,
    /// It was typed as `aws s3 …`.
    as_aws: bool,
}

/// Where a command comes from.
#[derive(Clone, Debug, Default)]
enum Typed {
    /// It was typed in these words.
    Words(Vec<OsString>),
    /// It was typed, and holds a secret.
    Secret,
    /// It was not typed, or it is a line of `run`, which has a report of its own.
    #[default]
    Elsewhere,
}

/// What is to be typed, in a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    /// Command line; none where it cannot be shown.
    pub(crate) command: Option<String>,
    /// The sentence.
    pub(crate) text: String,
}

impl Again {
    /// Of the command that a job comes from.
    pub(super) fn new(request: &JobRequest, machine: &Machine) -> Self {
        let words = machine.environment.words();
        let typed = if words.is_empty() || machine.shared.is_some() {
            Typed::Elsewhere
        } else if request.has_keys() || has_password(words) {
            Typed::Secret
        } else {
            Typed::Words(words.to_vec())
        };
        let reports = &request.job.reports;
        let list = request.job.task.manifest().filter(|_| reports.retry_failed.is_none());
        Self {
            typed,
            report: reports.report.clone(),
            retried: reports.retry_failed.clone(),
            leaves_done: leaves_done(&request.job),
            is_used_up: list.is_some_and(|list| is_used_up(&list.file)),
            renames_again: renames_again(&request.job),
            is_plan: reports.apply.is_some(),
            as_aws: words.iter().any(|word| word == "s3"),
        }
    }

    /// Whether it was typed, so that it can be typed again.
    pub(crate) fn is_typed(&self) -> bool {
        !matches!(self.typed, Typed::Elsewhere)
    }

    /// Whether standard error is read by scripts that were written for `aws s3`.
    pub(crate) fn is_as_aws(&self) -> bool {
        self.as_aws
    }

    /// What to type after a run that left no journal. `has_report` says that its report is whole.
    pub(crate) fn advice(&self, has_report: bool) -> Advice {
        if self.is_plan {
            let text = "what failed takes a new plan: what is done is not as it was planned any \
                        more";
            return Advice { command: None, text: text.to_owned() };
        }
        let report = self.report.as_deref().filter(|_| has_report);
        if let Some(command) = report.and_then(|report| self.by_report(report)) {
            let text = format!("`{command}` tries again what failed");
            return Advice { command: Some(command), text };
        }
        if let (Typed::Secret, Some(report)) = (&self.typed, report) {
            let report = quoted(report);
            let text = format!(
                "the same command with --retry-failed {report} in the place of --report tries \
                 again what failed"
            );
            return Advice { command: None, text };
        }
        if self.renames_again {
            let text = "the same command could move one object over another, or give what it has \
                        moved another new name; with --report FILE, what fails can be tried again \
                        by itself";
            return Advice { command: None, text: text.to_owned() };
        }
        if self.is_used_up {
            let text = "the list of objects was read and cannot be read again: give the same \
                        command the list anew; with --report FILE, what fails can be tried again \
                        by itself";
            return Advice { command: None, text: text.to_owned() };
        }
        let command = match &self.typed {
            Typed::Words(words) => Some(line(words)),
            Typed::Secret | Typed::Elsewhere => None,
        };
        let what =
            command.as_ref().map_or("the same command".to_owned(), |line| format!("`{line}`"));
        let text = if self.leaves_done {
            format!("{what} tries again what failed, and leaves what is done")
        } else if self.retried.is_some() {
            format!("{what} tries again all that it was given")
        } else {
            format!(
                "{what} does all objects again; with --report FILE, what fails then can be tried \
                 again by itself"
            )
        };
        Advice { command, text }
    }

    /// The command that takes its objects from a report, and writes the next one.
    fn by_report(&self, report: &Path) -> Option<String> {
        let Typed::Words(words) = &self.typed else { return None };
        let mut words = words.clone();
        if let Some(retried) = &self.retried {
            take_out(&mut words, "--retry-failed", retried.as_os_str());
        }
        take_out(&mut words, "--report", report.as_os_str());
        words.retain(|word| !is_flag(word.as_bytes(), "--resume"));
        let flags = [("--retry-failed", report), ("--report", &next_report(report))];
        let flags = flags.map(|(flag, path)| joined(flag, path.as_os_str()));
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(end..end, flags.into_iter().flatten());
        let program = std::iter::once(OsString::from("s3haul"));
        args::parse(program.chain(words.iter().cloned())).ok()?;
        Some(line(&words))
    }
}

/// The name of the report of the next run: `NAME.2.csv` beside `NAME.csv`.
pub(crate) fn next_report(path: &Path) -> PathBuf {
    let end = path.extension().map(|end| format!(".{}", end.display())).unwrap_or_default();
    let stem = path.with_extension("");
    let number = |path: &Path| path.extension()?.to_str()?.parse::<u32>().ok();
    // A name that ends in a number is that of such a run already, unless that is all it has.
    let run = number(&stem).filter(|_| !end.is_empty()).unwrap_or(1);
    let base = if run > 1 { stem.with_extension("") } else { stem };
    let name = |run: u32| {
        let mut name = base.clone().into_os_string();
        name.push(format!(".{run}{end}"));
        PathBuf::from(name)
    };
    (run + 1..u32::MAX).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(run + 1))
}

/// Whether a second run comes only to what the first one did not do.
fn leaves_done(job: &Job) -> bool {
    let is_listed = job.task.manifest().is_none();
    let is_plain = job.reports.apply.is_none() && job.reports.retry_failed.is_none();
    is_plain
        && match &job.task {
            Task::Sync(_) => true,
            Task::Copy(task) => task.transfer.no_overwrite,
            Task::Move(_) => is_listed && !renames_again(job),
            Task::Remove(_) | Task::Undelete(_) => is_listed,
            _ => false,
        }
}

/// Whether a list of objects is standard input or a pipe.
fn is_used_up(list: &str) -> bool {
    let is_pipe = || Path::new(list).metadata().is_ok_and(|facts| !facts.is_file());
    list == "-" || (!s3_uri::is_s3(list) && is_pipe())
}

/// Whether a second run may give a new name to another object than the first one did, whose object
/// is there and nowhere else, or to what the first one has moved.
fn renames_again(job: &Job) -> bool {
    moves_below_itself(job) || matches!(&job.task, Task::Move(task) if task.to_key.is_some())
}

/// Whether a word is a flag, which may be shortened.
fn is_flag(word: &[u8], flag: &str) -> bool {
    word.len() > "--re".len() && flag.as_bytes().starts_with(word)
}

/// Takes a flag and its value out of words.
fn take_out(words: &mut Vec<OsString>, flag: &str, value: &OsStr) {
    let is_both = |word: &OsString| {
        let mut parts = word.as_bytes().splitn(2, |byte| *byte == b'=');
        parts.next().is_some_and(|name| is_flag(name, flag))
            && parts.next() == Some(value.as_bytes())
    };
    let is_pair =
        |pair: &[OsString]| is_flag(pair[0].as_bytes(), flag) && pair[1].as_os_str() == value;
    if let Some(at) = words.iter().position(is_both) {
        words.remove(at);
    } else if let Some(at) = words.windows(2).position(is_pair) {
        words.drain(at..at + 2);
    }
}

/// A flag with its value: two words, unless the value looks like a flag.
pub(super) fn joined(flag: &str, value: &OsStr) -> Vec<OsString> {
    if !value.as_bytes().starts_with(b"-") {
        return vec![flag.into(), value.to_owned()];
    }
    vec![OsString::from_vec([flag.as_bytes(), b"=", value.as_bytes()].concat())]
}

/// The flags that reach a service, for commands that are shown. None has a password.
pub(crate) fn service_flags(service: &Service) -> Vec<OsString> {
    let profile = match &service.credentials {
        Credentials::Profile(name) => Some(&**name),
        Credentials::Environment | Credentials::Anonymous => None,
    };
    let url = service.endpoint_url.as_ref().map(EndpointUrl::reveal);
    let is_anonymous = service.credentials == Credentials::Anonymous;
    flags_of(
        [profile, service.region.as_deref(), url],
        service.ca_bundle.as_deref(),
        [is_anonymous, !service.verify_tls],
    )
}

/// The same of a profile, a region and an endpoint, of a file of certificates, and of what is left
/// out: signatures and checks of certificates.
pub(crate) fn flags_of(
    [profile, region, url]: [Option<&str>; 3],
    ca_bundle: Option<&Path>,
    [no_sign_request, no_verify_ssl]: [bool; 2],
) -> Vec<OsString> {
    let url = url.map(without_password);
    let mut flags = Vec::new();
    let values = [("--profile", profile), ("--region", region), ("--endpoint-url", url.as_deref())];
    for (flag, value) in values {
        flags.extend(value.into_iter().flat_map(|value| joined(flag, value.as_ref())));
    }
    if let Some(path) = ca_bundle {
        // The command may be run in another folder.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        flags.extend(joined("--ca-bundle", path.as_os_str()));
    }
    for (flag, is_on) in
        [("--no-sign-request", no_sign_request), ("--no-verify-ssl", no_verify_ssl)]
    {
        flags.extend(is_on.then(|| flag.into()));
    }
    flags
}

/// A URL with words in the place of a user and a password.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match host.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://USER:PASSWORD@{host}{path}"),
        None => url.to_owned(),
    }
}

/// The command line of words, as a shell reads it.
fn line(words: &[OsString]) -> String {
    command_line(words.iter().map(OsString::as_os_str))
}

/// The command line of `s3haul` with words, as a shell reads it.
pub(crate) fn command_line<'a>(words: impl IntoIterator<Item = &'a OsStr>) -> String {
    let words = words.into_iter().map(quoted);
    std::iter::once("s3haul".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_hold_no_password() {
        for (url, shown) in [
            ("http://h:1/p@q", "http://h:1/p@q"),
            ("https://a:p@ss@h/x", "https://USER:PASSWORD@h/x"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    fn again(words: &[&str], report: Option<&str>, retried: Option<&str>) -> Again {
        Again {
            typed: Typed::Words(words.iter().map(OsString::from).collect()),
            report: report.map(PathBuf::from),
            retried: retried.map(PathBuf::from),
            ..Again::default()
        }
    }

    #[test]
    fn a_report_takes_the_place_of_what_was_typed() {
        for (words, report, retried, expected) in [
            (
                &["cp", "--recursive", "a b", "s3://b", "--report", "r.csv"][..],
                "r.csv",
                None,
                "s3haul cp --recursive 'a b' s3://b --retry-failed r.csv --report r.2.csv",
            ),
            (
                &["rm", "--rep=r.jsonl", "--retry", "q", "s3://b/\u{1b}'", "--recursive"],
                "r.jsonl",
                Some("q"),
                r"s3haul rm $'s3://b/\033\'' --recursive --retry-failed r.jsonl --report r.2.jsonl",
            ),
            (
                &["sync", "--resume", "--report=-r.2.csv", "a", "s3://b"],
                "-r.2.csv",
                None,
                "s3haul sync a s3://b --retry-failed=-r.2.csv --report=-r.3.csv",
            ),
            (
                &["s3", "cp", "--report", "r", "--", "--report", "s3://b/"],
                "r",
                None,
                "s3haul s3 cp --retry-failed r --report r.2 -- --report s3://b/",
            ),
        ] {
            let advice = again(words, Some(report), retried).advice(true);
            assert_eq!(advice.command.as_deref(), Some(expected), "{words:?}");
        }
        // What would not be understood is not shown.
        let odd = again(&["job", "run", "j.json"], Some("r.csv"), None).advice(true);
        assert_eq!(odd.command.as_deref(), Some("s3haul job run j.json"));
        assert!(odd.text.contains("does all objects again"), "{}", odd.text);
    }

    /// The same command was advised, which would have found an empty list.
    #[test]
    fn a_list_that_is_used_up_is_not_read_again() {
        let used_up = |report| {
            let words = ["rm", "s3://b", "--from", "-", "--report", "r.csv"];
            Again { is_used_up: true, ..again(&words[..4], report, None) }.advice(true)
        };
        let advice = used_up(None);
        assert!(advice.command.is_none() && advice.text.contains("cannot be read again"));
        assert!(used_up(Some("r.csv")).command.unwrap().contains("--retry-failed r.csv"));
        assert!(is_used_up("-") && is_used_up("/dev/null"));
        assert!(!is_used_up("s3://b/k") && !is_used_up("Cargo.toml"));
    }

    #[test]
    fn what_a_plan_says_is_not_done_twice() {
        let words = ["apply", "p.parquet", "--report", "r.csv"];
        let advice = Again { is_plan: true, ..again(&words, Some("r.csv"), None) }.advice(true);
        assert_eq!(advice.command, None);
        assert!(advice.text.contains("a new plan"), "{}", advice.text);
    }

    #[test]
    fn without_a_report_it_is_said_what_the_same_command_does() {
        let plain = again(&["cp", "--recursive", "a", "s3://b"], None, None);
        let text = plain.advice(false).text;
        assert!(
            text.starts_with("`s3haul cp --recursive a s3://b` does all objects again"),
            "{text}"
        );
        let sync = Again { leaves_done: true, ..plain.clone() };
        assert!(sync.advice(false).text.ends_with("and leaves what is done"));
        let secret = Again { typed: Typed::Secret, report: Some("r".into()), ..sync };
        assert!(secret.advice(false).text.starts_with("the same command tries"));
        let text = secret.advice(true).text;
        assert!(text.starts_with("the same command with --retry-failed r "), "{text}");
    }
}
