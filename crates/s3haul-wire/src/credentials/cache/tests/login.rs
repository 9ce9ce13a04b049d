//! What `aws login` leaves.

use super::*;

/// A session as `aws login` leaves it.
fn login_file(ends: jiff::Timestamp) -> String {
    let key = "-----BEGIN EC PRIVATE KEY-----\\n\
        MHcCAQEEIGEga2V5IG9mIHRlc3RzIGFuZCBub3RoaW5nIGVsc2UhoAoGCCqGSM49\\n\
        AwEHoUQDQgAEkjy1xTL8P+UmbJPaZkE5u9iPdPUIcVfI/TLFTXmvym9FCbRbZPjw\\n\
        zuWFU9cGR/yGUHsbpywJZHgk6SBX3RGWvA==\\n-----END EC PRIVATE KEY-----\\n";
    format!(
        r#"{{"accessToken":{{"accessKeyId":"OLDKEY","secretAccessKey":"s","sessionToken":"t",
        "accountId":"123456789012","expiresAt":"{ends:.0}"}},"tokenType":"aws_sigv4",
        "clientId":"arn:aws:signin:::devtools/same-device","refreshToken":"{OLD_TOKEN}",
        "idToken":"i","dpopKey":"{key}"}}"#
    )
}

#[tokio::test]
async fn a_login_is_used_while_it_lives_and_refreshed() {
    let config = "[profile p]\nlogin_session=me\nregion=eu-west-1\n\
                  [profile r]\nrole_arn=arn:aws:iam::123456789012:role/r\nsource_profile=p\n";
    let path = format!(".aws/login/cache/{LOGIN_FILE}");
    let now = jiff::Timestamp::now();
    let [later, soon, past] =
        [600, 120, -1].map(|seconds| now + jiff::SignedDuration::from_secs(seconds));
    let home = Home::new().file(".aws/config", config).file(&path, &login_file(later));
    assert_eq!(home.key(Some("p")).await.unwrap(), "OLDKEY");
    assert!(home.seen.lock().unwrap().is_empty());
    let home = home.file(&path, &login_file(soon));
    let found = tokio::join!(home.key(Some("p")), home.key(Some("p")));
    assert_eq!([found.0.unwrap(), found.1.unwrap()], ["NEWKEY"; 2]);
    let seen = std::mem::take(&mut *home.seen.lock().unwrap());
    assert_eq!(seen.len(), 2, "one request and its proof");
    let (url, body) = &seen[0];
    assert_eq!(url, "https://eu-west-1.signin.aws.amazon.com/v1/token");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    let expected = serde_json::json!({"clientId": "arn:aws:signin:::devtools/same-device",
        "refreshToken": OLD_TOKEN, "grantType": "refresh_token"});
    assert_eq!(body, expected);
    // What is new is kept, and the rest stays.
    let kept = std::fs::read(home.folder.path().join(&path)).unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    let keys = &kept["accessToken"];
    assert_eq!([&keys["accessKeyId"], &keys["accountId"]], ["NEWKEY", "123456789012"]);
    assert_eq!([&kept["refreshToken"], &kept["idToken"]], ["r2", "i"]);
    assert!(keys["expiresAt"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap() > later);
    assert_eq!(home.key(Some("r")).await.unwrap(), "STSKEY0123456789");

    let folder = home.folder.path().join("elsewhere").display().to_string();
    let home = home.set("AWS_LOGIN_CACHE_DIRECTORY", &folder);
    let path = format!("elsewhere/{LOGIN_FILE}");
    let mut home = home.file(&path, &login_file(past));
    for (service, expected) in [
        ("expired", "Please reauthenticate using 'aws login'."),
        ("forbidden", "'signin:CreateOAuth2Token' action."),
        ("odd", "could not be refreshed: the sign-in service answered 400"),
    ] {
        home = home.set("AWS_ENDPOINT_URL_SIGNIN", &format!("http://signin.{service}/"));
        let error = home.key(Some("p")).await.unwrap_err().to_string();
        assert!(error.ends_with(expected) && !error.contains(OLD_TOKEN), "{error}");
    }
    assert_eq!(home.seen.lock().unwrap().last().unwrap().0.matches('.').count(), 2);
    // The old ones are used while they live.
    let home = home.file(&path, &login_file(soon));
    assert_eq!(home.key(Some("p")).await.unwrap(), "OLDKEY");
    let error = home.file(&path, "{}").key(Some("p")).await.unwrap_err().to_string();
    assert!(error.contains("lacks something"), "{error}");
}

/// The new refresh token was lost, and the old one is refused.
#[tokio::test]
async fn a_refreshed_login_without_a_file_is_kept_in_memory() {
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(120);
    let config = "[profile p]\nlogin_session=me\nregion=eu-west-1\n";
    let home = Home::new().file(".aws/config", config);
    let home = home.file(&format!("login/{LOGIN_FILE}"), &login_file(soon));
    // The path of a temporary file beside it is too long.
    let mut folder = home.folder.path().join("login").display().to_string();
    while folder.len() + LOGIN_FILE.len() < 4090 {
        folder.push_str("/.");
    }
    let home = home.set("AWS_LOGIN_CACHE_DIRECTORY", &folder);
    for _ in 0..2 {
        assert_eq!(home.key(Some("p")).await.unwrap(), "NEWKEY");
    }
    assert_eq!(home.seen.lock().unwrap().len(), 2, "one request and its proof");
    let other = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(600);
    let home = home.file(&format!("login/{LOGIN_FILE}"), &login_file(other));
    assert_eq!(home.key(Some("p")).await.unwrap(), "OLDKEY", "another `aws login`");
}
