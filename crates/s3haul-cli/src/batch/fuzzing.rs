//! What must hold for any line of a file of commands.

use super::words::{join, split};

/// Words that are joined are split into the same, and no text is lost on the way.
///
/// # Panics
///
/// Where that does not hold.
pub fn words(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        let Ok(words) = split(line) else { continue };
        assert!(words.iter().map(String::len).sum::<usize>() <= line.len());
        let joined = join(words.iter().map(String::as_str));
        assert_eq!(split(&joined).as_ref(), Ok(&words), "{joined:?}");
    }
    let words: Vec<_> = text.split('\0').collect();
    let joined = join(words.iter().copied());
    let again = split(&joined).expect("what is joined can be split");
    assert!(again.iter().eq(words), "{joined:?}");
}
