"""Move, sync, list, describe and change S3 data in bulk.

The functions here are the methods of one `Client` that takes its settings from the environment and
the configuration files, as the command `s3haul` does. `s3haul.aio` has the same for asyncio,
`s3haul.plan` makes plans, `s3haul.ray` has the machines of a cluster do a job, and `s3haul.serve()`
is a server for tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import plan
from ._client import Client, Finished
from ._default import client as _default
from ._errors import (
    AccessDenied,
    Cancelled,
    ConnectionFailed,
    CredentialsError,
    IntegrityError,
    LocalFileError,
    NotFound,
    NotS3,
    PreconditionFailed,
    RemovalRefused,
    RequestRefused,
    S3haulError,
    ServiceFailed,
    SourceChanged,
    Throttled,
    TimedOut,
    TransferFailed,
    UsageError,
)
from ._jobs import Job, JobStatus
from ._plan import Plan
from ._progress import Progress
from ._result import Failure, Failures, Requests, Result
from ._rows import AsyncRows, Batch, Rows
from ._s3haul import __version__
from ._serve import Server
from ._summary import Summary

if TYPE_CHECKING:
    from . import aio, ray

serve = Server

cat = _default.cat
compare = _default.compare
copy = _default.copy
each = _default.each
find = _default.find
get_many = _default.get_many
head = _default.head
job = _default.job
jobs = _default.jobs
list = _default.list
list_buckets = _default.list_buckets
ls = _default.ls
make_bucket = _default.make_bucket
map = _default.map
move = _default.move
presign = _default.presign
put_many = _default.put_many
read = _default.read
remove = _default.remove
remove_bucket = _default.remove_bucket
restore = _default.restore
run = _default.run
set = _default.set
summarize = _default.summarize
sync = _default.sync
tag = _default.tag
tag_add = _default.tag_add
tag_get = _default.tag_get
tag_remove = _default.tag_remove
tag_set = _default.tag_set
undelete = _default.undelete
uploads_abort = _default.uploads_abort
uploads_ls = _default.uploads_ls
verify = _default.verify
versioning_enable = _default.versioning_enable
versioning_get = _default.versioning_get
versioning_suspend = _default.versioning_suspend
versions = _default.versions
website = _default.website
write = _default.write


def __getattr__(name: str) -> object:
    # asyncio takes longer to import than all the rest, and Ray is for few.
    if name in ("aio", "ray"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "AccessDenied",
    "AsyncRows",
    "Batch",
    "Cancelled",
    "Client",
    "ConnectionFailed",
    "CredentialsError",
    "Failure",
    "Failures",
    "Finished",
    "IntegrityError",
    "Job",
    "JobStatus",
    "LocalFileError",
    "NotFound",
    "NotS3",
    "Plan",
    "PreconditionFailed",
    "RemovalRefused",
    "Progress",
    "RequestRefused",
    "Requests",
    "Result",
    "Rows",
    "S3haulError",
    "Server",
    "ServiceFailed",
    "SourceChanged",
    "Summary",
    "Throttled",
    "TimedOut",
    "TransferFailed",
    "UsageError",
    "__version__",
    "aio",
    "cat",
    "compare",
    "copy",
    "each",
    "find",
    "get_many",
    "head",
    "job",
    "jobs",
    "list",
    "list_buckets",
    "ls",
    "make_bucket",
    "map",
    "move",
    "plan",
    "presign",
    "put_many",
    "ray",
    "read",
    "remove",
    "remove_bucket",
    "restore",
    "run",
    "serve",
    "set",
    "summarize",
    "sync",
    "tag",
    "tag_add",
    "tag_get",
    "tag_remove",
    "tag_set",
    "undelete",
    "uploads_abort",
    "uploads_ls",
    "verify",
    "versioning_enable",
    "versioning_get",
    "versioning_suspend",
    "versions",
    "website",
    "write",
]
