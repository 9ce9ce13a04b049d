//! What the driver must know of a page, whatever is listed: its entries in order, and how to cut
//! it.

use std::future::Future;

use super::fetch::{Context, Position, Version};
use crate::keyspace::ask::Keys;
use s3haul_wire::error::Result;
use s3haul_wire::ops::{ListObjects, ListPage, ListVersions, VersionPage};

/// A page of a listing.
pub(super) trait Page: Default + Send + Sync + 'static {
    /// Whether several entries may have one key.
    const HAS_REPEATS: bool;
    /// Version of the API to begin with.
    const VERSION: Version;

    /// Entries that are no group.
    fn count(&self) -> usize;
    /// Key of one of them.
    fn key(&self, index: usize) -> &str;
    /// The keys of all of them in order.
    fn keys(&self) -> impl Iterator<Item = &str>;
    /// Common prefixes.
    fn groups(&self) -> &[String];
    /// Keeps the first entries and groups only.
    fn cut(&mut self, entries: usize, groups: usize);
    /// Keeps the entries and groups that are wanted.
    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) -> Result<()>;
    /// Bytes of memory, about.
    fn held_bytes(&self) -> usize;
    /// Whether the server says that there is more.
    fn is_truncated(&self) -> bool;
    /// Where the next page begins, if the page says so.
    fn next(&self, version: Version) -> Option<Position>;
    /// Drops a first entry that was the last one of the page before.
    fn drop_repeated(&mut self, position: &Position, floor: &str) -> Result<()>;
    /// Whether it answers an older kind of request than was sent.
    fn is_version_1(&self) -> bool {
        false
    }
    /// Whether the server may leave keys out after the key that a listing starts after.
    fn may_leave_out(&self) -> bool {
        false
    }
    /// Asks for a page.
    fn fetch(
        context: &Context,
        position: &Position,
        version: Version,
    ) -> impl Future<Output = Result<Self>> + Send;
}

impl Page for ListPage {
    const HAS_REPEATS: bool = false;
    const VERSION: Version = Version::Two;

    fn count(&self) -> usize {
        self.len()
    }

    fn key(&self, index: usize) -> &str {
        ListPage::key(self, index).unwrap_or_default()
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        ListPage::keys(self)
    }

    fn groups(&self) -> &[String] {
        &self.common_prefixes
    }

    fn cut(&mut self, entries: usize, groups: usize) {
        self.truncate(entries);
        self.common_prefixes.truncate(groups);
    }

    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        self.common_prefixes.retain(|group| is_wanted(group));
        ListPage::retain(self, is_wanted)
    }

    fn held_bytes(&self) -> usize {
        ListPage::held_bytes(self)
    }

    fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    fn next(&self, version: Version) -> Option<Position> {
        let token = self.next_token.clone()?;
        Some(match version {
            Version::Two => Position::Token(token),
            Version::One => Position::Marker(token),
        })
    }

    fn may_leave_out(&self) -> bool {
        self.may_leave_out
    }

    /// S3 does not repeat keys. With a server that does, an object would be moved twice.
    fn drop_repeated(&mut self, position: &Position, floor: &str) -> Result<()> {
        let goes_on = matches!(position, Position::Token(_) | Position::Marker(_));
        if goes_on && self.get(0).is_some_and(|first| first.key == floor) {
            ListPage::retain(self, |name| name != floor)?;
        }
        Ok(())
    }

    fn is_version_1(&self) -> bool {
        self.is_version_1
    }

    async fn fetch(context: &Context, position: &Position, version: Version) -> Result<Self> {
        let request = &context.request;
        let mut input = ListObjects {
            bucket: &request.bucket,
            prefix: &context.prefix,
            delimiter: request.delimiter.as_deref(),
            max_keys: request.page_size,
            ..ListObjects::default()
        };
        match position {
            Position::Start { after } => {
                input.start_after = Some(after.as_str()).filter(|after| !after.is_empty());
            }
            Position::Token(at) | Position::Marker(at) | Position::Entry { key: at, .. } => {
                input.continuation_token = Some(at);
            }
        }
        match version {
            Version::Two => context.client.list_objects_unchecked(input).await,
            Version::One => context.client.list_objects_v1(input).await,
        }
    }
}

impl Page for VersionPage {
    const HAS_REPEATS: bool = true;
    const VERSION: Version = Version::One;

    fn count(&self) -> usize {
        self.versions.len()
    }

    fn key(&self, index: usize) -> &str {
        self.versions.get(index).map_or("", |version| &version.key)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(|version| version.key.as_str())
    }

    fn groups(&self) -> &[String] {
        &self.common_prefixes
    }

    fn cut(&mut self, entries: usize, groups: usize) {
        self.truncate(entries);
        self.common_prefixes.truncate(groups);
    }

    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
        self.common_prefixes.retain(|group| is_wanted(group));
        self.versions.retain(|version| is_wanted(&version.key));
        Ok(())
    }

    fn held_bytes(&self) -> usize {
        let texts = |version: &s3haul_wire::ops::ListedVersion| {
            version.key.len() + version.version_id.len() + version.etag.len()
        };
        let groups: usize = self.common_prefixes.iter().map(|group| group.len() + 24).sum();
        let versions: usize = self.versions.iter().map(|version| texts(version) + 160).sum();
        groups + versions
    }

    fn may_leave_out(&self) -> bool {
        self.may_leave_out
    }

    fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    fn next(&self, _version: Version) -> Option<Position> {
        let key = self.next_key_marker.clone()?;
        let last = self.versions.last();
        let last = last.map(|version| (version.key.clone(), version.version_id.clone()));
        Some(Position::Entry { key, version_id: self.next_version_id_marker.clone(), last })
    }

    /// Some servers begin a page with the entry that the marker names.
    fn drop_repeated(&mut self, position: &Position, _floor: &str) -> Result<()> {
        let (Position::Entry { last: Some(last), .. }, Some(first)) =
            (position, self.versions.first())
        else {
            return Ok(());
        };
        if (&first.key, &first.version_id) == (&last.0, &last.1) {
            self.versions.remove(0);
        }
        Ok(())
    }

    async fn fetch(context: &Context, position: &Position, _version: Version) -> Result<Self> {
        let request = &context.request;
        let mut input = ListVersions {
            bucket: &request.bucket,
            prefix: &context.prefix,
            delimiter: request.delimiter.as_deref(),
            max_keys: request.page_size,
            ..ListVersions::default()
        };
        match position {
            Position::Start { after: key } => {
                input.key_marker = Some(key.as_str()).filter(|key| !key.is_empty());
            }
            Position::Entry { key, version_id, .. } => {
                input.key_marker = Some(key);
                input.version_id_marker = version_id.as_deref();
            }
            Position::Token(at) | Position::Marker(at) => input.key_marker = Some(at),
        }
        context.client.list_versions(input).await
    }
}

/// The entries and groups of a page as one sequence in the order of their names.
pub(super) struct Merged<'a, P> {
    page: &'a P,
    /// Where there are groups: what stands at each place.
    slots: Vec<Slot>,
    /// Stands for a first group that begins before the place from which was listed: some of its
    /// keys lie after it.
    first: Option<String>,
}

#[derive(Clone, Copy)]
enum Slot {
    Entry(usize),
    Group(usize),
}

impl<'a, P: Page> Merged<'a, P> {
    /// A page that was listed from after `floor` on.
    pub(super) fn new(page: &'a P, floor: &str) -> Self {
        let groups = page.groups();
        let mut merged = Self { page, slots: Vec::new(), first: None };
        if groups.is_empty() {
            return merged;
        }
        merged.slots.reserve(page.count() + groups.len());
        let mut entry = 0;
        for (at, group) in groups.iter().enumerate() {
            while entry < page.count() && page.key(entry) < group.as_str() {
                merged.slots.push(Slot::Entry(entry));
                entry += 1;
            }
            merged.slots.push(Slot::Group(at));
        }
        merged.slots.extend((entry..page.count()).map(Slot::Entry));
        let is_open = matches!(merged.slots.first(), Some(Slot::Group(_)));
        if is_open && floor.starts_with(merged.key(0)) {
            merged.first = Some(format!("{floor}\0"));
        }
        merged
    }

    /// How many entries and groups are among the first `count`.
    pub(super) fn split(&self, count: usize) -> (usize, usize) {
        if self.slots.is_empty() {
            return (count, 0);
        }
        let kept = &self.slots[..count.min(self.slots.len())];
        let groups = kept.iter().filter(|slot| matches!(slot, Slot::Group(_))).count();
        (kept.len() - groups, groups)
    }

    /// The first name.
    pub(super) fn first(&self) -> Option<&str> {
        (!self.is_empty()).then(|| self.key(0))
    }

    /// The last name.
    pub(super) fn last(&self) -> Option<&str> {
        Some(self.key(self.len().checked_sub(1)?))
    }

    /// Whether each name is greater than the one before (or the same, for versions).
    pub(super) fn is_ascending(&self) -> bool {
        if self.slots.is_empty() {
            return ascends::<P>(self.page.keys());
        }
        ascends::<P>((0..self.len()).map(|at| self.key(at)))
    }
}

fn ascends<'a, P: Page>(mut names: impl Iterator<Item = &'a str>) -> bool {
    let Some(mut before) = names.next() else { return true };
    names.all(|name| {
        let is_after = before < name || (P::HAS_REPEATS && before == name);
        before = name;
        is_after
    })
}

impl<P: Page> Keys for Merged<'_, P> {
    fn len(&self) -> usize {
        if self.slots.is_empty() { self.page.count() } else { self.slots.len() }
    }

    fn key(&self, index: usize) -> &str {
        match (&self.first, self.slots.get(index)) {
            (Some(first), _) if index == 0 => first,
            (_, None) => self.page.key(index),
            (_, Some(Slot::Entry(at))) => self.page.key(*at),
            (_, Some(Slot::Group(at))) => &self.page.groups()[*at],
        }
    }
}
