//! Between the generated types of `s3s` and what the store keeps.

use std::time::{Duration, UNIX_EPOCH};

use s3s::dto::{ETag, Owner, Timestamp};
use s3s::{S3Result, s3_error};

use crate::store::Attributes;

/// An error whose code `s3s` has no name for.
pub(super) fn custom_error(
    code: &str,
    status: http::StatusCode,
    message: &'static str,
) -> s3s::S3Error {
    let code = s3s::S3ErrorCode::Custom(code.into());
    let mut error = s3s::S3Error::with_message(code, message);
    error.set_status_code(status);
    error
}

/// The last second of the year 9999, in seconds since 1970: later times have no form in HTTP.
const LAST_SECOND: u64 = 253_402_300_799;

/// A time in whole seconds, as S3 shows it; the nearest that can be shown.
pub(super) fn timestamp(ms: i64) -> Timestamp {
    let seconds = u64::try_from(ms.div_euclid(1000)).unwrap_or_default();
    Timestamp::from(UNIX_EPOCH + Duration::from_secs(seconds.min(LAST_SECOND)))
}

/// Milliseconds since 1970 of a time.
pub(super) fn to_ms(time: &Timestamp) -> Option<i64> {
    let mut text = Vec::new();
    time.format(s3s::dto::TimestampFormat::EpochSeconds, &mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    let (seconds, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let seconds: i64 = seconds.parse().ok()?;
    let fraction: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    Some(seconds * 1000 + fraction)
}

/// The `ETag` of a stored value.
pub(super) fn etag(value: &str) -> ETag {
    ETag::Strong(value.to_owned())
}

/// The one owner of everything.
pub(super) fn owner() -> Owner {
    Owner { display_name: Some("s3haul".to_owned()), id: Some(OWNER_ID.to_owned()) }
}

/// The id of the one owner.
pub(super) const OWNER_ID: &str =
    "75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a";

/// The tags of an `x-amz-tagging` header.
pub(super) fn parse_tagging(header: Option<&str>) -> S3Result<Vec<(String, String)>> {
    let uri = format!("/?{}", header.unwrap_or_default());
    let uri = uri.parse::<http::Uri>();
    let uri = uri.map_err(|_| {
        s3_error!(
            InvalidArgument,
            "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query \
             parameters without tag name duplicates."
        )
    })?;
    let pairs = crate::classify::query_pairs(&uri);
    let tags = pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    check_tags(tags, OBJECT_TAGS_MAX)
}

/// Most tags of an object.
pub(super) const OBJECT_TAGS_MAX: usize = 10;
/// Most tags of a bucket.
pub(super) const BUCKET_TAGS_MAX: usize = 50;

/// Checks tags as S3 does.
pub(super) fn check_tags(
    tags: Vec<(String, String)>,
    most: usize,
) -> S3Result<Vec<(String, String)>> {
    if tags.len() > most {
        let message = if most == OBJECT_TAGS_MAX {
            "Object tags cannot be greater than 10"
        } else {
            "Bucket tag count cannot be greater than 50"
        };
        return Err(custom_error("BadRequest", http::StatusCode::BAD_REQUEST, message));
    }
    for (index, (name, value)) in tags.iter().enumerate() {
        if name.is_empty() || name.chars().count() > 128 {
            return Err(s3_error!(InvalidTag, "The TagKey you have provided is invalid"));
        }
        if value.chars().count() > 256 {
            return Err(s3_error!(InvalidTag, "The TagValue you have provided is invalid"));
        }
        if tags[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(s3_error!(InvalidTag, "Cannot provide multiple Tags with the same key"));
        }
    }
    Ok(tags)
}

/// The storage class to keep: none for STANDARD.
pub(super) fn storage_class(class: Option<&s3s::dto::StorageClass>) -> S3Result<Option<String>> {
    const KNOWN: [&str; 10] = [
        "REDUCED_REDUNDANCY",
        "STANDARD_IA",
        "ONEZONE_IA",
        "INTELLIGENT_TIERING",
        "GLACIER",
        "DEEP_ARCHIVE",
        "OUTPOSTS",
        "GLACIER_IR",
        "SNOW",
        "EXPRESS_ONEZONE",
    ];
    match class.map(s3s::dto::StorageClass::as_str) {
        None | Some("STANDARD") => Ok(None),
        Some(class) if KNOWN.contains(&class) => Ok(Some(class.to_owned())),
        Some(_) => {
            Err(s3_error!(InvalidStorageClass, "The storage class you specified is not valid"))
        }
    }
}

/// The attributes of a request that creates an object; the inputs share their field names.
macro_rules! attributes_of {
    ($input:expr) => {
        crate::store::Attributes {
            content_type: $input.content_type.clone(),
            cache_control: $input.cache_control.clone(),
            content_disposition: $input.content_disposition.clone(),
            content_encoding: $crate::service::convert::real_encoding(
                $input.content_encoding.as_deref(),
            ),
            content_language: $input.content_language.clone(),
            expires_ms: $input.expires.as_ref().and_then($crate::service::convert::to_ms),
            website_redirect: $input.website_redirect_location.clone(),
            encryption: $input.server_side_encryption.as_ref().map(|e| e.as_str().to_owned()),
            kms_key_id: $input.ssekms_key_id.clone(),
            customer_algorithm: $input.sse_customer_algorithm.clone(),
            customer_key_md5: $input.sse_customer_key_md5.clone(),
            bucket_key_enabled: $input.bucket_key_enabled,
            metadata: $input.metadata.clone().unwrap_or_default().into_iter().collect(),
        }
    };
}
pub(super) use attributes_of;

/// Sets the encryption fields that many outputs share.
macro_rules! echo_encryption {
    ($output:expr, $attributes:expr) => {
        $output.server_side_encryption =
            $attributes.encryption.clone().map(s3s::dto::ServerSideEncryption::from);
        $output.ssekms_key_id = $attributes.kms_key_id.clone();
        $output.sse_customer_algorithm = $attributes.customer_algorithm.clone();
        $output.sse_customer_key_md5 = $attributes.customer_key_md5.clone();
        $output.bucket_key_enabled = $attributes.bucket_key_enabled;
    };
}
pub(super) use echo_encryption;

/// Sets the checksum fields that many outputs share.
macro_rules! show_checksums {
    ($output:expr, $checksums:expr) => {
        $output.checksum_crc32 = $checksums.crc32.clone();
        $output.checksum_crc32c = $checksums.crc32c.clone();
        $output.checksum_crc64nvme = $checksums.crc64nvme.clone();
        $output.checksum_sha1 = $checksums.sha1.clone();
        $output.checksum_sha256 = $checksums.sha256.clone();
    };
}
pub(super) use show_checksums;

/// The checksums that a request names, with no kind.
macro_rules! checksums_of {
    ($input:expr) => {
        crate::store::Checksums {
            crc32: $input.checksum_crc32.clone(),
            crc32c: $input.checksum_crc32c.clone(),
            crc64nvme: $input.checksum_crc64nvme.clone(),
            sha1: $input.checksum_sha1.clone(),
            sha256: $input.checksum_sha256.clone(),
            kind: None,
        }
    };
}
pub(super) use checksums_of;

/// `Content-Encoding` without `aws-chunked`, which is about the wire only.
pub(super) fn real_encoding(header: Option<&str>) -> Option<String> {
    let codings = header?.split(',').map(str::trim);
    let kept: Vec<_> = codings.filter(|c| !c.is_empty() && *c != "aws-chunked").collect();
    (!kept.is_empty()).then(|| kept.join(","))
}

/// Refuses metadata above the 2 KiB of S3.
pub(super) fn check_metadata(attributes: &Attributes) -> S3Result<()> {
    let size: usize =
        attributes.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > 2048 {
        return Err(s3_error!(
            MetadataTooLarge,
            "Your metadata headers exceed the maximum allowed metadata size"
        ));
    }
    Ok(())
}
