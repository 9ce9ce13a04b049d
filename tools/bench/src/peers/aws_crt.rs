//! AWS's C library for S3 (the Common Runtime), through the class of `s3transfer` by which the
//! AWS command uses it. Version 1 of the command cannot; version 2 is not on `PyPI`, so a short
//! script does the rest of its work: walks the tree, or lists the objects.

use std::process::Command;

use super::Task;
use super::call::{Call, uri};

const SCRIPT: &str = include_str!("aws_crt.py");

/// Transfers only, as in the AWS command: everything else is the same there with and without it.
pub(super) fn line(call: &Call<'_>, task: &Task<'_>) -> Result<Command, String> {
    let script = call.file("aws_crt.py", SCRIPT)?;
    let mut command = call.command();
    command.arg(script);
    match *task {
        Task::Upload { tree, bucket, prefix } => {
            command.arg("upload").arg(tree).arg(uri(bucket, prefix))
        }
        Task::Download { bucket, prefix, target } => {
            command.arg("download").arg(uri(bucket, prefix)).arg(target)
        }
        Task::UploadFile { file, bucket, key } => {
            command.arg("upload-file").arg(file).arg(uri(bucket, key))
        }
        Task::DownloadFile { bucket, key, file } => {
            command.arg("download-file").arg(uri(bucket, key)).arg(file)
        }
        Task::Version => return Err("a library has no start-up of its own".to_owned()),
        _ => return Err("transfers only; otherwise as `aws`".to_owned()),
    };
    Ok(command)
}
