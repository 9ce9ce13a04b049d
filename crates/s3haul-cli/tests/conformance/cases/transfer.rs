//! Bytes arrive as they left: sizes around the limits, parts, streams, moves, presigned URLs.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::harness::{Case, Ctx, cases};
use crate::trees::{self, MIB};

cases!["transfer":
    sizes_around_the_threshold,
    many_files,
    part_sizes,
    tight_settings,
    standard_input,
    standard_output,
    moves,
    move_trees,
    no_overwrite,
    replacing_a_file,
    modification_time,
    presigned_url,
    wildcards,
    content_types,
    head_shows_the_object,
];

/// Cases that moto takes part in: its answers are those that tests of others meet.
pub(crate) const MOTO: &[Case] = &[Case { name: "transfer::presigned_url", run: presigned_url }];

fn sizes_around_the_threshold(ctx: &Ctx<'_>) {
    let sizes = [0, 1, 4095, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1];
    for (seed, size) in (1..).zip(sizes) {
        ctx.file(&format!("up/{size}"), &trees::bytes(seed, size));
    }
    ctx.haul(&["cp", "--recursive", "up", &ctx.url("t")]).ok();
    for size in sizes {
        let head = ctx.remote.head(&format!("t/{size}"));
        assert_eq!(head.size, size as u64);
        let multipart = head.etag.trim_matches('"').contains('-');
        assert_eq!(multipart, size >= 8 * MIB, "ETag {} of {size} bytes", head.etag);
        let name = format!("single/{size}");
        ctx.haul(&["cp", &ctx.url(&format!("t/{size}")), &name]).ok();
    }
    ctx.haul(&["cp", "--recursive", &ctx.url("t"), "down"]).ok();
    let expected = trees::read(&ctx.path("up"));
    trees::assert_same(&trees::read(&ctx.path("down")), &expected);
    trees::assert_same(&trees::read(&ctx.path("single")), &expected);
}

/// More files than anything in flight, in folders, with sizes that mix batches and parts.
fn many_files(ctx: &Ctx<'_>) {
    for number in 0..1_200 {
        let size = match number % 50 {
            0 => 0,
            1 => 300_000,
            _ => number * 7,
        };
        let name = format!("up/{:02}/{}/f{number}", number % 13, number % 3);
        ctx.file(&name, &trees::bytes(number as u64 + 1, size));
    }
    let expected = trees::read(&ctx.path("up"));
    let up = ctx.haul(&["cp", "--recursive", "up", &ctx.url("t")]).ok();
    assert_eq!(up.lines().len(), 1_200);
    ctx.haul(&["cp", "--recursive", &ctx.url("t"), &ctx.url("u"), "--quiet"]).ok();
    let down = ctx.haul(&["mv", "--recursive", &ctx.url("u"), "down"]).ok();
    assert_eq!(down.lines().len(), 1_200);
    trees::assert_same(&trees::read(&ctx.path("down")), &expected);
    assert_eq!(ctx.remote.keys().len(), 1_200, "all of the copy is gone, all of the first there");
}

fn part_sizes(ctx: &Ctx<'_>) {
    let size = 40 * MIB - 3;
    let bytes = trees::bytes(40, size);
    ctx.file("big", &bytes);
    let settings = [
        ("multipart_chunksize=5MB", Some(8)),
        ("multipart_chunksize=16MB max_concurrent_requests=1", Some(3)),
        ("multipart_threshold=64MB", None),
    ];
    for (number, (setting, parts)) in settings.iter().enumerate() {
        let (key, file) = (format!("k{number}"), format!("back{number}"));
        ctx.haul_configured(setting, &["cp", "big", &ctx.url(&key)]).ok();
        let etag = ctx.remote.head(&key).etag;
        let told = etag.trim_matches('"').split_once('-').map(|(_, n)| n.parse().unwrap());
        assert_eq!(told, *parts, "parts in ETag {etag} with {setting}");
        assert!(ctx.remote.get(&key) == bytes, "stored bytes differ with {setting}");
        ctx.haul_configured(setting, &["cp", &ctx.url(&key), &file]).ok();
        assert!(std::fs::read(ctx.path(&file)).unwrap() == bytes, "differs with {setting}");
        assert_eq!(ctx.remote.uploads(&key), [""; 0]);
    }
}

/// One request at a time, a queue of one, and parts larger than anything: nothing may wait forever.
fn tight_settings(ctx: &Ctx<'_>) {
    for number in 0..40 {
        let size = if number % 13 == 0 { 11 * MIB } else { number * 100 };
        ctx.file(&format!("up/{number:02}"), &trees::bytes(number as u64 + 1, size));
    }
    let expected = trees::read(&ctx.path("up"));
    let settings = [
        "max_concurrent_requests=1 max_queue_size=1 multipart_chunksize=5MB",
        "multipart_chunksize=1GB multipart_threshold=5MB",
    ];
    for setting in settings {
        let (a, b) = (ctx.url("a"), ctx.url("b"));
        for args in [["up", &a], [&a, &b], [&b, "down"]] {
            let args = ["mv", "--recursive", args[0], args[1], "--quiet"];
            ctx.haul_configured(setting, &args).ok();
        }
        trees::assert_same(&trees::read(&ctx.path("down")), &expected);
        std::fs::rename(ctx.path("down"), ctx.path("up")).unwrap();
    }
}

fn standard_input(ctx: &Ctx<'_>) {
    for (seed, size) in [(1, 0), (2, 11), (3, 8 * MIB), (4, 20 * MIB + 5)] {
        let bytes = trees::bytes(seed, size);
        let key = format!("k{size}");
        ctx.haul_with(&["cp", "-", &ctx.url(&key)]).stdin(&bytes).run().ok();
        assert!(ctx.remote.get(&key) == bytes, "cp - of {size} bytes");
    }
    let bytes = trees::bytes(5, 9 * MIB);
    ctx.haul_with(&["pipe", &ctx.url("piped")]).stdin(&bytes).run().ok();
    assert!(ctx.remote.get("piped") == bytes, "pipe");
    let sized = ["cp", "-", &ctx.url("sized"), "--expected-size", "11"];
    ctx.haul_with(&sized).stdin(b"hello world").run().ok();
    assert_eq!(ctx.remote.get("sized"), b"hello world");
}

fn standard_output(ctx: &Ctx<'_>) {
    for (seed, size) in [(1, 0), (2, 11), (3, 20 * MIB + 5)] {
        let bytes = trees::bytes(seed, size);
        let key = format!("k{size}");
        ctx.remote.put(&key, &bytes);
        assert!(ctx.haul(&["cp", &ctx.url(&key), "-"]).ok().stdout == bytes, "cp - of {size}");
        assert!(ctx.haul(&["cat", &ctx.url(&key)]).ok().stdout == bytes, "cat of {size}");
    }
    let failed = ctx.haul(&["cat", &ctx.url("missing")]).code_in(&[1, 254]);
    assert!(failed.stdout.is_empty() && !failed.stderr.is_empty());
}

fn moves(ctx: &Ctx<'_>) {
    ctx.file("f", b"bytes");
    let (a, b) = (ctx.url("a"), ctx.url("b"));
    ctx.haul(&["mv", "f", &a]).ok().prints(&[format!("move: ./f to {a}")]);
    assert!(!ctx.path("f").exists());
    assert_eq!(ctx.remote.get("a"), b"bytes");
    ctx.haul(&["mv", &a, &b]).ok().prints(&[format!("move: {a} to {b}")]);
    assert_eq!(ctx.remote.keys(), ["b"]);
    ctx.haul(&["mv", &b, "g"]).ok().prints(&[format!("move: {b} to ./g")]);
    assert_eq!(ctx.remote.keys(), [""; 0]);
    assert_eq!(std::fs::read(ctx.path("g")).unwrap(), b"bytes");
}

fn move_trees(ctx: &Ctx<'_>) {
    for (name, size) in [("x", 3), ("s/y", 0), ("s/z", 9 * MIB)] {
        ctx.file(&format!("t/{name}"), &trees::bytes(size as u64 + 1, size));
    }
    let expected = trees::read(&ctx.path("t"));
    ctx.haul(&["mv", "--recursive", "t", &ctx.url("p"), "--exclude", "none"]).ok();
    assert!(trees::names(&ctx.path("t")).is_empty());
    ctx.haul(&["mv", "--recursive", &ctx.url("p"), &ctx.url("q")]).ok();
    assert_eq!(ctx.remote.keys(), ["q/s/y", "q/s/z", "q/x"]);
    ctx.haul(&["mv", "--recursive", &ctx.url("q"), "back"]).ok();
    assert_eq!(ctx.remote.keys(), [""; 0]);
    trees::assert_same(&trees::read(&ctx.path("back")), &expected);
}

fn no_overwrite(ctx: &Ctx<'_>) {
    ctx.file("t/old", b"new bytes");
    ctx.file("t/new", b"new bytes");
    ctx.remote.put("old", b"old");
    ctx.haul(&["cp", "--recursive", "--no-overwrite", "t", &ctx.url("")]).ok();
    assert_eq!(ctx.remote.get("old"), b"old");
    assert_eq!(ctx.remote.get("new"), b"new bytes");
    ctx.remote.put("other", b"from far");
    ctx.haul(&["cp", "--recursive", "--no-overwrite", &ctx.url(""), "t"]).ok();
    assert_eq!(std::fs::read(ctx.path("t/old")).unwrap(), b"new bytes");
    assert_eq!(std::fs::read(ctx.path("t/other")).unwrap(), b"from far");
    ctx.haul(&["mv", "--no-overwrite", "t/old", &ctx.url("old")]).ok();
    assert!(ctx.path("t/old").exists(), "a file that was not moved must stay");
}

fn replacing_a_file(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"short");
    ctx.file("f", &trees::bytes(1, 100_000));
    ctx.haul(&["cp", &ctx.url("k"), "f"]).ok();
    assert_eq!(std::fs::read(ctx.path("f")).unwrap(), b"short");
    ctx.remote.put("empty", b"");
    ctx.haul(&["cp", &ctx.url("empty"), "f"]).ok();
    assert_eq!(std::fs::read(ctx.path("f")).unwrap(), b"");
}

fn modification_time(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"1");
    let told = ctx.remote.head("k").last_modified_s;
    ctx.haul(&["cp", &ctx.url("k"), "f"]).ok();
    let modified = std::fs::metadata(ctx.path("f")).unwrap().modified().unwrap();
    let modified = modified.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(i64::try_from(modified).unwrap(), told);
}

fn presigned_url(ctx: &Ctx<'_>) {
    let key = "folder/a b+c%&é.txt";
    ctx.remote.put(key, b"signed bytes");
    let args = ["presign", &ctx.url(key), "--expires-in", "60"];
    let url = ctx.haul(&args).ok().out().trim_end().to_owned();
    if ctx.server.authority().is_some() {
        return ctx.skip("the plain reader of URLs speaks no TLS");
    }
    let (status, body) = fetch(&url);
    assert_eq!((status, body.as_slice()), (200, b"signed bytes".as_slice()), "{url}");
    let broken = url.replace("X-Amz-Expires=60", "X-Amz-Expires=61");
    assert_ne!(broken, url);
    if ctx.can(ctx.server.features.signatures, "signatures") {
        assert_eq!(fetch(&broken).0, 403);
    }
    presigned_put(ctx);
    ctx.haul(&["presign", &ctx.url("k"), "--expires-in", "604801"]).code_in(&[252, 255]);
}

/// A URL for writing an object, with the headers that it demands.
fn presigned_put(ctx: &Ctx<'_>) {
    let address = ctx.url("written/a b.txt");
    let args = ["presign", &address, "--method", "PUT", "--content-type", "text/x-a"];
    let args = [&args[..], &["--metadata", "m=one  two"]].concat();
    let url = ctx.haul(&args).ok().out().trim_end().to_owned();
    let json = ctx.haul(&[&args[..], &["--json"]].concat()).ok().out();
    let line: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(line["method"], "PUT");
    let headers = line["headers"].as_object().unwrap();
    let names: Vec<_> = headers.keys().map(String::as_str).collect();
    assert_eq!(names, ["content-type", "x-amz-meta-m"]);
    let lines: Vec<_> =
        headers.iter().map(|(k, v)| format!("{k}: {}\r\n", v.as_str().unwrap())).collect();
    let headers = lines.concat();
    let (status, body) = request("PUT", &url, &headers, b"put here");
    assert_eq!(status, 200, "{url}: {}", String::from_utf8_lossy(&body));
    let head = ctx.remote.head("written/a b.txt").properties;
    assert_eq!(head.content_type.as_deref(), Some("text/x-a"));
    assert_eq!(ctx.remote.get("written/a b.txt"), b"put here");
    if ctx.can(ctx.server.features.signatures, "signatures") {
        // MinIO answers 400 where a header is missing that was signed.
        let other = request("PUT", &url, "content-type: text/html\r\n", b"other").0;
        assert!(matches!(other, 400 | 403), "{other}");
        assert_eq!(request("GET", &url, &headers, b"").0, 403, "it is for writing");
        assert_eq!(ctx.remote.get("written/a b.txt"), b"put here");
    }
    ctx.haul(&["presign", &address, "--content-type", "x/y"]).code(252).says("--method PUT");
}

/// GETs a URL.
fn fetch(url: &str) -> (u16, Vec<u8>) {
    request("GET", url, "", b"")
}

/// Sends a request in the plainest way there is.
fn request(method: &str, url: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(&[request.as_bytes(), body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
    (status, answer[end + 4..].to_vec())
}

fn wildcards(ctx: &Ctx<'_>) {
    for key in ["logs/a.gz", "logs/b.gz", "logs/c.txt", "logs/deep/d.gz", "other/e.gz", "x*y"] {
        ctx.remote.put(key, key.as_bytes());
    }
    ctx.haul(&["cp", &ctx.url("logs/*.gz"), "got/"]).ok();
    let names = trees::names(&ctx.path("got"));
    assert!(names.contains(&"a.gz".to_owned()) && names.contains(&"b.gz".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.ends_with("c.txt") || name.ends_with("e.gz")));
    ctx.haul(&["cp", "--raw", &ctx.url("x*y"), "raw"]).ok();
    assert_eq!(std::fs::read(ctx.path("raw")).unwrap(), b"x*y");
    ctx.haul(&["rm", &ctx.url("logs/?.gz")]).ok();
    assert_eq!(ctx.remote.keys(), ["logs/c.txt", "logs/deep/d.gz", "other/e.gz", "x*y"]);
    ctx.haul(&["rm", "--raw", &ctx.url("logs/*")]).ok();
    assert_eq!(ctx.remote.keys().len(), 4);
}

fn content_types(ctx: &Ctx<'_>) {
    let types = [("a.txt", "text/plain"), ("b.html", "text/html"), ("c.json", "application/json")];
    for (name, _) in types {
        ctx.file(&format!("t/{name}"), b"1");
    }
    ctx.haul(&["cp", "--recursive", "t", &ctx.url("guess")]).ok();
    ctx.haul(&["cp", "--recursive", "--no-guess-mime-type", "t", &ctx.url("plain")]).ok();
    for (name, expected) in types {
        let guessed = ctx.remote.head(&format!("guess/{name}")).properties.content_type;
        assert_eq!(guessed.as_deref(), Some(expected));
        let plain = ctx.remote.head(&format!("plain/{name}")).properties.content_type;
        assert_ne!(plain.as_deref(), Some(expected));
    }
}

fn head_shows_the_object(ctx: &Ctx<'_>) {
    ctx.remote.put("k", b"12345");
    let told = ctx.haul(&["head", &ctx.url("k")]).ok().out();
    let etag = ctx.remote.head("k").etag;
    assert!(told.contains('5') && told.contains(etag.trim_matches('"')), "{told}");
    ctx.haul(&["head", &ctx.url("missing")]).code_in(&[1, 254]);
}
