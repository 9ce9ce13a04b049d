//! Tags of objects: what S3 takes for one, and what a change makes of those that an object has.
//!
//! The limits are those of
//! <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-tagging.html>. Characters are
//! checked a little more generously than by S3 (letters are all that Unicode counts as
//! alphabetic), so that nothing is refused here that S3 would take.

use std::collections::HashSet;

use thiserror::Error;

/// Tags that an object may have.
pub const TAGS_MAX: usize = 10;
/// Longest key, in UTF-16 code units as S3 counts.
pub const KEY_UNITS_MAX: usize = 128;
/// Longest value, in UTF-16 code units.
pub const VALUE_UNITS_MAX: usize = 256;
/// Beginning of the keys that AWS keeps to itself, in any case.
const RESERVED_PREFIX: &str = "aws:";
/// Characters beside letters, digits and spaces.
const SIGNS: &str = "+-=._:/@";

/// A key and its value.
pub type Tag = (String, String);

/// Why tags are refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TagError {
    /// No `=`.
    #[error("`{0}` is not a tag: write KEY=VALUE")]
    NotATag(String),
    /// A tag without a key.
    #[error("a tag needs a key")]
    NoKey,
    /// Nothing to do.
    #[error("no tags are given")]
    NoTags,
    /// More than an object may have.
    #[error("{0} tags are more than the {TAGS_MAX} that S3 allows for an object")]
    TooMany(usize),
    /// A key is too long.
    #[error("the tag key `{0}` is longer than the {KEY_UNITS_MAX} characters that S3 allows")]
    LongKey(String),
    /// A value is too long.
    #[error(
        "the value of the tag `{0}` is longer than the {VALUE_UNITS_MAX} characters that S3 allows"
    )]
    LongValue(String),
    /// A character that S3 does not take.
    #[error("the tag `{key}` has {character:?}: S3 takes letters, digits, spaces and {SIGNS}")]
    Character {
        /// Key of the tag.
        key: String,
        /// The character.
        character: char,
    },
    /// A key of AWS's own.
    #[error("the tag key `{0}` begins with `aws:`, which AWS keeps to itself")]
    Reserved(String),
    /// One key twice.
    #[error("the tag key `{0}` is given twice")]
    Twice(String),
}

/// Tags that S3 takes: not too many, none too long, no key twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags(Vec<Tag>);

impl Tags {
    /// Checks tags.
    pub fn new(tags: Vec<Tag>) -> Result<Self, TagError> {
        for (key, value) in &tags {
            check_key(key)?;
            check_value(key, value)?;
        }
        refuse_twice(tags.iter().map(|(key, _)| key.as_str()))?;
        match tags.len() {
            0 => Err(TagError::NoTags),
            count if count > TAGS_MAX => Err(TagError::TooMany(count)),
            _ => Ok(Self(tags)),
        }
    }

    /// Tags as they are typed: `key=value,key2=value2`. No tag has a comma, and a key ends at the
    /// first `=`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, TagError> {
        let pieces = texts.into_iter().flat_map(|text| text.split(','));
        let tags = pieces.map(|piece| {
            let (key, value) =
                piece.split_once('=').ok_or_else(|| TagError::NotATag(piece.to_owned()))?;
            Ok((key.to_owned(), value.to_owned()))
        });
        Self::new(tags.collect::<Result<_, _>>()?)
    }
}

impl From<Tags> for Vec<Tag> {
    fn from(tags: Tags) -> Self {
        tags.0
    }
}

/// Keys of tags to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagKeys(Vec<String>);

impl From<TagKeys> for Vec<String> {
    fn from(keys: TagKeys) -> Self {
        keys.0
    }
}

impl TagKeys {
    /// Keys as they are typed: `key,key2`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, TagError> {
        Self::new(texts.into_iter().flat_map(|text| text.split(',')).map(str::to_owned).collect())
    }

    /// Checks keys.
    pub fn new(keys: Vec<String>) -> Result<Self, TagError> {
        keys.iter().try_for_each(|key| check_key(key))?;
        refuse_twice(keys.iter().map(String::as_str))?;
        if keys.is_empty() { Err(TagError::NoTags) } else { Ok(Self(keys)) }
    }
}

/// What is done to the tags of each object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TagTask {
    /// They are reported.
    #[default]
    Get,
    /// They are replaced.
    Set(Tags),
    /// These are added; those of the same key get the new value.
    Add(Tags),
    /// These are removed.
    Remove(TagKeys),
    /// All are removed.
    Clear,
}

/// What is sent for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagChange {
    /// Nothing: the object is as it should be.
    Nothing,
    /// These instead of those that it has.
    Write(Vec<Tag>),
    /// The removal of all.
    Clear,
}

impl TagTask {
    /// Whether the tags that an object has must be known.
    pub fn reads(&self) -> bool {
        matches!(self, Self::Get | Self::Add(_) | Self::Remove(_))
    }

    /// The change of an object with these tags; where [`Self::reads`] is false they do not matter.
    pub fn change(&self, current: &[Tag]) -> Result<TagChange, TagError> {
        match self {
            Self::Get => Ok(TagChange::Nothing),
            Self::Set(tags) => Ok(TagChange::Write(tags.0.clone())),
            Self::Add(tags) => add(current, &tags.0),
            Self::Remove(keys) => Ok(remove(current, &keys.0)),
            Self::Clear => Ok(TagChange::Clear),
        }
    }
}

fn add(current: &[Tag], added: &[Tag]) -> Result<TagChange, TagError> {
    let mut merged = current.to_vec();
    for (key, value) in added {
        match merged.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => old.clone_from(value),
            None => merged.push((key.clone(), value.clone())),
        }
    }
    if merged == current {
        return Ok(TagChange::Nothing);
    }
    if merged.len() > TAGS_MAX {
        return Err(TagError::TooMany(merged.len()));
    }
    Ok(TagChange::Write(merged))
}

fn remove(current: &[Tag], keys: &[String]) -> TagChange {
    let left: Vec<_> = current.iter().filter(|(key, _)| !keys.contains(key)).cloned().collect();
    match left.len() {
        count if count == current.len() => TagChange::Nothing,
        0 => TagChange::Clear,
        _ => TagChange::Write(left),
    }
}

fn check_key(key: &str) -> Result<(), TagError> {
    if key.is_empty() {
        return Err(TagError::NoKey);
    }
    if key.encode_utf16().count() > KEY_UNITS_MAX {
        return Err(TagError::LongKey(key.to_owned()));
    }
    if key.get(..RESERVED_PREFIX.len()).is_some_and(|it| it.eq_ignore_ascii_case(RESERVED_PREFIX)) {
        return Err(TagError::Reserved(key.to_owned()));
    }
    check_characters(key, key)
}

fn check_value(key: &str, value: &str) -> Result<(), TagError> {
    if value.encode_utf16().count() > VALUE_UNITS_MAX {
        return Err(TagError::LongValue(key.to_owned()));
    }
    check_characters(key, value)
}

fn check_characters(key: &str, text: &str) -> Result<(), TagError> {
    let is_allowed = |c: char| {
        c.is_alphanumeric() || SIGNS.contains(c) || (c.is_whitespace() && !c.is_control())
    };
    match text.chars().find(|c| !is_allowed(*c)) {
        Some(character) => Err(TagError::Character { key: key.to_owned(), character }),
        None => Ok(()),
    }
}

fn refuse_twice<'a>(keys: impl Iterator<Item = &'a str>) -> Result<(), TagError> {
    let mut seen = HashSet::new();
    for key in keys {
        if !seen.insert(key) {
            return Err(TagError::Twice(key.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn refusal(text: &str) -> String {
        Tags::parse([text]).unwrap_err().to_string()
    }

    #[test]
    fn what_s3_would_refuse_is_refused_with_the_reason() {
        assert_eq!(refusal("type"), "`type` is not a tag: write KEY=VALUE");
        assert_eq!(refusal(""), "`` is not a tag: write KEY=VALUE");
        assert_eq!(refusal("=x"), "a tag needs a key");
        assert_eq!(refusal("a=1,a=2"), "the tag key `a` is given twice");
        assert!(refusal("AWS:x=1").contains("AWS keeps to itself"));
        assert_eq!(
            refusal("a=1#2"),
            "the tag `a` has '#': S3 takes letters, digits, spaces and +-=._:/@"
        );
        assert!(refusal("a=tab\there").contains("'\\t'"));
        let many: Vec<_> = (0..=TAGS_MAX).map(|n| format!("k{n}=v")).collect();
        assert!(refusal(&many.join(",")).starts_with("11 tags are more than the 10"));
        // Characters outside the basic plane count twice.
        assert!(Tags::parse([format!("{}=v", "k".repeat(128)).as_str()]).is_ok());
        assert!(refusal(&format!("{}=v", "k".repeat(129))).contains("longer than the 128"));
        assert!(Tags::parse([format!("k={}", "𝐀".repeat(128)).as_str()]).is_ok());
        assert!(refusal(&format!("k={}", "𝐀".repeat(129))).contains("longer than the 256"));
        for (text, expected) in [("", "needs a key"), ("a,b,a", "twice"), ("aws:a", "itself")] {
            let error = TagKeys::parse([text]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn what_is_typed_is_read() {
        let tags = Tags::parse(["a=1,b c=", "ü:x=y=z/@+-._ "]).unwrap();
        let expected = [("a", "1"), ("b c", ""), ("ü:x", "y=z/@+-._ ")];
        assert_eq!(tags.0, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn only_what_differs_is_written() {
        let tag = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let current = [tag("a", "1"), tag("b", "2")];
        let add = |text| TagTask::Add(Tags::parse([text]).unwrap()).change(&current);
        assert_eq!(add("b=2"), Ok(TagChange::Nothing));
        let written = vec![tag("a", "1"), tag("b", "3"), tag("c", "4")];
        assert_eq!(add("c=4,b=3").unwrap(), TagChange::Write(written));
        let remove = |text| TagTask::Remove(TagKeys::parse([text]).unwrap()).change(&current);
        assert_eq!(remove("x,y"), Ok(TagChange::Nothing));
        assert_eq!(remove("x,a"), Ok(TagChange::Write(vec![tag("b", "2")])));
        assert_eq!(remove("b,a"), Ok(TagChange::Clear));
        let full: Vec<_> = (0..TAGS_MAX).map(|n| tag(&format!("k{n}"), "")).collect();
        let task = TagTask::Add(Tags::parse(["new=1"]).unwrap());
        assert_eq!(task.change(&full), Err(TagError::TooMany(11)));
        let task = TagTask::Add(Tags::parse(["k3=1"]).unwrap());
        assert!(matches!(task.change(&full), Ok(TagChange::Write(tags)) if tags.len() == 10));
    }

    fn some_tags() -> impl Strategy<Value = Vec<Tag>> {
        prop::collection::btree_map("[a-f]", "[0-2]", 0..6)
            .prop_map(|tags| tags.into_iter().collect())
    }

    proptest! {
        #[test]
        fn what_is_written_is_what_a_map_would_hold(
            current in some_tags(),
            given in some_tags(),
            removes in any::<bool>(),
        ) {
            prop_assume!(!given.is_empty());
            let before: BTreeMap<_, _> = current.iter().cloned().collect();
            let mut expected = before.clone();
            let task = if removes {
                expected.retain(|key, _| given.iter().all(|(other, _)| other != key));
                TagTask::Remove(TagKeys(given.into_iter().map(|(key, _)| key).collect()))
            } else {
                expected.extend(given.iter().cloned());
                TagTask::Add(Tags::new(given).unwrap())
            };
            match task.change(&current) {
                Ok(TagChange::Nothing) => prop_assert_eq!(before, expected),
                Ok(TagChange::Clear) => prop_assert!(expected.is_empty() && !before.is_empty()),
                Ok(TagChange::Write(tags)) => {
                    prop_assert_eq!(task.change(&tags), Ok(TagChange::Nothing));
                    prop_assert!(!tags.is_empty() && before != expected);
                    prop_assert_eq!(tags.into_iter().collect::<BTreeMap<_, _>>(), expected);
                }
                Err(error) => {
                    prop_assert_eq!(error, TagError::TooMany(expected.len()));
                    prop_assert!(expected.len() > TAGS_MAX);
                }
            }
        }

        #[test]
        fn whatever_is_accepted_keeps_the_limits(
            text in "([aA][wW]?[sS]?[:=,a é\u{1}🎉]{1,6}){1,5}",
        ) {
            let Ok(Tags(tags)) = Tags::parse([text.as_str()]) else { return Ok(()) };
            prop_assert!((1..=TAGS_MAX).contains(&tags.len()));
            let keys: HashSet<_> = tags.iter().map(|(key, _)| key).collect();
            prop_assert_eq!(keys.len(), tags.len());
            for (key, value) in &tags {
                prop_assert!(!key.is_empty() && !key.to_lowercase().starts_with("aws:"));
                let text = [key.as_str(), value.as_str()].concat();
                let is_clean = !text.contains(['\u{1}', '🎉', ',']);
                prop_assert!(is_clean);
            }
        }
    }
}
