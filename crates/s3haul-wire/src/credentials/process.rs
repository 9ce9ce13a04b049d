//! `credential_process`: a program that prints credentials as JSON.

use reqsign_aws_v4::Credential;
use reqsign_core::Context;
use serde::Deserialize;

use super::chain::failed;
use crate::credentials::profile::shell_words;
use crate::error::Result;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Output {
    version: u32,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<String>,
}

/// Runs the command line and reads what it prints.
pub(super) async fn run(context: &Context, command: &str) -> Result<Credential> {
    let words = shell_words(command).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else {
        return Err(failed("credential_process is empty, or a quote in it is not closed"));
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let wrong = |why: String| {
        failed(format!("Error when retrieving credentials from custom-process: {why}"))
    };
    let output = context
        .command_execute(program, &arguments)
        .await
        .map_err(|error| wrong(error.to_string()))?;
    if !output.success() {
        return Err(wrong(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    // What it printed may hold secrets: it is not shown.
    let parsed: Output = serde_json::from_slice(&output.stdout)
        .map_err(|_| wrong("the output is not the expected JSON".to_owned()))?;
    if parsed.version != 1 {
        let version = parsed.version;
        return Err(wrong(format!("Unsupported version '{version}', supported versions: 1")));
    }
    let expires_in = parsed
        .expiration
        .map(|text| text.parse())
        .transpose()
        .map_err(|_| wrong("`Expiration` is not a time".to_owned()))?;
    Ok(Credential {
        access_key_id: parsed.access_key_id,
        secret_access_key: parsed.secret_access_key,
        session_token: parsed.session_token,
        expires_in,
    })
}
