//! Our own command, with its defaults.

use std::process::Command;

use super::Task;
use super::aws::common;
use super::call::{Call, TAG, uri};

#[expect(clippy::unnecessary_wraps, reason = "a row of the tools, of which others cannot all")]
pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    // No run profits from another.
    command.arg("--no-hints");
    match *task {
        Task::List { bucket } => command.arg("list").arg(uri(bucket, "")),
        Task::Summarize { bucket } => command.arg("summarize").arg(uri(bucket, "")),
        Task::Tag { bucket, prefix } => command
            .args(["tag", "set", "--recursive", "--only-show-errors", "--tags"])
            .arg(format!("{}={}", TAG.0, TAG.1))
            .arg(uri(bucket, prefix)),
        Task::Version => command.arg("--version"),
        _ => {
            common(&mut command, task);
            &mut command
        }
    };
    Ok(command)
}
