//! `cp`, `mv` and `rm`.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::spec::{Clients, Streams, Summary, TransferSpec};
use crate::error::{Error, ErrorKind, Result};
use crate::event::EventSink;

/// Runs a job to its end. Objects that fail are events and counted; an error comes back only
/// where nothing was begun: [`ErrorKind::Config`] for arguments that make no sense (exit status
/// 252), [`ErrorKind::Local`] for a missing source path (255).
///
/// Cancelling stops new work, drops what is in flight, aborts multipart uploads, removes
/// temporary files and returns with `cancelled` set.
pub async fn run_transfer(
    _spec: TransferSpec,
    _clients: Clients,
    _streams: Streams,
    _sink: Arc<dyn EventSink>,
    _cancel: CancellationToken,
) -> Result<Summary> {
    Err(Error::new(ErrorKind::Config, "not built yet"))
}
