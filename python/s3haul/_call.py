"""What the methods of the commands are built on."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar

from ._progress import ProgressTarget
from ._result import Result
from ._rows import AsyncRows, Rows

__all__ = ["AsyncCall", "Call", "ProgressTarget", "Records", "StrPath"]

#: What commands print as JSON, line by line.
Records = list[dict[str, Any]]
#: A path, or an `s3://` URL.
StrPath = str | os.PathLike[str]

P = ParamSpec("P")
T = TypeVar("T")

_Words = Sequence[str]
_Paths = Sequence[StrPath | None]
_Options = Mapping[str, Any]


class Call:
    """Runs commands: words that they begin with, paths and URLs, and options."""

    def _transfer(
        self, head: _Words, paths: _Paths, options: _Options, progress: ProgressTarget
    ) -> Result:
        raise NotImplementedError

    def _rows(self, head: _Words, paths: _Paths, options: _Options) -> Rows:
        raise NotImplementedError

    def _compared(self, head: _Words, paths: _Paths, options: _Options) -> Rows:
        raise NotImplementedError

    def _query(self, head: _Words, paths: _Paths, options: _Options) -> Records:
        raise NotImplementedError

    def _text(self, head: _Words, paths: _Paths, options: _Options) -> str:
        raise NotImplementedError


class AsyncCall:
    """The same for asyncio."""

    async def _transfer(
        self, head: _Words, paths: _Paths, options: _Options, progress: ProgressTarget
    ) -> Result:
        raise NotImplementedError

    def _rows(self, head: _Words, paths: _Paths, options: _Options) -> AsyncRows:
        raise NotImplementedError

    def _compared(self, head: _Words, paths: _Paths, options: _Options) -> AsyncRows:
        raise NotImplementedError

    async def _query(self, head: _Words, paths: _Paths, options: _Options) -> Records:
        raise NotImplementedError

    async def _text(self, head: _Words, paths: _Paths, options: _Options) -> str:
        raise NotImplementedError


def returning(method: Callable[P, Records], to: Callable[[Records], T]) -> Callable[P, T]:
    """A method with the same parameters, whose answer is made of what the command printed."""

    @functools.wraps(method)
    def call(*args: P.args, **options: P.kwargs) -> T:
        return to(method(*args, **options))

    return _annotated(call, to)


def async_returning(
    method: Callable[P, Coroutine[Any, Any, Records]], to: Callable[[Records], T]
) -> Callable[P, Coroutine[Any, Any, T]]:
    """The same for a coroutine."""

    @functools.wraps(method)
    async def call(*args: P.args, **options: P.kwargs) -> T:
        return to(await method(*args, **options))

    return _annotated(call, to)


def _annotated(call: Callable[P, T], to: Callable[..., Any]) -> Callable[P, T]:
    # What `help` shows is the type that is returned.
    returned = to.__annotations__["return"]
    signature = inspect.signature(call).replace(return_annotation=returned)
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
