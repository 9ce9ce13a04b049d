"""Clients, credentials, exceptions and logs."""

from __future__ import annotations

import logging
import os
import pickle
import shlex
import socket
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import boto3
import botocore.session
import pytest
import s3haul
from conftest import Bucket, RunScript, Service
from s3haul import _credentials, _errors, _log


def settings(service: Service) -> dict[str, Any]:
    return {"endpoint_url": service.url, "region": service.region}


def test_credentials_have_many_forms(own: Bucket) -> None:
    service = own.service
    pair = (service.access_key, service.secret_key)
    mapping = {"access_key_id": pair[0], "secret_access_key": pair[1]}
    later = datetime.now(timezone.utc) + timedelta(hours=1)
    forms: list[Any] = [
        pair,
        (*pair, None),
        mapping,
        {"AccessKeyId": pair[0], "SecretAccessKey": pair[1], "Expiration": later.isoformat()},
        lambda: pair,
        lambda: {**mapping, "expires_at": later},
    ]
    for credentials in forms:
        client = s3haul.Client(credentials=credentials, **settings(service))
        assert list(client.list(own.url())) == []


def test_functions_are_called_before_credentials_expire(own: Bucket) -> None:
    calls = []

    def credentials() -> dict[str, Any]:
        calls.append(1)
        return {
            "access_key": own.service.access_key,
            "secret_key": own.service.secret_key,
            "expires_at": datetime.now(timezone.utc) + timedelta(seconds=life_s),
        }

    life_s = 3600
    client = s3haul.Client(credentials=credentials, **settings(own.service))
    for _ in range(3):
        client.ls(own.url())
    assert len(calls) == 1
    calls.clear()
    life_s = 30
    client = s3haul.Client(credentials=credentials, **settings(own.service))
    for _ in range(3):
        client.ls(own.url())
    assert len(calls) >= 3
    calls.clear()
    # Credentials that do not expire are fetched once.
    pair = lambda: calls.append(1) or (own.service.access_key, own.service.secret_key)  # noqa: E731
    client = s3haul.Client(credentials=pair, **settings(own.service))
    for _ in range(3):
        client.ls(own.url())
    assert len(calls) == 1


def test_functions_that_fail(own: Bucket) -> None:
    def fails() -> None:
        raise KeyError("vault")

    client = s3haul.Client(**settings(own.service))
    failing = s3haul.Client(credentials=fails, **settings(own.service))
    with pytest.raises(s3haul.CredentialsError, match="vault") as raised:
        failing.ls(own.url())
    assert isinstance(raised.value.__cause__, KeyError)
    for wrong in (None, "text", ("one",), {"access_key": "a"}, ("a", b"bytes")):
        with pytest.raises(s3haul.CredentialsError):
            s3haul.Client(credentials=lambda of=wrong: of, **settings(own.service)).ls(own.url())
    with pytest.raises((TypeError, ValueError)):
        s3haul.Client(credentials=("one",))
    with pytest.raises(ValueError, match="time zone"):
        s3haul.Client(
            credentials={"access_key": "a", "secret_key": "b", "expires_at": datetime(2030, 1, 1)}
        )
    with pytest.raises(s3haul.CredentialsError):
        client.ls(own.url())


def test_nobody_is_asked_for_a_code(own: Bucket, tmp_path: Path) -> None:
    """Not in a terminal either: a program may have others, and a screen of its own."""
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "config").write_text(
        "[profile p]\nrole_arn = arn:aws:iam::123456789012:role/r\nsource_profile = base\n"
        "mfa_serial = m\n[profile base]\naws_access_key_id = a\naws_secret_access_key = b\n"
    )
    flags = f"profile='p', endpoint_url={own.service.url!r}"
    line = f"import s3haul; s3haul.Client({flags}).ls({own.url()!r})"
    ended = subprocess.run(
        ["script", "-qec", shlex.join([sys.executable, "-c", line]), "/dev/null"],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "AWS_MAX_ATTEMPTS": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "CredentialsError" in ended.stdout, ended
    assert "an MFA code of m: questions are not possible here" in ended.stdout, ended


def test_sessions_of_boto3_and_botocore(own: Bucket) -> None:
    service = own.service
    session = boto3.Session(
        aws_access_key_id=service.access_key,
        aws_secret_access_key=service.secret_key,
        region_name=service.region,
    )
    core = botocore.session.get_session()
    core.set_credentials(service.access_key, service.secret_key)
    for given in (session, core):
        client = s3haul.Client(session=given, endpoint_url=service.url)
        assert list(client.list(own.url())) == []
    assert s3haul.Client(session=session)._flags == ["--region=us-east-1"]
    with pytest.raises(TypeError, match="boto3"):
        s3haul.Client(session=object())
    with pytest.raises(s3haul.CredentialsError, match="session has no credentials"):
        s3haul.Client(session=boto3.Session(), endpoint_url=service.url).ls(own.url())


def test_a_session_goes_where_its_profile_says(
    own: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keys went where the default profile says, or to Amazon."""
    service = own.service
    keys = f"aws_access_key_id = {service.access_key}\n"
    keys += f"aws_secret_access_key = {service.secret_key}\n"
    config = tmp_path / "config"
    config.write_text(
        "[default]\nendpoint_url = http://127.0.0.1:1\nregion = us-east-1\n"
        f"[profile near]\nservices = here\nregion = us-east-1\n{keys}"
        f"[services here]\ns3 =\n  endpoint_url = {service.url}\n"
        f"[profile amazon]\nregion = us-east-1\n{keys}"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    client = s3haul.Client(session=boto3.Session(profile_name="near"))
    assert list(client.list(own.url())) == []
    client = s3haul.Client(session=boto3.Session(profile_name="amazon"))
    assert "127.0.0.1" not in client.job("sync", tmp_path, own.url()).to_json()
    # The profile is not where its keys come from.
    other = boto3.Session(
        aws_access_key_id="other", aws_secret_access_key="wrong", profile_name="near"
    )
    with pytest.raises(s3haul.S3haulError, match="InvalidAccessKeyId"):
        list(s3haul.Client(session=other).list(own.url()))
    # A session with a file of its own.
    file = tmp_path / "other"
    file.write_text(f"[default]\nendpoint_url = {service.url}\n")
    core = botocore.session.Session()
    core.set_config_variable("config_file", str(file))
    core.set_config_variable("region", service.region)
    core.set_credentials(service.access_key, service.secret_key)
    assert list(s3haul.Client(session=core).list(own.url())) == []


def test_refreshed_credentials_of_a_session_expire() -> None:
    class Refreshable:
        access_key, secret_key, token = "a", "b", "c"
        _expiry_time = datetime(2030, 1, 1, tzinfo=timezone.utc)

        def get_frozen_credentials(self) -> Refreshable:
            return self

    class Session:
        def get_credentials(self) -> Refreshable:
            return Refreshable()

    found = _credentials.document(_credentials.SessionProvider(Session())())
    assert found[0]["Expiration"] == "2030-01-01T00:00:00Z"
    assert found[0]["SessionToken"] == "c"


def test_one_source_of_credentials() -> None:
    with pytest.raises(ValueError, match="one of"):
        s3haul.Client(profile="p", credentials=("a", "b"))


def test_secrets_are_not_shown() -> None:
    client = s3haul.Client(
        credentials=("id", "very-secret"), endpoint_url="http://user:very-secret@127.0.0.1:1"
    )
    assert "******" in repr(client)
    assert "very-secret" not in repr(client) + repr(client._provider)


def test_clients_can_be_pickled(own: Bucket) -> None:
    own.put(a=b"1")
    again = pickle.loads(pickle.dumps(own.client))
    assert again.read(own.url("a")) == b"1"
    with again as client:
        assert client is again
    with pytest.raises(TypeError, match="`session` cannot be pickled"):
        pickle.dumps(s3haul.Client(session=boto3.Session()))


def test_functions_of_the_module_take_the_environment(
    own: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in own.service.environment().items():
        monkeypatch.setenv(name, value)
    s3haul.write(own.url("a"), b"1")
    assert s3haul.read(own.url("a")) == b"1"
    assert [row.key for row in s3haul.list(own.url())] == ["a"]
    assert dict(s3haul.get_many(["a"], root=own.url())) == {"a": b"1"}
    assert all(hasattr(s3haul, name) for name in s3haul.__all__)
    assert all(hasattr(s3haul.aio, name) for name in s3haul.aio.__all__)


def test_calls_take_the_credentials_that_the_environment_has_now(
    own: Bucket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    service = own.service
    client = s3haul.Client(**settings(service))
    with pytest.raises(s3haul.CredentialsError):
        client.ls(own.url())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", service.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", service.secret_key)
    assert client.ls(own.url()) == []
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(s3haul.AccessDenied):
        list(client.list(own.url()))
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    file = tmp_path / "credentials"
    keys = f"aws_access_key_id = {service.access_key}\naws_secret_access_key = "
    file.write_text(f"[good]\n{keys}{service.secret_key}\n[bad]\n{keys}wrong\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "good")
    assert client.ls(own.url()) == []
    monkeypatch.setenv("AWS_PROFILE", "bad")
    with pytest.raises(s3haul.AccessDenied):
        client.ls(own.url())


def test_wrong_settings_are_refused_at_once() -> None:
    with pytest.raises(s3haul.UsageError):
        s3haul.Client(max_concurrent_requests=-1)
    with pytest.raises(TypeError, match="region"):
        s3haul.Client(region=object())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        s3haul.Client(no_such_setting=1)  # type: ignore[call-arg]


def test_exceptions_say_what_failed(own: Bucket) -> None:
    with pytest.raises(s3haul.NotFound) as raised:
        list(own.client.list("s3://no-such-bucket"))
    error = raised.value
    assert (error.operation, error.code, error.http_status) == (
        "ListObjectsV2",
        "NoSuchBucket",
        404,
    )
    assert error.request_id and error.hint and "hint: " in str(error)
    with pytest.raises(s3haul.NotFound, match="none"):
        own.client.read(own.url("none"))
    with pytest.raises(s3haul.RequestRefused, match="InvalidBucketName"):
        own.client.make_bucket("s3://B")
    wrong = own.service.client(credentials=(own.service.access_key, "wrong"))
    with pytest.raises(s3haul.AccessDenied):
        wrong.ls(own.url())
    with pytest.raises(s3haul.S3haulError, match="does not exist"):
        own.client.sync("/no/such/folder", own.url())
    with pytest.raises(ValueError, match="page-size"):
        own.client.list(own.url(), page_size=0)


def test_a_failure_of_the_whole_is_an_exception(own: Bucket, files: Any) -> None:
    with pytest.raises(s3haul.NotFound, match="NoSuchBucket"):
        own.client.sync(files, "s3://no-such-bucket/a")


@pytest.mark.parametrize("kind", [*_errors._KINDS, None])
def test_exceptions_can_be_pickled(kind: str | None) -> None:
    error = _errors.of_failure(
        "message", "hint", 254, kind, "GetObject", "s3://b/k", "C", "id", 400
    )
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.__dict__, str(again)) == (type(error), error.__dict__, str(error))
    assert isinstance(again, s3haul.S3haulError)


def test_exceptions_are_also_those_of_python() -> None:
    assert isinstance(_errors.of_failure("m", kind="timeout"), TimeoutError)
    assert isinstance(_errors.of_failure("m", kind="local"), OSError)
    assert isinstance(_errors.of_failure("m", status=252), ValueError)


def test_a_dead_endpoint_is_an_exception(monkeypatch: pytest.MonkeyPatch, files: Any) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with socket.socket() as bound:
        # Bound and not listened on: nothing else gets this port meanwhile.
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        client = s3haul.Client(endpoint_url=url, region="us-east-1", credentials=("a", "b"))
        calls = [
            lambda: list(client.list("s3://bucket")),
            lambda: client.head("s3://bucket/a"),
            lambda: list(client.get_many(["s3://bucket/a"])),
            lambda: client.read("s3://bucket/a"),
            lambda: client.write("s3://bucket/a", b""),
            lambda: client.sync(files, "s3://bucket/a").raise_for_failures(),
        ]
        for call in calls:
            with pytest.raises(s3haul.S3haulError):
                call()


@pytest.mark.parametrize(
    ("line", "level", "message"),
    [
        ("warning: skipped a", logging.WARNING, "skipped a"),
        ("note: a job", logging.INFO, "a job"),
        ("upload failed: a to b", logging.ERROR, "upload failed: a to b"),
        ("make_bucket failed: b", logging.ERROR, "make_bucket failed: b"),
        ("fatal error: c", logging.ERROR, "fatal error: c"),
        ("waiting for d", logging.INFO, "waiting for d"),
    ],
)
def test_lines_have_levels(
    line: str, level: int, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "s3haul"):
        _log.line(line)
        _log.line("  ")
    assert caplog.record_tuples == [("s3haul", level, message)]


def test_nothing_is_printed_unless_asked(own: Bucket, script: RunScript) -> None:
    text = """
import logging, sys
import s3haul
if len(sys.argv) > 1:
    logging.basicConfig(level="INFO", format="%(levelname)s %(message)s")
s3haul.remove("s3://no-such-bucket/a")
"""
    environment = own.service.environment()
    done = script(text, environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = script(text, environment, "log")
    assert "ERROR delete failed: s3://no-such-bucket/a" in done.stderr
