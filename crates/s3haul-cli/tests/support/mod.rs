//! A server and a working folder of a test's own.

#![expect(clippy::unwrap_used, reason = "a helper of tests: it may fail them")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_s3haul");

/// Runs commands in a folder against a server; both are gone when it is dropped.
pub(crate) struct Bench {
    folder: TempDir,
    /// Journals of commands that take long, where no test looks for files.
    journals: TempDir,
    variables: Vec<(String, String)>,
    server: Child,
    /// The server stops when this closes, also when the test dies.
    server_input: Option<ChildStdin>,
}

impl Bench {
    /// A server that keeps objects in memory, with no bucket.
    pub(crate) fn new() -> Self {
        Self::start(&["--memory"])
    }

    /// The same, which lets each request wait this long.
    pub(crate) fn slow(latency: &str) -> Self {
        Self::start(&["--memory", "--latency", latency])
    }

    /// The same, started with these flags.
    pub(crate) fn in_memory_with(flags: &[&str]) -> Self {
        Self::start(&[&["--memory"], flags].concat())
    }

    /// A server that takes its time, with the bucket `box`, that writes a JSON line for each
    /// request to `ledger`.
    pub(crate) fn recorded() -> Self {
        let bench = Self::start(&["--memory", "--ledger", "ledger", "--latency", "5ms"]);
        bench.ok("mb s3://box");
        bench
    }

    /// Ends the server, so that its ledger is whole.
    pub(crate) fn end(&mut self) {
        drop(self.server_input.take());
        self.server.wait().unwrap();
    }

    /// A server in the weather of a scenario, which writes the file `ledger`.
    pub(crate) fn in_weather(scenario: &str) -> Self {
        Self::start(&["--memory", "--weather", scenario, "--ledger", "ledger"])
    }

    /// A server that keeps objects in the folder `store`.
    pub(crate) fn on_disk() -> Self {
        Self::start(&["store"])
    }

    /// A server of computed objects in the bucket `synthetic`.
    pub(crate) fn synthetic(spec: &str) -> Self {
        Self::start(&["--synthetic", spec])
    }

    /// The same, which lets each request wait this long.
    #[cfg(unix)]
    pub(crate) fn slow_synthetic(spec: &str, latency: &str) -> Self {
        Self::start(&["--synthetic", spec, "--latency", latency])
    }

    /// A server with the bucket `box` and objects in it that hold their own names.
    pub(crate) fn with_objects(keys: &[&str]) -> Self {
        let bench = Self::new();
        bench.ok("mb s3://box");
        for key in keys {
            let output = bench.run_with_input(&format!("pipe s3://box/{key}"), key);
            assert!(output.status.success(), "{output:?}");
        }
        bench
    }

    fn start(store: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new(BINARY)
            .args(["serve", "--address", "127.0.0.1:0", "--stop-with-stdin"])
            .args(store)
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let server_input = server.stdin.take();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut variables = Vec::new();
        for line in lines.take(5) {
            let line = line.unwrap();
            let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
            variables.push((name.to_owned(), value.to_owned()));
        }
        let journals = tempfile::tempdir().unwrap();
        Self { folder, journals, variables, server, server_input }
    }

    /// URL of the server.
    pub(crate) fn endpoint(&self) -> &str {
        self.variable("AWS_ENDPOINT_URL")
    }

    /// One of the variables that reach the server.
    pub(crate) fn variable(&self, name: &str) -> &str {
        &self.variables.iter().find(|(known, _)| known == name).unwrap().1
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The folder that commands run in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The folder that journals lie in.
    pub(crate) fn journals(&self) -> &Path {
        self.journals.path()
    }

    /// Removes a file.
    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    /// Reads a file.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Names in a folder below it.
    #[cfg(target_os = "linux")]
    pub(crate) fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// A command with the words of `args`, not yet run.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = self.program(BINARY);
        command.args(args.split_whitespace());
        command
    }

    /// A program that finds the server and the folder, not yet run.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("S3HAUL_JOURNAL_DIR", self.journals.path())
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("TZ", "UTC")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Starts a command.
    pub(crate) fn spawn(&self, args: &str) -> Child {
        self.command(args).spawn().unwrap()
    }

    /// Runs a command.
    pub(crate) fn run(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command with standard input.
    pub(crate) fn run_with_input(&self, args: &str, input: &str) -> Output {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Runs a command that has to succeed without a word on standard error; gives its output.
    pub(crate) fn ok(&self, args: &str) -> String {
        let output = self.run(args);
        assert!(output.status.success() && output.stderr.is_empty(), "{args}: {output:?}");
        stdout(&output)
    }

    /// Lines of a command that has to succeed.
    pub(crate) fn lines(&self, args: &str) -> Vec<String> {
        self.ok(args).lines().map(str::to_owned).collect()
    }

    /// Exit code of a command.
    pub(crate) fn status(&self, args: &str) -> i32 {
        self.run(args).status.code().unwrap()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        drop(self.server_input.take());
        let status = self.server.wait().unwrap();
        // A test that is failing already says more.
        if !std::thread::panicking() {
            assert!(status.success(), "the server ended with {status}");
        }
    }
}

/// Standard output as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Standard error as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Sends a signal, such as `-INT`.
#[cfg(unix)]
pub(crate) fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").arg(signal).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}
