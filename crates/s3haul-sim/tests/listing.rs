//! Listings over the wire: versions in small pages, computed stores, and servers that are not S3.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use s3haul_sim::{Sim, SimBuilder, SimServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// The body of an answer.
async fn ask(sim: &Sim, line: &str, body: &str) -> String {
    let (mut near, far) = tokio::io::duplex(64 * 1024);
    let sim = sim.clone();
    let serving = tokio::spawn(async move { sim.serve_connection(far).await });
    let length = body.len();
    let request = format!(
        "{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    near.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    near.read_to_string(&mut answer).await.unwrap();
    serving.await.unwrap();
    answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
}

/// Texts of all elements of a name.
fn texts(xml: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let pieces = xml.split(&open).skip(1);
    pieces.map(|piece| piece.split(&close).next().unwrap().to_owned()).collect()
}

fn text(xml: &str, name: &str) -> Option<String> {
    texts(xml, name).into_iter().next()
}

/// Entries of a page: keys, or groups.
fn entries(xml: &str) -> Vec<String> {
    let mut entries = texts(xml, "Key");
    // The first prefix is the one that was asked for.
    entries.extend(texts(xml, "CommonPrefixes").iter().map(|group| text(group, "Prefix").unwrap()));
    entries
}

fn builder() -> SimBuilder {
    SimServer::builder().allow_anonymous(true)
}

async fn with_keys(builder: SimBuilder, keys: &[&str]) -> Sim {
    let sim = builder.bucket("bbb").build().unwrap();
    for key in keys {
        ask(&sim, &format!("PUT /bbb/{key}"), "x").await;
    }
    sim
}

async fn list(sim: &Sim, query: &str) -> String {
    ask(sim, &format!("GET /bbb?{query}"), "").await
}

/// A bucket with keys of 1, 2, 3 … versions, delete markers among them, from before versioning on.
async fn with_versions(builder: SimBuilder) -> Sim {
    let keys = ["a", "b/1", "b/2", "c", "d/x"];
    let sim = with_keys(builder, &keys).await;
    let on = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    ask(&sim, "PUT /bbb?versioning", on).await;
    for (index, key) in keys.iter().enumerate() {
        for round in 0..index {
            let method = if round % 2 == 1 { "DELETE" } else { "PUT" };
            ask(&sim, &format!("{method} /bbb/{key}"), "y").await;
        }
    }
    sim
}

/// Keys and version ids of a page.
fn versions(xml: &str) -> Vec<(String, String)> {
    texts(xml, "Key").into_iter().zip(texts(xml, "VersionId")).collect()
}

/// All pages of versions, each of so many entries.
async fn all_versions(sim: &Sim, query: &str, page_size: usize) -> (Vec<(String, String)>, usize) {
    let (mut found, mut groups, mut markers) = (Vec::new(), 0, String::new());
    loop {
        let query = format!("versions&max-keys={page_size}{query}{markers}");
        let page = list(sim, &query).await;
        let count = entries(&page).len();
        groups += count - versions(&page).len();
        found.extend(versions(&page));
        if text(&page, "IsTruncated").unwrap() == "false" {
            return (found, groups);
        }
        assert_eq!(count, page_size, "{page}");
        markers = format!("&key-marker={}", text(&page, "NextKeyMarker").unwrap());
        if let Some(id) = text(&page, "NextVersionIdMarker") {
            markers = format!("{markers}&version-id-marker={id}");
        }
    }
}

#[tokio::test]
async fn pages_that_end_within_a_keys_versions_lose_none() {
    let folder = tempfile::tempdir().unwrap();
    for builder in [builder(), builder().disk(folder.path())] {
        let sim = with_versions(builder).await;
        let (all, _) = all_versions(&sim, "", 1000).await;
        let counts: Vec<usize> = ["a", "b/1", "b/2", "c", "d/x"]
            .iter()
            .map(|key| all.iter().filter(|(found, _)| found == key).count())
            .collect();
        assert_eq!(counts, [1, 2, 3, 4, 5]);
        let (grouped, groups) = all_versions(&sim, "&delimiter=/", 1000).await;
        assert_eq!((grouped.len(), groups), (5, 2));
        let (below, _) = all_versions(&sim, "&prefix=b/", 1000).await;
        for page_size in 1..=6 {
            assert_eq!(all_versions(&sim, "", page_size).await.0, all, "{page_size}");
            let paged = all_versions(&sim, "&delimiter=/", page_size).await;
            assert_eq!(paged, (grouped.clone(), 2), "{page_size}");
            assert_eq!(all_versions(&sim, "&prefix=b/", page_size).await.0, below, "{page_size}");
        }
    }
}

#[tokio::test]
async fn versions_that_go_while_they_are_listed_hide_none() {
    let sim = with_versions(builder()).await;
    let page = list(&sim, "versions&prefix=d/&max-keys=2").await;
    let id = text(&page, "NextVersionIdMarker").unwrap();
    for (key, id) in versions(&page) {
        ask(&sim, &format!("DELETE /bbb/{key}?versionId={id}"), "").await;
    }
    let rest = format!("versions&prefix=d/&key-marker=d/x&version-id-marker={id}");
    assert_eq!(versions(&list(&sim, &rest).await).len(), 3);
    let error = list(&sim, "versions&version-id-marker=x").await;
    assert_eq!(text(&error, "Code").as_deref(), Some("InvalidArgument"));
}

#[tokio::test]
async fn computed_stores_list_versions_and_no_uploads() {
    let sim = builder().synthetic("deep:1_000_000_000").build().unwrap();
    let page = ask(&sim, "GET /synthetic?versions&max-keys=2&key-marker=d0000/e5", "").await;
    let ids = texts(&page, "VersionId");
    assert_eq!(
        (texts(&page, "IsLatest"), ids),
        (vec!["true".to_owned(); 2], vec!["null".into(); 2])
    );
    assert_eq!(text(&page, "Key").as_deref(), Some("d0000/e500/f000/file-000.bin"));
    let page = ask(&sim, "GET /synthetic?uploads", "").await;
    assert_eq!(
        (text(&page, "IsTruncated").as_deref(), texts(&page, "Upload").len()),
        (Some("false"), 0)
    );
    let page = ask(&sim, "GET /synthetic?list-type=2&delimiter=/&prefix=d0000/e5", "").await;
    assert_eq!(entries(&page).len(), 100);
    let page = ask(&sim, "PUT /synthetic/k", "x").await;
    assert_eq!(text(&page, "Code").as_deref(), Some("MethodNotAllowed"));
}

const KEYS: [&str; 6] = ["a-1", "a/1", "a/2", "b", "c/1", "c0"];

/// Every entry, page after page by token.
async fn by_token(sim: &Sim, query: &str) -> (Vec<String>, usize) {
    let (mut found, mut pages, mut token) = (Vec::new(), 0, String::new());
    loop {
        let page = list(sim, &format!("list-type=2{query}{token}")).await;
        pages += 1;
        found.extend(entries(&page));
        let Some(next) = text(&page, "NextContinuationToken") else { return (found, pages) };
        token = format!("&continuation-token={next}");
    }
}

#[tokio::test]
async fn short_and_empty_pages_lead_to_every_key() {
    let short = with_keys(builder().list_quirks(|q| q.page_entries_max = Some(4)), &KEYS).await;
    assert_eq!(by_token(&short, "").await, (KEYS.map(str::to_owned).to_vec(), 2));
    let empty = with_keys(builder().list_quirks(|q| q.empty_pages = true), &KEYS).await;
    assert_eq!(by_token(&empty, "&max-keys=3").await, (KEYS.map(str::to_owned).to_vec(), 4));
    let first = list(&empty, "list-type=2&start-after=b").await;
    assert_eq!((text(&first, "IsTruncated").unwrap().as_str(), entries(&first).len()), ("true", 0));
}

#[tokio::test]
async fn old_servers_know_neither_start_after_nor_the_second_version() {
    let sim = with_keys(builder().list_quirks(|q| q.ignores_start_after = true), &KEYS).await;
    let page = list(&sim, "list-type=2&start-after=b").await;
    assert_eq!(entries(&page), KEYS);
    let sim = with_keys(builder().list_quirks(|q| q.only_v1 = true), &KEYS).await;
    let page = list(&sim, "list-type=2&start-after=b&max-keys=2").await;
    assert_eq!(entries(&page), KEYS[..2]);
    assert_eq!((text(&page, "KeyCount"), text(&page, "NextContinuationToken")), (None, None));
    assert_eq!(entries(&list(&sim, "marker=b").await), KEYS[4..]);
}

#[tokio::test]
async fn a_server_of_folders_has_an_order_of_its_own() {
    let sim = with_keys(builder().list_quirks(|q| q.folders_first = true), &KEYS).await;
    let order = ["a/1", "a/2", "a-1", "b", "c/1", "c0"];
    assert_eq!(entries(&list(&sim, "list-type=2").await), order);
    assert_eq!(by_token(&sim, "&max-keys=1").await.0, order);
    assert_eq!(by_token(&sim, "&max-keys=1&delimiter=/").await.0, ["a/", "a-1", "b", "c/", "c0"]);
    // It takes the folder's name for its keys, too.
    assert_eq!(entries(&list(&sim, "list-type=2&start-after=a").await), order[2..]);
}
