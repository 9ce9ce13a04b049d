//! A manifest in a file or on standard input.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use s3haul::job::{Entries, Manifest};
use s3haul::{Error, ErrorKind};

use super::detect::Format;
use super::text::{Text, TextEntries};
use crate::args::FromFormat;
use crate::failure::Failure;
use crate::settings::{ManifestPlace, ManifestSettings};

/// Bytes that are looked at to tell the format.
const HEAD_MAX: usize = 64 * 1024;
/// What some programs write before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A manifest, not yet read.
#[derive(Debug)]
pub(crate) struct ManifestFile {
    /// Nothing for standard input.
    path: Option<PathBuf>,
    name: String,
    asked: Option<FromFormat>,
    /// It can be read from its beginning more than once.
    is_regular: bool,
    is_taken: AtomicBool,
}

impl ManifestFile {
    /// Looks whether there is one.
    pub(crate) fn open(settings: &ManifestSettings) -> Result<Self, Failure> {
        let (path, name, is_regular) = match &settings.place {
            ManifestPlace::Input => (None, "-".to_owned(), false),
            ManifestPlace::File(path) => {
                let facts = path.metadata().map_err(|error| cannot_open(path, error))?;
                if facts.is_dir() {
                    let error = std::io::ErrorKind::IsADirectory.into();
                    return Err(cannot_open(path, error).into());
                }
                (Some(path.clone()), path.display().to_string(), facts.is_file())
            }
        };
        let (asked, is_taken) = (settings.format, AtomicBool::new(false));
        let file = Self { path, name, asked, is_regular, is_taken };
        if is_regular {
            file.text()?;
        }
        Ok(file)
    }

    /// The text from its beginning, and what is first in it.
    fn text(&self) -> Result<(Text, Vec<u8>), Error> {
        let cannot_read = |error: std::io::Error| {
            let message = format!("could not read the manifest `{}`: {error}", self.name);
            Error::new(ErrorKind::Local, message)
        };
        let mut stream: Box<dyn Read + Send> = match &self.path {
            Some(path) => Box::new(File::open(path).map_err(|error| cannot_open(path, error))?),
            None => Box::new(std::io::stdin()),
        };
        let mut head = read_head(&mut stream).map_err(cannot_read)?;
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
        let rest = BufReader::with_capacity(HEAD_MAX, stream);
        let text: Box<dyn BufRead + Send> = Box::new(Cursor::new(head.clone()).chain(rest));
        Ok((text, head))
    }
}

impl Manifest for ManifestFile {
    fn entries(&self) -> s3haul::error::Result<Entries> {
        if !self.is_regular && self.is_taken.swap(true, Ordering::Relaxed) {
            let name = &self.name;
            let message = format!(
                "the manifest `{name}` can be read only once, and new names within a bucket take \
                 it twice: write it to a file"
            );
            return Err(Error::new(ErrorKind::Config, message));
        }
        let (text, head) = self.text()?;
        let format = Format::of(self.asked, &self.name, &head);
        Ok(Box::new(TextEntries::new(text, format, &self.name)))
    }
}

fn cannot_open(path: &Path, error: std::io::Error) -> Error {
    Error::local("could not open the manifest", path, error)
}

/// The first bytes, the first line at least where it is not too long.
fn read_head(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD_MAX];
    let mut length = 0;
    while length < HEAD_MAX && !head[..length].contains(&b'\n') {
        match stream.read(&mut head[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(length);
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Result<ManifestFile, Failure> {
        let place = ManifestPlace::File(path.to_owned());
        ManifestFile::open(&ManifestSettings { place, format: None })
    }

    #[test]
    fn a_file_is_read_from_its_beginning_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        let long = "x".repeat(3 * HEAD_MAX);
        std::fs::write(&path, format!("\u{feff}first\n{long}\n")).unwrap();
        let manifest = open(&path).unwrap();
        for _ in 0..2 {
            let keys: Vec<_> =
                manifest.entries().unwrap().map(|entry| entry.unwrap().key).collect();
            assert_eq!(keys, ["first", &long]);
        }
    }

    #[test]
    fn what_is_no_file_is_told_before_anything_is_begun() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path()).unwrap_err().message.contains("could not open the manifest"));
        let failure = open(&folder.path().join("none")).unwrap_err();
        assert_eq!(failure.status, crate::exit::OTHER, "{}", failure.message);
    }
}
