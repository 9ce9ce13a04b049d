//! What a user can do about an error: one sentence, or nothing.

use s3haul::plan::s3_uri;
use s3haul::{Error, ErrorKind};

/// Advice for an error, where there is some that helps most of the time.
pub(crate) fn for_error(error: &Error) -> Option<String> {
    for_bucket_name(error).or_else(|| for_code(error)).or_else(|| for_kind(error))
}

/// What is wrong with the name of a bucket, where an error may come from that. A HEAD has no more
/// than a status; and what has capital letters cannot be part of the name of a host.
fn for_bucket_name(error: &Error) -> Option<String> {
    let may_be =
        matches!(error.code(), "NoSuchBucket" | "InvalidBucketName" | "400" | "404" | "BadRequest");
    if !may_be && error.kind() != ErrorKind::Transport {
        return None;
    }
    let bucket = bucket(error)?;
    let problem = s3_uri::bucket_name_problem(bucket)?;
    let lower = bucket.to_ascii_lowercase();
    Some(match s3_uri::bucket_name_problem(&lower) {
        None => format!("{problem}: is `s3://{lower}` meant?"),
        Some(_) => format!("{problem}, and this is `{bucket}`"),
    })
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
        // S3 does this for a bucket that is new, or for the moment.
        ErrorKind::WrongRegion if is_temporary_redirect(error) => {
            "the service sends requests elsewhere and back, or to an address that it does not own: \
             check the endpoint URL, or try again in a while if the bucket is new"
                .to_owned()
        }
        ErrorKind::WrongRegion => {
            match error.service_error().and_then(|service| service.region.as_deref()) {
                Some(region) if is_plain(region) => {
                    format!("the bucket is in {region}: add `--region {region}`")
                }
                _ => "name the bucket's region with `--region`".to_owned(),
            }
        }
        ErrorKind::Credentials => {
            let message = error.to_string();
            // These say themselves what to do, and the profile is the right one.
            if ["MFA", "MultiFactorAuthentication", "aws login"]
                .iter()
                .any(|named| message.contains(named))
            {
                return None;
            }
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, choose a profile with `--profile`, \
             or read public data with `--no-sign-request`"
                .to_owned()
        }
        ErrorKind::NotS3 => {
            "check the address of the service (`--endpoint-url`, AWS_ENDPOINT_URL), the proxy, and \
             whether the network wants a login first"
                .to_owned()
        }
        ErrorKind::Certificate => for_certificate(&error.to_string()).to_owned(),
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

fn is_temporary_redirect(error: &Error) -> bool {
    error.service_error().is_some_and(|service| matches!(service.status, 302 | 307))
}

/// What is wrong with a server's certificate, as the message says it: a bundle that was named
/// stands in it.
fn for_certificate(message: &str) -> &'static str {
    let has = |part: &str| message.contains(part);
    if has("certificate expired") || has("certificate not valid yet") {
        return "the server needs a certificate that is valid now, or the clock of this machine is \
                wrong";
    }
    if has("certificate not valid for name") {
        return "use a host in the endpoint URL for which the server's certificate was made";
    }
    let url_end = message.find("/ with ").or_else(|| message.find("/: "));
    if url_end.is_some_and(|at| message[at..].starts_with("/ with ")) {
        return "the CA bundle holds neither the server's certificate nor that of its authority";
    }
    "name the certificate authority of the server with `--ca-bundle`"
}

/// Whether it can be the name of a region: a server may return anything.
fn is_plain(region: &str) -> bool {
    region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_directory_read(message: &str) -> bool {
    // Only the shell can redirect standard input to something else.
    message.contains("could not read `") && message.contains("Is a directory")
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
    use s3haul_wire::error::ServiceError;

    fn service(kind: ErrorKind, code: &str, region: Option<&str>) -> Error {
        let region = region.map(str::to_owned);
        let service = ServiceError { code: code.into(), region, ..ServiceError::default() };
        Error::service(kind, "PutObject", service).with_subject("s3://box/key")
    }

    #[test]
    fn names_that_no_bucket_has_are_pointed_at() {
        let of = |kind, code: &str, bucket: &str| {
            for_error(&service(kind, code, None).with_subject(format!("s3://{bucket}/k")))
        };
        let capital = "bucket names have no capital letters: is `s3://uxb` meant?";
        assert_eq!(of(ErrorKind::NotFound, "NoSuchBucket", "UXB").unwrap(), capital);
        assert_eq!(of(ErrorKind::Request, "400", "UXB").unwrap(), capital);
        let other = of(ErrorKind::Request, "InvalidBucketName", "a_B").unwrap();
        assert_eq!(other, "bucket names have no capital letters, and this is `a_B`");
        assert_eq!(of(ErrorKind::NotFound, "404", "uxb"), None);
        assert_eq!(of(ErrorKind::AccessDenied, "AccessDenied", "UXB"), None);
        let lost = Error::new(ErrorKind::Transport, "failed to lookup").with_subject("s3://UXB/k");
        assert_eq!(for_error(&lost).unwrap(), capital);
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
        let service_error = ServiceError { status: 307, ..ServiceError::default() };
        let redirect = Error::service(ErrorKind::WrongRegion, "PutObject", service_error);
        assert!(hint(redirect).unwrap().contains("check the endpoint URL"));
        assert!(hint(Error::new(ErrorKind::Transport, "Connection refused")).is_some());
        assert!(hint(Error::new(ErrorKind::Transport, "connection reset")).is_none());
        assert!(hint(service(ErrorKind::NotFound, "NoSuchKey", None)).is_none());
        let local = |message| hint(Error::new(ErrorKind::Local, message));
        assert!(local("could not read `d`: Is a directory (os error 21)").is_some());
        assert_eq!(local("could not read standard input: Is a directory (os error 21)"), None);
        let files = "could not read `f`: Too many open files (os error 24)";
        assert!(local(files).unwrap().contains("ulimit -n"));
        let in_the_way = "a directory is in the way of `d`: Is a directory (os error 21)";
        assert_eq!(local(in_the_way), None);
    }
}
