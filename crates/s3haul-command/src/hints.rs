//! What a user can do about an error: one sentence, or nothing.

use s3haul::{Error, ErrorKind};

/// Advice for an error, where there is some that helps most of the time.
pub(crate) fn for_error(error: &Error) -> Option<String> {
    for_code(error).or_else(|| for_kind(error))
}

fn for_code(error: &Error) -> Option<String> {
    let hint = match error.code() {
        "NoSuchBucket" => match bucket(error) {
            Some(bucket) if is_write(error) => {
                format!("make the bucket with `s3haul mb s3://{bucket}`")
            }
            _ => "check the bucket's name and the endpoint: `s3haul ls` shows what is there"
                .to_owned(),
        },
        "RequestTimeTooSkewed" => {
            "the clock of this machine is off by more than 15 minutes: set it".to_owned()
        }
        "ExpiredToken" | "ExpiredTokenException" => {
            "the session has expired: get new credentials".to_owned()
        }
        "InvalidAccessKeyId" | "SignatureDoesNotMatch" => {
            "the credentials are not those of this service: check AWS_ACCESS_KEY_ID, the profile \
             and the endpoint"
                .to_owned()
        }
        "BucketNotEmpty" => "remove the objects too with `s3haul rb --force`".to_owned(),
        "InvalidObjectState" => {
            "the object is archived: restore it first, with `s3haul restore`".to_owned()
        }
        "NotImplemented" => "the server does not have this operation".to_owned(),
        "InvalidRequest" if is_about_locks(error) => {
            "object lock belongs to the bucket: `s3haul mb --object-lock` makes one that has it"
                .to_owned()
        }
        _ => return None,
    };
    Some(hint)
}

/// Whether an object was to be locked, or its lock to be looked at.
fn is_about_locks(error: &Error) -> bool {
    let operation = error.operation();
    matches!(operation, Some("PutObjectRetention" | "PutObjectLegalHold" | "GetObjectLegalHold"))
}

/// Whether an object was to be written: then the bucket may rightly not be there yet.
fn is_write(error: &Error) -> bool {
    matches!(error.operation(), Some("PutObject" | "CreateMultipartUpload" | "CopyObject"))
}

fn for_kind(error: &Error) -> Option<String> {
    let hint = match error.kind() {
        ErrorKind::WrongRegion => {
            match error.service_error().and_then(|service| service.region.as_deref()) {
                Some(region) if is_plain(region) => {
                    format!("the bucket is in {region}: add `--region {region}`")
                }
                _ => "name the bucket's region with `--region`".to_owned(),
            }
        }
        ErrorKind::Credentials => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, choose a profile with `--profile`, \
             or read public data with `--no-sign-request`"
                .to_owned()
        }
        ErrorKind::Certificate => {
            "name the certificate authority of the server with `--ca-bundle`".to_owned()
        }
        ErrorKind::Transport => return for_transport(error).map(str::to_owned),
        // Not where a directory is in the way of a file that is to be written.
        ErrorKind::Local if is_directory_read(&error.to_string()) => {
            "add `--recursive` to transfer a whole directory".to_owned()
        }
        ErrorKind::Local if error.to_string().contains("Too many open files") => {
            FILES_HINT.to_owned()
        }
        ErrorKind::Throttled => {
            "the service asks for fewer requests: set --max-requests-per-second".to_owned()
        }
        _ => return None,
    };
    Some(hint)
}

/// Whether it can be the name of a region: what a server tells may be anything.
fn is_plain(region: &str) -> bool {
    region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_directory_read(message: &str) -> bool {
    message.contains("could not read") && message.contains("Is a directory")
}

const FILES_HINT: &str =
    "raise the limit of open files (`ulimit -n`), or set --max-concurrent-requests lower";

/// What stands in the messages of the operating system and of TLS, and what to do about it.
const TRANSPORT_HINTS: [(&str, &str); 4] = [
    ("too many open files", FILES_HINT),
    (
        "refused",
        "nothing listens there: check that the server runs and that the endpoint URL and the proxy \
         are right",
    ),
    (
        "failed to lookup",
        "the name of the endpoint is not known: check the endpoint URL, the region and the network",
    ),
    ("corrupt message", "the server does not seem to speak TLS: try `http://` in the endpoint URL"),
];

fn for_transport(error: &Error) -> Option<&'static str> {
    let message = error.to_string().to_lowercase();
    TRANSPORT_HINTS.iter().find(|(part, _)| message.contains(part)).map(|(_, hint)| *hint)
}

/// The bucket of a subject such as `s3://bucket/key`.
fn bucket(error: &Error) -> Option<&str> {
    let rest = error.subject()?.strip_prefix("s3://")?;
    rest.split('/').next().filter(|bucket| !bucket.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul::error::ServiceError;

    fn service(kind: ErrorKind, code: &str, region: Option<&str>) -> Error {
        let region = region.map(str::to_owned);
        let service = ServiceError { code: code.into(), region, ..ServiceError::default() };
        Error::service(kind, "PutObject", service).with_subject("s3://box/key")
    }

    #[test]
    fn hints_name_what_to_type() {
        let hint = |error| for_error(&error);
        let missing = service(ErrorKind::NotFound, "NoSuchBucket", None);
        assert_eq!(hint(missing).unwrap(), "make the bucket with `s3haul mb s3://box`");
        let unread = service(ErrorKind::NotFound, "NoSuchBucket", None);
        let unread = hint(unread.with_operation("ListObjectsV2")).unwrap();
        assert!(unread.contains("`s3haul ls`"), "{unread}");
        let moved = service(ErrorKind::WrongRegion, "PermanentRedirect", Some("eu-west-1"));
        assert_eq!(hint(moved).unwrap(), "the bucket is in eu-west-1: add `--region eu-west-1`");
        let odd = service(ErrorKind::WrongRegion, "PermanentRedirect", Some("x; rm -rf /"));
        assert_eq!(hint(odd).unwrap(), "name the bucket's region with `--region`");
        assert!(hint(Error::new(ErrorKind::Transport, "Connection refused")).is_some());
        assert!(hint(Error::new(ErrorKind::Transport, "connection reset")).is_none());
        assert!(hint(service(ErrorKind::NotFound, "NoSuchKey", None)).is_none());
        let local = |message| hint(Error::new(ErrorKind::Local, message));
        assert!(local("could not read `d`: Is a directory (os error 21)").is_some());
        let files = "could not read `f`: Too many open files (os error 24)";
        assert!(local(files).unwrap().contains("ulimit -n"));
        let in_the_way = "a directory is in the way of `d`: Is a directory (os error 21)";
        assert_eq!(local(in_the_way), None);
    }
}
