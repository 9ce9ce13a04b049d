"""The Python blocks of docs/python.md run in their order, in one namespace, against `serve()`."""

from __future__ import annotations

import os
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import s3haul

FOLDER = Path(os.environ.get("S3HAUL_TEST_DOCS") or Path(__file__).parents[2] / "docs")


def stand_ins() -> dict[str, types.ModuleType]:
    """Decorators in place of those of Airflow and Dagster, which are too heavy for a test."""

    def decorator(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and callable(args[0]):
            return args[0]
        return lambda function: function

    def module(name: str, **members: Any) -> types.ModuleType:
        found = types.ModuleType(name)
        found.__dict__.update(members)
        return found

    class IterableDataset:
        pass

    class MaterializeResult:
        def __init__(self, metadata: dict[str, Any]) -> None:
            self.metadata = metadata

    data = module("torch.utils.data", IterableDataset=IterableDataset)
    return {
        "airflow": module("airflow"),
        "airflow.sdk": module("airflow.sdk", task=decorator),
        "dagster": module("dagster", asset=decorator, MaterializeResult=MaterializeResult),
        "torch": module("torch"),
        "torch.utils": module("torch.utils"),
        "torch.utils.data": data,
    }


def test_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("duckdb", "pandas", "polars", "pyarrow"):
        pytest.importorskip(package)
    page = FOLDER / "python.md"
    text = page.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S))
    assert len(blocks) > 10
    for name, module in stand_ins().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "tour"}
    with s3haul.serve() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        for block in blocks:
            # Lines of errors are those of the page.
            source = "\n" * text.count("\n", 0, block.start(1)) + block[1]
            exec(compile(source, str(page), "exec"), namespace)
        # Relations of DuckDB are to end before the interpreter does.
        namespace.clear()
