//! `head`: what S3 knows of an object, or whether a bucket is there.

use std::io::Write;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use s3haul_wire::ops::HeadObject;
use s3haul_wire::{ChecksumAlgorithm, Encryption, ObjectHead};
use serde::Serialize;

use super::folder::{self, Advice};
use crate::commands::shared::client;
use crate::exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::escape::push_name;
use crate::render::json;
use crate::settings::HeadSettings;

/// Asks and prints.
pub(super) async fn run(settings: HeadSettings, printer: &Arc<Printer>) -> Result<u8, Failure> {
    let client = client(settings.client)?;
    let object = &settings.object;
    if object.key.is_empty() {
        let region = client.head_bucket(&object.bucket).await?;
        let line = BucketLine { bucket: &object.bucket, region };
        printer.output(|buffer| print_bucket(buffer, line, settings.json));
        return Ok(exit::SUCCESS);
    }
    let input = HeadObject {
        bucket: &object.bucket,
        key: &object.key,
        version_id: settings.version_id.as_deref(),
        customer_key: settings.customer_key.as_ref(),
        checksums: true,
    };
    let head = match client.head_object(input).await {
        Err(error) if error.is_missing_object() && settings.version_id.is_none() => {
            let hint = folder::hint(&client, object, Advice::List).await;
            return Err(Failure::from(error).with_some_hint(hint));
        }
        result => result?,
    };
    let line = ObjectLine::of(&object.bucket, &object.key, &head);
    let escape = printer.output_is_terminal();
    printer.output(|buffer| {
        if settings.json {
            json::push(buffer, "object_head", line);
        } else {
            print_object(buffer, &line, escape);
        }
    });
    Ok(exit::SUCCESS)
}

#[derive(Serialize)]
struct BucketLine<'a> {
    bucket: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
}

fn print_bucket(buffer: &mut Vec<u8>, line: BucketLine<'_>, json: bool) {
    if json {
        return json::push(buffer, "bucket_head", line);
    }
    // Writing to a vector cannot fail.
    _ = writeln!(buffer, "Bucket:  {}", line.bucket);
    if let Some(region) = line.region {
        _ = writeln!(buffer, "Region:  {region}");
    }
}

#[derive(Serialize)]
struct ObjectLine<'a> {
    bucket: &'a str,
    key: &'a str,
    size: u64,
    last_modified: String,
    etag: &'a str,
    #[serde(flatten, serialize_with = "fields_by_name")]
    fields: Vec<(&'static str, String)>,
    #[serde(serialize_with = "pairs", skip_serializing_if = "no_pairs")]
    metadata: &'a [(String, String)],
}

fn no_pairs(pairs: &[(String, String)]) -> bool {
    pairs.is_empty()
}

fn pairs<S: serde::Serializer>(
    pairs: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}

/// `Content-Type` is `content_type` in JSON.
fn fields_by_name<S: serde::Serializer>(
    fields: &[(&'static str, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let json_name = |name: &str| name.to_lowercase().replace('-', "_");
    serializer.collect_map(fields.iter().map(|(name, value)| (json_name(name), value)))
}

impl<'a> ObjectLine<'a> {
    fn of(bucket: &'a str, key: &'a str, head: &'a ObjectHead) -> Self {
        Self {
            bucket,
            key,
            size: head.size,
            last_modified: utc(head.last_modified_s),
            etag: &head.etag,
            fields: fields(head),
            metadata: head.properties.metadata.as_deref().unwrap_or_default(),
        }
    }
}

/// Name and value of what is not always there, in the order shown.
pub(super) fn fields(head: &ObjectHead) -> Vec<(&'static str, String)> {
    let properties = &head.properties;
    let encryption = properties.encryption.as_ref().map(|encryption| match encryption {
        Encryption::Aes256 => "AES256".to_owned(),
        Encryption::Kms { key_id: None } => "aws:kms".to_owned(),
        Encryption::Kms { key_id: Some(id) } => format!("aws:kms {id}"),
    });
    let checksums =
        head.checksums.iter().map(|sum| format!("{} {}", checksum_name(sum.algorithm), sum.value));
    let checksums = checksums.collect::<Vec<_>>().join(", ");
    let fields = [
        ("Version", head.version_id.clone()),
        ("Content-Type", properties.content_type.clone()),
        ("Content-Encoding", properties.content_encoding.clone()),
        ("Content-Language", properties.content_language.clone()),
        ("Content-Disposition", properties.content_disposition.clone()),
        ("Cache-Control", properties.cache_control.clone()),
        ("Expires", properties.expires.clone()),
        ("Storage-Class", properties.storage_class.clone()),
        ("Encryption", encryption),
        ("Checksum", Some(checksums).filter(|text| !text.is_empty())),
        ("Archive-Status", head.archive_status.clone()),
        ("Restore", head.restore.clone()),
        ("Retention", properties.retention.map(|retention| retention.to_string())),
        (
            "Legal-Hold",
            properties.legal_hold.map(|is_on| if is_on { "ON" } else { "OFF" }.to_owned()),
        ),
        ("Redirect", properties.website_redirect.clone()),
        ("Tags", head.tagging_count.map(|count| count.to_string())),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn checksum_name(algorithm: ChecksumAlgorithm) -> &'static str {
    match algorithm {
        ChecksumAlgorithm::Crc64Nvme => "CRC64NVME",
        ChecksumAlgorithm::Crc32 => "CRC32",
        ChecksumAlgorithm::Crc32c => "CRC32C",
        ChecksumAlgorithm::Sha1 => "SHA1",
        ChecksumAlgorithm::Sha256 => "SHA256",
    }
}

pub(super) fn utc(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or_default().to_zoned(TimeZone::UTC);
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn print_object(buffer: &mut Vec<u8>, line: &ObjectLine<'_>, escape: bool) {
    let mut row = |name: &str, value: &str| {
        buffer.extend_from_slice(format!("{:<21}", format!("{name}:")).as_bytes());
        push_name(buffer, value, escape);
        buffer.push(b'\n');
    };
    row("Object", &format!("s3://{}/{}", line.bucket, line.key));
    row("Size", &line.size.to_string());
    row("Last-Modified", &line.last_modified);
    row("ETag", line.etag);
    for (name, value) in &line.fields {
        row(name, value);
    }
    for (name, value) in line.metadata {
        row(&format!("Metadata {name}"), value);
    }
}
