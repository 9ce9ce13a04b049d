//! The server under boto3, a client by other people: the programs of `boto3/` against each store.
//! Each names its checks and reports every one that fails.

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

/// Runs a program against a server; what follows its name are further arguments.
async fn run(program: &str, server: RunningServer) {
    let Some(python) = python() else { return };
    let mut words: std::collections::VecDeque<_> = program.split(' ').map(str::to_owned).collect();
    let program = words.pop_front().unwrap();
    let script = format!("{}/tests/boto3/{program}.py", env!("CARGO_MANIFEST_DIR"));
    let endpoint = server.endpoint_url();
    let run = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(python);
        command.args(["-B", &script, &endpoint, DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY]);
        command.args(words);
        command.env("AWS_EC2_METADATA_DISABLED", "true").output()
    });
    let output = run.await.unwrap().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", server.endpoint_url());
    assert!(out.ends_with("all checks passed\n"), "{out}");
    assert_eq!(server.ledger().in_flight(), 0);
    server.shutdown().await;
}

async fn run_in_memory(program: &str) {
    run(program, SimServer::builder().start().await.unwrap()).await;
}

async fn run_on_disk(program: &str) {
    let root = tempfile::tempdir().unwrap();
    run(program, SimServer::builder().disk(root.path()).start().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_in_memory() {
    run_in_memory("drive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operations_on_disk() {
    run_on_disk("drive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behaviours_in_memory() {
    run_in_memory("behaviours").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behaviours_on_disk() {
    run_on_disk("behaviours").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_uploads_and_customer_keys_outlive_a_restart() {
    let root = tempfile::tempdir().unwrap();
    for program in ["restart first", "restart second", "restart third"] {
        run(program, SimServer::builder().disk(root.path()).start().await.unwrap()).await;
    }
    if python().is_some() {
        for folder in ["tmp", "blobs", "meta", "buckets", "uploads"] {
            let left: Vec<_> =
                std::fs::read_dir(root.path().join(".s3haul").join(folder)).unwrap().collect();
            assert!(left.is_empty(), "{folder}: {left:?}");
        }
    }
}
