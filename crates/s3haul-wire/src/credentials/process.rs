//! `credential_process`: a program that prints credentials as JSON, and functions of a program that
//! uses this library, which return the same.

use reqsign_aws_v4::Credential;
use reqsign_core::Context;
use serde::Deserialize;

use super::profile::failed;
use crate::config::CredentialsFunction;
use crate::credentials::profile::shell_words;
use crate::error::{Error, Result};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Output {
    version: u32,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<String>,
}

fn wrong(why: &str) -> Error {
    failed(format!("Error when retrieving credentials from custom-process: {why}"))
}

/// Calls a function that may block.
pub(super) async fn call(function: CredentialsFunction) -> Result<Credential> {
    let called = tokio::task::spawn_blocking(move || (function.0)()).await;
    let failure = |why: String| failed(format!("credentials could not be had: {why}"));
    read(&called.map_err(|error| failure(error.to_string()))?.map_err(failure)?)
}

/// Runs the command line and reads what it prints.
pub(super) async fn run(context: &Context, command: &str) -> Result<Credential> {
    let words = shell_words(command).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else {
        return Err(failed("credential_process is empty, or a quote in it is not closed"));
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = context
        .command_execute(program, &arguments)
        .await
        .map_err(|error| wrong(&error.to_string()))?;
    if !output.success() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr).trim()));
    }
    read(&output.stdout)
}

/// Reads the JSON. What it holds may be secret: it is not shown.
fn read(json: &[u8]) -> Result<Credential> {
    let parsed: Output =
        serde_json::from_slice(json).map_err(|_| wrong("the output is not the expected JSON"))?;
    if parsed.version != 1 {
        let version = parsed.version;
        return Err(wrong(&format!("Unsupported version '{version}', supported versions: 1")));
    }
    let expires_in = parsed
        .expiration
        .map(|text| text.parse())
        .transpose()
        .map_err(|_| wrong("`Expiration` is not a time"))?;
    Ok(Credential {
        access_key_id: parsed.access_key_id,
        secret_access_key: parsed.secret_access_key,
        session_token: parsed.session_token,
        expires_in,
    })
}
