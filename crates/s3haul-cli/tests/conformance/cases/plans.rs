//! Plans that are written, changed by other programs, and done where nothing has changed since.

use std::collections::BTreeMap;
use std::fs;

use crate::harness::{Ctx, cases};

cases!["plans":
    what_has_changed_is_left_alone,
    plans_that_duckdb_has_filtered,
];

/// The objects under a prefix, without it.
fn below(ctx: &Ctx<'_>, prefix: &str) -> BTreeMap<String, String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let objects = ctx.remote.objects().into_iter();
    objects
        .filter_map(|(key, bytes)| Some((key.strip_prefix(prefix)?.to_owned(), text(bytes))))
        .collect()
}

fn what_has_changed_is_left_alone(ctx: &Ctx<'_>) {
    let sides = [("from", "to", false), ("from", "to", true)];
    for (number, (from, to, is_local)) in sides.into_iter().enumerate() {
        let (from, to) = (format!("{from}{number}/"), format!("{to}{number}/"));
        let write = |name: &str, text: &str| {
            if is_local {
                ctx.file(&format!("{from}{name}"), text.as_bytes());
            } else {
                ctx.remote.put(&format!("{from}{name}"), text.as_bytes());
            }
        };
        for name in ["new", "new and taken", "other", "other and taken", "other source", "same"] {
            write(name, "planned");
        }
        for name in ["other", "other and taken", "other source", "gone", "gone and taken"] {
            ctx.remote.put(&format!("{to}{name}"), b"of another length");
        }
        ctx.remote.put(&format!("{to}same"), b"planned");
        let source = if is_local { from.clone() } else { ctx.url(&from) };
        let target = ctx.url(&to);
        let sync = ["sync", &source, &target, "--delete", "--size-only", "--plan", "../p.parquet"];
        let planned = ctx.haul(&[&["plan"], &sync[..]].concat()).code(0);
        assert_eq!(planned.out(), "", "{}", planned.report());
        let shown = ctx.haul(&["plan", "show", "../p.parquet"]).ok();
        assert!(shown.out().contains("delete: 2 objects, "), "{}", shown.report());
        for name in ["new and taken", "other and taken", "gone and taken"] {
            ctx.remote.put(&format!("{to}{name}"), b"of somebody else");
        }
        write("other source", "changed since");
        write("unplanned", "not in the plan");
        let applied = ctx.haul(&["apply", "../p.parquet"]).code(1);
        assert_eq!(changed(&applied.err()), 4, "{}", applied.report());
        let mut expected = BTreeMap::new();
        for (name, text) in [
            ("new", "planned"),
            ("other", "planned"),
            ("same", "planned"),
            ("new and taken", "of somebody else"),
            ("other and taken", "of somebody else"),
            ("gone and taken", "of somebody else"),
            ("other source", "of another length"),
        ] {
            expected.insert(name.to_owned(), text.to_owned());
        }
        assert_eq!(below(ctx, &to), expected, "{}", applied.report());
    }
}

fn plans_that_duckdb_has_filtered(ctx: &Ctx<'_>) {
    for number in 0..300 {
        ctx.file(&format!("t/{number:03}"), &vec![b'x'; number]);
    }
    let target = ctx.url("d");
    let copy = ["plan", "cp", "--recursive", "t", &target, "--plan", "../p.parquet"];
    ctx.haul(&copy).code(0);
    let script = "
import duckdb
print(duckdb.sql('''SELECT count(*), sum(source_size), count(DISTINCT job), min(target_state)
    FROM '../p.parquet' ''').fetchall())
duckdb.sql('''COPY (SELECT * FROM '../p.parquet' WHERE source_size < 100 ORDER BY source_size DESC)
    TO '../few.parquet' (FORMAT parquet)''')
duckdb.sql('''COPY (SELECT * EXCLUDE (target_etag) FROM '../p.parquet')
    TO '../less.parquet' (FORMAT parquet)''')
duckdb.sql('''COPY (SELECT * REPLACE (replace(target, '/d/', '/e/') AS target)
    FROM '../p.parquet') TO '../other.parquet' (FORMAT parquet)''')
duckdb.sql('''COPY (SELECT * FROM '../p.parquet' WHERE false)
    TO '../none.parquet' (FORMAT parquet)''')
";
    let Some(finished) = ctx.python(script) else { return };
    finished.prints(&["[(300, 44850, 1, 'missing')]"]);
    ctx.haul(&["apply", "../less.parquet"]).says("no column `target_etag`");
    ctx.haul(&["apply", "../other.parquet"]).says("nothing of the plan is done");
    let nothing = ctx.haul(&["apply", "../none.parquet"]).code(0);
    assert!(nothing.err().contains("there is nothing to be done"), "{}", nothing.report());
    assert_eq!(ctx.remote.keys(), Vec::<String>::new(), "nothing of a plan that is refused");
    ctx.haul(&["apply", "../few.parquet"]).ok();
    let expected: Vec<_> = (0..100).map(|number| format!("d/{number:03}")).collect();
    assert_eq!(ctx.remote.keys(), expected);
    fs::remove_file(ctx.path("t/000")).unwrap();
    let again = ctx.haul(&["apply", "../few.parquet", "--report", "../r.parquet"]).code(1);
    assert_eq!(changed(&again.err()), 99, "{}", again.report());
    let script = "
import duckdb
print(duckdb.sql('''SELECT event, outcome, count(*) FROM '../r.parquet/*.parquet'
    GROUP BY ALL ORDER BY ALL''').fetchall())
";
    let Some(finished) = ctx.python(script) else { return };
    finished.prints(&["[('end', 'complete', 1), ('object', 'failed', 100), ('report', '', 1)]"]);
}

/// Objects that were left alone since they had changed; the end of a run names some of them again.
fn changed(messages: &str) -> usize {
    let failed = messages.lines().filter(|line| line.contains(" failed: "));
    failed.filter(|line| line.contains("has changed since")).count()
}
