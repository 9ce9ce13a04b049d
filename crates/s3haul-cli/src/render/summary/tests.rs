//! What a summary looks like.

use s3haul::summary::{OpenUpload, Summary, SummaryOptions, UploadFigures};
use s3haul_wire::ops::{ListPage, ListedObject};
use s3haul_wire::units::{GIB, KIB, MIB};

use super::*;

const AT_S: i64 = 1_790_000_000;
const DAY_S: i64 = 24 * 3600;

type Row = (&'static str, u64, i64, &'static str);

const OBJECTS: [Row; 12] = [
    ("2025/summer/beach.jpg", 3 * MIB, 400, "STANDARD_IA"),
    ("2025/summer/film.mp4", 5 * GIB, 400, "GLACIER"),
    ("2025/winter/snow.JPG", 2 * MIB, 200, "STANDARD_IA"),
    ("2026/a b.jpg", 7 * MIB, 3, "STANDARD"),
    ("2026/größe.jpg", 6 * MIB, 2, "STANDARD"),
    ("2026/thumb/1.png", 9 * KIB, 2, "STANDARD_IA"),
    ("2026/thumb/2.png", 8 * KIB, 2, "STANDARD_IA"),
    ("Makefile", 700, 4000, "STANDARD"),
    ("empty/", 0, 90, "STANDARD"),
    ("logs//x", 12, 0, "STANDARD"),
    ("notes.txt", 1, 60, "STANDARD"),
    ("readme.md", 3 * KIB + 20, 800, "STANDARD"),
];

fn summary(rows: &[Row], options: SummaryOptions) -> Summary {
    let objects = rows.iter().map(|(key, size, days, class)| ListedObject {
        key,
        size: *size,
        last_modified_s: AT_S - days * DAY_S - 60,
        etag: "",
        storage_class: class,
        ..ListedObject::default()
    });
    let mut summary = Summary::new(options);
    summary.add_page(&ListPage::from_objects(objects).unwrap());
    summary
}

fn options(depth: usize, top: usize) -> SummaryOptions {
    SummaryOptions { depth, top, now_s: AT_S, ..SummaryOptions::default() }
}

fn shown(summary: &Summary, depth: usize, top: usize, format: SummaryFormat) -> String {
    let figures = summary.figures();
    let open = OpenUpload {
        key: "2024/forgotten.mov".to_owned(),
        upload_id: "id".to_owned(),
        initiated_s: AT_S - 500 * DAY_S,
        parts: 12,
        bytes: 96 * MIB,
    };
    let uploads = UploadFigures {
        uploads: 1,
        parts: 12,
        bytes: 96 * MIB,
        oldest: vec![open],
        ..UploadFigures::default()
    };
    let report = Report {
        bucket: "photos",
        prefix: "",
        is_selection: false,
        at_s: AT_S,
        depth,
        top,
        figures: &figures,
        uploads: Some(&uploads),
    };
    let style = Style { unicode: true };
    let bytes = match format {
        SummaryFormat::Text => text::render(&report, style, LocalTime::utc()),
        format => render(&report, format, style),
    };
    String::from_utf8(bytes).unwrap()
}

#[test]
fn text_is_made_for_reading() {
    let text = shown(&summary(&OBJECTS, options(2, 3)), 2, 3, SummaryFormat::Text);
    assert_eq!(text, include_str!("tests/text.txt"), "\n{text}");
}

#[test]
fn json_has_a_version_and_all_figures() {
    let json = shown(&summary(&OBJECTS, options(1, 2)), 1, 2, SummaryFormat::Json);
    assert!(json.starts_with("{\"version\":1,\"bucket\":\"photos\",\"prefix\":\"\","), "{json}");
    assert_eq!(json, include_str!("tests/document.json"), "\n{json}");
}

#[test]
fn csv_is_one_table() {
    let csv = shown(&summary(&OBJECTS, options(1, 2)), 1, 2, SummaryFormat::Csv);
    assert_eq!(csv, include_str!("tests/table.csv"), "\n{csv}");
}

#[test]
fn plain_terminals_get_plain_characters() {
    let rows = [("a\u{1b}b/c", 100, 1, ""), ("d/e", 50, 1, "")];
    let figures = summary(&rows, options(1, 9)).figures();
    let report = Report {
        bucket: "b",
        prefix: "",
        is_selection: true,
        at_s: AT_S,
        depth: 1,
        top: 9,
        figures: &figures,
        uploads: None,
    };
    let style = Style { unicode: false };
    let text = String::from_utf8(render(&report, SummaryFormat::Text, style)).unwrap();
    assert!(text.is_ascii() && !text.contains('\u{1b}'), "{text}");
    assert!(text.contains("66.7%  #############         a\\u{1b}b/\n"), "{text}");
    assert!(text.starts_with("s3://b/ (only what was selected)\n2 objects, 150 Bytes\n"));
}

#[test]
fn an_empty_bucket_has_no_tables() {
    let figures = summary(&[], options(1, 9)).figures();
    let report = Report {
        bucket: "b",
        prefix: "p/",
        is_selection: false,
        at_s: AT_S,
        depth: 1,
        top: 9,
        figures: &figures,
        uploads: None,
    };
    let style = Style { unicode: true };
    let text = String::from_utf8(render(&report, SummaryFormat::Text, style)).unwrap();
    assert_eq!(text, "s3://b/p/\n0 objects, 0 Bytes\n");
}

#[test]
fn merged_folders_are_marked() {
    let keys: Vec<String> = (0..400).map(|n| format!("f{}/{n}", n * 7 % 100)).collect();
    let mut few = Summary::new(SummaryOptions { folders_max: 10, ..options(1, 3) });
    for (index, key) in keys.iter().enumerate() {
        let size = if key.starts_with("f7/") { 1000 } else { 1 + index as u64 % 3 };
        let object = ListedObject { key, size, last_modified_s: AT_S, ..ListedObject::default() };
        few.add_objects([object]);
    }
    let text = shown(&few, 1, 3, SummaryFormat::Text);
    assert!(text.contains("  (all other folders)\n"), "{text}");
    assert!(text.contains("≥ marks lower bounds"), "{text}");
    let csv = shown(&few, 1, 3, SummaryFormat::Csv);
    let total: u64 = csv
        .lines()
        .filter(|line| line.starts_with("folder"))
        .map(|line| line.split(',').nth(2).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(total, 400, "{csv}");
}
