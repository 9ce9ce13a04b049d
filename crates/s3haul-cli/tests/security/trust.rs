//! Whom the command talks to: TLS, and where redirects may lead.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};

use super::support::{Bench, stderr};

type Issuer = CertifiedIssuer<'static, KeyPair>;
type Heads = Arc<Mutex<Vec<String>>>;

fn issuer(name: &str) -> Issuer {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn params(host: &str) -> CertificateParams {
    CertificateParams::new(vec![host.to_owned()]).unwrap()
}

fn config(
    certificate: &Certificate,
    key: &KeyPair,
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    Arc::new(config)
}

/// A server with a certificate, signed by itself without an issuer; records what it is sent.
fn serve(
    params: &CertificateParams,
    issuer: Option<&Issuer>,
    versions: &[&'static SupportedProtocolVersion],
) -> (SocketAddr, Heads) {
    let (address, heads, _) = serve_and_show(params, issuer, versions);
    (address, heads)
}

/// The same, and the certificate in PEM.
fn serve_and_show(
    params: &CertificateParams,
    issuer: Option<&Issuer>,
    versions: &[&'static SupportedProtocolVersion],
) -> (SocketAddr, Heads, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = match issuer {
        Some(issuer) => params.signed_by(&key, issuer).unwrap(),
        None => params.self_signed(&key).unwrap(),
    };
    let pem = certificate.pem();
    let config = config(&certificate, &key, versions);
    let empty = "<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>";
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{empty}", empty.len());
    let (address, heads) = accept(move |socket, heads| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        answer(StreamOwned::new(connection, socket), &head, heads)
    });
    (address, heads, pem)
}

/// Answers on threads; a connection that fails is the client's choice.
fn accept(
    answer: impl Fn(TcpStream, &Heads) -> std::io::Result<()> + Send + Sync + 'static,
) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Heads::default());
    let (noted, answer) = (Arc::clone(&heads), Arc::new(answer));
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
            std::thread::spawn(move || _ = answer(socket, &noted));
        }
    });
    (address, heads)
}

fn answer(mut stream: impl Read + Write, text: &str, heads: &Heads) -> std::io::Result<()> {
    loop {
        let mut head = String::new();
        let mut reader = BufReader::with_capacity(1, &mut stream);
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        heads.lock().unwrap().push(head);
        stream.write_all(text.as_bytes())?;
    }
}

fn list(bench: &Bench, url: &str, bundle: &Path, flags: &str) -> std::process::Output {
    let mut command = bench.command(&format!("ls {flags}"));
    command.env("AWS_ENDPOINT_URL", url).env("AWS_CA_BUNDLE", bundle).env("AWS_MAX_ATTEMPTS", "1");
    command.output().unwrap()
}

#[test]
fn servers_without_a_valid_certificate_get_nothing() {
    let bench = Bench::new();
    let (trusted, other) = (issuer("trusted"), issuer("other"));
    bench.file("ca.pem", &trusted.pem());
    let bundle = bench.folder().join("ca.pem");
    let both = [&rustls::version::TLS12, &rustls::version::TLS13];
    let mut expired = params("localhost");
    (expired.not_before, expired.not_after) =
        (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let mut early = params("localhost");
    (early.not_before, early.not_after) = (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1));
    for (what, params, issuer) in [
        ("another host", params("elsewhere.test"), Some(&trusted)),
        ("expired", expired, Some(&trusted)),
        ("not valid yet", early, Some(&trusted)),
        ("self-signed", params("localhost"), None),
        ("an unknown authority", params("localhost"), Some(&other)),
    ] {
        let (address, heads) = serve(&params, issuer, &both);
        let url = format!("https://localhost:{}", address.port());
        let output = list(&bench, &url, &bundle, "");
        assert_ne!(output.status.code(), Some(0), "{what}: {output:?}");
        let text = stderr(&output);
        assert!(text.contains("SSL validation failed"), "{what}: {text}");
        assert_eq!(*heads.lock().unwrap(), [""; 0], "{what}: something was sent");
        // Allowed on request, with a warning.
        let output = list(&bench, &url, &bundle, "--no-verify-ssl");
        assert_eq!(output.status.code(), Some(0), "{what}: {output:?}");
        assert!(stderr(&output).starts_with("warning: --no-verify-ssl"), "{output:?}");
        assert_eq!(heads.lock().unwrap().len(), 1, "{what}");
    }
}

#[test]
fn what_gives_credentials_is_verified_in_any_case() {
    let bench = Bench::with_objects(&["k"]);
    bench.file("token", "SECRET");
    let both = [&rustls::version::TLS12, &rustls::version::TLS13];
    let (address, heads) = serve(&params("localhost"), None, &both);
    let mut command = bench.command("ls s3://box --no-verify-ssl");
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        command.env_remove(name);
    }
    command.env("AWS_ENDPOINT_URL_STS", format!("https://localhost:{}", address.port()));
    command.env("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/r");
    command.env("AWS_WEB_IDENTITY_TOKEN_FILE", bench.folder().join("token"));
    let output = command.output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    assert!(stderr(&output).contains("SSL validation failed"), "{output:?}");
    assert_eq!(*heads.lock().unwrap(), [""; 0], "something was sent");
}

/// As `openssl req -x509` makes them: for a host, signed by itself, and marked as an authority.
fn self_made(host: &str) -> CertificateParams {
    let mut params = params(host);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, host);
    params
}

#[test]
fn a_certificate_of_the_bundle_is_accepted_and_no_other() {
    let bench = Bench::new();
    let bundle = bench.folder().join("ca.pem");
    let elsewhere = issuer("elsewhere");
    let versions = [[&rustls::version::TLS12], [&rustls::version::TLS13]];
    let cases = [(None, versions[0]), (None, versions[1]), (Some(&elsewhere), versions[1])];
    for (issuer, version) in cases {
        let (address, heads, pem) = serve_and_show(&self_made("localhost"), issuer, &version);
        bench.file("ca.pem", &format!("{}{pem}", self::issuer("other").pem()));
        let url = format!("https://localhost:{}", address.port());
        let output = list(&bench, &url, &bundle, "");
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{version:?}");
        // The bundle speaks for this certificate, not for another of the same host and issuer.
        bench.file("ca.pem", &serve_and_show(&self_made("localhost"), issuer, &version).2);
        let output = list(&bench, &url, &bundle, "");
        let text = stderr(&output);
        assert!(text.contains(&format!("SSL validation failed for {url}/ with ")), "{text}");
        assert!(text.contains("hint: the CA bundle holds neither"), "{text}");
        assert_eq!(heads.lock().unwrap().len(), 1, "something was sent");
    }
}

#[test]
fn a_certificate_of_the_bundle_needs_its_host_and_its_time() {
    let bench = Bench::new();
    let bundle = bench.folder().join("ca.pem");
    let dated = |from, to| {
        let mut params = self_made("localhost");
        (params.not_before, params.not_after) =
            (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
        params
    };
    let signer = issuer("signer");
    let all = rustls::ALL_VERSIONS;
    for (params, hint) in [
        (self_made("elsewhere.test"), "hint: use a host in the endpoint URL for which"),
        (dated(2020, 2021), "hint: the server needs a certificate that is valid now"),
        (dated(2090, 2091), "hint: the server needs a certificate that is valid now"),
    ] {
        for issuer in [None, Some(&signer)] {
            let (address, heads, pem) = serve_and_show(&params, issuer, all);
            bench.file("ca.pem", &pem);
            let url = format!("https://localhost:{}", address.port());
            let output = list(&bench, &url, &bundle, "");
            let text = stderr(&output);
            assert!(text.contains("SSL validation failed") && text.contains(hint), "{text}");
            assert_eq!(*heads.lock().unwrap(), [""; 0], "something was sent");
        }
    }
}

#[test]
fn tls_1_2_and_1_3_are_spoken() {
    let bench = Bench::new();
    let trusted = issuer("trusted");
    bench.file("ca.pem", &trusted.pem());
    let bundle = bench.folder().join("ca.pem");
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let (address, heads) = serve(&params("localhost"), Some(&trusted), &[version]);
        let url = format!("https://localhost:{}", address.port());
        let output = list(&bench, &url, &bundle, "");
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""), "{version:?}");
        assert!(heads.lock().unwrap()[0].contains("AWS4-HMAC-SHA256"));
    }
}

/// The first message of a handshake offers no version before 1.2, not even as the oldest form of
/// the record allows.
#[test]
fn nothing_older_than_tls_1_2_is_offered() {
    let bench = Bench::new();
    let hello = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&hello);
    let (address, _) = accept(move |mut socket, _| {
        let mut start = vec![0; 5];
        socket.read_exact(&mut start)?;
        let mut rest = vec![0; usize::from(u16::from_be_bytes([start[3], start[4]]))];
        socket.read_exact(&mut rest)?;
        *noted.lock().unwrap() = rest;
        // A server of old: TLS 1.1, `protocol_version` being what there is to say.
        socket.write_all(&[21, 3, 2, 0, 2, 2, 70])
    });
    let url = format!("https://localhost:{}", address.port());
    let bundle = bench.folder().join("ca.pem");
    bench.file("ca.pem", &issuer("any").pem());
    let output = list(&bench, &url, &bundle, "");
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    let hello = hello.lock().unwrap().clone();
    // The legacy field says 1.2, and the extension `supported_versions` (43) is 1.3 and 1.2.
    assert_eq!(hello[4..6], [3, 3]);
    let at = hello.windows(5).position(|bytes| bytes == [0, 43, 0, 5, 4]).unwrap();
    let mut versions = [&hello[at + 5..at + 7], &hello[at + 7..at + 9]];
    versions.sort_unstable();
    assert_eq!(versions, [[3, 3], [3, 4]]);
}

/// A redirect to another host is not followed: nothing is sent there, least of all a signature.
#[test]
fn redirects_take_no_signature_elsewhere() {
    let bench = Bench::new();
    let seen = |text: &'static str| accept(move |socket, heads| answer(socket, text, heads));
    let (elsewhere, heads) = seen("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    for (host, status) in [
        ("127.0.0.2", "307 Temporary Redirect"),
        ("127.0.0.2", "301 Moved Permanently"),
        ("localhost", "302 Found"),
        ("127.0.0.1.evil.test", "308 Permanent Redirect"),
    ] {
        let location = format!("http://{host}:{}/box/k", elsewhere.port());
        let head =
            format!("HTTP/1.1 {status}\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let (address, asked) = accept(move |socket, heads| answer(socket, &head, heads));
        for args in ["cat s3://box/k", "cp s3://box/k f", "rm s3://box/k", "ls s3://box"] {
            let mut command = bench.command(args);
            command
                .env("AWS_ENDPOINT_URL", format!("http://{address}"))
                .env("AWS_MAX_ATTEMPTS", "2");
            let output = command.output().unwrap();
            assert_ne!(output.status.code(), Some(0), "{args}: {output:?}");
        }
        assert!(!asked.lock().unwrap().is_empty());
    }
    assert_eq!(*heads.lock().unwrap(), [""; 0]);
}

/// From https to http on the same host, which would show everything to eavesdroppers.
#[test]
fn redirects_do_not_leave_tls() {
    let bench = Bench::new();
    let trusted = issuer("trusted");
    bench.file("ca.pem", &trusted.pem());
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let (plain, heads) = accept(move |socket, heads| answer(socket, ok, heads));
    let key = KeyPair::generate().unwrap();
    let certificate = params("localhost").signed_by(&key, &trusted).unwrap();
    let config = config(&certificate, &key, rustls::ALL_VERSIONS);
    let location = format!("http://localhost:{}/box/k", plain.port());
    let head = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
    );
    let (address, asked) = accept(move |socket, heads| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        answer(StreamOwned::new(connection, socket), &head, heads)
    });
    let mut command = bench.command("cat s3://box/k");
    command.env("AWS_ENDPOINT_URL", format!("https://localhost:{}", address.port()));
    command.env("AWS_CA_BUNDLE", bench.folder().join("ca.pem")).env("AWS_MAX_ATTEMPTS", "2");
    let output = command.output().unwrap();
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    assert!(!asked.lock().unwrap().is_empty());
    assert_eq!(*heads.lock().unwrap(), [""; 0], "sent in the clear");
}
