//! Flags of transfers into jobs.

use s3haul::job::FilterRule;

use super::*;
use crate::args::{self, Command};
use crate::env_vars;
use crate::settings::{Environment, JobRequest, Settings};

fn transfer(line: &str) -> Result<TransferSettings, Failure> {
    transfer_with(line, &[])
}

fn transfer_with(line: &str, pairs: &[(&str, &str)]) -> Result<TransferSettings, Failure> {
    let words = format!("s3haul {line}");
    let (global, command) = args::parse(words.split_whitespace().map(Into::into)).unwrap();
    let mut pairs = pairs.to_vec();
    pairs.push((env_vars::HOME, "/nonexistent"));
    let settings = Settings::load(&global, Environment::of(&pairs))?;
    let request = match command {
        Command::Cp(args) => JobRequest::cp(&settings, &args),
        Command::Mv(args) => JobRequest::mv(&settings, &args),
        Command::Rm(args) => JobRequest::rm(&settings, &args),
        Command::Pipe(args) => JobRequest::pipe(&settings, &args),
        other => panic!("{other:?}"),
    };
    TransferSettings::of_job(&request?, &settings.machine())
}

#[test]
fn flags_reach_the_job() {
    let transfer = transfer(
        "cp a s3://b/k --recursive --dryrun --no-overwrite --exclude * --include *.txt \
         --no-follow-symlinks --page-size 7 --metadata a=1,b=2 --storage-class GLACIER --sse \
         --no-guess-mime-type --checksum-algorithm SHA256 --request-payer --expected-size 9",
    )
    .unwrap();
    let spec = transfer.spec;
    assert_eq!((spec.source.as_str(), spec.target.as_deref()), ("a", Some("s3://b/k")));
    assert!(spec.recursive && spec.dry_run && spec.no_overwrite);
    assert!(!spec.follow_symlinks && !spec.guess_mime_type);
    let filters = [FilterRule::Exclude("*".into()), FilterRule::Include("*.txt".into())];
    assert_eq!(spec.filters, filters);
    assert_eq!(spec.page_size, Some(7));
    assert_eq!(spec.expected_size, Some(9));
    assert_eq!(spec.properties.metadata.unwrap().len(), 2);
    assert_eq!(spec.properties.encryption, Some(s3haul_wire::Encryption::Aes256));
    assert_eq!(spec.checksum_algorithm, Some(s3haul_wire::ChecksumAlgorithm::Sha256));
    assert!(transfer.client.request_payer);
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    for line in [
        "cp a b",
        "mv a b",
        "rm a",
        "pipe a",
        "pipe s3://",
        "rm s3:// --recursive",
        "cp a s3://",
        "mv - s3://b/k",
        "cp --recursive s3://b/ -",
        "cp s3://b/k f --checksum-algorithm SHA256",
        "cp f s3://b/k --checksum-mode ENABLED",
        "cp f s3://b/k --checksum-algorithm XXHASH3",
        "cp f s3://b/k --sse-c-copy-source AES256 --sse-c-copy-source-key k",
        "cp f s3://b/k --sse-c AES256",
        "cp s3://a/k s3://b/k --copy-props all",
        "cp f s3://b/k --expires soon",
        "cp s3://b/k - --json",
    ] {
        assert_eq!(transfer(line).unwrap_err().status, crate::exit::USAGE, "{line}");
    }
    assert!(transfer("cp s3://b/ d --recursive --case-conflict ignore").is_ok());
    let express = "cp s3://b--usw2-az1--x-s3/ d --recursive --case-conflict";
    assert!(transfer(&format!("{express} skip")).is_err());
    assert_eq!(transfer(&format!("{express} warn")).unwrap().notices.len(), 1);
}

#[test]
fn streams_print_only_errors() {
    assert_eq!(transfer("cp - s3://b/k").unwrap().output.lines, OutputLines::Errors);
    assert_eq!(transfer("cp - s3://b/k --quiet").unwrap().output.lines, OutputLines::None);
    assert_eq!(transfer("cp f s3://b/k").unwrap().output.lines, OutputLines::All);
    let pipe = transfer("pipe s3://b/k").unwrap();
    assert_eq!((pipe.spec.source.as_str(), pipe.output.lines), ("-", OutputLines::Errors));
}

#[test]
fn aws_progress_is_asked_for_by_its_flags() {
    let progress = |line: &str| transfer(line).unwrap().output.aws_progress;
    assert_eq!(progress("cp f s3://b/k"), None);
    let expected = Some(AwsProgress { multiline: true, frequency_s: 2 });
    let line = "cp f s3://b/k --progress-multiline --progress-frequency 2";
    assert_eq!(progress(line), expected);
    assert_eq!(progress(&format!("{line} --no-progress")), None);
    assert_eq!(progress(&format!("{line} --quiet")), None);
}

#[test]
fn the_source_of_another_region_has_its_own_client() {
    let line = "cp s3://a/k s3://b/k --region r --source-region s --endpoint-url http://e";
    let transfer = transfer(line).unwrap();
    let source = transfer.source_client.unwrap().endpoint;
    assert_eq!((source.region.as_deref(), source.url), (Some("s"), None));
    assert_eq!(transfer.client.endpoint.region.as_deref(), Some("r"));
    assert_eq!(transfer.client.endpoint.url.as_deref(), Some("http://e"));
}

/// Endpoint, region and profile of both sides.
fn sides(flags: &str, pairs: &[(&str, &str)]) -> [(Option<String>, Option<String>, String); 2] {
    let transfer = transfer_with(&format!("cp s3://a/k s3://b/k {flags}"), pairs).unwrap();
    let source = transfer.source_client.unwrap_or_else(|| transfer.client.clone());
    [source, transfer.client].map(|client| {
        let signer = match &client.credentials {
            s3haul_wire::CredentialsConfig::Profile(name) => name.clone(),
            other => format!("{other:?}"),
        };
        (client.endpoint.url, client.endpoint.region, signer)
    })
}

#[test]
fn each_side_has_its_flags_and_the_plain_ones_for_the_rest() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "[near]\naws_access_key_id = n\naws_secret_access_key = s\nregion = near-1\n\
        [far]\naws_access_key_id = f\naws_secret_access_key = s\nendpoint_url = http://far\n";
    std::fs::write(file.path(), text).unwrap();
    let pairs = [(env_vars::AWS_SHARED_CREDENTIALS_FILE, file.path().to_str().unwrap())];
    let side = |url: Option<&str>, region: Option<&str>, signer: &str| {
        (url.map(str::to_owned), region.map(str::to_owned), signer.to_owned())
    };
    let cases = [
        ("", [side(None, None, "Chain"), side(None, None, "Chain")]),
        (
            "--source-profile near --target-profile far",
            [side(None, Some("near-1"), "near"), side(Some("http://far"), None, "far")],
        ),
        (
            "--profile near --target-endpoint-url http://t --target-region r",
            [side(None, Some("near-1"), "near"), side(Some("http://t"), Some("r"), "near")],
        ),
        (
            "--endpoint-url http://e --source-no-sign-request",
            [side(Some("http://e"), None, "Anonymous"), side(Some("http://e"), None, "Chain")],
        ),
        (
            "--no-sign-request --target-profile far",
            [side(None, None, "Anonymous"), side(Some("http://far"), None, "far")],
        ),
        (
            "--endpoint-url http://e --source-endpoint-url http://s --source-region r",
            [side(Some("http://s"), Some("r"), "Chain"), side(Some("http://e"), None, "Chain")],
        ),
        (
            "--endpoint-url http://e --source-region r",
            [side(None, Some("r"), "Chain"), side(Some("http://e"), None, "Chain")],
        ),
    ];
    for (flags, expected) in cases {
        assert_eq!(sides(flags, &pairs), expected, "{flags}");
    }
}

#[test]
fn flags_of_a_local_side_are_refused() {
    for line in [
        "cp f s3://b/k --source-profile p",
        "cp s3://b/k f --target-endpoint-url http://t",
        "cp s3://b/k f --stream",
        "cp s3://b/k s3://c/k --source-endpoint-url host:9000",
    ] {
        assert_eq!(transfer(line).unwrap_err().status, crate::exit::USAGE, "{line}");
    }
    let upload = transfer("cp f s3://b/k --target-endpoint-url http://t --source-region r");
    assert_eq!(upload.unwrap().client.endpoint.url.as_deref(), Some("http://t"));
    let download = transfer("cp s3://b/k f --source-endpoint-url http://s").unwrap();
    // One side in S3 has one client.
    assert!(download.source_client.is_none());
    assert_eq!(download.client.endpoint.url.as_deref(), Some("http://s"));
}

#[test]
fn moves_between_access_points_warn_or_are_refused() {
    let line = "mv s3://a-s3alias/d/k s3://b/d/";
    assert_eq!(transfer(line).unwrap().notices.len(), 1);
    assert!(transfer(&format!("{line} --validate-same-s3-paths")).is_err());
    assert!(transfer_with(line, &[("AWS_CLI_S3_MV_VALIDATE_SAME_S3_PATHS", "true")]).is_err());
    assert!(transfer("mv s3://a/d/k s3://b/d/").unwrap().notices.is_empty());
    assert!(transfer("mv f s3://a-s3alias/f").unwrap().notices.is_empty());
}
