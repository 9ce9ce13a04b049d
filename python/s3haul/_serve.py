"""The server of `s3haul serve` in this process, for tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from . import _s3haul, _words
from ._call import StrPath
from ._client import Client
from ._optional import package


class Server:
    """An S3 endpoint on this machine. Use it with `with`, or call `stop()`.

    Args:
        directory: Keep objects in this folder; without it, and the next three, in memory.
        null: Keep names and sizes only.
        synthetic: Serve computed objects in the bucket `synthetic`, such as `seq:1000000`.
        keys: Serve computed objects with the keys of this file in the bucket `synthetic`.
        address: Where to listen; by default a free port of 127.0.0.1.
        ledger: Write a JSON line for each request to this file.
        latency: Delay each request, such as `30ms` or a timedelta.
        restore_time: How long the restore of an archived object takes, likewise.
        weather: Simulate the trouble that this JSON file describes.
        access_key: The access key id that requests must be signed with.
        secret_key: The secret access key.
        tls_certificate: A PEM file, to speak TLS.
        tls_key: The PEM file with its key.

    Raises:
        UsageError: The settings make no sense.
        S3haulError: The address cannot be listened on.
    """

    def __init__(
        self,
        directory: StrPath | None = None,
        *,
        null: bool = False,
        synthetic: str | None = None,
        keys: StrPath | None = None,
        address: str = "127.0.0.1:0",
        ledger: StrPath | None = None,
        latency: str | timedelta | None = None,
        restore_time: str | timedelta | None = None,
        weather: StrPath | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        tls_certificate: StrPath | None = None,
        tls_key: StrPath | None = None,
    ) -> None:
        is_memory = directory is None and not (null or synthetic or keys)
        options = {
            "address": address,
            "memory": is_memory,
            "null": null,
            "synthetic": synthetic,
            "keys": keys,
            "ledger": ledger,
            "latency": latency,
            "restore_time": restore_time,
            "weather": weather,
            "access_key": access_key,
            "secret_key": secret_key,
            "tls_certificate": tls_certificate,
            "tls_key": tls_key,
        }
        self._server = _s3haul.Server(_words.words(["serve"], [directory], options)[1:])

    @property
    def url(self) -> str:
        """The URL of the endpoint."""
        return self._server.url

    @property
    def access_key(self) -> str:
        """The access key id."""
        return self._server.access_key

    @property
    def secret_key(self) -> str:
        """The secret access key."""
        return self._server.secret_key

    @property
    def region(self) -> str:
        """The region."""
        return self._server.region

    def environment(self) -> dict[str, str]:
        """Environment variables with which s3haul, boto3 and the AWS tools reach the server."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
        }

    def client(self, **settings: Any) -> Client:
        """A client of the server; settings are those of `Client`."""
        settings.setdefault("region", self.region)
        settings.setdefault("credentials", (self.access_key, self.secret_key))
        return Client(endpoint_url=self.url, **settings)

    def boto3_client(self, service: str = "s3", **settings: Any) -> Any:
        """A client of boto3 for the server."""
        boto3 = package("boto3", "boto3_client()")
        config = package("botocore.config", "boto3_client()").Config
        settings.setdefault("config", config(s3={"addressing_style": "path"}))
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name=self.region,
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            **settings,
        )

    def stop(self) -> None:
        """Stops the server; more than once does nothing more."""
        self._server.stop()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Server {self.url}>"
