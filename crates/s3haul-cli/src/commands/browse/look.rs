//! Single questions to the service: a folder, an object, its tags, its versions.

use std::sync::Arc;

use s3haul_wire::ops::{Conditions, GetObject, HeadObject, ListObjects, ListVersions};
use s3haul_wire::units::{ByteRange, format_size};
use s3haul_wire::{Client, Error};

use super::saved::Saved;
use super::source::Source;
use crate::browse::{Answer, Ask, Listed, Preview, Row, VersionRow};
use crate::commands::head::{fields, utc};
use crate::render::listing::bare_etag;
use crate::terminal::content;

/// Bytes of an object that are shown.
const CONTENT_BYTES: u16 = 1024;
/// Rows of a folder that are shown at a time.
const ROWS_MAX: usize = 100_000;
/// Versions that are shown.
const VERSIONS_MAX: usize = 10_000;

/// Answers a question about what is listed.
pub(super) async fn answer(source: Source, ask: Ask) -> Answer {
    let (client, listing) = match source {
        Source::Service { client, listing } => (client, listing),
        Source::File(saved) => return saved_answer(&saved, ask).await,
    };
    let bucket = &listing.bucket;
    match ask {
        Ask::Open { path, from } => {
            // The topmost folder may be a part of one.
            let prefix = if path.len() < listing.prefix.len() { &listing.prefix } else { &path };
            let listed = open(&client, bucket, prefix, path.len(), from).await;
            Answer::Opened { listed: listed.map_err(|error| error.to_string()), path }
        }
        Ask::Preview { key, version_id } => {
            let preview = preview(&client, bucket, &key, version_id.as_deref()).await;
            Answer::Preview { preview: preview.map_err(|error| error.to_string()), key }
        }
        Ask::Tags { key, version_id } => {
            let tags = client.get_object_tagging(bucket, &key, version_id.as_deref()).await;
            Answer::Tags { tags: tags.map_err(|error| error.to_string()), key }
        }
        Ask::Versions { path, is_folder } => {
            let listed = versions(&client, bucket, &path, is_folder).await;
            Answer::Versions { listed: listed.map_err(|error| error.to_string()), path }
        }
        other => unasked(&other),
    }
}

async fn saved_answer(saved: &Arc<Saved>, ask: Ask) -> Answer {
    let Ask::Open { path, from } = ask else { return unasked(&ask) };
    let (saved, folder) = (Arc::clone(saved), path.clone());
    let read = tokio::task::spawn_blocking(move || saved.rows(&folder, from.as_deref()));
    let listed = read.await.unwrap_or_else(|error| Err(error.to_string()));
    Answer::Opened { path, listed }
}

fn unasked(ask: &Ask) -> Answer {
    Answer::Said(format!("internal error: no answer to {ask:?}"))
}

/// Lists a folder up to the next slash.
async fn open(
    client: &Client,
    bucket: &str,
    prefix: &str,
    path_length: usize,
    from: Option<String>,
) -> Result<Listed<Row>, Error> {
    let (mut rows, mut next) = (Vec::new(), from);
    loop {
        let input = ListObjects {
            bucket,
            prefix,
            delimiter: Some("/"),
            continuation_token: next.as_deref(),
            ..ListObjects::default()
        };
        let page = client.list_objects(input).await?;
        for folder in &page.common_prefixes {
            let name = folder.get(path_length..).unwrap_or_default();
            rows.push(Row::unknown_folder(name.strip_suffix('/').unwrap_or(name)));
        }
        let objects = (0..page.len()).filter_map(|at| page.get(at));
        rows.extend(objects.map(|object| Row {
            name: object.key.get(path_length..).unwrap_or_default().into(),
            is_folder: false,
            size: Some(object.size),
            objects: None,
            modified_s: Some(object.last_modified_s),
            class: object.storage_class.into(),
        }));
        next.clone_from(&page.next_token);
        if !page.is_truncated {
            return Ok(Listed { rows, next: None });
        }
        if rows.len() >= ROWS_MAX {
            return Ok(Listed { rows, next });
        }
    }
}

/// What a HEAD says of an object, and its beginning.
async fn preview(
    client: &Client,
    bucket: &str,
    key: &str,
    version_id: Option<&str>,
) -> Result<Preview, Error> {
    let input = HeadObject { bucket, key, version_id, customer_key: None, checksums: true };
    let head = client.head_object(input).await?;
    let mut shown = vec![
        ("Size".to_owned(), format!("{} ({} bytes)", format_size(head.size), head.size)),
        ("Last-Modified".to_owned(), utc(head.last_modified_s)),
        ("ETag".to_owned(), bare_etag(&head.etag).to_owned()),
    ];
    shown.extend(fields(&head).into_iter().map(|(name, value)| (name.to_owned(), value)));
    let metadata = head.properties.metadata.iter().flatten();
    shown.extend(metadata.map(|(name, value)| (format!("Metadata {name}"), value.clone())));
    let content = match beginning(client, (bucket, key), version_id, &head.etag, head.size).await {
        Ok(bytes) => content(&bytes),
        // An archived object has a head and no content.
        Err(error) => content(error.to_string().as_bytes()),
    };
    Ok(Preview { fields: shown, content })
}

async fn beginning(
    client: &Client,
    (bucket, key): (&str, &str),
    version_id: Option<&str>,
    etag: &str,
    size: u64,
) -> Result<Vec<u8>, Error> {
    if size == 0 {
        return Ok(Vec::new());
    }
    let input = GetObject {
        bucket,
        key,
        version_id,
        range: Some(ByteRange { start: 0, end: size.min(CONTENT_BYTES.into()) }),
        conditions: Conditions { if_match: Some(etag), if_absent: false },
        ..GetObject::default()
    };
    let mut answer = client.get_object(input).await?;
    Ok(answer.body.collect(CONTENT_BYTES.into()).await?.to_vec())
}

/// Versions and delete markers of a key, or of all keys of a folder without those below it.
async fn versions(
    client: &Client,
    bucket: &str,
    path: &str,
    is_folder: bool,
) -> Result<Listed<VersionRow>, Error> {
    let mut rows = Vec::new();
    let (mut key_marker, mut id_marker): (Option<String>, Option<String>) = (None, None);
    loop {
        let input = ListVersions {
            bucket,
            prefix: path,
            delimiter: is_folder.then_some("/"),
            key_marker: key_marker.as_deref(),
            version_id_marker: id_marker.as_deref(),
            max_keys: None,
        };
        let page = client.list_versions(input).await?;
        for version in page.versions {
            // The key comes before those that only begin with it.
            if !is_folder && version.key != path {
                return Ok(Listed { rows, next: None });
            }
            rows.push(VersionRow {
                key: version.key,
                version_id: version.version_id,
                is_latest: version.is_latest,
                is_delete_marker: version.is_delete_marker,
                size: version.size,
                modified_s: version.last_modified_s,
                class: version.storage_class,
            });
        }
        let is_last = !page.is_truncated || page.next_key_marker.is_none();
        if is_last || rows.len() >= VERSIONS_MAX {
            let next = page.next_key_marker.filter(|_| page.is_truncated);
            return Ok(Listed { rows, next });
        }
        (key_marker, id_marker) = (page.next_key_marker, page.next_version_id_marker);
    }
}
