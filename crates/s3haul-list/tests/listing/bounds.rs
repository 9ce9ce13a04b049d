//! What a listing holds, sends and leaves behind.

use std::collections::HashMap;
use std::time::Duration;

use s3haul_list::{ListRequest, Order, list};
use s3haul_wire::ErrorKind;

use super::server::Server;
use super::{all, collect, keys, request, seed};

/// Pieces that the channel to the consumer holds.
const CHANNEL: usize = 4;

fn numbered(count: usize) -> std::collections::BTreeSet<String> {
    (0..count).map(|n| format!("key-{n:06}")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_listing_of_one_page_costs_one_request() {
    for order in [Order::Any, Order::Ascending] {
        let server = Server::new(1, &numbered(1)).with(|state| state.latency_ms_max = 1000);
        let request = ListRequest { order, ..ListRequest::default() };
        let found = all(&mut list(server.objects(), request.clone()), &request).await.unwrap();
        assert_eq!((found.len(), server.state().requests), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_reader_no_more_pages_are_requested() {
    let mut random = fastrand::Rng::with_seed(seed());
    for order in [Order::Any, Order::Ascending] {
        let server = Server::new(2, &numbered(1200));
        let mut request = ListRequest { concurrency: 8, ..request(&mut random, order) };
        request.window_pages = Some(16);
        let mut listing = list(server.objects(), request.clone());
        let (mut taken, mut found) = (0, 0);
        loop {
            tokio::time::sleep(Duration::from_secs(random.u64(0..2) * 5)).await;
            // The window, one request for each place beside it, and what lies in the channel.
            let is_page = |query: &&HashMap<_, _>| !query.contains_key("delimiter");
            let received = server.state().queries.iter().filter(is_page).count() - taken;
            assert!(received <= 16 + 8 + 1 + CHANNEL, "{received} pages held, {order:?}");
            let Some(page_range) = listing.next().await else { break };
            found += page_range.unwrap().page.len();
            taken += 1;
        }
        assert_eq!(found, 1200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_beginning_fills_the_window_and_no_more() {
    let server = Server::new(3, &numbered(1500));
    server.state().slow_before = "key-000100".to_owned();
    let request = ListRequest {
        order: Order::Ascending,
        concurrency: 8,
        window_pages: Some(24),
        is_eager: true,
        ..ListRequest::default()
    };
    let mut listing = list(server.objects(), request);
    let (mut taken, mut found, mut held_max) = (0, 0, 0);
    while let Some(page_range) = listing.next().await {
        found += page_range.unwrap().page.len();
        taken += 1;
        let answered = usize::try_from(server.state().answered).unwrap();
        held_max = answered.saturating_sub(taken).max(held_max);
    }
    assert_eq!(found, 1500);
    assert!(held_max <= 24 + 8 + 1 + CHANNEL, "{held_max} pages held");
    assert!(held_max > 8, "only {held_max} pages were listed ahead");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_listing_leaves_nothing_running() {
    let mut random = fastrand::Rng::with_seed(seed());
    for order in [Order::Any, Order::Ascending] {
        for round in 0..12 {
            let server = Server::new(round, &numbered(500));
            let request = request(&mut random, order);
            let mut listing = list(server.objects(), request);
            for _ in 0..random.usize(0..30) {
                listing.next().await.unwrap().unwrap();
            }
            let wait = Duration::from_millis(random.u64(0..30));
            let _ = tokio::time::timeout(wait, listing.next()).await;
            drop(listing);
            // Aborted tasks end, and what they had written is read.
            tokio::time::sleep(Duration::from_millis(1)).await;
            let sent = server.state().requests;
            tokio::time::sleep(Duration::from_secs(10)).await;
            let state = server.state();
            assert_eq!((state.requests, state.in_flight), (sent, 0), "round {round}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_midway_is_returned_once_and_ends_the_listing() {
    let mut random = fastrand::Rng::with_seed(seed());
    for order in [Order::Any, Order::Ascending] {
        for from in [1, 2, 10, 50] {
            let server = Server::new(from, &numbered(1000));
            server.state().refusal = Some((from, 403, "AccessDenied"));
            let request = ListRequest { prefix: "key".to_owned(), ..request(&mut random, order) };
            let mut listing = list(server.objects(), request);
            let (pieces, error) = collect(&mut listing).await;
            let error = error.unwrap();
            assert_eq!(error.kind(), ErrorKind::AccessDenied);
            assert!(error.subject().unwrap().starts_with("s3://bucket/key"), "{error:?}");
            assert!((pieces.len() as u64) < from);
            let sent = server.state().requests;
            tokio::time::sleep(Duration::from_secs(10)).await;
            assert_eq!(server.state().requests, sent);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_bucket_is_an_ordinary_error() {
    let server = Server::new(1, &numbered(1));
    server.state().refusal = Some((1, 404, "NoSuchBucket"));
    let (pieces, error) = collect(&mut list(server.objects(), ListRequest::default())).await;
    let error = error.unwrap();
    assert_eq!((pieces.len(), error.kind()), (0, ErrorKind::NotFound));
    assert_eq!(
        error.to_string(),
        "An error occurred (NoSuchBucket) when calling the ListObjectsV2 operation: No"
    );
}

#[tokio::test(start_paused = true)]
async fn throttled_requests_are_sent_again() {
    let mut random = fastrand::Rng::with_seed(seed());
    let keys = keys(&mut random, 500);
    let server = Server::new(3, &keys).with(|state| state.throttled_permille = 200);
    let request = ListRequest { concurrency: 16, ..request(&mut random, Order::Ascending) };
    let found = all(&mut list(server.objects(), request.clone()), &request).await.unwrap();
    assert!(found.iter().eq(keys.iter()));
}

#[tokio::test(start_paused = true)]
async fn permits_are_shared_with_others() {
    let permits = std::sync::Arc::new(tokio::sync::Semaphore::new(3));
    let server = Server::new(4, &numbered(1000));
    let permits_too = Some(std::sync::Arc::clone(&permits));
    let request = ListRequest { permits: permits_too, ..ListRequest::default() };
    let found = all(&mut list(server.objects(), request.clone()), &request).await.unwrap();
    assert_eq!((found.len(), server.state().in_flight_max), (1000, 3));
    assert_eq!(permits.available_permits(), 3);
}
