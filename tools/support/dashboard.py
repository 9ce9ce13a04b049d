"""The dashboard of docs/grafana over a real run, as a picture: `cargo xtask screenshots`.

A bucket with latency and a limit gets files and gives them back, Prometheus scrapes the command
meanwhile, and the queries of the dashboard are drawn as they are laid out there. The drawing is not
Grafana's. The arguments are the command and the file of the picture.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
from matplotlib.ticker import EngFormatter, FuncFormatter, MaxNLocator, PercentFormatter

COMMAND, PICTURE = (Path(word).resolve() for word in sys.argv[1:])
ROOT = Path(__file__).resolve().parents[2]
#: Seed of sizes and of the weather.
SEED = 20261125
#: Seconds between two scrapes, and what rates are taken over.
SCRAPE_S, RATE_S = 1, 5
#: What limits: the run is to show more than one thing.
WEATHER = {
    "seed": SEED,
    "latency": {"median_ms": 40, "sigma": 0.4, "tail_probability": 0.005, "tail_factor": 20},
    "bandwidth": {"total_bytes_per_s": 60_000_000},
    "partitions": {"writes_per_s": 400, "reads_per_s": 900, "split_after_s": 12},
    "faults": [{"fault": "internal_error", "probability": 0.002}],
}
#: The lines of the run: up, down, and away.
LINES = [
    "cp --recursive in s3://archive/day",
    "cp --recursive s3://archive/day out",
    "rm --recursive s3://archive/day",
]
SMALL, LARGE = 9000, 24
#: Inches of a column and of a row of the dashboard's grid, which has 24 columns.
COLUMN, ROW = 0.62, 0.42
COLOURS = ["#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#b877d9", "#37872d", "#8ab8ff"]
UNITS = {
    "bytes": EngFormatter("B"),
    "Bps": EngFormatter("B/s"),
    "reqps": EngFormatter("/s"),
    "s": EngFormatter("s"),
    "percentunit": PercentFormatter(1.0),
    "short": FuncFormatter(lambda value, _: f"{value:g}"),
}


def write_files(folder: Path) -> None:
    draw = random.Random(SEED)
    for number in range(SMALL):
        path = folder / f"{number % 60:02}" / f"{number:05}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(draw.randbytes(draw.randint(1, 40_000)))
    for number in range(LARGE):
        (folder / f"large-{number:02}").write_bytes(draw.randbytes(1 << 20) * 24)


def started(stack: ExitStack, words: list[Any], **how: Any) -> subprocess.Popen[str]:
    """A process that ends with the stack."""
    process = subprocess.Popen([str(word) for word in words], text=True, **how)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    return process


def serve(stack: ExitStack, folder: Path) -> dict[str, str]:
    """Starts a server; gives the variables that lead to it."""
    (folder / "weather.json").write_text(json.dumps(WEATHER))
    words = [COMMAND, "serve", "--memory", "--address", "127.0.0.1:0"]
    server = started(stack, [*words, "--weather", folder / "weather.json"], stdout=subprocess.PIPE)
    assert server.stdout is not None
    lines = [server.stdout.readline().strip() for _ in range(5)]
    pairs = (line.removeprefix("export ").split("=", 1) for line in lines)
    return dict(pairs) | {"AWS_EC2_METADATA_DISABLED": "true"}


def prometheus(stack: ExitStack, folder: Path, target: str) -> str:
    """Starts a Prometheus that scrapes an address; gives its own."""
    config = folder / "prometheus.json"
    jobs = [{"job_name": "s3haul", "static_configs": [{"targets": [target]}]}]
    times = {"scrape_interval": f"{SCRAPE_S}s", "scrape_timeout": f"{SCRAPE_S}s"}
    config.write_text(json.dumps({"global": times, "scrape_configs": jobs}))
    words = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
    log = folder / "prometheus.log"
    with log.open("w") as file:
        started(stack, [*words, "--web.listen-address=127.0.0.1:0"], stderr=file)
    while True:
        for line in log.read_text().splitlines():
            if 'msg="Listening on"' in line:
                return line.split("address=")[1].strip()
        time.sleep(0.1)


def series(address: str, query: str, begin: float, end: float) -> list[dict[str, Any]]:
    """What a query of the dashboard gives over a time."""
    query = query.replace("$instance", ".*").replace("$__rate_interval", f"{RATE_S}s")
    asked = {"query": query, "start": begin, "end": end, "step": SCRAPE_S}
    url = f"http://{address}/api/v1/query_range?{urllib.parse.urlencode(asked)}"
    with urllib.request.urlopen(url) as answer:
        found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return found


def legend(form: str, labels: dict[str, str]) -> str:
    for name, value in labels.items():
        form = form.replace("{{" + name + "}}", value)
    return form


def draw(panels: list[dict[str, Any]], address: str, begin: float, end: float) -> None:
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    figure = plt.figure(figsize=(24 * COLUMN, rows * ROW), facecolor="#111217")
    for panel in panels:
        at, defaults = panel["gridPos"], panel["fieldConfig"]["defaults"]
        left, top = at["x"] / 24, 1 - at["y"] / rows
        width, height = at["w"] / 24, at["h"] / rows
        place = (left + 0.04, top - height + 0.065, width - 0.05, height - 0.09)
        axes = figure.add_axes(place, facecolor="#181b1f")
        axes.set_title(panel["title"], loc="left", fontsize=9, color="#ccccdc")
        lines = []
        for target in panel["targets"]:
            for one in series(address, target["expr"], begin, end):
                points = [(float(at) - begin, float(value)) for at, value in one["values"]]
                lines.append((legend(target["legendFormat"], one["metric"]), points))
        unit = UNITS[defaults["unit"]]
        if panel["type"] == "stat":
            shown = f"{lines[0][1][-1][1]:.0f} s" if lines else "No data"
            axes.text(0.5, 0.5, shown, ha="center", va="center", fontsize=28, color=COLOURS[0])
            axes.set_axis_off()
            continue
        if defaults["custom"]["stacking"]["mode"] == "normal":
            times = sorted({at for _, points in lines for at, _ in points})
            heights = [[dict(points).get(at, 0.0) for at in times] for _, points in lines]
            names = [name for name, _ in lines]
            axes.stackplot(times, heights, labels=names, colors=COLOURS, alpha=0.7)
        else:
            for (name, points), colour in zip(lines, COLOURS * 3):
                axes.plot(*zip(*points), label=name, color=colour, linewidth=1.2)
        axes.set_xlim(0, end - begin)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f} s"))
        axes.yaxis.set_major_formatter(unit)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.tick_params(colors="#9a9aa6", labelsize=7, length=0)
        axes.grid(color="#2c3235", linewidth=0.5)
        axes.spines[:].set_visible(False)
        if lines:
            below = {"loc": "upper left", "bbox_to_anchor": (-0.08, -0.1)}
            axes.legend(fontsize=6.5, labelcolor="#ccccdc", frameon=False, ncols=4, **below)


def run(job: subprocess.Popen[str]) -> None:
    """Has a waiting command do the lines, one after the other."""
    assert job.stdin is not None and job.stdout is not None
    for line in LINES:
        job.stdin.write(f"{line} --json --only-show-errors\n")
        job.stdin.flush()
        for event in job.stdout:
            if '"event":"summary"' in event:
                print(event.strip())
                break


def main() -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        write_files(folder / "in")
        environment = os.environ | serve(stack, folder)
        subprocess.run([COMMAND, "mb", "s3://archive"], env=environment, check=True)
        words = [COMMAND, "run", "-", "--jobs", "1", "--metrics-listen", "127.0.0.1:0"]
        pipes = {name: subprocess.PIPE for name in ("stdin", "stdout", "stderr")}
        job = started(stack, words, cwd=folder, env=environment, **pipes)
        assert job.stderr is not None
        note = next(line for line in job.stderr if "metrics are at" in line)
        target = note.split("//")[1].split("/")[0]
        address = prometheus(stack, folder, target)
        begin = time.time()
        run(job)
        end = time.time()
        time.sleep(2 * SCRAPE_S)
        dashboard = json.loads((ROOT / "docs/grafana/s3haul.json").read_text())
        draw(dashboard["panels"], address, begin, end)
        plt.savefig(PICTURE, dpi=90)
        print(f"{PICTURE}: {PICTURE.stat().st_size} bytes, a run of {end - begin:.0f} s")


if __name__ == "__main__":
    main()
