//! s5cmd: 256 workers, five parts of an object at a time, which are its defaults.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use super::Task;
use super::call::{Call, NO_TAGS, uri};

pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    command.env("S3_ENDPOINT_URL", &call.endpoint.url);
    // Lists are messages to it, of the level that this one leaves out.
    if !matches!(task, Task::List { .. } | Task::Summarize { .. } | Task::Version) {
        command.args(["--log", "error"]);
    }
    match *task {
        Task::Upload { tree, bucket, prefix } => {
            command.arg("cp").arg(folder(tree)).arg(uri(bucket, prefix))
        }
        Task::Sync { tree, bucket, prefix } => {
            command.arg("sync").arg(folder(tree)).arg(uri(bucket, prefix))
        }
        Task::Download { bucket, prefix, target } => {
            command.arg("cp").arg(all(bucket, prefix)).arg(folder(target))
        }
        Task::UploadFile { file, bucket, key } => command.arg("cp").arg(file).arg(uri(bucket, key)),
        Task::DownloadFile { bucket, key, file } => {
            command.arg("cp").arg(uri(bucket, key)).arg(file)
        }
        Task::List { bucket } => command.arg("ls").arg(all(bucket, "")),
        Task::Summarize { bucket } => command.arg("du").arg(all(bucket, "")),
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => {
            command.arg("cp").arg(all(source_bucket, source_prefix)).arg(uri(bucket, prefix))
        }
        Task::Delete { bucket, prefix } => command.arg("rm").arg(all(bucket, prefix)),
        Task::Tag { .. } => return Err(NO_TAGS.to_owned()),
        Task::Version => command.arg("version"),
    };
    Ok(command)
}

/// All objects below a prefix.
fn all(bucket: &str, prefix: &str) -> String {
    format!("s3://{bucket}/{prefix}*")
}

/// What is in the folder, not the folder itself.
pub(super) fn folder(path: &Path) -> OsString {
    let mut folder = path.as_os_str().to_owned();
    folder.push("/");
    folder
}
