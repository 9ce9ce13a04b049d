//! Completed multipart uploads, remembered for a while: a client that never saw the answer asks
//! again, and gets the same while the version that the upload made is there. Conditions were those
//! of the first request. The last ones only, in memory: a restart forgets them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use s3s::dto::{
    ChecksumType, CompleteMultipartUploadInput, CompleteMultipartUploadOutput, ETag,
    ServerSideEncryption,
};

use super::convert::{etag, show_checksums};
use crate::store::{Checksums, Version, Versions};

/// What a completion named, and the answer to it.
#[derive(Clone)]
pub(super) struct Answer {
    /// Bucket and key.
    name: (String, String),
    /// Numbers and `ETag`s.
    parts: Vec<(Option<i32>, Option<String>)>,
    etag: String,
    checksums: Checksums,
    encryption: Option<String>,
    kms_key_id: Option<String>,
    /// Version id to show.
    version_id: Option<String>,
    /// Id and time of the version that the upload made.
    made: (String, i64),
}

fn named_parts(
    input: &CompleteMultipartUploadInput,
) -> impl Iterator<Item = (Option<i32>, Option<&str>)> {
    let parts = input.multipart_upload.as_ref().and_then(|given| given.parts.as_deref());
    let parts = parts.unwrap_or_default().iter();
    parts.map(|part| (part.part_number, part.e_tag.as_ref().map(ETag::value)))
}

impl Answer {
    /// The answer to a request that makes this version, before it is stored.
    pub(super) fn new(input: &CompleteMultipartUploadInput, version: &Version) -> Self {
        let parts = named_parts(input).map(|(number, tag)| (number, tag.map(str::to_owned)));
        Self {
            name: (input.bucket.clone(), input.key.clone()),
            parts: parts.collect(),
            etag: version.etag.clone(),
            checksums: version.checksums.clone(),
            encryption: version.attributes.encryption.clone(),
            kms_key_id: version.attributes.kms_key_id.clone(),
            version_id: None,
            made: (String::new(), version.modified_ms),
        }
    }

    /// Notes under which id the version was stored, and which one to show.
    pub(super) fn set_version(&mut self, stored: &Versions, shown: Option<String>) {
        self.made.0 = stored.first().map(|version| version.id.clone()).unwrap_or_default();
        self.version_id = shown;
    }

    /// Whether the version that the upload made is among these: neither removed nor overwritten.
    pub(super) fn is_kept(&self, versions: &Versions) -> bool {
        versions.iter().any(|version| {
            (&version.id, version.modified_ms) == (&self.made.0, self.made.1)
                && version.etag == self.etag
        })
    }

    /// Whether a request names the same parts for the same object.
    fn fits(&self, input: &CompleteMultipartUploadInput) -> bool {
        let is_same_name = self.name.0 == input.bucket && self.name.1 == input.key;
        let parts = self.parts.iter().map(|(number, tag)| (*number, tag.as_deref()));
        is_same_name && named_parts(input).eq(parts)
    }

    pub(super) fn output(
        self,
        input: &CompleteMultipartUploadInput,
    ) -> CompleteMultipartUploadOutput {
        let mut output = CompleteMultipartUploadOutput {
            location: Some(format!("/{}/{}", input.bucket, input.key)),
            bucket: Some(self.name.0),
            key: Some(self.name.1),
            e_tag: Some(etag(&self.etag)),
            checksum_type: self.checksums.kind.clone().map(ChecksumType::from),
            server_side_encryption: self.encryption.map(ServerSideEncryption::from),
            ssekms_key_id: self.kms_key_id,
            version_id: self.version_id,
            ..CompleteMultipartUploadOutput::default()
        };
        show_checksums!(output, self.checksums);
        output
    }
}

/// The answers to the last completions.
pub(crate) struct Finished {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    answers: HashMap<String, Answer>,
    /// Upload ids, oldest first.
    order: VecDeque<String>,
}

impl Finished {
    /// Remembers so many.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer that a request had before.
    pub(super) fn find(&self, input: &CompleteMultipartUploadInput) -> Option<Answer> {
        self.kept().answers.get(&input.upload_id).filter(|answer| answer.fits(input)).cloned()
    }

    /// Whether an upload has been completed, by whatever parts.
    pub(super) fn has(&self, upload_id: &str) -> bool {
        self.kept().answers.contains_key(upload_id)
    }

    pub(super) fn add(&self, upload_id: &str, answer: Answer) {
        let mut kept = self.kept();
        kept.answers.insert(upload_id.to_owned(), answer);
        kept.order.push_back(upload_id.to_owned());
        while kept.order.len() > self.most {
            if let Some(oldest) = kept.order.pop_front() {
                kept.answers.remove(&oldest);
            }
        }
    }

    pub(super) fn remove(&self, upload_id: &str) {
        let mut kept = self.kept();
        kept.answers.remove(upload_id);
        kept.order.retain(|id| id != upload_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_completions_are_remembered() {
        let request = |upload_id: &str| CompleteMultipartUploadInput {
            bucket: "b".to_owned(),
            key: "k".to_owned(),
            upload_id: upload_id.to_owned(),
            ..CompleteMultipartUploadInput::default()
        };
        let finished = Finished::new(2);
        for id in ["1", "2", "3"] {
            finished.add(id, Answer::new(&request(id), &Version::default()));
        }
        let known = |id| finished.find(&request(id)).is_some();
        assert_eq!(["1", "2", "3"].map(known), [false, true, true]);
        let elsewhere = CompleteMultipartUploadInput { key: "other".to_owned(), ..request("3") };
        assert!(finished.find(&elsewhere).is_none() && finished.has("3"));
        finished.remove("3");
        assert!(!finished.has("3"));
        let none = Finished::new(0);
        none.add("1", Answer::new(&request("1"), &Version::default()));
        assert!(!none.has("1"), "a server that forgets");
    }
}
