"""Waiting for commands that run."""

from __future__ import annotations

import time
from typing import Any

from . import _s3haul
from ._progress import INTERVAL_S, Progress, ProgressTarget, reporter
from ._result import Failures, Requests, Result

#: Exit code, output and counters of a command.
Ended = tuple[int, bytes, "dict[str, Any] | None"]


def finish(running: _s3haul.Running, progress: ProgressTarget = None, label: str = "") -> Result:
    """Waits for the end of a command. Whatever interrupts the wait cancels the command first.

    Raises:
        S3haulError: The command failed as a whole.
    """
    started = time.monotonic()
    try:
        report = reporter(progress, label)
        try:
            while (ended := running.wait(INTERVAL_S)) is None:
                if report is not None:
                    report.update(Progress.of(running, started))
            if report is not None:
                report.update(Progress.of(running, started))
        finally:
            if report is not None:
                report.close()
    except BaseException:
        running.cancel()
        drain(running)
        raise
    return result(running, ended, started)


def drain(running: _s3haul.Running) -> None:
    """Waits for the end of a command that was cancelled, whatever that is."""
    try:
        while running.wait(INTERVAL_S) is None:
            pass
    except Exception:  # noqa: S110
        # The failure that led here is what counts.
        pass


def result(running: _s3haul.Running, ended: Ended, started: float) -> Result:
    """The result of a command that has ended."""
    status, output, counted = ended
    counted = counted or {}
    names = ("failed", "skipped", "not_tried", "warnings", "bytes")
    return Result(
        # In a dry run nothing is done, and what would have been is counted on the way.
        done=max(counted.get("done", 0), running.counts()["done"]),
        **{name: counted.get(name, 0) for name in names},
        elapsed=time.monotonic() - started,
        is_cancelled=counted.get("is_cancelled", False),
        requests=Requests(
            counted.get("requests_write", 0),
            counted.get("requests_read", 0),
            counted.get("requests_delete", 0),
        ),
        failures=Failures(running.failures()),
        status=status,
        output=output,
    )
