"""Plans: what would be done, changed by other programs, and applied."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import s3haul
from conftest import Bucket
from s3haul import plan

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.compute")


def test_a_plan_is_applied(bucket: Bucket, files: Path) -> None:
    made = plan.sync(files, bucket.url(), client=bucket.client)
    assert bucket.objects() == {}
    assert made.summary()["actions"] == {"upload": {"objects": 3, "bytes": 6}}
    assert made.to_arrow().num_rows == 3
    assert polars.DataFrame(made)["action"].to_list() == ["upload"] * 3
    assert made.to_polars().shape == made.to_pandas().shape
    assert "upload" in made._repr_html_()
    result = made.apply()
    assert (result.done, result.bytes) == (3, 6)
    assert len(bucket.objects()) == 3


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_rows_can_be_left_out(own: Bucket, files: Path, kind: str) -> None:
    made = plan.copy(files, own.url(), recursive=True, client=own.client)
    if kind == "arrow":
        table = made.to_arrow()
        rows = table.filter(pyarrow.compute.less(table["source_size"], 3))
    elif kind == "pandas":
        frame = made.to_pandas()
        rows = frame[frame.source_size < 3]
    else:
        rows = made.to_polars().filter(polars.col("source_size") < 3)
    fewer = s3haul.Plan.from_arrow(rows, client=own.client)
    assert fewer.apply().done == 2
    assert sorted(own.objects()) == ["a.txt", "b.txt"]


def test_what_has_changed_is_left_alone(own: Bucket, files: Path) -> None:
    made = plan.sync(files, own.url(), client=own.client)
    (files / "a.txt").write_bytes(b"changed since")
    result = made.apply()
    assert (result.done, result.failed) == (2, 1)
    with pytest.raises(s3haul.TransferFailed, match="changed"):
        result.raise_for_failures()


def test_plans_go_with_their_object_unless_kept(own: Bucket, files: Path, tmp_path: Path) -> None:
    kept = plan.sync(files, own.url(), client=own.client, path=tmp_path / "kept.parquet")
    temporary = plan.sync(files, own.url(), client=own.client)
    paths = [kept.path, temporary.path]
    assert all(path.is_file() for path in paths)
    del kept, temporary
    gc.collect()
    assert [path.exists() for path in paths] == [True, False]
    assert not paths[1].parent.exists()
    assert s3haul.Plan(paths[0], own.client).apply().done == 3
    with pytest.raises(FileNotFoundError):
        s3haul.Plan(paths[1])


def test_plans_that_go_with_their_object_have_no_journal(
    own: Bucket, files: Path, tmp_path: Path
) -> None:
    """What was printed as the command that goes on could not: the plan was gone."""
    state = tmp_path / "state" / "s3haul" / "jobs"
    few = [{"path": tmp_path / "kept.parquet"}, {}]
    for number, options in enumerate(few):
        made = plan.sync(files, own.url(f"{number}/"), client=own.client, **options)
        folder = tmp_path / f"journals{number}"
        assert made.apply(journal=folder).done == 3
        assert folder.is_dir()
    many = tmp_path / "many"
    many.mkdir()
    for number in range(1100):
        (many / f"f{number}").write_bytes(b"")
    assert plan.sync(many, own.url("many/"), client=own.client).apply().done == 1100
    assert not state.exists()


def test_other_calls_have_plans(own: Bucket) -> None:
    own.put(a=b"1", b=b"2")
    urls = {"client": own.client, "recursive": True}
    made = {
        "delete": plan.remove(own.url(), **urls),
        "copy": plan.move(own.url(), own.url("x/"), exclude=["x/*"], **urls),
        "tag": plan.tag(own.url(), add={"k": "v"}, **urls),
        "set": plan.set(own.url(), content_type="x/y", **urls),
    }
    found = {action: list(made[action].summary()["actions"]) for action in made}
    assert found == {action: [action] for action in made}
    assert made["tag"].apply().done == 2
    assert own.client.tag(own.url("a")) == {"k": "v"}
    with pytest.raises(ValueError, match="one of"):
        plan.tag(own.url("a"), client=own.client)


def test_plans_that_cannot_be_made(own: Bucket, files: Path, tmp_path: Path) -> None:
    with pytest.raises(s3haul.S3haulError):
        plan.sync(files, "s3://no-such-bucket/a", client=own.client)
    with pytest.raises(s3haul.UsageError):
        plan.sync("a", "b", client=own.client)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(s3haul.S3haulError):
        s3haul.Plan(tmp_path / "broken.parquet", own.client).apply()
