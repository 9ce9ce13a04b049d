//! What a child process cost: CPU time, wall time and peak memory.
//!
//! CPU time is the difference of what all reaped children of this process took, so it includes the
//! grandchildren that a child waited for, such as the programs of a shell's pipeline. It is right
//! as long as no other child is reaped while one is measured: servers and counters of output are
//! reaped before or afterwards.

use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use support::server::status_kib;

/// Between two looks at a child's memory, for the first while and later at most: a short run ends
/// before the tenth millisecond. What the kernel returns for a child that was waited for (`wait4`)
/// would do without looks, but takes unsafe code, and counts what this process had when it forked.
const LOOK_FIRST: Duration = Duration::from_micros(500);
const FIRST_WHILE: Duration = Duration::from_millis(20);
const LOOK_MAX: Duration = Duration::from_millis(10);
/// Processes of a pipeline that are looked at.
const PROCESSES_MAX: usize = 64;

/// Figures of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// User and system time in seconds.
    pub(super) cpu_s: f64,
    /// Wall time in seconds.
    pub(super) wall_s: f64,
    /// Largest resident set in MiB, of all its processes at one time.
    pub(super) peak_mib: f64,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) usage: Usage,
    pub(super) status: ExitStatus,
    /// Whether it took longer than it may and was killed.
    pub(super) is_cut: bool,
}

/// Runs a program, alone among this process's children, and reports what it cost; kills it with its
/// process group when its time is over. Where its standard output is piped, that goes to the
/// function, which is called on a thread of its own.
pub(super) fn measure<T: Send>(
    command: &mut Command,
    output: Stdio,
    limit: Option<Duration>,
    read: impl FnOnce(Option<ChildStdout>) -> T + Send,
) -> Result<(Ended, T)> {
    let before_s = children_cpu_s()?;
    let begin = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output)
        .process_group(0)
        .spawn()
        .with_context(|| format!("could not start `{}`", command.get_program().display()))?;
    let (pid, output) = (child.id(), child.stdout.take());
    std::thread::scope(|scope| {
        let (ended, end) = sync_channel(1);
        let watcher = scope.spawn(move || watch(pid, limit, &end));
        let reader = scope.spawn(move || read(output));
        let status = child.wait();
        let wall_s = begin.elapsed().as_secs_f64();
        let cpu_s = children_cpu_s()? - before_s;
        drop(ended);
        // What a tool leaves behind would hold the pipe, and take part in the next run.
        kill_group(pid);
        let Ok((peak_mib, is_cut)) = watcher.join() else { bail!("the watcher panicked") };
        let Ok(told) = reader.join() else { bail!("the reader of the output panicked") };
        Ok((Ended { usage: Usage { cpu_s, wall_s, peak_mib }, status: status?, is_cut }, told))
    })
}

/// Looks at a process group's memory until the other end of the channel is gone, and kills it when
/// its time is over.
fn watch(pid: u32, limit: Option<Duration>, end: &Receiver<()>) -> (f64, bool) {
    let begin = Instant::now();
    let (mut peak_kib, mut is_cut, mut pause): (f64, _, _) = (0.0, false, LOOK_FIRST);
    loop {
        peak_kib = peak_kib.max(status_kib(pid, "VmHWM:")).max(family_kib(pid));
        match end.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) if begin.elapsed() < FIRST_WHILE => {}
            Err(RecvTimeoutError::Timeout) => pause = (pause * 2).min(LOOK_MAX),
            _ => return (peak_kib / 1024.0, is_cut),
        }
        if !is_cut && limit.is_some_and(|limit| begin.elapsed() > limit) {
            is_cut = true;
            kill_group(pid);
        }
    }
}

fn kill_group(pid: u32) {
    if let Ok(pid) = i32::try_from(pid) {
        // Where it has ended by itself there is nothing to kill.
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Resident memory of a process and its descendants now, in KiB.
fn family_kib(pid: u32) -> f64 {
    let (mut family, mut seen) = (vec![pid], 0);
    while seen < family.len().min(PROCESSES_MAX) {
        let pid = family[seen];
        seen += 1;
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.unwrap_or_default();
        family.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    // A single one has reported its peak already.
    if family.len() == 1 { 0.0 } else { family.iter().map(|pid| status_kib(*pid, "VmRSS:")).sum() }
}

fn children_cpu_s() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros)?).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Burns CPU time in a shell: about a tenth of a second and more.
    const WORK: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";

    #[test]
    fn a_pipeline_is_charged_with_what_its_programs_take() {
        // `true` behind it keeps the shell from becoming the only program.
        let script = format!("sh -c '{WORK}' | cat; true");
        let (ended, ()) = measure(&mut shell(&script), Stdio::null(), None, |_| ()).unwrap();
        assert!(ended.usage.cpu_s > 0.01, "{ended:?}");
        assert!(ended.usage.peak_mib > 0.1, "{ended:?}");
    }

    #[test]
    fn what_takes_too_long_is_killed_with_its_children() {
        let mut command = shell("sleep 100 | sleep 100; true");
        let limit = Some(Duration::from_millis(50));
        let (ended, ()) = measure(&mut command, Stdio::null(), limit, |_| ()).unwrap();
        assert!(ended.is_cut && !ended.status.success(), "{ended:?}");
        assert!(ended.usage.wall_s < 50.0, "{ended:?}");
    }

    #[test]
    fn what_is_left_behind_holds_no_pipe() {
        let mut command = shell("echo a; sleep 100 & exit 0");
        let read = |output: Option<ChildStdout>| std::io::read_to_string(output.unwrap()).unwrap();
        let (ended, told) = measure(&mut command, Stdio::piped(), None, read).unwrap();
        assert!(ended.status.success() && ended.usage.wall_s < 50.0, "{ended:?}");
        assert_eq!(told, "a\n");
    }

    #[test]
    fn a_failure_is_told() {
        let (ended, ()) =
            measure(&mut shell("exit 3"), Stdio::null(), Some(Duration::from_mins(1)), |_| ())
                .unwrap();
        assert_eq!((ended.status.code(), ended.is_cut), (Some(3), false));
    }
}
