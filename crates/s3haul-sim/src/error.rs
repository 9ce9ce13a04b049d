//! Why a simulator could not be made or started.

use std::io;

use crate::store::synthetic::SyntheticError;

/// Why a simulator could not be made or started.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The store could not be opened.
    #[error("could not open the store: {0}")]
    Store(String),
    /// Synthetic keys could not be made.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// The ledger's file could not be created.
    #[error("could not create the ledger's file: {0}")]
    Ledger(#[source] io::Error),
    /// The files of a certificate could not be used.
    #[error("could not use the certificate: {0}")]
    Tls(String),
    /// The address could not be bound.
    #[error("could not listen on `{address}`: {source}")]
    Bind {
        /// What was asked for.
        address: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The address can be reached from outside, and the well-known key pair would open it.
    #[error(
        "refusing to listen on `{address}`, which is not a loopback address, \
         without access keys of your own"
    )]
    OpenToTheWorld {
        /// What was asked for.
        address: String,
    },
}
