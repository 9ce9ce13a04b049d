//! A client beside the command, for what the command does not do.

#![expect(clippy::unwrap_used, reason = "a helper of tests: it may fail them")]

use s3haul_wire::env::Env;
use s3haul_wire::{Client, ClientConfig, CredentialsConfig, EndpointConfig};

use crate::support::Bench;

/// A client of the server of a bench.
pub(crate) fn client(bench: &Bench) -> Client {
    let variable = |name: &str| bench.variable(name).to_owned();
    let config = ClientConfig {
        endpoint: EndpointConfig {
            url: Some(variable("AWS_ENDPOINT_URL")),
            region: Some(variable("AWS_REGION")),
            ..EndpointConfig::default()
        },
        credentials: CredentialsConfig::Static {
            access_key_id: variable("AWS_ACCESS_KEY_ID"),
            secret_access_key: variable("AWS_SECRET_ACCESS_KEY"),
            session_token: None,
        },
        max_connections: 256,
        ..ClientConfig::default()
    };
    Client::new(config, Env::system()).unwrap()
}
