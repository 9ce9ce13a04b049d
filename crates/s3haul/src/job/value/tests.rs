//! Jobs and their JSON.

use std::path::PathBuf;

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

use super::*;
use crate::job::{CaseConflict, CopyProps, Depth, FilterRule, MetadataDirective};

/// The published schema.
const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/job.schema.json");

/// With `S3HAUL_UPDATE_GOLDEN` set, the file is written instead.
#[test]
fn the_published_schema_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Job)).unwrap() + "\n";
    if std::env::var_os("S3HAUL_UPDATE_GOLDEN").is_some() {
        std::fs::write(SCHEMA, &schema).unwrap();
    }
    let published = std::fs::read_to_string(SCHEMA).unwrap();
    assert!(published == schema, "run this test with S3HAUL_UPDATE_GOLDEN=1 and look at the diff");
}

#[test]
fn what_has_its_default_is_not_written() {
    let task = CopyTask { source: "a".into(), target: "s3://b/k".into(), ..CopyTask::default() };
    let text = Job::new(Task::Copy(Box::new(task))).to_json().unwrap();
    let expected = r#"{
  "version": 1,
  "task": {
    "copy": {
      "source": "a",
      "target": "s3://b/k"
    }
  }
}
"#;
    assert_eq!(text, expected);
}

#[test]
fn unknown_fields_and_other_versions_are_refused_in_plain_words() {
    let read = |text: &str| Job::from_json(text.as_bytes()).unwrap_err().to_string();
    let paths = r#""source":"a","target":"s3://b""#;
    for (text, said) in [
        (r#"{"version":2,"task":{"teleport":{}}}"#.to_owned(), "the job has version 2"),
        (format!(r#"{{"version":0,"task":{{"copy":{{{paths}}}}}}}"#), "versions begin with 1"),
        (format!(r#"{{"task":{{"copy":{{{paths}}}}}}}"#), "missing field `version`"),
        (
            format!(r#"{{"version":1,"task":{{"copy":{{{paths},"recusive":true}}}}}}"#),
            "unknown field `recusive`, expected one of `source`",
        ),
        (
            format!(r#"{{"version":1,"extra":1,"task":{{"copy":{{{paths}}}}}}}"#),
            "unknown field `extra`",
        ),
        (
            r#"{"version":1,"task":{"remove":{"source":"s3://b",
                "versions":{"noncurrent":{"x":1}}}}}"#
                .to_owned(),
            "unknown field `x`",
        ),
        (r#"{"version":1,"task":{"teleport":{}}}"#.to_owned(), "unknown variant `teleport`"),
        (r#"{"version":1}"#.to_owned(), "missing field `task`"),
        ("cp a b".to_owned(), "the job cannot be read: expected value at line 1"),
    ] {
        let message = read(&text);
        assert!(message.contains(said), "{text}: {message}");
    }
}

#[test]
fn a_url_with_a_password_is_neither_written_nor_read_nor_shown() {
    let mut job = Job::new(Task::Copy(Box::default()));
    job.services.source.endpoint_url = Some(EndpointUrl::new("http://user:pass@host"));
    let message = job.to_json().unwrap_err().to_string();
    assert!(message.contains("must not hold secrets") && !message.contains("pass@"), "{message}");
    assert!(!format!("{job:?}").contains("user:pass"), "{job:?}");
    let text = r#"{"version":1,"services":{"source":{"endpoint_url":"http://user:pass@host"}},
        "task":{"remove":{"source":"s3://b"}}}"#;
    let message = Job::from_json(text.as_bytes()).unwrap_err().to_string();
    assert!(message.contains("must not hold secrets") && !message.contains("pass@"), "{message}");
}

#[test]
fn moments_are_whole_seconds_and_stay_within_their_range() {
    let text = |seconds| String::from(Moment::from_seconds(seconds));
    assert_eq!(text(1), "1970-01-01T00:00:01Z");
    assert_eq!(Moment::try_from(text(i64::MIN)).unwrap(), Moment::from_seconds(i64::MIN));
    assert_eq!(Moment::try_from(text(i64::MAX)).unwrap(), Moment::from_seconds(i64::MAX));
    assert!(Moment::try_from("1970-01-01T00:00:01.5Z".to_owned()).is_err());
    assert!(Moment::try_from("7d".to_owned()).is_err());
}

fn text() -> impl Strategy<Value = String> {
    ".{0,12}"
}

fn moment() -> impl Strategy<Value = Moment> {
    any::<i64>().prop_map(Moment::from_seconds)
}

fn service() -> impl Strategy<Value = Service> {
    let credentials = prop_oneof![
        Just(Credentials::Environment),
        text().prop_map(Credentials::Profile),
        Just(Credentials::Anonymous),
    ];
    let addressing =
        prop_oneof![Just(Addressing::Auto), Just(Addressing::Virtual), Just(Addressing::Path)];
    let checksums = || prop_oneof![Just(Checksums::WhenSupported), Just(Checksums::WhenRequired)];
    let names = (of("https?://[a-z]{1,9}(:[0-9]{1,4})?"), of(text()), credentials, addressing);
    let numbers = (of(text()), any::<[Option<u64>; 2]>(), of(1_u32..), checksums(), checksums());
    (names, numbers, any::<[bool; 7]>()).prop_map(|(names, numbers, flags)| {
        let (url, region, credentials, addressing) = names;
        let (bundle, seconds, attempts, request_checksums, response_checksums) = numbers;
        Service {
            endpoint_url: url.map(EndpointUrl::new),
            region,
            credentials,
            addressing,
            dualstack: flags[0],
            fips: flags[1],
            accelerate: flags[2],
            verify_tls: flags[3],
            ca_bundle: bundle.map(PathBuf::from),
            connect_timeout_s: seconds[0],
            read_timeout_s: seconds[1],
            max_attempts: attempts.and_then(std::num::NonZeroU32::new),
            hedging: flags[4],
            payload_signing: flags[5],
            request_checksums,
            response_checksums,
            request_payer: flags[6],
        }
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    (any::<[Option<u32>; 2]>(), any::<Option<bool>>(), any::<[Option<u64>; 5]>()).prop_map(
        |(small, adaptive_requests, large)| {
            let small = small.map(|number| number.and_then(std::num::NonZeroU32::new));
            let large = large.map(|number| number.and_then(std::num::NonZeroU64::new));
            Limits {
                max_concurrent_requests: small[0],
                max_requests_per_second: small[1],
                adaptive_requests,
                max_bandwidth: large[0],
                max_memory: large[1],
                max_queue_size: large[2],
                multipart_threshold: large[3],
                multipart_chunksize: large[4],
            }
        },
    )
}

fn select() -> impl Strategy<Value = Select> {
    let filter =
        prop_oneof![text().prop_map(FilterRule::Include), text().prop_map(FilterRule::Exclude)];
    let texts = (vec(filter, 0..3), vec(text(), 0..3), vec(text(), 0..3), of(text()));
    let numbers = (any::<[Option<u64>; 2]>(), of(moment()), of(moment()), of(1_u32..));
    (texts, numbers, any::<bool>()).prop_map(|(texts, numbers, raw)| {
        let (filters, regex, storage_classes, script) = texts;
        let ([min_size, max_size], newer_than, older_than, page_size) = numbers;
        let page_size = page_size.and_then(std::num::NonZeroU32::new);
        Select {
            filters,
            regex,
            min_size,
            max_size,
            newer_than,
            older_than,
            storage_classes,
            script,
            raw,
            page_size,
        }
    })
}

fn transfer() -> impl Strategy<Value = TransferOptions> {
    let directive = prop_oneof![Just(MetadataDirective::Copy), Just(MetadataDirective::Replace)];
    let carried = prop_oneof![
        Just(CopyProps::None),
        Just(CopyProps::MetadataDirective),
        Just(CopyProps::Default),
    ];
    let conflict = prop_oneof![
        Just(CaseConflict::Ignore),
        Just(CaseConflict::Skip),
        Just(CaseConflict::Warn),
        Just(CaseConflict::Error),
    ];
    (any::<[bool; 7]>(), of(directive), carried, conflict).prop_map(
        |(flags, metadata_directive, copy_props, case_conflict)| TransferOptions {
            no_overwrite: flags[0],
            follow_symlinks: flags[1],
            preserve: flags[2],
            stream: flags[3],
            force_glacier_transfer: flags[4],
            ignore_glacier_warnings: flags[5],
            checksum_mode: flags[6],
            metadata_directive,
            copy_props,
            case_conflict,
        },
    )
}

fn write() -> impl Strategy<Value = WriteOptions> {
    let encryption = prop_oneof![
        Just(ObjectEncryption::Aes256),
        of(text()).prop_map(|key_id| ObjectEncryption::Kms { key_id }),
    ];
    let checksum = prop_oneof![
        Just(Checksum::Crc64Nvme),
        Just(Checksum::Crc32),
        Just(Checksum::Crc32c),
        Just(Checksum::Sha1),
        Just(Checksum::Sha256),
    ];
    let maps = (vec(text(), 0..3), of(btree_map(text(), text(), 0..3)));
    (vec(of(text()), 9), maps, of(encryption), of(checksum), any::<bool>()).prop_map(
        |(mut texts, (grants, metadata), encryption, checksum_algorithm, guess_mime_type)| {
            let mut next = || texts.pop().flatten();
            WriteOptions {
                acl: next(),
                grants,
                storage_class: next(),
                encryption,
                content_type: next(),
                guess_mime_type,
                content_encoding: next(),
                content_language: next(),
                content_disposition: next(),
                cache_control: next(),
                expires: next(),
                metadata,
                website_redirect: next(),
                checksum_algorithm,
            }
        },
    )
}

fn manifest() -> impl Strategy<Value = ManifestFile> {
    let format = prop_oneof![
        Just(ManifestFormat::Lines),
        Just(ManifestFormat::Csv),
        Just(ManifestFormat::S3Batch),
        Just(ManifestFormat::Jsonl),
        Just(ManifestFormat::Inventory),
        Just(ManifestFormat::Parquet),
        Just(ManifestFormat::Report),
    ];
    (text(), of(format)).prop_map(|(file, format)| ManifestFile { file, format })
}

fn copy() -> impl Strategy<Value = CopyTask> {
    let paths = (text(), text(), of(manifest().boxed()), of(text()), of(moment()));
    let options = (select().boxed(), transfer().boxed(), write().boxed());
    (paths, options, any::<[bool; 2]>(), any::<Option<u64>>()).prop_map(
        |(paths, (select, transfer, write), [recursive, dry_run], expected_size)| {
            let (source, target, from, to_key, as_of) = paths;
            CopyTask {
                source,
                target,
                recursive,
                dry_run,
                from,
                select,
                to_key,
                as_of,
                expected_size,
                transfer,
                write,
            }
        },
    )
}

fn sync() -> impl Strategy<Value = SyncTask> {
    let compare = prop_oneof![
        Just(Compare::SizeAndTime),
        Just(Compare::Newer),
        Just(Compare::SizeOnly),
        Just(Compare::ExactTimestamps),
        Just(Compare::Checksum),
    ];
    (copy().boxed(), compare, any::<[bool; 2]>(), of(text())).prop_map(
        |(copy, compare, [delete, allow_empty_source], max_delete)| SyncTask {
            source: copy.source,
            target: copy.target,
            dry_run: copy.dry_run,
            compare,
            delete,
            max_delete,
            allow_empty_source,
            select: copy.select,
            to_key: copy.to_key,
            as_of: copy.as_of,
            transfer: copy.transfer,
            write: copy.write,
        },
    )
}

fn objects() -> impl Strategy<Value = Objects> {
    (text(), any::<[bool; 2]>(), of(manifest().boxed()), select().boxed()).prop_map(
        |(source, [recursive, dry_run], from, select)| Objects {
            source,
            recursive,
            dry_run,
            from,
            select,
        },
    )
}

fn remove() -> impl Strategy<Value = RemoveTask> {
    let versions = prop_oneof![
        Just(RemovedVersions::All),
        Just(RemovedVersions::DeleteMarkers),
        any::<u64>().prop_map(|keep| RemovedVersions::Noncurrent { keep }),
    ];
    (objects().boxed(), of(versions), any::<[bool; 2]>(), of(text())).prop_map(
        |(objects, versions, [bypass_governance, yes], max_delete)| RemoveTask {
            versions,
            bypass_governance,
            max_delete,
            yes,
            ..objects.into()
        },
    )
}

fn tag() -> impl Strategy<Value = TagTask> {
    let format = row_format().prop_map(Option::unwrap_or_default);
    let tags = || btree_map(text(), text(), 0..3);
    let action = prop_oneof![
        format.prop_map(|format| TagAction::Get { format }),
        tags().prop_map(TagAction::Set),
        tags().prop_map(TagAction::Add),
        vec(text(), 0..3).prop_map(TagAction::Remove),
        Just(TagAction::Clear),
    ];
    (objects().boxed(), action.boxed())
        .prop_map(|(objects, action)| TagTask { action, ..objects.into() })
}

fn set() -> impl Strategy<Value = SetTask> {
    let mode = prop_oneof![Just(RetentionMode::Governance), Just(RetentionMode::Compliance)];
    let retention = of((mode, moment()).prop_map(|(mode, until)| LockUntil { mode, until }));
    let metadata = (btree_map(text(), text(), 0..3), vec(text(), 0..3));
    let flags = (any::<[bool; 2]>(), any::<Option<bool>>());
    (objects().boxed(), write().boxed(), retention, metadata, flags).prop_map(
        |(objects, write, retention, (add_metadata, remove_metadata), (flags, legal_hold))| {
            SetTask {
                storage_class: write.storage_class,
                encryption: write.encryption,
                content_type: write.content_type,
                content_encoding: write.content_encoding,
                content_language: write.content_language,
                content_disposition: write.content_disposition,
                cache_control: write.cache_control,
                expires: write.expires,
                metadata: write.metadata,
                add_metadata,
                remove_metadata,
                acl: write.acl,
                keep_acl: flags[0],
                retention,
                bypass_governance: flags[1],
                legal_hold,
                ..objects.into()
            }
        },
    )
}

fn restore() -> impl Strategy<Value = RestoreTask> {
    let tier = prop_oneof![
        Just(RestoreSpeed::Bulk),
        Just(RestoreSpeed::Standard),
        Just(RestoreSpeed::Expedited),
    ];
    let begin = (any::<std::num::NonZeroU32>(), of(tier), any::<bool>())
        .prop_map(|(days, tier, wait)| RestoreAction::Begin { days, tier, wait });
    (objects().boxed(), prop_oneof![Just(RestoreAction::Status), begin])
        .prop_map(|(objects, action)| RestoreTask { action, ..objects.into() })
}

fn listing() -> impl Strategy<Value = Listing> {
    (text(), of(text()), of(text()), select().boxed(), of(1_u32..), any::<bool>()).prop_map(
        |(source, start_after, stop_at, select, concurrency, serial)| Listing {
            source,
            start_after,
            stop_at,
            select,
            concurrency: concurrency.and_then(std::num::NonZeroU32::new),
            serial,
        },
    )
}

fn row_format() -> impl Strategy<Value = Option<RowFormat>> {
    of(prop_oneof![Just(RowFormat::Text), Just(RowFormat::Jsonl), Just(RowFormat::Csv)])
}

fn list() -> impl Strategy<Value = ListTask> {
    let format = prop_oneof![
        Just(ListFormat::Text),
        Just(ListFormat::Jsonl),
        Just(ListFormat::Csv),
        Just(ListFormat::Tsv),
        Just(ListFormat::Parquet),
        Just(ListFormat::Keys),
    ];
    let texts = || vec(text(), 0..3);
    let find = (texts(), texts(), texts()).prop_map(|(names, tags, metadata)| Find {
        names,
        tags,
        metadata,
    });
    let path = of(text().prop_map(PathBuf::from));
    (listing().boxed(), of(find), of(format), texts(), path, any::<[bool; 5]>()).prop_map(
        |(listing, find, format, fields, output_file, flags)| ListTask {
            listing,
            versions: flags[0],
            find,
            sort: flags[1],
            format,
            fields,
            header: flags[2],
            output_file,
            human_readable: flags[3],
            summarize: flags[4],
        },
    )
}

fn summarize() -> impl Strategy<Value = SummarizeTask> {
    let format =
        prop_oneof![Just(SummaryFormat::Text), Just(SummaryFormat::Json), Just(SummaryFormat::Csv)];
    let path = || of(text().prop_map(PathBuf::from));
    let since = prop::collection::vec(text().prop_map(PathBuf::from), 0..3);
    let files = (path(), path(), since, path());
    (listing().boxed(), any::<[u32; 2]>(), of(format), any::<[bool; 2]>(), files).prop_map(
        |(listing, [depth, top], format, flags, (output_file, html, since, prices))| {
            let [uploads, versions] = flags;
            SummarizeTask {
                listing,
                depth,
                top,
                format,
                uploads,
                versions,
                output_file,
                html,
                since,
                prices,
            }
        },
    )
}

fn comparison() -> impl Strategy<Value = CompareTask> {
    let depth = prop_oneof![
        Just(Depth::Sizes),
        Just(Depth::Listed),
        Just(Depth::Checksums),
        Just(Depth::Proof),
    ];
    let shown = prop_oneof![
        Just(Shown::OnlySource),
        Just(Shown::OnlyTarget),
        Just(Shown::Different),
        Just(Shown::Same),
    ];
    let path = || of(text().prop_map(PathBuf::from));
    let printed = (row_format(), vec(shown, 0..4), path(), path());
    (text(), text(), depth, select().boxed(), printed, any::<[bool; 3]>()).prop_map(
        |(source, target, depth, select, (format, show, output_file, html), flags)| CompareTask {
            source,
            target,
            depth,
            times: flags[0],
            filters: select.filters,
            page_size: select.page_size,
            follow_symlinks: flags[1],
            show,
            format,
            header: flags[2],
            output_file,
            html,
        },
    )
}

/// Tasks that only read.
fn reading() -> impl Strategy<Value = Task> {
    let texts = || vec(of(text()), 4);
    let map = (listing().boxed(), texts(), any::<bool>()).prop_map(|(listing, mut texts, sort)| {
        let mut next = || texts.pop().flatten();
        let (map, reduce, finally, default) = (next(), next(), next(), next());
        MapTask { listing, map, reduce, finally, default, sort }
    });
    let each = (listing().boxed(), of(text()), of(text()), any::<bool>())
        .prop_map(|(listing, each, map_list, sort)| EachTask { listing, each, map_list, sort });
    let ls = (text(), select().boxed(), texts(), any::<[bool; 3]>()).prop_map(
        |(source, select, mut texts, flags)| LsTask {
            source,
            recursive: flags[0],
            human_readable: flags[1],
            summarize: flags[2],
            select,
            bucket_name_prefix: texts.pop().flatten(),
            bucket_region: texts.pop().flatten(),
        },
    );
    let buckets = (of(text()), of(text()), any::<bool>(), row_format(), of(1_u32..)).prop_map(
        |(bucket_name_prefix, bucket_region, count, format, concurrency)| ListBucketsTask {
            bucket_name_prefix,
            bucket_region,
            count,
            format,
            concurrency: concurrency.and_then(std::num::NonZeroU32::new),
        },
    );
    let action = prop_oneof![
        Just(UploadsAction::List),
        Just(UploadsAction::Measure),
        Just(UploadsAction::Abort),
    ];
    let uploads = (text(), action, of(moment()), any::<bool>()).prop_map(
        |(source, action, begun_until, dry_run)| UploadsTask {
            source,
            action,
            begun_until,
            dry_run,
        },
    );
    prop_oneof![
        list().boxed().prop_map(|task| Task::List(Box::new(task))),
        summarize().boxed().prop_map(|task| Task::Summarize(Box::new(task))),
        comparison().boxed().prop_map(|task| Task::Compare(Box::new(task))),
        map.boxed().prop_map(|task| Task::Map(Box::new(task))),
        each.boxed().prop_map(|task| Task::Each(Box::new(task))),
        ls.boxed().prop_map(|task| Task::Ls(Box::new(task))),
        buckets.boxed().prop_map(Task::ListBuckets),
        uploads.boxed().prop_map(Task::Uploads),
    ]
}

/// Tasks on one bucket or on single objects.
fn single() -> impl Strategy<Value = Task> {
    let cat = (vec(text(), 0..3), of(text()), of(text()), any::<bool>())
        .prop_map(|(sources, range, version_id, raw)| CatTask { sources, range, version_id, raw });
    let head =
        (text(), of(text())).prop_map(|(source, version_id)| HeadTask { source, version_id });
    let headers = (of(text()), of(btree_map(text(), text(), 0..3)))
        .prop_map(|(content_type, metadata)| PresignedHeaders { content_type, metadata });
    let presign = (text(), of(any::<std::num::NonZeroU32>()), of(headers))
        .prop_map(|(source, expires_in_s, put)| PresignTask { source, expires_in_s, put });
    let make = (text(), vec((text(), text()), 0..3), any::<[bool; 2]>()).prop_map(
        |(bucket, tags, [object_lock, versioning])| MakeBucketTask {
            bucket,
            tags,
            object_lock,
            versioning,
        },
    );
    let remove = (text(), any::<[bool; 3]>()).prop_map(|(bucket, [force, versions, yes])| {
        RemoveBucketTask { bucket, force, versions, yes }
    });
    let versioning =
        (text(), any::<Option<bool>>()).prop_map(|(bucket, keep)| VersioningTask { bucket, keep });
    let website =
        (text(), of(text()), of(text())).prop_map(|(bucket, index_document, error_document)| {
            WebsiteTask { bucket, index_document, error_document }
        });
    prop_oneof![
        cat.prop_map(Task::Cat),
        head.prop_map(Task::Head),
        presign.prop_map(Task::Presign),
        make.prop_map(Task::MakeBucket),
        remove.prop_map(Task::RemoveBucket),
        versioning.prop_map(Task::Versioning),
        website.prop_map(Task::Website),
    ]
}

fn task() -> impl Strategy<Value = Task> {
    let moved =
        (copy().boxed(), any::<bool>()).prop_map(|(copy, validate_same_s3_paths)| MoveTask {
            source: copy.source,
            target: copy.target,
            recursive: copy.recursive,
            dry_run: copy.dry_run,
            from: copy.from,
            select: copy.select,
            to_key: copy.to_key,
            validate_same_s3_paths,
            transfer: copy.transfer,
            write: copy.write,
        });
    prop_oneof![
        copy().boxed().prop_map(|task| Task::Copy(Box::new(task))),
        moved.prop_map(|task| Task::Move(Box::new(task))),
        sync().boxed().prop_map(|task| Task::Sync(Box::new(task))),
        remove().boxed().prop_map(|task| Task::Remove(Box::new(task))),
        (objects().boxed(), of(moment())).prop_map(|(objects, since)| {
            Task::Undelete(Box::new(UndeleteTask { since, ..objects.into() }))
        }),
        tag().boxed().prop_map(|task| Task::Tag(Box::new(task))),
        set().boxed().prop_map(|task| Task::Set(Box::new(task))),
        restore().boxed().prop_map(|task| Task::Restore(Box::new(task))),
        reading().boxed(),
        single().boxed(),
    ]
}

fn job() -> impl Strategy<Value = Job> {
    let lines =
        prop_oneof![Just(OutputLines::All), Just(OutputLines::Errors), Just(OutputLines::None)];
    let output = (lines, any::<[bool; 3]>(), any::<Option<u64>>()).prop_map(
        |(lines, [json, progress, progress_multiline], progress_frequency_s)| Output {
            lines,
            json,
            progress,
            progress_multiline,
            progress_frequency_s,
        },
    );
    let path = || of(text().prop_map(PathBuf::from));
    let reports = (path(), path(), path(), path(), any::<bool>(), path()).prop_map(
        |(report, retry_failed, plan, apply, estimate, prices)| Reports {
            report,
            retry_failed,
            plan,
            apply,
            estimate,
            prices,
        },
    );
    let services = (service().boxed(), service().boxed())
        .prop_map(|(source, target)| Services { source, target });
    (services.boxed(), limits().boxed(), output.boxed(), reports.boxed(), task().boxed()).prop_map(
        |(services, limits, output, reports, task)| Job {
            version: VERSION,
            services,
            limits,
            output,
            reports,
            task,
        },
    )
}

proptest! {
    #[test]
    fn a_job_comes_back_equal(job in job().boxed()) {
        let text = job.to_json().unwrap();
        prop_assert_eq!(Job::from_json(text.as_bytes()).unwrap(), job, "{}", text);
    }
}
