//! A manifest in a file, in an object or on standard input.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;
use s3haul::job::value::ManifestFormat;
use s3haul::job::{Entries, Manifest};
use s3haul::{Error, ErrorKind};
use s3haul_wire::Client;

use super::detect::{Format, TextFormat};
use super::fetch::fetch;
use super::inventory::InventoryEntries;
use super::parquet::{ParquetEntries, REPORT_REFUSED};
use super::text::{Text, TextEntries};
use crate::failure::Failure;
use crate::settings::{DryRunOf, ManifestPlace, ManifestSettings};
use crate::standard_streams;

/// Bytes that are read to detect the format.
const HEAD_MAX: usize = 64 * 1024;
/// What some programs write before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Ends the message about a table or an inventory in ORC.
pub(super) const ORC_REFUSED: &str = "ORC, which is not read: use Parquet or CSV, which S3 \
                                      Inventory can write, or convert the tables to Parquet";
/// What gzip begins with.
const GZIP: &[u8] = b"\x1f\x8b";

/// A manifest, not yet read.
#[derive(Debug)]
pub(crate) struct ManifestFile {
    place: ManifestPlace,
    name: String,
    asked: Option<ManifestFormat>,
    bucket: String,
    dry_run_of: DryRunOf,
    client: Client,
    /// It can be read from its beginning more than once.
    is_lasting: bool,
    is_taken: AtomicBool,
    is_complete: Arc<AtomicBool>,
}

/// An opened manifest.
enum Source {
    /// A file that one can go about in.
    File(File),
    /// Bytes that come once.
    Stream(Stream),
}

type Stream = Box<dyn Read + Send>;

/// The beginning of a manifest, unpacked, and what follows it.
struct Head {
    bytes: Vec<u8>,
    rest: Stream,
    is_packed: bool,
}

impl Head {
    fn of(stream: Stream) -> io::Result<Self> {
        let (mut bytes, mut rest) = split_head(stream)?;
        let is_packed = bytes.starts_with(GZIP);
        if is_packed {
            let packed = BufReader::new(Cursor::new(bytes).chain(rest));
            (bytes, rest) = split_head(Box::new(MultiGzDecoder::new(packed)))?;
        }
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Self { bytes, rest, is_packed })
    }

    fn text(self) -> Text {
        let rest = BufReader::with_capacity(HEAD_MAX, self.rest);
        Box::new(Cursor::new(self.bytes).chain(rest))
    }
}

impl ManifestFile {
    /// Looks whether there is one, where that takes no request; the client reads it where it is
    /// an object, and the parts of an inventory.
    pub(crate) fn open(settings: ManifestSettings, client: Client) -> Result<Self, Failure> {
        let ManifestSettings { place, format, bucket, dry_run_of } = settings;
        let (name, is_lasting) = match &place {
            ManifestPlace::Input => ("-".to_owned(), false),
            ManifestPlace::Object(object) => (object.to_string(), true),
            ManifestPlace::File(path) => {
                let facts = path.metadata().map_err(|error| cannot_open(path, error))?;
                if facts.is_dir() && path.extension().is_some_and(|end| end == "parquet") {
                    let message =
                        format!("the manifest `{}` is a folder; {REPORT_REFUSED}", path.display());
                    return Err(Error::new(ErrorKind::Config, message).into());
                }
                if facts.is_dir() {
                    return Err(cannot_open(path, io::ErrorKind::IsADirectory.into()).into());
                }
                if facts.is_file() {
                    File::open(path).map_err(|error| cannot_open(path, error))?;
                }
                (path.display().to_string(), facts.is_file())
            }
        };
        Ok(Self {
            place,
            name,
            asked: format,
            bucket,
            dry_run_of,
            client,
            is_lasting,
            is_taken: AtomicBool::new(false),
            is_complete: Arc::new(AtomicBool::new(true)),
        })
    }

    /// Whether all was read, where it is a report, and its command came to everything.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Relaxed)
    }

    fn source(&self) -> Result<Source, Error> {
        if !self.is_lasting && self.is_taken.swap(true, Ordering::Relaxed) {
            let name = &self.name;
            let message = format!(
                "the manifest `{name}` can be read only once, and this command goes through it \
                 twice: write it to a file"
            );
            return Err(Error::new(ErrorKind::Config, message));
        }
        match &self.place {
            ManifestPlace::Input => Ok(Source::Stream(standard_streams::input())),
            ManifestPlace::Object(object) => {
                let (file, _) = fetch(&self.client, object).map_err(|error| {
                    let message = format!("could not read the manifest `{object}`");
                    Error::new(error.kind(), message).with_source(error)
                })?;
                Ok(Source::File(file))
            }
            ManifestPlace::File(path) => {
                let file = File::open(path).map_err(|error| cannot_open(path, error))?;
                Ok(if self.is_lasting {
                    Source::File(file)
                } else {
                    Source::Stream(Box::new(file))
                })
            }
        }
    }

    /// Of what has lines that are no keys.
    fn refused(&self, format: Format) -> Error {
        let what = match format {
            Format::Uploads => {
                "what `uploads ls` prints, whose uploads are no objects: `uploads abort` ends them"
            }
            _ => {
                "a listing as text or tsv: have `list` write it with --format csv, jsonl or parquet"
            }
        };
        let lines = "(--from-format lines takes each line for a key)";
        let message = format!("the manifest `{}` is {what} {lines}", self.name);
        Error::new(ErrorKind::Config, message)
    }

    /// Comma-separated values of a file, where it is known how keys are written before anything is
    /// done to the first one.
    fn read_twice(&self, text: Text, file: &mut File) -> io::Result<Result<Entries, Error>> {
        let entries = |text| TextEntries::new(text, TextFormat::Csv, &self.name);
        let keys = match entries(text).key_form() {
            Ok(keys) => keys,
            Err(error) => return Ok(Err(error)),
        };
        file.rewind()?;
        let again = Head::of(Box::new(file.try_clone()?))?;
        Ok(Ok(Box::new(entries(again.text()).with_keys(keys))))
    }

    /// The format of a manifest that begins so; a table that is said to be text is refused.
    fn format(&self, head: &[u8]) -> Result<Format, Error> {
        let format = Format::of(self.asked, &self.name, &self.bucket, head);
        if matches!(format, Format::Text(_)) && is_parquet(head) {
            let message = format!(
                "the manifest `{}` is a Parquet table, but --from-format names another format",
                self.name
            );
            return Err(Error::new(ErrorKind::Config, message));
        }
        Ok(format)
    }

    fn read(&self) -> io::Result<Result<Entries, Error>> {
        let mut file = None;
        let stream: Stream = match self.source() {
            Err(error) => return Ok(Err(error)),
            Ok(Source::Stream(stream)) => stream,
            Ok(Source::File(opened)) => {
                file = Some(opened.try_clone()?);
                Box::new(opened)
            }
        };
        let head = Head::of(stream)?;
        let format = match self.format(&head.bytes) {
            Ok(format) => format,
            Err(error) => return Ok(Err(error)),
        };
        let is_packed = head.is_packed;
        let text = head.text();
        let file = match file {
            Some(mut file) if format == Format::Text(TextFormat::Csv) => {
                return self.read_twice(text, &mut file);
            }
            Some(mut file) if format == Format::Parquet && !is_packed => {
                file.rewind()?;
                Some(file)
            }
            _ => None,
        };
        Ok(match (format, file) {
            (Format::Text(format), _) => {
                let entries = TextEntries::new(text, format, &self.name);
                let entries = entries.with_dry_run_of(self.dry_run_of);
                Ok(Box::new(entries.noting_ends(Arc::clone(&self.is_complete))))
            }
            (Format::Inventory, _) => InventoryEntries::new(self.client.clone(), text, &self.name)
                .map(|entries| Box::new(entries) as Entries),
            (Format::Parquet, Some(file)) => {
                ParquetEntries::open(file, &self.name).map(|entries| Box::new(entries) as Entries)
            }
            (Format::Orc, _) => {
                let message = format!("the manifest `{}` is a table in {ORC_REFUSED}", self.name);
                Err(Error::new(ErrorKind::Config, message))
            }
            (Format::Listing | Format::Uploads, _) => Err(self.refused(format)),
            (Format::Unclear, _) => {
                let message = format!(
                    "the first line of the manifest `{}` may be a key or of comma-separated \
                     values: say --from-format lines, csv or s3-batch",
                    self.name
                );
                Err(Error::new(ErrorKind::Config, message))
            }
            (Format::Parquet, None) => {
                let message = format!(
                    "the manifest `{}` is a table that is read from its end: it has to be a file \
                     that is not packed",
                    self.name
                );
                Err(Error::new(ErrorKind::Config, message))
            }
        })
    }
}

impl Manifest for ManifestFile {
    fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    fn entries(&self) -> s3haul_wire::error::Result<Entries> {
        self.read().map_err(|error| {
            let message = format!("could not read the manifest `{}`: {error}", self.name);
            Error::new(ErrorKind::Local, message)
        })?
    }
}

/// Whether these are the first bytes of a table, and of no text, which has no NUL.
fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PAR1") && head.contains(&0)
}

fn cannot_open(path: &Path, error: io::Error) -> Error {
    Error::local("could not open the manifest", path, error)
}

/// The first bytes, the first line at least where it is not too long, and what follows them.
fn split_head(mut stream: Stream) -> io::Result<(Vec<u8>, Stream)> {
    let mut head = vec![0; HEAD_MAX];
    let mut length = 0;
    while length < HEAD_MAX && !head[..length].contains(&b'\n') {
        match stream.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(length);
    Ok((head, stream))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use s3haul_wire::ClientConfig;
    use s3haul_wire::env::Env;

    use super::*;

    fn open(path: &Path) -> Result<ManifestFile, Failure> {
        let place = ManifestPlace::File(path.to_owned());
        let client = Client::new(ClientConfig::default(), Env::system()).unwrap();
        ManifestFile::open(
            ManifestSettings { place, format: None, bucket: String::new(), dry_run_of: None },
            client,
        )
    }

    #[test]
    fn a_file_is_read_from_its_beginning_each_time_packed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let long = vec!["x".repeat(1000); 3 * HEAD_MAX / 1000];
        let text = format!("\u{feff}first\n{}\n", long.join("\n"));
        let mut packed = Vec::new();
        // Two members, as some programs append them.
        for part in [&text[..9], &text[9..]] {
            let level = flate2::Compression::fast();
            let mut encoder = flate2::write::GzEncoder::new(&mut packed, level);
            encoder.write_all(part.as_bytes()).unwrap();
            encoder.finish().unwrap();
        }
        for bytes in [text.as_bytes(), &packed] {
            std::fs::write(&path, bytes).unwrap();
            let manifest = open(&path).unwrap();
            for _ in 0..2 {
                let keys: Vec<_> =
                    manifest.entries().unwrap().map(|entry| entry.unwrap().key).collect();
                assert_eq!(keys[0], "first");
                assert_eq!(keys[1..], long);
            }
        }
    }

    #[test]
    fn a_missing_file_is_an_error_before_anything_is_begun() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path()).unwrap_err().message.contains("could not open the manifest"));
        let failure = open(&folder.path().join("none")).unwrap_err();
        assert_eq!(failure.status, crate::exit::OTHER, "{}", failure.message);
    }
}
