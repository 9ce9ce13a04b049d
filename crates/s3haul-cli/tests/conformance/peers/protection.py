# Access control lists, object lock and archives. `s3` and `bucket` come from the harness.
import datetime
import time
from botocore.exceptions import ClientError


def refused(code, call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        found = error.response["Error"]["Code"]
        assert found == code, f"{call.__name__}: {found}, expected {code}"
        return
    raise AssertionError(f"{call.__name__} succeeded, expected {code}")


def grants(key):
    acl = s3.get_object_acl(Bucket=bucket, Key=key)
    owner = acl["Owner"]["ID"]
    named = {owner: "owner"}
    return sorted((g["Permission"], g["Grantee"].get("URI") or named[g["Grantee"]["ID"]])
                  for g in acl["Grants"])


everyone = "http://acs.amazonaws.com/groups/global/AllUsers"
s3.put_object(Bucket=bucket, Key="k", Body=b"1")
assert grants("k") == [("FULL_CONTROL", "owner")]
s3.put_object_acl(Bucket=bucket, Key="k", ACL="public-read")
assert grants("k") == [("FULL_CONTROL", "owner"), ("READ", everyone)]
s3.copy_object(Bucket=bucket, Key="c", CopySource=f"{bucket}/k", GrantRead=f"uri={everyone}")
assert grants("c") == [("READ", everyone)]
s3.put_object_acl(Bucket=bucket, Key="k", ACL="private")
assert grants("k") == [("FULL_CONTROL", "owner")]

lock = bucket + "-lock"
s3.create_bucket(Bucket=lock, ObjectLockEnabledForBucket=True)
assert s3.get_bucket_versioning(Bucket=lock)["Status"] == "Enabled"
far = datetime.datetime(2099, 1, 2, tzinfo=datetime.timezone.utc)
near = datetime.datetime(2099, 1, 1, tzinfo=datetime.timezone.utc)
s3.put_object(Bucket=lock, Key="k", Body=b"1", ObjectLockMode="GOVERNANCE",
              ObjectLockRetainUntilDate=far)
name = {"Bucket": lock, "Key": "k"}
head = s3.head_object(**name)
assert head["ObjectLockMode"] == "GOVERNANCE" and head["ObjectLockRetainUntilDate"] == far
refused("AccessDenied", s3.put_object_retention, **name,
        Retention={"Mode": "GOVERNANCE", "RetainUntilDate": near})
s3.put_object_retention(**name, Retention={"Mode": "GOVERNANCE", "RetainUntilDate": near},
                        BypassGovernanceRetention=True)
assert s3.get_object_retention(**name)["Retention"]["RetainUntilDate"] == near
s3.put_object_retention(**name, Retention={"Mode": "COMPLIANCE", "RetainUntilDate": near})
refused("AccessDenied", s3.put_object_retention, **name, BypassGovernanceRetention=True,
        Retention={"Mode": "GOVERNANCE", "RetainUntilDate": far})
refused("NoSuchObjectLockConfiguration", s3.get_object_legal_hold, **name)
s3.put_object_legal_hold(**name, LegalHold={"Status": "ON"})
assert s3.get_object_legal_hold(**name)["LegalHold"]["Status"] == "ON"
assert s3.head_object(**name)["ObjectLockLegalHoldStatus"] == "ON"
refused("InvalidRequest", s3.put_object_legal_hold, Bucket=bucket, Key="k",
        LegalHold={"Status": "ON"})

s3.put_object(Bucket=bucket, Key="cold", Body=b"frozen", StorageClass="GLACIER")
cold = {"Bucket": bucket, "Key": "cold"}
refused("InvalidObjectState", s3.get_object, **cold)
refused("InvalidObjectState", s3.copy_object, Bucket=bucket, Key="x", CopySource=f"{bucket}/cold")
refused("InvalidObjectState", s3.restore_object, Bucket=bucket, Key="k",
        RestoreRequest={"Days": 1})
assert "Restore" not in s3.head_object(**cold)
s3.restore_object(**cold, RestoreRequest={"Days": 1, "GlacierJobParameters": {"Tier": "Bulk"}})
while 'ongoing-request="true"' in s3.head_object(**cold)["Restore"]:
    time.sleep(0.05)
assert s3.head_object(**cold)["Restore"].startswith('ongoing-request="false", expiry-date="')
assert s3.get_object(**cold)["Body"].read() == b"frozen"
before = s3.head_object(**cold)["Restore"]
s3.restore_object(**cold, RestoreRequest={"Days": 3})
assert s3.head_object(**cold)["Restore"] != before
print("passed")
