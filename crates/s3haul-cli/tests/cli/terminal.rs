//! Terminals of tmux: keys are typed, the screen is read.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests: they may fail them"
)]

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::support::{BINARY, Bench};

/// How long something may take to be on the screen.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);
pub(crate) const SIZES: [(u16, u16); 2] = [(40, 10), (200, 60)];

/// A terminal of its own, with a shell that runs a command.
pub(crate) struct Terminal {
    pub(crate) socket: PathBuf,
}

/// Whether tmux is there; a test without it says that it was skipped.
pub(crate) fn has_tmux() -> bool {
    let is_there = Command::new("tmux").arg("-V").output().is_ok();
    if !is_there {
        println!("skipped: there is no tmux");
    }
    is_there
}

impl Terminal {
    /// Runs a command, and then prints its exit code and how the terminal is set.
    pub(crate) fn start(bench: &Bench, words: &str, size: (u16, u16)) -> Self {
        let inner = format!("echo $$ > pid; exec {BINARY} {words}");
        let shown = "stty -a | tr ' ;' '\\n' | grep -x -e icanon -e echo";
        let script = format!("sh -c '{inner}'; echo \"status: $?\"; {shown}; read line");
        Self::run(bench, &script, size)
    }

    /// Runs a script.
    pub(crate) fn run(bench: &Bench, script: &str, (columns, rows): (u16, u16)) -> Self {
        // One that was just left may not have closed its socket yet.
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let terminal = Self { socket: bench.path(&format!("tmux-{number}")) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut start = bench.program("tmux");
        start.arg("-S").arg(&terminal.socket);
        start.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows]);
        start.args(["sh", "-c", script]).env("LC_ALL", "C.UTF-8").env("AWS_MAX_ATTEMPTS", "2");
        start.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let output = start.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        terminal
    }

    pub(crate) fn tmux(&self, words: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        let output = tmux.arg("-S").arg(&self.socket).args(words).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Presses keys, by the names that tmux has for them.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Types a text.
    pub(crate) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Waits until the screen is as it should be.
    pub(crate) fn until(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if is(&screen) {
                return screen;
            }
            assert!(start.elapsed() < DEADLINE, "`{what}` did not come:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for a text.
    pub(crate) fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Leaves by a key, and waits until the terminal is as before.
    pub(crate) fn leave(&self, key: &str) {
        self.press(&[key]);
        self.is_left("status: 0");
    }

    /// Waits for an exit code and a terminal that is as before.
    pub(crate) fn is_left(&self, status: &str) {
        self.until(status, |screen| {
            let has = |word: &str| screen.split_whitespace().any(|shown| shown == word);
            screen.contains(status) && has("icanon") && has("echo")
        });
        assert_eq!(self.tmux(&["display-message", "-p", "#{alternate_on}"]).trim(), "0");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Where it is gone already there is nothing to end.
        let socket = &self.socket;
        _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
    }
}
