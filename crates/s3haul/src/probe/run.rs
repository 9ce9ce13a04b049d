//! Asking the probes, several at a time, within a minute.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Method;
use tokio::time::{Instant, timeout_at};

use super::catalogue::catalogue;
use super::ground::Ground;
use super::judged::Outcome;
use super::question::Probe;
use super::report::{Finding, Report};
use super::room::Room;

/// Probes at once.
const PROBES_AT_ONCE: usize = 12;
/// Longest time of one probe.
const PROBE_MAX: Duration = Duration::from_secs(20);
/// Time after which no probe is begun and none goes on: with the clearing up, a minute.
const RUN_MAX: Duration = Duration::from_secs(35);

/// The probe that changes what the others find: it runs last, and alone.
const LAST: &str = "versions";

/// Asks all probes.
pub async fn run(ground: &Ground) -> Report {
    let end = Instant::now() + RUN_MAX;
    let server = timeout_at(end, server(ground)).await.unwrap_or_default();
    let (mut asked, mut last) = (Vec::new(), Vec::new());
    for (at, probe) in catalogue().enumerate() {
        let of_probe = if probe.name == LAST { &mut last } else { &mut asked };
        of_probe.push(ask(ground, at, probe, end));
    }
    let asked = stream::iter(asked).buffer_unordered(PROBES_AT_ONCE);
    let mut asked = std::pin::pin!(asked.chain(stream::iter(last).buffered(1)));
    let mut findings = Vec::new();
    while let Some(found) = asked.next().await {
        findings.push(found);
    }
    findings.sort_by_key(|(at, _)| *at);
    Report { server, findings: findings.into_iter().map(|(_, finding)| finding).collect() }
}

/// Asks a probe; returns its place in the catalogue, too.
async fn ask(ground: &Ground, at: usize, probe: &'static Probe, end: Instant) -> (usize, Finding) {
    let room = Room::new(ground, probe.name);
    let until = end.min(Instant::now() + PROBE_MAX);
    let outcome = match timeout_at(until, (probe.ask)(&room)).await {
        Ok(judged) => judged.into(),
        Err(_) => Outcome::Unknown("there was no time left for it".to_owned()),
    };
    (at, Finding { probe, outcome })
}

/// What the service calls itself.
async fn server(ground: &Ground) -> String {
    let room = Room::new(ground, "server");
    let answer = room.expect(Method::PUT, "k", &[], Bytes::new()).await;
    answer.map(|answer| answer.header("server").to_owned()).unwrap_or_default()
}
