"""Prints the figures of docs/design/08-crates.md: what each crate of the command costs.

    python3 tools/support/crates.py TIMINGS BINARY

TIMINGS is the page that `cargo test --workspace --no-run --timings` leaves of a build from nothing,
BINARY the command that it builds. What each crate is for is written there by hand.
"""

import collections
import json
import re
import subprocess
import sys

ROOT = "s3haul-cli"
# C libraries by what their functions begin with, and the crate that brings them in.
C_LIBRARIES = [
    (r"aws_lc_|CRYPTO_|EVP_|EC_|BN_|RSA_|ASN1_|ml_|mlkem|fips|HMAC|SHA|AES|aes|bn_|x25519|curve", "aws-lc-rs"),
    (r"sqlite3|sqlite|fts|vdbe|btree|pager", "rusqlite"),
    (r"JS_|js_|lre_|bf_|__js|libregexp|unicode_", "rquickjs"),
    (r"ZSTD|HUF_|FSE_|HIST_|ZDICT|XXH|POOL_|COVER", "parquet"),
]
# The crates of one repository are one row, under the crate that we name.
FAMILIES = {"reqsign-aws-v4": ["reqsign-core"], "ratatui-core": ["ratatui-crossterm"]}


def tree():
    """The crates of the command and which asks for which."""
    flags = ["-e", "normal,build", "--prefix", "depth", "--no-dedupe", "--format", " {p}"]
    command = ["cargo", "tree", "-p", ROOT, *flags]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    edges, path = collections.defaultdict(set), []
    for depth, name, version in re.findall(r"^(\d+) (\S+) v(\S+)", lines, re.M):
        path = [*path[: int(depth)], (name, version)]
        if len(path) > 1:
            edges[path[-2]].add(path[-1])
    return edges


def reached(edges, root, without=()):
    """What is needed for a crate where some others are left out."""
    seen, left = set(), [root]
    while left:
        crate = left.pop()
        if crate not in seen and crate not in without:
            seen.add(crate)
            left += edges[crate]
    return seen


def seconds(page):
    """Seconds that each crate took to compile, its build script included."""
    with open(page, encoding="utf-8") as text:
        units = json.loads(re.search(r"const UNIT_DATA = (\[.*?\]);\n", text.read(), re.S)[1])
    taken = collections.Counter()
    for unit in units:
        if "(test)" not in unit["target"]:
            taken[unit["name"], unit["version"]] += unit["duration"]
    return taken


def libraries():
    """The name of each crate's library, which its symbols bear: `md5` for `md-5`."""
    command = ["cargo", "metadata", "--format-version", "1"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    kinds = {"lib", "rlib", "proc-macro"}
    return {
        package["name"]: target["name"].replace("-", "_")
        for package in found["packages"]
        for target in package["targets"]
        if kinds & set(target["kind"])
    }


def sizes(binary):
    """Bytes of code that bear the name of each crate."""
    command = ["nm", "-S", "-C", "--defined-only", binary]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = collections.Counter()
    for size, kind, name in re.findall(r"^\S+ (\S+) (\w) (.*)$", lines, re.M):
        if kind not in "tTwW":
            continue
        crate = re.match(r"[<&\[*(]*(?:mut |const |dyn )*(\w+)::", name)
        if crate:
            found[crate[1]] += int(size, 16)
            continue
        library = [owner for pattern, owner in C_LIBRARIES if re.match(pattern, name)]
        found[f"C of {library[0]}" if library else "other"] += int(size, 16)
    return found


def main():
    edges = tree()
    root = next(crate for crate in edges if crate[0] == ROOT)
    own = {crate for crate in edges if crate[0].startswith("s3haul")}
    taken, size, library = seconds(sys.argv[1]), sizes(sys.argv[2]), libraries()
    everything = reached(edges, root)
    aside = {name for names in FAMILIES.values() for name in names}
    rows = []
    for crate in sorted(set().union(*(edges[crate] for crate in own)) - own):
        if crate[0] in aside:
            continue
        family = [crate, *(other for other in everything if other[0] in FAMILIES.get(crate[0], []))]
        brought = everything - reached(edges, root, family)
        code = size[f"C of {crate[0]}"] + sum(size[library[name]] for name in {name for name, _ in brought})
        users = sorted(user[0].removeprefix("s3haul-") for user in own if crate in edges[user])
        rows.append((sum(taken[other] for other in brought), crate[0], len(brought), code, users))
    print("| crate | crates | compiling, s | code, kB | of |\n|---|---|---|---|---|")
    for time, name, count, code, users in sorted(rows, reverse=True):
        print(f"| {name} | {count} | {time:.1f} | {code / 1000:.0f} | {', '.join(users)} |")
    for crate in sorted(own):
        print(f"| *{crate[0]}* | | {taken[crate]:.1f} | {size[library[crate[0]]] / 1000:.0f} | |")
    print(f"\n{len(everything)} crates, {sum(taken[crate] for crate in everything):.0f} s")


main()
