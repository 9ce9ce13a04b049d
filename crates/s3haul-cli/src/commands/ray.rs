//! `job run --ray`: hands a job over to the Python package, which has a Ray cluster do it.

use std::io::ErrorKind;
use std::process::Command;

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
    let python = environment.get(env_vars::S3HAUL_PYTHON).unwrap_or(PYTHON);
    let mut command = Command::new(python);
    command.args(["-c", PROGRAM, &args.file, "--at", folder, "--address", address]);
    for (name, value) in [
        ("--profile", &global.profile),
        ("--region", &global.region),
        ("--endpoint-url", &global.endpoint_url),
    ] {
        command.args(value.iter().flat_map(|value| [name, value.as_str()]));
    }
    if global.no_progress {
        command.arg("--no-progress");
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
