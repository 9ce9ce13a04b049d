//! What single services do otherwise than S3, and what the client does about it: the one place
//! where they are named.
//!
//! Most of it needs no knowledge of the service: the code takes what any of them may answer. Where
//! an answer does not show it, the `Server` header does. `s3haul check-server` finds out the rest;
//! docs/services.md shows this table.

use http::HeaderMap;
use http::header::SERVER;

/// Something that a service does otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Quirk {
    /// The service, with the version that it was seen in.
    pub service: &'static str,
    /// What it does.
    pub does: &'static str,
    /// What the client does about it.
    pub answer: &'static str,
    /// Where that is known from.
    pub source: &'static str,
}

/// All that are known.
pub const QUIRKS: [Quirk; 9] = [
    Quirk {
        service: "MinIO",
        does: "Shows nothing where a listing starts within `x/` beside an object `x`, or beside \
               more than a page of keys such as `x-1`.",
        answer: "Known by its `Server` header: listed a page after the other.",
        source: "`check-server` (`list-start-in-folder`)",
    },
    Quirk {
        service: "MinIO",
        does: "Lists open uploads below a prefix only where the prefix is the whole key; without a \
               prefix those that began on this node since it was started.",
        answer: "Known by its `Server` header: `uploads` and `summarize --uploads` also list those \
                 of the whole bucket. After a restart only whole keys show the older ones.",
        source: "`check-server` (`multipart-uploads`), conformance suite",
    },
    Quirk {
        service: "MinIO",
        does: "Answers to a copy do not name the encryption of the new object.",
        answer: "Where encryption was asked for, the object's own headers count.",
        source: "conformance suite",
    },
    Quirk {
        service: "MinIO",
        does: "A copy by `CopyObject` that keeps its metadata loses `Expires`.",
        answer: "`set` sends all headers of the object again; a `cp` by `CopyObject` does not.",
        source: "conformance suite",
    },
    Quirk {
        service: "versitygw 1.8.0",
        does: "Completes an upload again that was completed before it was stopped, also where the \
               object is not there.",
        answer: "After a repeated completion the object is looked at, before a move removes its \
                 source.",
        source: "`cargo xtask soak --kill`",
    },
    Quirk {
        service: "Garage 2.5, R2",
        does: "Answers have no `x-amz-request-id`, and Garage's refusal of a condition no body.",
        answer: "Believed once an answer of the host was a document of S3's.",
        source: "`check-server` on Garage; for R2 reports, not tested here",
    },
    Quirk {
        service: "Ceph",
        does: "The ETag of a completed upload comes without its quotes.",
        answer: "ETags are compared without quotes.",
        source: "reports; not tested here",
    },
    Quirk {
        service: "Storj, older SeaweedFS and versitygw",
        does: "Take no checksum behind a body, or refuse one that is right.",
        answer: "Noticed by the answer: the part is sent again from memory, and so are all others.",
        source: "reports; not tested here",
    },
    Quirk {
        service: "older SeaweedFS, directory buckets",
        does: "List keys in an order of their own.",
        answer: "Noticed by the first page that is out of order: listed a page after the other; \
                 what merges two listings ends with an error. `sync --delete` removes a name once \
                 the source's page that passes it and the page behind that one are known to be in \
                 order. Disorder that shows only later is not known by then: `--max-delete 100%` \
                 holds all removals until both sides are listed to their end.",
        source: "reports and documents of AWS; SeaweedFS 4.53, tested here, lists in order",
    },
];

/// Whether a listing may leave keys out without a sign: the first of [`QUIRKS`].
pub(crate) fn may_leave_out(answer: &HeaderMap) -> bool {
    is_minio(answer)
}

/// Whether the prefix of a listing of uploads is taken for a whole key: the second of [`QUIRKS`].
pub(crate) fn lists_uploads_by_key(answer: &HeaderMap) -> bool {
    is_minio(answer)
}

fn is_minio(answer: &HeaderMap) -> bool {
    answer.get(SERVER).is_some_and(|server| server == "MinIO")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_service_is_known_by_its_header_alone() {
        let named = |name: &'static str| {
            let headers = HeaderMap::from_iter([(SERVER, HeaderValue::from_static(name))]);
            may_leave_out(&headers) && lists_uploads_by_key(&headers)
        };
        assert!(named("MinIO") && !named("s3haul-sim"));
        assert!(!may_leave_out(&HeaderMap::new()));
    }
}
