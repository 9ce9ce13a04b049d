"""Servers and buckets for the tests.

Every test that takes `service` runs against the embedded server, and against MinIO and moto where
`S3HAUL_TEST_MINIO` (its binary) and `S3HAUL_TEST_PYTHON` (a Python that has moto) name them.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
import s3haul
from botocore.config import Config

#: Tries until a server answers, and seconds between two.
TRIES, PAUSE_S = 600, 0.1
#: Seconds after which a child process counts as hung.
PATIENCE_S = 120

_numbers = itertools.count()

# A shell has what runs in the background ignore interrupts, and children inherit that: tests that
# interrupt them would fail.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Service:
    """An S3 service on this machine."""

    name: str
    url: str
    access_key: str
    secret_key: str
    region: str = "us-east-1"

    def client(self, **settings: Any) -> s3haul.Client:
        settings.setdefault("credentials", (self.access_key, self.secret_key))
        return s3haul.Client(endpoint_url=self.url, region=self.region, **settings)

    def boto3(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name=self.region,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            config=Config(s3={"addressing_style": "path"}),
        )

    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
        }


@dataclass(frozen=True)
class Bucket:
    """A new bucket, with a client of s3haul and one of boto3."""

    service: Service
    name: str
    client: s3haul.Client
    boto3: Any

    def url(self, key: str = "") -> str:
        return f"s3://{self.name}/{key}"

    def objects(self, prefix: str = "") -> dict[str, bytes]:
        """What boto3 finds."""
        pages = self.boto3.get_paginator("list_objects_v2")
        keys = [
            found["Key"]
            for page in pages.paginate(Bucket=self.name, Prefix=prefix)
            for found in page.get("Contents", [])
        ]
        return {key: self.body(key) for key in keys}

    def body(self, key: str) -> bytes:
        answer = self.boto3.get_object(Bucket=self.name, Key=key)
        return bytes(answer["Body"].read())

    def put(self, **objects: bytes) -> None:
        for key, body in objects.items():
            self.boto3.put_object(Bucket=self.name, Key=key, Body=body)


def _is_there(variable: str) -> bool:
    return Path(os.environ.get(variable) or "/nowhere").is_file()


_SERVERS = [
    "embedded",
    *(["minio"] if _is_there("S3HAUL_TEST_MINIO") else []),
    *(["moto"] if _is_there("S3HAUL_TEST_PYTHON") else []),
]


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the person that runs the tests, and journals of this test alone."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "S3HAUL_JOURNAL")) and name != "AWS_CA_BUNDLE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def embedded() -> Iterator[Service]:
    with s3haul.serve() as server:
        yield Service("embedded", server.url, server.access_key, server.secret_key)


@pytest.fixture(scope="session", params=_SERVERS)
def service(
    request: pytest.FixtureRequest,
    embedded: Service,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    if request.param == "embedded":
        yield embedded
        return
    folder = tmp_path_factory.mktemp(request.param)
    port = _free_port()
    key, secret = "test-access-key", "test-secret-key"
    environment = dict(os.environ)
    if request.param == "minio":
        command = [os.environ["S3HAUL_TEST_MINIO"], "server", "--quiet", "--anonymous"]
        command += ["--address", f"127.0.0.1:{port}", "--certs-dir", str(folder / "certs")]
        command += [str(folder / "data")]
        environment |= {"MINIO_ROOT_USER": key, "MINIO_ROOT_PASSWORD": secret}
        environment |= {"MINIO_UPDATE": "off", "MINIO_BROWSER": "off"}
    else:
        command = [os.environ["S3HAUL_TEST_PYTHON"], "-m", "moto.server"]
        command += ["-H", "127.0.0.1", "-p", str(port)]
    output = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url, process)
        yield Service(request.param, url, key, secret)
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _wait_for(url: str, process: subprocess.Popen[Any]) -> None:
    for _ in range(TRIES):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended: {process.args}")
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            threading.Event().wait(PAUSE_S)
    raise RuntimeError(f"the server does not answer: {process.args}")


def _bucket(service: Service) -> Bucket:
    bucket = Bucket(
        service, f"test-{os.getpid()}-{next(_numbers)}", service.client(), service.boto3()
    )
    bucket.boto3.create_bucket(Bucket=bucket.name)
    return bucket


@pytest.fixture
def bucket(service: Service) -> Bucket:
    """A bucket of every service."""
    return _bucket(service)


@pytest.fixture
def own(embedded: Service) -> Bucket:
    """A bucket of the embedded server."""
    return _bucket(embedded)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with three files, one of them in a folder."""
    folder = tmp_path / "files"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"a")
    (folder / "b.txt").write_bytes(b"bb")
    (folder / "inner" / "c.bin").write_bytes(b"ccc")
    for path in folder.rglob("*"):
        # Older than any object, whose times are whole seconds.
        os.utime(path, (1_600_000_000, 1_600_000_000))
    return folder


#: Runs a script in a new interpreter, and returns what it printed.
RunScript = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def script(tmp_path: Path) -> RunScript:
    def run(
        text: str, environment: Mapping[str, str] | None = None, *args: str
    ) -> subprocess.CompletedProcess[str]:
        path = tmp_path / f"script-{next(_numbers)}.py"
        path.write_text(text)
        return subprocess.run(
            [sys.executable, str(path), *args],
            env={**os.environ, **(environment or {})},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )

    return run
