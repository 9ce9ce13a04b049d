//! `services`: writes the matrix of services from what `check-server` finds.

use anyhow::Result;
use support::servers::{self, Servers};
use support::{process, term};

/// Checks the servers that are installed, and another service. Writes docs/services and the tables
/// of docs/services.md.
pub(crate) fn run(added: Option<&str>) -> Result<()> {
    servers::run()?;
    term::heading("services: what check-server finds, into docs/services.md");
    let test = ["test", "-q", "--workspace", "--test", "conformance", "page_of_services"];
    let mut cargo = process::cargo(&test);
    cargo.envs(Servers::locate().test_variables()).env("S3HAUL_TEST_BLESS", "1");
    if let Some(service) = added {
        cargo.env("S3HAUL_TEST_SERVICE", service);
    }
    process::run(&mut cargo)
}
