"""Every parameter of every method is a flag that its command has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
import s3haul
from s3haul import _commands


def methods() -> Iterator[str]:
    for name, method in vars(_commands.Commands).items():
        if not name.startswith("_") and inspect.isfunction(method):
            yield name


def value(annotation: str) -> Any:
    """Some value of a type."""
    if annotation == "bool":
        return True
    if found := re.search(r"Literal\[\s*'([^']*)'|Literal\[\s*\"([^\"]*)\"", annotation):
        one: Any = found[1] or found[2]
    else:
        one = 1 if re.match(r"(Sequence\[)?int", annotation) else "x"
    return [one] if annotation.startswith("Sequence") else one


#: Parameters that are no flags.
PYTHON = ("progress", "engine", "address", "job_folder")
#: Those that asyncio does not have.
ENGINE = PYTHON[1:]


@pytest.mark.parametrize("name", list(methods()))
def test_parameters_are_flags(name: str) -> None:
    client = s3haul.Client(region="us-east-1", endpoint_url="http://127.0.0.1:1")
    parameters = inspect.signature(getattr(_commands.Commands, name)).parameters.values()
    flags = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in PYTHON]
    paths = ["s3://bucket/a" for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
    assert len(flags) >= 4
    for flag in flags:
        given = [("exclude", "x")] if flag.name == "filters" else value(flag.annotation)
        if (name, flag.name) == ("make_bucket", "tags"):
            given = {"key": "value"}
        try:
            client.job(name, *paths, **{flag.name: given})
        except s3haul.S3haulError as error:
            # Alone it may make no sense.
            assert "unexpected argument" not in str(error), flag
            assert "a value is required" not in str(error), flag


@pytest.mark.parametrize("name", list(methods()))
def test_one_value_is_no_list(name: str) -> None:
    client = s3haul.Client(region="us-east-1", endpoint_url="http://127.0.0.1:1")
    parameters = inspect.signature(getattr(_commands.Commands, name)).parameters.values()
    paths = ["s3://bucket/a" for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
    for flag in parameters:
        is_one = flag.kind is flag.KEYWORD_ONLY and "Sequence" not in flag.annotation
        # A list of names is written as one value.
        if is_one and flag.name not in (*PYTHON, "remove_metadata"):
            with pytest.raises(TypeError, match="expected one value"):
                client.job(name, *paths, **{flag.name: []})


@pytest.mark.parametrize("name", list(methods()))
def test_both_kinds_have_the_same_parameters(name: str) -> None:
    one = inspect.signature(getattr(_commands.Commands, name))
    other = inspect.signature(getattr(_commands.AsyncCommands, name))
    shared = [p for p in one.parameters.values() if p.name not in ENGINE]
    assert shared == list(other.parameters.values())


@pytest.mark.parametrize("name", list(methods()))
def test_the_module_has_every_command(name: str) -> None:
    assert name in s3haul.__all__
    assert name in s3haul.aio.__all__
    assert getattr(s3haul, name).__doc__
