//! Where a request goes: pure rules from settings, bucket and region to host and path.
//!
//! Follows the rules that the AWS tools ship (`endpoint-rule-set-1.json` and the addressing rules
//! of botocore): virtual hosts on Amazon's endpoints where the bucket is one DNS label, paths on
//! custom endpoints unless virtual hosts are asked for and the host is no IP address, or it is that
//! of transfer acceleration. Knows no network. Not supported, and said so: multi-region access
//! points (they need `SigV4a`) and directory buckets (they need sessions).

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv6Addr};

use super::config::{AddressingStyle, EndpointConfig, without_user};
use crate::error::{Error, ErrorKind, Result};
use crate::sign::signature::encode_query_value;

/// Region where none is set.
pub(crate) const DEFAULT_REGION: &str = "us-east-1";

/// Where requests for one bucket (or for none) go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) https: bool,
    /// Host name without port; IPv6 addresses without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// What goes before the key: empty, or begins with `/` and does not end with one.
    pub(crate) path_prefix: String,
    /// Region that the signature is for.
    pub(crate) region: String,
}

impl Target {
    /// `host` or `host:port` as in a URL, without the scheme's default port.
    pub(crate) fn authority(&self) -> String {
        let mut authority =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port != default_port(self.https) {
            let _ = write!(authority, ":{}", self.port);
        }
        authority
    }
}

/// Hosts of transfer acceleration, which know buckets by their hosts only.
const ACCELERATED: [&str; 2] =
    ["s3-accelerate.amazonaws.com", "s3-accelerate.dualstack.amazonaws.com"];
/// Longest name of a host (RFC 1035).
const HOST_LENGTH_MAX: usize = 253;

fn default_port(https: bool) -> u16 {
    if https { 443 } else { 80 }
}

/// The parts of a URL that matter here. `Debug` never shows its user and password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SplitUrl {
    pub(crate) https: bool,
    /// `user:password` before the host, still percent-encoded.
    pub(crate) user_info: Option<String>,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Empty, or begins with `/` and does not end with one.
    pub(crate) path: String,
}

impl std::fmt::Debug for SplitUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SplitUrl({}:{}{}, https: {})", self.host, self.port, self.path, self.https)
    }
}

impl SplitUrl {
    /// Reads an `http` or `https` URL; `None` if it is none.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let rest = rest.split(['?', '#']).next()?;
        let (authority, path) = match rest.find('/') {
            Some(at) => (&rest[..at], rest[at..].trim_end_matches('/')),
            None => (rest, ""),
        };
        let (user_info, host_port) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user.to_owned()), host),
            None => (None, authority),
        };
        let (host, port) = split_port(host_port, default_port(https))?;
        let host = match host.strip_prefix('[') {
            Some(address) => address.strip_suffix(']').filter(|address| address.contains(':'))?,
            None => host,
        };
        let host = host.to_ascii_lowercase();
        is_host(&host).then(|| Self { https, user_info, host, port, path: path.to_owned() })
    }
}

/// Whether a name or address can be asked for: letters, digits, `-` and `_` between dots, or IPv6.
fn is_host(host: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if host.contains(':') {
        let (address, zone) = host.split_once('%').unwrap_or((host, "0"));
        let is_zone = !zone.is_empty() && zone.bytes().all(|byte| is_plain(byte) || byte == b'%');
        return is_zone && address.parse::<Ipv6Addr>().is_ok();
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let mut labels = name.split('.');
    name.len() <= HOST_LENGTH_MAX
        && labels.all(|label| (1..=63).contains(&label.len()) && label.bytes().all(is_plain))
}

fn split_port(host_port: &str, default: u16) -> Option<(&str, u16)> {
    let after_bracket = host_port.rfind(']').map_or(0, |at| at + 1);
    match host_port[after_bracket..].rfind(':') {
        None => Some((host_port, default)),
        Some(at) => {
            let (host, port) = host_port.split_at(after_bracket + at);
            let port = match &port[1..] {
                "" => default,
                digits if digits.starts_with('+') => return None,
                digits => digits.parse().ok().filter(|port| *port != 0)?,
            };
            Some((host, port))
        }
    }
}

/// Finds the target for a bucket (a name or an access point ARN) in a region.
pub(crate) fn resolve(
    config: &EndpointConfig,
    bucket: Option<&str>,
    region: &str,
) -> Result<Target> {
    let region = match region {
        "" | "aws-global" => DEFAULT_REGION,
        other => other,
    };
    check_region(region)?;
    let custom = config.url.as_deref().map(parse_custom).transpose()?;
    match bucket {
        None => Ok(service_target(config, custom.as_ref(), region)),
        Some(arn) if arn.starts_with("arn:") => access_point(config, custom.as_ref(), arn),
        Some(bucket) => bucket_target(config, custom.as_ref(), bucket, region),
    }
}

/// Checks that the custom endpoint is valid, before any request goes there.
pub(crate) fn check(config: &EndpointConfig) -> Result<()> {
    config.url.as_deref().map_or(Ok(()), |url| parse_custom(url).map(|_| ()))
}

fn parse_custom(url: &str) -> Result<SplitUrl> {
    if url.contains(['?', '#']) {
        let message = format!("Invalid endpoint: {}: it must have no query", shown(url));
        return Err(config_error(message));
    }
    SplitUrl::parse(url).ok_or_else(|| config_error(format!("Invalid endpoint: {}", shown(url))))
}

/// A URL without its user and query.
fn shown(url: &str) -> &str {
    without_user(url.split(['?', '#']).next().unwrap_or(url))
}

fn config_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message)
}

/// A region becomes part of a host name: it must be one DNS label.
fn check_region(region: &str) -> Result<()> {
    if is_dns_label(region, 1) {
        return Ok(());
    }
    Err(config_error(format!("Provided region_name '{region}' doesn't match a supported format.")))
}

fn is_dns_label(text: &str, min_length: usize) -> bool {
    let bytes = text.as_bytes();
    (min_length..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && bytes.first() != Some(&b'-')
        && bytes.last() != Some(&b'-')
}

/// Whether a bucket can be a label of a host name (and match a wildcard certificate).
fn is_virtual_hostable(bucket: &str) -> bool {
    is_dns_label(bucket, 3) && !bucket.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// As above, with dots, which only fits plain http.
fn is_virtual_hostable_with_dots(bucket: &str) -> bool {
    (3..=63).contains(&bucket.len())
        && bucket.split('.').all(|label| is_dns_label(label, 1))
        && !bucket.bytes().any(|byte| byte.is_ascii_uppercase())
        && bucket.parse::<IpAddr>().is_err()
}

/// Suffixes of host names in the partition of a region: the usual one, and that of dual-stack
/// endpoints of services other than S3.
fn suffixes(region: &str) -> (&'static str, &'static str) {
    const SUFFIXES: [(&str, &str, &str); 7] = [
        ("cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"),
        ("us-iso-", "c2s.ic.gov", "api.aws.ic.gov"),
        ("us-isob-", "sc2s.sgov.gov", "api.aws.scloud"),
        ("eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"),
        ("us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"),
        ("eusc-", "amazonaws.eu", "api.amazonwebservices.eu"),
        ("", "amazonaws.com", "api.aws"),
    ];
    SUFFIXES
        .iter()
        .find(|(prefix, ..)| region.starts_with(prefix))
        .map_or(("amazonaws.com", "api.aws"), |(_, usual, dualstack)| (usual, dualstack))
}

/// Suffix of host names in the partition of a region.
fn dns_suffix(region: &str) -> &'static str {
    suffixes(region).0
}

/// Host of STS or of a service of single sign-on, by the rules that the AWS tools ship.
pub(crate) fn service_host(config: &EndpointConfig, service: &str, region: &str) -> String {
    let (usual, dualstack) = suffixes(region);
    let suffix = if config.dualstack { dualstack } else { usual };
    // In this partition the usual endpoints are those for FIPS.
    let is_usual = region.starts_with("us-gov-") && !config.dualstack;
    let fips = if config.fips && !is_usual { "-fips" } else { "" };
    format!("{service}{fips}.{region}.{suffix}")
}

/// Host of the sign-in service, likewise.
pub(crate) fn sign_in_host(config: &EndpointConfig, region: &str) -> String {
    let (usual, dualstack) = suffixes(region);
    let is_plain = !config.fips && !config.dualstack;
    let own = match usual {
        _ if !is_plain => None,
        "amazonaws.com.cn" => Some("amazonaws.cn"),
        "amazonaws.com" if region.starts_with("us-gov-") => Some("amazonaws-us-gov.com"),
        "amazonaws.com" => Some("aws.amazon.com"),
        _ => None,
    };
    if let Some(own) = own {
        return format!("{region}.signin.{own}");
    }
    let fips = if config.fips { "-fips" } else { "" };
    format!("signin{fips}.{region}.{}", if config.dualstack { dualstack } else { usual })
}

/// `s3`, `s3-fips`, with `.dualstack`, region and suffix; `base` is `s3` or `s3-accesspoint`.
fn amazon_host(config: &EndpointConfig, base: &str, region: &str) -> String {
    let fips = if config.fips { "-fips" } else { "" };
    let dualstack = if config.dualstack { ".dualstack" } else { "" };
    format!("{base}{fips}{dualstack}.{region}.{}", dns_suffix(region))
}

/// Whether a name is one of S3 itself: customers' machines and balancers have names in Amazon's
/// domain, too.
pub(crate) fn is_amazon_s3(host: &str) -> bool {
    let names = ["amazonaws.com.cn", "amazonaws.com"]
        .iter()
        .find_map(|suffix| host.strip_suffix(suffix).and_then(|rest| rest.strip_suffix('.')));
    let labels: Vec<&str> = names.unwrap_or_default().split('.').collect();
    let is_service = |label: &str| label == "s3" || label.starts_with("s3-");
    let is_place = |label: &&str| {
        let is_region = label.contains('-') && label.ends_with(|last: char| last.is_ascii_digit());
        *label == "dualstack" || is_region
    };
    let service = labels.iter().rposition(|label| is_service(label));
    service.is_some_and(|at| labels[at + 1..].iter().all(is_place))
}

fn amazon(host: String, path_prefix: String, region: &str) -> Target {
    Target { https: true, host, port: 443, path_prefix, region: region.to_owned() }
}

fn at_custom(url: &SplitUrl, label: Option<&str>, path: Option<&str>, region: &str) -> Target {
    let host = label.map_or_else(|| url.host.clone(), |label| format!("{label}.{}", url.host));
    let mut path_prefix = url.path.clone();
    if let Some(path) = path {
        path_prefix.push('/');
        path_prefix.push_str(&encode_query_value(path));
    }
    Target { https: url.https, host, port: url.port, path_prefix, region: region.to_owned() }
}

fn service_target(config: &EndpointConfig, custom: Option<&SplitUrl>, region: &str) -> Target {
    match custom {
        Some(url) => at_custom(url, None, None, region),
        None => amazon(amazon_host(config, "s3", region), String::new(), region),
    }
}

fn bucket_target(
    config: &EndpointConfig,
    custom: Option<&SplitUrl>,
    bucket: &str,
    region: &str,
) -> Result<Target> {
    if bucket.ends_with("--x-s3") || bucket.ends_with("--xa-s3") {
        let message = format!("directory buckets (S3 Express) are not supported yet: `{bucket}`");
        return Err(config_error(message));
    }
    if let Some(url) = custom {
        let is_wanted = match config.addressing {
            AddressingStyle::Auto => ACCELERATED.contains(&url.host.as_str()),
            style => style == AddressingStyle::Virtual,
        };
        let is_virtual = is_wanted
            && url.host.parse::<IpAddr>().is_err()
            && (is_virtual_hostable(bucket)
                || (!url.https && is_virtual_hostable_with_dots(bucket)));
        let (label, path) = if is_virtual { (Some(bucket), None) } else { (None, Some(bucket)) };
        return Ok(at_custom(url, label, path, region));
    }
    let hostable = is_virtual_hostable(bucket);
    if config.accelerate {
        return accelerated(config, bucket, region);
    }
    let host = amazon_host(config, "s3", region);
    if hostable && config.addressing != AddressingStyle::Path {
        return Ok(amazon(format!("{bucket}.{host}"), String::new(), region));
    }
    Ok(amazon(host, format!("/{}", encode_query_value(bucket)), region))
}

fn accelerated(config: &EndpointConfig, bucket: &str, region: &str) -> Result<Target> {
    if !is_virtual_hostable(bucket) {
        return Err(config_error("S3 Accelerate cannot be used with this bucket's name"));
    }
    if config.fips {
        return Err(config_error("Accelerate cannot be used with FIPS"));
    }
    if config.addressing == AddressingStyle::Path {
        return Err(config_error("Path-style addressing cannot be used with S3 Accelerate"));
    }
    let dualstack = if config.dualstack { ".dualstack" } else { "" };
    let suffix = dns_suffix(region);
    Ok(amazon(format!("{bucket}.s3-accelerate{dualstack}.{suffix}"), String::new(), region))
}

/// `arn:partition:s3:region:account:accesspoint/name` (or `:name`).
fn access_point(config: &EndpointConfig, custom: Option<&SplitUrl>, arn: &str) -> Result<Target> {
    let invalid = || config_error(format!("Invalid ARN: `{arn}`"));
    let mut fields = arn.splitn(6, ':').skip(2);
    let mut field = || fields.next().ok_or_else(invalid);
    let (service, region, account, resource) = (field()?, field()?, field()?, field()?);
    if service != "s3" {
        let message = format!("ARNs of `{service}` are not supported: `{arn}`");
        return Err(config_error(message));
    }
    let name = resource
        .strip_prefix("accesspoint")
        .and_then(|rest| rest.strip_prefix(['/', ':']))
        .ok_or_else(invalid)?;
    if region.is_empty() {
        let message =
            format!("multi-region access points are not supported (they need SigV4a): `{arn}`");
        return Err(config_error(message));
    }
    if !is_dns_label(name, 3) || !is_dns_label(account, 1) {
        return Err(invalid());
    }
    check_region(region)?;
    if config.accelerate {
        return Err(config_error("Access Points do not support S3 Accelerate"));
    }
    let label = format!("{name}-{account}");
    if let Some(url) = custom {
        return Ok(at_custom(url, Some(&label), None, region));
    }
    let host = amazon_host(config, "s3-accesspoint", region);
    Ok(amazon(format!("{label}.{host}"), String::new(), region))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(config: &EndpointConfig, bucket: Option<&str>, region: &str) -> String {
        match resolve(config, bucket, region) {
            Ok(target) => {
                let scheme = if target.https { "https" } else { "http" };
                let (authority, path) = (target.authority(), target.path_prefix);
                format!("{scheme}://{authority}{path} {}", target.region)
            }
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn amazon_endpoints() {
        let auto = EndpointConfig::default();
        let path = EndpointConfig { addressing: AddressingStyle::Path, ..auto.clone() };
        let both = EndpointConfig { dualstack: true, fips: true, ..auto.clone() };
        let dual = EndpointConfig { dualstack: true, ..auto.clone() };
        let fast = EndpointConfig { accelerate: true, ..auto.clone() };
        // An empty name is no bucket; `~` stands for `amazonaws.com`.
        let table = [
            (&auto, "my-bucket", "eu-west-1", "my-bucket.s3.eu-west-1.~"),
            (&auto, "my.bucket", "eu-west-1", "s3.eu-west-1.~/my.bucket"),
            (&auto, "My_Bucket", "us-east-1", "s3.us-east-1.~/My_Bucket"),
            (&auto, "", "us-east-1", "s3.us-east-1.~"),
            (&auto, "bucket", "cn-north-1", "bucket.s3.cn-north-1.~.cn"),
            (&auto, "bucket", "us-gov-west-1", "bucket.s3.us-gov-west-1.~"),
            (&auto, "bucket", "us-isob-east-1", "bucket.s3.us-isob-east-1.sc2s.sgov.gov"),
            (&path, "bucket", "eu-west-1", "s3.eu-west-1.~/bucket"),
            (&both, "bucket", "us-west-2", "bucket.s3-fips.dualstack.us-west-2.~"),
            (&dual, "", "us-west-2", "s3.dualstack.us-west-2.~"),
            (&fast, "bucket", "us-west-2", "bucket.s3-accelerate.~"),
        ];
        for (config, bucket, region, host) in table {
            let bucket = Some(bucket).filter(|bucket| !bucket.is_empty());
            let host = host.replace('~', "amazonaws.com");
            assert_eq!(at(config, bucket, region), format!("https://{host} {region}"));
        }
        let default = "https://bucket.s3.us-east-1.amazonaws.com us-east-1";
        assert_eq!(at(&auto, Some("bucket"), ""), default);
        assert_eq!(at(&auto, Some("bucket"), "aws-global"), default);
        let arn = "arn:aws:s3:eu-west-1:123456789012:accesspoint/my-point";
        let host = "my-point-123456789012.s3-accesspoint.eu-west-1.amazonaws.com";
        assert_eq!(at(&auto, Some(arn), "us-east-1"), format!("https://{host} eu-west-1"));
    }

    #[test]
    fn hosts_of_other_services() {
        for (fips, dualstack, service, region, expected) in [
            (false, false, "sts", "eu-west-1", "sts.eu-west-1.amazonaws.com"),
            (true, false, "sts", "eu-west-1", "sts-fips.eu-west-1.amazonaws.com"),
            (true, false, "sts", "us-gov-west-1", "sts.us-gov-west-1.amazonaws.com"),
            (true, true, "sts", "us-gov-west-1", "sts-fips.us-gov-west-1.api.aws"),
            (false, true, "oidc", "us-east-1", "oidc.us-east-1.api.aws"),
            (true, false, "portal.sso", "us-east-1", "portal.sso-fips.us-east-1.amazonaws.com"),
            (false, true, "sts", "cn-north-1", "sts.cn-north-1.api.amazonwebservices.com.cn"),
            (false, true, "sts", "us-isob-east-1", "sts.us-isob-east-1.api.aws.scloud"),
        ] {
            let config = EndpointConfig { dualstack, fips, ..EndpointConfig::default() };
            assert_eq!(service_host(&config, service, region), expected);
        }
    }

    #[test]
    fn the_sign_in_service_has_hosts_of_its_own() {
        for (fips, dualstack, region, expected) in [
            (false, false, "eu-west-1", "eu-west-1.signin.aws.amazon.com"),
            (false, false, "cn-north-1", "cn-north-1.signin.amazonaws.cn"),
            (false, false, "us-gov-west-1", "us-gov-west-1.signin.amazonaws-us-gov.com"),
            (false, false, "us-iso-east-1", "signin.us-iso-east-1.c2s.ic.gov"),
            (false, false, "eusc-de-east-1", "signin.eusc-de-east-1.amazonaws.eu"),
            (true, false, "us-east-1", "signin-fips.us-east-1.amazonaws.com"),
            (true, false, "us-gov-west-1", "signin-fips.us-gov-west-1.amazonaws.com"),
            (false, true, "us-east-1", "signin.us-east-1.api.aws"),
            (true, true, "cn-north-1", "signin-fips.cn-north-1.api.amazonwebservices.com.cn"),
        ] {
            let config = EndpointConfig { dualstack, fips, ..EndpointConfig::default() };
            assert_eq!(sign_in_host(&config, region), expected);
        }
    }

    #[test]
    fn custom_endpoints() {
        let custom = |url: &str, addressing| EndpointConfig {
            url: Some(url.to_owned()),
            addressing,
            ..EndpointConfig::default()
        };
        let (auto, host) = (AddressingStyle::Auto, AddressingStyle::Virtual);
        let table = [
            ("http://localhost:9000", auto, "b-1", "http://localhost:9000/b-1 r"),
            ("http://localhost:9000", host, "b-1", "http://b-1.localhost:9000 r"),
            ("http://127.0.0.1:9000/", host, "b-1", "http://127.0.0.1:9000/b-1 r"),
            ("http://[::1]:9000", host, "b-1", "http://[::1]:9000/b-1 r"),
            ("https://Store.test/base/", auto, "b-1", "https://store.test/base/b-1 r"),
            ("https://store.test:443/base", host, "b-1", "https://b-1.store.test/base r"),
            ("https://store.test", host, "b.1", "https://store.test/b.1 r"),
            ("http://store.test", host, "b.1", "http://b.1.store.test r"),
            (
                "https://s3-accelerate.amazonaws.com",
                auto,
                "b-1",
                "https://b-1.s3-accelerate.amazonaws.com r",
            ),
            ("ftp://store.test", auto, "b-1", "error: Invalid endpoint: ftp://store.test"),
            ("http://u:p@", auto, "b-1", "error: Invalid endpoint: "),
            ("http://my_store:9000", auto, "b-1", "http://my_store:9000/b-1 r"),
            ("http://a b:9000", auto, "b-1", "error: Invalid endpoint: http://a b:9000"),
            ("http://a..b", auto, "b-1", "error: Invalid endpoint: http://a..b"),
            ("http://:9000", auto, "b-1", "error: Invalid endpoint: http://:9000"),
            ("http://a:90000", auto, "b-1", "error: Invalid endpoint: http://a:90000"),
            ("http://a:0", auto, "b-1", "error: Invalid endpoint: http://a:0"),
            (
                "http://h:1/?k=v",
                auto,
                "b",
                "error: Invalid endpoint: http://h:1/: it must have no query",
            ),
            (
                "http://h:1/#k",
                auto,
                "b",
                "error: Invalid endpoint: http://h:1/: it must have no query",
            ),
            ("http://a:+80", auto, "b-1", "error: Invalid endpoint: http://a:+80"),
            ("http://[::g]", auto, "b-1", "error: Invalid endpoint: http://[::g]"),
        ];
        for (url, addressing, bucket, expected) in table {
            assert_eq!(at(&custom(url, addressing), Some(bucket), "r"), expected);
        }
    }

    #[test]
    fn what_is_not_supported_is_said() {
        let auto = EndpointConfig::default();
        let table = [
            ("b--use1-az4--x-s3", "directory buckets (S3 Express) are not supported yet"),
            ("arn:aws:s3::123456789012:accesspoint/mfzwi.mrap", "multi-region access points"),
            ("arn:aws:s3-outposts:us-west-2:123:outpost/op/accesspoint/x", "`s3-outposts`"),
            ("arn:aws:s3:us-west-2:123:thing/x", "Invalid ARN"),
            ("arn:aws:s3:us-west-2", "Invalid ARN"),
        ];
        for (bucket, expected) in table {
            let text = at(&auto, Some(bucket), "us-east-1");
            assert!(text.contains(expected), "{text}");
        }
        assert!(at(&auto, Some("bucket"), "evil.com/").starts_with("error: Provided region_name"));
    }

    #[test]
    fn names_of_s3_are_distinguished_from_bucket_names() {
        for host in [
            "s3.amazonaws.com",
            "s3-eu-west-1.amazonaws.com",
            "s3.eu-west-1.amazonaws.com",
            "box.s3.dualstack.us-west-2.amazonaws.com",
            "a.b.s3.amazonaws.com",
            "box.s3-fips.us-gov-west-1.amazonaws.com",
            "box.s3-accelerate.amazonaws.com",
            "s3.cn-north-1.amazonaws.com.cn",
        ] {
            assert!(is_amazon_s3(host), "{host}");
        }
        for host in [
            "amazonaws.com",
            "ec2-1-2-3-4.compute-1.amazonaws.com",
            "s3-evil-1.elb.us-east-1.amazonaws.com",
            "s3.evil-1.us-east-1.elb.amazonaws.com",
            "abc.execute-api.us-east-1.amazonaws.com",
            "s3.amazonaws.com.evil.test",
            "s3amazonaws.com",
            "s3.evil.test",
        ] {
            assert!(!is_amazon_s3(host), "{host}");
        }
    }

    proptest! {
        #[test]
        fn no_bucket_name_changes_the_host(bucket in "\\PC{1,80}") {
            let config = EndpointConfig::default();
            if let Ok(target) = resolve(&config, Some(&bucket), "eu-west-1") {
                prop_assert!(target.host.ends_with("eu-west-1.amazonaws.com"));
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
                prop_assert!(target.host.bytes().all(is_plain));
            }
        }
    }
}
