"""Jobs on the machines of a Ray cluster: `s3haul.ray.run(job, at="s3://ops/jobs/a")`.

The job is one in shards, as `s3haul job start` begins it and `s3haul worker` does it. Ray starts
workers on the nodes that are there and nothing else: what is done is known from the job's folder
alone, so that any task, node or driver may be lost, and `s3haul jobs resume` can end the job
without Ray. Needs the package `ray` here and s3haul on the nodes.
"""

from __future__ import annotations

import argparse
import functools
import json
import logging
import math
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ._call import StrPath
from ._client import Client
from ._errors import S3haulError, UsageError
from ._jobs import Job, default
from ._optional import package
from ._progress import Progress, ProgressTarget, Reporter, check, reporter
from ._result import Failure, Failures, Requests, Result, json_lines

__all__ = ["run"]

#: Seconds between two looks at the cluster and at the job.
_LOOK_S = 1.0
#: Seconds without new tasks after one that failed or was lost.
_REST_S = 1.0
#: Tasks in a row that may fail or be lost; with many at a time two for each.
_TRIES_MIN = 10
#: Seconds that tasks have to leave their shards to others when the call ends early.
_CANCEL_S = 5.0
#: Seconds that the governor has to answer.
_ANSWER_S = 5.0

_log = logging.getLogger("s3haul")


def run(
    job: Job | str | Mapping[str, Any],
    *,
    at: StrPath,
    address: str | None = None,
    shards: int = 64,
    budget: float = 60.0,
    lease: float = 30.0,
    slots_per_node: int = 2,
    nodes: int = 1,
    client: Client | None = None,
    progress: ProgressTarget = None,
) -> Result:
    """Does a job on a Ray cluster; where its folder has the same job already, the rest of it.

    Each task does one shard after the other in the process of a Ray worker, with credentials as the
    command finds them on its node. Those that the client was given go to the tasks as an argument;
    the folder never has any.

    Args:
        job: A job as `s3haul.job` makes it, or its JSON.
        at: The folder of the job, which all nodes reach: a prefix such as `s3://ops/jobs/a`, or a
            directory. Each run of a job needs a new one.
        address: The cluster, as `ray.init` takes it: `auto`, `local`, `ray://host:10001`. Without
            it the cluster of `RAY_ADDRESS` or of this machine, else one that is started here. Where
            the process is connected to a cluster, that one is used.
        shards: Cut the source into this many shards at most, at first.
        budget: Seconds after which a shard ends and leaves the rest to others.
        lease: Seconds after which a worker that gives no sign of life is taken for dead.
        slots_per_node: Shards at a time on each node.
        nodes: Ask for so many nodes where fewer are there, so that an autoscaler starts them.
        client: Whose service and credentials reach the folder, and whose credentials and limits the
            tasks have; by default those of the job, else of the module.
        progress: A function that gets a `Progress` once a second, or True for a bar.

    Returns:
        The counters of the whole job, all its runs together. Its requests are not counted.

    Raises:
        UsageError: The job makes no sense or cannot be done in shards, or the folder has another
            job, or one that is done.
        S3haulError: The folder could not be used, or tasks failed again and again.
        ImportError: Ray is not installed.
    """
    started = time.monotonic()
    ray = package("ray", "s3haul.ray.run()")
    check(progress)
    job = job if isinstance(job, Job) else Job(job)
    client = client or job._client or default()
    folder = _Folder(client, at)
    sent = _pickled(ray, client)
    with _connected(ray, address):
        folder.begin(job, {"shards": shards, "budget": budget, "lease": lease})
        tasks = _Tasks(ray, sent, folder.name, slots_per_node, nodes, _rate(job, client))
        report = reporter(progress, job._task())
        try:
            return _drive(folder, tasks, report, started)
        finally:
            tasks.cancel()
            if report is not None:
                report.close()


def _drive(folder: _Folder, tasks: _Tasks, report: Reporter | None, started: float) -> Result:
    """Starts tasks as long as something is left."""
    while True:
        state = folder.state(started)
        if report is not None:
            report.update(state)
        if not state.shards_left:
            return folder.result(state)
        tasks.start(state.shards_left)
        tasks.wait(_LOOK_S)


class _Folder:
    """The folder of a job, as the driver sees it."""

    def __init__(self, client: Client, at: StrPath) -> None:
        name = os.fspath(at)
        self.name = name if name.startswith("s3://") else os.path.abspath(name)
        self._client = client

    def begin(self, job: Job, options: Mapping[str, Any]) -> None:
        """Begins the job, or goes on with it."""
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            file.write(job.to_json())
            file.flush()
            options = {"at": self.name, "resume": True, **options}
            self._client._transfer(["job", "start"], [file.name], options)
        # One that is done would pass for a new run of the job.
        if not self._show()[0]["shards_left"]:
            message = f"the job in `{self.name}` is done: a new run of it needs a new folder"
            raise UsageError(message, status=252)

    def _show(self) -> list[dict[str, Any]]:
        shown = self._client._transfer(["jobs", "show", "--json"], [self.name], {})
        return json_lines(shown.output)

    def state(self, started: float) -> Progress:
        """How far the job is."""
        line = self._show()[0]
        counts = {name: line[name] for name in ("failed", "skipped", "bytes")}
        shards = {name: line[name] for name in ("shards_done", "shards_left")}
        return Progress(
            planned=line["objects"] + line["failed"],
            planned_bytes=line["bytes"],
            is_plan_complete=not line["shards_left"],
            done=line["objects"],
            elapsed=time.monotonic() - started,
            **counts,
            **shards,
        )

    def result(self, state: Progress) -> Result:
        """The result of a job in which nothing is left."""
        line, *failed = self._show()
        # It has nothing to do but to tidy the folder, and knows the exit code.
        ended = self._client._transfer(["worker"], [], {"job": self.name, "once": True})
        rows = [
            Failure(row["action"], row["subject"], None, "unknown", None, row["error"])
            for row in failed
        ]
        return Result(
            done=line["objects"],
            failed=line["failed"],
            skipped=line["skipped"],
            not_tried=0,
            warnings=line["warnings"],
            bytes=line["bytes"],
            elapsed=state.elapsed,
            is_cancelled=False,
            requests=Requests(0, 0, 0),
            failures=Failures(None, rows),
            status=ended.status,
        )


class _Tasks:
    """The tasks of the cluster. Each does a shard; which, it finds in the folder."""

    def __init__(
        self, ray: Any, client: bytes, folder: str, slots: int, nodes: int, rate: int | None
    ) -> None:
        self._ray = ray
        self._call = (client, folder)
        self._slots, self._nodes_min = slots, nodes
        self._running: dict[Any, int] = {}
        self._count = self._failed_in_a_row = 0
        self._rest_until = 0.0
        self._rate, self._governor = rate, None
        if rate is not None:
            self._governor = _governor(ray, rate)
        # A task that is lost is one that is started anew here.
        self._shard = ray.remote(max_retries=0, scheduling_strategy="SPREAD")(_shard)

    def start(self, left: int) -> None:
        """Starts tasks, as many as nodes and shards need."""
        cpus = [node["Resources"].get("CPU", 0) for node in self._ray.nodes() if node["Alive"]]
        cpus = [count for count in cpus if count]
        slots = max(1, min(self._slots * len(cpus), left))
        wanted = max(1, min(self._slots * max(len(cpus), self._nodes_min), left))
        if time.monotonic() < self._rest_until:
            return
        options = {"num_cpus": _share_of(min(cpus, default=1), self._slots)}
        share = None if self._rate is None else max(1, self._rate // slots)
        while len(self._running) < wanted:
            self._count += 1
            call = (*self._call, self._count, self._governor, share)
            self._running[self._shard.options(**options).remote(*call)] = self._count

    def wait(self, seconds: float) -> None:
        """Waits until a task has ended, but no longer than so many seconds."""
        if not self._running:
            time.sleep(seconds)
            return
        ended, _ = self._ray.wait(list(self._running), timeout=seconds)
        if self._governor is not None:
            going = [number for task, number in self._running.items() if task not in ended]
            # Each time: a share may come to be known after its task has ended.
            self._governor.keep.remote(going, self._count)
        for task in ended:
            del self._running[task]
            try:
                for row in self._ray.get(task):
                    _log.error("%s failed: %s", row["subject"], row["error"])
                self._failed_in_a_row = 0
            except self._ray.exceptions.RayError as error:
                self._failed(error)

    def _failed(self, error: Exception) -> None:
        cause = getattr(error, "cause", None) or error
        self._failed_in_a_row += 1
        self._rest_until = time.monotonic() + _REST_S
        # Nodes may go, and take all their tasks with them.
        tries = max(_TRIES_MIN, 2 * (len(self._running) + 1))
        if isinstance(cause, UsageError) or self._failed_in_a_row > tries:
            raise cause
        _log.info("a task failed or was lost: %s", cause)

    def cancel(self) -> None:
        """Ends tasks that run; they leave their shards to others."""
        running, self._running = list(self._running), {}
        # What ends the call counts, not a cluster that is no longer there.
        with suppress(Exception):
            for task in running:
                self._ray.cancel(task)
            if running:
                self._ray.wait(running, num_returns=len(running), timeout=_CANCEL_S)


def _share_of(cpus: float, slots: int) -> float:
    """CPUs of a task; above one Ray wants whole ones."""
    share = cpus / slots
    return math.floor(share) if share > 1 else share


def _rate(job: Job, client: Client) -> int | None:
    """The requests a second that all tasks may send together."""
    limits = job.document.get("limits") or {}
    rate = limits.get("max_requests_per_second") or client._settings["max_requests_per_second"]
    return None if rate is None else int(rate)


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    """A connection to the cluster; it ends if it was made here."""
    if ray.is_initialized():
        yield
        return
    ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    try:
        yield
    finally:
        ray.shutdown()


def _pickled(ray: Any, client: Client) -> bytes:
    try:
        pickled: bytes = ray.cloudpickle.dumps(client)
    except Exception as error:
        message = f"the client cannot be sent to other machines: {error}"
        hint = "give it `credentials` that can be pickled, or none"
        raise UsageError(message, hint=hint, status=252) from error
    return pickled


def main(words: Sequence[str]) -> int:
    """What `s3haul job run FILE --ray ADDRESS --at FOLDER` does; returns its exit code."""
    parser = argparse.ArgumentParser(prog="s3haul job run", allow_abbrev=False)
    parser.add_argument("file")
    parser.add_argument("--at", required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--client", default="{}")
    parser.add_argument("--no-progress", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(words)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        with sys.stdin if args.file == "-" else open(args.file, encoding="utf-8") as file:
            job = file.read()
        client = Client(**json.loads(args.client))
        progress = sys.stderr.isatty() and not args.no_progress
        ended = run(job, at=args.at, address=args.address, client=client, progress=progress)
    except UnicodeDecodeError:
        print(f"s3haul: error: `{args.file}` is no job", file=sys.stderr)
        print(
            f"hint: a plan is begun by `s3haul job start {args.file} --apply --at {args.at}`, and "
            "done by workers",
            file=sys.stderr,
        )
        return 252
    except (S3haulError, OSError, ImportError) as error:
        print(f"s3haul: error: {error}", file=sys.stderr)
        return getattr(error, "status", None) or 255
    except KeyboardInterrupt:
        return 130
    counts = {"objects": ended.done, "bytes": ended.bytes, "failed": ended.failed}
    if args.json:
        print(json.dumps({"v": 1, "event": "job", "id": args.at, **counts}))
    else:
        print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return ended.status


# What runs on the nodes.


@functools.lru_cache(maxsize=4)
def _client(pickled: bytes) -> Client:
    """The client of this process, whose connections stay open from one shard to the next."""
    client: Client = pickle.loads(pickled)
    return client


def _shard(
    client: bytes, folder: str, task: int, governor: Any, share: int | None
) -> list[dict[str, Any]]:
    """Does one shard, if any is left, and returns what failed of it."""
    rate = None if share is None else _leased(governor, task, share)
    options = {"job": folder, "once": True, "max_requests_per_second": rate}
    ended = _client(client)._transfer(["worker", "--json"], [], options)
    lines = json_lines(ended.output)
    return [row for line in lines for row in line.get("failures", ())]


def _leased(governor: Any, task: int, share: int) -> int:
    """The requests a second of this task; without an answer its even share."""
    ray = package("ray", "s3haul.ray.run()")
    while True:
        try:
            leased: int = ray.get(governor.lease.remote(task, share), timeout=_ANSWER_S)
        except ray.exceptions.RayError:
            return share
        if leased:
            return leased
        time.sleep(_LOOK_S)


def _governor(ray: Any, rate: int) -> Any:
    """The actor that shares the rate, on the head node: the others may go."""
    strategies = package("ray.util.scheduling_strategies", "s3haul.ray.run()")
    heads = [node for node in ray.nodes() if "node:__internal_head__" in node["Resources"]]
    place = {}
    if heads:
        strategy = strategies.NodeAffinitySchedulingStrategy(heads[0]["NodeID"], soft=False)
        place = {"scheduling_strategy": strategy}
    actor = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Governor)
    return actor.options(**place).remote(rate)


class _Governor:
    """Shares a number of requests a second over the tasks that run.

    Each has its share until it ends; together they have no more than the rate. One that is
    restarted knows of no shares: they may be more until the tasks that have them end, but none is
    more than the even share at the time when its task was started.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._shares: dict[int, int] = {}

    def lease(self, task: int, share: int) -> int:
        """The share of a task, or 0 as long as others have more than half of it."""
        self._shares.pop(task, None)
        rest = self._rate - sum(self._shares.values())
        if 2 * rest < share:
            return 0
        self._shares[task] = min(share, rest)
        return self._shares[task]

    def keep(self, running: Sequence[int], newest: int) -> None:
        """Frees the shares of all tasks up to the newest one but of those that run.

        All, and not of one that ends: while there was no governor, what it was asked waits, and
        comes to the next one even after the task that asked has ended.
        """
        self._shares = {
            task: share
            for task, share in self._shares.items()
            if task > newest or task in running
        }
