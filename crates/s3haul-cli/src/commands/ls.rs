//! `ls`: the listing of `aws s3 ls`, byte for byte.
//!
//! Many pages are under way at a time; they are printed in the order of keys. Up to a delimiter
//! `aws` prints the common prefixes of a page before its objects. Our pages end elsewhere, so
//! entries are counted off anew into pages as one request after the other would have brought them.

use std::ops::ControlFlow;
use std::sync::Arc;

use s3haul::hints::{Hints, Listed};
use s3haul::plan::wildcard::Wildcard;
use s3haul_list::{ListRequest, Order, list};
use s3haul_wire::Client;
use s3haul_wire::ops::{ListBuckets, ListedObject};
use s3haul_wire::units::LocalTime;
use serde::Serialize;

use super::list::Totals;
use super::listing::{PageWorker, SelectedPage, run_workers};
use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::json;
use crate::render::listing::{
    Entry, Format, RowFormat, RowStyle, push_prefix_line, push_summary, push_summary_event,
};
use crate::settings::LsSettings;

/// Entries of a page at most.
const PAGE_ENTRIES: u32 = 1000;

/// Lists buckets or objects.
pub(super) async fn run(settings: LsSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client(settings.client.clone())?;
    let (totals, is_empty) = if settings.object.bucket.is_empty() {
        (Totals::default(), buckets(&client, &settings, printer).await?)
    } else {
        objects(client, &settings, printer).await?
    };
    if settings.task.summarize {
        summarize(totals, &settings, printer);
    }
    if printer.output_is_closed() {
        return Ok(exit::BROKEN_PIPE);
    }
    let nothing = is_empty && !settings.object.key.is_empty();
    Ok(if nothing { exit::FAILED } else { exit::SUCCESS })
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

/// Prints the buckets; gives whether there was none.
async fn buckets(
    client: &Client,
    settings: &LsSettings,
    printer: &Printer,
) -> Result<bool, Failure> {
    let input = ListBuckets {
        prefix: settings.task.bucket_name_prefix.as_deref(),
        region: settings.task.bucket_region.as_deref(),
    };
    let buckets = client.list_buckets(input).await?;
    let mut time = if settings.json { LocalTime::utc() } else { LocalTime::system() };
    printer.output(|buffer| {
        for bucket in &buckets {
            if settings.json {
                let created = time.iso(bucket.created_s);
                let line = BucketLine { bucket: &bucket.name, created };
                json::push(buffer, "bucket", line);
                continue;
            }
            time.push(buffer, bucket.created_s);
            buffer.push(b' ');
            push_name(buffer, &bucket.name, printer.output_is_terminal());
            buffer.push(b'\n');
        }
    });
    Ok(buckets.is_empty())
}

/// Prints objects and common prefixes; gives the totals and whether there was nothing.
async fn objects(
    client: Client,
    settings: &LsSettings,
    printer: &Arc<Printer>,
) -> Result<(Totals, bool), Failure> {
    let wildcard = settings.selection.wildcard.as_ref();
    let whole_keys = settings.task.recursive || wildcard.is_some();
    let prefix = wildcard.map_or(settings.object.key.as_str(), Wildcard::prefix);
    let mut request = ListRequest {
        prefix: prefix.to_owned(),
        delimiter: (!whole_keys).then(|| "/".to_owned()),
        order: Order::Ascending,
        concurrency: settings.concurrency,
        page_size: settings.page_size(),
        ..ListRequest::default()
    };
    let selection = settings.selection.clone();
    let rows = Rows::factory(settings, printer, whole_keys);
    // `ls` prints no notice about the server's order: `aws` does not either.
    let tell = |_| {};
    let bucket = settings.object.bucket.as_str();
    let hints = Hints::recall(&client, bucket, Listed::Objects, &mut request).await;
    let listing = (list(s3haul_list::objects(client, bucket), request), hints);
    let done = run_workers(listing, Order::Ascending, selection, tell, rows).await?;
    // In the order of keys there is one worker.
    Ok(done.into_iter().next().unwrap_or((Totals::default(), true)))
}

/// Prints rows and counts them.
struct Rows {
    printer: Arc<Printer>,
    json: bool,
    style: RowStyle,
    whole_keys: bool,
    format: RowFormat,
    totals: Totals,
    is_empty: bool,
    page: Page,
}

/// A page as it is printed: common prefixes, then objects.
#[derive(Default)]
struct Page {
    prefixes: Vec<u8>,
    objects: Vec<u8>,
    entries: u32,
    entries_max: u32,
}

impl Rows {
    fn factory(
        settings: &LsSettings,
        printer: &Arc<Printer>,
        whole_keys: bool,
    ) -> impl Fn() -> Result<Self, Failure> + Send + Sync + 'static {
        let escape = printer.output_is_terminal();
        let style = RowStyle { human_readable: settings.task.human_readable, escape };
        let json = settings.json;
        let format = if json { Format::Events } else { Format::Text };
        let entries_max = settings.page_size().unwrap_or(PAGE_ENTRIES).min(PAGE_ENTRIES);
        let printer = Arc::clone(printer);
        move || {
            Ok(Self {
                printer: Arc::clone(&printer),
                json,
                style,
                whole_keys,
                format: RowFormat::new(format, &[], "", style),
                totals: Totals::default(),
                is_empty: true,
                page: Page { entries_max, ..Page::default() },
            })
        }
    }

    fn object(&mut self, object: ListedObject<'_>) {
        let entry = Entry::from(object);
        self.totals.add(&entry);
        let whole = self.whole_keys || self.json;
        let name = if whole { object.key } else { last_component(object.key) };
        self.format.push_named(&mut self.page.objects, &entry, name);
        self.count();
    }

    /// Takes a page entry by entry.
    fn entries(&mut self, page: &SelectedPage<'_>) {
        let mut prefixes = page.common_prefixes().iter().peekable();
        for object in page.iter() {
            while let Some(prefix) = prefixes.next_if(|prefix| prefix.as_str() < object.key) {
                self.prefix(prefix);
            }
            self.object(object);
        }
        prefixes.for_each(|prefix| self.prefix(prefix));
    }

    /// Takes a page whose lines can be made all at once; `true` if it was one.
    fn whole_page(&mut self, page: &SelectedPage<'_>) -> bool {
        let Some(page) = page.whole().filter(|page| page.common_prefixes.is_empty()) else {
            return false;
        };
        if !self.whole_keys || !self.format.push_page(&mut self.page.objects, page) {
            return false;
        }
        self.totals.add_page(page);
        self.is_empty &= page.is_empty();
        true
    }

    fn prefix(&mut self, prefix: &str) {
        let buffer = &mut self.page.prefixes;
        if self.json {
            json::push(buffer, "prefix", PrefixLine { prefix });
        } else {
            let name = last_component(prefix.strip_suffix('/').unwrap_or(prefix));
            push_prefix_line(buffer, name, self.style);
        }
        self.count();
    }

    fn count(&mut self) {
        self.is_empty = false;
        self.page.entries += 1;
        if self.page.entries >= self.page.entries_max {
            self.print();
        }
    }

    fn print(&mut self) {
        let Page { prefixes, objects, entries, .. } = &mut self.page;
        self.printer.output(|buffer| {
            buffer.extend_from_slice(prefixes);
            buffer.extend_from_slice(objects);
        });
        self.printer.flush();
        prefixes.clear();
        objects.clear();
        *entries = 0;
    }
}

impl PageWorker for Rows {
    type Done = (Totals, bool);

    fn page(&mut self, page: &SelectedPage<'_>) -> Result<ControlFlow<()>, Failure> {
        if !self.whole_page(page) {
            self.entries(page);
        }
        if self.whole_keys {
            self.print();
        }
        let closed = self.printer.output_is_closed();
        Ok(if closed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn finish(mut self) -> Result<(Totals, bool), Failure> {
        self.print();
        Ok((self.totals, self.is_empty))
    }
}

fn summarize(totals: Totals, settings: &LsSettings, printer: &Printer) {
    let Totals { objects, bytes } = totals;
    let style = RowStyle { human_readable: settings.task.human_readable, escape: false };
    printer.output(|buffer| {
        if settings.json {
            push_summary_event(buffer, objects, bytes, None);
        } else {
            push_summary(buffer, objects, bytes, style);
        }
    });
}

fn last_component(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_follows_the_last_slash() {
        assert_eq!(last_component("a/b/c"), "c");
        assert_eq!(last_component("a/"), "");
        assert_eq!(last_component("a"), "a");
    }
}
