//! Headers of reads that S3 ignores where it cannot read them, and `s3s` refuses: several ranges,
//! other units than bytes, dates of another form.

use http::header::{HeaderMap, HeaderName, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, RANGE};
use s3s::dto::{Range, Timestamp, TimestampFormat};

/// The headers to leave out before a request is handed on.
pub(crate) fn find(headers: &HeaderMap) -> Vec<HeaderName> {
    let cannot = |name: &HeaderName, reads: fn(&str) -> bool| {
        let value = headers.get(name);
        value.is_some_and(|value| !value.to_str().is_ok_and(reads))
    };
    let is_date = |text: &str| Timestamp::parse(TimestampFormat::HttpDate, text).is_ok();
    let is_range = |text: &str| Range::parse(text).is_ok();
    let mut ignored = Vec::new();
    ignored.extend(cannot(&RANGE, is_range).then_some(RANGE));
    ignored.extend(cannot(&IF_MODIFIED_SINCE, is_date).then_some(IF_MODIFIED_SINCE));
    ignored.extend(cannot(&IF_UNMODIFIED_SINCE, is_date).then_some(IF_UNMODIFIED_SINCE));
    ignored
}
