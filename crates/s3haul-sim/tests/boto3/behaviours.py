"""Behaviours of S3 that clients can notice, beyond the operations that `drive.py` goes through."""
import base64
import datetime
import hashlib
import http.client
import urllib.error
import urllib.request

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from harness import (ACCESS_KEY, ENDPOINT, MIB, SECRET_KEY, bucket, check, client, keys, refused, run,
                     s3, same)

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
PART = 5 * MIB


def md5_of(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


def sse_c(key, prefix=""):
    return {f"{prefix}SSECustomerAlgorithm": "AES256", f"{prefix}SSECustomerKey": key}


def sse_c_as_sent(key, md5=None):
    """For the calls in which botocore leaves the key as it is."""
    return {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": base64.b64encode(key).decode(),
            "SSECustomerKeyMD5": md5 or md5_of(key)}


def source_sse_c(key):
    return sse_c(key, "CopySource")


def header(answer, name):
    return answer["ResponseMetadata"]["HTTPHeaders"].get(name)


def upload(name, key, parts=(b"x",), **more):
    """Begins an upload and sends its parts; what completes it."""
    encryption = {k: v for k, v in more.items() if k.startswith("SSECustomer")}
    which = dict(Bucket=name, Key=key)
    which["UploadId"] = s3.create_multipart_upload(**which, **more)["UploadId"]
    sent = [s3.upload_part(PartNumber=number, Body=body, **which, **encryption)
            for number, body in enumerate(parts, 1)]
    named = [{"PartNumber": number, "ETag": part["ETag"]} for number, part in enumerate(sent, 1)]
    return {**which, "MultipartUpload": {"Parts": named}}


@check
def sse_c_object_is_given_only_for_its_key():
    name = bucket("sse-c-objects")
    put = s3.put_object(Bucket=name, Key="k", Body=b"secret", **sse_c(KEY))
    same(put["SSECustomerAlgorithm"], "AES256")
    same(put["SSECustomerKeyMD5"], md5_of(KEY))
    assert put["ETag"] != '"%s"' % hashlib.md5(b"secret").hexdigest(), "S3 shows no MD5 here"
    which = dict(Bucket=name, Key="k")
    got = s3.get_object(**which, **sse_c(KEY))
    same(got["Body"].read(), b"secret")
    same((got["SSECustomerAlgorithm"], got["SSECustomerKeyMD5"]), ("AES256", md5_of(KEY)))
    same(s3.head_object(**which, **sse_c(KEY))["ETag"], put["ETag"])
    same(s3.get_object(Range="bytes=0-2", **which, **sse_c(KEY))["Body"].read(), b"sec")
    wanted = dict(ObjectAttributes=["ObjectSize"])
    same(s3.get_object_attributes(**which, **wanted, **sse_c_as_sent(KEY))["ObjectSize"], 6)
    refused("InvalidRequest", s3.get_object, 400, **which)
    refused("400", s3.head_object, 400, **which)
    refused("InvalidRequest", s3.get_object_attributes, 400, **which, **wanted)
    refused("AccessDenied", s3.get_object, 403, **which, **sse_c(OTHER_KEY))
    refused("403", s3.head_object, 403, **which, **sse_c(OTHER_KEY))
    refused("AccessDenied", s3.get_object_attributes, 403, **which, **wanted,
            **sse_c_as_sent(OTHER_KEY))
    same(s3.get_object_tagging(**which)["TagSet"], [])
    same(keys(Bucket=name), ["k"])
    s3.put_object(**which, Body=b"plain")
    same(s3.get_object(**which)["Body"].read(), b"plain")
    refused("InvalidRequest", s3.get_object, 400, **which, **sse_c(KEY))
    refused("400", s3.head_object, 400, **which, **sse_c(KEY))


@check
def sse_c_key_that_is_not_whole_is_refused():
    which = dict(Bucket=bucket("sse-c-keys"), Key="k")
    body = dict(Body=b"x")
    for call, more in [(s3.put_object, body), (s3.create_multipart_upload, {})]:
        refused("InvalidArgument", call, 400, **which, **more, **sse_c(b"short"))
        refused("InvalidArgument", call, 400, **which, **more,
                **sse_c_as_sent(KEY, md5_of(OTHER_KEY)))
        refused("InvalidArgument", call, 400, **which, **more, SSECustomerAlgorithm="AES256")
        refused("InvalidArgument", call, 400, **which, **more, SSECustomerKey=KEY)
        refused("InvalidEncryptionAlgorithmError", call, 400, **which, **more,
                SSECustomerAlgorithm="AES128", SSECustomerKey=KEY)
        refused("InvalidArgument", call, 400, **which, **more, **sse_c(KEY),
                ServerSideEncryption="AES256")
    same(keys(Bucket=which["Bucket"]), [])
    s3.put_object(**which, **body)
    refused("InvalidArgument", s3.get_object, 400, **which, **sse_c(b"short"))
    copy = dict(CopySource=which, Bucket=which["Bucket"], Key="copy")
    refused("InvalidArgument", s3.copy_object, 400, **copy, **sse_c(b"short"))
    s3.put_object(**which, **body, **sse_c(KEY))
    refused("InvalidArgument", s3.copy_object, 400, **copy, **source_sse_c(b"short"))
    same(keys(Bucket=which["Bucket"]), ["k"])


@check
def sse_c_copy_needs_the_key_of_its_source():
    name = bucket("sse-c-copies")
    s3.put_object(Bucket=name, Key="k", Body=b"secret", **sse_c(KEY))
    s3.put_object(Bucket=name, Key="plain", Body=b"plain")
    copy = dict(CopySource={"Bucket": name, "Key": "k"}, Bucket=name, Key="copy")
    refused("InvalidRequest", s3.copy_object, 400, **copy)
    refused("AccessDenied", s3.copy_object, 403, **copy, **source_sse_c(OTHER_KEY))
    plain = {**copy, "CopySource": {"Bucket": name, "Key": "plain"}}
    refused("InvalidRequest", s3.copy_object, 400, **plain, **source_sse_c(KEY))
    same(keys(Bucket=name), ["k", "plain"])
    # A copy is encrypted only where the request asks for it.
    copied = s3.copy_object(**copy, **source_sse_c(KEY))
    same(copied["CopyObjectResult"]["ETag"], '"%s"' % hashlib.md5(b"secret").hexdigest())
    assert "SSECustomerAlgorithm" not in copied, copied
    same(s3.get_object(Bucket=name, Key="copy")["Body"].read(), b"secret")
    copied = s3.copy_object(**copy, **source_sse_c(KEY), **sse_c(OTHER_KEY))
    same(copied["SSECustomerKeyMD5"], md5_of(OTHER_KEY))
    got = s3.get_object(Bucket=name, Key="copy", **sse_c(OTHER_KEY))
    same((got["Body"].read(), got["ETag"]), (b"secret", copied["CopyObjectResult"]["ETag"]))
    copied = s3.copy_object(**plain, **sse_c(KEY))
    assert copied["CopyObjectResult"]["ETag"] != '"%s"' % hashlib.md5(b"plain").hexdigest()
    refused("InvalidRequest", s3.get_object, 400, Bucket=name, Key="copy")
    # Another key is a change, so that an object can be copied to itself.
    itself = dict(CopySource={"Bucket": name, "Key": "k"}, Bucket=name, Key="k")
    s3.copy_object(**itself, **source_sse_c(KEY), **sse_c(OTHER_KEY))
    same(s3.get_object(Bucket=name, Key="k", **sse_c(OTHER_KEY))["Body"].read(), b"secret")


@check
def sse_c_is_added_and_removed_in_place():
    name = bucket("sse-c-in-place")
    md5 = '"%s"' % hashlib.md5(b"secret").hexdigest()
    itself = dict(CopySource={"Bucket": name, "Key": "k"}, Bucket=name, Key="k")
    s3.put_object(Bucket=name, Key="k", Body=b"secret", Metadata={"m": "1"})
    refused("InvalidRequest", s3.copy_object, 400, **itself)
    added = s3.copy_object(**itself, **sse_c(KEY))
    assert added["CopyObjectResult"]["ETag"] != md5, added
    refused("InvalidRequest", s3.get_object, 400, Bucket=name, Key="k")
    refused("InvalidRequest", s3.copy_object, 400, **itself)
    refused("AccessDenied", s3.copy_object, 403, **itself, **source_sse_c(OTHER_KEY))
    removed = s3.copy_object(**itself, **source_sse_c(KEY))
    assert "SSECustomerAlgorithm" not in removed, removed
    same(removed["CopyObjectResult"]["ETag"], md5)
    got = s3.get_object(Bucket=name, Key="k")
    same((got["Body"].read(), got["ETag"], got["Metadata"]), (b"secret", md5, {"m": "1"}))
    refused("InvalidRequest", s3.copy_object, 400, **itself)


@check
def sse_c_parts_need_the_key_of_their_upload():
    name = bucket("sse-c-parts")
    which = dict(Bucket=name, Key="k")
    begun = s3.create_multipart_upload(**which, **sse_c(KEY))
    same((begun["SSECustomerAlgorithm"], begun["SSECustomerKeyMD5"]), ("AES256", md5_of(KEY)))
    part = dict(**which, UploadId=begun["UploadId"], PartNumber=1)
    refused("InvalidRequest", s3.upload_part, 400, **part, Body=b"x")
    refused("InvalidRequest", s3.upload_part, 400, **part, Body=b"x", **sse_c(OTHER_KEY))
    refused("InvalidArgument", s3.upload_part, 400, **part, Body=b"x", **sse_c(b"short"))
    assert "Parts" not in s3.list_parts(**which, UploadId=begun["UploadId"])
    first = s3.upload_part(**part, Body=b"a" * PART, **sse_c(KEY))
    same(first["SSECustomerKeyMD5"], md5_of(KEY))
    s3.put_object(Bucket=name, Key="source", Body=b"secret", **sse_c(OTHER_KEY))
    second = dict(part, PartNumber=2, CopySource={"Bucket": name, "Key": "source"})
    refused("InvalidRequest", s3.upload_part_copy, 400, **second, **sse_c(KEY))
    refused("AccessDenied", s3.upload_part_copy, 403, **second, **sse_c(KEY), **source_sse_c(KEY))
    refused("InvalidRequest", s3.upload_part_copy, 400, **second, **source_sse_c(OTHER_KEY))
    copied = s3.upload_part_copy(**second, **sse_c(KEY), **source_sse_c(OTHER_KEY))
    parts = [{"PartNumber": 1, "ETag": first["ETag"]},
             {"PartNumber": 2, "ETag": copied["CopyPartResult"]["ETag"]}]
    done = dict(**which, UploadId=begun["UploadId"], MultipartUpload={"Parts": parts})
    refused("InvalidRequest", s3.complete_multipart_upload, 400, **done,
            **sse_c_as_sent(OTHER_KEY))
    s3.complete_multipart_upload(**done)
    refused("InvalidRequest", s3.get_object, 400, **which)
    refused("InvalidRequest", s3.get_object, 400, **which, PartNumber=2)
    same(s3.get_object(**which, **sse_c(KEY))["Body"].read(), b"a" * PART + b"secret")
    plain = s3.create_multipart_upload(**which)["UploadId"]
    refused("InvalidRequest", s3.upload_part, 400, **which, UploadId=plain, PartNumber=1, Body=b"x",
            **sse_c(KEY))


@check
def tags_are_counted_and_sorted():
    name = bucket("tags-of-objects")
    s3.put_object(Bucket=name, Key="k", Body=b"x", Tagging="b=2&a=1&c=3")
    same(header(s3.head_object(Bucket=name, Key="k"), "x-amz-tagging-count"), "3")
    same(s3.get_object(Bucket=name, Key="k")["TagCount"], 3)
    tags = lambda: [tag["Key"] for tag in s3.get_object_tagging(Bucket=name, Key="k")["TagSet"]]
    same(tags(), ["a", "b", "c"])
    s3.put_object_tagging(Bucket=name, Key="k", Tagging={"TagSet": [
        {"Key": "z", "Value": "1"}, {"Key": "Z", "Value": "2"}]})
    same(tags(), ["Z", "z"])
    s3.delete_object_tagging(Bucket=name, Key="k")
    same(header(s3.head_object(Bucket=name, Key="k"), "x-amz-tagging-count"), None)


@check
def puts_are_conditional():
    which = dict(Bucket=bucket("conditional-puts"), Key="k")
    put = lambda body, **more: s3.put_object(**which, Body=body, **more)
    refused("NoSuchKey", put, 404, body=b"0", IfMatch='"none"')
    refused("NoSuchKey", put, 404, body=b"0", IfMatch="*")
    etag = put(b"1", IfNoneMatch="*")["ETag"]
    refused("PreconditionFailed", put, 412, body=b"2", IfNoneMatch="*")
    refused("PreconditionFailed", put, 412, body=b"2", IfNoneMatch=etag)
    refused("PreconditionFailed", put, 412, body=b"2", IfMatch='"other"')
    same(s3.get_object(**which)["Body"].read(), b"1")
    etag = put(b"2", IfNoneMatch='"other"')["ETag"]
    etag = put(b"3", IfMatch=etag.strip('"'))["ETag"]
    put(b"4", IfMatch="*")
    refused("PreconditionFailed", put, 412, body=b"5", IfMatch=etag)
    same(s3.get_object(**which)["Body"].read(), b"4")


@check
def completions_are_conditional():
    name = bucket("conditional-uploads")
    complete = lambda **more: s3.complete_multipart_upload(**upload(name, "k"), **more)
    refused("NoSuchKey", complete, 404, IfMatch='"none"')
    first = complete(IfNoneMatch="*")["ETag"]
    refused("PreconditionFailed", complete, 412, IfNoneMatch="*")
    refused("PreconditionFailed", complete, 412, IfNoneMatch=first)
    refused("PreconditionFailed", complete, 412, IfMatch='"other"')
    same(complete(IfMatch=first)["ETag"], first)
    complete(IfNoneMatch='"other"')
    # What was refused can be completed after all.
    again = upload(name, "k")
    refused("PreconditionFailed", s3.complete_multipart_upload, 412, IfNoneMatch="*", **again)
    s3.complete_multipart_upload(**again)


@check
def version_ids_are_left_out_without_versioning():
    which = dict(Bucket=bucket("version-ids"), Key="k")

    def writes():
        yield s3.put_object(**which, Body=b"x")
        yield s3.complete_multipart_upload(**upload(**{"name": which["Bucket"], "key": "k"}))
        yield s3.copy_object(**which, CopySource=which, MetadataDirective="REPLACE")

    def reads():
        yield s3.get_object(**which)
        yield s3.head_object(**which)
        yield s3.get_object_tagging(**which)
        yield s3.put_object_tagging(**which, Tagging={"TagSet": []})
        yield s3.get_object_attributes(**which, ObjectAttributes=["ETag"])

    def versioning(status):
        s3.put_bucket_versioning(Bucket=which["Bucket"], VersioningConfiguration={"Status": status})

    for answer in [*writes(), *reads()]:
        assert "VersionId" not in answer, answer
    versioning("Enabled")
    same([answer["VersionId"] for answer in reads()], ["null"] * 5)
    ids = [answer["VersionId"] for answer in writes()]
    same(len(set(ids)), 3)
    versioning("Suspended")
    # A version that has an id is named by it.
    same(s3.head_object(**which)["VersionId"], ids[-1])
    for answer in [*writes(), *reads()]:
        assert "VersionId" not in answer, answer


def lock(**retention):
    configuration = {"ObjectLockEnabled": "Enabled"}
    if retention:
        configuration["Rule"] = {"DefaultRetention": retention}
    return configuration


@check
def default_object_lock_is_kept_and_applied():
    name = bucket("default-lock", ObjectLockEnabledForBucket=True)
    get = lambda: s3.get_object_lock_configuration(Bucket=name)["ObjectLockConfiguration"]
    put = lambda wanted: s3.put_object_lock_configuration(Bucket=name, ObjectLockConfiguration=wanted)
    same(get(), lock())
    s3.put_object(Bucket=name, Key="before", Body=b"x")
    put(lock(Mode="GOVERNANCE", Years=1))
    same(get(), lock(Mode="GOVERNANCE", Years=1))
    put(lock(Mode="GOVERNANCE", Days=2))
    same(get(), lock(Mode="GOVERNANCE", Days=2))
    retention = lambda key: s3.get_object_retention(Bucket=name, Key=key)["Retention"]
    refused("NoSuchObjectLockConfiguration", s3.get_object_retention, 404, Bucket=name, Key="before")
    s3.put_object(Bucket=name, Key="put", Body=b"x")
    s3.copy_object(Bucket=name, Key="copied", CopySource={"Bucket": name, "Key": "put"})
    s3.complete_multipart_upload(**upload(name, "parts"))
    now = datetime.datetime.now(datetime.timezone.utc)
    for key in ["put", "copied", "parts"]:
        same(retention(key)["Mode"], "GOVERNANCE")
        days = (retention(key)["RetainUntilDate"] - now) / datetime.timedelta(days=1)
        assert 1.9 < days < 2.1, days
        version = s3.head_object(Bucket=name, Key=key)["VersionId"]
        refused("AccessDenied", s3.delete_object, 403, Bucket=name, Key=key, VersionId=version)
    far = now.replace(microsecond=0) + datetime.timedelta(days=100)
    s3.put_object(Bucket=name, Key="own", Body=b"x", ObjectLockMode="COMPLIANCE",
                  ObjectLockRetainUntilDate=far)
    same(retention("own"), {"Mode": "COMPLIANCE", "RetainUntilDate": far})
    put(lock())
    same(get(), lock())
    s3.put_object(Bucket=name, Key="after", Body=b"x")
    refused("NoSuchObjectLockConfiguration", s3.get_object_retention, 404, Bucket=name, Key="after")


@check
def default_object_lock_is_checked():
    name = bucket("checked-lock", ObjectLockEnabledForBucket=True)
    wrong = [
        ("MalformedXML", lock(Mode="GOVERNANCE", Days=1, Years=1)),
        ("MalformedXML", lock(Mode="GOVERNANCE")),
        ("MalformedXML", lock(Days=1)),
        ("MalformedXML", lock(Mode="governance", Days=1)),
        ("MalformedXML", {"ObjectLockEnabled": "Disabled"}),
        ("MalformedXML", {}),
        ("InvalidArgument", lock(Mode="GOVERNANCE", Days=0)),
        ("InvalidArgument", lock(Mode="GOVERNANCE", Years=-1)),
        ("InvalidArgument", lock(Mode="COMPLIANCE", Days=36501)),
        ("InvalidArgument", lock(Mode="COMPLIANCE", Years=101)),
    ]
    for code, configuration in wrong:
        refused(code, s3.put_object_lock_configuration, 400, Bucket=name,
                ObjectLockConfiguration=configuration)
    same(s3.get_object_lock_configuration(Bucket=name)["ObjectLockConfiguration"], lock())
    suspended = dict(VersioningConfiguration={"Status": "Suspended"})
    refused("InvalidBucketState", s3.put_bucket_versioning, 409, Bucket=name, **suspended)
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    retention = {"Mode": "governance", "RetainUntilDate": datetime.datetime(2100, 1, 1)}
    refused("MalformedXML", s3.put_object_retention, 400, Bucket=name, Key="k", Retention=retention)
    refused("MalformedXML", s3.put_object_legal_hold, 400, Bucket=name, Key="k",
            LegalHold={"Status": "maybe"})
    past = datetime.datetime(2001, 1, 1)
    refused("InvalidArgument", s3.put_object, 400, Bucket=name, Key="k", Body=b"x",
            ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=past)
    other = bucket("unlocked")
    refused("ObjectLockConfigurationNotFoundError", s3.get_object_lock_configuration, 404,
            Bucket=other)
    refused("NoSuchBucket", s3.get_object_lock_configuration, 404, Bucket="not-there")
    enable = dict(Bucket=other, ObjectLockConfiguration=lock(Mode="COMPLIANCE", Days=1))
    refused("InvalidBucketState", s3.put_object_lock_configuration, 409, **enable)
    s3.put_bucket_versioning(Bucket=other, VersioningConfiguration={"Status": "Enabled"})
    s3.put_object_lock_configuration(**enable)
    same(s3.get_object_lock_configuration(Bucket=other)["ObjectLockConfiguration"],
         enable["ObjectLockConfiguration"])
    refused("InvalidBucketState", s3.put_bucket_versioning, 409, Bucket=other, **suspended)


@check
def buckets_have_tags():
    name = bucket("tagged-bucket")
    refused("NoSuchTagSet", s3.get_bucket_tagging, 404, Bucket=name)
    refused("NoSuchBucket", s3.get_bucket_tagging, 404, Bucket="not-there")
    tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]
    s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tags[::-1]})
    same(s3.get_bucket_tagging(Bucket=name)["TagSet"], tags)
    twice = {"TagSet": [tags[0], tags[0]]}
    refused("InvalidTag", s3.put_bucket_tagging, 400, Bucket=name, Tagging=twice)
    many = {"TagSet": [{"Key": f"{n:02}", "Value": ""} for n in range(51)]}
    refused("BadRequest", s3.put_bucket_tagging, 400, Bucket=name, Tagging=many)
    same(s3.get_bucket_tagging(Bucket=name)["TagSet"], tags)
    s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": many["TagSet"][:50]})
    same(len(s3.get_bucket_tagging(Bucket=name)["TagSet"]), 50)
    s3.delete_bucket_tagging(Bucket=name)
    refused("NoSuchTagSet", s3.get_bucket_tagging, 404, Bucket=name)
    s3.delete_bucket_tagging(Bucket=name)
    s3.head_bucket(Bucket=name)


def answer_of(url, **request):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, **request)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@check
def presigned_urls_expire():
    name = bucket("expired")
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    for signature in ["s3v4", "s3"]:
        presign = lambda life, call="get_object": client(signature=signature).generate_presigned_url(
            call, Params={"Bucket": name, "Key": "k"}, ExpiresIn=life)
        same(answer_of(presign(100)), (200, b"x"))
        for url, request in [(presign(0), {}), (presign(0, "put_object"),
                                                {"data": b"y", "method": "PUT"})]:
            status, text = answer_of(url, **request)
            same(status, 403)
            assert b"<Code>AccessDenied</Code>" in text and b"Request has expired" in text, text
    same(answer_of(client(signature="s3").generate_presigned_url(
        "get_object", Params={"Bucket": name, "Key": "k"}, ExpiresIn=-7))[0], 403)
    for life in [-7, 604801]:
        status, text = answer_of(s3.generate_presigned_url(
            "get_object", Params={"Bucket": name, "Key": "k"}, ExpiresIn=life))
        assert status == 400 and b"AuthorizationQueryParametersError" in text, text
    same(s3.get_object(Bucket=name, Key="k")["Body"].read(), b"x")


@check
def bucket_names_with_a_dash_beside_a_dot_are_refused():
    for name in ["foo.-bar", "foo-.bar"]:
        refused("InvalidBucketName", s3.create_bucket, 400, Bucket=name)
        refused("NoSuchBucket", s3.list_objects_v2, 404, Bucket=name)
    bucket("foo.bar-baz")


@check
def reserved_bucket_names_are_refused():
    # https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
    for name in ["xn--name", "sthree-name", "sthree-configurator", "amzn-s3-demo-name",
                 "name-s3alias", "name--ol-s3", "name.mrap", "name--use1-az4--x-s3",
                 "name--table-s3", "name-111122223333-us-west-2-an"]:
        refused("InvalidBucketName", s3.create_bucket, 400, Bucket=name)
        assert name not in [entry["Name"] for entry in s3.list_buckets()["Buckets"]]
    for name in ["my-xn--name", "my-sthree-name", "my-amzn-s3-demo-name", "s3alias",
                 "my-s3alias-name", "name-mrap", "name.mrap.x", "name--ol-s3-x", "name-x-s3",
                 "name-table-s3", "plan"]:
        bucket(name)


@check
def repeated_completion_is_refused_once_its_object_is_gone():
    name = bucket("gone-completions")
    which = dict(Bucket=name, Key="k")
    for gone in [lambda: s3.delete_object(**which),
                 lambda: s3.put_object(**which, Body=b"other"),
                 lambda: s3.complete_multipart_upload(**upload(name, "k", [b"another"]))]:
        done = upload(name, "k")
        first = s3.complete_multipart_upload(**done)
        s3.put_object_tagging(**which, Tagging={"TagSet": [{"Key": "t", "Value": "1"}]})
        same(s3.complete_multipart_upload(**done)["ETag"], first["ETag"])
        gone()
        refused("NoSuchUpload", s3.complete_multipart_upload, 404, **done)
        refused("NoSuchUpload", s3.complete_multipart_upload, 404, **done, IfNoneMatch="*")
        s3.delete_object(**which)
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    done = upload(name, "k")
    first = s3.complete_multipart_upload(**done, IfNoneMatch="*")
    s3.put_object(**which, Body=b"newer")
    s3.delete_object(**which)
    # The version is still there.
    same(s3.complete_multipart_upload(**done, IfNoneMatch="*")["VersionId"], first["VersionId"])
    s3.delete_object(**which, VersionId=first["VersionId"])
    refused("NoSuchUpload", s3.complete_multipart_upload, 404, **done)


@check
def repeated_completion_answers_as_the_first_did():
    name = bucket("repeated-completions")
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    done = upload(name, "k", [b"a" * PART, b"b"])
    shown = lambda answer: {k: v for k, v in answer.items() if k != "ResponseMetadata"}
    first = s3.complete_multipart_upload(**done, IfNoneMatch="*")
    same(shown(s3.complete_multipart_upload(**done)), shown(first))
    same(shown(s3.complete_multipart_upload(**done, IfNoneMatch="*")), shown(first))
    same(len(s3.list_object_versions(Bucket=name)["Versions"]), 1)
    parts = done["MultipartUpload"]["Parts"]
    other = {**done, "MultipartUpload": {"Parts": parts[:1]}}
    refused("NoSuchUpload", s3.complete_multipart_upload, 404, **other)
    refused("NoSuchUpload", s3.complete_multipart_upload, 404, **{**done, "Key": "other"})
    which = {k: v for k, v in done.items() if k != "MultipartUpload"}
    refused("NoSuchUpload", s3.upload_part, 404, PartNumber=1, Body=b"x", **which)
    refused("NoSuchUpload", s3.list_parts, 404, **which)
    refused("NoSuchUpload", s3.abort_multipart_upload, 404, **which)
    aborted = upload(name, "aborted")
    s3.abort_multipart_upload(**{k: v for k, v in aborted.items() if k != "MultipartUpload"})
    refused("NoSuchUpload", s3.complete_multipart_upload, 404, **aborted)


class Unsigned(S3SigV4Auth):
    def payload(self, request):
        return "UNSIGNED-PAYLOAD"


def begin_part(which, number, size):
    """Sends the head of an UploadPart, until the server asks for the body."""
    path = f"/{which['Bucket']}/{which['Key']}?partNumber={number}&uploadId={which['UploadId']}"
    headers = {"x-amz-content-sha256": "UNSIGNED-PAYLOAD"}
    request = AWSRequest("PUT", ENDPOINT + path, headers=headers)
    Unsigned(Credentials(ACCESS_KEY, SECRET_KEY), "s3", "us-east-1").add_auth(request)
    connection = http.client.HTTPConnection(ENDPOINT.split("//")[1])
    connection.putrequest("PUT", path)
    for field, value in request.headers.items():
        connection.putheader(field, value)
    connection.putheader("Content-Length", str(size))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    line = b""
    while not line.endswith(b"\r\n\r\n"):
        byte = connection.sock.recv(1)
        assert byte, line
        line += byte
    assert line.startswith(b"HTTP/1.1 100"), line
    return connection


def end_part(connection, body):
    connection.send(body)
    answer = connection.getresponse()
    text = answer.read()
    same((answer.status, text), (200, b""))
    return answer.headers["ETag"]


@check
def of_parts_sent_twice_the_last_that_began_counts():
    name = bucket("parts-twice")
    which = dict(Bucket=name, Key="k")
    for ends_last in ["first", "second"]:
        which["UploadId"] = s3.create_multipart_upload(Bucket=name, Key="k")["UploadId"]
        bodies = {"first": b"1" * 100, "second": b"2" * 100}
        begun = {which_one: begin_part(which, 1, 100) for which_one in ["first", "second"]}
        order = ["first", "second"] if ends_last == "second" else ["second", "first"]
        etags = {which_one: end_part(begun[which_one], bodies[which_one]) for which_one in order}
        same(s3.list_parts(**which)["Parts"][0]["ETag"], etags["second"])
        named = lambda one: {"Parts": [{"PartNumber": 1, "ETag": etags[one]}]}
        refused("InvalidPart", s3.complete_multipart_upload, 400, **which,
                MultipartUpload=named("first"))
        s3.complete_multipart_upload(**which, MultipartUpload=named("second"))
        same(s3.get_object(Bucket=name, Key="k")["Body"].read(), bodies["second"])


@check
def delete_markers_are_named():
    name = bucket("markers")
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    s3.put_object(Bucket=name, Key="k", Body=b"x")
    marker = s3.delete_object(Bucket=name, Key="k")["VersionId"]
    which = dict(Bucket=name, Key="k")
    for call, codes in [(s3.get_object, ("NoSuchKey", "MethodNotAllowed")),
                        (s3.head_object, ("404", "405"))]:
        for code, status, more in [(codes[0], 404, {}), (codes[1], 405, {"VersionId": marker})]:
            answer = refused(code, call, status, **which, **more)
            same(header(answer, "x-amz-delete-marker"), "true")
            same(header(answer, "x-amz-version-id"), marker)
        assert header(refused(codes[0], call, 404, Bucket=name, Key="never"),
                      "x-amz-delete-marker") is None
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Suspended"})
    same(s3.delete_object(Bucket=name, Key="k")["VersionId"], "null")
    for status, more in [(404, {}), (405, {"VersionId": "null"})]:
        answer = refused(str(status), s3.head_object, status, **which, **more)
        same(header(answer, "x-amz-delete-marker"), "true")
    attributes = dict(ObjectAttributes=["ETag"])
    answer = refused("NoSuchKey", s3.get_object_attributes, 404, **which, **attributes)
    same(header(answer, "x-amz-delete-marker"), "true")


@check
def kinds_of_checksums_are_named():
    name = bucket("kinds-of-checksums")
    wanted = ["Checksum", "ObjectParts"]
    s3.put_object(Bucket=name, Key="k", Body=b"x", ChecksumAlgorithm="SHA256")
    shown = s3.get_object_attributes(Bucket=name, Key="k", ObjectAttributes=wanted)
    same(shown["Checksum"]["ChecksumType"], "FULL_OBJECT")
    assert "ObjectParts" not in shown, shown
    for algorithm, kind in [("SHA256", "COMPOSITE"), ("CRC32", "COMPOSITE"), ("CRC32", "FULL_OBJECT")]:
        which = dict(Bucket=name, Key=f"{algorithm}-{kind}")
        begun = s3.create_multipart_upload(ChecksumAlgorithm=algorithm, ChecksumType=kind, **which)
        same((begun["ChecksumAlgorithm"], begun["ChecksumType"]), (algorithm, kind))
        field = f"Checksum{algorithm}"
        which["UploadId"] = begun["UploadId"]
        part = s3.upload_part(PartNumber=1, Body=b"x", ChecksumAlgorithm=algorithm, **which)
        listed = s3.list_parts(**which)
        same((listed["ChecksumAlgorithm"], listed["ChecksumType"]), (algorithm, kind))
        same(listed["Parts"][0][field], part[field])
        uploads = s3.list_multipart_uploads(Bucket=name)["Uploads"]
        same([u["ChecksumType"] for u in uploads], [kind])
        parts = [{"PartNumber": 1, "ETag": part["ETag"], field: part[field]}]
        done = s3.complete_multipart_upload(MultipartUpload={"Parts": parts}, **which)
        same(done["ChecksumType"], kind)
        del which["UploadId"]
        shown = s3.get_object_attributes(ObjectAttributes=wanted, **which)
        same(shown["Checksum"], {field: done[field], "ChecksumType": kind})
        same(shown["ObjectParts"]["TotalPartsCount"], 1)
        same(shown["ObjectParts"]["Parts"], [{"PartNumber": 1, "Size": 1, field: part[field]}])


@check
def objects_without_a_named_checksum_have_one_of_the_whole():
    name = bucket("default-checksums")
    quiet = client(request_checksum_calculation="when_required")
    shown = lambda key: s3.get_object_attributes(Bucket=name, Key=key, ObjectAttributes=["Checksum"])
    quiet.put_object(Bucket=name, Key="whole", Body=b"a" * PART + b"b")
    checksum = shown("whole")["Checksum"]
    same(checksum["ChecksumType"], "FULL_OBJECT")
    # Also where only the parts have checksums, of another algorithm.
    for more in [{}, {"ChecksumAlgorithm": "SHA256"}]:
        which = dict(Bucket=name, Key="parts")
        which["UploadId"] = quiet.create_multipart_upload(**which)["UploadId"]
        parts = [{"PartNumber": number, "ETag": quiet.upload_part(
            PartNumber=number, Body=body, **which, **more)["ETag"]}
            for number, body in [(1, b"a" * PART), (2, b"b")]]
        quiet.complete_multipart_upload(MultipartUpload={"Parts": parts}, **which)
        same(shown("parts")["Checksum"], checksum)
    which = dict(Bucket=name, Key="parts")
    refused("InvalidRequest", quiet.create_multipart_upload, 400, ChecksumType="FULL_OBJECT", **which)


@check
def empty_continuation_token_is_the_beginning():
    name = bucket("empty-token")
    for key in ["a", "b"]:
        s3.put_object(Bucket=name, Key=key, Body=b"")
    page = s3.list_objects_v2(Bucket=name, ContinuationToken="")
    same([entry["Key"] for entry in page["Contents"]], ["a", "b"])
    same(page["ContinuationToken"], "")
    same(keys(Bucket=name, ContinuationToken="", StartAfter="a"), ["b"])
    refused("InvalidArgument", s3.list_objects_v2, 400, Bucket=name, ContinuationToken="nonsense!")


run()
