//! Changed copies of inputs.

use fastrand::Rng;

use crate::corpus::Corpus;

/// Bytes that a changed copy may have more than the longest input.
const ROOM: usize = 8 * 1024;
/// Most changes of one copy.
const CHANGES_MAX: usize = 6;
/// Bytes that often mean something.
const BYTES: &[u8] = b"\0\x01\x7f\x80\xff\n\r\t \"'<>&%/\\=:;,.-+*?[]{}()#0aZ";
/// Numbers at which something ends.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "99999999999999999999999999999999999999999",
];

/// Makes changed copies of a corpus.
pub(crate) struct Changer<'a> {
    corpus: &'a Corpus,
    random: Rng,
    /// Longest changed copy in bytes.
    bytes_max: usize,
}

impl<'a> Changer<'a> {
    pub(crate) fn new(corpus: &'a Corpus, random: Rng) -> Self {
        let longest = corpus.inputs.iter().map(|(_, input)| input.len()).max();
        Self { corpus, random, bytes_max: longest.unwrap_or_default() + ROOM }
    }

    /// A number below `most`; 0 where there is none.
    fn below(&mut self, most: usize) -> usize {
        self.random.usize(..most.max(1))
    }

    fn input(&mut self) -> &'a [u8] {
        self.random.choice(&self.corpus.inputs).map_or(&[], |(_, input)| input)
    }

    /// The next copy.
    pub(crate) fn changed(&mut self) -> Vec<u8> {
        let mut copy = self.input().to_vec();
        for _ in 0..=self.below(CHANGES_MAX) {
            self.change(&mut copy);
            copy.truncate(self.bytes_max);
        }
        copy
    }

    fn change(&mut self, copy: &mut Vec<u8>) {
        match self.below(10) {
            0 => {
                let (at, bit) = (self.below(copy.len()), self.below(8));
                if let Some(byte) = copy.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            1 => {
                let at = self.below(copy.len());
                let value = self.random.choice(BYTES).copied().unwrap_or_default();
                if let Some(byte) = copy.get_mut(at) {
                    *byte = value;
                }
            }
            2 => {
                let piece = self.piece(copy.len());
                copy.drain(piece);
            }
            3 => self.repeat(copy),
            4 => self.splice(copy),
            5 => self.number(copy),
            6 => {
                let length = self.below(5);
                let bytes: Vec<u8> = (0..length).map(|_| self.random.u8(..)).collect();
                self.insert(copy, &bytes);
            }
            _ => {
                let word = self.random.choice(&self.corpus.words).cloned().unwrap_or_default();
                let piece = self.piece(copy.len());
                if self.below(3) == 0 {
                    copy.drain(piece);
                }
                self.insert(copy, &word);
            }
        }
    }

    /// Some bytes, mostly few.
    fn piece(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let most = if self.below(4) == 0 { length - start } else { 8.min(length - start) };
        start..start + self.below(most + 1)
    }

    fn insert(&mut self, copy: &mut Vec<u8>, bytes: &[u8]) {
        let at = self.below(copy.len() + 1);
        copy.splice(at..at, bytes.iter().copied());
    }

    fn repeat(&mut self, copy: &mut Vec<u8>) {
        let piece = self.piece(copy.len());
        let most = if self.below(8) == 0 { 200 } else { 4 };
        let times = 1 + self.below(most);
        let repeated = copy[piece].repeat(times);
        let room = self.bytes_max.saturating_sub(copy.len()).min(repeated.len());
        self.insert(copy, &repeated[..room]);
    }

    /// Goes on with the end of another input.
    fn splice(&mut self, copy: &mut Vec<u8>) {
        let other = self.input();
        let (at, from) = (self.below(copy.len() + 1), self.below(other.len() + 1));
        copy.truncate(at);
        copy.extend_from_slice(&other[from..]);
    }

    /// Puts a number in the place of another.
    fn number(&mut self, copy: &mut Vec<u8>) {
        let from = self.below(copy.len() + 1);
        let digit = |byte: &u8| byte.is_ascii_digit();
        let Some(offset) = copy[from..].iter().position(digit) else { return };
        let start = from + offset;
        let length = copy[start..].iter().take_while(|byte| digit(byte)).count();
        let number = self.random.choice(&NUMBERS).copied().unwrap_or_default();
        copy.splice(start..start + length, number.bytes());
    }

    /// A long input: the start of one, then a piece or a word again and again, then the rest.
    pub(crate) fn long(&mut self, bytes: usize) -> Vec<u8> {
        let input = self.input();
        let at = self.below(input.len() + 1);
        let piece = match self.below(3) {
            0 => self.random.choice(&self.corpus.words).cloned().unwrap_or_default(),
            1 => input.to_vec(),
            _ => {
                let piece = self.piece(input.len());
                input[piece].to_vec()
            }
        };
        let piece = if piece.is_empty() { vec![self.random.u8(..)] } else { piece };
        let mut long = input[..at].to_vec();
        while long.len() < bytes {
            long.extend_from_slice(&piece);
        }
        long.extend_from_slice(&input[at..]);
        long
    }
}
