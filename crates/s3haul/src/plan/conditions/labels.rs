//! Conditions on what a listing does not contain: tags and metadata, which are keys with values.

use thiserror::Error;

/// Keys that must all be there, some of them with a value. The default requires none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<(String, Option<String>)>);

/// A label without a key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` has no key: write KEY or KEY=VALUE")]
pub struct LabelError(String);

impl Labels {
    /// Reads `KEY` (with any value) or `KEY=VALUE`, each by itself. A key ends at the first `=`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, LabelError> {
        let label = |text: &str| {
            let (key, value) = match text.split_once('=') {
                Some((key, value)) => (key, Some(value.to_owned())),
                None => (text, None),
            };
            if key.is_empty() {
                return Err(LabelError(text.to_owned()));
            }
            Ok((key.to_owned(), value))
        };
        texts.into_iter().map(label).collect::<Result<_, _>>().map(Self)
    }

    /// The same with keys in lower case, which is how S3 has those of metadata.
    #[must_use]
    pub fn with_lower_keys(self) -> Self {
        let lower = |(key, value): (String, _)| (key.to_ascii_lowercase(), value);
        Self(self.0.into_iter().map(lower).collect())
    }

    /// Whether no key is required.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object that has these pairs is taken.
    pub fn takes(&self, pairs: &[(String, String)]) -> bool {
        self.0.iter().all(|(key, value)| {
            pairs
                .iter()
                .any(|(has, told)| has == key && value.as_ref().is_none_or(|value| value == told))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Labels {
        Labels::parse(texts.iter().copied()).unwrap()
    }

    #[test]
    fn all_labels_must_be_there_with_their_values() {
        let pairs =
            [("type", "daily"), ("a", "x=y"), ("empty", "")].map(|(k, v)| (k.into(), v.into()));
        for (texts, taken) in [
            (&[][..], true),
            (&["type"], true),
            (&["type=daily", "a=x=y"], true),
            (&["type=daily", "none"], false),
            (&["type=weekly"], false),
            (&["type="], false),
            (&["empty="], true),
            (&["Type"], false),
            (&["type=daily", "type=weekly"], false),
        ] {
            assert_eq!(labels(texts).takes(&pairs), taken, "{texts:?}");
        }
        assert!(labels(&["Type=daily"]).with_lower_keys().takes(&pairs));
        assert!(!labels(&["type"]).takes(&[]));
        assert!(Labels::parse(["=x"]).is_err() && Labels::parse([""]).is_err());
    }
}
