//! Copies between two services: the bytes go through this machine.

use std::time::Duration;

use s3haul::job::{CopyProps, MetadataDirective, SyncOptions, TransferCommand, TransferSpec};
use s3haul_sim::{Effect, Fault};
use s3haul_wire::{CustomerKey, ObjectProperties};

use crate::world::{PART, World, bytes};

/// Two parts and a bit.
const LARGE: usize = 2 * PART as usize + 1000;

fn two_worlds() -> (World, World) {
    (World::new(), World::at("http://127.0.0.1:9001"))
}

fn tree(world: &World, command: TransferCommand) -> TransferSpec {
    let spec = world.spec(command, "s3://bucket/from", Some("s3://bucket/to"));
    TransferSpec { recursive: command != TransferCommand::Sync, ..spec }
}

fn blue() -> ObjectProperties {
    ObjectProperties {
        content_type: Some("text/x-test".to_owned()),
        cache_control: Some("no-cache".to_owned()),
        metadata: Some(vec![("colour".to_owned(), "blue".to_owned())]),
        tagging: Some("a=1&b=2%20x".to_owned()),
        ..ObjectProperties::default()
    }
}

/// Two objects, a small and a large one, with properties.
async fn laid_out() -> (World, World, Vec<u8>) {
    let (near, far) = two_worlds();
    let large = bytes(LARGE, 3);
    near.object_with("from/small", b"small", &blue()).await;
    near.object_with("from/large", &large, &blue()).await;
    near.sim.ledger().clear();
    (near, far, large)
}

#[tokio::test(start_paused = true)]
async fn a_large_object_is_relayed_again_when_it_was_damaged() {
    let (near, far, large) = laid_out().await;
    let corrupt = Effect::CorruptByte { offset: 3 };
    near.sim.weather().push(Fault::new(corrupt).operation("GetObject").key("from/large"));
    let summary = near.run_to(&far, tree(&near, TransferCommand::Copy)).await;
    assert_eq!(summary.done, 2, "{:?}", near.log.lines());
    assert_eq!(far.get("to/large").await.unwrap(), large);
    assert_eq!(near.log.moved(), LARGE as i64 + 5);
    assert_eq!(far.open_uploads().await, 0);
}

#[tokio::test(start_paused = true)]
async fn objects_go_over_with_all_they_carry() {
    let (near, far, large) = laid_out().await;
    let summary = near.run_to(&far, tree(&near, TransferCommand::Copy)).await;
    assert_eq!((summary.done, summary.bytes), (2, LARGE as u64 + 5), "{:?}", near.log.lines());
    assert_eq!(near.log.moved(), LARGE as i64 + 5);
    assert_eq!(far.get("to/large").await.unwrap(), large);
    assert_eq!(far.get("to/small").await.unwrap(), b"small");
    for key in ["to/small", "to/large"] {
        let head = far.head(key).await;
        assert_eq!(head.properties.content_type, blue().content_type, "{key}");
        assert_eq!(head.properties.cache_control, blue().cache_control, "{key}");
        assert_eq!(head.properties.metadata, blue().metadata, "{key}");
        assert!(head.checksum_is_full_object, "{key}");
        let tags = far.client.get_object_tagging("bucket", key, None).await.unwrap();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(tags, [pair("a", "1"), pair("b", "2 x")], "{key}");
    }
    let (asked, written) = (near.sim.ledger(), far.sim.ledger());
    // One GET of the small object, one for each part of the large one, and two times tags.
    assert_eq!(asked.count("GetObject"), 1 + 3);
    assert_eq!((asked.count("HeadObject"), asked.count("GetObjectTagging")), (1, 2));
    assert_eq!((written.count("PutObject"), written.count("UploadPart")), (1, 3));
    assert_eq!(written.count("CopyObject") + written.count("UploadPartCopy"), 0);
    assert_eq!(asked.count("PutObject") + asked.count("DeleteObject"), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_carried_is_what_the_flags_say() {
    let storage_class = Some("STANDARD_IA".to_owned());
    let plain = ObjectProperties { storage_class, ..ObjectProperties::default() };
    let typed = ObjectProperties { content_type: Some("image/x-said".to_owned()), ..plain.clone() };
    let directives = [None, Some(MetadataDirective::Copy), Some(MetadataDirective::Replace)];
    let props = [CopyProps::None, CopyProps::MetadataDirective, CopyProps::Default];
    let (near, far, _) = laid_out().await;
    for (directive, copy_props) in directives.into_iter().flat_map(|d| props.map(|p| (d, p))) {
        for properties in [&plain, &typed] {
            let spec = TransferSpec {
                copy_props,
                metadata_directive: directive,
                properties: properties.clone(),
                ..tree(&near, TransferCommand::Copy)
            };
            let name = format!("{copy_props:?} {directive:?} {:?}", properties.content_type);
            // What one CopyObject of the server makes is what comes out, whatever the size.
            assert_eq!(near.run(spec.clone()).await.unwrap().done, 2, "{:?}", near.log.lines());
            assert_eq!(near.run_to(&far, spec).await.done, 2, "{:?}", near.log.lines());
            let expected = near.head("to/small").await.properties;
            let tags = near.client.get_object_tagging("bucket", "to/small", None).await.unwrap();
            for key in ["to/small", "to/large"] {
                assert_eq!(far.head(key).await.properties, expected, "{key} {name}");
                let found = far.client.get_object_tagging("bucket", key, None).await.unwrap();
                assert_eq!(found, tags, "{key} {name}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tags_that_no_header_holds_are_written_afterwards() {
    let (near, far, _) = laid_out().await;
    let tags: Vec<_> = (0..10).map(|n| (format!("name-{n}"), "ä b".repeat(60))).collect();
    for key in ["from/small", "from/large"] {
        near.client.put_object_tagging("bucket", key, None, &tags).await.unwrap();
    }
    let summary = near.run_to(&far, tree(&near, TransferCommand::Copy)).await;
    assert_eq!(summary.done, 2, "{:?}", near.log.lines());
    for key in ["to/small", "to/large"] {
        let found = far.client.get_object_tagging("bucket", key, None).await.unwrap();
        assert_eq!(found.len(), 10, "{key}");
    }
    // A target without the tags does not stay.
    let refusal = Fault::new(Effect::respond(403, "AccessDenied")).operation("PutObjectTagging");
    far.sim.weather().push(refusal.always());
    let summary = near.run_to(&far, tree(&near, TransferCommand::Copy)).await;
    assert_eq!(summary.failed, 2, "{:?}", near.log.lines());
    assert!(far.keys().await.is_empty());
    assert_eq!(near.log.moved(), LARGE as i64 + 5);
}

#[tokio::test(start_paused = true)]
async fn an_object_relayed_onto_itself_stays_though_its_tags_are_refused() {
    let (near, _, large) = laid_out().await;
    let same = near.under("http://127.0.0.1:9001");
    let tags: Vec<_> = (0..10).map(|n| (format!("name-{n}"), "ä b".repeat(60))).collect();
    for key in ["from/small", "from/large"] {
        near.client.put_object_tagging("bucket", key, None, &tags).await.unwrap();
    }
    let refusal = Fault::new(Effect::respond(403, "AccessDenied")).operation("PutObjectTagging");
    near.sim.weather().push(refusal.always());
    let spec = near.spec(TransferCommand::Copy, "s3://bucket/from", Some("s3://bucket/from"));
    let summary = near.run_to(&same, TransferSpec { recursive: true, ..spec }).await;
    assert_eq!(summary.failed, 2, "{:?}", near.log.lines());
    assert_eq!(near.get("from/large").await.unwrap(), large);
    assert_eq!(near.get("from/small").await.unwrap(), b"small");
}

#[tokio::test(start_paused = true)]
async fn tags_that_are_kept_from_us_are_told_once() {
    let (near, far, large) = laid_out().await;
    for n in 0..5 {
        near.object(&format!("from/{n}"), b"1").await;
    }
    let refusal = Fault::new(Effect::respond(403, "AccessDenied")).operation("GetObjectTagging");
    near.sim.weather().push(refusal.always());
    let summary = near.run_to(&far, tree(&near, TransferCommand::Copy)).await;
    assert_eq!((summary.done, summary.warnings), (7, 1), "{:?}", near.log.lines());
    assert_eq!(near.log.count("tags of `s3://bucket` cannot be read"), 1);
    assert_eq!(far.get("to/large").await.unwrap(), large);
    // Once for the job, and for each object that says it has some.
    assert!(near.sim.ledger().count("GetObjectTagging") <= 3);
    // A move would lose them.
    let summary = near.run_to(&far, tree(&near, TransferCommand::Move)).await;
    assert_eq!((summary.done, summary.failed), (0, 7), "{:?}", near.log.lines());
    assert_eq!(near.keys().await.len(), 7);
}

#[tokio::test(start_paused = true)]
async fn keys_of_both_sides_are_their_own() {
    let (near, far) = two_worlds();
    let key = |byte: u8| CustomerKey { algorithm: "AES256".to_owned(), key: vec![byte; 32] };
    let with_key =
        |byte| ObjectProperties { customer_key: Some(key(byte)), ..ObjectProperties::default() };
    let large = bytes(LARGE, 4);
    near.object_with("from/small", b"small", &with_key(1)).await;
    near.object_with("from/large", &large, &with_key(1)).await;
    let spec = TransferSpec {
        source_customer_key: Some(key(1)),
        properties: with_key(2),
        ..tree(&near, TransferCommand::Copy)
    };
    assert_eq!(near.run_to(&far, spec).await.done, 2, "{:?}", near.log.lines());
    let spec = far.spec(TransferCommand::Copy, "s3://bucket/to", Some("out"));
    let spec = TransferSpec { recursive: true, properties: with_key(2), ..spec };
    assert_eq!(far.run(spec).await.unwrap().done, 2, "{:?}", far.log.lines());
    assert_eq!(std::fs::read(far.path("out/large")).unwrap(), large);
}

#[tokio::test(start_paused = true)]
async fn relays_survive_what_passes() {
    let reads = [
        Effect::slow_down(),
        Effect::internal_error(),
        Effect::ResetBeforeResponse,
        Effect::ResetAfter { bytes: 3 },
        Effect::Truncate { bytes: 2 },
        Effect::Stall,
    ];
    let reads = reads.into_iter().map(|effect| (true, "GetObject", effect));
    let writes = [
        ("PutObject", Effect::slow_down()),
        ("PutObject", Effect::LostResponse),
        ("CreateMultipartUpload", Effect::internal_error()),
        ("UploadPart", Effect::slow_down()),
        ("UploadPart", Effect::ResetAfter { bytes: 10 }),
        ("UploadPart", Effect::LostResponse),
        ("CompleteMultipartUpload", Effect::internal_error()),
        ("CompleteMultipartUpload", Effect::LostResponse),
    ];
    let writes = writes.into_iter().map(|(operation, effect)| (false, operation, effect));
    for (reads, operation, effect) in reads.chain(writes) {
        let (near, far, large) = laid_out().await;
        let name = format!("{operation} {effect:?}");
        let weather = if reads { near.sim.weather() } else { far.sim.weather() };
        weather.push(Fault::new(effect).operation(operation).times(3));
        let summary = near.run_to(&far, tree(&near, TransferCommand::Copy)).await;
        assert_eq!(summary.done, 2, "{name}: {:?}", near.log.lines());
        assert_eq!(far.get("to/large").await.unwrap(), large, "{name}");
        assert_eq!(far.get("to/small").await.unwrap(), b"small", "{name}");
        assert_eq!(near.log.moved(), LARGE as i64 + 5, "{name}");
        assert_eq!(far.open_uploads().await, 0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn damaged_bytes_never_become_an_object() {
    for key in ["from/small", "from/large"] {
        let (near, far, _) = laid_out().await;
        let corrupt = Effect::CorruptByte { offset: 3 };
        near.sim.weather().push(Fault::new(corrupt).operation("GetObject").key(key).always());
        let summary = near.run_to(&far, tree(&near, TransferCommand::Copy)).await;
        assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", near.log.lines());
        assert_eq!(near.log.count("checksum"), 1, "{:?}", near.log.lines());
        assert_eq!(far.keys().await.len(), 1);
        assert_eq!(far.open_uploads().await, 0);
        assert!([5, LARGE as i64].contains(&near.log.moved()), "{}", near.log.moved());
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_replaced_between_its_parts_is_not_mixed() {
    let (near, far, _) = laid_out().await;
    let mut spec = tree(&near, TransferCommand::Move);
    spec.tuning.max_concurrent_requests = 1;
    let slow = Effect::Delay(Duration::from_secs(5));
    near.sim.weather().push(Fault::new(slow).operation("GetObject").key("from/large").always());
    let replace = async {
        tokio::time::sleep(Duration::from_secs(7)).await;
        near.object("from/large", &bytes(LARGE, 10)).await;
    };
    let (summary, ()) = tokio::join!(near.run_to(&far, spec), replace);
    assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", near.log.lines());
    assert_eq!(near.log.count("did not match expected ETag"), 1, "{:?}", near.log.lines());
    assert_eq!(
        (far.keys().await, near.keys().await),
        (vec!["to/small".to_owned()], vec!["from/large".to_owned()],)
    );
    assert_eq!(far.open_uploads().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_small_object_that_became_large_goes_in_parts() {
    let (near, far, large) = laid_out().await;
    let slow = Effect::Delay(Duration::from_secs(5));
    near.sim.weather().push(Fault::new(slow).operation("GetObject").key("from/small"));
    let replace = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        near.object("from/small", &large).await;
    };
    let spec = tree(&near, TransferCommand::Move);
    let (summary, ()) = tokio::join!(near.run_to(&far, spec), replace);
    assert_eq!((summary.done, summary.bytes), (2, 2 * LARGE as u64), "{:?}", near.log.lines());
    assert_eq!(far.get("to/small").await.unwrap(), large);
    assert!(near.keys().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_move_removes_the_source_after_the_target_is_safe() {
    let (near, far, large) = laid_out().await;
    let refusal = Fault::new(Effect::respond(403, "AccessDenied")).operation("PutObject");
    far.sim.weather().push(refusal.times(1));
    let summary = near.run_to(&far, tree(&near, TransferCommand::Move)).await;
    assert_eq!((summary.done, summary.failed), (1, 1), "{:?}", near.log.lines());
    assert_eq!(near.keys().await, ["from/small"]);
    assert_eq!(far.get("to/large").await.unwrap(), large);
    assert_eq!(far.sim.ledger().count("DeleteObject"), 0);
    near.run_to(&far, tree(&near, TransferCommand::Move)).await;
    assert!(near.keys().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn paths_written_alike_are_two_objects() {
    let (near, far, large) = laid_out().await;
    let spec = near.spec(TransferCommand::Move, "s3://bucket", Some("s3://bucket"));
    // Both are written in the same second, so that only the time distinguishes them.
    tokio::time::advance(Duration::from_secs(5)).await;
    let summary = near.run_to(&far, TransferSpec { recursive: true, ..spec }).await;
    assert_eq!(summary.done, 2, "{:?}", near.log.lines());
    assert!(near.keys().await.is_empty());
    assert_eq!(far.get("from/large").await.unwrap(), large);
}

#[tokio::test(start_paused = true)]
async fn a_move_between_two_names_of_one_server_loses_nothing() {
    let near = World::new();
    let again = near.under("http://localhost:9000");
    let large = bytes(LARGE, 3);
    near.object("k", b"small").await;
    near.object("l", &large).await;
    let spec = near.spec(TransferCommand::Move, "s3://bucket", Some("s3://bucket"));
    tokio::time::advance(Duration::from_secs(5)).await;
    let summary = near.run_to(&again, TransferSpec { recursive: true, ..spec }).await;
    assert_eq!((summary.done, summary.failed), (0, 2), "{:?}", near.log.lines());
    assert_eq!(near.log.count("may be one object"), 2, "{:?}", near.log.lines());
    assert_eq!(near.get("k").await.unwrap(), b"small");
    assert_eq!(near.get("l").await.unwrap(), large);
    assert_eq!(near.log.moved(), 0);
}

#[tokio::test(start_paused = true)]
async fn streaming_can_be_asked_for() {
    let (near, _, large) = laid_out().await;
    let spec = tree(&near, TransferCommand::Copy);
    let summary = near.run(TransferSpec { streams_copies: true, ..spec }).await.unwrap();
    assert_eq!(summary.done, 2, "{:?}", near.log.lines());
    assert_eq!(near.get("to/large").await.unwrap(), large);
    assert_eq!(near.sim.ledger().count("UploadPart"), 3);
    assert_eq!(near.sim.ledger().count("CopyObject"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_sync_reads_and_removes_on_the_right_side() {
    let (near, far, _) = laid_out().await;
    far.object("to/old", b"old").await;
    near.object("to/old", b"not this one").await;
    let sync = SyncOptions { delete: true, ..SyncOptions::default() };
    let spec = TransferSpec { sync, ..tree(&near, TransferCommand::Sync) };
    let summary = near.run_to(&far, spec.clone()).await;
    assert_eq!(summary.done, 3, "{:?}", near.log.lines());
    assert_eq!(far.keys().await, ["to/large", "to/small"]);
    assert_eq!(near.keys().await, ["from/large", "from/small", "to/old"]);
    let again = near.run_to(&far, spec).await;
    assert_eq!((again.done, again.skipped), (0, 0), "{:?}", near.log.lines());
}

#[tokio::test(start_paused = true)]
async fn an_existing_target_stays_where_it_is_said() {
    let (near, far, _) = laid_out().await;
    far.object("to/small", b"mine").await;
    far.object("to/large", b"mine").await;
    let spec = TransferSpec { no_overwrite: true, ..tree(&near, TransferCommand::Move) };
    let summary = near.run_to(&far, spec).await;
    assert_eq!((summary.done, summary.skipped), (0, 2), "{:?}", near.log.lines());
    assert_eq!(far.get("to/large").await.unwrap(), b"mine");
    assert_eq!(near.keys().await.len(), 2);
    assert_eq!(near.sim.ledger().count("GetObject"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_tiny_budget_slows_and_does_not_stop() {
    let (near, far, large) = laid_out().await;
    for n in 0..20 {
        near.object(&format!("from/{n}"), &bytes(300_000, n)).await;
    }
    let mut spec = tree(&near, TransferCommand::Copy);
    spec.tuning.memory_budget = 1 << 20;
    assert_eq!(near.run_to(&far, spec).await.done, 22, "{:?}", near.log.lines());
    assert_eq!(far.get("to/large").await.unwrap(), large);
}

#[tokio::test(start_paused = true)]
async fn cancelling_at_any_moment_leaves_nothing_behind() {
    let seed = std::env::var("S3HAUL_TEST_SEED").map_or(20_261_121, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..16 {
        let (near, far, large) = laid_out().await;
        for n in 0..20 {
            near.object(&format!("from/{n}"), b"1").await;
        }
        for world in [&near, &far] {
            world.sim.weather().set_latency(Duration::from_millis(50));
        }
        let after = Duration::from_micros(random.u64(0..600_000));
        let cancel = async {
            tokio::time::sleep(after).await;
            near.cancel.cancel();
        };
        let spec = tree(&near, TransferCommand::Move);
        let (summary, ()) = tokio::join!(near.run_to(&far, spec), cancel);
        far.sim.weather().set_latency(Duration::ZERO);
        near.sim.weather().set_latency(Duration::ZERO);
        let name = format!("round {round} after {after:?}: {summary:?}");
        assert_eq!(far.open_uploads().await, 0, "{name}");
        let (here, there) = (near.keys().await, far.keys().await);
        let is_safe = |key: &str| {
            here.contains(&format!("from/{key}")) || there.contains(&format!("to/{key}"))
        };
        assert!((0..20).all(|n| is_safe(&n.to_string())) && is_safe("large"), "{name}");
        if there.contains(&"to/large".to_owned()) {
            assert_eq!(far.get("to/large").await.unwrap(), large, "{name}");
        }
    }
}
