"""What became of a transfer."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from . import _html, _s3haul
from ._errors import TransferFailed
from ._optional import package


_EVENTS_OF_TRANSFERS = {"object", "summary"}


class Requests(NamedTuple):
    """Requests by what S3 charges for them."""

    write: int
    """PUT, COPY, POST and LIST."""
    read: int
    """GET, HEAD and all others."""
    delete: int
    """DELETE, which costs nothing."""


class Failure(NamedTuple):
    """One object that failed."""

    action: str
    """`upload`, `download`, `copy`, `move`, `delete`, `tag`, `set`, `restore` or `undelete`."""
    source: str
    """URL or path; what is removed or changed."""
    target: str | None
    kind: str
    """What went wrong, in one word such as `not_found`, `access_denied` or `throttled`."""
    code: str | None
    """The error code of the service, such as `NoSuchKey`."""
    message: str
    operation: str | None = None
    """The S3 operation, such as `PutObject`."""
    request_id: str | None = None
    """The id that the service gave the request."""
    http_status: int | None = None
    """The status of its answer."""


class Failures(Sequence[Failure]):
    """The objects that failed: 100,000 at most, `Result.failed` counts all.

    A sequence of `Failure`, and an Arrow table for programs that take one, such as
    `polars.DataFrame`.
    """

    def __init__(self, batch: _s3haul.Batch | None, rows: Sequence[Failure] | None = None) -> None:
        self._batch = batch
        self._rows = rows

    def _all(self) -> Sequence[Failure]:
        if self._rows is None:
            rows = self._batch.rows() if self._batch is not None else []
            self._rows = [Failure(*row) for row in rows]
        return self._rows

    def __len__(self) -> int:
        return len(self._batch) if self._batch is not None else len(self._all())

    @overload
    def __getitem__(self, index: int) -> Failure: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Failure]: ...
    def __getitem__(self, index: int | slice) -> Failure | Sequence[Failure]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Failure]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Failures, list)):
            return NotImplemented
        return list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Failures, (None, list(self._all()))

    def __repr__(self) -> str:
        return f"<{len(self):,} failures>"

    def _repr_html_(self) -> str:
        rows = list(self[: _html.ROWS_MAX])
        return _html.table(repr(self).strip("<>"), rows, Failure._fields)

    def to_arrow(self) -> Any:
        """The failures as a `pyarrow.RecordBatch`."""
        pyarrow = package("pyarrow", "to_arrow()")
        if self._batch is not None:
            return pyarrow.record_batch(self._batch)
        kinds = {"http_status": pyarrow.int64()}
        fields = [(name, kinds.get(name, pyarrow.string())) for name in Failure._fields]
        kind = pyarrow.schema(fields)
        columns = [list(column) for column in zip(*self._all())] or [[]] * len(kind)
        return pyarrow.record_batch(columns, schema=kind)

    def to_pandas(self) -> Any:
        """The failures as a `pandas.DataFrame`."""
        package("pandas", "to_pandas()")
        return self.to_arrow().to_pandas()

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[Any, Any]:
        batch = self._batch if self._batch is not None else self.to_arrow()
        found: tuple[Any, Any] = batch.__arrow_c_array__(requested_schema)
        return found

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        if self._batch is not None:
            return self._batch.__arrow_c_stream__(requested_schema)
        pyarrow = package("pyarrow", "the Arrow stream of unpickled failures")
        return pyarrow.table(self.to_arrow()).__arrow_c_stream__(requested_schema)


@dataclass(frozen=True, repr=False)
class Result:
    """Counters, requests and failures of a transfer that has ended."""

    done: int
    """Objects and files that were done, in a dry run those that would have been."""
    failed: int
    """Those that failed."""
    skipped: int
    """Those of which nothing had to be done."""
    not_tried: int
    """Those that were not tried because the job ended early."""
    warnings: int
    """Warnings; their texts go to the logger `s3haul`."""
    bytes: int
    """Bytes that were transferred."""
    elapsed: float
    """Seconds that the call took."""
    is_cancelled: bool
    """Whether the job was ended early."""
    requests: Requests
    """Requests that were sent, in a dry run those that would have been."""
    failures: Failures
    """The objects that failed."""
    status: int
    """The exit code that the command would have had."""
    output: builtins.bytes = field(default=b"", repr=False, compare=False)
    """What the command would have printed to standard output about tags and restores."""

    @property
    def price(self) -> float:
        """USD for the requests, at the prices of S3 Standard in us-east-1, without the data."""
        return _s3haul.price(*self.requests)

    def raise_for_failures(self) -> Result:
        """Returns the result itself, so that calls can be chained.

        Raises:
            TransferFailed: Objects failed or were not tried, or the call as a whole did not do all
                that it was to do, such as writing its report.
        """
        # Warnings alone are status 2.
        is_whole = self.status in (0, 2)
        if self.failed or self.not_tried or self.is_cancelled or not is_whole:
            raise TransferFailed.of(self)
        return self

    def lines(self) -> list[dict[str, Any]]:
        """What `restore(…, status=True)` found: a dict for each object, with its `state`."""
        return [bare(line) for line in json_lines(self.output)]

    def __repr__(self) -> str:
        counts = [f"{self.done:,} done"]
        for name in ("failed", "skipped", "not_tried", "warnings"):
            if count := getattr(self, name):
                counts.append(f"{count:,} {name.replace('_', ' ')}")
        if self.is_cancelled:
            counts.append("cancelled")
        return f"<Result: {', '.join(counts)}, {_html.size(self.bytes)} in {self.elapsed:.1f} s>"

    def _repr_html_(self) -> str:
        rate = self.bytes / self.elapsed if self.elapsed else 0.0
        rows: list[tuple[str, object]] = [
            ("done", self.done),
            ("failed", self.failed),
            ("skipped", self.skipped),
            ("not tried", self.not_tried),
            ("warnings", self.warnings),
            ("transferred", f"{_html.size(self.bytes)}, {_html.size(rate)}/s"),
            ("seconds", f"{self.elapsed:.1f}"),
            ("requests", "{:,} write, {:,} read, {:,} delete".format(*self.requests)),
            ("price of the requests", f"{self.price:.5f} USD"),
        ]
        html = _html.table("cancelled" if self.is_cancelled else "transfer", rows)
        return html + (self.failures._repr_html_() if self.failures else "")


def json_lines(output: builtins.bytes) -> list[dict[str, Any]]:
    """Lines of JSON objects, without those about single objects and totals of a transfer."""
    lines = [json.loads(line) for line in output.splitlines() if line.strip()]
    return [line for line in lines if line.get("event") not in _EVENTS_OF_TRANSFERS]


def bare(line: dict[str, Any]) -> dict[str, Any]:
    """A line without the fields that say what version and kind of line it is."""
    return {name: value for name, value in line.items() if name not in ("v", "event")}
