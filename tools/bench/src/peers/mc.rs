//! MinIO's client; how much it does at a time it finds out itself.

use std::process::Command;

use super::Task;
use super::call::{Call, TAG};
use super::s5cmd::folder;

pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    command.env("MC_CONFIG_DIR", call.endpoint.scratch.join("mc")).env("MC_HOST_t", host(call)?);
    if !matches!(task, Task::Version) {
        command.args(["--quiet", "--no-color"]);
    }
    match *task {
        Task::Upload { tree, bucket, prefix } | Task::Sync { tree, bucket, prefix } => {
            command.args(["mirror", "--overwrite"]).arg(tree).arg(at(bucket, prefix))
        }
        Task::Download { bucket, prefix, target } => {
            command.args(["mirror", "--overwrite"]).arg(at(bucket, prefix)).arg(folder(target))
        }
        Task::UploadFile { file, bucket, key } => command.arg("cp").arg(file).arg(at(bucket, key)),
        Task::DownloadFile { bucket, key, file } => {
            command.arg("cp").arg(at(bucket, key)).arg(file)
        }
        Task::List { bucket } => command.args(["ls", "--recursive"]).arg(at(bucket, "")),
        Task::Summarize { bucket } => command.arg("du").arg(at(bucket, "")),
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => command
            .args(["mirror", "--overwrite"])
            .arg(at(source_bucket, source_prefix))
            .arg(at(bucket, prefix)),
        Task::Delete { bucket, prefix } => {
            command.args(["rm", "--recursive", "--force"]).arg(at(bucket, prefix))
        }
        Task::Tag { bucket, prefix } => command
            .args(["tag", "set", "--recursive"])
            .arg(at(bucket, prefix))
            .arg(format!("{}={}", TAG.0, TAG.1)),
        Task::Version => command.arg("--version"),
    };
    Ok(command)
}

/// The server with the keys in it, which is how it takes them from its environment.
fn host(call: &Call<'_>) -> Result<String, String> {
    let endpoint = call.endpoint;
    let (scheme, authority) =
        endpoint.url.split_once("://").ok_or("the server's address has no scheme")?;
    Ok(format!("{scheme}://{}:{}@{authority}", endpoint.access_key, endpoint.secret_key))
}

fn at(bucket: &str, key: &str) -> String {
    format!("t/{bucket}/{key}")
}
