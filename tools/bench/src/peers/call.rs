//! A tool's command, before its arguments: an environment that holds nothing of the caller's.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Endpoint, Task};
use support::server::without_settings;

/// How a tool does a piece of work; an error says why it cannot.
pub(super) type Line = fn(&Call<'_>, &Task<'_>) -> Result<Command, String>;

/// The value of the tag that is given.
pub(super) const TAG: (&str, &str) = ("bench", "yes");

/// Why a tool that cannot tag does not.
pub(super) const NO_TAGS: &str = "knows no tags";

/// A program and the server it is to reach.
pub(crate) struct Call<'a> {
    pub(crate) program: &'a Path,
    pub(crate) endpoint: &'a Endpoint,
}

impl Call<'_> {
    /// The program in a bare environment: nothing of the caller's but where programs and temporary
    /// files are, so neither its credentials, its proxies nor its settings. Keys are variables,
    /// since arguments can be seen by others.
    pub(crate) fn command(&self) -> Command {
        self.command_of(self.program.as_os_str())
    }

    /// The same environment for another program, which may start the tool.
    pub(super) fn command_of(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        without_settings(command.env_clear());
        for name in ["PATH", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let endpoint = self.endpoint;
        command
            .env("HOME", &endpoint.scratch)
            .env("LC_ALL", "C.UTF-8")
            .env("AWS_ACCESS_KEY_ID", &endpoint.access_key)
            .env("AWS_SECRET_ACCESS_KEY", &endpoint.secret_key)
            .env("AWS_REGION", &endpoint.region)
            .env("AWS_DEFAULT_REGION", &endpoint.region)
            .env("AWS_ENDPOINT_URL", &endpoint.url);
        if let Some(file) = &endpoint.ca_file {
            // The AWS tools read the first, Go and Rust's native roots the second, Node the third.
            for name in ["AWS_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
                command.env(name, file);
            }
        }
        command
    }

    /// Writes a file into the scratch folder, if it is not there as it should be.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.endpoint.scratch.join(name);
        if fs::read_to_string(&path).is_ok_and(|present| present == text) {
            return Ok(path);
        }
        match fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("could not write `{}`: {error}", path.display())),
        }
    }

    /// Runs a script of the shell with the program and these arguments as `$0`, `$1`, ….
    pub(super) fn shell(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = self.command_of("sh");
        command.arg("-c").arg(script).arg(self.program).args(arguments);
        command
    }
}

/// `s3://BUCKET/KEY`.
pub(super) fn uri(bucket: &str, key: &str) -> String {
    format!("s3://{bucket}/{key}")
}
