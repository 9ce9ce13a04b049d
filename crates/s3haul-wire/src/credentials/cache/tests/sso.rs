//! Tokens of single sign-on.

use super::*;

/// The file of the token, whose name is the SHA-1 of `corp`.
fn sso_cache() -> String {
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, b"corp");
    let mut cache = ".aws/sso/cache/".to_owned();
    for byte in hash.as_ref() {
        write!(cache, "{byte:02x}").unwrap();
    }
    cache + ".json"
}

#[tokio::test]
async fn sso_uses_the_cached_token_and_renews_it() {
    let cache = sso_cache();
    let home = Home::new().file(".aws/config", SSO_CONFIG);
    let missing = home.key(Some("s")).await.unwrap_err();
    assert!(missing.to_string().contains("aws sso login"), "{missing}");
    let home = home.file(&cache, r#"{"accessToken":"old","expiresAt":"2999-01-01T00:00:00Z"}"#);
    assert_eq!(home.key(Some("s")).await.unwrap(), "SSOKEY");
    assert!(format!("{:?}", home.seen.lock().unwrap()).contains("\"old\""));
    let old = r#"{"accessToken":"old","expiresAt":"2001-01-01T00:00:00Z"}"#;
    let home = home.file(&cache, old);
    assert!(home.key(Some("s")).await.unwrap_err().to_string().contains("has expired"));
    let renewable = r#"{"accessToken":"old","expiresAt":"2001-01-01T00:00:00UTC",
        "clientId":"c","clientSecret":"x","refreshToken":"r"}"#;
    let home = home.file(&cache, renewable);
    assert_eq!(home.key(Some("s")).await.unwrap(), "SSOKEY");
    assert!(format!("{:?}", home.seen.lock().unwrap()).contains("\"new\""));
    home.seen.lock().unwrap().clear();
    let home = home
        .file(&cache, renewable)
        .set("AWS_ENDPOINT_URL_SSO_OIDC", "http://oidc.own/")
        .set("AWS_ENDPOINT_URL", "http://portal.sso.own");
    assert_eq!(home.key(Some("s")).await.unwrap(), "SSOKEY");
    let seen = format!("{:?}", home.seen.lock().unwrap());
    assert!(seen.contains("http://oidc.own/token"), "{seen}");
    assert!(seen.contains("http://portal.sso.own/federation/credentials?"), "{seen}");
}

#[tokio::test]
async fn a_renewed_sso_token_is_kept_and_one_that_lives_is_used_where_that_fails() {
    let token = |ends: jiff::Timestamp| {
        format!(
            r#"{{"accessToken":"old","expiresAt":"{ends:.0}","clientId":"c","clientSecret":"x",
            "refreshToken":"r","registrationExpiresAt":"2999-01-01T00:00:00Z"}}"#
        )
    };
    let now = jiff::Timestamp::now();
    let (soon, past) = (now + Duration::from_mins(2), now - Duration::from_mins(2));
    let home = Home::new().file(".aws/config", SSO_CONFIG).file(&sso_cache(), &token(soon));
    assert_eq!(home.key(Some("s")).await.unwrap(), "SSOKEY");
    let path = home.folder.path().join(sso_cache());
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        [&kept["accessToken"], &kept["refreshToken"], &kept["clientId"]],
        ["new", "r2", "c"]
    );
    assert!(kept["expiresAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap() > soon);
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);

    let home = home.set("AWS_ENDPOINT_URL_SSO_OIDC", "http://oidc.busy");
    let home = home.file(&sso_cache(), &token(soon));
    assert_eq!(home.key(Some("s")).await.unwrap(), "SSOKEY");
    assert!(format!("{:?}", home.seen.lock().unwrap()).contains("\"old\""));
    let error = home.file(&sso_cache(), &token(past)).key(Some("s")).await.unwrap_err();
    let why = "the SSO token could not be renewed: SSO answered 503";
    assert_eq!(error.to_string(), why);
}
