//! Versions and delete markers: pages may end within a key's versions.

use std::collections::BTreeSet;

use s3haul_list::{ListRequest, Order, list};

use super::server::{Manner, Server};
use super::{collect, keys, request, seed};

#[tokio::test(start_paused = true)]
async fn every_version_comes_once_in_both_orders() {
    let mut random = fastrand::Rng::with_seed(seed());
    for round in 0..20 {
        let count = random.usize(0..60);
        let keys = keys(&mut random, count);
        let server = Server::new(round, &keys).with(|state| state.page_max = 8);
        if round % 3 == 0 {
            server.state().manner = Manner::RepeatsVersion;
        }
        let mut wanted = Vec::new();
        for (key, versions) in &mut server.state().keys {
            *versions = (0..random.usize(1..14)).map(|n| format!("v{n:02}")).collect();
            wanted.extend(versions.iter().map(|version| (key.clone(), version.clone())));
        }
        for order in [Order::Any, Order::Ascending] {
            let mut request = request(&mut random, order);
            if let Some(key) = random.choice(keys.iter()).filter(|_| random.bool()) {
                // The range ends with a key that has more versions than a page.
                request.range.through = Some(key.clone());
            }
            let listed = listed(&server, &request).await;
            let wanted: Vec<_> =
                wanted.iter().filter(|(key, _)| request.range.reaches(key)).cloned().collect();
            assert_eq!(listed, wanted, "round {round}, {request:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn pages_that_never_get_past_their_first_entry_are_an_error() {
    let keys = BTreeSet::from(["a".to_owned()]);
    let server = Server::new(1, &keys).with(|state| {
        state.page_max = 8;
        state.manner = Manner::RepeatsVersion;
        state.keys.insert("a".to_owned(), vec!["v1".to_owned(), "v2".to_owned()]);
    });
    let request = ListRequest { page_size: Some(1), ..ListRequest::default() };
    let (_, error) = collect(&mut list(server.versions(), request)).await;
    assert!(error.unwrap().to_string().contains("does not advance"));
}

async fn listed(server: &Server, request: &ListRequest) -> Vec<(String, String)> {
    let mut listing = list(server.versions(), request.clone());
    let (pieces, error) = collect(&mut listing).await;
    assert!(error.is_none(), "{error:?}");
    let versions = pieces.into_iter().flat_map(|page_range| page_range.page.versions);
    let mut listed: Vec<_> = versions.map(|version| (version.key, version.version_id)).collect();
    if request.order == Order::Any {
        listed.sort();
    }
    listed
}
