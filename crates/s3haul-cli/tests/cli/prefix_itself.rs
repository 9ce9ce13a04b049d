//! The key that is the prefix itself, with bytes: `p/` beside `p/a`. Its name below the prefix is
//! empty, and an empty object of that key only stands for a folder.

use std::process::Output;

use crate::support::{Bench, stderr, stdout};

/// An address that ends in a slash takes the name of the file, unless the name is said.
fn write(bench: &Bench, address: &str, text: &str) {
    bench.file("f", text);
    bench.ok(&format!("cp --quiet f {address} --to-key {}", &address[address.len() - 2..]));
}

fn bench() -> Bench {
    let bench = Bench::with_objects(&["p/a", "p"]);
    write(&bench, "s3://box/p/", "bytes");
    bench.ok("mb s3://other");
    assert_eq!(bench.ok("list --format keys s3://box"), "p\np/\np/a\n");
    bench
}

fn outcome(output: &Output) -> (Option<i32>, Vec<String>, String) {
    let mut lines: Vec<_> = stdout(output).lines().map(str::to_owned).collect();
    lines.sort();
    (output.status.code(), lines, stderr(output))
}

/// As with `aws`: it was left out without a word, by `verify` and `compare` as well.
#[test]
fn sync_and_verify_take_the_key_of_the_prefix() {
    let bench = bench();
    let sync = "sync s3://box/p s3://other/q";
    let both = ["copy: s3://box/p/ to s3://other/q/", "copy: s3://box/p/a to s3://other/q/a"];
    assert_eq!(outcome(&bench.run(sync)), (Some(0), both.map(str::to_owned).into(), String::new()));
    assert_eq!(bench.ok("cat s3://other/q/"), "bytes");
    assert_eq!(bench.ok(sync), "", "a second sync does nothing");
    assert!(bench.ok("verify s3://box/p s3://other/q").contains("Same: 2 "));
    write(&bench, "s3://other/q/", "wrong");
    for command in ["verify", "compare"] {
        let output = bench.run(&format!("{command} s3://box/p s3://other/q --format csv"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stdout(&output).contains("\ndifferent,etag,,5,5,"), "{output:?}");
    }
    bench.ok("rm s3://box/p/");
    let removed = bench.ok("sync --delete s3://box/p/ s3://other/q/");
    assert_eq!(removed, "delete: s3://other/q/\n", "as aws does");
}

/// A copy to the empty key would be a request about the bucket.
#[test]
fn a_name_that_is_empty_at_the_target_is_a_warning() {
    let bench = bench();
    let why = "The key is the prefix itself, and leaves no name for the target.";
    let warning = format!("warning: Skipping file s3://box/p/. {why}\n");
    for (args, line) in [
        ("cp --recursive s3://box/p s3://other", "copy: s3://box/p/a to s3://other/a"),
        ("cp --recursive s3://box/p/ s3://other", "copy: s3://box/p/a to s3://other/a"),
        ("sync s3://box/p s3://other/", ""),
        ("cp --recursive s3://box/p/ out", "download: s3://box/p/a to out/a"),
        ("sync --delete s3://box/p/ out", ""),
        (
            "mv --recursive s3://box/p s3://other --dryrun",
            "(dryrun) move: s3://box/p/a to s3://other/a",
        ),
        ("mv --recursive s3://box/p s3://other", "move: s3://box/p/a to s3://other/a"),
    ] {
        let lines: Vec<_> =
            Some(line.to_owned()).filter(|line| !line.is_empty()).into_iter().collect();
        let output = bench.run(args);
        assert_eq!(outcome(&output), (Some(2), lines, warning.clone()), "{args}");
    }
    assert_eq!(bench.ok("cat s3://box/p/"), "bytes", "it is still there");
    bench.ok("cp s3://box/p/ named");
    assert_eq!(bench.read("named"), "bytes", "a file has a name of its own");
    let output = bench.run("verify s3://box/p s3://other");
    assert_eq!(output.status.code(), Some(1), "what is not there is not the same: {output:?}");
}
