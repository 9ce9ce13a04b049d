//! `cat`: objects to standard output, one after the other.
//!
//! The body goes from the connection to the file descriptor piece by piece.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use s3haul::location::ObjectName;
use s3haul::plan::wildcard::Wildcard;
use s3haul_wire::Client;
use s3haul_wire::ops::{GetObject, HeadObject, ListObjects};
use s3haul_wire::units::ByteRange;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::folder::{self, Advice};
use super::object_reader::ObjectReader;
use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::{ByteStream, Printer};
use crate::settings::{CatRange, CatSettings};

/// Pieces of bodies that wait to be written at most.
const PIECES_MAX: usize = 64;

/// Writes the objects.
pub(super) async fn run(settings: CatSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client(settings.client.clone())?;
    let mut stream = printer.byte_stream();
    let (pieces, mut waiting) = mpsc::channel::<Bytes>(PIECES_MAX);
    let mut writer = JoinSet::new();
    writer.spawn_blocking(move || -> std::io::Result<ByteStream> {
        while let Some(piece) = waiting.blocking_recv() {
            stream.write_all(&piece)?;
        }
        Ok(stream)
    });
    let cat = Cat { client, settings: &settings, pieces };
    let result = cat.all().await;
    drop(cat);
    let written = writer.join_next().await;
    if printer.output_is_closed() {
        return Ok(exit::BROKEN_PIPE);
    }
    if let Some(Ok(Err(error))) = written {
        return Err(Failure::unwritten(&error));
    }
    result.map(|()| exit::SUCCESS)
}

struct Cat<'a> {
    client: Client,
    settings: &'a CatSettings,
    pieces: mpsc::Sender<Bytes>,
}

impl Cat<'_> {
    async fn all(&self) -> Result<(), Failure> {
        for object in &self.settings.objects {
            match Wildcard::parse(&object.key).filter(|_| !self.settings.raw) {
                Some(wildcard) => self.matching(object, &wildcard).await?,
                None => self.named_object(&object.bucket, &object.key).await?,
            }
        }
        Ok(())
    }

    /// Whether one object alone is printed.
    fn is_single(&self) -> bool {
        let is_key =
            |object: &ObjectName| self.settings.raw || Wildcard::parse(&object.key).is_none();
        matches!(&self.settings.objects[..], [object] if is_key(object))
    }

    async fn matching(&self, object: &ObjectName, wildcard: &Wildcard) -> Result<(), Failure> {
        let mut token = None;
        let mut found = false;
        loop {
            let input = ListObjects {
                bucket: &object.bucket,
                prefix: wildcard.prefix(),
                continuation_token: token.as_deref(),
                ..ListObjects::default()
            };
            let page = self.client.list_objects(input).await?;
            for listed in page.iter().filter(|listed| wildcard.matches(listed.key)) {
                found = true;
                self.named_object(&object.bucket, listed.key).await?;
            }
            token = page.next_token.filter(|_| page.is_truncated);
            if token.is_none() {
                break;
            }
        }
        if found {
            return Ok(());
        }
        Err(Failure::other(format!("no object matches `{object}`")).with_status(exit::FAILED))
    }

    /// Prints one object; a failure names it.
    async fn named_object(&self, bucket: &str, key: &str) -> Result<(), Failure> {
        self.object(bucket, key).await.map_err(|failure| {
            let message = format!("could not read s3://{bucket}/{key}: {}", failure.message);
            Failure { message, ..failure }
        })
    }

    async fn object(&self, bucket: &str, key: &str) -> Result<(), Failure> {
        let range = self.range(bucket, key).await?;
        let input = GetObject {
            bucket,
            key,
            version_id: self.settings.version_id.as_deref(),
            range,
            customer_key: self.settings.customer_key.as_ref(),
            ..GetObject::default()
        };
        let opened = ObjectReader::open(&self.client, input).await;
        let mut reader = match opened {
            Err(error) if error.is_missing_object() => {
                let object = ObjectName::new(bucket, key);
                let hint = folder::hint(&self.client, &object, Advice::Pattern).await;
                return Err(Failure::from(error).with_some_hint(hint));
            }
            // Of several objects some may be too short to have any of the bytes.
            Err(error) if error.code() == "InvalidRange" && !self.is_single() => return Ok(()),
            opened => opened?,
        };
        while let Some(piece) = reader.next().await {
            let piece = piece?;
            self.settings.limits.before_bytes(piece.len() as u64).await;
            if self.pieces.send(piece).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// The bytes to ask for; the last bytes of an object need its size first.
    async fn range(&self, bucket: &str, key: &str) -> Result<Option<ByteRange>, Failure> {
        let start_from_end = match self.settings.range {
            None => return Ok(None),
            Some(CatRange::Between(start, last)) => {
                return Ok(Some(ByteRange { start, end: last + 1 }));
            }
            Some(CatRange::From(start)) => Ok(start),
            Some(CatRange::Last(length)) => Err(length),
        };
        let customer_key = self.settings.customer_key.as_ref();
        let version_id = self.settings.version_id.as_deref();
        let input = HeadObject { bucket, key, version_id, customer_key, ..HeadObject::default() };
        let size = self.client.head_object(input).await?.size;
        let start = start_from_end.unwrap_or_else(|length: u64| size.saturating_sub(length));
        Ok((start > 0).then(|| ByteRange { start, end: size.max(start + 1) }))
    }
}
