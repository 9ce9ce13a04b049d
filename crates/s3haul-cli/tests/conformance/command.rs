//! Runs a command with a clean environment, a deadline and its output kept.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A command that takes longer is killed and fails its case.
const RUN_MAX: Duration = Duration::from_secs(90);
/// Slower commands are named.
const SLOW: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);

/// A command to run.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    program: PathBuf,
    args: Vec<OsString>,
    folder: PathBuf,
    variables: Vec<(String, OsString)>,
    stdin: Vec<u8>,
    run_max: Duration,
}

impl Invocation {
    /// A program in a folder. Of this process's environment it sees nothing but `PATH`.
    pub(crate) fn new(program: &Path, folder: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            program: program.to_owned(),
            args: Vec::new(),
            folder: folder.to_owned(),
            variables: vec![("PATH".to_owned(), path)],
            stdin: Vec::new(),
            run_max: RUN_MAX,
        }
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, args: &[impl AsRef<OsStr>]) -> Self {
        self.args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Runs another program with the same environment.
    pub(crate) fn program(mut self, program: &Path) -> Self {
        program.clone_into(&mut self.program);
        self
    }

    /// Runs it in another folder.
    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// Sets or replaces a variable.
    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Removes a variable.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    /// Bytes for its standard input.
    pub(crate) fn stdin(mut self, bytes: &[u8]) -> Self {
        bytes.clone_into(&mut self.stdin);
        self
    }

    /// Lets it run longer than others.
    pub(crate) fn deadline(mut self, run_max: Duration) -> Self {
        self.run_max = run_max;
        self
    }

    /// Starts it.
    pub(crate) fn start(self) -> Running {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.folder).env_clear();
        command.envs(self.variables);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|e| panic!("{}: {e}", self.program.display()));
        let mut stdin = child.stdin.take().unwrap();
        let input = self.stdin;
        // The pipe may break: a command that needs the input fails with its exit status.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        let shown = shown(&self.program, &self.args);
        let (stdout, stderr, run_max) = (Some(stdout), Some(stderr), self.run_max);
        Running { child, stdout, stderr, shown, run_max }
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Finished {
        self.start().finish()
    }
}

fn shown(program: &Path, args: &[OsString]) -> String {
    let mut text = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for arg in args {
        let _ = write!(text, " {}", arg.to_string_lossy());
    }
    text
}

fn collect(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// A command on its way; killed when dropped.
pub(crate) struct Running {
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    shown: String,
    run_max: Duration,
}

impl Running {
    /// Sends a signal, as `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
        assert!(status.success(), "could not signal `{}`", self.shown);
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub(crate) fn finish(mut self) -> Finished {
        let start = Instant::now();
        let deadline = start + self.run_max;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let status = self.child.wait().unwrap();
                panic!("it did not end in time\n{}", self.output(status).report());
            }
            std::thread::sleep(POLL);
        };
        if start.elapsed() > SLOW {
            println!("`{}` took {:.1?}", self.shown, start.elapsed());
        }
        self.output(status)
    }

    fn output(&mut self, status: ExitStatus) -> Finished {
        let stdout = self.stdout.take().unwrap().join().unwrap();
        let stderr = self.stderr.take().unwrap().join().unwrap();
        Finished { status, stdout, stderr, shown: self.shown.clone() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a command left.
pub(crate) struct Finished {
    status: ExitStatus,
    /// Standard output.
    pub(crate) stdout: Vec<u8>,
    /// Standard error.
    pub(crate) stderr: Vec<u8>,
    shown: String,
}

impl Finished {
    /// Asserts exit status 0.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.code(0)
    }

    /// Asserts an exit status.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        self.code_in(&[expected])
    }

    /// Asserts one of several exit statuses.
    #[track_caller]
    pub(crate) fn code_in(self, expected: &[i32]) -> Self {
        let code = self.status.code();
        let fits = code.is_some_and(|code| expected.contains(&code));
        assert!(fits, "exit status {code:?}, not {expected:?}\n{}", self.report());
        self
    }

    /// Asserts that standard error holds a text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.err().contains(text), "no `{text}` in standard error\n{}", self.report());
        self
    }

    /// Asserts lines of standard output, in any order.
    #[track_caller]
    pub(crate) fn prints(self, expected: &[impl AsRef<str>]) -> Self {
        let mut expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
        expected.sort_unstable();
        assert_eq!(self.lines(), expected, "lines of standard output\n{}", self.report());
        self
    }

    /// Standard output as text.
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Lines of standard output, sorted; those of a progress display left out.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .out()
            .split(['\n', '\r'])
            .map(|line| line.trim_end().to_owned())
            .filter(|line| !line.is_empty() && !line.starts_with("Completed "))
            .collect();
        lines.sort_unstable();
        lines
    }

    /// Everything, for a message.
    pub(crate) fn report(&self) -> String {
        let short = |text: String| -> String {
            let lines: Vec<&str> = text.lines().take(30).collect();
            lines.join("\n    ").chars().take(3_000).collect()
        };
        format!(
            "  command: {}\n  {}\n  stdout:\n    {}\n  stderr:\n    {}",
            self.shown,
            self.status,
            short(self.out()),
            short(self.err())
        )
    }
}
