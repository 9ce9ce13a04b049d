"""Many small objects into and out of memory.

Names are taken from the caller's iterable as there is room for them; requests, and the bytes that
wait to be taken, are bounded. Waiting is apart from counting, so that threads and asyncio share the
windows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from . import _s3haul, _words
from ._call import StrPath
from ._progress import Progress, Reporter
from ._result import Failures, Requests, Result

#: Objects that are submitted and not yet returned, at most.
WINDOW = 1024
#: Names that are submitted at a time, at most.
CHUNK = 64
#: Seconds after which names are submitted though there are fewer: their source is slow.
SLOW_S = 0.01
#: Requests at a time, at most.
AT_ONCE_MAX = 16_384
#: Bytes that are submitted at a time, at least.
CHUNK_BYTES = 4 << 20
#: Results that are taken at a time, at most.
RESULTS = 256
#: Bytes of objects that are read and not taken.
MEMORY = 256 << 20
#: Objects above this size are written on their own, in parts.
PARTS_FROM = 64 << 20
#: Seconds of one wait for results; interrupts are handled in between.
WAIT_S = 0.1

#: Options of `write` that `put_many` takes for all objects.
PROPERTIES = frozenset(
    (
        "acl",
        "cache_control",
        "content_disposition",
        "content_encoding",
        "content_language",
        "expires",
        "metadata",
        "request_payer",
        "sse",
        "sse_kms_key_id",
        "storage_class",
    )
)

OnError = Literal["raise", "skip", "return"]

#: What an iterator returns at its end.
_END = object()

_BUCKET = r"arn:[^/]*[:/]accesspoint[:/][^/:]+|[^/]+"
_URL = re.compile(rf"s3://(?P<bucket>{_BUCKET})(?:/(?P<key>.*))?", re.S)


class Root:
    """Where names are: whole URLs of one bucket, or keys below a prefix."""

    def __init__(self, root: StrPath | None, on_error: str) -> None:
        if on_error not in ("raise", "skip", "return"):
            raise ValueError(f'on_error is "raise", "skip" or "return", not {on_error!r}')
        self.bucket: str | None = None
        self._prefix: str | None = None
        if root is not None:
            self.bucket, prefix = split(_words.path(root))
            self._prefix = prefix if not prefix or prefix.endswith("/") else prefix + "/"

    def key(self, name: Any) -> str:
        """The key of a name.

        Raises:
            ValueError: The name is empty, or a URL in another bucket than the first one.
        """
        text = _words.path(name)
        if not text:
            raise ValueError("an empty name names no object")
        if self._prefix is not None:
            return self._prefix + text
        bucket, key = split(text)
        if not key:
            raise ValueError(f"`{text}` names no object")
        if self.bucket is None:
            self.bucket = bucket
        elif bucket != self.bucket:
            raise ValueError(f"`{text}` is in another bucket than the first name: {self.bucket}")
        return key

    def url(self, name: Any) -> str:
        """The URL of a name."""
        return f"s3://{self.bucket}/{self.key(name)}"


def split(url: str) -> tuple[str, str]:
    """Bucket and key of a URL.

    Raises:
        ValueError: It is no `s3://` URL.
    """
    found = _URL.fullmatch(url)
    if found is None:
        raise ValueError(f"expected s3://bucket/key, not `{url}`; keys alone need `root`")
    return found["bucket"], found["key"] or ""


class _Window:
    """Objects that are under way, by numbers. Only `send` and `wait` may be called in a thread."""

    def __init__(
        self,
        session: Callable[[], _s3haul.Session],
        root: Root,
        at_once: int | None,
        memory: int,
        on_error: OnError,
        options: Mapping[str, Any],
    ) -> None:
        if memory < 1:
            raise ValueError("`memory` is at least 1")
        if at_once is not None and not 1 <= at_once <= AT_ONCE_MAX:
            raise ValueError(f"`at_once` is a number from 1 to {AT_ONCE_MAX:,}")
        self._session, self._root = session, root
        self._at_once, self._memory, self._on_error = at_once, memory, on_error
        self._words = words(options)
        self._names: dict[int, Any] = {}
        self._next = 0
        # What is submitted next, its bytes, and how many objects make it worth that.
        self._chunk: list[Any] = []
        self._chunk_bytes = 0
        self._chunk_max = 1
        self._many: Any = None

    def is_chunk(self) -> bool:
        """Whether what was added is worth submitting."""
        return len(self._chunk) >= self._chunk_max or self._chunk_bytes >= CHUNK_BYTES

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to wait for."""
        return not self._names

    def cut(self) -> tuple[int, list[Any]] | None:
        """What was added since the last call, and the number of the first of it."""
        if not self._chunk:
            return None
        first, chunk = self._next - len(self._chunk), self._chunk
        self._chunk, self._chunk_bytes = [], 0
        # The first results come early, and later ones at little cost.
        self._chunk_max = min(2 * self._chunk_max, CHUNK)
        return first, chunk

    def send(self, first: int, chunk: list[Any]) -> None:
        """Submits what was cut off."""
        if self._many is None:
            self._many = self._make()
        self._many.submit(first, chunk)

    def submit(self) -> None:
        """Submits what was added."""
        if (cut := self.cut()) is not None:
            self.send(*cut)

    def wait(self, seconds: float) -> list[tuple[int, Any]]:
        """Results, for `found`. Waits so long for the first one."""
        if self._many is None:
            return []
        taken: list[tuple[int, Any]] = self._many.take(seconds, RESULTS)
        return taken

    def _make(self) -> Any:
        raise NotImplementedError

    def has_to_wait(self, item: Any) -> bool:
        """Whether an item has to wait for the end of one that was added."""
        del item
        return False

    def has_room(self) -> bool:
        """Whether another object may be added."""
        raise NotImplementedError

    def found(self, taken: list[tuple[int, Any]]) -> Iterator[Any]:
        """What is returned for results."""
        raise NotImplementedError


class GetWindow(_Window):
    """Objects that are being read."""

    def __init__(
        self,
        session: Callable[[], _s3haul.Session],
        root: Root,
        at_once: int | None,
        memory: int,
        on_error: OnError,
        options: Mapping[str, Any],
        is_ordered: bool,
    ) -> None:
        super().__init__(session, root, at_once, memory, on_error, options)
        self._is_ordered = is_ordered
        # Results that wait for their turn, and their bytes.
        self._turn = 0
        self._held: dict[int, Any] = {}
        self._held_bytes = 0

    def _make(self) -> _s3haul.Getter:
        bucket, session = self._root.bucket or "", self._session()
        return _s3haul.Getter(session, bucket, self._words, self._at_once, WINDOW, self._memory)

    def has_room(self) -> bool:
        """Whether another name may be added."""
        return self._held_bytes < self._memory and len(self._names) < WINDOW

    def add(self, name: Any) -> Iterable[Any]:
        """Adds a name to what is submitted next. There are no results yet."""
        self._chunk.append(self._root.key(name))
        self._names[self._next] = name
        self._next += 1
        return ()

    def found(self, taken: list[tuple[int, Any]]) -> Iterator[tuple[Any, Any]]:
        """Names and what came of them.

        Raises:
            S3haulError: An object could not be read, with `on_error="raise"`.
        """
        if self._is_ordered:
            taken = self._in_turn(taken)
        taken.reverse()
        while taken:
            # What was returned is not held here, too.
            number, value = taken.pop()
            name = self._names.pop(number)
            if isinstance(value, BaseException):
                if self._on_error == "raise":
                    raise value
                if self._on_error == "skip":
                    _failed("could not read `%s`: %s", name, value)
                    continue
            yield name, value

    def _in_turn(self, taken: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        for number, value in taken:
            self._held[number] = value
            self._held_bytes += _length(value)
        found = []
        while self._turn in self._held:
            value = self._held.pop(self._turn)
            self._held_bytes -= _length(value)
            found.append((self._turn, value))
            self._turn += 1
        return found


class PutWindow(_Window):
    """Objects that are being written."""

    def __init__(
        self,
        session: Callable[[], _s3haul.Session],
        root: Root,
        at_once: int | None,
        memory: int,
        on_error: OnError,
        options: Mapping[str, Any],
    ) -> None:
        if wrong := options.keys() - PROPERTIES - {"content_type"}:
            raise TypeError(f"`put_many` does not take `{min(wrong)}`: use `write`")
        super().__init__(session, root, at_once, memory, on_error, options)
        self._bytes = 0
        self._keys: set[str] = set()

    def _make(self) -> _s3haul.Putter:
        bucket, session = self._root.bucket or "", self._session()
        return _s3haul.Putter(session, bucket, self._words, self._at_once, WINDOW)

    def has_to_wait(self, item: Any) -> bool:
        """Whether an object of the same key is under way: the later one is to win."""
        return self._root.key(pair(item)[0]) in self._keys

    def has_room(self) -> bool:
        """Whether another object may be added."""
        return self._bytes < self._memory and len(self._names) < WINDOW

    def add(self, name: Any, data: bytes) -> None:
        """Adds an object to what is submitted next."""
        key = self._root.key(name)
        self._chunk.append((key, data))
        self._chunk_bytes += len(data)
        self._names[self._next] = (name, key, len(data))
        self._keys.add(key)
        self._bytes += len(data)
        self._next += 1

    def found(self, taken: list[tuple[int, Any]]) -> Iterator[Any]:
        """Names that were written; with `on_error="return"` each with None or an exception.

        Raises:
            S3haulError: An object could not be written, with `on_error="raise"`.
        """
        for number, error in taken:
            name, key, size = self._names.pop(number)
            self._keys.discard(key)
            self._bytes -= size
            yield from self.answer(name, error)

    def answer(self, name: Any, error: BaseException | None) -> Iterator[Any]:
        """What is returned for an object."""
        if self._on_error == "return":
            yield name, error
        elif error is None:
            yield name
        elif self._on_error == "raise":
            raise error
        else:
            _failed("could not write `%s`: %s", name, error)


def results(
    window: GetWindow | PutWindow, items: Iterator[Any], add: Callable[[Any], Iterable[Any]]
) -> Iterator[Any]:
    """Adds items to a window while there is room, and returns results as they come.

    Args:
        window: What is under way.
        items: What is added.
        add: Adds one, and returns results that are there at once.
    """
    is_open = True
    while is_open or not window.is_idle:
        until = time.monotonic() + SLOW_S
        while is_open and window.has_room() and not window.is_chunk():
            item = next(items, _END)
            if item is _END:
                is_open = False
                break
            while window.has_to_wait(item):
                window.submit()
                yield from window.found(window.wait(WAIT_S))
            yield from add(item)
            if time.monotonic() > until:
                break
        window.submit()
        # While there are items and room for them, results are not waited for.
        yield from window.found(window.wait(0 if is_open and window.has_room() else WAIT_S))


class Single:
    """An object whose key ends in a slash, in one request: `cp - url` would append a name to it."""

    def __init__(self, url: StrPath, data: bytes, options: Mapping[str, Any]) -> None:
        given = {name: value for name, value in options.items() if value not in (None, False)}
        self._words = words({"content_type": given.pop("content_type", None)})
        if given:
            names = ", ".join(f"`{name}`" for name in given)
            raise ValueError(f"keys that end in a slash are written without {names}")
        self._bucket, self._key = split(_words.path(url))
        self._data = data
        self._started = time.monotonic()

    def send(self, session: _s3haul.Session) -> _s3haul.Putter:
        """Begins the request."""
        putter = _s3haul.Putter(session, self._bucket, self._words, 1, 1)
        putter.submit(0, [(self._key, self._data)])
        return putter

    def result(
        self, taken: list[tuple[int, BaseException | None]], report: Reporter | None
    ) -> Result:
        """The result of a request that has ended.

        Raises:
            S3haulError: The object could not be written.
        """
        ((_, error),) = taken
        if error is not None:
            raise error
        size, elapsed = len(self._data), time.monotonic() - self._started
        if report is not None:
            report.update(Progress(1, size, True, 1, 0, 0, size, elapsed))
            report.close()
        return Result(
            done=1,
            failed=0,
            skipped=0,
            not_tried=0,
            warnings=0,
            bytes=size,
            elapsed=elapsed,
            is_cancelled=False,
            requests=Requests(1, 0, 0),
            failures=Failures(None, []),
            status=0,
        )


def words(options: Mapping[str, Any]) -> list[str]:
    """Options of objects as those of a transfer, whose paths mean nothing."""
    return _words.words(["cp"], ["-", "s3://bucket/key"], options)


def is_folder(url: StrPath) -> bool:
    """Whether the key of an object to write ends in a slash.

    Raises:
        ValueError: The URL has no key.
    """
    found = _URL.fullmatch(_words.path(url))
    if found is None:
        # The command refuses it.
        return False
    key = found["key"]
    if not key:
        raise ValueError(f"`{_words.path(url)}` names no object")
    return bool(key.endswith("/"))


def as_bytes(data: Any) -> bytes:
    """Bytes of anything that has a buffer.

    Raises:
        TypeError: It has none.
    """
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        raise TypeError("expected bytes, not str: encode it, for example with `.encode()`")
    try:
        return bytes(memoryview(data))
    except TypeError:
        raise TypeError(f"expected bytes, not {type(data).__name__}") from None


def pair(item: Any) -> tuple[Any, Any]:
    """An item of `put_many`.

    Raises:
        TypeError: It is no pair.
    """
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise TypeError(f"expected (name, data), not {type(item).__name__}")
    return item[0], item[1]


def _failed(message: str, name: Any, error: BaseException) -> None:
    # `logging` takes long to import, and is rarely needed.
    from ._log import logger

    logger.error(message, name, error)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, bytes) else 0
