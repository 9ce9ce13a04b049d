//! Where metrics go, and the labels that they have.

use std::path::{Path, PathBuf};

use super::collector::CollectorSettings;
use super::environment::Environment;
use crate::args::GlobalArgs;
use crate::failure::Failure;

/// Labels of metrics, which `--label` cannot set.
pub(crate) const RESERVED_LABELS: [&str; 9] =
    ["operation", "status", "class", "reason", "outcome", "limit", "command", "version", "le"];
/// Labels at most.
const LABELS_MAX: usize = 32;

/// Where metrics go; nowhere by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MetricsSettings {
    /// Address that scrapes are answered on.
    pub(crate) listen: Option<String>,
    /// File that is written again and again.
    pub(crate) file: Option<MetricsFile>,
    /// Collector that they are sent to, with traces.
    pub(crate) collector: Option<CollectorSettings>,
    /// Names and values.
    pub(crate) labels: Vec<(String, String)>,
    /// Word of the command.
    pub(crate) command: &'static str,
}

/// A file of metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetricsFile {
    /// As it was given.
    pub(crate) name: PathBuf,
    /// Where it is, whatever becomes of links and of the working directory.
    pub(crate) place: PathBuf,
}

impl MetricsFile {
    pub(super) fn new(name: &Path) -> Self {
        let whole = std::path::absolute(name).unwrap_or_else(|_| name.to_owned());
        // Of a link to a file that is yet to come.
        let target = |link: PathBuf| whole.parent().map(|folder| folder.join(link));
        let place = whole.canonicalize().ok();
        let place = place.or_else(|| whole.read_link().ok().and_then(target)).unwrap_or(whole);
        Self { name: name.to_owned(), place }
    }
}

impl MetricsSettings {
    /// Refuses the flags where they would be ignored.
    pub(crate) fn refuse(global: &GlobalArgs, why: &str) -> Result<(), Failure> {
        if !has_place(global) {
            return refuse_labels(global);
        }
        Err(Failure::usage(format!("--metrics-listen, --metrics-file and --otlp-endpoint: {why}")))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.listen.is_none() && self.file.is_none() && self.collector.is_none()
    }

    /// From the flags of all commands.
    pub(crate) fn new(
        global: &GlobalArgs,
        command: &'static str,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let (listen, file) = (&global.metrics_listen, &global.metrics_file);
        if !has_place(global) {
            refuse_labels(global)?;
        }
        if global.label.len() > LABELS_MAX {
            return Err(Failure::usage(format!("more than {LABELS_MAX} labels were given")));
        }
        let mut labels: Vec<(String, String)> = Vec::new();
        for text in &global.label {
            let (name, value) = label(text)?;
            if labels.iter().any(|(other, _)| other == name) {
                return Err(Failure::usage(format!("the label `{name}` is given twice")));
            }
            labels.push((name.to_owned(), value.to_owned()));
        }
        // A rename would put a file in the place of a device, or of another program's pipe.
        if let Some(path) = file
            && path.exists()
            && !path.is_file()
        {
            let path = path.display();
            return Err(Failure::usage(format!("--metrics-file: `{path}` is not a file")));
        }
        let listen = listen.as_ref().map(|address| with_host(address));
        let file = file.as_deref().map(MetricsFile::new);
        let url = global.otlp_endpoint.as_deref();
        let collector = url.map(|url| CollectorSettings::new(url, environment)).transpose()?;
        Ok(Self { listen, file, collector, labels, command })
    }
}

/// Whether metrics go anywhere.
fn has_place(global: &GlobalArgs) -> bool {
    let GlobalArgs { metrics_listen, metrics_file, otlp_endpoint, .. } = global;
    metrics_listen.is_some() || metrics_file.is_some() || otlp_endpoint.is_some()
}

/// Refuses labels of metrics that go nowhere.
fn refuse_labels(global: &GlobalArgs) -> Result<(), Failure> {
    if global.label.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(
        "--label is for metrics: give --metrics-listen, --metrics-file or --otlp-endpoint, too",
    ))
}

/// `:9100` listens on this machine's own address, as all do that name none.
fn with_host(address: &str) -> String {
    if address.starts_with(':') { format!("127.0.0.1{address}") } else { address.to_owned() }
}

fn label(text: &str) -> Result<(&str, &str), Failure> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("--label `{text}`: give NAME=VALUE")))?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(Failure::usage(format!(
            "--label `{text}`: a name has letters, digits and underscores, and does not begin \
             with a digit"
        )));
    }
    if name.starts_with("__") {
        return Err(Failure::usage(format!(
            "--label `{text}`: Prometheus keeps names that begin with two underscores for itself"
        )));
    }
    if RESERVED_LABELS.contains(&name) {
        return Err(Failure::usage(format!("--label `{text}`: metrics have a label `{name}`")));
    }
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn environment() -> Environment {
        Environment::of_program(HashMap::new(), Vec::new(), None)
    }

    fn settings(labels: &[&str]) -> Result<MetricsSettings, Failure> {
        let global = GlobalArgs {
            metrics_listen: Some(":0".to_owned()),
            label: labels.iter().map(|&label| label.to_owned()).collect(),
            ..GlobalArgs::default()
        };
        MetricsSettings::new(&global, "cp", &environment())
    }

    #[test]
    fn labels_have_names_that_prometheus_takes() {
        let all = settings(&["job_name=nightly", "team=a=b", "empty=", "_x=1"]).unwrap();
        let pairs = [("job_name", "nightly"), ("team", "a=b"), ("empty", ""), ("_x", "1")];
        assert_eq!(all.labels, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(all.listen.as_deref(), Some("127.0.0.1:0"));
        for wrong in ["a", "=b", "1a=b", "__a=b", "a-b=c", "é=c", "le=5", "operation=x"] {
            assert!(settings(&[wrong]).is_err(), "{wrong}");
        }
        assert!(settings(&["a=1", "a=2"]).is_err());
        let why = |label| settings(&[label]).unwrap_err().message;
        assert!(why("__name__=x").contains("two underscores"));
        assert!(why("1a=b").contains("begin with a digit"));
    }

    #[test]
    fn what_would_be_ignored_is_refused() {
        let global = GlobalArgs { label: vec!["a=b".to_owned()], ..GlobalArgs::default() };
        assert!(MetricsSettings::new(&global, "cp", &environment()).is_err());
        let file = Some(PathBuf::from("/dev/null"));
        let global = GlobalArgs { metrics_file: file, ..GlobalArgs::default() };
        assert!(MetricsSettings::new(&global, "cp", &environment()).is_err());
    }
}
