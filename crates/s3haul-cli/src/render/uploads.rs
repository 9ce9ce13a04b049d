//! Multipart uploads: a line for each, or JSON.

use s3haul::summary::OpenUpload;
use s3haul_wire::Error;
use s3haul_wire::units::LocalTime;
use serde::Serialize;

use super::escape::push_name;
use super::json::{self, ErrorFields};

const SIZE_COLUMNS: usize = 14;
const PARTS_COLUMNS: usize = 6;

/// How an upload is shown.
pub(crate) struct UploadLines<'a> {
    /// Bucket.
    pub(crate) bucket: &'a str,
    /// Bytes and parts are known.
    pub(crate) sizes: bool,
    /// Control characters are escaped.
    pub(crate) escape: bool,
    /// Zone of the times.
    pub(crate) time: LocalTime,
}

#[derive(Serialize)]
struct UploadLine<'a> {
    status: &'a str,
    bucket: &'a str,
    key: &'a str,
    upload_id: &'a str,
    initiated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorFields<'a>>,
}

impl UploadLines<'_> {
    /// Appends time, bytes and parts where they are known, upload id and key.
    pub(crate) fn push_listed(&mut self, buffer: &mut Vec<u8>, upload: &OpenUpload) {
        let OpenUpload { key, upload_id, initiated_s, parts, bytes } = upload;
        self.time.push(buffer, *initiated_s);
        if self.sizes {
            let sizes = format!(" {bytes:>SIZE_COLUMNS$} {parts:>PARTS_COLUMNS$}");
            buffer.extend_from_slice(sizes.as_bytes());
        }
        push_name(buffer, &format!("  {upload_id}  {key}"), self.escape);
        buffer.push(b'\n');
    }

    /// Appends what was done, the address and the upload id.
    pub(crate) fn push_done(
        &self,
        buffer: &mut Vec<u8>,
        done: &str,
        upload: &OpenUpload,
        error: Option<&Error>,
    ) {
        let OpenUpload { key, upload_id, .. } = upload;
        let reason = error.map(|error| format!(" {error}")).unwrap_or_default();
        let line = format!("{done}: s3://{}/{key} {upload_id}{reason}", self.bucket);
        push_name(buffer, &line, self.escape);
        buffer.push(b'\n');
    }

    /// Appends a line of JSON.
    pub(crate) fn push_json(
        &self,
        buffer: &mut Vec<u8>,
        status: &str,
        upload: &OpenUpload,
        error: Option<&Error>,
    ) {
        let line = UploadLine {
            status,
            bucket: self.bucket,
            key: &upload.key,
            upload_id: &upload.upload_id,
            initiated: LocalTime::utc().iso(upload.initiated_s),
            parts: self.sizes.then_some(upload.parts),
            bytes: self.sizes.then_some(upload.bytes),
            error: error.map(ErrorFields::of),
        };
        json::push(buffer, "upload", line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What programs parse.
    #[test]
    fn lines_are_these() {
        let upload = OpenUpload {
            key: "a\nb".into(),
            upload_id: "U1".into(),
            initiated_s: 1_800_000_000,
            parts: 2,
            bytes: 5,
        };
        let mut lines =
            UploadLines { bucket: "b", sizes: false, escape: true, time: LocalTime::utc() };
        let mut buffer = Vec::new();
        lines.push_listed(&mut buffer, &upload);
        lines.push_done(&mut buffer, "abort", &upload, None);
        lines.sizes = true;
        lines.push_listed(&mut buffer, &upload);
        lines.push_json(&mut buffer, "open", &upload, None);
        assert_eq!(
            String::from_utf8(buffer).unwrap(),
            "2027-01-15 08:00:00  U1  a\\nb\n\
             abort: s3://b/a\\nb U1\n\
             2027-01-15 08:00:00              5      2  U1  a\\nb\n\
             {\"v\":1,\"event\":\"upload\",\"status\":\"open\",\"bucket\":\"b\",\"key\":\"a\\nb\",\
             \"upload_id\":\"U1\",\"initiated\":\"2027-01-15T08:00:00Z\",\"parts\":2,\"bytes\":5}\n"
        );
    }
}
