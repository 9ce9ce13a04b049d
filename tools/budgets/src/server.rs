//! Canned answers to PUT, GET and LIST, with or without TLS.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::BODY;

/// Keys of a page.
pub(crate) const PAGE_KEYS: usize = 1_000;
const HEAD: &str = "HTTP/1.1 200 OK\r\nx-amz-request-id: 0123456789ABCDEF\r\n\
                    last-modified: Tue, 14 Nov 2023 23:13:20 GMT\r\netag: \"0123\"\r\n";

/// Serves until it is killed.
pub(crate) async fn serve(is_tls: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    writeln!(std::io::stdout(), "{address}").expect("the parent listens");
    let page = Arc::new(page());
    let acceptor = is_tls.then(acceptor);
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).expect("a socket");
        let (page, acceptor) = (Arc::clone(&page), acceptor.clone());
        connections.spawn(async move {
            match acceptor {
                None => answer(stream, page).await,
                Some(acceptor) => {
                    let stream = acceptor.accept(stream).await.expect("the client speaks TLS");
                    answer(stream, page).await;
                }
            }
        });
    }
}

/// With a certificate of its own, which the client does not look at.
fn acceptor() -> TlsAcceptor {
    let own = generate_simple_self_signed(["localhost".to_owned()]);
    let CertifiedKey { cert, signing_key } = own.expect("a certificate can be made");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key of our own");
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("they go together")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key);
    TlsAcceptor::from(Arc::new(config.expect("they belong together")))
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, page: Arc<String>) {
    let mut buffer = vec![0; 2 << 20];
    let mut filled = 0;
    loop {
        match stream.read(&mut buffer[filled..]).await {
            Ok(read) if read > 0 => filled += read,
            _ => return,
        }
        let end = buffer[..filled.min(4096)].windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end else { continue };
        let head = String::from_utf8_lossy(&buffer[..end]);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().expect("a number"));
        if filled < end + 4 + length {
            continue;
        }
        let body = match () {
            () if buffer[0] == b'P' => b"",
            () if head.contains("list-type=2") => page.as_bytes(),
            () => BODY,
        };
        let trailer = trailer(&buffer[end + 4..filled]);
        let reply = format!("{HEAD}{trailer}content-length: {}\r\n\r\n", body.len());
        let mut reply = reply.into_bytes();
        reply.extend_from_slice(body);
        filled = 0;
        if stream.write_all(&reply).await.is_err() {
            return;
        }
    }
}

/// The checksum behind a body, which an answer repeats.
fn trailer(body: &[u8]) -> String {
    let end = String::from_utf8_lossy(&body[body.len().saturating_sub(100)..]);
    let trailer = end.split_once("\r\n0\r\n").map(|(_, trailer)| trailer.trim_end());
    trailer.map(|line| format!("{line}\r\n")).unwrap_or_default()
}

fn page() -> String {
    let mut page = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         <Name>bucket</Name><Prefix></Prefix><KeyCount>1000</KeyCount><MaxKeys>1000</MaxKeys>\
         <EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>",
    );
    for number in 0..PAGE_KEYS {
        write!(
            page,
            "<Contents><Key>some/folder/of-keys/object-{number:012}.bin</Key>\
             <LastModified>2023-11-14T22:13:20.000Z</LastModified>\
             <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>{}</Size>\
             <StorageClass>STANDARD</StorageClass></Contents>",
            number * 37
        )
        .expect("a string takes it");
    }
    page.push_str("</ListBucketResult>");
    page
}
