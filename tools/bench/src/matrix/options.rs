//! What the command line asks of the matrix.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::builder::PossibleValuesParser;

use super::table::{LATENCIES_MS, SERVERS};
use crate::peers::{absolute, tool_path};
use crate::report;

/// Settings of a whole run.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub(crate) struct Options {
    /// Share of the published sizes; each workload's own, smaller one where absent.
    #[arg(long, value_parser = scale)]
    pub(super) scale: Option<f64>,
    /// Letters or names of workloads; all where absent.
    #[arg(long, value_name = "a,c-noop", value_delimiter = ',')]
    pub(super) only: Vec<String>,
    /// Names of tools; all where absent.
    #[arg(long, value_name = "s3haul,bare,aws", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,
    /// Only these servers.
    #[arg(long, value_delimiter = ',', default_values = SERVERS,
          value_parser = PossibleValuesParser::new(SERVERS))]
    pub(super) servers: Vec<String>,
    /// Of the embedded server: 0, 10 and 50; each workload's own where absent.
    #[arg(long = "latencies", value_name = "MS", value_delimiter = ',', value_parser = latency)]
    pub(super) latencies_ms: Option<Vec<u64>>,
    /// Reaches the embedded server over TLS too; as each workload says where absent.
    #[arg(long)]
    tls: bool,
    /// Never over TLS.
    #[arg(long, conflicts_with = "tls")]
    no_tls: bool,
    /// Rounds that count, behind the warm-up.
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) rounds: u32,
    /// What one run may take.
    #[arg(long, value_name = "SECONDS", default_value = "40", value_parser = limit)]
    pub(super) limit: Duration,
    /// A tool whose warm-up takes longer does not run again: that run counts. 0: it runs all
    /// rounds.
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
    once_above: Duration,
    /// The command under test; built where absent.
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    pub(crate) binary: Option<PathBuf>,
    /// Installs no missing tools.
    #[arg(long)]
    pub(crate) no_install: bool,
    /// Joins the runs that are there: rows measured again replace theirs.
    #[arg(long)]
    append: bool,
    /// The same, without workloads and places that are whole.
    #[arg(long)]
    pub(super) missing: bool,
    /// Where page and runs are kept; `docs/bench` where absent.
    #[arg(long, value_name = "FOLDER", value_parser = absolute)]
    output: Option<PathBuf>,
}

/// Where programs of others are.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub(crate) struct Programs {
    /// The bare sender; found beside the binary or built where absent.
    #[arg(long, value_name = "PATH", value_parser = absolute)]
    pub(super) bare: Option<PathBuf>,
    /// Where another tool is.
    #[arg(long = "tool-path", value_name = "NAME=PATH", value_parser = tool_path)]
    pub(super) tool_paths: Vec<(String, PathBuf)>,
}

impl Options {
    /// Where page and runs are kept.
    pub(crate) fn output(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(report::folder)
    }

    /// Whether to use TLS where that is said.
    pub(super) fn tls(&self) -> Option<bool> {
        (self.tls || self.no_tls).then_some(self.tls)
    }

    /// A tool whose warm-up takes longer runs once; `None` if each runs all rounds.
    pub(super) fn once_above(&self) -> Option<Duration> {
        (!self.once_above.is_zero()).then_some(self.once_above)
    }

    /// Whether runs that are there stay, but for the rows that are measured again.
    pub(super) fn append(&self) -> bool {
        self.append || self.missing
    }

    /// Whether a workload is selected.
    pub(super) fn wants(&self, workload: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| means(only, workload))
    }

    /// Whether a tool is selected.
    pub(crate) fn wants_tool(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == name))
    }
}

/// Whether a name of `--only` means a workload: its name, or what it begins with before a `-`.
pub(super) fn means(only: &str, workload: &str) -> bool {
    let rest = workload.strip_prefix(only);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn latency(text: &str) -> Result<u64> {
    let number = text.trim_end_matches("ms").parse().ok();
    let known = number.filter(|number| LATENCIES_MS.contains(number));
    known.with_context(|| format!("there are {LATENCIES_MS:?} (ms)"))
}

fn scale(text: &str) -> Result<f64> {
    match text.parse() {
        Ok(scale) if scale > 0.0 && scale <= 10.0 => Ok(scale),
        _ => bail!("a number above 0 and up to 10 is needed, such as 0.1"),
    }
}

fn limit(text: &str) -> Result<Duration> {
    match seconds(text)? {
        Duration::ZERO => bail!("0 is too small"),
        limit => Ok(limit),
    }
}

fn seconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_secs)
}

#[cfg(test)]
pub(crate) fn parse(text: &str) -> Result<Options, clap::Error> {
    use clap::Parser as _;
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }
    let words = std::iter::once("bench").chain(text.split_whitespace());
    Line::try_parse_from(words).map(|line| line.options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = parse(
            "--scale 0.1 --only a,c-noop --tools aws --servers minio --latencies 0,50ms --tls \
             --rounds 5 --limit 9 --once-above 0 --output /o --no-install --missing",
        )
        .unwrap();
        assert_eq!(options.scale, Some(0.1));
        assert_eq!(options.latencies_ms, Some(vec![0, 50]));
        assert_eq!((options.tls(), options.rounds, options.no_install), (Some(true), 5, true));
        assert_eq!((options.limit, options.once_above()), (Duration::from_secs(9), None));
        assert_eq!(options.output(), PathBuf::from("/o"));
        let (name, path) = tool_path("s5cmd=/x/s5cmd").unwrap();
        assert_eq!((name.as_str(), path), ("s5cmd", PathBuf::from("/x/s5cmd")));
        assert!(tool_path("s5cmd").is_err());
        assert!(options.append() && options.missing && !parse("--append").unwrap().missing);
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
            "--limit 0",
            "--latencies 30",
            "--servers moto",
            "--only",
            "--fast",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
