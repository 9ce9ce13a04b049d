//! Runs a program for its output, for a limited time.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Longest output that is read.
const OUTPUT_MAX: u64 = 1024 * 1024;
/// Pause between looks at a program that has closed its output but has not ended.
const POLL: Duration = Duration::from_millis(10);

/// What a pipe gave: which one, and its bytes.
type Text = (usize, io::Result<Vec<u8>>);

/// Output of a program, which is stopped at the limit. Blocks.
pub(super) fn output(mut command: Command, limit: Duration) -> io::Result<Output> {
    let deadline = Instant::now() + limit;
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (sender, texts) = sync_channel(2);
    read_all(child.stdout.take(), 0, sender.clone());
    read_all(child.stderr.take(), 1, sender);
    match collect(&mut child, &texts, deadline) {
        Ok((status, [stdout, stderr])) => Ok(Output { status, stdout, stderr }),
        Err(error) => {
            // Both fail only where it has ended.
            _ = child.kill();
            _ = child.wait();
            if error.kind() == io::ErrorKind::TimedOut {
                let message = format!("it did not end within {} s", limit.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(error)
        }
    }
}

/// Reads a pipe on a thread of its own: what the program started may hold it open for longer than
/// anybody waits.
fn read_all(pipe: Option<impl Read + Send + 'static>, which: usize, sender: SyncSender<Text>) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |pipe| pipe.take(OUTPUT_MAX).read_to_end(&mut bytes));
        // After the limit the receiver is gone.
        _ = sender.send((which, read.map(|_| bytes)));
    });
}

fn collect(
    child: &mut Child,
    texts: &Receiver<Text>,
    deadline: Instant,
) -> io::Result<(ExitStatus, [Vec<u8>; 2])> {
    let left = || deadline.saturating_duration_since(Instant::now());
    let mut found = [Vec::new(), Vec::new()];
    for _ in 0..found.len() {
        let (which, text) =
            texts.recv_timeout(left()).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
        found[which] = text?;
    }
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, found));
        }
        if left().is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> io::Result<Output> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        output(command, limit)
    }

    #[test]
    fn output_and_status_are_returned() {
        let output = shell("echo out; echo err >&2; exit 3", Duration::from_mins(1)).unwrap();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_program_that_does_not_end_is_stopped() {
        let start = Instant::now();
        for script in ["exec sleep 600", "sleep 600 & echo {}", "exec >&- 2>&-; exec sleep 600"] {
            let error = shell(script, Duration::from_millis(50)).unwrap_err();
            assert_eq!(error.to_string(), "it did not end within 0 s", "{script}");
        }
        assert!(start.elapsed() < Duration::from_mins(1));
    }
}
