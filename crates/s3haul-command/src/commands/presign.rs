//! `presign`.

use std::sync::Arc;

use serde::Serialize;

use super::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::json;
use crate::settings::PresignSettings;

#[derive(Serialize)]
struct UrlLine<'a> {
    url: &'a str,
}

/// Prints a URL with which anyone can read an object for a while.
pub(super) async fn run(settings: PresignSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client(settings.client)?;
    let object = &settings.object;
    let url = client.presign_get(&object.bucket, &object.key, settings.expires_in).await?;
    printer.output(|buffer| {
        if settings.json {
            json::push(buffer, "url", UrlLine { url: &url });
        } else {
            buffer.extend_from_slice(url.as_bytes());
            buffer.push(b'\n');
        }
    });
    Ok(exit::SUCCESS)
}
