//! What a probe works with: a folder of its own, and requests in it whose answers are short to
//! judge.

use bytes::Bytes;
use futures_util::future::try_join_all;
use http::Method;
use s3haul_wire::ops::{
    CompleteMultipart, CompletedPart, Conditions, CopyObject, CopySource, CreateMultipart,
    ListObjects, PlainAnswer, PlainRequest, UploadPart,
};
use s3haul_wire::{Checksum, ChecksumAlgorithm, Client, ObjectProperties, Payload};

use super::ground::Ground;
use super::judged::{Judged, Mismatch, ensure, ensure_answer};

/// Pages after which a listing counts as endless.
const PAGES_MAX: usize = 64;

/// Characters of a name that are shown.
const NAME_SHOWN_MAX: usize = 40;

/// The folder of one probe.
pub(in crate::probe) struct Room<'a> {
    ground: &'a Ground,
    folder: String,
}

/// Headers of a request.
pub(super) type Fields<'a> = &'a [(&'static str, &'a str)];

/// A page of a listing, with names within the folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) objects: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) next: Option<String>,
}

/// Which page of a listing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Page<'a> {
    pub(super) prefix: &'a str,
    pub(super) start_after: Option<&'a str>,
    pub(super) delimiter: Option<&'a str>,
    pub(super) token: Option<&'a str>,
    pub(super) max_keys: Option<u32>,
}

impl<'a> Room<'a> {
    pub(super) fn new(ground: &'a Ground, name: &str) -> Self {
        Self { ground, folder: format!("{}{name}/", ground.prefix) }
    }

    pub(super) fn ground(&self) -> &'a Ground {
        self.ground
    }

    pub(super) fn client(&self) -> &'a Client {
        &self.ground.client
    }

    pub(super) fn bucket(&self) -> &'a str {
        &self.ground.bucket
    }

    /// The whole key of a name in this folder.
    pub(super) fn key(&self, name: &str) -> String {
        format!("{}{name}", self.folder)
    }

    /// Sends a request about a name as it is.
    pub(super) async fn send(
        &self,
        method: Method,
        name: &str,
        query: Fields<'_>,
        headers: Fields<'_>,
        body: impl Into<Bytes>,
    ) -> Result<PlainAnswer, Mismatch> {
        let key = self.key(name);
        if method == Method::PUT || method == Method::POST {
            self.ground.note_key(&key);
        }
        let request = PlainRequest {
            method,
            bucket: self.bucket(),
            key: Some(&key),
            query,
            headers,
            body: body.into(),
            md5: false,
        };
        let answer = self.client().send_plain(request).await?;
        if !answer.header("x-amz-version-id").is_empty() {
            self.ground.note_versions();
        }
        Ok(answer)
    }

    /// Sends a request about a name that has to be carried out.
    pub(super) async fn expect(
        &self,
        method: Method,
        name: &str,
        headers: Fields<'_>,
        body: impl Into<Bytes>,
    ) -> Result<PlainAnswer, Mismatch> {
        let verb = method.clone();
        let answer = self.send(method, name, &[], headers, body).await?;
        ensure_answer(answer.is_ok(), &answer, || {
            format!("{verb} of {} answers {}", short(name), status(&answer))
        })?;
        Ok(answer)
    }

    /// Sends a request that has to be refused with one of these statuses.
    pub(super) async fn refused(
        &self,
        (method, name): (Method, &str),
        headers: Fields<'_>,
        body: impl Into<Bytes>,
        statuses: &[u16],
    ) -> Judged {
        let (verb, what) = (method.clone(), headers.first().map_or("", |(field, _)| *field));
        let answer = self.send(method, name, &[], headers, body).await?;
        ensure_answer(statuses.contains(&answer.status), &answer, || {
            format!("{verb} with {what} answers {} instead of {}", status(&answer), statuses[0])
        })
    }

    /// Writes an object; returns its `ETag`.
    pub(super) async fn put(&self, name: &str, body: impl Into<Bytes>) -> Result<String, Mismatch> {
        let answer = self.expect(Method::PUT, name, &[], body).await?;
        Ok(answer.header("etag").to_owned())
    }

    /// Writes some objects that hold their own names, all at once.
    pub(super) async fn fill(&self, names: &[&str]) -> Judged {
        let mut puts = Vec::new();
        for name in names {
            puts.push(self.put(name, (*name).to_owned()));
        }
        try_join_all(puts).await.map(drop)
    }

    /// Whether an object holds these bytes.
    pub(super) async fn holds(&self, name: &str, body: &[u8]) -> Judged {
        let answer = self.expect(Method::GET, name, &[], Bytes::new()).await?;
        ensure(answer.body == body, || format!("GET of {} returns other bytes", short(name)))
    }

    /// Whether there is no object of this name.
    pub(super) async fn is_gone(&self, name: &str) -> Judged {
        let answer = self.send(Method::GET, name, &[], &[], Bytes::new()).await?;
        ensure_answer(answer.status == 404, &answer, || {
            format!("GET of {} answers {} instead of 404", short(name), status(&answer))
        })
    }

    /// One page of a listing, from the client's own reader of pages.
    pub(super) async fn list(&self, page: Page<'_>) -> Result<Names, Mismatch> {
        let (prefix, start_after) =
            (self.key(page.prefix), page.start_after.map(|it| self.key(it)));
        let input = ListObjects {
            bucket: self.bucket(),
            prefix: &prefix,
            delimiter: page.delimiter,
            start_after: start_after.as_deref(),
            continuation_token: page.token,
            max_keys: page.max_keys,
        };
        let listed = self.client().list_objects_unchecked(input).await?;
        let name = |key: &str| key.strip_prefix(&self.folder).unwrap_or(key).to_owned();
        Ok(Names {
            objects: listed.keys().map(name).collect(),
            groups: listed.common_prefixes.iter().map(|key| name(key)).collect(),
            next: listed.next_token.filter(|_| listed.is_truncated),
        })
    }

    /// All pages of a listing as one, and the number of entries on the fullest.
    pub(super) async fn list_all(&self, first: Page<'_>) -> Result<(Names, usize), Mismatch> {
        let (mut all, mut fullest) = (Names::default(), 0);
        let mut token: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let page = self.list(Page { token: token.as_deref(), ..first }).await?;
            fullest = fullest.max(page.objects.len() + page.groups.len());
            all.objects.extend(page.objects);
            all.groups.extend(page.groups);
            if page.next.is_none() {
                return Ok((all, fullest));
            }
            token = page.next;
        }
        Err(Mismatch::Other(format!("{PAGES_MAX} pages of a listing have no end")))
    }

    /// Begins an upload in parts; returns its id.
    pub(super) async fn begin(
        &self,
        name: &str,
        checksum: Option<ChecksumAlgorithm>,
    ) -> Result<String, Mismatch> {
        let key = self.key(name);
        self.ground.note_key(&key);
        let input = CreateMultipart {
            bucket: self.bucket(),
            key: &key,
            properties: &ObjectProperties::default(),
            checksum,
        };
        self.ground.note_beginning();
        let begun = self.client().create_multipart(input).await;
        self.ground.note_begun(&key, &begun);
        Ok(begun?)
    }

    /// Uploads a part.
    pub(super) async fn part(
        &self,
        name: &str,
        upload_id: &str,
        part_number: u32,
        payload: Payload,
    ) -> Result<CompletedPart, Mismatch> {
        let input = UploadPart {
            bucket: self.bucket(),
            key: &self.key(name),
            upload_id,
            part_number,
            checksum: payload.digests().checksum.as_ref().map(|checksum| checksum.algorithm),
            payload,
            encryption: None,
            customer_key: None,
        };
        Ok(self.client().upload_part(input).await?)
    }

    /// Makes an object of parts, on a condition and with a checksum of the whole where given.
    pub(super) async fn complete(
        &self,
        (name, upload_id): (&str, &str),
        parts: &[CompletedPart],
        conditions: Conditions<'_>,
        whole: Option<&Checksum>,
    ) -> Judged {
        let input = CompleteMultipart {
            bucket: self.bucket(),
            key: &self.key(name),
            upload_id,
            parts,
            full_object_checksum: whole,
            object_size: None,
            conditions,
            customer_key: None,
            encryption: None,
            is_encrypted: false,
        };
        self.client().complete_multipart(input).await?;
        Ok(())
    }

    /// Copies an object; where metadata is given, it replaces that of the source.
    pub(super) async fn copy(
        &self,
        from: &str,
        to: &str,
        if_match: Option<&str>,
        metadata: Option<Vec<(String, String)>>,
    ) -> Judged {
        let (from, to) = (self.key(from), self.key(to));
        self.ground.note_key(&to);
        let bucket = self.bucket();
        let replace_metadata = metadata.is_some().then_some(true);
        let input = CopyObject {
            bucket,
            key: &to,
            source: CopySource { bucket, key: &from, if_match, ..<_>::default() },
            properties: &ObjectProperties { metadata, ..<_>::default() },
            replace_metadata,
            replace_tagging: None,
            checksum: None,
            conditions: Conditions::default(),
        };
        let written = self.client().copy_object(input).await?;
        if written.version_id.is_some() {
            self.ground.note_versions();
        }
        Ok(())
    }

    /// Sends a request about the bucket, with the `Content-MD5` of its body.
    pub(super) async fn ask_bucket(
        &self,
        method: Method,
        query: Fields<'_>,
        body: impl Into<Bytes>,
    ) -> Result<PlainAnswer, Mismatch> {
        let (bucket, body) = (self.bucket(), body.into());
        let md5 = !body.is_empty();
        let request = PlainRequest { method, bucket, key: None, query, headers: &[], body, md5 };
        Ok(self.client().send_plain(request).await?)
    }
}

/// A name as it may be shown: no more than its beginning.
fn short(name: &str) -> String {
    let beginning: String = name.chars().take(NAME_SHOWN_MAX).collect();
    let dots = if beginning.len() < name.len() { "…" } else { "" };
    format!("{beginning:?}{dots}")
}

/// Status and code of an answer.
pub(super) fn status(answer: &PlainAnswer) -> String {
    match answer.code.as_str() {
        "" => answer.status.to_string(),
        code if code == answer.status.to_string() => code.to_owned(),
        code => format!("{} {code}", answer.status),
    }
}
