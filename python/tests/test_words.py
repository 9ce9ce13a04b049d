"""Python values as words of the command line."""

from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from s3haul import _words


def words(options: object, head: str = "cp") -> list[str]:
    return _words.words([head], [], options)  # type: ignore[arg-type]


class Index:
    """A whole number, as numpy has them."""

    def __index__(self) -> int:
        return 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"delete": True, "dryrun": False, "regex": None, "show": []}, ["--delete"]),
        ({"max_delete": "5%", "page_size": 0}, ["--max-delete=5%", "--page-size=0"]),
        ({"content_encoding": ""}, ["--content-encoding="]),
        ({"min_size": 1.5e9}, ["--min-size=1500000000"]),
        ({"min_size": Index(), "max_size": Index()}, ["--min-size=3", "--max-size=3"]),
        ({"regex": ["a", "-b"]}, ["--regex=a", "--regex=-b"]),
        ({"from_": Path("list.csv")}, ["--from=list.csv"]),
        ({"storage_classes": ["GLACIER"]}, ["--source-storage-class=GLACIER"]),
        ({"newer_than": date(2030, 1, 31)}, ["--newer-than=2030-01-31"]),
        ({"newer_than": timedelta(days=2)}, ["--newer-than=172800s"]),
        ({"latency": timedelta(milliseconds=30)}, ["--latency=30ms"]),
        ({"latency": timedelta(seconds=3605.125)}, ["--latency=3605125ms"]),
        (
            {"as_of": datetime(2030, 1, 31, 13, tzinfo=timezone(timedelta(hours=1)))},
            ["--as-of=2030-01-31T12:00:00Z"],
        ),
        ({"older_than": datetime(2030, 1, 31, 13)}, ["--older-than=2030-01-31T13:00:00"]),
        ({"tags": {"a": "b", "c": 1}}, ['--tags={"a": "b", "c": "1"}']),
        ({"tags": [{"a": "b"}, "c=1"]}, ['--tags={"a": "b"}', "--tags=c=1"]),
        ({"exclude": [], "include": (), "filters": [], "grants": []}, []),
        ({"metadata": {}}, []),
        ({"metadata": {"a,b": "c=d"}}, ['--metadata={"a,b": "c=d"}']),
        ({"remove_metadata": ["a", "b"]}, ["--remove-metadata=a,b"]),
        ({"exclude": ["*"], "include": ["*.csv"]}, ["--exclude=*", "--include=*.csv"]),
        (
            {"filters": [("include", "a"), ("exclude", "b")]},
            ["--include=a", "--exclude=b"],
        ),
    ],
)
def test_options_are_flags(options: dict[str, object], expected: list[str]) -> None:
    assert words(options) == ["cp", *expected]


def test_periods_are_ages_or_begin_now() -> None:
    for name, period, shift in [
        ("newer_than", timedelta(seconds=1.5), timedelta(seconds=-1.5)),
        ("retain_until", timedelta(days=2), timedelta(days=2)),
        ("expires", timedelta(seconds=90.25), timedelta(seconds=90.25)),
    ]:
        before = datetime.now(timezone.utc)
        [_, word] = words({name: period})
        moment = datetime.fromisoformat(word.split("=")[1].replace("Z", "+00:00")) - shift
        assert before <= moment <= datetime.now(timezone.utc), word


def test_some_commands_have_flags_of_their_own() -> None:
    assert words({"names": ["*.csv"], "tags": ["a"]}, "find") == ["find", "--name=*.csv", "--tag=a"]
    assert words({"metadata": {"a": None, "b": "c"}}, "find") == [
        "find",
        "--metadata=a",
        "--metadata=b=c",
    ]
    assert words({"metadata": {}}, "set") == ["set", "--metadata="]
    assert words({"tags": {"a": "b"}}, "mb") == ["mb", "--tags", "a", "b"]


def test_paths_come_first_unless_one_looks_like_a_flag() -> None:
    paths = [Path("a"), "s3://b/a"]
    assert _words.words(["sync"], paths, {"delete": True}) == ["sync", "a", "s3://b/a", "--delete"]
    assert _words.words(["rm"], ["--all"], {"dryrun": True}) == ["rm", "--dryrun", "--", "--all"]
    assert _words.words(["cp"], ["-", "s3://b/a"], {}) == ["cp", "-", "s3://b/a"]
    assert _words.words(["ls"], [None], {}) == ["ls"]


@pytest.mark.parametrize(
    "options",
    [{"region": object()}, {"regex": [None]}, {"sse_c_key": b"key"}, {"page_size": [True]}],
)
def test_other_types_are_refused_with_the_name(options: dict[str, object]) -> None:
    with pytest.raises(TypeError, match=next(iter(options))):
        words(options)


@pytest.mark.parametrize("value", [[], (), {}, iter([]), ["p/a", "p/b"], ["p/a"]])
@pytest.mark.parametrize(
    "name", ["from_", "retry_failed", "older_than", "filter", "max_delete", "recursive"]
)
def test_a_sequence_is_not_one_value(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"{name.rstrip('_')}: expected one value"):
        words({name: value}, "rm")


@pytest.mark.parametrize("name", ["regex", "storage_classes", "names"])
def test_no_value_does_not_select_everything(name: str) -> None:
    for nothing in ([], (), iter([])):
        with pytest.raises(ValueError, match=f"{name}: expected at least one"):
            words({name: nothing}, "rm")
    with pytest.raises(TypeError, match="expected values, not dict"):
        words({name: {}}, "rm")


@pytest.mark.parametrize("path", [1, b"a", object()])
def test_paths_are_text_or_paths(path: object) -> None:
    with pytest.raises(TypeError, match="path or an s3:// URL"):
        _words.words(["cp"], [path], {})


def test_filters_have_one_form() -> None:
    with pytest.raises(ValueError, match="order"):
        words({"filters": [("exclude", "*")], "include": ["a"]})
    with pytest.raises(ValueError, match="exclude"):
        words({"filters": [("without", "*")]})
