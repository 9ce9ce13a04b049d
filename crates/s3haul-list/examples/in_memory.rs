//! Lists a sorted map through a closure, with 20 ms a request on a simulated clock: the lister
//! without S3.
//!
//! `cargo run -p s3haul-list --no-default-features --example in_memory`

#![expect(clippy::print_stdout, reason = "it prints what it found")]

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use s3haul_list::{Answer, KeyPage, ListRequest, Order, Query, list};
use tokio::time::Instant;

/// Entries and common prefixes of a page.
const PAGE_NAMES: usize = 1000;
/// What each request takes.
const LATENCY: Duration = Duration::from_millis(20);

/// Keys and sizes.
type Store = BTreeMap<String, u64>;

/// Days of logs, each in a folder with files of several hosts.
fn store() -> Store {
    let name = |n: u64| format!("logs/2026-{:02}-{:02}/host-{n:06}.gz", n % 12 + 1, n % 28 + 1);
    (0..200_000).map(|n| (name(n), n)).collect()
}

/// What a store answers: names after `start_after`, up to a page of them.
fn page(store: &Store, query: &Query) -> Answer<KeyPage<u64>> {
    let mut page = KeyPage::default();
    let past = |folder: &str| format!("{folder}{}", char::MAX);
    let mut last = match &query.delimiter {
        // What is in a folder was settled by its name.
        Some(delimiter) if query.start_after.ends_with(delimiter) => past(&query.start_after),
        _ => query.start_after.clone(),
    };
    while page.entries.len() + page.common_prefixes.len() < PAGE_NAMES {
        let start = if last < query.prefix { Included(&*query.prefix) } else { Excluded(&*last) };
        let next = store.range::<str, _>((start, Unbounded)).next();
        let Some((key, size)) = next.filter(|(key, _)| key.starts_with(&query.prefix)) else {
            return Answer::new(page, None);
        };
        let rest = &key[query.prefix.len()..];
        let folder = query.delimiter.as_ref().and_then(|delimiter| {
            rest.find(delimiter).map(|at| &key[..query.prefix.len() + at + delimiter.len()])
        });
        if let Some(folder) = folder {
            page.common_prefixes.push(folder.to_owned());
            last = past(folder);
        } else {
            page.entries.push((key.clone(), *size));
            last.clone_from(key);
        }
    }
    // `start_after` of the next page says it all, so that the cursor only says that there is one.
    Answer::new(page, Some(last))
}

/// Lists everything with so many requests in flight; gives keys, requests and time.
async fn measure(store: &Arc<Store>, concurrency: usize) -> io::Result<(usize, u32, Duration)> {
    let requests = Arc::new(AtomicU32::new(0));
    let source = {
        let (store, requests) = (Arc::clone(store), Arc::clone(&requests));
        move |query: Query| {
            let store = Arc::clone(&store);
            requests.fetch_add(1, Ordering::Relaxed);
            async move {
                tokio::time::sleep(LATENCY).await;
                io::Result::Ok(page(&store, &query))
            }
        }
    };
    let request = ListRequest { order: Order::Ascending, concurrency, ..ListRequest::default() };
    let (begin, mut keys) = (Instant::now(), Vec::new());
    let mut listing = list(source, request);
    while let Some(page_range) = listing.next().await {
        keys.extend(page_range?.page.entries);
    }
    assert!(keys.iter().map(|(key, size)| (key, size)).eq(store.iter()), "each key once, in order");
    Ok((keys.len(), requests.load(Ordering::Relaxed), begin.elapsed()))
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() -> io::Result<()> {
    let store = Arc::new(store());
    let (_, _, serial) = measure(&store, 1).await?;
    let (keys, requests, parallel) = measure(&store, 64).await?;
    println!("{keys} keys: {requests} requests, {parallel:?} instead of {serial:?}");
    assert!(parallel * 10 < serial, "64 requests in flight are worth it");
    Ok(())
}
