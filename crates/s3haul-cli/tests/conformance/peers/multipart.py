# Multipart uploads and copies: order, replacement, checksums, listings.
import base64, hashlib, zlib

MIB = 1 << 20
first, second, last = os.urandom(5 * MIB), os.urandom(6 * MIB), b"end"
whole = first + second + last


def part(number, body, **more):
    answer = s3.upload_part(Bucket=bucket, Key="m/ä b", UploadId=upload, PartNumber=number, Body=body, **more)
    return {"PartNumber": number, "ETag": answer["ETag"]}


upload = s3.create_multipart_upload(Bucket=bucket, Key="m/ä b", ContentType="text/x", Metadata={"a": "1"},
                                    Tagging="t=1")["UploadId"]
part(2, b"replaced later")
parts = [part(7, last), part(1, first), part(2, second)]
parts.sort(key=lambda p: p["PartNumber"])
uploads = s3.list_multipart_uploads(Bucket=bucket)["Uploads"]
assert [(u["Key"], u["UploadId"]) for u in uploads] == [("m/ä b", upload)]
listed = s3.list_parts(Bucket=bucket, Key="m/ä b", UploadId=upload)["Parts"]
assert [(p["PartNumber"], p["Size"]) for p in listed] == [(1, 5 * MIB), (2, 6 * MIB), (7, 3)]
page = s3.list_parts(Bucket=bucket, Key="m/ä b", UploadId=upload, MaxParts=2)
assert page["IsTruncated"] and page["NextPartNumberMarker"] == 2
assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 0
done = s3.complete_multipart_upload(Bucket=bucket, Key="m/ä b", UploadId=upload, MultipartUpload={"Parts": parts})
digests = b"".join(hashlib.md5(p).digest() for p in (first, second, last))
assert done["ETag"] == f'"{hashlib.md5(digests).hexdigest()}-3"', done["ETag"]
got = s3.get_object(Bucket=bucket, Key="m/ä b")
assert got["Body"].read() == whole and got["ContentType"] == "text/x" and got["Metadata"] == {"a": "1"}
assert got["TagCount"] == 1
ranged = s3.get_object(Bucket=bucket, Key="m/ä b", Range=f"bytes={5 * MIB - 2}-{5 * MIB + 1}")
assert ranged["Body"].read() == whole[5 * MIB - 2: 5 * MIB + 2]
assert ranged["ContentRange"] == f"bytes {5 * MIB - 2}-{5 * MIB + 1}/{len(whole)}"
assert s3.get_object(Bucket=bucket, Key="m/ä b", Range="bytes=-3")["Body"].read() == b"end"
assert s3.head_object(Bucket=bucket, Key="m/ä b", PartNumber=1)["PartsCount"] == 3
assert "Uploads" not in s3.list_multipart_uploads(Bucket=bucket)

# A checksum of checksums, as SHA-256 of parts is.
made = s3.create_multipart_upload(Bucket=bucket, Key="sum", ChecksumAlgorithm="SHA256")
sums = []
for number, body in [(1, first), (2, last)]:
    answer = s3.upload_part(Bucket=bucket, Key="sum", UploadId=made["UploadId"], PartNumber=number, Body=body,
                            ChecksumAlgorithm="SHA256")
    value = base64.b64encode(hashlib.sha256(body).digest()).decode()
    assert answer["ChecksumSHA256"] == value
    sums.append({"PartNumber": number, "ETag": answer["ETag"], "ChecksumSHA256": value})
done = s3.complete_multipart_upload(Bucket=bucket, Key="sum", UploadId=made["UploadId"],
                                    MultipartUpload={"Parts": sums})
inner = hashlib.sha256(first).digest() + hashlib.sha256(last).digest()
expected = base64.b64encode(hashlib.sha256(inner).digest()).decode() + "-2"
assert done["ChecksumSHA256"] == expected, done

# A CRC of the whole object, which the server must combine and compare.
made = s3.create_multipart_upload(Bucket=bucket, Key="crc", ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")
tags = []
for number, body in [(1, first), (2, last)]:
    answer = s3.upload_part(Bucket=bucket, Key="crc", UploadId=made["UploadId"], PartNumber=number, Body=body,
                            ChecksumAlgorithm="CRC32")
    tags.append({"PartNumber": number, "ETag": answer["ETag"], "ChecksumCRC32": answer["ChecksumCRC32"]})
crc = base64.b64encode(zlib.crc32(first + last).to_bytes(4, "big")).decode()
done = s3.complete_multipart_upload(Bucket=bucket, Key="crc", UploadId=made["UploadId"], ChecksumCRC32=crc,
                                    ChecksumType="FULL_OBJECT", MultipartUpload={"Parts": tags})
assert s3.head_object(Bucket=bucket, Key="crc", ChecksumMode="ENABLED")["ChecksumCRC32"] == crc

# Parts copied from another object.
upload = s3.create_multipart_upload(Bucket=bucket, Key="copied")["UploadId"]
source = {"Bucket": bucket, "Key": "m/ä b"}
copied = [s3.upload_part_copy(Bucket=bucket, Key="copied", UploadId=upload, PartNumber=n, CopySource=source,
          CopySourceRange=f"bytes={start}-{end}")["CopyPartResult"]["ETag"]
          for n, (start, end) in enumerate([(0, 6 * MIB - 1), (6 * MIB, len(whole) - 1)], 1)]
s3.complete_multipart_upload(Bucket=bucket, Key="copied", UploadId=upload, MultipartUpload={
    "Parts": [{"PartNumber": n, "ETag": tag} for n, tag in enumerate(copied, 1)]})
assert s3.get_object(Bucket=bucket, Key="copied")["Body"].read() == whole
print("passed")
