//! Versions and delete markers: removed by rule, brought back, and a bucket read as it was; and
//! what is said where a server keeps none.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use s3haul_wire::ops::ListVersions;

use super::keys::ODD;
use crate::harness::{Case, Ctx, cases};
use crate::trees;

cases!["versions":
    versioning_is_switched,
    a_bucket_without_versions,
    removed_by_rule,
    many_versions,
    odd_keys,
    killed,
    locked,
    as_it_was,
];

/// Lets the bucket keep versions; false where the server cannot.
fn keeps_versions(ctx: &Ctx<'_>) -> bool {
    let client = &ctx.remote.client;
    let is_set = ctx
        .remote
        .wait(async { Ok(client.put_bucket_versioning(&ctx.bucket, true).await.is_ok()) });
    ctx.can(is_set, "versions")
}

/// Keys with the sizes of their versions, the newest first; `x` is a delete marker. A server may
/// list the markers of a page apart from the rest, so that only those of one key are in order.
fn versions_of(ctx: &Ctx<'_>, prefix: &str) -> Vec<String> {
    let mut versions = Vec::new();
    let (mut key, mut id): (Option<String>, Option<String>) = (None, None);
    loop {
        let page = ctx.remote.wait(ctx.remote.client.list_versions(ListVersions {
            bucket: &ctx.bucket,
            prefix,
            key_marker: key.as_deref(),
            version_id_marker: id.as_deref(),
            ..ListVersions::default()
        }));
        for version in page.versions {
            let size = version.size.to_string();
            let shown = if version.is_delete_marker { "x" } else { &size };
            versions.push(format!("{} {shown}", version.key));
        }
        if !page.is_truncated {
            return versions;
        }
        (key, id) = (page.next_key_marker, page.next_version_id_marker);
    }
}

/// `versioning` switches what `mb --versioning` makes.
/// The cases that moto can take part in.
pub(crate) const MOTO: &[Case] =
    &[Case { name: "versions::versioning_is_switched", run: versioning_is_switched }];

fn versioning_is_switched(ctx: &Ctx<'_>) {
    let (plain, made) = (format!("s3://{}", ctx.bucket), format!("s3://{}-v", ctx.bucket));
    let get = |bucket: &str| ctx.haul(&["versioning", "get", bucket]).ok().out();
    if !keeps_versions(ctx) {
        let failed = ctx.haul(&["mb", &made, "--versioning"]).code(1);
        failed.says(&format!("`s3haul versioning enable {made}`"));
        ctx.haul(&["rb", &made]).ok();
        return;
    }
    assert_eq!(get(&plain), "enabled\n");
    let suspended = ctx.haul(&["versioning", "suspend", &plain]).ok();
    suspended.prints(&[format!("versioning suspended: {}", ctx.bucket)]);
    assert_eq!(get(&plain), "suspended\n");
    let json = ctx.haul(&["versioning", "enable", &plain, "--json"]).ok().out();
    let bucket = &ctx.bucket;
    let line = format!(
        "{{\"v\":1,\"event\":\"versioning\",\"bucket\":\"{bucket}\",\"status\":\"enabled\"}}\n"
    );
    assert_eq!(json, line);
    ctx.haul(&["mb", &made]).ok();
    assert_eq!(get(&made), "off\n");
    ctx.haul(&["rb", &made]).ok();
    let done = ctx.haul(&["mb", &made, "--versioning"]).ok();
    done.prints(&[format!("make_bucket: {bucket}-v")]);
    assert_eq!(get(&made), "enabled\n");
    ctx.haul(&["rb", &made]).ok();
    ctx.haul(&["versioning", "get", &made]).code(254).says("(NoSuchBucket)");
    ctx.haul(&["versioning", "enable", &ctx.url("k")]).code(252);
}

/// On a server without versions the existing objects are listed and nothing can be restored.
fn a_bucket_without_versions(ctx: &Ctx<'_>) {
    for key in ["d/a", "d/b"] {
        ctx.remote.put(key, b"1");
    }
    let (all, one) = (ctx.url("d"), ctx.url("d/a"));
    let none = format!("`s3://{}` has no versions", ctx.bucket);
    for args in [
        &["undelete", "--recursive", &all][..],
        &["cp", &one, "a", "--as-of", "1s"],
        &["sync", &all, "down", "--as-of", "1s"],
    ] {
        ctx.haul(args).code(255).says(&none);
    }
    assert!(!ctx.path("a").exists() && !ctx.path("down").exists());
    let removed = format!("delete: {one} (version null)");
    ctx.haul(&["rm", "--versions", &one]).ok().prints(&[removed]);
    assert_eq!(ctx.remote.keys(), ["d/b"]);
    ctx.haul(&["rm", "--noncurrent", "--recursive", &all]).ok().prints(&[""; 0]);
    assert_eq!(ctx.remote.keys(), ["d/b"]);
}

fn removed_by_rule(ctx: &Ctx<'_>) {
    if !keeps_versions(ctx) {
        return;
    }
    for size in 1..=3 {
        ctx.remote.put("d/a", &vec![b'x'; size]);
        ctx.remote.put("d/ab", &vec![b'x'; size]);
    }
    ctx.remote.delete("d/ab");
    let (all, one) = (ctx.url("d"), ctx.url("d/a"));
    assert_eq!(ctx.haul(&["rm", "--noncurrent", "--keep", "1", &one]).ok().lines().len(), 1);
    assert_eq!(versions_of(ctx, "d/a").len(), 6);
    let refused = ["rm", "--recursive", "--versions", &all, "--max-delete", "5"];
    ctx.haul(&refused).code(1).says("6 versions and delete markers would be removed");
    assert_eq!(ctx.haul(&["undelete", "--recursive", &all]).ok().lines().len(), 1);
    assert_eq!(ctx.remote.keys(), ["d/a", "d/ab"]);
    assert_eq!(ctx.remote.get("d/ab"), b"xxx");
    ctx.remote.delete("d/a");
    let marker = ctx.haul(&["rm", "--recursive", "--delete-markers-only", &all]).ok();
    assert!(marker.out().starts_with(&format!("delete: {one} (version ")), "{}", marker.report());
    assert_eq!(versions_of(ctx, "d/"), ["d/a 3", "d/a 2", "d/ab 3", "d/ab 2", "d/ab 1"]);
    ctx.haul(&["rm", "--recursive", "--noncurrent", &all]).ok();
    assert_eq!(versions_of(ctx, "d/"), ["d/a 3", "d/ab 3"]);
    let bucket = format!("s3://{}", ctx.bucket);
    ctx.haul(&["rb", "--force", &bucket]).code(1).says("rb --force --versions");
    ctx.haul(&["rb", "--force", "--versions", &bucket]).ok();
    ctx.remote.create_bucket();
}

/// More than two pages of a listing and more than two requests of removing.
fn many_versions(ctx: &Ctx<'_>) {
    if !keeps_versions(ctx) {
        return;
    }
    let keys: Vec<String> = (0..900).map(|n| format!("many/{:02}/{n:04}", n % 7)).collect();
    for _ in 0..3 {
        ctx.remote.put_all(&keys);
    }
    let all = ctx.url("many");
    let quiet = ["rm", "--recursive", "--only-show-errors", &all];
    ctx.haul(&[&quiet[..], &["--noncurrent", "--keep", "1"]].concat()).ok();
    assert_eq!(versions_of(ctx, "").len(), 2 * keys.len());
    ctx.haul(&quiet).ok();
    assert!(ctx.remote.keys().is_empty());
    ctx.haul(&["undelete", "--recursive", "--only-show-errors", &all]).ok();
    assert_eq!(ctx.remote.keys().len(), keys.len());
    ctx.haul(&[&quiet[..], &["--versions", "--page-size", "333"]].concat()).ok();
    assert_eq!(versions_of(ctx, ""), [""; 0]);
}

fn odd_keys(ctx: &Ctx<'_>) {
    if !keeps_versions(ctx) {
        return;
    }
    for key in ODD {
        ctx.remote.put(key, b"1");
        ctx.remote.put(key, b"22");
        ctx.remote.delete(key);
    }
    let all = ctx.url("");
    ctx.haul(&["undelete", "--recursive", &all]).ok();
    assert_eq!(ctx.remote.keys().len(), ODD.len());
    assert_eq!(versions_of(ctx, "").len(), 2 * ODD.len());
    ctx.haul(&["rm", "--recursive", "--versions", &all]).ok();
    assert_eq!(versions_of(ctx, ""), [""; 0]);
}

/// Ended by force at any point, and run again until nothing is left.
fn killed(ctx: &Ctx<'_>) {
    if !keeps_versions(ctx) {
        return;
    }
    let keys: Vec<String> = (0..1_200).map(|n| format!("{:02}/{n:04}", n % 11)).collect();
    for _ in 0..2 {
        ctx.remote.put_all(&keys);
    }
    let all = ctx.url("");
    let args = ["rm", "--recursive", "--versions", "--page-size", "200", &all];
    let slow = ctx.config("max_concurrent_requests=1");
    for _ in 0..4 {
        let before = versions_of(ctx, "").len();
        let mut running = ctx.haul_with(&args).variable("AWS_CONFIG_FILE", &slow).start();
        let deadline = Instant::now() + Duration::from_mins(1);
        while !running.has_ended() && versions_of(ctx, "").len() == before {
            assert!(Instant::now() < deadline, "nothing was removed in time");
        }
        if running.has_ended() {
            running.finish().ok();
            break;
        }
        running.signal("KILL");
        drop(running);
    }
    ctx.haul(&args).ok();
    assert_eq!(versions_of(ctx, ""), [""; 0]);
    ctx.haul(&args).ok().prints(&[""; 0]);
}

/// A version that is locked in governance mode, where a server has such locks.
fn locked(ctx: &Ctx<'_>) {
    let script = "
import datetime
name = bucket + '-locked'
try:
    s3.create_bucket(Bucket=name, ObjectLockEnabledForBucket=True)
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    s3.put_object(Bucket=name, Key='k', Body=b'1', ObjectLockMode='GOVERNANCE',
                  ObjectLockRetainUntilDate=until)
    mode = s3.get_object_retention(Bucket=name, Key='k')['Retention']['Mode']
    if mode == 'GOVERNANCE' and s3.get_bucket_versioning(Bucket=name).get('Status') == 'Enabled':
        print('locked')
except Exception:
    pass
";
    let Some(made) = ctx.python(script) else { return };
    if !ctx.can(made.out().contains("locked"), "locks of versions") {
        return;
    }
    let url = format!("s3://{}-locked/k", ctx.bucket);
    ctx.haul(&["rm", "--versions", &url]).code(1).says("delete failed");
    let done = ctx.haul(&["rm", "--versions", "--bypass-governance", &url]).ok();
    assert!(done.out().starts_with(&format!("delete: {url} (version ")), "{}", done.report());
}

/// A time in whole seconds that all before lies before and all after lies after.
pub(super) fn a_second_between() -> String {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let second = now() + 1;
    while now() <= second {
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = second.try_into().unwrap();
    jiff::Timestamp::from_second(second).unwrap().to_string()
}

fn as_it_was(ctx: &Ctx<'_>) {
    if !keeps_versions(ctx) {
        return;
    }
    let large = trees::bytes(5, 9 * trees::MIB);
    let put = |key: &str, bytes: &[u8]| ctx.remote.put(&format!("d/{key}"), bytes);
    for (key, bytes) in [("a", &b"old"[..]), ("gone", b"gone"), ("large", &large), ("same", b"s")] {
        put(key, bytes);
    }
    let at = a_second_between();
    put("a", b"new");
    put("large", &trees::bytes(6, 9 * trees::MIB));
    put("more", b"more");
    ctx.remote.delete("d/gone");
    let url = ctx.url("d");
    ctx.haul(&["sync", &url, "then", "--as-of", &at]).ok();
    let then = trees::read(&ctx.path("then"));
    let names: Vec<_> = then.keys().map(String::as_str).collect();
    assert_eq!(names, ["a", "gone", "large", "same"]);
    assert!(then["a"] == b"old" && then["large"] == large);
    ctx.haul(&["sync", &url, "then", "--as-of", &at]).ok().prints(&[""; 0]);
    let args = ["sync", "--delete", &url, &url, "--as-of", &at];
    ctx.haul(&args).ok().prints(&[
        format!("copy: {url}/a to {url}/a"),
        format!("copy: {url}/gone to {url}/gone"),
        format!("copy: {url}/large to {url}/large"),
        format!("delete: {url}/more"),
    ]);
    let objects = ctx.remote.objects();
    assert_eq!(objects.len(), 4);
    assert!(objects["d/a"] == b"old" && objects["d/large"] == large);
    ctx.haul(&args).ok().prints(&[""; 0]);
}
