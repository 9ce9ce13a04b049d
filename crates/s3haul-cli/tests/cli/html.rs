//! Pages to look at: what is in their data. How they behave in a browser is tested by
//! `python/tests/test_html.py`.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use serde_json::{Value, json};

use crate::support::{Bench, stderr};

/// The data of a page.
fn data(bench: &Bench, file: &str) -> Value {
    let page = bench.read(file);
    let (_, data) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

/// The rows of a table with this title.
fn section(page: &Value, title: &str) -> Vec<Value> {
    let sections = page["sections"].as_array().unwrap();
    let section = sections.iter().find(|section| section["title"] == title);
    section.map_or(Vec::new(), |section| section["rows"].as_array().unwrap().clone())
}

/// Figures of the folder with this name, by the names of their measures.
fn folder(page: &Value, name: &str) -> Value {
    let tree = &page["tree"];
    let at = tree["names"].as_array().unwrap().iter().position(|n| n == name).unwrap();
    let metrics =
        tree["metrics"].as_array().unwrap().iter().zip(tree["values"].as_array().unwrap());
    metrics
        .map(|(metric, values)| (metric["name"].as_str().unwrap().to_owned(), values[at].clone()))
        .collect()
}

/// Runs a command that also has notes to print.
fn succeeds(bench: &Bench, args: &str) {
    let output = bench.run(args);
    assert!(output.status.success(), "{args}: {output:?}");
}

#[test]
fn a_summary_is_written_beside_its_page() {
    let bench = Bench::with_objects(&["a/1.txt", "a/b/c/22.txt", "d/e", "f"]);
    let printed: Value =
        serde_json::from_str(&bench.ok("du s3://box --json --html p.html --uploads")).unwrap();
    let page = data(&bench, "p.html");
    assert_eq!(page["title"], "s3://box/");
    assert_eq!(page["facts"][0]["value"], printed["total"]["objects"]);
    assert_eq!(page["tree"]["names"], json!(["s3://box/", "a/", "b/", "c/", "d/"]));
    assert_eq!(page["tree"]["up"], json!([0, 0, 1, 2, 0]));
    assert_eq!(folder(&page, "s3://box/")["Bytes"], printed["total"]["bytes"]);
    let a = printed["folders"].as_array().unwrap().iter().find(|row| row["name"] == "a/").unwrap();
    assert_eq!(folder(&page, "a/")["Objects"], a["objects"]);
    assert_eq!(folder(&page, "a/")["Bytes"], a["bytes"]);
    let money = section(&page, "What costs money");
    assert_eq!(money.len(), 1, "no upload is open: {money:?}");
    assert_eq!(bench.ok("du s3://box --json --html q.html --depth 0").lines().count(), 1);
    assert_eq!(data(&bench, "q.html")["tree"], page["tree"], "folders to any depth");
}

#[test]
fn prices_and_earlier_summaries_are_taken_from_files() {
    let bench = Bench::with_objects(&["a/1", "b/22"]);
    bench.ok("du s3://box --json --output-file earlier.json");
    bench.file(
        "prices",
        "{\"currency\":\"EUR\",\"put_copy_post_list\":0,\"get_head\":0,\
         \"storage\":{\"STANDARD\":{\"gb_month\":1073741824}}}",
    );
    bench.ok("rm s3://box/a/1");
    bench.ok("du s3://box --html p.html --prices prices --since earlier.json");
    let page = data(&bench, "p.html");
    assert_eq!(page["currency"], "EUR");
    assert_eq!(folder(&page, "b/")["Cost a month"], 4_000_000, "a byte costs one");
    let title = page["sections"].as_array().unwrap().iter().find_map(|section| {
        section["title"].as_str().filter(|title| title.starts_with("What changed most since"))
    });
    let changed = section(&page, title.unwrap());
    assert_eq!(changed, [json!(["a/", 3, 0, -3, -1])]);
    bench.file("other.json", &bench.read("earlier.json").replace("\"box\"", "\"bax\""));
    for (flags, reason) in [
        ("--since earlier.json", "--html"),
        ("--html p.html --since prices", "the earlier summary `prices` cannot be used"),
        ("--html p.html --since other.json", "it is of `s3://bax/`"),
        ("--html p.html --since nowhere", "the earlier summary `nowhere` cannot be used"),
        ("--html p.html --prices earlier.json", "the price table `earlier.json`"),
        ("--html p.html --since earlier.json --include *", "compared with no other"),
        ("--html p.html --since earlier.json --versions", "it has no versions"),
        ("--html ./earlier.json --since earlier.json", "and the command reads it"),
        ("--html ./prices --prices prices", "and the command reads it"),
        ("--html ./out --output-file out", "and the command writes it twice"),
    ] {
        let refused = bench.run(&format!("du s3://box {flags}"));
        assert_eq!(refused.status.code(), Some(252), "{flags}: {refused:?}");
        assert!(stderr(&refused).contains(reason), "{flags}: {refused:?}");
    }
    assert_eq!(data(&bench, "p.html"), page, "a refused command writes no page");
    assert_ne!(bench.status("du s3://nobox --html p.html"), 0);
    assert_eq!(data(&bench, "p.html"), page, "neither does one that fails");
}

#[test]
fn commands_are_about_what_was_counted() {
    let bench = Bench::with_objects(&["a*/1", "ab/2"]);
    bench.file("f", "small");
    bench.ok("cp f s3://box/a*/2 --storage-class STANDARD_IA");
    bench.ok("du s3://box/a*/ --raw --html p.html --region eu-west-1");
    let money = section(&data(&bench, "p.html"), "What costs money");
    let commands: Vec<_> = money.iter().map(|row| row[6].as_str().unwrap()).collect();
    let of = |verb: &str| commands.iter().find(|command| command.starts_with(verb)).unwrap();
    let (address, endpoint) = ("'s3://box/a*/'", bench.endpoint());
    let flags = format!("--region eu-west-1 --endpoint-url {endpoint}");
    assert_eq!(
        *of("s3haul summarize"),
        format!("s3haul summarize {address} --raw --versions --html versions.html {flags}")
    );
    // Uploads are found by the beginning of their keys.
    assert_eq!(*of("s3haul uploads"), format!("s3haul uploads ls {address} --sizes {flags}"));
    let small = of("s3haul set");
    assert!(small.starts_with(&format!("s3haul set {address} --raw --recursive ")), "{small}");
}

#[test]
fn a_comparison_shows_what_differs_where() {
    let bench = Bench::with_objects(&["x/a/1", "x/a/2", "x/b/3", "y/a/1", "y/c/<4>"]);
    bench.file("f", "another text");
    bench.ok("cp f s3://box/y/a/1");
    let output = bench.run("compare s3://box/x s3://box/y --html p.html --format jsonl");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let page = data(&bench, "p.html");
    let facts = |name: &str| {
        let facts = page["facts"].as_array().unwrap();
        facts.iter().find(|fact| fact["name"] == name).unwrap()["value"].clone()
    };
    assert_eq!(facts("Only in the source"), 2);
    assert_eq!(facts("Only in the target"), 1);
    assert_eq!(facts("Different"), 1);
    assert_eq!(folder(&page, "a/")["Objects that differ"], 2);
    assert_eq!(folder(&page, "c/")["All objects"], 1);
    let rows = section(&page, "Differences");
    let names: Vec<_> = rows.iter().map(|row| row[2].as_str().unwrap()).collect();
    assert_eq!(names, ["a/1", "a/2", "b/3", "c/<4>"]);
    assert_eq!(bench.status("verify s3://box/x s3://box/x --html p.html"), 0);
    let page = data(&bench, "p.html");
    assert!(page["kind"].as_str().unwrap().starts_with("Verification of "), "{}", page["kind"]);
    assert_eq!(section(&page, "What was found").last().unwrap()[0], "the same by etag");
    assert_eq!(folder(&page, "a/")["Objects that differ"], 0);
    assert!(section(&page, "Differences").is_empty());
}

#[test]
fn plans_and_jobs_are_shown() {
    let bench = Bench::with_objects(&["x/a/1", "x/22"]);
    succeeds(&bench, "plan rm --recursive s3://box/x/ --plan p.parquet");
    let over = bench.run("plan show p.parquet --html ./p.parquet");
    assert!(stderr(&over).contains("and the command reads it"), "{over:?}");
    bench.ok("plan show p.parquet --html p.html");
    let page = data(&bench, "p.html");
    assert_eq!(folder(&page, "(all)")["Deletions"], 2);
    assert_eq!(folder(&page, "a/")["Objects"], 1);
    assert_eq!(section(&page, "Actions"), [json!(["delete", 2, 9])]);
    assert_eq!(section(&page, "What to do")[0][1], "s3haul apply p.parquet");
    succeeds(
        &bench,
        "plan set --recursive s3://box/x/ --storage-class GLACIER_IR --plan c.parquet",
    );
    let shown = bench.ok("plan show c.parquet");
    let storage = "storage: 262144 bytes billed in GLACIER_IR for what is written, about 0.000001 \
        USD a month, 90 days at least";
    assert!(shown.contains(storage), "two objects are billed as 128 KiB each: {shown}");
    assert!(shown.contains("about 0.000041 USD (S3 in us-east-1"), "{shown}");
    bench.file("in/1", "1");
    let job = bench.ok("cp --recursive in s3://box/y/ --print-job");
    bench.file("job.json", &job);
    succeeds(&bench, "job start job.json --at s3://box/jobs");
    bench.ok("jobs show s3://box/jobs --html j.html");
    let page = data(&bench, "j.html");
    assert_eq!(page["kind"], "Job, running");
    assert_eq!(section(&page, "What to do")[0][1], "s3haul worker --job s3://box/jobs");
    succeeds(&bench, "worker --job s3://box/jobs");
    bench.ok("jobs show s3://box/jobs --html j.html");
    let page = data(&bench, "j.html");
    assert_eq!(
        (&page["kind"], &section(&page, "Progress")[0][1]),
        (&json!("Job, done"), &json!(1))
    );
}
