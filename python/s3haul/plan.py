"""Plans of calls: everything that `sync`, `copy` and so on would do, to look at before it is done.

Each function takes what the method of the same name takes, and

- `path`: where the plan is kept, as a Parquet file; by default it goes with the object,
- `client`: what looks and applies; by default the client of the module.

Plans are applied as `Plan.apply()`.
"""

from __future__ import annotations

from typing import Any

from ._call import StrPath
from ._client import Client
from ._jobs import default
from ._plan import Plan

__all__ = ["Plan", "copy", "move", "remove", "restore", "set", "sync", "tag", "undelete"]


def sync(
    *args: Any, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `sync(source, target, …)`."""
    return (client or default()).plan("sync", *args, path=path, **options)


def copy(
    *args: Any, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `copy(source, target, …)`."""
    return (client or default()).plan("copy", *args, path=path, **options)


def move(
    *args: Any, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `move(source, target, …)`."""
    return (client or default()).plan("move", *args, path=path, **options)


def remove(
    *args: Any, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `remove(url, …)`."""
    return (client or default()).plan("remove", *args, path=path, **options)


def undelete(
    *args: Any, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `undelete(url, …)`."""
    return (client or default()).plan("undelete", *args, path=path, **options)


def set(
    *args: Any, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `set(url, …)`."""
    return (client or default()).plan("set", *args, path=path, **options)


def restore(
    *args: Any, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `restore(url, …)`."""
    return (client or default()).plan("restore", *args, path=path, **options)


def tag(
    url: StrPath, *, path: StrPath | None = None, client: Client | None = None, **options: Any
) -> Plan:
    """The plan of `tag(url, …)` with `set`, `add`, `remove` or `clear`."""
    return (client or default()).plan("tag", url, path=path, **options)
