//! Object lock of single objects.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectRetention.html>,
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObjectLegalHold.html>,
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectLegalHold.html>. S3 wants a
//! digest of the bodies.

use super::build::{get, put};
use crate::client::Client;
use crate::error::Result;
use crate::message::headers::{self, Headers};
use crate::message::payload::Payload;
use crate::message::retention::Retention;
use crate::message::retention::legal_hold_text;
use crate::xml::document::Writer;

impl Client {
    /// Sets the retention of an object's newest version. One in governance mode is shortened or
    /// replaced only with `bypass_governance`.
    pub async fn put_object_retention(
        &self,
        bucket: &str,
        key: &str,
        retention: Retention,
        bypass_governance: bool,
    ) -> Result<()> {
        let mut writer = Writer::new("Retention", 128);
        writer.text("Mode", retention.mode.name());
        writer.text("RetainUntilDate", &retention.until_text()?);
        let mut headers = Headers::with_capacity(1);
        if bypass_governance {
            headers.fixed(&headers::BYPASS_GOVERNANCE, "true");
        }
        let request = put("PutObjectRetention", bucket, Some(key))
            .query("retention", "")
            .headers(headers)
            .payload(Payload::from_bytes(writer.finish("Retention")), None);
        self.call(&request).await.map(drop)
    }

    /// Sets or ends the legal hold of an object's newest version.
    pub async fn put_object_legal_hold(&self, bucket: &str, key: &str, is_on: bool) -> Result<()> {
        let mut writer = Writer::new("LegalHold", 64);
        writer.text("Status", legal_hold_text(is_on));
        let request = put("PutObjectLegalHold", bucket, Some(key))
            .query("legal-hold", "")
            .payload(Payload::from_bytes(writer.finish("LegalHold")), None);
        self.call(&request).await.map(drop)
    }

    /// Whether an object's newest version has a legal hold.
    pub async fn get_object_legal_hold(&self, bucket: &str, key: &str) -> Result<bool> {
        let request =
            get("GetObjectLegalHold", "LegalHold", bucket, Some(key)).query("legal-hold", "");
        let answer = self.call(&request).await?;
        Ok(self.document(&request, &answer)?.text_of("Status") == "ON")
    }
}
