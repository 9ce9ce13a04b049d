//! The servers: started on a port that stays theirs, killed, and started again with the same data.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use support::servers::Servers;

const START_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);
/// Another process may hold the port for a moment.
const ATTEMPTS: usize = 10;

pub(super) const ACCESS_KEY: &str = "killed";
pub(super) const SECRET_KEY: &str = "killed-secret";

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `s3haul serve DIR`.
    Embedded,
    /// Versity S3 Gateway on a folder.
    Versitygw,
}

impl Kind {
    pub(super) fn of(name: &str) -> Result<Self> {
        let known = [Self::Embedded, Self::Versitygw];
        let found = known.into_iter().find(|kind| kind.name() == name);
        found.with_context(|| format!("the servers are embedded and versitygw, not `{name}`"))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Versitygw => "versitygw",
        }
    }

    /// What names of objects have that the server itself has left behind: versitygw 1.8.0 replaces
    /// an object by way of a file beside it, and lists that as an object when it was killed before
    /// the rename.
    pub(super) fn leftover_mark(self) -> Option<&'static str> {
        (self == Self::Versitygw).then_some(".sgwtmp.")
    }

    pub(super) fn is_installed(self, binary: &Path) -> bool {
        self.program(binary).exists()
    }

    fn program(self, binary: &Path) -> PathBuf {
        let [(_, versitygw), ..] = Servers::locate().test_variables();
        match self {
            Self::Embedded => binary.to_owned(),
            Self::Versitygw => versitygw,
        }
    }

    fn command(self, binary: &Path, port: u16, folder: &Path) -> Command {
        let address = format!("127.0.0.1:{port}");
        let mut command = Command::new(self.program(binary));
        command.current_dir(folder);
        let data = folder.join("server");
        match self {
            Self::Embedded => {
                command.args(["serve", "--address", &address]).arg(data);
                command.env("S3HAUL_SERVE_ACCESS_KEY", ACCESS_KEY);
                command.env("S3HAUL_SERVE_SECRET_KEY", SECRET_KEY);
            }
            Self::Versitygw => {
                command.args(["--port", &address, "--access", ACCESS_KEY, "--secret", SECRET_KEY]);
                command.args(["--quiet", "posix"]);
                if !has_extended_attributes(folder) {
                    command.arg("--sidecar").arg(folder.join("sidecar"));
                }
                command.arg(data);
            }
        }
        command
    }
}

/// Whether files in a folder may have user attributes, which versitygw wants for its metadata.
fn has_extended_attributes(folder: &Path) -> bool {
    let script = "import os, sys; os.setxattr(sys.argv[1], 'user.probe', b'x')";
    let mut python = Command::new("python3");
    python.args(["-c", script]).arg(folder).stderr(Stdio::null());
    python.status().is_ok_and(|status| status.success())
}

/// A server on a port.
pub(super) struct Server {
    kind: Kind,
    binary: PathBuf,
    folder: PathBuf,
    port: u16,
    running: Option<Process>,
}

impl Server {
    /// Starts a server on an empty folder.
    pub(super) fn start(kind: Kind, binary: &Path, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder.join("server"))?;
        fs::create_dir_all(folder.join("sidecar"))?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let (binary, folder) = (binary.to_owned(), folder.to_owned());
        let mut server = Self { kind, binary, folder, port, running: None };
        server.restart()?;
        Ok(server)
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Ends it at once, as a crash would.
    pub(super) fn kill(&mut self) {
        self.running = None;
    }

    /// Starts it with the data and on the port that it had, and waits until it answers.
    pub(super) fn restart(&mut self) -> Result<()> {
        let mut failure = None;
        for _ in 0..ATTEMPTS {
            let command = self.kind.command(&self.binary, self.port, &self.folder);
            let mut process = Process::start(command, &self.folder.join("server.log"))?;
            match process.wait_until_ready(self.port) {
                Ok(()) => {
                    self.running = Some(process);
                    return Ok(());
                }
                Err(error) => failure = Some(error),
            }
            sleep(POLL * 20);
        }
        let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
        let what = format!("{} does not start; it printed:\n{log}", self.kind.name());
        Err(failure
            .map_or_else(|| anyhow::anyhow!(what.clone()), |error| error.context(what.clone())))
    }
}

/// A child process and the guard that ends it when this process is gone.
struct Process {
    child: Child,
    guard: Child,
}

impl Process {
    fn start(mut command: Command, log: &Path) -> Result<Self> {
        let output = File::options().create(true).append(true).open(log)?;
        let errors = output.try_clone()?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let child = command.spawn().with_context(|| format!("could not start {command:?}"))?;
        // Its standard input ends with this process, however that ends.
        let guard = Command::new("sh")
            .args(["-c", "read -r _; kill -9 \"$0\"", &child.id().to_string()])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, guard })
    }

    fn wait_until_ready(&mut self, port: u16) -> Result<()> {
        let deadline = Instant::now() + START_MAX;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended ({status})");
            }
            if answers(port) {
                return Ok(());
            }
            sleep(POLL);
        }
        bail!("it does not answer")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The guard first: it would kill who else gets the number.
        let _ = self.guard.kill();
        let _ = self.guard.wait();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether something there speaks HTTP.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { return false };
    let _ = stream.set_read_timeout(Some(ANSWER_MAX));
    let request = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut answer = [0; 9];
    let complete =
        stream.write_all(request.as_bytes()).and_then(|()| stream.read_exact(&mut answer));
    complete.is_ok() && answer.starts_with(b"HTTP/1.1 ")
}
