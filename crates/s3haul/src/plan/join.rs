//! The merge of two streams of names, each in the order of UTF-8 bytes.

use std::cmp::Ordering;

/// Where a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Only in the source: take it, and the source's next.
    Source,
    /// Only in the target: take it, and the target's next.
    Target,
    /// In both: take both.
    Both,
}

/// Where the lower of the names at the heads of two streams is; none at the end of both.
///
/// A name is only in the target once the source is past it: what ends a source early must not
/// look like its end.
pub fn presence(source: Option<&str>, target: Option<&str>) -> Option<Presence> {
    Some(match (source, target) {
        (None, None) => return None,
        (Some(_), None) => Presence::Source,
        (None, Some(_)) => Presence::Target,
        (Some(source), Some(target)) => match source.cmp(target) {
            Ordering::Less => Presence::Source,
            Ordering::Greater => Presence::Target,
            Ordering::Equal => Presence::Both,
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn join(source: &BTreeSet<String>, target: &BTreeSet<String>) -> Vec<(Presence, String)> {
        let (mut source, mut target) = (source.iter().peekable(), target.iter().peekable());
        let mut steps = Vec::new();
        loop {
            let heads = (source.peek().map(|name| name.as_str()), target.peek().copied());
            let Some(found) = presence(heads.0, heads.1.map(String::as_str)) else { return steps };
            let name = match found {
                Presence::Source => source.next(),
                Presence::Target => target.next(),
                Presence::Both => source.next().and(target.next()),
            };
            steps.push((found, name.unwrap().clone()));
        }
    }

    proptest! {
        #[test]
        fn every_name_is_seen_once_in_order_with_its_presence(
            source in prop::collection::btree_set(".{0,3}", 0..40),
            target in prop::collection::btree_set(".{0,3}", 0..40),
        ) {
            let expected: Vec<_> = source.union(&target).map(|name| {
                let found = match (source.contains(name), target.contains(name)) {
                    (true, false) => Presence::Source,
                    (false, _) => Presence::Target,
                    (true, true) => Presence::Both,
                };
                (found, name.clone())
            }).collect();
            prop_assert_eq!(join(&source, &target), expected);
        }
    }
}
