"""Misuse, interrupts, forks, and what is consumed by half."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import s3haul
from conftest import PATIENCE_S, Bucket, RunScript, Service, _bucket
from s3haul import _client, _rows, _s3haul, aio


def run(coroutine: Any) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE_S))


def bucket_of(server: s3haul.Server) -> Bucket:
    return _bucket(Service("own", server.url, server.access_key, server.secret_key))


# Keys that end in a slash, and names without a key.


def test_keys_that_end_in_a_slash_are_written_literally(bucket: Bucket) -> None:
    result = bucket.client.write(bucket.url("d/"), b"12", content_type="x/y")
    assert (result.done, result.bytes, result.status, result.requests.write) == (1, 2, 0, 1)
    assert run(aio.Client(bucket.client).write(bucket.url("e/"), b"")).done == 1
    assert bucket.objects() == {"d/": b"12", "e/": b""}
    head = bucket.boto3.head_object(Bucket=bucket.name, Key="d/")
    assert head["ContentType"] == "x/y"


@pytest.mark.parametrize("is_async", [False, True])
def test_slashes_have_no_other_options(own: Bucket, is_async: bool) -> None:
    def write(url: str, **options: Any) -> Any:
        if is_async:
            return run(aio.Client(own.client).write(url, b"1", **options))
        return own.client.write(url, b"1", **options)

    with pytest.raises(ValueError, match="metadata"):
        write(own.url("d/"), metadata={"a": "b"})
    for url in (f"s3://{own.name}", own.url()):
        with pytest.raises(ValueError, match="names no object"):
            write(url)
    seen: list[s3haul.Progress] = []
    write(own.url("d/"), metadata=None, progress=seen.append)
    assert (seen[-1].done, seen[-1].bytes) == (1, 1)
    with pytest.raises(s3haul.NotFound):
        write("s3://no-such-bucket/d/")
    with pytest.raises(s3haul.UsageError):
        write("folder/")
    assert own.objects() == {"d/": b"1"}


@pytest.mark.parametrize("is_async", [False, True])
def test_large_objects_of_many_may_end_in_a_slash(
    own: Bucket, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    async def written() -> list[Any]:
        return [name async for name in aio.Client(own.client).put_many(items, root=own.url())]

    monkeypatch.setattr(_client, "PARTS_FROM", 1)
    monkeypatch.setattr("s3haul._aio.PARTS_FROM", 1)
    items = [("a", b"1"), ("large/", b"123"), ("large", b"1234")]
    names = run(written()) if is_async else list(own.client.put_many(items, root=own.url()))
    assert sorted(names) == ["a", "large", "large/"]
    assert own.objects() == dict(items)


def test_empty_names_are_refused(own: Bucket) -> None:
    for root in (own.url(), own.url("x"), "s3://new-bucket"):
        with pytest.raises(ValueError, match="names no object"):
            list(own.client.get_many([""], root=root))
        with pytest.raises(ValueError, match="names no object"):
            list(own.client.put_many([("", b"")], root=root))
    assert own.objects() == {}


@pytest.mark.parametrize("at_once", [-1, 0, 16_385, 1 << 70])
def test_requests_at_a_time_are_bounded(own: Bucket, at_once: int) -> None:
    with pytest.raises(ValueError, match="at_once"):
        own.client.get_many(["a"], root=own.url(), at_once=at_once)
    with pytest.raises(ValueError, match="at_once"):
        own.client.put_many([("a", b"")], root=own.url(), at_once=at_once)


# Names that come slowly.


def test_slow_names_are_asked_for_one_by_one(own: Bucket) -> None:
    """A generator sees results of its first names before its last ones."""
    own.put(a=b"1")
    found: list[Any] = []
    arrived = threading.Event()

    def names() -> Iterator[str]:
        for _ in range(20):
            # The time that a slow source takes; what came meanwhile is returned first.
            arrived.wait(0.05)
            yield "a"
        counts.append(len(found))

    counts: list[int] = []
    for pair in own.client.get_many(names(), root=own.url()):
        found.append(pair)
    assert len(found) == 20
    assert counts[0] >= 10


def test_slow_items_are_written_one_by_one(own: Bucket) -> None:
    written: list[Any] = []
    counts: list[int] = []
    arrived = threading.Event()

    def items() -> Iterator[tuple[str, bytes]]:
        for number in range(20):
            arrived.wait(0.05)
            yield f"k{number}", b""
        counts.append(len(written))

    for name in own.client.put_many(items(), root=own.url()):
        written.append(name)
    assert len(written) == 20
    assert counts[0] >= 10


def test_names_may_depend_on_results_in_asyncio(own: Bucket) -> None:
    own.put(a=b"b", b=b"c", c=b"")

    async def walked() -> list[str]:
        names: asyncio.Queue[str | None] = asyncio.Queue()
        names.put_nowait("a")

        async def source() -> AsyncIterator[str]:
            while name := await names.get():
                yield name

        seen = []
        async for name, body in aio.Client(own.client).get_many(source(), root=own.url()):
            seen.append(name)
            names.put_nowait(body.decode() or None)
        return seen

    assert run(walked()) == ["a", "b", "c"]


def test_items_may_depend_on_what_is_written_in_asyncio(own: Bucket) -> None:
    async def walked() -> list[str]:
        names: asyncio.Queue[str | None] = asyncio.Queue()
        names.put_nowait("a")

        async def source() -> AsyncIterator[tuple[str, bytes]]:
            while name := await names.get():
                yield name, b""

        seen = []
        async for name in aio.Client(own.client).put_many(source(), root=own.url()):
            seen.append(name)
            names.put_nowait("aa" if name == "a" else None)
        return seen

    assert run(walked()) == ["a", "aa"]


def test_asynchronous_sources_that_raise_or_are_left(own: Bucket) -> None:
    own.put(a=b"1")
    ended: list[str] = []

    async def fails() -> AsyncIterator[str]:
        yield "a"
        raise RuntimeError("mine")

    async def waits() -> AsyncIterator[str]:
        try:
            yield "a"
            await asyncio.Event().wait()
        finally:
            ended.append("waits")

    async def calls() -> None:
        client = aio.Client(own.client)
        with pytest.raises(RuntimeError, match="mine"):
            async for _ in client.get_many(fails(), root=own.url()):
                pass
        found = client.get_many(waits(), root=own.url())
        assert await found.__anext__() == ("a", b"1")
        await found.aclose()  # type: ignore[attr-defined]
        assert ended == ["waits"]
        with pytest.raises(TypeError, match="not a text"):
            async for _ in client.get_many("a", root=own.url()):
                pass

    run(calls())


# Cancelled listings.

CANCELLED = """
import asyncio
import s3haul
from s3haul import aio

async def iterated(rows):
    async for row in rows:
        pass

async def main(client):
    for what in (iterated, lambda rows: rows.to_arrow(), lambda rows: rows.to_pandas(),
                 lambda rows: rows.to_polars()):
        task = asyncio.ensure_future(what(aio.Client(client).list("s3://bucket")))
        await asyncio.wait([task], timeout=0.3)
        assert not task.done()
        task.cancel()
        await asyncio.wait([task], timeout=30)
        assert task.cancelled()

server = s3haul.serve(latency="60s")
asyncio.run(main(server.client()))
"""


def test_cancelled_listings_end(script: RunScript) -> None:
    for package in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(package)
    done = script(CANCELLED)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_listing_that_times_out_is_not_complete() -> None:
    class Source:
        def next_batch(self, seconds: float) -> None:
            if self.errors:
                raise self.errors.pop(0)

        def __init__(self) -> None:
            self.errors = [TimeoutError(), s3haul.TimedOut("no answer")]

        def names(self) -> list[str]:
            return ["key"]

    async def wait(function: Callable[..., Any], *args: Any) -> Any:
        return function(*args)

    rows = _rows.Rows(Source, Source())  # type: ignore[arg-type]
    with pytest.raises(s3haul.TimedOut):
        list(rows)

    async def collected() -> None:
        with pytest.raises(s3haul.TimedOut):
            async for _ in _rows.AsyncRows(rows, wait):
                pass

    run(collected())


# The command and Ctrl-C.


class Doorway:
    """A port that passes on what comes for a server, and says when something came."""

    def __init__(self, url: str) -> None:
        self._host, port = url.removeprefix("http://").split(":")
        self._port = int(port)
        self._bound = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._bound.getsockname()[1]}"
        self.has_come = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                come, _ = self._bound.accept()
            except OSError:
                return
            go = socket.create_connection((self._host, self._port))
            for ends in ((come, go), (go, come)):
                threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
                self.has_come.set()
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._bound.close()


def started(words: list[str], environment: dict[str, str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "s3haul", *words],
        env={**os.environ, **environment},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and standard error of a command that gets Ctrl-C now."""
    try:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
        process.wait()
    return process.returncode, errors


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["cp", "file", "s3://bucket/a"], 1, "cancelled: ctrl-c received"),
        (["sync", ".", "s3://bucket/a"], 1, "cancelled: ctrl-c received"),
        (["ls", "s3://bucket/"], 130, ""),
    ],
)
def test_interrupts_end_the_command_like_the_binary(
    tmp_path: Path, words: list[str], status: int, message: str
) -> None:
    (tmp_path / "file").write_bytes(b"1")
    with s3haul.serve(latency="2s") as server:
        doorway = Doorway(server.url)
        environment = {**server.environment(), "AWS_ENDPOINT_URL": doorway.url}
        process = started(words, environment, tmp_path)
        assert doorway.has_come.wait(PATIENCE_S)
        returned, errors = interrupted(process)
        doorway.close()
    assert (returned, "Traceback" in errors) == (status, False)
    assert message in errors


def test_interrupts_end_the_watch_of_a_job(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    folder = tmp_path / "journal"
    with s3haul.serve(latency="5s") as server, ThreadPoolExecutor(1) as pool:
        client = server.client()
        doorway = Doorway(server.url)
        pair = (server.access_key, server.secret_key)
        slow = s3haul.Client(endpoint_url=doorway.url, region=server.region, credentials=pair)
        copied = pool.submit(slow.copy, tmp_path / "file", "s3://bucket/a", journal=folder)
        assert doorway.has_come.wait(PATIENCE_S)
        (status,) = client.jobs(journal=folder)
        words = ["jobs", "watch", status.id, "--journal", str(folder)]
        process = started(words, server.environment(), tmp_path)
        assert process.stdout is not None
        assert "running" in process.stdout.readline()
        # As a query does, and as the binary.
        assert interrupted(process) == (130, "")
        copied.exception()
        doorway.close()


# Functions for progress and credentials.


def test_wrong_functions_for_progress_begin_nothing(own: Bucket, files: Path) -> None:
    async def coroutine(progress: s3haul.Progress) -> None:
        pass

    class Callback:
        async def __call__(self, progress: s3haul.Progress) -> None:
            pass

    client = own.client
    job = client.job("sync", files, own.url())
    made = client.plan("sync", files, own.url())
    status = s3haul.JobStatus(
        id="none",
        state="interrupted",
        command="",
        directory="",
        begun=None,  # type: ignore[arg-type]
        updated=None,  # type: ignore[arg-type]
        process=None,
        objects=0,
        bytes=0,
        skipped=0,
        failed=0,
        pending=0,
        can_resume=True,
        client=client,
    )
    also = aio.Client(client)
    calls: list[Callable[[Any], Any]] = [
        lambda progress: client.sync(files, own.url(), progress=progress),
        lambda progress: client.write(own.url("a"), b"", progress=progress),
        lambda progress: client.write(own.url("a/"), b"", progress=progress),
        lambda progress: client.read(own.url("a"), progress=progress),
        lambda progress: client.run(["sync", str(files), own.url()], progress=progress),
        lambda progress: client.tag(own.url("a"), set={"a": "b"}, progress=progress),
        lambda progress: job.run(progress=progress),
        lambda progress: made.apply(progress=progress),
        lambda progress: status.resume(progress=progress),
        lambda progress: run(also.sync(files, own.url(), progress=progress)),
        lambda progress: run(also.write(own.url("a"), b"", progress=progress)),
        lambda progress: run(also.write(own.url("a/"), b"", progress=progress)),
        lambda progress: run(also.read(own.url("a"), progress=progress)),
        lambda progress: run(also.run(["sync", str(files), own.url()], progress=progress)),
        lambda progress: run(also.run_job(job, progress=progress)),
        lambda progress: run(also.apply(made, progress=progress)),
        lambda progress: run(also.resume(status, progress=progress)),
    ]
    for call in calls:
        for wrong in ("bar", 1, coroutine, Callback()):
            with pytest.raises(TypeError, match="progress"):
                call(wrong)
    assert own.objects() == {}


def test_credentials_that_need_their_client(own: Bucket) -> None:
    service = own.service
    settings: dict[str, Any] = {"endpoint_url": service.url, "region": service.region}
    uses: list[Callable[[], Any]] = [
        lambda: client.ls(own.url()),
        lambda: run(aio.Client(client).ls(own.url())),
    ]
    for use in uses:

        def credentials(use: Callable[[], Any] = use) -> Any:
            use()

        client = s3haul.Client(credentials=credentials, **settings)
        with ThreadPoolExecutor(1) as pool:
            error = pool.submit(client.ls, own.url()).exception(timeout=PATIENCE_S)
        assert isinstance(error, s3haul.CredentialsError)
        assert error.message == "the function for credentials uses the client that it is for"
    other = s3haul.Client(credentials=lambda: _pair(own), **settings)
    assert other.ls(own.url()) == []


def _pair(own: Bucket) -> tuple[str, str]:
    own.client.ls(own.url())
    return own.service.access_key, own.service.secret_key


def test_commands_that_wait_for_credentials_leave_room_for_those_that_fetch_them(
    own: Bucket,
) -> None:
    are_started = threading.Event()

    def credentials() -> tuple[str, str]:
        are_started.wait(PATIENCE_S)
        return _pair(own)

    service = own.service
    client = s3haul.Client(
        endpoint_url=service.url, region=service.region, credentials=credentials
    )
    running = [client._made(False).start(["ls", own.url()]) for _ in range(100)]
    are_started.set()
    assert all(command.wait(PATIENCE_S) for command in running)


def test_many_transfers_leave_room_for_reads(own: Bucket, files: Path) -> None:
    own.put(a=b"1")
    is_read = threading.Event()

    def credentials() -> tuple[str, str]:
        is_read.wait(PATIENCE_S)
        return own.service.access_key, own.service.secret_key

    client = own.service.client(credentials=credentials)
    session = client._made(False)
    running = [session.start(["sync", str(files), own.url()]) for _ in range(100)]
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(own.client.read, own.url("a"))
        try:
            assert read.result(timeout=PATIENCE_S / 4) == b"1"
            assert own.client.head(own.url("a"))["size"] == 1
        finally:
            is_read.set()
    assert all(command.wait(PATIENCE_S) for command in running)


def test_threads_make_one_session(own: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    session = _s3haul.Session

    def slow(*args: Any) -> Any:
        made.append(args)
        both.wait()
        return session(*args)

    both = threading.Barrier(2, timeout=PATIENCE_S)
    client = own.service.client()
    client._held.clear()
    monkeypatch.setattr(_s3haul, "Session", slow)
    with ThreadPoolExecutor(2) as pool:
        sessions = list(pool.map(lambda _: client._session(), range(2)))
    assert sessions[0] is sessions[1]


@pytest.mark.parametrize(
    "url",
    [
        "http://user:very-secret@127.0.0.1:1",
        "http://user:very@secret@127.0.0.1:1/very-secret",
        "http://user:very/secret@127.0.0.1:1",
        "http:user:very-secret@127.0.0.1:1",
        "HTTP://very-secret?@h",
    ],
)
def test_urls_are_shown_without_secrets(url: str) -> None:
    client = object.__new__(s3haul.Client)
    client._settings, client._secrets = {"endpoint_url": url}, {}
    assert "******" in repr(client)
    assert "secret@" not in repr(client) and "very-secret@" not in repr(client)
    assert "user" not in repr(client)


def test_other_urls_are_shown() -> None:
    client = s3haul.Client(endpoint_url="http://127.0.0.1:1/a")
    assert "http://127.0.0.1:1/a" in repr(client)


# Plans.


def test_only_some_commands_can_be_planned(own: Bucket, files: Path) -> None:
    for command in ("list", "read", "_session", "no_such_command", "make_bucket", "ls"):
        with pytest.raises(s3haul.UsageError, match="sync") as raised:
            own.client.plan(command, own.url())
        assert "`tag`" in str(raised.value)
        with pytest.raises(s3haul.UsageError, match="undelete"):
            run(aio.Client(own.client).plan(command, own.url()))


def test_plans_of_tags_are_calls_of_tag(own: Bucket) -> None:
    own.put(a=b"1")
    url = own.url("a")
    assert own.client.plan("tag", url, set={"a": "b", "c": "d"}).apply().done == 1
    assert run(aio.Client(own.client).plan("tag", url, add={"e": "f"})).apply().done == 1
    assert s3haul.plan.tag(url, remove=["a"], client=own.client).apply().done == 1
    assert own.client.tag(url) == {"c": "d", "e": "f"}
    assert own.client.plan("tag_set", url, tags={"x": "y"}).apply().done == 1
    assert own.client.tag(url) == {"x": "y"}
    assert s3haul.plan.tag(url, set={}, client=own.client).apply().done == 1
    assert own.client.tag(url) == {}
    for wrong in ({}, {"set": {"a": "b"}, "clear": True}, {"clear": False}):
        with pytest.raises(ValueError, match="one of"):
            s3haul.plan.tag(url, client=own.client, **wrong)


def test_plans_keep_their_path(
    own: Bucket, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = own.client.plan("sync", files, own.url(), path="kept.parquet")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert made.path == tmp_path / "kept.parquet"
    again = pickle.loads(pickle.dumps(made))
    assert again.path == made.path
    assert again.apply().done == 3


def test_pickled_temporary_plans_have_their_rows(own: Bucket, files: Path) -> None:
    made = own.client.plan("sync", files, own.url())
    pickled, path = pickle.dumps(made), made.path
    del made
    gc.collect()
    assert not path.exists()
    again = pickle.loads(pickled)
    assert again.apply().done == 3
    path = again.path
    del again
    gc.collect()
    assert not path.exists()


def test_pickled_results_are_equal(own: Bucket, files: Path) -> None:
    for result in (own.client.sync(files, own.url()), own.client.remove("s3://no-such-bucket/a")):
        again = pickle.loads(pickle.dumps(result))
        assert again == result
        assert again.failures == result.failures == list(result.failures)
    assert result.failures != own.client.remove("s3://no-such-bucket/b").failures


# Reading, and command lines.


def test_reads_report_progress(own: Bucket) -> None:
    own.put(a=b"12345")
    seen: list[s3haul.Progress] = []
    assert own.client.read(own.url("a"), progress=seen.append) == b"12345"
    assert own.client.read(own.url("a"), (1, 3), progress=seen.append) == b"23"
    assert run(aio.Client(own.client).read(own.url("a"), progress=seen.append)) == b"12345"
    assert len(seen) >= 3
    for wrong in ((3, 3), (3, 2), (-2, -1), (-3, 2)):
        with pytest.raises(ValueError, match="no range"):
            own.client.read(own.url("a"), wrong)


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_is_output(own: Bucket, word: str) -> None:
    done = own.client.run([word])
    assert done.status == 0
    assert b"s3haul" in done.output


# Forks.

FORKS = """
import os, sys
import s3haul

server = s3haul.serve(synthetic="dates:100000")
client = server.client()
rows = iter(client.list("s3://synthetic"))
batches = client.list("s3://synthetic").batches()
next(rows), next(batches)
child = os.fork()
if child == 0:
    status = 1
    try:
        server.stop()
        failed = 0
        for begun in (rows, batches):
            try:
                # What had come before the fork may be there.
                for _ in begun:
                    pass
            except Exception as error:
                failed += 1
        status = 0 if failed == 2 else 2
    finally:
        os._exit(status)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert sum(1 for _ in rows) == 100000 - 1
assert len(list(client.list("s3://synthetic", sort=True))) == 100000
server.stop()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_forks_leave_the_parent_alone(script: RunScript) -> None:
    done = script(FORKS)
    assert (done.returncode, done.stderr) == (0, "")


# Rows that are half consumed.


def test_half_a_comparison_leaves_other_calls_working(own: Bucket, script: RunScript) -> None:
    text = """
import os, pathlib, sys
import s3haul

folder = pathlib.Path("many")
folder.mkdir()
# More than fit between the comparison and its consumer, so that it has to wait.
for number in range(8000):
    (folder / f"f{number}").touch()
client = s3haul.Client()
rows = iter(client.compare(folder, sys.argv[1] + "none/"))
next(rows)
assert client.read(sys.argv[1] + "a") == b"1"
assert sum(1 for row in rows) == 7999
"""
    own.put(a=b"1")
    done = script(text, own.service.environment(), own.url())
    assert (done.returncode, done.stderr) == (0, "")


def test_many_reads_at_the_same_time_end(script: RunScript) -> None:
    text = """
import asyncio
import s3haul
from s3haul import aio

async def main():
    with s3haul.serve() as server:
        pass
    with s3haul.serve(latency="100ms") as server:
        client = aio.Client(server.client())
        await client.make_bucket("s3://bkt")
        await client.write("s3://bkt/a", b"1")
        found = await asyncio.gather(*(client.read("s3://bkt/a") for _ in range(700)))
        assert found == [b"1"] * 700

asyncio.run(main())
"""
    done = script(text)
    assert (done.returncode, done.stderr) == (0, "")


def test_many_half_read_listings_leave_other_calls_working(script: RunScript) -> None:
    text = """
import s3haul
with s3haul.serve(synthetic="dates:50000:size=10") as server:
    client = server.client()
    listings = [iter(client.list("s3://synthetic")) for _ in range(20)]
    keys = [next(rows).key for rows in listings]
    assert len(client.read("s3://synthetic/" + keys[0])) == 10
    assert [len(body) for _, body in client.get_many(keys[:3], root="s3://synthetic")] == [10] * 3
    assert all(next(rows).key for rows in listings)
"""
    done = script(text)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("operation", "options"),
    [("GetObjectTagging", {"tags": ["a"]}), ("HeadObject", {"metadata": ["a"]})],
)
def test_objects_that_cannot_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, options: dict[str, Any]
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fault = {"fault": "slow_down", "requests": [operation], "probability": 1}
    weather = tmp_path / "weather.json"
    weather.write_text(json.dumps({"in_a_row_max": 1000, "faults": [fault]}))
    with s3haul.serve(weather=weather) as server:
        bucket = bucket_of(server)
        bucket.put(a=b"1")
        with pytest.raises(s3haul.S3haulError):
            list(bucket.client.find(bucket.url(), **options))
