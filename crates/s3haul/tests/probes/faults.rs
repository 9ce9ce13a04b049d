//! What the proxy breaks, and which probes should notice.

use s3haul_sim::ListQuirks;

use crate::proxy::{After, Before, Message};

/// One thing that a service does otherwise.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    pub(crate) before: Before,
    pub(crate) after: After,
    pub(crate) expected: &'static [&'static str],
}

/// Changes requests.
const fn asks(name: &'static str, before: Before, expected: &'static [&'static str]) -> Fault {
    Fault { name, before, after: |_, _| {}, expected }
}

/// Changes answers.
const fn answers(name: &'static str, after: After, expected: &'static [&'static str]) -> Fault {
    Fault { name, before: |_| None, after, expected }
}

fn missing() -> Message {
    Message::refusal(501, "NotImplemented")
}

fn refused() -> Message {
    Message::refusal(400, "InvalidArgument")
}

/// Changes a body whose digest was sent along.
fn rewrite(request: &mut Message, from: &str, to: &str) -> Option<Message> {
    if request.is("POST") && request.has_query("delete") {
        let text = request.text().replace(from, to);
        request.set_text(&text);
        request.drop_headers("content-md5");
    }
    None
}

/// The entries of a page of a listing, and what stands around them.
fn page(answer: &Message) -> Option<(String, Vec<String>, String)> {
    let text = answer.text();
    let (start, end) = (text.find("<Contents>")?, text.rfind("</Contents>")? + 11);
    let entries = text[start..end].split_inclusive("</Contents>").map(str::to_owned).collect();
    Some((text[..start].to_owned(), entries, text[end..].to_owned()))
}

/// Changes the entries of the pages that list below folders with this name.
fn change_page(asked: &Message, answer: &mut Message, of: &str, change: fn(&mut Vec<String>)) {
    let is_wanted = asked.lists() && asked.target().contains(of);
    if let Some((head, mut entries, tail)) = page(answer).filter(|_| is_wanted) {
        change(&mut entries);
        answer.set_text(&format!("{head}{}{tail}", entries.concat()));
    }
}

pub(crate) const FAULTS: &[Fault] = &[
    asks("none", |_| None, &[]),
    answers(
        "no Last-Modified",
        |_, answer| answer.drop_headers("last-modified"),
        &["list-fields", "object"],
    ),
    asks(
        "ranges are ignored",
        |it| {
            it.drop_headers("range");
            None
        },
        &["multipart", "range"],
    ),
    asks(
        "removals do nothing",
        |it| {
            let is_object = it.is("DELETE") && it.path().matches('/').count() > 1;
            (is_object && !it.has_query("uploadId")).then(|| Message::refusal(204, ""))
        },
        &[
            "delete",
            "delete-if-match",
            "key-beside-folder",
            "key-case",
            "key-control",
            "key-dots",
            "key-empty-segment",
            "key-long",
            "key-long-segment",
            "key-noncharacter",
            "key-normal-forms",
            "key-special",
            "list-fresh",
            "versions",
        ],
    ),
    asks(
        "what should be removed was never kept",
        |it| {
            let is_it = it.is("PUT") && it.path().contains("/delete");
            is_it.then(|| Message::refusal(200, ""))
        },
        &["delete", "delete-if-match", "delete-many", "delete-many-if-match", "delete-quiet"],
    ),
    asks(
        "no bulk removal",
        |it| it.has_query("delete").then(missing),
        &["delete-many", "delete-many-if-match", "delete-quiet"],
    ),
    asks(
        "bulk removals do nothing",
        |it| {
            it.has_query("delete")
                .then(|| Message { body: b"<DeleteResult/>".to_vec(), ..Message::refusal(200, "") })
        },
        &["delete-many", "delete-many-if-match", "delete-quiet"],
    ),
    asks(
        "quiet bulk removals fail",
        |it| {
            let is_quiet = it.has_query("delete") && it.text().contains("<Quiet>true");
            let body = b"<DeleteResult><Error><Code>InternalError</Code></Error></DeleteResult>";
            is_quiet.then(|| Message { body: body.to_vec(), ..Message::refusal(200, "") })
        },
        &["delete-quiet"],
    ),
    asks("Quiet is ignored", |it| rewrite(it, "<Quiet>true", "<Quiet>false"), &["delete-quiet"]),
    asks(
        "no copies",
        |it| {
            let is_copy = it.header("x-amz-copy-source").is_some() && !it.has_query("uploadId");
            is_copy.then(missing)
        },
        &["copy", "copy-if-match", "copy-replace"],
    ),
    asks(
        "copies keep their metadata",
        |it| {
            it.drop_headers("x-amz-metadata-directive");
            None
        },
        &["copy-replace"],
    ),
    asks(
        "no metadata",
        |it| {
            it.drop_headers("x-amz-meta-");
            None
        },
        &["copy", "copy-replace", "metadata", "metadata-unicode"],
    ),
    asks(
        "no Cache-Control",
        |it| {
            it.drop_headers("cache-control");
            None
        },
        &["metadata"],
    ),
    answers(
        "metadata in ASCII",
        |asked, it| {
            if asked.path().contains("/metadata-unicode/") {
                it.set_header("x-amz-meta-probe", b"gr?n ??");
            }
        },
        &["metadata-unicode"],
    ),
    answers(
        "ETags of their own",
        |asked, it| {
            if asked.is("PUT") && asked.path().contains("/md5-etag/") {
                it.set_header("etag", b"\"0a1b\"");
            }
        },
        &["md5-etag"],
    ),
    asks("no tags", |it| it.has_query("tagging").then(missing), &["tags"]),
    asks("no ACL", |it| it.has_query("acl").then(missing), &["acl"]),
    asks(
        "no encryption",
        |it| {
            it.drop_headers("x-amz-server-side");
            None
        },
        &["encryption"],
    ),
    asks("no versions", |it| it.has_query("versioning").then(missing), &["versions"]),
    asks("no presigned URLs", |it| it.has_query("X-Amz-Signature").then(refused), &["presigned"]),
    asks(
        "any signature will do",
        |it| {
            it.set_header("authorization", b"");
            None
        },
        &["signature"],
    ),
    answers(
        "another clock",
        |_, it| it.set_header("date", b"Thu, 01 Jan 2026 00:00:00 GMT"),
        &["clock"],
    ),
    asks(
        "no uploads in parts",
        |it| (it.is("POST") && it.has_query("uploads")).then(missing),
        &[
            "complete-if-absent",
            "multipart",
            "multipart-checksum",
            "multipart-copy",
            "multipart-head",
            "multipart-parts",
            "multipart-uploads",
        ],
    ),
    asks(
        "parts are not listed",
        |it| (it.is("GET") && it.has_query("uploadId")).then(missing),
        &["multipart-parts"],
    ),
    asks(
        "uploads are not listed",
        |it| (it.is("GET") && it.has_query("uploads")).then(missing),
        &["multipart-uploads"],
    ),
    asks(
        "parts are not copied",
        |it| {
            let is_copy = it.header("x-amz-copy-source").is_some();
            (is_copy && it.has_query("uploadId")).then(missing)
        },
        &["multipart-copy"],
    ),
    asks(
        "HEAD of a part is that of all",
        |it| {
            if it.is("HEAD") {
                it.replace_in_line("partNumber", "ignored");
            }
            None
        },
        &["multipart-head"],
    ),
    asks(
        "If-None-Match is ignored",
        |it| {
            it.drop_headers("if-none-match");
            None
        },
        &["complete-if-absent", "put-if-absent"],
    ),
    asks(
        "If-Match is ignored",
        |it| {
            it.drop_headers("if-match");
            None
        },
        &["delete-if-match", "get-if-match", "put-if-match"],
    ),
    asks(
        "writes and removals with If-Match do nothing",
        |it| {
            let is_right = it.header("if-match").is_some_and(|etag| !etag.starts_with(b"\"0000"));
            (is_right && !it.is("GET")).then(|| Message::refusal(200, ""))
        },
        &["delete-if-match", "put-if-match"],
    ),
    asks(
        "the ETag of a copy's source is ignored",
        |it| {
            it.drop_headers("x-amz-copy-source-if-match");
            None
        },
        &["copy-if-match"],
    ),
    asks(
        "ETags of bulk removals are ignored",
        |it| rewrite(it, "ETag>", "Other>"),
        &["delete-many-if-match"],
    ),
    asks(
        "Content-MD5 is ignored",
        |it| {
            it.drop_headers("content-md5");
            None
        },
        &["content-md5"],
    ),
    asks(
        "checksums are ignored",
        |it| {
            it.drop_headers("x-amz-checksum-");
            it.drop_headers("x-amz-sdk-");
            None
        },
        &["crc32", "crc32c", "crc64nvme", "multipart-checksum", "sha1", "sha256"],
    ),
    asks(
        "a completion fails, which refuses no checksum",
        |it| {
            let is_it = it.is("POST") && it.path().ends_with("/multipart-checksum/wrong");
            (is_it && it.has_query("uploadId")).then(|| Message::refusal(500, "InternalError"))
        },
        &["multipart-checksum"],
    ),
    asks(
        "checksums are refused",
        |it| {
            it.headers
                .iter()
                .any(|(name, _)| {
                    name.starts_with("x-amz-checksum-c") && name != "x-amz-checksum-mode"
                })
                .then(refused)
        },
        &["crc32", "crc32c", "crc64nvme", "multipart-checksum", "upload-checksum"],
    ),
    answers(
        "listings leave out an object",
        |asked, it| {
            change_page(asked, it, "list-complete", |entries| drop(entries.pop()));
        },
        &["list-complete"],
    ),
    answers(
        "listings are late",
        |asked, it| {
            change_page(asked, it, "list-fresh", Vec::clear);
        },
        &["list-fresh"],
    ),
    answers(
        "listings show other sizes",
        |asked, it| {
            if asked.lists() {
                it.set_text(&it.text().replace("<Size>5<", "<Size>3<"));
            }
        },
        &["list-fields"],
    ),
    answers(
        "listings come in any order",
        |asked, it| {
            change_page(asked, it, "", |entries| entries.reverse());
        },
        &["list-order", "list-order-unicode", "list-v1"],
    ),
    answers(
        "listings come in the order of UTF-16",
        |asked, it| {
            change_page(asked, it, "", |entries| {
                let at = entries.iter().position(|entry| entry.contains("%F0%9F"));
                if let Some(at) = at.filter(|at| *at > 0) {
                    entries.swap(at, at - 1);
                }
            });
        },
        &["list-order-unicode"],
    ),
    answers(
        "the first page is the last",
        |asked, it| {
            if asked.lists() {
                it.set_text(&it.text().replace("<IsTruncated>true", "<IsTruncated>false"));
            }
        },
        &["list-group-pages", "list-pages", "list-v1"],
    ),
    asks(
        "pages are as large as can be",
        |it| {
            it.replace_in_line("max-keys=", "ignored=");
            None
        },
        &["list-pages"],
    ),
    asks(
        "nothing comes after x/",
        |it| {
            let is_within = it.lists()
                && it.target().contains("start-after=")
                && it.target().contains("%2Fx%2F");
            is_within.then(|| Message {
                body: b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
                    .to_vec(),
                ..Message::refusal(200, "")
            })
        },
        &["list-start-in-folder"],
    ),
    asks(
        "x/2 beside x fails, which is no answer about keys",
        |it| {
            let is_it = it.is("PUT") && it.path().ends_with("/list-start-in-folder/x/2");
            is_it.then(|| Message::refusal(500, "InternalError"))
        },
        &["list-start-in-folder"],
    ),
    asks(
        "delimiters are ignored",
        |it| {
            it.replace_in_line("delimiter=", "ignored=");
            None
        },
        &["list-group-pages", "list-groups"],
    ),
    asks(
        "no listings of version 1",
        |it| (it.lists() && !it.has_query("list-type")).then(missing),
        &["list-v1"],
    ),
    asks(
        "names are not encoded",
        |it| {
            it.replace_in_line("encoding-type=url", "ignored=url");
            None
        },
        &["list-encoding"],
    ),
    asks(
        "no key below another",
        |it| (it.is("PUT") && it.path().contains("/x/")).then(refused),
        &["key-beside-folder"],
    ),
    asks(
        "no key that ends in a slash",
        |it| {
            let is_object = it.path().matches('/').count() > 2;
            (is_object && it.is("PUT") && it.path().ends_with('/')).then(refused)
        },
        &["key-folder-marker"],
    ),
    asks(
        "slashes run together",
        |it| {
            if it.path().matches('/').count() > 1 {
                it.replace_in_line("//", "/");
            }
            None
        },
        &["key-empty-segment"],
    ),
    asks(
        "dots are resolved",
        |it| {
            it.replace_in_line("/./", "/");
            None
        },
        &["key-dots"],
    ),
    asks("short keys only", |it| (it.path().len() > 900).then(refused), &["key-long"]),
    asks(
        "short names only",
        |it| it.path().split('/').any(|part| part.len() > 255).then(refused),
        &["key-long-segment"],
    ),
    asks(
        "small letters only",
        |it| {
            if it.path().contains("/key-case/") {
                it.line = it.line.replace("/K", "/k");
            }
            None
        },
        &["key-case"],
    ),
    asks(
        "one form of each character",
        |it| {
            it.replace_in_line("e%CC%81", "%C3%A9");
            None
        },
        &["key-normal-forms"],
    ),
    asks(
        "a plus is a blank",
        |it| {
            if it.path().contains("/key-special/") {
                it.replace_in_line("%2B", "%20");
            }
            None
        },
        &["key-special"],
    ),
    asks("no control characters", |it| it.path().contains("%01").then(refused), &["key-control"]),
    asks("no U+FFFF", |it| it.path().contains("%EF%BF%BF").then(refused), &["key-noncharacter"]),
];

/// A change of the simulator's listings.
type Quirk = (&'static str, fn(&mut ListQuirks), &'static [&'static str]);

pub(crate) const QUIRKS: &[Quirk] = &[
    (
        "start-after is ignored",
        |quirks| quirks.ignores_start_after = true,
        &["list-start-after", "list-start-in-folder"],
    ),
    (
        "folders first",
        |quirks| quirks.folders_first = true,
        &["list-order", "list-start-after", "list-start-in-folder"],
    ),
    ("short pages", |quirks| quirks.page_entries_max = Some(4), &[]),
    ("empty pages", |quirks| quirks.empty_pages = true, &[]),
];
