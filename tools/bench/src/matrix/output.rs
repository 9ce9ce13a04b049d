//! Where the output of a measured run goes. Programs that read it cost the bench something and the
//! tool nothing: they are reaped after the tool's CPU time was taken.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::check::Printed;

/// After its end a tool's output is waited for so long.
const END_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(1);
/// What is kept of the end.
const END_BYTES: &str = "16384";

/// What is wanted of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wanted {
    Nothing,
    Lines,
    End,
}

/// A reader of the output.
pub(super) struct Reader {
    wanted: Wanted,
    child: Option<Child>,
}

impl Reader {
    /// Starts a reader; the tool's end of the pipe is the other value.
    pub(super) fn start(wanted: Wanted) -> Result<(Self, Stdio)> {
        let arguments = match wanted {
            Wanted::Nothing => return Ok((Self { wanted, child: None }, Stdio::null())),
            Wanted::Lines => vec!["wc", "-l"],
            Wanted::End => vec!["tail", "-c", END_BYTES],
        };
        let mut child = Command::new(arguments[0])
            .args(&arguments[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start `{}`", arguments[0]))?;
        let pipe = child.stdin.take().context("standard input is piped")?;
        Ok((Self { wanted, child: Some(child) }, Stdio::from(pipe)))
    }

    /// What was printed, once the pipe is closed. What a tool has left behind may hold
    /// it for ever: then nothing was read.
    pub(super) fn finish(self) -> Result<Printed> {
        self.finish_within(END_MAX)
    }

    fn finish_within(self, limit: Duration) -> Result<Printed> {
        let Some(mut child) = self.child else { return Ok(Printed::Unread) };
        let begin = Instant::now();
        while child.try_wait()?.is_none() {
            if begin.elapsed() > limit {
                child.kill()?;
                child.wait()?;
                return Ok(Printed::Unread);
            }
            std::thread::sleep(LOOK);
        }
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(match self.wanted {
            Wanted::Lines => Printed::Lines(text.trim().parse().context("`wc` counted nothing")?),
            _ => Printed::End(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(wanted: Wanted, script: &str) -> Printed {
        let (reader, pipe) = Reader::start(wanted).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(pipe);
        assert!(command.status().unwrap().success());
        drop(command);
        reader.finish().unwrap()
    }

    #[test]
    fn a_pipe_that_somebody_keeps_is_not_waited_for_for_ever() {
        let (reader, pipe) = Reader::start(Wanted::Lines).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo a; sleep 60 & echo $! >&2"]).stdout(pipe).stderr(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        drop(command);
        let mut pid = String::new();
        let mut told = std::io::BufReader::new(shell.stderr.take().unwrap());
        std::io::BufRead::read_line(&mut told, &mut pid).unwrap();
        shell.wait().unwrap();
        assert_eq!(reader.finish_within(Duration::from_millis(50)).unwrap(), Printed::Unread);
        Command::new("kill").arg(pid.trim()).status().unwrap();
    }

    #[test]
    fn lines_are_counted_and_the_end_is_kept() {
        assert_eq!(printed(Wanted::Lines, "printf 'a\\nb\\n'"), Printed::Lines(2));
        assert_eq!(printed(Wanted::End, "echo 7 keys"), Printed::End("7 keys\n".to_owned()));
        assert_eq!(printed(Wanted::Nothing, "echo x"), Printed::Unread);
    }
}
