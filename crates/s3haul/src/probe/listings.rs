//! Probes of listings: their order, where they start, pages, groups, and how fresh they are.

use bytes::Bytes;
use http::Method;
use s3haul_wire::ops::ListObjects;

use super::judged::{Judged, Mismatch, ensure, ensure_answer};
use super::question::{Probe, probe};
use super::room::{Names, Page, Room, status};

pub(super) const PROBES: &[Probe] = &[
    probe!(Listings Data "list-complete" complete:
        "A listing shows each object below its prefix once, and nothing else.",
        "Nothing that lists can be relied on: `sync --delete` may remove what it should not."),
    probe!(Listings Data "list-fresh" fresh:
        "A listing shows an object as soon as it is written, and not once it is removed.",
        "`sync` copies again or removes what was written a moment ago."),
    probe!(Listings Data "list-fields" fields:
        "A listing shows size, time and ETag of an object as HEAD does.",
        "`sync` and `compare` decide by what is not true of the object."),
    probe!(Listings Data "list-pages" pages:
        "Pages lead through all objects, each once, and none is larger than asked for.",
        "Listings of more than a page leave objects out or fail."),
    probe!(Listings Feature "list-order" order:
        "Objects come in the order of the bytes of their keys.",
        "Listings are serial, in another order; `sync`, `compare` and `verify` end with an error."),
    probe!(Listings Feature "list-order-unicode" order_unicode:
        "The order is that of UTF-8 also beyond U+FFFF.",
        "As `list-order`, in buckets with such keys."),
    probe!(Listings Feature "list-start-after" start_after:
        "A listing starts after any key, whether or not there is an object of that name.",
        "Listings are serial, and a resumed `sync` begins anew."),
    probe!(Listings Feature "list-start-in-folder" start_in_folder:
        "A listing may start within `x/` where there is an object `x`, too.",
        "Objects may be left out of listings in parallel; s3haul lists a page after the other."),
    probe!(Listings Feature "list-groups" groups:
        "With a delimiter, folders and the objects beside them are shown once each.",
        "`ls` and `browse` show other folders than there are."),
    probe!(Listings Feature "list-group-pages" group_pages:
        "The same on pages of two entries.",
        "`ls` and `browse` leave folders out where there are more than a page of them."),
    probe!(Listings Nothing "list-v1" version_1:
        "`ListObjects` of version 1 shows the same.",
        "It is used only where version 2 is missing."),
    probe!(Listings Feature "list-encoding" encoding:
        "Keys are encoded on request, so that XML can hold every one of them.",
        "Listings with control characters in a key fail."),
];

/// Names in the order of their bytes: `/` stands between `.` and `0`.
const NAMES: [&str; 9] = ["A", "a-x", "a.x", "a/x", "a/y", "a0", "b", "b~", "é"];

/// The names after a position.
fn after<'a>(names: &[&'a str], position: &str) -> Vec<&'a str> {
    names.iter().copied().filter(|name| *name > position).collect()
}

async fn complete(room: &Room<'_>) -> Judged {
    room.fill(&NAMES).await?;
    for prefix in ["", "a", "a/", "a-", "b", "é", "none"] {
        let (mut listed, _) = room.list_all(Page { prefix, ..<_>::default() }).await?;
        listed.objects.sort();
        let expected: Vec<_> = NAMES.into_iter().filter(|it| it.starts_with(prefix)).collect();
        ensure(listed.objects == expected, || {
            format!("below {prefix:?} it shows {:?} instead of {expected:?}", listed.objects)
        })?;
    }
    Ok(())
}

async fn fresh(room: &Room<'_>) -> Judged {
    for name in ["a", "b", "c"] {
        room.put(name, "new").await?;
        let (listed, _) = room.list_all(Page::default()).await?;
        ensure(listed.objects == [name], || {
            format!("after a PUT of {name:?} it shows {:?}", listed.objects)
        })?;
        room.expect(Method::DELETE, name, &[], Bytes::new()).await?;
        let (listed, _) = room.list_all(Page::default()).await?;
        ensure(listed.objects.is_empty(), || {
            format!("after a DELETE of {name:?} it shows {:?}", listed.objects)
        })?;
    }
    Ok(())
}

async fn fields(room: &Room<'_>) -> Judged {
    room.put("k", "old").await?;
    room.put("k", "newer").await?;
    let prefix = room.key("");
    let input = ListObjects { bucket: room.bucket(), prefix: &prefix, ..<_>::default() };
    let mut page = room.client().list_objects_unchecked(input).await?;
    if let Some(token) = page.next_token.take().filter(|_| page.is_empty()) {
        // An empty page may come first.
        let input = ListObjects { continuation_token: Some(&token), ..input };
        page = room.client().list_objects_unchecked(input).await?;
    }
    let listed = page.last().ok_or_else(|| Mismatch::Other("the object is not listed".into()))?;
    let head = room.expect(Method::HEAD, "k", &[], Bytes::new()).await?;
    let plain = |etag: &str| etag.trim_matches('"').to_owned();
    let (found, shown) = (plain(listed.etag), plain(head.header("etag")));
    ensure(found == shown, || format!("it shows the ETag {found:?}, HEAD {shown:?}"))?;
    ensure(listed.size == 5, || format!("it shows {} bytes instead of 5", listed.size))?;
    let shown = httpdate::parse_http_date(head.header("last-modified")).ok();
    let shown = shown.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let shown = shown.and_then(|since| i64::try_from(since.as_secs()).ok());
    // HEAD returns whole seconds, which some services round.
    let is_same = shown.is_some_and(|shown| (shown - listed.last_modified_s).abs() <= 1);
    ensure(is_same, || format!("it shows the time {}, HEAD {shown:?}", listed.last_modified_s))
}

async fn pages(room: &Room<'_>) -> Judged {
    room.fill(&NAMES).await?;
    for max_keys in [1, 2, 5] {
        let page = Page { max_keys: Some(max_keys), ..<_>::default() };
        let (mut listed, fullest) = room.list_all(page).await?;
        ensure(fullest <= max_keys as usize, || {
            format!("a page of {max_keys} has {fullest} entries")
        })?;
        listed.objects.sort();
        ensure(listed.objects == NAMES, || {
            format!("pages of {max_keys} show {:?} instead of {NAMES:?}", listed.objects)
        })?;
    }
    Ok(())
}

async fn order(room: &Room<'_>) -> Judged {
    room.fill(&NAMES).await?;
    let listed = room.list_all(Page::default()).await?.0.objects;
    ensure(listed == NAMES, || format!("they come as {listed:?} instead of {NAMES:?}"))
}

async fn order_unicode(room: &Room<'_>) -> Judged {
    // In UTF-16, the last comes before the one before it.
    let names = ["z", "é", "\u{ff21}", "\u{1f600}"];
    room.fill(&names).await?;
    let listed = room.list_all(Page::default()).await?.0.objects;
    ensure(listed == names, || format!("they come as {listed:?} instead of {names:?}"))
}

async fn start_after(room: &Room<'_>) -> Judged {
    room.fill(&NAMES).await?;
    let between = ["0", "a", "a-", "a/", "a/xx", "a/zz", "a/\u{10ffff}", "b0", "c", "zz", "ü"];
    for position in NAMES.into_iter().chain(between) {
        let page = Page { start_after: Some(position), ..<_>::default() };
        let (listed, _) = room.list_all(page).await?;
        let mut found = listed.objects;
        found.sort();
        let expected = after(&NAMES, position);
        ensure(found == expected, || {
            format!("after {position:?} it shows {found:?} instead of {expected:?}")
        })?;
    }
    Ok(())
}

async fn start_in_folder(room: &Room<'_>) -> Judged {
    let names = ["x", "x-1", "x-2", "x/1", "x/2", "x/3"];
    let (beside, within) = names.split_at(3);
    room.fill(beside).await?;
    for name in within {
        let answer = room.send(Method::PUT, name, &[], &[], *name).await?;
        if matches!(answer.status, 400 | 405 | 409) {
            let why = "the object `x` cannot be there beside `x/1`";
            return Err(Mismatch::Senseless(why.to_owned()));
        }
        ensure_answer(answer.is_ok(), &answer, || {
            format!("PUT of {name:?} answers {}", status(&answer))
        })?;
    }
    for (prefix, position) in [("", "x/1"), ("", "x/"), ("", "x-2"), ("x/", "x/1"), ("x/", "x/2")] {
        let page = Page { prefix, start_after: Some(position), ..<_>::default() };
        let (listed, _) = room.list_all(page).await?;
        let mut found = listed.objects;
        found.sort();
        let mut expected = after(&names, position);
        expected.retain(|name| name.starts_with(prefix));
        ensure(found == expected, || {
            format!("after {position:?} it shows {found:?} instead of {expected:?}")
        })?;
    }
    Ok(())
}

/// What a listing of [`NAMES`] shows with the delimiter `/`.
fn grouped() -> (Vec<&'static str>, Vec<&'static str>) {
    let (objects, _): (Vec<_>, Vec<_>) = NAMES.into_iter().partition(|name| !name.contains('/'));
    (objects, vec!["a/"])
}

fn check_groups(mut listed: Names) -> Judged {
    let (objects, groups) = grouped();
    listed.objects.sort();
    ensure(listed.objects == objects, || {
        format!("it shows the objects {:?} instead of {objects:?}", listed.objects)
    })?;
    ensure(listed.groups == groups, || {
        format!("it shows the folders {:?} instead of {groups:?}", listed.groups)
    })
}

async fn groups(room: &Room<'_>) -> Judged {
    room.fill(&NAMES).await?;
    check_groups(room.list_all(Page { delimiter: Some("/"), ..<_>::default() }).await?.0)
}

async fn group_pages(room: &Room<'_>) -> Judged {
    room.fill(&NAMES).await?;
    let page = Page { delimiter: Some("/"), max_keys: Some(2), ..<_>::default() };
    check_groups(room.list_all(page).await?.0)
}

async fn version_1(room: &Room<'_>) -> Judged {
    room.fill(&NAMES).await?;
    let prefix = room.key("");
    let mut found = Vec::new();
    let mut marker: Option<String> = None;
    for _ in 0..NAMES.len() {
        let page = room.client().list_objects_v1(ListObjects {
            bucket: room.bucket(),
            prefix: &prefix,
            continuation_token: marker.as_deref(),
            max_keys: Some(4),
            ..<_>::default()
        });
        let page = page.await?;
        found.extend(page.keys().map(|key| key.replacen(&prefix, "", 1)));
        marker.clone_from(&page.next_token);
        if marker.is_none() {
            break;
        }
    }
    found.sort();
    ensure(found == NAMES, || format!("it shows {found:?} instead of {NAMES:?}"))
}

async fn encoding(room: &Room<'_>) -> Judged {
    room.fill(&["a b+c%d&e<f"]).await?;
    let listed = room.list_all(Page::default()).await?.0.objects;
    ensure(listed == ["a b+c%d&e<f"], || format!("it shows {listed:?}"))?;
    let prefix = room.key("");
    let query = [("list-type", "2"), ("encoding-type", "url"), ("prefix", prefix.as_str())];
    let answer = room.ask_bucket(Method::GET, &query, Bytes::new()).await?;
    ensure_answer(answer.is_ok(), &answer, || {
        format!("ListObjectsV2 answers {}", status(&answer))
    })?;
    let document = String::from_utf8_lossy(&answer.body);
    ensure(document.contains("<EncodingType>url</EncodingType>"), || {
        "keys come as they are, although they should be encoded".to_owned()
    })
}
