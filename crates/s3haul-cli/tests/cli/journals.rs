//! Journals: where they are kept, what they cannot be kept of, and what happens where they fail.

use crate::jobs::{FILES, PACE, bench, kill_at};
use crate::support::{stderr, stdout};

/// A `mv` of the folder that the journals are in moved them away, and removed them.
#[test]
fn a_job_leaves_its_journals_where_they_are() {
    let bench = bench();
    bench.ok(&format!("mv --recursive in s3://box/x/ --journal in/kept {PACE}"));
    assert_eq!(bench.lines("list s3://box/x/ --format keys").len(), FILES);
    bench.ok(&format!("sync s3://box/x/ in --delete --journal in/kept {PACE}"));
    let kept = bench.lines("jobs ls --json --journal in/kept");
    assert!(kept.len() == 2 && kept.iter().all(|job| job.contains("\"done\"")), "{kept:?}");
    assert_eq!(bench.status("compare in s3://box/x/ --exclude kept/*"), 0);
}

#[test]
fn journals_that_cannot_be_used_are_refused_or_done_without() {
    let bench = bench();
    let id = kill_at(&bench, 200, &format!("cp --recursive in s3://box/x/ {PACE}"));
    let other = bench.run(&format!("jobs resume {id} --region nowhere-9"));
    assert!(stderr(&other).contains("--region cannot be used with `jobs resume`"), "{other:?}");
    let path = bench.journals().join(format!("{id}.db"));
    let refusal = |args: &str| {
        let output = bench.run(args);
        assert!(!output.status.success(), "{output:?}");
        stderr(&output)
    };
    let unknown = refusal("jobs resume 20200101-000000-aaaaaaaa");
    assert!(unknown.contains("there is no job"), "{unknown}");
    assert!(refusal("jobs resume ../../etc/passwd").contains("is not the folder of a job"));
    // The version is at offset 60 of a database (https://www.sqlite.org/fileformat.html).
    let closed = bench.ok(&format!("jobs show {id}"));
    assert!(closed.contains("killed"), "{closed}");
    let bytes = std::fs::read(&path).unwrap();
    let mut newer = bytes.clone();
    newer[60..64].copy_from_slice(&9_u32.to_be_bytes());
    std::fs::write(&path, newer).unwrap();
    let newer = refusal(&format!("jobs resume {id}"));
    assert!(newer.contains("a newer s3haul is needed"), "{newer}");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refusal(&format!("jobs resume {id}")).contains("damaged"));
    std::fs::write(&path, "this is no journal").unwrap();
    assert!(refusal(&format!("jobs resume {id}")).contains("damaged"));
    assert!(refusal("jobs ls").contains("damaged"));
    assert_eq!(bench.ok(&format!("jobs prune {id}")), format!("removed: {id}\n"));
    bench.file("kept/20260101-000000-aaaaaaaa.db", "this is no journal");
    for name in ["accounts.db", "accounts.lock", "accounts.log.1", "2026-x.db"] {
        bench.file(&format!("kept/{name}"), "another program's");
    }
    assert_eq!(bench.status("jobs prune accounts --journal kept"), 1);
    assert_eq!(bench.ok("jobs prune --all --journal kept").lines().count(), 1);
    let mut left = bench.names_in("kept");
    left.sort();
    assert_eq!(left, ["2026-x.db", "accounts.db", "accounts.lock", "accounts.log.1"]);
    let none = bench.run("jobs ls --journal kept");
    assert!(none.status.success() && stderr(&none).contains("there are no jobs"), "{none:?}");
    // The job goes on where no journal can be written, and says so once.
    bench.file("file", "");
    let without =
        bench.run("cp --recursive in s3://box/y/ --no-progress --quiet --journal file/jobs");
    assert_eq!(without.status.code(), Some(0), "{without:?}");
    assert_eq!(bench.status("compare in s3://box/y/"), 0);
}

#[test]
fn what_keeps_no_journal_refuses_one() {
    let bench = bench();
    bench.ok("cp in/0/0000 s3://box/a --quiet");
    let key = "0123456789abcdef0123456789abcdef";
    for command in [
        "cp --recursive in s3://box/x/ --dryrun",
        "cp - s3://box/x/a",
        "cp s3://box/a -",
        "rm --from - s3://box/",
        "rm --from s3://box/rows.csv s3://box/",
        "cp --recursive in s3://box/x/ --retry-failed report.csv",
        "cp --recursive in s3://box/x/ --no-journal",
        "restore --recursive s3://box/ --days 1 --wait",
        "cp --recursive s3://box/ s3://box/y/ --to-key {key}.b",
        "mv --recursive s3://box/ gone --to-key {name}",
        "sync s3://box/ down --to-key {name}",
        "mv --recursive s3://box/ s3://box/y/",
        "mv --from keys s3://box/ s3://box/y/",
        "mv s3://box/x*.txt s3://box/x/",
        &format!("cp --recursive in s3://box/x/ --sse-c AES256 --sse-c-key {key}"),
    ] {
        for flag in ["--resume", "--journal jobs"] {
            if command.contains("--no-journal") && flag != "--resume" {
                continue;
            }
            let refused = bench.run(&format!("{command} {flag}"));
            let text = stderr(&refused);
            assert_eq!(refused.status.code(), Some(252), "{command} {flag}: {text}");
            assert!(text.contains("no journal is kept"), "{command} {flag}: {text}");
        }
    }
    assert!(!bench.names().contains(&"jobs".to_owned()));
    // What cannot be written down is done without a journal.
    let url = bench.endpoint().replace("http://", "http://user:pass@");
    let plain = bench.run(&format!("cp in/0/0000 s3://box/b --endpoint-url {url}"));
    assert_eq!(plain.status.code(), Some(0), "{plain:?}");
    let plain = bench.endpoint();
    for flags in [url.clone(), format!("{url} --target-endpoint-url {plain}")] {
        let line = format!("cp --recursive in s3://box/b --endpoint-url {flags} --resume");
        let text = stderr(&bench.run(&line));
        assert!(text.contains("holds a user or a password"), "{text}");
        assert!(!text.contains("user:pass"), "{text}");
    }
}

/// A file that may not grow is what a full disk is to a journal; an upload writes no other.
#[test]
fn a_job_goes_on_where_its_journal_cannot_grow() {
    let bench = bench();
    // Too little for the database, and for the log.
    for (target, blocks) in [("y", 4), ("z", 64)] {
        let line = format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec {} cp --recursive in s3://box/{target}/ \
             --no-progress --only-show-errors --journal kept",
            crate::support::BINARY,
        );
        let output = bench.program("sh").args(["-c", &line]).output().unwrap();
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{printed}");
        assert_eq!(printed.matches("goes on without a journal").count(), 1, "{printed}");
        assert_eq!(bench.status(&format!("compare in s3://box/{target}/")), 0);
        // Nothing is left that says that something is left to be done.
        let kept = bench.run("jobs ls --json --journal kept");
        assert_eq!(stdout(&kept), "", "{kept:?}");
    }
}
