//! One small request an object.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
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
    let payload = if slot.server.is_secure() { UNSIGNED } else { EMPTY }.to_owned();
    let parts = Parts { method, path, query, payload };
    slot.server.signer.request(parts, Body::empty())
}

/// A PUT of bytes in memory, hashed where TLS does not guard them.
pub(crate) fn put(slot: &Slot, path: &str, query: &str, bytes: Bytes) -> Result<Request<Body>> {
    let payload =
        if slot.server.is_secure() { UNSIGNED.to_owned() } else { sign::sha256_hex(&bytes) };
    let parts = Parts { method: Method::PUT, path, query, payload };
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
    keys: Vec<String>,
    files: Vec<PathBuf>,
}

impl Get {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let keys = options.lines()?.iter().map(|key| encoded(key)).collect();
        Ok(Self { keys, files: options.small_files()? })
    }
}

impl Work for Get {
    fn pieces(&self, _phase: usize) -> u64 {
        self.keys.len() as u64
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        let place = usize::try_from(index)?;
        let path = path(&slot.server, &self.keys[place]);
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
