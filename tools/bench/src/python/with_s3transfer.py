"""Transfers with s3transfer's manager of the AWS Common Runtime (awscrt), with its defaults."""

import json
import os
import sys

import botocore.session
from botocore.config import Config
from s3transfer.crt import (
    BotocoreCRTCredentialsWrapper,
    BotocoreCRTRequestSerializer,
    CRTTransferManager,
    create_s3_crt_client,
)

BUCKET, PREFIX = os.environ["BENCH_BUCKET"], os.environ["BENCH_PREFIX"]
FOLDER = os.environ["BENCH_FOLDER"]
ENDPOINT, REGION = os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_REGION"]
CLIENT = {
    "endpoint_url": ENDPOINT,
    "region_name": REGION,
    "config": Config(s3={"addressing_style": "path"}),
}
SESSION = botocore.session.get_session()


def manager():
    credentials = BotocoreCRTCredentialsWrapper(SESSION.get_credentials())
    client = create_s3_crt_client(
        region=REGION,
        crt_credentials_provider=credentials.to_crt_credentials_provider(),
        use_ssl=ENDPOINT.startswith("https:"),
    )
    return CRTTransferManager(client, BotocoreCRTRequestSerializer(SESSION, dict(CLIENT)))


def start():
    with manager():
        return 0, 0


def finished(transfers, paths):
    for transfer in transfers:
        transfer.result()
    return len(paths), sum(map(os.path.getsize, paths))


def upload():
    paths = [
        os.path.join(folder, name) for folder, _, names in os.walk(FOLDER) for name in names
    ]
    with manager() as transfers:
        under_way = [
            transfers.upload(path, BUCKET, PREFIX + os.path.relpath(path, FOLDER))
            for path in paths
        ]
        return finished(under_way, paths)


def download():
    pages = SESSION.create_client("s3", **CLIENT).get_paginator("list_objects_v2")
    keys = [
        found["Key"]
        for page in pages.paginate(Bucket=BUCKET, Prefix=PREFIX)
        for found in page.get("Contents", [])
    ]
    paths = [os.path.join(FOLDER, key.removeprefix(PREFIX)) for key in keys]
    for folder in {os.path.dirname(path) for path in paths}:
        os.makedirs(folder, exist_ok=True)
    with manager() as transfers:
        under_way = [transfers.download(BUCKET, key, path) for key, path in zip(keys, paths)]
        return finished(under_way, paths)


objects, size = globals()[sys.argv[1]]()
print(json.dumps({"objects": objects, "bytes": int(size)}))
