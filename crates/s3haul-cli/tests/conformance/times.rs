//! `sync` next to the real `aws` where a server lists milliseconds: what has the same size is
//! decided by times around one second, in all directions and by each rule.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::command::{Finished, Invocation};
use crate::tools;

/// 2024-01-01T12:00:00Z.
const SECOND_S: u64 = 1_704_110_400;
/// Fractions of that second as servers list them: S3, MinIO, and finer than any.
const LISTED: [&str; 8] = [".000", ".001", ".438", ".507", ".999", "", ".507001", ".5070019"];
/// Nanoseconds around each of these that a file may have beside it.
const DISTANCES_NS: [i64; 11] =
    [-1_000_000_000, -1_000_000, -1_000, -499, -120, 0, 1, 120, 501, 999_999, 1_000_000_000];
const RULES: [&[&str]; 3] = [&[], &["--exact-timestamps"], &["--size-only"]];

/// An object and the file of the same name.
struct Pair {
    key: String,
    listed: &'static str,
    file_ns: i64,
}

fn pairs() -> Vec<Pair> {
    let mut pairs = vec![Pair { key: "issue".to_owned(), listed: ".507", file_ns: 438_000_000 }];
    for (at, listed) in LISTED.into_iter().enumerate() {
        let digits = format!("{:0<9}", listed.trim_start_matches('.'));
        let listed_ns: i64 = digits.parse().unwrap();
        for (distance, distance_ns) in DISTANCES_NS.into_iter().enumerate() {
            let key = format!("k{at:02}-{distance:02}");
            pairs.push(Pair { key, listed, file_ns: listed_ns + distance_ns });
        }
        // And each of the others.
        for other_ns in [0, 1_000_000, 438_000_000, 507_000_000, 999_000_000, 999_999_999] {
            pairs.push(Pair {
                key: format!("k{at:02}-at-{other_ns:09}"),
                listed,
                file_ns: other_ns,
            });
        }
    }
    pairs.sort_by(|left, right| left.key.cmp(&right.key));
    pairs
}

/// A server that has nothing but listings: `objects` with the times of the objects, `files` with
/// those of the files, to the millisecond.
fn serve(pairs: &[Pair]) -> SocketAddr {
    let time = |second_s: i64| {
        let time = jiff::Timestamp::from_second(second_s).unwrap();
        time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
    };
    let second_s = i64::try_from(SECOND_S).unwrap();
    let objects: Vec<_> = pairs
        .iter()
        .map(|pair| (pair.key.clone(), format!("{}{}Z", time(second_s), pair.listed)))
        .collect();
    let files: Vec<_> = pairs
        .iter()
        .map(|pair| {
            let whole = time(second_s + pair.file_ns.div_euclid(1_000_000_000));
            let milliseconds = pair.file_ns.rem_euclid(1_000_000_000) / 1_000_000;
            (pair.key.clone(), format!("{whole}.{milliseconds:03}Z"))
        })
        .collect();
    let buckets = Arc::new([("/objects", objects), ("/files", files)]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let buckets = Arc::clone(&buckets);
            std::thread::spawn(move || answer(socket, buckets.as_slice()));
        }
    });
    address
}

type Rows = Vec<(String, String)>;

fn answer(mut socket: TcpStream, buckets: &[(&str, Rows)]) -> Option<()> {
    let mut reader = BufReader::new(socket.try_clone().ok()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
        }
        let target = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
        let (status, body) = match target.and_then(|target| listing(target, buckets)) {
            Some(body) => ("200 OK", body),
            None => ("501 Not Implemented", String::new()),
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}");
        socket.write_all(answer.as_bytes()).ok()?;
    }
}

fn listing(target: &str, buckets: &[(&str, Rows)]) -> Option<String> {
    let (path, query) = target.split_once('?')?;
    let (_, rows) = buckets.iter().find(|(name, _)| path.trim_end_matches('/') == *name)?;
    let after = query.split('&').find_map(|pair| pair.strip_prefix("start-after="));
    let mut xml =
        "<ListBucketResult><KeyCount>1</KeyCount><IsTruncated>false</IsTruncated>".to_owned();
    for (key, time) in rows.iter().filter(|(key, _)| after.is_none_or(|after| key.as_str() > after))
    {
        write!(
            xml,
            "<Contents><Key>{key}</Key><LastModified>{time}</LastModified><ETag>&quot;e&quot;\
             </ETag><Size>1</Size><StorageClass>STANDARD</StorageClass></Contents>"
        )
        .unwrap();
    }
    Some(xml + "</ListBucketResult>")
}

fn run(program: &Path, folder: &Path, address: SocketAddr, args: &[&str]) -> Finished {
    Invocation::new(program, folder)
        .variable("HOME", folder)
        .variable("TZ", "Europe/Berlin")
        .variable("AWS_EC2_METADATA_DISABLED", "true")
        .variable("AWS_DEFAULT_REGION", "us-east-1")
        .variable("AWS_ENDPOINT_URL", format!("http://{address}"))
        .variable("AWS_ACCESS_KEY_ID", "a")
        .variable("AWS_SECRET_ACCESS_KEY", "b")
        .args(args)
        .run()
        .ok()
}

/// One server, all pairs in one folder, each direction with each rule.
pub(crate) fn decisions_are_those_of_aws() {
    let (folder, pairs) = (TempDir::new().unwrap(), pairs());
    std::fs::create_dir(folder.path().join("files")).unwrap();
    for Pair { key, file_ns, .. } in &pairs {
        let file = std::fs::File::create(folder.path().join("files").join(key)).unwrap();
        (&file).write_all(b"x").unwrap();
        let time_ns = SECOND_S.strict_mul(1_000_000_000).strict_add_signed(*file_ns);
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(time_ns)).unwrap();
    }
    let address = serve(&pairs);
    let aws = tools::path("S3HAUL_TEST_AWS");
    for sides in
        [["files", "s3://objects"], ["s3://objects", "files"], ["s3://files", "s3://objects"]]
    {
        for rule in RULES {
            let args = [&["s3", "sync", "--dryrun"], &sides[..], rule].concat();
            let ours = run(&tools::subject(), folder.path(), address, &args).lines();
            let of_issue = ours.iter().filter(|line| line.contains("issue")).count();
            let is_exact_download = sides[1] == "files" && rule == ["--exact-timestamps"];
            assert_eq!(of_issue, usize::from(is_exact_download), "{args:?}");
            if let Some(aws) = &aws {
                let theirs = run(aws, folder.path(), address, &args).lines();
                assert_eq!(ours, theirs, "{args:?}");
            }
        }
    }
}
