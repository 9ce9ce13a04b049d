"""Progress of a transfer: snapshots for functions, and bars."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from . import _html, _s3haul

#: Seconds between two reports.
INTERVAL_S = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a transfer got."""

    planned: int
    """Objects and files that are to be done, of those found so far."""
    planned_bytes: int
    """Bytes of these."""
    is_plan_complete: bool
    """Whether `planned` is all."""
    done: int
    """Objects and files that are done."""
    failed: int
    """Those that failed."""
    skipped: int
    """Those of which nothing had to be done."""
    bytes: int
    """Bytes that were transferred."""
    elapsed: float
    """Seconds since the start."""
    shards_done: int = 0
    """Shards that are done, of a job in shards."""
    shards_left: int = 0
    """Shards that are left, as the source is cut now."""

    @property
    def rate(self) -> float:
        """Bytes a second, on average since the start."""
        return self.bytes / self.elapsed if self.elapsed > 0 else 0.0

    @classmethod
    def of(cls, running: _s3haul.Running, started: float) -> Progress:
        """The progress of a job that runs since then (`time.monotonic`)."""
        return cls(**running.counts(), elapsed=time.monotonic() - started)


#: What `progress=` takes: a function, True for a bar, or nothing.
ProgressTarget = Callable[[Progress], object] | bool | None


class Reporter(Protocol):
    """Shows progress."""

    def update(self, progress: Progress) -> object: ...
    def close(self) -> None: ...


def check(target: ProgressTarget) -> None:
    """Refuses what cannot show progress, before anything begins.

    Raises:
        TypeError: It is neither a function nor a bool, or a coroutine function.
    """
    if target is None or isinstance(target, bool):
        return
    if not callable(target):
        raise TypeError(f"progress is a function, True or None, not {type(target).__name__}")
    if any(map(inspect.iscoroutinefunction, (target, type(target).__call__))):
        raise TypeError("progress is a function that returns at once, not a coroutine function")


def reporter(target: ProgressTarget, label: str) -> Reporter | None:
    """What shows the progress."""
    if target is None or target is False:
        return None
    return _bar(label) if target is True else _Function(target)


class _Function:
    def __init__(self, function: Callable[[Progress], object]) -> None:
        self.update = function

    def close(self) -> None:
        pass


def _bar(label: str) -> Reporter:
    for name, make in (("tqdm.auto", _Tqdm), ("rich.progress", _Rich)):
        try:
            return make(importlib.import_module(name), label)
        except ImportError:
            continue
    return _Line(label)


class _Tqdm:
    """A bar of tqdm, which has its own form in notebooks."""

    def __init__(self, tqdm: Any, label: str) -> None:
        self._bar = tqdm.tqdm(
            desc=label, unit="B", unit_scale=True, unit_divisor=1024, total=0, leave=True
        )

    def update(self, progress: Progress) -> None:
        self._bar.total = max(progress.planned_bytes, progress.bytes)
        self._bar.n = progress.bytes
        self._bar.set_postfix_str(_objects(progress), refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


class _Rich:
    """A bar of rich."""

    def __init__(self, rich: Any, label: str) -> None:
        columns = (
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.DownloadColumn(binary_units=True),
            rich.TransferSpeedColumn(),
            rich.TextColumn("{task.fields[objects]}"),
        )
        console = importlib.import_module("rich.console").Console(stderr=True)
        self._bar = rich.Progress(*columns, console=console)
        self._task = self._bar.add_task(label, total=None, objects="")
        self._bar.start()

    def update(self, progress: Progress) -> None:
        total = max(progress.planned_bytes, progress.bytes)
        objects = _objects(progress)
        self._bar.update(self._task, total=total, completed=progress.bytes, objects=objects)

    def close(self) -> None:
        self._bar.stop()


class _Line:
    """A line on standard error that is written over: once a second where that is no terminal."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._width = 0
        self._is_terminal = sys.stderr.isatty()
        self._shown = 0.0
        self._last: Progress | None = None

    def update(self, progress: Progress) -> None:
        self._last = progress
        if self._is_terminal or progress.elapsed - self._shown >= 1.0:
            self._show(progress)

    def close(self) -> None:
        if self._last is not None:
            self._show(self._last)
            if self._is_terminal:
                sys.stderr.write("\n")

    def _show(self, progress: Progress) -> None:
        self._shown = progress.elapsed
        bytes_ = f"{_html.size(progress.bytes)} of {_html.size(progress.planned_bytes)}"
        line = f"{self._label}: {_objects(progress)}, {bytes_}, {_html.size(progress.rate)}/s"
        end = "\r" if self._is_terminal else "\n"
        sys.stderr.write(line.ljust(self._width) + end)
        sys.stderr.flush()
        self._width = len(line)


def _objects(progress: Progress) -> str:
    planned = f"{progress.planned:,}" + ("" if progress.is_plan_complete else "+")
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    shards = f", {progress.shards_left:,} shards left" if progress.shards_left else ""
    return f"{progress.done:,} of {planned}{failed}{shards}"
