//! Decides from a scenario what happens to each request.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::bursts::Bursts;
use super::draws::{Draws, Fingerprint};
use super::link::Link;
use super::partitions::Partitions;
use super::settings::{FaultKind, FaultRule, Latency, ListingWeather, Scenario};
use crate::classify::Target;
use crate::weather::Effect;

/// Requests (and credentials) that are remembered; then all are forgotten.
const REMEMBERED_MAX: usize = 200_000;

/// Operations that may answer with status 200 and an error.
const OK_WITH_ERROR: [&str; 4] =
    ["CopyObject", "UploadPartCopy", "CompleteMultipartUpload", "DeleteObjects"];
/// Operations that read an object.
const READS_OBJECT: [&str; 5] =
    ["GetObject", "HeadObject", "CopyObject", "UploadPartCopy", "GetObjectTagging"];

/// A request and its circumstances.
#[derive(Debug)]
pub(crate) struct RequestInfo<'a> {
    pub(crate) target: &'a Target,
    pub(crate) now_us: u64,
    /// Access key id it was signed with; empty if unsigned.
    pub(crate) signer: &'a str,
    /// Whether it asks for a state of the object.
    pub(crate) is_conditional: bool,
}

/// What is odd about a page of a listing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct PageWeather {
    pub(crate) is_empty: bool,
    /// So much of the page is filled.
    pub(crate) share: Option<f64>,
    pub(crate) repeats: bool,
}

/// What happens to a request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Decision {
    pub(crate) delay: Duration,
    pub(crate) effect: Option<Effect>,
    pub(crate) page: PageWeather,
}

#[derive(Debug, Default)]
struct Past {
    /// Number of such requests so far.
    asked: u64,
    /// Faults since it last passed.
    in_a_row: u32,
}

#[derive(Debug)]
struct State {
    pasts: HashMap<u64, Past>,
    signers: HashMap<u64, u64>,
    partitions: Option<Partitions>,
    bursts: Option<Bursts>,
}

/// A scenario with the state that its decisions depend on.
#[derive(Debug)]
pub(crate) struct FaultPlan {
    scenario: Scenario,
    state: Mutex<State>,
    /// The line that all connections share: towards the server, and back.
    pub(crate) lines: [Mutex<Link>; 2],
    begin: Instant,
    met: Mutex<BTreeMap<&'static str, u64>>,
}

impl FaultPlan {
    pub(crate) fn new(scenario: Scenario) -> Self {
        let seed = Fingerprint::new(scenario.seed).and(b"bursts").finish();
        let state = State {
            pasts: HashMap::new(),
            signers: HashMap::new(),
            partitions: scenario.partitions.clone().map(Partitions::new),
            bursts: scenario.bursts.clone().map(|bursts| Bursts::new(bursts, seed)),
        };
        let line = || Mutex::new(Link::new(scenario.bandwidth.total_bytes_per_s));
        let lines = [line(), line()];
        let (state, met) = (Mutex::new(state), Mutex::default());
        Self { scenario, state, lines, begin: Instant::now(), met }
    }

    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Counts a fault of a request or a connection.
    pub(crate) fn note(&self, what: &'static str) {
        *self.met.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default() += 1;
    }

    /// How often each fault struck.
    pub(crate) fn met(&self) -> BTreeMap<&'static str, u64> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the lines' time began.
    pub(crate) fn begin(&self) -> Instant {
        self.begin
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the connection of this number never says `100 Continue`.
    pub(crate) fn withholds_continue(&self, connection: u64) -> bool {
        let seed = Fingerprint::new(self.scenario.seed).and(&connection.to_le_bytes()).finish();
        Draws::new(seed).happens(self.scenario.no_continue)
    }

    /// Decides for a request.
    pub(crate) fn decide(&self, request: &RequestInfo<'_>) -> Decision {
        let mut state = self.state();
        let identity = identity(self.scenario.seed, request.target);
        let past = remembered(&mut state.pasts, identity.finish());
        past.asked += 1;
        let (asked, is_spared) = (past.asked, past.in_a_row >= self.scenario.in_a_row_max);
        let mut draws = Draws::new(identity.and(&asked.to_le_bytes()).finish());
        let (delay, is_tail) = delay(&self.scenario.latency, &mut draws);
        let page = page(&self.scenario.listing, request.target, &mut draws);
        self.note_times(delay, is_tail, page);
        if let Some(effect) = self.refusal(&mut state, request) {
            return Decision { delay, effect: Some(effect), page };
        }
        let factor = state.bursts.as_mut().map_or(1.0, |bursts| bursts.factor(request.now_us));
        let rules = self.scenario.faults.iter().filter(|rule| applies(rule, request));
        // One draw for each, so that a rule that strikes does not change what follows.
        let mut struck = None;
        for rule in rules {
            let strikes = draws.happens(rule.probability * factor);
            struck = struck.or(strikes.then_some(rule));
        }
        let struck = struck.filter(|_| !is_spared);
        if let Some(rule) = struck {
            self.note(rule.fault.name());
            if factor > 1.0 {
                self.note("burst");
            }
        }
        let effect = struck.map(|rule| effect(rule, &mut draws));
        let past = remembered(&mut state.pasts, identity.finish());
        past.in_a_row = if effect.is_some() { past.in_a_row + 1 } else { 0 };
        Decision { delay, effect, page }
    }

    fn note_times(&self, delay: Duration, is_tail: bool, page: PageWeather) {
        let bandwidth = &self.scenario.bandwidth;
        for (what, is_so) in [
            ("latency", !delay.is_zero()),
            ("latency_tail", is_tail && !delay.is_zero()),
            ("connection_bandwidth", bandwidth.connection_bytes_per_s > 0),
            ("total_bandwidth", bandwidth.total_bytes_per_s > 0),
            ("empty_page", page.is_empty),
            ("short_page", page.share.is_some()),
            ("repeated_key", page.repeats),
        ] {
            if is_so {
                self.note(what);
            }
        }
    }

    /// Refusals that are not drawn at random.
    fn refusal(&self, state: &mut State, request: &RequestInfo<'_>) -> Option<Effect> {
        let expire_us = self.scenario.credentials_expire_ms.saturating_mul(1000);
        if expire_us > 0 && !request.signer.is_empty() {
            if state.signers.len() >= REMEMBERED_MAX {
                state.signers.clear();
            }
            let signer = Fingerprint::new(0).and(request.signer.as_bytes()).finish();
            let first_us = *state.signers.entry(signer).or_insert(request.now_us);
            if request.now_us.saturating_sub(first_us) >= expire_us {
                self.note("credentials_expired");
                return Some(Effect::respond(400, "ExpiredToken"));
            }
        }
        let target = request.target;
        let partitions = state.partitions.as_mut()?;
        let key = if target.key.is_empty() { &target.prefix } else { &target.key };
        let name = format!("{}/{key}", target.bucket);
        let is_write = !matches!(class(target.operation), "read" | "list");
        let count = partitions.count();
        let is_admitted = partitions.admits(request.now_us, &name, is_write);
        if partitions.count() > count {
            self.note("partition_split");
        }
        if is_admitted {
            return None;
        }
        self.note("partition_refused");
        Some(Effect::slow_down())
    }
}

fn remembered(pasts: &mut HashMap<u64, Past>, identity: u64) -> &mut Past {
    if pasts.len() >= REMEMBERED_MAX && !pasts.contains_key(&identity) {
        pasts.clear();
    }
    pasts.entry(identity).or_default()
}

/// What makes a request the same as an earlier one.
fn identity(seed: u64, target: &Target) -> Fingerprint {
    let pieces = [
        target.operation,
        target.bucket.as_str(),
        target.key.as_str(),
        target.prefix.as_str(),
        target.position.as_str(),
        target.part.as_str(),
    ];
    pieces.iter().fold(Fingerprint::new(seed), |all, piece| all.and(piece.as_bytes()))
}

fn class(operation: &str) -> &'static str {
    if operation.starts_with("List") {
        "list"
    } else if operation.starts_with("Get") || operation.starts_with("Head") {
        "read"
    } else if operation.starts_with("Delete") {
        "delete"
    } else {
        "write"
    }
}

fn applies(rule: &FaultRule, request: &RequestInfo<'_>) -> bool {
    let operation = request.target.operation;
    let class = class(operation);
    let is_named = |name: &String| name == "any" || name == operation || name == class;
    let is_possible = match rule.fault {
        FaultKind::OkWithError => OK_WITH_ERROR.contains(&operation),
        FaultKind::NotFound => READS_OBJECT.contains(&operation),
        FaultKind::Changed => request.is_conditional,
        // A flipped bit in a listing yields another valid name, which no client can notice.
        FaultKind::Corrupt => operation == "GetObject",
        _ => true,
    };
    is_possible && rule.requests.iter().any(is_named)
}

fn effect(rule: &FaultRule, draws: &mut Draws) -> Effect {
    let bytes = draws.magnitude(rule.bytes_max);
    let pause = Duration::from_millis(rule.pause_ms_max).mul_f64(draws.fraction());
    match rule.fault {
        FaultKind::SlowDown => Effect::slow_down(),
        FaultKind::InternalError => Effect::internal_error(),
        FaultKind::Respond => Effect::respond(rule.status, &rule.code),
        FaultKind::OkWithError => Effect::ok_with_error("InternalError"),
        FaultKind::NotFound => Effect::respond(404, "NoSuchKey"),
        FaultKind::Changed => Effect::respond(412, "PreconditionFailed"),
        FaultKind::ResetBefore => Effect::ResetBeforeResponse,
        FaultKind::ResetRequest => Effect::ResetInRequest { bytes },
        FaultKind::LostResponse => Effect::LostResponse,
        FaultKind::ResetBody => Effect::ResetAfter { bytes },
        FaultKind::Truncate => Effect::Truncate { bytes },
        FaultKind::Corrupt => Effect::CorruptByte { offset: bytes },
        FaultKind::Stall => Effect::Stall,
        FaultKind::SlowFirstByte => Effect::Pause { bytes: 0, time: pause },
        FaultKind::PauseBody => Effect::Pause { bytes, time: pause },
    }
}

/// A wait, and whether it is of the tail.
fn delay(latency: &Latency, draws: &mut Draws) -> (Duration, bool) {
    let (normal, is_tail) = (draws.normal(), draws.happens(latency.tail_probability));
    let mut ms = latency.median_ms * (latency.sigma * normal).exp();
    if is_tail {
        ms *= latency.tail_factor;
    }
    if latency.max_ms > 0.0 {
        ms = ms.min(latency.max_ms);
    }
    (Duration::try_from_secs_f64(ms / 1e3).unwrap_or(Duration::MAX), is_tail)
}

fn page(listing: &ListingWeather, target: &Target, draws: &mut Draws) -> PageWeather {
    let (is_empty, is_short) =
        (draws.happens(listing.empty_page), draws.happens(listing.short_page));
    let (repeats, share) = (draws.happens(listing.repeated_key), draws.fraction());
    if target.operation != "ListObjectsV2" {
        return PageWeather::default();
    }
    PageWeather { is_empty, share: is_short.then_some(share), repeats }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(operation: &'static str, key: &str) -> Target {
        Target { operation, key: key.to_owned(), ..Target::default() }
    }

    fn request(target: &Target) -> RequestInfo<'_> {
        RequestInfo { target, now_us: 0, signer: "me", is_conditional: false }
    }

    fn rough() -> Scenario {
        let faults = vec![
            FaultRule::new(FaultKind::ResetBefore, 0.5).of(&["write"]),
            FaultRule::new(FaultKind::Corrupt, 0.5),
        ];
        let latency = Latency { median_ms: 10.0, sigma: 0.5, ..Latency::default() };
        Scenario { latency, faults, ..Scenario::default() }
    }

    /// What the first requests for each of some keys meet.
    fn decisions(plan: &FaultPlan, keys: &[&str]) -> HashMap<String, Vec<Decision>> {
        let ask = |key: &str| {
            let target = target("PutObject", key);
            (key.to_owned(), (0..20).map(|_| plan.decide(&request(&target))).collect())
        };
        keys.iter().map(|key| ask(key)).collect()
    }

    #[test]
    fn the_order_of_others_changes_nothing() {
        let forth = decisions(&FaultPlan::new(rough()), &["a", "b", "c"]);
        assert_eq!(forth, decisions(&FaultPlan::new(rough()), &["c", "b", "a"]));
        assert_ne!(forth["a"], forth["b"]);
        let other = Scenario { seed: 2, ..rough() };
        assert_ne!(forth, decisions(&FaultPlan::new(other), &["a", "b", "c"]));
    }

    #[test]
    fn what_was_struck_often_enough_passes() {
        let always = vec![FaultRule::new(FaultKind::Stall, 1.0)];
        let plan =
            FaultPlan::new(Scenario { faults: always, in_a_row_max: 2, ..Scenario::default() });
        let target = target("PutObject", "k");
        let struck: Vec<_> =
            (0..6).map(|_| plan.decide(&request(&target)).effect.is_some()).collect();
        assert_eq!(struck, [true, true, false, true, true, false]);
    }

    #[test]
    fn rules_meet_whom_they_name_and_what_is_possible() {
        let plan = FaultPlan::new(rough());
        let count = |operation| {
            let struck = |n: usize| {
                plan.decide(&request(&target(operation, &n.to_string()))).effect.is_some()
            };
            (0..400).filter(|n| struck(*n)).count()
        };
        assert!((160..240).contains(&count("PutObject")));
        assert!((160..240).contains(&count("GetObject")));
        assert_eq!((count("HeadObject"), count("ListObjectsV2")), (0, 0));
    }

    #[test]
    fn credentials_expire_after_their_first_use() {
        let plan = FaultPlan::new(Scenario { credentials_expire_ms: 1000, ..Scenario::default() });
        let target = target("GetObject", "k");
        let code = |now_us, signer| {
            let request = RequestInfo { now_us, signer, ..request(&target) };
            plan.decide(&request).effect.is_some()
        };
        assert!(!code(5_000_000, "old") && !code(5_900_000, "old") && code(6_100_000, "old"));
        assert!(!code(6_200_000, "new") && !code(9_000_000, ""));
    }
}
