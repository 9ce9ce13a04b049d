"""Many objects into and out of memory."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import s3haul
from conftest import Bucket
from s3haul import _s3haul, aio
from s3haul._many import words

numpy = pytest.importorskip("numpy")


def items(count: int) -> Iterator[tuple[str, bytes]]:
    for number in range(count):
        yield f"k{number:04}", b"%d" % number * 100


def test_there_and_back(bucket: Bucket) -> None:
    root = bucket.url("some/prefix")
    written = list(bucket.client.put_many(items(500), root=root))
    assert sorted(written) == [name for name, _ in items(500)]
    assert len(bucket.objects("some/prefix/")) == 500
    names = [name for name, _ in items(500)]
    assert dict(bucket.client.get_many(names, root=root)) == dict(items(500))
    assert list(bucket.client.get_many(names, root=root, ordered=True)) == list(items(500))


def test_names_may_be_urls_and_rows(bucket: Bucket) -> None:
    urls = [bucket.url(f"a b/{n}?") for n in range(3)]
    assert sorted(bucket.client.put_many((url, url.encode()) for url in urls)) == urls
    assert dict(bucket.client.get_many(urls)) == {url: url.encode() for url in urls}
    keys = (row.key for row in bucket.client.list(bucket.url()))
    assert len(dict(bucket.client.get_many(keys, root=bucket.url()))) == 3


@pytest.mark.parametrize(
    "data", [b"ab", bytearray(b"ab"), memoryview(b"ab"), numpy.array([97, 98], "u1")]
)
def test_what_has_a_buffer_is_written(own: Bucket, data: Any) -> None:
    assert list(own.client.put_many([("a", data)], root=own.url(), content_type="x/y")) == ["a"]
    assert own.body("a") == b"ab"
    assert own.boto3.head_object(Bucket=own.name, Key="a")["ContentType"] == "x/y"


def test_large_objects_go_in_parts(own: Bucket) -> None:
    large = bytes(65 << 20)
    written = own.client.put_many([("a", b"1"), ("large", large), ("b", b"2")], root=own.url())
    assert sorted(written) == ["a", "b", "large"]
    head = own.boto3.head_object(Bucket=own.name, Key="large")
    assert head["ContentLength"] == len(large)
    assert "-" in head["ETag"]


@pytest.mark.parametrize("is_async", [False, True])
def test_the_last_of_several_values_wins(
    own: Bucket, is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("_client", "_aio"):
        monkeypatch.setattr(f"s3haul.{module}.PARTS_FROM", 8 << 20)
    values = [("a", bytes(8 << 20)), ("a", b"2"), ("b", b"1"), ("b", bytes(9 << 20)), ("b", b"3")]

    async def written() -> list[str]:
        client = aio.Client(own.client)
        return [name async for name in client.put_many(values, root=own.url())]

    names = asyncio.run(written()) if is_async else list(own.client.put_many(values, root=own.url()))
    assert sorted(names) == ["a", "a", "b", "b", "b"]
    assert own.objects() == {"a": b"2", "b": b"3"}


@pytest.mark.parametrize("is_async", [False, True])
def test_objects_have_properties(
    own: Bucket, is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("_client", "_aio"):
        monkeypatch.setattr(f"s3haul.{module}.PARTS_FROM", 2)
    options: dict[str, Any] = {"metadata": {"a": "b=c"}, "cache_control": "no-cache"}
    options |= {"storage_class": "STANDARD_IA", "sse": "AES256"}

    async def written(client: aio.Client) -> list[str]:
        return [name async for name in client.put_many(values, root=own.url(), **options)]

    values = [("a.csv", b"1"), ("b.csv", b"1,2")]
    if is_async:
        asyncio.run(written(aio.Client(own.client)))
    else:
        assert len(list(own.client.put_many(values, root=own.url(), **options))) == 2
    for name, _ in values:
        head = own.boto3.head_object(Bucket=own.name, Key=name)
        found = [head[key] for key in ("Metadata", "CacheControl", "StorageClass", "ContentType")]
        assert found == [{"a": "b=c"}, "no-cache", "STANDARD_IA", "text/csv"]
        assert head["ServerSideEncryption"] == "AES256"
    with pytest.raises(TypeError, match="no_overwrite"):
        own.client.put_many(values, root=own.url(), no_overwrite=True)


def test_requesters_pay() -> None:
    payers = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            payers.append(self.headers["x-amz-request-payer"])
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.send_error(403)

        do_PUT = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        client = s3haul.Client(endpoint_url=url, region="us-east-1", credentials=("a", "b"))
        options: dict[str, Any] = {"root": "s3://bkt", "on_error": "return"}
        for payer in (None, "requester"):
            list(client.get_many(["a"], request_payer=payer, **options))  # type: ignore[arg-type]
            list(client.put_many([("a", b"1")], request_payer=payer, **options))
        server.shutdown()
    assert payers == [None, None, "requester", "requester"]


def test_failures_raise_are_left_out_or_returned(
    own: Bucket, caplog: pytest.LogCaptureFixture
) -> None:
    own.put(a=b"1")
    names = ["a", "none"]
    with pytest.raises(s3haul.NotFound) as raised:
        list(own.client.get_many(names, root=own.url(), ordered=True))
    assert raised.value.operation == "GetObject"
    assert raised.value.request_id
    with caplog.at_level(logging.ERROR, "s3haul"):
        found = list(own.client.get_many(names, root=own.url(), on_error="skip"))
    assert found == [("a", b"1")]
    assert "none" in caplog.text
    found = dict(own.client.get_many(names, root=own.url(), on_error="return"))
    assert isinstance(found["none"], s3haul.NotFound)
    missing = "s3://no-such-bucket"
    with pytest.raises(s3haul.NotFound):
        list(own.client.put_many(items(3), root=missing))
    assert list(own.client.put_many(items(3), root=missing, on_error="skip")) == []
    answers = list(own.client.put_many(items(3), root=missing, on_error="return"))
    assert all(isinstance(error, s3haul.NotFound) for _, error in answers)


def test_names_are_taken_as_there_is_room(own: Bucket) -> None:
    own.put(a=b"1")
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for _ in itertools.count():
            taken += 1
            yield "a"

    found = own.client.get_many(endless(), root=own.url())
    assert list(itertools.islice(found, 3000)) == [("a", b"1")] * 3000
    found.close()  # type: ignore[attr-defined]
    assert taken <= 3000 + 2 * 1024


def test_memory_is_bounded(own: Bucket) -> None:
    own.put(a=bytes(1 << 20))
    found = own.client.get_many(["a"] * 50, root=own.url(), memory=1, at_once=8)
    assert sum(len(body) for _, body in found) == 50 << 20
    ordered = own.client.get_many(["a"] * 50, root=own.url(), memory=1 << 20, ordered=True)
    assert sum(len(body) for _, body in ordered) == 50 << 20


def test_what_is_taken_counts_as_memory(own: Bucket) -> None:
    own.put(a=bytes(1 << 20))
    getter = _s3haul.Getter(own.client._session(), own.name, words({}), None, 1024, 4 << 20)
    getter.submit(0, ["a"] * 32)
    found: list[int] = []
    while sum(found) < 32:
        # Meanwhile all are read that there is memory for.
        for _ in range(8):
            own.client.head(own.url("a"))
        found.append(len(getter.take(0.1, 256)))
    assert max(found) <= 2


@pytest.mark.parametrize(
    ("names", "options", "error", "message"),
    [
        ("s3://b/a", {}, TypeError, "iterable"),
        ([1], {}, TypeError, "path or an s3:// URL"),
        (["a"], {}, ValueError, "root"),
        (["s3://one/a", "s3://two/a"], {"on_error": "skip"}, ValueError, "another bucket"),
        (["s3://one"], {}, ValueError, "no object"),
        (["a"], {"root": "bucket/prefix"}, ValueError, "s3://"),
        (["a"], {"root": "s3://b", "on_error": "ignore"}, ValueError, "on_error"),
        (["a"], {"root": "s3://b", "at_once": 0}, ValueError, "at_once"),
        (["a"], {"root": "s3://b", "memory": 0}, ValueError, "memory"),
    ],
)
def test_bad_names(own: Bucket, names: Any, options: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        list(own.client.get_many(names, **options))


def test_bad_data(own: Bucket) -> None:
    with pytest.raises(TypeError, match="encode"):
        list(own.client.put_many([("a", "text")], root=own.url()))
    for item in (None, "ab", ("a", b"", b"")):
        with pytest.raises(TypeError, match="name, data"):
            list(own.client.put_many([item], root=own.url()))  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected bytes"):
        own.client.write(own.url("a"), 3)
    with pytest.raises(TypeError, match="encode"):
        own.client.write(own.url("a"), "text")


def test_iterables_that_raise(own: Bucket) -> None:
    own.put(a=b"1")

    def names() -> Iterator[str]:
        yield "a"
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        list(own.client.get_many(names(), root=own.url()))


def test_a_dataset_of_many_small_objects(own: Bucket) -> None:
    """The shape of PyTorch's `IterableDataset`, whose package is used if it is there."""
    try:
        from torch.utils.data import IterableDataset
    except ImportError:
        IterableDataset = object

    class Objects(IterableDataset):  # type: ignore[misc, valid-type]
        def __init__(self, client: s3haul.Client, root: str, keys: list[str]) -> None:
            self.client, self.root, self.keys = client, root, keys

        def __iter__(self) -> Iterator[tuple[str, numpy.ndarray[Any, Any]]]:
            for key, body in self.client.get_many(self.keys, root=self.root):
                yield key, numpy.frombuffer(body, "u1")

    keys = list(own.client.put_many(items(200), root=own.url("train")))
    dataset = Objects(own.client, own.url("train"), keys)
    for _ in range(2):
        assert {key: bytes(row) for key, row in dataset} == dict(items(200))


def test_the_loop_may_use_the_client(own: Bucket) -> None:
    """Objects that waited for memory held all requests that the client may have under way."""
    names = [f"k{number}" for number in range(12)]
    own.put(**{name: bytes(512 << 10) for name in names})
    client = own.service.client(max_concurrent_requests=2)
    for name, body in client.get_many(names, root=own.url(), memory=1 << 20):
        assert len(body) == client.head(own.url(name))["size"] == 512 << 10


def test_large_objects_have_the_type_of_their_ending(
    own: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s3haul._client.PARTS_FROM", 2)
    items = [("a.csv", b"1"), ("b.csv", b"1,2,3")]
    assert sorted(own.client.put_many(items, root=own.url())) == ["a.csv", "b.csv"]
    for name, _ in items:
        head = own.boto3.head_object(Bucket=own.name, Key=name)
        assert head["ContentType"] == "text/csv"
