//! Probes of reading, writing, copying and removing single objects.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use md5::{Digest as _, Md5};
use s3haul_wire::ops::{ListVersions, PlainRequest};
use s3haul_wire::units::hex;
use s3haul_wire::{Client, ClientConfig, CredentialsConfig};

use crate::plan::encoded_words;

use super::judged::{Judged, Mismatch, ensure, ensure_answer};
use super::question::{Probe, probe};
use super::room::{Room, status};

pub(super) const PROBES: &[Probe] = &[
    probe!(Objects Data "object" object:
        "An object is read back as it was written, also an empty one.",
        "Nothing works."),
    probe!(Objects Data "range" range:
        "A range of an object is returned as asked for.",
        "Large downloads and resumed ones fail."),
    probe!(Objects Data "delete" delete:
        "An object is gone once it was removed, and removing it again is no error.",
        "`rm`, `mv` and `sync --delete` fail."),
    probe!(Objects Data "delete-many" delete_many:
        "One request removes many objects.",
        "`rm --recursive` and `sync --delete` fail."),
    probe!(Objects Nothing "delete-quiet" delete_quiet:
        "A quiet bulk removal answers without the names of what it removed.",
        "Answers to bulk removals are larger."),
    probe!(Objects Feature "copy" copy:
        "An object is copied within the service, with its metadata.",
        "`cp`, `mv` and `sync` from prefix to prefix fail; `--stream` sends the bytes through \
         this machine."),
    probe!(Objects Feature "copy-replace" copy_replace:
        "A copy of an object onto itself replaces its metadata.",
        "`set` and `--metadata-directive REPLACE` do not change objects."),
    probe!(Objects Feature "metadata" metadata:
        "Metadata and content headers are stored and returned.",
        "`--metadata`, `--preserve`, `--cache-control` and their like are lost."),
    probe!(Objects Feature "metadata-unicode" metadata_unicode:
        "Metadata beyond ASCII comes back as it was sent.",
        "Values of `--metadata` beyond ASCII are changed or refused."),
    probe!(Objects Feature "md5-etag" md5_etag:
        "The ETag of an object that was written at once is its MD5.",
        "`compare` and `verify` read objects where an ETag would do."),
    probe!(Objects Feature "tags" tags:
        "Tags are stored with an object and changed later.",
        "`tag` and `find --tag` fail, and copies lose tags."),
    probe!(Objects Feature "acl" acl:
        "The ACL of an object is returned.",
        "`--acl`, `--grants` and `set --acl` fail."),
    probe!(Objects Feature "encryption" encryption:
        "An object is encrypted with the service's keys where that is requested.",
        "`--sse` fails."),
    probe!(Objects Feature "versions" versions:
        "A bucket keeps versions: old ones are listed and read, a removal leaves a marker.",
        "`versioning`, `versions`, `undelete` and `--as-of` fail."),
    probe!(Objects Feature "presigned" presigned:
        "A presigned URL returns the object without other credentials.",
        "`presign` makes URLs that do not work."),
    probe!(Objects Nothing "signature" signature:
        "A request that is signed with a wrong secret is refused.",
        "Anyone on the network of the service can read and change the data."),
    probe!(Objects Feature "clock" clock:
        "The clock of the service is less than a minute from the one here.",
        "`sync` and `--newer-than` decide by times that differ by as much."),
];

const BODY: &[u8] = b"0123456789";

async fn object(room: &Room<'_>) -> Judged {
    for body in [BODY, b""] {
        room.put("k", body).await?;
        room.holds("k", body).await?;
        let head = room.expect(Method::HEAD, "k", &[], Bytes::new()).await?;
        let length = head.header("content-length");
        ensure(length == body.len().to_string(), || format!("HEAD returns {length:?} bytes"))?;
        ensure(!head.header("etag").is_empty(), || "HEAD returns no ETag".to_owned())?;
        let modified = head.header("last-modified");
        ensure(httpdate::parse_http_date(modified).is_ok(), || {
            format!("HEAD returns the time {modified:?}")
        })?;
    }
    Ok(())
}

async fn range(room: &Room<'_>) -> Judged {
    room.put("k", BODY).await?;
    for (range, expected) in [("bytes=3-5", "345"), ("bytes=8-99", "89")] {
        let answer = room.expect(Method::GET, "k", &[("range", range)], Bytes::new()).await?;
        ensure(answer.status == 206 && answer.body == expected, || {
            format!("GET of {range} answers {} and {} bytes", status(&answer), answer.body.len())
        })?;
    }
    room.refused((Method::GET, "k"), &[("range", "bytes=10-11")], Bytes::new(), &[416]).await
}

async fn delete(room: &Room<'_>) -> Judged {
    room.put("k", BODY).await?;
    room.holds("k", BODY).await?;
    room.expect(Method::DELETE, "k", &[], Bytes::new()).await?;
    room.is_gone("k").await?;
    room.expect(Method::DELETE, "k", &[], Bytes::new()).await?;
    Ok(())
}

/// Sends `DeleteObjects` of these names; returns the document that answers.
pub(super) async fn bulk_delete(
    room: &Room<'_>,
    names: &[(&str, Option<&str>)],
    is_quiet: bool,
) -> Result<String, Mismatch> {
    let mut body = format!("<Delete><Quiet>{is_quiet}</Quiet>");
    for (name, etag) in names {
        let etag = etag.map(|etag| format!("<ETag>{}</ETag>", in_xml(etag)));
        let (key, etag) = (in_xml(&room.key(name)), etag.unwrap_or_default());
        _ = write!(body, "<Object><Key>{key}</Key>{etag}</Object>");
    }
    body.push_str("</Delete>");
    let answer = room.ask_bucket(Method::POST, &[("delete", "")], body).await?;
    ensure_answer(answer.is_ok(), &answer, || {
        format!("DeleteObjects answers {}", status(&answer))
    })?;
    let document = String::from_utf8_lossy(&answer.body).into_owned();
    if document.contains("<Code>AccessDenied</Code>") {
        return Err(Mismatch::Unclear("DeleteObjects answers AccessDenied".to_owned()));
    }
    Ok(document)
}

/// Text as it stands in XML.
fn in_xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\r', "&#13;")
}

async fn delete_many(room: &Room<'_>) -> Judged {
    room.fill(&["a", "b", "c"]).await?;
    let names = ["a", "b", "never"].map(|name| (name, None));
    let document = bulk_delete(room, &names, false).await?;
    ensure(!document.contains("<Error>"), || "DeleteObjects fails for some".to_owned())?;
    for name in ["a", "b"] {
        room.is_gone(name).await?;
    }
    room.holds("c", b"c").await
}

async fn delete_quiet(room: &Room<'_>) -> Judged {
    room.put("a", BODY).await?;
    room.holds("a", BODY).await?;
    let document = bulk_delete(room, &[("a", None)], true).await?;
    ensure(!document.contains("<Error>"), || "DeleteObjects fails".to_owned())?;
    room.is_gone("a").await?;
    ensure(!document.contains("<Deleted>"), || "the answer names what was removed".to_owned())
}

async fn copy(room: &Room<'_>) -> Judged {
    let kept = [("x-amz-meta-a", "1"), ("content-type", "text/x-probe")];
    room.expect(Method::PUT, "from k", &kept, BODY).await?;
    room.copy("from k", "to", None, None).await?;
    room.holds("to", BODY).await?;
    has_fields(room, "to", &kept).await
}

async fn copy_replace(room: &Room<'_>) -> Judged {
    room.expect(Method::PUT, "k", &[("x-amz-meta-a", "1")], BODY).await?;
    room.copy("k", "k", None, Some(vec![("b".to_owned(), "2".to_owned())])).await?;
    has_fields(room, "k", &[("x-amz-meta-b", "2"), ("x-amz-meta-a", "")]).await?;
    room.holds("k", BODY).await
}

/// Whether HEAD returns these values; an empty one is not there.
async fn has_fields(room: &Room<'_>, name: &str, fields: &[(&'static str, &str)]) -> Judged {
    let head = room.expect(Method::HEAD, name, &[], Bytes::new()).await?;
    for (field, value) in fields {
        let found = head.header(field);
        ensure(found == *value, || {
            format!("HEAD returns {field}: {found:?} instead of {value:?}")
        })?;
    }
    Ok(())
}

async fn metadata(room: &Room<'_>) -> Judged {
    let fields = [
        ("x-amz-meta-probe", "a b"),
        ("content-type", "text/x-probe"),
        ("cache-control", "max-age=7"),
        ("content-disposition", "attachment"),
        ("content-language", "de"),
    ];
    room.expect(Method::PUT, "k", &fields, BODY).await?;
    has_fields(room, "k", &fields).await
}

async fn metadata_unicode(room: &Room<'_>) -> Judged {
    let value = "grün 日本";
    room.expect(Method::PUT, "k", &[("x-amz-meta-probe", value)], BODY).await?;
    let head = room.expect(Method::HEAD, "k", &[], Bytes::new()).await?;
    let raw = head.headers.get("x-amz-meta-probe").map_or(&b""[..], |value| value.as_bytes());
    let found = String::from_utf8_lossy(raw);
    let found = encoded_words::decode(&found);
    ensure(found == value, || format!("HEAD returns {found:?} instead of {value:?}"))
}

async fn md5_etag(room: &Room<'_>) -> Judged {
    let etag = room.put("k", BODY).await?;
    let expected = hex(&Md5::digest(BODY));
    ensure(etag.trim_matches('"') == expected, || format!("the ETag is {etag}"))
}

async fn tags(room: &Room<'_>) -> Judged {
    room.expect(Method::PUT, "k", &[("x-amz-tagging", "a=1&b=%2B")], BODY).await?;
    let (client, bucket, key) = (room.client(), room.bucket(), room.key("k"));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut found = client.get_object_tagging(bucket, &key, None).await?;
    found.sort();
    ensure(found == [pair("a", "1"), pair("b", "+")], || {
        format!("the tags of an upload are {found:?}")
    })?;
    client.put_object_tagging(bucket, &key, None, &[pair("c", "3")]).await?;
    let found = client.get_object_tagging(bucket, &key, None).await?;
    ensure(found == [pair("c", "3")], || format!("tags that were set are {found:?}"))
}

async fn acl(room: &Room<'_>) -> Judged {
    room.put("k", BODY).await?;
    room.client().get_object_acl(room.bucket(), &room.key("k")).await?;
    Ok(())
}

async fn encryption(room: &Room<'_>) -> Judged {
    let field = ("x-amz-server-side-encryption", "AES256");
    room.expect(Method::PUT, "k", &[field], BODY).await?;
    has_fields(room, "k", &[field]).await
}

async fn versions(room: &Room<'_>) -> Judged {
    if !room.ground().is_own() {
        let why = "the versioning of a bucket that is named stays as it is";
        return Err(Mismatch::Senseless(why.to_owned()));
    }
    let (client, key) = (room.client(), room.key("k"));
    client.put_bucket_versioning(room.bucket(), true).await?;
    room.ground().note_versions();
    for body in ["old", "new"] {
        room.put("k", body).await?;
    }
    room.expect(Method::DELETE, "k", &[], Bytes::new()).await?;
    let input = ListVersions { bucket: room.bucket(), prefix: &key, ..<_>::default() };
    let listed = client.list_versions(input).await?.versions;
    let found: Vec<_> = listed.iter().map(|it| (it.is_delete_marker, it.is_latest)).collect();
    ensure(found == [(true, true), (false, false), (false, false)], || {
        format!("the versions of a removed object are listed as {found:?}")
    })?;
    let id = listed[2].version_id.as_str();
    let old = room.send(Method::GET, "k", &[("versionId", id)], &[], Bytes::new()).await?;
    ensure_answer(old.body == "old", &old, || {
        format!("GET of the oldest version answers {}", status(&old))
    })
}

/// A client that differs in its credentials.
fn other_client(room: &Room<'_>, credentials: CredentialsConfig) -> Result<Client, Mismatch> {
    let config = ClientConfig { credentials, ..room.client().config().clone() };
    Ok(Client::new(config, s3haul_wire::env::Env::system())?)
}

async fn presigned(room: &Room<'_>) -> Judged {
    room.put("k", BODY).await?;
    // These credentials may be refused it in any case.
    room.holds("k", BODY).await?;
    let day = Duration::from_hours(24);
    let url = room.client().presign_get(room.bucket(), &room.key("k"), day).await?;
    let client = other_client(room, CredentialsConfig::Anonymous)?;
    let answer = client.get_presigned(room.bucket(), &room.key("k"), &url).await?;
    ensure(answer.body == BODY, || format!("GET of the URL answers {}", status(&answer)))
}

async fn signature(room: &Room<'_>) -> Judged {
    room.put("k", BODY).await?;
    // These credentials may be refused it in any case.
    room.holds("k", BODY).await?;
    let key = room.key("k");
    // What was resolved stands in the URL, apart from the secret.
    let url = room.client().presign_get(room.bucket(), &key, Duration::from_mins(1)).await?;
    let credential = query_value(&url, "X-Amz-Credential").unwrap_or_default();
    let wrong = CredentialsConfig::Static {
        access_key_id: credential.rsplitn(5, '/').last().unwrap_or_default().to_owned(),
        secret_access_key: "not-the-secret".to_owned(),
        session_token: query_value(&url, "X-Amz-Security-Token"),
    };
    let client = other_client(room, wrong)?;
    let request = PlainRequest {
        method: Method::GET,
        bucket: room.bucket(),
        key: Some(&key),
        query: &[],
        headers: &[],
        body: Bytes::new(),
        md5: false,
    };
    let answer = client.send_plain(request).await?;
    match answer.status {
        403 => Ok(()),
        _ if answer.is_ok() => {
            Err(Mismatch::Other("GET with a wrong secret returns the object".to_owned()))
        }
        _ => {
            let message = format!("GET with a wrong secret answers {}", status(&answer));
            Err(Mismatch::Unclear(message))
        }
    }
}

/// A value of the query of a URL.
fn query_value(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(known, _)| *known == name)?;
    let (mut bytes, mut rest) = (Vec::new(), value.bytes());
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let digits: String = rest.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&digits, 16).ok()?
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

async fn clock(room: &Room<'_>) -> Judged {
    let answer = room.expect(Method::PUT, "k", &[], BODY).await?;
    let shown = answer.header("date");
    let Ok(date) = httpdate::parse_http_date(shown) else {
        return Err(Mismatch::Senseless(format!("answers have no time: {shown:?}")));
    };
    let since = date.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = i64::try_from(since).unwrap_or(i64::MAX) - jiff::Timestamp::now().as_second();
    ensure(seconds.abs() < 60, || {
        let side = if seconds < 0 { "behind" } else { "ahead" };
        format!("its clock is {} s {side}", seconds.abs())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_query_are_decoded() {
        let url = "http://h/b?X-Amz-Credential=a%20b%2Fday%2Fr%2Fs3%2Faws4_request&t=%C3%BC";
        let credential = query_value(url, "X-Amz-Credential");
        assert_eq!(credential.as_deref(), Some("a b/day/r/s3/aws4_request"));
        assert_eq!(query_value(url, "t").as_deref(), Some("ü"));
        assert_eq!(query_value(url, "X-Amz-Security-Token"), None);
    }
}
