//! s3p: lists and copies between buckets. It works on S3 only, apart from downloads, and finds
//! out itself how much to do at a time.

use std::process::Command;

use super::Task;
use super::call::Call;

pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    match *task {
        Task::List { bucket } => command.args(["ls", "--quiet", "--bucket", bucket]),
        Task::Summarize { bucket } => command.args(["summarize", "--quiet", "--bucket", bucket]),
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => command
            .args(["cp", "--quiet", "--bucket", source_bucket, "--prefix", source_prefix])
            .args(["--to-bucket", bucket, "--replace-prefix", prefix]),
        Task::Download { bucket, prefix, target } => command
            .args(["cp", "--quiet", "--bucket", bucket, "--prefix", prefix, "--to-folder"])
            .arg(target),
        Task::Version => command.arg("version"),
        _ => return Err("only lists, copies between buckets and downloads".to_owned()),
    };
    Ok(command)
}
