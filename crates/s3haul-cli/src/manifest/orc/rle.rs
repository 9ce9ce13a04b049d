//! Runs of numbers, bytes and bits, in both versions of the format's run length encoding.

use std::collections::VecDeque;

use super::stream::ByteStream;
use crate::manifest::orc::error::{Orc, OrcError};

/// Numbers of a stream.
#[derive(Debug)]
pub(super) struct Numbers {
    stream: ByteStream,
    is_signed: bool,
    is_version_2: bool,
    run: VecDeque<i64>,
}

impl Numbers {
    /// Reads a stream of numbers.
    pub(super) fn new(stream: ByteStream, is_signed: bool, is_version_2: bool) -> Self {
        Self { stream, is_signed, is_version_2, run: VecDeque::new() }
    }

    /// The next number.
    pub(super) fn next(&mut self) -> Orc<i64> {
        loop {
            if let Some(number) = self.run.pop_front() {
                return Ok(number);
            }
            if self.is_version_2 { self.run_2()? } else { self.run_1()? }
        }
    }

    /// A run of version 1: of equal differences, or literal.
    fn run_1(&mut self) -> Orc<()> {
        let control = self.stream.byte()?;
        if control < 0x80 {
            let delta = i64::from(self.stream.byte()?.cast_signed());
            let base = self.base()?;
            for step in 0..i64::from(control) + 3 {
                self.run.push_back(base.wrapping_add(delta.wrapping_mul(step)));
            }
        } else {
            for _ in 0..256 - u16::from(control) {
                let number = self.base()?;
                self.run.push_back(number);
            }
        }
        Ok(())
    }

    fn base(&mut self) -> Orc<i64> {
        let number = self.stream.varint()?;
        Ok(if self.is_signed { unzigzag(number) } else { number.cast_signed() })
    }

    fn run_2(&mut self) -> Orc<()> {
        let first = self.stream.byte()?;
        match first >> 6 {
            0 => self.short_repeat(first),
            1 => self.direct(first),
            2 => self.patched(first),
            _ => self.delta(first),
        }
    }

    fn short_repeat(&mut self, first: u8) -> Orc<()> {
        let number = self.big_endian((first >> 3 & 7) + 1)?;
        let number = self.value(number);
        self.run.extend(std::iter::repeat_n(number, usize::from(first & 7) + 3));
        Ok(())
    }

    fn direct(&mut self, first: u8) -> Orc<()> {
        let (width, length) = (width_of(first >> 1 & 31), self.length(first)?);
        for number in self.packed(width, length)? {
            let number = self.value(number);
            self.run.push_back(number);
        }
        Ok(())
    }

    fn patched(&mut self, first: u8) -> Orc<()> {
        let (width, length) = (width_of(first >> 1 & 31), self.length(first)?);
        let (third, fourth) = (self.stream.byte()?, self.stream.byte()?);
        let base_bytes = (third >> 5) + 1;
        let patch_width = width_of(third & 31);
        let gap_width = u32::from(fourth >> 5) + 1;
        let base = self.big_endian(base_bytes)?;
        let sign = 1_u64 << (u32::from(base_bytes) * 8 - 1);
        let magnitude = (base & !sign).cast_signed();
        let base = if base & sign == 0 { magnitude } else { magnitude.wrapping_neg() };
        let mut numbers = self.packed(width, length)?;
        let broken = || OrcError::Broken("run");
        if patch_width + gap_width > 64 {
            return Err(broken());
        }
        let mut at = 0;
        let entry_width = closest_width(patch_width + gap_width);
        for entry in self.packed(entry_width, usize::from(fourth & 31))? {
            let patch = entry & low_bits(patch_width);
            let gap = entry.checked_shr(patch_width).unwrap_or_default();
            at += usize::try_from(gap).map_err(|_| broken())?;
            let number = numbers.get_mut(at).ok_or_else(broken)?;
            *number |= patch.checked_shl(width).unwrap_or_default();
        }
        self.run.extend(numbers.iter().map(|number| base.wrapping_add(number.cast_signed())));
        Ok(())
    }

    fn delta(&mut self, first: u8) -> Orc<()> {
        let code = first >> 1 & 31;
        let length = self.length(first)?;
        let mut number = self.base()?;
        let step = unzigzag(self.stream.varint()?);
        self.run.push_back(number);
        if code == 0 {
            for _ in 1..length {
                number = number.wrapping_add(step);
                self.run.push_back(number);
            }
            return Ok(());
        }
        if length < 2 {
            return Err(OrcError::Broken("run"));
        }
        number = number.wrapping_add(step);
        self.run.push_back(number);
        for difference in self.packed(width_of(code), length - 2)? {
            let difference = difference.cast_signed();
            let signed = if step < 0 { difference.wrapping_neg() } else { difference };
            number = number.wrapping_add(signed);
            self.run.push_back(number);
        }
        Ok(())
    }

    /// Length of a run, nine bits of which the highest is in the first byte.
    fn length(&mut self, first: u8) -> Orc<usize> {
        Ok((usize::from(first & 1) << 8 | usize::from(self.stream.byte()?)) + 1)
    }

    fn value(&self, number: u64) -> i64 {
        if self.is_signed { unzigzag(number) } else { number.cast_signed() }
    }

    fn big_endian(&mut self, bytes: u8) -> Orc<u64> {
        let mut number = 0;
        for _ in 0..bytes {
            number = number << 8 | u64::from(self.stream.byte()?);
        }
        Ok(number)
    }

    /// Numbers of some bits each, the highest first; the rest of the last byte is nothing.
    fn packed(&mut self, width: u32, count: usize) -> Orc<Vec<u64>> {
        let (mut byte, mut bits_left) = (0_u8, 0_u32);
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            let mut number = 0_u64;
            let mut wanted = width;
            while wanted > 0 {
                if bits_left == 0 {
                    (byte, bits_left) = (self.stream.byte()?, 8);
                }
                let taken = wanted.min(bits_left);
                let bits = u64::from(byte) >> (bits_left - taken) & low_bits(taken);
                number = number << taken | bits;
                bits_left -= taken;
                wanted -= taken;
            }
            numbers.push(number);
        }
        Ok(numbers)
    }
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

fn low_bits(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Bits of a number by their code.
fn width_of(code: u8) -> u32 {
    match code {
        0..=23 => u32::from(code) + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// The next number of bits that has a code.
fn closest_width(bits: u32) -> u32 {
    (0..=31).map(width_of).find(|width| *width >= bits).unwrap_or(64)
}

/// Bits of a stream.
#[derive(Debug)]
pub(super) struct Bits {
    stream: ByteStream,
    /// Bytes of the present run that are still to come, and which where they are equal.
    run_left: u16,
    repeated: Option<u8>,
    byte: u8,
    bits_left: u8,
}

impl Bits {
    /// Reads a stream of bits.
    pub(super) fn new(stream: ByteStream) -> Self {
        Self { stream, run_left: 0, repeated: None, byte: 0, bits_left: 0 }
    }

    /// The next bit.
    pub(super) fn next(&mut self) -> Orc<bool> {
        if self.bits_left == 0 {
            (self.byte, self.bits_left) = (self.next_byte()?, 8);
        }
        self.bits_left -= 1;
        Ok(self.byte >> self.bits_left & 1 == 1)
    }

    fn next_byte(&mut self) -> Orc<u8> {
        if self.run_left == 0 {
            let control = self.stream.byte()?;
            if control < 0x80 {
                self.run_left = u16::from(control) + 3;
                self.repeated = Some(self.stream.byte()?);
            } else {
                (self.run_left, self.repeated) = (256 - u16::from(control), None);
            }
        }
        self.run_left -= 1;
        match self.repeated {
            Some(byte) => Ok(byte),
            None => self.stream.byte(),
        }
    }
}
