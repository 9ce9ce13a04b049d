//! The reader of listings against the tree of a page: written pages, damaged pages.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// What damage puts into a page.
const DAMAGE: &str = "(<|>|/|&|;|%|\\+|<!--|-->|<!\\[CDATA\\[|\\]\\]>|<Key>|</Key>|<Size>|\
    [a-z0-9]| |\n|é)";
use crate::sign::signature::encode_path;

/// What a page is made of, and how it is written.
#[derive(Clone, Debug)]
struct Sample {
    objects: Vec<(String, u64, i64, u8)>,
    prefixes: Vec<String>,
    token: Option<String>,
    encoding: Encoding,
    blanks: &'static str,
    extras: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Encoding {
    /// Declared before the keys, as S3 does.
    UrlBefore,
    /// Declared after the keys, as MinIO does.
    UrlAfter,
    /// The server ignores what was asked for.
    None,
}

const CLASSES: [&str; 4] = ["", "STANDARD", "GLACIER", "DEEP_ARCHIVE"];

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#xD;")
}

impl Sample {
    fn key(&self, key: &str) -> String {
        if self.encoding == Encoding::None {
            return escape(key);
        }
        let mut encoded = String::new();
        encode_path(key, &mut encoded);
        encoded.replace("%20", "+")
    }

    fn xml(&self) -> String {
        let blanks = self.blanks;
        let mut xml = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>",
        );
        xml.push_str("<Prefix/><Delimiter>/</Delimiter><MaxKeys>1000</MaxKeys>");
        if self.encoding == Encoding::UrlBefore {
            xml.push_str("<EncodingType>url</EncodingType>");
        }
        write!(xml, "<IsTruncated>{}</IsTruncated>{blanks}", self.token.is_some()).unwrap();
        for (key, size, time, class) in &self.objects {
            self.object(&mut xml, key, *size, *time, CLASSES[usize::from(*class)]);
        }
        for prefix in &self.prefixes {
            let prefix = self.key(prefix);
            write!(xml, "<CommonPrefixes>{blanks}<Prefix>{prefix}</Prefix></CommonPrefixes>")
                .unwrap();
        }
        if let Some(token) = &self.token {
            write!(xml, "<NextContinuationToken>{token}</NextContinuationToken>").unwrap();
        }
        if self.encoding == Encoding::UrlAfter {
            xml.push_str("<EncodingType>url</EncodingType>");
        }
        xml + blanks + "</ListBucketResult>\n"
    }

    fn object(&self, xml: &mut String, key: &str, size: u64, time: i64, class: &str) {
        let (blanks, key) = (self.blanks, self.key(key));
        let time = jiff::Timestamp::from_second(time).unwrap().strftime("%Y-%m-%dT%H:%M:%S.000Z");
        write!(
            xml,
            "<Contents>{blanks}<Key>{key}</Key>{blanks}<LastModified>{time}</LastModified>\
             <ETag>&quot;{size:032x}&quot;</ETag><Size>{size}</Size>"
        )
        .unwrap();
        if self.extras {
            xml.push_str(
                "<ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm><Owner><ID>x</ID></Owner>",
            );
        }
        if !class.is_empty() {
            write!(xml, "<StorageClass>{class}</StorageClass>").unwrap();
        }
        write!(xml, "{blanks}</Contents>").unwrap();
    }
}

fn samples() -> impl Strategy<Value = Sample> {
    let key = prop_oneof![
        "[a-z0-9/._-]{1,40}",
        "[ -~]{1,20}",
        any::<String>().prop_filter("XML carries it", |key| crate::xml::document::fits(key)),
    ];
    let object = (key.clone(), any::<u64>(), 0_i64..4_102_444_800, 0_u8..4);
    let encoding =
        prop_oneof![Just(Encoding::UrlBefore), Just(Encoding::UrlAfter), Just(Encoding::None)];
    (
        proptest::collection::vec(object, 0..12),
        proptest::collection::vec(key, 0..4),
        proptest::option::of("[A-Za-z0-9+/=]{1,30}"),
        encoding,
        prop_oneof![Just(""), Just("\n  ")],
        any::<bool>(),
    )
        .prop_map(|(objects, prefixes, token, encoding, blanks, extras)| Sample {
            objects,
            prefixes,
            token,
            encoding,
            blanks,
            extras,
        })
}

proptest! {
    #[test]
    fn pages_are_read_as_they_were_meant(sample in samples()) {
        let xml = sample.xml();
        let page = objects(xml.as_bytes()).unwrap();
        let read: Vec<_> = page
            .iter()
            .map(|object| {
                let class = CLASSES.iter().position(|class| *class == object.storage_class);
                assert_eq!(object.etag, format!("\"{:032x}\"", object.size));
                let class = u8::try_from(class.unwrap()).unwrap();
                (object.key.to_owned(), object.size, object.last_modified_s, class)
            })
            .collect();
        prop_assert_eq!(&read, &sample.objects);
        prop_assert_eq!(&page.common_prefixes, &sample.prefixes);
        prop_assert_eq!(page.is_truncated, sample.token.is_some());
        prop_assert_eq!(&page.next_token, &sample.token);
        prop_assert_eq!(page, strict(xml.as_bytes()).unwrap());
    }

    #[test]
    fn damaged_pages_do_not_panic_and_readers_agree(
        sample in samples(),
        damage in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..3, DAMAGE),
            0..6,
        ),
    ) {
        let mut xml = sample.xml().into_bytes();
        for (at, removed, inserted) in damage {
            let at = at.index(xml.len());
            let end = (at + removed).min(xml.len());
            xml.splice(at..end, inserted.bytes());
        }
        prop_assert_eq!(objects(&xml).ok(), strict(&xml).ok());
        let _ = versions(&xml);
    }
}

#[test]
fn unusual_pages_are_read_as_xml_is() {
    let page = |contents: &str| {
        let xml = format!("<ListBucketResult>{contents}</ListBucketResult>");
        let page = objects(xml.as_bytes());
        assert_eq!(page.as_ref().ok(), strict(xml.as_bytes()).as_ref().ok(), "{xml}");
        page
    };
    let first = |contents: &str| page(contents).unwrap().get(0).unwrap().key.to_owned();
    assert_eq!(first("<Contents><Key><![CDATA[a<b]]></Key></Contents>"), "a<b");
    assert_eq!(first("<Contents><!-- c --><Key>a</Key></Contents>"), "a");
    assert_eq!(first("<Contents a='b'><Key>a</Key></Contents>"), "a");
    assert_eq!(first("<Contents><Key>a</Key><Key>b</Key></Contents>"), "a");
    for wrong in [
        "<Contents><Size>1</Size></Contents>",
        "<Contents><Key>a</Key><Size>x</Size></Contents>",
        "<Contents><Key>a</Key><LastModified>yesterday</LastModified></Contents>",
        "<Contents><Key>&unknown;</Key></Contents>",
        "<EncodingType>url</EncodingType><Contents><Key>%FF</Key></Contents>",
        "<IsTruncated>maybe</IsTruncated>",
    ] {
        assert!(page(wrong).is_err(), "{wrong}");
    }
    // Two halves of one character are no keys, though together they are UTF-8.
    let halves = "<EncodingType>url</EncodingType><Contents><Key>%C3</Key></Contents>\
                  <Contents><Key>%A9</Key></Contents>";
    assert!(page(halves).is_err());
    assert!(objects(b"<ListBucketResult>").is_err());
    assert!(objects(b"").is_err());
}

#[test]
fn a_page_with_a_token_is_not_the_last_one_unless_it_says_so() {
    let token = "<NextContinuationToken>t</NextContinuationToken>";
    for (elements, is_truncated) in [
        (String::new(), false),
        (token.to_owned(), true),
        (format!("<IsTruncated></IsTruncated>{token}"), true),
        (format!("<IsTruncated>true</IsTruncated>{token}"), true),
        (format!("<IsTruncated>false</IsTruncated>{token}"), false),
    ] {
        let xml = format!("<ListBucketResult>{elements}</ListBucketResult>");
        assert_eq!(objects(xml.as_bytes()).unwrap().is_truncated, is_truncated, "{xml}");
    }
}

#[test]
fn entries_written_alike_leave_no_elements() {
    let entry = "<Contents><Key>a</Key><Size>1</Size></Contents>";
    let entries = entry.repeat(crate::xml::document::ELEMENTS_MAX);
    let xml = format!("<ListBucketResult>{entries}</ListBucketResult>");
    assert_eq!(objects(xml.as_bytes()).unwrap().len(), crate::xml::document::ELEMENTS_MAX);
    assert!(strict(xml.as_bytes()).is_err());
}

#[test]
fn of_fields_that_are_repeated_the_first_counts_in_every_row() {
    for row in [
        "<Contents><Key/><Key>K</Key></Contents>",
        "<Contents><Key>a</Key><Key>K</Key></Contents>",
        "<Contents><Key>K</Key><ETag/><ETag>K</ETag></Contents>",
        "<CommonPrefixes><Prefix/><Prefix>K</Prefix></CommonPrefixes>",
        "<CommonPrefixes><Key>a</Key><Prefix>K</Prefix></CommonPrefixes>",
        "<Contents><Prefix>a</Prefix><Key>K</Key></Contents>",
    ] {
        let rows = ["a", "b", "%63"].map(|key| row.replace(">K<", &format!(">{key}<"))).concat();
        for said in ["", "<EncodingType>url</EncodingType>"] {
            let xml = format!("<ListBucketResult>{rows}{said}</ListBucketResult>");
            assert_eq!(objects(xml.as_bytes()).unwrap(), strict(xml.as_bytes()).unwrap(), "{xml}");
        }
    }
}

#[test]
fn an_encoding_that_is_said_in_an_unusual_way_counts_all_the_same() {
    let entry = "<Contents><Key>a%2Fb</Key></Contents>";
    let key = |said: &str| {
        let xml = format!("<ListBucketResult>{said}{entry}</ListBucketResult>");
        objects(xml.as_bytes()).unwrap().key(0).unwrap().to_owned()
    };
    assert_eq!(key("<EncodingType ><![CDATA[url]]></EncodingType >"), "a/b");
    assert_eq!(key("<!-- <EncodingType>url</EncodingType> -->"), "a%2Fb");
}

#[test]
fn url_encoding_is_undone_as_far_as_it_goes() {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        decode_url(text.as_bytes(), &mut bytes);
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(decode("a+b%2Bc%C3%a9"), "a b+cé");
    assert_eq!(decode("100%"), "100%");
    assert_eq!(decode("%zz%4"), "%zz%4");
}

#[test]
fn versions_and_markers_stay_in_order() {
    let xml = "<ListVersionsResult><IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>\
        <NextKeyMarker>b+c</NextKeyMarker><NextVersionIdMarker>v0</NextVersionIdMarker>\
        <DeleteMarker><Key>a</Key><VersionId>v2</VersionId><IsLatest>true</IsLatest>\
        <LastModified>1970-01-01T00:00:02.000Z</LastModified></DeleteMarker>\
        <Version><Key>a</Key><VersionId>v1</VersionId><IsLatest>false</IsLatest>\
        <LastModified>1970-01-01T00:00:01.000Z</LastModified><ETag>&quot;e&quot;</ETag>\
        <Size>3</Size><StorageClass>STANDARD</StorageClass></Version>\
        <DeleteMarker><Key>b+c</Key><VersionId>v0</VersionId></DeleteMarker>\
        <CommonPrefixes><Prefix>d%2F</Prefix></CommonPrefixes></ListVersionsResult>";
    let page = versions(xml.as_bytes()).unwrap();
    let order: Vec<_> = page
        .versions
        .iter()
        .map(|version| {
            (version.key.as_str(), version.version_id.as_str(), version.is_delete_marker)
        })
        .collect();
    assert_eq!(order, [("a", "v2", true), ("a", "v1", false), ("b c", "v0", true)]);
    assert_eq!((page.versions[1].size, page.versions[1].last_modified_s), (3, 1));
    assert_eq!(page.common_prefixes, ["d/"]);
    assert_eq!(page.next_key_marker.as_deref(), Some("b c"));
    assert_eq!(page.next_version_id_marker.as_deref(), Some("v0"));
    let cut = "<ListVersionsResult><IsTruncated>true</IsTruncated></ListVersionsResult>";
    assert!(versions(cut.as_bytes()).is_err());
}

/// Time of a page of 1,000 keys; run with `--ignored --nocapture` and optimization.
#[test]
#[ignore = "a measurement"]
fn time_of_a_page() {
    let key = |n| format!("logs/2024/host-{n:04}/part-{n:08}.gz");
    let page = |objects: u64, classes: u8, prefixes: u64| Sample {
        objects: (0..objects)
            .map(|n| (key(n), n, 1_700_000_000, 1 + fastrand::u8(0..classes)))
            .collect(),
        prefixes: (0..prefixes).map(key).collect(),
        token: Some("token".to_owned()),
        encoding: Encoding::UrlBefore,
        blanks: "",
        extras: true,
    };
    for (kind, sample) in [
        ("alike", page(1000, 1, 0)),
        ("of three classes", page(1000, 3, 0)),
        ("of common prefixes", page(0, 1, 1000)),
    ] {
        time_of(kind, &sample.xml());
    }
}

fn time_of(kind: &str, xml: &str) {
    for (name, read) in [("reader", objects_of as fn(&[u8]) -> usize), ("tree", strict_objects)] {
        let times = (0..500).map(|_| {
            let start = std::time::Instant::now();
            let _ = read(xml.as_bytes());
            start.elapsed()
        });
        println!("{name}, {kind}: {:?} a page of {} bytes", times.min().unwrap(), xml.len());
    }
}

fn objects_of(xml: &[u8]) -> usize {
    objects(xml).unwrap().len()
}

fn strict_objects(xml: &[u8]) -> usize {
    strict(xml).unwrap().len()
}
