//! All probes, group by group.

use super::question::Probe;
use super::{checksums, conditions, keys, listings, multipart, objects};

/// All probes, group by group.
pub fn catalogue() -> impl Iterator<Item = &'static Probe> {
    [
        objects::PROBES,
        multipart::PROBES,
        conditions::PROBES,
        checksums::PROBES,
        listings::PROBES,
        keys::PROBES,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::question::Group;
    use super::*;

    #[test]
    fn names_are_words_of_their_own_and_texts_are_sentences() {
        let mut names = BTreeSet::new();
        for probe in catalogue() {
            assert!(names.insert(probe.name), "{} twice", probe.name);
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(probe.name.chars().all(is_word), "{}", probe.name);
            for text in [probe.expects, probe.without] {
                assert!(text.ends_with('.') && text.len() < 200, "{}: {text}", probe.name);
            }
        }
    }

    #[test]
    fn groups_come_in_their_order() {
        let groups: Vec<_> = catalogue().map(|probe| probe.group).collect();
        assert!(groups.is_sorted());
        assert!(Group::ALL.iter().all(|group| groups.contains(group)));
    }
}
