"""Pictures of the pages in docs/html.md: `cargo xtask screenshots`.

Makes a bucket like a Debian archive, with several storage classes, and the pages of it, and takes
pictures of them in a headless Chromium. The argument is the folder that the pictures go to.
"""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import boto3
import s3haul
from botocore.config import Config
from selenium import webdriver

#: The command, as the package brings it.
COMMAND = Path(sys.executable).with_name("s3haul")
#: Seed of names and sizes.
SEED = 20261125
#: Width and height of a picture.
SIZE = (1300, 900)
CLASSES = ["STANDARD", "STANDARD_IA", "GLACIER_IR", "DEEP_ARCHIVE"]
SECTIONS = ["main", "main", "main", "contrib", "non-free", "non-free-firmware"]
SUITES = ["bookworm", "trixie", "forky"]
#: Sizes are powers of two up to this.
POWER_MAX = 33


def keys() -> list[tuple[str, int]]:
    """Names like those of an archive of packages, and sizes."""
    draw = random.Random(SEED)
    rows = []
    for number in range(400):
        stem = "".join(draw.choice("abcdefghilmnoprstuvz") for _ in range(draw.randint(4, 9)))
        name = f"lib{stem}" if number % 4 == 0 else stem
        letter = name[:4] if name.startswith("lib") else name[0]
        folder = f"pool/{draw.choice(SECTIONS)}/{letter}/{name}"
        for end in ("_amd64.deb", "_arm64.deb", ".dsc", ".orig.tar.xz"):
            rows.append((f"{folder}/{name}_{number % 9}.{number % 5}-1{end}", draw.randint(9, 29)))
    for suite in SUITES:
        for arch in ("amd64", "arm64", "source"):
            rows.append((f"dists/{suite}/main/binary-{arch}/Packages.xz", 25))
    rows += [(f"iso/{suite}/debian-{n}-amd64.iso", 32) for suite in SUITES for n in range(4)]
    return [(key, int(2 ** (power + draw.random()))) for key, power in rows]


def fill(server: s3haul.Server) -> None:
    """A server that keeps no bytes takes the objects."""
    client = boto3.client(
        "s3",
        endpoint_url=server.url,
        region_name="eu-central-1",
        aws_access_key_id=server.access_key,
        aws_secret_access_key=server.secret_key,
        config=Config(s3={"addressing_style": "path"}),
    )
    client.create_bucket(Bucket="archive")
    draw = random.Random(SEED)
    for key, size in keys():
        kind = draw.choices(CLASSES, [6, 3, 2, 1])[0]
        # Small bodies stand for large ones, which would take hours.
        body = b"x" * min(size >> 10, 1 << 23)
        client.put_object(Bucket="archive", Key=key, Body=body, StorageClass=kind)
        # The mirror has most of them, some as they were before.
        chance = draw.random()
        if chance < 0.8:
            old = body if chance < 0.7 else body[:-1]
            client.put_object(Bucket="archive", Key=f"mirror/{key}", Body=old)


def run(server: s3haul.Server, *words: str | Path) -> None:
    """Runs the command on a server. A comparison that finds something has a status of its own."""
    environment = {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": server.access_key,
        "AWS_SECRET_ACCESS_KEY": server.secret_key,
        "AWS_REGION": "eu-central-1",
    }
    command = [COMMAND, *words]
    done = subprocess.run(command, env=os.environ | environment, stdout=subprocess.DEVNULL)
    if done.returncode > 1:
        sys.exit(f"failed: {command}")


def browser(is_dark: bool) -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(flag)
    options.add_argument(f"--window-size={SIZE[0]},{SIZE[1]}")
    options.add_argument("--hide-scrollbars")
    if is_dark:
        options.add_argument("--blink-settings=preferredColorScheme=0")
    service = webdriver.ChromeService(executable_path="/usr/bin/chromedriver")
    return webdriver.Chrome(options=options, service=service)


def picture(page: Path, picture: Path, script: str = "", is_dark: bool = False) -> None:
    driver = browser(is_dark)
    driver.get(page.as_uri())
    driver.execute_script(script)
    driver.save_screenshot(str(picture))
    driver.quit()
    print(f"{picture}: {picture.stat().st_size} bytes")


def main() -> None:
    pictures = Path(sys.argv[1])
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, s3haul.serve(null=True) as server:
        fill(server)
        summary, compared = Path(folder, "summary.html"), Path(folder, "compared.html")
        run(server, "summarize", "s3://archive/", "--html", summary)
        run(server, "compare", "s3://archive/pool/", "s3://archive/mirror/pool/", "--html", compared)
        picture(summary, pictures / "summary.png")
        down = "document.querySelector('[data-section]').scrollIntoView();"
        picture(summary, pictures / "summary-dark.png", down, is_dark=True)
        picture(compared, pictures / "compare.png")


if __name__ == "__main__":
    main()
