//! Few open files, and clients that go away.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::{Bench, stderr, stdout};

/// Slow enough that all that may be in flight is.
const LATENCY: &str = "50ms";
const FILES: usize = 200;
const FOLDERS: usize = 80;
/// Several parts.
const LARGE_BYTES: usize = 40 << 20;
const WAIT_MAX: Duration = Duration::from_mins(1);

/// Runs a command that may have so many files open.
fn run_with_files(bench: &Bench, files: u32, args: &str) -> Output {
    run_limited(bench, &format!("ulimit -n {files}"), args)
}

/// Runs a command in a shell that was given a limit.
fn run_limited(bench: &Bench, limit: &str, args: &str) -> Output {
    let plain = bench.command(args);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{limit} && exec \"$0\" \"$@\"")])
        .arg(plain.get_program())
        .args(plain.get_args())
        .current_dir(bench.folder())
        .env_clear();
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap());
    }
    command.output().unwrap()
}

/// In many folders, which are held open as long as there is room.
fn file(n: usize) -> String {
    format!("in/{}/{n}", n % FOLDERS)
}

/// Runs a command in an address space of so many KiB.
fn run_with_addresses(bench: &Bench, kib: u32, args: &str) -> Output {
    run_limited(bench, &format!("ulimit -v {kib}"), args)
}

/// What was there before was replaced by the first rows, with partial totals and no error.
#[test]
fn a_comparison_that_cannot_be_written_has_no_totals() {
    let bench = Bench::with_objects(&[]);
    for n in 0..1_500 {
        bench.file(&format!("in/{n}"), "x");
    }
    bench.ok("cp --recursive in s3://box --quiet");
    for format in ["csv", "text", "jsonl"] {
        bench.file("out", "precious");
        let compare =
            format!("compare in s3://box --show same --format {format} --output-file out");
        let output = run_limited(&bench, "trap '' XFSZ; ulimit -f 8", &compare);
        assert_eq!(output.status.code(), Some(255), "{output:?}");
        let printed = stderr(&output);
        assert!(printed.contains("File too large") && !printed.contains("Same"), "{printed}");
        assert_eq!(bench.read("out"), "precious");
    }
}

/// It was said that a row group had not been closed, or the name of a temporary file, and a plan
/// ended with exit code 1.
#[test]
fn a_table_that_cannot_be_written_says_why() {
    let bench = Bench::synthetic("seq:30000");
    let limit = "trap '' XFSZ; ulimit -f 8";
    for (args, code, name) in [
        ("list s3://synthetic --format parquet --output-file l.parquet", 255, "l.parquet"),
        ("plan cp --recursive s3://synthetic out --plan p.parquet", 255, "p.parquet"),
        ("cp --recursive s3://synthetic out --dryrun --report r.parquet", 1, "r.parquet"),
    ] {
        let output = run_limited(&bench, limit, args);
        assert_eq!(output.status.code(), Some(code), "{args}: {output:?}");
        let printed = stderr(&output);
        assert!(printed.contains(&format!("{name}`: File too large (os error 27)\n")), "{printed}");
    }
    let json = "plan cp --recursive s3://synthetic out --plan p.parquet --json";
    let lines = stdout(&run_limited(&bench, limit, json));
    let is_error = |line: &str| line.contains("\"error\"") && line.contains("too large");
    assert!(lines.lines().any(is_error), "{lines}");
    assert!(!bench.path("p.parquet").exists() && !bench.path("l.parquet").exists());
}

/// The folder was made for a report in Parquet alone, and a plan named its temporary file.
#[test]
fn reports_and_plans_need_a_folder_that_is_there() {
    let bench = Bench::with_objects(&["k"]);
    for (flags, what) in [
        ("--report none/r.csv", "report"),
        ("--report none/r.parquet", "report"),
        ("--plan none/p.parquet", "plan"),
    ] {
        let output = bench.run(&format!("cp s3://box/k to {flags}"));
        let path = bench.path(flags.split_once(' ').unwrap_or_default().1);
        let path = path.display();
        let why = "No such file or directory (os error 2)";
        let expected = format!("s3haul: error: could not write the {what} `{path}`: {why}\n");
        assert_eq!((output.status.code(), stderr(&output)), (Some(255), expected));
    }
    assert!(!bench.path("none").exists() && !bench.path("to").exists());
}

/// The variable that the command sets for itself reached what it started: a program that gives
/// credentials, and the `aws` that it hands over to.
#[test]
fn a_limit_of_addresses_leaves_no_trace_in_the_environment_of_others() {
    let bench = Bench::new();
    let look = "#!/bin/sh\nenv | grep -e ARENA -e STARTED > seen\necho '{\"Version\":1,\
                \"AccessKeyId\":\"'$ID'\",\"SecretAccessKey\":\"'$SECRET'\"}'\n";
    bench.file("look", look);
    bench.file("config", "[profile p]\ncredential_process = sh look\n");
    let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| bench.variable(name));
    let limit = |own: &str| {
        format!(
            "export ID={} SECRET={} AWS_CONFIG_FILE=config {own}; unset AWS_ACCESS_KEY_ID \
             AWS_SECRET_ACCESS_KEY; ulimit -v 1000000",
            keys[0], keys[1]
        )
    };
    let output = run_limited(&bench, &limit(""), "ls --profile p");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(bench.read("seen"), "");
    let output = run_limited(&bench, &limit("MALLOC_ARENA_MAX=3"), "ls --profile p");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(bench.read("seen"), "MALLOC_ARENA_MAX=3\n", "what others set stays");
}

/// `cp` of a file in parts was aborted with `ulimit -v 600000`, and left its upload open.
#[test]
fn little_memory_is_enough_or_is_refused_before_an_upload_begins() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let large = "x".repeat(3 * LARGE_BYTES);
    bench.file("large", &large);
    (0..FILES).for_each(|n| bench.file(&file(n), &format!("file {n}")));
    for kib in [1_000_000, 600_000, 350_000] {
        for args in [
            "cp --only-show-errors large s3://box/large",
            "cp --only-show-errors s3://box/large down",
            "cp --only-show-errors --stream s3://box/large s3://box/again",
            "cp --only-show-errors --recursive in s3://box/in",
            "ls --recursive s3://box",
        ] {
            let output = run_with_addresses(&bench, kib, args);
            assert!(output.status.success(), "{kib}: {args}: {}", stderr(&output));
        }
        assert!(bench.read("down") == large);
    }
    assert_eq!(bench.ok("uploads ls s3://box"), "", "no upload stays open");
    // The least that is taken, in which parts are as small as S3 takes them.
    for args in ["large s3://box/none", "--stream s3://box/large s3://box/none"] {
        let args = format!("cp {args} --max-memory 112MiB");
        let output = run_with_addresses(&bench, 1_000_000, &args);
        assert!(output.status.success(), "{args}: {}", stderr(&output));
    }
    bench.file("config", "[default]\ns3 =\n    multipart_chunksize = 64MB\n");
    let output = run_limited(
        &bench,
        "export AWS_CONFIG_FILE=config; ulimit -v 600000",
        "cp large s3://box/none",
    );
    assert!(output.status.success(), "a part is made smaller: {}", stderr(&output));
    // Parts that must be larger, for there may be 10,000 at most.
    let args = "pipe s3://box/huge --expected-size 1000000000000 --max-memory 200MiB";
    let pipe = run_limited(&bench, "exec < large", args);
    assert_eq!(pipe.status.code(), Some(1), "{}", stderr(&pipe));
    assert!(stderr(&pipe).contains("does not fit into the memory"), "{}", stderr(&pipe));
    assert_eq!(bench.ok("uploads ls s3://box"), "");
    assert_eq!(bench.status("ls s3://box --max-memory 10MiB"), 252);
}

#[test]
fn few_open_files_are_enough_for_many_objects_and_parts() {
    let bench = Bench::slow(LATENCY);
    bench.ok("mb s3://box");
    for n in 0..FILES {
        bench.file(&file(n), &format!("file {n}"));
    }
    // More levels than may be open at once.
    bench.file(&format!("in/{}f", "d/".repeat(FOLDERS)), "deep");
    bench.file("large", &"x".repeat(LARGE_BYTES));
    for (files, name) in [(64, "a"), (128, "b")] {
        for args in [
            format!("cp --recursive --only-show-errors in s3://box/{name}/"),
            format!("cp --recursive --only-show-errors s3://box/{name}/ {name}"),
            format!("cp --only-show-errors large s3://box/large-{name}"),
            format!("cp --only-show-errors s3://box/large-{name} large-{name}"),
            format!("cp --recursive --only-show-errors s3://box/{name}/ s3://box/copy-{name}/"),
        ] {
            let output = run_with_files(&bench, files, &args);
            assert!(output.status.success(), "{files}: {args}: {}", stderr(&output));
        }
        for n in 0..FILES {
            assert_eq!(bench.read(&file(n).replace("in", name)), format!("file {n}"));
        }
        assert_eq!(bench.read(&format!("{name}/{}f", "d/".repeat(FOLDERS))), "deep");
        assert!(bench.read(&format!("large-{name}")) == bench.read("large"));
    }
}

#[test]
fn commands_of_one_process_share_few_open_files() {
    let bench = Bench::slow(LATENCY);
    bench.ok("mb s3://box");
    let trees = 10;
    let deep = |n: usize, levels: usize| format!("t{n}/{}f", "d/".repeat(levels));
    for n in 0..trees {
        (0..20).for_each(|levels| bench.file(&deep(n, levels), &format!("{n} {levels}")));
    }
    let each = |line: fn(usize) -> String| (0..trees).map(line).collect::<Vec<_>>().join("\n");
    bench.file("up.txt", &each(|n| format!("cp --recursive t{n} s3://box/t{n}/")));
    bench.file("down.txt", &each(|n| format!("cp --recursive s3://box/t{n}/ out/t{n}")));
    for args in ["run up.txt", "run down.txt"] {
        let output = run_with_files(&bench, 64, args);
        assert!(output.status.success(), "{args}: {}", stderr(&output));
    }
    for n in 0..trees {
        let came = |levels: usize| bench.read(&format!("out/{}", deep(n, levels)));
        (0..20).for_each(|levels| assert_eq!(came(levels), format!("{n} {levels}")));
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_copy_that_is_refused_or_whose_client_goes_leaves_no_file_in_the_store() {
    let bench = Bench::on_disk();
    bench.ok("mb s3://box");
    bench.file("a", &"a".repeat(64 << 20));
    bench.ok("cp --quiet a s3://box/a");
    bench.ok("cp --quiet a s3://box/b");
    bench.ok("cp --quiet --no-overwrite s3://box/a s3://box/b");
    let temporary = bench.folder().join("store/.s3haul/tmp");
    for n in 0..4 {
        let mut child = bench.spawn(&format!("cp --quiet s3://box/a s3://box/c{n}"));
        let begin = Instant::now();
        while names(&temporary).is_empty() && begin.elapsed() < WAIT_MAX {
            if child.try_wait().unwrap().is_some() {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let begin = Instant::now();
    while !names(&temporary).is_empty() {
        assert!(begin.elapsed() < WAIT_MAX, "{:?} are left", names(&temporary));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// "entity not found", and for errors that Rust has no name for "uncategorized error".
#[test]
fn files_that_cannot_be_made_say_why() {
    let bench = Bench::with_objects(&["k"]);
    bench.file("file", "");
    for (flags, why) in [
        ("--plan file/p.parquet", "Not a directory (os error 20)"),
        ("--plan /proc/p.parquet", "No such file or directory (os error 2)"),
        ("--metrics-file /proc/m.prom", "No such file or directory (os error 2)"),
    ] {
        let output = bench.run(&format!("cp s3://box/k to {flags}"));
        assert_eq!(output.status.code(), Some(255), "{output:?}");
        let path = flags.rsplit_once('/').unwrap_or_default().1;
        let printed = stderr(&output);
        assert!(printed.contains(&format!("{path}`: {why}\n")), "{flags}: {printed}");
    }
}

/// Without the name of the temporary file.
#[test]
fn metrics_that_cannot_be_written_say_why() {
    let bench = Bench::with_objects(&["k"]);
    let limit = "trap '' XFSZ; ulimit -f 0";
    let output = run_limited(&bench, limit, "rm s3://box/k --metrics-file m.prom");
    let printed = stderr(&output);
    assert!(printed.contains("m.prom`: File too large (os error 27)\n"), "{printed}");
}

/// Only the plan's error was printed.
#[test]
fn errors_of_a_report_and_of_a_plan_are_both_printed() {
    let bench = Bench::with_objects(&["k"]);
    let run = |limit: &str, key: &str| {
        let job = bench.ok(&format!("rm --recursive s3://box/{key} --plan p.parquet --print-job"));
        let both = job.replace("\"plan\": ", "\"report\": \"r.csv\", \"plan\": ");
        bench.file("job.json", &both);
        run_limited(&bench, limit, "job run job.json")
    };
    let output = run("true", "x");
    assert!(output.status.success(), "{output:?}");
    // All but the last byte of the report has room.
    let padding = 513 - bench.read("r.csv").len();
    let output = run("trap '' XFSZ; ulimit -f 1", &"x".repeat(1 + padding));
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    let printed = stderr(&output);
    for name in ["r.csv", "p.parquet"] {
        assert!(printed.contains(&format!("{name}`: File too large (os error 27)\n")), "{printed}");
    }
}
