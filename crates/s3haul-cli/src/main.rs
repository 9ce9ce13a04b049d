//! The `s3haul` command: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    s3haul_command::prepare_process();
    ExitCode::from(s3haul_command::run(std::env::args_os()))
}
