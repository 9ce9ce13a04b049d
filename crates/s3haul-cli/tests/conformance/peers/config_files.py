"""Generated ~/.aws files and environments: the command finds in them what botocore finds.

botocore reads them in this process; the command presigns a URL, which shows access key, token,
region, endpoint and addressing. Left out is where the command differs on purpose: a byte order
mark is skipped, and a variable or value that is empty counts as not set.
"""

import os
import random
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import botocore.exceptions
import botocore.session
from botocore.configprovider import ConfiguredEndpointProvider

SUBJECT = os.environ["TEST_SUBJECT"]
SEED = int(os.environ.get("S3HAUL_TEST_SEED") or 20_261_121)
CASES = int(os.environ.get("S3HAUL_TEST_CONFIG_FILES") or 400)
PATH = os.environ["PATH"]
# Names of profiles and the titles that name them in the config file.
NAMES = {
    "default": ["default", "default", "profile default", 'profile "default"'],
    "work": ["profile work", "profile  work", 'profile "work"', "profile 'work'", "profiles work"],
    "two words": ['profile "two words"', "profile 'two words'", "profile two\\ words"],
}
ODD_TITLES = ["profile two words", 'profile "open', "work", " default", "profile", "services work"]


class Writer:
    """Writes sections in one of the many ways that the parser takes."""

    def __init__(self, dice):
        self.dice = dice
        self.lines = []

    def noise(self):
        if self.dice.random() < 0.15:
            self.lines.append(self.dice.choice(["", "# note = 1", "; note", "   ", "  # [note]"]))

    def title(self, title):
        end = self.dice.choice(["", "", "", " ", "  # note", " ; x"])
        self.lines.append(f"[{title}]{end}")

    def pair(self, key, value, indent=""):
        self.noise()
        mark = self.dice.choice(["=", " = ", ": ", ":", " :  ", "\t=\t"])
        cased = key.upper() if self.dice.random() < 0.1 else key
        self.lines.append(f"{indent}{cased}{mark}{value}{self.dice.choice(['', '', '  '])}")

    def block(self, key, pairs):
        self.noise()
        self.lines.append(f"{key}{self.dice.choice([' =', '=', ':', ' = '])}")
        for name, value in pairs.items():
            self.noise()
            mark = self.dice.choice(["=", " = "])
            self.lines.append(f"{self.dice.choice(['  ', chr(9), '    '])}{name}{mark}{value}")

    def text(self):
        end = self.dice.choice(["\n", "\n", "\n", "\r\n"])
        return end.join(self.lines) + self.dice.choice(["", end])


def number(dice):
    return dice.randrange(1000)


def keys(dice, pairs):
    kind = dice.random()
    odd = dice.choice(["", "", "=x", ":y", " # z", ";"])
    if kind < 0.7:
        pairs["aws_access_key_id"] = f"AK{number(dice)}{odd}"
    if kind < 0.65 or kind > 0.97:
        pairs["aws_secret_access_key"] = f"s{number(dice)}{odd}"
    for name in ("aws_session_token", "aws_security_token"):
        if dice.random() < 0.25:
            pairs[name] = f"T{number(dice)}{odd}"


def section(dice, writer, is_config, folder):
    pairs = {}
    keys(dice, pairs)
    if dice.random() < 0.6:
        pairs["region"] = dice.choice(["eu-west-1", "us-east-2", "ap-south-1", "us-west-2"])
    if dice.random() < 0.15:
        pairs["endpoint_url"] = f"http://profile{number(dice)}.test:9000"
    if dice.random() < 0.15:
        pairs["services"] = dice.choice(["local", "local", "work", "none"])
    if dice.random() < 0.15:
        quote = dice.choice(["", "'", '"'])
        pairs["credential_process"] = f"{folder}/process {quote}PK{number(dice)}{quote}"
    if dice.random() < 0.1:
        pairs["output"] = "json\n\n  more\n # note\n  lines"
    if dice.random() < 0.05:
        pairs["ignore_configured_endpoint_urls"] = "true"
    order = list(pairs.items())
    dice.shuffle(order)
    for key, value in order:
        writer.pair(key, value)
        if dice.random() < 0.01:
            writer.pair(key, value)
    if dice.random() < 0.3:
        block = {"max_concurrent_requests": "3"}
        if dice.random() < 0.7:
            block["addressing_style"] = dice.choice(["path", "virtual", "auto"])
        if dice.random() < 0.2:
            block["use_dualstack_endpoint"] = "true"
        writer.block("s3", block)
    if dice.random() < 0.015:
        writer.lines.append(dice.choice(["nonsense", "= nothing", "[open", "s3 =\n  nonsense"]))


def write(dice, path, is_config, folder):
    writer = Writer(dice)
    titles = []
    for name, ways in NAMES.items():
        if dice.random() < 0.7:
            titles.append(dice.choice(ways) if is_config else name)
        if is_config and dice.random() < 0.1:
            titles.append(dice.choice(ways))
    if dice.random() < 0.3:
        titles.append(dice.choice(ODD_TITLES))
    dice.shuffle(titles)
    for title in titles:
        writer.noise()
        writer.title(title)
        section(dice, writer, is_config, folder)
    if is_config and dice.random() < 0.5:
        writer.title(dice.choice(["services local", 'services "local"']))
        writer.block("s3", {"endpoint_url": f"http://services{number(dice)}.test"})
    if dice.random() < 0.01:
        writer.lines.insert(0, "region = nowhere")
    with open(path, "w", newline="") as file:
        file.write(writer.text())


def variables(dice, folder):
    found = {
        "HOME": folder,
        "PATH": PATH,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        if dice.random() < 0.3:
            found[name] = dice.choice([*NAMES, *NAMES, "missing"])
    kind = dice.random()
    if kind < 0.2:
        found["AWS_ACCESS_KEY_ID"] = f"ENV{number(dice)}"
    if kind < 0.18:
        found["AWS_SECRET_ACCESS_KEY"] = "secret"
    for name in ("AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"):
        if dice.random() < 0.2:
            found[name] = f"E{number(dice)}"
    if dice.random() < 0.2:
        found["AWS_DEFAULT_REGION"] = "eu-north-1"
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        if dice.random() < 0.15:
            found[name] = f"http://environment{number(dice)}.test"
    if dice.random() < 0.05:
        found["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] = "true"
    return found


class Case:
    """Files, an environment and perhaps a flag."""

    def __init__(self, folder, at):
        dice = random.Random(SEED * 1_000_003 + at)
        self.folder = os.path.join(folder, str(at))
        os.makedirs(os.path.join(self.folder, ".aws"))
        process = os.path.join(self.folder, "process")
        with open(process, "w") as file:
            file.write(
                '#!/bin/sh\necho "{\\"Version\\": 1, \\"AccessKeyId\\": \\"$1\\", '
                '\\"SecretAccessKey\\": \\"s\\"}"\n'
            )
        os.chmod(process, stat.S_IRWXU)
        self.environment = variables(dice, self.folder)
        self.files = []
        places = (
            ("config", "AWS_CONFIG_FILE", True),
            ("credentials", "AWS_SHARED_CREDENTIALS_FILE", False),
        )
        for name, variable, is_config in places:
            if dice.random() < 0.1:
                continue
            path = os.path.join(self.folder, ".aws", name)
            if dice.random() < 0.3:
                path = os.path.join(self.folder, "other-" + name)
                shown = "~/other-" + name if dice.random() < 0.5 else path
                self.environment[variable] = shown
            write(dice, path, is_config, self.folder)
            self.files.append(path)
        self.flag = dice.choice([*NAMES, "missing"]) if dice.random() < 0.2 else None

    def expected(self):
        """What botocore finds; None for an error or where there are no credentials."""
        os.environ.clear()
        os.environ.update(self.environment)
        try:
            session = botocore.session.Session(profile=self.flag)
            scoped = session.get_scoped_config()
            credentials = session.get_credentials()
            if credentials is None:
                return None
            credentials = credentials.get_frozen_credentials()
            ignored = session.get_config_variable("ignore_configured_endpoint_urls")
            endpoint = ConfiguredEndpointProvider(
                full_config=session.full_config, scoped_config=scoped, client_name="s3"
            )
            endpoint = None if ignored else endpoint.provide()
            region = session.get_config_variable("region") or "us-east-1"
        except (botocore.exceptions.BotoCoreError, ValueError):
            return None
        s3 = scoped.get("s3")
        s3 = s3 if isinstance(s3, dict) else {}
        dualstack = s3.get("use_dualstack_endpoint") == "true" and endpoint is None
        host = f"s3.{'dualstack.' if dualstack else ''}{region}.amazonaws.com"
        host = urlsplit(endpoint).netloc if endpoint else host
        style = s3.get("addressing_style", "auto")
        style = ("path" if endpoint else "virtual") if style == "auto" else style
        return {
            "key": credentials.access_key,
            "token": credentials.token,
            "region": region,
            "host": f"bucket-x.{host}" if style == "virtual" else host,
            "path": "/k" if style == "virtual" else "/bucket-x/k",
        }

    def found(self):
        """What the command finds."""
        flag = ["--profile", self.flag] if self.flag else []
        ended = subprocess.run(
            [SUBJECT, "presign", "s3://bucket-x/k", *flag],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.said = ended.stderr
        if ended.returncode != 0:
            return None
        url = urlsplit(ended.stdout.strip())
        query = parse_qs(url.query)
        key, _, region, _, _ = query["X-Amz-Credential"][0].rsplit("/", 4)
        return {
            "key": key,
            "token": query.get("X-Amz-Security-Token", [None])[0],
            "region": region,
            "host": url.netloc,
            "path": url.path,
        }

    def show(self):
        for path in self.files:
            with open(path) as file:
                print(f"--- {path}\n{file.read()}")
        plain = {name: value for name, value in self.environment.items() if name != "PATH"}
        print(f"--- {plain} --profile {self.flag}\n{self.said}")


def main():
    print(f"S3HAUL_TEST_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        cases = [Case(folder, at) for at in range(CASES)]
        expected = [case.expected() for case in cases]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(Case.found, cases))
        wrong = [at for at in range(CASES) if expected[at] != found[at]]
        for at in wrong[:3]:
            print(f"case {at}: botocore {expected[at]}\n   the command {found[at]}")
            cases[at].show()
        good = sum(result is not None for result in expected)
        print(f"{CASES} cases, {good} with credentials, {len(wrong)} differ")
        return 1 if wrong or not CASES // 4 < good < CASES else 0


sys.exit(main())
