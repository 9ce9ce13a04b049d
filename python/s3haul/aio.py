"""The same for asyncio: `await s3haul.aio.sync(…)`, `async for row in s3haul.aio.list(…)`.

Transfers and queries are coroutines, listings and comparisons can be iterated with `async for`.
Cancelling a task cancels its job and waits for the end of what the job is at. Functions for
`progress=` are called in the thread of the event loop.
"""

from __future__ import annotations

from ._aio import Client
from ._default import client as _client
from ._rows import AsyncRows

_default = Client(_client)

apply = _default.apply
cat = _default.cat
compare = _default.compare
copy = _default.copy
each = _default.each
find = _default.find
get_many = _default.get_many
head = _default.head
jobs = _default.jobs
list = _default.list
list_buckets = _default.list_buckets
ls = _default.ls
make_bucket = _default.make_bucket
map = _default.map
move = _default.move
plan = _default.plan
presign = _default.presign
put_many = _default.put_many
read = _default.read
remove = _default.remove
remove_bucket = _default.remove_bucket
restore = _default.restore
resume = _default.resume
run = _default.run
run_job = _default.run_job
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

__all__ = [
    "AsyncRows",
    "Client",
    "apply",
    "cat",
    "compare",
    "copy",
    "each",
    "find",
    "get_many",
    "head",
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
    "read",
    "remove",
    "remove_bucket",
    "restore",
    "resume",
    "run",
    "run_job",
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
