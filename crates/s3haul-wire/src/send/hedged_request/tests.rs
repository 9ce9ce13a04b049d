//! Late requests and their seconds against a scripted server, on paused time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::Method;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::client::Client;
use crate::config::ClientConfig;
use crate::error::ErrorKind;
use crate::limit::controller::Bounds;
use crate::message::payload::{Payload, SendProgress};
use crate::message::request::Request;
use crate::send::hedge::REQUESTS_PER_EXTRA;
use crate::testing::{
    Reply, Seen, World, client, client_with, config, get, operation, put, request,
};

/// Requests after which there is one extra to be had, and enough is known of their class.
const WARM_UP: usize = 100;
/// What an ordinary request takes.
const USUAL: Duration = Duration::from_millis(40);

fn named(name: &'static str, method: Method) -> Request<'static> {
    let operation = operation(name);
    Request { operation, ..request(method, "key") }
}

fn get_object() -> Request<'static> {
    named("GetObject", Method::GET)
}

fn upload_part(size: usize) -> Request<'static> {
    let payload = Payload::from_bytes(Bytes::from(vec![7; size]));
    // The progress of a large part is recorded, even if it is not printed.
    let payload = payload.with_progress(SendProgress::new(Arc::new(|_| {})));
    Request { payload, ..named("UploadPart", Method::PUT) }
}

/// Answers as usual, but for one request.
fn but(number: usize, odd: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> World {
    World::new(
        move |seen| {
            if seen.number == number { odd(seen) } else { Reply::ok("").after(USUAL) }
        },
    )
}

fn hangs(_: &Seen) -> Reply {
    Reply::raw("").hanging()
}

async fn warm_up(client: &Client, request: &Request<'_>) {
    for _ in 0..WARM_UP {
        client.call(request).await.unwrap();
    }
}

/// Sends so many requests, 32 at a time, and gives how long that took.
async fn send(client: &Client, count: usize) -> Duration {
    let began = Instant::now();
    let calls = (0..count).map(|_| async { client.call(&get_object()).await.unwrap() });
    futures_util::stream::iter(calls).buffer_unordered(32).for_each(|_| async {}).await;
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_head_that_hangs_is_raced_over_another_connection() {
    let world = but(WARM_UP, hangs);
    let client = client(&world);
    let head = named("HeadObject", Method::HEAD);
    warm_up(&client, &head).await;
    let began = Instant::now();
    client.call(&head).await.unwrap();
    assert!(began.elapsed() < Duration::from_millis(300), "{:?}", began.elapsed());
    assert_eq!(world.seen().len(), WARM_UP + 2);
    assert_eq!(client.requests_sent().read, WARM_UP as u64 + 2);
    assert_eq!(world.connections(), 2);
    assert_eq!(client.inner.pool.open_connections(), 1, "that of the loser is closed");
}

#[tokio::test(start_paused = true)]
async fn a_heavy_tail_is_cut_by_few_extra_requests() {
    let tail = |seen: &Seen| {
        let factor = if seen.number % 100 == 99 { 50 } else { 1 };
        Reply::ok("").after(USUAL * factor)
    };
    let mut took = Vec::new();
    for hedging in [false, true] {
        let world = World::new(tail);
        let client = client_with(&world, ClientConfig { hedging, ..config() });
        took.push(send(&client, 1_000).await);
        let extra = world.seen().len() - 1_000;
        assert!(extra <= 1_000 / REQUESTS_PER_EXTRA as usize, "{extra}");
        assert_eq!(extra > 0, hedging);
    }
    assert!(took[1] * 10 < took[0] * 9, "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_slowness_costs_no_more_than_its_share() {
    for storm in [Duration::from_secs(3), Duration::from_secs(15)] {
        let world = World::new(move |seen| {
            Reply::ok("").after(if seen.number < 300 { USUAL } else { storm })
        });
        // As many at once as are asked for: a controller would hold back, also second requests.
        let load = Bounds { is_adaptive: false, ..Bounds::default() };
        send(&client_with(&world, ClientConfig { load, ..config() }), 1_000).await;
        let extra = world.seen().len() - 1_000;
        assert!((1..=20).contains(&extra), "{extra}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_writes_is_never_sent_twice() {
    let world = but(2 * WARM_UP, |_| Reply::ok("").after(Duration::from_secs(19)));
    let client = client(&world);
    warm_up(&client, &get_object()).await;
    let put = Request { operation: named("PutObject", Method::PUT).operation, ..put(b"x") };
    warm_up(&client, &put).await;
    let began = Instant::now();
    client.call(&put).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(19));
    assert_eq!(world.seen().len(), 2 * WARM_UP + 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_extra_is_sent_before_enough_is_known_or_where_it_is_switched_off() {
    for (known, hedging) in [(60, true), (WARM_UP, false)] {
        let world = but(known, hangs);
        let client = client_with(&world, ClientConfig { hedging, ..config() });
        for _ in 0..known {
            client.call(&get_object()).await.unwrap();
        }
        let began = Instant::now();
        client.call(&get_object()).await.unwrap();
        assert!(began.elapsed() >= config().timeouts.read);
    }
}

/// What began before anything was known is raced once enough is.
#[tokio::test(start_paused = true)]
async fn the_first_request_of_all_may_be_raced() {
    let world = but(0, hangs);
    let client = client(&world);
    let began = Instant::now();
    let (first, all) = (get_object(), get_object());
    let others = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        warm_up(&client, &all).await;
    };
    let (ended, ()) = tokio::join!(client.call(&first), others);
    ended.unwrap();
    // It took as long as sixty-four others, one after the other, not as long as the time limit.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(world.seen().len(), WARM_UP + 2);
}

#[tokio::test(start_paused = true)]
async fn the_second_goes_to_another_address() {
    let world = but(WARM_UP, hangs);
    *world.addresses.lock().unwrap() = (1..=3).map(|last| ([10, 0, 0, last], 80).into()).collect();
    let client = client(&world);
    warm_up(&client, &get_object()).await;
    client.call(&get_object()).await.unwrap();
    let seen = world.seen();
    assert_eq!(seen.len(), WARM_UP + 2);
    assert_ne!(seen[WARM_UP].address, seen[WARM_UP + 1].address);
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_one_waits_for_the_other() {
    let late = Duration::from_secs(2);
    // The first fails while the second is under way; then the other way round.
    for (first, second) in [
        (Reply::error(500, "InternalError").after(late), Reply::ok("2").after(2 * late)),
        (Reply::ok("1").after(late), Reply::error(500, "InternalError").after(USUAL)),
    ] {
        let world = World::new(move |seen| match seen.number {
            WARM_UP => first.clone(),
            number if number == WARM_UP + 1 => second.clone(),
            _ => Reply::ok("").after(USUAL),
        });
        let client = client(&world);
        warm_up(&client, &get_object()).await;
        assert_eq!(client.call(&get_object()).await.unwrap().body.len(), 1);
        assert_eq!(world.seen().len(), WARM_UP + 2);
    }
}

#[tokio::test(start_paused = true)]
async fn both_failures_are_one_and_an_absence_is_an_answer() {
    let late = Duration::from_secs(2);
    let world = World::new(move |seen| match seen.number {
        number if number < WARM_UP => Reply::ok("").after(USUAL),
        number if number < WARM_UP + 2 => Reply::error(500, "InternalError").after(late),
        _ => Reply::ok("").after(USUAL),
    });
    let first = client(&world);
    warm_up(&first, &get_object()).await;
    first.call(&get_object()).await.unwrap();
    assert_eq!(world.seen().len(), WARM_UP + 3, "tried again after both had failed");

    let world = World::new(move |seen| match seen.number {
        WARM_UP => Reply::raw("").hanging(),
        number if number < WARM_UP => Reply::ok("").after(USUAL),
        _ => Reply::error(404, "NoSuchKey").after(USUAL),
    });
    let client = client(&world);
    warm_up(&client, &get_object()).await;
    let error = client.call(&get_object()).await.unwrap_err();
    assert_eq!((error.kind(), world.seen().len()), (ErrorKind::NotFound, WARM_UP + 2));
}

#[tokio::test(start_paused = true)]
async fn a_service_that_asks_to_slow_down_is_spared() {
    let world = World::new(move |seen| match seen.number {
        WARM_UP => Reply::error(503, "SlowDown"),
        number if number == WARM_UP + 2 => Reply::ok("").after(Duration::from_secs(5)),
        _ => Reply::ok("").after(USUAL),
    });
    let client = client(&world);
    warm_up(&client, &get_object()).await;
    client.call(&get_object()).await.unwrap();
    client.call(&get_object()).await.unwrap();
    assert_eq!(world.seen().len(), WARM_UP + 3);
}

#[tokio::test(start_paused = true)]
async fn a_second_request_waits_for_a_place_in_flight() {
    let world = but(WARM_UP, |_| Reply::ok("").after(Duration::from_secs(15)));
    let room = Arc::new(Semaphore::new(2));
    let client = client(&world).within(Arc::clone(&room));
    warm_up(&client, &get_object()).await;
    let all = room.acquire_many(2).await.unwrap();
    let call = async { client.call(&get_object()).await.unwrap() };
    let give_back = async {
        tokio::time::sleep(Duration::from_secs(8)).await;
        assert_eq!(world.seen().len(), WARM_UP + 1);
        drop(all);
    };
    let began = Instant::now();
    tokio::join!(call, give_back);
    assert!((8.0..9.0).contains(&began.elapsed().as_secs_f64()), "{:?}", began.elapsed());
    assert_eq!((world.seen().len(), room.available_permits()), (WARM_UP + 2, 2));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_slot_is_not_slow_service() {
    let world = World::new(|_| Reply::ok("").after(USUAL));
    let client = client_with(&world, ClientConfig { max_connections: 1, ..config() });
    send(&client, 500).await;
    assert_eq!((world.seen().len(), world.open_max.load(Ordering::SeqCst)), (500, 1));
}

#[tokio::test(start_paused = true)]
async fn a_part_that_was_sent_whole_is_waited_for() {
    let world = but(WARM_UP, hangs);
    let client = client(&world);
    warm_up(&client, &upload_part(1_000)).await;
    let began = Instant::now();
    client.call(&upload_part(1_000)).await.unwrap();
    let took = began.elapsed().as_secs_f64();
    assert!((6.0..6.5).contains(&took), "{took}");
    let seen = world.seen();
    assert_eq!(seen.len(), WARM_UP + 2);
    assert_eq!(seen[WARM_UP].body, seen[WARM_UP + 1].body);
}

/// A pipe without a reader stands for a path that takes no more bytes.
#[tokio::test(start_paused = true)]
async fn a_part_that_is_stuck_on_its_way_is_dropped_at_once() {
    let world = World::new(|_| Reply::ok("").after(USUAL));
    let client = client(&world);
    warm_up(&client, &upload_part(1_000)).await;
    world.stuck.store(true, Ordering::SeqCst);
    let big = upload_part(4 << 20);
    let call = async { client.call(&big).await.unwrap() };
    let recovers = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.stuck.store(false, Ordering::SeqCst);
    };
    let began = Instant::now();
    tokio::join!(call, recovers);
    let took = began.elapsed().as_secs_f64();
    assert!(took < 3.0, "{took}");
    let seen = world.seen();
    assert_eq!(seen.len(), WARM_UP + 1, "the first never arrived whole");
    assert_eq!(seen[WARM_UP].body.len(), 4 << 20);
    assert_eq!(client.requests_sent().write, WARM_UP as u64 + 2);
}

#[tokio::test(start_paused = true)]
async fn a_body_is_opened_by_the_faster() {
    let world = but(WARM_UP, hangs);
    let client = client(&world);
    for _ in 0..WARM_UP {
        client.open(&get(), None).await.unwrap().body.collect(10).await.unwrap();
    }
    let mut body = client.open(&get(), None).await.unwrap().body;
    assert_eq!(body.collect(10).await.unwrap().len(), 0);
    assert_eq!(world.seen().len(), WARM_UP + 2);
}
