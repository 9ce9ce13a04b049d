//! Messages of protocol buffers, as far as ORC has them: fields with their numbers. Pure.

use crate::manifest::orc::error::{Orc, OrcError};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'a> {
    /// A number.
    Number(u64),
    /// A text, a message, or packed numbers.
    Bytes(&'a [u8]),
    /// A number of fixed size, which nobody here looks at.
    Fixed,
}

/// The fields of a message in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Of the bytes of a message.
    pub(super) fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// The next field with its number.
    pub(super) fn next(&mut self) -> Orc<Option<(u64, Field<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let broken = || OrcError::Broken("footer");
        let tag = varint(&mut self.rest).ok_or_else(broken)?;
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut self.rest).ok_or_else(broken)?),
            1 => self.skip(8).ok_or_else(broken)?,
            2 => {
                let length = varint(&mut self.rest).ok_or_else(broken)?;
                let length = usize::try_from(length).map_err(|_| broken())?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or_else(broken)?;
                self.rest = rest;
                Field::Bytes(bytes)
            }
            5 => self.skip(4).ok_or_else(broken)?,
            _ => return Err(broken()),
        };
        Ok(Some((tag >> 3, field)))
    }

    fn skip(&mut self, bytes: usize) -> Option<Field<'a>> {
        self.rest = self.rest.get(bytes..)?;
        Some(Field::Fixed)
    }
}

/// Numbers of a repeated field, packed or one of them.
pub(super) fn push_numbers(field: Field<'_>, numbers: &mut Vec<u64>) -> Orc<()> {
    match field {
        Field::Number(number) => numbers.push(number),
        Field::Bytes(mut packed) => {
            while !packed.is_empty() {
                numbers.push(varint(&mut packed).ok_or(OrcError::Broken("footer"))?);
            }
        }
        Field::Fixed => return Err(OrcError::Broken("footer")),
    }
    Ok(())
}

/// A number of seven bits a byte, the lowest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
