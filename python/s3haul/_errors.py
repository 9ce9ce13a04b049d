"""Exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._result import Result

#: Exit code of the command where its arguments make no sense.
_USAGE = 252
#: Exit code where region or credentials are missing.
_CONFIGURATION = 253


class S3haulError(Exception):
    """Base class of all exceptions of this package.

    Attributes:
        message: What went wrong, to which object.
        hint: What may help, if known.
        operation: The S3 operation, such as `PutObject`.
        subject: What it was done to, such as `s3://bucket/key`.
        code: The error code of the service, such as `NoSuchKey`.
        request_id: The id of the request at the service.
        http_status: The HTTP status of the answer.
        status: The exit code that the command would have had.
    """

    message: str
    hint: str | None
    operation: str | None
    subject: str | None
    code: str | None
    request_id: str | None
    http_status: int | None
    status: int

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        operation: str | None = None,
        subject: str | None = None,
        code: str | None = None,
        request_id: str | None = None,
        http_status: int | None = None,
        status: int = 1,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.operation = operation
        self.subject = subject
        self.code = code
        self.request_id = request_id
        self.http_status = http_status
        self.status = status

    def __str__(self) -> str:
        text = self.message
        if self.subject and self.subject not in text:
            text = f"{text} ({self.subject})"
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.message, dict(self.__dict__))


class UsageError(S3haulError, ValueError):
    """Arguments or configuration make no sense; nothing was done."""


class NotFound(S3haulError):
    """The bucket, object, version or upload does not exist."""


class AccessDenied(S3haulError):
    """The service refused these credentials or this action."""


class Throttled(S3haulError):
    """The service asked to slow down until the retries ran out."""


class PreconditionFailed(S3haulError):
    """The object is not, or is no longer, what the request demands."""


class RequestRefused(S3haulError):
    """The service refused the request for another reason, which `code` names."""


class ServiceFailed(S3haulError):
    """The service failed (5xx) until the retries ran out."""


class NotS3(S3haulError):
    """What answered is not S3, or does not answer as S3 does."""


class ConnectionFailed(S3haulError):
    """No connection, or it broke until the retries ran out."""


class TimedOut(S3haulError, TimeoutError):
    """Nothing arrived in time until the retries ran out."""


class CredentialsError(S3haulError):
    """There are no credentials, or they could not be fetched."""


class IntegrityError(S3haulError):
    """Bytes do not match their checksum or length."""


class SourceChanged(S3haulError):
    """The source changed while it was read."""


class LocalFileError(S3haulError, OSError):
    """A local file or folder could not be read or written."""


class RemovalRefused(S3haulError):
    """More would be removed than `max_delete` allows, or all because the source is empty."""


class Cancelled(S3haulError):
    """The call was ended early."""


class TransferFailed(S3haulError):
    """Some objects of a transfer failed or were not tried.

    Attributes:
        result: Counters and failures.
    """

    result: Result | None = None

    @classmethod
    def of(cls, result: Result) -> TransferFailed:
        """The exception for a result."""
        parts = [f"{result.failed} failed"]
        if result.not_tried:
            parts.append(f"{result.not_tried} not tried")
        message = f"{', '.join(parts)}, {result.done} done"
        if result.is_cancelled:
            message = f"the job was cancelled: {message}"
        first = next(iter(result.failures), None)
        if first is not None:
            message = f"{message}; the first failure: {first.message}"
        error = cls(message, status=result.status or 1)
        error.result = result
        return error


_KINDS: dict[str, type[S3haulError]] = {
    "not_found": NotFound,
    "access_denied": AccessDenied,
    "precondition_failed": PreconditionFailed,
    "throttled": Throttled,
    "server": ServiceFailed,
    "not_s3": NotS3,
    "request": RequestRefused,
    "wrong_region": RequestRefused,
    "transport": ConnectionFailed,
    "certificate": ConnectionFailed,
    "timeout": TimedOut,
    "credentials": CredentialsError,
    "config": UsageError,
    "integrity": IntegrityError,
    "source_changed": SourceChanged,
    "local": LocalFileError,
    "removal_refused": RemovalRefused,
    "cancelled": Cancelled,
}


def of_failure(
    message: str,
    hint: str | None = None,
    status: int = 1,
    kind: str | None = None,
    operation: str | None = None,
    subject: str | None = None,
    code: str | None = None,
    request_id: str | None = None,
    http_status: int | None = None,
) -> S3haulError:
    """The exception for a failure; `kind` decides on its class, else the exit code."""
    of_status = {_USAGE: UsageError, _CONFIGURATION: CredentialsError}.get(status, S3haulError)
    return _KINDS.get(kind or "", of_status)(
        message,
        hint=hint,
        operation=operation,
        subject=subject,
        code=code,
        request_id=request_id,
        http_status=http_status,
        status=status,
    )


def of_event(error: Mapping[str, Any], subject: str | None, status: int) -> S3haulError:
    """The exception for the `error` of an event in JSON."""
    return of_failure(
        str(error.get("message", "")),
        status=status,
        kind=error.get("kind"),
        operation=error.get("operation"),
        subject=subject,
        code=error.get("code") or None,
        request_id=error.get("request_id"),
        http_status=error.get("http_status"),
    )


def _rebuilt(of: type[S3haulError], message: str, attributes: dict[str, Any]) -> S3haulError:
    error = of(message)
    error.__dict__.update(attributes)
    return error
