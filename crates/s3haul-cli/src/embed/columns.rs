//! Rows of listings and comparisons in columns, whose layout is that of Arrow: texts are bytes with
//! their ends, and a value that is missing has its place.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use s3haul::job::value::Shown;
use s3haul::job::{CompareSink, Compared, Facts, Status};
use s3haul_wire::ops::ListPage;

use crate::commands::{Entries, PageWorker, SelectedPage, Totals};
use crate::failure::Failure;
use crate::render::listing::{Entry, bare_etag};

/// Rows that are handed on at first; then twice as many each time.
const ROWS_MIN: usize = 1_000;
/// Rows that are handed on at a time in the end.
const ROWS_MAX: usize = 32_000;
/// Bytes of keys after which rows are handed on.
const TEXT_BYTES: usize = 8 << 20;
/// Microseconds of a second.
const MICROS: i64 = 1_000_000;

/// A column of texts.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The texts, one right after the other.
    pub bytes: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<i32>,
}

impl Text {
    /// Adds a text.
    ///
    /// # Panics
    ///
    /// If the texts exceed 2 GiB. Columns are handed on long before.
    pub fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.ends.push(offset(self.bytes.len()));
    }

    /// Adds texts that stand one right after the other in `all` and end at `ends`.
    fn push_all(&mut self, all: &str, ends: impl Iterator<Item = usize>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(all.as_bytes());
        self.ends.extend(ends.map(|end| offset(start + end)));
    }

    /// One with room for as much.
    fn like(&self) -> Self {
        let bytes = Vec::with_capacity(self.bytes.capacity());
        Self { bytes, ends: Vec::with_capacity(self.ends.capacity()) }
    }
}

fn offset(bytes: usize) -> i32 {
    i32::try_from(bytes).expect("columns end long before")
}

/// Rows of a listing.
#[derive(Debug, Default)]
pub struct Columns {
    /// Keys.
    pub keys: Text,
    /// Sizes in bytes; 0 for delete markers.
    pub sizes: Vec<i64>,
    /// Times of the last modification, in microseconds since 1970.
    pub modified_us: Vec<i64>,
    /// `ETag`s without their quotes; empty where the server returned none.
    pub etags: Text,
    /// Storage classes; empty where the server returned none.
    pub storage_classes: Text,
    /// Version ids; no rows where objects were listed.
    pub version_ids: Text,
    /// Whether it is the current version; no rows where objects were listed.
    pub are_latest: Vec<bool>,
    /// Whether it is a delete marker; no rows where objects were listed.
    pub are_delete_markers: Vec<bool>,
}

impl Columns {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Takes the rows, and leaves room for as many.
    fn take(&mut self) -> Self {
        let next = Self {
            keys: self.keys.like(),
            sizes: Vec::with_capacity(self.sizes.capacity()),
            modified_us: Vec::with_capacity(self.modified_us.capacity()),
            etags: self.etags.like(),
            storage_classes: self.storage_classes.like(),
            version_ids: self.version_ids.like(),
            are_latest: Vec::with_capacity(self.are_latest.capacity()),
            are_delete_markers: Vec::with_capacity(self.are_delete_markers.capacity()),
        };
        std::mem::replace(self, next)
    }

    /// Adds a whole page, column by column.
    fn push_page(&mut self, page: &ListPage) {
        self.keys.push_all(page.text_of_keys(), page.key_ends());
        self.sizes.extend(page.sizes().map(size));
        self.modified_us.extend(page.times().map(micros));
        page.etags().for_each(|etag| self.etags.push(bare_etag(etag)));
        match page.common_storage_class() {
            Some(class) => {
                let ends = (1..=page.len()).map(|count| count * class.len());
                self.storage_classes.push_all(&class.repeat(page.len()), ends);
            }
            None => page.storage_classes().for_each(|class| self.storage_classes.push(class)),
        }
    }

    fn push(&mut self, entry: &Entry<'_>) {
        let object = &entry.object;
        self.keys.push(object.key);
        self.sizes.push(size(object.size));
        self.modified_us.push(micros((object.last_modified_s, object.last_modified_us)));
        self.etags.push(entry.bare_etag());
        self.storage_classes.push(object.storage_class);
        if let Some(version) = entry.version {
            self.version_ids.push(version.id);
            self.are_latest.push(version.is_latest);
            self.are_delete_markers.push(version.is_delete_marker);
        }
    }
}

fn size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Microseconds since 1970, of seconds and microseconds.
fn micros((seconds, micros): (i64, u32)) -> i64 {
    seconds.saturating_mul(MICROS).saturating_add(i64::from(micros))
}

/// Takes columns; `Break` ends what they come from.
pub(super) type Take<C> = Arc<dyn Fn(C) -> ControlFlow<()> + Send + Sync>;

/// Gathers the rows of pages.
pub(super) struct ColumnsWorker {
    columns: Columns,
    rows_wanted: usize,
    totals: Totals,
    take: Take<Columns>,
}

impl ColumnsWorker {
    pub(super) fn new(take: Take<Columns>) -> Self {
        let (columns, totals) = (Columns::default(), Totals::default());
        Self { columns, rows_wanted: ROWS_MIN, totals, take }
    }
}

impl<P: Entries> PageWorker<P> for ColumnsWorker {
    type Done = Totals;

    fn page(&mut self, page: &SelectedPage<'_, P>) -> Result<ControlFlow<()>, Failure> {
        if let Some(objects) = page.whole().and_then(P::objects) {
            self.totals.add_page(objects);
            self.columns.push_page(objects);
        } else {
            for entry in page.entries() {
                self.totals.add(&entry);
                self.columns.push(&entry);
            }
        }
        if self.columns.len() < self.rows_wanted && self.columns.keys.bytes.len() < TEXT_BYTES {
            return Ok(ControlFlow::Continue(()));
        }
        self.rows_wanted = (self.rows_wanted * 2).min(ROWS_MAX);
        Ok((self.take)(self.columns.take()))
    }

    fn finish(self) -> Result<Totals, Failure> {
        if !self.columns.is_empty() {
            // There is nothing left to end.
            let _ = (self.take)(self.columns);
        }
        Ok(self.totals)
    }
}

/// Rows of a comparison.
#[derive(Debug, Default)]
pub struct ComparedColumns {
    /// Names below the roots.
    pub names: Text,
    /// `only-source`, `only-target`, `different`, `same` or `failed`.
    pub statuses: Text,
    /// What the status rests on, as in the reports of the command; for failures the message.
    pub reasons: Text,
    /// What the sides have.
    pub sides: [SideColumns; 2],
}

/// What one side has, in a comparison.
#[derive(Debug, Default)]
pub struct SideColumns {
    /// Sizes in bytes; none where the side lacks the name.
    pub sizes: Vec<Option<i64>>,
    /// Times of the last modification in microseconds since 1970; none likewise.
    pub modified_us: Vec<Option<i64>>,
}

impl SideColumns {
    fn push(&mut self, facts: Option<Facts>) {
        self.sizes.push(facts.map(|facts| size(facts.size)));
        self.modified_us.push(facts.map(|facts| facts.modified_us));
    }
}

/// Gathers the rows of a comparison that are to be shown.
pub(super) struct ComparedRows {
    pub(super) show: Vec<Shown>,
    pub(super) take: Take<ComparedColumns>,
    pub(super) warn: Box<dyn Fn(&str) + Send + Sync>,
    pub(super) held: Mutex<ComparedColumns>,
}

impl ComparedRows {
    /// Hands on what is left.
    pub(super) fn finish(&self) {
        let rows = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        if !rows.names.ends.is_empty() {
            // There is nothing left to end.
            let _ = (self.take)(rows);
        }
    }

    fn shows(&self, status: &Status) -> bool {
        let shown = match status {
            Status::OnlySource => Shown::OnlySource,
            Status::OnlyTarget => Shown::OnlyTarget,
            Status::Different(_) => Shown::Different,
            Status::Same(_) => Shown::Same,
            Status::Failed(_) => return true,
        };
        self.show.contains(&shown)
    }
}

impl CompareSink for ComparedRows {
    fn compared(&self, compared: &Compared) -> ControlFlow<()> {
        if !self.shows(&compared.status) {
            return ControlFlow::Continue(());
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.names.push(&compared.name);
        held.statuses.push(compared.status.name());
        match &compared.status {
            Status::Failed(error) => held.reasons.push(&error.to_string()),
            status => held.reasons.push(status.reason()),
        }
        for (side, facts) in held.sides.iter_mut().zip([compared.source, compared.target]) {
            side.push(facts);
        }
        if held.names.ends.len() < ROWS_MIN {
            return ControlFlow::Continue(());
        }
        let rows = std::mem::take(&mut *held);
        drop(held);
        (self.take)(rows)
    }

    fn warning(&self, message: &str) {
        (self.warn)(message);
    }
}
