"""Roles that ask for an MFA code: the command and `aws` ask alike, and take each other's session.

One service here is both STS and S3. Each command runs in a terminal of its own, where the code is
typed, or without one, where only a session that is kept can help.
"""

import os
import pty
import shutil
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

TOOLS = {"s3haul": [os.environ["TEST_SUBJECT"]], "aws": [os.environ["TEST_AWS"], "s3"]}
ROLE = "arn:aws:iam::123456789012:role/r"
SERIAL = "arn:aws:iam::123456789012:mfa/me"
QUESTION = f"Enter MFA code for {SERIAL}: "
ASSUMED = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleResult><AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/r/s</Arn>
<AssumedRoleId>I:s</AssumedRoleId></AssumedRoleUser><Credentials><AccessKeyId>ASIAOFTHEROLE</AccessKeyId>
<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
<Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult>
<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleResponse>"""
BUCKETS = """<ListAllMyBucketsResult><Buckets><Bucket><Name>box</Name>
<CreationDate>2026-01-01T00:00:00.000Z</CreationDate></Bucket></Buckets></ListAllMyBucketsResult>"""


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = []

    def answer(self, text):
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.asked.append({name: value[0] for name, value in parse_qs(body).items()})
        self.answer(ASSUMED)

    def do_GET(self):
        is_of_role = "Credential=ASIAOFTHEROLE/" in self.headers["authorization"]
        self.answer(BUCKETS if is_of_role else "<ListAllMyBucketsResult/>")

    def log_message(self, *_):
        pass


def in_terminal(words, environment):
    """Runs a command that is given the code; its exit code and what the terminal showed."""
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(words[0], words, environment)
    shown, is_typed = b"", False
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if QUESTION.encode() in shown and not is_typed:
            is_typed = True
            os.write(terminal, b"654321\n")
    os.close(terminal)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), shown.decode().replace("\r\n", "\n")


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as home:
        os.mkdir(f"{home}/.aws")
        kept = "[base]\naws_access_key_id = AKIDBASE\naws_secret_access_key = s\n"
        with open(f"{home}/.aws/credentials", "w") as file:
            file.write(kept)
        environment = {
            "HOME": home,
            "PATH": os.environ["PATH"],
            "AWS_ENDPOINT_URL": url,
            "AWS_PROFILE": "role",
            "AWS_EC2_METADATA_DISABLED": "true",
            "TZ": "UTC",
        }
        settings = ["", "external_id = é x\n", "duration_seconds = 3600\nrole_session_name = me\n"]
        for more in settings:
            with open(f"{home}/.aws/config", "w") as file:
                file.write(
                    f"[profile role]\nregion = us-east-1\nrole_arn = {ROLE}\n"
                    f"source_profile = base\nmfa_serial = {SERIAL}\n{more}"
                )
            for first, second in (("aws", "s3haul"), ("s3haul", "aws")):
                shutil.rmtree(f"{home}/.aws/cli", ignore_errors=True)
                Service.asked.clear()
                status, shown = in_terminal([*TOOLS[first], "ls"], environment)
                expected = f"{QUESTION}\n2026-01-01 00:00:00 box\n"
                assert (status, shown) == (0, expected), (first, status, shown)
                (asked,) = Service.asked
                assert (asked["SerialNumber"], asked["TokenCode"]) == (SERIAL, "654321"), asked
                ended = subprocess.run(
                    [*TOOLS[second], "ls"],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    start_new_session=True,
                    timeout=120,
                )
                assert ended.stdout == "2026-01-01 00:00:00 box\n", (second, ended)
                assert len(Service.asked) == 1, (second, Service.asked)
        print(f"{len(settings)} profiles, each with the session of the other")


sys.exit(main())
