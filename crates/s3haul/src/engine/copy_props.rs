//! What a copy carries over besides the bytes. Pure; the rules are those of the AWS tools.
//!
//! A whole-object copy keeps metadata and tags by itself. Once the user sets one content header
//! or metadata, S3 replaces all of them, so the others are read from the source and sent again.
//! A copy in parts makes a new object: everything is read and sent again, and so it is where the
//! bytes go through this machine; then it is done so that the result is that of a whole-object
//! copy, whatever the size. ACLs are never copied.

use std::fmt::Write as _;

use super::settings::{CopyProps, MetadataDirective, Settings};
use s3haul_wire::ObjectProperties;

/// Tags of this length and less, encoded, travel in the header that begins the upload.
const TAGGING_HEADER_BYTES_MAX: usize = 2048;

/// Directives of one copy, and what is read from the source for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopyPlan {
    /// `x-amz-metadata-directive`: REPLACE, COPY or not sent.
    pub(crate) replace_metadata: Option<bool>,
    /// `x-amz-tagging-directive`.
    pub(crate) replace_tagging: Option<bool>,
    /// Read the source's headers and send those that the user did not set.
    pub(crate) inherit_properties: bool,
    /// Read the source's tags and write them to the target.
    pub(crate) inherit_tags: bool,
    /// The media type is guessed from the name.
    pub(crate) guess_content_type: bool,
}

impl CopyPlan {
    /// A copy by one `CopyObject`.
    pub(crate) fn whole(settings: &Settings) -> Self {
        let user_sets = sets_metadata(&settings.properties);
        match (settings.metadata_directive, settings.copy_props) {
            (Some(MetadataDirective::Copy), _) => {
                Self { replace_metadata: Some(false), ..Self::default() }
            }
            (Some(MetadataDirective::Replace), _) => Self {
                replace_metadata: Some(true),
                guess_content_type: settings.guess_mime_type,
                ..Self::default()
            },
            (None, CopyProps::None) => Self {
                replace_metadata: Some(true),
                replace_tagging: Some(true),
                ..Self::default()
            },
            (None, props) => Self {
                replace_metadata: user_sets.then_some(true),
                replace_tagging: (props == CopyProps::MetadataDirective).then_some(true),
                inherit_properties: user_sets,
                ..Self::default()
            },
        }
    }

    /// A copy in parts.
    pub(crate) fn in_parts(settings: &Settings) -> Self {
        match (settings.metadata_directive, settings.copy_props) {
            (Some(MetadataDirective::Replace), _) => {
                Self { guess_content_type: settings.guess_mime_type, ..Self::default() }
            }
            (None, CopyProps::None) => Self::default(),
            (Some(MetadataDirective::Copy), _) | (None, CopyProps::MetadataDirective) => {
                Self { inherit_properties: true, ..Self::default() }
            }
            (None, CopyProps::Default) => {
                Self { inherit_properties: true, inherit_tags: true, ..Self::default() }
            }
        }
    }
}

impl CopyPlan {
    /// A copy through this machine: a new object that is what `CopyObject` would have made.
    pub(crate) fn relayed(settings: &Settings) -> Self {
        let whole = Self::whole(settings);
        Self {
            inherit_properties: whole.inherit_properties || whole.replace_metadata != Some(true),
            inherit_tags: whole.replace_tagging != Some(true),
            guess_content_type: whole.guess_content_type,
            ..Self::default()
        }
    }
}

/// Whether the user sets anything that S3 replaces as a whole.
fn sets_metadata(properties: &ObjectProperties) -> bool {
    properties.content_type.is_some()
        || properties.content_encoding.is_some()
        || properties.content_language.is_some()
        || properties.content_disposition.is_some()
        || properties.cache_control.is_some()
        || properties.expires.is_some()
        || properties.metadata.is_some()
}

/// Fills in what the user did not set. Storage class, encryption, redirect and ACL are not
/// carried over.
pub(crate) fn inherit(properties: &mut ObjectProperties, source: ObjectProperties) {
    fn fill<T>(target: &mut Option<T>, source: Option<T>) {
        if target.is_none() {
            *target = source;
        }
    }
    fill(&mut properties.content_type, source.content_type);
    fill(&mut properties.content_encoding, source.content_encoding);
    fill(&mut properties.content_language, source.content_language);
    fill(&mut properties.content_disposition, source.content_disposition);
    fill(&mut properties.cache_control, source.cache_control);
    fill(&mut properties.expires, source.expires);
    fill(&mut properties.metadata, source.metadata);
}

/// Takes back what the user set, where `--metadata-directive COPY` lets S3 pass over it.
pub(crate) fn forget_metadata(properties: &mut ObjectProperties) {
    properties.content_type = None;
    properties.content_encoding = None;
    properties.content_language = None;
    properties.content_disposition = None;
    properties.cache_control = None;
    properties.expires = None;
    properties.metadata = None;
}

/// How the tags of a source reach the target of a copy in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CarriedTags {
    /// There are none.
    None,
    /// As a header that begins the upload.
    Header(String),
    /// By `PutObjectTagging` once the target is complete.
    Later(Vec<(String, String)>),
}

/// Decides how tags travel.
pub(crate) fn tagging_query(tags: Vec<(String, String)>) -> CarriedTags {
    if tags.is_empty() {
        return CarriedTags::None;
    }
    let mut query = String::new();
    for (name, value) in &tags {
        if !query.is_empty() {
            query.push('&');
        }
        encode(name, &mut query);
        query.push('=');
        encode(value, &mut query);
    }
    if query.len() <= TAGGING_HEADER_BYTES_MAX {
        CarriedTags::Header(query)
    } else {
        CarriedTags::Later(tags)
    }
}

/// Percent-encodes all but unreserved characters.
fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            let written = write!(into, "%{byte:02X}");
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(user_type: Option<&str>, copy_props: CopyProps) -> Settings {
        let content_type = user_type.map(str::to_owned);
        let properties = ObjectProperties { content_type, ..ObjectProperties::default() };
        Settings { properties, copy_props, guess_mime_type: true, ..Settings::default() }
    }

    #[test]
    fn a_plain_whole_copy_says_nothing() {
        assert_eq!(CopyPlan::whole(&settings(None, CopyProps::Default)), CopyPlan::default());
    }

    #[test]
    fn one_header_replaces_all_so_the_others_are_sent_again() {
        let plan = CopyPlan::whole(&settings(Some("text/plain"), CopyProps::Default));
        assert_eq!(plan.replace_metadata, Some(true));
        assert_eq!(plan.replace_tagging, None);
        assert!(plan.inherit_properties && !plan.guess_content_type);
    }

    #[test]
    fn copy_props_none_replaces_metadata_and_tags() {
        let plan = CopyPlan::whole(&settings(None, CopyProps::None));
        assert_eq!((plan.replace_metadata, plan.replace_tagging), (Some(true), Some(true)));
        assert!(!plan.inherit_properties);
        assert_eq!(CopyPlan::in_parts(&settings(None, CopyProps::None)), CopyPlan::default());
    }

    #[test]
    fn a_metadata_directive_switches_copy_props_off() {
        let mut settings = settings(Some("text/plain"), CopyProps::None);
        settings.metadata_directive = Some(MetadataDirective::Copy);
        let plan = CopyPlan::whole(&settings);
        assert_eq!((plan.replace_metadata, plan.replace_tagging), (Some(false), None));
        settings.metadata_directive = Some(MetadataDirective::Replace);
        let plan = CopyPlan::whole(&settings);
        assert_eq!((plan.replace_metadata, plan.inherit_properties), (Some(true), false));
        assert!(plan.guess_content_type);
    }

    #[test]
    fn a_copy_in_parts_carries_properties_and_tags() {
        let plan = CopyPlan::in_parts(&settings(None, CopyProps::Default));
        assert!(plan.inherit_properties && plan.inherit_tags);
        let plan = CopyPlan::in_parts(&settings(None, CopyProps::MetadataDirective));
        assert!(plan.inherit_properties && !plan.inherit_tags);
    }

    #[test]
    fn what_the_user_says_wins() {
        let mut properties = settings(Some("text/plain"), CopyProps::Default).properties;
        let source = ObjectProperties {
            content_type: Some("image/png".into()),
            cache_control: Some("no-cache".into()),
            storage_class: Some("STANDARD_IA".into()),
            acl: Some("public-read".into()),
            ..ObjectProperties::default()
        };
        inherit(&mut properties, source);
        assert_eq!(properties.content_type.as_deref(), Some("text/plain"));
        assert_eq!(properties.cache_control.as_deref(), Some("no-cache"));
        assert_eq!((properties.storage_class, properties.acl), (None, None));
    }

    #[test]
    fn many_tags_do_not_fit_the_header() {
        let tag = |n: usize, length| (format!("name-{n}"), "ä b".repeat(length));
        assert_eq!(tagging_query(Vec::new()), CarriedTags::None);
        let few = tagging_query(vec![tag(1, 1), tag(2, 0)]);
        assert_eq!(few, CarriedTags::Header("name-1=%C3%A4%20b&name-2=".into()));
        let many: Vec<_> = (0..10).map(|n| tag(n, 60)).collect();
        assert_eq!(tagging_query(many.clone()), CarriedTags::Later(many));
    }
}
