//! `PutObject`.

use s3s::dto::{ChecksumAlgorithm, ChecksumType, PutObjectInput, PutObjectOutput};
use s3s::{S3Request, S3Response, S3Result};

use super::checksum::Algorithm;
use super::convert::{
    attributes_of, check_metadata, checksums_of, echo_encryption, etag, parse_tagging,
    show_checksums, storage_class,
};
use super::customer_key::customer_key;
use super::ingest::{Chunked, Said};
use super::protect::protection_of;
use super::{SimService, conditions};
use crate::store::Version;

/// The algorithm that a request names.
pub(super) fn named_algorithm(name: Option<&ChecksumAlgorithm>) -> Option<Algorithm> {
    name.and_then(|name| Algorithm::parse(name.as_str()))
}

impl SimService {
    pub(super) async fn put_object(
        &self,
        req: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let mut input = req.input;
        let settings = self.bucket_settings(&input.bucket)?;
        customer_key!(input).check_write(input.server_side_encryption.as_ref())?;
        let attributes = Box::new(attributes_of!(input));
        check_metadata(&attributes)?;
        let tags = parse_tagging(input.tagging.as_deref())?;
        let class = storage_class(input.storage_class.as_ref())?;
        let protection = protection_of!(input, &settings, self.now_ms())?;
        let said = Said {
            md5: input.content_md5.take(),
            checksums: checksums_of!(input),
            algorithms: [named_algorithm(input.checksum_algorithm.as_ref()), None],
            chunked: Chunked::new(&req.headers, req.trailing_headers),
        };
        let received = self.receive(input.body.take(), said).await?;
        let blob = received.blob.clone();
        let version = Version {
            modified_ms: self.now_ms(),
            size: received.size,
            etag: attributes.etag_of(received.etag),
            storage_class: class,
            checksums: received.checksums,
            attributes,
            tags,
            protection,
            blob: received.blob,
            ..Version::default()
        };
        let mut output =
            PutObjectOutput { e_tag: Some(etag(&version.etag)), ..PutObjectOutput::default() };
        show_checksums!(output, version.checksums);
        output.checksum_type = version.checksums.kind.clone().map(ChecksumType::from);
        echo_encryption!(output, version.attributes);
        let (if_match, if_none_match) = (input.if_match.as_ref(), input.if_none_match.as_ref());
        let mut version = Some(version);
        let stored = self.store.update(&input.bucket, &input.key, &mut |versions| {
            conditions::check_write(versions.first().map(AsRef::as_ref), if_match, if_none_match)?;
            let version = version.take().unwrap_or_default();
            output.version_id = Self::push_version(settings.versioning, versions, version);
            Ok(())
        });
        if let Err(error) = stored {
            self.store.discard(&blob);
            return Err(error);
        }
        Ok(S3Response::new(output))
    }
}
