//! Simulated conditions: a fixed latency, and faults that tests script.
//!
//! A fault waits for requests that match it; the first `skip` of them pass, the next `times` get
//! its effect. The faults are asked in the order in which they were pushed; delays add up, of the
//! other effects the first one wins. Distributions, token buckets and scenario files will sit
//! behind `Weather::forecast` too.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use crate::classify::Target;
use crate::scenario::{FaultPlan, PageWeather, RequestInfo, Scenario};

/// What happens to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// An error response; the request is not carried out.
    Respond {
        /// HTTP status.
        status: u16,
        /// S3's error code.
        code: String,
    },
    /// Status 200 with an error in the body, as `CopyObject`, `CompleteMultipartUpload` and
    /// `DeleteObjects` can answer; the request is not carried out.
    OkWithError {
        /// S3's error code.
        code: String,
    },
    /// The connection is reset before the request is carried out.
    ResetBeforeResponse,
    /// The connection is reset after this many bytes of the request's body; it is not carried out.
    ResetInRequest {
        /// Bytes that are read.
        bytes: u64,
    },
    /// The request is carried out, then the connection is reset before any byte of the response.
    LostResponse,
    /// The connection is reset after this many bytes of the response's body.
    ResetAfter {
        /// Bytes that still arrive.
        bytes: u64,
    },
    /// The connection is closed in order after this many bytes of the response's body.
    Truncate {
        /// Bytes that still arrive.
        bytes: u64,
    },
    /// One bit of the response's body is turned over.
    CorruptByte {
        /// Offset of the byte.
        offset: u64,
    },
    /// The response's body pauses after this many bytes.
    Pause {
        /// Bytes that come before.
        bytes: u64,
        /// How long.
        time: Duration,
    },
    /// The response's body comes byte by byte.
    Trickle {
        /// Time before each byte.
        every: Duration,
    },
    /// No answer, ever.
    Stall,
    /// The answer comes later by this much.
    Delay(Duration),
}

impl Effect {
    /// A `503 SlowDown`.
    pub fn slow_down() -> Self {
        Self::respond(503, "SlowDown")
    }

    /// A `500 InternalError`.
    pub fn internal_error() -> Self {
        Self::respond(500, "InternalError")
    }

    /// Any error response.
    pub fn respond(status: u16, code: &str) -> Self {
        Self::Respond { status, code: code.to_owned() }
    }

    /// Status 200 with an error in the body.
    pub fn ok_with_error(code: &str) -> Self {
        Self::OkWithError { code: code.to_owned() }
    }

    /// Short name, as the ledger shows it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Respond { .. } => "respond",
            Self::OkWithError { .. } => "ok-with-error",
            Self::ResetBeforeResponse => "reset-before-response",
            Self::ResetInRequest { .. } => "reset-in-request",
            Self::LostResponse => "lost-response",
            Self::ResetAfter { .. } => "reset-after",
            Self::Truncate { .. } => "truncate",
            Self::CorruptByte { .. } => "corrupt-byte",
            Self::Pause { .. } => "pause",
            Self::Trickle { .. } => "trickle",
            Self::Stall => "stall",
            Self::Delay(_) => "delay",
        }
    }
}

/// An effect and the requests that get it.
#[derive(Debug, Clone)]
pub struct Fault {
    /// S3's name of the operation; any where none.
    pub operation: Option<String>,
    /// Bucket; any where none.
    pub bucket: Option<String>,
    /// Key (for listings: prefix); any where none.
    pub key: Option<String>,
    /// Matching requests that pass first.
    pub skip: u64,
    /// Matching requests that then get the effect.
    pub times: u64,
    /// The effect.
    pub effect: Effect,
}

impl Fault {
    /// A fault for the next request of any kind.
    pub fn new(effect: Effect) -> Self {
        Self { operation: None, bucket: None, key: None, skip: 0, times: 1, effect }
    }

    /// Only for one operation.
    #[must_use]
    pub fn operation(mut self, name: &str) -> Self {
        self.operation = Some(name.to_owned());
        self
    }

    /// Only for one bucket.
    #[must_use]
    pub fn bucket(mut self, bucket: &str) -> Self {
        self.bucket = Some(bucket.to_owned());
        self
    }

    /// Only for one key (for listings: prefix).
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Let this many matching requests pass first.
    #[must_use]
    pub fn skip(mut self, requests: u64) -> Self {
        self.skip = requests;
        self
    }

    /// Strike this many matching requests.
    #[must_use]
    pub fn times(mut self, requests: u64) -> Self {
        self.times = requests;
        self
    }

    /// Strike every matching request.
    #[must_use]
    pub fn always(self) -> Self {
        self.times(u64::MAX)
    }

    fn matches(&self, target: &Target) -> bool {
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == value)
        };
        let key =
            if target.operation.starts_with("ListObject") { &target.prefix } else { &target.key };
        is(&self.operation, target.operation)
            && is(&self.bucket, &target.bucket)
            && is(&self.key, key)
    }

    /// Counts a matching request; whether it is struck.
    fn strikes(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.times -= 1;
        true
    }
}

/// What the weather has in store for one request.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// Wait before anything else.
    pub(crate) delay: Duration,
    /// What else happens.
    pub(crate) effect: Option<Effect>,
    /// What is odd about a page.
    pub(crate) page: PageWeather,
}

/// The conditions of one server; can be changed while it runs.
#[derive(Debug, Default)]
pub struct Weather {
    latency_us: AtomicU64,
    faults: Mutex<Vec<Fault>>,
    struck: AtomicU64,
    plan: RwLock<Option<Arc<FaultPlan>>>,
}

impl Weather {
    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every answer comes later by this much.
    pub fn set_latency(&self, latency: Duration) {
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        self.latency_us.store(micros, Ordering::Relaxed);
    }

    /// Random weather from now on, or none; connections that are open keep their bandwidth.
    pub fn set_scenario(&self, scenario: Option<Scenario>) {
        let plan = scenario.map(|scenario| Arc::new(FaultPlan::new(scenario)));
        *self.plan.write().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    /// The scenario at work.
    pub(crate) fn plan(&self) -> Option<Arc<FaultPlan>> {
        self.plan.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a fault.
    pub fn push(&self, fault: Fault) {
        self.lock().push(fault);
    }

    /// Removes all faults that have not struck yet.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// Number of faults that have not struck as often as they should.
    pub fn waiting(&self) -> usize {
        self.lock().len()
    }

    /// Number of times that a fault struck.
    pub fn struck(&self) -> u64 {
        self.struck.load(Ordering::Relaxed)
    }

    /// How often the scenario's weather struck, by the names of faults and settings.
    pub fn met(&self) -> BTreeMap<&'static str, u64> {
        self.plan().map_or_else(BTreeMap::new, |plan| plan.met())
    }

    /// Decides what happens to a request, and uses up the faults that strike.
    pub(crate) fn forecast(&self, request: &RequestInfo<'_>) -> Forecast {
        let mut forecast = self.scripted(request.target);
        if let Some(plan) = self.plan() {
            let decision = plan.decide(request);
            forecast.delay = forecast.delay.saturating_add(decision.delay);
            forecast.page = decision.page;
            if forecast.effect.is_none() && decision.effect.is_some() {
                self.struck.fetch_add(1, Ordering::Relaxed);
                forecast.effect = decision.effect;
            }
        }
        forecast
    }

    fn scripted(&self, target: &Target) -> Forecast {
        let delay = Duration::from_micros(self.latency_us.load(Ordering::Relaxed));
        let mut forecast = Forecast { delay, ..Forecast::default() };
        let mut faults = self.lock();
        faults.retain_mut(|fault| {
            let open = forecast.effect.is_none() || matches!(fault.effect, Effect::Delay(_));
            if fault.times > 0 && open && fault.matches(target) && fault.strikes() {
                self.struck.fetch_add(1, Ordering::Relaxed);
                match &fault.effect {
                    Effect::Delay(more) => forecast.delay += *more,
                    effect => forecast.effect = Some(effect.clone()),
                }
            }
            fault.times > 0
        });
        forecast
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(operation: &'static str, key: &str) -> Target {
        Target { operation, key: key.to_owned(), ..Target::default() }
    }

    #[test]
    fn a_fault_skips_strikes_and_is_gone() {
        let weather = Weather::default();
        weather.push(Fault::new(Effect::Stall).operation("PutObject").key("k").skip(1).times(2));
        weather.push(Fault::new(Effect::slow_down()).operation("PutObject").skip(3));
        let effects: Vec<_> =
            (0..6).map(|_| weather.scripted(&target("PutObject", "k")).effect).collect();
        let (stall, slow) = (Some(Effect::Stall), Some(Effect::slow_down()));
        // The second fault does not see the two requests that the first one strikes.
        assert_eq!(effects, [None, stall.clone(), stall, None, None, slow]);
        assert_eq!((weather.waiting(), weather.struck()), (0, 3));
        assert_eq!(weather.scripted(&target("GetObject", "k")).effect, None);
    }

    #[test]
    fn delays_add_up() {
        let weather = Weather::default();
        weather.set_latency(Duration::from_millis(5));
        weather.push(Fault::new(Effect::Delay(Duration::from_millis(7))));
        weather.push(Fault::new(Effect::Stall));
        let forecast = weather.scripted(&target("GetObject", ""));
        assert_eq!(forecast.delay, Duration::from_millis(12));
        assert_eq!(forecast.effect, Some(Effect::Stall));
    }
}
