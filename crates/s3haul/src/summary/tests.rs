//! Summaries against a model that holds all objects.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use s3haul_wire::ops::{ListPage, ListedObject};

const NOW_S: i64 = 1_800_000_000;
const DAY_S: i64 = 24 * 3600;

#[derive(Clone, Debug)]
struct Object {
    key: String,
    size: u64,
    last_modified_s: i64,
    class: &'static str,
}

fn objects() -> impl Strategy<Value = Vec<Object>> {
    let class = prop::sample::select(vec!["", "STANDARD", "STANDARD_IA", "GLACIER"]);
    let size = prop_oneof![Just(0), 1..300_000_u64, any::<u64>().prop_map(|size| size >> 20)];
    let key = "p/[a-c]{0,2}(/[a-c .]{0,3}){0,3}(\\.(jpg|JPG|é|gz))?";
    let object = (key, size, 0..5000 * DAY_S, class).prop_map(|(key, size, age_s, class)| Object {
        key,
        size,
        last_modified_s: NOW_S - age_s,
        class,
    });
    prop::collection::vec(object, 0..200)
}

fn listed(object: &Object) -> ListedObject<'_> {
    ListedObject {
        key: &object.key,
        size: object.size,
        last_modified_s: object.last_modified_s,
        etag: "",
        storage_class: object.class,
        ..ListedObject::default()
    }
}

fn options(depth: usize) -> SummaryOptions {
    let prefix = "p/".to_owned();
    SummaryOptions { prefix, depth, top: 7, now_s: NOW_S, ..SummaryOptions::default() }
}

fn summary(objects: &[Object], page_size: usize, depth: usize) -> Summary {
    let mut summary = Summary::new(options(depth));
    for page in objects.chunks(page_size) {
        summary.add_page(&ListPage::from_objects(page.iter().map(listed)).unwrap());
    }
    summary
}

fn json(summary: &Summary) -> serde_json::Value {
    serde_json::to_value(summary.figures()).unwrap()
}

/// Counts by a name that each object may have.
fn by_name(objects: &[Object], name: impl Fn(&Object) -> Option<String>) -> Vec<(String, Counts)> {
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for object in objects {
        if let Some(name) = name(object) {
            counts.entry(name).or_default().add(object.size);
        }
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|(_, counts)| std::cmp::Reverse((counts.bytes, counts.objects)));
    rows
}

fn rows(figures: &[FolderFigures]) -> Vec<(String, Counts)> {
    figures.iter().map(|row| (row.name.clone(), row.counts)).collect()
}

fn folders(objects: &[Object], depth: usize) -> Vec<(String, Counts)> {
    let mut all = Vec::new();
    for level in 1..=depth {
        all.extend(by_name(objects, |object| {
            let components: Vec<&str> = object.key["p/".len()..].split('/').collect();
            let has_it = components.len() > level;
            has_it.then(|| components[..level].join("/") + "/")
        }));
    }
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

fn ranked(objects: &[Object], rank: impl Fn(&Object) -> i128) -> Vec<RankedObject> {
    let mut sorted: Vec<&Object> = objects.iter().collect();
    sorted.sort_by_key(|object| (-rank(object), &object.key, object.size, object.last_modified_s));
    let row = |object: &Object| RankedObject {
        key: object.key.clone(),
        size: object.size,
        last_modified_s: object.last_modified_s,
    };
    sorted.into_iter().take(7).map(row).collect()
}

proptest! {
    #[test]
    fn figures_are_those_of_all_objects(
        objects in objects(),
        page_size in 1..50_usize,
        depth in 0..4_usize,
    ) {
        let figures = summary(&objects, page_size, depth).figures();
        prop_assert!(!figures.folders_merged && !figures.extensions_merged);
        prop_assert_eq!(figures.total.objects, objects.len() as u64);
        prop_assert_eq!(figures.total.bytes, objects.iter().map(|object| object.size).sum::<u64>());
        let empty = objects.iter().filter(|object| object.size == 0).count();
        prop_assert_eq!(figures.empty_objects, empty as u64);
        let class = |object: &Object| {
            Some(if object.class.is_empty() { "STANDARD" } else { object.class }.to_owned())
        };
        let classes: Vec<_> =
            figures.storage_classes.iter().map(|row| (row.name.clone(), row.counts)).collect();
        prop_assert_eq!(classes, by_name(&objects, class));
        let extension = |object: &Object| {
            let name = object.key.rsplit('/').next().unwrap_or_default();
            let (stem, extension) = name.rsplit_once('.').unwrap_or_default();
            let plain = !stem.is_empty() && !extension.contains(' ');
            Some(if plain { extension.to_ascii_lowercase() } else { String::new() })
        };
        prop_assert_eq!(rows(&figures.extensions), by_name(&objects, extension));
        let mut found = rows(&figures.folders);
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        prop_assert_eq!(found, folders(&objects, depth));
        prop_assert_eq!(figures.largest, ranked(&objects, |object| object.size.into()));
        prop_assert_eq!(figures.newest, ranked(&objects, |object| object.last_modified_s.into()));
        let oldest = ranked(&objects, |object| -i128::from(object.last_modified_s));
        prop_assert_eq!(figures.oldest, oldest);
        let aged: u64 = figures.ages.iter().map(|age| age.counts.objects).sum();
        let sized: u64 = figures.sizes.histogram.iter().map(|range| range.counts.objects).sum();
        let long: u64 = figures.keys.lengths.iter().map(|range| range.objects).sum();
        prop_assert_eq!([aged, sized, long], [figures.total.objects; 3]);
        prop_assert_eq!(
            figures.keys.length_max,
            objects.iter().map(|object| object.key.len()).max().unwrap_or(0) as u64
        );
    }

    #[test]
    fn pieces_merge_into_the_whole_in_any_order(
        objects in objects(),
        cuts in prop::collection::vec(0..200_usize, 3),
        order in Just([0, 1, 2, 3]).prop_shuffle(),
        page_size in 1..50_usize,
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| (*cut).min(objects.len())).collect();
        cuts.extend([0, objects.len()]);
        cuts.sort_unstable();
        let piece = |index: usize| summary(&objects[cuts[index]..cuts[index + 1]], page_size, 2);
        let [a, b, c, d] = order.map(piece);
        let (mut left, mut right) = (a, c);
        left.merge(b);
        right.merge(d);
        left.merge(right);
        prop_assert_eq!(json(&left), json(&summary(&objects, objects.len().max(1), 2)));
    }
}

#[test]
fn small_objects_in_some_classes_are_billed_as_more() {
    let object = |key: &str, size, class| Object {
        key: format!("p/{key}"),
        size,
        last_modified_s: NOW_S,
        class,
    };
    let objects = [
        object("a", 10, "STANDARD_IA"),
        object("b", 131_072, "STANDARD_IA"),
        object("c", 20, "STANDARD"),
        object("d", 30, "GLACIER_IR"),
    ];
    let figures = summary(&objects, 9, 1).figures();
    let counts = Counts { objects: 2, bytes: 40 };
    assert_eq!(figures.below_billing_minimum, SmallFigures { counts, billed_bytes: 262_144 });
}

#[test]
fn versions_count_and_delete_markers_are_shown() {
    let version = |size, is_latest, is_delete_marker| VersionRow {
        object: ListedObject {
            key: "p/k",
            size,
            last_modified_s: NOW_S,
            etag: "",
            storage_class: "",
            ..ListedObject::default()
        },
        is_latest,
        is_delete_marker,
    };
    let mut summary = Summary::new(options(1));
    summary.add_versions([
        version(0, true, true),
        version(7, false, false),
        version(5, false, false),
    ]);
    summary.add_versions([version(1, true, false)]);
    let figures = summary.figures();
    assert_eq!(figures.total, Counts { objects: 3, bytes: 13 });
    let versions = figures.versions.unwrap();
    assert_eq!(versions.current, Counts { objects: 1, bytes: 1 });
    assert_eq!(versions.noncurrent, Counts { objects: 2, bytes: 12 });
    assert_eq!(versions.delete_markers, 1);
}
