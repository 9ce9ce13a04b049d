//! Buffers that are used again.
//!
//! Memory that goes back to the system after every file comes back as page faults at the next:
//! about a tenth of the CPU of a small upload. What is kept is bounded; what is handed out is
//! bounded by the memory budget.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// Bytes kept for later at most.
const KEPT_BYTES_MAX: usize = 32 << 20;
/// Smallest buffer.
const SIZE_MIN: usize = 16 << 10;
/// Classes of sizes in each power of two, so that little of a buffer is wasted.
const STEPS: usize = 4;
/// Classes of sizes: four for each power of two up to 16 MiB; larger buffers are not kept.
const CLASSES: usize = 10 * STEPS + 1;

/// Pool of unused buffers.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    classes: Vec<Vec<Vec<u8>>>,
    bytes: usize,
}

impl Buffers {
    /// An empty buffer with room for `size` bytes.
    pub(crate) fn take(&self, size: usize) -> Vec<u8> {
        let (class, capacity) = class_of(size);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.classes.get_mut(class).and_then(Vec::pop) {
            Some(buffer) => {
                kept.bytes -= buffer.capacity();
                buffer
            }
            None => Vec::with_capacity(capacity),
        }
    }

    /// Turns a buffer into `Bytes` that return it to the pool once the last reader drops them.
    pub(crate) fn freeze(self: &Arc<Self>, buffer: Vec<u8>) -> Bytes {
        Bytes::from_owner(Lent { buffer, home: Arc::clone(self) })
    }

    fn give_back(&self, mut buffer: Vec<u8>) {
        let capacity = buffer.capacity();
        let (class, size) = class_of(capacity);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // A buffer that is no full member of its class would be too small for the next user.
        if class >= CLASSES || size != capacity || kept.bytes + capacity > KEPT_BYTES_MAX {
            return;
        }
        buffer.clear();
        kept.bytes += capacity;
        if kept.classes.is_empty() {
            kept.classes.resize_with(CLASSES, Vec::new);
        }
        kept.classes[class].push(buffer);
    }
}

/// A buffer on its way through the engine.
struct Lent {
    buffer: Vec<u8>,
    home: Arc<Buffers>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.home.give_back(std::mem::take(&mut self.buffer));
    }
}

/// Class of a size, and the size of that class's buffers.
fn class_of(size: usize) -> (usize, usize) {
    let size = size.max(SIZE_MIN);
    let power = size.ilog2() as usize;
    let step = (1 << power) / STEPS;
    let steps_above = (size - (1 << power)).div_ceil(step);
    let class = (power - SIZE_MIN.ilog2() as usize) * STEPS + steps_above;
    (class, (1 << power) + steps_above * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_class_fits_its_sizes_and_wastes_little(size in 1_usize..(64 << 20)) {
            let (class, capacity) = class_of(size);
            prop_assert!(capacity >= size);
            prop_assert!(capacity == SIZE_MIN || capacity <= size + size / 4);
            prop_assert_eq!(class_of(capacity), (class, capacity));
            prop_assert!(class == 0 || class_of(capacity - 1).0 <= class);
        }
    }

    #[test]
    fn a_buffer_comes_back_when_the_last_reader_is_gone() {
        let buffers = Arc::new(Buffers::default());
        let mut buffer = buffers.take(40_000);
        buffer.extend_from_slice(b"content");
        let place = buffer.as_ptr();
        let bytes = buffers.freeze(buffer);
        let reader = bytes.slice(3..);
        drop(bytes);
        let other = buffers.take(40_000);
        assert_ne!(other.as_ptr(), place);
        assert_eq!(reader, "tent");
        drop(reader);
        let again = buffers.take(39_000);
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let buffers = Arc::new(Buffers::default());
        let lent: Vec<_> = (0..20).map(|_| buffers.freeze(buffers.take(4 << 20))).collect();
        drop(lent);
        assert!(buffers.kept.lock().unwrap().bytes <= KEPT_BYTES_MAX);
        drop(buffers.freeze(buffers.take(100 << 20)));
    }
}
