//! The servers: started on a port that stays theirs, killed, and started again with the same data.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;
use support::server::{self, Daemon, free_port};
use support::servers::Servers;

/// Another process may hold the port for a moment.
const ATTEMPTS: usize = 10;
const PAUSE: Duration = Duration::from_millis(100);

pub(super) const ACCESS_KEY: &str = "killed";
pub(super) const SECRET_KEY: &str = "killed-secret";

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// `s3haul serve DIR`.
    Embedded,
    /// Versity S3 Gateway on a folder.
    Versitygw,
    /// `MinIO` on a folder.
    Minio,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Versitygw => "versitygw",
            Self::Minio => "minio",
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
        match self {
            Self::Embedded => binary.to_owned(),
            Self::Versitygw | Self::Minio => Servers::locate().binary(self.name()),
        }
    }

    fn command(self, binary: &Path, port: u16, folder: &Path) -> Result<Command> {
        let (program, keys) = (self.program(binary), [ACCESS_KEY, SECRET_KEY]);
        match self {
            Self::Embedded => {
                let mut command = Command::new(program);
                command.args(["serve", "--address", &format!("127.0.0.1:{port}")]);
                command.current_dir(folder).arg(folder.join("data"));
                command.env("S3HAUL_SERVE_ACCESS_KEY", ACCESS_KEY);
                command.env("S3HAUL_SERVE_SECRET_KEY", SECRET_KEY);
                Ok(command)
            }
            Self::Versitygw => server::versitygw(&program, port, folder, keys, false),
            Self::Minio => server::minio(&program, port, folder, keys),
        }
    }
}

/// A server on a port.
pub(super) struct Server {
    kind: Kind,
    binary: PathBuf,
    folder: PathBuf,
    port: u16,
    running: Option<Daemon>,
}

impl Server {
    /// Starts a server on an empty folder.
    pub(super) fn start(kind: Kind, binary: &Path, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder.join("data"))?;
        let port = free_port()?;
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
            let path = self.folder.join("server.log");
            let log = File::options().create(true).append(true).open(path)?;
            let mut command = self.kind.command(&self.binary, self.port, &self.folder)?;
            command.stdout(log.try_clone()?).stderr(log);
            match Daemon::start(&mut command, self.port, false) {
                Ok(daemon) => {
                    self.running = Some(daemon);
                    return Ok(());
                }
                Err(error) => failure = Some(error),
            }
            sleep(PAUSE);
        }
        let log = fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
        let what = format!("{} does not start; it printed:\n{log}", self.kind.name());
        Err(failure
            .map_or_else(|| anyhow::anyhow!(what.clone()), |error| error.context(what.clone())))
    }
}
