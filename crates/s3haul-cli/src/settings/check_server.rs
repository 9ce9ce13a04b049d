//! `check-server`.

use std::time::Duration;

use s3haul_wire::{ClientConfig, RetryConfig, TimeoutConfig};

use super::Settings;
use super::check::{address, check_bucket, invalid_argument_type};
use crate::args::{CheckServerArgs, FindingsFormat};
use crate::failure::Failure;

/// Attempts of a request: enough for a service that is busy, and few where it fails always.
const ATTEMPTS_MAX: u32 = 3;
/// Longest silence of a service: with the attempts, less than the minute of the whole check.
const SILENCE_MAX: Duration = Duration::from_secs(8);
/// Longest folder that is named, in bytes: with it, keys have to fit into 1,024.
const FOLDER_MAX: usize = 600;

/// `check-server`.
#[derive(Debug)]
pub(crate) struct CheckServerSettings {
    /// Client.
    pub(crate) client: ClientConfig,
    /// Bucket and folder to work in; none for a new bucket.
    pub(crate) place: Option<(String, String)>,
    /// How findings are written.
    pub(crate) format: FindingsFormat,
    /// What the row of the matrix calls the service; none for what it calls itself.
    pub(crate) name: Option<String>,
}

impl CheckServerSettings {
    /// For a command line.
    pub(crate) fn new(settings: &Settings, args: &CheckServerArgs) -> Result<Self, Failure> {
        let default = &settings.client;
        let max_attempts = default.retry.max_attempts.min(ATTEMPTS_MAX);
        let retry = RetryConfig { max_attempts, ..default.retry };
        let timeouts = TimeoutConfig {
            connect: default.timeouts.connect.min(SILENCE_MAX),
            read: default.timeouts.read.min(SILENCE_MAX),
        };
        let format = match (args.format, settings.json) {
            (Some(format), _) => format,
            (None, true) => FindingsFormat::Json,
            (None, false) => FindingsFormat::Text,
        };
        Ok(Self {
            client: ClientConfig { retry, timeouts, hedging: false, ..default.clone() },
            place: args.path.as_deref().map(place).transpose()?,
            format,
            name: args.name.clone(),
        })
    }
}

fn place(path: &str) -> Result<(String, String), Failure> {
    check_bucket(path)?;
    let object = address(path)?;
    if object.bucket.is_empty() {
        return Err(invalid_argument_type("check-server", "[S3Uri]"));
    }
    let length = object.key.len();
    if length > FOLDER_MAX {
        return Err(Failure::usage(format!(
            "the folder has {length} bytes: with more than {FOLDER_MAX}, keys in it are too long"
        )));
    }
    Ok((object.bucket, object.key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_bucket_and_a_folder() {
        let place = |path: &str| place(path).ok();
        let pair = |bucket: &str, folder: &str| Some((bucket.to_owned(), folder.to_owned()));
        assert_eq!(place("s3://b"), pair("b", ""));
        assert_eq!(place("b/p/q"), pair("b", "p/q"));
        assert_eq!(place("s3://"), None);
        let (longest, longer) = ("f".repeat(600), format!("b/{}", "f".repeat(601)));
        assert_eq!(place(&format!("b/{longest}")), pair("b", &longest));
        assert_eq!(place(&longer), None);
    }
}
