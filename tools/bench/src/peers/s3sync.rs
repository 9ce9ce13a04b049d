//! s3sync and s3ls, two programs of one family with the same way to name a server.

use std::process::Command;

use super::Task;
use super::call::{Call, uri};
use super::s5cmd::folder;

/// What its documentation measures with: 160 objects at a time, 48 parts of a large one. Its
/// defaults are 16 and 16.
const SETTINGS: &[&str] =
    &["--show-no-progress", "-q", "--worker-size=160", "--max-parallel-uploads=48"];

/// Trees only: the program has no command for a single object.
pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    if matches!(task, Task::Version) {
        command.arg("--version");
        return Ok(command);
    }
    command.args(SETTINGS);
    match *task {
        Task::Upload { tree, bucket, prefix } | Task::Sync { tree, bucket, prefix } => {
            side(&mut command, call, "TARGET");
            command.arg(folder(tree)).arg(uri(bucket, prefix));
        }
        Task::Download { bucket, prefix, target } => {
            side(&mut command, call, "SOURCE");
            command.arg(uri(bucket, prefix)).arg(folder(target));
        }
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => {
            side(&mut command, call, "SOURCE");
            side(&mut command, call, "TARGET");
            command
                .arg("--server-side-copy")
                .arg(uri(source_bucket, source_prefix))
                .arg(uri(bucket, prefix));
        }
        Task::UploadFile { .. } | Task::DownloadFile { .. } => {
            return Err("folders only, no single objects".to_owned());
        }
        _ => return Err("has no such command".to_owned()),
    }
    Ok(command)
}

/// Up to 64 listings at a time, unsorted, which is what its documentation measures with.
pub(super) fn list_line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    side(&mut command, call, "TARGET");
    let list = ["--recursive", "--no-sort", "--max-parallel-listings=64"];
    match *task {
        Task::List { bucket } => command.args(list).arg(uri(bucket, "")),
        // The list, and a line behind it.
        Task::Summarize { bucket } => command.args(list).arg("--summarize").arg(uri(bucket, "")),
        Task::Version => command.arg("--version"),
        _ => return Err("lists only".to_owned()),
    };
    Ok(command)
}

/// Names the server of one side. All of it can be said in variables.
fn side(command: &mut Command, call: &Call<'_>, side: &str) {
    let endpoint = call.endpoint;
    command
        .env(format!("{side}_ENDPOINT_URL"), &endpoint.url)
        .env(format!("{side}_FORCE_PATH_STYLE"), "true")
        .env(format!("{side}_REGION"), &endpoint.region)
        .env(format!("{side}_ACCESS_KEY"), &endpoint.access_key)
        .env(format!("{side}_SECRET_ACCESS_KEY"), &endpoint.secret_key);
}
