//! s4cmd, with its default of four threads a core.

use std::process::Command;

use super::Task;
use super::call::{Call, NO_TAGS, uri};

pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    let endpoint = call.endpoint;
    let settings = call.file("aws-config", super::aws::SETTINGS)?;
    command
        .env("AWS_CONFIG_FILE", settings)
        .env("S3_ACCESS_KEY", &endpoint.access_key)
        .env("S3_SECRET_KEY", &endpoint.secret_key);
    if matches!(task, Task::Version) {
        command.arg("--version");
        return Ok(command);
    }
    command.args(["--endpoint-url", &endpoint.url]);
    match *task {
        Task::Upload { tree, bucket, prefix } => {
            command.args(["--force", "dsync"]).arg(tree).arg(uri(bucket, prefix))
        }
        Task::Sync { tree, bucket, prefix } => {
            command.args(["--sync-check", "dsync"]).arg(tree).arg(uri(bucket, prefix))
        }
        Task::Download { bucket, prefix, target } => {
            command.args(["--force", "dsync"]).arg(uri(bucket, prefix)).arg(target)
        }
        Task::UploadFile { file, bucket, key } => {
            command.args(["--force", "put"]).arg(file).arg(uri(bucket, key))
        }
        Task::DownloadFile { bucket, key, file } => {
            command.args(["--force", "get"]).arg(uri(bucket, key)).arg(file)
        }
        Task::List { bucket } => command.args(["--recursive", "ls"]).arg(uri(bucket, "")),
        Task::Summarize { bucket } => command.args(["--recursive", "du"]).arg(uri(bucket, "")),
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => command
            .args(["--force", "dsync"])
            .arg(uri(source_bucket, source_prefix))
            .arg(uri(bucket, prefix)),
        Task::Delete { bucket, prefix } => {
            command.args(["--recursive", "del"]).arg(uri(bucket, prefix))
        }
        Task::Tag { .. } => return Err(NO_TAGS.to_owned()),
        Task::Version => &mut command,
    };
    Ok(command)
}
