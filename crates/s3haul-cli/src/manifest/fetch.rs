//! Objects that hold manifests or parts of them, brought into temporary files.

use std::fs::File;
use std::io::{Seek, Write};

use md5::{Digest, Md5};
use s3haul::location::ObjectName;
use s3haul::{Error, ErrorKind};
use s3haul_wire::Client;
use s3haul_wire::error::Result;
use s3haul_wire::ops::{Conditions, GetObject};
use s3haul_wire::units::{ByteRange, hex};
use tokio::runtime::Handle;

/// Times that one object is continued after its connection broke.
const RESUMES_MAX: u32 = 5;

/// Brings an object into a file without a name and gives the MD5 of its bytes in hexadecimal.
/// Blocks, on a thread that belongs to a runtime.
pub(super) fn fetch(client: &Client, object: &ObjectName) -> Result<(File, String)> {
    let unwritten = |error: std::io::Error| {
        let message = format!("could not write a temporary file for `{object}`: {error}");
        Error::new(ErrorKind::Local, message)
    };
    let mut file = tempfile::tempfile().map_err(unwritten)?;
    let mut digest = Md5::new();
    Handle::current().block_on(receive(client, object, |piece| {
        digest.update(piece);
        file.write_all(piece).map_err(unwritten)
    }))?;
    file.rewind().map_err(unwritten)?;
    Ok((file, hex(&digest.finalize())))
}

/// Reads an object piece by piece; one whose connection breaks is continued where it stopped, on
/// the condition that it is still the same.
async fn receive(
    client: &Client,
    object: &ObjectName,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let (mut range, mut etag, mut resumes) = (None, None::<String>, 0);
    loop {
        let conditions = Conditions { if_match: etag.as_deref(), if_absent: false };
        let ObjectName { bucket, key, .. } = object;
        let input =
            GetObject { bucket, key, range, conditions, checksums: true, ..GetObject::default() };
        let mut answer = client.get_object(input).await?;
        let (mut position, end) = (answer.range.start, answer.range.end);
        let error = loop {
            match answer.body.next().await {
                Some(Ok(piece)) => {
                    position += piece.len() as u64;
                    take(&piece)?;
                }
                Some(Err(error)) => break error,
                None => return Ok(()),
            }
        };
        let can_resume = matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout);
        if resumes == RESUMES_MAX || !can_resume || position >= end {
            return Err(error);
        }
        resumes += 1;
        range = Some(ByteRange { start: position, end });
        etag = Some(answer.head.etag);
    }
}
