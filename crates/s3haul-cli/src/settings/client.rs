//! The client's settings: endpoint, region, credentials, TLS, proxies, limits.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use s3haul::job::value::{Addressing, Checksums, Credentials, EndpointUrl, Service};
use s3haul_wire::{
    AddressingStyle, ChecksumMode, ClientConfig, CredentialsConfig, EndpointConfig, Profile,
    ProxyConfig, RetryConfig, TimeoutConfig, TlsConfig,
};

use super::environment::Environment;
use super::profile::ProfileName;
use crate::args::GlobalArgs;
use crate::env_vars;
use crate::failure::Failure;

/// What a time limit of 0 means: practically never.
const FOREVER: Duration = Duration::from_hours(365 * 24);

/// Names of the `s3 =` section.
const S3_NAMES: [&str; 12] = [
    "adaptive_requests",
    "addressing_style",
    "hedging",
    "max_bandwidth",
    "max_concurrent_requests",
    "max_queue_size",
    "max_requests_per_second",
    "multipart_chunksize",
    "multipart_threshold",
    "payload_signing_enabled",
    "use_accelerate_endpoint",
    "use_dualstack_endpoint",
];

/// The service that flags, environment and profile name.
pub(super) fn service(
    global: &GlobalArgs,
    environment: &Environment,
    name: &ProfileName,
    profile: &Profile,
) -> Result<Service, Failure> {
    let checksums = |variable, key| checksum_mode(environment, profile, variable, key);
    for name in unused_names(profile) {
        tracing::debug!(name, "a setting of the profile's `s3` section is not known and not used");
    }
    let dualstack = environment
        .get(env_vars::AWS_USE_DUALSTACK_ENDPOINT)
        .or_else(|| profile.s3("use_dualstack_endpoint"))
        .or_else(|| profile.get("use_dualstack_endpoint"));
    let fips = environment
        .get(env_vars::AWS_USE_FIPS_ENDPOINT)
        .or_else(|| profile.get("use_fips_endpoint"));
    Ok(Service {
        endpoint_url: endpoint_url(global, environment, profile)?.map(EndpointUrl::new),
        region: region(global, environment, profile),
        credentials: credentials(global, environment, name),
        addressing: addressing(profile)?,
        dualstack: flag("use_dualstack_endpoint", dualstack)?,
        fips: flag("use_fips_endpoint", fips)?,
        accelerate: flag("use_accelerate_endpoint", profile.s3("use_accelerate_endpoint"))?,
        verify_tls: !global.no_verify_ssl,
        ca_bundle: ca_bundle(global, environment, profile),
        connect_timeout_s: global.cli_connect_timeout,
        read_timeout_s: global.cli_read_timeout,
        max_attempts: max_attempts(environment, profile)?,
        hedging: profile.s3("hedging").map_or(Ok(true), |text| flag("hedging", Some(text)))?,
        payload_signing: flag("payload_signing_enabled", profile.s3("payload_signing_enabled"))?,
        request_checksums: checksums(
            env_vars::AWS_REQUEST_CHECKSUM_CALCULATION,
            "request_checksum_calculation",
        )?,
        response_checksums: checksums(
            env_vars::AWS_RESPONSE_CHECKSUM_VALIDATION,
            "response_checksum_validation",
        )?,
        request_payer: false,
    })
}

/// The client of a service. Proxies are those of the environment: they are no part of a job.
pub(super) fn client(service: &Service, environment: &Environment) -> ClientConfig {
    let default = RetryConfig::default();
    let max_attempts = service.max_attempts.map_or(default.max_attempts, NonZeroU32::get);
    let credentials = match &service.credentials {
        Credentials::Environment => environment.credentials(),
        Credentials::Profile(name) => CredentialsConfig::Profile(name.clone()),
        Credentials::Anonymous => CredentialsConfig::Anonymous,
    };
    let credentials_key = match credentials {
        CredentialsConfig::Chain | CredentialsConfig::Profile(_) => environment.credentials_key(),
        _ => 0,
    };
    ClientConfig {
        endpoint: EndpointConfig {
            url: service.endpoint_url.as_ref().map(|url| url.reveal().to_owned()),
            region: service.region.clone(),
            addressing: match service.addressing {
                Addressing::Auto => AddressingStyle::Auto,
                Addressing::Virtual => AddressingStyle::Virtual,
                Addressing::Path => AddressingStyle::Path,
            },
            dualstack: service.dualstack,
            fips: service.fips,
            accelerate: service.accelerate,
        },
        credentials,
        credentials_key,
        tls: TlsConfig { verify: service.verify_tls, ca_bundle: service.ca_bundle.clone() },
        proxy: proxy(environment),
        timeouts: timeouts(service),
        retry: RetryConfig { max_attempts, ..default },
        hedging: service.hedging,
        payload_signing: service.payload_signing,
        request_checksums: when(service.request_checksums),
        response_checksums: when(service.response_checksums),
        request_payer: service.request_payer,
        ..ClientConfig::default()
    }
}

fn when(checksums: Checksums) -> ChecksumMode {
    match checksums {
        Checksums::WhenSupported => ChecksumMode::WhenSupported,
        Checksums::WhenRequired => ChecksumMode::WhenRequired,
    }
}

/// Names in the profile's `s3 =` section that mean nothing here. The AWS tools pass over them, too.
fn unused_names(profile: &Profile) -> impl Iterator<Item = &str> {
    profile.s3_names().filter(|name| !S3_NAMES.contains(name))
}

fn region(global: &GlobalArgs, environment: &Environment, profile: &Profile) -> Option<String> {
    let own = profile.get("region");
    let first = own.filter(|_| global.side_profile.region).or(global.region.as_deref());
    let variables = [env_vars::AWS_REGION, env_vars::AWS_DEFAULT_REGION];
    first.or_else(|| environment.first(&variables)).or(own).map(str::to_owned)
}

fn endpoint_url(
    global: &GlobalArgs,
    environment: &Environment,
    profile: &Profile,
) -> Result<Option<String>, Failure> {
    // Only `true`, as with botocore: requests that it sends elsewhere must not go to Amazon.
    let is_true = |value: Option<&str>| value.is_some_and(|text| text.eq_ignore_ascii_case("true"));
    let ignored = environment.first(&[env_vars::AWS_IGNORE_CONFIGURED_ENDPOINT_URLS]);
    let is_ignored = is_true(ignored.or_else(|| profile.get("ignore_configured_endpoint_urls")));
    let of_profile = || if is_ignored { Ok(None) } else { profile.endpoint_url() };
    let first = if global.side_profile.endpoint_url { of_profile()? } else { None };
    if first.is_none()
        && let Some(url) = &global.endpoint_url
    {
        return given_url(url).map(Some);
    }
    let variables = [env_vars::AWS_ENDPOINT_URL_S3, env_vars::AWS_ENDPOINT_URL];
    let of_both = || environment.first(&variables).filter(|_| !is_ignored);
    let url = match first.or_else(of_both) {
        None => of_profile()?,
        url => url,
    };
    match url {
        Some(url) if !has_http_scheme(url) => {
            Err(Failure::other(format!("Invalid endpoint: {}", without_user(url))))
        }
        url => Ok(url.map(str::to_owned)),
    }
}

fn given_url(url: &str) -> Result<String, Failure> {
    if has_http_scheme(url) {
        return Ok(url.to_owned());
    }
    if SCHEMES.contains(&url) {
        return Err(Failure::other(format!("Invalid endpoint: {url}")));
    }
    Err(Failure::usage(format!(
        "Bad value for --endpoint-url \"{}\": scheme is missing. Must be of the form \
         http://<hostname>/ or https://<hostname>/",
        without_user(url)
    )))
}

/// What may be shown of a URL: not the user and password that it may have.
fn without_user(url: &str) -> &str {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    url.rsplit_once('@').map_or(url, |(_, rest)| rest)
}

const SCHEMES: [&str; 2] = ["http://", "https://"];

fn has_http_scheme(url: &str) -> bool {
    SCHEMES.iter().any(|scheme| url.len() > scheme.len() && url.starts_with(scheme))
}

fn addressing(profile: &Profile) -> Result<Addressing, Failure> {
    match profile.s3("addressing_style") {
        None | Some("auto") => Ok(Addressing::Auto),
        Some("virtual") => Ok(Addressing::Virtual),
        Some("path") => Ok(Addressing::Path),
        Some(other) => Err(Failure::other(format!(
            "S3 addressing style {other} is invalid. Valid options are: 'auto', 'virtual', and \
             'path'"
        ))),
    }
}

/// A profile named by flag goes before credentials of the environment, one named by the
/// environment after them, as in the AWS tools. Where they come from is the library's to find.
/// Credentials that a program brings go before those of a profile, unless that is of one side.
fn credentials(global: &GlobalArgs, environment: &Environment, name: &ProfileName) -> Credentials {
    let is_own =
        name.by_flag && (global.side_profile.credentials || !environment.has_credentials());
    if global.no_sign_request {
        Credentials::Anonymous
    } else if is_own {
        Credentials::Profile(name.name.clone())
    } else {
        Credentials::Environment
    }
}

fn ca_bundle(global: &GlobalArgs, environment: &Environment, profile: &Profile) -> Option<PathBuf> {
    let configured = || {
        environment
            .get(env_vars::AWS_CA_BUNDLE)
            .or_else(|| profile.get("ca_bundle"))
            .or_else(|| environment.get(env_vars::REQUESTS_CA_BUNDLE))
            .map(|path| environment.expand_path(path))
    };
    global.ca_bundle.clone().or_else(configured)
}

/// The proxies that the environment names.
pub(super) fn proxy(environment: &Environment) -> ProxyConfig {
    let first = |names: [&str; 2]| environment.first(&names).map(str::to_owned);
    ProxyConfig {
        http: first([env_vars::HTTP_PROXY_LOWER, env_vars::HTTP_PROXY]),
        https: first([env_vars::HTTPS_PROXY_LOWER, env_vars::HTTPS_PROXY]),
        no_proxy: first([env_vars::NO_PROXY_LOWER, env_vars::NO_PROXY]),
    }
}

fn timeouts(service: &Service) -> TimeoutConfig {
    let limit = |seconds: Option<u64>, default| match seconds {
        None => default,
        Some(0) => FOREVER,
        Some(seconds) => Duration::from_secs(seconds).min(FOREVER),
    };
    let default = TimeoutConfig::default();
    TimeoutConfig {
        connect: limit(service.connect_timeout_s, default.connect),
        read: limit(service.read_timeout_s, default.read),
    }
}

fn max_attempts(
    environment: &Environment,
    profile: &Profile,
) -> Result<Option<NonZeroU32>, Failure> {
    let value = environment.get(env_vars::AWS_MAX_ATTEMPTS).or_else(|| profile.get("max_attempts"));
    let Some(value) = value else { return Ok(None) };
    value.parse().map(Some).map_err(|_| {
        Failure::other(format!(
            "Invalid value for max_attempts: {value}. The value must be an integer of at least 1"
        ))
    })
}

fn checksum_mode(
    environment: &Environment,
    profile: &Profile,
    variable: &str,
    key: &str,
) -> Result<Checksums, Failure> {
    let Some(value) = environment.get(variable).or_else(|| profile.get(key)) else {
        return Ok(Checksums::default());
    };
    match value.to_ascii_lowercase().as_str() {
        "when_supported" => Ok(Checksums::WhenSupported),
        "when_required" => Ok(Checksums::WhenRequired),
        _ => Err(Failure::other(format!(
            "Invalid value for {key}: {value}. Valid values are: when_supported, when_required"
        ))),
    }
}

/// A boolean of the configuration file.
pub(super) fn flag(key: &str, value: Option<&str>) -> Result<bool, Failure> {
    match value.map(|value| value.trim().to_ascii_lowercase()).as_deref() {
        None | Some("" | "false" | "0" | "no" | "off") => Ok(false),
        Some("true" | "1" | "yes" | "on") => Ok(true),
        Some(other) => Err(Failure::other(format!(
            "Invalid value for {key}: {other}. Valid values are: true, false"
        ))),
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
