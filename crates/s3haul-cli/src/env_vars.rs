//! Every environment variable that the command reads.

/// Profile of the configuration files.
pub const AWS_PROFILE: &str = "AWS_PROFILE";
/// Profile of the configuration files; wins over [`AWS_PROFILE`], as in the AWS tools.
pub const AWS_DEFAULT_PROFILE: &str = "AWS_DEFAULT_PROFILE";
/// Region.
pub const AWS_REGION: &str = "AWS_REGION";
/// Region, where [`AWS_REGION`] is not set.
pub const AWS_DEFAULT_REGION: &str = "AWS_DEFAULT_REGION";
/// Path of the configuration file instead of `~/.aws/config`.
pub const AWS_CONFIG_FILE: &str = "AWS_CONFIG_FILE";
/// Path of the credentials file instead of `~/.aws/credentials`.
pub const AWS_SHARED_CREDENTIALS_FILE: &str = "AWS_SHARED_CREDENTIALS_FILE";
/// Access key id.
pub const AWS_ACCESS_KEY_ID: &str = "AWS_ACCESS_KEY_ID";
/// Secret access key.
pub const AWS_SECRET_ACCESS_KEY: &str = "AWS_SECRET_ACCESS_KEY";
/// Session token.
pub const AWS_SESSION_TOKEN: &str = "AWS_SESSION_TOKEN";
/// Endpoint of S3 alone.
pub const AWS_ENDPOINT_URL_S3: &str = "AWS_ENDPOINT_URL_S3";
/// Endpoint of all services.
pub const AWS_ENDPOINT_URL: &str = "AWS_ENDPOINT_URL";
/// `true` to take no endpoint from the environment or the configuration files.
pub const AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: &str = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";
/// PEM file of certificate authorities.
pub const AWS_CA_BUNDLE: &str = "AWS_CA_BUNDLE";
/// PEM file of certificate authorities, where nothing else names one.
pub const REQUESTS_CA_BUNDLE: &str = "REQUESTS_CA_BUNDLE";
/// Attempts in all for one request.
pub const AWS_MAX_ATTEMPTS: &str = "AWS_MAX_ATTEMPTS";
/// `when_supported` or `when_required`.
pub const AWS_REQUEST_CHECKSUM_CALCULATION: &str = "AWS_REQUEST_CHECKSUM_CALCULATION";
/// `when_supported` or `when_required`.
pub const AWS_RESPONSE_CHECKSUM_VALIDATION: &str = "AWS_RESPONSE_CHECKSUM_VALIDATION";
/// `true` for FIPS endpoints.
pub const AWS_USE_FIPS_ENDPOINT: &str = "AWS_USE_FIPS_ENDPOINT";
/// `true` for dual-stack endpoints.
pub const AWS_USE_DUALSTACK_ENDPOINT: &str = "AWS_USE_DUALSTACK_ENDPOINT";
/// `true` to check that `mv` between access points does not name one object twice.
pub const AWS_CLI_S3_MV_VALIDATE_SAME_S3_PATHS: &str = "AWS_CLI_S3_MV_VALIDATE_SAME_S3_PATHS";
/// The Python that `job run --ray` runs.
pub const S3HAUL_PYTHON: &str = "S3HAUL_PYTHON";
/// Folder of journals.
pub const S3HAUL_JOURNAL_DIR: &str = "S3HAUL_JOURNAL_DIR";
/// Folder of what programs remember, in which journals lie where nothing else says so.
pub const XDG_STATE_HOME: &str = "XDG_STATE_HOME";
/// Folder of what can be had again, in which listings lie that complete command lines.
pub const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// Folders of programs, where a link named `aws` looks for the other `aws`.
pub const PATH: &str = "PATH";
/// How often a link named `aws` has handed over to another `aws` in this chain of processes; set by
/// the command itself.
pub const S3HAUL_AWS_DEPTH: &str = "S3HAUL_AWS_DEPTH";
/// Set by the command itself where it has started itself again with `MALLOC_ARENA_MAX`, so that it
/// takes both from the environment of the programs that it starts.
pub const S3HAUL_STARTED_AGAIN: &str = "S3HAUL_STARTED_AGAIN";
/// Proxy for `http://` endpoints; the lower-case names win.
pub const HTTP_PROXY_LOWER: &str = "http_proxy";
/// Proxy for `http://` endpoints.
pub const HTTP_PROXY: &str = "HTTP_PROXY";
/// Proxy for `https://` endpoints.
pub const HTTPS_PROXY_LOWER: &str = "https_proxy";
/// Proxy for `https://` endpoints.
pub const HTTPS_PROXY: &str = "HTTPS_PROXY";
/// Hosts that are reached without a proxy.
pub const NO_PROXY_LOWER: &str = "no_proxy";
/// Hosts that are reached without a proxy.
pub const NO_PROXY: &str = "NO_PROXY";
/// Home directory.
pub const HOME: &str = "HOME";
/// Home directory on Windows.
pub const USERPROFILE: &str = "USERPROFILE";
/// Locale; bars and signs are beyond ASCII where it has UTF-8.
pub const LC_ALL: &str = "LC_ALL";
/// Locale of characters, where `LC_ALL` is not set.
pub const LC_CTYPE: &str = "LC_CTYPE";
/// Locale, where the others are not set.
pub const LANG: &str = "LANG";
/// Set to anything: no colour.
pub const NO_COLOR: &str = "NO_COLOR";
/// Filter of the developers' log, such as `s3haul=trace`; implies nothing else.
pub const S3HAUL_LOG: &str = "S3HAUL_LOG";
/// Access key id that `serve` expects.
pub const S3HAUL_SERVE_ACCESS_KEY: &str = "S3HAUL_SERVE_ACCESS_KEY";
/// Secret access key that `serve` expects.
pub const S3HAUL_SERVE_SECRET_KEY: &str = "S3HAUL_SERVE_SECRET_KEY";
/// Headers of requests to an OpenTelemetry collector: `name=value`, separated by commas.
pub const OTEL_EXPORTER_OTLP_HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// PEM file of the certificate authorities of an OpenTelemetry collector.
pub const OTEL_EXPORTER_OTLP_CERTIFICATE: &str = "OTEL_EXPORTER_OTLP_CERTIFICATE";
/// `none` to send no metrics to a collector.
pub const OTEL_METRICS_EXPORTER: &str = "OTEL_METRICS_EXPORTER";
/// `none` to send no traces to a collector.
pub const OTEL_TRACES_EXPORTER: &str = "OTEL_TRACES_EXPORTER";
/// The span that a run belongs to, as in <https://www.w3.org/TR/trace-context/#traceparent-header>.
pub const TRACEPARENT: &str = "TRACEPARENT";
