//! rclone with the settings that its documentation recommends for S3: many transfers at a time,
//! no look at whether the bucket exists, and a sync that goes by the times of the listing, so that
//! it needs no request for each object. The HEAD after each upload is its default.

use std::path::Path;
use std::process::Command;

use super::Task;
use super::call::{Call, NO_TAGS};

/// 64 objects at a time, and 16 parts of a large one; it hardly gains above. Its defaults are 4
/// objects, 4 parts up and 4 streams down.
const SETTINGS: &[&str] = &[
    "--quiet",
    "--transfers=64",
    "--checkers=64",
    "--s3-upload-concurrency=16",
    "--multi-thread-streams=16",
    "--s3-no-check-bucket",
];
/// The same comparison as that of `aws s3 sync`: sizes, and the times in the listing.
const SYNC: &[&str] = &["copy", "--update", "--use-server-modtime"];

pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    let endpoint = call.endpoint;
    command
        .env("RCLONE_CONFIG", "/dev/null")
        .env("RCLONE_CONFIG_X_TYPE", "s3")
        .env("RCLONE_CONFIG_X_PROVIDER", "Other")
        .env("RCLONE_CONFIG_X_ENV_AUTH", "true")
        .env("RCLONE_CONFIG_X_ENDPOINT", &endpoint.url)
        .env("RCLONE_CONFIG_X_REGION", &endpoint.region)
        .env("RCLONE_CONFIG_X_FORCE_PATH_STYLE", "true")
        .env("RCLONE_CONFIG_X_LIST_VERSION", "2");
    if !matches!(task, Task::Version) {
        command.args(SETTINGS);
    }
    match *task {
        Task::Upload { tree, bucket, prefix } => {
            command.arg("copy").arg(tree).arg(remote(bucket, prefix))
        }
        Task::Sync { tree, bucket, prefix } => {
            command.args(SYNC).arg(tree).arg(remote(bucket, prefix))
        }
        Task::Download { bucket, prefix, target } => {
            command.arg("copy").arg(remote(bucket, prefix)).arg(target)
        }
        Task::UploadFile { file, bucket, key } => one(&mut command, file, remote(bucket, key)),
        Task::DownloadFile { bucket, key, file } => one(&mut command, remote(bucket, key), file),
        Task::List { bucket } => command.arg("ls").arg(remote(bucket, "")),
        Task::Summarize { bucket } => command.arg("size").arg(remote(bucket, "")),
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => command
            .arg("copy")
            .arg(remote(source_bucket, source_prefix))
            .arg(remote(bucket, prefix)),
        Task::Delete { bucket, prefix } => command.arg("delete").arg(remote(bucket, prefix)),
        Task::Tag { .. } => return Err(NO_TAGS.to_owned()),
        Task::Version => command.arg("version"),
    };
    Ok(command)
}

fn one(command: &mut Command, source: impl AsRef<Path>, target: impl AsRef<Path>) -> &mut Command {
    command.arg("copyto").arg(source.as_ref()).arg(target.as_ref())
}

fn remote(bucket: &str, key: &str) -> String {
    format!("x:{bucket}/{key}")
}
