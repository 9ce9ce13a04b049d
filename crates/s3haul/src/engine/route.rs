//! Whether two clients talk to one service, and whether the server can copy from one to the other.
//! Pure.

use s3haul_wire::{ClientConfig, CredentialsConfig};

/// Host names of Amazon's endpoints end so.
const AMAZON: [&str; 3] = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws"];

/// Whether buckets of one name are the same bucket for both clients. All of Amazon's endpoints are
/// one service; anything else is the same only where the URLs are.
pub(crate) fn is_same_service(one: &ClientConfig, other: &ClientConfig) -> bool {
    let (one, other) = (&one.endpoint.url, &other.endpoint.url);
    one.as_deref().map(normal) == other.as_deref().map(normal)
        || (is_amazon(one.as_deref()) && is_amazon(other.as_deref()))
}

/// Whether the server of `target` can read what `source` reads: the same service, asked with the
/// same credentials. Where other credentials could read it too cannot be known beforehand.
pub(crate) fn can_read(target: &ClientConfig, source: &ClientConfig) -> bool {
    is_same_service(target, source) && is_same_signer(&target.credentials, &source.credentials)
}

/// Whether requests are signed by one identity, as far as the configuration alone determines it.
fn is_same_signer(one: &CredentialsConfig, other: &CredentialsConfig) -> bool {
    use CredentialsConfig::Static;
    match (one, other) {
        (Static { access_key_id: one, .. }, Static { access_key_id: other, .. }) => one == other,
        _ => one == other,
    }
}

/// A URL without what makes no difference.
fn normal(url: &str) -> String {
    url.trim().trim_end_matches('/').to_ascii_lowercase()
}

fn is_amazon(url: Option<&str>) -> bool {
    let Some(url) = url else { return true };
    let url = normal(url);
    let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split(':').next().unwrap_or_default();
    AMAZON.iter().any(|end| host.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::EndpointConfig;

    fn config(url: Option<&str>, credentials: CredentialsConfig) -> ClientConfig {
        let endpoint = EndpointConfig { url: url.map(str::to_owned), ..EndpointConfig::default() };
        ClientConfig { endpoint, credentials, ..ClientConfig::default() }
    }

    fn keys(id: &str) -> CredentialsConfig {
        let access_key_id = id.to_owned();
        CredentialsConfig::Static {
            access_key_id,
            secret_access_key: "s".to_owned(),
            session_token: None,
        }
    }

    #[test]
    fn a_service_is_its_endpoint() {
        let same = |one, other| is_same_service(&config(one, keys("a")), &config(other, keys("b")));
        assert!(same(None, None));
        assert!(same(Some("http://Host:9000/"), Some("http://host:9000")));
        assert!(!same(Some("http://host:9000"), Some("http://host:9001")));
        assert!(!same(Some("http://host:9000"), None));
        assert!(same(Some("https://s3.eu-west-1.amazonaws.com"), None));
        assert!(same(Some("https://bucket.vpce-1.s3.us-east-1.vpce.amazonaws.com:443/"), None));
        assert!(!same(Some("https://amazonaws.com.example.org"), None));
        assert!(!same(Some("https://s3.amazonaws.com@example.org"), None));
    }

    #[test]
    fn the_server_copies_what_the_same_credentials_read() {
        let can = |target, source| can_read(&config(None, target), &config(None, source));
        let profile = |name: &str| CredentialsConfig::Profile(name.to_owned());
        assert!(can(CredentialsConfig::Chain, CredentialsConfig::Chain));
        assert!(can(keys("a"), keys("a")) && !can(keys("a"), keys("b")));
        assert!(can(profile("a"), profile("a")) && !can(profile("a"), profile("b")));
        assert!(!can(CredentialsConfig::Chain, CredentialsConfig::Anonymous));
        assert!(!can(profile("a"), CredentialsConfig::Chain));
        let (near, far) = (config(None, keys("a")), config(Some("http://far"), keys("a")));
        assert!(!can_read(&near, &far));
    }
}
