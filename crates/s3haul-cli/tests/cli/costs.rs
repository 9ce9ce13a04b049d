//! What an object and a connection may cost: system calls and memory, over http and TLS.
//!
//! A large and a small run of the same command differ by what costs the same each time.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::time::Duration;

use support::server::status_kib;

use crate::support::{Bench, stderr};

const FEW: u16 = 50;
const MANY: u16 = 350;

/// Calls by name.
type Calls = BTreeMap<String, f64>;

/// How often threads start, wait and wake each other (by `write`, too) and memory is mapped depends
/// on what else the machine does.
const VARYING: [&str; 21] = [
    "brk",
    "clone3",
    "epoll_ctl",
    "epoll_wait",
    "exit",
    "exit_group",
    "futex",
    "gettid",
    "madvise",
    "mmap",
    "mprotect",
    "munmap",
    "prctl",
    "restart_syscall",
    "rseq",
    "rt_sigprocmask",
    "sched_getaffinity",
    "sched_yield",
    "set_robust_list",
    "sigaltstack",
    "write",
];
const OF_SOCKETS: [&str; 6] = ["readv", "recvfrom", "recvmsg", "sendmsg", "sendto", "writev"];

/// A server that speaks http, and one that speaks TLS, each with a bucket.
fn servers(more: &[&str]) -> [(&'static str, Bench); 2] {
    let names = ["localhost".to_owned()];
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(names).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let [certificate, key] = ["certificate", "key"].map(|name| folder.path().join(name));
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    let [certificate, key] = [&certificate, &key].map(|path| path.to_str().unwrap());
    let secure = ["--tls-certificate", certificate, "--tls-key", key];
    [("http", &[][..]), ("TLS", &secure)].map(|(name, flags)| {
        let bench = Bench::in_memory_with(&[flags, more].concat());
        assert_eq!(bench.status("mb s3://box --no-verify-ssl"), 0);
        (name, bench)
    })
}

fn write_files(bench: &Bench, folder: &str, count: u16) {
    (0..count).for_each(|n| bench.file(&format!("{folder}/{n}"), &"x".repeat(4096)));
}

/// Calls of a command; `None` where nothing may be traced.
fn traced(bench: &Bench, args: &str) -> Option<Calls> {
    let mut strace = bench.program("strace");
    strace.args(["-f", "-c", "-o", "calls", env!("CARGO_BIN_EXE_s3haul")]);
    // Few objects and many have the same connections, and no journal, which begins after a while.
    let same = " --recursive --quiet --no-verify-ssl --no-journal --max-concurrent-requests 4";
    let output = strace.args((args.to_owned() + same).split_whitespace()).output().ok()?;
    if !output.status.success() && stderr(&output).contains("ptrace") {
        return None;
    }
    assert!(output.status.success(), "{output:?}");
    let row = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        Some(((*words.last()?).to_owned(), words.get(3)?.parse().ok()?))
    };
    Some(bench.read("calls").lines().filter_map(row).collect())
}

/// Calls for one object more: of sockets, and all others that do not vary.
fn for_one([few, many]: [&Calls; 2]) -> [f64; 2] {
    let is_of_socket = |name: &str| OF_SOCKETS.contains(&name);
    let is_other = |name: &str| !is_of_socket(name) && !VARYING.contains(&name) && name != "total";
    let each = |is_counted: &dyn Fn(&str) -> bool| {
        let of = |calls: &Calls| -> f64 {
            calls.iter().filter(|(name, _)| is_counted(name)).map(|(_, count)| count).sum()
        };
        (of(many) - of(few)) / f64::from(MANY - FEW)
    };
    [each(&is_of_socket), each(&is_other)]
}

#[test]
fn an_object_costs_few_system_calls() {
    for (name, bench) in servers(&[]) {
        write_files(&bench, "few", FEW);
        write_files(&bench, "many", MANY);
        // A record of TLS holds the head of an answer, and the next one its body.
        let more_reads = if name == "TLS" { 1.0 } else { 0.0 };
        for (what, sockets_max, others_max) in [("up", 2.5, 6.5), ("down", 2.5, 10.5)] {
            let command = |set| match what {
                "up" => format!("cp {set} s3://box/{set}"),
                _ => format!("cp s3://box/{set} down/{set}"),
            };
            let [Some(few), Some(many)] = ["few", "many"].map(|set| traced(&bench, &command(set)))
            else {
                return println!("skipped: strace may not trace here");
            };
            let [sockets, others] = for_one([&few, &many]);
            println!("{what} over {name}: {sockets:.2} calls of sockets, {others:.2} others");
            assert!(sockets <= sockets_max + more_reads, "{few:?} {many:?}");
            assert!(others <= others_max, "{few:?} {many:?}");
            assert!(sockets >= 1.5 && others >= 5.5, "something is not counted: {many:?}");
        }
    }
}

/// Sockets that were open at once, and the most memory in KiB.
fn watched(bench: &Bench, requests: usize) -> (f64, f64) {
    let always = "cp many s3://box/ --recursive --quiet --no-verify-ssl";
    let mut child = bench.spawn(&format!("{always} --max-concurrent-requests {requests}"));
    let (mut sockets_max, mut kib_max) = (0, 0.0);
    while child.try_wait().unwrap().is_none() {
        let files = std::fs::read_dir(format!("/proc/{}/fd", child.id()));
        let names =
            files.into_iter().flatten().filter_map(|file| file.ok()?.path().read_link().ok());
        let sockets = names.filter(|name| name.to_string_lossy().starts_with("socket:")).count();
        sockets_max = sockets_max.max(sockets);
        kib_max = status_kib(child.id(), "VmHWM:").max(kib_max);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success());
    (f64::from(u32::try_from(sockets_max).unwrap()), kib_max)
}

#[test]
fn a_connection_costs_little_memory() {
    for (name, bench) in servers(&["--latency", "150ms"]) {
        write_files(&bench, "many", 2 * MANY);
        let (few, few_kib) = watched(&bench, 32);
        let (many, many_kib) = watched(&bench, 512);
        let kib = (many_kib - few_kib) / (many - few);
        let text = format!(
            "{name}: {few} and {many} connections, {few_kib} and {many_kib} KiB, {kib:.0} each"
        );
        println!("{text}");
        assert!(many - few >= 50.0 && kib <= 100.0, "{text}");
    }
}
