//! The values of a column in a stripe.

use super::rle::{Bits, Numbers};
use super::stream::{ByteStream, Region};
use super::tail::StripeFooter;
use crate::manifest::orc::error::{Orc, OrcError};
use crate::manifest::row::{Cell, Column, Row};

/// Largest text of one value.
const TEXT_MAX: i64 = 1 << 20;
/// Bytes of all dictionaries of a stripe at most.
const DICTIONARY_MAX: usize = 256 << 20;
/// 2015-01-01 in seconds since 1970: what times count from.
const EPOCH_S: i64 = 1_420_070_400;
/// Nanoseconds from which on writers round seconds before 1970 up.
const ROUNDED_NANOS: i64 = 999_999;

/// Kinds of streams.
mod stream_kind {
    pub(super) const PRESENT: u64 = 0;
    pub(super) const DATA: u64 = 1;
    pub(super) const LENGTH: u64 = 2;
    pub(super) const DICTIONARY: u64 = 3;
    pub(super) const SECONDARY: u64 = 5;
}

/// Reads the values of a column one by one.
#[derive(Debug)]
pub(super) struct ColumnReader {
    column: Column,
    /// Which rows have a value; all where it is missing.
    present: Option<Bits>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Flags(Bits),
    Numbers(Numbers),
    Texts { lengths: Numbers, bytes: ByteStream },
    Words { indices: Numbers, words: Vec<String> },
    Times { seconds: Numbers, nanos: Numbers, is_utc: bool },
}

impl ColumnReader {
    /// Opens the streams of a column by the kind of its type; adds what it holds for as long as
    /// it is read to what others hold.
    pub(super) fn open(
        column: Column,
        number: u64,
        kind: u64,
        footer: &StripeFooter,
        region: &Region,
        held: &mut usize,
    ) -> Orc<Self> {
        let (encoding, dictionary_size) = footer.encoding(number)?;
        let stream = |kind| {
            let found = footer.stream(region, number, kind)?;
            Ok::<_, OrcError>(found.unwrap_or_else(|| ByteStream::empty(region)))
        };
        let (is_dictionary, is_version_2) = match encoding {
            0..=3 => (encoding % 2 == 1, encoding >= 2),
            other => return Err(OrcError::Unknown(format!("encoding {other}"))),
        };
        let numbers = |kind, is_signed| {
            stream(kind).map(|stream| Numbers::new(stream, is_signed, is_version_2))
        };
        let values = match kind {
            0 => Values::Flags(Bits::new(stream(stream_kind::DATA)?)),
            2..=4 => Values::Numbers(numbers(stream_kind::DATA, true)?),
            7 | 16 | 17 if is_dictionary => Values::Words {
                indices: numbers(stream_kind::DATA, false)?,
                words: words(
                    numbers(stream_kind::LENGTH, false)?,
                    stream(stream_kind::DICTIONARY)?,
                    dictionary_size,
                    held,
                )?,
            },
            7 | 16 | 17 => Values::Texts {
                lengths: numbers(stream_kind::LENGTH, false)?,
                bytes: stream(stream_kind::DATA)?,
            },
            9 | 18 => Values::Times {
                seconds: numbers(stream_kind::DATA, true)?,
                nanos: numbers(stream_kind::SECONDARY, false)?,
                is_utc: kind == 18 || matches!(footer.timezone.as_str(), "" | "UTC" | "GMT" | "Z"),
            },
            other => {
                return Err(OrcError::Unknown(format!("a column {column:?} of the type {other}")));
            }
        };
        let present = footer.stream(region, number, stream_kind::PRESENT)?.map(Bits::new);
        Ok(Self { column, present, values })
    }

    /// Puts the next value into a row.
    pub(super) fn read_into(&mut self, row: &mut Row) -> Orc<()> {
        let is_there = match &mut self.present {
            Some(present) => present.next()?,
            None => true,
        };
        let cell = if is_there { self.values.next()? } else { Cell::Nothing };
        if row.take(self.column, cell) {
            return Ok(());
        }
        Err(OrcError::Unknown(format!("a value that is not {}", self.column.meaning())))
    }
}

impl Values {
    fn next(&mut self) -> Orc<Cell> {
        Ok(match self {
            Self::Flags(bits) => Cell::Flag(bits.next()?),
            Self::Numbers(numbers) => Cell::Number(numbers.next()?),
            Self::Texts { lengths, bytes } => Cell::Text(text(lengths.next()?, bytes)?),
            Self::Words { indices, words } => {
                let word = usize::try_from(indices.next()?).ok().and_then(|index| words.get(index));
                Cell::Text(word.ok_or(OrcError::Broken("dictionary"))?.clone())
            }
            Self::Times { seconds, nanos, is_utc } => {
                let seconds = seconds.next()?;
                let (nanos, zeros) = {
                    let packed = nanos.next()?;
                    (packed >> 3, packed & 7)
                };
                let scale = 10_i64.pow(u32::try_from(zeros).unwrap_or_default() + 1);
                let nanos = if zeros == 0 { nanos } else { nanos.saturating_mul(scale) };
                let since_1970 = seconds.saturating_add(EPOCH_S);
                let is_rounded = since_1970 < 0 && nanos > ROUNDED_NANOS;
                let since_1970 = since_1970.saturating_sub(i64::from(is_rounded));
                // A time of another zone is not known here; whoever needs it asks.
                if *is_utc { Cell::Number(since_1970) } else { Cell::Nothing }
            }
        })
    }
}

/// A text of this length.
fn text(length: i64, bytes: &mut ByteStream) -> Orc<String> {
    let length = usize::try_from(length).ok().filter(|_| length <= TEXT_MAX);
    let bytes = bytes.bytes(length.ok_or(OrcError::Broken("text"))?)?;
    String::from_utf8(bytes).map_err(|_| OrcError::Broken("text"))
}

/// The words of a dictionary.
fn words(
    mut lengths: Numbers,
    mut bytes: ByteStream,
    count: u64,
    held: &mut usize,
) -> Orc<Vec<String>> {
    let mut words = Vec::new();
    for _ in 0..count {
        let word = text(lengths.next()?, &mut bytes)?;
        *held += word.len() + size_of::<String>();
        if *held > DICTIONARY_MAX {
            return Err(OrcError::Unknown("a dictionary of this size".to_owned()));
        }
        words.push(word);
    }
    Ok(words)
}
