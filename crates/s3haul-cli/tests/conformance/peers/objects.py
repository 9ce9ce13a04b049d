# Single objects: headers, tags, conditions, presigned requests, streamed bodies.
import urllib.request

put = {"ContentType": "text/x", "ContentEncoding": "gzip", "ContentLanguage": "de", "CacheControl": "max-age=1",
       "ContentDisposition": "attachment", "Metadata": {"a": "1", "b-c": "two words"}, "Tagging": "t=1&u=a%20b",
       "StorageClass": "STANDARD_IA"}
for key in ["plain", "ä ö+%20/\u200e", "folder/"]:
    s3.put_object(Bucket=bucket, Key=key, Body=b"hello", **put)
    head = s3.head_object(Bucket=bucket, Key=key)
    for name, value in put.items():
        if name != "Tagging":
            assert head[name] == value, (key, name, head.get(name))
    assert head["ContentLength"] == 5 and head["ETag"] == '"5d41402abc4b2a76b9719d911017c592"'
    tags = s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"]
    assert tags == [{"Key": "t", "Value": "1"}, {"Key": "u", "Value": "a b"}]
    s3.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": key})
    copy = s3.head_object(Bucket=bucket, Key="copy")
    assert copy["Metadata"] == put["Metadata"] and copy["ContentType"] == "text/x"
    assert s3.get_object_tagging(Bucket=bucket, Key="copy")["TagSet"] == tags
    # A storage class is not copied with the rest.
    assert copy.get("StorageClass", "STANDARD") == "STANDARD"
s3.copy_object(Bucket=bucket, Key="copy", CopySource={"Bucket": bucket, "Key": "plain"}, Metadata={"n": "1"},
               MetadataDirective="REPLACE", Tagging="new=1", TaggingDirective="REPLACE")
copy = s3.head_object(Bucket=bucket, Key="copy")
assert copy["Metadata"] == {"n": "1"} and copy["ContentType"] != "text/x"
assert s3.get_object_tagging(Bucket=bucket, Key="copy")["TagSet"] == [{"Key": "new", "Value": "1"}]
s3.delete_object_tagging(Bucket=bucket, Key="copy")
assert s3.get_object_tagging(Bucket=bucket, Key="copy")["TagSet"] == []

for key in ["plain", "ä ö+%20/\u200e"]:
    url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=60)
    assert urllib.request.urlopen(url).read() == b"hello"
    query = boto3.client("s3", config=Config(signature_version="s3v4", s3={"addressing_style": "path"}))
    url = query.generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": key + "2"}, ExpiresIn=60)
    urllib.request.urlopen(urllib.request.Request(url, data=b"put", method="PUT"))
    assert s3.get_object(Bucket=bucket, Key=key + "2")["Body"].read() == b"put"
    url = query.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=60)
    assert urllib.request.urlopen(url).read() == b"hello"
    answer = query.generate_presigned_url("get_object", ExpiresIn=60, Params={
        "Bucket": bucket, "Key": key, "ResponseContentType": "text/other"})
    assert urllib.request.urlopen(answer).headers["Content-Type"] == "text/other"

for algorithm in ["CRC32", "SHA1", "SHA256"]:
    s3.put_object(Bucket=bucket, Key="sum", Body=b"hello", ChecksumAlgorithm=algorithm)
    got = s3.get_object(Bucket=bucket, Key="sum", ChecksumMode="ENABLED")
    assert got["Body"].read() == b"hello" and got["Checksum" + algorithm]
# A file goes as a stream of signed chunks with its checksum behind it.
with open("stream", "wb") as file:
    file.write(os.urandom(300_000))
with open("stream", "rb") as file:
    s3.put_object(Bucket=bucket, Key="stream", Body=file)
assert s3.get_object(Bucket=bucket, Key="stream")["Body"].read() == open("stream", "rb").read()
s3.upload_file("stream", bucket, "uploaded")
s3.download_file(bucket, "uploaded", "downloaded")
assert open("stream", "rb").read() == open("downloaded", "rb").read()
s3.put_object(Bucket=bucket, Key="once", Body=b"1", IfNoneMatch="*")
tag = s3.head_object(Bucket=bucket, Key="once")["ETag"]
s3.put_object(Bucket=bucket, Key="once", Body=b"2", IfMatch=tag)
assert s3.get_object(Bucket=bucket, Key="once", Range="bytes=0-100")["ContentRange"] == "bytes 0-0/1"
s3.delete_object(Bucket=bucket, Key="missing")
assert s3.get_bucket_location(Bucket=bucket)["LocationConstraint"] in (None, "us-east-1")
print("passed")
