"""The workloads with boto3: one client, and threads, which its documentation calls safe for it."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

THREADS = 32
BUCKET, PREFIX = os.environ["BENCH_BUCKET"], os.environ["BENCH_PREFIX"]
FOLDER = os.environ["BENCH_FOLDER"]
# Files are many already: no further threads for the parts of each.
TRANSFER = TransferConfig(use_threads=False)
CLIENT = boto3.client(
    "s3", config=Config(max_pool_connections=THREADS, s3={"addressing_style": "path"})
)


def objects_below(prefix):
    pages = CLIENT.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    return [found for page in pages for found in page.get("Contents", [])]


def in_threads(work, items):
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, items))


def start():
    return 0, 0


def list_arrow():
    import pyarrow
    from pyarrow import compute

    table = pyarrow.Table.from_pylist(objects_below(PREFIX))
    return table.num_rows, compute.sum(table["Size"]).as_py()


def list_pandas():
    import pandas

    frame = pandas.DataFrame(objects_below(PREFIX))
    return len(frame), frame["Size"].sum()


def read():
    def get(key):
        return CLIENT.get_object(Bucket=BUCKET, Key=PREFIX + key)["Body"].read()

    with open(os.environ["BENCH_KEYS"]) as lines:
        keys = lines.read().split()
    objects = dict(zip(keys, in_threads(get, keys)))
    return len(objects), sum(map(len, objects.values()))


def upload():
    def put(path):
        name = os.path.relpath(path, FOLDER)
        CLIENT.upload_file(path, BUCKET, PREFIX + name, Config=TRANSFER)
        return os.path.getsize(path)

    paths = [
        os.path.join(folder, name) for folder, _, names in os.walk(FOLDER) for name in names
    ]
    sizes = in_threads(put, paths)
    return len(sizes), sum(sizes)


def download():
    def get(found):
        path = os.path.join(FOLDER, found["Key"].removeprefix(PREFIX))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        CLIENT.download_file(BUCKET, found["Key"], path, Config=TRANSFER)
        return os.path.getsize(path)

    sizes = in_threads(get, objects_below(PREFIX))
    return len(sizes), sum(sizes)


objects, size = globals()[sys.argv[1]]()
print(json.dumps({"objects": objects, "bytes": int(size)}))
