//! Starts and stops the servers, and knows what each of them cannot do.
//!
//! A server listens on a port found free, and ends when its [`Server`] is dropped.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use support::server::{self, Daemon, free_port};
use tempfile::TempDir;

use crate::tools;

/// Another process may take a port between our finding it and the server's binding it.
const ATTEMPTS: usize = 4;

const ACCESS_KEY: &str = "conformance";
const SECRET_KEY: &str = "conformance-secret";

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `s3haul serve`, objects in memory.
    EmbeddedMemory,
    /// `s3haul serve DIR`.
    EmbeddedDisk,
    /// `s3haul serve --null`, which throws bytes away.
    EmbeddedNull,
    /// Versity S3 Gateway on a folder.
    Versitygw,
    /// MinIO on a folder.
    Minio,
    /// The gateway over TLS.
    VersitygwTls,
    /// MinIO over TLS.
    MinioTls,
    /// moto, in memory.
    Moto,
}

/// What a server does; cases ask before they assert.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// The key `x` beside `x/y`.
    pub(crate) key_beside_folder: bool,
    /// Empty segments in keys: `a//b`, `/a`.
    pub(crate) empty_segments: bool,
    /// `.` and `..` as segments of keys.
    pub(crate) dot_segments: bool,
    /// Control characters and U+FFFF in keys, listed as they are.
    pub(crate) control_characters: bool,
    /// Storage class that is stored and returned.
    pub(crate) storage_class: Option<&'static str>,
    /// Server-side encryption with the server's keys.
    pub(crate) encryption: bool,
    /// SHA-1, SHA-256, CRC32, CRC32C and CRC64NVME are stored and returned.
    pub(crate) checksums: bool,
    /// Access control lists of objects.
    pub(crate) acls: bool,
    /// A copy that replaces metadata removes the content headers that it does not have.
    pub(crate) removes_headers: bool,
    /// A wrong secret key is refused.
    pub(crate) signatures: bool,
    /// Its error code for an access key that it does not know.
    pub(crate) unknown_key_code: &'static str,
    /// Objects are files `BUCKET/KEY` in the data folder.
    pub(crate) plain_files: bool,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::EmbeddedMemory => "embedded (memory)",
            Self::EmbeddedDisk => "embedded (disk)",
            Self::EmbeddedNull => "embedded (null)",
            Self::Versitygw => "versitygw",
            Self::Minio => "MinIO",
            Self::VersitygwTls => "versitygw (TLS)",
            Self::MinioTls => "MinIO (TLS)",
            Self::Moto => "moto",
        }
    }

    fn is_secure(self) -> bool {
        matches!(self, Self::VersitygwTls | Self::MinioTls)
    }

    fn features(self) -> Features {
        let full = Features {
            key_beside_folder: true,
            empty_segments: true,
            dot_segments: true,
            control_characters: true,
            storage_class: Some("STANDARD_IA"),
            encryption: true,
            checksums: true,
            acls: true,
            removes_headers: true,
            signatures: true,
            unknown_key_code: "InvalidAccessKeyId",
            plain_files: self == Self::EmbeddedDisk,
        };
        match self {
            Self::EmbeddedMemory | Self::EmbeddedDisk | Self::EmbeddedNull => full,
            Self::Versitygw | Self::VersitygwTls => Features {
                key_beside_folder: false,
                empty_segments: false,
                dot_segments: false,
                control_characters: false,
                storage_class: None,
                encryption: false,
                acls: false,
                removes_headers: false,
                unknown_key_code: "XAdminUserNotFound",
                plain_files: true,
                ..full
            },
            Self::Minio | Self::MinioTls => Features {
                // It takes both and then lists only `x`.
                key_beside_folder: false,
                empty_segments: false,
                dot_segments: false,
                storage_class: Some("REDUCED_REDUNDANCY"),
                encryption: false,
                acls: false,
                ..full
            },
            Self::Moto => Features { checksums: false, signatures: false, ..full },
        }
    }

    fn program(self) -> PathBuf {
        let variable = match self {
            // Also where another command is under test, the embedded server is ours.
            Self::EmbeddedMemory | Self::EmbeddedDisk | Self::EmbeddedNull => {
                return env!("CARGO_BIN_EXE_s3haul").into();
            }
            Self::Versitygw | Self::VersitygwTls => "S3HAUL_TEST_VERSITYGW",
            Self::Minio | Self::MinioTls => "S3HAUL_TEST_MINIO",
            Self::Moto => "S3HAUL_TEST_PYTHON",
        };
        tools::find(variable).unwrap()
    }

    fn command(self, port: u16, folder: &Path) -> Command {
        let (program, keys) = (self.program(), [ACCESS_KEY, SECRET_KEY]);
        let mut command = Command::new(&program);
        match self {
            Self::EmbeddedMemory | Self::EmbeddedDisk | Self::EmbeddedNull => {
                command.args(["serve", "--address", &format!("127.0.0.1:{port}")]);
                command.env("S3HAUL_SERVE_ACCESS_KEY", ACCESS_KEY);
                command.env("S3HAUL_SERVE_SECRET_KEY", SECRET_KEY);
                match self {
                    Self::EmbeddedMemory => command.arg("--memory"),
                    Self::EmbeddedNull => command.arg("--null"),
                    _ => command.arg(folder.join("data")),
                };
            }
            Self::Versitygw | Self::VersitygwTls => {
                let gateway = server::versitygw(&program, port, folder, keys, self.is_secure());
                command = gateway.unwrap();
            }
            Self::Minio | Self::MinioTls => {
                command = server::minio(&program, port, folder, keys).unwrap();
            }
            Self::Moto => {
                command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
            }
        }
        command.env_remove("AWS_PROFILE").current_dir(folder);
        command
    }
}

/// A running server.
pub(crate) struct Server {
    /// For reports.
    pub(crate) name: &'static str,
    /// Endpoint.
    pub(crate) url: String,
    /// Credentials with all permissions.
    pub(crate) access_key: String,
    /// Secret of that.
    pub(crate) secret_key: String,
    /// What it does.
    pub(crate) features: Features,
    kind: Kind,
    process: Option<Daemon>,
    folder: TempDir,
}

impl Server {
    /// Starts a server and waits until it answers.
    pub(crate) fn start(kind: Kind) -> Result<Self, String> {
        let mut failure = String::new();
        for _ in 0..ATTEMPTS {
            match Self::attempt(kind) {
                Ok(server) => return Ok(server),
                Err(reason) => failure = reason,
            }
        }
        Err(format!("could not start {}: {failure}", kind.name()))
    }

    fn attempt(kind: Kind) -> Result<Self, String> {
        let folder = TempDir::new().map_err(|e| e.to_string())?;
        fs::create_dir(folder.path().join("data")).map_err(|e| e.to_string())?;
        Self::start_in(kind, folder)
    }

    fn start_in(kind: Kind, folder: TempDir) -> Result<Self, String> {
        fs::create_dir_all(folder.path().join("certs")).map_err(|e| e.to_string())?;
        if kind.is_secure() {
            let (python, certs) = (Kind::Moto.program(), folder.path().join("certs"));
            server::make_certificates(&python, &certs).map_err(|e| format!("{e:#}"))?;
        }
        let port = free_port().map_err(|e| e.to_string())?;
        let log = folder.path().join("server.log");
        let output = File::create(&log).map_err(|e| e.to_string())?;
        let errors = output.try_clone().map_err(|e| e.to_string())?;
        let mut command = kind.command(port, folder.path());
        command.stdout(output).stderr(errors);
        let process = Daemon::start(&mut command, port, kind.is_secure()).map_err(|reason| {
            format!("{reason:#}\n{}", fs::read_to_string(&log).unwrap_or_default())
        })?;
        Ok(Self {
            name: kind.name(),
            url: format!("{}://127.0.0.1:{port}", if kind.is_secure() { "https" } else { "http" }),
            access_key: ACCESS_KEY.to_owned(),
            secret_key: SECRET_KEY.to_owned(),
            features: kind.features(),
            kind,
            process: Some(process),
            folder,
        })
    }

    /// Which server it is.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// The certificate to trust, where it speaks TLS.
    pub(crate) fn authority(&self) -> Option<PathBuf> {
        self.kind.is_secure().then(|| self.folder.path().join("certs/ca.pem"))
    }

    /// The folder with its data.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Ends it as a crash would and starts it again with the same data, on another port.
    pub(crate) fn restart(mut self) -> Result<Self, String> {
        self.kill();
        Self::start_in(self.kind, self.folder)
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }
}
