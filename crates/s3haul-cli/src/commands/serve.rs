//! `serve`: an S3 endpoint on this machine.

use std::sync::Arc;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::ServeSettings;

/// Serves until Ctrl-C.
pub(super) async fn run(_settings: ServeSettings, _printer: &Arc<Printer>) -> Result<u8, Failure> {
    Err(Failure::other("not built yet"))
}
