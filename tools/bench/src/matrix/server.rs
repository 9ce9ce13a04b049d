//! A running server for one workload, and our own command as the one that fills, clears and lists
//! it outside of what is measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::ledger::{Ledger, Requests};
use super::listing::Listing;
use crate::peers::Endpoint;
use crate::record::Place;
use support::process;
use support::server::{self, Daemon, Server as Embedded};
use support::servers::Servers;

/// Where workloads write to, and where copies come from.
pub(crate) const TARGET_BUCKET: &str = "bench";
pub(crate) const SOURCE_BUCKET: &str = "source";
/// The bucket of computed keys.
pub(crate) const KEYS_BUCKET: &str = "synthetic";

const ACCESS_KEY: &str = "bench-access-key";
const SECRET_KEY: &str = "bench-secret-key";
/// Another process may take a port between our finding it and the server's binding it.
const ATTEMPTS: usize = 4;

/// What the embedded server keeps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Store {
    /// Names and sizes.
    Null,
    /// Bytes too.
    Memory,
    /// Nothing: keys by a formula.
    Formula(String),
    /// Nothing: keys of a file.
    Keys(PathBuf),
}

/// A server with its buckets.
pub(crate) struct Server {
    pub(crate) place: Place,
    pub(crate) endpoint: Endpoint,
    s3haul: PathBuf,
    ledger: Option<Ledger>,
    /// Ends it when dropped; nothing of it is reaped before.
    _server: Running,
}

enum Running {
    Embedded { _server: Embedded },
    Daemon { _daemon: Daemon },
}

impl Server {
    /// Starts a server. The folder is its own.
    pub(crate) fn open(place: &Place, store: &Store, s3haul: &Path, folder: &Path) -> Result<Self> {
        let scratch = folder.join("settings");
        std::fs::create_dir_all(&scratch)?;
        let server = if place.server == "embedded" {
            Self::embedded(place, store, s3haul, folder, scratch)?
        } else {
            let (daemon, url) = start_daemon(&place.server, folder)?;
            let endpoint = Endpoint {
                url,
                access_key: ACCESS_KEY.to_owned(),
                secret_key: SECRET_KEY.to_owned(),
                region: "us-east-1".to_owned(),
                ca_file: None,
                scratch,
            };
            let server = Running::Daemon { _daemon: daemon };
            let (place, s3haul) = (place.clone(), s3haul.to_owned());
            Self { place, endpoint, s3haul, ledger: None, _server: server }
        };
        if matches!(store, Store::Null | Store::Memory) {
            for bucket in [TARGET_BUCKET, SOURCE_BUCKET] {
                server.run(&["mb", &format!("s3://{bucket}")])?;
            }
        }
        Ok(server)
    }

    fn embedded(
        place: &Place,
        store: &Store,
        s3haul: &Path,
        folder: &Path,
        scratch: PathBuf,
    ) -> Result<Self> {
        let ledger = folder.join("ledger.jsonl");
        let mut args = match store {
            Store::Null => vec!["--null".to_owned()],
            Store::Memory => vec!["--memory".to_owned()],
            Store::Formula(formula) => vec!["--synthetic".to_owned(), formula.clone()],
            Store::Keys(path) => vec!["--keys".to_owned(), text(path)?],
        };
        args.extend(["--ledger".to_owned(), text(&ledger)?]);
        if place.latency_ms > 0 {
            args.extend(["--latency".to_owned(), format!("{}ms", place.latency_ms)]);
        }
        let mut ca_file = None;
        if place.is_tls {
            server::make_certificates(&Servers::locate().python(), folder).context(
                "could not make certificates; `cargo xtask servers` installs what it takes",
            )?;
            let files = [("--tls-certificate", "public.crt"), ("--tls-key", "private.key")];
            for (flag, name) in files {
                args.extend([flag.to_owned(), text(&folder.join(name))?]);
            }
            ca_file = Some(folder.join("ca.pem"));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let server = Embedded::start(s3haul, &args)?;
        let variable = |name: &str| server.variable(name).to_owned();
        let endpoint = Endpoint {
            url: variable("AWS_ENDPOINT_URL"),
            access_key: variable("AWS_ACCESS_KEY_ID"),
            secret_key: variable("AWS_SECRET_ACCESS_KEY"),
            region: variable("AWS_REGION"),
            ca_file,
            scratch,
        };
        Ok(Self {
            place: place.clone(),
            endpoint,
            s3haul: s3haul.to_owned(),
            ledger: Some(Ledger::new(&ledger)),
            _server: Running::Embedded { _server: server },
        })
    }

    /// Our own command with these arguments, reaching the server.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let endpoint = &self.endpoint;
        let mut command = Command::new(&self.s3haul);
        server::without_settings(&mut command)
            .args(args)
            .env("AWS_ENDPOINT_URL", &endpoint.url)
            .env("AWS_ACCESS_KEY_ID", &endpoint.access_key)
            .env("AWS_SECRET_ACCESS_KEY", &endpoint.secret_key)
            .env("AWS_REGION", &endpoint.region);
        if let Some(file) = &endpoint.ca_file {
            command.env("AWS_CA_BUNDLE", file);
        }
        command
    }

    /// Runs our own command, for filling and clearing.
    pub(crate) fn run(&self, args: &[&str]) -> Result<String> {
        process::run_quietly(&mut self.command(args))
    }

    /// Number and bytes of the objects below a prefix.
    pub(crate) fn totals(&self, bucket: &str, prefix: &str) -> Result<(u64, u64)> {
        let uri = format!("s3://{bucket}/{prefix}");
        let mut command = self.command(&["summarize", "--format", "json", &uri]);
        // The exit status is 1 where there is nothing, but the summary is there.
        let output = process::output(&mut command)?;
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("`{uri}`: {}", String::from_utf8_lossy(&output.stderr)))?;
        let total = |name: &str| summary["total"][name].as_u64();
        match (total("objects"), total("bytes")) {
            (Some(objects), Some(bytes)) => Ok((objects, bytes)),
            _ => bail!("the summary of `{uri}` has no totals"),
        }
    }

    /// The objects below a prefix.
    pub(crate) fn listing(&self, bucket: &str, prefix: &str) -> Result<Listing> {
        let uri = format!("s3://{bucket}/{prefix}");
        let args = ["list", "--format=tsv", Listing::COLUMNS, "--no-header", &uri];
        let output = process::output(&mut self.command(&args))?;
        let said = String::from_utf8_lossy(&output.stderr);
        // A listing of nothing says so by its status alone.
        if !output.status.success() && !said.is_empty() {
            bail!("could not list `{uri}`: {said}");
        }
        Listing::parse(std::str::from_utf8(&output.stdout)?, prefix)
    }

    /// Whether the server counts requests.
    pub(super) fn counts_requests(&self) -> bool {
        self.ledger.is_some()
    }

    /// The beginning of an object.
    pub(super) fn beginning(&self, bucket: &str, key: &str, bytes: u64) -> Result<Vec<u8>> {
        let (uri, range) = (format!("s3://{bucket}/{key}"), format!("0-{}", bytes - 1));
        let output = process::output(&mut self.command(&["cat", "--range", &range, &uri]))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "could not read `{uri}`: {errors}");
        Ok(output.stdout)
    }

    /// The requests since the last call, where the server counts them.
    pub(crate) fn requests(&mut self) -> Result<Option<Requests>> {
        self.ledger.as_mut().map(Ledger::take).transpose()
    }
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("`{}` is no UTF-8", path.display()))
}

/// Starts a server of others on a free port, and waits until it answers; gives its address too.
fn start_daemon(name: &str, folder: &Path) -> Result<(Daemon, String)> {
    let (program, keys) = (Servers::locate().binary(name), [ACCESS_KEY, SECRET_KEY]);
    let attempt = || {
        let port = server::free_port()?;
        let mut command = match name {
            "minio" => server::minio(&program, port, folder, keys)?,
            _ => server::versitygw(&program, port, folder, keys, false)?,
        };
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = Daemon::start(&mut command, port, false)?;
        anyhow::Ok((daemon, format!("http://127.0.0.1:{port}")))
    };
    let mut result = attempt();
    for _ in 1..ATTEMPTS {
        if result.is_err() {
            result = attempt();
        }
    }
    result.with_context(|| format!("could not start {name}: `cargo xtask servers` installs it"))
}
