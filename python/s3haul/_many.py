"""Many small objects into and out of memory.

Names are taken from the caller's iterable as there is room for them; requests, and the bytes that
wait to be taken, are bounded. The windows here do no waiting of their own, so that threads and
asyncio share them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

from . import _s3haul, _words
from ._call import StrPath
from ._log import logger

#: Objects that are submitted and not yet returned, at most.
WINDOW = 1024
#: Names that are submitted at a time.
CHUNK = 64
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

OnError = Literal["raise", "skip", "return"]

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
            ValueError: The URL is in another bucket than the first one.
        """
        text = _words.path(name)
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


class GetWindow:
    """Objects that are being read."""

    def __init__(
        self,
        session: Callable[[], _s3haul.Session],
        root: Root,
        at_once: int | None,
        memory: int,
        on_error: OnError,
        is_ordered: bool,
    ) -> None:
        if memory < 1 or (at_once is not None and at_once < 1):
            raise ValueError("`at_once` and `memory` are at least 1")
        self._session, self._root = session, root
        self._at_once, self._memory = at_once, memory
        self._on_error, self._is_ordered = on_error, is_ordered
        self._getter: _s3haul.Getter | None = None
        self._names: dict[int, Any] = {}
        self._next = 0
        # Results that wait for their turn, and their bytes.
        self._turn = 0
        self._held: dict[int, Any] = {}
        self._held_bytes = 0

    def room(self) -> int:
        """Names that may be submitted now: a whole chunk or none."""
        if self._held_bytes >= self._memory or len(self._names) > WINDOW - CHUNK:
            return 0
        return CHUNK

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to wait for."""
        return not self._names

    def submit(self, names: list[Any]) -> None:
        """Asks for objects."""
        keys = [self._root.key(name) for name in names]
        if not keys:
            return
        if self._getter is None:
            bucket = self._root.bucket or ""
            session = self._session()
            self._getter = _s3haul.Getter(session, bucket, self._at_once, WINDOW, self._memory)
        self._getter.submit(self._next, keys)
        self._names.update(enumerate(names, self._next))
        self._next += len(names)

    def take(self, seconds: float) -> list[tuple[Any, Any]]:
        """Names and what came of them. Waits so long for the first one.

        Raises:
            S3haulError: An object could not be read, with `on_error="raise"`.
        """
        if self._getter is None:
            return []
        taken = self._getter.take(seconds, RESULTS)
        if self._is_ordered:
            taken = self._in_turn(taken)
        found = []
        for number, value in taken:
            name = self._names.pop(number)
            if isinstance(value, BaseException):
                if self._on_error == "raise":
                    raise value
                if self._on_error == "skip":
                    logger.error("could not read `%s`: %s", name, value)
                    continue
            found.append((name, value))
        return found

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


class PutWindow:
    """Objects that are being written."""

    def __init__(
        self,
        session: Callable[[], _s3haul.Session],
        root: Root,
        at_once: int | None,
        memory: int,
        on_error: OnError,
        content_type: str | None,
    ) -> None:
        if memory < 1 or (at_once is not None and at_once < 1):
            raise ValueError("`at_once` and `memory` are at least 1")
        self._session, self._root = session, root
        self._at_once, self._memory = at_once, memory
        self._on_error, self._content_type = on_error, content_type
        self._putter: _s3haul.Putter | None = None
        self._names: dict[int, tuple[Any, int]] = {}
        self._bytes = 0
        self._next = 0
        # What is submitted next, and its bytes.
        self._chunk: list[tuple[str, bytes]] = []
        self._chunk_bytes = 0

    def has_room(self) -> bool:
        """Whether another object may be added."""
        return self._bytes < self._memory and len(self._names) < WINDOW

    def is_chunk(self) -> bool:
        """Whether what was added is worth submitting."""
        return len(self._chunk) >= CHUNK or self._chunk_bytes >= CHUNK_BYTES

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to wait for."""
        return not self._names

    def add(self, name: Any, data: bytes) -> None:
        """Adds an object to what is submitted next."""
        self._chunk.append((self._root.key(name), data))
        self._chunk_bytes += len(data)
        self._names[self._next] = (name, len(data))
        self._bytes += len(data)
        self._next += 1

    def submit(self) -> None:
        """Writes what was added."""
        if not self._chunk:
            return
        if self._putter is None:
            bucket, kind = self._root.bucket or "", self._content_type
            session = self._session()
            self._putter = _s3haul.Putter(session, bucket, self._at_once, WINDOW, kind)
        self._putter.submit(self._next - len(self._chunk), self._chunk)
        self._chunk, self._chunk_bytes = [], 0

    def take(self, seconds: float) -> Iterator[Any]:
        """Names that were written; with `on_error="return"` each with None or an exception.

        Raises:
            S3haulError: An object could not be written, with `on_error="raise"`.
        """
        if self._putter is None:
            return
        for number, error in self._putter.take(seconds, RESULTS):
            name, size = self._names.pop(number)
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
            logger.error("could not write `%s`: %s", name, error)


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


def _length(value: Any) -> int:
    return len(value) if isinstance(value, bytes) else 0
