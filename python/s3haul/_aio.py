"""Clients for asyncio.

Transfers and queries are coroutines, listings and comparisons can be iterated with `async for`.
What blocks waits in threads of this module. Cancelling a task cancels its job and waits for the end
of what the job is at. Functions for `progress=` are called in the event loop's thread.
"""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import functools
import os
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any, Literal, TypeVar

from . import _client, _s3haul, _words
from ._call import ProgressTarget, Records, StrPath, async_returning
from ._client import Finished
from ._commands import AsyncCommands
from ._errors import S3haulError
from ._jobs import Job, JobStatus
from ._many import (
    MEMORY,
    PARTS_FROM,
    WAIT_S,
    GetWindow,
    OnError,
    PutWindow,
    Root,
    Single,
    as_bytes,
    is_folder,
    pair,
)
from ._plan import Plan
from ._progress import INTERVAL_S, Progress, check, reporter
from ._result import Result
from ._rows import AsyncRows
from ._running import drain, result
from ._translate import (
    alone,
    command_line,
    first_of,
    has_settings,
    read_call,
    records,
    summary_of,
    tag_call,
    tags_of,
    transfer_call,
    url_of,
    write_call,
)

T = TypeVar("T")

#: Calls that block at a time; more wait for their turn.
_THREADS_MAX = 64

_pool: tuple[int, ThreadPoolExecutor] | None = None


def _threads() -> ThreadPoolExecutor:
    """The threads of this process: a fork leaves none."""
    global _pool
    if _pool is None or _pool[0] != os.getpid():
        _pool = os.getpid(), ThreadPoolExecutor(_THREADS_MAX, "s3haul-aio")
    return _pool[1]


async def _in_thread(function: Callable[..., T], *args: Any) -> T:
    call = functools.partial(contextvars.copy_context().run, function, *args)
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


async def _to_end(awaitable: Awaitable[T]) -> T:
    """Awaits something to its end also where the task is cancelled meanwhile."""
    future = asyncio.ensure_future(awaitable)
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        future.exception()
        raise cancelled
    return future.result()


async def _finish(
    running: _s3haul.Running, progress: ProgressTarget = None, label: str = ""
) -> Result:
    started = time.monotonic()
    try:
        report = reporter(progress, label)
        try:
            while (ended := await _in_thread(running.wait, INTERVAL_S)) is None:
                if report is not None:
                    report.update(Progress.of(running, started))
            if report is not None:
                report.update(Progress.of(running, started))
        finally:
            if report is not None:
                report.close()
    except BaseException:
        running.cancel()
        await _to_end(_in_thread(drain, running))
        raise
    return result(running, ended, started)


_summarize = async_returning(AsyncCommands.summarize, summary_of)
_head = async_returning(AsyncCommands.head, first_of)
_presign = async_returning(AsyncCommands.presign, url_of)


class Client(AsyncCommands):
    """Commands with settings in common, as coroutines: see `s3haul.Client`.

    Args:
        settings: Those of `s3haul.Client`, or such a client as `client`.
    """

    def __init__(self, client: _client.Client | None = None, /, **settings: Any) -> None:
        if client is not None and settings:
            raise ValueError("give a client or settings")
        self._client = client if client is not None else _client.Client(**settings)

    async def _start(self, words: Sequence[str], data: bytes | None = None) -> _s3haul.Running:
        # Credentials may have to be fetched first.
        session = await _in_thread(self._client._session, has_settings(words))
        return session.start(words, data)

    async def _transfer(
        self,
        head: Sequence[str],
        paths: Sequence[StrPath | None],
        options: Mapping[str, Any],
        progress: ProgressTarget = None,
    ) -> Result:
        check(progress)
        running = await self._start(transfer_call(head, paths, options))
        return await _finish(running, progress, head[0])

    def _rows(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> AsyncRows:
        return AsyncRows(self._client._rows(head, paths, options), _in_thread)

    def _compared(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> AsyncRows:
        return AsyncRows(self._client._compared(head, paths, options), _in_thread)

    async def _query(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> Records:
        return records(head, await self._transfer(head, paths, options))

    async def _text(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> str:
        return (await self._transfer(head, paths, options)).output.decode()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    def __repr__(self) -> str:
        return f"aio.{self._client!r}"

    summarize = _summarize  # type: ignore[assignment]
    head = _head  # type: ignore[assignment]
    presign = _presign  # type: ignore[assignment]

    async def tag(self, url: StrPath, **options: Any) -> Any:
        """See `s3haul.Client.tag`."""
        head, given, is_change = tag_call(options)
        progress = given.pop("progress", None)
        if is_change:
            return await self._transfer(head, [url], given, progress)
        return tags_of(await self._query(head, [url], given), given)

    async def read(
        self,
        url: StrPath,
        range: str | tuple[int, int | None] | None = None,
        *,
        version_id: str | None = None,
        progress: ProgressTarget = None,
        **options: Any,
    ) -> bytes:
        """See `s3haul.Client.read`."""
        words, data = read_call(url, range, version_id, options)
        check(progress)
        done = await _finish(await self._start(words, data), progress, "read")
        return (done if data is None else alone(done)).output

    cat = read

    async def write(
        self, url: StrPath, data: Any, *, progress: ProgressTarget = None, **options: Any
    ) -> Result:
        """See `s3haul.Client.write`."""
        check(progress)
        if is_folder(url):
            single = Single(url, as_bytes(data), options)
            session = await _in_thread(self._client._session)
            putter = await _in_thread(single.send, session)
            while not (taken := await _in_thread(putter.take, WAIT_S, 1)):
                pass
            return single.result(taken, reporter(progress, "write"))
        words = write_call(url, options)
        return alone(await _finish(await self._start(words, as_bytes(data)), progress, "write"))

    async def get_many(
        self,
        names: Iterable[StrPath] | AsyncIterable[StrPath],
        *,
        root: StrPath | None = None,
        at_once: int | None = None,
        memory: int = MEMORY,
        on_error: OnError = "raise",
        ordered: bool = False,
        request_payer: Literal["requester"] | None = None,
    ) -> AsyncIterator[tuple[Any, Any]]:
        """See `s3haul.Client.get_many`. Names may come from an asynchronous iterable, too."""
        await _in_thread(self._client._session)
        root_ = Root(root, on_error)
        options = {"request_payer": request_payer}
        window = GetWindow(self._client._session, root_, at_once, memory, on_error, options, ordered)

        async def add(name: Any) -> Iterable[Any]:
            return window.add(name)

        async with aclosing(_results(window, _names(names), add)) as results:
            async for found in results:
                yield found

    async def put_many(
        self,
        items: Iterable[tuple[StrPath, Any]] | AsyncIterable[tuple[StrPath, Any]],
        *,
        root: StrPath | None = None,
        at_once: int | None = None,
        memory: int = MEMORY,
        content_type: str | None = None,
        on_error: OnError = "raise",
        **options: Any,
    ) -> AsyncIterator[Any]:
        """See `s3haul.Client.put_many`. Items may come from an asynchronous iterable, too."""
        await _in_thread(self._client._session)
        root_ = Root(root, on_error)
        options["content_type"] = content_type
        window = PutWindow(self._client._session, root_, at_once, memory, on_error, options)

        async def add(item: Any) -> Iterable[Any]:
            name, data = pair(item)
            body = as_bytes(data)
            if len(body) <= PARTS_FROM:
                window.add(name, body)
                return ()
            error = await self._put(root_.url(name), body, options)
            return window.answer(name, error)

        async with aclosing(_results(window, _names(items), add)) as results:
            async for answer in results:
                yield answer

    async def _put(self, url: str, body: bytes, options: Mapping[str, Any]) -> Exception | None:
        try:
            await self.write(url, body, **options)
        except S3haulError as error:
            return error
        return None

    async def run(self, args: Sequence[str], *, progress: ProgressTarget = None) -> Finished:
        """See `s3haul.Client.run`."""
        words = command_line(args)
        check(progress)
        done = await _finish(await self._start(words), progress, words[0] if words else "")
        return Finished(done.status, done.output, done)

    async def jobs(self, *, journal: StrPath | None = None) -> builtins.list[JobStatus]:
        """See `s3haul.Client.jobs`."""
        return await _in_thread(lambda: self._client.jobs(journal=journal))

    async def resume(self, job: JobStatus, *, progress: ProgressTarget = None) -> Result:
        """Goes on with a job that keeps a journal: see `s3haul.JobStatus.resume`."""
        options = {"journal": job.journal}
        return await self._transfer(["jobs", "resume"], [job.id], options, progress)

    async def run_job(self, job: Job, *, progress: ProgressTarget = None, **journal: Any) -> Result:
        """Runs a job; `journal` are the options of `s3haul.Job.run`."""
        check(progress)
        session = await _in_thread(self._client._session, True)
        running = session.start_job(job.to_json(), _words.flags(journal))
        return await _finish(running, progress, "job")

    async def plan(
        self, command: str, /, *args: Any, path: StrPath | None = None, **options: Any
    ) -> Plan:
        """Everything that a call would do, without doing it: `await plan("sync", source, target)`.

        Cancelling the task does not stop the search for what is to be done.
        """
        return await _in_thread(lambda: self._client.plan(command, *args, path=path, **options))

    async def apply(
        self, plan: Plan | StrPath, *, progress: ProgressTarget = None, **options: Any
    ) -> Result:
        """Does the actions of a plan: see `s3haul.plan.Plan.apply`."""
        return await self._transfer(["apply"], [plan], options, progress)


async def _results(
    window: GetWindow | PutWindow,
    items: AsyncIterator[Any],
    add: Callable[[Any], Awaitable[Iterable[Any]]],
) -> AsyncGenerator[Any, None]:
    """Adds items to a window in a task of their own, and returns results as they come."""
    woken, room = asyncio.Event(), asyncio.Event()
    answers: list[Iterable[Any]] = []

    async def feed() -> None:
        async for item in items:
            if window.has_to_wait(item):
                # What it waits for may not be submitted yet.
                woken.set()
            while window.has_to_wait(item):
                room.clear()
                await room.wait()
            answers.append(await add(item))
            woken.set()
            while not window.has_room() or window.is_chunk():
                room.clear()
                await room.wait()

    def wake(_: object) -> None:
        woken.set()

    feeding = asyncio.ensure_future(feed())
    feeding.add_done_callback(wake)
    taking: asyncio.Future[Any] | None = None
    try:
        while True:
            woken.clear()
            if (cut := window.cut()) is not None:
                await _in_thread(window.send, *cut)
                room.set()
            if taking is None and not window.is_idle:
                taking = asyncio.ensure_future(_in_thread(window.wait, WAIT_S))
                taking.add_done_callback(wake)
            if taking is not None and taking.done():
                found, taking = window.found(taking.result()), None
                answers.append(found)
                woken.set()
            ready, answers[:] = answers[:], []
            for results in ready:
                for result in results:
                    yield result
            room.set()
            if feeding.done():
                feeding.result()
                if window.is_idle and not answers:
                    return
            await woken.wait()
    finally:
        ending = [feeding] if taking is None else [feeding, taking]
        for future in ending:
            future.cancel()
        # Sources see their end before the caller goes on; what they raise now is not logged.
        await asyncio.gather(*ending, return_exceptions=True)


def _names(names: Any) -> AsyncIterator[Any]:
    if isinstance(names, (str, bytes)):
        raise TypeError("names is a list or another iterable, not a text")
    if hasattr(names, "__aiter__"):
        found: AsyncIterator[Any] = names.__aiter__()
        return found
    return _from_iterable(names)


async def _from_iterable(names: Iterable[Any]) -> AsyncIterator[Any]:
    for name in names:
        yield name
        # What came for earlier names is not to wait for later ones.
        await asyncio.sleep(0)
