"""Jobs on a Ray cluster of this machine, whose nodes, workers and drivers are lost amid them."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import s3haul
from conftest import PATIENCE_S, Bucket, RunScript, Service

ray = pytest.importorskip("ray")

#: Objects of a job.
OBJECTS = int(os.environ.get("S3HAUL_TEST_RAY_OBJECTS", "2000"))
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
SHORT = {"shards": 6, "budget": 0.3, "lease": 1.0}


#: Of the processes of all nodes; service and credentials are in it.
environment: dict[str, str] = {}


@pytest.fixture(scope="module")
def cluster(embedded: Service) -> Iterator[Any]:
    """A head that does nothing and two nodes, which find the server in their environment."""
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        for name, value in embedded.environment().items():
            patch.setenv(name, value)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        environment.update(os.environ)
        cluster = Cluster(initialize_head=False)
        add_node(cluster, num_cpus=0, _system_config=HEALTH)
        for _ in range(2):
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


def test_a_copy_is_whole(cluster: Any, filled: Bucket) -> None:
    seen: list[s3haul.Progress] = []
    result = filled.client.copy(
        filled.url("in/"),
        filled.url("out/"),
        recursive=True,
        engine="ray",
        job_folder=filled.url("job"),
        progress=seen.append,
    )
    assert (result.done, result.status) == (OBJECTS, 0)
    assert result.bytes == sum(len(str(number)) for number in range(OBJECTS))
    assert etags(filled, "out/") == etags(filled, "in/")
    last = seen[-1]
    assert (last.done, last.shards_left, last.is_plan_complete) == (OBJECTS, 0, True)
    assert last.shards_done > 1


def test_a_sync_removes_what_is_no_longer_there(
    cluster: Any, filled: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.client.copy(filled.url("in/2/"), filled.url("out/2/"), recursive=True)
    for key in ("0", "in/9", "out/2/99999x", "out/zzz"):
        filled.client.write(filled.url(key), b"to go")
    # Here and on the nodes, the environment has service and credentials.
    for name, value in filled.service.environment().items():
        monkeypatch.setenv(name, value)
    job = s3haul.job("sync", filled.url("in/"), filled.url("out/"), delete=True)
    # A shard that is done twice finds nothing to do the second time, and the count would be too low:
    # leases are long.
    call: dict[str, Any] = {**SHORT, "lease": 30.0}
    result = s3haul.ray.run(job, at=filled.url("job"), **call)
    there, added, gone = len(range(2, OBJECTS, 7)), 1, 2
    assert result.raise_for_failures().done == OBJECTS - there + added + gone
    assert etags(filled, "out/") == etags(filled, "in/")


def test_tags_through_a_directory(cluster: Any, filled: Bucket, tmp_path: Path) -> None:
    job = filled.client.job("tag_set", filled.url("in/"), tags={"team": "red"}, recursive=True)
    result = s3haul.ray.run(job.to_json(), at=tmp_path / "job", client=filled.client, **SHORT)
    assert result.done == OBJECTS
    tagged = filled.client.tag(filled.url("in/"), recursive=True)
    assert [row["tags"] for row in tagged] == [{"team": "red"}] * OBJECTS
    with pytest.raises(s3haul.UsageError, match="is done: a new run of it needs a new folder"):
        s3haul.ray.run(job, at=tmp_path / "job", client=filled.client)


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


def test_large_objects_are_done_by_all_nodes(
    cluster: Any, own: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = {f"in/{name}": os.urandom(40 * 2**20 + 7) for name in ("a", "b", "c")}
    for key, data in source.items():
        own.client.write(own.url(key), data)
    # Here and on the nodes, the environment has service and credentials. Copies go in parts, too.
    config = tmp_path / "config"
    config.write_text("[default]\ns3 =\n  multipart_threshold = 8MB\n")
    for name, value in (own.service.environment() | {"AWS_CONFIG_FILE": str(config)}).items():
        monkeypatch.setenv(name, value)
    job = s3haul.job("copy", own.url("in/"), own.url("out/"), recursive=True)
    at = tmp_path / "job"
    result = s3haul.ray.run(job, at=at, shards=2, budget=1.0, lease=1.0)
    assert (result.done, result.bytes) == (3, sum(map(len, source.values())))
    for key, data in source.items():
        assert own.client.read(own.url(key.replace("in/", "out/"))) == data
    # Begun, six pieces each, and ended.
    assert len(list(at.glob("*/part/*"))) == 24
    assert not list(own.client.uploads_ls(own.url()))


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


def test_shards_that_are_done_twice_count_once(cluster: Any, filled: Bucket) -> None:
    # So short that workers are taken for dead while they run.
    job = filled.client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
    call: dict[str, Any] = {**SHORT, "lease": 0.1}
    result = s3haul.ray.run(job, at=filled.url("job"), **call)
    assert result.done == OBJECTS
    assert etags(filled, "out/") == etags(filled, "in/")


@pytest.mark.parametrize("number", ROUNDS)
def test_a_node_is_lost_and_another_one_comes(
    cluster: Any, filled: Bucket, number: int
) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    lost_at = random.Random(seed).randrange(1, OBJECTS * 2 // 3)
    nodes = [add_node(cluster)]

    def lose(progress: s3haul.Progress) -> None:
        if nodes and progress.done >= lost_at:
            cluster.remove_node(nodes.pop(), allow_graceful=False)
            add_node(cluster)

    # All tasks together are held to this rate.
    client = filled.service.client(max_requests_per_second=OBJECTS // 3)
    job = client.job("copy", filled.url("in/"), filled.url("out/"), recursive=True)
    result = s3haul.ray.run(job, at=filled.url("job"), progress=lose, **SHORT)
    assert not nodes
    assert result.done == OBJECTS
    assert result.elapsed > 2
    assert etags(filled, "out/") == etags(filled, "in/")


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
    result = s3haul.ray.run(job, at=filled.url("job"), **SHORT)
    assert result.done == OBJECTS
    assert etags(filled, "in/") == {}
    assert sorted(etags(filled, "out/")) == sorted(
        f"{number % 7}/{number:05}" for number in range(OBJECTS)
    )


DRIVER = """
import sys
import s3haul

source, target, folder, address = sys.argv[1:]
job = s3haul.job("copy", source, target, recursive=True, max_requests_per_second=1000)
show = lambda progress: print(progress.done, flush=True)
s3haul.ray.run(job, at=folder, address=address, progress=show, shards=6, budget=0.3, lease=1)
"""


@pytest.mark.parametrize("number", ROUNDS)
def test_the_command_ends_what_a_lost_driver_began(
    cluster: Any, filled: Bucket, tmp_path: Path, number: int
) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    words = [filled.url("in/"), filled.url("out/"), filled.url("job"), cluster.address]
    with_service = {**os.environ, **filled.service.environment()}
    driver = subprocess.Popen(
        [sys.executable, str(script), *words], env=with_service, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    assert any(int(line) > 0 for line in driver.stdout)
    driver.kill()
    driver.wait()
    driver.stdout.close()
    resumed = subprocess.run(
        [sys.executable, "-m", "s3haul", "jobs", "resume", filled.url("job")],
        env=with_service,
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
    )
    assert resumed.returncode == 0, resumed.stderr
    assert etags(filled, "out/") == etags(filled, "in/")


def test_a_call_that_is_interrupted_goes_on_in_the_next(cluster: Any, filled: Bucket) -> None:
    def interrupt(progress: s3haul.Progress) -> None:
        if progress.done:
            raise KeyError("mine")

    job = filled.client.job(
        "copy",
        filled.url("in/"),
        filled.url("out/"),
        recursive=True,
        max_requests_per_second=OBJECTS // 2,
    )
    # Tasks that are cancelled leave their shards at once.
    call: dict[str, Any] = {"at": filled.url("job"), **SHORT, "lease": COMMAND_S}
    with pytest.raises(KeyError, match="mine"):
        s3haul.ray.run(job, progress=interrupt, **call)
    assert len(etags(filled, "out/")) < OBJECTS
    other = filled.client.job("copy", filled.url("in/"), filled.url("else/"), recursive=True)
    with pytest.raises(s3haul.UsageError, match="is the folder of another job"):
        s3haul.ray.run(other, **call)
    begun = time.monotonic()
    assert s3haul.ray.run(job, **call).done == OBJECTS
    assert time.monotonic() - begun < COMMAND_S / 2
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


def test_tasks_that_fail_again_and_again_end_the_call(cluster: Any, own: Bucket) -> None:
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
    # One that is asked for a task that has ended meanwhile, as one that was lost and is back is.
    governor.keep([4, 5], 5)
    assert governor.lease(1, 80) == 75
    governor.keep([4, 5], 5)
    assert governor.lease(6, 80) == 75
