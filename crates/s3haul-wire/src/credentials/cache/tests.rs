//! Each source against fake services.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use reqsign_core::{Context, HttpSend, StaticEnv};

use super::{CredentialsCache, Lookup, Source};
use crate::credentials::chain::Chain;
use crate::credentials::context::{Commands, Files};
use crate::credentials::session::TURN;
use crate::env::Env;
use crate::error::ErrorKind;
use crate::net::fetch::Fetcher;
use crate::testing::{PausedClock, Reply, World, config};

mod login;
mod mfa;
mod sso;

const STS: &str = "<AssumeRoleResponse><AssumeRoleResult><Credentials>\
    <AccessKeyId>STSKEY0123456789</AccessKeyId><SecretAccessKey>s</SecretAccessKey>\
    <SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>\
    </Credentials></AssumeRoleResult></AssumeRoleResponse>";
const STS_WEB: &str = "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult>\
    <Credentials><AccessKeyId>WEBKEY</AccessKeyId><SecretAccessKey>s</SecretAccessKey>\
    <SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>\
    </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>";
const SSO: &str = r#"{"roleCredentials":{"accessKeyId":"SSOKEY","secretAccessKey":"s",
    "sessionToken":"t","expiration":32472144000000}}"#;

/// Requests that the fake services saw.
type Seen = Arc<Mutex<Vec<(String, String)>>>;

#[derive(Debug)]
struct Services {
    seen: Seen,
}

impl HttpSend for Services {
    async fn http_send(&self, request: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        let text = String::from_utf8_lossy(request.body()).into_owned();
        let url = request.uri().to_string();
        self.seen.lock().unwrap().push((url.clone(), text.clone()));
        let answer = match url.as_str() {
            url if url.contains("sts.busy") && self.seen.lock().unwrap().len() < 4 => {
                let text = "<ErrorResponse><Error><Code>Throttling</Code>\
                    <Message>Rate exceeded</Message></Error></ErrorResponse>";
                return Ok(Response::builder().status(400).body(Bytes::from(text)).unwrap());
            }
            url if url.contains("signin.") => {
                let headers = request.headers();
                let proof = headers["dpop"].to_str().unwrap().to_owned();
                assert_eq!(headers["content-type"], "application/json");
                self.seen.lock().unwrap().push((proof, String::new()));
                return Ok(signed_in(url));
            }
            url if url.contains("oidc.busy") => {
                return Ok(Response::builder().status(503).body(Bytes::new()).unwrap());
            }
            url if url.contains("oidc.") => {
                r#"{"accessToken":"new","expiresIn":3600,"refreshToken":"r2"}"#
            }
            url if url.contains("portal.sso") => {
                let token = request.headers()["x-amz-sso_bearer_token"].to_str().unwrap();
                self.seen.lock().unwrap().push((token.to_owned(), String::new()));
                SSO
            }
            _ if text.contains("WebIdentity") => STS_WEB,
            url if url.contains("sts.") || url.contains("sts-fips.") => STS,
            _ => return Ok(Response::builder().status(404).body(Bytes::new()).unwrap()),
        };
        Ok(Response::new(Bytes::from_static(answer.as_bytes())))
    }
}

/// What the sign-in service answers.
fn signed_in(url: &str) -> Response<Bytes> {
    let refusal = |code: &str| format!(r#"{{"error":"{code}","message":"no {OLD_TOKEN}"}}"#);
    let (status, text) = match url {
        url if url.contains("signin.expired") => (401, refusal("TOKEN_EXPIRED")),
        url if url.contains("signin.forbidden") => (403, refusal("INSUFFICIENT_PERMISSIONS")),
        url if url.contains("signin.odd") => (400, OLD_TOKEN.to_owned()),
        _ => (
            200,
            r#"{"accessToken":{"accessKeyId":"NEWKEY","secretAccessKey":"s2","sessionToken":"t2"},
            "tokenType":"aws_sigv4","expiresIn":900,"refreshToken":"r2"}"#
                .to_owned(),
        ),
    };
    Response::builder().status(status).body(Bytes::from(text)).unwrap()
}

struct Home {
    folder: tempfile::TempDir,
    variables: HashMap<String, String>,
    seen: Seen,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap().to_owned();
        let variables = [("HOME", home), ("AWS_EC2_METADATA_DISABLED", "true".to_owned())];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
        Self { folder, variables, seen: Seen::default() }
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn context(&self) -> Context {
        let home_dir = Some(self.folder.path().to_owned());
        Context::new()
            .with_env(StaticEnv { home_dir, envs: self.variables.clone() })
            .with_file_read(Files)
            .with_command_execute(Commands::default())
            .with_http_send(Services { seen: Arc::clone(&self.seen) })
    }

    async fn key(&self, profile: Option<&str>) -> Result<String, crate::Error> {
        let chain = Chain::new(self.context(), profile.map(str::to_owned), None);
        chain.provide().await.map(|found| found.access_key_id)
    }
}

#[tokio::test]
async fn the_environment_comes_first_unless_a_profile_is_named() {
    let home = Home::new()
        .set("AWS_ACCESS_KEY_ID", "ENVKEY")
        .set("AWS_SECRET_ACCESS_KEY", "s")
        .file(".aws/credentials", "[p]\naws_access_key_id=FILEKEY\naws_secret_access_key=s\n");
    assert_eq!(home.key(None).await.unwrap(), "ENVKEY");
    assert_eq!(home.key(Some("p")).await.unwrap(), "FILEKEY");
    let missing = home.key(Some("q")).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Config);
    assert_eq!(missing.to_string(), "The config profile (q) could not be found");
}

#[tokio::test]
async fn both_files_give_keys() {
    let home = Home::new()
        .set("AWS_PROFILE", "p")
        .file(".aws/config", "[profile p]\naws_access_key_id=CONFIGKEY\naws_secret_access_key=s\n");
    assert_eq!(home.key(None).await.unwrap(), "CONFIGKEY");
    let keys = "[default]\naws_access_key_id=D\naws_secret_access_key=s\n";
    assert_eq!(Home::new().file(".aws/credentials", keys).key(None).await.unwrap(), "D");
}

#[tokio::test]
async fn missing_credentials_have_the_message_of_the_aws_tools() {
    let error = Home::new().key(None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Credentials);
    assert_eq!(error.to_string(), "Unable to locate credentials");
}

#[tokio::test]
async fn a_process_prints_credentials() {
    let json = r#"{"Version":1,"AccessKeyId":"PROCKEY","SecretAccessKey":"s"}"#;
    let home = Home::new().file("out.json", json).file("bad.json", "{}");
    let at = |name: &str| home.folder.path().join(name).display().to_string();
    let text = format!(
        "[profile good]\ncredential_process = cat \"{}\"\n\
         [profile bad]\ncredential_process = cat {}\n",
        at("out.json"),
        at("bad.json")
    );
    std::fs::create_dir_all(home.folder.path().join(".aws")).unwrap();
    std::fs::write(home.folder.path().join(".aws/config"), text).unwrap();
    assert_eq!(home.key(Some("good")).await.unwrap(), "PROCKEY");
    let error = home.key(Some("bad")).await.unwrap_err();
    assert!(error.to_string().contains("custom-process"), "{error}");
}

#[tokio::test]
async fn roles_are_assumed_through_source_profiles() {
    let home = Home::new()
        .file(".aws/credentials", "[base]\naws_access_key_id=BASE\naws_secret_access_key=s\n")
        .file(
            ".aws/config",
            "[profile a]\nrole_arn=arn:aws:iam::123456789012:role/a\nsource_profile=base\n\
             region=eu-west-1\nexternal_id=ext\n\
             [profile loop]\nrole_arn=arn:aws:iam::123456789012:role/l\nsource_profile=loop2\n\
             [profile loop2]\nrole_arn=arn:aws:iam::123456789012:role/l\nsource_profile=loop\n\
             [profile none]\nrole_arn=arn:aws:iam::123456789012:role/l\nsource_profile=absent\n\
             [profile own]\nrole_arn=arn:aws:iam::123456789012:role/l\n\
             aws_access_key_id=OWN\naws_secret_access_key=s\n\
             [profile by-own]\nrole_arn=arn:aws:iam::123456789012:role/l\nsource_profile=own\n\
             duration_seconds=1h\n[profile base]\nlogin_session=x\n\
             [profile login]\nlogin_session=x\n",
        );
    assert_eq!(home.key(Some("a")).await.unwrap(), "STSKEY0123456789");
    let seen = format!("{:?}", home.seen.lock().unwrap());
    assert!(seen.contains("sts.eu-west-1.amazonaws.com"), "{seen}");
    assert!(seen.contains("ExternalId=ext"), "{seen}");
    let home = home.set("AWS_USE_DUALSTACK_ENDPOINT", "true");
    let chain = Chain::new(home.context(), Some("a".to_owned()), None).with_fips(true);
    chain.provide().await.unwrap();
    assert_eq!(home.seen.lock().unwrap().pop().unwrap().0, "https://sts-fips.eu-west-1.api.aws/");
    assert!(home.key(Some("loop")).await.unwrap_err().to_string().contains("Infinite loop"));
    assert!(home.key(Some("none")).await.unwrap_err().to_string().contains("absent"));
    // The keys of the profile are of another identity than its role.
    let own = home.key(Some("own")).await.unwrap_err().to_string();
    let partial = "Partial credentials found in assume-role, missing: source_profile or \
                   credential_source";
    assert_eq!(own, partial);
    // But as the source of another role they are what botocore uses, and what is no number of
    // seconds is passed over.
    home.seen.lock().unwrap().clear();
    assert_eq!(home.key(Some("by-own")).await.unwrap(), "STSKEY0123456789");
    let seen = home.seen.lock().unwrap().clone();
    assert!(seen.len() == 1 && !seen[0].1.contains("DurationSeconds"), "{seen:?}");
    assert_eq!(home.key(Some("base")).await.unwrap(), "BASE", "keys go before a login");
    let login = home.key(Some("login")).await.unwrap_err().to_string();
    assert!(login.contains("existing login session for session x"), "{login}");
}

/// Keys and tokens went to Amazon although another service was configured.
#[tokio::test]
async fn roles_are_had_from_the_service_that_is_configured() {
    let config = "[profile a]\nrole_arn=arn:aws:iam::123456789012:role/a\nsource_profile=base\n\
                  services=local\n[services local]\nsts =\n  endpoint_url=http://sts.section\n\
                  [profile b]\nrole_arn=arn:aws:iam::123456789012:role/a\nsource_profile=base\n\
                  endpoint_url=http://sts.profile\n\
                  [profile c]\nrole_arn=arn:aws:iam::123456789012:role/a\nsource_profile=base\n";
    let keys = "[base]\naws_access_key_id=BASE\naws_secret_access_key=s\n";
    let home = || Home::new().file(".aws/config", config).file(".aws/credentials", keys);
    let all = ("AWS_ENDPOINT_URL", "http://sts.all");
    let own = ("AWS_ENDPOINT_URL_STS", "http://sts.own");
    let ignored = ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
    for (profile, variables, expected) in [
        ("a", &[][..], "http://sts.section"),
        ("b", &[], "http://sts.profile"),
        ("b", &[all], "http://sts.profile"),
        ("c", &[all], "http://sts.all"),
        ("a", &[all, own], "http://sts.own"),
        ("b", &[all, own, ignored], "https://sts.us-east-1.amazonaws.com/"),
    ] {
        let set = |home: Home, (name, value): &(&str, &str)| home.set(name, value);
        let home = variables.iter().fold(home(), set);
        assert_eq!(home.key(Some(profile)).await.unwrap(), "STSKEY0123456789");
        let seen = home.seen.lock().unwrap();
        assert!(seen[0].0.starts_with(expected), "{profile} {variables:?}: {seen:?}");
        assert!(seen[0].1.contains("Action=AssumeRole&"), "{seen:?}");
    }
    let odd = home().set("AWS_ENDPOINT_URL_STS", "user:secret@localhost").key(Some("c")).await;
    assert_eq!(
        odd.unwrap_err().to_string(),
        "the endpoint configured for sts is not an http or https URL"
    );
}

/// The first role of a chain was asked for at Amazon's service, for its profile names no other.
#[tokio::test]
async fn the_selected_profile_says_where_all_roles_of_a_chain_are_had() {
    let config = "[profile base]\nregion=eu-west-3\n\
                  [profile middle]\nrole_arn=arn:aws:iam::123456789012:role/m\n\
                  source_profile=base\nregion=eu-west-1\nservices=middle\n\
                  [services middle]\nsts =\n  endpoint_url=http://sts.middle\n\
                  [profile local]\nrole_arn=arn:aws:iam::123456789012:role/t\n\
                  source_profile=middle\nservices=local\n\
                  [services local]\nsts =\n  endpoint_url=http://sts.local\n\
                  [profile amazon]\nrole_arn=arn:aws:iam::123456789012:role/t\n\
                  source_profile=middle\nregion=us-west-2\n";
    let keys = "[base]\naws_access_key_id=BASE\naws_secret_access_key=s\n";
    for (profile, expected) in
        [("local", "http://sts.local"), ("amazon", "https://sts.us-west-2.amazonaws.com/")]
    {
        let home = Home::new().file(".aws/config", config).file(".aws/credentials", keys);
        let home = home.set("AWS_PROFILE", profile);
        assert_eq!(home.key(None).await.unwrap(), "STSKEY0123456789");
        let seen = home.seen.lock().unwrap();
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert!(seen.iter().all(|(url, _)| url.starts_with(expected)), "{profile}: {seen:?}");
    }
}

#[tokio::test]
async fn roles_with_two_sources_or_a_missing_one_are_refused() {
    let config = "[profile two]\nrole_arn=arn:aws:iam::123456789012:role/t\n\
                  source_profile=base\ncredential_source=Environment\n\
                  [profile gone]\nrole_arn=arn:aws:iam::123456789012:role/t\n\
                  source_profile=absent\n";
    let keys = "[base]\naws_access_key_id=BASE\naws_secret_access_key=s\n";
    let home = Home::new().file(".aws/config", config).file(".aws/credentials", keys);
    for (profile, expected) in [
        ("two", "The profile \"two\" contains both source_profile and credential_source."),
        (
            "gone",
            "The source_profile \"absent\" referenced in the profile \"gone\" does not exist.",
        ),
    ] {
        assert_eq!(home.key(Some(profile)).await.unwrap_err().to_string(), expected);
    }
    assert!(home.seen.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn roles_are_asked_for_again_where_there_are_too_many_requests() {
    let home = Home::new()
        .set("AWS_ENDPOINT_URL_STS", "http://sts.busy")
        .file(".aws/credentials", "[base]\naws_access_key_id=BASE\naws_secret_access_key=s\n")
        .file(
            ".aws/config",
            "[profile a]\nrole_arn=arn:aws:iam::123456789012:role/a\nsource_profile=base\n",
        );
    assert_eq!(home.key(Some("a")).await.unwrap(), "STSKEY0123456789");
    assert_eq!(home.seen.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn web_identity_comes_from_the_environment_and_from_profiles() {
    let home = Home::new().file("token", "jwt");
    let path = home.folder.path().join("token").display().to_string();
    let home = home
        .set("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/w")
        .set("AWS_WEB_IDENTITY_TOKEN_FILE", &path)
        .set("AWS_REGION", "us-west-2");
    assert_eq!(home.key(None).await.unwrap(), "WEBKEY");
    let seen = format!("{:?}", home.seen.lock().unwrap());
    assert!(seen.contains("sts.us-west-2.") && seen.contains("WebIdentityToken=jwt"), "{seen}");
    let text = format!(
        "[profile w]\nrole_arn=arn:aws:iam::123456789012:role/w\nweb_identity_token_file={path}\n"
    );
    let home = home.file(".aws/config", &text).set("AWS_PROFILE", "w");
    let home = home.set("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/variable");
    for (profile, role) in [(Some("w"), "role%2Fw&"), (None, "role%2Fvariable&")] {
        assert_eq!(home.key(profile).await.unwrap(), "WEBKEY");
        let asked = home.seen.lock().unwrap().pop().unwrap().1;
        assert!(asked.contains(role), "{profile:?}: {asked}");
    }
}

const SSO_CONFIG: &str = "[sso-session corp]\nsso_region=eu-west-1\nsso_start_url=https://x/start\n\
    [profile s]\nsso_session=corp\nsso_account_id=1\nsso_role_name=r\n";

const OLD_TOKEN: &str = "old-refresh-token";
/// The file of the session `me`, whose name is its SHA-256.
const LOGIN_FILE: &str = "2744ccd10c7533bd736ad890f9dd5cab2adb27b07d500b9493f29cdc420cb2e0.json";

fn metadata(seen: &crate::testing::Seen) -> Reply {
    let json = r#"{"Code":"Success","AccessKeyId":"KEY","SecretAccessKey":"s","Token":"t",
        "Expiration":"2999-01-01T00:00:00Z"}"#;
    let path = seen.line().split(' ').nth(1).unwrap();
    match path {
        "/latest/api/token" => Reply::ok("imds-token"),
        "/latest/meta-data/iam/security-credentials/" => Reply::ok("role"),
        "/latest/meta-data/iam/security-credentials/role" | "/creds" => Reply::ok(json),
        _ => Reply::status(404, "", ""),
    }
}

fn network(world: &World) -> (Env, Fetcher) {
    let env = Env::new(Arc::new(world.clone()), Arc::new(PausedClock::new()), 1);
    let fetcher = Fetcher::new("credentials", &config(), &env);
    (env, fetcher)
}

#[tokio::test(start_paused = true)]
async fn containers_and_instances_are_asked_over_our_own_connections() {
    for (variable, path) in [
        (Some("/creds"), "GET /creds HTTP/1.1"),
        (None, "GET /latest/meta-data/iam/security-credentials/role HTTP/1.1"),
    ] {
        let world = World::new(metadata);
        let (_, fetcher) = network(&world);
        let mut envs = HashMap::new();
        if let Some(path) = variable {
            envs.insert("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI".to_owned(), path.to_owned());
        }
        let context =
            Context::new().with_env(StaticEnv { home_dir: None, envs }).with_http_send(fetcher);
        let found = Chain::new(context, None, None).provide().await.unwrap();
        assert_eq!(found.access_key_id, "KEY");
        assert_eq!(world.seen().last().unwrap().line(), path);
    }
}

#[tokio::test(start_paused = true)]
async fn containers_have_a_path_before_a_url_and_a_file_before_a_token() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "of-file").unwrap();
    let envs = [
        ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/creds"),
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/other"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "of-variable"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.path().to_str().unwrap()),
    ];
    let envs = envs.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let world = World::new(metadata);
    let context = Context::new()
        .with_env(StaticEnv { home_dir: None, envs })
        .with_file_read(Files)
        .with_http_send(network(&world).1);
    assert_eq!(Chain::new(context, None, None).provide().await.unwrap().access_key_id, "KEY");
    assert_eq!(world.seen()[0].header("authorization"), Some("of-file"));
    // An empty one counts as none, and the instance gives the credentials.
    let empty = instance(&world, &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "")]);
    assert_eq!(empty.provide().await.unwrap().access_key_id, "KEY");
}

#[tokio::test(start_paused = true)]
async fn absent_metadata_is_noticed_quickly() {
    let world = World::new(|_| Reply::raw("").hanging());
    let (_, fetcher) = network(&world);
    let context = Context::new()
        .with_env(StaticEnv { home_dir: None, envs: HashMap::new() })
        .with_http_send(fetcher);
    let start = tokio::time::Instant::now();
    let error = Chain::new(context, None, None).provide().await.unwrap_err();
    assert_eq!(error.to_string(), "Unable to locate credentials");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

/// The chain of an instance with these variables.
fn instance(world: &World, variables: &[(&str, &str)]) -> Chain {
    let envs = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let env = StaticEnv { home_dir: None, envs: envs.collect() };
    Chain::new(Context::new().with_env(env).with_http_send(network(world).1), None, None)
}

#[tokio::test(start_paused = true)]
async fn instances_without_sessions_give_credentials_unless_that_is_disabled() {
    const DISABLED: (&str, &str) = ("AWS_EC2_METADATA_V1_DISABLED", "True");
    for refusal in [Reply::status(403, "", ""), Reply::raw("").hanging()] {
        let answer = move |seen: &crate::testing::Seen| {
            if seen.line().starts_with("PUT") { refusal.clone() } else { metadata(seen) }
        };
        let world = World::new(answer);
        let endpoint = ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://imds.test/");
        let found = instance(&world, &[endpoint]).provide().await.unwrap();
        assert_eq!(found.access_key_id, "KEY");
        let last = world.seen().pop().unwrap();
        assert_eq!(last.header("host"), Some("imds.test"));
        assert_eq!(last.header("x-aws-ec2-metadata-token"), None);
        let error = instance(&world, &[DISABLED]).provide().await.unwrap_err();
        assert!(error.to_string().ends_with("IMDSv1 has been disabled"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn instances_are_asked_as_often_and_as_long_as_configured() {
    let world = World::new(|seen| match seen.number {
        2 | 3 => Reply::status(500, "", ""),
        _ => metadata(seen).after(Duration::from_secs(4)),
    });
    let found = instance(
        &world,
        &[("AWS_METADATA_SERVICE_TIMEOUT", "5"), ("AWS_METADATA_SERVICE_NUM_ATTEMPTS", "3")],
    );
    assert_eq!(found.provide().await.unwrap().access_key_id, "KEY");
    assert_eq!(world.seen().len(), 5);
    let error = instance(&World::new(|_| Reply::status(404, "", "")), &[]).provide().await;
    let cause = "Unable to locate credentials: instance metadata answered 404";
    assert_eq!(error.unwrap_err().to_string(), cause);
}

#[tokio::test(start_paused = true)]
async fn the_region_of_an_instance_is_asked_for_unless_that_is_disabled() {
    let world = World::new(|seen| match seen.line() {
        line if line.contains("/placement/region ") => Reply::ok("eu-west-1\n"),
        _ => metadata(seen),
    });
    let region = async |world: &World, variables: &[(&str, &str)]| {
        instance(world, variables).region().await.ok().flatten()
    };
    assert_eq!(region(&world, &[]).await.as_deref(), Some("eu-west-1"));
    assert_eq!(world.seen()[1].header("x-aws-ec2-metadata-token"), Some("imds-token"));
    assert_eq!(region(&world, &[("AWS_EC2_METADATA_DISABLED", "true")]).await, None);
    assert_eq!(world.seen().len(), 2);
    assert_eq!(region(&World::new(|_| Reply::status(404, "", "")), &[]).await, None);
    assert_eq!(region(&World::new(|_| Reply::raw("").hanging()), &[]).await, None);
}

/// Where the service cannot replace credentials, S3 may still take the old ones.
#[tokio::test(start_paused = true)]
async fn expired_credentials_of_an_instance_are_used_for_a_while() {
    let now = jiff::Timestamp::now();
    for (left_s, seconds) in [(-86_400, 600), (30, 600), (300, 300)] {
        let ends = format!("{:.0}", now + jiff::SignedDuration::from_secs(left_s));
        let world = World::new(move |seen| match seen.line() {
            line if line.contains("/role ") => Reply::ok(&format!(
                r#"{{"AccessKeyId":"KEY","SecretAccessKey":"s","Token":"t","Expiration":"{ends}"}}"#
            )),
            _ => metadata(seen),
        });
        let found = instance(&world, &[]).provide().await.unwrap();
        let left = found.expires_in.unwrap().as_second() - now.as_second();
        assert!((seconds - 1..seconds + 60).contains(&left), "{left_s}: {left}");
    }
}

/// Credentials that a container is given at `/creds`.
fn in_container(world: &World) -> CredentialsCache {
    let (env, fetcher) = network(world);
    let envs =
        HashMap::from([("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI".to_owned(), "/creds".to_owned())]);
    let context =
        Context::new().with_env(StaticEnv { home_dir: None, envs }).with_http_send(fetcher);
    let source = Source::Looked(Arc::new(Lookup::Chain(Chain::new(context, None, None))));
    CredentialsCache::with_source(source, None, &env)
}

/// A client that has them.
fn client_in_container(world: &World) -> crate::Client {
    let mut client = crate::testing::client(world);
    Arc::get_mut(&mut client.inner).unwrap().credentials = in_container(world);
    client
}

#[tokio::test(start_paused = true)]
async fn credentials_that_the_server_calls_expired_are_fetched_anew_once() {
    let fetched = AtomicUsize::new(0);
    let world = World::new(move |seen| {
        if seen.line().starts_with("GET /creds") {
            let number = fetched.fetch_add(1, Ordering::SeqCst);
            let json = format!(
                r#"{{"AccessKeyId":"KEY{number}","SecretAccessKey":"s","Token":"t",
                "Expiration":"2999-01-01T00:00:00Z"}}"#
            );
            return Reply::ok(&json);
        }
        match seen.header("authorization").unwrap() {
            signed if signed.contains("Credential=KEY0/") => Reply::error(400, "ExpiredToken"),
            signed if signed.contains("Credential=KEY1/") => Reply::ok(""),
            _ => unreachable!(),
        }
    });
    let client = client_in_container(&world);
    for _ in 0..2 {
        client.call(&crate::testing::get()).await.unwrap();
    }
    assert_eq!(world.seen().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_is_refused_may_mean_expired_credentials() {
    let world = World::new(|seen| {
        if seen.line().starts_with("GET /creds") {
            let number = seen.number;
            let json = format!(
                r#"{{"AccessKeyId":"KEY{number}","SecretAccessKey":"s","Token":"t",
                "Expiration":"2999-01-01T00:00:00Z"}}"#
            );
            return Reply::ok(&json);
        }
        match seen.header("authorization").unwrap() {
            signed if signed.contains("Credential=KEY3/") => Reply::ok(""),
            _ => Reply::status(400, "", ""),
        }
    });
    let client = client_in_container(&world);
    let head = crate::testing::request(http::Method::HEAD, "key");
    // Credentials that were just looked up cannot have expired.
    client.call(&head).await.unwrap_err();
    assert_eq!(world.seen().len(), 2);
    tokio::time::sleep(Duration::from_mins(16)).await;
    client.call(&head).await.unwrap();
    assert_eq!(world.seen().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn credentials_are_kept_and_refreshed_before_they_end() {
    // An hour from the start of the test's clock.
    let expiring = r#"{"Code":"Success","AccessKeyId":"KEY","SecretAccessKey":"s","Token":"t",
        "Expiration":"2023-11-14T23:13:20Z"}"#;
    let world = World::new(move |seen| match seen.number {
        0 => Reply::ok(expiring),
        1 => Reply::status(403, "", ""),
        _ => Reply::ok(&expiring.replace("\"KEY\"", "\"KEY2\"").replace("2023", "2024")),
    });
    let cache = in_container(&world);
    let first = cache.get().await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_mins(47)).await;
    assert_eq!(cache.get().await.unwrap().unwrap().generation, first.generation);
    assert_eq!(world.seen().len(), 1);
    tokio::time::sleep(Duration::from_mins(2)).await;
    // The refresh fails; the old ones still live.
    for _ in 0..2 {
        assert_eq!(cache.get().await.unwrap().unwrap().generation, first.generation);
    }
    assert_eq!(world.seen().len(), 2);
    tokio::time::sleep(Duration::from_mins(1)).await;
    let second = cache.get().await.unwrap().unwrap();
    assert_eq!(second.credentials.access_key_id, "KEY2");
    assert!(cache.expire(second.generation));
    let third = cache.get().await.unwrap().unwrap();
    assert!(third.generation > second.generation);
}

#[tokio::test(start_paused = true)]
async fn a_function_is_called_again_when_what_it_returned_ends() {
    let world = World::new(|_| Reply::ok(""));
    let (env, _) = network(&world);
    let calls = Arc::new(AtomicU32::new(0));
    let called = Arc::clone(&calls);
    let function = crate::CredentialsFunction::new(move || {
        let number = called.fetch_add(1, Ordering::SeqCst);
        let ends = ["2023-11-14T23:13:20Z", "2999-01-01T00:00:00Z"][number.min(1) as usize];
        match number {
            2 => Err("the keys are lost".to_owned()),
            _ => Ok(format!(
                r#"{{"Version":1,"AccessKeyId":"KEY{number}","SecretAccessKey":"s",
                "Expiration":"{ends}"}}"#
            )
            .into_bytes()),
        }
    });
    let source = Source::Looked(Arc::new(Lookup::Function(function)));
    let cache = CredentialsCache::with_source(source, None, &env);
    let key =
        async || cache.get().await.map(|held| held.unwrap().credentials.access_key_id.clone());
    assert_eq!(key().await.unwrap(), "KEY0");
    assert_eq!(key().await.unwrap(), "KEY0");
    tokio::time::sleep(Duration::from_hours(2)).await;
    assert_eq!(key().await.unwrap(), "KEY1");
    assert!(cache.expire(cache.get().await.unwrap().unwrap().generation));
    let error = key().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Credentials);
    assert!(error.to_string().contains("the keys are lost"), "{error}");
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

/// Takes 40 s for all credentials but the first.
#[derive(Debug, Default)]
struct SlowService {
    asked: Arc<AtomicUsize>,
}

impl HttpSend for SlowService {
    async fn http_send(&self, _: Request<Bytes>) -> reqsign_core::Result<Response<Bytes>> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let ends = ["2023-11-14T23:13:20Z", "2999-01-01T00:00:00Z"][number.min(1)];
        if number > 0 {
            tokio::time::sleep(Duration::from_secs(40)).await;
        }
        let json = format!(
            r#"{{"AccessKeyId":"KEY{number}","SecretAccessKey":"s","Token":"t",
            "Expiration":"{ends}"}}"#
        );
        Ok(Response::new(Bytes::from(json)))
    }
}

#[tokio::test(start_paused = true)]
async fn a_lookup_that_takes_long_is_neither_waited_for_nor_repeated() {
    let (env, _) = network(&World::new(|_| Reply::ok("")));
    let envs =
        HashMap::from([("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI".to_owned(), "/creds".to_owned())]);
    let slow = SlowService::default();
    let asked = Arc::clone(&slow.asked);
    let context = Context::new().with_env(StaticEnv { home_dir: None, envs }).with_http_send(slow);
    let source = Source::Looked(Arc::new(Lookup::Chain(Chain::new(context, None, None))));
    let cache = CredentialsCache::with_source(source, None, &env);
    let key = async || cache.get().await.unwrap().unwrap().credentials.access_key_id.clone();
    assert_eq!(key().await, "KEY0");
    tokio::time::sleep(Duration::from_mins(49)).await;
    let start = tokio::time::Instant::now();
    assert_eq!([key().await, key().await], ["KEY0", "KEY0"]);
    assert_eq!(start.elapsed().as_secs(), 15);
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(key().await, "KEY1");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}
