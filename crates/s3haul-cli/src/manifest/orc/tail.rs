//! The end of a file: columns and stripes; and the end of a stripe: streams and encodings.

use std::fs::File;

use super::proto::{Field, Fields, push_numbers};
use super::stream::{ByteStream, Region, set_compression};
use crate::manifest::orc::error::{Orc, OrcError};

/// Largest footer of a file or a stripe, packed and unpacked.
const FOOTER_MAX: u64 = 64 * 1024 * 1024;
/// Kind of the type of a row.
const STRUCT: u64 = 12;

/// What the end of a file tells.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The columns of a row: name, number, kind of the type.
    pub(super) columns: Vec<(String, u64, u64)>,
    /// The stripes in order.
    pub(super) stripes: Vec<Stripe>,
}

/// A piece of a file that has some rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stripe {
    offset: u64,
    index_length: u64,
    data_length: u64,
    footer_length: u64,
    /// Number of rows.
    pub(super) rows: u64,
}

/// What the end of a stripe tells.
#[derive(Debug, Default)]
pub(super) struct StripeFooter {
    streams: Vec<StreamInfo>,
    /// Encoding and size of the dictionary of each column.
    encodings: Vec<(u64, u64)>,
    /// Where times are local to.
    pub(super) timezone: String,
}

#[derive(Clone, Copy, Debug)]
struct StreamInfo {
    kind: u64,
    column: u64,
    position: u64,
    length: u64,
}

#[derive(Debug, Default)]
struct Type {
    kind: u64,
    subtypes: Vec<u64>,
    names: Vec<String>,
}

impl Tail {
    /// Reads the end of a file.
    pub(super) fn read(file: File) -> Orc<(Region, Self)> {
        let length = file.metadata()?.len();
        let mut region = Region::new(file);
        let broken = || OrcError::Broken("end");
        let last = length.checked_sub(1).ok_or_else(broken)?;
        let script_length = u64::from(region.read_at(last, 1)?[0]);
        let script_at = last.checked_sub(script_length).ok_or_else(broken)?;
        let script = region.read_at(script_at, script_length)?;
        let (mut footer_length, mut kind, mut block_max) = (0, 0, 256 * 1024);
        let mut is_orc = false;
        let mut fields = Fields::of(&script);
        while let Some(field) = fields.next()? {
            match field {
                (1, Field::Number(number)) => footer_length = number,
                (2, Field::Number(number)) => kind = number,
                (3, Field::Number(number)) => block_max = number,
                (8000, Field::Bytes(magic)) => is_orc = magic == b"ORC",
                _ => {}
            }
        }
        if !is_orc || footer_length > FOOTER_MAX {
            return Err(broken());
        }
        set_compression(&mut region, kind, block_max)?;
        let footer_at = script_at.checked_sub(footer_length).ok_or_else(broken)?;
        let footer = region.stream(footer_at, footer_length)?.rest(FOOTER_MAX)?;
        let tail = Self::parse(&footer)?;
        Ok((region, tail))
    }

    fn parse(footer: &[u8]) -> Orc<Self> {
        let (mut stripes, mut types) = (Vec::new(), Vec::new());
        let mut fields = Fields::of(footer);
        while let Some(field) = fields.next()? {
            match field {
                (3, Field::Bytes(bytes)) => stripes.push(Stripe::parse(bytes)?),
                (4, Field::Bytes(bytes)) => types.push(Type::parse(bytes)?),
                _ => {}
            }
        }
        let row = types.first().filter(|row: &&Type| row.kind == STRUCT);
        let row = row.ok_or(OrcError::Broken("schema"))?;
        let mut columns = Vec::new();
        for (name, number) in row.names.iter().zip(&row.subtypes) {
            let found = usize::try_from(*number).ok().and_then(|number| types.get(number));
            let kind = found.ok_or(OrcError::Broken("schema"))?.kind;
            columns.push((name.clone(), *number, kind));
        }
        Ok(Self { columns, stripes })
    }
}

impl Type {
    fn parse(bytes: &[u8]) -> Orc<Self> {
        let mut parsed = Self::default();
        let mut fields = Fields::of(bytes);
        while let Some((number, field)) = fields.next()? {
            match (number, field) {
                (1, Field::Number(kind)) => parsed.kind = kind,
                (2, field) => push_numbers(field, &mut parsed.subtypes)?,
                (3, Field::Bytes(name)) => {
                    parsed.names.push(String::from_utf8_lossy(name).into_owned());
                }
                _ => {}
            }
        }
        Ok(parsed)
    }
}

impl Stripe {
    fn parse(bytes: &[u8]) -> Orc<Self> {
        let mut parsed = Self::default();
        let mut fields = Fields::of(bytes);
        while let Some((number, field)) = fields.next()? {
            let Field::Number(value) = field else { continue };
            match number {
                1 => parsed.offset = value,
                2 => parsed.index_length = value,
                3 => parsed.data_length = value,
                4 => parsed.footer_length = value,
                5 => parsed.rows = value,
                _ => {}
            }
        }
        Ok(parsed)
    }

    /// Reads its footer.
    pub(super) fn footer(&self, region: &Region) -> Orc<StripeFooter> {
        let broken = || OrcError::Broken("stripe");
        if self.footer_length > FOOTER_MAX {
            return Err(broken());
        }
        let lengths = self.index_length.checked_add(self.data_length);
        let position = lengths.and_then(|length| self.offset.checked_add(length));
        let mut stream = region.stream(position.ok_or_else(broken)?, self.footer_length)?;
        let bytes = stream.rest(FOOTER_MAX)?;
        let mut footer = StripeFooter::default();
        let mut position = self.offset;
        let mut fields = Fields::of(&bytes);
        while let Some((number, field)) = fields.next()? {
            let Field::Bytes(bytes) = field else { continue };
            match number {
                1 => {
                    let [_, kind, column, length] = numbers(bytes)?;
                    footer.streams.push(StreamInfo { kind, column, position, length });
                    position = position.checked_add(length).ok_or_else(broken)?;
                }
                2 => {
                    let [_, kind, size, _] = numbers(bytes)?;
                    footer.encodings.push((kind, size));
                }
                3 => footer.timezone = String::from_utf8_lossy(bytes).into_owned(),
                _ => {}
            }
        }
        Ok(footer)
    }
}

/// The fields 1, 2 and 3 of a message of numbers, at their places.
fn numbers(bytes: &[u8]) -> Orc<[u64; 4]> {
    let mut numbers = [0; 4];
    let mut fields = Fields::of(bytes);
    while let Some((number, field)) = fields.next()? {
        if let (1..=3, Field::Number(value)) = (number, field) {
            numbers[usize::try_from(number).unwrap_or_default()] = value;
        }
    }
    Ok(numbers)
}

impl StripeFooter {
    /// Encoding of a column, and the size of its dictionary.
    pub(super) fn encoding(&self, column: u64) -> Orc<(u64, u64)> {
        let found = usize::try_from(column).ok().and_then(|column| self.encodings.get(column));
        found.copied().ok_or(OrcError::Broken("stripe"))
    }

    /// A stream of a column, if it has it.
    pub(super) fn stream(
        &self,
        region: &Region,
        column: u64,
        kind: u64,
    ) -> Orc<Option<ByteStream>> {
        let is_it = |stream: &&StreamInfo| stream.column == column && stream.kind == kind;
        let found = self.streams.iter().find(is_it);
        found.map(|found| region.stream(found.position, found.length)).transpose()
    }
}
