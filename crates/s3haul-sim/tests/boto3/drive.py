"""Drives a server with boto3 through every operation that it has."""
import base64
import hashlib
import http.client
import urllib.error
import urllib.request
import zlib

from harness import (ACCESS_KEY, ENDPOINT, MIB, SECRET_KEY, bucket, check, client, keys, refused, run,
                     s3, same)


@check
def buckets():
    name = bucket("buckets-test")
    s3.create_bucket(Bucket=name)
    assert name in [entry["Name"] for entry in s3.list_buckets()["Buckets"]]
    same(s3.head_bucket(Bucket=name)["BucketRegion"], "us-east-1")
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    refused("BucketNotEmpty", s3.delete_bucket, Bucket=name)
    s3.delete_object(Bucket=name, Key="k")
    s3.delete_bucket(Bucket=name)
    refused("404", s3.head_bucket, Bucket=name)
    refused("NoSuchBucket", s3.list_objects_v2, Bucket=name)


@check
def regions():
    name = "far-away"
    s3.create_bucket(
        Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    same(s3.get_bucket_location(Bucket=name)["LocationConstraint"], "eu-west-1")
    near = client(region="eu-west-1")
    near.put_object(Bucket=name, Key="k", Body=b"x")
    wrong = client(region="ap-south-1")
    response = refused("AuthorizationHeaderMalformed", wrong.list_buckets)
    same(response["Error"]["Region"], "us-east-1")
    # boto3 follows the redirect to the bucket's region.
    same(s3.get_object(Bucket=name, Key="k")["Body"].read(), b"x")


@check
def objects():
    name = bucket("objects-test")
    put = s3.put_object(
        Bucket=name, Key="a b+c/ü\n%", Body=b"hello world", ContentType="text/x",
        CacheControl="no-cache", Metadata={"one": "1"}, StorageClass="STANDARD_IA",
        Tagging="a=b&c=d%20e", ServerSideEncryption="AES256", WebsiteRedirectLocation="/x",
    )
    same(put["ETag"], '"%s"' % hashlib.md5(b"hello world").hexdigest())
    got = s3.get_object(Bucket=name, Key="a b+c/ü\n%")
    same(got["Body"].read(), b"hello world")
    same(got["ContentType"], "text/x")
    same(got["CacheControl"], "no-cache")
    same(got["Metadata"], {"one": "1"})
    same(got["StorageClass"], "STANDARD_IA")
    same(got["TagCount"], 2)
    same(got["ServerSideEncryption"], "AES256")
    same(got["WebsiteRedirectLocation"], "/x")
    head = s3.head_object(Bucket=name, Key="a b+c/ü\n%")
    same(head["ContentLength"], 11)
    refused("404", s3.head_object, Bucket=name, Key="nope")
    refused("NoSuchKey", s3.get_object, Bucket=name, Key="nope")
    refused("BadDigest", s3.put_object, Bucket=name, Key="k", Body=b"x",
            ContentMD5=base64.b64encode(b"0" * 16).decode())
    refused("NoSuchKey", s3.get_object, Bucket=name, Key="k")
    s3.put_object(Bucket=name, Key="empty", Body=b"")
    same(s3.get_object(Bucket=name, Key="empty")["Body"].read(), b"")


@check
def ranges_and_conditions():
    name = bucket("ranges-test")
    data = bytes(range(256)) * 4096
    etag = s3.put_object(Bucket=name, Key="k", Body=data)["ETag"]
    get = lambda **more: s3.get_object(Bucket=name, Key="k", **more)
    for text, part in [("bytes=0-0", data[:1]), ("bytes=5-", data[5:]),
                       ("bytes=-7", data[-7:]), ("bytes=1000000-9999999", data[1000000:])]:
        got = get(Range=text)
        same(got["ResponseMetadata"]["HTTPStatusCode"], 206)
        same(got["Body"].read(), part)
    refused("InvalidRange", s3.get_object, Bucket=name, Key="k", Range="bytes=9999999-")
    get(IfMatch=etag)
    refused("PreconditionFailed", s3.get_object, Bucket=name, Key="k", IfMatch='"no"')
    refused("304", s3.get_object, Bucket=name, Key="k", IfNoneMatch=etag)
    modified = get()["LastModified"]
    refused("304", s3.get_object, Bucket=name, Key="k", IfModifiedSince=modified)
    get(IfUnmodifiedSince=modified)
    refused("PreconditionFailed", s3.put_object, Bucket=name, Key="k", Body=b"", IfNoneMatch="*")
    refused("PreconditionFailed", s3.put_object, Bucket=name, Key="k", Body=b"", IfMatch='"no"')
    s3.put_object(Bucket=name, Key="k", Body=data, IfMatch=etag)
    same(get(ResponseContentType="a/b")["ContentType"], "a/b")


@check
def checksums():
    name = bucket("checksums-test")
    for algorithm, field in [("CRC32", "ChecksumCRC32"), ("SHA1", "ChecksumSHA1"),
                             ("SHA256", "ChecksumSHA256")]:
        put = s3.put_object(Bucket=name, Key=algorithm, Body=b"abc", ChecksumAlgorithm=algorithm)
        head = s3.head_object(Bucket=name, Key=algorithm, ChecksumMode="ENABLED")
        same(head[field], put[field])
        same(head["ChecksumType"], "FULL_OBJECT")
        assert field not in s3.head_object(Bucket=name, Key=algorithm)
    refused("BadDigest", s3.put_object, Bucket=name, Key="x", Body=b"abc", ChecksumCRC32="AAAAAA==")
    shown = s3.get_object_attributes(Bucket=name, Key="SHA1",
                                     ObjectAttributes=["ObjectSize", "Checksum"])
    same(shown["ObjectSize"], 3)


STRANGE = ["+", "a b", "a&b<c>", "d/", "d//", "d/../e", "x", "x/y", "x/y/z", "é", "\uffff",
           "\U0001f600", "..", ".", "%2F", "a\nb", "*", "~", "l" * 1024, "/", "//"]


@check
def listing():
    name = bucket("listing-test")
    for key in STRANGE:
        s3.put_object(Bucket=name, Key=key, Body=key.encode())
    expected = sorted(STRANGE, key=lambda key: key.encode())
    same(keys(Bucket=name), expected)
    for index, key in enumerate(expected):
        same(keys(Bucket=name, StartAfter=key), expected[index + 1:])
        same(s3.get_object(Bucket=name, Key=key)["Body"].read(), key.encode())
    paged = s3.get_paginator("list_objects_v2").paginate(
        Bucket=name, PaginationConfig={"PageSize": 3})
    same([e["Key"] for page in paged for e in page.get("Contents", [])], expected)
    paged = s3.get_paginator("list_objects").paginate(
        Bucket=name, Delimiter="/", PaginationConfig={"PageSize": 2})
    seen = [(e.get("Key") or e.get("Prefix")) for page in paged
            for e in page.get("Contents", []) + page.get("CommonPrefixes", [])]
    same(sorted(seen), sorted({k if "/" not in k else k[:k.index("/") + 1] for k in expected}))
    page = s3.list_objects_v2(Bucket=name, Prefix="x", Delimiter="/")
    same([e["Key"] for e in page["Contents"]], ["x"])
    same([e["Prefix"] for e in page["CommonPrefixes"]], ["x/"])
    page = s3.list_objects_v2(Bucket=name, Prefix="d/", StartAfter="+", MaxKeys=1)
    same((page["KeyCount"], page["IsTruncated"], page["StartAfter"]), (1, True, "+"))
    versions = s3.get_paginator("list_object_versions").paginate(
        Bucket=name, PaginationConfig={"PageSize": 4})
    same([e["Key"] for page in versions for e in page["Versions"]], expected)


@check
def deleting():
    name = bucket("deleting-test")
    for key in STRANGE:
        s3.put_object(Bucket=name, Key=key, Body=b"")
    some = [{"Key": key} for key in STRANGE if key != "\uffff"]
    done = s3.delete_objects(Bucket=name, Delete={"Objects": some[:3] + [{"Key": "not there"}]})
    same(len(done["Deleted"]), 4)
    done = s3.delete_objects(Bucket=name, Delete={"Objects": some[3:], "Quiet": True})
    assert "Deleted" not in done and "Errors" not in done, done
    same(keys(Bucket=name), ["\uffff"])
    s3.delete_object(Bucket=name, Key="\uffff")
    s3.delete_bucket(Bucket=name)


@check
def multipart():
    name = bucket("multipart-test")
    first, last = b"a" * (5 * MIB), b"b" * 100
    for extra in [{}, {"ChecksumAlgorithm": "CRC32"}, {"ChecksumAlgorithm": "SHA256"},
                  {"ChecksumAlgorithm": "CRC32", "ChecksumType": "FULL_OBJECT"}]:
        upload = s3.create_multipart_upload(Bucket=name, Key="m", Metadata={"m": "1"}, **extra)
        which = dict(Bucket=name, Key="m", UploadId=upload["UploadId"])
        algorithm = {k: v for k, v in extra.items() if k == "ChecksumAlgorithm"}
        parts = []
        for number, body in [(3, last), (1, first)]:
            part = s3.upload_part(PartNumber=number, Body=body, **which, **algorithm)
            fields = {k: v for k, v in part.items() if k.startswith("Checksum")}
            parts.insert(0, {"PartNumber": number, "ETag": part["ETag"], **fields})
        listed = s3.list_parts(**which)["Parts"]
        same([(p["PartNumber"], p["Size"]) for p in listed], [(1, 5 * MIB), (3, 100)])
        assert "m" in [u["Key"] for u in s3.list_multipart_uploads(Bucket=name)["Uploads"]]
        refused("InvalidPartOrder", s3.complete_multipart_upload,
                MultipartUpload={"Parts": parts[::-1]}, **which)
        refused("InvalidPart", s3.complete_multipart_upload,
                MultipartUpload={"Parts": [{"PartNumber": 2, "ETag": '"x"'}]}, **which)
        done = s3.complete_multipart_upload(MultipartUpload={"Parts": parts}, **which)
        digests = hashlib.md5(first).digest() + hashlib.md5(last).digest()
        same(done["ETag"], '"%s-2"' % hashlib.md5(digests).hexdigest())
        refused("NoSuchUpload", s3.abort_multipart_upload, **which)
        # Without awscrt, boto3 cannot verify every kind: reading with checksums on is the test.
        got = s3.get_object(Bucket=name, Key="m", ChecksumMode="ENABLED")
        same(got["Body"].read(), first + last)
        same(got["Metadata"], {"m": "1"})
        part = s3.get_object(Bucket=name, Key="m", PartNumber=2)
        same((part["Body"].read(), part["PartsCount"]), (last, 2))
    upload = s3.create_multipart_upload(Bucket=name, Key="small")
    which = dict(Bucket=name, Key="small", UploadId=upload["UploadId"])
    parts = [{"PartNumber": n, "ETag": s3.upload_part(PartNumber=n, Body=b"x", **which)["ETag"]}
             for n in (1, 2)]
    refused("EntityTooSmall", s3.complete_multipart_upload,
            MultipartUpload={"Parts": parts}, **which)
    s3.abort_multipart_upload(**which)
    same("Uploads" in s3.list_multipart_uploads(Bucket=name), False)


@check
def copying():
    name = bucket("copying-test")
    etag = s3.put_object(Bucket=name, Key="a+ b/é", Body=b"0123456789" * MIB,
                         ContentType="t/t", Metadata={"m": "1"}, Tagging="a=b")["ETag"]
    source = {"Bucket": name, "Key": "a+ b/é"}
    copied = s3.copy_object(Bucket=name, Key="copy", CopySource=source)
    same(copied["CopyObjectResult"]["ETag"], etag)
    head = s3.head_object(Bucket=name, Key="copy")
    same((head["ContentType"], head["Metadata"]), ("t/t", {"m": "1"}))
    same(s3.get_object_tagging(Bucket=name, Key="copy")["TagSet"], [{"Key": "a", "Value": "b"}])
    s3.copy_object(Bucket=name, Key="copy", CopySource=source, MetadataDirective="REPLACE",
                   Metadata={"n": "2"}, TaggingDirective="REPLACE", Tagging="c=d")
    same(s3.head_object(Bucket=name, Key="copy")["Metadata"], {"n": "2"})
    same(s3.get_object_tagging(Bucket=name, Key="copy")["TagSet"], [{"Key": "c", "Value": "d"}])
    refused("InvalidRequest", s3.copy_object, Bucket=name, Key="a+ b/é", CopySource=source)
    refused("PreconditionFailed", s3.copy_object, Bucket=name, Key="c2", CopySource=source,
            CopySourceIfMatch='"no"')
    upload = s3.create_multipart_upload(Bucket=name, Key="parts")
    which = dict(Bucket=name, Key="parts", UploadId=upload["UploadId"])
    parts = []
    for number, text in [(1, "bytes=0-5242879"), (2, "bytes=5242880-10485759")]:
        part = s3.upload_part_copy(PartNumber=number, CopySource=source, CopySourceRange=text, **which)
        parts.append({"PartNumber": number, "ETag": part["CopyPartResult"]["ETag"]})
    s3.complete_multipart_upload(MultipartUpload={"Parts": parts}, **which)
    same(s3.get_object(Bucket=name, Key="parts")["Body"].read(), b"0123456789" * MIB)


@check
def versions():
    name = bucket("versions-test")
    s3.put_object(Bucket=name, Key="k", Body=b"null")
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    same(s3.get_bucket_versioning(Bucket=name)["Status"], "Enabled")
    ids = [s3.put_object(Bucket=name, Key="k", Body=body)["VersionId"] for body in (b"1", b"2")]
    same(s3.get_object(Bucket=name, Key="k")["Body"].read(), b"2")
    same(s3.get_object(Bucket=name, Key="k", VersionId=ids[0])["Body"].read(), b"1")
    same(s3.get_object(Bucket=name, Key="k", VersionId="null")["Body"].read(), b"null")
    marker = s3.delete_object(Bucket=name, Key="k")
    same(marker["DeleteMarker"], True)
    refused("NoSuchKey", s3.get_object, Bucket=name, Key="k")
    same(keys(Bucket=name), [])
    page = s3.list_object_versions(Bucket=name)
    same([v["VersionId"] for v in page["Versions"]], [ids[1], ids[0], "null"])
    same([m["VersionId"] for m in page["DeleteMarkers"]], [marker["VersionId"]])
    paged = s3.get_paginator("list_object_versions").paginate(
        Bucket=name, PaginationConfig={"PageSize": 1})
    same(sum(len(p.get("Versions", [])) for p in paged), 3)
    s3.delete_object(Bucket=name, Key="k", VersionId=marker["VersionId"])
    same(s3.get_object(Bucket=name, Key="k")["Body"].read(), b"2")
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Suspended"})
    s3.put_object(Bucket=name, Key="k", Body=b"3")
    page = s3.list_object_versions(Bucket=name)
    same([v["VersionId"] for v in page["Versions"]], ["null", ids[1], ids[0]])
    refused("NoSuchVersion", s3.get_object, Bucket=name, Key="k", VersionId="x")


@check
def tagging():
    name = bucket("tagging-test")
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]
    s3.put_object_tagging(Bucket=name, Key="k", Tagging={"TagSet": tags})
    same(s3.get_object_tagging(Bucket=name, Key="k")["TagSet"], tags)
    s3.delete_object_tagging(Bucket=name, Key="k")
    same(s3.get_object_tagging(Bucket=name, Key="k")["TagSet"], [])
    many = [{"Key": str(n), "Value": ""} for n in range(11)]
    refused("BadRequest", s3.put_object_tagging, Bucket=name, Key="k", Tagging={"TagSet": many})


@check
def presigning():
    name = bucket("presigning-test")
    url = s3.generate_presigned_url("put_object", Params={"Bucket": name, "Key": "a b+"})
    urllib.request.urlopen(urllib.request.Request(url, data=b"signed", method="PUT"))
    url = s3.generate_presigned_url("get_object", Params={"Bucket": name, "Key": "a b+"})
    same(urllib.request.urlopen(url).read(), b"signed")
    other = url[:-1] + ("0" if url[-1] != "0" else "1")
    for broken in (other, url.split("?")[0]):
        try:
            urllib.request.urlopen(broken)
        except urllib.error.HTTPError as error:
            same(error.code, 403)
        else:
            raise AssertionError("an unsigned request was served")
    refused("SignatureDoesNotMatch", client(secret_key="wrong").list_buckets)
    refused("InvalidAccessKeyId", client(access_key="wrong").list_buckets)


@check
def trailing_checksums():
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    class Streaming(S3SigV4Auth):
        def payload(self, request):
            return "STREAMING-UNSIGNED-PAYLOAD-TRAILER"

    name = bucket("trailing-test")
    data = b"hello" * 1000
    good = base64.b64encode(zlib.crc32(data).to_bytes(4, "big")).decode()
    for checksum, expected in [(good, 200), ("AAAAAA==", 400)]:
        headers = {"content-encoding": "aws-chunked", "x-amz-trailer": "x-amz-checksum-crc32",
                   "x-amz-decoded-content-length": str(len(data)),
                   "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}
        request = AWSRequest("PUT", f"{ENDPOINT}/{name}/k", headers=headers)
        Streaming(Credentials(ACCESS_KEY, SECRET_KEY), "s3", "us-east-1").add_auth(request)
        body = b"%x\r\n%s\r\n0\r\nx-amz-checksum-crc32:%s\r\n\r\n" % (
            len(data), data, checksum.encode())
        connection = http.client.HTTPConnection(ENDPOINT.split("//")[1])
        connection.request("PUT", f"/{name}/k", body=body, headers=dict(request.headers))
        answer = connection.getresponse()
        text = answer.read()
        same((answer.status, b"BadDigest" in text), (expected, expected == 400))
    got = s3.head_object(Bucket=name, Key="k", ChecksumMode="ENABLED")
    same((got["ContentLength"], got["ChecksumCRC32"]), (len(data), good))
    assert "ContentEncoding" not in got, got


@check
def signed_payloads():
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    class Lying(S3SigV4Auth):
        def payload(self, request):
            return hashlib.sha256(b"something else").hexdigest()

    name = bucket("payloads-test")
    request = AWSRequest("PUT", f"{ENDPOINT}/{name}/k", headers={})
    Lying(Credentials(ACCESS_KEY, SECRET_KEY), "s3", "us-east-1").add_auth(request)
    connection = http.client.HTTPConnection(ENDPOINT.split("//")[1])
    connection.request("PUT", f"/{name}/k", body=b"the body", headers=dict(request.headers))
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 400 and b"XAmzContentSHA256Mismatch" in text, text
    refused("404", s3.head_object, Bucket=name, Key="k")


@check
def website():
    name = bucket("website-test")
    refused("NoSuchWebsiteConfiguration", s3.get_bucket_website, Bucket=name)
    s3.put_bucket_website(Bucket=name,
                          WebsiteConfiguration={"IndexDocument": {"Suffix": "index.html"}})
    same(s3.get_bucket_website(Bucket=name)["IndexDocument"], {"Suffix": "index.html"})
    s3.delete_bucket_website(Bucket=name)


@check
def transfers():
    import io
    name = bucket("transfers-test")
    data = b"0123456789abcdef" * (MIB + 7)
    s3.upload_fileobj(io.BytesIO(data), name, "big")
    target = io.BytesIO()
    s3.download_fileobj(name, "big", target)
    same(target.getvalue(), data)


run()
