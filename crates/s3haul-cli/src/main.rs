//! The `s3haul` command: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    s3haul_cli::prepare_process();
    ExitCode::from(s3haul_cli::run(std::env::args_os()))
}
