//! Credentials: fetched once, kept, refreshed before they end.

use std::sync::Arc;

use super::config::CredentialsConfig;
use super::sign::Credentials;
use crate::error::{Error, ErrorKind, Result};

/// Credentials with a number that changes when they do.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) credentials: Credentials,
    pub(crate) generation: u64,
}

/// Where a client gets its credentials.
#[derive(Debug)]
pub(crate) struct CredentialsCache {
    held: Option<Arc<Held>>,
    anonymous: bool,
}

impl CredentialsCache {
    pub(crate) fn new(config: &CredentialsConfig) -> Self {
        let held = match config {
            CredentialsConfig::Static { access_key_id, secret_access_key, session_token } => {
                let credentials = Credentials {
                    access_key_id: access_key_id.clone(),
                    secret_access_key: secret_access_key.clone(),
                    session_token: session_token.clone(),
                };
                Some(Arc::new(Held { credentials, generation: 0 }))
            }
            _ => None,
        };
        Self { held, anonymous: matches!(config, CredentialsConfig::Anonymous) }
    }

    /// Credentials to sign with; `None` where requests are not signed.
    #[expect(clippy::unused_async, reason = "the chain is not wired yet")]
    pub(crate) async fn get(&self) -> Result<Option<Arc<Held>>> {
        match &self.held {
            Some(held) => Ok(Some(Arc::clone(held))),
            None if self.anonymous => Ok(None),
            None => Err(Error::new(ErrorKind::Credentials, "Unable to locate credentials")),
        }
    }

    /// Drops credentials that the server called expired; whether others can be had.
    pub(crate) fn expire(&self, _generation: u64) -> bool {
        false
    }
}
