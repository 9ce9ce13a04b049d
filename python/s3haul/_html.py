"""Tables for notebooks. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

#: Rows that a table shows at most.
ROWS_MAX = 20

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def _escape(text: str) -> str:
    """The text without markup."""
    # With all names of characters it takes long to import.
    import html

    return html.escape(text)


def table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """A table with a title; the first cell of each row is its name."""
    parts = [f"<table><caption>{_escape(title)}</caption>"]
    if header:
        cells = "".join(f"<th>{_escape(name)}</th>" for name in header)
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for first, *others in rows:
        cells = "".join(f"<td>{_escape(_text(cell))}</td>" for cell in others)
        parts.append(f"<tr><th>{_escape(_text(first))}</th>{cells}</tr>")
    parts.append("</tbody></table>")
    return "".join(parts)


def size(count: float) -> str:
    """A number of bytes for people."""
    value, unit = float(count), 0
    while abs(value) >= 1024 and unit + 1 < len(_UNITS):
        value, unit = value / 1024, unit + 1
    return f"{count:,.0f} bytes" if unit == 0 else f"{value:,.1f} {_UNITS[unit]}"


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return f"{cell:,}"
    return str(cell)
