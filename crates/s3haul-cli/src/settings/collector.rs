//! The OpenTelemetry collector that metrics and traces are sent to.
//!
//! The variables are those of
//! <https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options>; an address
//! in the environment alone sends nothing.

use hyper::Uri;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;
use s3haul_wire::{ProxyConfig, TlsConfig};

use super::client::proxy;
use super::environment::Environment;
use crate::env_vars;
use crate::failure::Failure;

/// A collector, and what is sent to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CollectorSettings {
    /// Its address, to which the paths of the signals are added; without a slash at the end.
    pub(crate) url: String,
    /// Headers of all requests to it. `Debug` does not show their values.
    pub(crate) headers: HeaderMap,
    pub(crate) tls: TlsConfig,
    pub(crate) proxy: ProxyConfig,
    pub(crate) sends_metrics: bool,
    pub(crate) sends_traces: bool,
    /// The span that the run belongs to, if it is known.
    pub(crate) parent: Option<ParentSpan>,
}

/// A span of another program: hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParentSpan {
    pub(crate) trace: String,
    pub(crate) span: String,
}

impl CollectorSettings {
    pub(super) fn new(url: &str, environment: &Environment) -> Result<Self, Failure> {
        let exports = |name| environment.get(name).is_none_or(|exporter| exporter.trim() != "none");
        let certificates = environment.get(env_vars::OTEL_EXPORTER_OTLP_CERTIFICATE);
        // Whatever becomes of the working directory.
        let whole = |path| std::path::absolute(&path).unwrap_or(path);
        let ca_bundle = certificates.map(|path| whole(environment.expand_path(path)));
        let given = environment.get(env_vars::OTEL_EXPORTER_OTLP_HEADERS).unwrap_or_default();
        Ok(Self {
            url: address(url)?,
            headers: headers(given)?,
            tls: TlsConfig { verify: true, ca_bundle },
            proxy: proxy(environment),
            sends_metrics: exports(env_vars::OTEL_METRICS_EXPORTER),
            sends_traces: exports(env_vars::OTEL_TRACES_EXPORTER),
            parent: environment.get(env_vars::TRACEPARENT).and_then(parent_span),
        })
    }
}

fn address(url: &str) -> Result<String, Failure> {
    let refused = |why: &str| Failure::usage(format!("--otlp-endpoint: {why}"));
    let uri: Option<Uri> = url.parse().ok();
    let has_scheme = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https"));
    let Some(uri) = uri.filter(has_scheme) else {
        return Err(refused("give the address of a collector, such as http://127.0.0.1:4318"));
    };
    if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return Err(refused(
            "a user and a password do not belong in an address: give a header in \
             OTEL_EXPORTER_OTLP_HEADERS",
        ));
    }
    let url = url.trim_end_matches('/');
    let is_whole = ["/v1/metrics", "/v1/traces"].iter().any(|path| url.ends_with(path));
    if is_whole || url.contains(['?', '#']) {
        return Err(refused("`/v1/metrics` and `/v1/traces` are added to the address"));
    }
    Ok(url.to_owned())
}

/// `name=value,name=value`, percent-encoded.
fn headers(given: &str) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for pair in given.split(',').filter(|pair| !pair.trim().is_empty()) {
        let header = || {
            let (name, value) = pair.split_once('=')?;
            let name: HeaderName = name.trim().parse().ok()?;
            let value = percent_decode_str(value.trim()).collect::<Vec<_>>();
            Some((name, HeaderValue::from_bytes(&value).ok()?))
        };
        // The text may be secret.
        let (name, mut value) = header().ok_or_else(|| {
            Failure::other("OTEL_EXPORTER_OTLP_HEADERS: give NAME=VALUE, separated by commas")
        })?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// `00-TRACE-SPAN-FLAGS`; what is none is passed over, as the standard has it.
fn parent_span(text: &str) -> Option<ParentSpan> {
    let mut parts = text.trim().split('-');
    let mut part = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).then_some(part)
    };
    let (version, trace, span, _flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
    let is_zero = |id: &str| id.bytes().all(|byte| byte == b'0');
    (version != "ff" && !is_zero(trace) && !is_zero(span))
        .then(|| ParentSpan { trace: trace.to_owned(), span: span.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn collector(url: &str, variables: &[(&str, &str)]) -> Result<CollectorSettings, Failure> {
        let pairs = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let variables: HashMap<_, _> = pairs.collect();
        CollectorSettings::new(url, &Environment::of_program(variables, Vec::new(), None))
    }

    #[test]
    fn addresses_are_those_of_a_collector() {
        for (given, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318"),
            ("https://otlp.example.com/otlp/", "https://otlp.example.com/otlp"),
        ] {
            assert_eq!(collector(given, &[]).unwrap().url, url);
        }
        for wrong in [
            "",
            "127.0.0.1:4318",
            "grpc://a:1",
            "http://u:p@a",
            "http://a/v1/metrics/",
            "http://a/v1/traces",
            "http://a/?b",
            "http://a/#b",
        ] {
            let failure = collector(wrong, &[]).unwrap_err();
            assert!(failure.message.starts_with("--otlp-endpoint: "), "{}", failure.message);
            assert!(!failure.message.contains("u:p"), "{}", failure.message);
        }
    }

    #[test]
    fn headers_are_kept_and_not_shown() {
        let name = env_vars::OTEL_EXPORTER_OTLP_HEADERS;
        let variables = [(name, "authorization=Basic%20c2VjcmV0, x-scope = a ")];
        let settings = collector("http://a", &variables).unwrap();
        assert_eq!(settings.headers["authorization"], "Basic c2VjcmV0");
        assert_eq!(settings.headers["x-scope"], "a");
        assert!(!format!("{settings:?}").contains("c2VjcmV0"), "{settings:?}");
        let failure = collector("http://a", &[(name, "a b=c2VjcmV0")]).unwrap_err();
        assert!(!failure.message.contains("c2VjcmV0"), "{}", failure.message);
    }

    #[test]
    fn signals_can_be_left_out_and_a_parent_is_read() {
        let (trace, span) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
        let parent = format!("00-{trace}-{span}-01");
        let variables =
            [(env_vars::OTEL_TRACES_EXPORTER, "none"), (env_vars::TRACEPARENT, &*parent)];
        let settings = collector("http://a", &variables).unwrap();
        assert!(settings.sends_metrics && !settings.sends_traces);
        let parent = ParentSpan { trace: trace.to_owned(), span: span.to_owned() };
        assert_eq!(settings.parent, Some(parent));
        for wrong in ["", "00", &format!("ff-{trace}-{span}-01"), &format!("00-{trace}-{trace}-01")]
        {
            assert_eq!(parent_span(wrong), None, "{wrong}");
        }
    }
}
