//! Our own command.

use std::process::Command;

use super::Task;
use super::call::{Call, TAG, uri};

const QUIET: &str = "--only-show-errors";

/// Defaults throughout.
pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    match *task {
        Task::Upload { tree, bucket, prefix } => {
            command.args(["cp", "--recursive", QUIET]).arg(tree).arg(uri(bucket, prefix))
        }
        Task::Sync { tree, bucket, prefix } => {
            command.args(["sync", QUIET]).arg(tree).arg(uri(bucket, prefix))
        }
        Task::Download { bucket, prefix, target } => {
            command.args(["cp", "--recursive", QUIET]).arg(uri(bucket, prefix)).arg(target)
        }
        Task::UploadFile { file, bucket, key } => {
            command.args(["cp", QUIET]).arg(file).arg(uri(bucket, key))
        }
        Task::DownloadFile { bucket, key, file } => {
            command.args(["cp", QUIET]).arg(uri(bucket, key)).arg(file)
        }
        Task::List { bucket } => command.arg("list").arg(uri(bucket, "")),
        Task::Summarize { bucket } => command.arg("summarize").arg(uri(bucket, "")),
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => command
            .args(["cp", "--recursive", QUIET])
            .arg(uri(source_bucket, source_prefix))
            .arg(uri(bucket, prefix)),
        Task::Delete { bucket, prefix } => {
            command.args(["rm", "--recursive", QUIET]).arg(uri(bucket, prefix))
        }
        Task::Tag { bucket, prefix } => command
            .args(["tag", "set", "--recursive", QUIET, "--tags"])
            .arg(format!("{}={}", TAG.0, TAG.1))
            .arg(uri(bucket, prefix)),
        Task::Version => command.arg("--version"),
    };
    Ok(command)
}
