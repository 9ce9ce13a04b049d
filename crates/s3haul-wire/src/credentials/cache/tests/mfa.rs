//! Roles that need the code of a device.

use super::*;

const MFA: &str = "[profile a]\nrole_arn=arn:aws:iam::123456789012:role/a\nsource_profile=base\n\
    mfa_serial=arn:aws:iam::123456789012:mfa/me\n\
    [profile b]\nrole_arn=arn:aws:iam::123456789012:role/b\nsource_profile=base\n\
    mfa_serial=arn:aws:iam::123456789012:mfa/me\nduration_seconds=3600\n";
/// The file of the session of `a`, whose name is that of botocore.
const MFA_SESSION: &str = ".aws/cli/cache/34e977c543ff27b36328106d06d5de2243163400.json";

fn with_device() -> Home {
    let keys = "[base]\naws_access_key_id=BASE\naws_secret_access_key=s\n";
    Home::new().file(".aws/config", MFA).file(".aws/credentials", keys)
}

/// A session as `aws` writes it.
fn session(ends: &str) -> String {
    format!(
        r#"{{"Credentials": {{"AccessKeyId": "KEPT", "SecretAccessKey": "s", "SessionToken": "t",
        "Expiration": "{ends}", "AccountId": "123456789012"}}, "AssumedRoleUser": {{}},
        "ResponseMetadata": {{"HTTPStatusCode": 200}}}}"#
    )
}

/// Answers with the code, one question at a time, and the questions.
fn person() -> (crate::env::Ask, Arc<Mutex<Vec<String>>>) {
    let questions = Arc::<Mutex<Vec<String>>>::default();
    let asked = Arc::clone(&questions);
    let ask = move |question: &str| {
        assert!(TURN.try_lock().is_err(), "one question at a time");
        asked.lock().unwrap().push(question.to_owned());
        Ok(" 123456\n".to_owned())
    };
    (Arc::new(ask), questions)
}

#[tokio::test]
async fn a_code_is_asked_for_once_and_its_session_is_kept_for_others() {
    let home = with_device();
    let (ask, questions) = person();
    let key = async |profile: &str| {
        let chain = Chain::new(home.context(), Some(profile.to_owned()), None);
        chain.asking(Some(Arc::clone(&ask))).provide().await.unwrap().access_key_id
    };
    let found = tokio::join!(key("a"), key("b"), key("a"));
    assert_eq!([found.0, found.1, found.2], ["STSKEY0123456789"; 3]);
    let expected = "Enter MFA code for arn:aws:iam::123456789012:mfa/me: ";
    assert_eq!(*questions.lock().unwrap(), [expected, expected]);
    let sent = home.seen.lock().unwrap().clone();
    assert_eq!(sent.len(), 2);
    let serial = "SerialNumber=arn%3Aaws%3Aiam%3A%3A123456789012%3Amfa%2Fme";
    assert!(sent[0].1.contains(serial) && sent[0].1.contains("TokenCode=123456"), "{sent:?}");
    // It lies where `aws` looks for it, and is used without a question.
    let path = home.folder.path().join(MFA_SESSION);
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let expected = serde_json::json!({"Credentials": {
        "AccessKeyId": "STSKEY0123456789", "SecretAccessKey": "s", "SessionToken": "t",
        "Expiration": "2999-01-01T00:00:00Z", "AccountId": "123456789012"}});
    assert_eq!(kept, expected);
    for (path, mode) in [(path.as_path(), 0o600), (path.parent().unwrap(), 0o700)] {
        let permissions = path.metadata().unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777, mode);
    }
    assert_eq!(home.key(Some("a")).await.unwrap(), "STSKEY0123456789");
    assert_eq!(home.seen.lock().unwrap().len(), 2);
}

/// The source waited for the turn that its role held.
#[tokio::test]
async fn a_role_and_its_source_may_both_ask_for_codes() {
    let nested = MFA.replacen("source_profile=base", "source_profile=b", 1);
    let home = with_device().file(".aws/config", &nested);
    let (ask, questions) = person();
    let chain = |home: &Home| {
        let chain = Chain::new(home.context(), Some("a".to_owned()), None);
        chain.asking(Some(Arc::clone(&ask)))
    };
    assert_eq!(chain(&home).provide().await.unwrap().access_key_id, "STSKEY0123456789");
    assert_eq!(questions.lock().unwrap().len(), 2);
    let roles: Vec<_> = home.seen.lock().unwrap().iter().map(|(_, text)| text.clone()).collect();
    assert!(roles[0].contains("role%2Fb") && roles[1].contains("role%2Fa"), "{roles:?}");
    let circle = nested.replace("source_profile=base", "source_profile=a");
    let home = with_device().file(".aws/config", &circle);
    let error = chain(&home).provide().await.unwrap_err().to_string();
    assert!(error.contains("Infinite loop"), "{error}");
    assert_eq!(questions.lock().unwrap().len(), 2);
}

/// Processes on one terminal asked at once, each for a code of its own.
#[tokio::test]
async fn the_session_is_locked_against_other_processes_during_a_question() {
    let home = with_device();
    let lock = home.folder.path().join(format!("{MFA_SESSION}.lock"));
    let ask = move |_: &str| {
        let other = std::fs::File::open(&lock).unwrap();
        assert!(matches!(other.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
        Ok("123456".to_owned())
    };
    let chain = Chain::new(home.context(), Some("a".to_owned()), None);
    let found = chain.asking(Some(Arc::new(ask))).provide().await.unwrap();
    assert_eq!(found.access_key_id, "STSKEY0123456789");
}

/// S3 went on refusing the session, which was read from its file again.
#[tokio::test]
async fn a_kept_session_that_was_refused_counts_as_none() {
    let home = with_device().file(MFA_SESSION, &session("2999-01-01T00:00:00Z"));
    let (ask, questions) = person();
    let chain = Chain::new(home.context(), Some("a".to_owned()), None).asking(Some(ask));
    let source = Source::Looked(Arc::new(Lookup::Chain(chain)));
    let cache = CredentialsCache::with_source(source, None, &Env::system());
    let held = cache.get().await.unwrap().unwrap();
    assert_eq!(held.credentials.access_key_id, "KEPT");
    assert!(cache.expire(held.generation));
    let held = cache.get().await.unwrap().unwrap();
    assert_eq!(held.credentials.access_key_id, "STSKEY0123456789");
    assert_eq!(questions.lock().unwrap().len(), 1);
}

/// Where the session cannot be kept in its file, each client asked again.
#[tokio::test]
async fn a_session_without_a_file_is_kept_in_memory() {
    let home = with_device().file(".aws/cli", "not a folder");
    let (ask, questions) = person();
    for _ in 0..2 {
        let chain = Chain::new(home.context(), Some("a".to_owned()), None);
        let found = chain.asking(Some(Arc::clone(&ask))).provide().await.unwrap();
        assert_eq!(found.access_key_id, "STSKEY0123456789");
    }
    assert_eq!(questions.lock().unwrap().len(), 1);
}

/// A wrong code went unnoticed while the old session lived.
#[tokio::test]
async fn a_code_that_is_refused_is_an_error_while_the_old_session_lives() {
    let soon = format!("{:.0}", jiff::Timestamp::now() + Duration::from_mins(5));
    let home = with_device().file(MFA_SESSION, &session(&soon));
    let home = home.set("AWS_ENDPOINT_URL_STS", "user@nowhere");
    let key = async |ask: crate::env::Ask| {
        let chain = Chain::new(home.context(), Some("a".to_owned()), None).asking(Some(ask));
        chain.provide().await.map(|found| found.access_key_id)
    };
    assert!(key(person().0).await.is_err());
    assert!(key(Arc::new(|_| Ok(String::new()))).await.is_err(), "nothing was entered");
    let unasked = key(Arc::new(|_| Err("there is no terminal".to_owned()))).await;
    assert_eq!(unasked.unwrap(), "KEPT");
}

#[tokio::test]
async fn a_kept_session_is_used_while_it_lives() {
    let home = with_device().file(MFA_SESSION, &session("2999-01-01T00:00:00UTC"));
    assert_eq!(home.key(Some("a")).await.unwrap(), "KEPT");
    let ended = home.file(MFA_SESSION, &session("2001-01-01T00:00:00Z"));
    let error = ended.key(Some("a")).await.unwrap_err().to_string();
    assert!(error.contains("an MFA code of arn:aws:iam::123456789012:mfa/me"), "{error}");
    assert!(error.contains("aws configure export-credentials"), "{error}");
    assert!(ended.seen.lock().unwrap().is_empty());
    // One that is about to end is not begun with where a question is possible; one in use is used.
    let soon = format!("{:.0}", jiff::Timestamp::now() + Duration::from_mins(5));
    let home = ended.file(MFA_SESSION, &session(&soon));
    assert_eq!(home.key(Some("a")).await.unwrap(), "KEPT");
    let (ask, questions) = person();
    let chain = Chain::new(home.context(), Some("a".to_owned()), None).asking(Some(ask));
    let key = async || chain.provide().await.unwrap().access_key_id;
    assert_eq!(key().await, "STSKEY0123456789");
    let home = home.file(MFA_SESSION, &session(&soon));
    assert_eq!(key().await, "KEPT");
    assert_eq!(questions.lock().unwrap().len(), 1);
    let _home = home.file(MFA_SESSION, "{");
    assert_eq!(key().await, "STSKEY0123456789");
    assert_eq!(questions.lock().unwrap().len(), 2);
}
