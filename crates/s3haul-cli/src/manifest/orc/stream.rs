//! Bytes of a stream: a part of the file, cut into compressed blocks.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::read::DeflateDecoder;

use crate::manifest::orc::error::{Orc, OrcError};

/// Bytes that are read together of a stream that is not compressed.
const PIECE: u64 = 64 * 1024;
/// Largest block.
const BLOCK_MAX: u64 = 8 * 1024 * 1024;

/// How blocks are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// They are not; there are no blocks.
    None,
    /// Deflate without a header.
    Zlib,
    /// Snappy without a frame.
    Snappy,
}

/// A file whose streams are compressed in one way.
#[derive(Clone, Debug)]
pub(super) struct Region {
    file: Arc<Mutex<File>>,
    /// How it is compressed.
    pub(super) compression: Compression,
    /// Bytes of a block at most, once it is unpacked.
    pub(super) block_max: u64,
}

impl Region {
    /// A file, not compressed as far as is known.
    pub(super) fn new(file: File) -> Self {
        let file = Arc::new(Mutex::new(file));
        Self { file, compression: Compression::None, block_max: BLOCK_MAX }
    }

    /// Bytes of the file.
    pub(super) fn read_at(&self, position: u64, length: u64) -> Orc<Vec<u8>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(position))?;
        let mut bytes = Vec::new();
        (&mut *file).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(OrcError::Broken("length")) }
    }

    /// A stream between two positions.
    pub(super) fn stream(&self, position: u64, length: u64) -> Orc<ByteStream> {
        let end = position.checked_add(length).ok_or(OrcError::Broken("length"))?;
        Ok(ByteStream { region: self.clone(), position, end, block: Vec::new(), at: 0 })
    }
}

/// The bytes of a stream, one after the other.
#[derive(Debug)]
pub(super) struct ByteStream {
    region: Region,
    position: u64,
    end: u64,
    block: Vec<u8>,
    at: usize,
}

impl ByteStream {
    /// A stream that has nothing.
    pub(super) fn empty(region: &Region) -> Self {
        Self { region: region.clone(), position: 0, end: 0, block: Vec::new(), at: 0 }
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Orc<u8> {
        while self.at == self.block.len() {
            self.fill()?;
        }
        let byte = self.block[self.at];
        self.at += 1;
        Ok(byte)
    }

    /// The next bytes.
    pub(super) fn bytes(&mut self, mut length: usize) -> Orc<Vec<u8>> {
        let mut bytes = Vec::new();
        while length > 0 {
            while self.at == self.block.len() {
                self.fill()?;
            }
            let piece = &self.block[self.at..];
            let piece = &piece[..piece.len().min(length)];
            bytes.extend_from_slice(piece);
            self.at += piece.len();
            length -= piece.len();
        }
        Ok(bytes)
    }

    /// All that is left, which is an error where it is more than `bytes_max`.
    pub(super) fn rest(&mut self, bytes_max: u64) -> Orc<Vec<u8>> {
        let mut bytes = self.block.split_off(self.at);
        while self.position < self.end {
            self.fill()?;
            bytes.append(&mut self.block);
            if bytes.len() as u64 > bytes_max {
                return Err(OrcError::Broken("length"));
            }
        }
        (self.block, self.at) = (Vec::new(), 0);
        Ok(bytes)
    }

    /// The next number of seven bits a byte.
    pub(super) fn varint(&mut self) -> Orc<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(OrcError::Broken("number"))
    }

    /// The next block.
    fn fill(&mut self) -> Orc<()> {
        let left = self.end - self.position;
        if left == 0 {
            return Err(OrcError::Broken("length"));
        }
        self.at = 0;
        if self.region.compression == Compression::None {
            let length = left.min(PIECE);
            self.block = self.region.read_at(self.position, length)?;
            self.position += length;
            return Ok(());
        }
        let header = self.region.read_at(self.position, 3)?;
        let header = u64::from(header[0]) | u64::from(header[1]) << 8 | u64::from(header[2]) << 16;
        let (length, is_original) = (header >> 1, header & 1 == 1);
        if length > self.region.block_max || length + 3 > left {
            return Err(OrcError::Broken("block"));
        }
        let packed = self.region.read_at(self.position + 3, length)?;
        self.position += length + 3;
        self.block = if is_original { packed } else { self.region.unpack(&packed)? };
        Ok(())
    }
}

impl Region {
    fn unpack(&self, packed: &[u8]) -> Orc<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.compression {
            Compression::None => bytes.extend_from_slice(packed),
            Compression::Zlib => {
                DeflateDecoder::new(packed).take(self.block_max + 1).read_to_end(&mut bytes)?;
            }
            Compression::Snappy => {
                let length = snap::raw::decompress_len(packed).ok();
                if length.is_none_or(|length| length as u64 > self.block_max) {
                    return Err(OrcError::Broken("block"));
                }
                let unpacked = snap::raw::Decoder::new().decompress_vec(packed);
                bytes = unpacked.map_err(|_| OrcError::Broken("block"))?;
            }
        }
        if bytes.len() as u64 > self.block_max {
            return Err(OrcError::Broken("block"));
        }
        Ok(bytes)
    }
}

/// Sets how a file is compressed, by the number that the format has for it.
pub(super) fn set_compression(region: &mut Region, kind: u64, block_max: u64) -> Orc<()> {
    region.compression = match kind {
        0 => Compression::None,
        1 => Compression::Zlib,
        2 => Compression::Snappy,
        3 => return Err(OrcError::Unknown("LZO compression".to_owned())),
        4 => return Err(OrcError::Unknown("LZ4 compression".to_owned())),
        5 => return Err(OrcError::Unknown("Zstandard compression".to_owned())),
        other => return Err(OrcError::Unknown(format!("compression {other}"))),
    };
    if region.compression != Compression::None {
        if block_max > BLOCK_MAX {
            return Err(OrcError::Broken("block size"));
        }
        region.block_max = block_max.max(1);
    }
    Ok(())
}
