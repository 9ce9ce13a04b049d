//! Sessions of roles that ask for an MFA code. They lie where the AWS CLI keeps its own, as files
//! that both read, so that one code serves all commands for as long as the session lives.
//!
//! A session that is about to end counts as none, as in botocore, unless it was in use before: the
//! question for the next code comes when the old session really ends.

use std::fs::{File, TryLockError};
use std::io;
use std::time::Duration;

use aws_lc_rs::digest;
use reqsign_aws_v4::Credential;
use reqsign_core::Context;
use reqsign_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::context::{private_file, read_cached, write_cached};
use super::profile::failed;
use crate::env::Ask;
use crate::error::{Error, Result};
use crate::units::hex;

/// A session with less time left is not taken up.
const TAKEN_UP: Duration = Duration::from_mins(15);
/// A session that is in use ends so much before its time.
const MARGIN: Duration = Duration::from_secs(10);

/// How long another process may hold a session: a question waits 5 minutes for its answer.
const LOCKED_MAX: Duration = Duration::from_mins(6);
/// Time between two looks at a session that another process holds.
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// Held during a question: one at a time in the whole process.
pub(super) static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Where the session of a role is kept.
pub(super) struct Session<'c> {
    context: &'c Context,
    path: String,
    /// The device that shows the codes.
    serial: String,
    /// The account of the role, for others that read the file.
    account_id: Option<String>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    credentials: Kept,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Kept {
    access_key_id: String,
    secret_access_key: String,
    session_token: String,
    expiration: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    account_id: Option<String>,
}

impl<'c> Session<'c> {
    /// That of a role with these parameters of `AssumeRole`, as they are configured.
    pub(super) fn new(context: &'c Context, parameters: &[(&str, &str)]) -> Result<Self> {
        let path = format!("~/.aws/cli/cache/{}.json", name(parameters));
        let path = context
            .expand_home_dir(&path)
            .ok_or_else(|| failed("no home folder to keep the session of the role in"))?;
        let value = |wanted: &str| {
            let found = parameters.iter().find(|(name, _)| *name == wanted);
            found.map_or("", |(_, value)| *value)
        };
        let account_id = value("RoleArn").split(':').nth(4).map(str::to_owned);
        Ok(Self { context, path, serial: value("SerialNumber").to_owned(), account_id })
    }

    /// The one that is kept, if it lives.
    pub(super) async fn kept(&self) -> Option<Credential> {
        let json = read_cached(self.context, &self.path).await.ok()?;
        let kept = serde_json::from_slice::<Document>(&json).ok()?.credentials;
        let ends = kept.expiration.replace("UTC", "Z").parse().ok()?;
        (Timestamp::now() + MARGIN < ends).then_some(Credential {
            access_key_id: kept.access_key_id,
            secret_access_key: kept.secret_access_key,
            session_token: Some(kept.session_token),
            expires_in: Some(ends),
        })
    }

    /// Held, like [`TURN`], during a question, by one of the processes that share the session: what
    /// is typed for one of them serves all. `None` where the file cannot be made or locked, and
    /// where the other process has held it for longer than a question takes.
    pub(super) async fn lock(&self) -> Option<File> {
        let path = format!("{}.lock", self.path);
        let opened = tokio::task::spawn_blocking(move || private_file(&path)).await;
        let file = opened.map_err(io::Error::other).flatten();
        let file = file.inspect_err(|error| tracing::debug!(%error, "no lock")).ok()?;
        let begun = tokio::time::Instant::now();
        while begun.elapsed() < LOCKED_MAX {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_PAUSE).await,
                Err(TryLockError::Error(error)) => {
                    tracing::debug!(%error, "the session is not locked");
                    return None;
                }
            }
        }
        None
    }

    /// Keeps one for others; for this process only, where the file cannot be written.
    pub(super) async fn keep(&self, found: &Credential) {
        let (Some(token), Some(ends)) = (&found.session_token, found.expires_in) else { return };
        let credentials = Kept {
            access_key_id: found.access_key_id.clone(),
            secret_access_key: found.secret_access_key.clone(),
            session_token: token.clone(),
            expiration: ends.format_rfc3339_zulu(),
            account_id: self.account_id.clone(),
        };
        let json = serde_json::to_vec(&Document { credentials }).map_err(io::Error::other);
        let path = self.path.clone();
        let write = move || json.and_then(|json| write_cached(&path, json));
        let kept = tokio::task::spawn_blocking(write).await;
        if let Err(error) = kept.map_err(io::Error::other).flatten() {
            tracing::warn!(%error, "the session of the role could not be kept");
        }
    }

    /// Asks for a code of the device; `Err` where no question is possible or it stays without an
    /// answer.
    pub(super) async fn ask_code(&self, ask: Option<&Ask>) -> Result<String> {
        let cannot = |why: &str| {
            self.no_code(&format!(
                "{why}. Run `s3haul ls` or `aws s3 ls` with this profile in a terminal, and its \
                 session is used here, or take the credentials that `aws configure \
                 export-credentials` prints"
            ))
        };
        let Some(ask) = ask.map(Ask::clone) else {
            return Err(cannot("questions are not possible here"));
        };
        let question = format!("Enter MFA code for {}: ", self.serial);
        let asked = tokio::task::spawn_blocking(move || ask(&question)).await;
        let code = asked.map_err(|error| cannot(&error.to_string()))?;
        code.map(|code| code.trim().to_owned()).map_err(|why| cannot(&why))
    }

    pub(super) fn no_code(&self, why: &str) -> Error {
        failed(format!("the role needs an MFA code of {}: {why}", self.serial))
    }
}

/// Whether there is enough left of a session to begin with it.
pub(super) fn lasts(found: &Credential) -> bool {
    found.expires_in.is_none_or(|ends| Timestamp::now() + TAKEN_UP <= ends)
}

/// The name of a file by what makes a session another one: the hash of the parameters as Python
/// writes them, which is how botocore names its own.
fn name(parameters: &[(&str, &str)]) -> String {
    let mut parameters = parameters.to_vec();
    parameters.sort_unstable();
    let members = parameters.iter().map(|(name, value)| match *name {
        "DurationSeconds" => format!("\"{name}\": {}", value.parse::<u32>().unwrap_or_default()),
        _ => format!("\"{name}\": {}", ascii_json(value)),
    });
    let text = format!("{{{}}}", members.collect::<Vec<_>>().join(", "));
    hex(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()).as_ref())
}

/// A text as JSON without characters beyond ASCII.
fn ascii_json(text: &str) -> String {
    let mut units = [0; 2];
    let mut written = String::new();
    for character in serde_json::Value::from(text).to_string().chars() {
        if character.is_ascii() {
            written.push(character);
        } else {
            let escape = |unit: &u16| format!("\\u{unit:04x}");
            written.extend(character.encode_utf16(&mut units).iter().map(escape));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `hashlib.sha1(json.dumps(parameters, sort_keys=True).encode())` gives.
    #[test]
    fn files_have_the_names_that_botocore_gives_them() {
        let role = ("RoleArn", "arn:aws:iam::123456789012:role/a");
        let serial = ("SerialNumber", "arn:aws:iam::123456789012:mfa/me");
        let odd = ("ExternalId", "é\u{1f511}\"\\\n/");
        assert_eq!(name(&[serial, role]), "34e977c543ff27b36328106d06d5de2243163400");
        let all = [role, ("DurationSeconds", "3600"), serial, odd, ("RoleSessionName", "s")];
        assert_eq!(name(&all), "99f0a7c35f0d91acc1ee761d2d0476197aa6a223");
    }
}
