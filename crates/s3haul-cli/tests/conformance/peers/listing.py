# Listings page by page against a plain model of them.
keys = sorted(
    ["a", "a/b", "a/c/d", "a b", "a+b", "b/", "b/1", "b/2", "é/x", "é/y", "z\n1", "z%", "&<>", "q//r", "😀"],
    key=lambda key: key.encode(),
)
for key in keys:
    s3.put_object(Bucket=bucket, Key=key, Body=b"1")


def model(prefix, delimiter, start):
    found, seen = [], set()
    for key in keys:
        if not key.startswith(prefix) or (start and key.encode() <= start.encode()):
            continue
        rest = key[len(prefix):]
        if delimiter and delimiter in rest:
            group = prefix + rest[: rest.index(delimiter) + len(delimiter)]
            if group not in seen:
                seen.add(group)
                found.append(group)
        else:
            found.append(key)
    return found


def listed(method, **arguments):
    found, pages = [], 0
    for page in s3.get_paginator(method).paginate(Bucket=bucket, **arguments):
        pages += 1
        names = [o["Key"] for o in page.get("Contents", [])]
        names += [p["Prefix"] for p in page.get("CommonPrefixes", [])]
        assert len(names) <= arguments.get("PaginationConfig", {}).get("PageSize", 1000)
        found += sorted(names, key=lambda name: name.encode())
    return found


for prefix in ["", "a", "a/", "b/", "é", "nothing"]:
    for delimiter in ["", "/"]:
        for size in [1, 2, 3, 1000]:
            common = {"Prefix": prefix, "Delimiter": delimiter, "PaginationConfig": {"PageSize": size}}
            expected = model(prefix, delimiter, "")
            assert listed("list_objects_v2", **common) == expected, ("v2", prefix, delimiter, size)
            assert listed("list_objects", **common) == expected, ("v1", prefix, delimiter, size)
        for start in ["a", "a/b", "b/0", "z\n1", "é/x", "😀"]:
            expected = model(prefix, "", start)
            found = listed("list_objects_v2", Prefix=prefix, StartAfter=start)
            assert found == expected, ("start-after", prefix, start, found, expected)
page = s3.list_objects_v2(Bucket=bucket, MaxKeys=0)
assert page["KeyCount"] == 0 and not page["IsTruncated"]
one = s3.list_objects_v2(Bucket=bucket, MaxKeys=1)
assert one["KeyCount"] == 1 and one["IsTruncated"] and one["NextContinuationToken"]
owner = s3.list_objects_v2(Bucket=bucket, FetchOwner=True)["Contents"][0]
assert "Owner" in owner and owner["Size"] == 1 and owner["ETag"] == '"c4ca4238a0b923820dcc509a6f75849b"'
assert owner["StorageClass"] == "STANDARD"
assert bucket in [b["Name"] for b in s3.list_buckets()["Buckets"]]
gone = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": k} for k in keys + ["none"]]})
assert len(gone["Deleted"]) == len(keys) + 1 and not gone.get("Errors")
s3.put_object(Bucket=bucket, Key="k", Body=b"1")
quiet = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "k"}], "Quiet": True})
assert not quiet.get("Deleted")
assert s3.list_objects_v2(Bucket=bucket)["KeyCount"] == 0
print("passed")
