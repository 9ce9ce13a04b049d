//! What `--dryrun` says the command would send is what it then sends.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::Value;

use crate::support::{Bench, stderr, stdout};

const MIB: usize = 1024 * 1024;

/// The last line of an event.
fn line(text: &str, event: &str) -> Value {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.rev().find(|line| line["event"] == event).unwrap()
}

/// Runs a command dry and then really; both must agree on the requests.
fn agrees(bench: &Bench, args: &str) -> Value {
    let dry = line(&bench.ok(&format!("{args} --dryrun --json")), "estimate");
    let real = bench.ok(&format!("{args} --json"));
    let sent = line(&real, "summary")["requests"].clone();
    for (kind, count) in sent.as_object().unwrap() {
        assert_eq!(&dry["would_send"][kind], count, "{kind} of {args}: {dry}\n{real}");
    }
    dry
}

#[test]
fn a_dry_run_counts_the_requests_of_the_real_run() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("t/a", "1");
    bench.file("t/d/b", "22");
    bench.file("t/large", &"x".repeat(20 * MIB));
    let up = agrees(&bench, "cp --recursive t s3://box/t");
    assert_eq!(up["would_send"]["put_copy_post_list"], 2 + 2 + 3);
    assert_eq!(up["sent"]["put_copy_post_list"], 0);
    agrees(&bench, "cp --recursive s3://box/t s3://box/u");
    agrees(&bench, "cp --recursive s3://box/t s3://box/v --content-type text/plain");
    agrees(&bench, "cp --recursive s3://box/t down");
    let large = agrees(&bench, "cp s3://box/t/large one");
    assert_eq!(large["would_send"]["get_head"], 1 + 3);
    bench.file("t/a", "longer");
    bench.ok("rm s3://box/t/d/b");
    bench.run_with_input("pipe s3://box/t/extra", "x");
    bench.run_with_input("pipe s3://box/t/extra2", "x");
    agrees(&bench, "sync t s3://box/t --delete");
    agrees(&bench, "sync s3://box/t s3://box/u --delete");
    agrees(&bench, "mv --recursive s3://box/u s3://box/w");
    agrees(&bench, "mv --recursive s3://box/v back");
    agrees(&bench, "set --recursive s3://box/w --cache-control no-store --keep-acl");
    agrees(&bench, "set --recursive s3://box/w --acl public-read");
    agrees(&bench, "set --recursive s3://box/w --storage-class GLACIER");
    let restored = agrees(&bench, "restore --recursive s3://box/ --days 1");
    assert_eq!(restored["would_send"]["get_head"], 3, "of the archived ones alone");
    agrees(&bench, "rm s3://box/t/a");
    let all = agrees(&bench, "rm --recursive s3://box");
    assert_eq!(all["would_send"]["delete"], 1);
}

#[test]
fn estimates_are_printed_only_where_requested() {
    let bench = Bench::with_objects(&["a", "b"]);
    // Scripts compare standard error with that of `aws`.
    let unasked = bench.ok("cp --recursive s3://box s3://box/c --dryrun");
    assert_eq!(unasked.lines().count(), 2, "{unasked}");
    assert!(unasked.lines().all(|line| line.starts_with("(dryrun) copy: ")), "{unasked}");
    assert_eq!(bench.status("rm s3://box/a --estimate"), 252, "it goes with --dryrun");
    bench.file("prices", "{\"name\":\"ours\",\"put_copy_post_list\":2000,\"get_head\":0}");
    let output =
        bench.run("cp --recursive s3://box s3://box/c --dryrun --estimate --prices prices");
    let told = "about 6.00 USD (ours, without the data's transfer)\n\
        estimate: this dry run sent 1 PUT/COPY/POST/LIST, 0 GET/HEAD and 0 DELETE requests, about \
        2.00 USD\n";
    assert!(stderr(&output).ends_with(told), "{output:?}");
    assert!(stdout(&output).lines().all(|line| line.starts_with("(dryrun) copy: ")));
    for silence in ["--quiet", "--only-show-errors"] {
        bench.ok(&format!("rm --recursive s3://box --dryrun {silence}"));
    }
    bench.ok("rm --recursive s3://box --dryrun --estimate --quiet");
    let asked = bench.run("rm --recursive s3://box --dryrun --estimate --only-show-errors");
    assert!(stderr(&asked).starts_with("estimate: the command would send "), "{asked:?}");
    bench.file("prices", "{}");
    assert_eq!(bench.status("rm s3://box/a --dryrun --price-table prices"), 252);
}

/// What a class bills beside requests is printed before it is done, by a dry run and by a plan.
#[test]
fn estimates_have_storage_retrieval_and_early_removal() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("one", &"x".repeat(MIB));
    bench.ok("cp one s3://box/cold/a --storage-class STANDARD_IA");
    bench.ok("cp one s3://box/cold/b --storage-class STANDARD_IA");
    bench.ok("cp one s3://box/warm");
    bench.file(
        "prices",
        "{\"name\":\"ours\",\"currency\":\"EUR\",\"put_copy_post_list\":0,\"get_head\":0,\
         \"storage\":{\"STANDARD\":{\"gb_month\":1024},\"GLACIER_IR\":{\"gb_month\":512,\
         \"days_min\":90},\"STANDARD_IA\":{\"gb_month\":1024,\"retrieval_gb\":2048,\
         \"days_min\":30}}}",
    );
    let told = |args: &str| {
        let output = bench.run(&format!("{args} --dryrun --estimate --prices prices"));
        let text = stderr(&output);
        let lines = text.lines().filter_map(|line| line.strip_prefix("estimate: "));
        let is_charge = |line: &&str| !line.contains("requests");
        lines.filter(is_charge).map(str::to_owned).collect::<Vec<_>>()
    };
    let early = "early removal: 2 objects leave STANDARD_IA before the 30 days that it bills, up \
        to 2.00 EUR";
    let read = "retrieval: 2097152 bytes from STANDARD_IA, about 4.00 EUR";
    let colder = "storage: 3145728 bytes billed in GLACIER_IR for what is written, about 1.50 EUR \
        a month, 90 days at least";
    let up =
        "storage: 1048576 bytes billed in STANDARD for what is written, about 1.00 EUR a month";
    assert_eq!(told("rm --recursive s3://box"), [early]);
    assert_eq!(told("set --recursive s3://box --storage-class GLACIER_IR"), [colder, read, early]);
    assert_eq!(told("set --recursive s3://box --acl private"), [""; 0]);
    let kept = "storage: 2097152 bytes billed in STANDARD_IA for what is written, about 2.00 EUR a \
        month, 30 days at least";
    let changed = told("set --recursive s3://box/cold --content-type text/plain");
    assert_eq!(changed, [kept, read, early], "what is changed where it is keeps its class");
    assert_eq!(
        told("cp one s3://box/two --storage-class REDUCED_REDUNDANCY"),
        ["storage: REDUCED_REDUNDANCY has no price in ours"]
    );
    assert_eq!(told("cp --recursive s3://box/cold down"), [read]);
    assert_eq!(told("cp one s3://box/two"), [up]);
    bench.run("set --recursive s3://box --storage-class GLACIER_IR --plan p.parquet");
    let plan = bench.ok("plan show p.parquet --prices prices");
    for line in [colder, read, early] {
        assert!(plan.lines().any(|told| told == line), "{line}\n{plan}");
    }
    bench.file("one", "changed");
    bench.run("cp one s3://box/warm --plan up.parquet");
    let plan = bench.ok("plan show up.parquet --prices prices");
    assert!(!plan.contains("early removal"), "STANDARD bills no days: {plan}");
    bench.run("cp one s3://box/cold/a --plan up.parquet");
    let plan = bench.ok("plan show up.parquet --prices prices");
    assert!(plan.contains("1 object leaves STANDARD_IA before"), "{plan}");
    let priced =
        line(&bench.ok("rm --recursive s3://box --dryrun --json --prices prices"), "estimate");
    assert_eq!(priced["storage_month"], 0.0);
    let plan = line(&bench.ok("plan show p.parquet --prices prices --json"), "plan");
    assert!((plan["storage_month"].as_f64().unwrap() - 1.5).abs() < 0.001, "{plan}");
    assert!((priced["early_removal"].as_f64().unwrap() - 2.0).abs() < 0.001, "{priced}");
}

/// Each speed of restoring has its price, in a dry run and in a plan.
#[test]
fn estimates_of_restores_are_those_of_their_speed() {
    let bench = Bench::new();
    bench.ok("mb s3://box");
    bench.file("one", &"x".repeat(MIB));
    bench.ok("cp one s3://box/frozen --storage-class GLACIER");
    bench.file(
        "prices",
        "{\"name\":\"ours\",\"currency\":\"EUR\",\"put_copy_post_list\":0,\"get_head\":0,\
         \"storage\":{\"GLACIER\":{\"gb_month\":0,\"retrieval_gb\":2048,\"is_archive\":true,\
         \"bulk\":{\"restore\":0,\"retrieval_gb\":0},\
         \"expedited\":{\"restore\":1000,\"retrieval_gb\":4096}}}}",
    );
    let charge = "estimate: retrieval: 1048576 bytes from GLACIER, about ";
    for (tier, cost) in [
        ("", Some("2.00 EUR")),
        ("--tier standard", Some("2.00 EUR")),
        ("--tier bulk", None),
        ("--tier expedited", Some("5.00 EUR")),
    ] {
        let args = format!("restore --recursive s3://box/ --days 1 {tier}");
        let message = stderr(&bench.run(&format!("{args} --dryrun --estimate --prices prices")));
        let found = message.lines().find_map(|line| line.strip_prefix(charge));
        assert_eq!(found, cost, "{tier}: {message}");
        bench.run(&format!("{args} --plan p.parquet"));
        let plan = bench.ok("plan show p.parquet --prices prices");
        let charge = charge.trim_start_matches("estimate: ");
        let found = plan.lines().find_map(|line| line.strip_prefix(charge));
        assert_eq!(found, cost, "{tier}: {plan}");
    }
    bench.file(
        "prices",
        "{\"put_copy_post_list\":0,\"get_head\":0,\"storage\":{\"GLACIER\":\
        {\"gb_month\":0,\"bulk\":{\"restore\":-1,\"retrieval_gb\":0}}}}",
    );
    assert_eq!(bench.status("restore s3://box/frozen --days 1 --dryrun --prices prices"), 252);
}
