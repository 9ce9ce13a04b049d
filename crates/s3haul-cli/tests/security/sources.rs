//! No secret from the places that credentials come from: files, programs, services.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use super::echo;
use super::secrets::{SECRET_KEY, TOKEN, assert_clean_of, assert_files_clean};
use super::support::Bench;

const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzM2hhdWwifQ.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg";
const OPAQUE: &str = "0paque+T0ken/that-no-pattern-kn0ws==";
const SECRETS: [&str; 4] = [SECRET_KEY, TOKEN, JWT, OPAQUE];

/// Commands without credentials in the environment; `config` is the configuration file.
struct Home {
    bench: Bench,
}

impl Home {
    fn new(config: &str) -> Self {
        let bench = Bench::new();
        bench.file(".aws/config", config);
        Self { bench }
    }

    fn program(&self, script: &str) {
        self.bench.file("program", &format!("#!/bin/sh\n{script}\n"));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.bench.folder().join("program"), mode).unwrap();
    }

    /// Runs `ls` with these variables and searches all that it wrote.
    fn list(&self, variables: &[(&str, &str)]) -> Output {
        let mut command = self.bench.command("--debug ls s3://box");
        command.env("S3HAUL_LOG", "trace").env("AWS_MAX_ATTEMPTS", "1");
        command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
        // Whatever is not on this machine is not there.
        command.env("HTTPS_PROXY", "http://127.0.0.1:1").env("HTTP_PROXY", "http://127.0.0.1:1");
        command.env("NO_PROXY", "127.0.0.1");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        assert_clean_of(&SECRETS, "standard output", &output.stdout);
        assert_clean_of(&SECRETS, "standard error", &output.stderr);
        let own = [".aws", "program", "token"];
        assert_files_clean(&SECRETS, self.bench.folder(), &own);
        output
    }

    /// The same, where it cannot work.
    fn fails(&self, variables: &[(&str, &str)]) -> String {
        let output = self.list(variables);
        assert_ne!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

fn process(key: &str, secret: &str) -> String {
    format!(
        "echo '{{\"Version\":1,\"AccessKeyId\":\"{key}\",\"SecretAccessKey\":\"{secret}\",\
         \"SessionToken\":\"{TOKEN}\"}}'"
    )
}

#[test]
fn programs_that_give_credentials_are_not_quoted() {
    let home = Home::new("[default]\ncredential_process = ./program with an-argument\n");
    // It records what can be seen of itself and of its parent process.
    let seen = "cat /proc/$$/cmdline /proc/$PPID/cmdline /proc/$PPID/comm > titles 2>&1\n";
    let right = home.bench.variable("AWS_SECRET_ACCESS_KEY").to_owned();
    let key = home.bench.variable("AWS_ACCESS_KEY_ID").to_owned();
    home.bench.ok("mb s3://box");
    home.program(&format!("{seen}{}", process(&key, &right)));
    let output = home.list(&[]);
    assert!(output.status.success(), "{output:?}");
    let titles = home.bench.read("titles");
    assert!(titles.contains("an-argument") && titles.contains("--debug"), "{titles}");
    home.program(&format!("{seen}{}", process("AKIDother", SECRET_KEY)));
    assert!(home.fails(&[]).contains("InvalidAccessKeyId"));
    for (script, told) in [
        (format!("echo '{SECRET_KEY}'"), "not the expected JSON"),
        (format!("echo '{{\"Version\":\"{SECRET_KEY}\"}}'"), "not the expected JSON"),
        (format!("echo '{{\"Version\":1,\"SecretAccessKey\":\"{SECRET_KEY}\"'; exit 3"), ""),
        (format!("echo 'token {JWT} is too old' >&2; exit 1"), "is too old"),
        (
            format!("echo '{{\"SecretAccessKey\": \"{SECRET_KEY}\"}}' >&2; exit 1"),
            "SecretAccessKey",
        ),
    ] {
        home.program(&script);
        let text = home.fails(&[]);
        assert!(text.contains("custom-process") && text.contains(told), "{text}");
    }
}

#[test]
fn tokens_in_files_are_not_shown() {
    let home = Home::new(
        "[default]\nrole_arn = arn:aws:iam::1:role/r\nweb_identity_token_file = token\n\
         role_session_name = s\n[profile sso]\nsso_session = here\nsso_account_id = 1\n\
         sso_role_name = r\n[sso-session here]\nsso_start_url = https://x.test\n\
         sso_region = us-east-1\n[profile login]\nlogin_session = here\n\
         [profile bare]\nregion = us-east-1\n",
    );
    for token in [JWT, OPAQUE] {
        home.bench.file("token", token);
        home.fails(&[]);
        home.fails(&[
            ("AWS_PROFILE", "bare"),
            ("AWS_ROLE_ARN", "arn:aws:iam::1:role/r"),
            ("AWS_WEB_IDENTITY_TOKEN_FILE", "token"),
        ]);
        let cached = format!(
            "{{\"accessToken\":\"{token}\",\"expiresAt\":\"2020-01-01T00:00:00Z\",\"clientId\":\
             \"c\",\"clientSecret\":\"{SECRET_KEY}\",\"refreshToken\":\"{TOKEN}\"}}"
        );
        // SHA-1 of `here`.
        let name = "0154c0dabe7145db37e0b81bf667e7224abec0ba";
        home.bench.file(&format!(".aws/sso/cache/{name}.json"), &cached);
        home.fails(&[("AWS_PROFILE", "sso")]);
        let login = format!(
            "{{\"accessToken\":{{\"accessKeyId\":\"a\",\"secretAccessKey\":\"{SECRET_KEY}\",\
             \"sessionToken\":\"{TOKEN}\",\"expiresAt\":\"2020-01-01T00:00:00Z\"}},\"clientId\":\
             \"c\",\"refreshToken\":\"{token}\",\"dpopKey\":\"{OPAQUE}\"}}"
        );
        // SHA-256 of `here`.
        let name = "fcec91509759ad995c2cd14bcb26b2720993faf61c29d379b270d442d92290eb";
        for text in [&login, &login[..login.len() - 1]] {
            home.bench.file(&format!(".aws/login/cache/{name}.json"), text);
            assert!(home.fails(&[("AWS_PROFILE", "login")]).contains("login session token"));
        }
    }
}

#[test]
fn keys_in_files_are_not_shown() {
    for config in [
        format!("[default]\naws_access_key_id = AKIDwrong\naws_secret_access_key = {SECRET_KEY}\n"),
        format!("[default]\naws_access_key_id = AKIDwrong\n{SECRET_KEY}\n"),
        format!("{SECRET_KEY}\n[default]\n"),
        format!("[default\n{SECRET_KEY}\n"),
        format!("[default]\ns3 =\n  {SECRET_KEY}\n"),
        format!(
            "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\n[profile base]\n\
             aws_access_key_id = AKIDwrong\naws_secret_access_key = {SECRET_KEY}\n\
             aws_session_token = {TOKEN}\n"
        ),
    ] {
        Home::new(&config).fails(&[]);
    }
}

/// A service that gives credentials to containers, or refuses and repeats the request.
fn container(answer: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(socket.try_clone().unwrap()).lines();
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
            let length = answer.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
            // A client that has gone is not our business.
            _ = socket.write_all(format!("{head}{answer}").as_bytes());
        }
    });
    address
}

#[test]
fn services_that_give_credentials_are_not_quoted() {
    let home = Home::new("");
    let given = format!(
        "{{\"AccessKeyId\":\"AKIDwrong\",\"SecretAccessKey\":\"{SECRET_KEY}\",\"Token\":\
         \"{TOKEN}\",\"Expiration\":\"2099-01-01T00:00:00Z\"}}"
    );
    let cut = given[..given.len() - 20].to_owned();
    let odd = format!("{{\"AccessKeyId\":{{\"{SECRET_KEY}\":1}},\"Token\":\"{TOKEN}\"}}");
    let expired = given.replace("2099-01-01T00:00:00Z", SECRET_KEY);
    let echoing = echo::start(echo::WRONG_SIGNATURE);
    let services = [given, cut, odd, expired, SECRET_KEY.to_owned()].map(container);
    for address in services.into_iter().chain([echoing]) {
        let url = format!("http://{address}/get?x={OPAQUE}");
        for token in [JWT, OPAQUE] {
            home.fails(&[
                ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url),
                ("AWS_CONTAINER_AUTHORIZATION_TOKEN", token),
            ]);
        }
    }
}
