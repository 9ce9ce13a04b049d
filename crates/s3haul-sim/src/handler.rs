//! One request from head to response: ledger, weather, gate, `s3s`, and what the weather does to
//! the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::service::{S3Service, S3ServiceBuilder};

use crate::body::{Account, Intake, Interrupted, RequestBody, ResponseBody};
use crate::classify::{Target, classify};
use crate::clock::Clock;
use crate::config::{AccessKey, DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY, SimConfig, StoreKind};
use crate::error::SimError;
use crate::gate::{self, KeyRing, Surroundings};
use crate::ignored_headers;
use crate::ledger::Ledger;
use crate::request_limits;
use crate::scenario::RequestInfo;
use crate::service::{Admission, Finished, ListRoute, Listing, SimService};
use crate::store::disk::DiskStore;
use crate::store::memory::{MemoryStore, NullMode};
use crate::store::synthetic::SyntheticStore;
use crate::store::{Bucket, Store};
use crate::weather::{Effect, Weather};
use crate::xml::ErrorBody;

/// Most bytes of a refused request's body that are read so that the client sees the answer.
const DRAIN_BYTES_MAX: u64 = 64 << 20;

/// Longest time for that.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);

/// Asks `DeleteObjects` to fail every key with this code.
#[derive(Debug, Clone)]
pub(crate) struct InjectedError(pub(crate) String);

/// Everything the connections of a simulator share.
pub(crate) struct Core {
    s3: S3Service,
    store: Arc<dyn Store>,
    clock: Arc<Clock>,
    ledger: Arc<Ledger>,
    weather: Weather,
    keys: KeyRing,
    config: SimConfig,
    requests: AtomicU64,
    connections: AtomicU64,
}

fn open_store(config: &SimConfig) -> Result<Arc<dyn Store>, SimError> {
    let region = &config.region;
    Ok(match &config.store {
        StoreKind::Memory => Arc::new(MemoryStore::new(None)),
        StoreKind::Null { hash } => Arc::new(MemoryStore::new(Some(NullMode { hash: *hash }))),
        StoreKind::Disk(root) => {
            let store = DiskStore::open(root);
            Arc::new(store.map_err(|error| SimError::Store(error.to_string()))?)
        }
        StoreKind::KeyFile { path, bucket } => {
            Arc::new(SyntheticStore::from_file(path, bucket, region)?)
        }
        StoreKind::Synthetic { spec, bucket } => {
            Arc::new(SyntheticStore::from_spec(spec, bucket, region)?)
        }
    })
}

fn create_buckets(store: &dyn Store, config: &SimConfig, now_ms: i64) -> Result<(), SimError> {
    for name in &config.buckets {
        if store.bucket(name).is_none() {
            let region = config.region.clone();
            let settings = Bucket { region, created_ms: now_ms, ..Bucket::default() };
            let created = store.put_bucket(name, settings);
            created.map_err(|error| SimError::Store(error.to_string()))?;
        }
    }
    Ok(())
}

impl Core {
    pub(crate) fn new(config: SimConfig) -> Result<Self, SimError> {
        let store = open_store(&config)?;
        Self::over(store, config)
    }

    /// The same objects without a scenario: no weather, and a ledger of its own in memory.
    pub(crate) fn calm(&self) -> Result<Self, SimError> {
        let config = SimConfig {
            scenario: None,
            latency: Duration::ZERO,
            ledger_file: None,
            ..self.config.clone()
        };
        Self::over(Arc::clone(&self.store), config)
    }

    fn over(store: Arc<dyn Store>, mut config: SimConfig) -> Result<Self, SimError> {
        if config.access_keys.is_empty() {
            config.access_keys.push(AccessKey::new(DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY));
        }
        let skew_ms = config.scenario.as_ref().map_or(0, |scenario| scenario.clock_skew_ms);
        let offset_ms = config.clock_offset_ms.saturating_add(skew_ms);
        let clock = Arc::new(Clock::new(config.virtual_clock, offset_ms));
        create_buckets(store.as_ref(), &config, clock.now_ms())?;
        let keys = KeyRing::new(&config.access_keys);
        let ledger = Ledger::new(config.ledger_records, config.ledger_file.as_deref());
        let weather = Weather::default();
        weather.set_latency(config.latency);
        weather.set_scenario(config.scenario.clone());
        Ok(Self {
            s3: build_service(&store, &clock, &keys, &config),
            store,
            clock,
            ledger: Arc::new(ledger.map_err(SimError::Ledger)?),
            weather,
            keys,
            config,
            requests: AtomicU64::new(fastrand::u64(..) >> 16),
            connections: AtomicU64::new(0),
        })
    }

    /// Number of files and versions that could not be read when the store was opened.
    pub(crate) fn left_out(&self) -> usize {
        self.store.left_out()
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn weather(&self) -> &Weather {
        &self.weather
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The number of a new connection.
    pub(crate) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn config(&self) -> &SimConfig {
        &self.config
    }

    /// Answers one request; an error drops the connection.
    pub(crate) async fn handle(
        &self,
        request: Request<Incoming>,
        reset: Arc<AtomicBool>,
    ) -> Result<Response<ResponseBody>, Interrupted> {
        let target = classify(request.method(), request.uri(), request.headers());
        let (at_us, wall_ms) = (self.clock.monotonic_us(), self.clock.now_ms());
        let intake = Arc::new(Intake::default());
        let account = Account {
            ledger: Arc::clone(&self.ledger),
            clock: Arc::clone(&self.clock),
            number: self.ledger.start(at_us, wall_ms, &target),
            intake: Arc::clone(&intake),
            sent: 0,
        };
        let forecast = self.weather.forecast(&RequestInfo {
            target: &target,
            now_us: at_us,
            signer: &gate::signer(request.headers()),
            is_conditional: is_conditional(request.headers()),
        });
        if !forecast.delay.is_zero() {
            tokio::time::sleep(forecast.delay).await;
        }
        let effect = forecast.effect;
        let fault = effect.as_ref().map_or("", Effect::name);
        let cut = || {
            self.ledger.answer(account.number, 0, fault);
            reset.store(true, Ordering::Relaxed);
            Err(Interrupted::Weather)
        };
        match &effect {
            Some(Effect::Stall) => {
                self.ledger.answer(account.number, 0, fault);
                return std::future::pending().await;
            }
            Some(Effect::ResetBeforeResponse) => return cut(),
            Some(Effect::ResetInRequest { bytes }) => {
                read_some(request.into_body(), *bytes).await;
                return cut();
            }
            _ => {}
        }
        let mut request = request;
        request.extensions_mut().insert(forecast.page);
        let mut response = self.respond(request, &target, effect.as_ref(), &intake).await;
        if effect == Some(Effect::LostResponse) {
            return cut();
        }
        add_headers(&mut response);
        if let Some(date) = self.clock.http_date() {
            response.headers_mut().insert(http::header::DATE, date);
        }
        self.ledger.answer(account.number, response.status().as_u16(), fault);
        Ok(response.map(|body| ResponseBody::new(body, account, effect.as_ref(), reset)))
    }

    /// Produces the response, and reads what is left of the request's body.
    async fn respond(
        &self,
        request: Request<Incoming>,
        target: &Target,
        effect: Option<&Effect>,
        intake: &Arc<Intake>,
    ) -> Response<s3s::Body> {
        let limits = &self.config.limits;
        let waits_for_continue = request.headers().contains_key(http::header::EXPECT);
        let request = request.map(|body| {
            RequestBody::new(body, Arc::clone(intake), limits.body_bytes_max, limits.body_timeout)
        });
        let request_id = self.next_request_id();
        let mut response = match self.refuse(&request, target, effect, &request_id) {
            Some(response) => {
                drop(request);
                response.map(s3s::Body::from)
            }
            None => self.call(request, target, effect, &request_id).await,
        };
        if intake.is_broken() && response.status() == StatusCode::INTERNAL_SERVER_ERROR {
            // `s3s` takes what the client did not send for a fault of the server.
            let (code, resource) = ("IncompleteBody", format!("/{}/{}", target.bucket, target.key));
            let message = "The request body terminated unexpectedly";
            let body = ErrorBody {
                code,
                message,
                details: &[],
                resource: &resource,
                request_id: &request_id,
            };
            response = body.to_response(400).map(s3s::Body::from);
        }
        if waits_for_continue && intake.bytes_read() == 0 {
            // The body was not read, so where the next request starts is unknown.
            // Also after an empty body, where it is known: botocore takes the status line of an
            // answer without `100 Continue` for that of the next request on the connection.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(http::header::CONNECTION, close);
        } else if let Some(rest) = intake.take_rest() {
            // A client that sends no more must not hold the answer back.
            let _ = tokio::time::timeout(DRAIN_TIME_MAX, drain(rest)).await;
        }
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert("x-amz-request-id", value);
        }
        response
    }

    fn next_request_id(&self) -> String {
        format!("{:016X}", self.requests.fetch_add(1, Ordering::Relaxed).rotate_left(13))
    }

    /// The answer of the weather or the gate, if one of them has one.
    fn refuse(
        &self,
        request: &Request<RequestBody>,
        target: &Target,
        effect: Option<&Effect>,
        request_id: &str,
    ) -> Option<Response<Bytes>> {
        let resource = request.uri().path();
        let body =
            |code, message, details| ErrorBody { code, message, details, resource, request_id };
        match effect {
            Some(Effect::Respond { status, code }) => {
                return Some(body(code, weather_message(code), &[]).to_response(*status));
            }
            Some(Effect::OkWithError { code }) if target.operation != "DeleteObjects" => {
                return Some(body(code, weather_message(code), &[]).to_response(200));
            }
            _ => {}
        }
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        if let Err(objection) = request_limits::check(method, uri, headers, target) {
            let code = objection.code;
            return Some(
                body(code, request_limits::message(code), &[]).to_response(objection.status),
            );
        }
        let bucket = self.store.bucket(&target.bucket);
        let around = Surroundings {
            now_ms: self.clock.now_ms(),
            server_region: &self.config.region,
            bucket_region: bucket.as_ref().map(|bucket| bucket.region.as_str()),
        };
        let checked = gate::check(headers, uri, target, &self.keys, &around);
        let refusal = checked.err()?;
        let mut response =
            body(refusal.code, &refusal.message, &refusal.details).to_response(refusal.status);
        if let Some(region) = refusal.bucket_region.and_then(|r| HeaderValue::from_str(&r).ok()) {
            response.headers_mut().insert("x-amz-bucket-region", region);
        }
        Some(response)
    }

    /// Hands the request to `s3s`.
    async fn call(
        &self,
        request: Request<RequestBody>,
        target: &Target,
        effect: Option<&Effect>,
        request_id: &str,
    ) -> Response<s3s::Body> {
        let resource = request.uri().path().to_owned();
        let mut request = request.map(s3s::Body::http_body_unsync);
        if matches!(target.operation, "GetObject" | "HeadObject") {
            for name in ignored_headers::find(request.headers()) {
                // Without one that is signed, the signature would be wrong.
                if !gate::is_signed(request.headers(), request.uri(), name.as_str()) {
                    request.headers_mut().remove(name);
                }
            }
        }
        if let Some(listing) = Listing::of(target.operation) {
            request.extensions_mut().insert(listing);
        }
        if let Some(Effect::OkWithError { code }) = effect {
            request.extensions_mut().insert(InjectedError(code.clone()));
        }
        match self.s3.call(request).await {
            Ok(response) => complete_error(response, &resource, request_id),
            Err(error) => {
                tracing::warn!(?error, "s3s could not answer a request");
                let (code, details) = ("InternalError", &[]);
                let message = request_limits::message(code);
                let resource = &resource;
                ErrorBody { code, message, details, resource, request_id }
                    .to_response(500)
                    .map(s3s::Body::from)
            }
        }
    }
}

fn add_headers(response: &mut Response<s3s::Body>) {
    let headers = response.headers_mut();
    headers.insert("x-amz-id-2", HeaderValue::from_static("s3haul-sim"));
    headers.insert(http::header::SERVER, HeaderValue::from_static("s3haul-sim"));
}

fn build_service(
    store: &Arc<dyn Store>,
    clock: &Arc<Clock>,
    keys: &KeyRing,
    config: &SimConfig,
) -> S3Service {
    let service = SimService {
        store: Arc::clone(store),
        clock: Arc::clone(clock),
        region: config.region.clone(),
        limits: config.limits.clone(),
        quirks: config.list_quirks.clone(),
        finished: Arc::new(Finished::new(config.limits.completions_kept)),
    };
    let mut settings = S3Config::default();
    // The gate checks the time, by our clock.
    settings.presigned_url_max_skew_time_secs = u32::MAX;
    let mut builder = S3ServiceBuilder::new(service.clone());
    builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(settings))));
    builder.set_auth(keys.clone());
    builder.set_access(Admission { anonymous: config.allow_anonymous });
    builder.set_route(ListRoute { service, anonymous: config.allow_anonymous });
    builder.build()
}

/// Whether a request asks for a state of the object it is about.
fn is_conditional(headers: &HeaderMap) -> bool {
    headers.contains_key(http::header::IF_MATCH)
        || headers.contains_key("x-amz-copy-source-if-match")
}

/// Reads the beginning of a body.
async fn read_some(mut body: Incoming, bytes: u64) {
    let mut read = 0;
    while read < bytes
        && let Some(Ok(frame)) = body.frame().await
    {
        read += frame.data_ref().map_or(0, Bytes::len) as u64;
    }
}

/// Reads the rest of a refused body, so that the client gets to see the answer.
async fn drain(mut rest: Incoming) {
    let mut left = DRAIN_BYTES_MAX;
    while let Some(Ok(frame)) = rest.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len) as u64;
        if length > left {
            return;
        }
        left -= length;
    }
}

fn weather_message(code: &str) -> &'static str {
    match code {
        "SlowDown"
        | "ServiceUnavailable"
        | "InternalError"
        | "RequestTimeTooSkewed"
        | "ExpiredToken"
        | "AccessDenied" => request_limits::message(code),
        _ => "An error ordered by the weather.",
    }
}

/// Adds resource and request id to an error that `s3s` wrote, and a message where it has none.
fn complete_error(
    response: Response<s3s::Body>,
    resource: &str,
    request_id: &str,
) -> Response<s3s::Body> {
    if !response.status().is_client_error() && !response.status().is_server_error() {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = body.bytes();
    let document = text.as_deref().and_then(|text| std::str::from_utf8(text).ok());
    let Some(head) = document.and_then(|text| text.strip_suffix("</Error>")) else {
        return Response::from_parts(parts, body);
    };
    let mut tail = crate::xml::Writer::fragment(256);
    if !head.contains("<Message>") {
        let code = head.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
        tail.element("Message", request_limits::message(code.map_or("", |(code, _)| code)));
    }
    tail.element("Resource", resource);
    tail.element("RequestId", request_id);
    tail.close("Error");
    Response::from_parts(parts, s3s::Body::from(format!("{head}{}", tail.finish())))
}
