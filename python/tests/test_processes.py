"""Threads, forks, new processes, and the end of the interpreter."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import s3haul
from conftest import Bucket, RunScript


def test_threads_share_a_client(bucket: Bucket) -> None:
    def work(number: int) -> bool:
        url, data = bucket.url(f"t{number}"), b"%d" % number
        bucket.client.write(url, data)
        one = bucket.client.read(url) == data
        return one and url.rpartition("/")[2] in {
            row.key for row in bucket.client.list(bucket.url())
        }

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(64)))


@pytest.mark.skipif(not hasattr(sys, "platform") or sys.platform == "win32", reason="forks")
def test_forked_processes_work(own: Bucket, script: RunScript) -> None:
    text = """
import os, sys
import s3haul

root = sys.argv[1]
names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
client = s3haul.Client(credentials=lambda: [os.environ[name] for name in names])
client.write(root + "a", b"1")
many = client.get_many(["a"] * 100, root=root)
next(many)
rows = iter(client.list(root))
child = os.fork()
if child == 0:
    try:
        assert client.read(root + "a") == b"1"
        assert s3haul.read(root + "a") == b"1"
        assert dict(client.get_many(["a"], root=root)) == {"a": b"1"}
        assert [row.key for row in rows] == ["a"]
        client.write(root + "child", b"2")
        try:
            list(many)
        except ValueError as error:
            assert "forked" in str(error)
            os._exit(0)
        os._exit(1)
    except BaseException as error:
        sys.stderr.write(repr(error))
        os._exit(2)
_, status = os.waitpid(child, 0)
assert len(list(many)) == 99
assert client.read(root + "child") == b"2"
sys.exit(os.waitstatus_to_exitcode(status))
"""
    done = script(text, own.service.environment(), own.url())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_pools_of_processes_work(own: Bucket, script: RunScript, method: str) -> None:
    text = """
import multiprocessing, sys
import s3haul

def work(call):
    client, url, number = call
    client.write(url + str(number), b"%d" % number)
    try:
        client.read(url + "none")
    except s3haul.NotFound:
        return client.remove("s3://no-such-bucket/a"), int(client.read(url + str(number)))

if __name__ == "__main__":
    url, credentials = sys.argv[2], tuple(sys.argv[3:5])
    client = s3haul.Client(endpoint_url=url, region="us-east-1", credentials=credentials)
    client.ls(sys.argv[1])
    with multiprocessing.get_context(sys.argv[5]).Pool(2) as pool:
        answers = pool.map(work, [(client, sys.argv[1], number) for number in range(8)])
    assert [number for _, number in answers] == list(range(8))
    assert all(result.failures[0].code == "NoSuchBucket" for result, _ in answers)
"""
    service = own.service
    words = [own.url(), service.url, service.access_key, service.secret_key, method]
    done = script(text, None, *words)
    assert done.returncode == 0, done.stderr
    assert len(own.objects()) == 8


ENDS = {
    "in the middle of a listing": """
rows = iter(client.list("s3://synthetic"))
next(rows)
""",
    "with a listing in a thread": """
import threading
started = threading.Event()
def work():
    for row in client.list("s3://synthetic"):
        started.set()
threading.Thread(target=work, daemon=True).start()
started.wait()
""",
    "with a consumer of the stream in a thread": """
import threading, pyarrow
started = threading.Event()
def work():
    reader = pyarrow.RecordBatchReader.from_stream(client.list("s3://synthetic"))
    for batch in reader:
        started.set()
threading.Thread(target=work, daemon=True).start()
started.wait()
""",
    "in the middle of many objects": """
names = (row.key for row in client.list("s3://synthetic"))
many = client.get_many(names, root="s3://synthetic")
next(many)
""",
    "with a transfer in a thread": """
import threading
started = threading.Event()
def work():
    progress = lambda seen: started.set()
    client.copy("s3://synthetic", sys.argv[1], recursive=True, progress=progress)
threading.Thread(target=work, daemon=True).start()
started.wait()
""",
    "with calls in threads": """
import itertools, threading
row = next(iter(client.list("s3://synthetic")))
calls = itertools.count()
started = threading.Event()
def work():
    while True:
        client.read(f"s3://synthetic/{row.key}")
        if next(calls) > 100:
            started.set()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
started.wait()
""",
    "with a server": """
server.__enter__()
""",
}


@pytest.mark.parametrize("where", list(ENDS))
def test_the_interpreter_may_end(script: RunScript, tmp_path: object, where: str) -> None:
    if "pyarrow" in ENDS[where]:
        pytest.importorskip("pyarrow")
    text = f"""
import sys
import s3haul
server = s3haul.serve(synthetic="dates:1000000:size=10")
client = server.client(credentials=lambda: (server.access_key, server.secret_key))
{ENDS[where]}
sys.exit(3)
"""
    done = script(text, None, f"{tmp_path}/copies")
    assert (done.returncode, done.stderr) == (3, "")


def test_an_interrupt_ends_get_many(script: RunScript) -> None:
    text = """
import os, signal, sys
import s3haul
with s3haul.serve(synthetic="dates:1000000:size=10") as server:
    client = server.client()
    keys = (row.key for row in client.list("s3://synthetic"))
    try:
        for number, _ in enumerate(client.get_many(keys, root="s3://synthetic")):
            if number == 100:
                os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        sys.exit(130)
"""
    done = script(text)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interrupt_ends_a_listing_that_waits(script: RunScript) -> None:
    text = """
import os, signal, sys, threading, time
import s3haul
with s3haul.serve(latency="5s") as server:
    client = server.client()
    interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
    begun = time.monotonic()
    threading.Timer(0.2, interrupt).start()
    try:
        list(client.list("s3://bucket"))
    except KeyboardInterrupt:
        os._exit(0 if time.monotonic() - begun < 3 else 1)
"""
    done = script(text)
    assert (done.returncode, done.stderr) == (0, "")


def test_servers_are_independent() -> None:
    with s3haul.serve() as one, s3haul.serve(access_key="id", secret_key="secret") as two:
        assert one.url != two.url
        assert two.environment()["AWS_ACCESS_KEY_ID"] == "id"
        two.boto3_client().create_bucket(Bucket="bucket")
        assert [row["bucket"] for row in two.client().list_buckets()] == ["bucket"]
        assert one.client().list_buckets() == []
    one.stop()
    with pytest.raises(s3haul.UsageError):
        s3haul.serve(latency="soon")
    with pytest.raises(s3haul.UsageError):
        s3haul.serve("folder", synthetic="seq:1")


def test_a_server_keeps_a_folder(tmp_path: object) -> None:
    folder = f"{tmp_path}/objects"
    for expected in ([], ["a"]):
        with s3haul.serve(folder) as server:
            client = server.client()
            if not expected:
                client.make_bucket("s3://bucket")
            assert [row.key for row in client.list("s3://bucket")] == expected
            client.write("s3://bucket/a", b"1")
