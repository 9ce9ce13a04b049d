//! `serve`: an S3 endpoint on this machine.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use s3haul_sim::{AccessKey, Limits, SimBuilder, SimConfig};
use serde::Serialize;
use tokio::sync::oneshot;

use crate::exit;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::printer::Printer;
use crate::render::json;
use crate::settings::ServeSettings;

/// Serves until Ctrl-C, SIGTERM or, if asked for, the end of standard input.
pub(super) async fn run(settings: ServeSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let interrupt = Interrupt::listen();
    let stdin_ended = settings.stop_with_stdin.then(end_of_stdin);
    let address = settings.address.to_string();
    let variables = [
        ("AWS_ACCESS_KEY_ID", settings.access_key.clone()),
        ("AWS_SECRET_ACCESS_KEY", settings.secret_key.clone()),
        ("AWS_REGION", settings.region.clone()),
        ("AWS_DEFAULT_REGION", settings.region.clone()),
    ];
    let as_json = settings.json;
    let server = SimBuilder::from_config(config(settings)).bind(&address).await;
    let server = server.map_err(|error| Failure::other(format!("cannot serve: {error}")))?;
    let url = ("AWS_ENDPOINT_URL", server.endpoint_url());
    let environment: BTreeMap<_, _> = std::iter::once(url).chain(variables).collect();
    printer.output(|buffer| {
        if as_json {
            return json::push(buffer, "serving", ServingLine { environment: &environment });
        }
        for (name, value) in &environment {
            buffer.extend_from_slice(format!("export {name}={}\n", quote(value)).as_bytes());
        }
    });
    printer.flush();
    tokio::select! {
        () = interrupt.token().cancelled_owned() => {}
        () = wait(stdin_ended) => {}
    }
    server.shutdown().await;
    Ok(exit::SUCCESS)
}

#[derive(Serialize)]
struct ServingLine<'a> {
    environment: &'a BTreeMap<&'static str, String>,
}

fn config(settings: ServeSettings) -> SimConfig {
    let key =
        AccessKey { id: settings.access_key, secret: settings.secret_key, session_token: None };
    SimConfig {
        store: settings.store,
        region: settings.region,
        access_keys: vec![key],
        // Nobody reads them here, and a server may run for long.
        ledger_records: 0,
        ledger_file: settings.ledger,
        latency: settings.latency,
        tls: settings.tls,
        limits: Limits { restore_time: settings.restore_time, ..Limits::default() },
        scenario: settings.weather,
        ..SimConfig::default()
    }
}

/// Tells when standard input has ended. The thread is one of its own because it may stay blocked
/// until the process ends.
fn end_of_stdin() -> oneshot::Receiver<()> {
    let (ended, receiver) = oneshot::channel();
    let drain = move || {
        // An input that cannot be read has ended too.
        _ = std::io::copy(&mut std::io::stdin().lock().by_ref(), &mut std::io::sink());
        // Nobody waits any more where the server has stopped already.
        _ = ended.send(());
    };
    std::thread::spawn(drain);
    receiver
}

async fn wait(ended: Option<oneshot::Receiver<()>>) {
    match ended {
        // A thread that died has ended too.
        Some(ended) => _ = ended.await,
        None => std::future::pending().await,
    }
}

/// A word for a shell.
fn quote(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+@%,=".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn odd_values_are_quoted() {
        assert_eq!(quote("http://127.0.0.1:9000"), "http://127.0.0.1:9000");
        assert_eq!(quote("a b'c"), r"'a b'\''c'");
        assert_eq!(quote(""), "''");
    }
}
