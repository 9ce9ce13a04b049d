//! What `set` makes of an object: the rule from what is wanted and what HEAD returns to what is
//! sent. Pure.
//!
//! S3 changes headers, metadata, storage class and encryption only by a copy of the object onto
//! itself, and what is not sent with such a copy is lost. So the copy repeats all that is kept:
//! content headers, metadata, storage class, encryption, redirect, retention and legal hold (tags
//! are kept by S3, or read and sent again where the copy goes in parts). Access control list,
//! retention and legal hold alone need no copy. Nothing is sent for what is so already.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::encoded_words::decode;
use crate::plan::price::STANDARD;
use crate::plan::restore::{ArchiveFacts, ArchiveState};
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::{Encryption, LockMode, ObjectHead, ObjectProperties, Retention};

/// Bytes of user metadata that S3 allows for an object, names and values together.
const METADATA_BYTES_MAX: usize = 2048;

/// What is to be changed of each object; everything else is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectChange {
    /// Content headers (an empty text removes one), metadata (instead of all that there is),
    /// storage class, encryption, canned ACL, retention and legal hold.
    pub properties: ObjectProperties,
    /// Metadata to add; a name that is there gets the new value.
    pub add_metadata: Vec<(String, String)>,
    /// Names of metadata to remove.
    pub remove_metadata: Vec<String>,
    /// Retention in governance mode may be shortened.
    pub bypass_governance: bool,
    /// The access control list is read before a copy, which would reset it, and kept.
    pub keep_acl: bool,
}

/// A copy of an object onto itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelfCopy {
    /// All that the object carries afterwards, except tags.
    pub(crate) properties: ObjectProperties,
    /// Content headers and metadata differ, so that all of them are sent.
    pub(crate) replaces_metadata: bool,
}

/// What is done about a legal hold that no copy brings along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LegalHoldStep {
    /// Nothing.
    #[default]
    Nothing,
    /// It is set or ended.
    Put(bool),
    /// It is ended if there is one, which HEAD did not show.
    EndIfThere,
}

/// What is done to one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    /// It is copied; the others are then part of the copy.
    pub(crate) copy: Option<SelfCopy>,
    /// It gets a retention.
    pub(crate) retention: Option<Retention>,
    /// It gets or loses a legal hold.
    pub(crate) legal_hold: LegalHoldStep,
}

impl ObjectChange {
    /// Refuses what makes no sense or no request could carry.
    pub fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::new(ErrorKind::Config, message));
        if !self.copies() && !self.acts_without_copy() {
            return refuse("nothing is to be changed".to_owned());
        }
        if self.keep_acl && !self.copies() {
            return refuse("only a copy resets the ACL, and none of this takes one".to_owned());
        }
        let given = || self.properties.metadata.iter().flatten().chain(&self.add_metadata);
        let mut seen = BTreeSet::new();
        for name in given().map(|(name, _)| name).chain(&self.remove_metadata) {
            if !seen.insert(name.to_ascii_lowercase()) {
                return refuse(format!("the metadata `{name}` is named twice"));
            }
        }
        let bytes: usize = given().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > METADATA_BYTES_MAX {
            return refuse(format!(
                "{bytes} bytes of metadata are more than the {METADATA_BYTES_MAX} that S3 keeps \
                 with an object"
            ));
        }
        let metadata = Some(self.add_metadata.clone());
        self.properties.check()?;
        ObjectProperties { metadata, ..ObjectProperties::default() }.check()
    }

    /// Whether an object must be copied to be changed.
    pub fn copies(&self) -> bool {
        let Self { properties, add_metadata, remove_metadata, .. } = self;
        self.sets_headers()
            || properties.metadata.is_some()
            || !add_metadata.is_empty()
            || !remove_metadata.is_empty()
            || properties.storage_class.is_some()
            || properties.encryption.is_some()
    }

    /// Whether something is changed that needs no copy.
    fn acts_without_copy(&self) -> bool {
        self.properties.acl.is_some() || self.changes_lock()
    }

    /// Whether retention or legal hold are changed.
    pub(crate) fn changes_lock(&self) -> bool {
        self.properties.retention.is_some() || self.properties.legal_hold.is_some()
    }

    /// The storage class, where it is all that is changed.
    pub(crate) fn only_class(&self) -> Option<&str> {
        let class = self.properties.storage_class.as_deref()?;
        let properties = ObjectProperties { storage_class: None, ..self.properties.clone() };
        let rest = Self { properties, ..self.clone() };
        (!rest.copies() && !rest.acts_without_copy()).then_some(class)
    }

    fn sets_headers(&self) -> bool {
        headers_of(&self.properties).iter().any(Option::is_some)
    }

    /// What is done to an object; `now_s` determines which retention is over. An archived object
    /// that would have to be copied is an error.
    pub(crate) fn steps(&self, head: &ObjectHead, now_s: i64) -> Result<Steps> {
        let present = &head.properties;
        let wanted = self.merged(present, now_s);
        let is_different = differs(&wanted, present);
        // MinIO drops `Expires` from a copy with the directive to keep the metadata.
        let has_expires = present.expires.is_some() && head.missing_metadata == 0;
        let replaces_metadata = is_different || has_expires;
        let needs_copy = is_different
            || class_of(&wanted) != class_of(present)
            || wanted.encryption != present.encryption;
        if needs_copy {
            refuse_archived(head)?;
            refuse_loss(head, &wanted, replaces_metadata)?;
            let copy = Some(SelfCopy { properties: wanted, replaces_metadata });
            return Ok(Steps { copy, ..Steps::default() });
        }
        let retention = self.properties.retention;
        Ok(Steps {
            copy: None,
            retention: retention.filter(|_| retention != present.retention),
            legal_hold: match (self.properties.legal_hold, present.legal_hold) {
                (None, _) => LegalHoldStep::Nothing,
                (Some(wanted), Some(told)) if wanted == told => LegalHoldStep::Nothing,
                (Some(false), None) => LegalHoldStep::EndIfThere,
                (Some(wanted), _) => LegalHoldStep::Put(wanted),
            },
        })
    }

    /// Refuses a copy that has a shorter retention than the object, or one that more users can
    /// remove: the copy is another version, for which S3 does not refuse it.
    pub(crate) fn refuse_weaker(&self, present: Option<Retention>, now_s: i64) -> Result<()> {
        let running = present.filter(|retention| retention.until_s > now_s);
        let (Some(present), Some(wanted)) = (running, self.properties.retention) else {
            return Ok(());
        };
        let is_compliance = present.mode == LockMode::Compliance;
        let is_shorter = wanted.until_s < present.until_s;
        let is_weaker = is_shorter || (is_compliance && wanted.mode != present.mode);
        if !is_weaker || (self.bypass_governance && !is_compliance) {
            return Ok(());
        }
        let hint = if is_compliance { "" } else { " (see --bypass-governance)" };
        let message = format!(
            "it is locked for longer, or more strictly, than was asked, and this change would make \
             a new version without that lock: nothing was changed{hint}"
        );
        Err(Error::new(ErrorKind::Request, message))
    }

    /// The properties of an object that a change touches: two bits each, one where something is
    /// added or changed and one where something is removed. A server may pass over either.
    pub(crate) fn touched(before: &ObjectProperties, after: &ObjectProperties) -> u32 {
        let headers =
            headers_of(before).into_iter().zip(headers_of(after)).map(|pair| match pair {
                (before, Some(after)) => (before != Some(after), false),
                (before, None) => (false, before.is_some()),
            });
        let names = |properties: &ObjectProperties| by_name(properties.metadata.iter().flatten());
        let (old, new) = (names(before), names(after));
        let is_added = new.iter().any(|(name, value)| old.get(name) != Some(value));
        let others = [
            (is_added, old.keys().any(|name| !new.contains_key(name))),
            (class_of(before) != class_of(after), false),
            (before.encryption != after.encryption, false),
        ];
        headers.chain(others).fold(0, |bits, (is_changed, is_removed)| {
            bits << 2 | u32::from(is_changed) | u32::from(is_removed) << 1
        })
    }

    /// What a server passed over in a copy that has just been made.
    pub(crate) fn ignored(&self, head: &ObjectHead) -> Option<&'static str> {
        let present = &head.properties;
        let wanted = self.merged(present, i64::MAX);
        if class_of(&wanted) != class_of(present) {
            Some("storage class")
        } else if self.properties.encryption.is_some() && present.encryption.is_none() {
            Some("encryption")
        } else if differs(&wanted, present) {
            Some("metadata")
        } else {
            None
        }
    }

    /// What an object carries once it is changed.
    fn merged(&self, present: &ObjectProperties, now_s: i64) -> ObjectProperties {
        let wanted = &self.properties;
        let is_running = |retention: &Retention| retention.until_s > now_s;
        let (encryption, bucket_key) = match &wanted.encryption {
            Some(wanted) if !is_so(wanted, present.encryption.as_ref()) => {
                (Some(wanted.clone()), None)
            }
            _ => (present.encryption.clone(), present.bucket_key),
        };
        let [content_type, content_encoding, content_language, disposition, cache, expires] =
            merged_headers(wanted, present);
        ObjectProperties {
            content_type,
            content_encoding,
            content_language,
            content_disposition: disposition,
            cache_control: cache,
            expires,
            metadata: Some(self.merged_metadata(present)),
            storage_class: merge(wanted.storage_class.as_ref(), present.storage_class.as_ref()),
            website_redirect: present.website_redirect.clone(),
            acl: wanted.acl.clone(),
            encryption,
            bucket_key,
            retention: wanted.retention.or(present.retention.filter(is_running)),
            legal_hold: wanted.legal_hold.or(present.legal_hold).filter(|is_on| *is_on),
            ..ObjectProperties::default()
        }
    }

    fn merged_metadata(&self, present: &ObjectProperties) -> Vec<(String, String)> {
        let base = self.properties.metadata.as_ref().or(present.metadata.as_ref());
        let mut merged = by_name(base.into_iter().flatten());
        for name in &self.remove_metadata {
            merged.remove(&name.to_ascii_lowercase());
        }
        merged.extend(by_name(&self.add_metadata));
        merged.into_iter().collect()
    }
}

/// Names of metadata have no case.
fn by_name<'a>(
    metadata: impl IntoIterator<Item = &'a (String, String)>,
) -> BTreeMap<String, String> {
    let lower = |(name, value): &(String, String)| (name.to_ascii_lowercase(), value.clone());
    metadata.into_iter().map(lower).collect()
}

/// The text that is wanted, else the one that is there; an empty one is none.
fn merge(wanted: Option<&String>, present: Option<&String>) -> Option<String> {
    wanted.or(present).filter(|text| !text.is_empty()).cloned()
}

fn merged_headers(wanted: &ObjectProperties, present: &ObjectProperties) -> [Option<String>; 6] {
    let (wanted, present) = (headers_of(wanted), headers_of(present));
    std::array::from_fn(|index| merge(wanted[index], present[index]))
}

/// The headers that a copy replaces together with the metadata.
fn headers_of(properties: &ObjectProperties) -> [Option<&String>; 6] {
    [
        properties.content_type.as_ref(),
        properties.content_encoding.as_ref(),
        properties.content_language.as_ref(),
        properties.content_disposition.as_ref(),
        properties.cache_control.as_ref(),
        properties.expires.as_ref(),
    ]
}

/// A value of a header; blanks around it are none of it (RFC 9110, 5.5).
fn trimmed(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// Whether content headers or metadata differ.
fn differs(wanted: &ObjectProperties, present: &ObjectProperties) -> bool {
    let decoded = |(name, value): (String, String)| (name, decode(trimmed(&value)).into_owned());
    let metadata = |of: &ObjectProperties| -> BTreeMap<_, _> {
        by_name(of.metadata.iter().flatten()).into_iter().map(decoded).collect()
    };
    let same_headers = headers_of(wanted)
        .into_iter()
        .zip(headers_of(present))
        .all(|(wanted, present)| is_same_text(wanted, present));
    !same_headers || metadata(wanted) != metadata(present)
}

/// Whether two headers say the same: servers write dates in their own ways.
fn is_same_text(one: Option<&String>, other: Option<&String>) -> bool {
    let date = |text: Option<&String>| httpdate::parse_http_date(text?).ok();
    let text = |text: Option<&String>| {
        text.map(|text| trimmed(text).to_owned()).filter(|text| !text.is_empty())
    };
    text(one) == text(other) || date(one).is_some_and(|time| date(other) == Some(time))
}

fn class_of(properties: &ObjectProperties) -> &str {
    properties.storage_class.as_deref().unwrap_or(STANDARD)
}

/// Whether an encryption is what is wanted. KMS without a key is any of KMS; a key may be given
/// as its whole ARN.
fn is_so(wanted: &Encryption, present: Option<&Encryption>) -> bool {
    match (wanted, present) {
        (Encryption::Aes256, Some(Encryption::Aes256))
        | (Encryption::Kms { key_id: None }, Some(Encryption::Kms { .. })) => true,
        (
            Encryption::Kms { key_id: Some(wanted) },
            Some(Encryption::Kms { key_id: Some(present) }),
        ) => {
            wanted == present
                || present.strip_suffix(wanted).is_some_and(|it| it.ends_with(['/', ':']))
        }
        _ => false,
    }
}

fn refuse_archived(head: &ObjectHead) -> Result<()> {
    let class = class_of(&head.properties);
    let facts = ArchiveFacts {
        storage_class: class,
        restore: head.restore.as_deref(),
        archive_status: head.archive_status.as_deref(),
    };
    let what = match ArchiveState::of(facts) {
        state if state.is_readable() => return Ok(()),
        ArchiveState::InProgress => "its restore is still under way: try again when it is done",
        _ => "restore it first, with `s3haul restore`, because only a copy can change it",
    };
    let message = format!("the object is archived ({class}): {what}");
    Err(Error::new(ErrorKind::Request, message))
}

/// Refuses a copy that would lose something which the request cannot carry.
fn refuse_loss(
    head: &ObjectHead,
    wanted: &ObjectProperties,
    replaces_metadata: bool,
) -> Result<()> {
    let what = if replaces_metadata && head.missing_metadata > 0 {
        "it has metadata that S3 does not return, and that a copy would lose"
    } else if wanted.encryption.is_none() && !head.may_have_md5_etag {
        "it is encrypted in a way that a copy could not keep: name another with --sse"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Request, what))
}

#[cfg(test)]
mod tests;
