# Made from the definition of the command line, and held by a test:
# S3HAUL_TEST_BLESS=1 cargo test -p s3haul-cli --test python_commands
"""The commands as methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from ._call import AsyncCall, Call, ProgressTarget, Records, StrPath
from ._result import Result
from ._rows import AsyncRows, Rows


class Commands(Call):
    """The commands as methods."""

    def copy(
        self,
        source: StrPath,
        target: StrPath,
        *,
        dryrun: bool = False,
        no_overwrite: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        force_glacier_transfer: bool = False,
        ignore_glacier_warnings: bool = False,
        checksum_mode: Literal["ENABLED"] | None = None,
        metadata_directive: Literal["COPY", "REPLACE"] | None = None,
        copy_props: Literal["none", "metadata-directive", "default", "all"] | None = None,
        preserve: bool = False,
        case_conflict: Literal["ignore", "skip", "warn", "error"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
            "log-delivery-write",
        ]
        | None = None,
        grants: Sequence[str] | None = None,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        website_redirect: str | None = None,
        no_guess_mime_type: bool = False,
        checksum_algorithm: Literal[
            "CRC64NVME",
            "CRC32",
            "CRC32C",
            "SHA1",
            "SHA256",
            "SHA512",
            "XXHASH64",
            "XXHASH3",
            "XXHASH128",
        ]
        | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        stream: bool = False,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        to_key: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        recursive: bool = False,
        expected_size: int | None = None,
        as_of: str | datetime | timedelta | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Copy files to S3, objects to files, or objects to objects.

        With --recursive all files or objects under the source are copied, many at a time. An s3://
        source may hold * and ?, which match any characters. One of the paths may be - for standard
        input or output.

        Args:
            source: What to copy and where to: a local path, an s3:// address, or - for a standard
                stream (cp only).
            target: What to copy and where to: a local path, an s3:// address, or - for a standard
                stream (cp only).
            dryrun: Only print what would be done.
            no_overwrite: Never replace a file or object that exists.
            raw: Treat * and ? in s3:// addresses literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            no_follow_symlinks: Skip symbolic links in uploads.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            force_glacier_transfer: Try to transfer objects of the Glacier archive classes too,
                instead of skipping them with a warning.
            ignore_glacier_warnings: Skip objects of the Glacier archive classes without a warning.
            checksum_mode: Verify downloads against the checksum stored in S3, which is the default,
                even if the profile says `response_checksum_validation = when_required`.
            metadata_directive: In copies from S3 to S3, keep the metadata of the source object
                (COPY) or replace it with what the flags set (REPLACE).
            copy_props: What a copy from S3 to S3 carries over: nothing (none), metadata
                (metadata-directive), or metadata and tags (default). Annotations (all) are not
                supported yet.
            preserve: Keep modification time, mode and owner of uploaded files in the metadata of
                the objects, and give downloaded files the time and the permissions (not the owner)
                that are found there. Names and forms are those of rclone: mtime, mode, uid and gid.
                A sync compares these times, which takes a request for every object that has the
                size of its file.
            case_conflict: What to do when several objects are downloaded and the name of one
                differs only by case from a file that exists or from one that is being downloaded:
                nothing (ignore, the default), leave it out with a warning (skip), download it with
                a warning (warn), or end with an error (error).
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            acl: Set this canned access control list.
            grants: Grant permissions, each as PERMISSION=TYPE=GRANTEE, where the permission is
                read, readacl, writeacl or full and the type is id, uri or emailaddress.
            storage_class: Store the objects in this class.
            sse: Encrypt on the server, with keys of S3 (AES256, also if no value is given) or of
                KMS (aws:kms).
            sse_kms_key_id: Encrypt with this KMS key; needs --sse aws:kms.
            content_type: Set this Content-Type instead of guessing it from the name.
            content_encoding: Set Content-Encoding.
            content_language: Set Content-Language.
            content_disposition: Set Content-Disposition.
            cache_control: Set Cache-Control.
            expires: Set the time after which the object must no longer be cached, as an ISO 8601 or
                HTTP date.
            metadata: Store this metadata, as name=value,name2=value2 or as a JSON object. For
                copies it implies --metadata-directive REPLACE.
            website_redirect: Redirect readers of a bucket's website to this object or URL.
            no_guess_mime_type: Do not guess Content-Type from the name.
            checksum_algorithm: Compute a checksum with this algorithm, send it, and have it stored
                with the object.
            sse_c: Encrypt or decrypt with the key of --sse-c-key. AES256 is the only method.
            sse_c_key: The key for --sse-c: its 32 bytes as text, or `fileb://` and the path of a
                file that holds them.
            sse_c_copy_source: Decrypt the source of a copy with the key of --sse-c-copy-source-key.
                AES256 is the only method.
            sse_c_copy_source_key: The key for --sse-c-copy-source.
            stream: Send the data of copies through this machine even where the server could copy
                it. This happens by default where source and target have different endpoints or
                credentials.
            source_profile: Use this profile for the source. --profile applies to a side without a
                profile of its own.
            source_endpoint_url: Send requests for the source to this URL. --endpoint-url applies to
                a side without a URL of its own.
            source_region: The region of the source bucket, if it differs from --region.
                --endpoint-url then does not apply to the source, as in aws s3.
            source_no_sign_request: Do not sign requests for the source.
            target_profile: Use this profile for the target.
            target_endpoint_url: Send requests for the target to this URL.
            target_region: The region of the target bucket, if it differs from --region.
            target_no_sign_request: Do not sign requests for the target.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Transfer only files or objects for which this JavaScript function returns true:
                `js:(key, object) => …`.
            to_key: Name each file or object at the target with a JavaScript function, `js:(key,
                object) => key + '.old'`, or with a template of {key} {dir} {name} {stem} {ext}
                {year} {month} {day}. The function receives the key that the object would otherwise
                have in the target bucket, or the name of the file below the target folder.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            recursive: Copy all files or objects under the source.
            expected_size: The size in bytes that standard input will have; needed only for more
                than 78 GiB.
            as_of: Read a source that has versions as it was at this time: a date such as
                2026-01-31T12:00:00Z or 2026-01-31 (local where it names no zone), or an age (a
                number and s, m, h, d or w) such as 2h. What was removed since then is included,
                what was made since then is not. A sync then compares content, and in downloads
                exact times, unless a flag says otherwise.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["cp"],
            [source, target],
            {
                "dryrun": dryrun,
                "no_overwrite": no_overwrite,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "force_glacier_transfer": force_glacier_transfer,
                "ignore_glacier_warnings": ignore_glacier_warnings,
                "checksum_mode": checksum_mode,
                "metadata_directive": metadata_directive,
                "copy_props": copy_props,
                "preserve": preserve,
                "case_conflict": case_conflict,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "acl": acl,
                "grants": grants,
                "storage_class": storage_class,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "website_redirect": website_redirect,
                "no_guess_mime_type": no_guess_mime_type,
                "checksum_algorithm": checksum_algorithm,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "stream": stream,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "storage_classes": storage_classes,
                "filter": filter,
                "to_key": to_key,
                "from_": from_,
                "from_format": from_format,
                "recursive": recursive,
                "expected_size": expected_size,
                "as_of": as_of,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def move(
        self,
        source: StrPath,
        target: StrPath,
        *,
        dryrun: bool = False,
        no_overwrite: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        force_glacier_transfer: bool = False,
        ignore_glacier_warnings: bool = False,
        checksum_mode: Literal["ENABLED"] | None = None,
        metadata_directive: Literal["COPY", "REPLACE"] | None = None,
        copy_props: Literal["none", "metadata-directive", "default", "all"] | None = None,
        preserve: bool = False,
        case_conflict: Literal["ignore", "skip", "warn", "error"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
            "log-delivery-write",
        ]
        | None = None,
        grants: Sequence[str] | None = None,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        website_redirect: str | None = None,
        no_guess_mime_type: bool = False,
        checksum_algorithm: Literal[
            "CRC64NVME",
            "CRC32",
            "CRC32C",
            "SHA1",
            "SHA256",
            "SHA512",
            "XXHASH64",
            "XXHASH3",
            "XXHASH128",
        ]
        | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        stream: bool = False,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        to_key: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        recursive: bool = False,
        validate_same_s3_paths: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Move files to S3, objects to files, or objects to objects.

        Each source is removed once its target is safe.

        Args:
            source: What to copy and where to: a local path, an s3:// address, or - for a standard
                stream (cp only).
            target: What to copy and where to: a local path, an s3:// address, or - for a standard
                stream (cp only).
            dryrun: Only print what would be done.
            no_overwrite: Never replace a file or object that exists.
            raw: Treat * and ? in s3:// addresses literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            no_follow_symlinks: Skip symbolic links in uploads.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            force_glacier_transfer: Try to transfer objects of the Glacier archive classes too,
                instead of skipping them with a warning.
            ignore_glacier_warnings: Skip objects of the Glacier archive classes without a warning.
            checksum_mode: Verify downloads against the checksum stored in S3, which is the default,
                even if the profile says `response_checksum_validation = when_required`.
            metadata_directive: In copies from S3 to S3, keep the metadata of the source object
                (COPY) or replace it with what the flags set (REPLACE).
            copy_props: What a copy from S3 to S3 carries over: nothing (none), metadata
                (metadata-directive), or metadata and tags (default). Annotations (all) are not
                supported yet.
            preserve: Keep modification time, mode and owner of uploaded files in the metadata of
                the objects, and give downloaded files the time and the permissions (not the owner)
                that are found there. Names and forms are those of rclone: mtime, mode, uid and gid.
                A sync compares these times, which takes a request for every object that has the
                size of its file.
            case_conflict: What to do when several objects are downloaded and the name of one
                differs only by case from a file that exists or from one that is being downloaded:
                nothing (ignore, the default), leave it out with a warning (skip), download it with
                a warning (warn), or end with an error (error).
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            acl: Set this canned access control list.
            grants: Grant permissions, each as PERMISSION=TYPE=GRANTEE, where the permission is
                read, readacl, writeacl or full and the type is id, uri or emailaddress.
            storage_class: Store the objects in this class.
            sse: Encrypt on the server, with keys of S3 (AES256, also if no value is given) or of
                KMS (aws:kms).
            sse_kms_key_id: Encrypt with this KMS key; needs --sse aws:kms.
            content_type: Set this Content-Type instead of guessing it from the name.
            content_encoding: Set Content-Encoding.
            content_language: Set Content-Language.
            content_disposition: Set Content-Disposition.
            cache_control: Set Cache-Control.
            expires: Set the time after which the object must no longer be cached, as an ISO 8601 or
                HTTP date.
            metadata: Store this metadata, as name=value,name2=value2 or as a JSON object. For
                copies it implies --metadata-directive REPLACE.
            website_redirect: Redirect readers of a bucket's website to this object or URL.
            no_guess_mime_type: Do not guess Content-Type from the name.
            checksum_algorithm: Compute a checksum with this algorithm, send it, and have it stored
                with the object.
            sse_c: Encrypt or decrypt with the key of --sse-c-key. AES256 is the only method.
            sse_c_key: The key for --sse-c: its 32 bytes as text, or `fileb://` and the path of a
                file that holds them.
            sse_c_copy_source: Decrypt the source of a copy with the key of --sse-c-copy-source-key.
                AES256 is the only method.
            sse_c_copy_source_key: The key for --sse-c-copy-source.
            stream: Send the data of copies through this machine even where the server could copy
                it. This happens by default where source and target have different endpoints or
                credentials.
            source_profile: Use this profile for the source. --profile applies to a side without a
                profile of its own.
            source_endpoint_url: Send requests for the source to this URL. --endpoint-url applies to
                a side without a URL of its own.
            source_region: The region of the source bucket, if it differs from --region.
                --endpoint-url then does not apply to the source, as in aws s3.
            source_no_sign_request: Do not sign requests for the source.
            target_profile: Use this profile for the target.
            target_endpoint_url: Send requests for the target to this URL.
            target_region: The region of the target bucket, if it differs from --region.
            target_no_sign_request: Do not sign requests for the target.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Transfer only files or objects for which this JavaScript function returns true:
                `js:(key, object) => …`.
            to_key: Name each file or object at the target with a JavaScript function, `js:(key,
                object) => key + '.old'`, or with a template of {key} {dir} {name} {stem} {ext}
                {year} {month} {day}. The function receives the key that the object would otherwise
                have in the target bucket, or the name of the file below the target folder.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            recursive: Move all files or objects under the source.
            validate_same_s3_paths: Refuse to move between access points that may name the same
                bucket.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["mv"],
            [source, target],
            {
                "dryrun": dryrun,
                "no_overwrite": no_overwrite,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "force_glacier_transfer": force_glacier_transfer,
                "ignore_glacier_warnings": ignore_glacier_warnings,
                "checksum_mode": checksum_mode,
                "metadata_directive": metadata_directive,
                "copy_props": copy_props,
                "preserve": preserve,
                "case_conflict": case_conflict,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "acl": acl,
                "grants": grants,
                "storage_class": storage_class,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "website_redirect": website_redirect,
                "no_guess_mime_type": no_guess_mime_type,
                "checksum_algorithm": checksum_algorithm,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "stream": stream,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "storage_classes": storage_classes,
                "filter": filter,
                "to_key": to_key,
                "from_": from_,
                "from_format": from_format,
                "recursive": recursive,
                "validate_same_s3_paths": validate_same_s3_paths,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def sync(
        self,
        source: StrPath,
        target: StrPath,
        *,
        dryrun: bool = False,
        no_overwrite: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        force_glacier_transfer: bool = False,
        ignore_glacier_warnings: bool = False,
        checksum_mode: Literal["ENABLED"] | None = None,
        metadata_directive: Literal["COPY", "REPLACE"] | None = None,
        copy_props: Literal["none", "metadata-directive", "default", "all"] | None = None,
        preserve: bool = False,
        case_conflict: Literal["ignore", "skip", "warn", "error"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
            "log-delivery-write",
        ]
        | None = None,
        grants: Sequence[str] | None = None,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        website_redirect: str | None = None,
        no_guess_mime_type: bool = False,
        checksum_algorithm: Literal[
            "CRC64NVME",
            "CRC32",
            "CRC32C",
            "SHA1",
            "SHA256",
            "SHA512",
            "XXHASH64",
            "XXHASH3",
            "XXHASH128",
        ]
        | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        stream: bool = False,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        storage_classes: Sequence[str] | None = None,
        delete: bool = False,
        size_only: bool = False,
        exact_timestamps: bool = False,
        newer: bool = False,
        checksum: bool = False,
        filter: str | None = None,
        to_key: str | None = None,
        max_delete: str | int | None = None,
        allow_empty_source: bool = False,
        as_of: str | datetime | timedelta | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Copy what differs from one folder or prefix to another.

        Both sides are listed and merged name by name. What is new or changed in the source is
        transferred, and with --delete what the source does not have is removed from the target.

        Args:
            source: What to copy and where to: a local path, an s3:// address, or - for a standard
                stream (cp only).
            target: What to copy and where to: a local path, an s3:// address, or - for a standard
                stream (cp only).
            dryrun: Only print what would be done.
            no_overwrite: Never replace a file or object that exists.
            raw: Treat * and ? in s3:// addresses literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            no_follow_symlinks: Skip symbolic links in uploads.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            force_glacier_transfer: Try to transfer objects of the Glacier archive classes too,
                instead of skipping them with a warning.
            ignore_glacier_warnings: Skip objects of the Glacier archive classes without a warning.
            checksum_mode: Verify downloads against the checksum stored in S3, which is the default,
                even if the profile says `response_checksum_validation = when_required`.
            metadata_directive: In copies from S3 to S3, keep the metadata of the source object
                (COPY) or replace it with what the flags set (REPLACE).
            copy_props: What a copy from S3 to S3 carries over: nothing (none), metadata
                (metadata-directive), or metadata and tags (default). Annotations (all) are not
                supported yet.
            preserve: Keep modification time, mode and owner of uploaded files in the metadata of
                the objects, and give downloaded files the time and the permissions (not the owner)
                that are found there. Names and forms are those of rclone: mtime, mode, uid and gid.
                A sync compares these times, which takes a request for every object that has the
                size of its file.
            case_conflict: What to do when several objects are downloaded and the name of one
                differs only by case from a file that exists or from one that is being downloaded:
                nothing (ignore, the default), leave it out with a warning (skip), download it with
                a warning (warn), or end with an error (error).
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            acl: Set this canned access control list.
            grants: Grant permissions, each as PERMISSION=TYPE=GRANTEE, where the permission is
                read, readacl, writeacl or full and the type is id, uri or emailaddress.
            storage_class: Store the objects in this class.
            sse: Encrypt on the server, with keys of S3 (AES256, also if no value is given) or of
                KMS (aws:kms).
            sse_kms_key_id: Encrypt with this KMS key; needs --sse aws:kms.
            content_type: Set this Content-Type instead of guessing it from the name.
            content_encoding: Set Content-Encoding.
            content_language: Set Content-Language.
            content_disposition: Set Content-Disposition.
            cache_control: Set Cache-Control.
            expires: Set the time after which the object must no longer be cached, as an ISO 8601 or
                HTTP date.
            metadata: Store this metadata, as name=value,name2=value2 or as a JSON object. For
                copies it implies --metadata-directive REPLACE.
            website_redirect: Redirect readers of a bucket's website to this object or URL.
            no_guess_mime_type: Do not guess Content-Type from the name.
            checksum_algorithm: Compute a checksum with this algorithm, send it, and have it stored
                with the object.
            sse_c: Encrypt or decrypt with the key of --sse-c-key. AES256 is the only method.
            sse_c_key: The key for --sse-c: its 32 bytes as text, or `fileb://` and the path of a
                file that holds them.
            sse_c_copy_source: Decrypt the source of a copy with the key of --sse-c-copy-source-key.
                AES256 is the only method.
            sse_c_copy_source_key: The key for --sse-c-copy-source.
            stream: Send the data of copies through this machine even where the server could copy
                it. This happens by default where source and target have different endpoints or
                credentials.
            source_profile: Use this profile for the source. --profile applies to a side without a
                profile of its own.
            source_endpoint_url: Send requests for the source to this URL. --endpoint-url applies to
                a side without a URL of its own.
            source_region: The region of the source bucket, if it differs from --region.
                --endpoint-url then does not apply to the source, as in aws s3.
            source_no_sign_request: Do not sign requests for the source.
            target_profile: Use this profile for the target.
            target_endpoint_url: Send requests for the target to this URL.
            target_region: The region of the target bucket, if it differs from --region.
            target_no_sign_request: Do not sign requests for the target.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            delete: Remove from the target what the source does not have. If the listing of the
                source fails, no name after the failure is removed; neither is anything that could
                not be read.
            size_only: Compare sizes only.
            exact_timestamps: Download whenever the times differ, not only when the local file is
                the newer one.
            newer: Transfer what is newer in the source, in downloads too. Without this flag, an
                object of the same size is downloaded only if the local file is newer than the
                object, as in `aws s3 sync`.
            checksum: Where sizes are equal, compare content instead of times: by stored checksums
                and `ETag`s, or by reading the data where these are not enough.
            filter: Consider only what this JavaScript function selects: `js:(object) => …`, or
                `js:/…/` for keys that match. What it does not select is neither transferred nor
                removed. The same holds for other conditions: a name whose source does not meet them
                stays as it is, and --delete removes only what meets them itself.
            to_key: Name each file or object at the target with a JavaScript function or a template,
                as in cp. Each new name is then looked up by a request of its own, or on disk,
                instead of listing the target.
            max_delete: Remove at most this many names; leave the rest and fail. With %, remove
                nothing if this share of the names in the target would be exceeded; removals then
                begin when the whole target has been listed.
            allow_empty_source: Allow an empty source, which removes everything from the target.
            as_of: Read a source that has versions as it was at this time: a date such as
                2026-01-31T12:00:00Z or 2026-01-31 (local where it names no zone), or an age (a
                number and s, m, h, d or w) such as 2h. What was removed since then is included,
                what was made since then is not. A sync then compares content, and in downloads
                exact times, unless a flag says otherwise.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["sync"],
            [source, target],
            {
                "dryrun": dryrun,
                "no_overwrite": no_overwrite,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "force_glacier_transfer": force_glacier_transfer,
                "ignore_glacier_warnings": ignore_glacier_warnings,
                "checksum_mode": checksum_mode,
                "metadata_directive": metadata_directive,
                "copy_props": copy_props,
                "preserve": preserve,
                "case_conflict": case_conflict,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "acl": acl,
                "grants": grants,
                "storage_class": storage_class,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "website_redirect": website_redirect,
                "no_guess_mime_type": no_guess_mime_type,
                "checksum_algorithm": checksum_algorithm,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "stream": stream,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "storage_classes": storage_classes,
                "delete": delete,
                "size_only": size_only,
                "exact_timestamps": exact_timestamps,
                "newer": newer,
                "checksum": checksum,
                "filter": filter,
                "to_key": to_key,
                "max_delete": max_delete,
                "allow_empty_source": allow_empty_source,
                "as_of": as_of,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def compare(
        self,
        source: StrPath,
        target: StrPath,
        *,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        times: bool = False,
        show: Sequence[Literal["only-source", "only-target", "different", "same"]] | None = None,
        html: StrPath | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        size_only: bool = False,
        checksum: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Rows:
        """Show where two folders, prefixes or buckets differ.

        Both sides are listed and merged name by name: what only one has, and what differs in size
        or in `ETag`s that can be compared. Empty objects whose keys end in a slash stand for
        folders and are left out. The exit status is 0 if there is no difference, and 1 if there is
        one.

        Args:
            source: Source: a folder, `s3://BUCKET` or `s3://BUCKET/PREFIX`.
            target: Target, of either kind.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            times: Treat a different modification time, in whole seconds, as a difference.
            show: Show what only the source has, what only the target has, what differs, or what is
                the same; separate several with commas.
            html: Also write a page to look at to this file, with what differs where; docs/html.md
                says what is on it.
            no_follow_symlinks: Do not follow symbolic links.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            sse_c: Encrypt or decrypt with the key of --sse-c-key. AES256 is the only method.
            sse_c_key: The key for --sse-c: its 32 bytes as text, or `fileb://` and the path of a
                file that holds them.
            sse_c_copy_source: Decrypt the source with the key of --sse-c-copy-source-key where both
                sides are in S3. AES256 is the only method.
            sse_c_copy_source_key: The key for --sse-c-copy-source.
            source_profile: Use this profile for the source. --profile applies to a side without a
                profile of its own.
            source_endpoint_url: Send requests for the source to this URL. --endpoint-url applies to
                a side without a URL of its own.
            source_region: The region of the source bucket, if it differs from --region.
                --endpoint-url then does not apply to the source, as in aws s3.
            source_no_sign_request: Do not sign requests for the source.
            target_profile: Use this profile for the target.
            target_endpoint_url: Send requests for the target to this URL.
            target_region: The region of the target bucket, if it differs from --region.
            target_no_sign_request: Do not sign requests for the target.
            size_only: Compare sizes only, not `ETag`s.
            checksum: Where sizes are equal, compare content: by stored checksums and `ETag`s, or by
                reading the data where these are not enough.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._compared(
            ["compare"],
            [source, target],
            {
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "times": times,
                "show": show,
                "html": html,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "size_only": size_only,
                "checksum": checksum,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def verify(
        self,
        source: StrPath,
        target: StrPath,
        *,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        times: bool = False,
        show: Sequence[Literal["only-source", "only-target", "different", "same"]] | None = None,
        html: StrPath | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Rows:
        """Prove that two folders, prefixes or buckets hold the same bytes.

        Like `compare`, but everything is compared by content: by `ETag`s and stored checksums where
        they prove it, else both sides are read.

        Args:
            source: Source: a folder, `s3://BUCKET` or `s3://BUCKET/PREFIX`.
            target: Target, of either kind.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            times: Treat a different modification time, in whole seconds, as a difference.
            show: Show what only the source has, what only the target has, what differs, or what is
                the same; separate several with commas.
            html: Also write a page to look at to this file, with what differs where; docs/html.md
                says what is on it.
            no_follow_symlinks: Do not follow symbolic links.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            sse_c: Encrypt or decrypt with the key of --sse-c-key. AES256 is the only method.
            sse_c_key: The key for --sse-c: its 32 bytes as text, or `fileb://` and the path of a
                file that holds them.
            sse_c_copy_source: Decrypt the source with the key of --sse-c-copy-source-key where both
                sides are in S3. AES256 is the only method.
            sse_c_copy_source_key: The key for --sse-c-copy-source.
            source_profile: Use this profile for the source. --profile applies to a side without a
                profile of its own.
            source_endpoint_url: Send requests for the source to this URL. --endpoint-url applies to
                a side without a URL of its own.
            source_region: The region of the source bucket, if it differs from --region.
                --endpoint-url then does not apply to the source, as in aws s3.
            source_no_sign_request: Do not sign requests for the source.
            target_profile: Use this profile for the target.
            target_endpoint_url: Send requests for the target to this URL.
            target_region: The region of the target bucket, if it differs from --region.
            target_no_sign_request: Do not sign requests for the target.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._compared(
            ["verify"],
            [source, target],
            {
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "times": times,
                "show": show,
                "html": html,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def remove(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        max_delete: str | int | None = None,
        versions: bool = False,
        delete_markers_only: bool = False,
        noncurrent: bool = False,
        keep: int | None = None,
        bypass_governance: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Remove objects.

        Without --recursive the named object is removed; it is no error if there is none. With it,
        all objects below the address are removed. An address with * or ? removes all objects that
        match it; --raw takes these characters literally, as aws does. In a bucket with versioning
        objects are hidden behind delete markers; --versions, --noncurrent and --delete-markers-only
        remove for good. On a terminal, confirmation is requested before versions or a whole bucket
        are removed.

        Args:
            path: An object, or with --recursive a prefix.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            max_delete: Remove nothing if more than this many objects or versions would be removed
                or, with %, more than this share of those under the address. An additional listing
                counts them first.
            versions: Remove all versions and delete markers for good. Without this and the flags
                below, removing from a bucket with versioning makes delete markers.
            delete_markers_only: Remove delete markers only, which brings back the objects that they
                hide.
            noncurrent: Remove what is not current for good: old versions, and the delete markers
                between them. With --older-than only what was replaced or removed before that time.
            keep: With --noncurrent, keep this many of the newest old versions of each object, and
                the delete markers that are newer than the oldest of these.
            bypass_governance: Remove versions that are locked in governance mode, too. Needs the
                permission `s3:BypassGovernanceRetention`.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["rm"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "max_delete": max_delete,
                "versions": versions,
                "delete_markers_only": delete_markers_only,
                "noncurrent": noncurrent,
                "keep": keep,
                "bypass_governance": bypass_governance,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def undelete(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        filter: str | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        since: str | datetime | timedelta | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Bring back objects that were removed, in a bucket with versioning.

        Removes the delete markers that hide them: without --recursive those of the named object.

        Args:
            path: An object, or with --recursive a prefix.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            since: Only what was removed since this time: an age (a number and s, m, h, d or w) such
                as 2h, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date without a time
                zone is local.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["undelete"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "newer_than": newer_than,
                "older_than": older_than,
                "filter": filter,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "since": since,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def tag_get(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Print the tags of objects, in the order in which the answers come.

        Takes one request for each object.

        Args:
            path: An object, or with --recursive a prefix.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["tag", "get", "--json"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def tag_set(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Replace all tags of objects.

        Takes one request for each object.

        Args:
            path: An object, or with --recursive a prefix.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            tags: The tags: `key=value,key2=value2`, or a JSON object. May be given several times.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["tag", "set"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "tags": tags,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def tag_add(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Add tags to objects and keep those that they have; one with the same key gets the new
        value.

        Takes a request for each object to read its tags, and another one to write them where
        something changes. Changes made by other programs between the two are lost.

        Args:
            path: An object, or with --recursive a prefix.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            tags: The tags: `key=value,key2=value2`, or a JSON object. May be given several times.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["tag", "add"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "tags": tags,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def tag_remove(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        keys: Sequence[str] | None = None,
        all: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Remove tags from objects and keep the others.

        Takes a request for each object to read its tags, and another one to write them where
        something changes; with --all only one, to remove them.

        Args:
            path: An object, or with --recursive a prefix.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            keys: Keys of the tags: `key,key2`. May be given several times.
            all: Remove all tags.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["tag", "remove"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "keys": keys,
                "all": all,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def set(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        add_metadata: str | Mapping[str, str] | None = None,
        remove_metadata: str | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
        ]
        | None = None,
        keep_acl: bool = False,
        retention: Literal["governance", "compliance"] | None = None,
        retain_until: str | datetime | timedelta | None = None,
        retain_days: int | None = None,
        bypass_governance: bool = False,
        legal_hold: Literal["on", "off"] | None = None,
        storage_classes: Sequence[str] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Change storage class, headers, metadata, encryption, ACL or lock of objects.

        Takes one request to look at each object, and one or more to change it if it differs.
        Headers, metadata, storage class and encryption are changed by a copy of the object onto
        itself (in parts above 5 GB), which keeps all that is not named here, except the ACL unless
        --keep-acl is given; a versioned bucket keeps the old version, too. Archived objects have to
        be restored first.

        Args:
            path: An object, or with --recursive a prefix.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            storage_class: Move the objects to this storage class.
            content_type: Set Content-Type.
            content_encoding: Set Content-Encoding; an empty value removes it.
            content_language: Set Content-Language; an empty value removes it.
            content_disposition: Set Content-Disposition; an empty value removes it.
            cache_control: Set Cache-Control; an empty value removes it.
            expires: Set the time after which the objects must no longer be cached, as an ISO 8601
                or HTTP date; an empty value removes it.
            metadata: Replace all metadata with this, as name=value,name2=value2 or as a JSON
                object; an empty value removes all.
            add_metadata: Add metadata and keep the other, as name=value,name2=value2 or as a JSON
                object; a name that is there gets the new value.
            remove_metadata: Remove metadata of these names, as name,name2, and keep the other.
            sse: Encrypt with keys of S3 (AES256, also if no value is given) or of KMS (aws:kms).
                With aws:kms and no key, objects under any key of KMS stay as they are.
            sse_kms_key_id: Encrypt with this KMS key; needs --sse aws:kms. Objects under this key,
                named by its id or ARN, stay as they are.
            acl: Set this canned access control list.
            keep_acl: Keep the access control list of objects that are copied onto themselves, which
                S3 would reset. Takes one more request for each of them.
            retention: Lock objects against removal until --retain-until: with governance, users
                with a special permission can still remove them; with compliance, no one can. The
                bucket needs object lock.
            retain_until: Lock objects until this time, in the forms of --expires.
            retain_days: Lock objects for this many days from now, up to the end of the day in UTC,
                so that a second run on the same day finds nothing to change.
            bypass_governance: Replace or shorten a retention in governance mode. Needs the
                permission `s3:BypassGovernanceRetention`.
            legal_hold: Set or end a legal hold, under which a version of an object cannot be
                removed. The bucket needs object lock.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["set"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "storage_class": storage_class,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "add_metadata": add_metadata,
                "remove_metadata": remove_metadata,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "acl": acl,
                "keep_acl": keep_acl,
                "retention": retention,
                "retain_until": retain_until,
                "retain_days": retain_days,
                "bypass_governance": bypass_governance,
                "legal_hold": legal_hold,
                "storage_classes": storage_classes,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def restore(
        self,
        path: StrPath,
        *,
        days: int | None = None,
        tier: Literal["bulk", "standard", "expedited"] | None = None,
        wait: bool = False,
        status: bool = False,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        engine: Literal["ray"] | None = None,
        address: str | None = None,
        job_folder: StrPath | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Restore objects from the archive classes of Glacier, or show whether they are restored.

        Objects that are not archived or already restored are skipped; a restore that is in progress
        counts as done. Retrieval is billed in addition to the requests; --dryrun shows both.

        Args:
            path: An object, or with --recursive a prefix.
            days: Keep the restored copies for this many days. Objects that the class
                `INTELLIGENT_TIERING` archived are restored permanently.
            tier: How fast: bulk is the cheapest and takes up to 12 hours (48 for `DEEP_ARCHIVE`),
                standard, the default, 3 to 5 (12), expedited some minutes (not for `DEEP_ARCHIVE`).
            wait: Wait until the objects can be read, and report each one that can. The state of
                each is polled, with pauses of up to a minute.
            status: Only print whether objects are archived, in progress, restored (and until when)
                or not archived.
            recursive: Take all objects under the address.
            dryrun: Only print what would be done.
            raw: Treat * and ? in the address literally, not as patterns.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`.
            from_: Use the objects that this file names (- for standard input, or an s3:// address)
                instead of a listing. The address is then a prefix, as with --recursive; objects
                outside of it fail. Filters apply. For cp and mv, and where a script needs them,
                size, `ETag`, time and storage class are read with a HEAD request for each object,
                unless the file has them. Gzip files are unpacked.
            from_format: Format of the file, where it cannot be recognized from its name and
                beginning.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            report: Write what became of every object to this file: CSV when its name ends in .csv,
                Parquet, a folder of parts, when it ends in .parquet, else one JSON object a line.
                docs/reports.md has the fields.
            retry_failed: Repeat only what failed according to this report of the same command,
                without a listing. May be combined with --report to another file.
            prices: Estimate the price for --dryrun with this JSON file instead of the prices of the
                region. docs/prices.md has its fields.
            journal: Keep a journal in this folder, and from the beginning on. Default folder:
                `S3HAUL_JOURNAL_DIR`, else s3haul/jobs in `XDG_STATE_HOME` or ~/.local/state.
            no_journal: Keep no journal. Without this flag one is kept once the command has run for
                two seconds or done 1,000 objects, so that `s3haul jobs resume` can go on with it if
                it is interrupted.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
            engine: Has the nodes of a Ray cluster do it, in shards: see `s3haul.ray.run`.
            address: Address of the cluster, as `ray.init` takes it.
            job_folder: New folder for what the nodes have done: a prefix such as `s3://ops/jobs/a`,
                or a directory that they share.
            progress: A function that gets a `Progress` ten times a second, or True for a bar.
        """
        return self._transfer(
            ["restore"],
            [path],
            {
                "days": days,
                "tier": tier,
                "wait": wait,
                "status": status,
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
                "engine": engine,
                "address": address,
                "job_folder": job_folder,
            },
            progress,
        )

    def ls(
        self,
        path: StrPath | None = None,
        *,
        recursive: bool = False,
        summarize: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        bucket_name_prefix: str | None = None,
        bucket_region: str | None = None,
        raw: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """List buckets, or the objects under a prefix.

        Objects are listed up to the next slash, with PRE for what lies deeper. An address may hold
        * and ?, which match any characters; then whole keys are shown. The exit status is 1 if a
        key was given and nothing found.

        Args:
            path: What to list; all buckets if omitted. The s3:// may be left out.
            recursive: List all objects under the address, with their whole keys.
            summarize: Print the number of objects and their total size at the end.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …`, or keys that match `js:/…/`. Folders are shown all the same, also
                with other conditions.
            bucket_name_prefix: List only buckets whose names start with this.
            bucket_region: List only buckets of this region.
            raw: Treat * and ? in the address literally, not as patterns.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["ls", "--json"],
            [path],
            {
                "recursive": recursive,
                "summarize": summarize,
                "page_size": page_size,
                "request_payer": request_payer,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "bucket_name_prefix": bucket_name_prefix,
                "bucket_region": bucket_region,
                "raw": raw,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def list(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        versions: bool = False,
        sort: bool = False,
        summarize: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Rows:
        """List all objects under an address, many pages at a time.

        Lines are those of `ls --recursive`, by default in the order in which pages arrive. An
        address may hold * and ?, which match any characters.

        Args:
            path: Bucket or bucket and prefix, `s3://BUCKET/PREFIX`. It may hold * and ?, which
                match any characters. The s3:// may be left out.
            start_after: Only keys after this one.
            stop_at: Only keys up to and including this one; empty: to the last key.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …` or `js:({Key, Size, LastModified, ETag, StorageClass}) => …`, or keys
                that match `js:/…/`.
            concurrency: Send at most this many requests at a time; by default 64, or
                `max_concurrent_requests` where that is lower.
            serial: List one page after the other, as `aws s3` does.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            raw: Treat * and ? in the address literally, not as patterns.
            versions: List all versions and delete markers. In text a line has two marks and the
                version id before the key: L for the latest version, D for a delete marker.
            sort: Print in the order of the keys instead of the order of arrival.
            summarize: Print the number of objects and their total size at the end; with any format
                but text, on standard error.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._rows(
            ["list"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "versions": versions,
                "sort": sort,
                "summarize": summarize,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def versions(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        summarize: bool = False,
        recursive: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Rows:
        """List the versions and delete markers of an object, or of all objects under an address.

        Lines and formats are those of `list --versions`, in the order of the keys and of each key
        the newest first. With --recursive, of a bucket, and for addresses that end in a slash or
        hold * or ?, all keys under the address are listed; without, those of the named object.

        Args:
            path: Bucket or bucket and prefix, `s3://BUCKET/PREFIX`. It may hold * and ?, which
                match any characters. The s3:// may be left out.
            start_after: Only keys after this one.
            stop_at: Only keys up to and including this one; empty: to the last key.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …` or `js:({Key, Size, LastModified, ETag, StorageClass}) => …`, or keys
                that match `js:/…/`.
            concurrency: Send at most this many requests at a time; by default 64, or
                `max_concurrent_requests` where that is lower.
            serial: List one page after the other, as `aws s3` does.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            raw: Treat * and ? in the address literally, not as patterns.
            summarize: Print the number of objects and their total size at the end; with any format
                but text, on standard error.
            recursive: List the versions of all objects under the address.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._rows(
            ["versions"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "summarize": summarize,
                "recursive": recursive,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def find(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        names: Sequence[str] | None = None,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        metadata: Sequence[str | Mapping[str, str]] | None = None,
        versions: bool = False,
        sort: bool = False,
        summarize: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Rows:
        """Find objects by name, size, age, storage class, tags and metadata.

        Prints the addresses of what meets all conditions, as it is found. Most of them are decided
        by the listing alone; --tag and --metadata cost a request for each object that meets the
        others. The exit status is 0 also if nothing is found, and 1 if an object could not be
        looked at.

        Args:
            path: Bucket, and what the keys start with. It may hold * and ?, which match any
                characters.
            start_after: Only keys after this one.
            stop_at: Only keys up to and including this one; empty: to the last key.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …` or `js:({Key, Size, LastModified, ETag, StorageClass}) => …`, or keys
                that match `js:/…/`.
            concurrency: Send at most this many requests at a time; by default 64, or
                `max_concurrent_requests` where that is lower.
            serial: List one page after the other, as `aws s3` does.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            raw: Treat * and ? in the address literally, not as patterns.
            names: Select only keys whose last component (of `a/b/` it is `b`) matches this pattern,
                which is written as for --exclude. With several patterns, one has to match.
            tags: Select only objects that have this tag, with this value where one is given. Costs
                a request (`GetObjectTagging`) for each object that meets the other conditions. May
                be given several times; then all are required.
            metadata: Select only objects that have this metadata, with this value where one is
                given; the case of keys does not matter. Costs a request (`HeadObject`) for each
                object that meets the other conditions. May be given several times; then all are
                required.
            versions: Find all versions and delete markers. A delete marker has no size, storage
                class, tags nor metadata, and meets no condition on these.
            sort: Print in the order of the keys instead of the order of arrival.
            summarize: Print at the end how many objects were found and how many requests that took.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._rows(
            ["find"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "names": names,
                "tags": tags,
                "metadata": metadata,
                "versions": versions,
                "sort": sort,
                "summarize": summarize,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def summarize(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        depth: int | None = None,
        top: int | None = None,
        uploads: bool = False,
        versions: bool = False,
        html: StrPath | None = None,
        since: Sequence[StrPath] | None = None,
        prices: StrPath | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Count what is under an address: folders, storage classes, ages, sizes and more.

        All objects are listed, many pages at a time, and nothing is printed unless the listing is
        complete. An address may hold * and ?, which match any characters. The exit status is 1 if a
        key was given and nothing found.

        Args:
            path: Bucket or bucket and prefix, `s3://BUCKET/PREFIX`. It may hold * and ?, which
                match any characters. The s3:// may be left out.
            start_after: Only keys after this one.
            stop_at: Only keys up to and including this one; empty: to the last key.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …` or `js:({Key, Size, LastModified, ETag, StorageClass}) => …`, or keys
                that match `js:/…/`.
            concurrency: Send at most this many requests at a time; by default 64, or
                `max_concurrent_requests` where that is lower.
            serial: List one page after the other, as `aws s3` does.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            raw: Treat * and ? in the address literally, not as patterns.
            depth: Count folders to this depth; 0 leaves them out.
            top: Show this many folders, extensions and single objects.
            uploads: Also count incomplete multipart uploads and the bytes of their parts, which
                takes a request for each. Only keys that the address, --include and --exclude select
                count.
            versions: Count all versions and delete markers instead of only the current objects.
            html: Also write a page to look at to this file: a map of all folders, histograms, and
                what costs money. It needs no network; docs/html.md says what is on it.
            since: Show on the page what changed since this summary, which --format json wrote; may
                be given for several.
            prices: Take the prices of the page from this JSON file instead of those of the region.
                docs/prices.md has its fields.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["summarize", "--format", "json"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "depth": depth,
                "top": top,
                "uploads": uploads,
                "versions": versions,
                "html": html,
                "since": since,
                "prices": prices,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def uploads_ls(
        self,
        path: StrPath,
        *,
        older_than: str | datetime | timedelta | None = None,
        sizes: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """List incomplete multipart uploads: when they began, their ids and keys.

        Args:
            path: A bucket and the beginning of the keys.
            older_than: Select only uploads that began at least this long ago: a number and s, m, h,
                d or w, such as 7d.
            sizes: Also show bytes and parts, which takes at least one request for each upload.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["uploads", "ls", "--json"],
            [path],
            {
                "older_than": older_than,
                "sizes": sizes,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def uploads_abort(
        self,
        path: StrPath,
        *,
        older_than: str | datetime | timedelta | None = None,
        dryrun: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Abort incomplete multipart uploads and free the space of their parts.

        Without --older-than, uploads that are still in progress are aborted, too: nothing but its
        age distinguishes a forgotten upload from an active one.

        Args:
            path: A bucket and the beginning of the keys.
            older_than: Select only uploads that began at least this long ago: a number and s, m, h,
                d or w, such as 7d.
            dryrun: Only print what would be aborted.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["uploads", "abort", "--json"],
            [path],
            {
                "older_than": older_than,
                "dryrun": dryrun,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def list_buckets(
        self,
        *,
        bucket_name_prefix: str | None = None,
        bucket_region: str | None = None,
        count: bool = False,
        concurrency: int | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """List buckets with their regions, and on request what is in them.

        The others are shown even if a bucket cannot be read; the exit status is then 1.

        Args:
            bucket_name_prefix: List only buckets whose names start with this.
            bucket_region: List only buckets of this region.
            count: Count the objects and bytes of each bucket, by listing all of it.
            concurrency: Send at most this many requests at a time; by default what the profile
                sets, 64 at most.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["list-buckets", "--json"],
            [],
            {
                "bucket_name_prefix": bucket_name_prefix,
                "bucket_region": bucket_region,
                "count": count,
                "concurrency": concurrency,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def map(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        map: str | None = None,
        reduce: str | None = None,
        finally_: str | None = None,
        default: str | None = None,
        sort: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> str:
        """Compute over objects with JavaScript functions, one by one or all together.

        Scripts start with `js:`. They can only compute: they have no access to files or the
        network. docs/s3p.md describes how they are called and what limits they have.

        Args:
            path: Bucket or bucket and prefix, `s3://BUCKET/PREFIX`. It may hold * and ?, which
                match any characters. The s3:// may be left out.
            start_after: Only keys after this one.
            stop_at: Only keys up to and including this one; empty: to the last key.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …` or `js:({Key, Size, LastModified, ETag, StorageClass}) => …`, or keys
                that match `js:/…/`.
            concurrency: Send at most this many requests at a time; by default 64, or
                `max_concurrent_requests` where that is lower.
            serial: List one page after the other, as `aws s3` does.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            raw: Treat * and ? in the address literally, not as patterns.
            map: Called with each object: `js:({Key, Size, LastModified, ETag, StorageClass}) => …`
                or `js:(key, object) => …`. What it returns is printed as a line: text as it is,
                other values as JSON, nothing for null and undefined. By default the object itself
                is printed.
            reduce: Joins two results into one, `js:(a, b) => …`; the last result is printed. Calls
                come one after another, in no defined order unless --sort is given.
            finally_: Computes the output from the result of --reduce, or else from a list of all
                results: `js:(result) => …`.
            default: Print this if there is no result, for example because there are no objects.
            sort: Process objects in the order of their keys instead of the order of arrival.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._text(
            ["map"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "map": map,
                "reduce": reduce,
                "finally_": finally_,
                "default": default,
                "sort": sort,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def each(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        each: str | None = None,
        map_list: str | None = None,
        sort: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> str:
        """Call a JavaScript function for each object, and print what it prints.

        Args:
            path: Bucket or bucket and prefix, `s3://BUCKET/PREFIX`. It may hold * and ?, which
                match any characters. The s3:// may be left out.
            start_after: Only keys after this one.
            stop_at: Only keys up to and including this one; empty: to the last key.
            filters: Patterns in the order in which they count, the last one that matches decides:
                `[("exclude", "*"), ("include", "*.csv")]`. `exclude` and `include` are short for
                all excludes and then all includes.
            exclude: Leave out what matches this pattern: * matches anything, also slashes, ? one
                character, [abc] one of several. Filters count in the order they are given; the last
                one that matches decides.
            include: Take what matches this pattern although an --exclude before left it out.
            regex: Select only names that this regular expression matches somewhere; ^ and $ are the
                ends of the name. As with --exclude, names are relative to the folder or prefix that
                the command is given. With several expressions, one has to match.
            min_size: Select only what has at least this size in bytes, such as 10, 10KB or 1.5GiB.
                Units are powers of 1,024, with or without the i.
            max_size: Select only what has at most this size, in the same forms.
            newer_than: Select only what was modified since this time: an age (a number and s, m, h,
                d or w) such as 7d, or a date such as 2030-01-31 or 2030-01-31T12:00:00Z. A date
                without a time zone is local.
            older_than: Select only what was modified before this time, in the same forms.
            storage_classes: Select only objects of this storage class, or of several separated by
                commas. Objects for which the server names no class count as STANDARD.
            filter: Select only objects for which this JavaScript function returns true: `js:(key,
                object) => …` or `js:({Key, Size, LastModified, ETag, StorageClass}) => …`, or keys
                that match `js:/…/`.
            concurrency: Send at most this many requests at a time; by default 64, or
                `max_concurrent_requests` where that is lower.
            serial: List one page after the other, as `aws s3` does.
            page_size: Ask for this many keys a page of a listing, at most 1,000.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            raw: Treat * and ? in the address literally, not as patterns.
            each: Called with each object: `js:(object) => console.log(object.Key)` or `js:(key,
                object) => …`. What it returns is printed, too.
            map_list: Called with a list of objects, those of one page: `js:(objects) => …`.
            sort: Process objects in the order of their keys instead of the order of arrival.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._text(
            ["each"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "each": each,
                "map_list": map_list,
                "sort": sort,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def make_bucket(
        self,
        path: StrPath,
        *,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        object_lock: bool = False,
        versioning: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Make a bucket.

        It is made in the region of --region or of the configuration, else in that of the EC2
        instance that this runs on, else in us-east-1.

        Args:
            path: The bucket.
            tags: Tag the bucket; may be given several times.
            object_lock: Let objects of the bucket be locked against removal, which turns versioning
                on and can never be undone.
            versioning: Turn versioning on: the bucket keeps what is replaced or removed.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["mb", "--json"],
            [path],
            {
                "tags": tags,
                "object_lock": object_lock,
                "versioning": versioning,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def remove_bucket(
        self,
        path: StrPath,
        *,
        force: bool = False,
        versions: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Remove a bucket.

        It has to be empty, unless --force is given.

        Args:
            path: The bucket.
            force: Remove all objects first. Versions are not removed, so a versioned bucket stays.
            versions: With --force, remove all versions and delete markers, too, for good.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["rb", "--json"],
            [path],
            {
                "force": force,
                "versions": versions,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def versioning_get(
        self,
        path: StrPath,
        *,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Print whether a bucket keeps versions: `enabled`, `suspended`, or `off` where it never
        did.

        Args:
            path: The bucket.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["versioning", "get", "--json"],
            [path],
            {
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def versioning_enable(
        self,
        path: StrPath,
        *,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Keep what is replaced or removed from now on.

        Args:
            path: The bucket.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["versioning", "enable", "--json"],
            [path],
            {
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def versioning_suspend(
        self,
        path: StrPath,
        *,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Keep no new versions from now on; existing ones stay.

        Args:
            path: The bucket.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["versioning", "suspend", "--json"],
            [path],
            {
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def website(
        self,
        path: StrPath,
        *,
        index_document: str | None = None,
        error_document: str | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Make a bucket a website: set what is served for folders and for errors.

        Nothing is printed. Redirects and routing rules that the bucket had are replaced.

        Args:
            path: The bucket, with s3:// or without.
            index_document: Serve this object of a folder when an address ends in /, such as
                index.html.
            error_document: Serve the object with this key for errors of class 4XX.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["website", "--json"],
            [path],
            {
                "index_document": index_document,
                "error_document": error_document,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def presign(
        self,
        path: StrPath,
        *,
        expires_in: int | None = None,
        method: Literal["GET", "PUT"] | None = None,
        content_type: str | None = None,
        metadata: str | Mapping[str, str] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Print a URL that lets anyone read or write an object for a while.

        With --method PUT the object is written by a PUT request to the URL, which has to carry the
        headers of --content-type and --metadata.

        Args:
            path: The object. The s3:// may be left out.
            expires_in: How many seconds the URL is valid: 604800 (7 days) at most.
            method: Let the URL read the object (GET) or write it (PUT).
            content_type: With --method PUT, demand that the object is written with this
                Content-Type.
            metadata: With --method PUT, demand that the object is written with this metadata, as
                name=value,name2=value2 or as a JSON object.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["presign", "--json"],
            [path],
            {
                "expires_in": expires_in,
                "method": method,
                "content_type": content_type,
                "metadata": metadata,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def head(
        self,
        path: StrPath,
        *,
        version_id: str | None = None,
        request_payer: Literal["requester"] | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Show what S3 knows about an object or a bucket.

        Args:
            path: The object or bucket.
            version_id: Show this version of the object.
            request_payer: Accept being charged for requests to buckets whose owner lets requesters
                pay.
            sse_c: Encrypt or decrypt with the key of --sse-c-key. AES256 is the only method.
            sse_c_key: The key for --sse-c: its 32 bytes as text, or `fileb://` and the path of a
                file that holds them.
            max_concurrent_requests: Send at most this many requests at a time, by default 512.
                Within this limit the number adapts to what the service can serve.
            max_requests_per_second: Send at most this many requests per second.
            max_memory: Use at most about this much memory, such as 512MiB, by holding less data and
                sending fewer requests at a time; 112MiB is the least. By default the limits of the
                container and of `ulimit -v` apply.
            max_bandwidth: Transfer at most this much per second, such as 50MB/s or 400Mb/s.
        """
        return self._query(
            ["head", "--json"],
            [path],
            {
                "version_id": version_id,
                "request_payer": request_payer,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )


class AsyncCommands(AsyncCall):
    """The commands as coroutines."""

    async def copy(
        self,
        source: StrPath,
        target: StrPath,
        *,
        dryrun: bool = False,
        no_overwrite: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        force_glacier_transfer: bool = False,
        ignore_glacier_warnings: bool = False,
        checksum_mode: Literal["ENABLED"] | None = None,
        metadata_directive: Literal["COPY", "REPLACE"] | None = None,
        copy_props: Literal["none", "metadata-directive", "default", "all"] | None = None,
        preserve: bool = False,
        case_conflict: Literal["ignore", "skip", "warn", "error"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
            "log-delivery-write",
        ]
        | None = None,
        grants: Sequence[str] | None = None,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        website_redirect: str | None = None,
        no_guess_mime_type: bool = False,
        checksum_algorithm: Literal[
            "CRC64NVME",
            "CRC32",
            "CRC32C",
            "SHA1",
            "SHA256",
            "SHA512",
            "XXHASH64",
            "XXHASH3",
            "XXHASH128",
        ]
        | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        stream: bool = False,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        to_key: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        recursive: bool = False,
        expected_size: int | None = None,
        as_of: str | datetime | timedelta | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.copy`."""
        return await self._transfer(
            ["cp"],
            [source, target],
            {
                "dryrun": dryrun,
                "no_overwrite": no_overwrite,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "force_glacier_transfer": force_glacier_transfer,
                "ignore_glacier_warnings": ignore_glacier_warnings,
                "checksum_mode": checksum_mode,
                "metadata_directive": metadata_directive,
                "copy_props": copy_props,
                "preserve": preserve,
                "case_conflict": case_conflict,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "acl": acl,
                "grants": grants,
                "storage_class": storage_class,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "website_redirect": website_redirect,
                "no_guess_mime_type": no_guess_mime_type,
                "checksum_algorithm": checksum_algorithm,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "stream": stream,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "storage_classes": storage_classes,
                "filter": filter,
                "to_key": to_key,
                "from_": from_,
                "from_format": from_format,
                "recursive": recursive,
                "expected_size": expected_size,
                "as_of": as_of,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def move(
        self,
        source: StrPath,
        target: StrPath,
        *,
        dryrun: bool = False,
        no_overwrite: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        force_glacier_transfer: bool = False,
        ignore_glacier_warnings: bool = False,
        checksum_mode: Literal["ENABLED"] | None = None,
        metadata_directive: Literal["COPY", "REPLACE"] | None = None,
        copy_props: Literal["none", "metadata-directive", "default", "all"] | None = None,
        preserve: bool = False,
        case_conflict: Literal["ignore", "skip", "warn", "error"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
            "log-delivery-write",
        ]
        | None = None,
        grants: Sequence[str] | None = None,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        website_redirect: str | None = None,
        no_guess_mime_type: bool = False,
        checksum_algorithm: Literal[
            "CRC64NVME",
            "CRC32",
            "CRC32C",
            "SHA1",
            "SHA256",
            "SHA512",
            "XXHASH64",
            "XXHASH3",
            "XXHASH128",
        ]
        | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        stream: bool = False,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        to_key: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        recursive: bool = False,
        validate_same_s3_paths: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.move`."""
        return await self._transfer(
            ["mv"],
            [source, target],
            {
                "dryrun": dryrun,
                "no_overwrite": no_overwrite,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "force_glacier_transfer": force_glacier_transfer,
                "ignore_glacier_warnings": ignore_glacier_warnings,
                "checksum_mode": checksum_mode,
                "metadata_directive": metadata_directive,
                "copy_props": copy_props,
                "preserve": preserve,
                "case_conflict": case_conflict,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "acl": acl,
                "grants": grants,
                "storage_class": storage_class,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "website_redirect": website_redirect,
                "no_guess_mime_type": no_guess_mime_type,
                "checksum_algorithm": checksum_algorithm,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "stream": stream,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "storage_classes": storage_classes,
                "filter": filter,
                "to_key": to_key,
                "from_": from_,
                "from_format": from_format,
                "recursive": recursive,
                "validate_same_s3_paths": validate_same_s3_paths,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def sync(
        self,
        source: StrPath,
        target: StrPath,
        *,
        dryrun: bool = False,
        no_overwrite: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        force_glacier_transfer: bool = False,
        ignore_glacier_warnings: bool = False,
        checksum_mode: Literal["ENABLED"] | None = None,
        metadata_directive: Literal["COPY", "REPLACE"] | None = None,
        copy_props: Literal["none", "metadata-directive", "default", "all"] | None = None,
        preserve: bool = False,
        case_conflict: Literal["ignore", "skip", "warn", "error"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
            "log-delivery-write",
        ]
        | None = None,
        grants: Sequence[str] | None = None,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        website_redirect: str | None = None,
        no_guess_mime_type: bool = False,
        checksum_algorithm: Literal[
            "CRC64NVME",
            "CRC32",
            "CRC32C",
            "SHA1",
            "SHA256",
            "SHA512",
            "XXHASH64",
            "XXHASH3",
            "XXHASH128",
        ]
        | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        stream: bool = False,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        storage_classes: Sequence[str] | None = None,
        delete: bool = False,
        size_only: bool = False,
        exact_timestamps: bool = False,
        newer: bool = False,
        checksum: bool = False,
        filter: str | None = None,
        to_key: str | None = None,
        max_delete: str | int | None = None,
        allow_empty_source: bool = False,
        as_of: str | datetime | timedelta | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.sync`."""
        return await self._transfer(
            ["sync"],
            [source, target],
            {
                "dryrun": dryrun,
                "no_overwrite": no_overwrite,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "force_glacier_transfer": force_glacier_transfer,
                "ignore_glacier_warnings": ignore_glacier_warnings,
                "checksum_mode": checksum_mode,
                "metadata_directive": metadata_directive,
                "copy_props": copy_props,
                "preserve": preserve,
                "case_conflict": case_conflict,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "acl": acl,
                "grants": grants,
                "storage_class": storage_class,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "website_redirect": website_redirect,
                "no_guess_mime_type": no_guess_mime_type,
                "checksum_algorithm": checksum_algorithm,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "stream": stream,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "storage_classes": storage_classes,
                "delete": delete,
                "size_only": size_only,
                "exact_timestamps": exact_timestamps,
                "newer": newer,
                "checksum": checksum,
                "filter": filter,
                "to_key": to_key,
                "max_delete": max_delete,
                "allow_empty_source": allow_empty_source,
                "as_of": as_of,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    def compare(
        self,
        source: StrPath,
        target: StrPath,
        *,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        times: bool = False,
        show: Sequence[Literal["only-source", "only-target", "different", "same"]] | None = None,
        html: StrPath | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        size_only: bool = False,
        checksum: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> AsyncRows:
        """Like `Commands.compare`."""
        return self._compared(
            ["compare"],
            [source, target],
            {
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "times": times,
                "show": show,
                "html": html,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "size_only": size_only,
                "checksum": checksum,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def verify(
        self,
        source: StrPath,
        target: StrPath,
        *,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        times: bool = False,
        show: Sequence[Literal["only-source", "only-target", "different", "same"]] | None = None,
        html: StrPath | None = None,
        no_follow_symlinks: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        sse_c_copy_source: Literal["AES256"] | None = None,
        sse_c_copy_source_key: str | None = None,
        source_profile: str | None = None,
        source_endpoint_url: str | None = None,
        source_region: str | None = None,
        source_no_sign_request: bool = False,
        target_profile: str | None = None,
        target_endpoint_url: str | None = None,
        target_region: str | None = None,
        target_no_sign_request: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> AsyncRows:
        """Like `Commands.verify`."""
        return self._compared(
            ["verify"],
            [source, target],
            {
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "times": times,
                "show": show,
                "html": html,
                "no_follow_symlinks": no_follow_symlinks,
                "page_size": page_size,
                "request_payer": request_payer,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "sse_c_copy_source": sse_c_copy_source,
                "sse_c_copy_source_key": sse_c_copy_source_key,
                "source_profile": source_profile,
                "source_endpoint_url": source_endpoint_url,
                "source_region": source_region,
                "source_no_sign_request": source_no_sign_request,
                "target_profile": target_profile,
                "target_endpoint_url": target_endpoint_url,
                "target_region": target_region,
                "target_no_sign_request": target_no_sign_request,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def remove(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        max_delete: str | int | None = None,
        versions: bool = False,
        delete_markers_only: bool = False,
        noncurrent: bool = False,
        keep: int | None = None,
        bypass_governance: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.remove`."""
        return await self._transfer(
            ["rm"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "max_delete": max_delete,
                "versions": versions,
                "delete_markers_only": delete_markers_only,
                "noncurrent": noncurrent,
                "keep": keep,
                "bypass_governance": bypass_governance,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def undelete(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        filter: str | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        since: str | datetime | timedelta | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.undelete`."""
        return await self._transfer(
            ["undelete"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "newer_than": newer_than,
                "older_than": older_than,
                "filter": filter,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "since": since,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def tag_get(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.tag_get`."""
        return await self._query(
            ["tag", "get", "--json"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def tag_set(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.tag_set`."""
        return await self._transfer(
            ["tag", "set"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "tags": tags,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def tag_add(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.tag_add`."""
        return await self._transfer(
            ["tag", "add"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "tags": tags,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def tag_remove(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        keys: Sequence[str] | None = None,
        all: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.tag_remove`."""
        return await self._transfer(
            ["tag", "remove"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "keys": keys,
                "all": all,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def set(
        self,
        path: StrPath,
        *,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        storage_class: Literal[
            "STANDARD",
            "REDUCED_REDUNDANCY",
            "STANDARD_IA",
            "ONEZONE_IA",
            "INTELLIGENT_TIERING",
            "GLACIER",
            "DEEP_ARCHIVE",
            "GLACIER_IR",
        ]
        | None = None,
        content_type: str | None = None,
        content_encoding: str | None = None,
        content_language: str | None = None,
        content_disposition: str | None = None,
        cache_control: str | None = None,
        expires: str | datetime | timedelta | None = None,
        metadata: str | Mapping[str, str] | None = None,
        add_metadata: str | Mapping[str, str] | None = None,
        remove_metadata: str | None = None,
        sse: Literal["AES256", "aws:kms"] | None = None,
        sse_kms_key_id: str | None = None,
        acl: Literal[
            "private",
            "public-read",
            "public-read-write",
            "authenticated-read",
            "aws-exec-read",
            "bucket-owner-read",
            "bucket-owner-full-control",
        ]
        | None = None,
        keep_acl: bool = False,
        retention: Literal["governance", "compliance"] | None = None,
        retain_until: str | datetime | timedelta | None = None,
        retain_days: int | None = None,
        bypass_governance: bool = False,
        legal_hold: Literal["on", "off"] | None = None,
        storage_classes: Sequence[str] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.set`."""
        return await self._transfer(
            ["set"],
            [path],
            {
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "storage_class": storage_class,
                "content_type": content_type,
                "content_encoding": content_encoding,
                "content_language": content_language,
                "content_disposition": content_disposition,
                "cache_control": cache_control,
                "expires": expires,
                "metadata": metadata,
                "add_metadata": add_metadata,
                "remove_metadata": remove_metadata,
                "sse": sse,
                "sse_kms_key_id": sse_kms_key_id,
                "acl": acl,
                "keep_acl": keep_acl,
                "retention": retention,
                "retain_until": retain_until,
                "retain_days": retain_days,
                "bypass_governance": bypass_governance,
                "legal_hold": legal_hold,
                "storage_classes": storage_classes,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def restore(
        self,
        path: StrPath,
        *,
        days: int | None = None,
        tier: Literal["bulk", "standard", "expedited"] | None = None,
        wait: bool = False,
        status: bool = False,
        recursive: bool = False,
        dryrun: bool = False,
        raw: bool = False,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        from_: str | None = None,
        from_format: Literal[
            "lines",
            "csv",
            "s3-batch",
            "jsonl",
            "inventory",
            "parquet",
            "report",
        ]
        | None = None,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        report: StrPath | None = None,
        retry_failed: StrPath | None = None,
        prices: StrPath | None = None,
        journal: StrPath | None = None,
        no_journal: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
        progress: ProgressTarget = None,
    ) -> Result:
        """Like `Commands.restore`."""
        return await self._transfer(
            ["restore"],
            [path],
            {
                "days": days,
                "tier": tier,
                "wait": wait,
                "status": status,
                "recursive": recursive,
                "dryrun": dryrun,
                "raw": raw,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "from_": from_,
                "from_format": from_format,
                "page_size": page_size,
                "request_payer": request_payer,
                "report": report,
                "retry_failed": retry_failed,
                "prices": prices,
                "journal": journal,
                "no_journal": no_journal,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
            progress,
        )

    async def ls(
        self,
        path: StrPath | None = None,
        *,
        recursive: bool = False,
        summarize: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        bucket_name_prefix: str | None = None,
        bucket_region: str | None = None,
        raw: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.ls`."""
        return await self._query(
            ["ls", "--json"],
            [path],
            {
                "recursive": recursive,
                "summarize": summarize,
                "page_size": page_size,
                "request_payer": request_payer,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "bucket_name_prefix": bucket_name_prefix,
                "bucket_region": bucket_region,
                "raw": raw,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def list(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        versions: bool = False,
        sort: bool = False,
        summarize: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> AsyncRows:
        """Like `Commands.list`."""
        return self._rows(
            ["list"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "versions": versions,
                "sort": sort,
                "summarize": summarize,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def versions(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        summarize: bool = False,
        recursive: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> AsyncRows:
        """Like `Commands.versions`."""
        return self._rows(
            ["versions"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "summarize": summarize,
                "recursive": recursive,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    def find(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        names: Sequence[str] | None = None,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        metadata: Sequence[str | Mapping[str, str]] | None = None,
        versions: bool = False,
        sort: bool = False,
        summarize: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> AsyncRows:
        """Like `Commands.find`."""
        return self._rows(
            ["find"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "names": names,
                "tags": tags,
                "metadata": metadata,
                "versions": versions,
                "sort": sort,
                "summarize": summarize,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def summarize(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        depth: int | None = None,
        top: int | None = None,
        uploads: bool = False,
        versions: bool = False,
        html: StrPath | None = None,
        since: Sequence[StrPath] | None = None,
        prices: StrPath | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.summarize`."""
        return await self._query(
            ["summarize", "--format", "json"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "depth": depth,
                "top": top,
                "uploads": uploads,
                "versions": versions,
                "html": html,
                "since": since,
                "prices": prices,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def uploads_ls(
        self,
        path: StrPath,
        *,
        older_than: str | datetime | timedelta | None = None,
        sizes: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.uploads_ls`."""
        return await self._query(
            ["uploads", "ls", "--json"],
            [path],
            {
                "older_than": older_than,
                "sizes": sizes,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def uploads_abort(
        self,
        path: StrPath,
        *,
        older_than: str | datetime | timedelta | None = None,
        dryrun: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.uploads_abort`."""
        return await self._query(
            ["uploads", "abort", "--json"],
            [path],
            {
                "older_than": older_than,
                "dryrun": dryrun,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def list_buckets(
        self,
        *,
        bucket_name_prefix: str | None = None,
        bucket_region: str | None = None,
        count: bool = False,
        concurrency: int | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.list_buckets`."""
        return await self._query(
            ["list-buckets", "--json"],
            [],
            {
                "bucket_name_prefix": bucket_name_prefix,
                "bucket_region": bucket_region,
                "count": count,
                "concurrency": concurrency,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def map(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        map: str | None = None,
        reduce: str | None = None,
        finally_: str | None = None,
        default: str | None = None,
        sort: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> str:
        """Like `Commands.map`."""
        return await self._text(
            ["map"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "map": map,
                "reduce": reduce,
                "finally_": finally_,
                "default": default,
                "sort": sort,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def each(
        self,
        path: StrPath,
        *,
        start_after: str | None = None,
        stop_at: str | None = None,
        filters: Sequence[tuple[Literal["exclude", "include"], str]] | None = None,
        exclude: Sequence[str] | None = None,
        include: Sequence[str] | None = None,
        regex: Sequence[str] | None = None,
        min_size: str | int | None = None,
        max_size: str | int | None = None,
        newer_than: str | datetime | timedelta | None = None,
        older_than: str | datetime | timedelta | None = None,
        storage_classes: Sequence[str] | None = None,
        filter: str | None = None,
        concurrency: int | None = None,
        serial: bool = False,
        page_size: int | None = None,
        request_payer: Literal["requester"] | None = None,
        raw: bool = False,
        each: str | None = None,
        map_list: str | None = None,
        sort: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> str:
        """Like `Commands.each`."""
        return await self._text(
            ["each"],
            [path],
            {
                "start_after": start_after,
                "stop_at": stop_at,
                "filters": filters,
                "exclude": exclude,
                "include": include,
                "regex": regex,
                "min_size": min_size,
                "max_size": max_size,
                "newer_than": newer_than,
                "older_than": older_than,
                "storage_classes": storage_classes,
                "filter": filter,
                "concurrency": concurrency,
                "serial": serial,
                "page_size": page_size,
                "request_payer": request_payer,
                "raw": raw,
                "each": each,
                "map_list": map_list,
                "sort": sort,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def make_bucket(
        self,
        path: StrPath,
        *,
        tags: Sequence[str | Mapping[str, str]] | None = None,
        object_lock: bool = False,
        versioning: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.make_bucket`."""
        return await self._query(
            ["mb", "--json"],
            [path],
            {
                "tags": tags,
                "object_lock": object_lock,
                "versioning": versioning,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def remove_bucket(
        self,
        path: StrPath,
        *,
        force: bool = False,
        versions: bool = False,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.remove_bucket`."""
        return await self._query(
            ["rb", "--json"],
            [path],
            {
                "force": force,
                "versions": versions,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def versioning_get(
        self,
        path: StrPath,
        *,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.versioning_get`."""
        return await self._query(
            ["versioning", "get", "--json"],
            [path],
            {
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def versioning_enable(
        self,
        path: StrPath,
        *,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.versioning_enable`."""
        return await self._query(
            ["versioning", "enable", "--json"],
            [path],
            {
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def versioning_suspend(
        self,
        path: StrPath,
        *,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.versioning_suspend`."""
        return await self._query(
            ["versioning", "suspend", "--json"],
            [path],
            {
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def website(
        self,
        path: StrPath,
        *,
        index_document: str | None = None,
        error_document: str | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.website`."""
        return await self._query(
            ["website", "--json"],
            [path],
            {
                "index_document": index_document,
                "error_document": error_document,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def presign(
        self,
        path: StrPath,
        *,
        expires_in: int | None = None,
        method: Literal["GET", "PUT"] | None = None,
        content_type: str | None = None,
        metadata: str | Mapping[str, str] | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.presign`."""
        return await self._query(
            ["presign", "--json"],
            [path],
            {
                "expires_in": expires_in,
                "method": method,
                "content_type": content_type,
                "metadata": metadata,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )

    async def head(
        self,
        path: StrPath,
        *,
        version_id: str | None = None,
        request_payer: Literal["requester"] | None = None,
        sse_c: Literal["AES256"] | None = None,
        sse_c_key: str | None = None,
        max_concurrent_requests: int | None = None,
        max_requests_per_second: int | None = None,
        max_memory: str | int | None = None,
        max_bandwidth: str | int | None = None,
    ) -> Records:
        """Like `Commands.head`."""
        return await self._query(
            ["head", "--json"],
            [path],
            {
                "version_id": version_id,
                "request_payer": request_payer,
                "sse_c": sse_c,
                "sse_c_key": sse_c_key,
                "max_concurrent_requests": max_concurrent_requests,
                "max_requests_per_second": max_requests_per_second,
                "max_memory": max_memory,
                "max_bandwidth": max_bandwidth,
            },
        )
