"""The workloads with obstore: listings as Arrow, and many requests at a time with asyncio."""

import asyncio
import json
import os
import sys
from pathlib import Path

import obstore
from obstore.store import S3Store

AT_ONCE = 128
PREFIX = os.environ["BENCH_PREFIX"]
FOLDER = Path(os.environ["BENCH_FOLDER"])
# Keys, region and endpoint are those of the environment.
STORE = S3Store(os.environ["BENCH_BUCKET"], client_options={"allow_http": True})


async def gather(work, items):
    semaphore = asyncio.Semaphore(AT_ONCE)

    async def one(item):
        async with semaphore:
            return await work(item)

    return await asyncio.gather(*map(one, items))


def start():
    return 0, 0


def list_arrow():
    import pyarrow
    from pyarrow import compute

    batch = obstore.list(STORE, PREFIX, return_arrow=True).collect()
    # `pyarrow.table` would import pandas to see whether it is a data frame.
    table = pyarrow.Table.from_batches([pyarrow.record_batch(batch)])
    return table.num_rows, compute.sum(table["size"]).as_py()


def list_pandas():
    import pyarrow

    batch = obstore.list(STORE, PREFIX, return_arrow=True).collect()
    frame = pyarrow.record_batch(batch).to_pandas()
    return len(frame), frame["size"].sum()


def read():
    async def get(key):
        response = await obstore.get_async(STORE, PREFIX + key)
        return key, await response.bytes_async()

    with open(os.environ["BENCH_KEYS"]) as lines:
        objects = dict(asyncio.run(gather(get, lines.read().split())))
    return len(objects), sum(map(len, objects.values()))


def upload():
    async def put(path):
        await obstore.put_async(STORE, PREFIX + path.relative_to(FOLDER).as_posix(), path)
        return path.stat().st_size

    paths = [path for path in FOLDER.rglob("*") if path.is_file()]
    sizes = asyncio.run(gather(put, paths))
    return len(sizes), sum(sizes)


def download():
    async def get(key):
        path = FOLDER / key.removeprefix(PREFIX)
        path.parent.mkdir(parents=True, exist_ok=True)
        response = await obstore.get_async(STORE, key)
        return path.write_bytes(await response.bytes_async())

    batches = obstore.list(STORE, PREFIX, chunk_size=1000)
    keys = [found["path"] for batch in batches for found in batch]
    sizes = asyncio.run(gather(get, keys))
    return len(sizes), sum(sizes)


objects, size = globals()[sys.argv[1]]()
print(json.dumps({"objects": objects, "bytes": int(size)}))
