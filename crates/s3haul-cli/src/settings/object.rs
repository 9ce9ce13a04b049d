//! What written objects carry: flags into [`ObjectProperties`].

use std::collections::{BTreeMap, BTreeSet};

use s3haul::job::value::{Checksum, ObjectEncryption, WriteOptions};
use s3haul_wire::units::local_zone;
use s3haul_wire::{ChecksumAlgorithm, CustomerKey, Encryption, Grant, ObjectProperties};

use super::shorthand;
use super::timestamp::http_date;
use crate::args::{CustomerKeyArgs, ObjectArgs, Secret};
use crate::failure::Failure;

/// What the flags say of the objects written, as a part of a job.
pub(super) fn write_options(args: &ObjectArgs) -> Result<WriteOptions, Failure> {
    let expires = parameter("--expires", args.expires.as_deref())?;
    let expires = expires.map(|text| http_date(text.trim_end(), &local_zone()));
    let metadata = args.metadata.as_deref().map(|text| {
        let text = match text.strip_prefix("file://") {
            Some(path) => String::from_utf8_lossy(&read_parameter("--metadata", path)?).into(),
            None => text.to_owned(),
        };
        let pairs = shorthand::map("--metadata", &text)?;
        let metadata: BTreeMap<_, _> = pairs.into_iter().collect();
        let mut seen = BTreeSet::new();
        let twice = metadata.keys().find(|name| !seen.insert(name.to_ascii_lowercase()));
        if let Some(name) = twice {
            return Err(Failure::usage(format!("the metadata `{name}` is named twice")));
        }
        Ok::<_, Failure>(metadata)
    });
    Ok(WriteOptions {
        acl: args.acl.clone(),
        grants: args.grants.clone(),
        storage_class: args.storage_class.clone(),
        encryption: encryption(args)?,
        content_type: parameter("--content-type", args.content_type.as_deref())?,
        guess_mime_type: !args.no_guess_mime_type,
        content_encoding: parameter("--content-encoding", args.content_encoding.as_deref())?,
        content_language: parameter("--content-language", args.content_language.as_deref())?,
        content_disposition: parameter(
            "--content-disposition",
            args.content_disposition.as_deref(),
        )?,
        cache_control: parameter("--cache-control", args.cache_control.as_deref())?,
        expires: expires.transpose()?,
        metadata: metadata.transpose()?,
        website_redirect: args.website_redirect.clone(),
        checksum_algorithm: checksum(args)?,
    })
}

/// The same for copies. An empty text counts as not given, as with `aws`: it comes of a variable
/// that is not set.
pub(super) fn copy_write_options(args: &ObjectArgs) -> Result<WriteOptions, Failure> {
    if args.metadata.as_deref() == Some("") {
        // As no metadata it would remove what the source has.
        let message = "Error parsing parameter '--metadata': Expected: '=', received: 'EOF'";
        return Err(Failure::usage(message));
    }
    let mut args = args.clone();
    for text in [
        &mut args.content_type,
        &mut args.content_encoding,
        &mut args.content_language,
        &mut args.content_disposition,
        &mut args.cache_control,
        &mut args.expires,
        &mut args.website_redirect,
        &mut args.sse_kms_key_id,
    ] {
        *text = text.take().filter(|text| !text.is_empty());
    }
    let options = write_options(&args)?;
    // Like `aws`: `{}` names nothing that would replace what the source has.
    let metadata = options.metadata.filter(|metadata| !metadata.is_empty());
    Ok(WriteOptions { metadata, ..options })
}

/// Properties of the objects written.
pub(super) fn properties(
    write: &WriteOptions,
    customer_key: Option<CustomerKey>,
) -> Result<ObjectProperties, Failure> {
    let encryption = write.encryption.clone().map(|encryption| match encryption {
        ObjectEncryption::Aes256 => Encryption::Aes256,
        ObjectEncryption::Kms { key_id } => Encryption::Kms { key_id },
    });
    Ok(ObjectProperties {
        content_type: write.content_type.clone(),
        content_encoding: write.content_encoding.clone(),
        content_language: write.content_language.clone(),
        content_disposition: write.content_disposition.clone(),
        cache_control: write.cache_control.clone(),
        expires: write.expires.clone(),
        metadata: write.metadata.clone().map(|map| map.into_iter().collect()),
        storage_class: write.storage_class.clone(),
        website_redirect: write.website_redirect.clone(),
        acl: write.acl.clone(),
        grants: grants(&write.grants)?,
        encryption,
        customer_key,
        tagging: None,
        bucket_key: None,
        retention: None,
        legal_hold: None,
    })
}

/// The algorithm of a checksum.
pub(super) fn checksum_algorithm(checksum: Checksum) -> ChecksumAlgorithm {
    match checksum {
        Checksum::Crc64Nvme => ChecksumAlgorithm::Crc64Nvme,
        Checksum::Crc32 => ChecksumAlgorithm::Crc32,
        Checksum::Crc32c => ChecksumAlgorithm::Crc32c,
        Checksum::Sha1 => ChecksumAlgorithm::Sha1,
        Checksum::Sha256 => ChecksumAlgorithm::Sha256,
    }
}

/// `--checksum-algorithm`.
fn checksum(args: &ObjectArgs) -> Result<Option<Checksum>, Failure> {
    let Some(name) = args.checksum_algorithm.as_deref() else { return Ok(None) };
    match name {
        "CRC64NVME" => Ok(Some(Checksum::Crc64Nvme)),
        "CRC32" => Ok(Some(Checksum::Crc32)),
        "CRC32C" => Ok(Some(Checksum::Crc32c)),
        "SHA1" => Ok(Some(Checksum::Sha1)),
        "SHA256" => Ok(Some(Checksum::Sha256)),
        _ => Err(Failure::usage(format!(
            "--checksum-algorithm {name} is not supported yet: use CRC64NVME, CRC32, CRC32C, SHA1 \
             or SHA256"
        ))),
    }
}

/// `--sse-c` and `--sse-c-key`.
pub(super) fn customer_key(args: &CustomerKeyArgs) -> Result<Option<CustomerKey>, Failure> {
    key_pair("--sse-c", args.sse_c.as_deref(), args.sse_c_key.as_ref())
}

/// Length of a key for AES-256.
const CUSTOMER_KEY_BYTES: usize = 32;

/// A method flag and its key flag, which belong together.
pub(super) fn key_pair(
    flag: &str,
    method: Option<&str>,
    key: Option<&Secret>,
) -> Result<Option<CustomerKey>, Failure> {
    let both = |given: String, missing: String| {
        Failure::usage(format!("It {given} is specified, {missing} must be specified as well."))
    };
    match (method, key) {
        (None, None) => Ok(None),
        (Some(_), None) => Err(both(flag.to_owned(), format!("{flag}-key"))),
        (None, Some(_)) => Err(both(format!("{flag}-key"), flag.to_owned())),
        (Some(algorithm), Some(key)) => {
            let flag = format!("{flag}-key");
            let key = key_bytes(&flag, key.reveal())?;
            if key.len() != CUSTOMER_KEY_BYTES {
                let length = key.len();
                return Err(Failure::usage(format!(
                    "{flag} is {length} bytes long: a key for SSE-C has {CUSTOMER_KEY_BYTES}, \
                     given as raw bytes, not in base64"
                )));
            }
            Ok(Some(CustomerKey { algorithm: algorithm.to_owned(), key }))
        }
    }
}

fn key_bytes(flag: &str, key: &str) -> Result<Vec<u8>, Failure> {
    match key.strip_prefix("fileb://").or_else(|| key.strip_prefix("file://")) {
        Some(path) => read_parameter(flag, path),
        None => Ok(key.as_bytes().to_vec()),
    }
}

/// A text, or that of a file as `file://PATH` or `fileb://PATH`, as with the AWS tools.
pub(super) fn parameter(flag: &str, text: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let path = text.strip_prefix("fileb://").or_else(|| text.strip_prefix("file://"));
    let Some(path) = path else { return Ok(Some(text.to_owned())) };
    let text = String::from_utf8(read_parameter(flag, path)?);
    text.map(Some).map_err(|_| {
        Failure::usage(format!(
            "Error parsing parameter '{flag}': Unable to load paramfile {path}, text contents \
             could not be decoded"
        ))
    })
}

fn read_parameter(flag: &str, path: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::usage(format!(
            "Error parsing parameter '{flag}': Unable to load paramfile {path}: {error}"
        ))
    })
}

fn encryption(args: &ObjectArgs) -> Result<Option<ObjectEncryption>, Failure> {
    let key_id = parameter("--sse-kms-key-id", args.sse_kms_key_id.as_deref())?;
    match (args.sse.as_deref(), key_id) {
        (Some("aws:kms"), key_id) => Ok(Some(ObjectEncryption::Kms { key_id })),
        (_, Some(_)) => Err(Failure::usage("--sse-kms-key-id needs --sse aws:kms")),
        (Some(_), None) => Ok(Some(ObjectEncryption::Aes256)),
        (None, None) => Ok(None),
    }
}

/// `--grants`; a permission that is named twice counts as the last says, as in the AWS tools.
fn grants(args: &[String]) -> Result<Vec<Grant>, Failure> {
    let mut grants: Vec<Grant> = Vec::new();
    for arg in args {
        let (permission, grantees) = arg
            .split_once('=')
            .ok_or_else(|| Failure::usage("grants should be of the form permission=principal"))?;
        let permission = match permission {
            "read" => "read",
            "full" => "full-control",
            "readacl" => "read-acp",
            "writeacl" => "write-acp",
            _ => {
                let message = "permission must be one of: read|readacl|writeacl|full";
                return Err(Failure::usage(message));
            }
        };
        grants.retain(|grant| grant.permission != permission);
        grants.push(Grant { permission, grantees: grantees.to_owned() });
    }
    Ok(grants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kms_keys_need_kms() {
        let args = ObjectArgs { sse_kms_key_id: Some("k".into()), ..ObjectArgs::default() };
        let properties = |args: &ObjectArgs| properties(&write_options(args)?, None);
        assert!(properties(&args).is_err());
        let args = ObjectArgs { sse: Some("aws:kms".into()), ..args };
        let expected = Some(Encryption::Kms { key_id: Some("k".into()) });
        assert_eq!(properties(&args).unwrap().encryption, expected);
    }

    #[test]
    fn names_of_metadata_have_no_case() {
        let args = ObjectArgs { metadata: Some("q=1,Q=2".to_owned()), ..ObjectArgs::default() };
        assert!(write_options(&args).unwrap_err().message.ends_with("is named twice"));
    }

    /// They were stored as they were typed.
    #[test]
    fn texts_are_read_from_files() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "text/x-own").unwrap();
        let of = |scheme: &str| Some(format!("{scheme}://{}", file.path().display()));
        let args = ObjectArgs {
            content_type: of("file"),
            cache_control: of("fileb"),
            ..ObjectArgs::default()
        };
        let options = write_options(&args).unwrap();
        assert_eq!(options.content_type.as_deref(), Some("text/x-own"));
        assert_eq!(options.cache_control.as_deref(), Some("text/x-own"));
        let missing = ObjectArgs { content_type: of("file").map(|text| text + "/no"), ..args };
        let message = write_options(&missing).unwrap_err().message;
        assert!(message.contains("'--content-type': Unable to load paramfile"), "{message}");
    }

    #[test]
    fn no_metadata_of_a_copy_is_not_empty_metadata() {
        let of =
            |text: &str| ObjectArgs { metadata: Some(text.to_owned()), ..ObjectArgs::default() };
        assert!(copy_write_options(&of("")).is_err());
        assert_eq!(copy_write_options(&of("{}")).unwrap().metadata, None);
    }

    #[test]
    fn an_empty_text_says_nothing_of_a_copy() {
        let none = || Some(String::new());
        let args = ObjectArgs {
            content_type: none(),
            content_encoding: none(),
            content_language: none(),
            content_disposition: none(),
            cache_control: none(),
            expires: none(),
            website_redirect: none(),
            sse_kms_key_id: none(),
            ..ObjectArgs::default()
        };
        let expected = write_options(&ObjectArgs::default()).unwrap();
        assert_eq!(copy_write_options(&args).unwrap(), expected);
    }

    #[test]
    fn method_and_key_belong_together() {
        let failure = key_pair("--sse-c", Some("AES256"), None).unwrap_err();
        assert_eq!(
            failure.message,
            "It --sse-c is specified, --sse-c-key must be specified as well."
        );
        let secret = |text: &str| Secret::from(text.to_owned());
        assert!(key_pair("--sse-c", None, Some(&secret("k"))).is_err());
        let text = "0123456789abcdefghijklmnopqrstuv";
        let key = key_pair("--sse-c", Some("AES256"), Some(&secret(text))).unwrap().unwrap();
        assert_eq!(key.key, text.as_bytes());
    }

    #[test]
    fn keys_of_another_length_are_refused() {
        // In base64; with the line end that editors add; characters are not bytes.
        for text in ["", "secret", "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY=", &"ä".repeat(32)]
        {
            let key = Secret::from(text.to_owned());
            let failure = key_pair("--sse-c-copy-source", Some("AES256"), Some(&key)).unwrap_err();
            assert!(
                failure.message.starts_with("--sse-c-copy-source-key is "),
                "{}",
                failure.message
            );
            assert!(text.is_empty() || !failure.message.contains(text), "{}", failure.message);
        }
        assert!(key_pair("--sse-c", Some("AES256"), Some(&Secret::from("ä".repeat(16)))).is_ok());
    }

    #[test]
    fn grants_map_to_headers() {
        let given = ["read=id=1,id=2", "full=uri=x"].map(str::to_owned);
        let grants = grants(&given).unwrap();
        assert_eq!(grants[0], Grant { permission: "read", grantees: "id=1,id=2".into() });
        assert_eq!(grants[1].permission, "full-control");
        assert!(super::grants(&["read".to_owned()]).is_err());
        assert!(super::grants(&["all=id=1".to_owned()]).is_err());
    }
}
