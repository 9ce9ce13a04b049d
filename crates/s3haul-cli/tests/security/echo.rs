//! A server that refuses everything and repeats the whole request in its refusal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// How the server answers.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// Status line after the version.
    pub(crate) status: &'static str,
    /// S3's code.
    pub(crate) code: &'static str,
    /// Instead of what was sent.
    pub(crate) message: Option<String>,
}

/// The refusal of a signature, as S3 has it, with everything in it.
pub(crate) const WRONG_SIGNATURE: Refusal =
    Refusal { status: "403 Forbidden", code: "SignatureDoesNotMatch", message: None };

/// Starts one; it serves until the test's process ends.
pub(crate) fn start(refusal: Refusal) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let refusal = refusal.clone();
            std::thread::spawn(move || answer(socket, &refusal));
        }
    });
    address
}

fn answer(socket: TcpStream, refusal: &Refusal) -> Option<()> {
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    let mut socket = socket;
    loop {
        let head = head(&mut reader)?;
        let length = value(&head, "content-length").and_then(|text| text.parse().ok());
        std::io::copy(&mut (&mut reader).take(length.unwrap_or(0)), &mut std::io::sink()).ok()?;
        let told = refusal.message.clone().unwrap_or_else(|| head.join("\n"));
        let told = told.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let authorization = value(&head, "authorization").unwrap_or_default();
        let body = format!(
            "<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>{told}</Message>\
             <StringToSign>{told}</StringToSign><CanonicalRequest>{told}</CanonicalRequest>\
             <SignatureProvided>{authorization}</SignatureProvided>\
             <RequestId>{authorization}</RequestId></Error>",
            refusal.code
        );
        let is_head = head[0].starts_with("HEAD ");
        let answer = format!(
            "HTTP/1.1 {}\r\nx-amz-request-id: {authorization}\r\nx-amz-id-2: {authorization}\r\n\
             content-type: application/xml\r\ncontent-length: {}\r\n\r\n{}",
            refusal.status,
            if is_head { 0 } else { body.len() },
            if is_head { "" } else { &body },
        );
        socket.write_all(answer.as_bytes()).ok()?;
    }
}

fn head(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line == "\r\n" {
            return Some(lines);
        }
        lines.push(line.trim_end().to_owned());
    }
}

fn value<'h>(head: &'h [String], name: &str) -> Option<&'h str> {
    head.iter().find_map(|line| {
        let (known, value) = line.split_once(':')?;
        known.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}
