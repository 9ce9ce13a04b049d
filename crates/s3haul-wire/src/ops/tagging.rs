//! Tags of objects.

use super::build::{delete, get, put};
use crate::client::Client;
use crate::error::Result;
use crate::message::payload::{DigestPlan, Payload};
use crate::xml::document::{Element, Writer};

impl Client {
    /// Tags of an object.
    pub async fn get_object_tagging(
        &self,
        bucket: &str,
        key: &str,
        version_id: Option<&str>,
    ) -> Result<Vec<(String, String)>> {
        let request = get("GetObjectTagging", "Tagging", bucket, Some(key))
            .query("tagging", "")
            .maybe("versionId", version_id);
        let answer = self.call(&request).await?;
        Ok(read_tags(&self.document(&request, &answer)?))
    }

    /// Replaces the tags of an object.
    pub async fn put_object_tagging(
        &self,
        bucket: &str,
        key: &str,
        version_id: Option<&str>,
        tags: &[(String, String)],
    ) -> Result<()> {
        self.put_tagging(bucket, key, version_id, self.tagging(tags)).await
    }

    /// The body of [`Self::put_tagging`], which many objects may share.
    pub fn tagging(&self, tags: &[(String, String)]) -> Payload {
        let mut writer = Writer::new("Tagging", 64 * (tags.len() + 1));
        writer.open("TagSet");
        writer.tags(tags);
        writer.close("TagSet");
        let mut payload = Payload::from_bytes(writer.finish("Tagging"));
        let sha256 = self.upload_digests(None).sha256;
        payload.digest(DigestPlan { sha256, md5: true, checksum: None });
        payload
    }

    /// Replaces the tags of an object by those of a body that was made before.
    pub async fn put_tagging(
        &self,
        bucket: &str,
        key: &str,
        version_id: Option<&str>,
        tagging: Payload,
    ) -> Result<()> {
        let request = put("PutObjectTagging", bucket, Some(key))
            .query("tagging", "")
            .maybe("versionId", version_id)
            .payload(tagging, None);
        self.call(&request).await.map(|answer| self.done(answer.headers))
    }

    /// Removes the tags of an object.
    pub async fn delete_object_tagging(
        &self,
        bucket: &str,
        key: &str,
        version_id: Option<&str>,
    ) -> Result<()> {
        let request = delete("DeleteObjectTagging", bucket, Some(key))
            .query("tagging", "")
            .maybe("versionId", version_id);
        self.call(&request).await.map(|answer| self.done(answer.headers))
    }
}

pub(super) fn read_tags(root: &Element) -> Vec<(String, String)> {
    let set = root.child("TagSet");
    let pair = |tag: &Element| (tag.text_of("Key").to_owned(), tag.text_of("Value").to_owned());
    set.map(|set| set.all("Tag").map(pair).collect()).unwrap_or_default()
}
