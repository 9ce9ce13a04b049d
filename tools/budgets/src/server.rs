//! Canned answers to PUT, GET and LIST.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::{BODY, BODY_BYTES};

/// Keys of a page.
pub(crate) const PAGE_KEYS: usize = 1_000;
const HEAD: &str = "HTTP/1.1 200 OK\r\nx-amz-request-id: 0123456789ABCDEF\r\n\
                    last-modified: Tue, 14 Nov 2023 23:13:20 GMT\r\netag: \"0123\"\r\n";

/// Serves until it is killed.
pub(crate) async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    writeln!(std::io::stdout(), "{address}").expect("the parent listens");
    let page = Arc::new(page());
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).expect("a socket");
        connections.spawn(answer(stream, Arc::clone(&page)));
    }
}

async fn answer(mut stream: TcpStream, page: Arc<String>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut filled = 0;
    loop {
        match stream.read(&mut buffer[filled..]).await {
            Ok(read) if read > 0 => filled += read,
            _ => return,
        }
        let Some(end) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let is_put = buffer[0] == b'P';
        if is_put && filled < end + 4 + BODY_BYTES {
            continue;
        }
        let head = String::from_utf8_lossy(&buffer[..end]);
        let body = match () {
            () if is_put => b"",
            () if head.contains("list-type=2") => page.as_bytes(),
            () => BODY,
        };
        let mut reply = format!("{HEAD}content-length: {}\r\n\r\n", body.len()).into_bytes();
        reply.extend_from_slice(body);
        filled = 0;
        if stream.write_all(&reply).await.is_err() {
            return;
        }
    }
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
