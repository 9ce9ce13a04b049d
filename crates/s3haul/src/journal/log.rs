//! Changes since the last snapshot, as they are written to a file.
//!
//! The file is not synced: what a process wrote is there when the process is killed, and lost with
//! the power. So the log names the boot that it was written in and counts in no other; then the
//! snapshot alone counts, before which everything was synced.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use tokio::time::Instant;

use super::state::{Change, Conclusion, Mark, PartDone, PartsInProgress, PartsSource, Position};

/// Identity of the running system; empty where it is not known.
pub(crate) fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

const BEGUN: u8 = 1;
const LOOKED: u8 = 2;
const DONE: u8 = 3;
const REMOVED: u8 = 4;
const SKIPPED: u8 = 5;
const SAME: u8 = 6;
const FAILED: u8 = 7;
const PARTS_BEGUN: u8 = 8;
const PART_DONE: u8 = 9;
const PARTS_ENDED: u8 = 10;

/// Most bytes of a text or list in a log that is whole.
const LENGTH_MAX: usize = 64 << 20;

/// So long after a write the next changes may wait for one system call together ...
const WAIT: Duration = Duration::from_millis(10);
/// ... up to so many bytes ...
const WAITING_MAX: usize = 4 << 10;
/// ... of objects with so many bytes, which a killed job copies again.
const MOVED_WAITING_MAX: u64 = 8 << 20;

/// Writes changes to a file. Most are written at once. That an object was dealt with waits for
/// others, since nothing but work is lost with it; whatever is written takes along what waits.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    /// What waits.
    buffer: Vec<u8>,
    /// Bytes that were moved of objects that wait.
    moved: u64,
    /// When changes were written last.
    written: Option<Instant>,
}

impl Log {
    /// A log in a new file.
    pub(crate) fn begin(mut file: File, boot_id: &str) -> io::Result<Self> {
        let mut buffer = Vec::new();
        push_text(&mut buffer, boot_id);
        file.write_all(&buffer)?;
        buffer.clear();
        Ok(Self { file, buffer, moved: 0, written: None })
    }

    /// Buffers a change. Returns true if the buffer has to be flushed now.
    #[must_use]
    pub(crate) fn push(&mut self, change: &Change, may_wait: bool, now: Instant) -> bool {
        push_change(&mut self.buffer, change);
        let can_wait = match change {
            Change::Concluded(_, Conclusion::Done(bytes)) => {
                self.moved = self.moved.saturating_add(*bytes);
                self.moved < MOVED_WAITING_MAX
            }
            Change::Concluded(..) => true,
            _ => false,
        };
        let is_soon = self.written.is_some_and(|written| now.duration_since(written) < WAIT);
        if may_wait && can_wait && is_soon && self.buffer.len() < WAITING_MAX {
            return false;
        }
        self.written = Some(now);
        true
    }

    /// Writes what waits.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.moved = 0;
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

fn push_change(buffer: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Begun(marks) => {
            buffer.push(BEGUN);
            push_length(buffer, marks.len());
            for mark in marks {
                push_mark(buffer, *mark);
            }
        }
        Change::Looked(Position { name, source_seen, target_seen }) => {
            buffer.push(LOOKED);
            push_text(buffer, name);
            buffer.extend(source_seen.to_le_bytes());
            buffer.extend(target_seen.to_le_bytes());
        }
        Change::Concluded(mark, conclusion) => {
            buffer.push(match conclusion {
                Conclusion::Done(_) => DONE,
                Conclusion::Removed => REMOVED,
                Conclusion::Skipped => SKIPPED,
                Conclusion::Same => SAME,
            });
            push_mark(buffer, *mark);
            if let Conclusion::Done(bytes) = conclusion {
                buffer.extend(bytes.to_le_bytes());
            }
        }
        Change::Failed(mark) => {
            buffer.push(FAILED);
            push_mark(buffer, *mark);
        }
        Change::PartsBegun(parts) => {
            buffer.push(PARTS_BEGUN);
            let PartsInProgress { target, source, handle, done } = parts;
            for text in [target, &source.state, handle] {
                push_text(buffer, text);
            }
            buffer.extend(source.size.to_le_bytes());
            buffer.extend(source.part_size.to_le_bytes());
            push_length(buffer, done.len());
            for part in done {
                push_part(buffer, part);
            }
        }
        Change::PartDone { target, part } => {
            buffer.push(PART_DONE);
            push_text(buffer, target);
            push_part(buffer, part);
        }
        Change::PartsEnded { target } => {
            buffer.push(PARTS_ENDED);
            push_text(buffer, target);
        }
    }
}

fn push_length(buffer: &mut Vec<u8>, length: usize) {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    buffer.extend(length.to_le_bytes());
}

fn push_text(buffer: &mut Vec<u8>, text: &str) {
    push_length(buffer, text.len());
    buffer.extend(text.as_bytes());
}

fn push_mark(buffer: &mut Vec<u8>, mark: Mark) {
    buffer.extend(mark.0.to_le_bytes());
}

fn push_part(buffer: &mut Vec<u8>, part: &PartDone) {
    buffer.extend(part.number.to_le_bytes());
    push_text(buffer, &part.checksum);
}

/// The changes of a log that was written since this boot; none of another. The last one may be cut
/// off, and is left out then.
pub(crate) fn read<'a>(bytes: &'a [u8], boot_id: &str) -> impl Iterator<Item = Change> + use<'a> {
    let mut reader = Reader(bytes);
    let is_of_boot = !boot_id.is_empty() && reader.text().as_deref() == Some(boot_id);
    if !is_of_boot {
        reader.0 = &[];
    }
    std::iter::from_fn(move || reader.change())
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn change(&mut self) -> Option<Change> {
        Some(match self.array::<1>()?[0] {
            BEGUN => {
                let length = self.length()?;
                Change::Begun((0..length).map(|_| self.mark()).collect::<Option<_>>()?)
            }
            LOOKED => {
                let (name, source_seen) = (self.text()?, self.number()?);
                Change::Looked(Position { name, source_seen, target_seen: self.number()? })
            }
            DONE => {
                let mark = self.mark()?;
                Change::Concluded(mark, Conclusion::Done(self.number()?))
            }
            REMOVED => Change::Concluded(self.mark()?, Conclusion::Removed),
            SKIPPED => Change::Concluded(self.mark()?, Conclusion::Skipped),
            SAME => Change::Concluded(self.mark()?, Conclusion::Same),
            FAILED => Change::Failed(self.mark()?),
            PARTS_BEGUN => {
                let (target, state, handle) = (self.text()?, self.text()?, self.text()?);
                let (size, part_size, length) = (self.number()?, self.number()?, self.length()?);
                let source = PartsSource { state, size, part_size };
                let done = (0..length).map(|_| self.part()).collect::<Option<_>>()?;
                let parts = PartsInProgress { target, source, handle, done };
                Change::PartsBegun(parts)
            }
            PART_DONE => Change::PartDone { target: self.text()?, part: self.part()? },
            PARTS_ENDED => Change::PartsEnded { target: self.text()? },
            _ => return None,
        })
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn length(&mut self) -> Option<usize> {
        let length = usize::try_from(u32::from_le_bytes(self.array()?)).ok()?;
        (length <= LENGTH_MAX.min(self.0.len())).then_some(length)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn mark(&mut self) -> Option<Mark> {
        self.array().map(|bytes| Mark(u128::from_le_bytes(bytes)))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.length()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn part(&mut self) -> Option<PartDone> {
        let number = u32::from_le_bytes(self.array()?);
        Some(PartDone { number, checksum: self.text()? })
    }
}

/// The bytes of a log in which nothing waits.
#[cfg(test)]
pub(super) fn encoded(changes: &[Change], boot_id: &str) -> Vec<u8> {
    let mut buffer = Vec::new();
    push_text(&mut buffer, boot_id);
    for change in changes {
        push_change(&mut buffer, change);
    }
    buffer
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOOT: &str = "a boot";

    /// Objects dealt with, and now and then a part.
    fn change(number: u64) -> Change {
        let mark = Mark(u128::from(number));
        match number % 20 {
            0 => Change::PartsEnded { target: number.to_string() },
            1 => Change::Failed(mark),
            2 => Change::Concluded(mark, Conclusion::Removed),
            3 => Change::Concluded(mark, Conclusion::Same),
            4 => Change::Concluded(mark, Conclusion::Skipped),
            5 => Change::Concluded(mark, Conclusion::Done(MOVED_WAITING_MAX / 2 + number)),
            _ => Change::Concluded(mark, Conclusion::Done(number)),
        }
    }

    proptest! {
        #[test]
        fn little_waits_and_nothing_but_what_was_dealt_with(
            numbers in proptest::collection::vec(0_u64..1_000, 0..800),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let written = || read(&std::fs::read(&path).unwrap(), BOOT).collect::<Vec<_>>();
            let mut log = Log::begin(File::create(&path).unwrap(), BOOT).unwrap();
            let mut now = Instant::now();
            let changes: Vec<_> = numbers.into_iter().map(change).collect();
            for (index, change) in changes.iter().enumerate() {
                now += Duration::from_millis(if index.is_multiple_of(300) { 10 } else { 0 });
                if log.push(change, true, now) {
                    log.flush().unwrap();
                }
                let written = written();
                prop_assert_eq!(&changes[..written.len()], &written[..]);
                prop_assert!(index % 300 != 0 || written.len() == index + 1);
                let waiting = &changes[written.len()..=index];
                prop_assert!(waiting.len() < WAITING_MAX / 17);
                let moved = waiting.iter().map(|change| match change {
                    Change::Concluded(_, Conclusion::Done(bytes)) => Some(*bytes),
                    Change::Concluded(..) => Some(0),
                    _ => None,
                });
                let moved = moved.sum::<Option<u64>>();
                prop_assert!(moved.is_some_and(|moved| moved < MOVED_WAITING_MAX), "{:?}", waiting);
            }
            log.flush().unwrap();
            prop_assert_eq!(written(), changes);
        }
    }

    #[test]
    fn small_objects_are_written_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::begin(File::create(&path).unwrap(), BOOT).unwrap();
        let (mut writes, now) = (0, Instant::now());
        for number in 0..1_000 {
            let change = Change::Concluded(Mark(number), Conclusion::Done(1));
            if log.push(&change, true, now) {
                log.flush().unwrap();
                writes += 1;
            }
        }
        assert!(writes > 0 && writes < 10, "{writes}");
    }
}
