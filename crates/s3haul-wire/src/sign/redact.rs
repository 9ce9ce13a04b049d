//! Takes secrets out of texts that others wrote: a server may put into an error what it was sent,
//! and a program that was asked for credentials may print them. Pure.
//!
//! Two nets: the secrets that are known, in the forms in which they travel, and whatever stands
//! where secrets usually stand. What is caught is shown as `******`.

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use http::header::{HeaderName, HeaderValue, PROXY_AUTHORIZATION};
use regex_lite::Regex;

use crate::sign::signature::{Credentials, encode_query_value};
use crate::units::hex;

/// What is shown in the place of a secret.
const HIDDEN: &str = "******";
/// Shorter texts are words of a language as often as they are secrets.
const LENGTH_MIN: usize = 6;

/// Secrets that are known, in all their forms. Made once for credentials: it takes longer than to
/// look for them, and there are jobs in which half of the answers are errors.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    forms: Arc<Vec<String>>,
}

impl Secrets {
    /// Those of credentials.
    pub(crate) fn of_credentials(credentials: &Credentials) -> Self {
        let mut secrets = Self::default();
        secrets.add(credentials.secret_access_key.as_bytes());
        secrets.add(credentials.session_token.as_deref().unwrap_or_default().as_bytes());
        secrets
    }

    /// Adds a secret.
    pub(crate) fn add(&mut self, secret: &[u8]) {
        let mut forms = Vec::new();
        if let Ok(text) = std::str::from_utf8(secret) {
            forms.extend([text.to_owned(), encode_query_value(text)]);
        }
        let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
        forms.extend(engines.iter().map(|engine| engine.encode(secret)));
        let hex = hex(secret);
        forms.extend([hex.to_uppercase(), hex]);
        let known = Arc::make_mut(&mut self.forms);
        known.extend(forms.into_iter().filter(|form| form.len() >= LENGTH_MIN));
        // A form that begins with another goes first, or its end would stay.
        known.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
    }

    /// Adds what the headers of a request hold: whatever is marked as sensitive, and what base64
    /// hides in it.
    pub(crate) fn add_headers<'h>(
        &mut self,
        headers: impl Iterator<Item = (&'h HeaderName, &'h HeaderValue)>,
    ) {
        for (name, value) in headers.filter(|(_, value)| value.is_sensitive()) {
            self.add(value.as_bytes());
            let inner = value.as_bytes().strip_prefix(b"Basic ").unwrap_or(value.as_bytes());
            self.add(inner);
            if let Ok(decoded) = STANDARD.decode(inner) {
                self.add(&decoded);
                let password = decoded.splitn(2, |byte| *byte == b':').nth(1);
                if name == PROXY_AUTHORIZATION {
                    self.add(password.unwrap_or_default());
                }
            }
        }
    }

    /// A text without secrets.
    pub(crate) fn redact(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for form in self.forms.iter() {
            if shown.contains(form.as_str()) {
                shown = shown.replace(form.as_str(), HIDDEN);
            }
        }
        for (pattern, replacement) in PATTERNS.iter() {
            if pattern.is_match(&shown) {
                shown = pattern.replace_all(&shown, *replacement).into_owned();
            }
        }
        shown
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.forms.len())
    }
}

/// Names of what holds a secret, without regard to case.
const NAMES: [&str; 9] = [
    "signature(?:provided)?",
    "(?:security|session)[_-]?token",
    "secret_?(?:access_?)?key",
    "web_?identity_?token",
    "access_?token",
    "refresh_?token",
    "id_?token",
    "client_?secret",
    "customer-key(?:-md5)?",
];

/// Where secrets usually stand, and what is shown instead.
static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    // `Signature=…`, `x-amz-security-token:…`, `<SecretAccessKey>…`, `"accessToken": "…"`.
    let equals = r#"["']?\s*(?:=|:|>|%3d|%3a)\s*["']?"#;
    let named = format!(r#"(?i)((?:{}){equals})[^\s"'<>&,;]{{12,}}"#, NAMES.join("|"));
    let patterns = [
        (named.as_str(), "${1}******"),
        // What signs: 256 bits in hexadecimal digits.
        (r"\b[0-9a-fA-F]{64}\b", "******"),
        // JSON web tokens.
        (r"\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_=-]*)*", "******"),
        (r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._-]{16,}", "${1} ******"),
        // The user and password of a URL.
        (r#"://[^\s/@"'<>]+@"#, "://******@"),
    ];
    let compiled =
        |(pattern, shown): (&str, &'static str)| Some((Regex::new(pattern).ok()?, shown));
    patterns.into_iter().filter_map(compiled).collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn known() -> Secrets {
        Secrets::of_credentials(&Credentials {
            access_key_id: "AKIDEXAMPLE".to_owned(),
            secret_access_key: SECRET.to_owned(),
            session_token: Some("the==token".to_owned()),
        })
    }

    #[test]
    fn all_patterns_are_patterns() {
        assert_eq!(PATTERNS.len(), 5);
    }

    #[test]
    fn known_secrets_are_hidden_in_every_form() {
        let hex: String =
            SECRET.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02X}"));
        let forms = [
            SECRET.to_owned(),
            STANDARD.encode(SECRET),
            URL_SAFE_NO_PAD.encode(SECRET),
            hex.to_lowercase(),
            hex,
            encode_query_value(SECRET),
            "the%3D%3Dtoken".to_owned(),
        ];
        for form in forms {
            assert_eq!(
                known().redact(&format!("got `{form}`, sir")),
                "got `******`, sir",
                "{form}"
            );
        }
        assert_eq!(known().redact("AKIDEXAMPLE is not known"), "AKIDEXAMPLE is not known");
    }

    #[test]
    fn secrets_of_headers_are_hidden_and_what_they_encode() {
        let mut secrets = Secrets::default();
        let mut add = |name: &'static str, value: &'static str, is_sensitive| {
            let mut value = HeaderValue::from_static(value);
            value.set_sensitive(is_sensitive);
            let name = HeaderName::from_static(name);
            secrets.add_headers(std::iter::once((&name, &value)));
        };
        // `01234567890123456789012345678901` and `user:pass word`.
        let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
        add("x-amz-server-side-encryption-customer-key", key, true);
        add("proxy-authorization", "Basic dXNlcjpwYXNzIHdvcmQ=", true);
        add("x-amz-acl", "public-read", false);
        for hidden in [key, "01234567890123456789012345678901", "dXNlcjpwYXNzIHdvcmQ=", "pass word"]
        {
            assert_eq!(secrets.redact(&format!("<{hidden}>")), "<******>", "{hidden}");
        }
        assert_eq!(secrets.redact("public-read, 0123"), "public-read, 0123");
    }

    #[test]
    fn what_looks_like_a_secret_is_hidden() {
        let hash = "0f".repeat(32);
        let table = [
            (format!("StringToSign: a\n{hash}"), "StringToSign: a\n******".to_owned()),
            (
                "AWS4-HMAC-SHA256 Credential=AK/1/s3, Signature=abcdefghijkl".to_owned(),
                "AWS4-HMAC-SHA256 Credential=AK/1/s3, Signature=******".to_owned(),
            ),
            (
                "/b/k?X-Amz-Security-Token=abcdefghijklmn%2F&x=y".to_owned(),
                "/b/k?X-Amz-Security-Token=******&x=y".to_owned(),
            ),
            (
                "x-amz-security-token:IQoJb3JpZ2luX2Vj\nhost".to_owned(),
                "x-amz-security-token:******\nhost".to_owned(),
            ),
            (
                "<SecretAccessKey>0123456789ab</SecretAccessKey>".to_owned(),
                "<SecretAccessKey>******</SecretAccessKey>".to_owned(),
            ),
            (
                "{\"accessToken\": \"0123456789ab\"}".to_owned(),
                "{\"accessToken\": \"******\"}".to_owned(),
            ),
            ("Bearer abcdefgh.ijklmnop".to_owned(), "Bearer ******".to_owned()),
            (
                "token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln is bad".to_owned(),
                "token ****** is bad".to_owned(),
            ),
            ("at http://user:word@proxy:1/x".to_owned(), "at http://******@proxy:1/x".to_owned()),
        ];
        for (text, expected) in table {
            assert_eq!(Secrets::default().redact(&text), expected);
        }
    }

    #[test]
    fn plain_messages_stay_as_they_are() {
        for text in [
            "The request signature we calculated does not match the signature you provided. Check \
             your key and signing method.",
            "The provided token is malformed or otherwise invalid.",
            "The specified key does not exist.",
            "The bucket is in this region: eu-west-1. Please use this region to retry the request",
            "Signature: invalid",
            "basic error; bearer of bad news",
        ] {
            assert_eq!(Secrets::default().redact(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_secret_stays_wherever_it_stands(before in ".{0,20}", after in ".{0,20}") {
            let text = format!("{before}{SECRET}{after}");
            prop_assert!(!known().redact(&text).contains(SECRET));
        }
    }
}
