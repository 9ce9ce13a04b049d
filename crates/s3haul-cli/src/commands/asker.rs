//! Tags and metadata of objects, which no listing contains: one request an object, many at a time.
//!
//! Requests count together with those of the listing. An object that is gone by now is left out;
//! one whose request fails is reported and counted, and the rest goes on. A server that does not
//! support the request ends the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::StreamExt;
use futures_util::stream;
use s3haul::Error;
use s3haul::plan::encoded_words;
use s3haul_wire::Client;
use s3haul_wire::ops::HeadObject;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::listing::Entries;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::json;
use crate::settings::{FindSettings, ListingSettings};

/// Asks about the entries of pages, from threads that may block.
pub(crate) struct Asker {
    shared: Arc<Shared>,
    runtime: Handle,
}

/// What all requests have in common.
struct Shared {
    client: Client,
    bucket: String,
    find: FindSettings,
    printer: Arc<Printer>,
    json: bool,
    permits: Arc<Semaphore>,
    /// Requests in flight at most, those of the listing among them.
    in_flight_max: usize,
    failed: AtomicU64,
}

/// An entry of a page by itself.
struct Asked {
    index: u32,
    key: String,
    version_id: Option<String>,
}

impl Asker {
    /// Made where a runtime is.
    pub(crate) fn new(
        client: Client,
        listing: &ListingSettings,
        find: &FindSettings,
        printer: &Arc<Printer>,
    ) -> Self {
        let shared = Shared {
            client,
            bucket: listing.bucket.clone(),
            find: find.clone(),
            printer: Arc::clone(printer),
            json: listing.json,
            permits: Arc::new(Semaphore::new(listing.concurrency)),
            in_flight_max: listing.concurrency,
            failed: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared), runtime: Handle::current() }
    }

    /// Requests that may be sent.
    pub(crate) fn permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.shared.permits)
    }

    /// Objects that could not be looked at so far.
    pub(crate) fn failed(&self) -> u64 {
        self.shared.failed.load(Ordering::Relaxed)
    }

    /// Which of these entries of a page have the tags and metadata. Blocks until all answers are
    /// there.
    pub(crate) fn choose<P: Entries>(
        &self,
        page: &P,
        indices: &[u32],
    ) -> Result<Vec<u32>, Failure> {
        let asked = |index: &u32| {
            let entry = page.entry(*index as usize)?;
            if entry.is_delete_marker() {
                return None;
            }
            let version_id = entry.version.map(|version| version.id.to_owned());
            Some(Asked { index: *index, key: entry.object.key.to_owned(), version_id })
        };
        let asked: Vec<_> = indices.iter().filter_map(asked).collect();
        // The runtime may end before this thread does; then the task and its output are gone.
        let task = self.runtime.spawn(Arc::clone(&self.shared).ask_all(asked));
        let chosen = self.runtime.block_on(task);
        let mut chosen = chosen.map_err(|_| Failure::other("the search was ended"))??;
        chosen.sort_unstable();
        Ok(chosen)
    }
}

impl Shared {
    async fn ask_all(self: Arc<Self>, asked: Vec<Asked>) -> Result<Vec<u32>, Failure> {
        let answers = asked.into_iter().map(|one| {
            let shared = Arc::clone(&self);
            async move { shared.ask(&one).await.map(|is_taken| is_taken.then_some(one.index)) }
        });
        let mut answers = stream::iter(answers).buffer_unordered(self.in_flight_max);
        let mut chosen = Vec::new();
        while let Some(answer) = answers.next().await {
            chosen.extend(answer?);
        }
        Ok(chosen)
    }

    /// Whether an object is taken.
    async fn ask(&self, asked: &Asked) -> Result<bool, Failure> {
        let answer = match self.has_metadata(asked).await {
            Ok(true) => self.has_tags(asked).await,
            answer => answer,
        };
        match answer {
            Ok(is_taken) => Ok(is_taken),
            // It was removed since it was listed.
            Err(error) if error.is_missing_object() => Ok(false),
            Err(error) if error.code() == "NotImplemented" => Err(error.into()),
            Err(error) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                self.tell(&asked.key, &error);
                Ok(false)
            }
        }
    }

    async fn has_metadata(&self, asked: &Asked) -> Result<bool, Error> {
        if self.find.metadata.is_empty() {
            return Ok(true);
        }
        let input = HeadObject {
            bucket: &self.bucket,
            key: &asked.key,
            version_id: asked.version_id.as_deref(),
            ..HeadObject::default()
        };
        let permit = self.permits.acquire().await;
        let head = self.client.head_object(input).await;
        drop(permit);
        let mut metadata = head?.properties.metadata.unwrap_or_default();
        for (_, value) in &mut metadata {
            *value = encoded_words::decode(value).into_owned();
        }
        Ok(self.find.metadata.takes(&metadata))
    }

    async fn has_tags(&self, asked: &Asked) -> Result<bool, Error> {
        if self.find.tags.is_empty() {
            return Ok(true);
        }
        let version_id = asked.version_id.as_deref();
        let permit = self.permits.acquire().await;
        let tags = self.client.get_object_tagging(&self.bucket, &asked.key, version_id).await;
        drop(permit);
        Ok(self.find.tags.takes(&tags?))
    }

    fn tell(&self, key: &str, error: &Error) {
        let message = format!("find failed: s3://{}/{key} {error}", self.bucket);
        if self.json {
            return self.printer.output(|buffer| json::push_lack(buffer, &message));
        }
        self.printer.error(|buffer| {
            push_name(buffer, &message, true);
            buffer.push(b'\n');
        });
    }
}
