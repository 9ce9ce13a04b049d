//! `serve`: an S3 endpoint on this machine.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::sync::Arc;

use s3haul_sim::{AccessKey, Limits, RunningServer, SimBuilder, SimConfig, SimError, StoreKind};
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
    let variables = [
        ("AWS_ACCESS_KEY_ID", settings.access_key.clone()),
        ("AWS_SECRET_ACCESS_KEY", settings.secret_key.clone()),
        ("AWS_REGION", settings.region.clone()),
        ("AWS_DEFAULT_REGION", settings.region.clone()),
    ];
    // A program that holds standard input open wants the lines and nothing else.
    let has_notes = !settings.json && !settings.stop_with_stdin;
    let (as_json, what) = (settings.json, shown_store(&settings.store));
    let server = start(settings).await?;
    let url = server.endpoint_url();
    let endpoint = ("AWS_ENDPOINT_URL", url.clone());
    let environment: BTreeMap<_, _> = std::iter::once(endpoint).chain(variables).collect();
    let note = |text: String| {
        if has_notes {
            printer.error(|buffer| buffer.extend_from_slice(text.as_bytes()));
        }
    };
    let how = if printer.output_is_terminal() {
        "run these lines in another terminal, and s3haul and the AWS tools use it there:"
    } else {
        "standard output has the lines that set the environment: if it is a file, run `. FILE` in \
         another terminal, and s3haul and the AWS tools use this server there"
    };
    if let left_out @ 1.. = server.sim().left_out() {
        note(format!(
            "warning: could not read {left_out} of the objects, versions and files of {what}, \
             which are not served; `--debug` names them\n"
        ));
    }
    note(format!("serving {what} at {url}\n{how}\n"));
    printer.output(|buffer| {
        if as_json {
            return json::push(buffer, "serving", ServingLine { environment: &environment });
        }
        for (name, value) in &environment {
            buffer.extend_from_slice(format!("export {name}={}\n", quote(value)).as_bytes());
        }
    });
    printer.flush();
    note(format!(
        "for example: s3haul ls, or without these lines but with the same two keys: \
         aws --endpoint-url {url} s3 ls\n\
         Ctrl-C stops the server\n"
    ));
    tokio::select! {
        () = interrupt.token().cancelled_owned() => {}
        () = wait(stdin_ended) => {}
    }
    server.shutdown().await;
    Ok(exit::SUCCESS)
}

/// Serves for a program, until that is dropped or shut down.
pub(crate) async fn start(settings: ServeSettings) -> Result<RunningServer, Failure> {
    let address = settings.address.to_string();
    let server = SimBuilder::from_config(config(settings)).bind(&address).await;
    server.map_err(|error| failure(&error))
}

/// What is served, for people.
fn shown_store(store: &StoreKind) -> String {
    match store {
        StoreKind::Disk(root) => format!("the folder `{}`", root.display()),
        StoreKind::Memory => "objects in memory, which are lost at the end,".to_owned(),
        StoreKind::Null { .. } => "objects without their bytes".to_owned(),
        StoreKind::Synthetic { bucket, .. } | StoreKind::KeyFile { bucket, .. } => {
            format!("computed objects in the bucket `{bucket}`")
        }
    }
}

/// Why there is no server, and what may help.
fn failure(error: &SimError) -> Failure {
    let hint = match error {
        SimError::Bind { source, .. } if source.kind() == ErrorKind::AddrInUse => Some(
            "another program listens there; choose another port with `--address HOST:PORT`, or \
             port 0 for a free one: `--address 127.0.0.1:0`",
        ),
        SimError::Bind { .. } => Some(
            "choose an address of this machine with `--address HOST:PORT`; port 0 takes a free one",
        ),
        _ => None,
    };
    let hint = hint.map(str::to_owned);
    Failure { hint, ..Failure::other(format!("cannot serve: {error}")) }
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
        // They are not read here, and a server may run for long.
        ledger_records: 0,
        ledger_file: settings.ledger,
        latency: settings.latency,
        tls: settings.tls,
        limits: Limits { restore_time: settings.restore_time, ..Limits::default() },
        scenario: settings.weather,
        ..SimConfig::default()
    }
}

/// Resolves when standard input has ended. It has its own thread because it may stay blocked
/// until the process ends.
fn end_of_stdin() -> oneshot::Receiver<()> {
    let (ended, receiver) = oneshot::channel();
    let drain = move || {
        // An input that cannot be read has ended too.
        _ = std::io::copy(&mut std::io::stdin().lock().by_ref(), &mut std::io::sink());
        // The receiver is gone if the server has stopped already.
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
