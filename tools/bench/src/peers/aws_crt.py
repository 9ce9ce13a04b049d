"""Transfers with the AWS Common Runtime, as the AWS command does them: the class of s3transfer
that drives it, with its defaults. The server and the keys come from the environment."""

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

ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
REGION = os.environ["AWS_REGION"]
CA_FILE = os.environ.get("AWS_CA_BUNDLE")
CLIENT = {
    "endpoint_url": ENDPOINT,
    "region_name": REGION,
    "verify": CA_FILE,
    "config": Config(s3={"addressing_style": "path"}),
}


def manager(session):
    credentials = BotocoreCRTCredentialsWrapper(session.get_credentials())
    client = create_s3_crt_client(
        region=REGION,
        crt_credentials_provider=credentials.to_crt_credentials_provider(),
        use_ssl=ENDPOINT.startswith("https:"),
        verify=CA_FILE,
    )
    return CRTTransferManager(client, BotocoreCRTRequestSerializer(session, dict(CLIENT)))


def split(uri):
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


def files(tree):
    for folder, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield path, os.path.relpath(path, tree).replace(os.sep, "/")


def uploads(transfers, tree, uri):
    bucket, prefix = split(uri)
    for path, name in files(tree):
        yield transfers.upload(path, bucket, prefix + name)


def downloads(session, transfers, uri, target):
    bucket, prefix = split(uri)
    pages = session.create_client("s3", **CLIENT).get_paginator("list_objects_v2")
    made = set()
    for page in pages.paginate(Bucket=bucket, Prefix=prefix):
        for found in page.get("Contents", []):
            path = os.path.join(target, found["Key"][len(prefix):])
            folder = os.path.dirname(path)
            if folder not in made:
                os.makedirs(folder, exist_ok=True)
                made.add(folder)
            yield transfers.download(bucket, found["Key"], path)


def main(work, source, target):
    session = botocore.session.get_session()
    with manager(session) as transfers:
        if work == "upload":
            going = list(uploads(transfers, source, target))
        elif work == "download":
            going = list(downloads(session, transfers, source, target))
        elif work == "upload-file":
            going = [transfers.upload(source, *split(target))]
        else:
            going = [transfers.download(*split(source), target)]
        for transfer in going:
            transfer.result()


main(*sys.argv[1:])
