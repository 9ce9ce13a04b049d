//! Rows of each kind of text, and what they name.

use std::fmt::Write as _;
use std::io::BufReader;

use proptest::prelude::*;

use super::*;
use crate::manifest::detect;
use crate::render::csv::push_row;
use crate::render::listing::{Format, RowFormat, RowStyle};
use s3haul_wire::ops::ListedObject;

fn entries(format: TextFormat, text: &[u8]) -> Vec<Result<ManifestEntry, String>> {
    let text: Text = Box::new(BufReader::with_capacity(3, io::Cursor::new(text.to_vec())));
    let entries = TextEntries::new(text, format, "m");
    entries.map(|entry| entry.map_err(|error| error.to_string())).collect()
}

fn keys(format: TextFormat, text: &str) -> Vec<String> {
    let entries = entries(format, text.as_bytes()).into_iter();
    entries.map(|entry| entry.map_or_else(|error| error, |entry| entry.key)).collect()
}

#[test]
fn lines_are_keys_or_addresses_as_they_are() {
    assert_eq!(
        keys(TextFormat::Lines, "a b\n\n# x\r\ns3://b/k/%20\nlast"),
        ["a b", "# x", "k/%20", "last"]
    );
    let all = entries(TextFormat::Lines, b"s3://b/k\nx");
    assert_eq!(all[0].as_ref().unwrap().bucket.as_deref(), Some("b"));
    assert_eq!(all[1].as_ref().unwrap().bucket, None);
    let bad = entries(TextFormat::Lines, b"ok\n\xff\nnever");
    assert!(bad[1].as_ref().unwrap_err().starts_with("line 2 of the manifest `m`"), "{bad:?}");
    assert_eq!(bad.len(), 2, "after an error there is nothing more");
}

/// They named other objects than those that were meant, and removing these succeeded.
#[test]
fn lines_that_look_like_something_else_are_refused() {
    assert_eq!(keys(TextFormat::Guessed, "a,b\n\ns3://b/k,\"x\"\n"), ["a,b", "k,\"x\""]);
    for (line, why) in [
        ("\"a,b\"", "it begins with a quote"),
        ("s3://b/k\tv1", "it has a tab"),
        ("k\t5\t2026-01-01T00:00:00Z", "it has a tab"),
        ("a\0b", "it has a NUL character"),
    ] {
        let found = keys(TextFormat::Guessed, &format!("first\n{line}\nlast\n"));
        assert!(found.len() == 2 && found[1].contains(why), "{found:?}");
        assert!(found[1].starts_with("line 2 of the manifest `m`"), "{found:?}");
    }
    assert_eq!(keys(TextFormat::Lines, "\"a\"\nk\tx\n"), ["\"a\"", "k\tx"]);
    for format in [TextFormat::Lines, TextFormat::Csv] {
        assert!(keys(format, "b,a\0b\n")[0].contains("it has a NUL character"), "{format:?}");
    }
}

proptest! {
    /// `list --format keys` escaped backslashes, so that `rm --from` removed other objects.
    #[test]
    fn keys_that_are_listed_are_read_back(
        keys in prop::collection::vec(
            (
                r#"(s3://|\{"?|"|\u{feff}|PAR1|[kK]_?ey(,size)?|b,|  PRE )?"#,
                "(2026-11-28 11:16:16  [1u]  |event,action,outcome,)?",
                r#"[a\\"ntré \t\r\n\x00/,\PC]{0,9}"#,
            )
                .prop_map(|(start, middle, end)| start + &middle + &end)
                .prop_filter("no key", |key| !key.is_empty()),
            1..9,
        ),
    ) {
        let mut rows = RowFormat::new(Format::Keys, &[], "b", RowStyle::default())
            .with_addresses_of(detect::is_ambiguous);
        let mut text = Vec::new();
        for key in &keys {
            rows.push(&mut text, &ListedObject { key, ..ListedObject::default() }.into());
        }
        let detected = detect::Format::of(None, "-", "b", &text);
        prop_assert_eq!(detected, detect::Format::Text(TextFormat::Guessed));
        for format in [TextFormat::Lines, TextFormat::Guessed] {
            let found: Result<Vec<_>, _> = entries(format, &text).into_iter().collect();
            let found = found.map(|found| found.into_iter().map(|entry| entry.key).collect());
            prop_assert_eq!(found.as_ref(), Ok(&keys));
        }
    }
}

#[test]
fn csv_without_names_is_that_of_batch_operations() {
    let batch = "b,a%2Fb+c\nb,\"x,%22\"\r\nb,last";
    assert_eq!(keys(TextFormat::S3Batch, batch), ["a/b c", "x,\"", "last"]);
    let all = entries(TextFormat::Csv, b"b,k,v1\nb,k2,\n");
    assert_eq!(all[0].as_ref().unwrap().version, Version::Named);
    assert_eq!(all[1].as_ref().unwrap().version, Version::Current);
    // Cut off before its version, it would be the current object.
    assert!(keys(TextFormat::Csv, "b,k,v1\nb,k2")[1].contains("it has 2 cells and not 3"));
    assert!(keys(TextFormat::Csv, "k\n")[0].contains("without a line of names"));
    assert!(keys(TextFormat::S3Batch, "b,%zz\n")[0].contains("`%zz` is not a key"));
    // That has no line of names.
    assert_eq!(keys(TextFormat::S3Batch, "bucket,key\n"), ["key"]);
    assert!(keys(TextFormat::Csv, "b,k\nb,\"k\n")[1].contains("ends within quotes"));
}

/// They were decoded, so that `rm` removed other objects than a list by hand had named.
#[test]
fn csv_without_names_that_may_be_encoded_or_not_is_refused() {
    for (text, taken) in [
        ("b,k\nb,50%\nb,a+b\nb,%41\n", &["k", "50%", "a+b", "%41"][..]),
        ("b,a b\nb,a+b\n", &["a b", "a+b"]),
        ("b,é%41\n", &["é%41"]),
        ("bucket,key\nb,a+b\n", &["a+b"]),
        ("b,(k)*\nb,k/~\n", &["(k)*", "k/~"]),
        // The file is cut off within its last line end.
        ("b,k\r\nb,l\r", &["k", "l"]),
        ("b,a b\nb,\"a\tb \"\n", &["a b", "a\tb "]),
    ] {
        assert_eq!(keys(TextFormat::Csv, text), taken);
    }
    let key_form = |text: &'static str| {
        let entries = TextEntries::new(Box::new(text.as_bytes()), TextFormat::Csv, "m");
        entries.key_form().map_err(|error| error.to_string())
    };
    for key in ["a+b", "%41", "%FF", "a\tb", " a", "a ", "\"a\r\""] {
        let found = keys(TextFormat::Csv, &format!("b,k\nb,{key}\nb,a b\n"));
        assert!(found.len() == 2 && found[1].contains("--from-format s3-batch"), "{found:?}");
        assert!(found[1].starts_with("row 2 of the manifest `m`"), "{found:?}");
    }
    // What can be read twice is decided by any row.
    assert_eq!(key_form("b,k\nb,a+b\nb,a b\n"), Ok(KeyForm::Plain));
    assert_eq!(key_form("b,k\n"), Ok(KeyForm::Unclear));
    assert!(key_form("b,a+b\r\nb,k\r").is_err());
    assert!(key_form("b,k\nb,a+b\nb,%41\n").unwrap_err().starts_with("row 2 of"));
}

#[test]
fn csv_with_names_has_its_columns_in_any_order() {
    let text = "etag,Key,size,colour,last_modified,storage_class\n\
                \"\"\"e\"\"\",a%20b,5,red,2026-01-01T00:00:00Z,GLACIER\n";
    let all = entries(TextFormat::Csv, text.as_bytes());
    let entry = all[0].as_ref().unwrap();
    let facts = entry.facts.as_ref().unwrap();
    assert_eq!((entry.key.as_str(), facts.etag.as_str(), facts.size), ("a%20b", "\"e\"", 5));
    assert_eq!(facts.storage_class, "GLACIER");
    assert!(keys(TextFormat::Csv, "key,size\na\n")[0].contains("it has 1 cells and not 2"));
    assert!(keys(TextFormat::Csv, "key,Key\na,b\n")[0].contains("it has the column `Key` twice"));
    assert_eq!(keys(TextFormat::Csv, "x,key,x\n1,a,2\n"), ["a"]);
    let report = "event,outcome,source,source,target\n";
    assert!(keys(TextFormat::ReportCsv, report)[0].contains("the column `source` twice"));
}

/// `p/2,abc` was taken, its size unknown; the documentation says that such a row ends the command.
#[test]
fn a_row_whose_size_is_no_number_ends_the_manifest() {
    let csv = "key,size\np/1,5\np/2,abc\np/3,7\n";
    let message = "row 3 of the manifest `m` cannot be understood: `abc` is not a size in bytes";
    assert_eq!(keys(TextFormat::Csv, csv), ["p/1", message]);
    for row in ["\"Size\":\"7\"", "\"size\":-7", "\"size\":1.5", "\"LastModified\":\"soon\""] {
        let json = format!("{{\"key\":\"p/1\"}}\n{{\"key\":\"p/2\",{row}}}\n{{\"key\":\"p/3\"}}\n");
        let found = keys(TextFormat::Jsonl, &json);
        assert!(found.len() == 2 && found[1].starts_with("line 2 of the manifest"), "{found:?}");
    }
    // A delete marker has no size.
    assert_eq!(keys(TextFormat::Csv, "key,size,last_modified\np/1,,\n"), ["p/1"]);
}

/// As tables spell them: an old version is not taken for the current object.
#[test]
fn fields_of_json_lines_are_spelled_in_any_way() {
    let line = r#"{"BUCKET":"b","key":"k","versionId":"v","isLatest":false,"ignored":{"key":1}}"#;
    let mut entries = TextEntries::new(Box::new(line.as_bytes()), TextFormat::Jsonl, "m");
    let entry = entries.next().unwrap().unwrap();
    assert_eq!((entry.bucket.as_deref(), entry.version), (Some("b"), Version::Hidden));
    for twice in [r#"{"key":"k","isLatest":true,"is_latest":true}"#, r#"{"key":"k","Key":"k"}"#] {
        let mut entries = TextEntries::new(Box::new(twice.as_bytes()), TextFormat::Jsonl, "m");
        assert!(entries.next().unwrap().is_err(), "{twice}");
    }
}

/// They said `invalid type: integer` and "line 1" of each line, in the words of a library.
#[test]
fn errors_of_json_lines_are_about_the_manifest() {
    for (line, why) in [
        ("{\"key\":5}", "`5` is not a key"),
        ("{\"key\":\"k\",\"Size\":-1}", "`-1` is not a size in bytes"),
        ("{\"key\":\"k\",\"size\":\"7\"}", "`\"7\"` is not a size in bytes"),
        ("{\"key\":\"k\",\"IsLatest\":1}", "`1` is not a value of `is_latest` (true or false)"),
        ("{\"key\":\"k\",\"event\":1}", "`1` is not a text"),
        ("{\"key\":\"k", "the JSON object is cut off at the end of the line"),
        ("{\"key\":\"k\",}", "it is not JSON, from character 12 on"),
        ("key", "it is not JSON, from character 1 on"),
        ("[\"k\"]", "it is not a JSON object"),
        ("{\"key\":\"k\",\"Key\":\"l\"}", "it has one field twice"),
        ("{\"bucket\":\"b\"}", "it has no `key`"),
    ] {
        let found = keys(TextFormat::Jsonl, &format!("{{\"key\":\"a\"}}\n\n{line}\n"));
        let message = format!("line 3 of the manifest `m` cannot be understood: {why}");
        assert_eq!(found, ["a".to_owned(), message]);
    }
}

#[test]
fn json_lines_are_those_of_listings() {
    let text = "{\"bucket\":\"b\",\"key\":\"k\\n\",\"tags\":{\"a\":\"b\"}}\n\n\
                {\"Key\":\"K\",\"Size\":1,\"ETag\":\"\\\"e\\\"\",\
                 \"LastModified\":\"2026-01-01T00:00:00+00:00\",\"StorageClass\":null}\n\
                {\"v\":1,\"event\":\"listing_summary\",\"objects\":2}\n{\"size\":1}\n";
    assert_eq!(keys(TextFormat::Jsonl, text)[..2], ["k\n", "K"]);
    assert!(
        keys(TextFormat::Jsonl, text)[2].contains("line 5")
            && keys(TextFormat::Jsonl, text).len() == 3
    );
    assert!(entries(TextFormat::Jsonl, text.as_bytes())[1].as_ref().unwrap().facts.is_some());
}

/// They were passed over, so that a listing that had failed was one of fewer objects.
#[test]
fn a_listing_that_says_that_it_failed_is_an_error() {
    for (event, why) in [
        ("error", "the listing did not come to its end"),
        ("fatal", "the listing did not come to its end"),
        ("warning", "or lacks something"),
        ("prefix", "it is a prefix, and no object"),
        ("line", "it is the event `line`, which names no object"),
        // What it names is no object yet.
        ("upload", "it is the event `upload`, which names no object"),
    ] {
        for key in ["", ",\"key\":\"b\""] {
            let text = format!(
                "{{\"key\":\"a\"}}\n\
                 {{\"event\":\"{event}\",\"message\":\"m\",\"failed\":true{key}}}\n"
            );
            let found = keys(TextFormat::Jsonl, &text);
            assert!(found.len() == 2 && found[1].contains(why), "{found:?}");
        }
    }
}

/// Servers that list in another order are said to do so, and nothing is missing.
#[test]
fn a_whole_listing_with_a_warning_is_taken() {
    let mut text = br#"{"v":1,"event":"listed","key":"b"}"#.to_vec();
    text.push(b'\n');
    crate::render::json::push_warning(&mut text, &s3haul_list::Notice::Unordered.to_string());
    text.extend_from_slice(b"{\"v\":1,\"event\":\"listed\",\"key\":\"a\"}\n");
    text.extend_from_slice(b"{\"v\":1,\"event\":\"listing_summary\",\"objects\":2}\n");
    assert_eq!(keys(TextFormat::Jsonl, std::str::from_utf8(&text).unwrap()), ["b", "a"]);
    crate::render::json::push_lack(&mut text, "find failed: s3://b/c");
    let found = keys(TextFormat::Jsonl, std::str::from_utf8(&text).unwrap());
    assert!(found.len() == 3 && found[2].contains("or lacks something"), "{found:?}");
    for event in ["object_head", "tags", "archive"] {
        let text = format!("{{\"event\":\"{event}\",\"key\":\"a\",\"bucket\":\"b\"}}\n");
        assert_eq!(keys(TextFormat::Jsonl, &text), ["a"]);
    }
}

/// A thousand rows of 4 MiB were kept at a time.
#[test]
fn what_is_too_long_for_s3_is_not_kept() {
    let (most, long) = ("k".repeat(1024), "k".repeat(1025));
    let report = |key: &str| {
        format!("{{\"event\":\"object\",\"outcome\":\"done\",\"source\":\"s3://b/{key}\"}}\n")
    };
    for (format, text, what) in [
        (TextFormat::Guessed, "s3://b/KEY\n".to_owned(), "a key"),
        (TextFormat::Lines, "s3://KEY/k\n".to_owned(), "a bucket"),
        (TextFormat::Csv, "b,KEY\n".to_owned(), "a key"),
        (TextFormat::Csv, "key,size\nk,KEY\n".to_owned(), "a cell"),
        (TextFormat::Jsonl, "{\"key\":\"KEY\"}\n".to_owned(), "a key"),
        (TextFormat::ReportJsonl, report("KEY"), "a key"),
    ] {
        let refused = keys(format, &text.replace("KEY", &long)).remove(0);
        let message = format!("it has {what} of more than 1,024 bytes");
        assert!(refused.contains(&message) && refused.len() < 200, "{refused}");
        let taken = keys(format, &text.replace("KEY", &most)).remove(0);
        assert!(what != "a key" || taken == most, "{taken}");
    }
}

#[test]
fn reports_name_what_was_done() {
    let json = "{\"v\":1,\"event\":\"report\",\"action\":\"cp\",\"source\":\"s3://b\"}\n\
        {\"event\":\"object\",\"outcome\":\"done\",\"source\":\"s3://b/a\",\"target\":\"/t/a\"}\n\
        {\"event\":\"object\",\"outcome\":\"failed\",\"source\":\"s3://b/no\",\"target\":\"/t\"}\n\
        {\"event\":\"object\",\"outcome\":\"dry_run\",\"source\":\"/t\",\"target\":\"s3://b/up\"}\n\
        {\"event\":\"end\",\"outcome\":\"complete\"}\n";
    assert_eq!(keys(TextFormat::ReportJsonl, json), ["a", "up"]);
    let csv = "event,action,outcome,source,target\nreport,cp,,s3://b,/t\n\
               object,download,done,s3://b/a,/t/a\nobject,copy,skipped,s3://b/no,s3://c/no\n";
    assert_eq!(keys(TextFormat::ReportCsv, csv), ["a"]);
    assert!(keys(TextFormat::ReportCsv, "key\na\n")[0].contains("a column `event`"));
}

/// A row that was cut off named another object, or the current one instead of a version.
#[test]
fn a_report_that_breaks_off_names_nothing_else() {
    let csv = "event,outcome,source,target,version_id\nobject,done,s3://b/a,,\n\
               object,done,s3://b/logs/10,,v10\n";
    let json = "{\"event\":\"object\",\"outcome\":\"done\",\"source\":\"s3://b/a\"}\n\
                {\"event\":\"object\",\"outcome\":\"done\",\"source\":\"s3://b/logs/10\",\
                 \"version_id\":\"v10\"}\n";
    for (format, text) in [(TextFormat::ReportCsv, csv), (TextFormat::ReportJsonl, json)] {
        for length in 0..text.len() {
            let found = entries(format, &text.as_bytes()[..length]);
            for entry in found.iter().flatten() {
                let is_first = entry.key == "a" && entry.version == Version::Current;
                let is_second = entry.key == "logs/10" && entry.version == Version::Named;
                assert!(is_first || is_second, "{length}: {entry:?}");
            }
        }
        assert_eq!(keys(format, text), ["a", "logs/10"]);
    }
}

#[test]
fn a_version_in_a_report_is_not_the_current_object() {
    let json = "{\"event\":\"object\",\"action\":\"delete\",\"outcome\":\"dry_run\",\
                \"source\":\"s3://b/a\",\"version_id\":\"v1\"}\n";
    let csv = "event,outcome,source,target,version_id\nobject,done,s3://b/a,,v1\n";
    for (format, text) in [(TextFormat::ReportJsonl, json), (TextFormat::ReportCsv, csv)] {
        let found = entries(format, text.as_bytes());
        assert_eq!(found[0].as_ref().unwrap().version, Version::Named, "{format:?}");
    }
    // Rows of a report without its first one are no rows of a listing that end it.
    assert!(keys(TextFormat::Jsonl, json)[0].contains("--from-format report"));
}

proptest! {
    #[test]
    fn what_a_listing_writes_is_read(
        names in prop::collection::vec("(?s)[a,\"\n\r%+é]{1,6}", 1..6),
        ends_with_line in any::<bool>(),
    ) {
        let mut csv = b"size,key\n".to_vec();
        let mut json = String::new();
        for name in &names {
            push_row(&mut csv, &["1", name]);
            writeln!(json, "{}", serde_json::json!({ "key": name })).unwrap();
        }
        if !ends_with_line {
            csv.pop();
            json.pop();
        }
        let csv = String::from_utf8(csv).unwrap();
        prop_assert_eq!(&keys(TextFormat::Csv, &csv), &names);
        prop_assert_eq!(&keys(TextFormat::Jsonl, &json), &names);
    }
}
