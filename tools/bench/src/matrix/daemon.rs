//! versitygw and MinIO as children, on free ports, with their data in a folder.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use support::servers::Servers;

pub(super) const ACCESS_KEY: &str = "bench-access-key";
pub(super) const SECRET_KEY: &str = "bench-secret-key";

const START_MAX: Duration = Duration::from_mins(1);
const ANSWER_MAX: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);
/// Another process may take a port between our finding it and the server's binding it.
const ATTEMPTS: usize = 4;

/// A server of somebody else; ends with this value, and with this process however that ends.
pub(super) struct Daemon {
    child: Child,
    guard: Child,
    pub(super) url: String,
}

impl Daemon {
    /// Starts a server by its name, and waits until it answers.
    pub(super) fn start(name: &str, folder: &Path) -> Result<Self> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match Self::attempt(name, folder) {
                Ok(daemon) => return Ok(daemon),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| anyhow::anyhow!("it was not tried")))
            .with_context(|| format!("could not start {name}"))
    }

    fn attempt(name: &str, folder: &Path) -> Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut child = command(name, port, folder)?
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("`cargo xtask servers` installs it")?;
        // Its standard input ends with this process, however that ends.
        let guard = Command::new("sh")
            .args(["-c", "read -r _; kill -9 \"$0\"", &child.id().to_string()])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let guard = match guard {
            Ok(guard) => guard,
            Err(error) => {
                let _ = child.kill();
                return Err(error).context("could not start a guard");
            }
        };
        let mut daemon = Self { child, guard, url: format!("http://127.0.0.1:{port}") };
        daemon.wait_until_ready(port)?;
        Ok(daemon)
    }

    fn wait_until_ready(&mut self, port: u16) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < START_MAX {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended ({status})");
            }
            if answers(port) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        bail!("it did not answer in time")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Whoever is gone already needs no killing.
        for child in [&mut self.guard, &mut self.child] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
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

/// A program of `cargo xtask servers`, by the variable that tells the tests of it.
pub(super) fn installed(variable: &str) -> PathBuf {
    let variables = Servers::locate().test_variables();
    variables.into_iter().find(|(name, _)| *name == variable).map_or_else(PathBuf::new, |row| row.1)
}

/// Whether something there speaks HTTP and does not say that it is still starting.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let _ = stream.set_read_timeout(Some(ANSWER_MAX));
    let request = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut answer = [0; 12];
    let complete =
        stream.write_all(request.as_bytes()).and_then(|()| stream.read_exact(&mut answer));
    complete.is_ok() && answer.starts_with(b"HTTP/1.1 ") && answer[9] < b'5'
}
