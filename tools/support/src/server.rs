//! S3 servers as children: `s3haul serve`, and any program that listens on a port.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process::{self, Running};

/// Unit of the times in `/proc/PID/stat`, on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;
const START_MAX: Duration = Duration::from_mins(1);
const ANSWER_MAX: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);

/// A server on a free port; stops when this value is dropped.
pub struct Server {
    child: Running,
    exports: Vec<(String, String)>,
}

impl Server {
    /// Starts a server with these arguments and waits until it listens.
    pub fn start(s3haul: &Path, args: &[&str]) -> Result<Self> {
        let mut serve = Command::new(s3haul);
        serve.arg("serve").args(args).args(["--address", "127.0.0.1:0", "--stop-with-stdin"]);
        let mut exports = Vec::new();
        let (child, ()) = process::start_until(&mut serve, |line| {
            let (name, value) = line.strip_prefix("export ")?.split_once('=')?;
            exports.push((name.to_owned(), value.trim_matches('\'').to_owned()));
            let is_known = |part| exports.iter().any(|(name, _)| name.contains(part));
            ["ENDPOINT", "ACCESS_KEY", "SECRET", "REGION"].into_iter().all(is_known).then_some(())
        })?;
        Ok(Self { child, exports })
    }

    /// A command whose environment reaches the server.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        without_settings(&mut command).envs(self.exports.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The value of a variable that it has printed; empty if there is none.
    pub fn variable(&self, name: &str) -> &str {
        let found = self.exports.iter().find(|(export, _)| export == name);
        found.map_or("", |(_, value)| value)
    }

    /// User and system time so far, in seconds.
    pub fn cpu_s(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.0.id()))?;
        // Behind the name, which may hold anything: state, then numbers; the times are 14 and 15.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let ticks: u32 =
            fields.skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
        Ok(f64::from(ticks) / TICKS_PER_SECOND)
    }

    /// Memory of its own (not the mapped key file) now, in MiB.
    pub fn own_mib(&self) -> f64 {
        status_kib(self.child.0.id(), "RssAnon:") / 1024.0
    }

    /// Lets it end in order, so that its ledger is on disk.
    pub fn stop(mut self) -> Result<()> {
        drop(self.child.0.stdin.take());
        let status = self.child.0.wait()?;
        if status.success() { Ok(()) } else { bail!("the server failed ({status})") }
    }
}

/// Keeps the settings and credentials of the user from a command.
pub fn without_settings(command: &mut Command) -> &mut Command {
    for name in ["AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN"] {
        command.env_remove(name);
    }
    command
        .env("AWS_CONFIG_FILE", "/dev/null")
        .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
        .env("AWS_EC2_METADATA_DISABLED", "true")
}

/// A server that is not ours. It ends with this value, and with this process however that ends.
pub struct Daemon {
    /// Dropped first: it would kill another process that gets the number.
    _guard: Running,
    child: Running,
}

impl Daemon {
    /// Starts a program and waits until it answers on a port: in HTTP, or with a connection where
    /// it speaks TLS.
    pub fn start(command: &mut Command, port: u16, is_secure: bool) -> Result<Self> {
        let child = command.stdin(Stdio::null()).spawn();
        let child = Running(child.with_context(|| format!("could not start {command:?}"))?);
        // Its standard input ends with this process, however that ends.
        let guard = Command::new("sh")
            .args(["-c", "read -r _; kill -9 \"$0\"", &child.0.id().to_string()])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("could not start a guard")?;
        let mut daemon = Self { _guard: Running(guard), child };
        daemon.wait_until(|| if is_secure { listens(port) } else { answers(port) })?;
        Ok(daemon)
    }

    fn wait_until(&mut self, is_ready: impl Fn() -> bool) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < START_MAX {
            if let Some(status) = self.child.0.try_wait()? {
                bail!("it ended ({status})");
            }
            if is_ready() {
                return Ok(());
            }
            sleep(POLL);
        }
        bail!("it does not answer")
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// versitygw on a port, with its data in `data` of a folder, and its certificate in `certs` where
/// it speaks TLS.
pub fn versitygw(
    program: &Path,
    port: u16,
    folder: &Path,
    [access_key, secret_key]: [&str; 2],
    is_secure: bool,
) -> Result<Command> {
    let [data, certs, sidecar] = subfolders(folder, ["data", "certs", "sidecar"])?;
    let mut command = Command::new(program);
    command.current_dir(folder).args(["--port", &format!("127.0.0.1:{port}")]);
    command.args(["--access", access_key, "--secret", secret_key]);
    if is_secure {
        command.arg("--cert").arg(certs.join("public.crt"));
        command.arg("--key").arg(certs.join("private.key"));
    }
    command.args(["--quiet", "posix"]);
    if !has_extended_attributes(folder) {
        command.arg("--sidecar").arg(sidecar);
    }
    command.arg(data);
    Ok(command)
}

/// `MinIO` in the same way. It speaks TLS where there is a certificate.
pub fn minio(
    program: &Path,
    port: u16,
    folder: &Path,
    [access_key, secret_key]: [&str; 2],
) -> Result<Command> {
    let [data, certs] = subfolders(folder, ["data", "certs"])?;
    let mut command = Command::new(program);
    command.current_dir(folder);
    command.env("MINIO_ROOT_USER", access_key).env("MINIO_ROOT_PASSWORD", secret_key);
    command.env("MINIO_UPDATE", "off").env("MINIO_BROWSER", "off");
    command.args(["server", "--quiet", "--anonymous"]);
    // Also without TLS: it would look for certificates in the home folder.
    command.args(["--address", &format!("127.0.0.1:{port}")]).arg("--certs-dir").arg(certs);
    command.arg(data);
    Ok(command)
}

fn subfolders<const N: usize>(folder: &Path, names: [&str; N]) -> Result<[PathBuf; N]> {
    let folders = names.map(|name| folder.join(name));
    for folder in &folders {
        fs::create_dir_all(folder)
            .with_context(|| format!("could not make `{}`", folder.display()))?;
    }
    Ok(folders)
}

/// An authority (`ca.pem`) and a certificate of it for this machine (`public.crt` and
/// `private.key`), by a script for the Python of the servers.
pub fn make_certificates(python: &Path, folder: &Path) -> Result<()> {
    let mut script = Command::new(python);
    script.args(["-c", include_str!("../certificates.py")]).arg(folder);
    process::run_quietly(&mut script).map(drop)
}

/// Whether files in a folder may have user attributes, which versitygw wants for its metadata.
fn has_extended_attributes(folder: &Path) -> bool {
    // Python's is the one tool for it that comes with everything else the tests use.
    let python = std::env::var_os("S3HAUL_TEST_PYTHON").unwrap_or_else(|| "python3".into());
    let script = "import os, sys; os.setxattr(sys.argv[1], 'user.probe', b'x')";
    let mut probe = Command::new(python);
    probe.args(["-c", script]).arg(folder).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

fn listens(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
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

/// A line of a running process's status, in KiB; 0 once it is gone.
pub fn status_kib(pid: u32, name: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}
