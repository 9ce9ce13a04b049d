//! `CompleteMultipartUpload`: the parts that it names become an object.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::{CompleteMultipartUploadInput, CompleteMultipartUploadOutput, CompletedPart};
use s3s::{S3Request, S3Response, S3Result, s3_error};

use super::SimService;
use super::checksum::{Algorithm, FULL_OBJECT, combine_composite, combine_full};
use super::conditions;
use super::convert::checksums_of;
use super::customer_key::customer_key;
use super::finished::Answer;
use super::ingest::hex;
use super::multipart::no_such_upload;
use crate::store::{Checksums, Part as StoredPart, PartInfo, Piece, Upload, Version};

impl SimService {
    pub(super) async fn complete_multipart_upload(
        &self,
        req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        // In this order: a completion that runs beside this one is remembered before its object is
        // there, and the upload goes last.
        let upload = self.open_upload(&input.bucket, &input.key, &input.upload_id);
        let first = self.finished.find(&input);
        let current = self.store.versions(&input.bucket, &input.key)?;
        if let Some(answer) = first.filter(|first| first.is_kept(&current)) {
            return Ok(S3Response::new(answer.output(&input)));
        }
        let upload = upload?;
        customer_key!(input).check_completion(&upload.attributes)?;
        let stored = self.store.parts(&upload.id).ok_or_else(no_such_upload)?;
        let named = input.multipart_upload.as_ref().and_then(|given| given.parts.as_deref());
        let parts = pick_parts(named.unwrap_or_default(), &stored, self.limits.part_bytes_min)?;
        let mut version = assembled_version(&upload, &parts, &input)?;
        version.modified_ms = self.now_ms();
        let (if_match, if_none_match) = (input.if_match.as_ref(), input.if_none_match.as_ref());
        conditions::check_write(current.first().map(AsRef::as_ref), if_match, if_none_match)?;
        let pieces = parts.iter().map(|part| Piece {
            of: None,
            blob: part.blob.clone(),
            offset: 0,
            length: part.size,
        });
        let staged = self.assemble(pieces.collect()).await?;
        version.blob = staged.blob.clone();
        let mut answer = Answer::new(&input, &version);
        let (mut version, mut is_added) = (Some(version), false);
        let stored = self.store.update(&input.bucket, &input.key, &mut |versions| {
            // Another request may have completed the upload meanwhile.
            if let Some(first) = self.finished.find(&input).filter(|first| first.is_kept(versions))
            {
                answer = first;
                return Ok(());
            }
            if self.finished.has(&upload.id) {
                return Err(no_such_upload());
            }
            conditions::check_write(versions.first().map(AsRef::as_ref), if_match, if_none_match)?;
            let version = version.take().unwrap_or_default();
            let shown = Self::push_version(settings.versioning, versions, version);
            answer.set_version(versions, shown);
            self.finished.add(&upload.id, answer.clone());
            is_added = true;
            Ok(())
        });
        if let Err(error) = stored {
            if is_added {
                // The store failed.
                self.finished.remove(&upload.id);
            }
            return Err(error);
        }
        self.store.remove_upload(&upload.id)?;
        Ok(S3Response::new(answer.output(&input)))
    }
}

/// The stored parts that a completion names, checked.
fn pick_parts(
    named: &[CompletedPart],
    stored: &[StoredPart],
    least: u64,
) -> S3Result<Vec<StoredPart>> {
    if named.is_empty() {
        return Err(s3_error!(
            MalformedXML,
            "The XML you provided was not well-formed or did not validate against our \
             published schema"
        ));
    }
    let ascending = named.windows(2).all(|pair| pair[0].part_number < pair[1].part_number);
    if !ascending {
        return Err(s3_error!(
            InvalidPartOrder,
            "The list of parts was not in ascending order. Parts must be ordered by part number."
        ));
    }
    let picked: Vec<_> =
        named.iter().map(|part| pick_part(part, stored)).collect::<S3Result<_>>()?;
    let all_but_last = picked.iter().take(picked.len() - 1);
    if all_but_last.clone().any(|part| part.size < least) {
        return Err(s3_error!(
            EntityTooSmall,
            "Your proposed upload is smaller than the minimum allowed size"
        ));
    }
    Ok(picked)
}

fn pick_part(named: &CompletedPart, stored: &[StoredPart]) -> S3Result<StoredPart> {
    let found = stored.iter().find(|part| Some(part.number) == named.part_number);
    let is_it = |part: &&StoredPart| {
        let said = checksums_of!(named);
        named.e_tag.as_ref().is_some_and(|tag| tag.value() == part.etag)
            && said.present().all(|algorithm| {
                // A checksum that was not computed at the time cannot be compared.
                part.checksums.get(algorithm).is_none_or(|sum| Some(sum) == said.get(algorithm))
            })
    };
    found.filter(is_it).cloned().ok_or_else(|| {
        s3_error!(
            InvalidPart,
            "One or more of the specified parts could not be found. The part may not have been \
             uploaded, or the specified entity tag may not match the part's entity tag."
        )
    })
}

/// The finished version, without its bytes.
fn assembled_version(
    upload: &Upload,
    parts: &[StoredPart],
    input: &CompleteMultipartUploadInput,
) -> S3Result<Version> {
    let size = parts.iter().map(|part| part.size).sum();
    if input.mpu_object_size.is_some_and(|said| u64::try_from(said) != Ok(size)) {
        return Err(s3_error!(
            InvalidRequest,
            "The provided 'x-amz-mp-object-size' header does not match what was computed."
        ));
    }
    let checksums = whole_checksums(upload, parts)?;
    let said = checksums_of!(input);
    check_said_whole(&checksums, &said, parts)?;
    Ok(Version {
        size,
        etag: multipart_etag(parts),
        storage_class: upload.storage_class.clone(),
        checksums,
        attributes: upload.attributes.clone(),
        tags: upload.tags.clone(),
        protection: upload.protection.clone(),
        parts: parts
            .iter()
            .map(|part| PartInfo {
                number: part.number,
                size: part.size,
                checksums: part.checksums.clone(),
            })
            .collect(),
        ..Version::default()
    })
}

/// MD5 of the parts' MD5s and their number.
fn multipart_etag(parts: &[StoredPart]) -> String {
    let mut md5 = Md5::new();
    for part in parts {
        // Odd where a part was not hashed; any stable value will do there.
        md5.update(&unhex(&part.etag).unwrap_or_else(|| part.etag.clone().into_bytes()));
    }
    format!("{}-{}", hex(md5.finalize().as_ref()), parts.len())
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// The checksum of the object: of the upload's algorithm, CRC64NVME where none was named.
fn whole_checksums(upload: &Upload, parts: &[StoredPart]) -> S3Result<Checksums> {
    let named = upload.algorithm.as_deref().and_then(Algorithm::parse);
    let algorithm = named.unwrap_or(Algorithm::Crc64Nvme);
    let sums: Option<Vec<_>> = parts
        .iter()
        .map(|part| part.checksums.get(algorithm).map(|sum| (sum.as_str(), part.size)))
        .collect();
    let mut whole = Checksums::default();
    let Some(sums) = sums else { return Ok(whole) };
    let kind = upload.kind.as_deref().unwrap_or(algorithm.default_kind());
    let sum = if kind == FULL_OBJECT {
        combine_full(algorithm, &sums)?
    } else {
        combine_composite(algorithm, &sums)?
    };
    whole.set(algorithm, sum);
    whole.kind = Some(kind.to_owned());
    Ok(whole)
}

/// Checks the checksum that the client gave for the whole object.
fn check_said_whole(computed: &Checksums, said: &Checksums, parts: &[StoredPart]) -> S3Result<()> {
    for algorithm in said.present() {
        let Some(wanted) = said.get(algorithm) else { continue };
        let bare = |sum: &str| sum.split('-').next().unwrap_or_default().to_owned();
        let is_it = match computed.get(algorithm) {
            Some(sum) => bare(sum) == bare(wanted),
            None => full_of(algorithm, parts).is_none_or(|sum| sum == *wanted),
        };
        if BASE64.decode(bare(wanted)).is_err() {
            return Err(s3_error!(
                InvalidRequest,
                "Value for x-amz-checksum-{} header is invalid.",
                algorithm.name().to_lowercase()
            ));
        }
        if !is_it {
            return Err(s3_error!(
                BadDigest,
                "The {} you specified did not match the calculated checksum.",
                algorithm.name().to_lowercase()
            ));
        }
    }
    Ok(())
}

/// The whole-object checksum of an algorithm that the upload did not name, where it is known.
fn full_of(algorithm: Algorithm, parts: &[StoredPart]) -> Option<String> {
    let sums: Option<Vec<_>> = parts
        .iter()
        .map(|part| part.checksums.get(algorithm).map(|sum| (sum.as_str(), part.size)))
        .collect();
    combine_full(algorithm, &sums?).ok()
}
