//! Pushes metrics and traces to an OpenTelemetry collector while a command runs.
//!
//! A thread with a runtime of its own sends them every few seconds and once more at the end. The
//! job never waits for it, and its end waits for the last push only for a limited time. What a
//! collector did not take is dropped: counters go on, and traces are a sample anyway.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use s3haul_wire::env::Env;
use s3haul_wire::{ClientConfig, Fetcher};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::families::{Run, RunEnd, families};
use super::otlp::Identity;
use crate::failure::Failure;
use crate::observe::Observer;
use crate::settings::CollectorSettings;

/// Time between two pushes.
const SEND_EVERY: Duration = Duration::from_secs(5);
/// Longest time for a push: the end of a command waits for the last one.
const SEND_TIME_MAX: Duration = Duration::from_secs(5);

/// Sends until the end of the command.
#[derive(Debug)]
pub(super) struct Push {
    url: String,
    end: oneshot::Sender<RunEnd>,
    /// Gives why the last push failed, if it did.
    thread: JoinHandle<Option<String>>,
}

impl Push {
    pub(super) fn start(
        collector: CollectorSettings,
        observer: Arc<Observer>,
        run: Arc<Run>,
    ) -> Result<Self, Failure> {
        if collector.sends_traces {
            observer.meter().keep_attempts();
        }
        let failed = |error| Failure::other(format!("cannot start a thread: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let (url, (end, ended)) = (collector.url.clone(), oneshot::channel());
        let sender =
            Sender { identity: Identity::new(collector.parent.as_ref()), collector, observer, run };
        let thread = std::thread::Builder::new().name("collector".to_owned());
        let thread = thread.spawn(move || {
            let why = runtime.block_on(sender.send_until(ended));
            // A name that is still being resolved is not waited for.
            runtime.shutdown_background();
            why
        });
        Ok(Self { url, end, thread: thread.map_err(failed)? })
    }

    /// Sends a last time; gives a message if that failed.
    pub(super) fn finish(self, end: RunEnd) -> Option<String> {
        // If the thread has panicked, it has printed so.
        _ = self.end.send(end);
        let why = self.thread.join().ok().flatten()?;
        Some(format!("{} did not get the last metrics and traces: {why}", self.url))
    }
}

struct Sender {
    collector: CollectorSettings,
    observer: Arc<Observer>,
    run: Arc<Run>,
    identity: Identity,
}

impl Sender {
    async fn send_until(&self, mut ended: oneshot::Receiver<RunEnd>) -> Option<String> {
        let config = ClientConfig {
            tls: self.collector.tls.clone(),
            proxy: self.collector.proxy.clone(),
            ..ClientConfig::default()
        };
        let fetcher = Fetcher::patient("the collector", &config, &Env::system());
        let again_and_again = async {
            loop {
                sleep(SEND_EVERY).await;
                // The next one follows, and of the last one a failure is reported.
                _ = self.send(&fetcher, None).await;
            }
        };
        let end = tokio::select! {
            end = &mut ended => end.ok()?,
            () = again_and_again => return None,
        };
        self.send(&fetcher, Some(end)).await.err()
    }

    /// Sends what is there, or says what stands in the way.
    async fn send(&self, fetcher: &Fetcher, end: Option<RunEnd>) -> Result<(), String> {
        let (run, observer) = (&self.run, &self.observer);
        observer.sample();
        let both = async {
            let metrics = async {
                if !self.collector.sends_metrics {
                    return Ok(());
                }
                let families = families(observer, run, end);
                let document = self.identity.metrics(run, &families, SystemTime::now());
                self.post(fetcher, "metrics", &document).await
            };
            let traces = async {
                let attempts = observer.meter().take_attempts();
                let end = end.map(|end| (end, &**observer.totals()));
                match self.identity.traces(run, &attempts, end) {
                    Some(document) if self.collector.sends_traces => {
                        self.post(fetcher, "traces", &document).await
                    }
                    _ => Ok(()),
                }
            };
            let (metrics, traces) = tokio::join!(metrics, traces);
            metrics.and(traces)
        };
        let late = || Err(format!("no answer within {} s", SEND_TIME_MAX.as_secs()));
        timeout(SEND_TIME_MAX, both).await.unwrap_or_else(|_| late())
    }

    async fn post(&self, fetcher: &Fetcher, signal: &str, document: &Value) -> Result<(), String> {
        let mut request = Request::post(format!("{}/v1/{signal}", self.collector.url))
            .body(Bytes::from(document.to_string()))
            .map_err(|error| error.to_string())?;
        request.headers_mut().extend(self.collector.headers.clone());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = fetcher.fetch(&request).await.map_err(|error| error.to_string())?;
        let status = answer.status();
        status
            .is_success()
            .then_some(())
            .ok_or_else(|| format!("it answered /v1/{signal} with {}", status.as_u16()))
    }
}
