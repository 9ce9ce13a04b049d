//! Random weather, seen through a client that only knows HTTP, with the clock paused.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use s3haul_sim::{Scenario, Sim, SimServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, timeout};

fn sim(scenario: &str) -> Sim {
    let builder = SimServer::builder().allow_anonymous(true).bucket("bbb").virtual_clock(true);
    builder.scenario(Scenario::parse(scenario).unwrap()).build().unwrap()
}

fn connect(sim: &Sim) -> DuplexStream {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let sim = sim.clone();
    tokio::spawn(async move { sim.serve_connection(far).await });
    near
}

/// Sends a request and gives all that comes back until the connection ends.
async fn ask(sim: &Sim, line: &str, body: &str) -> String {
    let mut io = connect(sim);
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    let (mut reader, mut writer) = tokio::io::split(&mut io);
    let send = async {
        writer.write_all(head.as_bytes()).await.unwrap();
        // A server that resets does not read all.
        _ = writer.write_all(body.as_bytes()).await;
    };
    let mut answer = Vec::new();
    let (_, ()) = tokio::join!(reader.read_to_end(&mut answer), send);
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(start_paused = true)]
async fn bandwidth_is_that_of_a_connection_and_of_all() {
    let sim =
        sim(r#"{"bandwidth": {"connection_bytes_per_s": 10000, "total_bytes_per_s": 20000}}"#);
    let body = "x".repeat(100_000);
    let begin = Instant::now();
    assert!(ask(&sim, "PUT /bbb/k", &body).await.starts_with("HTTP/1.1 200"));
    assert!((9.9..10.5).contains(&begin.elapsed().as_secs_f64()), "{:?}", begin.elapsed());
    let begin = Instant::now();
    let four = std::array::from_fn::<_, 4, _>(|_| Box::pin(ask(&sim, "GET /bbb/k", "")));
    let [a, b, c, d] = four;
    let answers = tokio::join!(a, b, c, d);
    assert!(answers.0.ends_with(&body) && answers.3.ends_with(&body));
    assert!((19.9..21.0).contains(&begin.elapsed().as_secs_f64()), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn answers_pause_and_are_whole() {
    let pauses = r#"{"in_a_row_max": 9, "faults": [{"fault": "KIND", "requests": ["GetObject"],
        "probability": 1, "bytes_max": 50000, "pause_ms_max": 60000}]}"#;
    for kind in ["slow_first_byte", "pause_body"] {
        let sim = sim(&pauses.replace("KIND", kind));
        let body = "0123456789".repeat(10_000);
        ask(&sim, "PUT /bbb/k", &body).await;
        let begin = Instant::now();
        assert!(ask(&sim, "GET /bbb/k", "").await.ends_with(&body), "{kind}");
        assert!(begin.elapsed() > Duration::from_millis(100), "{kind} {:?}", begin.elapsed());
        assert_eq!(sim.weather().struck(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reset_within_a_request_leaves_the_object_as_it_was() {
    let sim =
        sim(r#"{"in_a_row_max": 1, "faults": [{"fault": "reset_request", "probability": 1}]}"#);
    let body = "x".repeat(300_000);
    assert_eq!(ask(&sim, "PUT /bbb/k", &body).await, "");
    sim.weather().set_scenario(None);
    assert!(ask(&sim, "GET /bbb/k", "").await.starts_with("HTTP/1.1 404"));
}

#[tokio::test(start_paused = true)]
async fn idle_connections_are_closed_and_continue_is_withheld() {
    let sim = sim(r#"{"idle_close_ms": 700, "no_continue": 1}"#);
    let mut io = connect(&sim);
    let head =
        "PUT /bbb/k HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";
    io.write_all(head.as_bytes()).await.unwrap();
    let mut bytes = [0; 1024];
    assert!(timeout(Duration::from_secs(5), io.read(&mut bytes)).await.is_err());
    io.write_all(b"hello").await.unwrap();
    let length = io.read(&mut bytes).await.unwrap();
    assert!(bytes[..length].starts_with(b"HTTP/1.1 200"));
    let begin = Instant::now();
    assert_eq!(io.read(&mut bytes).await.unwrap(), 0);
    assert!((600..900).contains(&begin.elapsed().as_millis()), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn odd_pages_say_the_same_together() {
    let sim = sim(r#"{"listing": {"empty_page": 0.3, "short_page": 0.7, "repeated_key": 0.3}}"#);
    let keys: Vec<_> = (0..60).map(|n| format!("k{n:02}")).collect();
    for key in &keys {
        ask(&sim, &format!("PUT /bbb/{key}"), "").await;
    }
    let (mut found, mut pages, mut token) = (Vec::new(), 0, String::new());
    loop {
        let answer = ask(&sim, &format!("GET /bbb?list-type=2&max-keys=10{token}"), "").await;
        let texts = |name: &str| -> Vec<String> {
            let opening = format!("<{name}>");
            let pieces = answer.split(&opening).skip(1);
            pieces.map(|piece| piece.split('<').next().unwrap().to_owned()).collect()
        };
        found.extend(texts("Key"));
        pages += 1;
        match texts("NextContinuationToken").first() {
            Some(next) => token = format!("&continuation-token={next}"),
            None => break,
        }
    }
    assert!(pages > 9 && found.len() > 60, "{pages} {}", found.len());
    assert!(found.is_sorted());
    found.dedup();
    assert_eq!(found, keys);
}
