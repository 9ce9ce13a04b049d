//! Nothing that holds a secret shows it to `{:?}`: what a log, a panic or a debugger of texts gets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{HeaderMap, HeaderValue, Method};

use crate::config::{ClientConfig, CredentialsConfig, EndpointConfig, ProxyConfig};
use crate::endpoint::SplitUrl;
use crate::message::headers::Headers;
use crate::message::properties::{CustomerKey, ObjectProperties};
use crate::net::proxy;
use crate::sign::redact::Secrets;
use crate::sign::signature::{Credentials, PayloadHash, Signer};
use crate::testing;
use crate::testing::{Reply, World, client_with, get};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const TOKEN: &str = "IQoJb3JpZ2luX2VjEXAMPLE";
const KEY: &str = "01234567890123456789012345678901";
const PASSWORD: &str = "pAsSw0rd";

fn credentials() -> Credentials {
    Credentials {
        access_key_id: "AKID".to_owned(),
        secret_access_key: SECRET.to_owned(),
        session_token: Some(TOKEN.to_owned()),
    }
}

fn config() -> ClientConfig {
    let url = format!("http://user:{PASSWORD}@host.test:1");
    ClientConfig {
        endpoint: EndpointConfig { url: Some(url.clone()), ..EndpointConfig::default() },
        credentials: CredentialsConfig::Static {
            access_key_id: "AKID".to_owned(),
            secret_access_key: SECRET.to_owned(),
            session_token: Some(TOKEN.to_owned()),
        },
        proxy: ProxyConfig { http: Some(url.clone()), https: Some(url), no_proxy: None },
        ..testing::config()
    }
}

fn assert_hidden(shown: &[(&str, String)]) {
    let basic = BASE64.encode(format!("user:{PASSWORD}"));
    let hidden = [SECRET, TOKEN, KEY, PASSWORD, &BASE64.encode(KEY), &basic];
    for (name, text) in shown {
        let has_signature = text.replace("Signature=******", "").contains("Signature=");
        assert!(!has_signature, "{name} shows a signature: {text}");
        for secret in hidden {
            assert!(!text.contains(secret), "{name} shows `{secret}`: {text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn debug_shows_no_secret() {
    let customer_key = CustomerKey { algorithm: "AES256".to_owned(), key: KEY.into() };
    let properties = ObjectProperties {
        customer_key: Some(customer_key.clone()),
        ..ObjectProperties::default()
    };
    let mut headers = Headers::default();
    headers.customer_key(Some(&customer_key)).unwrap();
    headers.source_customer_key(Some(&customer_key)).unwrap();
    let signer = Signer::new(credentials(), "us-east-1".to_owned());
    let mut sent = HeaderMap::new();
    sent.insert("host", HeaderValue::from_static("host.test"));
    let hash = PayloadHash::Unsigned;
    signer.sign(&Method::GET, "/", "", &mut sent, hash, std::time::SystemTime::now());
    let url = format!("https://user:{PASSWORD}@host.test");
    let target = proxy::for_host(&config().proxy, false, "other.test", 80).unwrap();
    let world = World::new(|seen| {
        let authorization = seen.header("authorization").unwrap_or_default().to_owned();
        let proxy = seen.header("proxy-authorization").unwrap_or_default().to_owned();
        let token = seen.header("x-amz-security-token").unwrap_or_default().to_owned();
        let text = format!("{authorization} {proxy} {token} {SECRET}");
        Reply::status(403, "", &format!("<Error><Code>No</Code><Message>{text}</Message></Error>"))
    });
    let client = client_with(&world, config());
    // Its sites, hosts and credentials are known once something was asked of it.
    let error = client.call(&get()).await.unwrap_err();
    let request = crate::message::request::Request { headers: headers.0.clone(), ..get() };
    assert_hidden(&[
        ("Credentials", format!("{:?}", credentials())),
        ("Secrets", format!("{:?}", Secrets::of_credentials(&credentials()))),
        ("ClientConfig", format!("{:?}", config())),
        ("CustomerKey", format!("{customer_key:?}")),
        ("ObjectProperties", format!("{properties:?}")),
        ("Headers", format!("{headers:?}")),
        ("Request", format!("{request:?}")),
        ("HeaderMap", format!("{sent:?}")),
        ("Signer", format!("{signer:?}")),
        ("SplitUrl", format!("{:?}", SplitUrl::parse(&url))),
        ("ProxyTarget", format!("{target:?}")),
        ("Client", format!("{client:?}")),
        ("Held", format!("{:?}", client.inner.credentials.held())),
        ("Error", format!("{error:?} {error}")),
    ]);
    assert!(target.is_some() && sent.contains_key("authorization"));
    assert!(world.seen()[0].header("proxy-authorization").is_some(), "all of it was on its way");
    let message = error.to_string();
    assert!(message.contains("Credential=AKID") && message.contains("******"), "{message}");
}
