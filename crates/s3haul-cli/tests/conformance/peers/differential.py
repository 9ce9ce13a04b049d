# Random trees and random command lines through the real `aws s3`, in this process, and through the
# command under test: the same exit status, the same lines, the same files, the same objects.
import contextlib, functools, hashlib, io, random, shutil, subprocess, time
import botocore.session
from awscli.clidriver import create_clidriver

# What describes the services is read once, not for each command.
botocore.session.create_loader = functools.cache(botocore.session.create_loader)

# Where a body is empty MinIO waits for it for a minute after such a request's head.
os.environ["BOTO_EXPERIMENTAL__NO_EMPTY_CONTINUE"] = "true"
SUBJECT = os.environ["TEST_SUBJECT"]
SEED = int(os.environ.get("TEST_SEED") or 20_261_121)
NUMBERS = range(int(os.environ["TEST_FIRST"]), int(os.environ["TEST_SEQUENCES"]), 2)
BESIDE = os.environ["TEST_KEY_BESIDE_FOLDER"] == "1"
ROOT = os.getcwd()
WORLDS = ["ours", "real"]

FOLDERS = ["", "", "sub/", "sub/deep/", "a b/", "é/", "x+y/", "sub-1/", "sub.d/", "日本/"]
NAMES = ["a", "b.txt", "c d", "e+f", "g%20h", "i&j", "k'l", "[m]", "n#o", "ü.html", "p=q", "😀", "z.gz", "tilde~",
         "UPPER.TXT", "f.json", "-dash", "a.b.c"]
PATTERNS = ["*", "*.txt", "sub/*", "a*", "*/*", "?", "[m]", "*[a-c]*", "é/*", "sub", "*deep*", "x+y/*", "none*"]


def tree(rng):
    """Files by name: bytes and how many seconds their time is off from now."""
    files = {}
    for _ in range(rng.randrange(1, 12)):
        name = rng.choice(FOLDERS) + rng.choice(NAMES)
        size = rng.choice([0, 1, 1, 2, 7, 7, 300, 20_000])
        files[name] = (rng.randbytes(size), rng.choice([-7200, -7200, -3600, 3600, 7200]))
    return files


def write_tree(folder, files, now):
    os.makedirs(folder, exist_ok=True)
    for name, (content, shift) in files.items():
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            continue
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except FileExistsError:
            continue
        with open(path, "wb") as file:
            file.write(content)
        os.utime(path, (now + shift, now + shift))


def put_tree(prefix, files):
    for name, (content, _) in files.items():
        s3.put_object(Bucket=bucket, Key=prefix + name, Body=content, ContentType="text/given",
                      Metadata={"given": "yes"}, CacheControl="max-age=1")


def filters(rng):
    flags = []
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        flags += [rng.choice(["--exclude", "--exclude", "--include"]), rng.choice(PATTERNS)]
    return flags


def properties(rng, *paths):
    pool = [["--content-type", "text/x"], ["--metadata", "k=v,n=1"], ["--cache-control", "no-cache"],
            ["--no-guess-mime-type"], ["--content-language", "de"], ["--metadata-directive", "REPLACE"],
            ["--content-disposition", "attachment"], ["--content-encoding", "x"]]
    flags = sum(rng.sample(pool, rng.choice([0, 0, 0, 1, 2])), [])
    # Version 1 drops what is given for a copy without a directive, version 2 merges it, and so do we.
    if flags and all(path.startswith("REMOTE") for path in paths) and "--metadata-directive" not in flags:
        flags += ["--metadata-directive", "REPLACE"]
    return flags


def command(rng, names):
    """A command line; LOCAL and REMOTE stand for what differs between the two worlds."""
    local = lambda: "LOCAL/" + rng.choice(["w", "w", "w", "w/sub", "v", "w/a b", "w/"])
    remote = lambda: "REMOTE/" + rng.choice(["p", "p", "p/", "p/sub", "q", "q/", "p/é/", "p/a b"])
    one = lambda: rng.choice(names + ["none"])
    kind = rng.choice(["sync"] * 6 + ["cp", "cp", "mv", "mv", "rm", "cp1", "mv1", "rm1"])
    output = rng.choice([[], [], [], [], ["--only-show-errors"], ["--quiet"]])
    dry = rng.choice([[], [], [], [], ["--dryrun"]])
    if kind == "rm":
        return ["rm", remote(), "--recursive"] + filters(rng) + dry + output
    if kind == "rm1":
        return ["rm", "REMOTE/p/" + one()] + dry + output
    pairs = [lambda: (local(), remote()), lambda: (remote(), local()), lambda: (remote(), remote())]
    if kind in ("cp1", "mv1"):
        name = one()
        targets = ["q/", "q/new", "p"]
        pairs = [("LOCAL/w/" + name, "REMOTE/" + rng.choice(targets)),
                 ("REMOTE/p/" + name, "LOCAL/" + rng.choice(["v/", "v/new", "w"])),
                 ("REMOTE/p/" + name, "REMOTE/" + rng.choice(targets))]
        paths = rng.choice(pairs)
        return [kind[:2], *paths] + filters(rng) * (rng.random() < 0.2) + properties(rng, *paths) + dry + output
    source, target = rng.choice(pairs)()
    # The same place on both sides is no sequence with one right outcome.
    if (source + "/").startswith(target.rstrip("/") + "/") or (target + "/").startswith(source.rstrip("/") + "/"):
        target = ("REMOTE/" if target.startswith("REMOTE") else "LOCAL/") + "other"
    more = []
    if kind == "sync":
        more += rng.choice([[], [], ["--size-only"], ["--exact-timestamps"]])
        # An empty source does not empty the target with us, which is meant to be so.
        more += rng.choice([[], ["--delete", "--allow-empty-source"]])
    else:
        more += ["--recursive"]
    return [kind, source, target] + more + filters(rng) + properties(rng, source, target) + dry + output


def run_real(args):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    args = [arg for arg in args if arg != "--allow-empty-source"]
    args += ["--no-progress"] if args[0] != "rm" else []
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = create_clidriver().main(["s3", *args])
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return status, *texts


def run_ours(args):
    done = subprocess.run([SUBJECT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def lines(text, world):
    text = text.replace(f"s3://{bucket}/{world}", "REMOTE").replace(f"{world}/", "LOCAL/")
    told = text.replace("\r", "\n").split("\n")
    # `rm` has no way to switch its progress off.
    return sorted(line for line in told if line.strip() and not line.startswith("Completed "))


def files_of(world):
    found = {}
    for folder, _, names in os.walk(os.path.join(ROOT, world)):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, os.path.join(ROOT, world))] = hashlib.md5(file.read()).hexdigest()
    return found


def objects_of(world):
    found = {}
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=world + "/"):
        for entry in page.get("Contents", []):
            head = s3.head_object(Bucket=bucket, Key=entry["Key"])
            # The caller's name stands beside the arguments.
            facts = [head.get(name) for name in ("ETag", "ContentLength", "ContentType", "Metadata", "CacheControl",
                                                 "ContentLanguage", "ContentDisposition", "ContentEncoding")]
            found[entry["Key"][len(world):]] = facts
    return found


def clean(world):
    shutil.rmtree(os.path.join(ROOT, world), ignore_errors=True)
    keys = [{"Key": entry["Key"]} for page in s3.get_paginator("list_objects_v2").paginate(
        Bucket=bucket, Prefix=world + "/") for entry in page.get("Contents", [])]
    for start in range(0, len(keys), 1000):
        s3.delete_objects(Bucket=bucket, Delete={"Objects": keys[start:start + 1000]})


def without_clashes(files):
    """Leaves out names that are folders of others, which not every server can hold."""
    return files if BESIDE else {n: f for n, f in files.items() if not any(o.startswith(n + "/") for o in files)}


def sequence(seed):
    rng = random.Random(seed)
    now = time.time()
    local, remote = without_clashes(tree(rng)), without_clashes(tree(rng))
    for world in WORLDS:
        clean(world)
        write_tree(os.path.join(ROOT, world, "w"), local, now)
        put_tree(f"{world}/p/", remote)
    history = []
    for _ in range(rng.randrange(1, 5)):
        args = command(rng, sorted(local) + sorted(remote))
        history.append(args)
        told = {}
        for world, run in zip(WORLDS, (run_ours, run_real)):
            given = [arg.replace("LOCAL", world).replace("REMOTE", f"s3://{bucket}/{world}") for arg in args]
            status, out, err = run(given)
            told[world] = (status, lines(out, world), err)
        ours, real = told["ours"], told["real"]
        # A server on folders refuses an upload into one that a removal is just taking away: which of
        # the two is refused is chance, and the rest of the sequence proves nothing.
        if any("ExistingObjectIsDirectory" in err for _, _, err in told.values()):
            print(f"seed {seed}: an upload met a removal of its folder; left out")
            return
        context = f"seed {seed}\ncommands {history}\nours {ours}\nreal {real}"
        assert ours[0] == real[0], f"exit status\n{context}"
        assert ours[1] == real[1], f"lines\n{context}"
        for what, look in (("files", files_of), ("objects", objects_of)):
            left, right = look("ours"), look("real")
            differing = {n: (left.get(n), right.get(n)) for n in left.keys() | right.keys() if left.get(n) != right.get(n)}
            assert not differing, f"{what}: {differing}\n{context}"


print(f"seed {SEED}, {len(NUMBERS)} sequences")
os.environ["AWS_MAX_ATTEMPTS"] = "2"
for number in NUMBERS:
    sequence(SEED + number)
print("passed")
