//! CSV read back: records as RFC 4180 has them, lines ended in either way.

use std::io::{self, BufRead};

/// Most cells of a record: an empty one takes more memory than its comma.
const CELLS_MAX: usize = 4096;

/// Reads records.
pub(crate) struct Records;

/// Where in a record the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Plain,
    Quoted,
    /// After a quote within quotes: the end of the cell, or a quote of its own.
    Quote,
}

impl Records {
    /// The cells of the next record; none at the end, also when the last record is incomplete.
    pub(crate) fn next(
        reader: &mut impl BufRead,
        bytes_max: u64,
    ) -> io::Result<Option<Vec<Vec<u8>>>> {
        match Self::read(reader, bytes_max)? {
            Found::Whole(cells) => Ok(Some(cells)),
            Found::Rest(..) => Ok(None),
        }
    }

    /// The same where the last record needs no line end.
    pub(crate) fn next_or_rest(
        reader: &mut impl BufRead,
        bytes_max: u64,
    ) -> io::Result<Option<Vec<Vec<u8>>>> {
        match Self::read(reader, bytes_max)? {
            Found::Whole(cells) => Ok(Some(cells)),
            Found::Rest(_, State::Quoted) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "it ends within quotes"))
            }
            Found::Rest(cells, _) => Ok(cells),
        }
    }

    /// Like [`Self::next_or_rest`], but an error if the last record has no line end: it may be cut
    /// off, also within its last cell.
    pub(crate) fn next_ended(
        reader: &mut impl BufRead,
        bytes_max: u64,
    ) -> io::Result<Option<Vec<Vec<u8>>>> {
        match Self::read(reader, bytes_max)? {
            Found::Whole(cells) => Ok(Some(cells)),
            Found::Rest(None, _) => Ok(None),
            Found::Rest(Some(_), _) => {
                let message = "its last row is cut off: it has no line end";
                Err(io::Error::new(io::ErrorKind::InvalidData, message))
            }
        }
    }

    fn read(reader: &mut impl BufRead, bytes_max: u64) -> io::Result<Found> {
        let (mut cells, mut cell, mut state) = (Vec::new(), Vec::new(), State::Start);
        let mut taken = 0;
        loop {
            let buffer = reader.fill_buf()?;
            if buffer.is_empty() {
                let is_any = !(cells.is_empty() && state == State::Start);
                cells.push(without_return(cell, state));
                return Ok(Found::Rest(is_any.then_some(cells), state));
            }
            let mut used = 0;
            let mut is_whole = false;
            for &byte in buffer {
                used += 1;
                let (next, step) = step(state, byte);
                state = next;
                match step {
                    Step::Skip => {}
                    Step::Take => cell.push(byte),
                    Step::EndCell if cells.len() < CELLS_MAX => {
                        cells.push(std::mem::take(&mut cell));
                    }
                    Step::EndCell => {
                        let message = "a row has too many cells";
                        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                    }
                    Step::EndRecord => {
                        is_whole = true;
                        break;
                    }
                }
            }
            reader.consume(used);
            taken += used as u64;
            if is_whole {
                cells.push(without_return(cell, state));
                return Ok(Found::Whole(cells));
            }
            if taken > bytes_max {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a row is too long"));
            }
        }
    }
}

/// The last cell of a record without the `\r` of its line end.
fn without_return(mut cell: Vec<u8>, state: State) -> Vec<u8> {
    if cell.last() == Some(&b'\r') && state == State::Plain {
        cell.pop();
    }
    cell
}

/// What was read.
enum Found {
    /// A record.
    Whole(Vec<Vec<u8>>),
    /// What is left at the end, if anything, and where in a record it ends.
    Rest(Option<Vec<Vec<u8>>>, State),
}

/// What a byte does.
enum Step {
    Skip,
    Take,
    EndCell,
    EndRecord,
}

fn step(state: State, byte: u8) -> (State, Step) {
    match (state, byte) {
        (State::Start, b'"') => (State::Quoted, Step::Skip),
        (State::Quoted, b'"') | (State::Quote, b'\r') => (State::Quote, Step::Skip),
        (State::Quoted, _) | (State::Quote, b'"') => (State::Quoted, Step::Take),
        (_, b',') => (State::Start, Step::EndCell),
        (State::Quote, b'\n') => (State::Quote, Step::EndRecord),
        (_, b'\n') => (State::Plain, Step::EndRecord),
        _ => (State::Plain, Step::Take),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::csv::push_row;
    use proptest::prelude::*;

    fn read(text: &[u8]) -> Vec<Vec<String>> {
        let mut reader = io::BufReader::with_capacity(3, text);
        let mut records = Vec::new();
        while let Some(cells) = Records::next(&mut reader, 1_000).unwrap() {
            let text = |cell| String::from_utf8(cell).unwrap();
            records.push(cells.into_iter().map(text).collect());
        }
        records
    }

    #[test]
    fn records_of_other_programs_are_read_too() {
        assert_eq!(read(b"a,b\r\n\"c\",\"\"\r\n,\n"), [["a", "b"], ["c", ""], ["", ""]]);
        assert_eq!(read(b"a,b\nc,d"), [["a", "b"]], "an incomplete record is ignored");
        assert_eq!(read(b"a,\"b\nc"), [[""; 0]; 0]);
        let many = vec![b','; 5_000];
        assert!(Records::next(&mut io::BufReader::new(&*many), 10_000).is_err());
        let long = vec![b'x'; 2_000];
        assert!(Records::next(&mut io::BufReader::with_capacity(3, &*long), 1_000).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(cells in prop::collection::vec("[a,\"\n\ré ]{0,5}", 1..5)) {
            let mut text = Vec::new();
            let row: Vec<&str> = cells.iter().map(String::as_str).collect();
            push_row(&mut text, &row);
            push_row(&mut text, &row);
            prop_assert_eq!(read(&text), [cells.clone(), cells]);
        }
    }
}
