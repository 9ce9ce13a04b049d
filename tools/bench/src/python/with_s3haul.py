"""The workloads with s3haul. Server and keys come from the environment."""

import json
import os
import sys

import s3haul

URL = f"s3://{os.environ['BENCH_BUCKET']}/{os.environ['BENCH_PREFIX']}"
FOLDER = os.environ["BENCH_FOLDER"]


def start():
    s3haul.Client()
    return 0, 0


def list_arrow():
    from pyarrow import compute

    table = s3haul.list(URL).to_arrow()
    return table.num_rows, compute.sum(table["size"]).as_py()


def list_pandas():
    frame = s3haul.list(URL).to_pandas()
    return len(frame), frame["size"].sum()


def read():
    with open(os.environ["BENCH_KEYS"]) as lines:
        objects = dict(s3haul.get_many(lines.read().split(), root=URL))
    return len(objects), sum(map(len, objects.values()))


def upload():
    result = s3haul.copy(FOLDER, URL, recursive=True).raise_for_failures()
    return result.done, result.bytes


def download():
    result = s3haul.copy(URL, FOLDER, recursive=True).raise_for_failures()
    return result.done, result.bytes


def sync():
    result = s3haul.sync(FOLDER, URL).raise_for_failures()
    return result.done, result.bytes


objects, size = globals()[sys.argv[1]]()
print(json.dumps({"objects": objects, "bytes": int(size)}))
