//! One small request an object.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use aws_lc_rs::digest;
use base64::Engine as _;
use bytes::Bytes;
use http::{Method, Request};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::body::{Body, Buffer, Lent};
use crate::options::Options;
use crate::sign::{self, EMPTY, Parts, UNSIGNED};
use crate::slots::{Slot, Work};
use crate::wire::Server;

/// What is encoded in a query.
pub(crate) const QUERY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What is encoded in a path.
const PATH: &AsciiSet = &QUERY.remove(b'/');
/// Keys of one `DeleteObjects`.
const DELETE_KEYS_MAX: u64 = 1_000;
const TAGS: &[u8] = b"<Tagging><TagSet><Tag><Key>bare</Key><Value>limit</Value></Tag></TagSet>\
</Tagging>";

/// A key as it stands in a path.
pub(crate) fn encoded(key: &str) -> String {
    utf8_percent_encode(key, PATH).to_string()
}

/// The path of a key that is encoded already.
pub(crate) fn path(server: &Server, key: &str) -> String {
    format!("/{}/{key}", server.bucket)
}

/// A request without a body.
pub(crate) fn plain(slot: &Slot, method: Method, path: &str, query: &str) -> Result<Request<Body>> {
    let payload = payload_of_nothing(slot);
    let parts = Parts { method, path, query, extra: None, payload };
    slot.server.signer.request(parts, Body::empty())
}

fn payload_of_nothing(slot: &Slot) -> String {
    if slot.server.is_secure() { UNSIGNED } else { EMPTY }.to_owned()
}

/// A PUT of bytes in memory, hashed where TLS does not guard them.
pub(crate) fn put(slot: &Slot, path: &str, query: &str, bytes: Bytes) -> Result<Request<Body>> {
    let payload =
        if slot.server.is_secure() { UNSIGNED.to_owned() } else { sign::sha256_hex(&bytes) };
    let parts = Parts { method: Method::PUT, path, query, extra: None, payload };
    slot.server.signer.request(parts, Body::full(bytes))
}

/// A request whose body S3 wants to have a checksum of: the hash of the signature serves for both.
fn checked(
    slot: &Slot,
    method: Method,
    (path, query): (&str, &str),
    bytes: Bytes,
) -> Result<Request<Body>> {
    let hash = digest::digest(&digest::SHA256, &bytes);
    let sum = base64::engine::general_purpose::STANDARD.encode(hash);
    let payload = sign::hex(hash.as_ref());
    let extra = Some(("x-amz-checksum-sha256", sum));
    let parts = Parts { method, path, query, extra, payload };
    slot.server.signer.request(parts, Body::full(bytes))
}

/// Uploads from one buffer in memory, or of files.
pub(crate) struct Put {
    prefix: String,
    count: u64,
    bytes: Bytes,
    files: Vec<PathBuf>,
}

impl Put {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let bytes = Bytes::from(vec![b'x'; options.size]);
        let files = options.small_files()?;
        let count = if files.is_empty() { options.count } else { files.len() as u64 };
        Ok(Self { prefix: encoded(&options.prefix), count, bytes, files })
    }
}

impl Work for Put {
    fn pieces(&self, _phase: usize) -> u64 {
        self.count
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        let path = format!("/{}/{}{index:012}", slot.server.bucket, self.prefix);
        let Some(file) = self.files.get(usize::try_from(index)?) else {
            let request = put(slot, &path, "", self.bytes.clone())?;
            return slot.link.exchange(request).await;
        };
        let lent = read(std::mem::take(&mut slot.buffer), file)
            .with_context(|| format!("could not read `{}`", file.display()))?;
        let request = put(slot, &path, "", lent.bytes.clone())?;
        slot.link.exchange(request).await?;
        slot.buffer = lent.back().unwrap_or_default();
        Ok(())
    }
}

/// A whole file, into memory that was used before where there is enough of it.
fn read(mut buffer: Buffer, path: &Path) -> std::io::Result<Lent> {
    let mut file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).expect("a small file");
    if buffer.bytes().len() < length {
        buffer = Buffer::new(length);
    }
    file.read_exact(&mut buffer.bytes()[..length])?;
    Ok(buffer.lend(length))
}

/// Downloads that are dropped or written to files.
pub(crate) struct Get {
    prefix: String,
    count: u64,
    keys: Vec<String>,
    files: Vec<PathBuf>,
}

impl Get {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let keys: Vec<String> = options.lines()?.iter().map(|key| encoded(key)).collect();
        let count = if keys.is_empty() { options.count } else { keys.len() as u64 };
        let files = options.small_files()?;
        Ok(Self { prefix: encoded(&options.prefix), count, keys, files })
    }
}

impl Work for Get {
    fn pieces(&self, _phase: usize) -> u64 {
        self.count
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        let place = usize::try_from(index)?;
        let path = match self.keys.get(place) {
            Some(key) => path(&slot.server, key),
            None => format!("/{}/{}{index:012}", slot.server.bucket, self.prefix),
        };
        let request = plain(slot, Method::GET, &path, "")?;
        let Some(file) = self.files.get(place) else { return slot.link.exchange(request).await };
        let mut body = slot.link.send(request).await?.into_body();
        let mut file =
            File::create(file).with_context(|| format!("could not create `{}`", file.display()))?;
        while let Some(piece) = slot.link.piece(&mut body).await? {
            file.write_all(&piece)?;
        }
        Ok(())
    }
}

/// Copies within the bucket.
pub(crate) struct Copy {
    source: String,
    target: String,
    count: u64,
}

impl Copy {
    pub(crate) fn new(options: &Options) -> Self {
        let (source, target) = (encoded(&options.prefix), encoded(&options.target_prefix));
        Self { source, target, count: options.count }
    }
}

impl Work for Copy {
    fn pieces(&self, _phase: usize) -> u64 {
        self.count
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        let bucket = &slot.server.bucket;
        let path = format!("/{bucket}/{}{index:012}", self.target);
        let source = format!("/{bucket}/{}{index:012}", self.source);
        let extra = Some(("x-amz-copy-source", source));
        let payload = payload_of_nothing(slot);
        let parts = Parts { method: Method::PUT, path: &path, query: "", extra, payload };
        let request = slot.server.signer.request(parts, Body::empty())?;
        slot.link.exchange(request).await
    }
}

/// Deletions, as many a request as S3 takes.
pub(crate) struct Delete {
    prefix: String,
    count: u64,
}

impl Delete {
    pub(crate) fn new(options: &Options) -> Self {
        let prefix = options.prefix.replace('&', "&amp;").replace('<', "&lt;");
        Self { prefix, count: options.count }
    }
}

impl Work for Delete {
    fn pieces(&self, _phase: usize) -> u64 {
        self.count.div_ceil(DELETE_KEYS_MAX)
    }

    fn objects(&self) -> u64 {
        self.count
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        use std::fmt::Write as _;
        let first = index * DELETE_KEYS_MAX;
        let mut text = String::with_capacity(64 << 10);
        text.push_str("<Delete><Quiet>true</Quiet>");
        for index in first..self.count.min(first + DELETE_KEYS_MAX) {
            write!(text, "<Object><Key>{}{index:012}</Key></Object>", self.prefix)?;
        }
        text.push_str("</Delete>");
        let path = format!("/{}", slot.server.bucket);
        let request = checked(slot, Method::POST, (&path, "delete="), Bytes::from(text))?;
        slot.link.exchange(request).await
    }
}

/// A tag for each object.
pub(crate) struct Tag {
    prefix: String,
    count: u64,
}

impl Tag {
    pub(crate) fn new(options: &Options) -> Self {
        Self { prefix: encoded(&options.prefix), count: options.count }
    }
}

impl Work for Tag {
    fn pieces(&self, _phase: usize) -> u64 {
        self.count
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        let path = format!("/{}/{}{index:012}", slot.server.bucket, self.prefix);
        let body = Bytes::from_static(TAGS);
        let request = checked(slot, Method::PUT, (&path, "tagging="), body)?;
        slot.link.exchange(request).await
    }
}

/// One connection and one upload.
pub(crate) struct One {
    key: String,
    bytes: Bytes,
}

impl One {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let bytes = match options.files.first() {
            Some(file) => std::fs::read(file)
                .with_context(|| format!("could not read `{}`", file.display()))?,
            None => vec![b'x'; options.size],
        };
        // Some servers take a key that ends in a slash for a folder without bytes.
        Ok(Self { key: encoded(&options.key(0)), bytes: bytes.into() })
    }
}

impl Work for One {
    fn pieces(&self, _phase: usize) -> u64 {
        1
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, _index: u64) -> Result<()> {
        let path = path(&slot.server, &self.key);
        let request = put(slot, &path, "", self.bytes.clone())?;
        slot.link.exchange(request).await
    }
}
