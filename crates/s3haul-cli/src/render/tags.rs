//! Tags of objects: text, JSON lines or comma-separated values.

use std::collections::BTreeMap;

use s3haul::job::value::RowFormat;
use s3haul::location::ObjectName;
use serde::Serialize;

use super::csv::push_row;
use super::escape::push_name;
use super::json;

/// A line of JSON.
#[derive(Serialize)]
struct TagsLine<'a> {
    bucket: &'a str,
    key: &'a str,
    tags: BTreeMap<&'a str, &'a str>,
}

impl<'a> TagsLine<'a> {
    fn of(object: &'a ObjectName, tags: &'a [(String, String)]) -> Self {
        let tags = tags.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        Self { bucket: &object.bucket, key: &object.key, tags }
    }
}

/// Appends what stands before the first object.
pub(crate) fn push_header(buffer: &mut Vec<u8>, format: RowFormat) {
    if format == RowFormat::Csv {
        push_row(buffer, &["bucket", "key", "tag", "value"]);
    }
}

/// Appends the tags of an object; in text control characters may be escaped.
pub(crate) fn push(
    buffer: &mut Vec<u8>,
    format: RowFormat,
    escape: bool,
    object: &ObjectName,
    tags: &[(String, String)],
) {
    let ObjectName { bucket, key, .. } = object;
    match format {
        RowFormat::Text => {
            push_name(buffer, &format!("s3://{bucket}/{key}"), escape);
            buffer.push(b'\t');
            let tags: Vec<_> = tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
            push_name(buffer, &tags.join(","), escape);
            buffer.push(b'\n');
        }
        RowFormat::Jsonl => {
            // Only string keys, and a vector takes everything.
            _ = serde_json::to_writer(&mut *buffer, &TagsLine::of(object, tags));
            buffer.push(b'\n');
        }
        RowFormat::Csv if tags.is_empty() => push_row(buffer, &[bucket, key, "", ""]),
        RowFormat::Csv => {
            for (tag, value) in tags {
                push_row(buffer, &[bucket, key, tag, value]);
            }
        }
    }
}

/// Appends the event of `--json`.
pub(crate) fn push_event(buffer: &mut Vec<u8>, object: &ObjectName, tags: &[(String, String)]) {
    json::push(buffer, "tags", TagsLine::of(object, tags));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(format: RowFormat) -> String {
        let mut buffer = Vec::new();
        push_header(&mut buffer, format);
        let tags = [("t", "x/y"), ("a b", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        push(&mut buffer, format, false, &ObjectName::new("b", "k,\"1\""), &tags);
        push(&mut buffer, format, true, &ObjectName::new("b", "n\u{1}"), &[]);
        String::from_utf8(buffer).unwrap()
    }

    /// What programs parse.
    #[test]
    fn each_format_has_its_lines() {
        assert_eq!(lines(RowFormat::Text), "s3://b/k,\"1\"\tt=x/y,a b=\ns3://b/n\\u{1}\t\n");
        assert_eq!(
            lines(RowFormat::Jsonl),
            "{\"bucket\":\"b\",\"key\":\"k,\\\"1\\\"\",\"tags\":{\"a b\":\"\",\"t\":\"x/y\"}}\n\
             {\"bucket\":\"b\",\"key\":\"n\\u0001\",\"tags\":{}}\n"
        );
        assert_eq!(
            lines(RowFormat::Csv),
            "bucket,key,tag,value\nb,\"k,\"\"1\"\"\",t,x/y\nb,\"k,\"\"1\"\"\",a b,\nb,n\u{1},,\n"
        );
    }
}
