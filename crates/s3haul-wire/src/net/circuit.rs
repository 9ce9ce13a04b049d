//! Whether a host answers at all: once it has been silent for long, and to requests for several
//! objects, others are not made to wait for it as well.
//!
//! A host that hangs takes connections and says nothing, so that each request costs its time limit
//! as often as it is tried. After [`SUBJECTS_MIN`] objects in a row timed out, over twice the time
//! limit since the first of them did, the circuit is open: a request that fails is not tried again,
//! and one that has not been sent yet fails at once, but for one in [`PROBE_EVERY`] that finds out
//! whether the host is back. Any answer, good or bad, from any address closes it. One object that
//! is slow, or all parts of it, never opens it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Objects that have to time out in a row.
pub(crate) const SUBJECTS_MIN: usize = 3;
/// Time limits that have to pass from the first timeout on.
const PATIENCE: u32 = 2;
/// Pause between requests that find out whether the host is back.
pub(crate) const PROBE_EVERY: Duration = Duration::from_secs(5);

/// What is known since the last answer. Pure.
#[derive(Debug, Default)]
struct State {
    /// Different objects whose requests timed out, as hashes.
    subjects: [Option<u64>; SUBJECTS_MIN],
    first_stall: Option<Instant>,
    /// When the next request may go through; there where the circuit is open.
    next_probe: Option<Instant>,
}

impl State {
    fn stalled(&mut self, subject: u64, limit: Duration, now: Instant) {
        if !self.subjects.contains(&Some(subject))
            && let Some(free) = self.subjects.iter_mut().find(|place| place.is_none())
        {
            *free = Some(subject);
        }
        let first = *self.first_stall.get_or_insert(now);
        let is_long = now.duration_since(first) >= limit * PATIENCE;
        if is_long && !self.subjects.contains(&None) {
            self.next_probe.get_or_insert(now + PROBE_EVERY);
        }
    }

    /// Whether a request may be sent.
    fn admits(&mut self, now: Instant) -> bool {
        match &mut self.next_probe {
            Some(due) if now < *due => false,
            Some(due) => {
                *due = now + PROBE_EVERY;
                true
            }
            None => true,
        }
    }
}

/// The circuit of one host.
#[derive(Debug, Default)]
pub(crate) struct Circuit {
    state: Mutex<State>,
    /// Whether there is anything to forget: answers are many.
    is_troubled: AtomicBool,
}

impl Circuit {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host answered.
    pub(crate) fn note_answer(&self) {
        if self.is_troubled.load(Ordering::Relaxed) {
            *self.state() = State::default();
            self.is_troubled.store(false, Ordering::Relaxed);
        }
    }

    /// A request for a subject (its hash) got no answer within a limit.
    pub(crate) fn note_stall(&self, subject: u64, limit: Duration) {
        self.state().stalled(subject, limit, Instant::now());
        self.is_troubled.store(true, Ordering::Relaxed);
    }

    /// Whether a request may be sent; one that is refused fails.
    pub(crate) fn admits(&self) -> bool {
        !self.is_troubled.load(Ordering::Relaxed) || self.state().admits(Instant::now())
    }

    /// Whether requests had better not be tried again.
    pub(crate) fn is_open(&self) -> bool {
        self.is_troubled.load(Ordering::Relaxed) && self.state().next_probe.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn is_open_after(subjects: &[u64], every: Duration) -> bool {
        let (mut state, start) = (State::default(), Instant::now());
        for (at, subject) in (0..).zip(subjects) {
            state.stalled(*subject, LIMIT, start + every * at);
        }
        state.next_probe.is_some()
    }

    #[test]
    fn several_objects_over_some_time_open_it() {
        assert!(is_open_after(&[1, 2, 3, 1, 2, 3, 1, 2, 3], LIMIT / 4));
        assert!(is_open_after(&[1, 2, 3], LIMIT));
        // Not yet: all at once; too few; one object with all its parts and attempts.
        assert!(!is_open_after(&(0..100).collect::<Vec<_>>(), Duration::ZERO));
        assert!(!is_open_after(&[1, 2, 1, 2, 1, 2, 1], LIMIT));
        assert!(!is_open_after(&[1; 50], LIMIT));
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_at_a_time_probes_and_an_answer_closes_it() {
        let circuit = Circuit::default();
        for subject in 0..3 {
            assert!(circuit.admits() && !circuit.is_open());
            circuit.note_stall(subject, LIMIT);
            tokio::time::advance(LIMIT).await;
        }
        assert!(circuit.is_open());
        for _ in 0..3 {
            assert!(circuit.admits(), "a probe");
            assert!(!circuit.admits() && !circuit.admits());
            tokio::time::advance(PROBE_EVERY).await;
        }
        circuit.note_answer();
        assert!(circuit.admits() && circuit.admits() && !circuit.is_open());
        circuit.note_stall(9, LIMIT);
        assert!(!circuit.is_open(), "it starts anew");
    }
}
