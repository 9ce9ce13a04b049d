//! No secret in anything that a command writes: every line of every output and every file that it
//! leaves is searched for all forms of all secrets that it was given.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use md5::{Digest as _, Md5};

use super::echo;
use super::support::Bench;

pub(crate) const ACCESS_KEY: &str = "AKIDsecurityEXAMPLE1";
pub(crate) const SECRET_KEY: &str = "sEcReT/wJalrXUtnFEMI+K7MDENG/bPxRfiCYzE9";
pub(crate) const TOKEN: &str = "IQoJtOkEn2luX2VjEHwaCXVz/LWVhc3QtMSJHM+EUCIQDexample==";
/// A key for SSE-C: 32 bytes.
pub(crate) const CUSTOMER_KEY: &str = "cUsToMeR-kEy~0123456789:abcdefgh";
const PROXY_PASSWORD: &str = "pRoXyPaSs/w0rd";
const ENDPOINT_PASSWORD: &str = "eNdPoInTpAsSw0rd";

/// All secrets that commands here are given.
const ALL: [&str; 6] =
    [SECRET_KEY, TOKEN, CUSTOMER_KEY, PROXY_PASSWORD, ENDPOINT_PASSWORD, ACCESS_KEY_AS_PASSWORD];
/// `user:password` of the proxy, as base64 has it in the header.
const ACCESS_KEY_AS_PASSWORD: &str = "proxyuser:pRoXyPaSs/w0rd";

fn percent_encoded(text: &str, lower: bool) -> String {
    let encode = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => char::from(byte).into(),
        byte if lower => format!("%{byte:02x}"),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// The forms in which a secret could be written.
fn forms(secret: &[u8]) -> Vec<String> {
    let engines = [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD];
    let mut forms: Vec<String> = engines.iter().map(|engine| engine.encode(secret)).collect();
    let hex: Vec<_> = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    forms.extend([hex.concat(), hex.concat().to_uppercase()]);
    if let Ok(text) = std::str::from_utf8(secret) {
        forms.extend([text.to_owned(), percent_encoded(text, false), percent_encoded(text, true)]);
        forms.push(text.escape_debug().to_string());
    }
    forms
}

/// Asserts that a text shows none of these secrets, and nothing that signs.
pub(crate) fn assert_clean_of(secrets: &[&str], what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let digest = Md5::digest(CUSTOMER_KEY);
    let all = secrets.iter().flat_map(|secret| forms(secret.as_bytes()));
    for form in all.chain(forms(&digest)) {
        assert!(!text.contains(&form), "{what} shows a secret as `{form}`:\n{text}");
    }
    assert!(!text.contains("X-Amz-Signature="), "{what} shows a presigned query:\n{text}");
    let signature = text.match_indices("ignature=").find(|(at, found)| {
        let value = &text[at + found.len()..];
        value.bytes().take_while(u8::is_ascii_hexdigit).count() >= 32
    });
    assert_eq!(signature, None, "{what} shows a signature:\n{text}");
}

fn assert_clean(what: &str, bytes: &[u8]) {
    assert_clean_of(&ALL, what, bytes);
}

/// Asserts the same of all files below a folder but those that were made to hold secrets.
pub(crate) fn assert_files_clean(secrets: &[&str], folder: &Path, except: &[&str]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if except.contains(&name) {
            continue;
        }
        if path.is_dir() {
            assert_files_clean(secrets, &path, except);
        } else {
            assert_clean_of(secrets, name, name.as_bytes());
            assert_clean_of(secrets, name, &fs::read(&path).unwrap());
        }
    }
}

/// A server with credentials of its own that logs all it can, and commands that do too.
struct Place {
    bench: Bench,
    folder: tempfile::TempDir,
    server: Child,
    endpoint: String,
}

impl Place {
    fn start() -> Self {
        // Only its folder and its environment are used.
        let (bench, folder) = (Bench::new(), tempfile::tempdir().unwrap());
        let log = fs::File::create(folder.path().join("server-log")).unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_s3haul"))
            .args(["--debug", "serve", "--memory", "--address", "127.0.0.1:0"])
            .args(["--ledger", "server-ledger", "--stop-with-stdin"])
            .current_dir(folder.path())
            .env("S3HAUL_LOG", "trace")
            .env("S3HAUL_SERVE_ACCESS_KEY", ACCESS_KEY)
            .env("S3HAUL_SERVE_SECRET_KEY", SECRET_KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        // What it prints is how to reach it, with the key: that is what it is for.
        let lines = std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().unwrap()));
        let lines: Vec<String> = lines.take(5).map(Result::unwrap).collect();
        let endpoint = lines.iter().find_map(|line| line.strip_prefix("export AWS_ENDPOINT_URL="));
        let endpoint = endpoint.unwrap().to_owned();
        Self { bench, folder, server, endpoint }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, bytes: &[u8]) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), bytes).unwrap();
    }

    fn command(&self, args: &str) -> Command {
        let mut command = self.bench.command(args);
        command
            .current_dir(self.folder.path())
            .env("S3HAUL_LOG", "trace")
            .env("AWS_ENDPOINT_URL", &self.endpoint)
            .env("AWS_ACCESS_KEY_ID", ACCESS_KEY)
            .env("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
            .env("AWS_SESSION_TOKEN", TOKEN)
            .env("AWS_MAX_ATTEMPTS", "2")
            .env("TMPDIR", self.folder.path());
        command
    }

    /// Runs a command and searches what it prints.
    fn run(&self, args: &str) -> Output {
        Self::checked(args, &mut self.command(&format!("--debug {args}")))
    }

    fn ok(&self, args: &str) -> Output {
        let output = self.run(args);
        assert!(output.status.success(), "{args}: {output:?}");
        output
    }

    fn checked(args: &str, command: &mut Command) -> Output {
        let output = command.output().unwrap();
        assert_clean(&format!("standard output of `{args}`"), &output.stdout);
        assert_clean(&format!("standard error of `{args}`"), &output.stderr);
        output
    }

    /// Ends the server and searches what is left.
    fn finish(mut self, except: &[&str]) {
        drop(self.server.stdin.take());
        assert!(self.server.wait().unwrap().success());
        let log = fs::read_to_string(self.path("server-log")).unwrap();
        assert!(!log.contains("AWS4-HMAC"), "{log}");
        assert_files_clean(&ALL, self.folder.path(), except);
    }
}

#[test]
fn commands_that_work_show_no_secret() {
    let place = Place::start();
    place.file("t/a", b"1");
    place.file("t/d/b", &vec![b'x'; 9 << 20]);
    place.ok("mb s3://box");
    for args in [
        "cp t/a s3://box/a --report report-one.jsonl",
        "cp --recursive t s3://box/t --report report.csv --metadata m=v",
        "cp --recursive t s3://box/t2 --json --report report.jsonl",
        "sync t s3://box/t",
        "cp --recursive s3://box/t s3://box/copy",
        "cp --recursive s3://box/t down --report down.csv",
        "sync s3://box/t down --delete",
        "mv s3://box/copy s3://box/moved --recursive",
        "tag add s3://box/a --tags x=y",
        "tag get s3://box/a",
        "set s3://box/a --metadata p=q",
        "head s3://box/a --json",
        "head s3://box",
        "ls s3://box --recursive",
        "list s3://box --output-file listed.csv --format csv",
        "find s3://box --name *b",
        "summarize s3://box",
        "list-buckets",
        "compare t s3://box/t",
        "verify t s3://box/t",
        "cat s3://box/a",
        "uploads ls s3://box",
        "rm --recursive s3://box/moved --report removed.jsonl",
        "versions s3://box",
        "rm --recursive s3://box --dryrun",
        "rb s3://box --force",
    ] {
        place.ok(args);
    }
    place.finish(&[]);
}

#[test]
fn customer_keys_show_nowhere() {
    let place = Place::start();
    place.file("small", b"1");
    place.file("large", &vec![b'x'; 9 << 20]);
    place.file("key", CUSTOMER_KEY.as_bytes());
    place.ok("mb s3://box");
    let (key, file) =
        (format!("--sse-c AES256 --sse-c-key {CUSTOMER_KEY}"), "--sse-c-key fileb://key");
    let source = format!("--sse-c-copy-source AES256 --sse-c-copy-source-key {CUSTOMER_KEY}");
    // Not every server has keys of customers: what is written then is searched as well.
    for args in [
        format!("cp small s3://box/s {key} --report r1.jsonl"),
        format!("cp large s3://box/l --sse-c {file} --report r2.csv"),
        format!("cp s3://box/s back {key}"),
        format!("cp s3://box/l back {key}"),
        format!("cp s3://box/s s3://box/c {key} {source} --json"),
        format!("head s3://box/s {key}"),
        format!("cat s3://box/s {key}"),
        // Mistakes with a key in the wrong place.
        format!("cp small s3://box/s --sse-c {CUSTOMER_KEY}"),
        format!("cp small s3://box/s --sse-c-key {CUSTOMER_KEY}"),
        format!("cp small s3://box/s --sse-c-key {CUSTOMER_KEY} --sse-c --no-such-flag"),
    ] {
        place.run(&args);
    }
    place.file(
        "lines",
        format!(
            "cp small s3://box/1 {key}\ncp none s3://box/2 {key}\ncp s3://box/none x {key}\n\
             cp small s3://none/3 {key} --region={SECRET_KEY}\n"
        )
        .replace(&format!(" --region={SECRET_KEY}"), "")
        .as_bytes(),
    );
    place.run("run lines --report lines.csv");
    place.run("run lines --dryrun");
    place.file("wrong", format!("cp small s3://box/1 {key} --frob\n").as_bytes());
    place.run("run wrong");
    place.file("served", format!("serve d --access-key a --secret-key {SECRET_KEY}\n").as_bytes());
    place.run("run served");
    place.finish(&["key", "lines", "wrong", "served"]);
}

#[test]
fn refusals_that_echo_the_request_show_no_secret() {
    let place = Place::start();
    place.file("t/a", b"1");
    place.file("t/big", &vec![b'x'; 9 << 20]);
    let endpoint = format!("http://{}", echo::start(echo::WRONG_SIGNATURE));
    let key = format!("--sse-c AES256 --sse-c-key {CUSTOMER_KEY}");
    for args in [
        "cp t/a s3://box/a".to_owned(),
        format!("cp t/a s3://box/a {key}"),
        format!("cp t/big s3://box/big {key} --report echoed-big.jsonl"),
        format!("head s3://box/a {key}"),
        "cp --recursive t s3://box/t --report echoed.jsonl".to_owned(),
        "cp --recursive t s3://box/t --report echoed.csv --json".to_owned(),
        "cp --recursive s3://box/t down".to_owned(),
        "cp s3://box/a down".to_owned(),
        "sync t s3://box/t".to_owned(),
        "rm --recursive s3://box".to_owned(),
        "rm s3://box/a --json".to_owned(),
        "tag add s3://box/a --tags x=y".to_owned(),
        "set s3://box/a --metadata p=q".to_owned(),
        "ls s3://box".to_owned(),
        "list s3://box --json".to_owned(),
        "find s3://box --name a".to_owned(),
        "summarize s3://box".to_owned(),
        "mb s3://box".to_owned(),
        "rb s3://box --json".to_owned(),
        "cat s3://box/a".to_owned(),
        "uploads ls s3://box".to_owned(),
        "list-buckets".to_owned(),
        "compare t s3://box/t".to_owned(),
    ] {
        let mut command = place.command(&format!("--debug {args}"));
        command.env("AWS_ENDPOINT_URL", &endpoint);
        let output = Place::checked(&args, &mut command);
        assert!(!matches!(output.status.code(), Some(0 | 252)), "{args}: {output:?}");
        if args == "ls s3://box" {
            // Helpful details are still printed.
            let text = String::from_utf8(output.stderr).unwrap();
            assert!(text.contains("SignatureDoesNotMatch") && text.contains("host:"), "{text}");
        }
    }
    place.finish(&[]);
}

#[test]
fn failures_show_no_secret() {
    let place = Place::start();
    place.file("t/a", b"1");
    place.ok("mb s3://box");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let expired = echo::Refusal { status: "400 Bad Request", code: "ExpiredToken", message: None };
    let moved =
        echo::Refusal { status: "301 Moved Permanently", code: "PermanentRedirect", message: None };
    let broken = echo::Refusal {
        status: "503 Slow Down",
        code: "SlowDown",
        message: Some(format!("token {TOKEN}, key {SECRET_KEY}, again {}", STANDARD.encode(TOKEN))),
    };
    let (expired, moved, broken) = (echo::start(expired), echo::start(moved), echo::start(broken));
    let with_user = |address| format!("http://endpointuser:{ENDPOINT_PASSWORD}@{address}/x");
    let server = place.endpoint.strip_prefix("http://").unwrap().to_owned();
    for endpoint in [
        format!("http://{closed}"),
        format!("https://{server}"),
        format!("http://{expired}"),
        format!("http://{moved}"),
        format!("http://{broken}"),
        with_user(closed.to_string()),
        with_user(broken.to_string()),
        with_user("no host".to_owned()),
        with_user(format!("{closed}?query={SECRET_KEY}")),
        format!("endpointuser:{ENDPOINT_PASSWORD}@{closed}"),
        format!("ftp://endpointuser:{ENDPOINT_PASSWORD}@{closed}"),
    ] {
        for args in ["ls s3://box", "cp --recursive t s3://box --report failed.jsonl --json"] {
            let mut command = place.command(&format!("--debug {args}"));
            let output = Place::checked(args, command.env("AWS_ENDPOINT_URL", &endpoint));
            assert_ne!(output.status.code(), Some(0), "{args} at {endpoint}");
            let mut command = place.command("--debug");
            command.args(["--endpoint-url", &endpoint]).args(args.split(' '));
            Place::checked(args, &mut command);
        }
    }
    for (name, value) in [
        ("AWS_SECRET_ACCESS_KEY", "anOther/sEcReT+that-is-wrong-here"),
        ("AWS_ACCESS_KEY_ID", "AKIDwrong"),
        ("AWS_REGION", SECRET_KEY),
    ] {
        let mut command = place.command("--debug ls s3://box");
        let output = command.env(name, value).output().unwrap();
        let secrets = [SECRET_KEY, TOKEN, "anOther/sEcReT+that-is-wrong-here"];
        // A key given as region is an error that says why.
        let secrets = if value == SECRET_KEY { &secrets[1..] } else { &secrets[..] };
        assert_clean_of(secrets, name, &output.stderr);
        assert_ne!(output.status.code(), Some(0), "{name}");
    }
    place.finish(&[]);
}

#[test]
fn passwords_of_proxies_show_nowhere() {
    let place = Place::start();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let password = percent_encoded(PROXY_PASSWORD, false);
    let refusing =
        echo::Refusal { status: "407 Proxy Authentication Required", code: "Proxy", message: None };
    let (echoing, refusing) = (echo::start(echo::WRONG_SIGNATURE), echo::start(refusing));
    for proxy in [closed, echoing, refusing] {
        for (variable, endpoint) in
            [("HTTP_PROXY", "http://store.test"), ("HTTPS_PROXY", "https://store.test")]
        {
            let mut command = place.command("--debug ls s3://box");
            command.env(variable, format!("http://proxyuser:{password}@{proxy}"));
            command.env("AWS_ENDPOINT_URL", endpoint);
            let output = Place::checked(variable, &mut command);
            assert_ne!(output.status.code(), Some(0), "{output:?}");
        }
    }
    let mut command = place.command("--debug ls s3://box");
    command.env("HTTP_PROXY", format!("ftp://proxyuser:{password}@{closed}"));
    Place::checked("a proxy of another kind", &mut command);
    place.finish(&[]);
}

#[test]
fn a_presigned_url_is_the_only_thing_that_signs() {
    let place = Place::start();
    let output = place.command("--debug presign s3://box/k").output().unwrap();
    let url = String::from_utf8(output.stdout).unwrap();
    assert!(url.contains("X-Amz-Signature=") && !url.contains(SECRET_KEY), "{url}");
    assert_clean("standard error of presign", &output.stderr);
    place.finish(&[]);
}
