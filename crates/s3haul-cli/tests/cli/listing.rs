//! `list` and `ls`: every format is read back, and what goes wrong leaves nothing behind.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

use crate::support::{self, Bench, stdout};

/// Keys that break tables, lines and terminals; also names of files.
const ODD: [&str; 16] = [
    "a b",
    "a,b",
    "a\"b",
    "a\nb",
    "a\r\nb",
    "a\tb",
    "a\\tb",
    "a\\",
    "c\u{1b}[2Jd",
    "c\u{7f}\u{85}",
    "dir/中文",
    "dir/😀",
    "l\u{2028}m",
    "null",
    "{\"json\":1}",
    "\u{feff}bom",
];

fn odd() -> Bench {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    for key in ODD {
        bench.file(&format!("t/{key}"), key);
    }
    bench.ok("cp --recursive --quiet t s3://box");
    bench
}

fn sorted(mut keys: Vec<String>) -> Vec<String> {
    keys.sort();
    keys
}

fn odd_keys() -> Vec<String> {
    sorted(ODD.map(str::to_owned).to_vec())
}

/// Rows of a CSV file, read by the rules of RFC 4180 alone.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                while let Some(character) = characters.next() {
                    if character == '"' && characters.next_if_eq(&'"').is_none() {
                        break;
                    }
                    cell.push(character);
                }
            }
            ',' => row.push(std::mem::take(&mut cell)),
            '\r' => {
                assert_eq!(characters.next(), Some('\n'), "{text:?}");
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            character => cell.push(character),
        }
    }
    assert!(row.is_empty() && cell.is_empty(), "{text:?}");
    rows
}

fn unescape(cell: &str) -> String {
    let mut text = String::new();
    let mut characters = cell.chars();
    while let Some(character) = characters.next() {
        text.push(match (character, character == '\\') {
            (_, true) => match characters.next().unwrap() {
                't' => '\t',
                'n' => '\n',
                'r' => '\r',
                other => other,
            },
            (character, _) => character,
        });
    }
    text
}

#[test]
fn odd_keys_are_read_back_from_every_format() {
    let bench = odd();
    let rows = read_csv(&bench.ok("list s3://box --format csv --fields size,key,bucket"));
    assert_eq!(rows[0], ["size", "key", "bucket"]);
    for row in &rows[1..] {
        assert_eq!((&row[0], row[2].as_str()), (&row[1].len().to_string(), "box"));
    }
    assert_eq!(sorted(rows[1..].iter().map(|row| row[1].clone()).collect()), odd_keys());

    let text = bench.ok("list s3://box --format tsv --no-header");
    let rows: Vec<Vec<String>> =
        text.split_terminator('\n').map(|line| line.split('\t').map(unescape).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 5 && row[2].len() == 20 && row[3].len() == 32));
    assert_eq!(sorted(rows.into_iter().map(|mut row| row.swap_remove(0)).collect()), odd_keys());

    let keys = bench.ok("list s3://box --format keys");
    let key = |line: &str| {
        let address = serde_json::from_str(line).unwrap_or_else(|_| line.to_owned());
        address.strip_prefix("s3://box/").unwrap_or(&address).to_owned()
    };
    assert_eq!(sorted(keys.split_terminator('\n').map(key).collect()), odd_keys());

    let text = bench.ok("list s3://box --format jsonl");
    assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{2028}'), "{text}");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().all(|row| row["size"] == row["key"].as_str().unwrap().len()));
    let keys = rows.iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sorted(keys), odd_keys());

    let output = bench.run("list s3://box --format parquet --sort");
    assert!(output.status.success(), "{output:?}");
    let reader = SerializedFileReader::new(Bytes::from(output.stdout)).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let keys: Vec<&String> = rows.iter().map(|row| row.get_string(0).unwrap()).collect();
    assert!(keys.iter().zip(odd_keys()).all(|(key, odd)| **key == odd) && keys.len() == ODD.len());
    assert!(
        rows.iter().zip(&keys).all(|(row, key)| row.get_long(1).ok() == key.len().try_into().ok())
    );
    assert!(rows.iter().all(|row| row.get_timestamp_millis(2).unwrap() > 1_700_000_000_000));
}

#[test]
fn a_pattern_lists_what_lies_below_with_recursive() {
    let bench = Bench::with_objects(&["2024", "2024/a", "2025/b/c", "other/2024/d"]);
    let keys = |args: &str| -> Vec<String> {
        let key = |line: &String| line.rsplit(' ').next().unwrap().to_owned();
        bench.lines(args).iter().map(key).collect()
    };
    assert_eq!(keys("ls s3://box/202?"), ["2024"]);
    assert_eq!(keys("ls --recursive s3://box/202?"), ["2024", "2024/a", "2025/b/c"]);
    assert_eq!(keys("ls --recursive s3://box/202?/"), ["2024/a", "2025/b/c"]);
    let refused = bench.run("versions --recursive s3://box/202?");
    assert_eq!(refused.status.code(), Some(252), "{refused:?}");
    assert!(support::stderr(&refused).contains("end the pattern with `*`"), "{refused:?}");
}

#[test]
fn a_listing_is_that_of_ls_in_its_order_or_any() {
    let bench = odd();
    let ls = bench.ok("ls --recursive --summarize --human-readable s3://box");
    assert_eq!(bench.ok("list --sort --summarize --human-readable s3://box"), ls);
    assert_eq!(bench.ok("list --sort --serial --page-size 3 box --summarize --human-r"), ls);
    let lines = |text: &str| sorted(text.lines().map(str::to_owned).collect());
    let any = bench.ok("list --summarize --human-readable s3://box --concurrency 3 --page-size 2");
    assert_eq!(lines(&any), lines(&ls));
    let events = bench.ok("ls --recursive --summarize --json s3://box");
    assert_eq!(bench.ok("list --sort --summarize --json s3://box"), events);
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!((&last["event"], &last["objects"]), (&"listing_summary".into(), &ODD.len().into()));
    let table = bench.run("list --summarize --format csv s3://box");
    assert!(support::stderr(&table).starts_with("Total Objects: 16\n"), "{table:?}");
}

#[test]
fn addresses_ranges_and_patterns_choose_keys() {
    let bench = Bench::with_objects(&["a/1.gz", "a/2.gz", "a/3.txt", "b", "c*", "cc"]);
    let keys = |args: &str| bench.ok(&format!("list --sort --format keys {args}"));
    assert_eq!(keys("s3://box/a/"), "a/1.gz\na/2.gz\na/3.txt\n");
    assert_eq!(keys("box/a*.gz"), "a/1.gz\na/2.gz\n");
    assert_eq!(keys("s3://box/c* --raw"), "c*\n");
    assert_eq!(keys("s3://box --start-after a/1.gz --stop-at b"), "a/2.gz\na/3.txt\nb\n");
    assert_eq!(keys("s3://box --exclude * --include a/*.gz --exclude a/2*"), "a/1.gz\n");
    assert_eq!(keys("s3://box/a/ --exclude *.gz"), "a/3.txt\n", "patterns start at the last slash");
    assert_eq!(keys("s3://box/b* --stop-at b --page-size 1"), "b\n");
    let mut empty = bench.command("list s3://box/b --format keys");
    let output = empty.args(["--stop-at", ""]).output().unwrap();
    assert_eq!(stdout(&output), "b\n", "as without the flag");
}

#[test]
fn pages_up_to_a_slash_are_those_of_aws() {
    let mut keys: Vec<String> = (0..30).map(|n| format!("d{n:02}/x")).collect();
    keys.extend((0..30).map(|n| format!("d{n:02}")));
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let bench = Bench::with_objects(&keys);
    let lines = bench.lines("ls s3://box --page-size 4");
    let names: Vec<&str> = lines.iter().map(|line| line.split(' ').next_back().unwrap()).collect();
    assert_eq!(names[..8], ["d00/", "d01/", "d00", "d01", "d02/", "d03/", "d02", "d03"]);
    assert_eq!(names.len(), 60);
    let whole = bench.lines("ls s3://box");
    assert!(whole[..30].iter().all(|line| line.ends_with('/')), "{whole:?}");
}

#[test]
fn exit_codes_and_refusals() {
    let bench = Bench::with_objects(&["k"]);
    bench.file("file", "");
    for (args, status) in [
        ("list s3://box/none", 1),
        ("list s3://box/n*", 1),
        ("list s3://box --start-after z", 0),
        ("list s3://nobox", 254),
        ("list s3://", 252),
        ("list", 252),
        ("list s3://box --filter js:true", 252),
        ("list s3://box --format xml", 252),
        ("list s3://box --format csv --fields key,nope", 252),
        ("list s3://box --format csv --fields key,key", 252),
        ("list s3://box --format csv --fields version_id", 252),
        ("list s3://box --fields key", 252),
        ("list s3://box --format csv --human-readable", 252),
        ("list s3://box --json --format csv", 252),
        ("list s3://box --serial --concurrency 4", 252),
        ("list s3://box --output-file file/out", 255),
        ("list s3://box --output-file file", 0),
    ] {
        let output = bench.run(args);
        assert_eq!(output.status.code(), Some(status), "{args}: {output:?}");
    }
}

#[test]
fn a_file_is_there_only_when_it_is_whole() {
    let bench = Bench::with_objects(&["k", "l"]);
    for format in ["csv", "parquet", "text"] {
        bench.file("out", "before");
        let server = broken_server();
        let args = format!("list s3://box --format {format} --output-file out");
        let mut command = bench.command(&args);
        let output = command.env("AWS_ENDPOINT_URL", server).output().unwrap();
        assert_eq!(output.status.code(), Some(254), "{output:?}");
        assert!(support::stderr(&output).contains("AccessDenied"), "{output:?}");
        assert_eq!(bench.read("out"), "before", "{format}");
        assert_eq!(bench.names(), ["out"], "nothing else is left: {format}");
    }
    assert_eq!(bench.ok("list s3://box --sort --format keys --output-file out"), "");
    assert_eq!(bench.read("out"), "k\nl\n");
}

#[test]
fn rows_before_an_error_are_printed() {
    let bench = Bench::new();
    let mut command = bench.command("list --serial s3://box --format keys");
    let output = command.env("AWS_ENDPOINT_URL", broken_server()).output().unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(254), "first\n"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_listing_leaves_no_file() {
    let bench = Bench::new();
    let (url, _silent) = silent_server();
    let mut command = bench.command("list s3://box --output-file out");
    let child = command.env("AWS_ENDPOINT_URL", url).spawn().unwrap();
    while bench.names().is_empty() {
        std::thread::yield_now();
    }
    support::send("-INT", &child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(bench.names().is_empty(), "{:?}", bench.names());
}

/// A server that takes connections and never answers.
fn silent_server() -> (String, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    (format!("http://{}", listener.local_addr().unwrap()), listener)
}

/// A server that gives one page of a listing and then refuses.
fn broken_server() -> String {
    server(|request| {
        let is_first = !request.contains("start-after") && !request.contains("continuation-token");
        if is_first { ("200 OK", page("first", true)) } else { ("403 Forbidden", refusal()) }
    })
}

/// A server that gives each request what a function says.
pub(crate) fn server(reply: fn(&str) -> (&'static str, String)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || while answer(stream.as_ref().unwrap(), reply).is_some() {});
        }
    });
    url
}

fn answer(mut stream: &TcpStream, reply: fn(&str) -> (&'static str, String)) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next()?.ok()?;
    while !lines.next()?.ok()?.is_empty() {}
    let (status, body) = reply(&request);
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}

pub(crate) fn refusal() -> String {
    "<Error><Code>AccessDenied</Code><Message>no</Message></Error>".to_owned()
}

/// A page with these keys, separated by blanks.
pub(crate) fn page(keys: &str, is_truncated: bool) -> String {
    let entry = |key| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>\
             <ETag>&quot;e&quot;</ETag><Size>1</Size></Contents>"
        )
    };
    let entries: String = keys.split_whitespace().map(entry).collect();
    let token = "<NextContinuationToken>next</NextContinuationToken>";
    let token = if is_truncated { token } else { "" };
    format!(
        "<ListBucketResult><Name>box</Name><Prefix/><MaxKeys>1000</MaxKeys>\
         <EncodingType>url</EncodingType><KeyCount>1</KeyCount>\
         <IsTruncated>{is_truncated}</IsTruncated>{token}{entries}</ListBucketResult>"
    )
}

#[test]
fn a_server_without_the_order_of_keys_causes_a_warning() {
    let server = server(|request| {
        let is_first = !request.contains("start-after");
        ("200 OK", page(if is_first { "b a c" } else { "" }, false))
    });
    let bench = Bench::new();
    for (args, warns) in [("list --format keys", "warning: "), ("ls --recursive", "")] {
        let mut command = bench.command(&format!("{args} s3://box"));
        let output = command.env("AWS_ENDPOINT_URL", &server).output().unwrap();
        let keys: Vec<String> = stdout(&output)
            .lines()
            .map(|line| line.split(' ').next_back().unwrap().to_owned())
            .collect();
        let messages = support::stderr(&output);
        let found = (output.status.code(), sorted(keys).join(" "));
        assert_eq!(found, (Some(0), "a b c".to_owned()), "{messages}");
        assert!(
            messages.starts_with(warns) && messages.is_empty() == warns.is_empty(),
            "{messages}"
        );
    }
}

#[test]
fn keys_beside_the_prefix_are_refused() {
    let server = server(|_| ("200 OK", page("a b", false)));
    let bench = Bench::new();
    for args in ["list --format keys", "ls --recursive", "rm --recursive --dryrun"] {
        let mut command = bench.command(&format!("{args} s3://box/a"));
        let output = command.env("AWS_ENDPOINT_URL", &server).output().unwrap();
        assert!(!output.status.success() && stdout(&output).is_empty(), "{args}: {output:?}");
        assert!(
            support::stderr(&output).contains("not start with the prefix"),
            "{args}: {output:?}"
        );
    }
}

#[test]
fn a_reader_that_goes_away_ends_a_listing_quietly() {
    let bench = Bench::synthetic("seq:100000");
    for format in ["text", "jsonl", "csv", "parquet"] {
        let mut child = bench.spawn(&format!("list s3://synthetic --format {format}"));
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{format}: {output:?}");
        assert_eq!(support::stderr(&output), "", "{format}");
    }
}

#[test]
fn many_pages_are_all_there_once_in_any_order_and_in_order() {
    let bench = Bench::synthetic("dates:20000");
    let serial = bench.ok("list --serial --format keys s3://synthetic");
    let keys: Vec<&str> = serial.lines().collect();
    assert_eq!(keys.len(), 20_000);
    assert!(keys.is_sorted());
    assert_eq!(bench.ok("list --sort --format keys s3://synthetic"), serial);
    let mut any: Vec<String> = bench.lines("list --format keys --page-size 100 s3://synthetic");
    any.sort();
    assert_eq!(any, keys);
    let names = bench.ok("ls --recursive s3://synthetic");
    assert!(names.lines().zip(&keys).all(|(line, key)| line.ends_with(key)));
}

/// Requests of a listing, by its metrics.
fn list_requests(bench: &Bench, args: &str) -> (String, u64) {
    let printed = bench.ok(&format!("{args} --metrics-file m.prom"));
    (printed, counted(bench))
}

fn counted(bench: &Bench) -> u64 {
    let text = bench.read("m.prom");
    let listed = r#"s3haul_requests_total{operation="ListObjectsV2",status="200"} "#;
    let count = text.lines().find_map(|line| line.strip_prefix(listed)).unwrap();
    count.parse().unwrap()
}

fn hints(bench: &Bench) -> Vec<std::path::PathBuf> {
    let folder = bench.path(".cache/s3haul/listings");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// How far the walk is when the first page comes is up to the machine; what is listed is not.
#[test]
fn a_folder_says_where_to_cut_the_listing_of_its_copy() {
    let bench = Bench::with_objects(&[]);
    for number in 0..2_500 {
        bench.file(&format!("up/{:02}/{number}", number % 40), "x");
    }
    bench.ok("sync up s3://box/copy --quiet");
    for (from, to) in [("up", "s3://box/copy"), ("s3://box/copy", "up")] {
        let output = bench.run(&format!("sync {from} {to} --debug --size-only --delete"));
        assert_eq!((output.status.code(), support::stdout(&output).as_str()), (Some(0), ""));
        let log = support::stderr(&output);
        assert!(log.contains("boundaries of the folder's names"), "{log}");
        bench.file("up/one more", "x");
        bench.ok("sync up s3://box/copy --quiet");
    }
    assert_eq!(bench.run("compare up s3://box/copy").status.code(), Some(0));
}

#[test]
fn what_a_listing_finds_out_is_of_use_to_the_next_of_any_command() {
    const PAGES: u64 = 200;
    let bench = Bench::synthetic("uuid:200000");
    let list = "list s3://synthetic --format keys --max-concurrent-requests 64";
    let (all, first) = list_requests(&bench, &format!("{list} --no-hints"));
    assert_eq!(hints(&bench).len(), 0);
    assert!(first > PAGES * 103 / 100, "{first} requests: it has nothing to gain");
    list_requests(&bench, list);
    let [file] = &hints(&bench)[..] else { panic!("one file: {:?}", hints(&bench)) };
    let bytes = std::fs::metadata(file).unwrap().len();
    assert!(bytes < 100 * 1024, "{bytes} bytes");
    let is_known = |args: &str, bar: u64| {
        let (printed, count) = list_requests(&bench, args);
        assert!(count <= PAGES * bar / 100, "{args}: {count} requests");
        printed
    };
    let sorted = |printed: String| {
        let mut lines: Vec<_> = printed.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let all = sorted(all);
    assert!(sorted(is_known(list, 110)) == all);
    is_known("summarize s3://synthetic --max-concurrent-requests 64", 110);
    is_known("ls --recursive s3://synthetic --max-concurrent-requests 64", 115);
    is_known("compare s3://synthetic s3://synthetic --max-concurrent-requests 256", 2 * 115);
    // A target uses the boundaries of its source, here on a service that was never listed.
    let copy = Bench::synthetic("uuid:200000");
    let target = copy.variable("AWS_ENDPOINT_URL");
    let compare = "compare s3://synthetic s3://synthetic --debug";
    let output = bench.run(&format!("{compare} --target-endpoint-url {target}"));
    assert_eq!(output.status.code(), Some(0));
    let log = support::stderr(&output);
    let used = log.lines().find_map(|line| line.split_once("listing of the source count="));
    let count: u64 = used.unwrap().1.trim().parse().unwrap();
    assert!(count > PAGES / 4, "{count} boundaries");
    assert_eq!(hints(&bench).len(), 2);
    // An empty target costs hardly more than one request, whatever its source holds.
    let compare = "compare s3://synthetic s3://synthetic/none/ --max-concurrent-requests 256";
    let output = bench.run(&format!("{compare} --metrics-file m.prom"));
    assert_eq!(output.status.code(), Some(1));
    let count = counted(&bench);
    assert!(count <= PAGES * 115 / 100 + 1, "{count} requests");
    // Whatever is in the file.
    for nonsense in ["", "{}", r#"{"version":1,"boundaries":[[0,"5",7],[1,"~",900000]]}"#] {
        std::fs::write(file, nonsense).unwrap();
        assert!(sorted(list_requests(&bench, list).0) == all, "{nonsense}");
    }
    // A short listing leaves nothing.
    list_requests(&bench, "list s3://synthetic/00 --format keys");
    assert_eq!(hints(&bench).len(), 2);
}
