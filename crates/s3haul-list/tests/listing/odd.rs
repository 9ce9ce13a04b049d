//! Servers that list in ways of their own.

use std::collections::BTreeSet;

use s3haul_list::{ListRequest, Notice, Order, list};
use s3haul_wire::ErrorKind;
use s3haul_wire::ops::VersionPage;

use super::server::{Manner, Server};
use super::{all, collect, keys, names, request, seed};

/// Lists; returns all names, sorted, and the notices about the server.
async fn listed(server: &Server, request: ListRequest) -> (Vec<String>, Vec<Notice>) {
    let mut listing = list(server.objects(), request);
    let (pieces, error) = collect(&mut listing).await;
    assert!(error.is_none(), "{error:?}");
    let mut found: Vec<_> = pieces.iter().flat_map(|page_range| names(&page_range.page)).collect();
    found.sort();
    (found, listing.take_notices())
}

#[tokio::test(start_paused = true)]
async fn servers_that_know_version_1_only_are_asked_so() {
    let mut random = fastrand::Rng::with_seed(seed());
    let manners = [
        Manner::Refuses("NotImplemented"),
        Manner::Refuses("InvalidArgument"),
        Manner::Refuses("MethodNotAllowed"),
        Manner::OnlyVersion1,
        Manner::NoStartAfter,
    ];
    for manner in manners {
        for order in [Order::Any, Order::Ascending] {
            for delimiter in [None, Some("/".to_owned())] {
                let keys = keys(&mut random, 300);
                let server = Server::new(1, &keys).with(|state| state.manner = manner);
                let request =
                    ListRequest { delimiter: delimiter.clone(), ..request(&mut random, order) };
                let mut listing = list(server.objects(), request.clone());
                let mut found = all(&mut listing, &request).await.unwrap();
                found.sort();
                let s3 = Server::new(1, &keys);
                assert_eq!(found, listed(&s3, request).await.0, "{manner:?}");
                assert!(listing.take_notices().is_empty(), "{manner:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_nearly_full_is_not_believed_to_be_the_last() {
    let mut random = fastrand::Rng::with_seed(seed());
    for round in 0..40 {
        let keys = keys(&mut random, 300);
        let server = Server::new(round, &keys).with(|state| {
            state.manner = Manner::EndsEarly;
            state.page_max = 1000;
        });
        let order = if random.bool() { Order::Any } else { Order::Ascending };
        let mut request = ListRequest { is_eager: true, ..request(&mut random, order) };
        (request.delimiter, request.page_size) = (None, Some(random.u32(2..6)));
        request.range.after = random.choice(keys.iter()).unwrap().clone();
        let (found, _) = listed(&server, request.clone()).await;
        let wanted: Vec<_> = keys
            .iter()
            .filter(|key| key.starts_with(&request.prefix) && request.range.contains(key))
            .collect();
        assert!(found.iter().eq(wanted), "round {round}");
    }
}

#[tokio::test(start_paused = true)]
async fn servers_that_start_nowhere_are_listed_serially() {
    let mut random = fastrand::Rng::with_seed(seed());
    for round in 0..40 {
        let keys = keys(&mut random, 300);
        let server = Server::new(round, &keys).with(|state| state.manner = Manner::NoStart);
        let order = if random.bool() { Order::Any } else { Order::Ascending };
        let mut request = ListRequest { is_eager: false, ..request(&mut random, order) };
        if random.bool() {
            request.range.after = random.choice(keys.iter()).unwrap().clone();
        }
        let mut listing = list(server.objects(), request.clone());
        let mut found = all(&mut listing, &request).await.unwrap();
        found.sort();
        let wanted: Vec<_> = keys.iter().filter(|key| request.range.contains(key)).collect();
        assert!(found.iter().eq(wanted), "round {round}");
        let notices = listing.take_notices();
        assert!(notices.iter().all(|notice| *notice == Notice::NoStart), "{notices:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_out_of_order_gives_every_key_once_or_an_error_that_names_the_flag() {
    let mut random = fastrand::Rng::with_seed(seed());
    let (mut good, mut refused) = (0, 0);
    for round in 0..80 {
        // Names whose order differs by whether `/` comes first or `-`.
        let name = |random: &mut fastrand::Rng| {
            let letters = ['a', 'b', '-', '/', '.'];
            let length = random.usize(1..12);
            (0..length).map(|_| *random.choice(letters.iter()).unwrap()).collect()
        };
        let keys: BTreeSet<String> = (0..random.usize(1..200)).map(|_| name(&mut random)).collect();
        let manner = if random.bool() { Manner::SlashFirst } else { Manner::ByLength };
        let server = Server::new(round, &keys).with(|state| state.manner = manner);
        let order = if random.bool() { Order::Any } else { Order::Ascending };
        let request = ListRequest { is_serial: round % 4 == 0, ..request(&mut random, order) };
        let mut listing = list(server.objects(), request.clone());
        let (pieces, error) = collect(&mut listing).await;
        let mut found: Vec<_> =
            pieces.iter().flat_map(|page_range| names(&page_range.page)).collect();
        found.sort();
        match error {
            Some(error) => {
                assert!(!request.is_serial, "{error}");
                assert!(error.to_string().contains("`--serial`"), "{error}");
                refused += 1;
            }
            // Where such a server leaves out keys without a sign, no client can notice.
            None if listing.take_notices().is_empty() && !request.is_serial => {}
            None => {
                assert!(found.iter().eq(keys.iter()), "round {round} {manner:?} {request:?}");
                good += 1;
            }
        }
    }
    println!("{good} good, {refused} refused");
    assert!(good > 20);
}

#[tokio::test(start_paused = true)]
async fn a_first_page_out_of_order_is_seen_before_anything_is_handed_out() {
    let keys: BTreeSet<String> = ["-", "a", "k", "q", "z/", "z/1", "zz"].map(str::to_owned).into();
    for round in 0..40 {
        let server = Server::new(round, &keys).with(|state| state.manner = Manner::SlashFirst);
        let server = server.with(|state| {
            state.page_max = 1000;
            state.keys.insert("a-".to_owned(), vec!["null".to_owned()]);
            state.keys.insert("a/".to_owned(), vec!["null".to_owned()]);
            state.slow_before = "-".to_owned();
        });
        let request = ListRequest { is_eager: true, ..ListRequest::default() };
        let (found, notices) = listed(&server, request).await;
        assert_eq!(found.len(), keys.len() + 2, "round {round}");
        assert!(matches!(notices[..], [Notice::OutOfOrder { .. }]), "{notices:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_listing_that_leads_nowhere_is_an_error() {
    let keys: BTreeSet<String> = (0..100).map(|n| format!("{n:03}")).collect();
    for (manner, text) in
        [(Manner::SameToken, "same as before"), (Manner::NoToken, "no continuation token")]
    {
        for is_serial in [false, true] {
            let server = Server::new(1, &keys).with(|state| {
                state.manner = manner;
                state.page_max = 1;
            });
            let request = ListRequest { is_serial, ..ListRequest::default() };
            let (_, error) = collect(&mut list(server.objects(), request.clone())).await;
            let error = error.unwrap();
            assert_eq!(error.kind(), ErrorKind::Server);
            assert!(error.to_string().contains(text), "{error}");
            let (_, error) = collect(&mut list(server.versions(), request)).await;
            assert_eq!(error.unwrap().kind(), ErrorKind::Server);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_always_promises_more_is_not_listed_for_ever() {
    for is_serial in [false, true] {
        let server = Server::new(1, &BTreeSet::new()).with(|state| state.manner = Manner::Endless);
        let request = ListRequest { is_serial, ..ListRequest::default() };
        let (_, error) = collect(&mut list(server.objects(), request)).await;
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Server);
        assert!(error.to_string().contains("does not end"), "{error}");
        assert!(server.state().requests < 11_000, "{}", server.state().requests);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_leaves_keys_out_after_some_starts_is_asked_by_tokens_alone() {
    let mut random = fastrand::Rng::with_seed(seed());
    for _ in 0..40 {
        let keys = keys(&mut random, 300);
        let server = Server::new(1, &keys).with(|state| state.manner = Manner::LeavesOut);
        let order = if random.bool() { Order::Any } else { Order::Ascending };
        let mut request = request(&mut random, order);
        if random.bool() {
            request.range.after = random.choice(keys.iter()).unwrap().clone();
        }
        request.is_serial = random.u8(0..4) == 0;
        request.is_eager = random.bool();
        let found = listed(&server, request.clone()).await;
        let s3 = Server::new(1, &keys);
        assert_eq!(found, (listed(&s3, request.clone()).await.0, Vec::new()));
        let (pieces, error) = collect(&mut list(server.versions(), request.clone())).await;
        assert!(error.is_none(), "{error:?}");
        let count = |page: &VersionPage| page.versions.len();
        let found: usize = pieces.iter().map(|page_range| count(&page_range.page)).sum();
        let (pieces, _) = collect(&mut list(s3.versions(), request)).await;
        assert_eq!(found, pieces.iter().map(|page_range| count(&page_range.page)).sum::<usize>());
    }
}
