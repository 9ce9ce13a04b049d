"""Transfers, their results, and requests about single objects."""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
from pathlib import Path
from typing import Any

import pytest
import s3haul
from conftest import Bucket
from s3haul import aio


def test_sync_there_and_back(bucket: Bucket, files: Path, tmp_path: Path) -> None:
    result = bucket.client.sync(files, bucket.url("data"))
    assert (result.done, result.failed, result.bytes, result.status) == (3, 0, 6, 0)
    assert result.requests.write >= 3
    assert result.price > 0
    assert bucket.objects() == {"data/a.txt": b"a", "data/b.txt": b"bb", "data/inner/c.bin": b"ccc"}
    again = bucket.client.sync(files, bucket.url("data"))
    assert (again.done, again.bytes) == (0, 0)
    bucket.client.sync(bucket.url("data"), tmp_path / "back").raise_for_failures()
    assert (tmp_path / "back" / "inner" / "c.bin").read_bytes() == b"ccc"


def test_filters_count_in_their_order(bucket: Bucket, files: Path) -> None:
    only_text = [("exclude", "*"), ("include", "*.txt")]
    bucket.client.copy(files, bucket.url(), recursive=True, filters=only_text)
    assert sorted(bucket.objects()) == ["a.txt", "b.txt"]


def test_copy_move_and_remove(bucket: Bucket) -> None:
    bucket.put(a=b"1")
    assert bucket.client.copy(bucket.url("a"), bucket.url("b")).done == 1
    assert bucket.client.move(bucket.url("b"), bucket.url("c")).done == 1
    assert bucket.objects() == {"a": b"1", "c": b"1"}
    dry = bucket.client.remove(bucket.url(), recursive=True, dryrun=True)
    assert dry.done == 2
    assert bucket.client.remove(bucket.url(), recursive=True).done == 2
    assert bucket.objects() == {}


def test_an_empty_list_removes_nothing(own: Bucket) -> None:
    own.put(a=b"1", b=b"2")
    for name in ("from_", "retry_failed", "older_than", "filter", "max_delete"):
        with pytest.raises(TypeError, match="expected one value"):
            own.client.remove(own.url(), recursive=True, **{name: []})
    for name in ("regex", "storage_classes"):
        with pytest.raises(ValueError, match="at least one"):
            own.client.move(own.url(), own.url("to"), recursive=True, **{name: []})
    assert own.objects() == {"a": b"1", "b": b"2"}


def test_refused_removals_are_no_errors_of_files(own: Bucket, tmp_path: Path) -> None:
    own.put(a=b"1", b=b"2")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "c").touch()
    refused = [
        lambda: own.client.remove(own.url(), recursive=True, max_delete=1),
        lambda: own.client.remove(own.url(), recursive=True, max_delete="10%"),
        lambda: own.client.sync(tmp_path / "empty", own.url(), delete=True),
        lambda: own.client.sync(tmp_path / "other", own.url(), delete=True, max_delete="1%"),
    ]
    for call in refused:
        with pytest.raises(s3haul.RemovalRefused) as caught:
            call().raise_for_failures()
        assert not isinstance(caught.value, OSError)
    assert {"a", "b"} <= own.objects().keys()


def test_empty_metadata_of_set_removes_all(own: Bucket) -> None:
    own.client.write(own.url("a"), b"1", metadata={"one": "1"})
    result = own.client.set(own.url("a"), metadata={}, content_type="text/x-new")
    assert result.raise_for_failures().done == 1
    found = own.client.head(own.url("a"))
    assert (found.get("metadata"), found["content_type"]) == (None, "text/x-new")
    own.client.write(own.url("a"), b"1", metadata={"one": "1"})
    own.client.copy(own.url("a"), own.url("b"), metadata={}).raise_for_failures()
    assert own.client.head(own.url("b"))["metadata"] == {"one": "1"}


def test_tags_are_changed_and_read(bucket: Bucket) -> None:
    bucket.put(a=b"1", b=b"2")
    tag = bucket.client.tag
    assert tag(bucket.url("a"), set={"one": "1", "two": "2"}).done == 1
    assert tag(bucket.url("a"), add={"three": "3"}).done == 1
    assert tag(bucket.url("a"), remove=["two"]).done == 1
    assert tag(bucket.url("a")) == {"one": "1", "three": "3"}
    found = bucket.boto3.get_object_tagging(Bucket=bucket.name, Key="a")["TagSet"]
    assert {pair["Key"]: pair["Value"] for pair in found} == {"one": "1", "three": "3"}
    many = tag(bucket.url(), recursive=True)
    assert {row["key"]: row["tags"] for row in many} == {"a": tag(bucket.url("a")), "b": {}}
    tag(bucket.url("a"), clear=True).raise_for_failures()
    assert tag(bucket.url("a")) == {}


def test_keys_of_tags_may_have_an_equals_sign(own: Bucket) -> None:
    own.put(a=b"1")
    url = own.url("a")
    own.client.tag(url, set={"a=b": "c", "d": "e=f"}).raise_for_failures()
    assert own.client.tag(url) == {"a=b": "c", "d": "e=f"}
    own.client.tag(url, remove=(key for key in ["a=b"])).raise_for_failures()
    assert own.client.tag(url) == {"d": "e=f"}
    with pytest.raises(s3haul.UsageError, match="','"):
        own.client.tag(url, set={"note": "x,owner=root"})
    with pytest.raises(ValueError, match="comma"):
        own.client.tag(url, remove=["a,d"])
    assert own.client.tag(url) == {"d": "e=f"}


def test_what_fails_in_the_same_way_each_time_is_an_exception_of_that(
    own: Bucket, tmp_path: Path
) -> None:
    for number in range(200):
        (tmp_path / f"f{number}").write_bytes(b"x")
    with pytest.raises(s3haul.NotFound, match="bucket does not exist.*ended early"):
        own.client.copy(tmp_path, "s3://no-such-bucket/a/", recursive=True)


def test_an_incomplete_report_is_a_failure(own: Bucket, files: Path) -> None:
    result = own.client.sync(files, own.url())
    assert result.raise_for_failures() is result
    dataclasses.replace(result, status=2, warnings=1).raise_for_failures()
    with pytest.raises(s3haul.TransferFailed):
        dataclasses.replace(result, status=1).raise_for_failures()


def test_properties_are_changed(bucket: Bucket) -> None:
    bucket.put(a=b"1")
    change = bucket.client.set(bucket.url("a"), content_type="text/x", metadata={"k": "v,w=x"})
    assert change.done == 1
    found = bucket.boto3.head_object(Bucket=bucket.name, Key="a")
    assert (found["ContentType"], found["Metadata"]) == ("text/x", {"k": "v,w=x"})


def test_single_objects(bucket: Bucket) -> None:
    client, url = bucket.client, bucket.url("some * key?")
    client.write(url, bytearray(b"0123456789"), content_type="text/y", metadata={"k": "v"})
    assert bucket.body("some * key?") == b"0123456789"
    assert client.read(url) == client.cat(url) == b"0123456789"
    ranges = {(2, 5): b"234", (7, None): b"789", (-2, None): b"89", "0-0": b"0"}
    for wanted, expected in ranges.items():
        assert client.read(url, wanted) == expected
    head = client.head(url)
    assert (head["size"], head["content_type"], head["key"]) == (10, "text/y", "some * key?")
    assert client.presign(url, expires_in=60).startswith(bucket.service.url)
    assert client.write(url, b"other", no_overwrite=True).done == 0
    assert bucket.body("some * key?") == b"0123456789"


@pytest.mark.parametrize("is_async", [False, True])
def test_writes_have_the_type_of_their_ending(own: Bucket, is_async: bool) -> None:
    written: list[tuple[str, dict[str, Any], str]] = [
        ("a.csv", {}, "text/csv"),
        ("b.csv", {"content_type": "x/y"}, "x/y"),
        ("c.csv", {"no_guess_mime_type": True}, "binary/octet-stream"),
        ("d", {}, "binary/octet-stream"),
    ]
    for key, options, expected in written:
        if is_async:
            asyncio.run(aio.Client(own.client).write(own.url(key), b"1", **options))
        else:
            own.client.write(own.url(key), b"1", **options)
        head = own.boto3.head_object(Bucket=own.name, Key=key)
        assert head["ContentType"] == expected


@pytest.mark.parametrize("is_async", [False, True])
def test_versions_are_read(own: Bucket, is_async: bool) -> None:
    own.client.versioning_enable(own.url())
    first, _ = (own.boto3.put_object(Bucket=own.name, Key="*", Body=body) for body in (b"1", b"22"))
    version = first["VersionId"]

    def read(*args: Any, **options: Any) -> bytes:
        if is_async:
            return asyncio.run(aio.Client(own.client).read(own.url("*"), *args, **options))
        return own.client.read(own.url("*"), *args, **options)

    assert (read(), read(version_id=version)) == (b"22", b"1")
    assert read((0, 1), version_id=version) == read((-1, None), version_id=version) == b"1"
    with pytest.raises(s3haul.UsageError, match="single object"):
        own.client.run(["cat", "--version-id", version, own.url("*")])


def test_large_objects_go_in_parts(bucket: Bucket) -> None:
    data = bytes(range(256)) * (80 << 12)
    bucket.client.write(bucket.url("large"), data)
    assert bucket.boto3.head_object(Bucket=bucket.name, Key="large")["ETag"].endswith('-10"')
    assert bucket.client.read(bucket.url("large")) == data


def test_queries(bucket: Bucket) -> None:
    bucket.put(**{"x/a.csv": b"12345", "x/y/b.csv": b"1", "z": b""})
    names = [row.get("prefix") or row["key"] for row in bucket.client.ls(bucket.url("x/"))]
    assert sorted(names) == ["x/a.csv", "x/y/"]
    summary = bucket.client.summarize(bucket.url())
    assert (summary.objects, summary.bytes) == (3, 6)
    assert summary["folders"][0]["name"] == "x/"
    assert bucket.name in [row["bucket"] for row in bucket.client.list_buckets()]
    assert bucket.client.ls(bucket.url("none")) == []
    assert (
        bucket.client.map(bucket.url(), map="js:(key, o) => o.Size", reduce="js:(a, b) => a + b")
        == "6\n"
    )


def test_buckets_are_made_and_removed(own: Bucket) -> None:
    url = f"s3://{own.name}-more"
    own.client.make_bucket(url, tags={"a": "b"})
    assert own.client.versioning_get(url) == [{"bucket": f"{own.name}-more", "status": "off"}]
    own.client.remove_bucket(url)
    with pytest.raises(s3haul.NotFound):
        own.client.versioning_get(url)


def test_failures_are_rows(own: Bucket, files: Path) -> None:
    result = own.client.remove("s3://no-such-bucket/key")
    assert (result.failed, len(result.failures)) == (1, 1)
    failure = result.failures[0]
    assert (failure.action, failure.source) == ("delete", "s3://no-such-bucket/key")
    assert (failure.kind, failure.code) == ("not_found", "NoSuchBucket")
    with pytest.raises(s3haul.TransferFailed, match="NoSuchBucket") as raised:
        result.raise_for_failures()
    assert raised.value.result is result
    pyarrow = pytest.importorskip("pyarrow")

    assert pyarrow.record_batch(result.failures).to_pylist() == [failure._asdict()]
    assert pyarrow.table(result.failures).num_rows == 1
    again = pickle.loads(pickle.dumps(raised.value))
    assert list(again.result.failures) == [failure]
    assert pyarrow.table(again.result.failures).num_rows == 1


def test_archived_objects_say_their_state(own: Bucket) -> None:
    own.put(a=b"1")
    result = own.client.restore(own.url("a"), status=True)
    assert [row["state"] for row in result.lines()] == ["not archived"]


def test_run_is_a_command_line(own: Bucket, capfd: pytest.CaptureFixture[str]) -> None:
    own.put(a=b"123")
    done = own.client.run(["list", own.url(), "--format", "csv", "--fields", "key,size"])
    assert (done.status, done.output) == (0, b"key,size\r\na,3\r\n")
    assert own.client.run(["ls", own.url("none")]).status == 1
    with pytest.raises(s3haul.UsageError, match="no-such-flag"):
        own.client.run(["ls", "--no-such-flag"])
    with pytest.raises(TypeError, match="list of words"):
        own.client.run("ls s3://b")  # type: ignore[arg-type]
    assert capfd.readouterr() == ("", "")


def test_html_is_escaped(own: Bucket) -> None:
    own.put(**{"<script>.<b>": b"1"})
    shown = [
        own.client.remove(own.url("<i>")),
        own.client.summarize(own.url()),
        own.client.list(own.url("<script>")),
        own.client.remove("s3://no-such-bucket/<u>"),
        own.client.job("remove", own.url("<i>")),
        next(own.client.list(own.url()).batches()),
    ]
    for value in shown:
        html = value._repr_html_()
        assert html.startswith("<table>")
        assert not any(tag in html for tag in ("<script>", "<i>", "<b>", "<u>"))
