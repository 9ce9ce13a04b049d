"""What `summarize` counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import _html


class Summary(Mapping[str, Any]):
    """Counts of what is under a URL, in the form of the command's JSON."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = dict(document)

    def __getitem__(self, name: str) -> Any:
        return self._document[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    @property
    def objects(self) -> int:
        """Number of objects."""
        return int(self["total"]["objects"])

    @property
    def bytes(self) -> int:
        """Their bytes."""
        return int(self["total"]["bytes"])

    def _url(self) -> str:
        return f"s3://{self['bucket']}/{self['prefix']}"

    def __repr__(self) -> str:
        return f"<Summary of {self._url()}: {self.objects:,} objects, {_html.size(self.bytes)}>"

    def _repr_html_(self) -> str:
        parts = [_html.table(repr(self).strip("<>"), [("at", self["at"])])]
        for name in ("folders", "storage_classes", "extensions", "ages"):
            found = self.get(name) or []
            rows = [
                (row.get("name", ""), row.get("objects"), _html.size(row.get("bytes", 0)))
                for row in found
                if row.get("objects")
            ]
            if rows:
                title = name.replace("_", " ")
                parts.append(_html.table(title, rows, ("name", "objects", "size")))
        return "".join(parts)
