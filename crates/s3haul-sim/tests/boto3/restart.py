"""What a store on disk keeps across restarts: objects under customers' keys, uploads, parts.
The last argument says which of the servers over one store this is."""
import sys

from harness import MIB, bucket, check, keys, refused, run, s3, same

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
PART = 5 * MIB
NAME = "restarts"
ODD = "../odd//%2F"
PHASES = {}


def phase(function):
    PHASES[function.__name__] = function
    return function


def sse_c(key):
    return {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": key}


def which(key):
    return dict(Bucket=NAME, Key=key)


def begin(key, bodies, encryption=None, **more):
    upload = dict(**which(key),
                  UploadId=s3.create_multipart_upload(**which(key), **(encryption or {}), **more)["UploadId"])
    for number, body in bodies:
        s3.upload_part(**upload, PartNumber=number, Body=body, **(encryption or {}))
    return upload


def completion(upload):
    parts = s3.list_parts(**upload)["Parts"]
    named = [{k: v for k, v in part.items() if k in ("PartNumber", "ETag")} for part in parts]
    return {**upload, "MultipartUpload": {"Parts": named}}


def open_uploads():
    found = s3.list_multipart_uploads(Bucket=NAME).get("Uploads", [])
    return {entry["Key"]: dict(**which(entry["Key"]), UploadId=entry["UploadId"]) for entry in found}


def read(key, **more):
    return s3.get_object(**which(key), **more)["Body"].read()


@phase
def first():
    bucket(NAME)
    for key in ["secret", ODD]:
        s3.put_object(**which(key), Body=b"secret", **sse_c(KEY))
    s3.put_object(**which("decrypted"), Body=b"plain", **sse_c(KEY))
    source = {"CopySource" + k: v for k, v in sse_c(KEY).items()}
    s3.copy_object(**which("decrypted"), CopySource=which("decrypted"), **source)
    s3.complete_multipart_upload(**completion(begin("done", [(1, b"a" * PART), (2, b"b")])))
    # A part that is sent again replaces the one before.
    begin("encrypted", [(1, b"a" * PART), (2, b"early"), (2, b"replaced")], sse_c(KEY))
    begin("plain", [(7, b"p" * PART), (9, b"end")], ChecksumAlgorithm="CRC32",
          Metadata={"m": "1"}, Tagging="t=1")
    begin("aborted", [(1, b"x")])


@phase
def second():
    objects_are_whole()
    uploads = open_uploads()
    same(sorted(uploads), ["aborted", "encrypted", "plain"])
    sizes = lambda key: [(part["PartNumber"], part["Size"])
                         for part in s3.list_parts(**uploads[key])["Parts"]]
    same(sizes("encrypted"), [(1, PART), (2, len("replaced"))])
    same(sizes("plain"), [(7, PART), (9, 3)])
    s3.abort_multipart_upload(**uploads["aborted"])
    refused("NoSuchUpload", s3.list_parts, 404, **uploads["aborted"])
    encrypted = uploads["encrypted"]
    part = dict(**encrypted, PartNumber=2, Body=b"c" * PART)
    refused("InvalidRequest", s3.upload_part, 400, **part)
    refused("InvalidRequest", s3.upload_part, 400, **part, **sse_c(OTHER_KEY))
    # What is sent now began later than all before the restart.
    s3.upload_part(**part, **sse_c(KEY))
    s3.upload_part(**{**part, "PartNumber": 3, "Body": b"end"}, **sse_c(KEY))
    s3.complete_multipart_upload(**completion(encrypted))
    plain = s3.complete_multipart_upload(**completion(uploads["plain"]))
    same(plain["ChecksumType"], "COMPOSITE")
    begin("open", [(1, b"later")])


@phase
def third():
    objects_are_whole()
    refused("InvalidRequest", s3.get_object, 400, **which("encrypted"))
    same(read("encrypted", **sse_c(KEY)), b"a" * PART + b"c" * PART + b"end")
    same(read("encrypted", PartNumber=3, **sse_c(KEY)), b"end")
    got = s3.get_object(**which("plain"))
    same((got["Body"].read(), got["Metadata"], got["TagCount"]), (b"p" * PART + b"end", {"m": "1"}, 1))
    uploads = open_uploads()
    same(list(uploads), ["open"])
    s3.complete_multipart_upload(**completion(uploads["open"]))
    same(read("open"), b"later")
    for key in keys(Bucket=NAME):
        s3.delete_object(**which(key))
    s3.delete_bucket(Bucket=NAME)


def objects_are_whole():
    for key in ["secret", ODD]:
        refused("InvalidRequest", s3.get_object, 400, **which(key))
        refused("AccessDenied", s3.get_object, 403, **which(key), **sse_c(OTHER_KEY))
        same(read(key, **sse_c(KEY)), b"secret")
    same(read("decrypted"), b"plain")
    same(read("done"), b"a" * PART + b"b")
    same(read("done", PartNumber=2), b"b")
    same(s3.head_object(**which("done"), PartNumber=1)["PartsCount"], 2)


check(PHASES[sys.argv[4]])
run()
