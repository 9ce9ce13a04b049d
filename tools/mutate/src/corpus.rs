//! What a target begins with: its inputs, and the words that mean something to it.

use std::fs;
use std::io;
use std::path::Path;

use crate::folder;

/// Inputs and words of a target.
#[derive(Debug)]
pub(crate) struct Corpus {
    /// Names and bytes, by their names.
    pub(crate) inputs: Vec<(String, Vec<u8>)>,
    /// Words of its dictionary.
    pub(crate) words: Vec<Vec<u8>>,
}

impl Corpus {
    /// Reads `fuzz/corpus/NAME` and `fuzz/dictionaries/NAME.dict`.
    pub(crate) fn read(name: &str) -> io::Result<Self> {
        let mut inputs = Vec::new();
        for entry in fs::read_dir(folder().join("corpus").join(name))? {
            let path = entry?.path();
            let origin = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            inputs.push((origin, fs::read(path)?));
        }
        if inputs.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        // The order of a folder is not the same everywhere.
        inputs.sort();
        let words = words(&folder().join("dictionaries").join(format!("{name}.dict")))?;
        Ok(Self { inputs, words })
    }
}

/// The words of a dictionary as `libFuzzer` has it: one in quotes a line.
fn words(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let text = fs::read_to_string(path)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.map(|line| word(line).ok_or_else(|| broken(line))).collect()
}

fn broken(line: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{line}` is no word of a dictionary"))
}

/// Reads `"…"` with `\\`, `\"` and `\xAB`.
pub(crate) fn word(line: &str) -> Option<Vec<u8>> {
    let mut rest = line.strip_prefix('"')?.strip_suffix('"')?.bytes();
    let mut word = Vec::new();
    while let Some(byte) = rest.next() {
        word.push(match byte {
            b'\\' => match rest.next()? {
                b'x' => {
                    let mut digit = || char::from(rest.next()?).to_digit(16);
                    u8::try_from(digit()? * 16 + digit()?).ok()?
                }
                quoted @ (b'\\' | b'"') => quoted,
                _ => return None,
            },
            b'"' => return None,
            other => other,
        });
    }
    Some(word)
}
