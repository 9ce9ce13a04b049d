//! Pages whose entries are written alike, or nearly: what is read by layout against the tree of the
//! page.

use proptest::prelude::*;

use super::super::list_page::ListPage;
use super::super::list_reader::{objects, strict};
use super::*;

/// Entries as services write them; `K`, `T`, `E` and `S` stand for the values.
const STYLES: [&str; 11] = [
    // Amazon, before and after it began to return checksums.
    "<Contents><Key>K</Key><LastModified>T.000Z</LastModified><ETag>&quot;E&quot;</ETag>\
     <Size>S</Size><StorageClass>STANDARD</StorageClass></Contents>",
    "<Contents><Key>K</Key><LastModified>T.000Z</LastModified><ETag>&quot;E&quot;</ETag>\
     <ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType>\
     <Size>S</Size><StorageClass>GLACIER</StorageClass></Contents>",
    // MinIO, with and without owners.
    "<Contents><Key>K</Key><LastModified>T.123Z</LastModified><ETag>&#34;E&#34;</ETag>\
     <Size>S</Size><StorageClass>STANDARD</StorageClass></Contents>",
    "<Contents><Key>K</Key><LastModified>T.123Z</LastModified><ETag>&#34;E&#34;</ETag>\
     <Size>S</Size><Owner><ID>02d6</ID><DisplayName>minio</DisplayName></Owner>\
     <StorageClass>STANDARD</StorageClass></Contents>",
    // versitygw: in the order of the alphabet.
    "<Contents><ETag>E</ETag><Key>K</Key><LastModified>TZ</LastModified><Size>S</Size>\
     <StorageClass>STANDARD</StorageClass></Contents>",
    // Ceph.
    "<Contents><Key>K</Key><LastModified>T.999Z</LastModified><ETag>&quot;E&quot;</ETag>\
     <Size>S</Size><StorageClass>STANDARD</StorageClass><Owner><ID>u</ID>\
     <DisplayName>U</DisplayName></Owner><Type>Normal</Type></Contents>",
    // R2, and others that write quotes as they are.
    "<Contents><Key>K</Key><Size>S</Size><LastModified>T.5Z</LastModified><ETag>\"E\"</ETag>\
     <StorageClass>STANDARD</StorageClass></Contents>",
    // Indented, with each kind of line end.
    "\n  <Contents>\n    <Key>K</Key>\n    <LastModified>T.000Z</LastModified>\n    \
     <ETag>&quot;E&quot;</ETag>\n    <Size>S</Size>\n  </Contents>",
    "\r\n\t<Contents>\r\n<Size>S</Size>\r\n<Key>K</Key>\r\n<ETag>\"E\"</ETag>\r\n</Contents>",
    // What is missing, and what is empty.
    "<Contents><Key>K</Key></Contents>",
    "<Contents><Key>K</Key><LastModified></LastModified><ETag></ETag><Size>S</Size><Owner/>\
     <StorageClass></StorageClass></Contents>",
];

#[derive(Clone, Debug)]
struct Row {
    style: usize,
    key: String,
    time_s: i64,
    etag: String,
    size: u64,
}

impl Row {
    fn xml(&self) -> String {
        let time = jiff::Timestamp::from_second(self.time_s).unwrap();
        let time = time.strftime("%Y-%m-%dT%H:%M:%S").to_string();
        let key = self.key.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let fill = |xml: String, place: &str, value: &str| match xml.find(place) {
            Some(at) => {
                let at = at + place.len() - 1;
                xml[..at].to_owned() + value + &xml[at + 1..]
            }
            None => xml,
        };
        let xml = fill(STYLES[self.style].to_owned(), "<LastModified>T", &time);
        let xml = fill(xml, "<Size>S", &self.size.to_string());
        let xml = ["<ETag>&quot;E", "<ETag>&#34;E", "<ETag>\"E", "<ETag>E"]
            .into_iter()
            .fold(xml, |xml, place| fill(xml, place, &self.etag));
        // Last, because there is nothing that a key cannot hold.
        fill(xml, "<Key>K", &key)
    }
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let key = prop_oneof![
        8 => "[a-z0-9/._-]{36}",
        4 => "[a-z0-9/._-]{1,40}",
        1 => "[ -~]{1,20}",
        1 => "[a-zé語🚀%+]{1,12}",
    ];
    let etag = prop_oneof![8 => "[0-9a-f]{32}", 2 => "[0-9a-f]{32}-[0-9]{1,4}", 1 => "[a-z]{0,9}"];
    let time = prop_oneof![1_700_000_000_i64..1_700_200_000, 0_i64..4_102_444_800];
    let size = prop_oneof![0_u64..1 << 40, any::<u64>()];
    let row = (key, time, etag, size, 0_usize..STYLES.len(), 0_u8..10);
    (0..STYLES.len(), proptest::collection::vec(row, 0..24)).prop_map(|(usual, rows)| {
        let row = |(key, time_s, etag, size, other, chance)| {
            let style = if chance == 0 { other } else { usual };
            Row { style, key, time_s, etag, size }
        };
        rows.into_iter().map(row).collect()
    })
}

fn document(rows: &[Row]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult>");
    xml.extend(rows.iter().map(Row::xml));
    xml + "<IsTruncated>false</IsTruncated></ListBucketResult>"
}

fn agreed(xml: &str) -> ListPage {
    let page = objects(xml.as_bytes()).unwrap();
    assert_eq!(page, strict(xml.as_bytes()).unwrap(), "{xml}");
    page
}

proptest! {
    #[test]
    fn entries_written_alike_are_read_as_they_were_meant(rows in rows()) {
        let page = agreed(&document(&rows));
        prop_assert_eq!(page.len(), rows.len());
        for (object, row) in page.iter().zip(&rows) {
            prop_assert_eq!(object.key, &row.key);
            let has = |field: &str| STYLES[row.style].contains(field);
            prop_assert_eq!(object.size, if has("<Size>S") { row.size } else { 0 });
            prop_assert_eq!(object.last_modified_s, if has(">T") { row.time_s } else { 0 });
            let milliseconds = [("T.123Z", 123_000), ("T.999Z", 999_000), ("T.5Z", 500_000)];
            let told = milliseconds.into_iter().find(|(text, _)| has(text)).map_or(0, |(_, us)| us);
            prop_assert_eq!(object.last_modified_us, told);
            let etag = match () {
                () if has("<ETag>E") => row.etag.clone(),
                () if has(";E&") || has("\"E\"") => format!("\"{}\"", row.etag),
                () => String::new(),
            };
            prop_assert_eq!(object.etag, etag);
        }
    }

    #[test]
    fn damaged_entries_are_read_as_their_tree_is(
        rows in rows(),
        damage in proptest::collection::vec(
            (
                any::<prop::sample::Index>(),
                0_usize..3,
                "(|<|>|/|&|;|&quot;|&lt;|[0-9TZ:.-]|<Key>|</Key>|<Size>1</Size>| |\n|é)",
            ),
            1..4,
        ),
    ) {
        let mut xml = document(&rows).into_bytes();
        for (at, removed, inserted) in damage {
            let at = at.index(xml.len());
            let end = (at + removed).min(xml.len());
            xml.splice(at..end, inserted.bytes());
        }
        prop_assert_eq!(objects(&xml).ok(), strict(&xml).ok());
    }

    #[test]
    fn a_plain_key_has_no_special_byte(
        before in "[a-z0-9 -;=-~]{0,20}",
        special in "([<&%+~$;=]|é|[a-z]?)",
        after in "[a-z/]{0,20}",
    ) {
        let key = format!("{before}{special}{after}");
        let has = |byte: u8| matches!(byte, b'<' | b'&' | b'%' | b'+') || !byte.is_ascii();
        prop_assert_eq!(is_plain(key.as_bytes()), !key.bytes().any(has));
    }

    #[test]
    fn a_clock_is_the_time_of_its_day(
        clock in "[0-3][0-9]:[0-7][0-9]:[0-7][0-9][.][0-9a]{3}Z",
        odd in prop::option::of((0..TIME_BYTES - DATE_BYTES, any::<u8>())),
    ) {
        let mut text = format!("2024-02-29T{clock}").into_bytes();
        if let Some((at, byte)) = odd {
            text[DATE_BYTES + at] = byte;
        }
        let (day_s, _) = parse_exact_time(b"2024-02-29T00:00:00.000Z").unwrap();
        let found = text.last_chunk().and_then(time_of_day);
        // Without a fraction, or with one that goes on, a time is read another way.
        let is_long = text[19] == b'.' && text[20..23].iter().all(u8::is_ascii_digit);
        let expected = parse_exact_time(&text).filter(|_| is_long);
        prop_assert_eq!(found.map(|(clock_s, us)| (day_s + clock_s, us)), expected);
    }
}

fn row(style: usize, key: &str, etag: &str) -> String {
    let (key, etag) = (key.to_owned(), etag.to_owned());
    Row { style, key, time_s: 1_700_000_000, etag, size: 7 }.xml()
}

#[test]
fn a_layout_reads_what_is_written_alike_and_nothing_else() {
    let first = row(0, "a", "0123456789abcdef0123456789abcdef");
    let mut template = RowTemplate::default();
    for (name, text) in [
        ("Key", "a"),
        ("LastModified", "2023-11-14T22:13:20.000Z"),
        ("ETag", "&quot;0123456789abcdef0123456789abcdef&quot;"),
        ("Size", "7"),
    ] {
        let at = first.find(&format!("<{name}>")).unwrap() + name.len() + 2;
        template.add(name, text.as_bytes(), at);
    }
    let second = row(0, "bcd", "ef-2") + "<Contents>";
    let others: Vec<_> = (1..STYLES.len()).map(|style| row(style, "bcd", "ef-2")).collect();
    let mut layout = Layout::of(first.as_bytes(), 0, first.len(), &template, 3).unwrap();
    let (found, rest) = layout.read(second.as_bytes()).expect("it is written alike");
    assert_eq!((found.key, found.etag, found.size), (&b"bcd"[..], &b"ef-2"[..], 7));
    assert_eq!((found.last_modified, found.storage_class), ((1_700_000_000, 0), 3));
    assert!(found.is_plain && found.is_quoted && rest == b"<Contents>");
    for other in &others {
        assert!(layout.read(other.as_bytes()).is_none(), "{other}");
    }
}

#[test]
fn entries_of_every_style_follow_one_another() {
    for style in 0..STYLES.len() {
        let entries = ["a", "bcd", "b&c", "a b"].map(|key| row(style, key, "ef-2")).concat();
        let page = agreed(&format!("<ListBucketResult>{entries}</ListBucketResult>"));
        let keys: Vec<_> = page.iter().map(|object| object.key).collect();
        assert_eq!(keys, ["a", "bcd", "b&c", "a b"]);
    }
}
