//! `job run --ray`: hands a job over to the Python package, which has a Ray cluster do it.

use std::io::ErrorKind;
use std::process::Command;

use serde_json::{Value, json};

use crate::args::{GlobalArgs, JobRunArgs};
use crate::env_vars;
use crate::exit;
use crate::failure::Failure;
use crate::settings::Environment;

/// The Python where nothing says which.
const PYTHON: &str = "python3";
/// What that does with the arguments behind it.
const PROGRAM: &str = "import sys\n\
    try:\n\
    \x20   from s3haul.ray import main\n\
    except ImportError as error:\n\
    \x20   sys.exit(f\"s3haul: error: {error}\\nhint: pip install 's3haul[ray]'\")\n\
    sys.exit(main(sys.argv[1:]))\n";

/// Runs a job on the cluster of an address, and gives the exit code of the job.
pub(super) fn run(
    (global, args): (&GlobalArgs, &JobRunArgs),
    (address, folder): (&str, &str),
    environment: &Environment,
) -> Result<u8, Failure> {
    if global.debug {
        let message = "--debug is of one process: with --ray, see the logs of the cluster";
        return Err(Failure::usage(message));
    }
    let python = environment.get(env_vars::S3HAUL_PYTHON).unwrap_or(PYTHON);
    let mut command = Command::new(python);
    command.args(["-c", PROGRAM, &args.file, "--at", folder, "--address", address]);
    command.args(["--client", &client(global).to_string()]);
    for (flag, is_given) in [("--no-progress", global.no_progress), ("--json", global.json)] {
        command.args(is_given.then_some(flag));
    }
    let status = command.status().map_err(|error| {
        let failure = Failure::other(format!("could not run `{python}`: {error}"));
        if error.kind() == ErrorKind::NotFound {
            let hint = "--ray takes Python with the package: pip install 's3haul[ray]'; \
                        S3HAUL_PYTHON says which Python";
            return failure.with_hint(hint);
        }
        failure
    })?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::FAILED))
}

/// The flags of services and limits, as the client of the package has them.
fn client(global: &GlobalArgs) -> Value {
    json!({
        "profile": global.profile,
        "region": global.region,
        "endpoint_url": global.endpoint_url,
        "no_sign_request": global.no_sign_request,
        "ca_bundle": global.ca_bundle,
        "no_verify_ssl": global.no_verify_ssl,
        "cli_read_timeout": global.cli_read_timeout,
        "cli_connect_timeout": global.cli_connect_timeout,
        "max_concurrent_requests": global.max_concurrent_requests,
        "max_requests_per_second": global.max_requests_per_second,
        "max_memory": global.max_memory,
        "max_bandwidth": global.max_bandwidth,
    })
}
