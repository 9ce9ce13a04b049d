"""Words of the command line, made from Python values.

A call is described by what would be typed: that is the only description of a job there is. Rules:
None and False are left out, True is the flag alone, sequences repeat a flag that takes several
values, mappings repeat it with `key=value`, and names turn `_` into `-`. A sequence where one value
is meant is refused, and so is an empty one that would have to select nothing: left out, it would
select everything.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Any

#: Parameters whose flag has another name, because the flag occurs several times.
_FLAGS = {"storage_classes": "source-storage-class"}
#: The same for one command.
_FLAGS_OF = {("find", "names"): "name", ("find", "tags"): "tag"}
#: Flags that have a whole map as one value, as JSON.
_MAPS = {"metadata", "add_metadata", "tags"}
#: Parameters for which a period is an age.
_AGES = {"newer_than", "older_than", "since", "as_of"}
#: Parameters for which a period begins now.
_FROM_NOW = {"expires", "retain_until"}
#: Flags that have a list as one value, separated by commas.
_LISTS = {"remove_metadata"}
#: Parameters that take several values; those that select, of which one has to hold.
_SELECTING = {"names", "regex", "storage_classes"}
_SEVERAL = _SELECTING | _LISTS | {"exclude", "grants", "include", "keys", "show", "tags"}
#: The same for one command.
_SEVERAL_OF = {("find", "metadata"), ("summarize", "since")}


def words(
    head: Sequence[str], positionals: Iterable[object], options: Mapping[str, Any]
) -> list[str]:
    """The words of a command: what it begins with, its paths and URLs, and its flags.

    Raises:
        TypeError: A value has a type that no flag takes.
        ValueError: Flags exclude each other.
    """
    paths = list(_paths(positionals))
    given = flags(options, head[0])
    if any(path.startswith("-") and path != "-" for path in paths):
        # What follows is no flag, whatever it begins with.
        return [*head, *given, "--", *paths]
    # Paths first: a flag whose value may be missing would take one.
    return [*head, *paths, *given]


def flags(options: Mapping[str, Any], command: str = "") -> list[str]:
    """The flags that options are."""
    found: list[str] = []
    for name, value in options.items():
        if name == "filters":
            found.extend(_filters(value, options))
        else:
            found.extend(_flag(command, name.rstrip("_"), value))
    return found


def text(value: object) -> str:
    """One value as a flag takes it.

    Times with a zone are written in UTC; without one they are local, as on the command line.
    Periods are whole seconds, or else milliseconds.
    """
    if isinstance(value, bool) or value is None:
        raise TypeError(f"expected a text or a number, not {value!r}")
    if isinstance(value, (str, os.PathLike)):
        return path(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _period(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(
            "expected a text, not bytes: give a key as `fileb://` and the path of its file"
        )
    try:
        # As numbers of numpy have it.
        return str(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"expected a text or a number, not {kind}") from None


def path(value: object) -> str:
    """A path or URL as text."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"expected a path or an s3:// URL, not {type(value).__name__}")
    return os.fsdecode(value)


def _paths(positionals: Iterable[object]) -> Iterator[str]:
    for value in positionals:
        if value is None:
            continue
        if isinstance(value, (list, tuple)):
            yield from map(path, value)
        else:
            yield path(value)


def _filters(value: Any, options: Mapping[str, Any]) -> Iterator[str]:
    if not value:
        return
    if options.get("exclude") or options.get("include"):
        raise ValueError("`filters` has an order of its own: leave out `exclude` and `include`")
    for rule in value:
        kind, pattern = rule
        if kind not in ("exclude", "include"):
            raise ValueError(f'a filter is ("exclude" or "include", pattern), not {rule!r}')
        yield f"--{kind}={text(pattern)}"


def _flag(command: str, name: str, value: Any) -> Iterator[str]:
    if isinstance(value, timedelta) and name in _AGES | _FROM_NOW:
        value = _moment(name, value)
    flag = "--" + (_FLAGS_OF.get((command, name)) or _FLAGS.get(name) or name.replace("_", "-"))
    try:
        if value is None or value is False:
            return
        if value is True:
            yield flag
        elif isinstance(value, Mapping) and name in _MAPS:
            yield from _mapping(command, name, flag, value)
        elif _is_sequence(value):
            is_several = name in _SEVERAL or (command, name) in _SEVERAL_OF
            if isinstance(value, Mapping) or not is_several:
                wanted = "values" if is_several else "one value"
                raise TypeError(f"expected {wanted}, not {type(value).__name__}")
            items = []
            for item in value:
                if isinstance(item, Mapping) and name in _MAPS:
                    yield from _mapping(command, name, flag, item)
                else:
                    items.append(text(item))
            if name in _SELECTING and not items:
                raise ValueError(f"{name}: expected at least one value, or None for no condition")
            if name in _LISTS and items:
                items = [",".join(items)]
            yield from (f"{flag}={item}" for item in items)
        else:
            yield f"{flag}={text(value)}"
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def _mapping(command: str, name: str, flag: str, value: Mapping[Any, Any]) -> Iterator[str]:
    pairs = {text(key): None if item is None else text(item) for key, item in value.items()}
    if command == "mb" and name == "tags":
        for key, item in pairs.items():
            yield from (flag, key, item or "")
    elif name in _MAPS and command != "find":
        # Without pairs `set` removes all, and others leave as it is what they copy.
        if pairs or (command, name) == ("set", "metadata"):
            yield f"{flag}={json.dumps(pairs) if pairs else ''}"
    else:
        for key, item in pairs.items():
            yield f"{flag}={key}" if item is None else f"{flag}={key}={item}"


def _is_sequence(value: object) -> bool:
    if isinstance(value, (str, bytes, bytearray, memoryview, os.PathLike)):
        return False
    return isinstance(value, Iterable)


def _time(value: datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat()
    return value.astimezone(timezone.utc).replace(tzinfo=None).isoformat() + "Z"


def _moment(name: str, value: timedelta) -> datetime | timedelta:
    """What a period means. An age of whole seconds is one on the command line, too."""
    if name in _AGES and not value % timedelta(seconds=1):
        return value
    now = datetime.now(timezone.utc)
    return now + value if name in _FROM_NOW else now - value


def _period(value: timedelta) -> str:
    seconds, rest = divmod(value, timedelta(seconds=1))
    if not rest:
        return f"{seconds}s"
    milliseconds = round(value / timedelta(milliseconds=1))
    if not milliseconds:
        raise TypeError(f"expected a period of a millisecond or more, not {value!r}")
    return f"{milliseconds}ms"
