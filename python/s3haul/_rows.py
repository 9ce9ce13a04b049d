"""Rows that come while they are found: of listings, versions, and comparisons.

Every consumer starts a listing of its own, so a `Rows` can be consumed more than once, each time
with the requests that this takes. A consumer that ends early ends its listing.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any

from . import _html, _s3haul
from ._errors import S3haulError
from ._optional import package
from ._progress import INTERVAL_S

#: A function of `Rows.where`: gets a `pyarrow.RecordBatch`, and returns which rows are kept (a
#: sequence or array of bools) or a batch.
Condition = Callable[[Any], Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
#: Columns whose numbers are microseconds since 1970.
_TIMES = {"last_modified", "source_modified", "target_modified"}


class Batch:
    """Some rows at once.

    It is an iterable of named tuples, and an Arrow record batch for programs that take
    one, such as `pyarrow.record_batch` or `polars.DataFrame`, without a copy.
    """

    def __init__(self, batch: Any, names: Sequence[str]) -> None:
        self._batch = batch
        self._names = tuple(names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._names

    def __len__(self) -> int:
        return len(self._batch)

    def __iter__(self) -> Iterator[Any]:
        make = _row(self._names)._make
        times = [place for place, name in enumerate(self._names) if name in _TIMES]
        for row in self._tuples():
            cells = list(row)
            for place in times:
                if cells[place] is not None:
                    cells[place] = _EPOCH + timedelta(microseconds=cells[place])
            yield make(cells)

    def _tuples(self) -> Sequence[tuple[Any, ...]]:
        if isinstance(self._batch, _s3haul.Batch):
            return self._batch.rows()
        pyarrow = package("pyarrow", "where()")
        columns = []
        for name, column in zip(self._names, self._batch.columns):
            column = column.cast(pyarrow.int64()) if name in _TIMES else column
            columns.append(column.to_pylist())
        return list(zip(*columns))

    def __repr__(self) -> str:
        return f"<Batch of {len(self):,} rows: {', '.join(self._names)}>"

    def _repr_html_(self) -> str:
        rows = [row for row, _ in zip(self, range(_html.ROWS_MAX))]
        return _html.table(f"{len(self):,} rows", rows, self._names)

    def to_arrow(self) -> Any:
        """The rows as a `pyarrow.RecordBatch`, without a copy."""
        return package("pyarrow", "to_arrow()").record_batch(self._batch)

    def to_pandas(self) -> Any:
        """The rows as a `pandas.DataFrame`."""
        package("pandas", "to_pandas()")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The rows as a `polars.DataFrame`."""
        return package("polars", "to_polars()").DataFrame(self)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[Any, Any]:
        found: tuple[Any, Any] = self._batch.__arrow_c_array__(requested_schema)
        return found

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        if isinstance(self._batch, _s3haul.Batch):
            return self._batch.__arrow_c_stream__(requested_schema)
        pyarrow = package("pyarrow", "where()")
        return pyarrow.table(self._batch).__arrow_c_stream__(requested_schema)


class Rows:
    """Rows of a listing or comparison, which begins when they are consumed, and each time anew.

    - `for row in rows`: named tuples, whose times are in UTC.
    - `for batch in rows.batches()`: up to 32,000 rows at once; memory does not grow.
    - `rows.to_arrow()`, `.to_pandas()`, `.to_polars()`: all rows.
    - `pyarrow.table(rows)`, `polars.DataFrame(rows)`, `duckdb.sql("from rows")`: all that takes
      Arrow streams takes it as it is.

    Rows of a listing come in the order of arrival, not of keys, unless that is asked for.

    Raises:
        S3haulError: While it is consumed, the listing failed. Rows until then are not all. Programs
            that consume the Arrow stream raise an exception of their own with the same message.
    """

    def __init__(
        self,
        start: Callable[[], _s3haul.Rows],
        source: _s3haul.Rows,
        label: str = "",
        conditions: Sequence[Condition] = (),
    ) -> None:
        self._start = start
        # What the rows have in common. It is not consumed.
        self._source = source
        self._label = label
        self._conditions = tuple(conditions)
        self._names = tuple(source.names())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._names

    def where(self, condition: Condition) -> Rows:
        """The rows that a function of whole batches selects. Needs `pyarrow`.

        Args:
            condition: Gets a `pyarrow.RecordBatch`, and returns which of its rows are kept (bools
                in an array or a list) or a batch with the same columns. What it
                raises ends the rows.
        """
        if not callable(condition):
            raise TypeError(f"a condition is a function, not {type(condition).__name__}")
        package("pyarrow", "where()")
        conditions = (*self._conditions, condition)
        return Rows(self._start, self._source, self._label, conditions)

    def batches(self) -> Iterator[Batch]:
        """The rows, many at a time, as they come."""
        rows = self._start()
        while (batch := _next(rows)) is not None:
            if (kept := self._kept(batch)) is not None:
                yield kept

    def _kept(self, batch: _s3haul.Batch) -> Batch | None:
        if not self._conditions:
            return Batch(batch, self._names)
        kept = package("pyarrow", "where()").record_batch(batch)
        for condition in self._conditions:
            kept = _filtered(kept, condition(kept))
            if not len(kept):
                return None
        return Batch(kept, self._names)

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches():
            yield from batch

    def to_arrow(self) -> Any:
        """All rows as a `pyarrow.Table`, without a copy."""
        return self._arrow(self.batches())

    def _arrow(self, batches: Iterable[Batch]) -> Any:
        pyarrow = package("pyarrow", "to_arrow()")
        found = [batch.to_arrow() for batch in batches]
        return pyarrow.Table.from_batches(found, schema=self._schema(pyarrow))

    def to_pandas(self, **options: Any) -> Any:
        """All rows as a `pandas.DataFrame`; options are those of `pyarrow.Table.to_pandas`."""
        package("pandas", "to_pandas()")
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> Any:
        """All rows as a `polars.DataFrame`, without a copy."""
        return self._polars(self.batches())

    def _polars(self, batches: Iterable[Batch]) -> Any:
        polars = package("polars", "to_polars()")
        # The first one has the columns where nothing was found.
        frames = [Batch(self._source.empty(), self._names).to_polars()]
        frames += [batch.to_polars() for batch in batches]
        return polars.concat(frames, rechunk=False)

    def _schema(self, pyarrow: Any) -> Any:
        return pyarrow.schema(self._source)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        if not self._conditions:
            return self._start().__arrow_c_stream__(requested_schema)
        pyarrow = package("pyarrow", "where()")
        batches = (batch.to_arrow() for batch in self.batches())
        reader = pyarrow.RecordBatchReader.from_batches(self._schema(pyarrow), batches)
        return reader.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._source.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<Rows of {self._label}: {', '.join(self._names)}>"

    def _repr_html_(self) -> str:
        # Showing it must not begin a listing.
        rows = [("columns", ", ".join(self._names)), ("conditions", len(self._conditions))]
        return _html.table(f"rows of {self._label}", rows)


class AsyncRows:
    """The same for asyncio: `async for row in rows`, `async for batch in rows.batches()`."""

    def __init__(self, rows: Rows, wait: Callable[..., Awaitable[Any]]) -> None:
        self._rows = rows
        self._wait = wait

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._rows.names

    def where(self, condition: Condition) -> AsyncRows:
        """See `Rows.where`. The function is called in another thread."""
        return AsyncRows(self._rows.where(condition), self._wait)

    async def batches(self) -> AsyncIterator[Batch]:
        """The rows, many at a time, as they come."""
        rows = await self._wait(self._rows._start)
        try:
            while True:
                # Threads wait for a short time only, as nothing else ends their wait.
                try:
                    batch = await self._wait(rows.next_batch, INTERVAL_S)
                except TimeoutError as error:
                    if isinstance(error, S3haulError):
                        raise
                    continue
                if batch is None:
                    return
                if (kept := await self._kept(batch)) is not None:
                    yield kept
        finally:
            # An exception that is kept would keep the listing, too.
            del rows

    async def _kept(self, batch: _s3haul.Batch) -> Batch | None:
        if not self._rows._conditions:
            return self._rows._kept(batch)
        found: Batch | None = await self._wait(self._rows._kept, batch)
        return found

    async def __aiter__(self) -> AsyncIterator[Any]:
        async with aclosing(self.batches()) as batches:  # type: ignore[type-var]
            async for batch in batches:
                for row in batch:
                    yield row

    async def _all(self) -> list[Batch]:
        return [batch async for batch in self.batches()]

    async def to_arrow(self) -> Any:
        """All rows as a `pyarrow.Table`."""
        package("pyarrow", "to_arrow()")
        return await self._wait(self._rows._arrow, await self._all())

    async def to_pandas(self, **options: Any) -> Any:
        """All rows as a `pandas.DataFrame`."""
        package("pandas", "to_pandas()")
        table = await self.to_arrow()
        return await self._wait(lambda: table.to_pandas(**options))

    async def to_polars(self) -> Any:
        """All rows as a `polars.DataFrame`."""
        package("polars", "to_polars()")
        return await self._wait(self._rows._polars, await self._all())

    def __repr__(self) -> str:
        return f"<Async{repr(self._rows)[1:]}"

    def _repr_html_(self) -> str:
        return self._rows._repr_html_()


def _next(rows: _s3haul.Rows) -> _s3haul.Batch | None:
    """The next batch, None at the end. An interrupt is seen while it is waited for."""
    while True:
        try:
            return rows.next_batch(INTERVAL_S)
        except TimeoutError as error:
            # `TimedOut` is one, too, and is the end of the rows.
            if isinstance(error, S3haulError):
                raise


@cache
def _row(names: tuple[str, ...]) -> Any:
    def reduce(self: tuple[Any, ...]) -> tuple[Any, ...]:
        # Another process makes the class anew: it has no name in this module.
        return _rebuilt, (names, tuple(self))

    return type("Row", (namedtuple("Row", names),), {"__slots__": (), "__reduce__": reduce})


def _rebuilt(names: tuple[str, ...], cells: tuple[Any, ...]) -> Any:
    return _row(names)._make(cells)


def _filtered(batch: Any, answer: Any) -> Any:
    """The rows of a batch that the answer of a condition keeps."""
    pyarrow = package("pyarrow", "where()")
    if isinstance(answer, (pyarrow.RecordBatch, pyarrow.Table)):
        if answer.schema.names != batch.schema.names:
            raise ValueError(f"a condition returned other columns: {answer.schema.names}")
        if isinstance(answer, pyarrow.RecordBatch):
            return answer
        parts = answer.combine_chunks().to_batches()
        return parts[0] if parts else batch.slice(0, 0)
    if isinstance(answer, (bool, str)) or not hasattr(answer, "__len__"):
        kind = type(answer).__name__
        raise TypeError(f"a condition returns a bool for each row, or a batch, not {kind}")
    if not isinstance(answer, (pyarrow.Array, pyarrow.ChunkedArray)):
        answer = pyarrow.array(answer, type=pyarrow.bool_())
    if len(answer) != len(batch):
        raise ValueError(f"a condition returned {len(answer)} bools for {len(batch)} rows")
    if isinstance(answer, pyarrow.ChunkedArray):
        answer = answer.combine_chunks()
    return batch.filter(answer)
