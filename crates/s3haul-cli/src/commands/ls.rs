//! `ls`: the listing of `aws s3 ls`, byte for byte.
//!
//! A page is printed while the next one is on its way. Lines go straight from the page's columns
//! into the output buffer; local times are computed by hand because a million of them are many.

use std::sync::Arc;

use s3haul::plan::wildcard::Wildcard;
use s3haul::s3::Client;
use s3haul::s3::ops::{ListBuckets, ListObjects, ListPage};
use s3haul::units::format_size;
use serde::Serialize;
use tokio::task::JoinSet;

use super::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::json;
use crate::render::time::LocalTime;
use crate::settings::LsSettings;

/// Lists buckets or objects.
pub(super) async fn run(settings: LsSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client(settings.client.clone())?;
    let mut rows = Rows::new(&settings, printer);
    if settings.object.bucket.is_empty() {
        buckets(&client, &settings, &mut rows).await?;
    } else {
        objects(client, &settings, &mut rows).await?;
    }
    if settings.summarize {
        rows.summary();
    }
    if printer.output_is_closed() {
        return Ok(exit::BROKEN_PIPE);
    }
    let nothing = rows.is_empty && !settings.object.key.is_empty();
    Ok(if nothing { exit::FAILED } else { exit::SUCCESS })
}

async fn buckets(
    client: &Client,
    settings: &LsSettings,
    rows: &mut Rows<'_>,
) -> Result<(), Failure> {
    let input = ListBuckets {
        prefix: settings.bucket_name_prefix.as_deref(),
        region: settings.bucket_region.as_deref(),
    };
    for bucket in client.list_buckets(input).await? {
        rows.bucket(&bucket.name, bucket.created_s);
    }
    Ok(())
}

async fn objects(
    client: Client,
    settings: &LsSettings,
    rows: &mut Rows<'_>,
) -> Result<(), Failure> {
    let wildcard = Wildcard::parse(&settings.object.key).filter(|_| !settings.raw);
    let whole_keys = settings.recursive || wildcard.is_some();
    let prefix = wildcard.as_ref().map_or(settings.object.key.as_str(), Wildcard::prefix);
    let request = PageRequest {
        client,
        bucket: settings.object.bucket.clone(),
        prefix: prefix.to_owned(),
        delimiter: (!whole_keys).then_some("/"),
        page_size: settings.page_size,
    };
    let mut pages = JoinSet::new();
    pages.spawn(request.clone().send(None));
    while let Some(page) = pages.join_next().await {
        let page = page.map_err(|error| Failure::other(format!("listing failed: {error}")))??;
        if let Some(token) = page.next_token.clone().filter(|_| page.is_truncated) {
            pages.spawn(request.clone().send(Some(token)));
        }
        rows.page(&page, whole_keys, wildcard.as_ref());
        rows.printer.flush();
        if rows.printer.output_is_closed() {
            break;
        }
    }
    Ok(())
}

#[derive(Clone)]
struct PageRequest {
    client: Client,
    bucket: String,
    prefix: String,
    delimiter: Option<&'static str>,
    page_size: Option<u32>,
}

impl PageRequest {
    async fn send(self, token: Option<String>) -> s3haul::Result<ListPage> {
        let input = ListObjects {
            bucket: &self.bucket,
            prefix: &self.prefix,
            delimiter: self.delimiter,
            continuation_token: token.as_deref(),
            max_keys: self.page_size,
            ..ListObjects::default()
        };
        self.client.list_objects(input).await
    }
}

/// Prints rows and counts them.
struct Rows<'a> {
    printer: &'a Printer,
    json: bool,
    human_readable: bool,
    escape: bool,
    time: LocalTime,
    objects: u64,
    bytes: u64,
    is_empty: bool,
}

#[derive(Serialize)]
struct BucketLine<'a> {
    bucket: &'a str,
    created: String,
}

#[derive(Serialize)]
struct PrefixLine<'a> {
    prefix: &'a str,
}

#[derive(Serialize)]
struct ObjectLine<'a> {
    key: &'a str,
    size: u64,
    last_modified: String,
    etag: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    storage_class: &'a str,
}

#[derive(Serialize)]
struct SummaryLine {
    objects: u64,
    bytes: u64,
}

impl<'a> Rows<'a> {
    fn new(settings: &LsSettings, printer: &'a Printer) -> Self {
        Self {
            printer,
            json: settings.json,
            human_readable: settings.human_readable,
            escape: printer.output_is_terminal(),
            time: if settings.json { LocalTime::utc() } else { LocalTime::system() },
            objects: 0,
            bytes: 0,
            is_empty: true,
        }
    }

    fn bucket(&mut self, name: &str, created_s: i64) {
        let Self { time, json, escape, .. } = self;
        self.printer.output(|buffer| {
            if *json {
                let created = time.iso(created_s);
                return json::push(buffer, "bucket", BucketLine { bucket: name, created });
            }
            time.push(buffer, created_s);
            buffer.push(b' ');
            push_name(buffer, name, *escape);
            buffer.push(b'\n');
        });
    }

    fn page(&mut self, page: &ListPage, whole_keys: bool, wildcard: Option<&Wildcard>) {
        let printer = self.printer;
        printer.output(|buffer| {
            for prefix in &page.common_prefixes {
                self.prefix(buffer, prefix);
            }
            for object in page.iter() {
                if wildcard.is_some_and(|wildcard| !wildcard.matches(object.key)) {
                    continue;
                }
                self.objects += 1;
                self.bytes += object.size;
                self.is_empty = false;
                if self.json {
                    let line = ObjectLine {
                        key: object.key,
                        size: object.size,
                        last_modified: self.time.iso(object.last_modified_s),
                        etag: object.etag,
                        storage_class: object.storage_class,
                    };
                    json::push(buffer, "listed", line);
                } else {
                    let name = if whole_keys { object.key } else { last_component(object.key) };
                    self.object(buffer, name, object.size, object.last_modified_s);
                }
            }
        });
    }

    fn prefix(&mut self, buffer: &mut Vec<u8>, prefix: &str) {
        self.is_empty = false;
        if self.json {
            return json::push(buffer, "prefix", PrefixLine { prefix });
        }
        buffer.extend_from_slice(b"                           PRE ");
        let name = prefix.strip_suffix('/').unwrap_or(prefix);
        push_name(buffer, last_component(name), self.escape);
        buffer.extend_from_slice(b"/\n");
    }

    fn object(&mut self, buffer: &mut Vec<u8>, name: &str, size: u64, modified_s: i64) {
        self.time.push(buffer, modified_s);
        buffer.push(b' ');
        push_size(buffer, size, self.human_readable);
        buffer.push(b' ');
        push_name(buffer, name, self.escape);
        buffer.push(b'\n');
    }

    fn summary(&self) {
        let (objects, bytes) = (self.objects, self.bytes);
        let size = if self.human_readable { format_size(bytes) } else { bytes.to_string() };
        self.printer.output(|buffer| {
            if self.json {
                return json::push(buffer, "listing_summary", SummaryLine { objects, bytes });
            }
            let text = format!("\nTotal Objects: {objects}\n   Total Size: {size}\n");
            buffer.extend_from_slice(text.as_bytes());
        });
    }
}

fn last_component(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// Appends a size, ten columns wide at least, right-aligned.
fn push_size(buffer: &mut Vec<u8>, size: u64, human_readable: bool) {
    const WIDTH: usize = 10;
    let mut digits = itoa::Buffer::new();
    let readable;
    let text = if human_readable {
        readable = format_size(size);
        readable.as_str()
    } else {
        digits.format(size)
    };
    buffer.extend(std::iter::repeat_n(b' ', WIDTH.saturating_sub(text.len())));
    buffer.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fill_ten_columns() {
        let shown = |size, human| {
            let mut buffer = Vec::new();
            push_size(&mut buffer, size, human);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(shown(0, false), "         0");
        assert_eq!(shown(12_345_678_901, false), "12345678901");
        assert_eq!(shown(1536, true), "   1.5 KiB");
    }

    #[test]
    fn names_are_what_follows_the_last_slash() {
        assert_eq!(last_component("a/b/c"), "c");
        assert_eq!(last_component("a/"), "");
        assert_eq!(last_component("a"), "a");
    }
}
