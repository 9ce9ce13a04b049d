"""Listings and comparisons as rows, batches and Arrow streams."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import threading
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import s3haul
from conftest import Bucket

duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.compute")

MILLION = 1_000_000


@pytest.fixture(scope="module")
def million() -> Any:
    """A client of a bucket with a million computed objects."""
    with s3haul.serve(synthetic=f"dates:{MILLION}") as server:
        yield server.client()


def test_rows_are_what_boto3_lists(bucket: Bucket) -> None:
    bucket.put(**{f"key {n:02} é": b"x" * n for n in range(20)})
    found = bucket.boto3.list_objects_v2(Bucket=bucket.name)["Contents"]
    rows = list(bucket.client.list(bucket.url(), sort=True))
    assert [row.key for row in rows] == [row["Key"] for row in found]
    assert [row.size for row in rows] == [row["Size"] for row in found]
    assert [row.etag for row in rows] == [row["ETag"].strip('"') for row in found]
    times = [row.last_modified.replace(microsecond=0) for row in rows]
    assert times == [row["LastModified"].replace(microsecond=0) for row in found]
    assert rows[0].last_modified.tzinfo is timezone.utc
    assert pickle.loads(pickle.dumps(rows)) == rows, "for pools of processes"


def test_libraries_take_the_stream(bucket: Bucket) -> None:
    bucket.put(a=b"1", b=b"22")
    rows = bucket.client.list(bucket.url(), sort=True)
    assert pyarrow.table(rows).column("key").to_pylist() == ["a", "b"]
    assert rows.to_arrow().equals(pyarrow.table(rows))
    assert polars.DataFrame(rows)["size"].to_list() == [1, 2]
    assert rows.to_polars()["key"].to_list() == ["a", "b"]
    assert isinstance(rows.to_pandas(), pandas.DataFrame)
    assert rows.to_pandas()["size"].sum() == 3
    assert duckdb.sql("select sum(size), count(*) from rows").fetchall() == [(3, 2)]
    batch = next(rows.batches())
    assert (len(batch), batch.names[:2]) == (2, ("key", "size"))
    assert pyarrow.record_batch(batch).num_rows == len(batch.to_pandas()) == 2
    assert batch.to_polars().shape == (2, 5)


def test_consumers_may_hold_the_lock(own: Bucket) -> None:
    """The first request asks a function of Python for credentials."""
    own.put(a=b"1", b=b"2")

    class Stream(ctypes.Structure):
        _fields_ = [(name, ctypes.c_void_p) for name in ("schema", "next", "error", "release")]

    # `PyDLL` and `PYFUNCTYPE` keep the lock.
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rows = own.service.client(credentials=lambda: (own.service.access_key, own.service.secret_key))
    capsule = rows.list(own.url()).__arrow_c_stream__()
    address = pointer(capsule, b"arrow_array_stream")
    stream = Stream.from_address(address)
    step = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(stream.next)
    # An `ArrowArray`, whose first field is its length.
    array = (ctypes.c_int64 * 10)()
    assert step(address, ctypes.addressof(array)) == 0
    assert array[0] == 2
    release = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(array[8])
    release(ctypes.addressof(array))


def test_a_consumer_that_is_interrupted_ends() -> None:
    """Its own error, which a program may catch, was all that came of Ctrl-C."""
    with s3haul.serve(latency="20ms", synthetic="seq:5000") as server:
        rows = server.client().list("s3://synthetic/", page_size=1, serial=True)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            try:
                pyarrow.table(rows)
            except pyarrow.ArrowException as error:
                assert "interrupted" in str(error)
            raise AssertionError("the rows came to their end")


def test_nothing_is_a_table_without_rows(bucket: Bucket) -> None:
    rows = bucket.client.list(bucket.url())
    assert list(rows) == list(rows.batches()) == []
    assert rows.to_arrow().schema.names == list(rows.names)
    assert rows.to_pandas().empty
    assert rows.to_polars().shape == (0, 5)


def test_frames_of_nothing_take_one_listing(own: Bucket) -> None:
    pytest.importorskip("polars")
    rows = own.client.list(own.url("none/"))
    starts = []
    start = rows._start
    rows._start = lambda: starts.append(1) or start()  # type: ignore[func-returns-value]
    frame = rows.to_polars()
    assert (frame.height, tuple(frame.columns), len(starts)) == (0, rows.names, 1)
    with_rows = own.client.put_many([("a", b"1")], root=own.url())
    assert list(with_rows) == ["a"]
    assert own.client.list(own.url()).to_polars().schema == frame.schema


def test_iterations_are_independent(own: Bucket) -> None:
    own.put(a=b"", b=b"")
    rows = own.client.list(own.url(), sort=True)
    pairs = [(first.key, second.key) for first, second in zip(rows, rows)]
    assert pairs == [("a", "a"), ("b", "b")]
    own.put(c=b"")
    assert [row.key for row in rows] == ["a", "b", "c"]


def test_showing_rows_sends_nothing(own: Bucket, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with s3haul.serve(synthetic="seq:1000", ledger=ledger) as server:
        rows = server.client().list("s3://synthetic")
        rows._repr_html_()
        repr(rows)
        assert not ledger.exists() or ledger.read_text() == ""
        next(rows.batches())
    assert ledger.read_text() != ""


def test_versions_and_find(own: Bucket) -> None:
    own.client.versioning_enable(own.url())
    own.put(a=b"1")
    own.put(a=b"22")
    own.boto3.delete_object(Bucket=own.name, Key="a")
    rows = list(own.client.versions(own.url()))
    assert [(row.size, row.is_latest, row.is_delete_marker) for row in rows] == [
        (0, True, True),
        (2, False, False),
        (1, False, False),
    ]
    assert own.client.list(own.url(), versions=True).to_arrow().num_rows == 3
    own.put(**{"x/y.csv": b"1", "x/y.txt": b"1"})
    assert [row.key for row in own.client.find(own.url(), names=["*.csv"])] == ["x/y.csv"]


def test_comparisons(bucket: Bucket, files: Path) -> None:
    bucket.client.sync(files, bucket.url())
    (files / "new").write_bytes(b"n")
    (files / "a.txt").write_bytes(b"longer")
    bucket.put(old=b"o")
    rows = {row.name: row for row in bucket.client.compare(files, bucket.url())}
    statuses = {name: row.status for name, row in rows.items()}
    assert statuses == {"new": "only-source", "a.txt": "different", "old": "only-target"}
    assert (rows["a.txt"].source_size, rows["a.txt"].target_size) == (6, 1)
    assert rows["new"].target_modified is None
    same = bucket.client.verify(files, bucket.url(), show=["same"]).to_arrow()
    assert sorted(same.column("name").to_pylist()) == ["b.txt", "inner/c.bin"]


def test_comparisons_take_keys_of_the_caller(own: Bucket, files: Path) -> None:
    key = {"sse_c": "AES256", "sse_c_key": "k" * 32}
    own.client.sync(files, own.url(), **key).raise_for_failures()
    rows = own.client.verify(files, own.url(), show=["same"], **key)
    assert rows.to_arrow().num_rows == 3
    assert "kkk" not in repr(rows) + rows._repr_html_()


def test_conditions_are_functions_of_batches() -> None:
    with s3haul.serve(synthetic="dates:20000") as server:
        check_conditions(server.client())


def check_conditions(client: s3haul.Client) -> None:
    def is_first_of_month(batch: pyarrow.RecordBatch) -> Any:
        return pyarrow.compute.match_substring(batch["key"], "/01/")

    def half(batch: pyarrow.RecordBatch) -> Any:
        return [place % 2 == 0 for place in range(len(batch))]

    rows = client.list("s3://synthetic", sort=True)
    some = rows.where(is_first_of_month)
    count = sum(len(batch) for batch in some.batches())
    expected = duckdb.sql("select count(*) from rows where key like '%/01/%'").fetchall()
    assert [(count,)] == expected
    fewer = some.where(half)
    row = next(iter(fewer))
    assert "/01/" in row.key
    assert isinstance(row.last_modified, datetime)
    assert pyarrow.table(fewer).num_rows == fewer.to_arrow().num_rows < count
    assert some.where(lambda batch: batch.slice(0, 0)).to_arrow().num_rows == 0


@pytest.mark.parametrize(
    ("answer", "error"),
    [([True], ValueError), (True, TypeError), (None, TypeError), ("text", TypeError)],
)
def test_conditions_that_make_no_sense(own: Bucket, answer: object, error: type) -> None:
    own.put(a=b"", b=b"")
    with pytest.raises(error, match="condition"):
        list(own.client.list(own.url()).where(lambda batch: answer))


def test_conditions_that_raise(own: Bucket) -> None:
    own.put(a=b"")

    def fails(batch: object) -> object:
        raise KeyError("mine")

    rows = own.client.list(own.url()).where(fails)
    with pytest.raises(KeyError, match="mine"):
        list(rows)
    with pytest.raises(Exception, match="mine"):
        pyarrow.table(rows)
    with pytest.raises(TypeError, match="function"):
        own.client.list(own.url()).where(3)  # type: ignore[arg-type]


def test_a_million_keys_in_duckdb_and_polars(million: s3haul.Client) -> None:
    rows = million.list("s3://synthetic")
    counted = duckdb.sql("select count(distinct key), count(*) from rows").fetchall()
    assert counted == [(MILLION, MILLION)]
    years = (
        polars.DataFrame(rows)
        .group_by(polars.col("key").str.slice(0, 4))
        .agg(polars.len().alias("objects"))
    )
    assert years["objects"].sum() == MILLION


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_the_listing(script: Any) -> None:
    # In a process of its own, with the server in another: the peak is that of this listing alone.
    text = """
import sys
import s3haul

url, *credentials = sys.argv[1:]
client = s3haul.Client(endpoint_url=url, region="us-east-1", credentials=credentials)
def peak():
    # Of this process alone: `getrusage` begins with the peak of the parent.
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024
rows = 0
for batch in client.list("s3://synthetic").batches():
    rows += len(batch)
print(rows, peak())
"""
    with s3haul.serve(synthetic=f"dates:{MILLION}") as server:
        done = script(text, None, server.url, server.access_key, server.secret_key)
    assert done.returncode == 0, done.stderr
    rows, peak_mib = map(int, done.stdout.split())
    assert rows == MILLION
    assert peak_mib < 150


def test_a_listing_that_is_left_ends(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    with s3haul.serve(synthetic=f"dates:{MILLION}", ledger=ledger) as server:
        rows = server.client(max_concurrent_requests=4).list("s3://synthetic", concurrency=4)
        for _ in rows:
            break
        del rows
    # A listing to its end takes a thousand requests and more.
    assert len(ledger.read_text().splitlines()) < 500


@pytest.mark.skipif(sys.platform == "win32", reason="hides packages by a path")
def test_missing_packages_are_named(script: Any) -> None:
    text = """
import sys
for name in ("pyarrow", "pandas", "polars"):
    sys.modules[name] = None
import s3haul

with s3haul.serve() as server:
    client = server.client()
    client.make_bucket("s3://bucket")
    client.write("s3://bucket/a", b"")
    rows = client.list("s3://bucket")
    assert [row.key for row in rows] == ["a"]
    for call in (rows.to_arrow, rows.to_pandas, rows.to_polars, lambda: rows.where(len)):
        try:
            call()
        except ImportError as error:
            print(error)
"""
    done = script(text)
    assert done.stdout.splitlines() == [
        "to_arrow() needs the package `pyarrow`: pip install pyarrow",
        "to_pandas() needs the package `pandas`: pip install pandas",
        "to_polars() needs the package `polars`: pip install polars",
        "where() needs the package `pyarrow`: pip install pyarrow",
    ], done.stderr


def test_nothing_is_no_proof(own: Bucket, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(s3haul.S3haulError, match="nothing is proved") as caught:
        list(own.client.verify(own.url("typo"), own.url("typo2")))
    assert caught.value.status == 2
    assert list(own.client.compare(own.url("typo"), own.url("typo2"))) == []
    assert "nothing is proved" in caplog.text
