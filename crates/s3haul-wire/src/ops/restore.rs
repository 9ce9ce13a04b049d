//! Restoring archived objects.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_RestoreObject.html>

use http::Method;

use super::build::quick;
use crate::client::Client;
use crate::error::Result;
use crate::message::payload::Payload;
use crate::message::request::{Expects, Request};
use crate::xml::document::Writer;

/// How fast, and at which price, an object is restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreTier {
    /// Within 5 to 12 hours, 48 for `DEEP_ARCHIVE`; the cheapest.
    Bulk,
    /// Within 3 to 5 hours, 12 for `DEEP_ARCHIVE`.
    Standard,
    /// Within minutes; not for `DEEP_ARCHIVE`.
    Expedited,
}

impl RestoreTier {
    /// Name on the wire.
    fn name(self) -> &'static str {
        match self {
            Self::Bulk => "Bulk",
            Self::Standard => "Standard",
            Self::Expedited => "Expedited",
        }
    }
}

/// Input of `RestoreObject`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreObject<'a> {
    /// Bucket.
    pub bucket: &'a str,
    /// Key.
    pub key: &'a str,
    /// Days that the copy stays; not for `INTELLIGENT_TIERING`, where it stays for good.
    pub days: Option<u32>,
    /// Tier; S3 takes Standard where none is said.
    pub tier: Option<RestoreTier>,
}

/// What became of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restoring {
    /// The restore has begun, or the days of one that is done are counted anew.
    Begun,
    /// Another restore is under way.
    UnderWay,
}

/// Code of an object whose restore is under way.
const UNDER_WAY: &str = "RestoreAlreadyInProgress";

impl Client {
    /// Begins to restore an archived object.
    pub async fn restore_object(&self, input: RestoreObject<'_>) -> Result<Restoring> {
        const ROOT: &str = "RestoreRequest";
        let mut writer = Writer::new(ROOT, 128);
        if let Some(days) = input.days {
            writer.text("Days", &days.to_string());
        }
        if let Some(tier) = input.tier {
            writer.open("GlacierJobParameters");
            writer.text("Tier", tier.name());
            writer.close("GlacierJobParameters");
        }
        let mut request = Request::new(
            quick("RestoreObject", Expects::Nothing(&[200, 202])),
            Method::POST,
            input.bucket,
            Some(input.key),
        )
        .query("restore", "")
        .payload(Payload::from_bytes(writer.finish(ROOT)), None);
        request.md5 = true;
        match self.call(&request).await {
            Ok(_) => Ok(Restoring::Begun),
            Err(error) if error.code() == UNDER_WAY => Ok(Restoring::UnderWay),
            Err(error) => Err(error),
        }
    }
}
