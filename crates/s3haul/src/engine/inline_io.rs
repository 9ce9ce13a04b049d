//! Whether small files are read and written fast enough to do it on the threads of the runtime.
//!
//! To hand a file to a thread that may block costs two changes of threads, which is more than to
//! read or write it in the page cache. So a task does it itself between two requests, as long as
//! that is quick.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

/// Longest file that may be read or written between two requests.
pub(crate) const INLINE_SIZE_MAX: u64 = 128 * 1024;
/// Within this time a file of up to that size is read and digested, or written, in memory.
const QUICK: Duration = Duration::from_micros(250);
/// A file that takes longer waits for a disk that does not answer, and so may the next one.
pub(crate) const HUNG: Duration = Duration::from_millis(50);

/// Whether small files are in memory. A busy machine lets a file now and then take long that does
/// not wait for a disk, so one slow file weighs as much as some quick ones.
#[derive(Debug)]
pub(crate) struct InlineGate {
    debt: AtomicU32,
    /// Files that are done between two requests right now, and at most.
    under_way: AtomicUsize,
    at_once_max: usize,
    /// Files that were done between two requests.
    ended: AtomicUsize,
    /// Closed with the last user, which ends the watchdog.
    _in_use: Option<mpsc::Sender<Infallible>>,
}

/// Keeps the runtime going while a file between two requests hangs.
///
/// A thread of the runtime that blocks may be the one that waited for sockets and timers; the
/// others sleep until something is scheduled, so that nothing would be received any more.
#[derive(Debug)]
pub(crate) struct Watchdog {
    gate: Weak<InlineGate>,
    in_use: mpsc::Receiver<Infallible>,
}

impl Watchdog {
    /// Watches until the last user of the gate is gone. Blocks.
    pub(crate) fn run(self, runtime: &Handle) {
        let mut ended_before = 0;
        while let Err(RecvTimeoutError::Timeout) = self.in_use.recv_timeout(HUNG) {
            let Some(gate) = self.gate.upgrade() else { return };
            let ended = gate.ended.load(Ordering::Relaxed);
            let is_hung = gate.under_way.load(Ordering::Relaxed) > 0 && ended == ended_before;
            ended_before = ended;
            if is_hung {
                // A task from outside wakes a thread, which then also looks after the sockets.
                runtime.spawn(std::future::ready(()));
            }
        }
    }
}

impl Default for InlineGate {
    /// Nothing is known: some quick files must come first.
    fn default() -> Self {
        let debt = AtomicU32::new(Self::QUICK_BELOW + Self::SLOW_FILE);
        Self {
            debt,
            under_way: AtomicUsize::new(0),
            at_once_max: usize::MAX,
            ended: AtomicUsize::new(0),
            _in_use: None,
        }
    }
}

/// Permit to read or write a file between two requests.
pub(crate) struct InlinePermit<'p>(&'p InlineGate);

impl Drop for InlinePermit<'_> {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

impl InlineGate {
    /// Quick files that make up for a slow one.
    const SLOW_FILE: u32 = 4;
    /// Less is quick: a slow file in a while, but not three in a row.
    const QUICK_BELOW: u32 = 12;

    /// Of so many threads that answer requests one is always left, whatever the disk does. Where
    /// there is one, a disk that hangs holds it once.
    pub(crate) fn among(threads: usize) -> (Arc<Self>, Watchdog) {
        let at_once_max = threads.saturating_sub(1).max(1);
        let (sender, in_use) = mpsc::channel();
        let gate = Arc::new(Self { at_once_max, _in_use: Some(sender), ..Self::default() });
        let watchdog = Watchdog { gate: Arc::downgrade(&gate), in_use };
        (gate, watchdog)
    }

    /// A permit to read or write a file between two requests; `None` if that may be slow.
    pub(crate) fn try_enter(&self) -> Option<InlinePermit<'_>> {
        if !self.is_quick() {
            return None;
        }
        let take = |under_way| (under_way < self.at_once_max).then_some(under_way + 1);
        let taken = self.under_way.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        taken.is_ok().then(|| InlinePermit(self))
    }

    /// Does the work for a file, and notes whether it was quick.
    pub(crate) fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.note(begun.elapsed());
        done
    }

    /// Notes a file. Where two are noted at once, one of them may be lost.
    pub(crate) fn note(&self, took: Duration) {
        let debt = self.debt.load(Ordering::Relaxed);
        let next = if took > HUNG {
            Self::QUICK_BELOW + 2 * Self::SLOW_FILE
        } else if took > QUICK {
            (debt + Self::SLOW_FILE).min(Self::QUICK_BELOW + 2 * Self::SLOW_FILE)
        } else {
            debt.saturating_sub(1)
        };
        if next != debt {
            self.debt.store(next, Ordering::Relaxed);
        }
    }

    /// Whether the next one is likely to be quick.
    pub(crate) fn is_quick(&self) -> bool {
        self.debt.load(Ordering::Relaxed) < Self::QUICK_BELOW
    }
}

/// Puts the current task behind the others that its thread has to run, where other threads can take
/// it. What a task wakes last waits in a slot of its thread that no other thread takes from: work
/// that blocks in the same poll would keep that task waiting for as long as the disk takes.
///
/// Unlike `tokio::task::yield_now` it does not wait for the next look at the sockets.
pub(crate) async fn requeue() {
    let mut is_queued = false;
    std::future::poll_fn(|context| {
        if is_queued {
            return Poll::Ready(());
        }
        is_queued = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_slow() {
        let gate = InlineGate::default();
        (0..=InlineGate::SLOW_FILE).for_each(|_| gate.timed(|| ()));
        (0..4).for_each(|_| gate.timed(|| std::thread::sleep(QUICK * 4)));
        assert!(!gate.is_quick());
    }

    #[test]
    fn one_that_hangs_is_enough() {
        let (gate, _watchdog) = InlineGate::among(3);
        assert!(gate.try_enter().is_none(), "nothing is known");
        (0..=InlineGate::SLOW_FILE).for_each(|_| gate.note(QUICK));
        let turns = [gate.try_enter(), gate.try_enter()];
        assert!(turns.iter().all(Option::is_some) && gate.try_enter().is_none());
        drop(turns);
        assert!(gate.try_enter().is_some());
        gate.note(HUNG + QUICK);
        assert!(gate.try_enter().is_none());
        (0..2 * InlineGate::QUICK_BELOW).for_each(|_| gate.note(QUICK));
        assert!(gate.try_enter().is_some());
    }

    /// Longest wait for what should happen at once.
    const FAILS_AFTER: Duration = Duration::from_secs(20);

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_requeued_task_that_blocks_holds_up_no_task_that_it_woke() {
        let (wake, woken) = tokio::sync::oneshot::channel();
        let (ran, has_run) = mpsc::channel();
        let other = tokio::spawn(async move {
            woken.await.unwrap();
            ran.send(()).unwrap();
        });
        let blocking = tokio::spawn(async move {
            tokio::time::sleep(QUICK).await;
            wake.send(()).unwrap();
            requeue().await;
            has_run.recv_timeout(FAILS_AFTER)
        });
        assert_eq!(blocking.await.unwrap(), Ok(()));
        other.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn timers_go_on_while_a_file_hangs() {
        let (gate, watchdog) = InlineGate::among(2);
        (0..=InlineGate::SLOW_FILE).for_each(|_| gate.note(QUICK));
        let runtime = Handle::current();
        let watching = tokio::task::spawn_blocking(move || watchdog.run(&runtime));
        let (ticked, has_ticked) = mpsc::channel();
        let ticking = tokio::spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(HUNG).await;
            }
            ticked.send(()).unwrap();
        });
        let hanging = tokio::spawn(async move {
            tokio::time::sleep(QUICK).await;
            let _turn = gate.try_enter().unwrap();
            has_ticked.recv_timeout(FAILS_AFTER)
        });
        assert_eq!(hanging.await.unwrap(), Ok(()));
        ticking.await.unwrap();
        watching.await.unwrap();
    }

    #[test]
    fn files_are_quick_until_several_in_a_row_are_not() {
        let slow = QUICK + Duration::from_micros(1);
        let gate = InlineGate::default();
        assert!(!gate.is_quick());
        (0..=InlineGate::SLOW_FILE).for_each(|_| gate.note(QUICK));
        assert!(gate.is_quick());
        for _ in 0..100 {
            (0..12).for_each(|_| gate.note(QUICK));
            gate.note(slow);
            assert!(gate.is_quick());
        }
        (0..2).for_each(|_| gate.note(slow));
        assert!(!gate.is_quick());
        (0..1000).for_each(|_| gate.note(slow));
        (0..3 * InlineGate::SLOW_FILE).for_each(|_| gate.note(QUICK));
        assert!(gate.is_quick());
    }
}
