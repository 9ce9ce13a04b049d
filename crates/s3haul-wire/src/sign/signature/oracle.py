"""Signs requests with botocore, to compare with: one case a line, all fields in hexadecimal."""
import datetime
import sys
import types

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.utils import percent_encode

for line in sys.stdin:
    fields = [bytes.fromhex(field).decode() for field in line.rstrip("\n").split(" ")]
    kind, second, region, token, key, body, rest = *fields[:6], fields[6:]
    count = int(rest[0])
    pairs = list(zip(rest[1::2], rest[2::2]))
    query, headers = pairs[:count], pairs[count:]
    now = datetime.datetime.fromtimestamp(int(second), datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda: now
    credentials = Credentials("AKIDEXAMPLE", "secret/+key", token or None)
    url = "http://bucket.example.com:9000/" + percent_encode(key, safe="/~")
    if kind == "presign":
        request = AWSRequest("PUT", url, headers=dict(headers))
        request.context["timestamp"] = now.strftime("%Y%m%dT%H%M%SZ")
        botocore.auth.S3SigV4QueryAuth(credentials, "s3", region, expires=77).add_auth(request)
        print(request.url.rpartition("X-Amz-Signature=")[2])
        continue
    request = AWSRequest("PUT", url, headers=dict(headers), data=body.encode(), params=query)
    if kind == "unsigned":
        s3 = {"payload_signing_enabled": False}
        request.context["client_config"] = types.SimpleNamespace(s3=s3)
    botocore.auth.S3SigV4Auth(credentials, "s3", region).add_auth(request)
    print(request.headers["Authorization"])
