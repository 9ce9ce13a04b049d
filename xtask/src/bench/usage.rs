//! What a child process cost: CPU time, wall time and peak memory.

use std::process::{ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Figures of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// User and system time in seconds.
    pub(super) cpu_s: f64,
    /// Wall time in seconds.
    pub(super) wall_s: f64,
    /// Largest resident set in MiB.
    pub(super) peak_mib: f64,
}

impl Usage {
    /// CPU time in microseconds for each of `count` objects.
    pub(super) fn cpu_us_each(&self, count: u64) -> f64 {
        self.cpu_s * 1e6 / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

/// Runs a program to its end, alone among this process's children, and says what it cost.
pub(super) fn measure(command: &mut Command) -> Result<Usage> {
    run(command, Stdio::null(), |_| ()).map(|(usage, ())| usage)
}

/// The same, with its standard output for a function, which is called on a thread of its own.
pub(super) fn measure_output<T: Send>(
    command: &mut Command,
    read: impl FnOnce(ChildStdout) -> Result<T> + Send,
) -> Result<(Usage, T)> {
    let piped = |output: Option<ChildStdout>| read(output.context("standard output is piped")?);
    let (usage, told) = run(command, Stdio::piped(), piped)?;
    Ok((usage, told?))
}

fn run<T: Send>(
    command: &mut Command,
    output: Stdio,
    read: impl FnOnce(Option<ChildStdout>) -> T + Send,
) -> Result<(Usage, T)> {
    let before = children_cpu_s()?;
    let begin = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output)
        .spawn()
        .with_context(|| format!("could not start `{}`", command.get_program().display()))?;
    let output = child.stdout.take();
    let (status, peak_kib, wall_s, told) = std::thread::scope(|scope| -> Result<_> {
        let reader = scope.spawn(move || read(output));
        let mut peak_kib: f64 = 0.0;
        let status = loop {
            peak_kib = peak_kib.max(status_kib(child.id(), "VmHWM:"));
            if let Some(status) = child.try_wait()? {
                break status;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let wall_s = begin.elapsed().as_secs_f64();
        let Ok(told) = reader.join() else { bail!("the reader of the output panicked") };
        Ok((status, peak_kib, wall_s, told))
    })?;
    if !status.success() {
        bail!("`{}` failed ({status})", command.get_program().display());
    }
    let cpu_s = children_cpu_s()? - before;
    Ok((Usage { cpu_s, wall_s, peak_mib: peak_kib / 1024.0 }, told))
}

fn children_cpu_s() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros)?).as_secs_f64())
}

/// A line of a running process's status, in KiB; 0 once it is gone.
pub(super) fn status_kib(pid: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}
