"""A client, and checks that are reported by name: `ok NAME` or `FAILED NAME` and why."""
import sys
import traceback

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, ACCESS_KEY, SECRET_KEY = sys.argv[1:4]
MIB = 1 << 20
CHECKS = []


def client(access_key=ACCESS_KEY, secret_key=SECRET_KEY, region="us-east-1", signature="s3v4",
           **more):
    return boto3.client(
        "s3",
        endpoint_url=ENDPOINT,
        region_name=region,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(signature_version=signature, s3={"addressing_style": "path"},
                      retries={"max_attempts": 0}, **more),
    )


s3 = client()


def check(function):
    CHECKS.append(function)
    return function


def same(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def refused(code, call, status=None, **arguments):
    try:
        answer = call(**arguments)
    except ClientError as error:
        same(error.response["Error"]["Code"], code)
        if status is not None:
            same(error.response["ResponseMetadata"]["HTTPStatusCode"], status)
        return error.response
    raise AssertionError(f"not refused with {code}: {answer}")


def bucket(name, **more):
    s3.create_bucket(Bucket=name, **more)
    return name


def keys(**arguments):
    page = s3.list_objects_v2(**arguments)
    return [entry["Key"] for entry in page.get("Contents", [])]


def run():
    failures = 0
    for function in CHECKS:
        try:
            function()
            print("ok", function.__name__, flush=True)
        except Exception:
            failures += 1
            print("FAILED", function.__name__, flush=True)
            print(traceback.format_exc(), flush=True)
    if failures:
        sys.exit(f"{failures} of {len(CHECKS)} checks failed")
    print("all checks passed")
