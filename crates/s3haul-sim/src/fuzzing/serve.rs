//! The whole server, given whatever a client may send.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{SimServer, StoreKind};

/// Bytes of answers that are looked at.
const ANSWERS_MAX: u64 = 1 << 20;

/// Bytes as they come over a connection, to a server that serves everybody. What it answers is
/// HTTP, and none of it is an internal error.
///
/// # Panics
///
/// Where it is, or where the server panics.
pub fn serve(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let answers = runtime.expect("a runtime can be made").block_on(answers_to(data.to_vec()));
    if answers.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(&answers);
    assert!(text.starts_with("HTTP/1."), "{text}");
    let mut heads = text.split("HTTP/1.1 ").skip(1);
    // What an object holds may begin like a head, so only the first is one for sure.
    let status = heads.next().and_then(|head| head.get(..3)).unwrap_or("000");
    assert_ne!(status, "500", "{text}");
}

async fn answers_to(data: Vec<u8>) -> Vec<u8> {
    let builder = SimServer::builder().allow_anonymous(true).bucket("b").store(StoreKind::Memory);
    let sim = builder
        .limits(|limits| limits.body_timeout = std::time::Duration::from_millis(50))
        .build()
        .expect("a server in memory can be made");
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (mut reader, mut writer) = tokio::io::split(near);
    let client = async {
        // The server may hang up before it has read everything.
        let _ = writer.write_all(&data).await;
        let _ = writer.shutdown().await;
    };
    let mut answers = Vec::new();
    let answered = async {
        let _ = (&mut reader).take(ANSWERS_MAX).read_to_end(&mut answers).await;
    };
    tokio::join!(client, answered, sim.serve_connection(far));
    answers
}
