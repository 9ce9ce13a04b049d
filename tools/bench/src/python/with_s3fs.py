"""The workloads with s3fs, whose calls take many files each."""

import json
import os
import sys

from s3fs import S3FileSystem

PATH = f"{os.environ['BENCH_BUCKET']}/{os.environ['BENCH_PREFIX']}"
FOLDER = os.environ["BENCH_FOLDER"]
FILES = S3FileSystem(config_kwargs={"s3": {"addressing_style": "path"}})


def start():
    return 0, 0


def list_arrow():
    import pyarrow
    from pyarrow import compute

    table = pyarrow.Table.from_pylist(list(FILES.find(PATH, detail=True).values()))
    return table.num_rows, compute.sum(table["size"]).as_py()


def list_pandas():
    import pandas

    frame = pandas.DataFrame(FILES.find(PATH, detail=True).values())
    return len(frame), frame["size"].sum()


def read():
    with open(os.environ["BENCH_KEYS"]) as lines:
        objects = FILES.cat([PATH + key for key in lines.read().split()])
    return len(objects), sum(map(len, objects.values()))


def local_sizes():
    files = (os.path.join(folder, name) for folder, _, names in os.walk(FOLDER) for name in names)
    return [os.path.getsize(file) for file in files]


def upload():
    FILES.put(f"{FOLDER}/", PATH, recursive=True)
    sizes = local_sizes()
    return len(sizes), sum(sizes)


def download():
    FILES.get(PATH, f"{FOLDER}/", recursive=True)
    sizes = local_sizes()
    return len(sizes), sum(sizes)


objects, size = globals()[sys.argv[1]]()
print(json.dumps({"objects": objects, "bytes": int(size)}))
