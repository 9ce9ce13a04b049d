# Error codes and statuses as S3 gives them. `s3` and `bucket` come from the harness.
import base64
from botocore.exceptions import ClientError


def refused(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        found = error.response["Error"]["Code"]
        assert found in code.split("|"), f"{call.__name__}: {found}, expected {code}"
        return
    raise AssertionError(f"{call.__name__} succeeded, expected {code}")


s3.put_object(Bucket=bucket, Key="k", Body=b"hello")
refused("404", s3.head_object, Bucket=bucket, Key="missing")
refused("NoSuchKey", s3.get_object, Bucket=bucket, Key="missing")
refused("NoSuchBucket", s3.list_objects_v2, Bucket=bucket + "-missing")
refused("NoSuchBucket", s3.put_object, Bucket=bucket + "-missing", Key="k", Body=b"")
refused("404", s3.head_bucket, Bucket=bucket + "-missing")
refused("BucketNotEmpty", s3.delete_bucket, Bucket=bucket)
refused("InvalidRange", s3.get_object, Bucket=bucket, Key="k", Range="bytes=5-")
refused("PreconditionFailed", s3.get_object, Bucket=bucket, Key="k", IfMatch='"other"')
refused("304", s3.get_object, Bucket=bucket, Key="k", IfNoneMatch='"5d41402abc4b2a76b9719d911017c592"')
refused("PreconditionFailed", s3.put_object, Bucket=bucket, Key="k", Body=b"x", IfNoneMatch="*")
refused("NoSuchKey", s3.copy_object, Bucket=bucket, Key="c", CopySource=f"{bucket}/missing")
refused("PreconditionFailed", s3.copy_object, Bucket=bucket, Key="c", CopySource=f"{bucket}/k",
        CopySourceIfMatch='"other"')
refused("InvalidRequest", s3.copy_object, Bucket=bucket, Key="k", CopySource=f"{bucket}/k")
refused("NoSuchUpload", s3.list_parts, Bucket=bucket, Key="k", UploadId="missing")
wrong = base64.b64encode(b"0" * 16).decode()
refused("BadDigest|InvalidDigest", s3.put_object, Bucket=bucket, Key="k", Body=b"x", ContentMD5=wrong)
wrong = base64.b64encode(b"0000").decode()
refused("BadDigest|XAmzContentChecksumMismatch|InvalidRequest", s3.put_object, Bucket=bucket,
        Key="k", Body=b"x", ChecksumCRC32=wrong)
assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"hello"
upload = s3.create_multipart_upload(Bucket=bucket, Key="m")["UploadId"]
refused("InvalidPart", s3.complete_multipart_upload, Bucket=bucket, Key="m", UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": '"missing"'}]})
parts = [s3.upload_part(Bucket=bucket, Key="m", UploadId=upload, PartNumber=n, Body=b"small")["ETag"]
         for n in (1, 2)]
refused("EntityTooSmall", s3.complete_multipart_upload, Bucket=bucket, Key="m", UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": n + 1, "ETag": tag} for n, tag in enumerate(parts)]})
refused("InvalidPartOrder", s3.complete_multipart_upload, Bucket=bucket, Key="m", UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 2, "ETag": parts[1]}, {"PartNumber": 1, "ETag": parts[0]}]})
s3.abort_multipart_upload(Bucket=bucket, Key="m", UploadId=upload)
refused("KeyTooLongError", s3.put_object, Bucket=bucket, Key="k" * 1025, Body=b"")
stranger = boto3.client("s3", aws_access_key_id="stranger", aws_secret_access_key="x",
                        config=Config(s3={"addressing_style": "path"}))
refused("InvalidAccessKeyId", stranger.list_objects_v2, Bucket=bucket)
liar = boto3.client("s3", aws_secret_access_key="x", aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
                    config=Config(s3={"addressing_style": "path"}))
refused("SignatureDoesNotMatch", liar.list_objects_v2, Bucket=bucket)
print("passed")
