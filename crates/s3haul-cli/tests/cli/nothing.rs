//! Nothing found: what each command does, as the table in docs/from-aws-cli.md has it.

use crate::support::{Bench, stderr, stdout};

/// What a command says of nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Says {
    Nothing,
    Note,
    Warning,
    Error,
}

/// Commands at an address where nothing is, each with its exit code and what it says.
const COMMANDS: [(&str, i32, Says); 28] = [
    ("cp --recursive s3://box/typo there", 0, Says::Nothing),
    ("cp --recursive s3://box/typo s3://box/there", 0, Says::Nothing),
    ("cp --recursive empty s3://box/there", 0, Says::Nothing),
    ("mv --recursive s3://box/typo there", 0, Says::Nothing),
    ("rm --recursive s3://box/typo", 0, Says::Nothing),
    ("rm s3://box/typo", 0, Says::Nothing),
    ("sync s3://box/typo there", 0, Says::Nothing),
    ("sync empty s3://box/there", 0, Says::Nothing),
    ("rm s3://box --from empty.txt", 0, Says::Nothing),
    ("tag set s3://box --from empty.txt --tags a=b", 0, Says::Nothing),
    ("tag get --recursive s3://box/typo", 0, Says::Note),
    ("tag add --recursive s3://box/typo --tags a=b", 0, Says::Note),
    ("set --recursive s3://box/typo --storage-class STANDARD_IA", 0, Says::Note),
    ("restore --recursive s3://box/typo --days 1", 0, Says::Note),
    ("undelete --recursive s3://kept/typo", 0, Says::Note),
    ("undelete --recursive s3://box/typo", 255, Says::Error),
    ("undelete s3://box/typo", 255, Says::Error),
    ("cat s3://box/typo", 254, Says::Error),
    ("cat s3://box/typo*", 1, Says::Error),
    ("find s3://box/typo", 0, Says::Nothing),
    ("map s3://box/typo --map js:(object)=>object.Key", 0, Says::Nothing),
    ("uploads ls s3://box/typo", 0, Says::Nothing),
    ("ls s3://box/typo", 1, Says::Nothing),
    ("list s3://box/typo", 1, Says::Note),
    ("versions s3://box/typo", 1, Says::Note),
    ("summarize s3://box/typo", 1, Says::Note),
    ("compare s3://box/typo empty", 2, Says::Warning),
    ("verify s3://box/typo s3://box/typo2", 2, Says::Warning),
];

#[test]
fn nothing_found_follows_one_rule() {
    let bench = Bench::with_objects(&["there"]);
    bench.file("empty.txt", "");
    bench.ok("mb s3://kept --object-lock");
    std::fs::create_dir(bench.folder().join("empty")).unwrap();
    for (command, code, says) in COMMANDS {
        let output = bench.run(command);
        let messages = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{command}: {messages}");
        let said = match messages.as_str() {
            "" => Says::Nothing,
            text if text.starts_with("warning: nothing was found in `") => Says::Warning,
            text if text.starts_with("s3haul: error: ") => Says::Error,
            text if text.starts_with("note: nothing was found at `s3://") => Says::Note,
            text => panic!("{command}: {text}"),
        };
        assert_eq!(said, says, "{command}: {messages}");
    }
    // A whole bucket may be empty.
    bench.ok("mb s3://empty");
    for command in ["ls s3://empty", "list s3://empty", "summarize s3://empty"] {
        assert_eq!(bench.status(command), 0, "{command}");
    }
}

#[test]
fn what_meets_no_condition_is_told_from_what_is_not_there() {
    let bench = Bench::with_objects(&["x/a"]);
    for (command, end) in [
        ("versions s3://box/none", "none`\n"),
        ("versions s3://box/none --newer-than 2100-01-01", "none` that meets the conditions\n"),
        ("list s3://box/typo", "typo`\n"),
        ("list s3://box/x --min-size 1G", "x` that meets the conditions\n"),
        ("list s3://box/x --exclude *", "x` that meets the conditions\n"),
        ("summarize s3://box/x --newer-than 2100-01-01", "x` that meets the conditions\n"),
        ("tag add --recursive s3://box/typo --tags a=b", "typo`: nothing was done\n"),
        (
            "tag add --recursive s3://box/x --tags a=b --min-size 1G",
            "x` that meets the conditions: nothing was done\n",
        ),
    ] {
        let messages = stderr(&bench.run(command));
        assert!(messages.starts_with("note: nothing was found at `s3://box/"), "{messages}");
        assert!(messages.ends_with(end), "{command}: {messages}");
    }
}

#[test]
fn a_proof_of_nothing_is_no_proof() {
    let bench = Bench::with_objects(&["a/1", "b/1"]);
    std::fs::create_dir(bench.folder().join("empty")).unwrap();
    // Names of objects, filters that leave out all, and names that are misspelt.
    for args in ["s3://box/a/1 s3://box/b/1", "s3://box/a s3://box/b --exclude *", "empty empty"] {
        for command in ["verify", "compare", "compare --checksum"] {
            let output = bench.run(&format!("{command} {args}"));
            assert_eq!(output.status.code(), Some(2), "{command} {args}");
            assert!(stderr(&output).contains("nothing is proved"), "{}", stderr(&output));
        }
    }
    let output = bench.run("verify s3://box/typo s3://box/typo2 --json");
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("\"event\":\"warning\""), "{}", stdout(&output));
    assert_eq!(bench.status("verify s3://box/a s3://box/typo"), 1, "one side is empty");
    let report = bench.run("verify s3://box/a s3://box/b");
    assert_ne!(report.status.code(), Some(2), "{}", stderr(&report));
}
