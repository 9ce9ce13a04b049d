"""Jobs: calls as values, and journals of those that ran."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from . import _html, _words
from ._call import ProgressTarget, StrPath
from ._commands import Commands
from ._progress import check
from ._running import finish
from ._translate import tag_call

if TYPE_CHECKING:
    from ._client import Client
    from ._result import Result


class Job:
    """A call as a JSON value, the same as `--print-job` prints: what is copied, listed or changed.

    Two jobs are equal if their JSON is. A job holds no secrets.

    Args:
        document: The JSON, as a text or parsed.
        client: What runs it; by default the client of the module.

    Raises:
        ValueError: The text is no JSON object.
    """

    def __init__(self, document: str | Mapping[str, Any], client: Client | None = None) -> None:
        parsed = json.loads(document) if isinstance(document, (str, bytes)) else document
        if not isinstance(parsed, Mapping):
            raise ValueError("a job is a JSON object")
        self._document = dict(parsed)
        self._client = client

    @classmethod
    def from_json(cls, text: str, client: Client | None = None) -> Job:
        """The job of a text, as `to_json` and `--print-job` write it."""
        return cls(text, client)

    def to_json(self) -> str:
        """The job as text, which `s3haul job run` runs, too."""
        return json.dumps(self._document, indent=2, ensure_ascii=False)

    @property
    def document(self) -> dict[str, Any]:
        """The parsed JSON; `docs/job.md` describes it."""
        return json.loads(json.dumps(self._document))  # type: ignore[no-any-return]

    def run(
        self,
        *,
        journal: StrPath | None = None,
        no_journal: bool = False,
        resume: bool = False,
        progress: ProgressTarget = None,
    ) -> Result:
        """Runs the job.

        Args:
            journal: Keep a journal in this folder, from the beginning on.
            no_journal: Keep no journal.
            resume: Go on where the last interrupted run ended; where there is none, begin.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.

        Raises:
            S3haulError: The job makes no sense, or failed as a whole.
        """
        check(progress)
        options = {"journal": journal, "no_journal": no_journal, "resume": resume}
        client = self._client or default()
        running = client._session(True).start_job(self.to_json(), _words.flags(options))
        return finish(running, progress, self._task())

    def _task(self) -> str:
        return next(iter(self._document.get("task") or ()), "job")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self._document == other._document

    def __hash__(self) -> int:
        return hash(json.dumps(self._document, sort_keys=True))

    def __reduce__(self) -> tuple[Any, ...]:
        return Job, (self._document, self._client)

    def __repr__(self) -> str:
        task = self._document.get("task") or {}
        sides = next(iter(task.values()), None)
        sides = sides if isinstance(sides, Mapping) else {}
        places = [str(sides[side]) for side in ("source", "target") if side in sides]
        return f"<Job: {' '.join([self._task(), *places])}>"

    def _repr_html_(self) -> str:
        return _html.table(repr(self).strip("<>"), [("JSON", self.to_json())])


@dataclass(frozen=True)
class JobStatus:
    """How far a job got that keeps a journal."""

    id: str
    """Its name, as the command has it."""
    state: str
    """`running`, `interrupted`, `failed`, `done` and so on."""
    command: str
    """The command as it was typed."""
    directory: str
    """Where it was started; empty if that directory had been removed."""
    begun: datetime
    updated: datetime
    process: int | None
    """The process that runs it."""
    objects: int
    """Objects and files that are done."""
    bytes: int
    """Bytes that were transferred."""
    skipped: int
    failed: int
    pending: int
    """Objects that were begun and are not done, or failed."""
    can_resume: bool
    """Whether `resume` goes on with it in this process: it has not ended, does not run, and was
    started in the working directory, or in one that had been removed."""
    journal: StrPath | None = None
    """The folder of the journal; None for the usual one."""
    client: Client | None = field(default=None, repr=False, compare=False)

    def resume(self, *, progress: ProgressTarget = None) -> Result:
        """Goes on with the job, or tries again what failed of it.

        Raises:
            UsageError: It was started in another directory, runs, or is complete.
        """
        options = {"journal": self.journal}
        client = self.client or default()
        return client._transfer(["jobs", "resume"], [self.id], options, progress)


class _JobMaker(Commands):
    """The methods of commands, which return jobs instead of running."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def _make(
        self,
        head: Sequence[str],
        paths: Sequence[StrPath | None],
        options: Mapping[str, Any],
        progress: ProgressTarget = None,
    ) -> Any:
        words = _words.words(head, paths, options)
        return Job(self._client._session().job(words), self._client)

    _transfer = _rows = _compared = _query = _text = _make

    def tag(self, url: StrPath, **options: Any) -> Any:
        """See `Client.tag`."""
        head, given, _ = tag_call(options)
        return self._make(head, [url], given, given.pop("progress", None))


def job_of(client: Client, command: str, args: Sequence[Any], options: Mapping[str, Any]) -> Job:
    """The job of a call.

    Raises:
        AttributeError: There is no such command.
    """
    method = None if command.startswith("_") else getattr(_JobMaker(client), command, None)
    if method is None:
        raise AttributeError(f"there is no command `{command}`")
    job = method(*args, **options)
    assert isinstance(job, Job)
    return job


def jobs(client: Client, journal: StrPath | None) -> list[JobStatus]:
    """The jobs that have a journal."""
    found = client._query(["jobs", "ls", "--json"], [], {"journal": journal})
    return [_status(line, client, journal) for line in found]


def _status(line: Mapping[str, Any], client: Client, journal: StrPath | None) -> JobStatus:
    names = JobStatus.__dataclass_fields__
    known = {name: line[name] for name in names if name in line}
    begun, updated = (_moment(line[f"{name}_ms"]) for name in ("begun", "updated"))
    # What has relative paths cannot be resumed from elsewhere without a change of directory. A job
    # without a directory has none.
    known["can_resume"] = known["can_resume"] and known["directory"] in ("", _here())
    return JobStatus(**known, begun=begun, updated=updated, journal=journal, client=client)


def _here() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)


def default() -> Client:
    """The client of the module."""
    from ._default import client

    return client
