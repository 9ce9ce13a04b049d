//! The server under boto3, a client by other people: `boto3/drive.py` against each store.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;
use std::process::Command;

use s3haul_sim::{DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY, RunningServer, SimServer};

/// Python with boto3, from `S3HAUL_TEST_PYTHON` or the path.
fn python() -> Option<String> {
    let python = std::env::var("S3HAUL_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let imported = Command::new(&python).args(["-c", "import boto3"]).output();
    if imported.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    // Straight to the descriptor: the test harness swallows what `eprintln!` says.
    let mut stderr = std::io::stderr();
    writeln!(
        stderr,
        "SKIPPED: `{python}` cannot import boto3; set S3HAUL_TEST_PYTHON to one that can"
    )
    .unwrap();
    None
}

async fn drive(server: RunningServer) {
    let Some(python) = python() else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/boto3/drive.py");
    let endpoint = server.endpoint_url();
    let run = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(python);
        command.args([script, &endpoint, DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY]);
        command.env("AWS_EC2_METADATA_DISABLED", "true").output()
    });
    let output = run.await.unwrap().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", server.endpoint_url());
    assert!(out.ends_with("all tests passed\n"), "{out}");
    assert_eq!(server.ledger().in_flight(), 0);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_store() {
    drive(SimServer::builder().start().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disk_store() {
    let root = tempfile::tempdir().unwrap();
    drive(SimServer::builder().disk(root.path()).start().await.unwrap()).await;
}
