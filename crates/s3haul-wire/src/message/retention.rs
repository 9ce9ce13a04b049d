//! Object lock: until when a version of an object can be neither removed nor replaced, and the
//! headers that say it.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html>

use std::fmt;

use http::HeaderValue;
use jiff::Timestamp;

use super::headers::{self, Headers};
use crate::error::{Error, ErrorKind, Result};
use crate::xml::document::parse_time;

/// Callers that may shorten a retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Those with a permission of their own (`GOVERNANCE`).
    Governance,
    /// None (`COMPLIANCE`).
    Compliance,
}

impl LockMode {
    /// Name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Governance => "GOVERNANCE",
            Self::Compliance => "COMPLIANCE",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Governance, Self::Compliance].into_iter().find(|mode| mode.name() == text)
    }
}

/// Until when a version is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Mode.
    pub mode: LockMode,
    /// Seconds since 1970.
    pub until_s: i64,
}

impl Retention {
    /// The time as S3 takes it: `2030-01-31T12:00:00Z`.
    pub(crate) fn until_text(self) -> Result<String> {
        let time = Timestamp::from_second(self.until_s).map_err(|error| {
            Error::new(ErrorKind::Config, "the end of the retention is not a time")
                .with_source(error)
        })?;
        Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
    }

    /// Retention in the headers of HEAD and GET; `None` without the permission to see it.
    pub(crate) fn read(mode: Option<&HeaderValue>, until: Option<&HeaderValue>) -> Option<Self> {
        let mode = LockMode::parse(mode?.to_str().ok()?)?;
        Some(Self { mode, until_s: parse_time(until?.as_bytes())? })
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} until {}", self.mode.name(), self.until_text().unwrap_or_default())
    }
}

/// `ON` or `OFF`.
pub(crate) fn legal_hold_text(is_on: bool) -> &'static str {
    if is_on { "ON" } else { "OFF" }
}

/// Legal hold in the headers of HEAD and GET; `None` if there never was one, or without permission.
pub(crate) fn read_legal_hold(told: Option<&HeaderValue>) -> Option<bool> {
    match told?.as_bytes() {
        b"ON" => Some(true),
        b"OFF" => Some(false),
        _ => None,
    }
}

/// Headers of a write.
pub(crate) fn write(
    retention: Option<Retention>,
    legal_hold: Option<bool>,
    into: &mut Headers,
) -> Result<()> {
    if let Some(retention) = retention {
        into.fixed(&headers::OBJECT_LOCK_MODE, retention.mode.name());
        into.text(&headers::OBJECT_LOCK_RETAIN_UNTIL, &retention.until_text()?)?;
    }
    if let Some(is_on) = legal_hold {
        into.fixed(&headers::OBJECT_LOCK_LEGAL_HOLD, legal_hold_text(is_on));
    }
    Ok(())
}
