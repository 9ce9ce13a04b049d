//! Listings end to end: the production client against servers that list as they should, and
//! against such that do not, by a paused clock.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests")]
#![expect(unreachable_pub, reason = "a test has no outside")]

mod bounds;
mod odd;
mod real;
mod server;
mod versions;

use std::collections::BTreeSet;

use s3haul_list::{KeyRange, ListRequest, Listing, Order, PageRange, list};
use s3haul_wire::ops::ListPage;
use s3haul_wire::{Error, Result};
use server::Server;

/// Seed of a test's random choices; printed, and taken from the environment.
pub(crate) fn seed() -> u64 {
    let seed = std::env::var("S3HAUL_TEST_SEED").map_or(20_261_121, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    seed
}

/// Keys of several layouts.
pub(crate) fn keys(random: &mut fastrand::Rng, count: usize) -> BTreeSet<String> {
    let kind = random.u8(0..5);
    let mut keys = BTreeSet::new();
    for n in 0..count {
        let letter = char::from_u32(0x4e00 + random.u32(0..500)).unwrap();
        let number = random.u64(0..1 << 40);
        keys.insert(match kind {
            0 => format!("key-{n:06}"),
            1 => format!("{number:010x}"),
            2 => format!("{}/{}/{}", n % 7, number % 13, random.u32(0..1000)),
            3 => format!("日本/{}/{}\u{1f600}", n % 5, letter),
            _ => {
                let alphabet = ['a', 'b', '/', '-', '~', '\u{e9}'];
                (0..random.usize(1..9)).map(|_| *random.choice(alphabet.iter()).unwrap()).collect()
            }
        });
    }
    keys
}

/// A request of random concurrency.
pub(crate) fn request(random: &mut fastrand::Rng, order: Order) -> ListRequest {
    ListRequest {
        order,
        concurrency: random.usize(1..24),
        is_eager: random.bool(),
        ..ListRequest::default()
    }
}

/// All pieces of a listing, or those before the error.
pub(crate) async fn collect<P>(
    listing: &mut Listing<P, Error>,
) -> (Vec<PageRange<P>>, Option<Error>) {
    let mut pieces = Vec::new();
    while let Some(page_range) = listing.next().await {
        match page_range {
            Ok(page_range) => pieces.push(page_range),
            Err(error) => {
                assert!(listing.next().await.is_none(), "something comes after the error");
                return (pieces, Some(error));
            }
        }
    }
    (pieces, None)
}

/// Names of a page: keys and common prefixes.
pub(crate) fn names(page: &ListPage) -> Vec<String> {
    let keys = page.iter().map(|object| object.key.to_owned());
    let mut names: Vec<_> = keys.chain(page.common_prefixes.iter().cloned()).collect();
    names.sort();
    names
}

/// All names that a listing gives, checked against the ranges of its pieces.
pub(crate) async fn all(
    listing: &mut Listing<ListPage, Error>,
    request: &ListRequest,
) -> Result<Vec<String>> {
    let (pieces, error) = collect(listing).await;
    if let Some(error) = error {
        return Err(error);
    }
    let mut all = Vec::new();
    for page_range in &pieces {
        for name in names(&page_range.page) {
            let is_open = request.range.after.starts_with(&name);
            assert!(
                page_range.covers.contains(&name) || is_open,
                "{name} in {:?}",
                page_range.covers
            );
            all.push(name);
        }
    }
    let mut covers: Vec<_> = pieces.into_iter().map(|page_range| page_range.covers).collect();
    if request.order == Order::Any {
        covers.retain(|covers| covers.through.as_ref() != Some(&covers.after));
        covers.sort_by(|left, right| left.after.cmp(&right.after));
    }
    assert_tiled(&covers, &request.range);
    Ok(all)
}

/// Asserts that ranges follow one another from the beginning of a range to its end.
pub(crate) fn assert_tiled(covers: &[KeyRange], range: &KeyRange) {
    let mut end = Some(range.after.clone());
    for covered in covers {
        assert_eq!(Some(&covered.after), end.as_ref());
        end.clone_from(&covered.through);
    }
    assert_eq!(end, range.through);
}

#[tokio::test(start_paused = true)]
async fn every_key_comes_once_in_both_orders() {
    let mut random = fastrand::Rng::with_seed(seed());
    for round in 0..40 {
        let count = random.usize(0..400);
        let keys = keys(&mut random, count);
        let page_max = random.usize(1..40);
        let server = Server::new(round, &keys).with(|state| state.page_max = page_max);
        for order in [Order::Any, Order::Ascending] {
            let request = request(&mut random, order);
            let mut listing = list(server.objects(), request.clone());
            let mut found = all(&mut listing, &request).await.unwrap();
            let wanted: Vec<_> = keys.iter().cloned().collect();
            if order == Order::Any {
                found.sort();
            }
            assert_eq!(found, wanted, "round {round}, {request:?}");
            assert!(listing.take_notices().is_empty());
            assert!(server.state().in_flight_max <= request.concurrency, "round {round}");
            server.state().in_flight_max = 0;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn ranges_prefixes_and_groups_give_what_a_naive_listing_gives() {
    let mut random = fastrand::Rng::with_seed(seed());
    for round in 0..80 {
        let count = random.usize(1..300);
        let keys = keys(&mut random, count);
        let server = Server::new(round, &keys);
        let some = |random: &mut fastrand::Rng| random.choice(keys.iter()).unwrap().clone();
        let mut request = request(&mut random, Order::Ascending);
        if random.bool() {
            let key = some(&mut random);
            let length = random.usize(0..=key.chars().count());
            request.prefix = key.chars().take(length).collect();
        }
        if random.bool() {
            request.range.after = some(&mut random);
        }
        if random.bool() {
            request.range.through =
                Some(some(&mut random)).filter(|through| *through > request.range.after);
        }
        request.delimiter = random.bool().then(|| "/".to_owned());
        let found = all(&mut list(server.objects(), request.clone()), &request).await.unwrap();
        assert_eq!(found, naive(&keys, &request), "round {round}, {request:?}");
    }
}

fn naive(keys: &BTreeSet<String>, request: &ListRequest) -> Vec<String> {
    let mut names = Vec::new();
    for key in keys.iter().filter(|key| **key > request.range.after) {
        let Some(rest) = key.strip_prefix(&request.prefix) else { continue };
        let group = request.delimiter.as_ref().and_then(|delimiter| rest.find(delimiter));
        let name = group.map_or(key.as_str(), |at| &key[..=request.prefix.len() + at]);
        if request.range.reaches(name) {
            names.push(name.to_owned());
        }
    }
    names.dedup();
    names
}

#[tokio::test(start_paused = true)]
async fn shards_of_a_listing_are_the_listing() {
    let mut random = fastrand::Rng::with_seed(seed());
    let keys = keys(&mut random, 300);
    let server = Server::new(1, &keys);
    let middle = keys.iter().nth(keys.len() / 2).unwrap().clone();
    let halves = [
        KeyRange { after: String::new(), through: Some(middle.clone()) },
        KeyRange { after: middle, through: None },
    ];
    let mut found = Vec::new();
    for range in halves {
        let request = ListRequest { range, ..request(&mut random, Order::Ascending) };
        found.extend(all(&mut list(server.objects(), request.clone()), &request).await.unwrap());
    }
    assert!(found.iter().eq(keys.iter()));
}
