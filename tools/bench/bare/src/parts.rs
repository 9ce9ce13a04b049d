//! Large objects: files that are read by pread and sent in parts, ranges that are written by
//! pwrite.

use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::{Context, Result, ensure};
use aws_lc_rs::digest;
use bytes::Bytes;
use http::header::{ETAG, RANGE};
use http::{HeaderValue, Method};

use crate::body::{Body, Buffer, Piece, READ_BYTES};
use crate::objects::{encoded, path, plain};
use crate::options::Options;
use crate::sign::{self, Parts, UNSIGNED};
use crate::slots::{Slot, Work};
use crate::wire::Server;

/// A range of one of the files.
struct Part {
    file: usize,
    offset: u64,
    length: u64,
}

/// Cuts objects of these sizes into parts; an empty one is a part too.
fn cut(sizes: impl IntoIterator<Item = u64>, part_size: u64) -> Vec<Part> {
    let mut parts = Vec::new();
    for (file, size) in sizes.into_iter().enumerate() {
        let count = size.div_ceil(part_size).max(1);
        parts.extend((0..count).map(|number| {
            let offset = number * part_size;
            Part { file, offset, length: part_size.min(size - offset) }
        }));
    }
    parts
}

/// A file to send.
struct Source {
    file: Arc<File>,
    path: String,
    size: u64,
    upload: OnceLock<String>,
    etags: Mutex<Vec<String>>,
}

/// Uploads in three phases: begin, parts, complete.
pub(crate) struct Upload {
    part_size: u64,
    sources: Vec<Source>,
    parts: Vec<Part>,
}

impl Upload {
    pub(crate) fn new(options: &Options, server: &Server) -> Result<Self> {
        let mut sources = Vec::with_capacity(options.files.len());
        for (index, name) in options.files.iter().enumerate() {
            let file =
                File::open(name).with_context(|| format!("could not open `{}`", name.display()))?;
            let size = file.metadata()?.len();
            let count = usize::try_from(size.div_ceil(options.part_size))?;
            sources.push(Source {
                file: Arc::new(file),
                path: path(server, &encoded(&options.key(index as u64))),
                size,
                upload: OnceLock::new(),
                etags: Mutex::new(vec![String::new(); count]),
            });
        }
        let part_size = options.part_size;
        let parts = cut(sources.iter().map(|source| source.size), part_size);
        Ok(Self { part_size, sources, parts })
    }

    async fn begin(&self, slot: &mut Slot, source: &Source) -> Result<()> {
        let request = plain(slot, Method::POST, &source.path, "uploads=")?;
        let answer = slot.link.text(request).await?;
        let upload = answer.split_once("<UploadId>").and_then(|(_, rest)| rest.split_once('<'));
        let (upload, _) = upload.context("an answer without an upload id")?;
        let _ = source.upload.set(encoded(upload).replace('/', "%2F"));
        Ok(())
    }

    async fn send(&self, slot: &mut Slot, part: &Part) -> Result<()> {
        let source = &self.sources[part.file];
        let number = part.offset / self.part_size;
        let query = match source.upload.get() {
            Some(upload) => format!("partNumber={}&uploadId={upload}", number + 1),
            None => String::new(),
        };
        let etag = if slot.server.is_secure() {
            send_streaming(slot, source, part, &query).await?
        } else {
            send_hashed(slot, source, part, &query).await?
        };
        if source.upload.get().is_some() {
            let mut etags = source.etags.lock().expect("no holder of the lock panics");
            etags[usize::try_from(number)?] = etag;
        }
        Ok(())
    }

    async fn complete(&self, slot: &mut Slot, source: &Source) -> Result<()> {
        let upload = source.upload.get().context("no upload id")?;
        let mut text = String::from("<CompleteMultipartUpload>");
        for (index, etag) in
            source.etags.lock().expect("no holder of the lock panics").iter().enumerate()
        {
            let number = index + 1;
            write!(text, "<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>")?;
        }
        text.push_str("</CompleteMultipartUpload>");
        let query = format!("uploadId={upload}");
        let payload = sign::sha256_hex(text.as_ref());
        let (method, path) = (Method::POST, source.path.as_str());
        let parts = Parts { method, path, query: &query, payload };
        let request = slot.server.signer.request(parts, Body::full(Bytes::from(text)))?;
        let answer = slot.link.text(request).await?;
        ensure!(answer.contains("<ETag>"), "the upload was not completed: {answer}");
        Ok(())
    }
}

/// Reads a part into the slot's buffer, hashing what was just read, then sends it.
async fn send_hashed(slot: &mut Slot, source: &Source, part: &Part, query: &str) -> Result<String> {
    let length = usize::try_from(part.length)?;
    let mut buffer = std::mem::take(&mut slot.buffer);
    if buffer.bytes().len() < length {
        buffer = Buffer::new(length);
    }
    let mut hash = digest::Context::new(&digest::SHA256);
    let mut at = part.offset;
    for piece in buffer.bytes()[..length].chunks_mut(usize::try_from(READ_BYTES)?) {
        source.file.read_exact_at(piece, at)?;
        hash.update(piece);
        at += piece.len() as u64;
    }
    let lent = buffer.lend(length);
    let payload = sign::hex(hash.finish().as_ref());
    let etag = upload(slot, source, query, payload, Body::full(lent.bytes.clone())).await?;
    if let Ok(buffer) = lent.back() {
        slot.buffer = buffer;
    }
    Ok(etag)
}

async fn send_streaming(
    slot: &mut Slot,
    source: &Source,
    part: &Part,
    query: &str,
) -> Result<String> {
    let file = Arc::clone(&source.file);
    let piece = Piece { file, offset: part.offset, left: part.length, sent: Vec::new() };
    upload(slot, source, query, UNSIGNED.to_owned(), Body::File(piece)).await
}

async fn upload(
    slot: &mut Slot,
    source: &Source,
    query: &str,
    payload: String,
    body: Body,
) -> Result<String> {
    let path = &source.path;
    let parts = Parts { method: Method::PUT, path, query, payload };
    let request = slot.server.signer.request(parts, body)?;
    let answer = slot.link.send(request).await?;
    let etag = answer.headers().get(ETAG).context("an answer without an ETag")?;
    let etag = etag.to_str()?.to_owned();
    let mut body = answer.into_body();
    while slot.link.piece(&mut body).await?.is_some() {}
    Ok(etag)
}

impl Work for Upload {
    const PHASES: usize = 3;

    fn pieces(&self, phase: usize) -> u64 {
        if phase == 1 { self.parts.len() as u64 } else { self.sources.len() as u64 }
    }

    async fn step(&self, slot: &mut Slot, phase: usize, index: u64) -> Result<()> {
        let index = usize::try_from(index)?;
        if phase == 1 {
            return self.send(slot, &self.parts[index]).await;
        }
        let source = &self.sources[index];
        match phase {
            _ if source.size <= self.part_size => Ok(()),
            0 => self.begin(slot, source).await,
            _ => self.complete(slot, source).await,
        }
    }
}

/// Downloads by ranges.
pub(crate) struct Download {
    keys: Vec<String>,
    targets: Vec<File>,
    parts: Vec<Part>,
}

impl Download {
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let (mut keys, mut sizes) = (Vec::new(), Vec::new());
        for line in options.lines()? {
            let (key, size) = line.split_once('\t').context("a key without its size")?;
            keys.push(encoded(key));
            sizes.push(size.parse()?);
        }
        let create = |path: &PathBuf| {
            File::create(path).with_context(|| format!("could not create `{}`", path.display()))
        };
        let targets: Vec<File> = options.files.iter().map(create).collect::<Result<_>>()?;
        let files = targets.len();
        ensure!(files == keys.len(), "{} keys for {files} files", keys.len());
        Ok(Self { keys, targets, parts: cut(sizes, options.part_size) })
    }
}

impl Work for Download {
    fn pieces(&self, _phase: usize) -> u64 {
        self.parts.len() as u64
    }

    fn objects(&self) -> u64 {
        self.keys.len() as u64
    }

    async fn step(&self, slot: &mut Slot, _phase: usize, index: u64) -> Result<()> {
        let part = &self.parts[usize::try_from(index)?];
        if part.length == 0 {
            return Ok(());
        }
        let path = path(&slot.server, &self.keys[part.file]);
        let mut request = plain(slot, Method::GET, &path, "")?;
        let range = format!("bytes={}-{}", part.offset, part.offset + part.length - 1);
        request.headers_mut().insert(RANGE, HeaderValue::try_from(range)?);
        let mut body = slot.link.send(request).await?.into_body();
        let mut at = part.offset;
        while let Some(piece) = slot.link.piece(&mut body).await? {
            self.targets[part.file].write_all_at(&piece, at)?;
            at += piece.len() as u64;
        }
        ensure!(at == part.offset + part.length, "a range is short");
        Ok(())
    }
}
