//! What is refused before `s3s` sees it, because nothing behind would: subresources that this
//! server does not have (a `DELETE` of an object's `?policy` must not delete the object), headers
//! that it does not heed and that would keep data (bytes appended to an object must not replace
//! it), XML documents longer than any that S3 takes, and forms of browsers. And messages for the
//! errors of which `s3s` sends only the code.

use http::{HeaderMap, Method, Uri};

use crate::classify::{Target, query_pairs};

/// Longest XML document: 1,000 keys of 1,024 bytes, each written as a character reference, fit.
const XML_BYTES_MAX: u64 = 16 << 20;

/// Headers without which a request replaces or removes what it would leave with them.
const UNHEEDED_HEADERS: [&str; 4] = [
    "x-amz-if-match-initiated-time",
    "x-amz-if-match-last-modified-time",
    "x-amz-if-match-size",
    "x-amz-write-offset-bytes",
];

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
}

/// Finds what nothing behind would refuse.
pub(crate) fn check(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    target: &Target,
) -> Result<(), Objection> {
    let is_unheeded = UNHEEDED_HEADERS.iter().any(|name| headers.contains_key(*name));
    if target.lacks_subresource || is_unheeded {
        return Err(Objection { status: 501, code: "NotImplemented" });
    }
    if *method == Method::POST && is_form(headers) {
        // Forms of browsers bring a signature of their own kind, which the gate does not know.
        return Err(Objection { status: 501, code: "NotImplemented" });
    }
    if *method == Method::PUT && !target.key.is_empty() {
        let names = |wanted: &str| query_pairs(uri).any(|(name, _)| name == wanted);
        if names("uploadId") != names("partNumber") {
            // It would replace the object.
            return Err(Objection { status: 400, code: "InvalidRequest" });
        }
    }
    let takes_data = matches!(target.operation, "PutObject" | "UploadPart");
    if !takes_data && content_length(headers).is_some_and(|length| length > XML_BYTES_MAX) {
        return Err(Objection { status: 400, code: "MalformedXML" });
    }
    Ok(())
}

fn is_form(headers: &HeaderMap) -> bool {
    let types = headers.get_all(http::header::CONTENT_TYPE).iter();
    let is_one = |kind: &http::HeaderValue| {
        let text = kind.as_bytes().trim_ascii_start().to_ascii_lowercase();
        text.starts_with(b"multipart/form-data")
    };
    types.into_iter().any(is_one)
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// What S3 says beside a code.
pub(crate) fn message(code: &str) -> &'static str {
    match code {
        "AccessDenied" => "Access Denied",
        "ExpiredToken" => "The provided token has expired.",
        "IllegalVersioningConfigurationException" => {
            "The Versioning element must be specified with a status of Enabled or Suspended."
        }
        "InternalError" => "We encountered an internal error. Please try again.",
        "InvalidBucketName" => "The specified bucket is not valid.",
        "InvalidRequest" => "A part needs both an upload id and a part number.",
        "InvalidURI" => "Couldn't parse the specified URI.",
        "KeyTooLongError" => "Your key is too long",
        "MalformedXML" => {
            "The XML you provided was not well-formed or did not validate against our published \
             schema"
        }
        "MethodNotAllowed" => "The specified method is not allowed against this resource.",
        "MissingRequestBodyError" => "Request body is empty.",
        "NotImplemented" => {
            "A header or query you provided implies functionality that is not implemented"
        }
        "RequestTimeTooSkewed" => {
            "The difference between the request time and the current time is too large."
        }
        "SignatureDoesNotMatch" => {
            "The request signature we calculated does not match the signature you provided. Check \
             your key and signing method."
        }
        "SlowDown" | "ServiceUnavailable" => "Please reduce your request rate.",
        _ => "The request was refused.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::classify;

    fn code(method: &str, uri: &str, length: Option<u64>) -> &'static str {
        let (method, uri): (Method, Uri) = (method.parse().unwrap(), uri.parse().unwrap());
        let mut headers = HeaderMap::new();
        if let Some(length) = length {
            headers.insert(http::header::CONTENT_LENGTH, length.into());
        }
        let target = classify(&method, &uri, &headers);
        check(&method, &uri, &headers, &target).err().map_or("", |objection| objection.code)
    }

    #[test]
    fn nothing_is_done_to_an_object_or_bucket_in_place_of_its_subresource() {
        for uri in ["/b/k?policy", "/b/k?restore=", "/b/k?uploads", "/b?versions", "/b?acl="] {
            assert_eq!(code("DELETE", uri, None), "NotImplemented", "{uri}");
            assert_eq!(code("PUT", uri, None), "NotImplemented", "{uri}");
        }
        assert_eq!(code("GET", "/b?replication", None), "NotImplemented");
        assert_eq!(code("PUT", "/b/k?versionId=x&x-id=PutObject&foo", None), "");
        assert_eq!(code("PUT", "/b/k?tagging", None), "");
        assert_eq!(code("PUT", "/b/policy?partNumber=1&uploadId=x", None), "");
        assert_eq!(code("GET", "/b?versions&prefix=acl", None), "");
        assert_eq!(code("GET", "/", None), "");
    }

    #[test]
    fn conditions_and_offsets_that_are_not_heeded_are_refused() {
        for (method, name, value) in [
            ("PUT", "x-amz-write-offset-bytes", "4"),
            ("DELETE", "x-amz-if-match-size", "1"),
            ("DELETE", "x-amz-if-match-last-modified-time", "Sat, 01 Jan 2000 00:00:00 GMT"),
        ] {
            let (method, uri) = (method.parse().unwrap(), "/b/k".parse().unwrap());
            let headers = HeaderMap::from_iter([(
                http::HeaderName::from_static(name),
                http::HeaderValue::from_static(value),
            )]);
            let target = classify(&method, &uri, &headers);
            let objection = Objection { status: 501, code: "NotImplemented" };
            assert_eq!(check(&method, &uri, &headers, &target), Err(objection), "{name}");
        }
    }

    #[test]
    fn a_part_does_not_replace_the_object() {
        for uri in ["/b/k?uploadId=x", "/b/k?partNumber=1", "/b/k?upload%49d=x"] {
            assert_eq!(code("PUT", uri, None), "InvalidRequest", "{uri}");
        }
        assert_eq!(code("GET", "/b/k?partNumber=1", None), "");
    }

    #[test]
    fn documents_have_an_end_and_objects_may_be_long() {
        let long = Some(XML_BYTES_MAX + 1);
        assert_eq!(code("POST", "/b?delete", long), "MalformedXML");
        assert_eq!(code("POST", "/b/k?uploadId=x", long), "MalformedXML");
        assert_eq!(code("PUT", "/b/k", long), "");
        assert_eq!(code("PUT", "/b/k?partNumber=1&uploadId=x", long), "");
        assert_eq!(code("POST", "/b?delete", Some(XML_BYTES_MAX)), "");
    }
}
