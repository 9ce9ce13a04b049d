//! Answers scrapes: `GET /metrics`, and nothing else.
//!
//! Clients are not trusted: requests have a time limit and a size limit, few connections are open
//! at a time, and only the path of a request is looked at.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Connections at a time; others wait in the queue of the system.
const CONNECTIONS_MAX: usize = 16;
/// Longest time for a request and its answer.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(30);
/// Longest time until a request has come: connections that send none hold up a scrape for less
/// than Prometheus waits, which is 10 s by default.
const HEADER_TIME_MAX: Duration = Duration::from_secs(2);
/// Longest head of a request.
const HEADER_BYTES_MAX: usize = 16 * 1024;
/// Time before accepting is tried again, where the system has no room for a connection.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Type of the answer.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Makes the text of an answer.
pub(super) type Render = Arc<dyn Fn() -> Vec<u8> + Send + Sync>;

/// Answers until it is dropped.
pub(super) async fn serve(listener: TcpListener, render: Render) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => _ = connections.spawn(answer(stream, Arc::clone(&render))),
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// One request on a connection, which is then closed.
async fn answer(stream: TcpStream, render: Render) {
    let service = service_fn(move |request| {
        let response = respond(&request, &render);
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // The client sees a broken connection; there is nothing to report here.
    _ = timeout(CONNECTION_TIME_MAX, connection).await;
}

fn respond(request: &Request<Incoming>, render: &Render) -> Response<Full<Bytes>> {
    let is_read = request.method() == Method::GET || request.method() == Method::HEAD;
    let (status, text) = match request.uri().path() {
        _ if !is_read => (StatusCode::METHOD_NOT_ALLOWED, b"only GET is answered\n".to_vec()),
        "/metrics" => (StatusCode::OK, render()),
        _ => (StatusCode::NOT_FOUND, b"metrics are at /metrics\n".to_vec()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
    response
}
