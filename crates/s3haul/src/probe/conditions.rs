//! Probes of requests that are carried out only on a condition.

use bytes::Bytes;
use http::Method;
use s3haul_wire::Payload;
use s3haul_wire::ops::Conditions;

use super::judged::{Judged, Mismatch};
use super::objects::bulk_delete;
use super::question::{Probe, probe};
use super::room::Room;

pub(super) const PROBES: &[Probe] = &[
    probe!(Conditions Data "put-if-absent" put_if_absent:
        "A PUT with `If-None-Match: *` is refused where there is an object.",
        "`--no-overwrite`, plans and workers of one job may overwrite what others write."),
    probe!(Conditions Data "put-if-match" put_if_match:
        "A PUT with the `If-Match` of another object is refused.",
        "`apply` may overwrite what has changed since the plan."),
    probe!(Conditions Data "complete-if-absent" complete_if_absent:
        "An upload in parts with `If-None-Match: *` is refused where there is an object.",
        "`--no-overwrite` and plans may overwrite what others write, for large objects."),
    probe!(Conditions Data "copy-if-match" copy_if_match:
        "A copy is refused where the source has another ETag.",
        "`cp` and `mv` within the service may copy an object that has changed meanwhile."),
    probe!(Conditions Nothing "get-if-match" get_if_match:
        "A GET with another ETag is refused.",
        "Downloads in parts compare the ETags of their answers."),
    probe!(Conditions Data "delete-if-match" delete_if_match:
        "A DELETE with another ETag is refused.",
        "`mv` may remove an object that replaced its source meanwhile."),
    probe!(Conditions Data "delete-many-if-match" delete_many_if_match:
        "A bulk removal leaves an object that has another ETag.",
        "`sync --delete`, and `rm` with conditions, may remove what was replaced since it was \
         listed. `apply` looks at each object before, which leaves a moment in between."),
];

/// An `ETag` that no object here has.
const OTHER: &str = "\"00000000000000000000000000000000\"";

/// Refusals of a condition: 409 is the answer to a write that was overtaken.
const REFUSED: &[u16] = &[412, 409];

async fn put_if_absent(room: &Room<'_>) -> Judged {
    let field = ("if-none-match", "*");
    room.expect(Method::PUT, "k", &[field], "old").await?;
    room.refused((Method::PUT, "k"), &[field], "new", REFUSED).await?;
    room.holds("k", b"old").await
}

async fn put_if_match(room: &Room<'_>) -> Judged {
    let etag = room.put("k", "old").await?;
    room.refused((Method::PUT, "k"), &[("if-match", OTHER)], "new", REFUSED).await?;
    room.holds("k", b"old").await?;
    room.expect(Method::PUT, "k", &[("if-match", &etag)], "new").await?;
    room.holds("k", b"new").await
}

async fn complete_if_absent(room: &Room<'_>) -> Judged {
    room.put("k", "old").await?;
    let upload_id = room.begin("k", None).await?;
    let part = room.part("k", &upload_id, 1, Payload::from_bytes("new".into())).await?;
    let conditions = Conditions { if_match: None, if_absent: true };
    let completed = room.complete(("k", &upload_id), &[part], conditions, None).await;
    is_refused("completing with if-none-match", completed)?;
    room.holds("k", b"old").await
}

/// Whether the condition of a request of the client was refused.
fn is_refused(what: &str, judged: Judged) -> Judged {
    match judged {
        Ok(()) => Err(Mismatch::Other(format!("{what} answers 200"))),
        Err(Mismatch::Error(error)) => match error.service_error().map(|answer| answer.status) {
            Some(status) if REFUSED.contains(&status) => Ok(()),
            _ => Err(Mismatch::Error(error)),
        },
        judged => judged,
    }
}

async fn copy_if_match(room: &Room<'_>) -> Judged {
    let etag = room.put("from", "new").await?;
    is_refused(
        "copying with x-amz-copy-source-if-match",
        room.copy("from", "to", Some(OTHER), None).await,
    )?;
    room.copy("from", "to", Some(&etag), None).await?;
    room.holds("to", b"new").await
}

async fn get_if_match(room: &Room<'_>) -> Judged {
    let etag = room.put("k", "old").await?;
    room.refused((Method::GET, "k"), &[("if-match", OTHER)], Bytes::new(), REFUSED).await?;
    room.expect(Method::GET, "k", &[("if-match", &etag)], Bytes::new()).await?;
    Ok(())
}

async fn delete_if_match(room: &Room<'_>) -> Judged {
    let etag = room.put("k", "old").await?;
    room.refused((Method::DELETE, "k"), &[("if-match", OTHER)], Bytes::new(), REFUSED).await?;
    room.holds("k", b"old").await?;
    room.expect(Method::DELETE, "k", &[("if-match", &etag)], Bytes::new()).await?;
    room.is_gone("k").await
}

async fn delete_many_if_match(room: &Room<'_>) -> Judged {
    let etag = room.put("same-etag", "old").await?;
    room.put("other-etag", "old").await?;
    let names = [("same-etag", Some(etag.as_str())), ("other-etag", Some(OTHER))];
    bulk_delete(room, &names, false).await?;
    room.is_gone("same-etag").await?;
    room.holds("other-etag", b"old").await
}
