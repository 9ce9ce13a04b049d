//! The rules against a model that has all versions of a key at once.

use proptest::prelude::*;

use super::*;

/// A version of the model: whether it is a delete marker, and its time.
type Made = (bool, i64);

/// Keys with their versions, the newest first.
type Bucket = Vec<(String, Vec<Made>)>;

fn stream(bucket: &Bucket) -> Vec<Version<'_>> {
    let mut stream = Vec::new();
    for (key, made) in bucket {
        for (at, &(is_delete_marker, last_modified_s)) in made.iter().enumerate() {
            stream.push(Version { key, is_latest: at == 0, is_delete_marker, last_modified_s });
        }
    }
    stream
}

fn select(rule: VersionRule, bucket: &Bucket) -> Vec<bool> {
    let mut selector = VersionSelector::new(rule);
    stream(bucket).iter().map(|version| selector.takes(version).unwrap()).collect()
}

/// The same, by looking at all versions of the key for each of them.
fn model(rule: VersionRule, made: &[Made], at: usize) -> bool {
    let (is_marker, time) = made[at];
    let is_older = |moment: Option<i64>| {
        moment.is_none_or(|moment| at.checked_sub(1).map_or(time, |next| made[next].1) < moment)
    };
    match rule {
        VersionRule::All { older_than_s } => is_older(older_than_s),
        VersionRule::DeleteMarkers { older_than_s } => is_marker && is_older(older_than_s),
        VersionRule::Noncurrent { keep, older_than_s } => {
            let newer = made[..at].iter().skip(1).filter(|(is_marker, _)| !is_marker).count();
            at > 0 && newer as u64 >= keep && is_older(older_than_s)
        }
        VersionRule::Hiding { since_s } => made[..=at]
            .iter()
            .all(|(is_marker, time)| *is_marker && since_s.is_none_or(|since| *time >= since)),
        VersionRule::AsOf { at_s } => {
            made.iter().position(|(_, time)| *time <= at_s) == Some(at) && !is_marker
        }
    }
}

/// Few keys, few times: so that equal seconds and equal beginnings happen.
fn buckets() -> impl Strategy<Value = Bucket> {
    let made = prop::collection::vec((any::<bool>(), 0..12_i64), 1..9);
    let made = made.prop_map(|mut made| {
        made.sort_by_key(|(_, time)| -time);
        made
    });
    prop::collection::btree_map("[ab/]{1,3}", made, 0..7)
        .prop_map(|keys| keys.into_iter().collect())
}

fn rules() -> impl Strategy<Value = VersionRule> {
    let moment = || prop::option::of(0..13_i64);
    prop_oneof![
        moment().prop_map(|older_than_s| VersionRule::All { older_than_s }),
        moment().prop_map(|older_than_s| VersionRule::DeleteMarkers { older_than_s }),
        (0..4_u64, moment())
            .prop_map(|(keep, older_than_s)| VersionRule::Noncurrent { keep, older_than_s }),
        moment().prop_map(|since_s| VersionRule::Hiding { since_s }),
        (0..13_i64).prop_map(|at_s| VersionRule::AsOf { at_s }),
    ]
}

/// What is left when those are removed for which `is_removed` says so, in the order of the stream.
fn without(bucket: &Bucket, mut is_removed: impl FnMut() -> bool) -> Bucket {
    let left = bucket.iter().map(|(key, made)| {
        let made: Vec<_> = made.iter().copied().filter(|_| !is_removed()).collect();
        (key.clone(), made)
    });
    left.filter(|(_, made)| !made.is_empty()).collect()
}

proptest! {
    #[test]
    fn the_stream_gives_what_the_whole_gives(bucket in buckets(), rule in rules()) {
        let expected: Vec<bool> = bucket
            .iter()
            .flat_map(|(_, made)| (0..made.len()).map(move |at| model(rule, made, at)))
            .collect();
        prop_assert_eq!(select(rule, &bucket), expected);
    }

    #[test]
    fn a_removal_that_was_stopped_anywhere_goes_on_to_the_same_end(
        bucket in buckets(),
        rule in rules().prop_filter("reading", |rule| rule.removes()),
        done in prop::collection::vec(any::<bool>(), 64),
    ) {
        let taken = select(rule, &bucket);
        let mut all = taken.iter().copied();
        let expected = without(&bucket, || all.next().unwrap());
        let mut some = taken.iter().zip(&done).map(|(taken, done)| *taken && *done);
        let stopped = without(&bucket, || some.next().unwrap());
        let again = select(rule, &stopped);
        let mut rest = again.iter().copied();
        prop_assert_eq!(without(&stopped, || rest.next().unwrap()), expected);
    }

    #[test]
    fn the_newest_noncurrent_versions_stay_in_any_order_of_a_key(
        made in prop::collection::vec(any::<bool>(), 1..9),
        keep in 0..4_u64,
        again_from in 0..9_usize,
    ) {
        // The server begins the key anew after some of its versions.
        let version = |(at, is_delete_marker): (usize, &bool)| Version {
            key: "k",
            is_latest: at == 0,
            is_delete_marker: *is_delete_marker,
            last_modified_s: 100 - i64::try_from(at).unwrap(),
        };
        let told: Vec<_> = made.iter().enumerate().map(version).collect();
        let cut = again_from.min(told.len());
        let rule = VersionRule::Noncurrent { keep, older_than_s: None };
        let mut selector = VersionSelector::new(rule);
        for version in told[..cut].iter().chain(&told) {
            let taken = selector.takes(version).unwrap();
            let newer = told
                .iter()
                .filter(|other| other.last_modified_s > version.last_modified_s)
                .filter(|other| !other.is_latest && !other.is_delete_marker)
                .count();
            prop_assert!(!taken || (newer as u64 >= keep && !version.is_latest));
        }
    }
}

/// Some services call no version of a key the current one.
#[test]
fn the_first_of_a_key_is_not_taken_for_an_old_one() {
    for keep in 0..3 {
        let rule = VersionRule::Noncurrent { keep, older_than_s: None };
        let mut selector = VersionSelector::new(rule);
        let version = |last_modified_s| Version {
            key: "k",
            is_latest: false,
            is_delete_marker: false,
            last_modified_s,
        };
        let taken = [5, 4, 3, 2].map(|at_s| selector.takes(&version(at_s)).unwrap());
        let kept = taken.iter().take_while(|taken| !**taken).count();
        assert_eq!(kept as u64, keep + 1);
        assert!(taken[kept..].iter().all(|taken| *taken));
    }
}

/// Some services list all delete markers of a page before its versions.
#[test]
fn versions_that_are_listed_apart_from_their_markers_are_taken() {
    let listed = [("a", true, true), ("b", true, true), ("a", false, false), ("b", false, false)];
    let rule = VersionRule::Noncurrent { keep: 0, older_than_s: None };
    let mut selector = VersionSelector::new(rule);
    let taken = listed.map(|(key, is_latest, is_delete_marker)| {
        let version = Version { key, is_latest, is_delete_marker, last_modified_s: 1 };
        selector.takes(&version).unwrap()
    });
    assert_eq!(taken, [false, false, true, true]);
}

#[test]
fn markers_on_top_go_down_to_the_first_that_is_too_old() {
    let made = vec![(true, 9), (true, 7), (true, 3), (false, 1)];
    let bucket = vec![("k".to_owned(), made)];
    let hiding = |since_s| select(VersionRule::Hiding { since_s }, &bucket);
    assert_eq!(hiding(None), [true, true, true, false]);
    assert_eq!(hiding(Some(7)), [true, true, false, false]);
    assert_eq!(hiding(Some(10)), [false; 4]);
}

#[test]
fn a_key_that_was_removed_was_not_there() {
    let made = vec![(false, 9), (true, 7), (false, 3)];
    let bucket = vec![("k".to_owned(), made)];
    let at = |at_s| select(VersionRule::AsOf { at_s }, &bucket);
    assert_eq!(at(9), [true, false, false]);
    assert_eq!(at(8), [false; 3]);
    assert_eq!(at(6), [false, false, true]);
    assert_eq!(at(2), [false; 3]);
}

#[test]
fn the_past_is_not_read_from_versions_in_disorder() {
    let version =
        |key, is_latest| Version { key, is_latest, is_delete_marker: false, last_modified_s: 1 };
    for (first, second) in
        [(version("a", false), version("a", true)), (version("b", true), version("a", true))]
    {
        let mut selector = VersionSelector::new(VersionRule::AsOf { at_s: 5 });
        assert!(selector.takes(&first).is_ok());
        let error = selector.takes(&second).unwrap_err();
        assert!(error.to_string().contains("`a`"), "{error}");
    }
}
