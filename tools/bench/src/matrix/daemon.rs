//! versitygw and MinIO as children, on free ports, with their data in a folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use support::server::{self, Daemon};
use support::servers::Servers;

pub(super) const ACCESS_KEY: &str = "bench-access-key";
pub(super) const SECRET_KEY: &str = "bench-secret-key";

/// Another process may take a port between our finding it and the server's binding it.
const ATTEMPTS: usize = 4;

/// Starts a server by its name, and waits until it answers; gives its address too.
pub(super) fn start(name: &str, folder: &Path) -> Result<(Daemon, String)> {
    let attempt = || {
        let port = server::free_port()?;
        let mut command = command(name, port, folder)?;
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

fn command(name: &str, port: u16, folder: &Path) -> Result<Command> {
    let [data, sidecar, certificates] =
        ["data", "sidecar", "certificates"].map(|name| folder.join(name));
    for path in [&data, &sidecar, &certificates] {
        std::fs::create_dir_all(path)?;
    }
    let address = format!("127.0.0.1:{port}");
    let is_minio = name == "minio";
    let variable = if is_minio { "S3HAUL_TEST_MINIO" } else { "S3HAUL_TEST_VERSITYGW" };
    let mut command = Command::new(installed(variable));
    command.current_dir(folder);
    if is_minio {
        command.env("MINIO_ROOT_USER", ACCESS_KEY).env("MINIO_ROOT_PASSWORD", SECRET_KEY);
        command.env("MINIO_UPDATE", "off").env("MINIO_BROWSER", "off");
        command.args(["server", "--quiet", "--anonymous", "--address", &address]);
        command.arg("--certs-dir").arg(&certificates).arg(&data);
    } else {
        command.args(["--port", &address, "--access", ACCESS_KEY, "--secret", SECRET_KEY]);
        // A folder of its own for attributes: not every file system has them.
        command.args(["--quiet", "posix", "--sidecar"]).arg(&sidecar).arg(&data);
    }
    Ok(command)
}

/// A program of `cargo xtask servers`, by the variable with its path.
pub(super) fn installed(variable: &str) -> PathBuf {
    let variables = Servers::locate().test_variables();
    variables.into_iter().find(|(name, _)| *name == variable).map_or_else(PathBuf::new, |row| row.1)
}
