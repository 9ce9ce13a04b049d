"""The same for asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
import s3haul
from conftest import Bucket, Service, _bucket
from s3haul import aio


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, 120))


def test_commands_are_coroutines(bucket: Bucket, files: Path) -> None:
    async def calls() -> None:
        client = aio.Client(bucket.client)
        result = await client.sync(files, bucket.url("d"))
        assert result.done == 3
        await client.write(bucket.url("e"), b"12345")
        assert await client.read(bucket.url("e")) == b"12345"
        assert await client.cat(bucket.url("e"), (1, 3)) == b"23"
        assert (await client.head(bucket.url("e")))["size"] == 5
        assert (await client.summarize(bucket.url())).objects == 4
        assert (await client.presign(bucket.url("e"))).startswith("http")
        assert (await client.tag(bucket.url("e"), set={"a": "b"})).done == 1
        assert await client.tag(bucket.url("e")) == {"a": "b"}
        assert len(await client.ls(bucket.url())) == 2
        assert (await client.run(["ls", bucket.url("e")])).status == 0
        made = await client.plan("remove", bucket.url(), recursive=True)
        assert (await client.apply(made)).done == 4
        job = bucket.client.job("sync", files, bucket.url())
        assert (await client.run_job(job)).done == 3
        with pytest.raises(s3haul.NotFound):
            await client.read(bucket.url("none"))

    run(calls())
    assert len(bucket.objects()) == 3


def test_rows_are_iterated(bucket: Bucket, files: Path) -> None:
    async def rows() -> None:
        client = aio.Client(bucket.client)
        await client.copy(files, bucket.url(), recursive=True)
        found = client.list(bucket.url(), sort=True)
        assert [row.key async for row in found] == ["a.txt", "b.txt", "inner/c.bin"]
        assert [len(batch) async for batch in found.batches()] == [3]
        different = [row async for row in client.compare(files, bucket.url())]
        assert different == []
        with pytest.raises(s3haul.NotFound):
            async for _ in client.list("s3://no-such-bucket"):
                pass

    run(rows())


def test_credentials_of_rows_are_not_fetched_in_the_loop(own: Bucket, files: Path) -> None:
    threads = set()

    def credentials() -> tuple[str, str]:
        threads.add(threading.current_thread())
        return own.service.access_key, own.service.secret_key

    async def rows() -> None:
        for rows in (
            lambda client: client.list(own.url()),
            lambda client: client.versions(own.url()),
            lambda client: client.compare(files, own.url()),
        ):
            found = rows(aio.Client(own.service.client(credentials=credentials)))
            assert threads == set()
            assert len([row async for row in found]) in (0, 3)
            assert threading.main_thread() not in threads
            threads.clear()

    run(rows())


def test_rows_go_to_tables(bucket: Bucket, files: Path) -> None:
    for package in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(package)

    async def tables() -> None:
        client = aio.Client(bucket.client)
        await client.copy(files, bucket.url(), recursive=True)
        found = client.list(bucket.url(), sort=True)
        assert (await found.to_arrow()).num_rows == 3
        assert (await found.where(lambda batch: [True, False, False]).to_pandas()).key[0] == "a.txt"
        assert (await found.to_polars()).shape == (3, 5)

    run(tables())


def test_many_objects(own: Bucket) -> None:
    async def names() -> AsyncIterator[str]:
        for number in range(300):
            yield f"k{number}"

    async def many() -> None:
        client = aio.Client(own.client)
        items = ((f"k{number}", b"%d" % number) for number in range(300))
        written = [name async for name in client.put_many(items, root=own.url())]
        assert len(written) == 300
        found = {name: body async for name, body in client.get_many(names(), root=own.url())}
        assert found == {f"k{number}": b"%d" % number for number in range(300)}
        async for _ in client.get_many(names(), root=own.url()):
            break
        with pytest.raises(s3haul.NotFound):
            async for _ in client.get_many(["none"], root=own.url()):
                pass

    run(many())


def test_calls_run_at_the_same_time(own: Bucket) -> None:
    async def calls() -> None:
        client = aio.Client(own.client)
        await asyncio.gather(*(client.write(own.url(f"k{n}"), b"") for n in range(200)))

    run(calls())
    assert len(own.objects()) == 200


def test_cancelling_ends_the_job(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(300):
        (folder / f"f{number}").write_bytes(b"1")

    async def cancelled(bucket: Bucket) -> int:
        started = asyncio.Event()
        threads = []

        def progress(seen: s3haul.Progress) -> None:
            import threading

            threads.append(threading.current_thread() is threading.main_thread())
            if seen.done:
                started.set()

        client = aio.Client(bucket.service.client(max_concurrent_requests=1))
        task = asyncio.create_task(client.sync(folder, bucket.url(), progress=progress))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert all(threads)
        return len(bucket.objects())

    with s3haul.serve(latency="10ms") as server:
        bucket = _bucket(Service("slow", server.url, server.access_key, server.secret_key))
        count = run(cancelled(bucket))
        assert 0 < count < 300
        # The job has ended when the task has.
        assert len(bucket.objects()) == count


def test_progress_that_raises_ends_the_job(own: Bucket, files: Path) -> None:
    def fails(progress: s3haul.Progress) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(aio.Client(own.client).sync(files, own.url(), progress=fails))


def test_closed_loops_raise(own: Bucket) -> None:
    loop = asyncio.new_event_loop()
    rows = aio.Client(own.client).list(own.url()).batches()
    loop.close()
    coroutine = aio.Client(own.client).ls(own.url())
    with pytest.raises(RuntimeError, match="closed"):
        loop.run_until_complete(coroutine)
    coroutine.close()
    # A call is not tied to the loop that an earlier one ran in.
    assert run(_collected(rows)) == []


async def _collected(rows: AsyncIterator[Any]) -> list[Any]:
    return [row async for row in rows]


def test_functions_of_the_module(own: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in own.service.environment().items():
        monkeypatch.setenv(name, value)

    async def calls() -> None:
        await aio.write(own.url("a"), b"1")
        assert await aio.read(own.url("a")) == b"1"
        assert [row.key async for row in aio.list(own.url())] == ["a"]
        assert await aio.jobs() == []

    run(calls())
    with pytest.raises(ValueError, match="client or settings"):
        aio.Client(own.client, region="x")
