//! A row of a listing, and the fields it may show.

use s3haul::plan::conditions::ObjectFacts;
use s3haul_wire::ops::{ListedObject, ListedVersion};

/// An object, or a version of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// Key, size and so on; a delete marker has only a key and a time.
    pub(crate) object: ListedObject<'a>,
    /// What only versions have.
    pub(crate) version: Option<VersionInfo<'a>>,
}

/// What only versions have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VersionInfo<'a> {
    /// Version id.
    pub(crate) id: &'a str,
    /// Whether it is the current one.
    pub(crate) is_latest: bool,
    /// Whether it marks that the object was removed.
    pub(crate) is_delete_marker: bool,
}

impl<'a> From<ListedObject<'a>> for Entry<'a> {
    fn from(object: ListedObject<'a>) -> Self {
        Self { object, version: None }
    }
}

impl<'a> From<&'a ListedVersion> for Entry<'a> {
    fn from(version: &'a ListedVersion) -> Self {
        Self {
            object: version.object(),
            version: Some(VersionInfo {
                id: &version.version_id,
                is_latest: version.is_latest,
                is_delete_marker: version.is_delete_marker,
            }),
        }
    }
}

impl<'a> Entry<'a> {
    /// What conditions are asked about.
    pub(crate) fn facts(&self) -> ObjectFacts<'a> {
        let is_object = !self.is_delete_marker();
        ObjectFacts {
            size: is_object.then_some(self.object.size),
            modified_s: self.object.last_modified_s,
            storage_class: is_object.then_some(self.object.storage_class),
        }
    }

    /// Whether it marks that the object was removed.
    pub(crate) fn is_delete_marker(&self) -> bool {
        self.version.is_some_and(|version| version.is_delete_marker)
    }

    /// The `ETag` without its quotes, as S3 Inventory has it.
    pub(crate) fn bare_etag(&self) -> &'a str {
        bare_etag(self.object.etag)
    }
}

/// An `ETag` without its quotes.
pub(crate) fn bare_etag(etag: &str) -> &str {
    etag.strip_prefix('"').and_then(|etag| etag.strip_suffix('"')).unwrap_or(etag)
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Key.
    Key,
    /// Size in bytes.
    Size,
    /// Time of the last modification.
    LastModified,
    /// `ETag` without its quotes.
    Etag,
    /// Storage class.
    StorageClass,
    /// Bucket.
    Bucket,
    /// Version id.
    VersionId,
    /// Whether it is the current version.
    IsLatest,
    /// Whether it marks that the object was removed.
    IsDeleteMarker,
}

impl Field {
    /// All of them.
    pub(crate) const ALL: [Self; 9] = [
        Self::Key,
        Self::Size,
        Self::LastModified,
        Self::Etag,
        Self::StorageClass,
        Self::Bucket,
        Self::VersionId,
        Self::IsLatest,
        Self::IsDeleteMarker,
    ];
    /// Default columns of tables of objects.
    pub(crate) const OF_OBJECTS: [Self; 5] =
        [Self::Key, Self::Size, Self::LastModified, Self::Etag, Self::StorageClass];
    /// What tables of versions show.
    pub(crate) const OF_VERSIONS: [Self; 8] = [
        Self::Key,
        Self::VersionId,
        Self::IsLatest,
        Self::IsDeleteMarker,
        Self::Size,
        Self::LastModified,
        Self::Etag,
        Self::StorageClass,
    ];

    /// Name in headers and flags.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Size => "size",
            Self::LastModified => "last_modified",
            Self::Etag => "etag",
            Self::StorageClass => "storage_class",
            Self::Bucket => "bucket",
            Self::VersionId => "version_id",
            Self::IsLatest => "is_latest",
            Self::IsDeleteMarker => "is_delete_marker",
        }
    }

    /// Whether only versions have it.
    pub(crate) fn is_of_versions(self) -> bool {
        matches!(self, Self::VersionId | Self::IsLatest | Self::IsDeleteMarker)
    }

    /// Value of an entry; a text that the server did not return is [`Value::Nothing`].
    pub(crate) fn value<'a>(self, entry: &Entry<'a>, bucket: &'a str) -> Value<'a> {
        let text = |text: &'a str| if text.is_empty() { Value::Nothing } else { Value::Text(text) };
        let version = entry.version;
        let flag = |flag: Option<bool>| flag.map_or(Value::Nothing, Value::Flag);
        match self {
            Self::Key => Value::Text(entry.object.key),
            Self::Size => Value::Number(entry.object.size),
            Self::LastModified => Value::Time(entry.object.last_modified_s),
            Self::Etag => text(entry.bare_etag()),
            Self::StorageClass => text(entry.object.storage_class),
            Self::Bucket => Value::Text(bucket),
            Self::VersionId => text(version.map_or("", |version| version.id)),
            Self::IsLatest => flag(version.map(|version| version.is_latest)),
            Self::IsDeleteMarker => flag(version.map(|version| version.is_delete_marker)),
        }
    }
}

/// What stands in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// Not returned by the server.
    Nothing,
    /// Text.
    Text(&'a str),
    /// Number.
    Number(u64),
    /// Seconds since 1970.
    Time(i64),
    /// Yes or no.
    Flag(bool),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_did_not_tell_is_nothing() {
        let object = ListedObject {
            key: "k",
            size: 3,
            last_modified_s: 5,
            etag: "\"e\"",
            storage_class: "",
            ..ListedObject::default()
        };
        let entry = Entry::from(object);
        let values: Vec<_> = Field::ALL.iter().map(|field| field.value(&entry, "b")).collect();
        let none = Value::Nothing;
        let known = [Value::Text("k"), Value::Number(3), Value::Time(5), Value::Text("e"), none];
        assert_eq!(values[..5], known);
        assert_eq!(values[5..], [Value::Text("b"), none, none, none]);
    }

    #[test]
    fn only_a_pair_of_quotes_is_taken_off() {
        let bare = |etag| {
            let object = ListedObject { key: "", etag, ..ListedObject::default() };
            Entry::from(object).bare_etag().len()
        };
        assert_eq!((bare("\"ab\""), bare("ab"), bare("\""), bare("")), (2, 2, 1, 0));
    }
}
