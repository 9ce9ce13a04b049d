//! s3p: lists and copies between buckets, and downloads; it finds out itself how much to do at a
//! time. Not tried here, for want of a package: written after its documentation, for a version
//! that knows `--endpoint`. Larger objects it copies by calling the AWS command.

use std::process::Command;

use super::Task;
use super::call::Call;

pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let mut command = call.command();
    let endpoint = &call.endpoint.url;
    let mut begin = |name: &str, bucket: &str| {
        command.args([name, "--quiet", "--endpoint", endpoint, "--bucket", bucket]);
    };
    match *task {
        Task::List { bucket } => begin("ls", bucket),
        Task::Summarize { bucket } => begin("summarize", bucket),
        Task::Copy { source_bucket, source_prefix, bucket, prefix } => {
            begin("cp", source_bucket);
            command.args(["--prefix", source_prefix, "--to-bucket", bucket, "--to-prefix", prefix]);
        }
        Task::Download { bucket, prefix, target } => {
            begin("cp", bucket);
            let cut = format!("js:(key) => key.slice({})", prefix.encode_utf16().count());
            command.args(["--prefix", prefix, "--to-key", &cut, "--to-folder"]).arg(target);
        }
        Task::Version => {
            command.arg("version");
        }
        _ => return Err("only lists, copies between buckets and downloads".to_owned()),
    }
    Ok(command)
}
