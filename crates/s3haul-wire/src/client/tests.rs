//! The client against a scripted server, on paused time.

mod secrets;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use super::Client;
use crate::config::{CredentialsConfig, RetryConfig};
use crate::env::Env;
use crate::error::ErrorKind;
use crate::message::payload::{Payload, SendProgress};
use crate::message::request::Expects;
use crate::message::request::{Operation, Request};
use crate::testing::{PausedClock, Reply, World, client, client_with, config, get, put, request};

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_reused_and_requests_are_complete() {
    let world = World::new(|_| Reply::ok("hello"));
    let client = client(&world);
    for _ in 0..5 {
        let answer = is_send(client.call(&get())).await.unwrap();
        assert_eq!(&answer.body[..], b"hello");
    }
    client.call(&put(b"12345")).await.unwrap();
    assert_eq!(world.connections(), 1);
    let seen = world.seen();
    assert_eq!(seen[0].line(), "GET /bucket/key HTTP/1.1");
    assert_eq!(seen[0].header("host"), Some("store.test"));
    assert_eq!(seen[0].header("content-length"), None);
    assert_eq!(seen[5].header("content-length"), Some("5"));
    assert_eq!(seen[5].body, b"12345");
    assert_eq!(client.inner.pool.open_connections(), 1);
}

#[tokio::test(start_paused = true)]
async fn head_answers_have_a_length_but_no_body() {
    let world = World::new(|_| {
        Reply::raw(
            "HTTP/1.1 200 OK\r\netag: e\r\nx-amz-request-id: 1\r\ncontent-length: 77\r\n\r\n",
        )
    });
    let client = client(&world);
    for _ in 0..2 {
        let answer = client.call(&request(Method::HEAD, "key")).await.unwrap();
        assert_eq!(answer.headers["content-length"], "77");
    }
    assert_eq!(world.connections(), 1);
}

#[tokio::test(start_paused = true)]
async fn idle_connections_are_not_reused_for_long() {
    let world = World::new(|_| Reply::ok(""));
    let client = client(&world);
    client.call(&get()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    client.call(&get()).await.unwrap();
    assert_eq!(world.connections(), 2);
    assert_eq!(client.inner.pool.open_connections(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_reused_connection_that_dies_costs_no_attempt() {
    let world = World::new(|seen| match seen.number {
        1 => Reply::raw("").closing(),
        _ => Reply::ok(""),
    });
    let config = crate::config::ClientConfig {
        retry: RetryConfig { max_attempts: 1, ..RetryConfig::default() },
        ..config()
    };
    let client = client_with(&world, config);
    client.call(&get()).await.unwrap();
    client.call(&get()).await.unwrap();
    assert_eq!((world.connections(), world.seen().len()), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn throttles_are_tried_again_after_a_while() {
    let world = World::new(|seen| match seen.number {
        0 => Reply::error(503, "SlowDown"),
        1 => Reply::status(503, "x-amz-retry-after: 7000\r\n", ""),
        2 => Reply::status(503, "retry-after: 3\r\n", ""),
        3 => Reply::error(500, "InternalError"),
        _ => Reply::ok("done"),
    });
    let start = Instant::now();
    let answer = client(&world).call(&put(b"x")).await.unwrap();
    assert_eq!(&answer.body[..], b"done");
    assert!(start.elapsed() >= Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(world.seen().iter().all(|seen| seen.body == b"x"));
}

#[tokio::test(start_paused = true)]
async fn the_final_error_lists_the_attempts() {
    let world = World::new(|_| Reply::status(503, "x-amz-request-id: R1\r\n", ""));
    let config = crate::config::ClientConfig {
        retry: RetryConfig { max_attempts: 3, ..RetryConfig::default() },
        ..config()
    };
    let error = client_with(&world, config).call(&get()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Throttled);
    assert_eq!(error.effort().attempts, 3);
    assert_eq!(error.subject(), Some("s3://bucket/key"));
    assert_eq!(error.service_error().unwrap().request_id, "R1");
    let text = error.to_string();
    let start = "An error occurred (503) when calling the TestObject operation \
                 (reached max retries: 2): Service Unavailable";
    assert!(text.starts_with(start), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_was_never_reached_is_given_up_soon() {
    let world = World::new(|_| Reply::ok("").closing());
    let refused = world.addresses.lock().unwrap().clone();
    *world.refused.lock().unwrap() = refused;
    let fresh = client(&world);
    let started = tokio::time::Instant::now();
    let error = fresh.call(&get()).await.unwrap_err();
    assert_eq!((error.kind(), error.effort().attempts), (ErrorKind::Transport, 3));
    assert!(started.elapsed() < Duration::from_secs(4));
    let text = error.to_string();
    let start = "Could not connect to the endpoint URL: \"http://store.test/\"";
    assert!(text.starts_with(start) && text.contains("(gave up after 3 attempts in "), "{text}");

    // One that answered before may be restarting.
    world.refused.lock().unwrap().clear();
    fresh.call(&get()).await.unwrap();
    world.refused.lock().unwrap().extend(world.addresses.lock().unwrap().iter());
    let error = fresh.call(&get()).await.unwrap_err();
    assert_eq!(error.effort().attempts, RetryConfig::default().max_attempts);

    // One that is gone for long is not waited for by everyone anew; one that is back is used.
    tokio::time::advance(Duration::from_secs(31)).await;
    let error = fresh.call(&get()).await.unwrap_err();
    assert_eq!(error.effort().attempts, 1);
    world.refused.lock().unwrap().clear();
    fresh.call(&get()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_host_that_answers_is_not_gone_though_it_takes_no_more_connections() {
    let is_failing = Arc::new(AtomicBool::new(false));
    let fails = Arc::clone(&is_failing);
    let world = World::new(move |_| {
        let fails = fails.swap(false, Ordering::Relaxed);
        // Slowly enough for two requests to want two connections.
        let reply = if fails { Reply::error(500, "InternalError") } else { Reply::ok("") };
        reply.after(Duration::from_millis(100))
    });
    let client = client(&world);
    client.call(&get()).await.unwrap();
    let addresses = world.addresses.lock().unwrap().clone();
    *world.refused.lock().unwrap() = addresses;
    // One of the two is tried again over the connection that there is.
    let (get, again) = (get(), get());
    let (first, second) = tokio::join!(client.call(&get), client.call(&again));
    assert!(first.is_ok() && second.is_ok(), "{first:?} {second:?}");
    assert_eq!(world.connections.load(Ordering::Relaxed), 1);
    // An idle connection is kept for three seconds and a half.
    for _ in 0..12 {
        tokio::time::sleep(Duration::from_secs(3)).await;
        client.call(&get).await.unwrap();
    }
    is_failing.store(true, Ordering::Relaxed);
    client.call(&get).await.unwrap();
    assert_eq!(world.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_no_url_makes_no_client() {
    let world = World::new(|_| Reply::ok(""));
    for url in ["http://", "http://a b", "http://store.test:99999", "store.test"] {
        let mut config = config();
        config.endpoint.url = Some(url.to_owned());
        let env = Env::new(Arc::new(world.clone()), Arc::new(PausedClock::new()), 7);
        let error = crate::client::Client::new(config, env).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert_eq!(error.to_string(), format!("Invalid endpoint: {url}"));
    }
}

#[tokio::test(start_paused = true)]
async fn the_progress_of_a_body_is_reported_in_slices_and_taken_back() {
    let world = World::new(|seen| match seen.number {
        0 => Reply::error(503, "SlowDown"),
        _ => Reply::ok(""),
    });
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let list = Arc::clone(&told);
    let progress = SendProgress::new(Arc::new(move |bytes| list.lock().unwrap().push(bytes)));
    let length = 1024 * 1024 + 10;
    let chunks = vec![vec![1; length - 5].into(), vec![2; 5].into()];
    let payload = Payload::from_chunks(chunks).with_progress(progress.clone());
    let request = Request { payload, ..request(Method::PUT, "key") };
    client(&world).call(&request).await.unwrap();
    assert_eq!(world.seen()[1].body.len(), length);
    let slice = 256 * 1024;
    let once = [slice, slice, slice, slice, 5, 5];
    let whole = i64::try_from(length).unwrap();
    assert_eq!(*told.lock().unwrap(), [&once[..], &[-whole], &once[..]].concat());
    assert_eq!(progress.reported(), length as u64);
}

#[tokio::test(start_paused = true)]
async fn more_headers_than_are_read_are_no_reason_to_try_again() {
    let many = "x-amz-meta-a: x\r\n".repeat(120);
    let world = World::new(move |_| Reply::status(200, &many, ""));
    let error = client(&world).call(&get()).await.unwrap_err();
    assert!(error.to_string().contains("more response headers than can be read"), "{error}");
    assert_eq!(world.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_are_final_at_once() {
    let world = World::new(|_| Reply::status(404, "", ""));
    let error = client(&world).call(&get()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotFound, "404"));
    assert_eq!(world.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_error_answer_is_retried() {
    let cut = "HTTP/1.1 403 Forbidden\r\ncontent-length: 100\r\n\r\n<Error><Code>RequestTi";
    let world = World::new(move |seen| match seen.number {
        0 | 1 => Reply::raw(cut).closing(),
        _ => Reply::ok(""),
    });
    client(&world).call(&get()).await.unwrap();
    assert_eq!(world.seen().len(), 3);
    // If it never arrives, the status is all there is to report.
    let world = World::new(move |_| Reply::raw(cut).closing());
    let error = client(&world).call(&get()).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::AccessDenied, "403"));
    assert!(error.effort().attempts > 1);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_made_is_not_tried_for_ever() {
    let world = World::new(|_| Reply::ok(""));
    let mut config = config();
    config.credentials = CredentialsConfig::Profile("s3haul-no-such-profile".to_owned());
    let error = client_with(&world, config).call(&get()).await.unwrap_err();
    assert_eq!((error.kind(), error.effort().attempts), (ErrorKind::Config, 1));
    assert!(world.seen().is_empty());
}

#[tokio::test(start_paused = true)]
async fn silence_ends_in_a_timeout_and_another_attempt() {
    let world = World::new(|seen| match seen.number {
        0 => Reply::raw("").hanging(),
        _ => Reply::ok(""),
    });
    let start = Instant::now();
    client(&world).call(&get()).await.unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert!((20.0..20.2).contains(&seconds), "{seconds}");
}

#[tokio::test(start_paused = true)]
async fn slow_operations_may_be_silent_and_are_tried_again() {
    let world = World::new(|seen| {
        let reply = if seen.number == 0 { Reply::error(503, "SlowDown") } else { Reply::ok("") };
        reply.after(Duration::from_mins(20))
    });
    let mut slow = get();
    slow.operation.slow = true;
    client(&world).call(&slow).await.unwrap();
    assert_eq!(world.seen().len(), 2);
    // But a host that says nothing for the whole of the time is not waited for again.
    let silent = World::new(|_| Reply::raw("").hanging());
    client(&silent).call(&slow).await.unwrap_err();
    assert_eq!(silent.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_ends_early_or_stalls_is_an_error() {
    let short =
        "HTTP/1.1 200 OK\r\netag: e\r\nx-amz-request-id: 1\r\ncontent-length: 10\r\n\r\nabc";
    let world = World::new(move |seen| match seen.number {
        0 => Reply::raw(short).closing(),
        _ => Reply::raw(short).hanging(),
    });
    let client = client(&world);
    for kind in [ErrorKind::Transport, ErrorKind::Timeout] {
        let mut body = client.open(&get(), None).await.unwrap().body;
        assert_eq!(&body.next().await.unwrap().unwrap()[..], b"abc");
        let error = body.next().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(body.next().await.is_none());
    }
    assert_eq!(client.inner.pool.open_connections(), 0);
}

/// What was said, with a client that says it.
fn listening(world: &World) -> (Client, Arc<std::sync::Mutex<Vec<String>>>) {
    let heard = Arc::<std::sync::Mutex<Vec<String>>>::default();
    let lines = Arc::clone(&heard);
    let env = Env::new(Arc::new(world.clone()), Arc::new(PausedClock::new()), 7);
    let env = env.saying_waits(move |line| lines.lock().unwrap().push(line.to_owned()));
    (Client::new(config(), env).unwrap(), heard)
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_trickles_for_ever_is_a_timeout() {
    let blanks = " ".repeat(100_000);
    let pause = Duration::from_millis(500);
    let world = World::new(move |_| Reply::ok(&blanks).trickling(pause));
    let (client, heard) = listening(&world);
    let mut listing = get();
    listing.operation.expects = Expects::Document("ListBucketResult");
    let start = Instant::now();
    let error = client.call(&listing).await.unwrap_err();
    assert_eq!((error.kind(), error.effort().attempts), (ErrorKind::Timeout, 3));
    let text = error.to_string();
    let why = "Read timeout on endpoint URL: \"http://store.test/\" \
               (only 599 bytes in 300 s, 599 of 100000 bytes)";
    assert!(text.starts_with(why), "{text}");
    assert!(start.elapsed() < Duration::from_mins(16), "{:?}", start.elapsed());
    let expected = "waiting for the rest of an answer of \"http://store.test/\" to TestObject \
                    s3://bucket/key (119 of 100000 bytes came) for 60 s";
    assert_eq!(heard.lock().unwrap()[0], expected);
}

#[tokio::test(start_paused = true)]
async fn operations_that_take_minutes_may_send_blanks_meanwhile() {
    let document = format!("{}<A><B>1</B></A>", " ".repeat(100));
    let world = World::new(move |_| Reply::ok(&document).trickling(Duration::from_secs(15)));
    let mut slow = get();
    slow.operation = Operation { slow: true, expects: Expects::Document("A"), ..slow.operation };
    let start = Instant::now();
    client(&world).call(&slow).await.unwrap();
    assert!(start.elapsed() > Duration::from_mins(25), "{:?}", start.elapsed());
    // But not for ever, nor again after that time.
    let endless = World::new(|_| Reply::ok(&" ".repeat(10_000)).trickling(Duration::from_secs(15)));
    let start = Instant::now();
    let error = client(&endless).call(&slow).await.unwrap_err();
    assert_eq!((error.kind(), error.effort().attempts), (ErrorKind::Timeout, 1));
    assert!(start.elapsed() < Duration::from_mins(31), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_bytes_of_an_object_may_come_slowly_but_not_one_by_one() {
    let content = "x".repeat(20_000);
    // 20 bytes/s, and 2 bytes/s.
    for (pause, is_cut) in [(50, false), (500, true)] {
        let pause = Duration::from_millis(pause);
        let content = content.clone();
        let world = World::new(move |_| Reply::ok(&content).trickling(pause));
        let (client, heard) = listening(&world);
        let mut body = client.open(&get(), None).await.unwrap().body;
        match body.collect(100_000).await {
            Ok(bytes) => assert!(!is_cut && bytes.len() == 20_000),
            Err(error) => {
                assert!(is_cut && error.kind() == ErrorKind::Timeout, "{error}");
                assert!(error.to_string().contains("(only 599 bytes in 300 s, 599 of "), "{error}");
                assert!(heard.lock().unwrap()[0].contains(" to TestObject s3://bucket/key ("));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_takes_its_time_is_no_slow_server() {
    let content = "x".repeat(400);
    let world = World::new(move |_| Reply::ok(&content).trickling(Duration::from_secs(1)));
    let mut body = client(&world).open(&get(), None).await.unwrap().body;
    let first = body.next().await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_mins(6)).await;
    assert_eq!(body.collect(400).await.unwrap().len(), 400 - first.len());
}

#[tokio::test(start_paused = true)]
async fn big_bodies_come_whole_and_give_the_connection_back() {
    let big = "x".repeat(3_000_000);
    let world = World::new(move |_| Reply::ok(&big));
    let client = client(&world);
    for _ in 0..2 {
        let mut body = client.open(&get(), None).await.unwrap().body;
        assert_eq!(body.collect(usize::MAX).await.unwrap().len(), 3_000_000);
    }
    let mut body = client.open(&get(), None).await.unwrap().body;
    assert!(body.collect(1_000_000).await.is_err());
    assert_eq!(world.connections(), 1);
    assert_eq!(client.inner.pool.open_connections(), 0);
}

#[tokio::test(start_paused = true)]
async fn chunked_bodies_give_the_connection_back() {
    let chunked = "HTTP/1.1 200 OK\r\netag: e\r\nx-amz-request-id: 1\r\n\
         transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let world = World::new(move |_| Reply::raw(chunked));
    let client = client(&world);
    for _ in 0..2 {
        assert_eq!(&client.call(&get()).await.unwrap().body[..], b"abc");
    }
    assert_eq!(world.connections(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_cap_holds_and_waiters_get_their_turn() {
    let world = World::new(|_| Reply::ok("").after(Duration::from_millis(10)));
    let config = crate::config::ClientConfig { max_connections: 3, ..config() };
    let client = client_with(&world, config);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let client: Client = client.clone();
        tasks.spawn(async move { client.call(&get()).await.map(|_| ()) });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
    assert_eq!(world.open_max.load(Ordering::SeqCst), 3);
    assert_eq!(world.connections(), 3);
}

#[tokio::test(start_paused = true)]
async fn connections_spread_over_addresses_and_leave_dead_ones() {
    let world = World::new(|_| Reply::ok("").after(Duration::from_millis(10)));
    let all: Vec<_> = (1..=4).map(|last| ([10, 0, 0, last], 80).into()).collect();
    *world.addresses.lock().unwrap() = all.clone();
    world.refused.lock().unwrap().push(all[3]);
    let client = client(&world);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let client: Client = client.clone();
        tasks.spawn(async move { client.call(&get()).await.map(|_| ()) });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap().unwrap();
    }
    let seen = world.seen();
    for address in &all[..3] {
        assert_eq!(seen.iter().filter(|seen| seen.address == *address).count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_request_closes_its_connection() {
    let world = World::new(|_| Reply::raw("").hanging());
    let client = client(&world);
    let request = get();
    let cut = tokio::time::timeout(Duration::from_secs(1), client.call(&request)).await;
    assert!(cut.is_err());
    assert_eq!(client.inner.pool.open_connections(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_region_of_a_bucket_is_learned_once() {
    let world = World::new(|seen| {
        let scope = seen.header("authorization").unwrap();
        if scope.contains("/eu-central-1/s3/") {
            return Reply::ok("");
        }
        let body = "<Error><Code>AuthorizationHeaderMalformed</Code><Message>m</Message>\
                    <Region>eu-central-1</Region></Error>";
        Reply::status(400, "", body)
    });
    let config = crate::config::ClientConfig {
        retry: RetryConfig { max_attempts: 1, ..RetryConfig::default() },
        ..config()
    };
    let client = client_with(&world, config);
    client.call(&get()).await.unwrap();
    client.call(&get()).await.unwrap();
    assert_eq!(world.seen().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn redirects_do_not_loop() {
    let endless = World::new(|seen| {
        let region = format!("x-amz-bucket-region: moon-{}\r\n", seen.number);
        Reply::status(301, &region, "")
    });
    let error = crate::testing::client(&endless).call(&get()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongRegion);
    assert_eq!(endless.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn temporary_redirects_are_followed_within_the_endpoint_only() {
    let world = World::new(|seen| match seen.header("host").unwrap() {
        "store.test" => Reply::status(307, "location: http://two.store.test:81/bucket/key\r\n", ""),
        "two.store.test:81" => Reply::ok("there"),
        _ => unreachable!(),
    });
    let answer = client(&world).call(&put(b"x")).await.unwrap();
    assert_eq!(&answer.body[..], b"there");
    assert!(world.seen().iter().all(|seen| seen.body == b"x"));
    let evil = World::new(|_| Reply::status(307, "location: http://evil.test/bucket/key\r\n", ""));
    assert!(client(&evil).call(&get()).await.is_err());
    assert_eq!(evil.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn idle_connections_make_room_for_another_host() {
    let world = World::new(|_| Reply::ok("").after(Duration::from_millis(10)));
    let mut virtual_hosts = config();
    virtual_hosts.endpoint.addressing = crate::config::AddressingStyle::Virtual;
    virtual_hosts.max_connections = 4;
    let client = client_with(&world, virtual_hosts);
    for bucket in ["bucket-one", "bucket-two"] {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let client: Client = client.clone();
            tasks.spawn(async move {
                let request = crate::message::request::Request { bucket: Some(bucket), ..get() };
                client.call(&request).await.map(|_| ())
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap().unwrap();
        }
        assert_eq!(client.inner.pool.open_connections(), 4);
    }
    assert_eq!(world.connections(), 8);
}

#[tokio::test(start_paused = true)]
async fn the_servers_clock_is_taken_over_once() {
    // The test's clock says 22:13:20.
    let date = "date: Tue, 14 Nov 2023 23:13:20 GMT\r\n";
    let world = World::new(move |seen| {
        if seen.header("x-amz-date").unwrap().starts_with("20231114T2313") {
            return Reply::ok("");
        }
        Reply::status(403, date, "<Error><Code>RequestTimeTooSkewed</Code></Error>")
    });
    let client = client(&world);
    client.call(&get()).await.unwrap();
    client.call(&get()).await.unwrap();
    assert_eq!(world.seen().len(), 3);
    let world = World::new(move |_| {
        Reply::status(403, date, "<Error><Code>RequestTimeTooSkewed</Code></Error>")
    });
    assert!(crate::testing::client(&world).call(&get()).await.is_err());
    assert_eq!(world.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_error_in_a_200_is_an_error() {
    let world = World::new(|seen| match seen.number {
        0 => Reply::error(200, "InternalError"),
        1 => Reply::error(200, "SlowDown"),
        2 => Reply::error(200, "AccessDenied"),
        _ => unreachable!(),
    });
    let mut request = get();
    request.operation.error_in_200 = true;
    request.operation.expects = Expects::Document("CopyObjectResult");
    let error = client(&world).call(&request).await.unwrap_err();
    assert_eq!((error.code(), error.kind()), ("AccessDenied", ErrorKind::AccessDenied));
    assert_eq!(error.effort().attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_checksum_replaces_the_last_piece_by_an_error() {
    use crate::message::checksum::{Checksum, ChecksumAlgorithm};
    let world = World::new(|_| Reply::ok("hello"));
    let client = client(&world);
    for (text, is_right) in [("hello", true), ("hallo", false)] {
        let expected = Checksum::of(ChecksumAlgorithm::Crc64Nvme, text.as_bytes());
        let mut body = client.open(&get(), None).await.unwrap().body;
        body.validate(expected);
        let result = body.collect(100).await;
        assert_eq!(result.is_ok(), is_right);
    }
    assert_eq!(world.connections(), 1);
}

/// Gives one connection.
struct One(std::sync::Mutex<Option<tokio::io::DuplexStream>>);
impl crate::env::Connector for One {
    fn resolve<'a>(
        &'a self,
        _host: &'a str,
        _port: u16,
    ) -> crate::env::BoxFuture<'a, std::io::Result<Vec<std::net::SocketAddr>>> {
        Box::pin(async { Ok(vec![([10, 0, 0, 1], 80).into()]) })
    }
    fn connect(
        &self,
        _address: std::net::SocketAddr,
    ) -> crate::env::BoxFuture<'_, std::io::Result<Box<dyn crate::env::Io>>> {
        let stream = self.0.lock().unwrap().take().expect("one connection only");
        Box::pin(async move { Ok(Box::new(stream) as Box<dyn crate::env::Io>) })
    }
}

#[tokio::test(start_paused = true)]
async fn slow_uploads_are_not_timeouts_while_bytes_are_taken() {
    // The pipe holds 64 KiB, the server takes 64 KiB every 15 s.
    let (near, mut far) = tokio::io::duplex(64 * 1024);
    let near = std::sync::Mutex::new(Some(near));
    tokio::spawn(async move {
        let mut buffer = vec![0; 64 * 1024];
        let mut total = 0;
        while total < 1024 * 1024 {
            tokio::time::sleep(Duration::from_secs(15)).await;
            total += far.read(&mut buffer).await.unwrap();
        }
        far.write_all(
            b"HTTP/1.1 200 OK\r\netag: e\r\nx-amz-request-id: 1\r\ncontent-length: 0\r\n\r\n",
        )
        .await
        .unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    });
    let clock = std::sync::Arc::new(crate::testing::PausedClock::new());
    let env = crate::env::Env::new(std::sync::Arc::new(One(near)), clock, 1);
    let client = Client::new(config(), env).unwrap();
    let big: &'static [u8] = Box::leak(vec![7; 1024 * 1024].into_boxed_slice());
    client.call(&put(big)).await.unwrap();
}

/// Also where the operation may be silent for half an hour.
#[tokio::test(start_paused = true)]
async fn errors_whose_text_does_not_end_are_read_for_a_limited_time() {
    let world = World::new(|seen| match seen.number {
        0 => Reply::raw("HTTP/1.1 400 X\r\ncontent-length: 99\r\n\r\n<Error><Code>").hanging(),
        _ => Reply::ok(""),
    });
    let mut request = get();
    request.operation.slow = true;
    let started = Instant::now();
    client(&world).call(&request).await.unwrap();
    assert!(started.elapsed() < Duration::from_mins(2), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_body_of_exactly_the_limit_is_whole() {
    let chunked = "HTTP/1.1 200 OK\r\netag: e\r\nx-amz-request-id: 1\r\n\
                   transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n";
    for (limit, is_whole) in [(5, false), (6, true), (7, true)] {
        let world = World::new(move |_| Reply::raw(chunked));
        let mut body = client(&world).open(&get(), None).await.unwrap().body;
        let collected = body.collect(limit).await;
        assert_eq!(collected.is_ok_and(|bytes| *bytes == *b"abcdef"), is_whole, "{limit}");
    }
}
