//! A row of a manifest, whatever it was written in, and the object that it names.

use jiff::Timestamp;
use s3haul::job::{ListedFacts, ManifestEntry, Version};
use s3haul::plan::s3_uri;

use crate::table::Cell;

/// Most bytes of a key of S3, and of anything else that is kept of a row: rows are longer, and a
/// thousand of them wait. <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html>
pub(super) const TEXT_MAX: usize = 1024;

/// What is wrong with more.
pub(super) const TOO_LONG: &str = "of more than 1,024 bytes, which nothing in S3 has";

/// A column that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Bucket.
    Bucket,
    /// Key.
    Key,
    /// Version id.
    VersionId,
    /// Whether it is the current version.
    IsLatest,
    /// Whether it marks that the object was removed.
    IsDeleteMarker,
    /// Size in bytes.
    Size,
    /// Time of the last modification.
    LastModified,
    /// `ETag`.
    Etag,
    /// Storage class.
    StorageClass,
}

impl Column {
    /// All, in order.
    pub(super) const ALL: [Self; 9] = [
        Self::Bucket,
        Self::Key,
        Self::VersionId,
        Self::IsLatest,
        Self::IsDeleteMarker,
        Self::Size,
        Self::LastModified,
        Self::Etag,
        Self::StorageClass,
    ];

    /// The column of a name: as listings have it (`last_modified`), as S3 Inventory has it in
    /// tables (`last_modified_date`) and in its manifest (`LastModifiedDate`).
    pub(super) fn of(name: &str) -> Option<Self> {
        let plain = |character: &char| !matches!(character, '_' | ' ');
        let name: String = name.chars().filter(plain).collect::<String>().to_ascii_lowercase();
        Some(match name.as_str() {
            "bucket" => Self::Bucket,
            "key" => Self::Key,
            "versionid" => Self::VersionId,
            "islatest" => Self::IsLatest,
            "isdeletemarker" => Self::IsDeleteMarker,
            "size" => Self::Size,
            "lastmodified" | "lastmodifieddate" => Self::LastModified,
            "etag" => Self::Etag,
            "storageclass" => Self::StorageClass,
            _ => return None,
        })
    }

    /// What its values are, with an article, for messages.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Bucket => "a bucket",
            Self::Key => "a key",
            Self::VersionId => "a version id",
            Self::IsLatest => "a value of `is_latest` (true or false)",
            Self::IsDeleteMarker => "a value of `is_delete_marker` (true or false)",
            Self::Size => "a size in bytes",
            Self::LastModified => "a time (such as 2026-01-31T00:00:00Z)",
            Self::Etag => "an ETag",
            Self::StorageClass => "a storage class",
        }
    }
}

/// Content of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) bucket: Option<String>,
    pub(super) key: String,
    pub(super) version_id: String,
    pub(super) is_latest: Option<bool>,
    pub(super) is_delete_marker: Option<bool>,
    pub(super) size: Option<u64>,
    pub(super) last_modified_s: Option<i64>,
    pub(super) etag: String,
    /// Nothing where there is no such column.
    pub(super) storage_class: Option<String>,
}

impl Row {
    /// Takes a cell in; false where it makes no sense. What is empty is unknown.
    pub(super) fn set(&mut self, column: Column, text: &str) -> bool {
        let flag = || text.to_ascii_lowercase().parse::<bool>().ok();
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match column {
            Column::Bucket => self.bucket = Some(text.to_owned()).filter(|name| !name.is_empty()),
            Column::Key => text.clone_into(&mut self.key),
            Column::VersionId => text.clone_into(&mut self.version_id),
            Column::IsLatest => self.is_latest = flag(),
            Column::IsDeleteMarker => self.is_delete_marker = flag(),
            Column::Size => self.size = text.parse().ok().filter(|_| is_digits),
            Column::LastModified => self.last_modified_s = seconds_of(text),
            Column::Etag => text.clone_into(&mut self.etag),
            Column::StorageClass => self.storage_class = Some(text.to_owned()),
        }
        text.is_empty()
            || match column {
                Column::IsLatest => self.is_latest.is_some(),
                Column::IsDeleteMarker => self.is_delete_marker.is_some(),
                Column::Size => self.size.is_some(),
                Column::LastModified => self.last_modified_s.is_some(),
                Column::Bucket
                | Column::Key
                | Column::VersionId
                | Column::Etag
                | Column::StorageClass => true,
            }
    }

    /// Takes a value of a table in; false where it is of another sort than the column's, or makes
    /// no sense.
    pub(super) fn take(&mut self, column: Column, cell: Cell<'_>) -> bool {
        match (column, cell) {
            (Column::StorageClass, Cell::Nothing) => self.storage_class = Some(String::new()),
            (_, Cell::Nothing) => {}
            (_, Cell::Text(text)) => return self.set(column, text),
            (Column::Size, Cell::Number(size)) => {
                self.size = u64::try_from(size).ok();
                return self.size.is_some();
            }
            (Column::LastModified, Cell::Number(time)) => {
                self.last_modified_s = Some(time);
                return Timestamp::from_second(time).is_ok();
            }
            (Column::IsLatest, Cell::Flag(flag)) => self.is_latest = Some(flag),
            (Column::IsDeleteMarker, Cell::Flag(flag)) => self.is_delete_marker = Some(flag),
            _ => return false,
        }
        true
    }

    /// The object that is named.
    pub(super) fn into_entry(self) -> ManifestEntry {
        let version = self.version();
        let facts = self.facts();
        ManifestEntry { bucket: self.bucket, key: self.key, facts, version }
    }

    fn version(&self) -> Version {
        match (self.is_delete_marker, self.is_latest) {
            (Some(true), _) | (_, Some(false)) => Version::Hidden,
            (_, None) if !self.version_id.is_empty() => Version::Named,
            _ => Version::Current,
        }
    }

    /// What a listing would contain; `None` if any of it is missing.
    fn facts(&self) -> Option<ListedFacts> {
        let etag = match self.etag.as_str() {
            "" => return None,
            quoted if quoted.starts_with('"') => quoted.to_owned(),
            bare => format!("\"{bare}\""),
        };
        Some(ListedFacts {
            size: self.size?,
            last_modified_s: self.last_modified_s?,
            etag,
            storage_class: self.storage_class.clone()?,
        })
    }
}

/// Refuses what is too long to be kept.
pub(super) fn check_lengths(entry: &ManifestEntry) -> Result<(), String> {
    let facts = entry.facts.as_ref();
    let texts = [
        (Column::Key, Some(&entry.key)),
        (Column::Bucket, entry.bucket.as_ref()),
        (Column::Etag, facts.map(|facts| &facts.etag)),
        (Column::StorageClass, facts.map(|facts| &facts.storage_class)),
    ];
    let is_long = |text: &String| text.len() > TEXT_MAX;
    match texts.into_iter().find(|(_, text)| text.is_some_and(is_long)) {
        Some((column, _)) => Err(format!("it has {} {TOO_LONG}", column.meaning())),
        None => Ok(()),
    }
}

/// An entry of a key or an address.
pub(super) fn named(text: &str) -> Option<ManifestEntry> {
    let (bucket, key) = if s3_uri::is_s3(text) {
        s3_uri::parse(text).ok().map(|name| (Some(name.bucket), name.key))?
    } else {
        (None, text.to_owned())
    };
    Some(ManifestEntry { bucket, key, ..ManifestEntry::default() })
}

fn seconds_of(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, &str)]) -> ManifestEntry {
        let mut row = Row::default();
        for (name, text) in cells {
            assert!(row.set(Column::of(name).unwrap(), text), "{name} {text}");
        }
        row.into_entry()
    }

    #[test]
    fn facts_are_whole_or_none() {
        let cells = [
            ("Key", "k"),
            ("Size", "7"),
            ("LastModifiedDate", "2026-01-01T00:00:00.000Z"),
            ("ETag", "abc-2"),
            ("StorageClass", ""),
        ];
        let facts = row(&cells).facts.unwrap();
        assert_eq!((facts.size, facts.last_modified_s), (7, 1_767_225_600));
        assert_eq!((facts.etag.as_str(), facts.storage_class.as_str()), ("\"abc-2\"", ""));
        for left_out in 1..cells.len() {
            let mut rest = cells.to_vec();
            rest.remove(left_out);
            assert_eq!(row(&rest).facts, None, "{left_out}");
        }
    }

    #[test]
    fn versions_are_current_hidden_or_named() {
        for (cells, expected) in [
            (&[("key", "k")][..], Version::Current),
            (&[("version_id", "v")], Version::Named),
            (&[("version_id", "v"), ("is_latest", "TRUE")], Version::Current),
            (&[("version_id", "v"), ("is_latest", "false")], Version::Hidden),
            (&[("is_latest", "true"), ("is_delete_marker", "true")], Version::Hidden),
        ] {
            assert_eq!(row(cells).version, expected, "{cells:?}");
        }
        assert!(!Row::default().set(Column::IsLatest, "perhaps"));
    }

    #[test]
    fn sizes_times_and_flags_that_are_none_are_refused_in_text_and_tables() {
        use Column::{IsDeleteMarker, IsLatest, LastModified, Size};
        for (column, refused) in [
            (Size, &["abc", "-1", "+1", "1.5", "1e3", " 1", "0x1", "18446744073709551616"][..]),
            (LastModified, &["yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "1767225600"]),
            (IsLatest, &["perhaps", "1"]),
            (IsDeleteMarker, &["no"]),
        ] {
            for text in refused {
                assert!(!Row::default().set(column, text), "{column:?} {text}");
                let cell = Cell::Text(text);
                assert!(!Row::default().take(column, cell), "{column:?} {text}");
            }
            assert!(Row::default().set(column, ""), "what is empty is unknown");
            assert!(Row::default().take(column, Cell::Nothing));
        }
        for cell in [Cell::Number(-1), Cell::Flag(true)] {
            assert!(!Row::default().take(Size, cell));
        }
        for cell in [Cell::Number(i64::MAX), Cell::Number(i64::MIN), Cell::Flag(true)] {
            assert!(!Row::default().take(LastModified, cell));
        }
        assert!(!Row::default().take(IsLatest, Cell::Number(1)));
    }
}
