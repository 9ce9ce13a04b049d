//! Incomplete multipart uploads, over several pages of their listing.

use std::time::Duration;

use s3haul::Result;
use s3haul::job::value::UploadsAction;
use s3haul::job::{UploadsSpec, run_uploads};
use s3haul::summary::OpenUpload;
use s3haul_sim::{Effect, Fault};
use s3haul_wire::ObjectProperties;
use s3haul_wire::ops::CreateMultipart;

use crate::world::World;

/// More than a page.
const UPLOADS: usize = 1_100;
const LATENCY: Duration = Duration::from_millis(20);

fn spec(prefix: &str, action: UploadsAction) -> UploadsSpec {
    let (bucket, prefix) = ("bucket".to_owned(), prefix.to_owned());
    UploadsSpec { bucket, prefix, begun_until_s: None, action, concurrency: 8 }
}

/// Keys that were reported, in order, and those that failed.
async fn run(world: &World, spec: &UploadsSpec) -> (Vec<String>, Vec<String>) {
    let (mut told, mut failed) = (Vec::new(), Vec::new());
    let mut tell = |upload: &OpenUpload, result: Result<()>| {
        told.push(upload.key.clone());
        if result.is_err() {
            failed.push(upload.key.clone());
        }
    };
    run_uploads(&world.client, spec, &mut tell).await.unwrap();
    (told, failed)
}

async fn begin(world: &World, key: &str) {
    let properties = ObjectProperties::default();
    let input = CreateMultipart { bucket: "bucket", key, properties: &properties, checksum: None };
    world.client.create_multipart(input).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn all_are_aborted_once_and_one_failure_stops_nothing() {
    let world = World::new();
    let mut keys: Vec<_> = (0..UPLOADS).map(|n| format!("x/{n:05}")).collect();
    for key in &keys {
        begin(&world, key).await;
    }
    begin(&world, "y").await;
    keys.sort();
    let (told, _) = run(&world, &spec("x/", UploadsAction::List)).await;
    assert_eq!(told, keys, "in the order of keys");
    let effect = Effect::respond(403, "AccessDenied");
    let fault = Fault::new(effect).operation("AbortMultipartUpload").key("x/00007").always();
    world.sim.weather().push(fault);
    world.sim.weather().set_latency(LATENCY);
    world.sim.ledger().clear();
    let before = tokio::time::Instant::now();
    let (told, failed) = run(&world, &spec("x/", UploadsAction::Abort)).await;
    let took = before.elapsed();
    assert_eq!((told, failed), (keys, vec!["x/00007".to_owned()]));
    assert_eq!(world.sim.ledger().count("AbortMultipartUpload") as usize, UPLOADS);
    assert_eq!(world.sim.ledger().count("ListMultipartUploads"), 2);
    // Eight at a time.
    let least = LATENCY * (UPLOADS as u32) / 8;
    assert!(took < least.mul_f64(1.2), "{took:?} instead of {least:?}");
    assert_eq!(world.open_uploads().await, 2, "the one that failed, and the other prefix");
}

#[tokio::test(start_paused = true)]
async fn only_those_of_an_age_are_taken() {
    let world = World::new();
    begin(&world, "old").await;
    let page = world.client.list_multipart_uploads("bucket", "", None).await.unwrap();
    let begun_s = page.uploads[0].initiated_s;
    tokio::time::advance(Duration::from_hours(2)).await;
    begin(&world, "young").await;
    for (until_s, expected) in [(begun_s - 1, &[][..]), (begun_s, &["old"][..])] {
        let spec = UploadsSpec { begun_until_s: Some(until_s), ..spec("", UploadsAction::Measure) };
        assert_eq!(run(&world, &spec).await.0, expected);
    }
}
