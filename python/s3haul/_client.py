"""Clients: the commands as methods, and what goes beyond commands."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from . import _s3haul, _words
from ._call import ProgressTarget, Records, StrPath, returning
from ._commands import Commands
from ._credentials import Credentials, Provider, of_session
from ._errors import S3haulError
from ._many import (
    MEMORY,
    PARTS_FROM,
    WAIT_S,
    GetWindow,
    OnError,
    PutWindow,
    Root,
    Single,
    as_bytes,
    is_folder,
    pair,
    results,
)
from ._progress import check, reporter
from ._result import Result
from ._rows import Rows
from ._running import finish
from ._translate import (
    alone,
    command_line,
    first_of,
    has_settings,
    read_call,
    records,
    summary_of,
    tag_call,
    tags_of,
    transfer_call,
    url_of,
    write_call,
)

if TYPE_CHECKING:
    from ._jobs import Job, JobStatus
    from ._plan import Plan

#: Tags of objects, as their keys and values.
Tags = Mapping[str, str]


# Out here their types are those that are returned, not those of the methods that they replace.
_summarize = returning(Commands.summarize, summary_of)
_head = returning(Commands.head, first_of)
_presign = returning(Commands.presign, url_of)


class Finished(NamedTuple):
    """How a command line ended."""

    status: int
    """The exit code, as the command would have it."""
    output: bytes
    """What it would have printed to standard output. Transfers print failures only to the log."""
    result: Result
    """Counters, if it was a transfer."""


class Client(Commands):
    """Commands with settings in common. Safe in threads, after a fork, and in other processes.

    Connections are shared by all calls. A client need not be closed; it can be used with `with`.

    Args:
        profile: The profile of the configuration files.
        region: The region.
        endpoint_url: Send requests to this URL instead of AWS.
        no_sign_request: Do not sign requests, to read public data without credentials.
        ca_bundle: A PEM file of certificate authorities.
        no_verify_ssl: Do not verify certificates.
        cli_read_timeout: Seconds that an answer may take.
        cli_connect_timeout: Seconds that a connection may take.
        max_concurrent_requests: Send at most this many requests at a time.
        max_requests_per_second: Send at most this many requests a second.
        max_memory: Use at most about this much memory, as bytes or a text such as `512MiB`.
        max_bandwidth: Transfer at most this much a second, as bytes or a text such as `50MB/s`.
        credentials: `(id, secret)`, `(id, secret, token)`, a mapping with `access_key_id`,
            `secret_access_key` and perhaps `session_token` and `expires_at` (a datetime with a time
            zone), or a function that returns one of these, called again before they expire. Without
            them and a session, those of the profile, the environment or the machine.
        session: A session of boto3 or botocore, for its credentials, which it refreshes, and its
            region.

    Raises:
        UsageError: The settings make no sense.
    """

    def __init__(
        self,
        *,
        profile: str | None = None,
        region: str | None = None,
        endpoint_url: str | None = None,
        no_sign_request: bool = False,
        ca_bundle: StrPath | None = None,
        no_verify_ssl: bool = False,
        cli_read_timeout: int | None = None,
        cli_connect_timeout: int | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        credentials: Credentials | None = None,
        session: Any = None,
    ) -> None:
        names = (credentials is not None, session is not None, profile is not None)
        if sum(names) > 1:
            raise ValueError("give one of `credentials`, `session` and `profile`")
        self._settings: dict[str, Any] = {
            "profile": profile,
            "region": region,
            "endpoint_url": endpoint_url,
            "no_sign_request": no_sign_request,
            "ca_bundle": ca_bundle,
            "no_verify_ssl": no_verify_ssl,
            "cli_read_timeout": cli_read_timeout,
            "cli_connect_timeout": cli_connect_timeout,
            "max_concurrent_requests": max_concurrent_requests,
            "max_requests_per_second": max_requests_per_second,
            "max_memory": max_memory,
            "max_bandwidth": max_bandwidth,
        }
        self._secrets = {"credentials": credentials, "session": session}
        given = dict(self._settings)
        if session is not None:
            credentials, found = of_session(session)
            given.update({name: given[name] or value for name, value in found.items()})
        self._provider = None if credentials is None else Provider(credentials)
        self._flags = _words.flags(given)
        self._held: dict[bool, _s3haul.Session] = {}
        if self._flags:
            # Settings that make no sense are refused here. No credentials are fetched for that.
            self._made(False)

    def _session(self, is_of_job: bool = False) -> _s3haul.Session:
        """The session of the extension, with credentials that have not expired.

        Args:
            is_of_job: For what has the settings of its job, and takes the credentials only.
        """
        if self._provider is not None:
            self._provider.prepare()
        return self._made(is_of_job)

    def _made(self, is_of_job: bool) -> _s3haul.Session:
        if is_of_job not in self._held:
            flags = [] if is_of_job else self._flags
            # Of two threads the first one's is kept.
            self._held.setdefault(is_of_job, _s3haul.Session(flags, self._provider))
        return self._held[is_of_job]

    def _start(self, words: Sequence[str], data: bytes | None = None) -> _s3haul.Running:
        return self._session(has_settings(words)).start(words, data)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __reduce__(self) -> tuple[Any, ...]:
        if self._secrets["session"] is not None:
            message = "a client with `session` cannot be pickled: give `credentials` or `profile`"
            raise TypeError(message)
        return _client, (type(self), {**self._settings, **self._secrets})

    def __repr__(self) -> str:
        shown = {name: value for name, value in self._settings.items() if value}
        if url := shown.get("endpoint_url"):
            shown["endpoint_url"] = _without_secrets(str(url))
        parts = [f"{name}={value!r}" for name, value in shown.items()]
        parts += [f"{name}=******" for name, value in self._secrets.items() if value is not None]
        return f"{type(self).__name__}({', '.join(parts)})"

    # What the methods of commands are built on.

    def _transfer(
        self,
        head: Sequence[str],
        paths: Sequence[StrPath | None],
        options: Mapping[str, Any],
        progress: ProgressTarget = None,
    ) -> Result:
        check(progress)
        if options.get("engine") is not None:
            return self._on_engine(head, paths, dict(options), progress)
        return finish(self._start(transfer_call(head, paths, options)), progress, head[0])

    def _on_engine(
        self,
        head: Sequence[str],
        paths: Sequence[StrPath | None],
        options: dict[str, Any],
        progress: ProgressTarget,
    ) -> Result:
        from . import ray
        from ._jobs import Job

        engine, address, folder = map(options.pop, ("engine", "address", "job_folder"))
        if engine != "ray":
            raise ValueError(f'the engine is "ray" or None, not {engine!r}')
        if folder is None:
            raise ValueError("`engine` needs a `job_folder` that all nodes reach")
        job = Job(self._session().job(_words.words(head, paths, options)), self)
        return ray.run(job, at=folder, address=address, progress=progress)

    def _rows(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> Rows:
        words = _words.words(head, paths, options)
        has_versions = head[0] == "versions" or bool(options.get("versions"))
        # Words that make no sense are refused here, which takes no credentials.
        source = self._made(False).rows(words, has_versions)
        start = lambda: self._session().rows(words, has_versions)  # noqa: E731
        return Rows(start, source, _label(head, paths))

    def _compared(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> Rows:
        words = _words.words(head, paths, options)
        source = self._made(False).compared(words)
        return Rows(lambda: self._session().compared(words), source, _label(head, paths))

    def _query(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> Records:
        return records(head, self._transfer(head, paths, options))

    def _text(
        self, head: Sequence[str], paths: Sequence[StrPath | None], options: Mapping[str, Any]
    ) -> str:
        return self._transfer(head, paths, options).output.decode()

    # Commands that have a better type in Python.

    summarize = _summarize  # type: ignore[assignment]
    head = _head  # type: ignore[assignment]
    presign = _presign  # type: ignore[assignment]

    def tag(
        self,
        url: StrPath,
        *,
        set: Tags | None = None,
        add: Tags | None = None,
        remove: Iterable[str] | None = None,
        clear: bool = False,
        progress: ProgressTarget = None,
        **options: Any,
    ) -> Any:
        """Changes the tags of objects, or returns them.

        Args:
            url: An object, or with `recursive=True` a prefix.
            set: Replace all tags by these.
            add: Add these, and keep those that the objects have.
            remove: Remove the tags with these keys.
            clear: Remove all tags.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
            options: Those of `tag_get`, `tag_set`, `tag_add` and `tag_remove`, such as `recursive`.

        Returns:
            A `Result` if tags are changed. Without a change the tags of the object as a dict, and
            with `recursive=True` a list of dicts with `bucket`, `key` and `tags`.

        Raises:
            ValueError: More than one change was given.
            S3haulError: The tags could not be read. Changes report failures in the result.
        """
        given = {"set": set, "add": add, "remove": remove, "clear": clear, **options}
        head, given, is_change = tag_call(given)
        if is_change:
            return self._transfer(head, [url], given, progress)
        return tags_of(self._query(head, [url], given), given)

    # Single objects.

    def read(
        self,
        url: StrPath,
        range: str | tuple[int, int | None] | None = None,
        *,
        version_id: str | None = None,
        progress: ProgressTarget = None,
        **options: Any,
    ) -> bytes:
        """An object. Large ones are read in parallel ranges.

        Args:
            url: `s3://bucket/key`; `*` and `?` in it mean themselves.
            range: `(start, stop)`: bytes from `start` up to `stop`, `stop` not included, or to the
                end if `stop` is None. `(-n, None)` is the last `n` bytes. A text is that of the
                command, such as `0-99`, whose end is included.
            version_id: Read this version, in one request.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
            options: Those of `copy`, with a range or a version those of the command `cat`, such as
                `request_payer`.

        Raises:
            NotFound: There is no such object.
            ValueError: `stop` is not above `start`, or one of them is negative and both are given.
            S3haulError: It could not be read.
        """
        words, data = read_call(url, range, version_id, options)
        check(progress)
        done = finish(self._start(words, data), progress, "read")
        return (done if data is None else alone(done)).output

    cat = read

    def write(
        self, url: StrPath, data: Any, *, progress: ProgressTarget = None, **options: Any
    ) -> Result:
        """Writes an object. Large ones are written in parallel parts.

        Without `content_type` and `no_guess_mime_type` it has the `Content-Type` of its ending.

        Args:
            url: `s3://bucket/key`. A key that ends in a slash is written in one request.
            data: Bytes, or anything that has a buffer.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
            options: Those of `copy`, such as `content_type`, `metadata` or `no_overwrite`; with a
                key that ends in a slash only `content_type`.

        Raises:
            ValueError: The URL has no key, or its key ends in a slash and takes no such options.
            S3haulError: It could not be written.
        """
        check(progress)
        if is_folder(url):
            single = Single(url, as_bytes(data), options)
            putter = single.send(self._session())
            while not (taken := putter.take(WAIT_S, 1)):
                pass
            return single.result(taken, reporter(progress, "write"))
        words = write_call(url, options)
        running = self._start(words, as_bytes(data))
        return alone(finish(running, progress, "write"))

    # Many objects.

    def get_many(
        self,
        names: Iterable[StrPath],
        *,
        root: StrPath | None = None,
        at_once: int | None = None,
        memory: int = MEMORY,
        on_error: OnError = "raise",
        ordered: bool = False,
        request_payer: Literal["requester"] | None = None,
    ) -> Iterator[tuple[Any, Any]]:
        """Reads many objects into memory, one request each.

        Args:
            names: URLs of objects of one bucket, or with `root` keys below it. They are taken as
                there is room, so that a generator may be endless, and ahead of results, so that it
                must not wait for them. An asynchronous generator may, with `s3haul.aio`.
            root: `s3://bucket` or `s3://bucket/prefix`; names are what follows the slash.
            at_once: Requests at a time, up to 16,384; by default as many as for transfers.
            memory: Bytes of objects that are read and not taken.
            on_error: `raise` ends with the first failure, `skip` logs and leaves out what fails,
                `return` returns the exception in place of the bytes.
            ordered: Return objects in the order of their names instead of the order of arrival.
                Objects that wait for their turn are held in addition to `memory`.
            request_payer: `requester` accepts being charged for the requests.

        Returns:
            An iterator of `(name, bytes)`. Closing it ends its requests.

        Raises:
            S3haulError: An object could not be read.
            ValueError: A name is no URL, or in another bucket than the first.
        """
        root_ = Root(root, on_error)
        options = {"request_payer": request_payer}
        window = GetWindow(self._session, root_, at_once, memory, on_error, options, ordered)
        return results(window, iter(_listed(names)), window.add)

    @overload
    def put_many(
        self,
        items: Iterable[tuple[StrPath, Any]],
        *,
        root: StrPath | None = None,
        at_once: int | None = None,
        memory: int = MEMORY,
        content_type: str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        **options: Any,
    ) -> Iterator[Any]: ...
    @overload
    def put_many(
        self,
        items: Iterable[tuple[StrPath, Any]],
        *,
        root: StrPath | None = None,
        at_once: int | None = None,
        memory: int = MEMORY,
        content_type: str | None = None,
        on_error: Literal["return"],
        **options: Any,
    ) -> Iterator[tuple[Any, BaseException | None]]: ...
    def put_many(
        self,
        items: Iterable[tuple[StrPath, Any]],
        *,
        root: StrPath | None = None,
        at_once: int | None = None,
        memory: int = MEMORY,
        content_type: str | None = None,
        on_error: OnError = "raise",
        **options: Any,
    ) -> Iterator[Any]:
        """Writes many objects from memory, one request each; those above 64 MiB in parts.

        Nothing is written until the iterator is consumed.

        Args:
            items: `(name, data)`: names as for `get_many`, data as for `write`.
            root: `s3://bucket` or `s3://bucket/prefix`; names are what follows the slash.
            at_once: Requests at a time, up to 16,384; by default as many as for transfers.
            memory: Bytes that are taken from `items` and not yet written.
            content_type: The `Content-Type` of all; without it that of each key's ending.
            on_error: `raise` ends with the first failure; what is under way then may be written or
                not. `skip` logs and leaves out what fails, `return` returns each name with None or
                an exception.
            options: Properties of all, as for `write`: `metadata`, `storage_class`, `sse`,
                `sse_kms_key_id`, `acl`, `cache_control`, `content_disposition`, `content_encoding`,
                `content_language`, `expires`; and `request_payer`.

        Returns:
            An iterator of the names that were written, in the order in which they were.

        Raises:
            S3haulError: An object could not be written.
            TypeError: Data are no bytes.
            ValueError: A name is no URL, or in another bucket than the first.
        """
        root_ = Root(root, on_error)
        options["content_type"] = content_type
        window = PutWindow(self._session, root_, at_once, memory, on_error, options)

        def add(item: Any) -> Iterable[Any]:
            name, data = pair(item)
            body = as_bytes(data)
            if len(body) <= PARTS_FROM:
                window.add(name, body)
                return ()
            # What was added before does not wait for a large object.
            window.submit()
            return window.answer(name, self._put(root_.url(name), body, options))

        return results(window, iter(items), add)

    def _put(self, url: str, body: bytes, options: Mapping[str, Any]) -> S3haulError | None:
        try:
            self.write(url, body, **options)
        except S3haulError as error:
            return error
        return None

    # Command lines, jobs and plans.

    def run(self, args: Sequence[str], *, progress: ProgressTarget = None) -> Finished:
        """Runs a command line in this process.

        Args:
            args: The words after `s3haul`, such as `["ls", "s3://bucket"]`.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.

        Returns:
            The exit code, what would have been printed to standard output, and the counters.

        Raises:
            S3haulError: The command failed as a whole, or its words make no sense.
        """
        words = command_line(args)
        check(progress)
        result = finish(self._start(words), progress, words[0] if words else "")
        return Finished(result.status, result.output, result)

    def job(self, command: str, /, *args: Any, **options: Any) -> Job:
        """The job that a call is, without running it: `client.job("sync", "a", "s3://b/a")`.

        Args:
            command: The name of a method that is a command.
            args: Its paths and URLs.
            options: Its options.

        Raises:
            UsageError: The call makes no sense, or would hold a secret.
        """
        from ._jobs import job_of

        return job_of(self, command, args, options)

    def jobs(self, *, journal: StrPath | None = None) -> builtins.list[JobStatus]:
        """The jobs that have a journal, the newest first.

        Args:
            journal: The folder of the journals; by default that of the command.
        """
        from ._jobs import jobs

        return jobs(self, journal)

    def plan(
        self, command: str, /, *args: Any, path: StrPath | None = None, **options: Any
    ) -> Plan:
        """Everything that a call would do, without doing it: see `s3haul.plan`.

        Raises:
            UsageError: The command is none that can be planned.
        """
        from ._plan import plan_of

        return plan_of(self, command, args, path, options)


def _listed(names: Iterable[StrPath]) -> Iterable[StrPath]:
    if isinstance(names, (str, bytes)):
        raise TypeError("names is a list or another iterable, not a text")
    return names


def _without_secrets(url: str) -> str:
    """A URL without what its authority has before the `@`."""
    if "@" not in url:
        return url
    found = re.fullmatch(r"([a-z][a-z0-9+.-]*://)([^/?#]*@)?([^/?#@]*)([/?#][^@]*)?", url, re.I)
    # With an unescaped slash in a password, the end of the authority is unknown.
    return f"{found[1]}******@{found[3]}{found[4] or ''}" if found and found[2] else "******"


def _label(head: Sequence[str], paths: Sequence[StrPath | None]) -> str:
    return " ".join([head[0], *(_words.path(path) for path in paths if path is not None)])


def _client(of: type[Client], settings: dict[str, Any]) -> Client:
    return of(**settings)
