//! Entries of a page that are written like the one before.
//!
//! A server writes all entries of a page in one way: only key, time, `ETag` and size differ. An
//! entry that was read the long way leaves its layout, the texts before, between and after these
//! four. While the next one has the same texts, only the four are read, by the same rules. What
//! differs in anything else is read the long way and leaves the next layout. So a layout need not
//! know what is right: that was decided when its texts were read for the first time.

use memchr::{memchr, memchr2};

use crate::xml::document::parse_exact_time;

/// Values of an entry that may differ.
const VALUES: usize = 4;
/// Length of `2006-01-02T15:04:05.000Z`.
const TIME_BYTES: usize = 24;
/// Length of `2006-01-02T`.
const DATE_BYTES: usize = 11;
/// Digits of which any number fits into 64 bits.
pub(crate) const DIGITS_MAX: usize = 19;

/// What differs from entry to entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Value {
    #[default]
    Key,
    Time,
    Size,
    /// As it stands, or within quotes that are written as references.
    Etag(bool),
}

/// A value and where its text lies in the page.
#[derive(Clone, Copy, Debug, Default)]
struct Field {
    value: Value,
    start: usize,
    end: usize,
}

/// Positions of the values of one fully parsed entry, from which a layout is derived.
#[derive(Debug, Default)]
pub(crate) struct RowTemplate {
    fields: [Field; VALUES],
    count: usize,
    /// Another entry written so may mean something else.
    pub(crate) is_odd: bool,
    /// It is a common prefix.
    pub(crate) is_prefix: bool,
}

impl RowTemplate {
    /// Of an entry, or of a common prefix.
    pub(crate) fn new(is_prefix: bool) -> Self {
        Self { is_prefix, ..Self::default() }
    }

    /// Records a field, whose text begins at `start` of the page; fields come in the order of the
    /// page.
    pub(crate) fn add(&mut self, name: &str, text: &[u8], start: usize) {
        match name {
            "Key" | "Prefix" => self.add_value(Value::Key, start, start + text.len()),
            "Size" => self.add_value(Value::Size, start, start + text.len()),
            // No time is not written as one.
            "LastModified" if text.is_empty() => {}
            "LastModified" => self.add_value(Value::Time, start, start + text.len()),
            _ => self.add_etag(text, start),
        }
    }

    /// An `ETag`, in quotes or without. One with anything else to resolve leaves no layout.
    fn add_etag(&mut self, text: &[u8], start: usize) {
        let end = start + text.len();
        for quote in [&b"&quot;"[..], b"&#34;"] {
            let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
            if inner.is_some_and(|inner| memchr(b'&', inner).is_none()) {
                return self.add_value(Value::Etag(true), start + quote.len(), end - quote.len());
            }
        }
        self.is_odd |= memchr(b'&', text).is_some();
        self.add_value(Value::Etag(false), start, end);
    }

    fn add_value(&mut self, value: Value, start: usize, end: usize) {
        match self.fields.get_mut(self.count) {
            Some(field) => {
                *field = Field { value, start, end };
                self.count += 1;
            }
            None => self.is_odd = true,
        }
    }
}

/// A value, and the text before it.
#[derive(Clone, Copy, Debug, Default)]
struct Part<'a> {
    before: &'a [u8],
    value: Value,
}

/// How an entry is written.
#[derive(Debug, Default)]
pub(crate) struct Layout<'a> {
    parts: [Part<'a>; VALUES],
    count: usize,
    after: &'a [u8],
    storage_class: u32,
    is_prefix: bool,
    /// Lengths of the last key and `ETag`: the next ones' are often the same.
    key_bytes: usize,
    etag_bytes: usize,
    /// The last date and its beginning in seconds since 1970.
    date: Option<([u8; DATE_BYTES], i64)>,
}

/// What was read of an entry.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    pub(crate) key: &'a [u8],
    /// The key is what it looks like, in any encoding.
    pub(crate) is_plain: bool,
    pub(crate) etag: &'a [u8],
    /// The `ETag` is to be put in quotes.
    pub(crate) is_quoted: bool,
    pub(crate) size: u64,
    /// Seconds since 1970, and microseconds.
    pub(crate) last_modified: (i64, u32),
    pub(crate) storage_class: u32,
    /// The key is a common prefix.
    pub(crate) is_prefix: bool,
}

impl<'a> Layout<'a> {
    /// The layout of an entry that stands between these places of a page; none where something in
    /// it may be another way the next time.
    pub(crate) fn of(
        page: &'a [u8],
        start: usize,
        end: usize,
        template: &RowTemplate,
        storage_class: u32,
    ) -> Option<Self> {
        if template.is_odd {
            return None;
        }
        let (mut parts, mut from) = ([Part::default(); VALUES], start);
        for (part, field) in parts.iter_mut().zip(&template.fields[..template.count]) {
            *part = Part { before: page.get(from..field.start)?, value: field.value };
            from = field.end;
        }
        let after = page.get(from..end)?;
        let (count, is_prefix) = (template.count, template.is_prefix);
        Some(Self { parts, count, after, storage_class, is_prefix, ..Self::default() })
    }

    /// Reads the entry at the beginning of a text, if it is written so; also gives what follows.
    #[inline]
    pub(crate) fn read(&mut self, mut rest: &'a [u8]) -> Option<(Found<'a>, &'a [u8])> {
        let (storage_class, is_prefix) = (self.storage_class, self.is_prefix);
        let mut found = Found { storage_class, is_prefix, ..Found::default() };
        for at in 0..self.count {
            let Part { before, value } = self.parts[at];
            rest = after(rest, before)?;
            rest = match value {
                Value::Key => self.key(rest, &mut found)?,
                Value::Time => self.time(rest, &mut found)?,
                Value::Size => size(rest, &mut found),
                Value::Etag(is_quoted) => {
                    found.is_quoted = is_quoted;
                    self.etag(rest, &mut found)?
                }
            };
        }
        Some((found, after(rest, self.after)?))
    }

    #[inline]
    fn key(&mut self, rest: &'a [u8], found: &mut Found<'a>) -> Option<&'a [u8]> {
        if let Some((key, rest)) = rest.split_at_checked(self.key_bytes)
            && rest.first() == Some(&b'<')
            && is_plain(key)
        {
            (found.key, found.is_plain) = (key, true);
            return Some(rest);
        }
        let (key, rest) = rest.split_at(memchr(b'<', rest)?);
        self.key_bytes = key.len();
        (found.key, found.is_plain) = (key, is_plain(key));
        Some(rest)
    }

    #[inline]
    fn time(&mut self, rest: &'a [u8], found: &mut Found<'a>) -> Option<&'a [u8]> {
        if let Some((text, rest)) = rest.split_first_chunk::<TIME_BYTES>()
            && let Some((clock_s, clock_us)) = text.last_chunk().and_then(time_of_day)
        {
            let date = text.first_chunk::<DATE_BYTES>()?;
            let start_s = match &self.date {
                Some((known, start_s)) if known == date => *start_s,
                _ => {
                    let (time_s, _) = parse_exact_time(text)?;
                    self.date.insert((*date, time_s - clock_s)).1
                }
            };
            found.last_modified = (start_s + clock_s, clock_us);
            return Some(rest);
        }
        let (text, rest) = rest.split_at(memchr(b'<', rest)?);
        found.last_modified = parse_exact_time(text)?;
        Some(rest)
    }

    #[inline]
    fn etag(&mut self, rest: &'a [u8], found: &mut Found<'a>) -> Option<&'a [u8]> {
        if let Some((text, rest)) = rest.split_at_checked(self.etag_bytes)
            && matches!(rest.first(), Some(b'&' | b'<'))
            && has_none(text, |word| (find(word, b'&') | find(word, b'<')) & HIGH)
        {
            found.etag = text;
            return Some(rest);
        }
        let (text, rest) = rest.split_at(memchr2(b'&', b'<', rest)?);
        self.etag_bytes = text.len();
        found.etag = text;
        Some(rest)
    }
}

/// What follows a text at the beginning of another. That of the standard library is a call more
/// for each of five texts an entry.
#[inline]
fn after<'a>(rest: &'a [u8], text: &[u8]) -> Option<&'a [u8]> {
    let (first, rest) = rest.split_at_checked(text.len())?;
    (first == text).then_some(rest)
}

#[inline]
fn size<'a>(rest: &'a [u8], found: &mut Found<'a>) -> &'a [u8] {
    let (size, rest) = leading_digits(rest);
    found.size = size;
    rest
}

/// The number at the beginning of a text, of as many digits as surely fit, and what follows them.
#[inline]
pub(crate) fn leading_digits(text: &[u8]) -> (u64, &[u8]) {
    let (mut number, mut length) = (0, 0);
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
        && length < DIGITS_MAX
    {
        number = number * 10 + u64::from(digit);
        length += 1;
    }
    (number, &text[length..])
}

/// Seconds since its day began, and microseconds, of a clock as S3 writes it, `15:04:05.000Z`; none
/// if it is not written so. Eight bytes are looked at together.
#[inline]
fn time_of_day(clock: &[u8; TIME_BYTES - DATE_BYTES]) -> Option<(i64, u32)> {
    let (time, fraction) = clock.split_first_chunk::<8>()?;
    let (point, fraction) = fraction.split_first()?;
    let fraction = u32::from_le_bytes(*fraction.first_chunk()?);
    // What is a digit becomes its value, what is as it should be becomes 0.
    let time = u64::from_le_bytes(*time) ^ u64::from_le_bytes(*b"00:00:00");
    let fraction = fraction ^ u32::from_le_bytes(*b"000Z");
    let digit = |place: u32| (fraction >> (8 * place)) & 0xff;
    let milliseconds = digit(0) * 100 + digit(1) * 10 + digit(2);
    let fraction = u64::from(fraction);
    // A digit of more than 9 reaches the highest bit of its byte, and so does all else but 0.
    let time_excess = u64::from_le_bytes([0x76, 0x76, 0x7f, 0x76, 0x76, 0x7f, 0x76, 0x76]);
    let fraction_excess = u64::from_le_bytes([0x76, 0x76, 0x76, 0x7f, 0, 0, 0, 0]);
    let excess = (time | time.wrapping_add(time_excess))
        | (fraction | fraction.wrapping_add(fraction_excess));
    // The first byte of each pair becomes the number; none is greater than 99.
    let [hour, _, _, minute, _, _, second, _] =
        time.wrapping_mul(10).wrapping_add(time >> 8).to_le_bytes();
    let is_valid = excess & HIGH == 0 && *point == b'.' && hour < 24 && minute < 60 && second <= 60;
    let second_of_day = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    is_valid.then_some((second_of_day, milliseconds * 1000))
}

/// The lowest bit of each byte of a word.
const ONES: u64 = u64::MAX / 255;
/// The highest bit of each byte of a word.
const HIGH: u64 = ONES << 7;

/// Whether a key is what it looks like in any encoding: ASCII, and nothing that stands for
/// something else or ends it.
#[inline]
pub(crate) fn is_plain(text: &[u8]) -> bool {
    has_none(text, |word| {
        (find(word, b'<') | find(word, b'&') | find(word, b'%') | find(word, b'+') | word) & HIGH
    })
}

/// Whether no byte of a text is such a one, eight of them at a time.
#[inline]
fn has_none(text: &[u8], find: impl Fn(u64) -> u64) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let any = words.iter().fold(0, |any, word| any | find(u64::from_le_bytes(*word)));
    if let Some(last) = text.last_chunk::<8>() {
        // The last bytes once more, with those before them.
        return any | find(u64::from_le_bytes(*last)) == 0;
    }
    let mut word = [b' '; 8];
    word[..rest.len()].copy_from_slice(rest);
    find(u64::from_le_bytes(word)) == 0
}

/// Has the highest bit of a byte set where a word has this one, and of others perhaps after it:
/// subtracting 1 from each borrows from the highest bit where the byte was 0.
#[inline]
fn find(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference
}

#[cfg(test)]
mod tests;
