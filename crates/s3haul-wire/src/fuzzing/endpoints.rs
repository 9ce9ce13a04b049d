//! Where requests go: URLs, names of buckets, regions and proxies.

use http::HeaderValue;
use http::uri::Authority;

use super::super::endpoint::{SplitUrl, resolve};
use crate::config::{AddressingStyle, EndpointConfig, ProxyConfig};
use crate::net::proxy;

/// Lines: endpoint, bucket, region, proxy, hosts without proxy. The target of a request is always a
/// host and nothing else.
///
/// # Panics
///
/// Where it is not.
pub fn endpoints(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(5, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (url, bucket, region, proxy_url, no_proxy) = (line(), line(), line(), line(), line());
    for (addressing, with_url) in [
        (AddressingStyle::Auto, true),
        (AddressingStyle::Virtual, true),
        (AddressingStyle::Path, true),
        (AddressingStyle::Auto, false),
    ] {
        let url = Some(url.to_owned()).filter(|url| with_url && !url.is_empty());
        let config = EndpointConfig { url, addressing, ..EndpointConfig::default() };
        for bucket in [Some(bucket), None] {
            let Ok(target) = resolve(&config, bucket, region) else { continue };
            let authority = target.authority();
            check_authority(&authority, &target.host, target.port);
            assert!(target.path_prefix.is_empty() || target.path_prefix.starts_with('/'));
            assert!(!target.path_prefix.contains(['?', '#']), "{}", target.path_prefix);
        }
    }
    if let Some(split) = SplitUrl::parse(url) {
        let config = ProxyConfig {
            http: Some(proxy_url.to_owned()),
            https: Some(proxy_url.to_owned()),
            no_proxy: Some(no_proxy.to_owned()),
        };
        let found = proxy::for_host(&config, split.https, &split.host, split.port);
        if let Ok(Some(found)) = found {
            let is_v6 = found.host.contains(':');
            let host = if is_v6 { format!("[{}]", found.host) } else { found.host.clone() };
            let authority = format!("{host}:{}", found.port);
            check_authority(&authority, &found.host, found.port);
        }
    }
}

fn check_authority(authority: &str, host: &str, port: u16) {
    assert!(HeaderValue::from_str(authority).is_ok(), "{authority:?}");
    assert!(port != 0 && !host.is_empty());
    assert!(!host.contains(['/', '@', '?', '#', '\\', ' ']), "{host:?}");
    // A zone of an address (`fe80::1%eth0`) is for sockets alone.
    if !host.contains('%') {
        let parsed: Authority = authority.parse().expect("an authority");
        assert_eq!(parsed.as_str(), authority);
    }
}
