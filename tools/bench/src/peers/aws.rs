//! The classic AWS command, version 1, and what ours has in common with it.

use std::process::Command;

use super::Task;
use super::call::{Call, TAG, uri};

/// Buckets are in paths, since names below `localhost` lead nowhere.
pub(super) const SETTINGS: &str = "[default]\ns3 =\n  addressing_style = path\n";

const QUIET: &str = "--only-show-errors";

/// One thing after the other: the key of each object, one a line, then a process for each.
const TAG_EACH: &str = r#"
"$0" s3api list-objects-v2 --bucket "$1" --prefix "$2" --query 'Contents[].[Key]' --output text |
xargs -d '\n' -n 1 "$0" s3api put-object-tagging --bucket "$1" --tagging "$3" --key
"#;

/// Ten requests at a time, which is its default.
pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let settings = call.file("aws-config", SETTINGS)?;
    let mut command = match *task {
        Task::Tag { bucket, prefix } => {
            let tag = format!("TagSet=[{{Key={},Value={}}}]", TAG.0, TAG.1);
            call.shell(TAG_EACH, &[bucket, prefix, &tag])
        }
        _ => call.command(),
    };
    command.env("AWS_CONFIG_FILE", settings);
    match *task {
        Task::List { bucket } => command.args(["s3", "ls", "--recursive"]).arg(uri(bucket, "")),
        // It has no summary without the list before it.
        Task::Summarize { bucket } => {
            command.args(["s3", "ls", "--recursive", "--summarize"]).arg(uri(bucket, ""))
        }
        Task::Tag { .. } => &mut command,
        Task::Version => command.arg("--version"),
        _ => {
            common(command.arg("s3"), task);
            &mut command
        }
    };
    Ok(command)
}

/// What is said to `aws s3` and to our command in the same words.
pub(super) fn common(command: &mut Command, task: &Task<'_>) {
    match *task {
        Task::Upload { tree, bucket, prefix } => {
            command.args(["cp", "--recursive", QUIET]).arg(tree).arg(uri(bucket, prefix));
        }
        Task::Sync { tree, bucket, prefix } => {
            command.args(["sync", QUIET]).arg(tree).arg(uri(bucket, prefix));
        }
        Task::Download { bucket, prefix, target } => {
            command.args(["cp", "--recursive", QUIET]).arg(uri(bucket, prefix)).arg(target);
        }
        Task::UploadFile { file, bucket, key } => {
            command.args(["cp", QUIET]).arg(file).arg(uri(bucket, key));
        }
        Task::DownloadFile { bucket, key, file } => {
            command.args(["cp", QUIET]).arg(uri(bucket, key)).arg(file);
        }
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => {
            let (source, target) = (uri(source_bucket, source_prefix), uri(bucket, prefix));
            command.args(["cp", "--recursive", QUIET]).args([source, target]);
        }
        Task::Delete { bucket, prefix } => {
            command.args(["rm", "--recursive", QUIET]).arg(uri(bucket, prefix));
        }
        Task::List { .. } | Task::Summarize { .. } | Task::Tag { .. } | Task::Version => {}
    }
}
