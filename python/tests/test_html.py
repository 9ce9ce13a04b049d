"""Pages to look at, in a headless Chromium: what they show, and that nothing in a key ever runs.

`S3HAUL_TEST_KEYS` names a file with keys of a real bucket, one a line with its size after a tab;
without it, keys like those of a Debian archive are made up. With it, the page has to be ready
within a second.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import s3haul

from conftest import Bucket

webdriver = pytest.importorskip("selenium.webdriver")

#: Bytes of a page at most, and milliseconds until it can be used.
BYTES_MAX, READY_MS_MAX = 3_000_000, 1000
#: Seed of the keys that are made up.
SEED = 20261125

HOSTILE = [
    "<script>window.ran=1</script>/<img src=x onerror=window.ran=2>.txt",
    "</script><script>window.ran=3</script>/k",
    "<!--<script>/k",
    "\"'`;window.ran=4;//quotes\\/k",
    "{{data}}{{script}}/k",
    "\u202egpj.exe/\u2066k",
    "a\nb\r\t/line",
    "bell\x07\x1b[31m/k",
    "zero\u200bwidth/k",
    "العربية/ملف",
    "//empty//names",
    "😀/e\u0301",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    # As root, and where /dev/shm is small.
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(flag)
    options.add_argument("--window-size=1400,1000")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path="/usr/bin/chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


class Page:
    """A page in the browser."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.browser = browser
        self.path = path
        browser.get(path.as_uri())
        self.check()

    def run(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def one(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def check(self) -> None:
        """Nothing was fetched, nothing failed, no script of a key ran."""
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            parameters = message["params"]
            # The browser has a page of its own before.
            if parameters.get("documentURL") == self.path.as_uri():
                assert parameters["request"]["url"] == self.path.as_uri()
        assert self.browser.get_log("browser") == []
        assert self.run("return window.ran") is None
        assert self.run("return document.scripts.length") == 2
        assert self.run("return document.images.length") == 0
        assert self.run("return document.documentElement.dataset.ready") is not None

    def fact(self, name: str) -> int:
        return int(self.one(f'#facts dd[data-fact="{name}"]').get_attribute("data-value"))

    def rows(self) -> dict[str, tuple[int, ...]]:
        """Paths of the folders in the table, and their figures."""
        return {
            path: tuple(figures)
            for path, figures in self.run(
                """return [...document.querySelectorAll('#folders tbody tr[data-path]')].map(
                (row) => [row.dataset.path, [...row.querySelectorAll('td[data-value]')].map(
                (cell) => Number(cell.dataset.value))])"""
            )
        }

    def others(self) -> tuple[int, ...]:
        """What is in no folder of the table."""
        cells = self.all("#folders tr.others td[data-value]")
        return tuple(int(cell.get_attribute("data-value")) for cell in cells)

    def section(self, title: str) -> list[list[str]]:
        """Cells of a table below the folders: numbers where there are any, else texts."""
        return self.run(
            """return [...document.querySelectorAll(`[data-section="${arguments[0]}"] tbody tr`)]
            .map((row) => [...row.querySelectorAll('td:not(.track)')].map(
            (cell) => cell.dataset.value ?? cell.textContent))""",
            title,
        )

    def shown(self) -> str:
        return str(self.one("#path").text.replace("\n", ""))

    def status(self) -> str:
        return str(self.run("return document.getElementById('status').textContent"))

    def open(self, path: str) -> None:
        row = self.run(
            """return [...document.querySelectorAll('#folders tbody tr[data-path]')].find(
            (row) => row.dataset.path === arguments[0])""",
            path,
        )
        assert row is not None, f"no row {path!r}"
        row.find_element("css selector", "button").click()


def debian_keys(path: Path) -> Path:
    """Keys like those of a Debian archive: real ones, where a file of them is named."""
    named = os.environ.get("S3HAUL_TEST_KEYS")
    if named:
        return Path(named)
    draw = random.Random(SEED)
    keys = {}
    for number in range(2000):
        stem = "".join(draw.choice("abcdefghilmnoprstuvz") for _ in range(draw.randint(3, 9)))
        name = f"lib{stem}{number}" if number % 4 == 0 else f"{stem}{number}"
        letter = name[:4] if name.startswith("lib") else name[0]
        folder = f"pool/{draw.choice(['main', 'main', 'contrib'])}/{letter}/{name}"
        for version in range(draw.randint(1, 3)):
            for end in ("_amd64.deb", "_arm64.deb", ".dsc", ".orig.tar.xz"):
                keys[f"{folder}/{name}_{version}.{number % 9}-1{end}"] = draw.randint(1, 1 << 24)
    lines = [f"{key}\t{size}\n" for key, size in sorted(keys.items())]
    path.write_text("".join(lines))
    return path


def level(summary: s3haul.Summary, above: str) -> dict[str, tuple[int, int]]:
    """The folders that are right in another, as the summary has them."""
    return {
        row["name"]: (row["bytes"], row["objects"])
        for row in summary["folders"]
        if row["name"].startswith(above) and row["name"][len(above) :].count("/") == 1
    }


def same_rows(page: Page, summary: s3haul.Summary, above: str) -> None:
    """The table has the folders of the summary, the greatest first, and nothing is left over."""
    expected = level(summary, above)
    rows = page.rows()
    assert {path: figures[:2] for path, figures in rows.items()} == expected
    sizes = [figures[0] for figures in rows.values()]
    assert sizes == sorted(sizes, reverse=True)
    inside = next(
        ((row["bytes"], row["objects"]) for row in summary["folders"] if row["name"] == above),
        (summary["total"]["bytes"], summary["total"]["objects"]),
    )
    for index in range(2):
        assert page.others()[index] == inside[index] - sum(row[index] for row in rows.values())


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, s3haul.Summary]:
    folder = tmp_path_factory.mktemp("archive")
    with s3haul.serve(keys=debian_keys(folder / "keys")) as server:
        client = s3haul.Client(
            endpoint_url=server.url,
            region="us-east-1",
            credentials=(server.access_key, server.secret_key),
        )
        page = folder / "archive.html"
        return page, client.summarize("s3://synthetic/", depth=3, html=page)


def test_an_archive_is_shown_as_it_is(browser: Any, archive: Any) -> None:
    path, summary = archive
    assert path.stat().st_size < BYTES_MAX
    page = Page(browser, path)
    if os.environ.get("S3HAUL_TEST_KEYS"):
        ready = int(page.run("return document.documentElement.dataset.ready"))
        assert ready < READY_MS_MAX
    assert (page.fact("Objects"), page.fact("Bytes")) == (summary.objects, summary.bytes)
    same_rows(page, summary, "")
    page.one("#map > button").click()
    assert "pool/" in page.shown()
    page.one("#path button").click()
    page.open("pool/")
    same_rows(page, summary, "pool/")
    page.open("pool/main/")
    same_rows(page, summary, "pool/main/")
    assert page.status().startswith("s3://synthetic/pool/main/: ")
    page.check()


def test_other_tables_equal_the_summary(browser: Any, archive: Any) -> None:
    path, summary = archive
    page = Page(browser, path)
    counts = lambda rows: [[str(row["objects"]), str(row["bytes"])] for row in rows]  # noqa: E731
    for title, rows in [
        ("Objects by size", summary["sizes"]["histogram"]),
        ("Objects by age", summary["ages"]),
        ("Objects by storage class", summary["storage_classes"]),
    ]:
        assert [row[1:3] for row in page.section(title)] == counts(rows), title
    largest = [[row["key"], str(row["size"])] for row in summary["largest"]]
    assert [row[:2] for row in page.section("Largest objects")] == largest


def test_folders_are_searched_and_sorted_and_measured_otherwise(
    browser: Any, archive: Any
) -> None:
    path, summary = archive
    page = Page(browser, path)
    page.one("#search").send_keys("POOL/MAIN/LIB")
    found = page.rows()
    assert found
    assert all("pool/main/lib" in name for name in found)
    assert "folders found" in page.one("#folders caption").text
    page.one("#search").clear()
    page.one("#search").send_keys("no such folder")
    assert page.rows() == {}
    page.run("document.getElementById('search').value = ''")
    page.one("#path button").click()
    page.open("pool/")
    page.open("pool/main/")
    page.all("#metrics input")[1].click()
    counts = [figures[1] for figures in page.rows().values()]
    assert counts == sorted(counts, reverse=True)
    largest = page.one("#map > button").get_attribute("aria-label")
    assert largest.startswith(next(iter(page.rows())).removeprefix("pool/main/"))
    page.one("#folders [data-sort='-1']").click()
    assert list(page.rows()) == sorted(level(summary, "pool/main/"))
    assert page.one("#folders th[aria-sort]").get_attribute("aria-sort") == "ascending"
    costs = [figures[2] for figures in page.rows().values()]
    total = sum(costs) + page.others()[2]
    whole = page.run("return page.tree.values[2][page.tree.names.indexOf('main/')]")
    # Each is rounded to a millionth.
    assert abs(total - whole) <= len(costs)


def test_the_keyboard_is_enough(browser: Any, archive: Any) -> None:
    path, _ = archive
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    page = Page(browser, path)
    page.run("document.querySelector('#map button').focus()")
    press = lambda *pressed: browser.switch_to.active_element.send_keys(*pressed)  # noqa: E731
    press(keys.ENTER)
    assert page.shown().endswith("pool/")
    press(keys.ENTER)
    inside = page.shown()
    first = browser.switch_to.active_element.get_attribute("data-node")
    press(keys.ARROW_RIGHT)
    second = browser.switch_to.active_element.get_attribute("data-node")
    assert first != second
    press(keys.ENTER)
    assert page.shown() != inside
    browser.switch_to.active_element.send_keys(keys.BACKSPACE)
    assert page.shown() == inside
    assert browser.switch_to.active_element.get_attribute("data-node") == second
    assert len(page.all("#map > button[tabindex='0']")) == 1


def test_hostile_names_are_shown_and_never_run(browser: Any, own: Bucket, tmp_path: Path) -> None:
    for key in HOSTILE:
        own.boto3.put_object(Bucket=own.name, Key=key, Body=b"x" * 9)
    path = tmp_path / "hostile.html"
    summary = own.client.summarize(own.url(), depth=4, top=20, html=path)
    page = Page(browser, path)
    assert page.fact("Objects") == len(HOSTILE)
    same_rows(page, summary, "")
    page.all("#metrics input")[1].click()
    for name in level(summary, ""):
        page.open(name)
        same_rows(page, summary, name)
        page.one("#path button").click()
    page.check()
    largest = {row[0] for row in page.section("Largest objects")}
    assert "\\u{202e}gpj.exe/\\u{2066}k" in largest
    assert "a\\u{a}b\\u{d}\\u{9}/line" in largest
    assert HOSTILE[0] in largest
    page.one("#search").send_keys("<script>window.ran=1")
    assert list(page.rows()) == ["<script>window.ran=1</", "<script>window.ran=1</script>/"]


def test_nothing_is_a_page_too(browser: Any, own: Bucket, tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    own.client.summarize(own.url(), html=path)
    page = Page(browser, path)
    assert (page.fact("Objects"), page.fact("Bytes"), page.rows()) == (0, 0, {})
    assert page.all("#map > *") == []
    page.all("#metrics input")[2].click()
    page.one("#search").send_keys("x")
    page.check()


def test_growth_since_an_earlier_summary(browser: Any, own: Bucket, tmp_path: Path) -> None:
    own.put(**{"kept/a": b"a", "gone/b": b"bb", "more/c": b"ccc"})
    earlier = own.client.summarize(own.url(), depth=2)
    before = tmp_path / "earlier.json"
    before.write_text(json.dumps(dict(earlier)))
    own.boto3.delete_object(Bucket=own.name, Key="gone/b")
    own.put(**{"more/d": b"d" * 100, "new/e": b"eeee"})
    path = tmp_path / "growth.html"
    own.client.summarize(own.url(), html=path, since=[before])
    page = Page(browser, path)
    changed = page.section(f"What changed most since {earlier['at']}")
    assert [row[0] for row in changed] == ["more/", "new/", "gone/"]
    assert [row[3] for row in changed] == ["100", "4", "-2"]
    assert [row[1:] for row in page.section("Growth")] == [["6", "3"], ["108", "4"]]
    page.run("document.getElementById('colours').value = 2")
    page.run("document.getElementById('colours').dispatchEvent(new Event('change'))")
    labels = page.run(
        """return Object.fromEntries([...document.querySelectorAll('#folders tr[data-path]')]
        .map((row) => [row.dataset.path, row.lastElementChild.textContent]))"""
    )
    assert labels == {"kept/": "about the same", "more/": "more than double", "new/": "new"}
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**dict(earlier), "bucket": "another"}))
    with pytest.raises(s3haul.UsageError, match="it is of `s3://another/`"):
        own.client.summarize(own.url(), html=path, since=[other])
