//! Malicious clients and prepared stores.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::os::unix::fs::symlink;
use std::time::Duration;

use s3haul_sim::{Sim, SimServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;

fn serve(sim: Sim, room: usize) -> (DuplexStream, JoinHandle<()>) {
    let (near, far) = tokio::io::duplex(room);
    (near, tokio::spawn(async move { sim.serve_connection(far).await }))
}

/// What a whole request on a connection of its own is answered.
async fn ask(sim: &Sim, request: &str) -> String {
    let (mut near, serving) = serve(sim.clone(), 1 << 20);
    near.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    near.read_to_end(&mut answer).await.unwrap();
    serving.await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn put(sim: &Sim, path: &str, body: &str) -> String {
    let length = body.len();
    let head = format!("PUT {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n");
    ask(sim, &format!("{head}content-length: {length}\r\n\r\n{body}")).await
}

async fn get(sim: &Sim, path: &str) -> String {
    ask(sim, &format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await
}

/// A byte now and then keeps nothing open, however often it comes.
#[tokio::test(start_paused = true)]
async fn a_connection_that_dribbles_a_body_is_closed() {
    let sim = SimServer::builder().allow_anonymous(true).bucket("bbb").build().unwrap();
    let (mut near, serving) = serve(sim.clone(), 64 * 1024);
    let start = Instant::now();
    let head = b"PUT /bbb/k HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n";
    near.write_all(head).await.unwrap();
    while near.write_all(b"x").await.is_ok() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(start.elapsed() < Duration::from_mins(2));
    }
    serving.await.unwrap();
    assert!(get(&sim, "/bbb/k").await.starts_with("HTTP/1.1 404"));
}

/// Slow, but not a drop: 100 bytes a second may take as long as they take.
#[tokio::test(start_paused = true)]
async fn a_slow_body_arrives() {
    let sim = SimServer::builder().allow_anonymous(true).bucket("bbb").build().unwrap();
    let (mut near, serving) = serve(sim.clone(), 64 * 1024);
    let head = b"PUT /bbb/k HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 60000\r\n";
    near.write_all(head).await.unwrap();
    near.write_all(b"\r\n").await.unwrap();
    for _ in 0..600 {
        near.write_all(&[b'x'; 100]).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let mut answer = String::new();
    near.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    serving.await.unwrap();
}

/// Endless requests whose answers are never read.
#[tokio::test(start_paused = true)]
async fn a_connection_that_reads_no_answers_is_closed() {
    let sim = SimServer::builder().build().unwrap();
    let (mut near, serving) = serve(sim, 4096);
    let start = Instant::now();
    let ask =
        async { while near.write_all(b"GET /bbb/k HTTP/1.1\r\nhost: x\r\n\r\n").await.is_ok() {} };
    let ended = tokio::time::timeout(Duration::from_mins(10), ask).await;
    assert!(ended.is_ok(), "it still waits");
    serving.await.unwrap();
    assert!(start.elapsed() >= Duration::from_mins(5), "it had its time");
}

#[tokio::test]
async fn a_form_of_a_browser_is_not_taken() {
    let sim = SimServer::builder().allow_anonymous(true).bucket("bbb").build().unwrap();
    for kind in ["multipart/form-data; boundary=b", " Multipart/Form-Data;boundary=b"] {
        let head = "POST /bbb HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
        let body = "--b\r\ncontent-disposition: form-data; name=\"key\"\r\n\r\nk\r\n--b--\r\n";
        let length = body.len();
        let rest = format!("content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}");
        let answer = ask(&sim, &format!("{head}{rest}")).await;
        assert!(answer.starts_with("HTTP/1.1 501"), "{answer}");
    }
}

/// Links in the folder that is served lead nowhere: neither are files behind them shown, nor are
/// objects written through them.
#[tokio::test]
async fn links_in_a_store_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    std::fs::create_dir_all(root.join("bbb")).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "outside").unwrap();
    symlink(&outside, root.join("bbb/link")).unwrap();
    symlink(outside.join("secret"), root.join("bbb/file")).unwrap();
    let start = || SimServer::builder().allow_anonymous(true).disk(&root).bucket("bbb").build();
    let sim = start().unwrap();
    assert!(get(&sim, "/bbb/link/secret").await.starts_with("HTTP/1.1 404"));
    assert!(get(&sim, "/bbb/file").await.starts_with("HTTP/1.1 404"));
    for key in ["link/new", "link/deep/new", "link/secret", "file", "../up", "%2e%2e/%2e%2e/up"] {
        let answer = put(&sim, &format!("/bbb/{key}"), "inside!").await;
        let body = get(&sim, &format!("/bbb/{key}")).await;
        let is_kept = answer.starts_with("HTTP/1.1 200") && body.ends_with("inside!");
        assert!(is_kept || answer.starts_with("HTTP/1.1 400"), "{key}: {answer} {body}");
    }
    let names: Vec<_> =
        std::fs::read_dir(&outside).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["secret"]);
    assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "outside");
    assert!(!folder.path().join("up").exists() && !root.join("up").exists());
    drop(sim);
    // They are found again, and a file that became a link since is not.
    put(&start().unwrap(), "/bbb/plain", "outside").await;
    std::fs::remove_file(root.join("bbb/plain")).unwrap();
    symlink(outside.join("secret"), root.join("bbb/plain")).unwrap();
    let sim = start().unwrap();
    assert!(get(&sim, "/bbb/link/new").await.ends_with("inside!"));
    assert!(get(&sim, "/bbb/plain").await.starts_with("HTTP/1.1 404"));
}

/// Metadata that names a file elsewhere: a store may come from an untrusted source.
#[tokio::test]
async fn metadata_cannot_lead_out_of_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::write(folder.path().join("secret"), "outside").unwrap();
    let start = || SimServer::builder().allow_anonymous(true).disk(&root).bucket("bbb").build();
    put(&start().unwrap(), "/bbb/k", "inside!").await;
    let sidecar = root.join(".s3haul/meta/bbb/k.json");
    let text = std::fs::read_to_string(&sidecar).unwrap();
    let absolute = folder.path().join("secret");
    for path in ["../secret", "bbb/../../secret", absolute.to_str().unwrap()] {
        assert!(text.contains("\"bbb/k\""), "{text}");
        std::fs::write(&sidecar, text.replace("\"bbb/k\"", &format!("{path:?}"))).unwrap();
        let answer = get(&start().unwrap(), "/bbb/k").await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
}

/// Times that no header can show. They may lie beyond the last that the server's types know.
#[tokio::test]
async fn times_beyond_all_years_do_not_stop_answers() {
    let builder = SimServer::builder().allow_anonymous(true).bucket("bbb");
    let sim = builder.limits(|limits| limits.restore_time = Duration::ZERO).build().unwrap();
    let head = "HTTP/1.1\r\nhost: x\r\nconnection: close";
    let archived = format!(
        "PUT /bbb/k {head}\r\nx-amz-storage-class: GLACIER\r\n\
         expires: Fri, 31 Dec 9999 23:59:59 GMT\r\ncontent-length: 4\r\n\r\ndata"
    );
    assert!(ask(&sim, &archived).await.starts_with("HTTP/1.1 200"));
    let body = format!("<RestoreRequest><Days>{}</Days></RestoreRequest>", i32::MAX);
    let length = body.len();
    let restore = format!("POST /bbb/k?restore {head}\r\ncontent-length: {length}\r\n\r\n{body}");
    let answer = ask(&sim, &restore).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let answer = get(&sim, "/bbb/k").await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("data"), "{answer}");
    assert!(answer.contains("expiry-date=\"Fri, 31 Dec 9999 23:59:59 GMT\""), "{answer}");
}
