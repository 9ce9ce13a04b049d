//! The command under test: run to its end, or started and watched.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::plan::Moment;
use super::server::{ACCESS_KEY, SECRET_KEY};
use support::process;
use support::server::without_settings;

/// A job that nothing disturbs ends sooner, and one whose server is gone gives up sooner.
const JOB_TIME_MAX: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(1);

/// Parts are as small as S3 allows, and bytes so slow that a job takes a second; `fast` is for what
/// is not to be struck.
const CONFIGURATION: &str = "[default]
s3 =
    multipart_threshold = 5MB
    multipart_chunksize = 5MB
    max_concurrent_requests = 12
    max_bandwidth = 30MB/s
[profile fast]
s3 =
    multipart_threshold = 5MB
";

/// Runs the command in a folder against a server.
pub(super) struct Client {
    binary: PathBuf,
    folder: PathBuf,
    url: String,
}

impl Client {
    pub(super) fn new(binary: &Path, folder: &Path, url: String) -> Result<Self> {
        fs::write(folder.join("config"), CONFIGURATION)?;
        Ok(Self { binary: binary.to_owned(), folder: folder.to_owned(), url })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        without_settings(&mut command)
            .current_dir(&self.folder)
            .args(arguments)
            .stdin(Stdio::null());
        command.env("AWS_ENDPOINT_URL", &self.url).env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", ACCESS_KEY).env("AWS_SECRET_ACCESS_KEY", SECRET_KEY);
        command.env("AWS_CONFIG_FILE", self.folder.join("config"));
        command
    }

    /// Runs a command, which must succeed, and gives what it printed.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.command(arguments).env("AWS_PROFILE", "fast").output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("`s3haul {}` failed ({})\n{text}{errors}", arguments.join(" "), output.status);
        }
        Ok(text)
    }

    /// Starts a command; what it prints goes to `NAME.out` and `NAME.err`.
    pub(super) fn start(&self, arguments: &[&str], name: &str) -> Result<Running> {
        let output = self.folder.join(format!("{name}.out"));
        let errors = File::create(self.folder.join(format!("{name}.err")))?;
        let mut command = self.command(arguments);
        command.stdout(File::create(&output)?).stderr(errors);
        let child = command.spawn().context("could not start the command")?;
        Ok(Running { child: process::Running(child), output })
    }
}

/// A command that runs; killed when dropped.
pub(super) struct Running {
    child: process::Running,
    /// The file that it prints to.
    output: PathBuf,
}

impl Running {
    pub(super) fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.0.try_wait()?.is_none())
    }

    /// Lines that it has printed so far.
    fn lines(&self) -> Result<u64> {
        let printed = fs::read(&self.output)?;
        Ok(String::from_utf8_lossy(&printed).matches('\n').count() as u64)
    }

    /// Waits for a moment; false when the command ended before.
    pub(super) fn wait_for(&mut self, moment: Moment) -> Result<bool> {
        while self.lines()? < moment.lines {
            if !self.is_running()? {
                return Ok(false);
            }
            sleep(POLL);
        }
        sleep(moment.further);
        self.is_running()
    }

    /// Ends it at once, as a crash would; false when it had ended before.
    pub(super) fn kill(&mut self) -> Result<bool> {
        use std::os::unix::process::ExitStatusExt as _;
        self.child.0.kill()?;
        Ok(self.child.0.wait()?.signal().is_some())
    }

    /// Waits for its end, which must come.
    pub(super) fn wait(&mut self) -> Result<ExitStatus> {
        let deadline = Instant::now() + JOB_TIME_MAX;
        while Instant::now() < deadline {
            if let Some(status) = self.child.0.try_wait()? {
                return Ok(status);
            }
            sleep(POLL);
        }
        bail!("the command does not end")
    }
}
