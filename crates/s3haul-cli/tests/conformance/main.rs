//! One conformance suite, written once, run on every server.
//!
//! Each server gets one test that starts it, runs all cases through the real `s3haul` binary
//! (each in its own bucket and folder), prints what the server cannot do and which cases were
//! skipped for it, and fails with the names and messages of all cases that failed. `embedded` is
//! the binary's own `serve`; the other servers come from `cargo xtask servers`, which `cargo xtask
//! test` names by these variables:
//!
//! | variable | meaning |
//! |---|---|
//! | `S3HAUL_TEST_VERSITYGW` | versitygw's binary; without it that server is skipped |
//! | `S3HAUL_TEST_MINIO` | MinIO's binary |
//! | `S3HAUL_TEST_PYTHON` | a Python with boto3, `duckdb` and moto |
//! | `S3HAUL_TEST_AWS` | the `aws` command (version 1, from PyPI) |
//! | `S3HAUL_TEST_CASE` | run only cases with this in their name |
//! | `S3HAUL_TEST_SEQUENCES` | random sequences of commands next to `aws`, 100 |
//! | `S3HAUL_TEST_SEED` | the first seed of these and of the configuration files, 20261121 |
//! | `S3HAUL_TEST_BLESS` | write the matrix of services (`cargo xtask services`) |
//! | `S3HAUL_TEST_SUBJECT` | run this command in place of `s3haul`, to try a case on a peer |
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test prints its report")]

mod cases;
mod command;
mod harness;
mod remote;
mod servers;
mod services;
mod times;
mod tools;
mod trees;

use cases::{all, differential, embedded_only, moto_only, peers_only, secure};
use harness::run_suite;
use servers::{Kind, Server};

#[test]
fn embedded_memory() {
    let server = Server::start(Kind::EmbeddedMemory).unwrap();
    run_suite(&server, &all());
}

#[test]
fn embedded_disk() {
    let server = Server::start(Kind::EmbeddedDisk).unwrap();
    run_suite(&server, &[all(), embedded_only()].concat());
}

#[test]
fn versitygw() {
    if tools::path("S3HAUL_TEST_VERSITYGW").is_some() {
        run_suite(&Server::start(Kind::Versitygw).unwrap(), &all());
    }
}

#[test]
fn minio() {
    if tools::path("S3HAUL_TEST_MINIO").is_some() {
        run_suite(&Server::start(Kind::Minio).unwrap(), &all());
    }
}

/// The rows of docs/services.md.
#[test]
fn the_page_of_services_says_what_they_do() {
    services::check();
}

/// Random commands through the real `aws` and through the command under test.
#[test]
fn versitygw_differential() {
    let found = tools::path("S3HAUL_TEST_PYTHON").is_some();
    if tools::path("S3HAUL_TEST_VERSITYGW").is_some() && found {
        run_suite(&Server::start(Kind::Versitygw).unwrap(), &differential());
    }
}

/// The same on MinIO.
#[test]
fn minio_differential() {
    let found = tools::path("S3HAUL_TEST_PYTHON").is_some();
    if tools::path("S3HAUL_TEST_MINIO").is_some() && found {
        run_suite(&Server::start(Kind::Minio).unwrap(), &differential());
    }
}

/// Which files and objects `sync` takes, by times to the millisecond.
#[test]
fn sync_compares_times_as_aws_does() {
    times::decisions_are_those_of_aws();
}

/// Over TLS, where bodies are not signed: a server that does not know us.
#[test]
fn versitygw_tls() {
    let found = tools::path("S3HAUL_TEST_PYTHON").is_some();
    if tools::path("S3HAUL_TEST_VERSITYGW").is_some() && found {
        run_suite(&Server::start(Kind::VersitygwTls).unwrap(), &secure());
    }
}

/// The same on MinIO.
#[test]
fn minio_tls() {
    let found = tools::path("S3HAUL_TEST_PYTHON").is_some();
    if tools::path("S3HAUL_TEST_MINIO").is_some() && found {
        run_suite(&Server::start(Kind::MinioTls).unwrap(), &secure());
    }
}

/// What only moto models (archive storage classes and their restore status, KMS key ids, canned
/// ACLs and grants, website redirects, request payer), and what it answers in its own way.
#[test]
fn moto() {
    if tools::path("S3HAUL_TEST_PYTHON").is_some() {
        run_suite(&Server::start(Kind::Moto).unwrap(), &moto_only());
    }
}

/// The other way round: clients that we did not write drive the embedded server.
#[test]
fn peers() {
    let found = tools::path("S3HAUL_TEST_PYTHON").is_some();
    if tools::path("S3HAUL_TEST_AWS").is_some() && found {
        run_suite(&Server::start(Kind::EmbeddedDisk).unwrap(), &peers_only());
    }
}

/// Generated configuration files and environments: what botocore finds in them, `presign` signs
/// with.
#[test]
fn configuration_files_are_read_as_botocore_reads_them() {
    let Some(python) = tools::path("S3HAUL_TEST_PYTHON") else { return };
    let output = std::process::Command::new(python)
        .args(["-c", include_str!("peers/config_files.py")])
        .env("TEST_SUBJECT", tools::subject())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// Roles that ask for an MFA code, in terminals: `aws` takes the session of the command, and the
/// other way round.
#[test]
fn sessions_with_a_code_are_shared_with_aws() {
    let Some(python) = tools::path("S3HAUL_TEST_PYTHON") else { return };
    let Some(aws) = tools::path("S3HAUL_TEST_AWS") else { return };
    let output = std::process::Command::new(python)
        .args(["-c", include_str!("peers/sessions.py")])
        .env("TEST_SUBJECT", tools::subject())
        .env("TEST_AWS", aws)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
