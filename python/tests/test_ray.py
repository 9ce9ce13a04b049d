"""Jobs on a Ray cluster of this machine, whose nodes, workers and drivers are lost amid them."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import s3haul
from conftest import PATIENCE_S, Bucket, RunScript, Service

ray = pytest.importorskip("ray")

#: Objects of a job.
OBJECTS = int(os.environ.get("S3HAUL_TEST_RAY_OBJECTS", "2000"))
#: Of the jobs that come one after the other: keys of a few bytes, real files, and the size of each
#: of three large objects.
KEYS = int(os.environ.get("S3HAUL_TEST_RAY_KEYS", "1500"))
FILES = int(os.environ.get("S3HAUL_TEST_RAY_FILES", "100"))
LARGE_MIB = int(os.environ.get("S3HAUL_TEST_RAY_LARGE_MIB", "24"))
#: Larger files are not taken: they may be sent in parts, and then their ETag is not their MD5.
FILE_BYTES_MAX = 2**20
#: Objects whose tags are looked at.
TAGGED_MAX = 200
#: How often what is lost is lost.
ROUNDS = range(int(os.environ.get("S3HAUL_TEST_RAY_ROUNDS", "1")))
#: So that a lost node is noticed within seconds, not after fifteen, and a busy one is not lost.
HEALTH = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 2000,
    "health_check_failure_threshold": 4,
}
STORE_BYTES = 80 * 2**20
#: How often a node is started until it is there in time.
STARTS_MAX = 4
#: A command on Ray: a busy machine takes its time to start workers.
COMMAND_S = 4 * PATIENCE_S
#: Many short shards, and dead workers that are soon noticed.
SHORT: dict[str, Any] = {"shards": 6, "budget": 0.3, "lease": 1.0}
#: Such that few of them are under way at a time, of a job that is held to a rate.
MANY: dict[str, Any] = {**SHORT, "shards": 40}
#: The same where a shard that is done twice would count otherwise: no worker is taken for dead.
ALIVE: dict[str, Any] = {**MANY, "lease": COMMAND_S}

#: Size and MD5 of each key.
Contents = dict[str, tuple[int, str]]


#: Of the processes of all nodes; service and credentials are in it.
environment: dict[str, str] = {}


@pytest.fixture(scope="module")
def cluster(embedded: Service) -> Iterator[Any]:
    """A head that does nothing and three nodes, which find the server in their environment."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        for name, value in embedded.environment().items():
            patch.setenv(name, value)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        environment.update(os.environ)
        cluster = Cluster(initialize_head=False)
        add_node(cluster, num_cpus=0, _system_config=HEALTH)
        for _ in range(3):
            add_node(cluster)
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
        ray.shutdown()
        cluster.shutdown()


def add_node(cluster: Any, num_cpus: int = 1, **settings: Any) -> Any:
    """A node more; the first one is the head.

    Ray waits half a minute for it, and a busy machine may take longer: then another one is started.
    """
    settings |= {"num_cpus": num_cpus, "object_store_memory": STORE_BYTES}
    # Tests have less in their environment.
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        for _ in range(STARTS_MAX - 1):
            try:
                return cluster.add_node(**settings)
            except Exception as error:
                if "timed out" not in str(error).lower():
                    raise
        return cluster.add_node(**settings)


@pytest.fixture
def filled(own: Bucket) -> Bucket:
    """A bucket with objects below `in/`."""
    items = ((f"in/{number % 7}/{number:05}", b"%d" % number) for number in range(OBJECTS))
    assert sum(1 for _ in own.client.put_many(items, root=own.url())) == OBJECTS
    return own


def etags(bucket: Bucket, prefix: str) -> dict[str, str]:
    return {
        row.key.removeprefix(prefix): row.etag
        for row in bucket.client.list(bucket.url(prefix))
    }


def real_files() -> Iterator[Path]:
    """Files of this machine, below its Python first."""
    for root in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "/usr"):
        for path in Path(root).rglob("*"):
            if (
                path.is_file()
                and not path.is_symlink()
                and path.stat().st_size <= FILE_BYTES_MAX
                and os.access(path, os.R_OK)
                and str(path).isprintable()
            ):
                yield path


def fill(bucket: Bucket, folder: Path) -> Contents:
    """Many keys, real files and three large objects below `in/`; what was written."""
    written: Contents = {}

    def remember(key: str, data: bytes) -> tuple[str, bytes]:
        written[key] = (len(data), hashlib.md5(data).hexdigest())
        return key, data

    many = (remember(f"{number % 7}/{number:07}", b"%d" % number) for number in range(KEYS))
    paths = itertools.islice(real_files(), FILES)
    real = (remember(f"files{path}", path.read_bytes()) for path in paths)
    for _ in bucket.client.put_many(itertools.chain(many, real), root=bucket.url("in/")):
        pass
    for name in ("a", "b", "c"):
        md5, path = hashlib.md5(), folder / name
        with path.open("wb") as file:
            for block in itertools.chain((os.urandom(2**20) for _ in range(LARGE_MIB)), [b"end"]):
                md5.update(block)
                file.write(block)
        written[f"large/{name}"] = (path.stat().st_size, md5.hexdigest())
        bucket.boto3.upload_file(str(path), bucket.name, f"in/large/{name}")
        path.unlink()
    return written


def found(boto3: Any, bucket: str, prefix: str) -> Contents:
    """What boto3 finds. What came in parts is read, as its ETag does not say what it is."""
    there: Contents = {}
    for page in boto3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        for row in page.get("Contents", []):
            etag = row["ETag"].strip('"')
            if "-" in etag:
                md5 = hashlib.md5()
                body = boto3.get_object(Bucket=bucket, Key=row["Key"])["Body"]
                for block in body.iter_chunks(2**20):
                    md5.update(block)
                etag = md5.hexdigest()
            there[row["Key"].removeprefix(prefix)] = (row["Size"], etag)
    return there


def differences(one: Contents, other: Contents) -> list[Any]:
    """The first ones; all of a million would take a while to print."""
    return [] if one == other else sorted(one.items() ^ other.items())[:10]


def assert_in_pieces(folder: Path) -> None:
    """Three objects were begun, sent in pieces and ended."""
    ends = [path.name.rpartition("-")[2] for path in folder.glob("*/part/*")]
    assert (ends.count("begin"), ends.count("end")) == (3, 3)
    assert len(ends) >= 3 * (2 + 2)


def change(bucket: Bucket, contents: Contents) -> int:
    """Changes `in/` and `out/` for a sync; how many objects it has to do."""
    s3, name = bucket.boto3, bucket.name
    some = range(1, KEYS // 100)
    for number in some:
        folder = f"{number % 7}/{7 * number:07}"
        for key in (f"{folder}-new", f"{number % 7}/{number:07}"):
            data = b"changed %d" % number
            s3.put_object(Bucket=name, Key=f"in/{key}", Body=data)
            contents[key] = (len(data), hashlib.md5(data).hexdigest())
        for key in (f"{folder}-gone", f"zzz/{number}"):
            s3.put_object(Bucket=name, Key=f"out/{key}", Body=b"to go")
        lost = KEYS - number
        s3.delete_object(Bucket=name, Key=f"out/{lost % 7}/{lost:07}")
    return 5 * len(some)


def test_three_nodes_do_one_job_after_the_other(
    cluster: Any, own: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = fill(own, tmp_path)
    # Here and on the nodes, the environment has service and credentials. Copies go in parts, too.
    config = tmp_path / "config"
    config.write_text("[default]\ns3 =\n  multipart_threshold = 8MB\n")
    for name, value in (own.service.environment() | {"AWS_CONFIG_FILE": str(config)}).items():
        monkeypatch.setenv(name, value)

    job = s3haul.job("copy", own.url("in/"), own.url("out/"), recursive=True)
    result = s3haul.ray.run(job, at=tmp_path / "copy", **ALIVE)
    assert (result.done, result.status) == (len(contents), 0)
    assert result.bytes == sum(size for size, _ in contents.values())
    assert_in_pieces(tmp_path / "copy")
    assert not own.boto3.list_multipart_uploads(Bucket=own.name).get("Uploads")
    assert not differences(found(own.boto3, own.name, "out/"), contents)

    changes = change(own, contents)
    seen: list[s3haul.Progress] = []
    result = own.client.sync(
        own.url("in/"),
        own.url("out/"),
        delete=True,
        engine="ray",
        job_folder=own.url("job"),
        progress=seen.append,
    )
    assert result.raise_for_failures().done == changes
    assert (seen[-1].done, seen[-1].shards_left, seen[-1].is_plan_complete) == (changes, 0, True)
    assert seen[-1].shards_done > 1
    assert not differences(found(own.boto3, own.name, "in/"), contents)
    assert not differences(found(own.boto3, own.name, "out/"), contents)

    at = tmp_path / "tags"
    job = own.client.job("tag_set", own.url("out/"), tags={"team": "red"}, recursive=True)
    result = s3haul.ray.run(job.to_json(), at=at, client=own.client, **ALIVE)
    assert result.done == len(contents)
    for key in random.sample(sorted(contents), min(TAGGED_MAX, len(contents))):
        tags = own.boto3.get_object_tagging(Bucket=own.name, Key=f"out/{key}")["TagSet"]
        assert tags == [{"Key": "team", "Value": "red"}], key
    with pytest.raises(s3haul.UsageError, match="is done: a new run of it needs a new folder"):
        s3haul.ray.run(job, at=at, client=own.client)

    keys = {"access_key": own.service.access_key, "secret_key": own.service.secret_key}
    with s3haul.serve(**keys) as other:
        other.client().make_bucket("s3://relayed")
        job = own.client.job(
            "copy",
            own.url("out/"),
            "s3://relayed/",
            recursive=True,
            source_endpoint_url=own.service.url,
            target_endpoint_url=other.url,
        )
        result = s3haul.ray.run(job, at=tmp_path / "relay", **ALIVE)
        assert result.raise_for_failures().done == len(contents)
        assert_in_pieces(tmp_path / "relay")
        assert not differences(found(other.boto3_client(), "relayed", ""), contents)


def test_credentials_go_to_the_tasks_alone(cluster: Any, tmp_path: Path) -> None:
    with s3haul.serve(access_key="id", secret_key="not-in-the-folder") as server:
        client = server.client(credentials=lambda: ("id", "not-in-the-folder"))
        client.make_bucket("s3://bucket")
        (tmp_path / "file").write_bytes(b"1")
        folder = tmp_path / "job"
        job_folder = {"engine": "ray", "job_folder": folder}
        assert client.copy(tmp_path / "file", "s3://bucket/file", **job_folder).done == 1
        assert client.read("s3://bucket/file") == b"1"
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert len(written) == 2
    assert not any(b"not-in-the-folder" in text for text in written)


def test_the_command_hands_a_job_over(cluster: Any, filled: Bucket, tmp_path: Path) -> None:
    job = filled.client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
    (tmp_path / "job.json").write_text(job.to_json())
    words = ["job", "run", str(tmp_path / "job.json"), "--ray", cluster.address]
    ended = subprocess.run(
        [sys.executable, "-m", "s3haul", *words, "--at", filled.url("job")],
        env={**os.environ, **filled.service.environment()},
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"{OBJECTS} objects, ")
    assert etags(filled, "out/") == etags(filled, "in/")


@pytest.mark.parametrize("number", ROUNDS)
def test_shards_that_are_done_twice_count_once(
    cluster: Any, filled: Bucket, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def is_taken_for_dead(*call: Any) -> Any:
        if call[2] % 5 == 1:
            # Amid its shard it stands still for longer than a lease, and goes on.
            still = "sleep 0.3; kill -STOP $0; sleep 2.5; kill -CONT $0"
            subprocess.Popen(["sh", "-c", still, str(os.getpid())])
        return s3haul.ray._shard(*call)

    monkeypatch.setattr(s3haul.ray, "_shard", is_taken_for_dead)
    job = filled.client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
    client = filled.service.client(max_requests_per_second=OBJECTS // 2)
    result = s3haul.ray.run(job, at=filled.url("job"), client=client, **MANY)
    assert result.done == OBJECTS
    assert etags(filled, "out/") == etags(filled, "in/")


@pytest.mark.parametrize("number", ROUNDS)
def test_a_node_is_lost_and_another_one_comes(
    cluster: Any, filled: Bucket, number: int
) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    lost_at = random.Random(seed).randrange(1, OBJECTS * 2 // 3)
    lost: list[Any] = []

    def lose(progress: s3haul.Progress) -> None:
        if not lost and progress.done >= lost_at:
            lost.append(random.Random(seed).choice([*cluster.worker_nodes]))
            cluster.remove_node(lost[0], allow_graceful=False)
            add_node(cluster)

    # All tasks together are held to this rate.
    client = filled.service.client(max_requests_per_second=OBJECTS // 3)
    job = client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
    result = s3haul.ray.run(job, at=filled.url("job"), progress=lose, **MANY)
    assert lost
    assert result.done == OBJECTS
    assert etags(filled, "out/") == etags(filled, "in/")


@pytest.mark.parametrize("number", ROUNDS)
def test_the_governor_is_lost_and_comes_back(
    cluster: Any, filled: Bucket, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    made: list[Any] = []
    pids: list[int] = []
    begin = s3haul.ray._governor

    def keep_in_sight(*call: Any) -> Any:
        made.append(begin(*call))
        see()
        return made[0]

    def see() -> None:
        pids.append(ray.get(made[0].__ray_call__.remote(lambda _: os.getpid())))

    # In every other round it stands still before, for longer than its answers are waited for.
    still_s = s3haul.ray._ANSWER_S + 1 if number % 2 else 0.0
    stopped: list[float] = []
    killed: list[float] = []

    def lose(progress: s3haul.Progress) -> None:
        if progress.done and not stopped:
            os.kill(pids[0], signal.SIGSTOP)
            stopped.append(progress.elapsed)
        if not stopped or killed:
            return
        if progress.elapsed >= stopped[0] + still_s or not progress.shards_left:
            os.kill(pids[0], signal.SIGKILL)
            killed.append(progress.elapsed)

    monkeypatch.setattr(s3haul.ray, "_governor", keep_in_sight)
    rate = OBJECTS // 4
    client = filled.service.client(max_requests_per_second=rate)
    job = client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
    result = s3haul.ray.run(job, at=filled.url("job"), progress=lose, **MANY)
    assert result.done == OBJECTS
    assert result.elapsed > OBJECTS / rate / 2
    assert etags(filled, "out/") == etags(filled, "in/")
    see()
    assert pids[0] != pids[1]


@pytest.mark.parametrize("number", ROUNDS)
def test_workers_are_lost_between_commit_and_answer(
    cluster: Any, filled: Bucket, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def dies_after(*call: Any) -> Any:
        answer = s3haul.ray._shard(*call)
        if call[2] % 3 == 0:
            os._exit(17)
        return answer

    monkeypatch.setattr(s3haul.ray, "_shard", dies_after)
    job = filled.client.job("move", filled.url("in/"), filled.url("out/"), recursive=True)
    result = s3haul.ray.run(job, at=filled.url("job"), **{**ALIVE, "shards": 6})
    assert result.done == OBJECTS
    assert etags(filled, "in/") == {}
    assert sorted(etags(filled, "out/")) == sorted(
        f"{number % 7}/{number:05}" for number in range(OBJECTS)
    )


DRIVER = """
import sys
import s3haul

source, target, folder, address, rate = sys.argv[1:]
job = s3haul.job("copy", source, target, recursive=True)
client = s3haul.Client(max_requests_per_second=int(rate))
show = lambda progress: print(progress.done, flush=True)
call = {"shards": 40, "budget": 0.3, "lease": 1, "client": client}
s3haul.ray.run(job, at=folder, address=address, progress=show, **call)
"""


@pytest.mark.parametrize("number", ROUNDS)
def test_another_one_ends_what_a_lost_driver_began(
    cluster: Any, filled: Bucket, tmp_path: Path, number: int
) -> None:
    lost_at = random.randrange(1, OBJECTS // 4)
    print("lost at", lost_at)
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    words = [filled.url("in/"), filled.url("out/"), filled.url("job"), cluster.address]
    with_service = {**os.environ, **filled.service.environment()}
    driver = subprocess.Popen(
        [sys.executable, str(script), *words, str(OBJECTS // 8)],
        env=with_service,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    assert any(int(line) >= lost_at for line in driver.stdout)
    driver.kill()
    driver.wait()
    driver.stdout.close()
    if number % 2 == 0:
        resumed = subprocess.run(
            [sys.executable, "-m", "s3haul", "jobs", "resume", filled.url("job")],
            env=with_service,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
        )
        assert resumed.returncode == 0, resumed.stderr
    else:
        job = filled.client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
        assert s3haul.ray.run(job, at=filled.url("job"), **SHORT).done == OBJECTS
    assert etags(filled, "out/") == etags(filled, "in/")


def test_a_call_that_is_interrupted_goes_on_in_the_next(cluster: Any, filled: Bucket) -> None:
    def interrupt(progress: s3haul.Progress) -> None:
        if progress.done:
            raise KeyError("mine")

    job = filled.client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
    # Tasks that are cancelled leave their shards at once: the next call need not wait for the leases.
    call: dict[str, Any] = {"at": filled.url("job"), **ALIVE}
    # So slow that much is left.
    slow = filled.service.client(max_requests_per_second=OBJECTS // 8)
    with pytest.raises(KeyError, match="mine"):
        s3haul.ray.run(job, client=slow, progress=interrupt, **call)
    assert len(etags(filled, "out/")) < OBJECTS
    other = filled.client.job("copy", filled.url("in/"), filled.url("else/"), recursive=True)
    with pytest.raises(s3haul.UsageError, match="is the folder of another job"):
        s3haul.ray.run(other, **call)
    result = s3haul.ray.run(job, **call)
    assert result.done == OBJECTS
    assert result.elapsed < COMMAND_S / 2
    assert etags(filled, "out/") == etags(filled, "in/")


def test_failures_of_objects_are_in_the_result(cluster: Any, own: Bucket, tmp_path: Path) -> None:
    for key in ("a", "b"):
        own.client.write(own.url(f"in/{key}"), b"1")
    (tmp_path / "out" / "a").mkdir(parents=True)
    (tmp_path / "out" / "a" / "in-the-way").touch()
    result = own.client.copy(
        own.url("in/"), tmp_path / "out", recursive=True, engine="ray", job_folder=own.url("job")
    )
    assert (result.done, result.failed, result.status) == (1, 1, 1)
    assert result.failures[0].source == own.url("in/a")
    with pytest.raises(s3haul.TransferFailed):
        result.raise_for_failures()


def test_tasks_that_fail_again_and_again_end_the_call(
    cluster: Any, own: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_REST_S", "_LOOK_S"):
        monkeypatch.setattr(s3haul.ray, name, 0.1)
    own.client.write(own.url("out/a"), b"1")
    job = own.client.job("sync", own.url("none/"), own.url("out/"), delete=True)
    with pytest.raises(s3haul.S3haulError, match="is empty"):
        s3haul.ray.run(job, at=own.url("job"), **SHORT)
    assert own.objects("out/") == {"out/a": b"1"}


def test_calls_that_make_no_sense_are_refused(own: Bucket, tmp_path: Path) -> None:
    copy: Callable[..., Any] = own.client.copy
    with pytest.raises(ValueError, match="job_folder"):
        copy("a", own.url("a"), engine="ray")
    with pytest.raises(ValueError, match="engine"):
        copy("a", own.url("a"), engine="spark", job_folder="b")
    with pytest.raises(s3haul.UsageError, match="--address"):
        copy("a", own.url("a"), address="auto")
    with open(tmp_path / "file", "w") as file:
        keys = (own.service.access_key, own.service.secret_key)
        client = own.service.client(credentials=lambda: (file, *keys)[1:])
        job = client.job("copy", own.url("a"), own.url("b"))
        with pytest.raises(s3haul.UsageError, match="cannot be sent to other machines"):
            s3haul.ray.run(job, at=own.url("job"))
    with pytest.raises(s3haul.UsageError, match="dry runs"):
        own.client.plan("copy", own.url("a"), own.url("b"), engine="ray", job_folder=own.url("j"))


def test_without_ray_it_is_said_what_to_install(script: RunScript) -> None:
    text = """
import sys
sys.modules["ray"] = None
import s3haul
s3haul.copy("s3://a/b", "s3://a/c", engine="ray", job_folder="s3://a/job")
"""
    done = script(text, {"AWS_REGION": "us-east-1"})
    assert "pip install ray" in done.stderr


def test_shares_of_the_rate_are_never_more_than_the_rate() -> None:
    governor = s3haul.ray._Governor(100)
    assert [governor.lease(task, 25) for task in range(4)] == [25] * 4
    # The others have what they have until they end.
    assert governor.lease(4, 20) == 0
    governor.keep([1, 2, 3, 4], 4)
    assert governor.lease(5, 15) == 15
    assert governor.lease(4, 20) == 10
    # One that was lost and is back gets questions of tasks that have ended meanwhile.
    governor.keep([4, 5], 5)
    assert governor.lease(1, 80) == 75
    governor.keep([4, 5], 5)
    assert governor.lease(6, 80) == 75
