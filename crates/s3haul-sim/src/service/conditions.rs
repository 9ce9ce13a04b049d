//! Conditional requests: `If-Match` and its kin, for reads, writes and copies.

use http::{HeaderMap, HeaderValue};
use s3s::dto::{ETagCondition, Timestamp};
use s3s::{S3Error, S3Result, s3_error};

use super::convert::{etag, timestamp, to_ms};
use crate::store::Version;

/// The conditions of a read.
#[derive(Default)]
pub(super) struct ReadConditions<'a> {
    pub(super) if_match: Option<&'a ETagCondition>,
    pub(super) if_none_match: Option<&'a ETagCondition>,
    pub(super) if_modified_since: Option<&'a Timestamp>,
    pub(super) if_unmodified_since: Option<&'a Timestamp>,
}

/// The conditions of a read; the inputs share their field names.
macro_rules! read_conditions {
    ($input:expr) => {
        $crate::service::conditions::ReadConditions {
            if_match: $input.if_match.as_ref(),
            if_none_match: $input.if_none_match.as_ref(),
            if_modified_since: $input.if_modified_since.as_ref(),
            if_unmodified_since: $input.if_unmodified_since.as_ref(),
        }
    };
}
pub(super) use read_conditions;

/// The conditions on the source of a copy.
macro_rules! source_conditions {
    ($input:expr) => {
        $crate::service::conditions::ReadConditions {
            if_match: $input.copy_source_if_match.as_ref(),
            if_none_match: $input.copy_source_if_none_match.as_ref(),
            if_modified_since: $input.copy_source_if_modified_since.as_ref(),
            if_unmodified_since: $input.copy_source_if_unmodified_since.as_ref(),
        }
    };
}
pub(super) use source_conditions;

/// What the conditions of a read say.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Go,
    NotModified,
    Failed,
}

fn matches(condition: &ETagCondition, version: &Version) -> bool {
    condition.as_etag().is_none_or(|wanted| wanted.value() == version.etag)
}

fn is_later(version: &Version, time: &Timestamp) -> bool {
    to_ms(time).is_none_or(|ms| version.modified_ms.div_euclid(1000) > ms.div_euclid(1000))
}

impl ReadConditions<'_> {
    /// `ETag` conditions win over those on time (RFC 9110, section 13.2.2).
    fn judge(&self, version: &Version) -> Verdict {
        if let Some(condition) = self.if_match {
            if !matches(condition, version) {
                return Verdict::Failed;
            }
        } else if self.if_unmodified_since.is_some_and(|time| is_later(version, time)) {
            return Verdict::Failed;
        }
        if let Some(condition) = self.if_none_match {
            if matches(condition, version) {
                return Verdict::NotModified;
            }
        } else if self.if_modified_since.is_some_and(|time| !is_later(version, time)) {
            return Verdict::NotModified;
        }
        Verdict::Go
    }

    /// Checks a `GetObject` or `HeadObject`.
    pub(super) fn check_get(&self, version: &Version) -> S3Result<()> {
        match self.judge(version) {
            Verdict::Go => Ok(()),
            Verdict::Failed => Err(failed()),
            Verdict::NotModified => Err(not_modified(version)),
        }
    }

    /// Checks the source of a copy, where everything that is not met is 412.
    pub(super) fn check_copy(&self, version: &Version) -> S3Result<()> {
        if self.judge(version) == Verdict::Go { Ok(()) } else { Err(failed()) }
    }
}

/// Checks a write against the version that it would replace.
pub(super) fn check_write(
    current: Option<&Version>,
    if_match: Option<&ETagCondition>,
    if_none_match: Option<&ETagCondition>,
) -> S3Result<()> {
    let current = current.filter(|version| !version.delete_marker);
    if let Some(condition) = if_match {
        match current {
            None => return Err(s3_error!(NoSuchKey, "The specified key does not exist.")),
            Some(version) if !matches(condition, version) => return Err(failed()),
            Some(_) => {}
        }
    }
    // S3 itself takes no ETag here, only `*`; MinIO and Ceph do.
    let unwanted = |condition| current.is_some_and(|version| matches(condition, version));
    if if_none_match.is_some_and(unwanted) { Err(failed()) } else { Ok(()) }
}

fn failed() -> S3Error {
    s3_error!(PreconditionFailed, "At least one of the pre-conditions you specified did not hold")
}

fn not_modified(version: &Version) -> S3Error {
    let mut headers = HeaderMap::new();
    if let Ok(value) = etag(&version.etag).to_http_header() {
        headers.insert(http::header::ETAG, value);
    }
    let mut date = Vec::new();
    let format = s3s::dto::TimestampFormat::HttpDate;
    if timestamp(version.modified_ms).format(format, &mut date).is_ok()
        && let Ok(value) = HeaderValue::from_bytes(&date)
    {
        headers.insert(http::header::LAST_MODIFIED, value);
    }
    let mut error = s3_error!(NotModified, "Not Modified");
    error.set_headers(headers);
    error
}
