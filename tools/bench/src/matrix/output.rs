//! What is kept of the output of a measured run.

use std::io::Read;

use anyhow::Result;

use crate::layouts::count_lines;

/// What is kept of the end.
const END_BYTES: usize = 16_384;
const BLOCK_BYTES: usize = 1 << 16;

/// What a run printed.
#[derive(Debug, PartialEq)]
pub(super) enum Printed {
    /// Not checked.
    Unread,
    /// So many lines.
    Lines(u64),
    /// The end of it.
    End(String),
}

impl Printed {
    /// Counts lines.
    pub(super) fn lines(output: impl Read) -> Result<Self> {
        Ok(Self::Lines(count_lines(output)?))
    }

    /// Keeps the end.
    pub(super) fn end(mut output: impl Read) -> Result<Self> {
        let (mut end, mut block) = (Vec::new(), vec![0; BLOCK_BYTES]);
        loop {
            let length = output.read(&mut block)?;
            if length == 0 {
                return Ok(Self::End(String::from_utf8_lossy(&end).into_owned()));
            }
            end.extend_from_slice(&block[..length]);
            end.drain(..end.len().saturating_sub(END_BYTES));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_and_the_end_is_kept() {
        assert_eq!(Printed::lines(&b"a\nb\n"[..]).unwrap(), Printed::Lines(2));
        assert_eq!(Printed::end(&b"7 keys\n"[..]).unwrap(), Printed::End("7 keys\n".to_owned()));
        let long = format!("{}end", "x".repeat(10 * BLOCK_BYTES));
        let Printed::End(end) = Printed::end(long.as_bytes()).unwrap() else { panic!("an end") };
        assert!(end.len() == END_BYTES && end.ends_with("xend"), "{}", end.len());
    }
}
