"""Jobs, journals, and jobs that are killed."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import s3haul
from conftest import PATIENCE_S, Bucket, RunScript, Service, _bucket

FILES = 200
COMMAND = [sys.executable, "-m", "s3haul"]


@pytest.fixture
def slow() -> Iterator[Bucket]:
    """A bucket of a server with latency."""
    with s3haul.serve(latency="20ms") as server:
        yield _bucket(Service("slow", server.url, server.access_key, server.secret_key))


@pytest.fixture
def many(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"f{number:03}").write_bytes(b"%d" % number)
    return folder


def is_complete(bucket: Bucket) -> bool:
    found = bucket.boto3.list_objects_v2(Bucket=bucket.name).get("Contents", [])
    sums = {f"many/f{n:03}": hashlib.md5(b"%d" % n).hexdigest() for n in range(FILES)}
    return {row["Key"]: row["ETag"].strip('"') for row in found} == sums


def run_command(bucket: Bucket, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words],
        env={**os.environ, **bucket.service.environment()},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


def test_jobs_are_the_same_as_those_of_the_command(own: Bucket, tmp_path: Path) -> None:
    client = s3haul.Client()
    os.environ.update(own.service.environment())
    job = client.job("sync", "a", "s3://b/a", delete=True, exclude=["*.tmp"], min_size="1KB")
    words = ["sync", "a", "s3://b/a", "--delete", "--exclude", "*.tmp", "--min-size", "1KB"]
    printed = run_command(own, tmp_path, *words, "--print-job")
    assert printed.returncode == 0, printed.stderr
    assert job.to_json() == printed.stdout.rstrip("\n")
    assert s3haul.Job.from_json(printed.stdout) == job
    assert hash(s3haul.Job(job.document)) == hash(job)
    assert pickle.loads(pickle.dumps(job)) == job
    assert repr(job) == "<Job: sync a s3://b/a>"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test sets is taken back."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_every_kind_of_call_is_a_job(own: Bucket) -> None:
    job = own.client.job
    calls = {
        "list": job("list", own.url(), sort=True),
        "compare": job("compare", "a", own.url()),
        "remove": job("remove", own.url("a")),
        "tag": job("tag_set", own.url("a"), tags={"a": "b"}),
        "summarize": job("summarize", own.url()),
        "map": job("map", own.url(), map="js:(key) => key"),
    }
    assert {name: next(iter(job.document["task"])) for name, job in calls.items()} == {
        name: name for name in calls
    }
    assert job("tag", own.url("a"), set={"a": "b"}) == calls["tag"]
    assert job("tag", own.url("a")) == job("tag_get", own.url("a"))
    for wrong in ("no_such_command", "_session", "read"):
        with pytest.raises(AttributeError, match=wrong):
            job(wrong)
    with pytest.raises(s3haul.UsageError):
        job("sync", "a", "b")


def test_jobs_run(own: Bucket, files: Path) -> None:
    job = own.client.job("sync", files, own.url())
    assert own.objects() == {}
    assert job.run().done == 3
    assert len(own.objects()) == 3
    with pytest.raises(ValueError):
        s3haul.Job("[]")
    with pytest.raises(s3haul.S3haulError, match="unknown|version"):
        s3haul.Job({"version": 99}, own.client).run()


def test_journals_are_listed(own: Bucket, files: Path, tmp_path: Path) -> None:
    assert own.client.jobs(journal=tmp_path / "j") == []
    own.client.sync(files, own.url(), journal=tmp_path / "j")
    (status,) = own.client.jobs(journal=tmp_path / "j")
    assert (status.state, status.objects, status.bytes) == ("done", 3, 6)
    assert (status.can_resume, status.directory) == (False, os.getcwd())
    assert status.begun.tzinfo is not None
    with pytest.raises(s3haul.UsageError):
        status.resume()


def test_jobs_of_other_directories_are_resumed_there(
    own: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "file").write_text(folder.name)
        monkeypatch.chdir(folder)
        wrong = f"s3://no-{folder.name}/file"
        assert own.client.copy("file", wrong, journal=tmp_path / "journal").failed == 1
        own.boto3.create_bucket(Bucket=f"no-{folder.name}")
    for folder in (here, there):
        monkeypatch.chdir(folder)
        (mine,) = (s for s in own.client.jobs(journal=tmp_path / "journal") if s.can_resume)
        assert mine.directory == str(folder)
        assert mine.resume().raise_for_failures().done == 1


def test_a_job_of_a_removed_directory_is_resumed_anywhere(
    own: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, gone, journal = tmp_path / "file", tmp_path / "gone", tmp_path / "journal"
    file.write_text("x")
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert own.client.copy(file, "s3://no-gone/file", journal=journal).failed == 1
    monkeypatch.chdir(tmp_path)
    own.boto3.create_bucket(Bucket="no-gone")
    (status,) = own.client.jobs(journal=journal)
    assert (status.can_resume, status.directory) == (True, "")
    assert status.resume().raise_for_failures().done == 1


CHILD = """
import json, os, signal, sys
import s3haul

source, target, journal, what = sys.argv[1:]
client = s3haul.Client(max_concurrent_requests=4)

def interrupt(progress):
    if progress.done >= 20:
        os.kill(os.getpid(), signal.SIGINT if what == "interrupt" else signal.SIGKILL)

try:
    client.sync(source, target, journal=journal, progress=interrupt)
except KeyboardInterrupt:
    (status,) = client.jobs(journal=journal)
    print(json.dumps([status.state, status.can_resume, status.objects]))
    if what == "interrupt":
        sys.exit(130)
"""


def start(slow: Bucket, many: Path, script: RunScript, what: str) -> Any:
    journal = str(many.parent / "journal")
    return script(CHILD, slow.service.environment(), "many", slow.url("many"), journal, what)


def test_an_interrupt_leaves_a_journal_that_the_command_resumes(
    slow: Bucket, many: Path, script: RunScript
) -> None:
    done = start(slow, many, script, "interrupt")
    assert done.returncode == 130, done.stderr
    state, can_resume, objects = json.loads(done.stdout)
    assert (state, can_resume) == ("interrupted", True)
    assert 20 <= objects < FILES
    resume(slow, many)


def test_what_is_killed_here_is_resumed_by_the_command(
    slow: Bucket, many: Path, script: RunScript
) -> None:
    done = start(slow, many, script, "kill")
    assert done.returncode == -9
    assert not is_complete(slow)
    resume(slow, many)


def resume(slow: Bucket, many: Path) -> None:
    journal = many.parent / "journal"
    (status,) = slow.client.jobs(journal=journal)
    done = run_command(slow, many.parent, "jobs", "resume", status.id, "--journal", str(journal))
    assert done.returncode == 0, done.stderr
    assert is_complete(slow)


def test_a_command_that_is_killed_is_resumed_here(
    slow: Bucket, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = many.parent / "journal"
    words = ["sync", "many", slow.url("many"), "--journal", str(journal), "--json"]
    process = subprocess.Popen(
        [*COMMAND, *words, "--max-concurrent-requests=4"],
        env={**os.environ, **slow.service.environment()},
        cwd=many.parent,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    assert not is_complete(slow)
    (status,) = slow.client.jobs(journal=journal)
    assert not status.can_resume
    with pytest.raises(s3haul.UsageError, match="directory"):
        status.resume()
    monkeypatch.chdir(many.parent)
    (status,) = slow.client.jobs(journal=journal)
    assert status.can_resume
    result = status.resume().raise_for_failures()
    assert result.status == 0
    assert is_complete(slow)
    (status,) = slow.client.jobs(journal=journal)
    # What was in flight, and what ended with others in one moment, may have arrived without being
    # counted: the target has it, and it is left.
    assert status.state == "done"
    assert FILES - 8 <= status.objects <= FILES


def test_progress_is_reported(slow: Bucket, many: Path) -> None:
    seen: list[s3haul.Progress] = []
    result = slow.client.sync(many, slow.url("many"), progress=seen.append)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    last = seen[-1]
    assert (last.done, last.planned, last.is_plan_complete) == (FILES, FILES, True)
    assert last.bytes == result.bytes == last.planned_bytes
    assert last.rate > 0


def test_progress_that_raises_ends_the_job(slow: Bucket, many: Path) -> None:
    def fails(progress: s3haul.Progress) -> None:
        raise KeyError("mine")

    client = slow.service.client(max_concurrent_requests=1)
    with pytest.raises(KeyError, match="mine"):
        client.sync(many, slow.url("many"), progress=fails)
    assert not is_complete(slow)
    with pytest.raises(TypeError, match="progress"):
        client.sync(many, slow.url("many"), progress="bar")  # type: ignore[arg-type]


@pytest.mark.parametrize("hidden", [[], ["tqdm.auto"], ["tqdm.auto", "rich.progress"]])
def test_progress_has_bars(own: Bucket, files: Path, script: RunScript, hidden: list[str]) -> None:
    text = """
import sys
for name in sys.argv[3:]:
    sys.modules[name] = None
import s3haul
s3haul.sync(sys.argv[1], sys.argv[2], progress=True)
"""
    done = script(text, own.service.environment(), str(files), own.url(), *hidden)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "sync" in done.stderr
