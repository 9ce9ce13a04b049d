//! What the command line asks of the matrix.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::table::{LATENCIES_MS, SERVERS};
use crate::report;

/// Behind the warm-up, unless set otherwise.
const ROUNDS_DEFAULT: u32 = 3;
const LIMIT_S_DEFAULT: u64 = 40;
const ONCE_ABOVE_S_DEFAULT: u64 = 3;

/// The command line's names for it.
pub(super) const USAGE: &str = "\
--scale F (1: the published sizes; without it each workload has its own, smaller one), \
--only a,c-noop, --tools s3haul,bare,aws, --servers embedded,versitygw,minio, \
--latencies 0,10,50, --tls, --no-tls, --rounds N, --limit SECONDS (of a run), \
--once-above SECONDS (a tool that takes so long runs once; 0: never), --binary PATH, \
--bare PATH, --tool-path NAME=PATH, --no-install, --output FOLDER, --append (join the runs that \
are there: rows measured again replace theirs) and --missing (the same, without workloads and \
places that are whole)";

/// Settings of a whole run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// Share of the published sizes; each workload's own where absent.
    pub(super) scale: Option<f64>,
    /// Letters or names of workloads; all where empty.
    pub(super) only: Vec<String>,
    /// Names of tools; all where absent.
    pub(super) tools: Option<Vec<String>>,
    pub(super) servers: Vec<String>,
    /// Of the embedded server; each workload's own where absent.
    pub(super) latencies_ms: Option<Vec<u64>>,
    /// Whether the embedded server is also reached over TLS; as each workload says where absent.
    pub(super) tls: Option<bool>,
    /// Rounds that count, behind the warm-up.
    pub(super) rounds: u32,
    /// What one run may take.
    pub(super) limit: Duration,
    /// A tool whose warm-up takes longer does not run again: that run counts. None: it runs all
    /// rounds.
    pub(super) once_above: Option<Duration>,
    /// The command under test; built where absent.
    pub(super) binary: Option<PathBuf>,
    /// The bare sender; found beside `binary` or built where absent.
    pub(super) bare: Option<PathBuf>,
    /// Where other tools are.
    pub(super) tool_paths: Vec<(String, PathBuf)>,
    /// Whether missing tools are installed.
    pub(super) install: bool,
    /// Whether runs that are there stay, but for the rows that are measured again.
    pub(super) append: bool,
    /// Whether what was measured whole is left out.
    pub(super) missing: bool,
    /// Where the runs are kept.
    pub(super) output: PathBuf,
}

impl Options {
    fn new() -> Self {
        Self {
            scale: None,
            only: Vec::new(),
            tools: None,
            servers: SERVERS.map(str::to_owned).to_vec(),
            latencies_ms: None,
            tls: None,
            rounds: ROUNDS_DEFAULT,
            limit: Duration::from_secs(LIMIT_S_DEFAULT),
            once_above: Some(Duration::from_secs(ONCE_ABOVE_S_DEFAULT)),
            binary: None,
            bare: None,
            tool_paths: Vec::new(),
            install: true,
            append: false,
            missing: false,
            output: report::folder(),
        }
    }

    /// Reads the command line.
    pub(super) fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self::new();
        let mut rest = args.iter();
        while let Some(flag) = rest.next() {
            if options.take_switch(flag) {
                continue;
            }
            let mut value = || rest.next().with_context(|| format!("`{flag}` needs a value"));
            match flag.as_str() {
                "--scale" => options.scale = Some(scale(value()?)?),
                "--only" => options.only = list(value()?),
                "--tools" => options.tools = Some(list(value()?)),
                "--servers" => options.servers = of(list(value()?), &SERVERS, flag)?,
                "--latencies" => options.latencies_ms = Some(latencies(value()?)?),
                "--rounds" => options.rounds = u32::try_from(positive(value()?)?)?,
                "--limit" => options.limit = Duration::from_secs(positive(value()?)?),
                "--once-above" => options.once_above = once_above(value()?)?,
                "--binary" => options.binary = Some(path(value()?)?),
                "--bare" => options.bare = Some(path(value()?)?),
                "--tool-path" => options.tool_paths.push(tool_path(value()?)?),
                "--output" => options.output = path(value()?)?,
                _ => bail!("unknown option `{flag}`: there are {USAGE}"),
            }
        }
        Ok(options)
    }

    fn take_switch(&mut self, flag: &str) -> bool {
        match flag {
            "--tls" => self.tls = Some(true),
            "--no-tls" => self.tls = Some(false),
            "--no-install" => self.install = false,
            "--append" => self.append = true,
            "--missing" => (self.append, self.missing) = (true, true),
            _ => return false,
        }
        true
    }

    /// Whether a workload is asked for.
    pub(super) fn wants(&self, workload: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| means(only, workload))
    }

    /// Whether a tool is asked for.
    pub(super) fn wants_tool(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }
}

/// Whether a name of `--only` means a workload: its name, or what it begins with before a `-`.
pub(super) fn means(only: &str, workload: &str) -> bool {
    let rest = workload.strip_prefix(only);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn of(names: Vec<String>, known: &[&str], flag: &str) -> Result<Vec<String>> {
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => bail!("`{flag}`: `{name}` is none of {}", known.join(", ")),
        None => Ok(names),
    }
}

fn latencies(text: &str) -> Result<Vec<u64>> {
    let number = |text: &str| {
        let number: u64 = text.trim_end_matches("ms").parse().ok()?;
        LATENCIES_MS.contains(&number).then_some(number)
    };
    let numbers: Option<Vec<u64>> = text.split(',').map(number).collect();
    numbers.with_context(|| format!("`--latencies {text}`: there are {LATENCIES_MS:?} (ms)"))
}

fn scale(text: &str) -> Result<f64> {
    match text.parse() {
        Ok(scale) if scale > 0.0 && scale <= 10.0 => Ok(scale),
        _ => bail!("`--scale {text}`: a number above 0 and up to 10 is needed, such as 0.1"),
    }
}

fn once_above(text: &str) -> Result<Option<Duration>> {
    let seconds: u64 = text.parse().with_context(|| format!("`{text}` is no number"))?;
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

fn positive(text: &str) -> Result<u64> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => bail!("`{text}` is no number above 0"),
    }
}

/// Tools run in folders of their own, so paths become absolute.
fn path(text: &str) -> Result<PathBuf> {
    std::path::absolute(text).with_context(|| format!("`{text}` is no path"))
}

fn tool_path(text: &str) -> Result<(String, PathBuf)> {
    let (name, file) = text
        .split_once('=')
        .with_context(|| format!("`--tool-path {text}`: NAME=PATH is needed"))?;
    Ok((name.to_owned(), path(file)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options> {
        let args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args)
    }

    #[test]
    fn options_are_read() {
        let options = parse(
            "--scale 0.1 --only a,c-noop --tools aws --servers minio --latencies 0,50ms --tls \
             --rounds 5 --limit 9 --once-above 0 --tool-path s5cmd=/x/s5cmd --output /o \
             --no-install --missing",
        )
        .unwrap();
        assert_eq!(options.scale, Some(0.1));
        assert_eq!(options.latencies_ms, Some(vec![0, 50]));
        assert_eq!((options.tls, options.rounds, options.install), (Some(true), 5, false));
        assert_eq!((options.limit, options.once_above), (Duration::from_secs(9), None));
        assert_eq!(options.tool_paths, [("s5cmd".to_owned(), PathBuf::from("/x/s5cmd"))]);
        assert!(options.append && options.missing && !parse("--append").unwrap().missing);
        assert!(options.wants_tool("aws") && !options.wants_tool("s5cmd"));
    }

    #[test]
    fn workloads_are_picked_by_letter_and_by_name() {
        let options = parse("--only a,c-noop,g-list").unwrap();
        for name in ["a", "a-down", "c-noop", "g-list-uuid"] {
            assert!(options.wants(name), "{name}");
        }
        for name in ["b", "c-first", "g-summarize-uuid", "g-listing"] {
            assert!(!options.wants(name), "{name}");
        }
        assert!(parse("").unwrap().wants("k-cp"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for bad in [
            "--scale 0",
            "--scale x",
            "--rounds 0",
            "--latencies 30",
            "--servers moto",
            "--tool-path s5cmd",
            "--only",
            "--fast",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
