# A versioned bucket: versions, delete markers, reading and removing old ones.
s3.put_object(Bucket=bucket, Key="k", Body=b"before")
assert "Status" not in s3.get_bucket_versioning(Bucket=bucket)
s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
assert s3.get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"
one = s3.put_object(Bucket=bucket, Key="k", Body=b"one")["VersionId"]
two = s3.put_object(Bucket=bucket, Key="k", Body=b"two")["VersionId"]
marker = s3.delete_object(Bucket=bucket, Key="k")
assert marker["DeleteMarker"] and one != two
s3.put_object(Bucket=bucket, Key="k/2", Body=b"x")
listed = s3.list_object_versions(Bucket=bucket)
found = [(v["Key"], v["VersionId"], v["IsLatest"]) for v in listed["Versions"]]
assert found[:3] == [("k", two, False), ("k", one, False), ("k", "null", False)], found
assert [(m["Key"], m["VersionId"], m["IsLatest"]) for m in listed["DeleteMarkers"]] == [
    ("k", marker["VersionId"], True)]
assert [o["Key"] for o in s3.list_objects_v2(Bucket=bucket)["Contents"]] == ["k/2"]
for version, body in [(one, b"one"), (two, b"two"), ("null", b"before")]:
    assert s3.get_object(Bucket=bucket, Key="k", VersionId=version)["Body"].read() == body
paged = [v["VersionId"] for page in s3.get_paginator("list_object_versions").paginate(
    Bucket=bucket, PaginationConfig={"PageSize": 1}) for v in page.get("Versions", []) + page.get("DeleteMarkers", [])]
assert sorted(paged) == sorted(v["VersionId"] for v in listed["Versions"] + listed["DeleteMarkers"]), paged
s3.copy_object(Bucket=bucket, Key="old", CopySource={"Bucket": bucket, "Key": "k", "VersionId": one})
assert s3.get_object(Bucket=bucket, Key="old")["Body"].read() == b"one"
s3.delete_object(Bucket=bucket, Key="k", VersionId=marker["VersionId"])
assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"two"
s3.delete_object(Bucket=bucket, Key="k", VersionId=two)
assert s3.get_object(Bucket=bucket, Key="k")["Body"].read() == b"one"
left = s3.list_object_versions(Bucket=bucket)
s3.delete_objects(Bucket=bucket, Delete={"Objects": [
    {"Key": v["Key"], "VersionId": v["VersionId"]} for v in left["Versions"] + left.get("DeleteMarkers", [])]})
left = s3.list_object_versions(Bucket=bucket)
assert not left.get("Versions") and not left.get("DeleteMarkers")
s3.delete_bucket(Bucket=bucket)
print("passed")
