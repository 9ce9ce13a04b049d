//! Ctrl-C, SIGTERM and SIGHUP (a closed terminal): the first one cancels, the second one ends the
//! process. Where SIGHUP is ignored, as under `nohup`, it stays so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::exit;

/// A signal came.
static HAS_COME: AtomicBool = AtomicBool::new(false);

/// Whether a signal came; what it cancels is cancelled then.
#[cfg(unix)]
pub(crate) fn has_come() -> bool {
    HAS_COME.load(Ordering::Acquire)
}

/// Cancellation by signals. Dropping it stops listening.
pub(crate) struct Interrupt {
    token: CancellationToken,
    /// What a signal or a program cancels.
    cause: CancellationToken,
    by_terminate: Arc<AtomicBool>,
    _listener: JoinSet<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Signal {
    Interrupt,
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has it"))]
    Terminate,
}

impl Interrupt {
    /// Listens from now on. Needs a runtime.
    pub(crate) fn listen() -> Self {
        let token = CancellationToken::new();
        let by_terminate = Arc::new(AtomicBool::new(false));
        let mut listener = JoinSet::new();
        // Where signals cannot be caught they end the process, as ever.
        if let Ok(signals) = Signals::new() {
            listener.spawn(run(signals, token.clone(), Arc::clone(&by_terminate)));
        }
        Self { cause: token.clone(), token, by_terminate, _listener: listener }
    }

    /// Cancellation by a program. Needs no runtime.
    pub(crate) fn by(token: CancellationToken) -> Self {
        let cause = token.clone();
        Self { token, cause, by_terminate: Arc::default(), _listener: JoinSet::new() }
    }

    /// The same for a part of the work, which may end sooner by a token of its own.
    pub(crate) fn of_part(&self, token: CancellationToken) -> Self {
        let by_terminate = Arc::clone(&self.by_terminate);
        Self { token, cause: self.cause.clone(), by_terminate, _listener: JoinSet::new() }
    }

    /// The token that is cancelled.
    pub(crate) fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// What is printed when a transfer was cancelled; nothing where its own token was, of which
    /// more is said elsewhere.
    pub(crate) fn message(&self) -> Option<&'static str> {
        self.cause.is_cancelled().then(|| {
            if self.by_terminate.load(Ordering::Relaxed) {
                "cancelled: terminated by a signal"
            } else {
                "cancelled: ctrl-c received"
            }
        })
    }
}

async fn run(mut signals: Signals, token: CancellationToken, by_terminate: Arc<AtomicBool>) {
    let first = signals.next().await;
    by_terminate.store(first == Signal::Terminate, Ordering::Relaxed);
    token.cancel();
    HAS_COME.store(true, Ordering::Release);
    signals.next().await;
    end_process();
}

#[expect(clippy::exit, reason = "the user asked a second time: nothing is to be waited for")]
fn end_process() {
    #[cfg(unix)]
    crate::terminal::restore();
    std::process::exit(i32::from(exit::INTERRUPTED));
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: Option<tokio::signal::unix::Signal>,
}

/// SIGXFSZ on Linux and macOS, which ends a process that writes beyond its limit of file sizes.
#[cfg(unix)]
const XFSZ: i32 = 25;

/// Whether `/proc/self/status` names SIGHUP, bit 0 of the mask, among the ignored signals.
#[cfg(unix)]
fn ignores_hangup(status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? & 1 == 1)
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        // Where that is not known, as outside Linux, SIGHUP keeps doing what it does.
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let is_heard = ignores_hangup(&status) == Some(false);
        // Once there is a handler, a file beyond `ulimit -f` fails by itself.
        _ = signal(SignalKind::from_raw(XFSZ))?;
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: if is_heard { Some(signal(SignalKind::hangup())?) } else { None },
        })
    }

    async fn next(&mut self) -> Signal {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = hangup => Signal::Terminate,
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> Signal {
        _ = tokio::signal::ctrl_c().await;
        Signal::Interrupt
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_work_hands_on_why_it_was_cancelled() {
        let whole = Interrupt::by(CancellationToken::new());
        let part = |of: &Interrupt| of.of_part(of.token().child_token());
        let lost = part(&whole);
        lost.token().cancel();
        assert_eq!(lost.message(), None, "no signal came");
        whole.by_terminate.store(true, Ordering::Relaxed);
        whole.token().cancel();
        let ended = part(&whole);
        assert!(ended.token().is_cancelled());
        assert_eq!(ended.message(), Some("cancelled: terminated by a signal"));
    }

    #[test]
    fn an_ignored_hangup_stays_ignored() {
        assert_eq!(ignores_hangup("SigBlk:\t0\nSigIgn:\t0000000000001001\n"), Some(true));
        assert_eq!(ignores_hangup("SigIgn:\t0000000000001000\n"), Some(false));
        assert_eq!(ignores_hangup("Name:\tx\n"), None);
    }
}
