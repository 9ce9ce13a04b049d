"""Credentials of a client, in the form that the extension reads: JSON of a `credential_process`.

<https://docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html>
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime, timedelta, timezone
from typing import Any

from ._errors import CredentialsError

#: An access key id and a secret access key, perhaps with a session token; a mapping; or a function
#: that returns one of both, called again before what it returned expires.
Credentials = Sequence[Any] | Mapping[str, Any] | Callable[[], Any]

#: Where the AWS tools keep profiles.
_CONFIG_FILE = "~/.aws/config"
#: Credentials are fetched anew so long before they expire.
_MARGIN = timedelta(seconds=60)
#: How long credentials of a session count that refreshes them, where it does not say.
_SESSION_LIFE = timedelta(minutes=10)

_NAMES = {
    "AccessKeyId": ("access_key_id", "aws_access_key_id", "access_key", "AccessKeyId"),
    "SecretAccessKey": (
        "secret_access_key",
        "aws_secret_access_key",
        "secret_key",
        "SecretAccessKey",
    ),
    "SessionToken": ("session_token", "aws_session_token", "token", "SessionToken"),
    "Expiration": ("expires_at", "expiration", "Expiration"),
}

#: Providers whose function is being called.
_fetching: ContextVar[tuple[Provider, ...]] = ContextVar("fetching", default=())


def is_fetching() -> bool:
    """Whether this is called by a function for credentials."""
    return bool(_fetching.get())


class Provider:
    """Credentials from a value or a function. Never shows them."""

    def __init__(self, credentials: Credentials) -> None:
        self._fetch: Callable[[], Any]
        if callable(credentials):
            self._fetch = credentials
        else:
            document(credentials)
            self._fetch = lambda: credentials
        self._process = -1
        self._reset()

    def _reset(self) -> None:
        # A lock that another thread held when the process was forked is never released.
        if self._process != os.getpid():
            self._lock = threading.Lock()
            self._held: bytes | None = None
            self._is_taken = False
            self._expires_at: datetime | None = None
            # Last: other threads go on from here.
            self._process = os.getpid()

    def prepare(self) -> None:
        """Fetches credentials unless there are some that have not expired.

        Raises:
            CredentialsError: The function raised, or returned something else.
        """
        self._reset()
        self._refuse_itself()
        with self._lock:
            if self._held is None or not self._is_fresh():
                self._fill()

    def __call__(self) -> bytes:
        """The credentials. Called by the extension when it has none, or before they expire."""
        self._reset()
        self._refuse_itself()
        with self._lock:
            # Credentials without an expiry have been refused if the extension calls again.
            is_over = self._is_taken and self._expires_at is None
            if self._held is None or is_over or not self._is_fresh():
                self._fill()
            self._is_taken = True
            assert self._held is not None
            return self._held

    def _is_fresh(self) -> bool:
        if self._expires_at is None:
            return True
        return datetime.now(timezone.utc) < self._expires_at - _MARGIN

    def _refuse_itself(self) -> None:
        # It would wait for itself.
        if self in _fetching.get():
            message = "the function for credentials uses the client that it is for"
            raise CredentialsError(message, status=253)

    def _fill(self) -> None:
        token = _fetching.set((*_fetching.get(), self))
        try:
            fetched = self._fetch()
        except CredentialsError:
            raise
        except Exception as error:
            message = f"credentials could not be fetched: {type(error).__name__}: {error}"
            raise CredentialsError(message, status=253) from error
        finally:
            _fetching.reset(token)
        try:
            held, self._expires_at = document(fetched)
        except (TypeError, ValueError) as error:
            raise CredentialsError(f"the function for credentials: {error}", status=253) from error
        self._held, self._is_taken = json.dumps(held).encode(), False

    def __repr__(self) -> str:
        return "******"


class SessionProvider:
    """Credentials of a session of boto3 or botocore, which refreshes them itself."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __call__(self) -> dict[str, Any]:
        """The credentials that the session has now."""
        found = self._session.get_credentials()
        if found is None:
            raise CredentialsError("the session has no credentials", status=253)
        frozen = found.get_frozen_credentials()
        expires_at = getattr(found, "_expiry_time", None)
        if expires_at is None and hasattr(found, "refresh_needed"):
            expires_at = datetime.now(timezone.utc) + _SESSION_LIFE
        return {
            "access_key": frozen.access_key,
            "secret_key": frozen.secret_key,
            "token": frozen.token,
            "expires_at": expires_at,
        }


def of_session(session: Any) -> tuple[SessionProvider, dict[str, Any]]:
    """The credentials, region and profile of a session. The profile says the rest, such as the
    endpoint; that of a session with files of its own cannot be looked up.

    Raises:
        TypeError: It is not a session of boto3 or botocore.
    """
    core = getattr(session, "_session", session)
    if not hasattr(session, "get_credentials") or not hasattr(core, "get_config_variable"):
        kind = type(session).__name__
        raise TypeError(f"session is a session of boto3 or botocore, not {kind}")
    region = getattr(session, "region_name", None) or core.get_config_variable("region")
    profile = core.get_config_variable("profile")
    if core.get_config_variable("config_file") == os.environ.get("AWS_CONFIG_FILE", _CONFIG_FILE):
        return SessionProvider(session), {"region": region, "profile": profile}
    endpoint_url = core.get_scoped_config().get("endpoint_url")
    return SessionProvider(session), {"region": region, "endpoint_url": endpoint_url}


def document(credentials: Any) -> tuple[dict[str, Any], datetime | None]:
    """The JSON of credentials, and when they expire.

    Raises:
        TypeError: The value is neither a mapping nor a sequence of two or three texts.
        ValueError: Something is missing, or the time has no zone.
    """
    if isinstance(credentials, Mapping):
        found = {name: _first(credentials, names) for name, names in _NAMES.items()}
    elif isinstance(credentials, Sequence) and not isinstance(credentials, (str, bytes)):
        if len(credentials) not in (2, 3):
            raise ValueError("credentials are (id, secret) or (id, secret, token)")
        found = dict(zip(_NAMES, credentials))
    else:
        kind = type(credentials).__name__
        raise TypeError(f"credentials are a tuple (id, secret, token) or a mapping, not {kind}")
    expires_at = _moment(found.pop("Expiration", None))
    for name in ("AccessKeyId", "SecretAccessKey"):
        if not found.get(name):
            raise ValueError(f"credentials without `{_NAMES[name][0]}`")
    for name, value in found.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"`{_NAMES[name][0]}` is a text, not {type(value).__name__}")
    held: dict[str, Any] = {"Version": 1, **{k: v for k, v in found.items() if v}}
    if expires_at is not None:
        held["Expiration"] = expires_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return held, expires_at


def _first(credentials: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((credentials[name] for name in names if credentials.get(name)), None)


def _moment(value: Any) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = datetime.fromisoformat(value.replace("Z", "+00:00"))
    if not isinstance(value, datetime):
        raise TypeError(f"`expires_at` is a datetime, not {type(value).__name__}")
    if value.tzinfo is None:
        raise ValueError("`expires_at` needs a time zone")
    return value.astimezone(timezone.utc)
