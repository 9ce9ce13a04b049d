"""Words of calls that differ from their commands, and answers made of what commands print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _s3haul, _words
from ._call import Records, StrPath
from ._errors import TransferFailed, of_event, of_failure
from ._result import Result, bare, json_lines
from ._summary import Summary

#: Exit code of the command where something failed.
_FAILED = 1


def has_settings(words: Sequence[str]) -> bool:
    """Whether a command is about a job, which has settings of its own."""
    return list(words[:1]) == ["apply"] or list(words[:2]) in (["job", "run"], ["jobs", "resume"])


def alone(result: Result) -> Result:
    """The result of a call about one object, whose failure is an exception of its kind."""
    if result.failures:
        failure = result.failures[0]
        subject = failure.target if failure.action == "upload" else failure.source
        raise of_failure(
            failure.message,
            status=result.status,
            kind=failure.kind,
            subject=subject,
            code=failure.code,
            operation=failure.operation,
            request_id=failure.request_id,
            http_status=failure.http_status,
        )
    return result.raise_for_failures()


def records(head: Sequence[str], result: Result) -> Records:
    """What a command printed as JSON.

    Raises:
        S3haulError: Something could not be done or looked at.
    """
    found = json_lines(result.output)
    if result.failed:
        if len(result.failures) == 1 and not found:
            alone(result)
        raise TransferFailed.of(result)
    if result.status == _FAILED and head[0] != "list-buckets":
        # Each bucket of a list has its own error.
        for line in found:
            if isinstance(line.get("error"), dict):
                raise of_event(line["error"], line.get("bucket"), result.status)
    return [bare(line) for line in found]


def transfer_call(
    head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
) -> list[str]:
    """The words of a transfer."""
    # What a transfer prints is about archived objects, for programs here.
    is_status = head[0] == "restore" and options.get("status")
    return _words.words(head, paths, {**options, "json": True} if is_status else options)


def tag_call(options: Mapping[str, Any]) -> tuple[list[str], dict[str, Any], bool]:
    """What a call of `tag` begins with, its options, and whether it changes tags."""
    given = dict(options)
    changes = {name: given.pop(name, None) for name in ("set", "add", "remove", "clear")}
    changes = {name: value for name, value in changes.items() if value not in (None, False)}
    if not changes:
        return ["tag", "get", "--json"], given, False
    if len(changes) > 1:
        raise ValueError("give one of `set`, `add`, `remove` and `clear`")
    ((name, value),) = changes.items()
    if name == "clear" or (name == "set" and not value):
        return ["tag", "remove"], {**given, "all": True}, True
    if isinstance(value, str):
        raise TypeError(f"`{name}` is a mapping or a list, not a text")
    if name == "remove" and not isinstance(value, str):
        value = list(value)
        if any("," in str(key) for key in value):
            raise ValueError("no key of a tag has a comma")
    flag = "keys" if name == "remove" else "tags"
    return ["tag", name], {**given, flag: value}, True


def tags_of(found: Records, options: Mapping[str, Any]) -> Any:
    """The tags of one object, or rows of many."""
    if options.get("recursive") or options.get("from_"):
        return found
    return found[0]["tags"] if found else {}


def read_call(
    url: StrPath,
    range: str | tuple[int, int | None] | None,
    version_id: str | None,
    options: Mapping[str, Any],
) -> tuple[list[str], bytes | None]:
    """The words that read an object, and their standard input."""
    options = {"raw": True, **options}
    if range is None and version_id is None:
        return _words.words(["cp"], [url, "-"], options), b""
    given = None if range is None else _range(range)
    options = {**options, "range": given, "version_id": version_id}
    return _words.words(["cat"], [url], options), None


def write_call(url: StrPath, options: Mapping[str, Any]) -> list[str]:
    """The words that write an object. Without a `Content-Type` it has that of its ending."""
    if options.get("content_type") is None and not options.get("no_guess_mime_type"):
        options = {**options, "content_type": _s3haul.content_type(_words.path(url))}
    return _words.words(["cp"], ["-", url], options)


def command_line(args: Sequence[str]) -> list[str]:
    """The words of a command line."""
    if isinstance(args, (str, bytes)):
        raise TypeError('args is a list of words, such as ["ls", "s3://bucket"]')
    return [_words.text(word) for word in args]


def summary_of(found: Records) -> Summary:
    """The one document of `summarize`."""
    return Summary(found[0])


def first_of(found: Records) -> dict[str, Any]:
    """The only line."""
    return found[0]


def url_of(found: Records) -> str:
    """The URL of `presign`."""
    return str(found[0]["url"])


def _range(value: str | tuple[int, int | None]) -> str:
    if isinstance(value, str):
        return value
    try:
        start, stop = value
    except (TypeError, ValueError):
        raise TypeError('range is (start, stop) or a text such as "0-99"') from None
    if stop is None:
        return str(start) if start < 0 else f"{start}-"
    if not 0 <= start < stop:
        raise ValueError(f"({start}, {stop}) is no range of bytes")
    return f"{start}-{stop - 1}"
