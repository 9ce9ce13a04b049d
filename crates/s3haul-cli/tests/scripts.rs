//! Scripts through the real binary: the command lines that s3p documents, renamed as docs/s3p.md
//! says, and what goes wrong with scripts and new names.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail them")]

#[expect(dead_code, reason = "helpers that other tests use")]
mod support;

use std::process::Output;

use support::{Bench, stderr, stdout};

/// Runs a command whose words may hold spaces.
fn run(bench: &Bench, words: &[&str]) -> Output {
    let mut command = bench.command("");
    command.args(words).output().unwrap()
}

/// Lines of a command that has to succeed, sorted.
fn lines(bench: &Bench, words: &[&str]) -> Vec<String> {
    let output = run(bench, words);
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    let mut lines: Vec<_> = stdout(&output).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Whether a file is there.
fn exists(bench: &Bench, name: &str) -> bool {
    bench.command("").get_current_dir().unwrap().join(name).exists()
}

/// Exit code and standard error of a command.
fn failure(bench: &Bench, words: &[&str]) -> (i32, String) {
    let output = run(bench, words);
    (output.status.code().unwrap(), stderr(&output))
}

/// Keys of a bucket with what the objects hold.
fn holds(bench: &Bench, bucket: &str) -> Vec<String> {
    let keys = lines(bench, &["map", bucket, "--map", "js:(key) => key.Key"]);
    keys.into_iter()
        .map(|key| {
            let output = run(bench, &["cat", &format!("s3://{bucket}/{key}")]);
            format!("{key}={}", stdout(&output))
        })
        .collect()
}

const KEYS: [&str; 4] =
    ["2020-04-14/foo.jpg", "2020-04-14/long-bar.png", "2020-04-15/foo.txt", "zoo"];

fn buckets() -> Bench {
    let bench = Bench::with_objects(&KEYS);
    bench.ok("mb s3://other");
    bench
}

/// A name that the source has stays, whatever the script says of it on either side.
#[test]
fn sync_heeds_what_the_filter_selects() {
    let bench = buckets();
    bench.ok("cp --recursive s3://box s3://other/old --exclude * --include *.jpg");
    bench.ok("cp s3://box/zoo s3://other/old/gone.jpg");
    bench.ok("cp s3://box/zoo s3://other/old/gone.txt");
    let filter = "js:({Key}) => /jpg|png/.test(Key)";
    let sync = ["sync", "--delete", "--filter", filter, "s3://box", "s3://other/old", "--quiet"];
    assert_eq!(lines(&bench, &sync), [""; 0]);
    let keys = lines(&bench, &["map", "s3://other", "--map", "js:({Key}) => Key"]);
    let kept = ["old/2020-04-14/foo.jpg", "old/2020-04-14/long-bar.png", "old/gone.txt"];
    assert_eq!(keys, kept);
    let small = ["sync", "--delete", "--filter", "js:({Size}) => Size > 1e6", "s3://box", "down"];
    bench.ok("cp --recursive s3://box down --quiet");
    assert_eq!(lines(&bench, &small), [""; 0]);
    assert!(exists(&bench, "down/zoo"));
}

/// Each new name is looked up: what is the same stays, what differs or is missing goes, in all
/// directions and with all that decides on differences.
#[test]
fn sync_to_new_names_transfers_what_differs() {
    let bench = buckets();
    let sync = |from: &str, to: &str, more: &[&str]| {
        let words = ["sync", from, to, "--to-key", "{dir}/new-{name}"];
        let told = lines(&bench, &[&words[..], more].concat());
        told.iter().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let names = |root: &str| {
        let new =
            ["2020-04-14/new-foo.jpg", "2020-04-14/new-long-bar.png", "2020-04-15/new-foo.txt"];
        let new = new.into_iter().chain(["new-zoo"]);
        new.map(|name| format!("{root}{name}")).collect::<Vec<_>>()
    };
    let (other, none) = ("s3://other/", Vec::<String>::new());
    assert_eq!(sync("s3://box", other, &["--size-only"]), names(other));
    assert_eq!(sync("s3://box", other, &["--size-only"]), none);
    assert_eq!(sync("s3://box", other, &["--checksum"]), none);
    assert_eq!(sync("s3://box", "down", &[]), names("down/"));
    assert_eq!(sync("s3://box", "down", &["--size-only"]), none);

    bench.file("down/new-zoo", "ZOO");
    assert_eq!(sync("s3://box", "down", &["--size-only"]), none);
    assert_eq!(sync("s3://box", "down", &["--checksum"]), ["down/new-zoo"]);
    assert_eq!(bench.read("down/new-zoo"), "zoo");

    bench.file("up/2020-04-14/foo.jpg", "other");
    bench.file("up/zoo", "zoo");
    let up = ["--size-only", "--dryrun", "--only-show-errors"];
    assert_eq!(sync("up", other, &up), ["s3://other/2020-04-14/new-foo.jpg"]);
    assert_eq!(sync("up", other, &["--size-only"]), ["s3://other/2020-04-14/new-foo.jpg"]);
    assert_eq!(sync("up", other, &["--size-only"]), none);
    assert_eq!(sync("up", other, &["--no-overwrite"]), none);
    let words = ["sync", "up", other, "--to-key", "{key}", "--delete"];
    assert_eq!(failure(&bench, &words).0, 252);
}

mod s3p {
    use super::*;

    const CP: [&str; 3] = ["cp", "--recursive", "--quiet"];
    const DAY: [&str; 2] = ["s3://box/2020-04-14/", "s3://other/2020-04-14/"];

    fn copied(words: &[&str], expected: &[&str]) {
        let bench = buckets();
        lines(&bench, &[&CP, words].concat());
        assert_eq!(holds(&bench, "other"), expected, "{words:?}");
    }

    #[test]
    fn copies_everything() {
        let all = KEYS.map(|key| format!("{key}={key}"));
        copied(&["s3://box", "s3://other"], &all.each_ref().map(String::as_str));
    }

    #[test]
    fn copies_to_a_folder() {
        let bench = buckets();
        lines(&bench, &[&CP[..], &["s3://box", "my/local/folder"]].concat());
        assert_eq!(bench.read("my/local/folder/2020-04-15/foo.txt"), KEYS[2]);
    }

    #[test]
    fn copies_a_prefix_replaces_it_and_adds_one() {
        let foo = |to: &str| format!("{to}foo.jpg={}", KEYS[0]);
        let bar = |to: &str| format!("{to}long-bar.png={}", KEYS[1]);
        for to in ["2020-04-14/", "2020-04-14-backup/", "backup/2020-04-14/"] {
            let target = format!("s3://other/{to}");
            copied(&["s3://box/2020-04-14/", &target], &[&foo(to), &bar(to)]);
        }
    }

    #[test]
    fn copies_under_keys_that_a_function_makes() {
        copied(
            &[&DAY[..], &["--to-key", "js:(key) => key + '-old'"]].concat(),
            &[
                "2020-04-14/foo.jpg-old=2020-04-14/foo.jpg",
                "2020-04-14/long-bar.png-old=2020-04-14/long-bar.png",
            ],
        );
    }

    #[test]
    fn copies_what_a_filter_takes() {
        for filter in ["js:({Key}) => /foo/.test(Key)", "js:/foo/", "js:/FOO/i"] {
            let expected = ["2020-04-14/foo.jpg=2020-04-14/foo.jpg"];
            copied(&[&DAY[..], &["--filter", filter]].concat(), &expected);
        }
        copied(
            &[&DAY[..], &["--exclude", "*", "--include", "*foo*"]].concat(),
            &["2020-04-14/foo.jpg=2020-04-14/foo.jpg"],
        );
    }

    #[test]
    fn lists_prefixes_ranges_patterns_and_raw_items() {
        let bench = buckets();
        let keys = |words: &[&str]| {
            lines(&bench, &[&["map", "--map", "js:({Key}) => Key"], words].concat())
        };
        assert_eq!(keys(&["s3://box"]), KEYS);
        assert_eq!(keys(&["s3://box/2020-04-14/"]), KEYS[..2]);
        assert_eq!(keys(&["s3://box", "--start-after", "2020-04-14/foo.jpg"]), KEYS[1..]);
        assert_eq!(keys(&["s3://box", "--stop-at", KEYS[2]]), KEYS[..3]);
        assert_eq!(keys(&["s3://box", "--filter", "js:/^ZOO$/i"]), KEYS[3..]);
        let raw = lines(&bench, &["map", "s3://box/zoo", "--map", "js:(item) => item"]);
        assert!(raw[0].starts_with("{\"Key\":\"zoo\",\"LastModified\":\"20"), "{raw:?}");
        assert!(raw[0].contains("\"Size\":3,\"StorageClass\":\"STANDARD\"}"), "{raw:?}");
        let listed = lines(&bench, &["list", "s3://box", "--filter", "js:({Size}) => Size < 10"]);
        assert!(listed.len() == 1 && listed[0].ends_with("zoo"), "{listed:?}");
    }

    #[test]
    fn runs_a_function_for_each_item_or_list() {
        let bench = buckets();
        let logged =
            lines(&bench, &["each", "s3://box", "--map", "js:(item) => console.log(item)"]);
        assert_eq!(logged.len(), 4);
        assert!(logged[3].starts_with("{\"Key\":\"zoo\""), "{logged:?}");
        // Pages may come in pieces.
        let list = "js:(items) => { items.forEach(({Key}) => console.log(Key)) }";
        assert_eq!(lines(&bench, &["each", "s3://box", "--map-list", list]), KEYS);
    }

    #[test]
    fn summarizes_what_a_filter_takes() {
        let bench = buckets();
        let totals = |words: &[&str]| {
            let output = run(&bench, &[&["summarize", "s3://box"], words].concat());
            assert!(output.status.success(), "{output:?}");
            stdout(&output).lines().nth(1).unwrap().to_owned()
        };
        assert!(totals(&[]).starts_with("4 objects, "), "{}", totals(&[]));
        let large = totals(&["--filter", "js:({Size}) => Size > 20"]);
        assert!(large.starts_with("1 object, 23 Bytes"), "{large}");
    }

    #[test]
    fn maps_and_reduces() {
        let bench = buckets();
        let total = |words: &[&str]| lines(&bench, &[&["map", "s3://box"], words].concat());
        let sum = ["--reduce", "js:(a, b) => a + b"];
        assert_eq!(total(&[&["--map", "js:({Size}) => 1"], &sum[..]].concat()), ["4"]);
        let size = KEYS.iter().map(|key| key.len()).sum::<usize>().to_string();
        assert_eq!(total(&[&["--map", "js:({Size}) => Size"], &sum[..]].concat()), [size]);
        let newest = "js:(a, b) => a.LastModified > b.LastModified ? a : b";
        assert!(total(&["--reduce", newest])[0].starts_with("{\"Key\":\""));
        let key = total(&["--reduce", newest, "--finally", "js:({Key}) => Key"]);
        assert!(KEYS.contains(&key[0].as_str()), "{key:?}");
        let none = ["map", "s3://box/none/", "--map", "js:() => 1", "--default", "0"];
        assert_eq!(lines(&bench, &[&none, &sum[..]].concat()), ["0"]);
        assert_eq!(lines(&bench, &none), ["0"]);
        let some = ["map", "s3://box", "--map", "js:() => 1", "--default", "0"];
        assert_eq!(lines(&bench, &some), ["1"; KEYS.len()], "lines as without --default");
        let sorted = ["map-reduce", "s3://box", "--sort", "--map", "js:({Size}) => Size"];
        assert_eq!(
            lines(&bench, &[&sorted[..], &["--reduce", "js:(a, b) => `${a} ${b}`"]].concat()),
            [KEYS.map(|key| key.len().to_string()).join(" ")]
        );
    }
}

#[test]
fn templates_and_scripts_rename_uploads_and_downloads() {
    let bench = buckets();
    bench.file("in/a/photo.jpg", "1");
    bench.file("in/top", "22");
    let upload = ["cp", "--recursive", "--quiet", "in", "s3://other/up/"];
    let template = ["--to-key", "{dir}/{stem}.bak{ext}"];
    lines(&bench, &[&upload[..], &template].concat());
    assert_eq!(holds(&bench, "other"), ["up/a/photo.bak.jpg=1", "up/top.bak=22"]);
    let down = ["cp", "--recursive", "--quiet", "s3://other/up/", "out"];
    let script = ["--filter", "js:({Size}) => Size > 1", "--to-key", "js:(name) => 'new/' + name"];
    lines(&bench, &[&down[..], &script].concat());
    assert_eq!(bench.read("out/new/top.bak"), "22");
    lines(&bench, &[&down[..], &["--to-key", "{dir}/{name}"]].concat());
    assert_eq!(bench.read("out/a/photo.bak.jpg"), "1");
}

#[test]
fn a_function_that_takes_the_key_for_an_object_is_noticed() {
    let bench = buckets();
    for command in [&["cp", "--recursive"][..], &["sync"]] {
        let words = [command, &["s3://box", "s3://other", "--to-key", "js:o => o.key"]].concat();
        let output = run(&bench, &words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("`to-key` left out all 4 objects"), "{said}");
        assert!(output.status.success() && holds(&bench, "other").is_empty());
    }
}

#[test]
fn new_names_do_not_lead_out_of_the_target_folder() {
    let bench = buckets();
    for name in ["'../evil'", "'a/../../evil'", "'/evil'"] {
        let script = format!("js:(key) => {name}");
        run(&bench, &["cp", "s3://box/", "out", "--recursive", "--to-key", &script]);
        assert!(!exists(&bench, "evil"), "{name}");
        assert!(!std::path::Path::new("/evil").exists(), "{name}");
    }
}

#[test]
fn a_single_object_is_filtered_and_renamed_too() {
    let bench = buckets();
    let copy = ["cp", "--quiet", "s3://box/zoo", "s3://other/"];
    lines(&bench, &[&copy[..], &["--filter", "js:({Size}) => Size > 3"]].concat());
    assert_eq!(holds(&bench, "other"), Vec::<String>::new());
    lines(&bench, &[&copy[..], &["--to-key", "js:(key, {Size}) => key + Size"]].concat());
    assert_eq!(holds(&bench, "other"), ["zoo3=zoo"]);
    lines(&bench, &["rm", "--quiet", "s3://other/zoo3", "--filter", "js:({Size}) => Size > 3"]);
    assert_eq!(holds(&bench, "other").len(), 1);
    lines(&bench, &["rm", "--quiet", "s3://other/zoo3", "--filter", "js:({Size}) => Size === 3"]);
    lines(&bench, &["rm", "--quiet", "s3://other/zoo3", "--filter", "js:({Size}) => Size === 3"]);
    assert_eq!(holds(&bench, "other"), Vec::<String>::new());
}

#[test]
fn rm_removes_what_the_filter_takes() {
    let bench = buckets();
    let rm = ["rm", "--recursive", "--quiet", "s3://box/"];
    lines(&bench, &[&rm[..], &["--filter", "js:(key, {Size}) => key !== 'zoo'"]].concat());
    assert_eq!(holds(&bench, "box"), ["zoo=zoo"]);
}

#[test]
fn two_objects_on_one_name_are_found_before_anything_is_lost() {
    let bench = buckets();
    let mv = ["mv", "--recursive", "s3://box/", "s3://other/", "--to-key"];
    let flat = "js:(key) => key.replace(/^.*foo.*$/, 'foo')";
    let dry = run(&bench, &[&mv[..], &[flat, "--dryrun"]].concat());
    assert_eq!(dry.status.code(), Some(1), "{dry:?}");
    let (status, errors) = failure(&bench, &[&mv[..], &[flat]].concat());
    assert_eq!(status, 1, "{errors}");
    assert!(errors.contains("s3://box/2020-04-15/foo.txt to s3://other/foo"), "{errors}");
    assert!(errors.contains("`foo` is also that of another object of this job"), "{errors}");
    assert!(stderr(&dry).contains("`foo` is also that of another object"), "{dry:?}");
    assert_eq!(
        holds(&bench, "other"),
        ["2020-04-14/long-bar.png=2020-04-14/long-bar.png", "foo=2020-04-14/foo.jpg", "zoo=zoo"]
    );
    assert_eq!(holds(&bench, "box"), ["2020-04-15/foo.txt=2020-04-15/foo.txt"]);
    // Uploads and downloads the same.
    bench.file("in/1/x", "1");
    bench.file("in/2/x", "2");
    let (status, errors) =
        failure(&bench, &["mv", "--recursive", "in", "s3://box/", "--to-key", "{name}"]);
    assert!(status == 1 && errors.contains("`x` is also"), "{errors}");
    assert!(exists(&bench, "in/2/x") && !exists(&bench, "in/1/x"));
    let (status, errors) =
        failure(&bench, &["mv", "--recursive", "s3://other/", "out", "--to-key", "one"]);
    assert!(status == 1 && errors.matches("`one` is also").count() == 2, "{errors}");
    assert_eq!(holds(&bench, "other").len(), 2);
}

#[test]
fn within_a_bucket_no_object_is_moved_over_another_one() {
    let bench = Bench::with_objects(&["f1", "f2", "f5"]);
    let next = "js:(key) => 'f' + (+key.slice(1) + 1)";
    let words = ["mv", "--recursive", "s3://box/", "s3://box/", "--page-size", "1", "--to-key"];
    let (status, errors) = failure(&bench, &[&words[..], &[next]].concat());
    assert!(status == 1 && errors.contains("`f2` is also"), "{errors}");
    assert_eq!(holds(&bench, "box"), ["f1=f1", "f3=f2", "f6=f5"]);
    // What was written does not come along as a source, and what keeps its name stays.
    let copy = ["cp", "--recursive", "--quiet", "s3://box/", "s3://box/", "--page-size", "1"];
    lines(&bench, &[&copy[..], &["--to-key", "js:(key) => key + '0'"]].concat());
    let all = ["f1=f1", "f10=f1", "f3=f2", "f30=f2", "f6=f5", "f60=f5"];
    assert_eq!(holds(&bench, "box"), all);
    lines(&bench, &["mv", "--recursive", "s3://box/", "s3://box/", "--to-key", "{key}"]);
    lines(&bench, &["mv", "s3://box/f1", "s3://box/x", "--to-key", "js:() => 'f1'"]);
    assert_eq!(holds(&bench, "box"), all);
}

#[test]
fn a_script_that_is_no_script_ends_the_command_at_the_start() {
    let bench = buckets();
    let (status, errors) =
        failure(&bench, &["rm", "--recursive", "s3://box", "--filter", "js:(key => key"]);
    assert_eq!(status, 252, "{errors}");
    assert!(errors.contains("the `filter` script cannot be read: "), "{errors}");
    assert!(errors.contains("(line 1, column "), "{errors}");
    assert!(errors.contains("\n  (key => key\n"), "{errors}");
    for (words, message) in [
        (["list", "s3://box", "--filter", "Size > 5"], "a script starts with `js:`"),
        (["list", "s3://box", "--filter", "js:5"], "this is a number, not a function"),
        (["map", "s3://box", "--reduce", "js:async a => a"], "async functions"),
        (["map", "s3://box", "--map", "js:/a/"], "here a function is needed"),
    ] {
        let (status, errors) = failure(&bench, &words);
        assert!(status == 252 && errors.contains(message), "{words:?}: {errors}");
    }
    let copy = ["cp", "--recursive", "s3://box", "s3://other", "--to-key"];
    for (text, message) in [
        ("{dri}/x", "there is no field `{dri}` (character 1)"),
        ("a{", "a `{` stands alone (character 2)"),
    ] {
        let (status, errors) = failure(&bench, &[&copy[..], &[text]].concat());
        assert!(status == 252 && errors.contains(message), "{errors}");
    }
    let (status, errors) = failure(&bench, &["cp", "s3://box/zoo", "one", "--to-key", "{key}"]);
    assert!(status == 252 && errors.contains("below a folder"), "{errors}");
    let (status, errors) = failure(&bench, &["cp", "s3://box/zoo", "-", "--filter", "js:/z/"]);
    assert!(status == 252 && errors.contains("standard input and output"), "{errors}");
    assert_eq!(holds(&bench, "box").len(), 4);
}

#[test]
fn a_script_that_throws_ends_the_command_and_names_the_key() {
    let bench = buckets();
    let script = "js:(key, {Owner}) => key < 'z' || Owner.ID";
    let (status, errors) = failure(&bench, &["list", "s3://box", "--filter", script]);
    assert_eq!(status, 1, "{errors}");
    assert!(errors.contains("failed for the key `zoo`: TypeError: "), "{errors}");
    let (status, errors) = failure(&bench, &["rm", "--recursive", "s3://box", "--filter", script]);
    assert_eq!(status, 1, "{errors}");
    assert!(errors.contains("failed for the key `zoo`: TypeError: "), "{errors}");
    let (status, errors) =
        failure(&bench, &["cp", "--recursive", "s3://box", "s3://other", "--to-key", "js:() => 1"]);
    assert!(status == 1 && errors.contains("it returned a number"), "{errors}");
    bench.file("in/a", "1");
    let (status, errors) =
        failure(&bench, &["mv", "--recursive", "in", "s3://other", "--to-key", "js:() => 1"]);
    assert!(status == 1 && errors.contains("for the key `a`: it returned a number"), "{errors}");
    assert!(exists(&bench, "in/a"));
    assert_eq!((holds(&bench, "box").len(), holds(&bench, "other").len()), (4, 0));
}
