//! The matrix of services: what `check-server` finds on the servers that are here, held against
//! docs/services, and docs/services.md against that.
//!
//! With `S3HAUL_TEST_BLESS` (`cargo xtask services` sets it) what is found is written instead, also
//! of a service that `S3HAUL_TEST_SERVICE` names as `NAME=VERSION=URL`, with the credentials of the
//! environment.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use s3haul::probe::{Finding, Outcome, Report, catalogue};
use s3haul_wire::quirks::QUIRKS;
use serde::{Deserialize, Serialize};
use support::servers;

use crate::servers::{Kind, Server};
use crate::tools;

const BEGIN: &str = "<!-- written by `cargo xtask services` -->\n";
const END: &str = "<!-- end -->\n";

/// What was found on a service: names of probes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    service: String,
    version: String,
    tested: String,
    holds: BTreeSet<String>,
    fails: BTreeSet<String>,
    skipped: BTreeSet<String>,
}

impl Record {
    /// Checks the service at a URL.
    fn of(service: &str, version: &str, url: &str, keys: Option<(&str, &str)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(tools::subject());
        command.args(["check-server", "--json", "--endpoint-url", url]);
        command.env("HOME", folder.path()).env("AWS_EC2_METADATA_DISABLED", "true");
        if let Some((access_key, secret_key)) = keys {
            command.env_remove("AWS_PROFILE").env("AWS_REGION", "us-east-1");
            command.env("AWS_ACCESS_KEY_ID", access_key).env("AWS_SECRET_ACCESS_KEY", secret_key);
        }
        let output = command.output().unwrap();
        assert!(output.stderr.is_empty(), "{service}: {output:?}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |outcome: &str| -> BTreeSet<String> {
            let rows = document["probes"].as_array().unwrap().iter();
            let rows = rows.filter(|row| row["outcome"] == outcome);
            rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
        };
        let unknown = of("unknown");
        assert!(unknown.is_empty(), "{service}: no answer to {unknown:?}");
        Self {
            service: service.to_owned(),
            version: version.to_owned(),
            tested: jiff::Zoned::now().date().to_string(),
            holds: of("holds"),
            fails: of("fails"),
            skipped: of("skipped"),
        }
    }

    fn path(&self) -> PathBuf {
        docs().join(format!("services/{}.json", self.service))
    }

    fn label(&self) -> String {
        format!("{} {} ({})", self.service, self.version, self.tested)
    }

    fn report(&self) -> Report {
        let findings = catalogue().map(|probe| {
            let outcome = match probe.name {
                name if self.holds.contains(name) => Outcome::Holds,
                name if self.fails.contains(name) => Outcome::Fails(String::new()),
                _ => Outcome::Skipped(String::new()),
            };
            Finding { probe, outcome }
        });
        Report { server: String::new(), findings: findings.collect() }
    }

    /// Whether another check found the same of the same version.
    fn is_as(&self, other: &Self) -> bool {
        Self { tested: other.tested.clone(), ..self.clone() } == *other
    }

    /// Holds it against what was written, or writes it where it differs.
    fn check(&self) -> Result<(), String> {
        let text = fs::read_to_string(self.path()).unwrap_or_default();
        match serde_json::from_str::<Self>(&text) {
            Ok(written) if self.is_as(&written) => Ok(()),
            _ if is_blessing() => {
                let text = serde_json::to_string_pretty(self).unwrap() + "\n";
                fs::create_dir_all(docs().join("services")).unwrap();
                fs::write(self.path(), text).unwrap();
                Ok(())
            }
            written => Err(format!("{}: found {self:#?}, written {written:#?}", self.service)),
        }
    }
}

fn is_blessing() -> bool {
    std::env::var_os("S3HAUL_TEST_BLESS").is_some()
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Checks the servers that are here, then the page.
pub(crate) fn check() {
    let kinds = [
        (Kind::EmbeddedMemory, "s3haul-serve", None),
        (Kind::Versitygw, "versitygw", Some("S3HAUL_TEST_VERSITYGW")),
        (Kind::Minio, "minio", Some("S3HAUL_TEST_MINIO")),
        (Kind::Moto, "moto", Some("S3HAUL_TEST_PYTHON")),
    ];
    let mut wrong = Vec::new();
    for (kind, name, variable) in kinds {
        if variable.is_some_and(|variable| tools::path(variable).is_none()) {
            continue;
        }
        let server = Server::start(kind).unwrap();
        let version = servers::version(name).unwrap_or(env!("CARGO_PKG_VERSION").to_owned());
        let keys = Some((server.access_key.as_str(), server.secret_key.as_str()));
        wrong.extend(Record::of(name, &version, &server.url, keys).check().err());
    }
    if let Ok(other) = std::env::var("S3HAUL_TEST_SERVICE") {
        let words: Vec<_> = other.splitn(3, '=').collect();
        let [name, version, url] = words[..] else { panic!("NAME=VERSION=URL: {other}") };
        wrong.extend(Record::of(name, version, url, None).check().err());
    }
    assert!(wrong.is_empty(), "`cargo xtask services` writes it:\n{}", wrong.join("\n"));
    check_page();
}

fn check_page() {
    let path = docs().join("services.md");
    let page = fs::read_to_string(&path).unwrap();
    let (head, rest) = page.split_once(BEGIN).unwrap();
    let (_, tail) = rest.split_once(END).unwrap();
    let expected = format!("{head}{BEGIN}{}{END}{tail}", tables(&records()));
    if is_blessing() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(page == expected || is_blessing(), "`cargo xtask services` writes {}", path.display());
}

/// All that was written, ours first.
fn records() -> Vec<Record> {
    let read = |entry: std::io::Result<fs::DirEntry>| -> Record {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let mut records: Vec<_> = fs::read_dir(docs().join("services")).unwrap().map(read).collect();
    records.sort_by_key(|record| (record.service != "s3haul-serve", record.service.clone()));
    records
}

fn tables(records: &[Record]) -> String {
    let mut text = format!("\n{}\n", Report::matrix_head());
    for record in records {
        let _ = writeln!(text, "{}", record.report().matrix_row(&record.label()));
    }
    text.push_str("\n## The probes\n\n| probe | what is expected | without it | weight | ");
    text.push_str("fails on | not asked on |\n|---|---|---|---|---|---|\n");
    let services = |of: &dyn Fn(&Record) -> bool| {
        let names: Vec<_> =
            records.iter().filter(|it| of(it)).map(|it| it.service.as_str()).collect();
        names.join(", ")
    };
    for probe in catalogue() {
        let fails = services(&|record| record.fails.contains(probe.name));
        let skipped = services(&|record| {
            !record.fails.contains(probe.name) && !record.holds.contains(probe.name)
        });
        let (name, weight) = (probe.name, probe.weight.name());
        let (expects, without) = (probe.expects, probe.without);
        let _ =
            writeln!(text, "| `{name}` | {expects} | {without} | {weight} | {fails} | {skipped} |");
    }
    text.push_str("\n## What the client does about single services\n\n| service | what it does | ");
    text.push_str("what the client does | source |\n|---|---|---|---|\n");
    for quirk in QUIRKS {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            quirk.service, quirk.does, quirk.answer, quirk.source
        );
    }
    text.push('\n');
    text
}
