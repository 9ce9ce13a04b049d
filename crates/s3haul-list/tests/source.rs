//! Listings of sources that are no S3: closures, without a client.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]

#[path = "../examples/in_memory.rs"]
mod in_memory;

use std::collections::BTreeSet;
use std::io;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use std::time::Duration;

use s3haul_list::{
    Answer, KeyPage, KeyRange, ListRequest, Listing, Notice, Order, Query, Source, list,
};

type Keys = Arc<BTreeSet<String>>;

#[test]
fn the_example_lists_every_key_in_a_tenth_of_the_time() {
    in_memory::main().unwrap();
}

fn seed() -> u64 {
    let seed = std::env::var("S3HAUL_TEST_SEED").map_or(20_261_123, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    seed
}

/// What a store without delimiters and without tokens answers.
fn answer(keys: &Keys, query: &Query, page_size: usize) -> Answer<KeyPage> {
    let after = (Excluded(&query.start_after), Unbounded);
    let mut keys =
        keys.range::<String, _>(after).filter(|key| key.starts_with(&query.prefix)).peekable();
    let mut page = KeyPage::default();
    while page.entries.len() < page_size
        && let Some(key) = keys.next()
    {
        page.entries.push((key.clone(), ()));
    }
    let next = keys.peek().and_then(|_| page.entries.last()).map(|(key, ())| key.clone());
    Answer::new(page, next)
}

fn store(
    keys: &Keys,
    page_size: usize,
    latency_ms_max: u64,
) -> impl Source<Page = KeyPage, Error = io::Error> {
    let keys = Arc::clone(keys);
    move |query: Query| {
        let keys = Arc::clone(&keys);
        async move {
            let mut random = fastrand::Rng::with_seed(query.start_after.len() as u64);
            let latency_ms = random.u64(1..=latency_ms_max);
            tokio::time::sleep(Duration::from_millis(latency_ms)).await;
            io::Result::Ok(answer(&keys, &query, page_size))
        }
    }
}

async fn keys_of(
    mut listing: Listing<KeyPage, io::Error>,
) -> io::Result<(Vec<String>, Vec<Notice>)> {
    let mut keys = Vec::new();
    while let Some(page_range) = listing.next().await {
        keys.extend(page_range?.page.entries.into_iter().map(|(key, ())| key));
    }
    Ok((keys, listing.take_notices()))
}

#[tokio::test(start_paused = true)]
async fn a_closure_without_delimiters_gives_every_key_once() {
    let mut random = fastrand::Rng::with_seed(seed());
    for round in 0..30 {
        let key = |random: &mut fastrand::Rng| {
            (0..random.usize(1..12))
                .map(|_| *random.choice(&['a', 'é', '/', '0', '~']).unwrap())
                .collect()
        };
        let keys: BTreeSet<String> = (0..random.usize(0..500)).map(|_| key(&mut random)).collect();
        let keys = Arc::new(keys);
        let after = if random.bool() { key(&mut random) } else { String::new() };
        for order in [Order::Any, Order::Ascending] {
            let request = ListRequest {
                order,
                prefix: if random.bool() { "a".to_owned() } else { String::new() },
                range: KeyRange { after: after.clone(), through: None },
                concurrency: random.usize(1..20),
                is_eager: random.bool(),
                ..ListRequest::default()
            };
            let wanted =
                keys.iter().filter(|key| key.starts_with(&request.prefix) && **key > after);
            let source = store(&keys, random.usize(1..20), 50);
            let (mut found, notices) = keys_of(list(source, request.clone())).await.unwrap();
            if order == Order::Any {
                found.sort();
            }
            assert!(found.iter().eq(wanted), "round {round}, {request:?}");
            assert!(notices.is_empty(), "{notices:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_a_source_ends_the_listing_as_it_is() {
    let source = |query: Query| async move {
        if query.start_after.is_empty() {
            let page = KeyPage { entries: vec![("a".to_owned(), ())], ..KeyPage::default() };
            return Ok(Answer::new(page, Some("a".to_owned())));
        }
        Err(io::Error::new(io::ErrorKind::ConnectionReset, "gone"))
    };
    let mut listing = list(source, ListRequest { concurrency: 1, ..ListRequest::default() });
    assert_eq!(listing.next().await.unwrap().unwrap().page.entries.len(), 1);
    let error = listing.next().await.unwrap().unwrap_err();
    assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::ConnectionReset, "gone".into()));
    assert!(listing.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_ignores_where_to_start_is_listed_by_its_cursors() {
    let keys: Keys = Arc::new((0..500).map(|n| format!("{n:03}")).collect());
    let all = Arc::clone(&keys);
    let source = move |query: Query| {
        let keys = Arc::clone(&all);
        let query = Query { start_after: query.cursor.unwrap_or_default(), ..Query::default() };
        async move { io::Result::Ok(answer(&keys, &query, 20)) }
    };
    let request = ListRequest { order: Order::Ascending, ..ListRequest::default() };
    let (found, notices) = keys_of(list(source, request)).await.unwrap();
    assert!(found.iter().eq(keys.iter()));
    assert_eq!(notices, [Notice::NoStart]);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_returns_its_own_cursor_is_a_fault_of_the_source() {
    let source = |_: Query| async {
        io::Result::Ok(Answer::new(KeyPage::<()>::default(), Some("x".to_owned())))
    };
    let error = keys_of(list(source, ListRequest::default())).await.unwrap_err();
    assert!(error.to_string().contains("does not advance"), "{error}");
}
