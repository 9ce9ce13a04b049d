//! Probes of names that not every store can have.

use bytes::Bytes;
use http::Method;

use super::judged::{Judged, ensure};
use super::question::{Probe, probe};
use super::room::{Page, Room};

pub(super) const PROBES: &[Probe] = &[
    probe!(Keys Feature "key-beside-folder" beside_folder:
        "There may be an object `x` beside an object `x/y`.",
        "Uploads and copies of trees that have both fail for one of them."),
    probe!(Keys Feature "key-folder-marker" folder_marker:
        "An empty object may have a name that ends in `/`.",
        "Folders that other tools make as such objects are not copied."),
    probe!(Keys Feature "key-empty-segment" empty_segment:
        "`a//b` is a name of its own.",
        "Objects with such keys are not copied, or become others."),
    probe!(Keys Feature "key-dots" dots:
        "`.` and `..` in a key are plain text.",
        "Objects with such keys are not copied, or become others."),
    probe!(Keys Feature "key-long" long:
        "A key may have 1,024 bytes.",
        "Objects with longer keys than the service takes are not copied."),
    probe!(Keys Feature "key-long-segment" long_segment:
        "A key may have 300 bytes without a `/`.",
        "Objects with longer names than the service takes are not copied."),
    probe!(Keys Feature "key-case" case:
        "Capital letters are others than small ones.",
        "One of two such objects overwrites the other."),
    probe!(Keys Feature "key-normal-forms" normal_forms:
        "`é` in one character is another name than in two.",
        "One of two such objects overwrites the other."),
    probe!(Keys Feature "key-special" special:
        "Blanks, `+`, `%`, `&`, quotes and backslashes are plain text.",
        "Objects with such keys are not copied, or become others."),
    probe!(Keys Feature "key-control" control:
        "Control characters are plain text.",
        "Objects with such keys are not copied."),
    probe!(Keys Feature "key-noncharacter" noncharacter:
        "U+FFFF, which XML cannot hold, is plain text.",
        "Objects with such keys are not copied."),
];

/// Writes objects of these names one after the other, reads, lists and removes them.
async fn all_are_kept(room: &Room<'_>, names: &[&str]) -> Judged {
    for name in names {
        room.put(name, (*name).to_owned()).await?;
    }
    for name in names {
        room.holds(name, name.as_bytes()).await?;
    }
    let (mut listed, _) = room.list_all(Page::default()).await?;
    let mut expected: Vec<_> = names.to_vec();
    expected.sort_unstable();
    listed.objects.sort();
    ensure(listed.objects == expected, || {
        format!("a listing shows {:?} instead of {expected:?}", listed.objects)
    })?;
    for name in names {
        room.expect(Method::DELETE, name, &[], Bytes::new()).await?;
    }
    let (listed, _) = room.list_all(Page::default()).await?;
    ensure(listed.objects.is_empty(), || format!("{:?} cannot be removed", listed.objects))
}

async fn beside_folder(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["x", "x/y"]).await?;
    all_are_kept(room, &["v/w", "v"]).await
}

async fn folder_marker(room: &Room<'_>) -> Judged {
    room.put("d/", Bytes::new()).await?;
    room.put("d/k", "k").await?;
    let (mut listed, _) = room.list_all(Page::default()).await?;
    listed.objects.sort();
    ensure(listed.objects == ["d/", "d/k"], || format!("a listing shows {:?}", listed.objects))?;
    room.expect(Method::DELETE, "d/", &[], Bytes::new()).await?;
    room.holds("d/k", b"k").await
}

async fn empty_segment(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["a//b", "a/b", "/c"]).await
}

async fn dots(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["a/./b", "a/../b", "..", "./c", "a/.."]).await
}

/// A name that makes a key of 1,024 bytes, in pieces of 200.
fn name_of_longest_key(room: &Room<'_>) -> String {
    let length = 1024_usize.saturating_sub(room.key("").len());
    (1..=length).map(|at| if at % 200 == 0 && at < length { '/' } else { 'l' }).collect()
}

async fn long(room: &Room<'_>) -> Judged {
    all_are_kept(room, &[&name_of_longest_key(room)]).await
}

async fn long_segment(room: &Room<'_>) -> Judged {
    all_are_kept(room, &[&"l".repeat(300)]).await
}

async fn case(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["key", "Key", "KEY"]).await
}

async fn normal_forms(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["\u{e9}", "e\u{301}"]).await
}

async fn special(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["a b", "a+b", "a%20b", "a%2Fb", "a&<>\"'b", "a\\b", " ", "a?b#c", "~*"])
        .await
}

async fn control(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["a\u{1}b", "a\nb", "a\tb", "a\rb", "a\u{7f}b"]).await
}

async fn noncharacter(room: &Room<'_>) -> Judged {
    all_are_kept(room, &["a\u{ffff}b"]).await
}
