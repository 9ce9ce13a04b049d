//! Whole requests through the controller, over a simulated wire with the clock paused.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Admission;
use crate::client::Client;
use crate::controller::{Bounds, Class};
use crate::error::ErrorKind;
use crate::testing::{Reply, World, client, client_with, config, get, put, request};

const LATENCY: Duration = Duration::from_millis(30);

fn bounded(world: &World, load: Bounds) -> Client {
    client_with(world, crate::config::ClientConfig { load, ..config() })
}

/// Sends so many requests, each as soon as it may.
fn all_at_once(client: &Client, count: usize, prefix: &'static str) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let loops = count.min(512);
    for first in 0..loops {
        let client = client.clone();
        tasks.spawn(async move {
            for number in (first..count).step_by(loops) {
                let key = format!("{prefix}{number:05}");
                client.call(&request(Method::PUT, &key)).await.unwrap();
            }
        });
    }
    tasks
}

fn in_flight(client: &Client) -> u32 {
    client.inner.admission.limiter.lock().controller.in_flight()
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_bound_are_in_flight() {
    for is_adaptive in [true, false] {
        let world = World::new(|_| Reply::ok("").after(LATENCY));
        let load = Bounds { max_concurrent_requests: 3, is_adaptive, ..Bounds::default() };
        let client = bounded(&world, load);
        all_at_once(&client, 30, "k").join_all().await;
        assert_eq!(world.open_max.load(Ordering::SeqCst), 3);
        assert_eq!(in_flight(&client), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_holds_over_all_that_is_sent() {
    let world = World::new(|seen| {
        // Retries count, too.
        if seen.number % 10 == 3 { Reply::error(500, "InternalError") } else { Reply::ok("") }
    });
    let load = Bounds { max_requests_per_second: Some(50), ..Bounds::default() };
    let client = bounded(&world, load);
    let begun = Instant::now();
    all_at_once(&client, 200, "k").join_all().await;
    let (sent, took) = (world.seen().len(), begun.elapsed());
    assert!(sent > 210, "{sent} requests");
    let fewest = Duration::from_millis(20) * u32::try_from(sent - 2).unwrap();
    let most = fewest + Duration::from_millis(500);
    assert!((fewest..most).contains(&took), "{sent} requests in {took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_number_in_flight_grows_while_it_pays() {
    let world = World::new(|_| Reply::ok("").after(LATENCY));
    let client = client(&world);
    assert_eq!(client.requests_wanted(), 10);
    let begun = Instant::now();
    all_at_once(&client, 5_000, "k").join_all().await;
    assert!(client.requests_wanted() >= 100, "{}", client.requests_wanted());
    // Eight at a time would take 19 s.
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

/// What may take long because much goes through the connection, or because much depends on it,
/// begins with eight.
#[tokio::test(start_paused = true)]
async fn copies_by_the_service_begin_as_small_requests_do() {
    for (name, at_once) in [("CopyObject", 100), ("UploadPartCopy", 8)] {
        let world = World::new(|_| Reply::ok("").after(10 * LATENCY));
        let client = client(&world);
        let mut copies = JoinSet::new();
        for _ in 0..100 {
            let client = client.clone();
            copies.spawn(async move {
                let mut copy = put(b"");
                (copy.operation.name, copy.operation.slow) = (name, true);
                client.call(&copy).await.unwrap();
            });
        }
        tokio::time::sleep(5 * LATENCY).await;
        assert_eq!(in_flight(&client), at_once, "{name}");
        copies.join_all().await;
    }
}

/// Otherwise refused requests would occupy all loops, and nothing else would be sent.
#[tokio::test(start_paused = true)]
async fn requests_that_pause_after_a_refusal_do_not_delay_others() {
    let world = World::new(|seen| match seen.number {
        0..5 => Reply::error(503, "SlowDown"),
        _ => Reply::ok(""),
    });
    let client = client(&world);
    let before = client.requests_wanted();
    let requests = all_at_once(&client, 5, "k");
    while world.seen().len() < 5 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(client.requests_wanted(), before + 5);
    requests.join_all().await;
    assert_eq!(client.requests_wanted(), before);
}

#[tokio::test(start_paused = true)]
async fn cancelled_waiting_requests_leave_no_trace() {
    let world = World::new(|seen| {
        if seen.line().contains("stuck") { Reply::raw("").hanging() } else { Reply::ok("") }
    });
    let load = Bounds { max_concurrent_requests: 1, ..Bounds::default() };
    let client = bounded(&world, load);
    let stuck = all_at_once(&client, 1, "stuck");
    tokio::time::sleep(Duration::from_millis(1)).await;
    let mut waiting = all_at_once(&client, 20, "gone");
    tokio::time::sleep(Duration::from_millis(1)).await;
    waiting.abort_all();
    while waiting.join_next().await.is_some() {}
    let last = all_at_once(&client, 5, "k");
    tokio::time::sleep(Duration::from_millis(1)).await;
    drop(stuck);
    last.join_all().await;
    assert_eq!(in_flight(&client), 0);
    assert!(!world.seen().iter().any(|seen| seen.line().contains("gone")));
}

/// Takes so many requests a second for some keys; refuses others.
struct Partition {
    a_second: f64,
    saved: Mutex<(f64, Option<Instant>)>,
}

impl Partition {
    fn takes(&self) -> bool {
        let mut saved = self.saved.lock().unwrap();
        let now = Instant::now();
        let passed = saved.1.replace(now).map_or(0.0, |then| (now - then).as_secs_f64());
        saved.0 = (saved.0 + passed * self.a_second).min(self.a_second / 4.0);
        let takes = saved.0 >= 1.0;
        saved.0 -= f64::from(u8::from(takes));
        takes
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_found_and_kept() {
    let partition = Partition { a_second: 1_000.0, saved: Mutex::new((250.0, None)) };
    let world = World::new(move |_| {
        if partition.takes() {
            Reply::ok("").after(LATENCY)
        } else {
            Reply::error(503, "SlowDown").after(Duration::from_millis(10))
        }
    });
    let client = client(&world);
    let begun = Instant::now();
    all_at_once(&client, 15_000, "k").join_all().await;
    let took = begun.elapsed().as_secs_f64();
    // 15 s are the least.
    assert!(took < 17.0, "{took} s");
    // Most of them at the start, where 128 go before the first answer and twice as many after it.
    let refused = world.seen().len() - 15_000;
    assert!(refused < 700, "{refused} refused");
    let state = client.inner.admission.limiter.lock();
    let rates = state.controller.learnt(Class::Write);
    let is_near = |rate: f64| (800.0..1_300.0).contains(&rate);
    assert!(rates.iter().any(|range| range.per_second.is_some_and(is_near)), "{rates:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_lets_other_classes_go_on() {
    let refusals = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&refusals);
    let world = World::new(move |seen| {
        if !seen.line().starts_with("PUT") {
            return Reply::ok("").after(LATENCY);
        }
        let is_refused = count.fetch_add(1, Ordering::SeqCst) < 200;
        if is_refused { Reply::error(503, "SlowDown") } else { Reply::ok("") }
    });
    let client = client(&world);
    let writes = all_at_once(&client, 100, "w");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    for _ in 0..20 {
        client.call(&get()).await.unwrap();
    }
    assert!(begun.elapsed() < 21 * LATENCY, "reads waited for writes: {:?}", begun.elapsed());
    writes.join_all().await;
    client.call(&put(b"x")).await.unwrap();
    assert_eq!(in_flight(&client), 0);
}

#[tokio::test(start_paused = true)]
async fn a_listing_waits_for_no_room() {
    let world = World::new(|seen| {
        let is_list = seen.line().contains("list-type=2");
        if is_list { Reply::ok("<ListBucketResult/>") } else { Reply::raw("").hanging() }
    });
    let load = Bounds { max_concurrent_requests: 1, ..Bounds::default() };
    let client = bounded(&world, load);
    let stuck = all_at_once(&client, 1, "stuck");
    tokio::time::sleep(Duration::from_millis(1)).await;
    let input = crate::ops::ListObjects { bucket: "bucket", ..Default::default() };
    let listed =
        tokio::time::timeout(Duration::from_secs(1), client.list_objects_unchecked(input)).await;
    assert!(listed.is_ok(), "it waited");
    drop(stuck);
}

/// Waits for a permit for a key.
async fn enter(admission: &Admission, key: &str) {
    drop(admission.enter(&request(Method::PUT, key)).await);
}

#[test]
fn waiting_for_a_rate_does_not_depend_on_another_runtime() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let load = Bounds { max_requests_per_second: Some(400), ..Bounds::default() };
    let (resting, other) = (runtime(), runtime());
    let admission = other.block_on(async { Admission::new(load) });
    // Starts the timer task and stops waiting; from then on its runtime is idle.
    resting.block_on(async {
        enter(&admission, "a").await;
        let soon = tokio::time::timeout(Duration::from_millis(1), enter(&admission, "b"));
        soon.await.unwrap_err();
    });
    let all = async {
        enter(&admission, "c").await;
        enter(&admission, "d").await;
    };
    let limit = Duration::from_secs(20);
    other
        .block_on(async { tokio::time::timeout(limit, all).await })
        .expect("the request is admitted");
    drop(resting);
}

#[test]
fn after_waiting_for_room_a_request_checks_the_rate_itself() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let load =
        Bounds { max_concurrent_requests: 1, max_requests_per_second: Some(4), is_adaptive: true };
    let admission = Admission::new(load);
    let put = |key| request(Method::PUT, key);
    let (first, second) = (put("a"), put("b"));
    let permit = runtime.block_on(admission.enter(&first));
    let mut waiting = Box::pin(admission.enter(&second));
    let soon = async { tokio::time::timeout(Duration::from_millis(1), &mut waiting).await };
    runtime.block_on(soon).unwrap_err();
    // Outside of a runtime: no task is started that checks.
    drop(permit);
    let limit = Duration::from_secs(20);
    let permit = runtime.block_on(async { tokio::time::timeout(limit, waiting).await });
    assert!(permit.expect("the request is admitted").waited() > Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_slow_range_does_not_slow_the_next_look_at_others() {
    let load = Bounds { max_requests_per_second: Some(100), ..Bounds::default() };
    let admission = Admission::new(load);
    let began = Instant::now();
    admission.limiter.start_timer(&mut admission.limiter.lock(), Duration::from_secs(1));
    enter(&admission, "a").await;
    enter(&admission, "b").await;
    assert!(began.elapsed() < Duration::from_millis(50), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_request_that_waited_is_not_sent_to_a_host_that_never_answers() {
    let world = World::new(|_| Reply::raw("").hanging());
    let load = Bounds { max_concurrent_requests: 2, ..Bounds::default() };
    let (client, begun) = (bounded(&world, load), Instant::now());
    let mut tasks = JoinSet::new();
    for number in 0..40 {
        let client = client.clone();
        tasks.spawn(async move {
            let key = format!("k{number}");
            client.call(&request(Method::PUT, &key)).await.unwrap_err();
        });
    }
    tasks.join_all().await;
    let limit = client.config().timeouts.read;
    assert!(begun.elapsed() < 6 * limit, "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn requests_that_wait_while_the_job_ends_are_cancelled_unsent() {
    let world = World::new(|_| Reply::ok("").after(Duration::from_secs(10)));
    let load = Bounds { max_concurrent_requests: 1, is_adaptive: false, ..Bounds::default() };
    let halted = Arc::new(AtomicBool::new(false));
    let client = bounded(&world, load).halted_by(Arc::clone(&halted));
    let (first, second) = (get(), get());
    let end = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        halted.store(true, Ordering::Relaxed);
    };
    let (first, second, ()) = tokio::join!(client.call(&first), client.call(&second), end);
    first.unwrap();
    assert_eq!(second.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(world.seen().len(), 1);
}
