"""Plans: look first, then do exactly that."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _html
from ._call import ProgressTarget, StrPath
from ._commands import Commands
from ._errors import S3haulError, UsageError
from ._optional import package
from ._translate import tag_call

if TYPE_CHECKING:
    from ._client import Client
    from ._result import Result

#: What can be planned.
COMMANDS = (
    "sync",
    "copy",
    "move",
    "remove",
    "undelete",
    "tag",
    "tag_set",
    "tag_add",
    "tag_remove",
    "set",
    "restore",
)


class Plan:
    """Everything that a call would do, as a Parquet file with a row for each action.

    `docs/plans.md` has its columns, and what is promised when it is applied.

    Args:
        path: The file.
        client: What applies it; by default the client of the module.

    Raises:
        FileNotFoundError: There is no such file.
    """

    def __init__(self, path: StrPath, client: Client | None = None) -> None:
        self.path = Path(path).absolute()
        self._is_temporary = False
        self._client = client
        if not self.path.is_file():
            raise FileNotFoundError(f"there is no plan `{self.path}`")

    @classmethod
    def from_arrow(
        cls, table: Any, *, path: StrPath | None = None, client: Client | None = None
    ) -> Plan:
        """A plan of rows: those of another plan, without some of them.

        Args:
            table: Anything that `pyarrow.table` takes, such as a frame of pandas or Polars.
            path: Where the plan is kept; by default it goes with the object.
            client: What applies it; by default the client of the module.
        """
        parquet = package("pyarrow.parquet", "Plan.from_arrow()")
        pyarrow = package("pyarrow", "Plan.from_arrow()")
        folder, place = _place(path)
        if not isinstance(table, pyarrow.Table):
            table = _table(pyarrow, table)
        parquet.write_table(table, place)
        return cls(place, client)._with(folder)

    def _with(self, folder: str | None) -> Plan:
        """The same, with a temporary folder that goes with it."""
        if folder is not None:
            self._is_temporary = True
            weakref.finalize(self, _remove, folder, os.getpid())
        return self

    def summary(self) -> dict[str, Any]:
        """Actions, reasons, requests and the largest objects, as `plan show --json` prints them."""
        return self._run_by()._query(["plan", "show", "--json"], [self.path], {})[0]

    def apply(
        self,
        *,
        report: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        progress: ProgressTarget = None,
    ) -> Result:
        """Does the actions of the plan and nothing else. What has changed since fails.

        Args:
            report: Write what became of every object to this file.
            journal: Keep a journal in this folder, from the beginning on.
            no_journal: Keep no journal. A plan without a `path` has none unless one is asked for:
                once the object is gone, there is nothing to go on with.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.

        Raises:
            UsageError: The plan makes no sense.
        """
        # Nothing could go on with a plan that goes with the object.
        no_journal = no_journal or (self._is_temporary and journal is None)
        options = {"report": report, "journal": journal, "no_journal": no_journal}
        return self._run_by()._transfer(["apply"], [self.path], options, progress)

    def _run_by(self) -> Client:
        from ._jobs import default

        return self._client or default()

    def to_arrow(self) -> Any:
        """The rows as a `pyarrow.Table`."""
        return package("pyarrow.parquet", "to_arrow()").read_table(self.path)

    def to_pandas(self) -> Any:
        """The rows as a `pandas.DataFrame`."""
        package("pandas", "to_pandas()")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The rows as a `polars.DataFrame`."""
        return package("polars", "to_polars()").read_parquet(self.path)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __fspath__(self) -> str:
        return str(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._is_temporary:
            return _unpickled, (self.path.read_bytes(), self._client)
        return Plan, (self.path, self._client)

    def __repr__(self) -> str:
        return f"<Plan {self.path}>"

    def _repr_html_(self) -> str:
        summary = self.summary()
        rows = [
            (action, found.get("objects"), _html.size(found.get("bytes", 0)))
            for action, found in summary.get("actions", {}).items()
        ]
        title = f"plan {self.path}" if rows else f"plan {self.path}: nothing to do"
        return _html.table(title, rows, ("action", "objects", "size"))


class _Planner(Commands):
    """The methods of commands, which write a plan: those with one of the names `COMMANDS`."""

    def __init__(self, client: Client, place: StrPath) -> None:
        self._client, self._place = client, place

    def _transfer(
        self,
        head: Sequence[str],
        paths: Sequence[StrPath | None],
        options: Mapping[str, Any],
        progress: ProgressTarget = None,
    ) -> Result:
        return self._client._transfer(head, paths, {**options, "plan": self._place}, progress)

    def tag(self, url: StrPath, **options: Any) -> Result:
        """See `Client.tag`; without a change there is nothing to plan."""
        head, given, is_change = tag_call(options)
        if not is_change:
            raise ValueError("give one of `set`, `add`, `remove` and `clear`")
        return self._transfer(head, [url], given, given.pop("progress", None))


def plan_of(
    client: Client,
    command: str,
    args: Sequence[Any],
    path: StrPath | None,
    options: Mapping[str, Any],
) -> Plan:
    """The plan of a call.

    Raises:
        UsageError: It is no command that can be planned.
        S3haulError: Objects could not be looked at.
    """
    if command not in COMMANDS:
        names = ", ".join(f"`{name}`" for name in COMMANDS)
        raise UsageError(f"there are no plans of `{command}`, but of {names}", status=252)
    folder, place = _place(path)
    try:
        result = getattr(_Planner(client, place), command)(*args, **options)
        result.raise_for_failures()
        if not os.path.isfile(place):
            raise S3haulError(
                f"no plan of `{command}` was written; the reason is in the log of `s3haul`"
            )
        return Plan(place, client)._with(folder)
    except BaseException:
        if folder is not None:
            _remove(folder, os.getpid())
        raise


def _place(path: StrPath | None) -> tuple[str | None, StrPath]:
    """A temporary folder, if there is to be one, and where the plan is written."""
    if path is not None:
        return None, path
    # It takes long to import.
    import tempfile

    folder = tempfile.mkdtemp(prefix="s3haul-plan-")
    return folder, os.path.join(folder, "plan.parquet")


def _unpickled(rows: bytes, client: Client | None) -> Plan:
    """A plan in a temporary file, from its bytes."""
    folder, place = _place(None)
    Path(place).write_bytes(rows)
    return Plan(place, client)._with(folder)


def _remove(folder: str, process: int) -> None:
    # A process that was forked leaves the folder to the one that made it.
    if os.getpid() == process:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def _table(pyarrow: Any, rows: Any) -> Any:
    if type(rows).__module__.partition(".")[0] == "pandas":
        return pyarrow.Table.from_pandas(rows, preserve_index=False)
    return pyarrow.table(rows)
