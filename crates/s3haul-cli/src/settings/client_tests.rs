//! Precedence of flags, environment and profile.

use std::path::Path;

use super::*;
use crate::args::SideProfile;
use crate::settings::Settings;

fn settings(
    global: &GlobalArgs,
    pairs: &[(&str, &str)],
    config: &str,
) -> Result<Settings, Failure> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), config).unwrap();
    let mut pairs = pairs.to_vec();
    pairs.push((env_vars::AWS_CONFIG_FILE, file.path().to_str().unwrap()));
    pairs.push((env_vars::AWS_SHARED_CREDENTIALS_FILE, "/nonexistent"));
    Settings::load(global, Environment::of(&pairs))
}

#[test]
fn regions_come_from_flag_then_environment_then_profile() {
    let config = "[default]\nregion = of-profile\n";
    let region = |global: &GlobalArgs, pairs: &[(&str, &str)]| {
        settings(global, pairs, config).unwrap().client.endpoint.region.unwrap()
    };
    let flag = GlobalArgs { region: Some("of-flag".into()), ..GlobalArgs::default() };
    let environment = [("AWS_DEFAULT_REGION", "default"), ("AWS_REGION", "of-environment")];
    assert_eq!(region(&flag, &environment), "of-flag");
    assert_eq!(region(&GlobalArgs::default(), &environment), "of-environment");
    assert_eq!(region(&GlobalArgs::default(), &environment[..1]), "default");
    assert_eq!(region(&GlobalArgs::default(), &[]), "of-profile");
}

#[test]
fn endpoints_for_s3_win_and_can_be_ignored() {
    let config = "[default]\nendpoint_url = http://profile\n";
    let url = |pairs: &[(&str, &str)]| {
        settings(&GlobalArgs::default(), pairs, config).unwrap().client.endpoint.url
    };
    let both = [("AWS_ENDPOINT_URL", "http://all"), ("AWS_ENDPOINT_URL_S3", "http://s3")];
    assert_eq!(url(&both).as_deref(), Some("http://s3"));
    assert_eq!(url(&both[..1]).as_deref(), Some("http://all"));
    assert_eq!(url(&[]).as_deref(), Some("http://profile"));
    let ignoring = |value| url(&[both[0], ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", value)]);
    assert_eq!((ignoring("true"), ignoring("True")), (None, None));
    assert_eq!(ignoring("1").as_deref(), Some("http://all"));
}

/// With `AWS_ENDPOINT_URL` or `--endpoint-url` both sides were one service: `verify` said the same.
#[test]
fn a_profile_of_one_side_goes_before_what_is_said_of_both() {
    let config = "[profile home]\nendpoint_url = http://home\nregion = of-home\n[profile bare]\n";
    let environment = [("AWS_ENDPOINT_URL", "http://all"), ("AWS_REGION", "of-all")];
    let endpoint = |profile: &str, is_of_side: bool, flags: [Option<&str>; 2]| {
        let [endpoint_url, region] = flags.map(|flag| flag.map(str::to_owned));
        let side_profile =
            SideProfile { credentials: is_of_side, endpoint_url: is_of_side, region: is_of_side };
        let profile = Some(profile.to_owned());
        let global =
            GlobalArgs { profile, side_profile, region, endpoint_url, ..GlobalArgs::default() };
        let endpoint = settings(&global, &environment, config).unwrap().client.endpoint;
        (endpoint.url.unwrap(), endpoint.region.unwrap())
    };
    let (home, all) = (("http://home", "of-home"), ("http://all", "of-all"));
    let (none, flags) = ([None, None], [Some("http://flag"), Some("of-flag")]);
    let flag = ("http://flag", "of-flag");
    for (profile, is_of_side, flags, expected) in [
        ("home", true, none, home),
        ("home", false, none, all),
        ("bare", true, none, all),
        ("home", true, flags, home),
        ("home", false, flags, flag),
        ("bare", true, flags, flag),
    ] {
        let (url, region) = endpoint(profile, is_of_side, flags);
        let found = (url.as_str(), region.as_str());
        assert_eq!(found, expected, "{profile} {is_of_side} {flags:?}");
    }
}

#[test]
fn nonsense_is_an_error_with_the_code_of_aws() {
    let status = |global: &GlobalArgs, pairs: &[(&str, &str)], config: &str| {
        settings(global, pairs, config).unwrap_err().status
    };
    let none = GlobalArgs::default();
    let flag = GlobalArgs { endpoint_url: Some("localhost:1".into()), ..GlobalArgs::default() };
    assert_eq!(status(&flag, &[], ""), crate::exit::USAGE);
    let hostless = GlobalArgs { endpoint_url: Some("http://".into()), ..GlobalArgs::default() };
    let failure = settings(&hostless, &[], "").unwrap_err();
    assert_eq!((failure.message.as_str(), failure.status), ("Invalid endpoint: http://", 255));
    assert_eq!(status(&none, &[("AWS_ENDPOINT_URL", "x")], ""), crate::exit::OTHER);
    assert_eq!(status(&none, &[("AWS_MAX_ATTEMPTS", "0")], ""), crate::exit::OTHER);
    assert_eq!(status(&none, &[("AWS_PROFILE", "x")], ""), crate::exit::OTHER);
    assert_eq!(status(&none, &[], "[default]\ns3 =\n  addressing_style = odd\n"), 255);
    assert_eq!(status(&none, &[], "[default]\nrequest_checksum_calculation = x\n"), 255);
    assert_eq!(status(&none, &[], "no section\n"), 255);
}

#[test]
fn a_profile_flag_goes_before_credentials_of_the_environment() {
    let config = "[profile p]\naws_access_key_id = id\naws_secret_access_key = key\n\
                  [profile role]\nrole_arn = r\n";
    let credentials = |flag: Option<&str>, pairs: &[(&str, &str)]| {
        let global = GlobalArgs { profile: flag.map(str::to_owned), ..GlobalArgs::default() };
        format!("{:?}", settings(&global, pairs, config).unwrap().client.credentials)
    };
    let keys = [("AWS_ACCESS_KEY_ID", "e"), ("AWS_PROFILE", "p")];
    assert_eq!(credentials(None, &[]), "Chain");
    assert_eq!(credentials(None, &keys), "Chain");
    assert_eq!(credentials(None, &keys[1..]), "Chain");
    assert_eq!(credentials(Some("p"), &keys), "Profile");
    assert_eq!(credentials(Some("role"), &keys), "Profile");
    let anonymous = GlobalArgs { no_sign_request: true, ..GlobalArgs::default() };
    let settings = settings(&anonymous, &keys, config).unwrap();
    assert!(matches!(settings.client.credentials, CredentialsConfig::Anonymous));
}

#[test]
fn the_rest_of_the_profile_counts() {
    let config = "[default]\nca_bundle = ~/ca.pem\nmax_attempts = 3\nuse_fips_endpoint = true\n\
                  request_checksum_calculation = when_required\ns3 =\n  addressing_style = path\n  \
                  payload_signing_enabled = true\n  use_accelerate_endpoint = true\n  \
                  hedging = false\n";
    let global = GlobalArgs { cli_read_timeout: Some(0), ..GlobalArgs::default() };
    let pairs = [("HOME", "/home/x"), ("HTTPS_PROXY", "http://a"), ("https_proxy", "http://b")];
    let no_fips = [("AWS_USE_FIPS_ENDPOINT", "false")];
    assert!(!settings(&global, &no_fips, config).unwrap().client.endpoint.fips);
    let client = settings(&global, &pairs, config).unwrap().client;
    assert_eq!(client.tls.ca_bundle.as_deref(), Some(Path::new("/home/x/ca.pem")));
    assert_eq!(client.retry.max_attempts, 3);
    assert!(client.endpoint.fips && client.endpoint.accelerate && client.payload_signing);
    assert_eq!(client.endpoint.addressing, AddressingStyle::Path);
    assert_eq!(client.request_checksums, ChecksumMode::WhenRequired);
    assert_eq!(client.proxy.https.as_deref(), Some("http://b"));
    assert_eq!(client.timeouts.read, FOREVER);
    assert!(!client.hedging && settings(&global, &pairs, "").unwrap().client.hedging);
}

#[test]
fn unknown_names_of_the_s3_section_are_known_to_be_so() {
    let config = "[default]\ns3 =\n  max_concurrent_request = 3\n  max_queue_size = 9\n  \
                  addressing_style = path\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), config).unwrap();
    let environment = Environment::of(&[
        (env_vars::AWS_CONFIG_FILE, file.path().to_str().unwrap()),
        (env_vars::AWS_SHARED_CREDENTIALS_FILE, "/nonexistent"),
    ]);
    let name = ProfileName::resolve(None, &environment);
    let profile = super::super::profile::load(&name, &environment).unwrap();
    assert_eq!(unused_names(&profile).collect::<Vec<_>>(), ["max_concurrent_request"]);
    assert!(settings(&GlobalArgs::default(), &[], config).is_ok(), "and passed over");
}
