//! Names of the `x-amz-*` headers, and putting texts into headers and getting them out.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::properties::CustomerKey;
use crate::error::{Error, ErrorKind, Result};

macro_rules! names {
    ($($constant:ident = $name:literal;)*) => {
        $(pub(crate) static $constant: HeaderName = HeaderName::from_static($name);)*
    };
}

names! {
    ACL = "x-amz-acl";
    ARCHIVE_STATUS = "x-amz-archive-status";
    BUCKET_OBJECT_LOCK = "x-amz-bucket-object-lock-enabled";
    BUCKET_REGION = "x-amz-bucket-region";
    BYPASS_GOVERNANCE = "x-amz-bypass-governance-retention";
    CHECKSUM_ALGORITHM = "x-amz-checksum-algorithm";
    CHECKSUM_MODE = "x-amz-checksum-mode";
    CHECKSUM_TYPE = "x-amz-checksum-type";
    COPY_SOURCE = "x-amz-copy-source";
    COPY_SOURCE_IF_MATCH = "x-amz-copy-source-if-match";
    COPY_SOURCE_RANGE = "x-amz-copy-source-range";
    GRANT_FULL_CONTROL = "x-amz-grant-full-control";
    GRANT_READ = "x-amz-grant-read";
    GRANT_READ_ACP = "x-amz-grant-read-acp";
    GRANT_WRITE_ACP = "x-amz-grant-write-acp";
    METADATA_DIRECTIVE = "x-amz-metadata-directive";
    MISSING_META = "x-amz-missing-meta";
    MP_OBJECT_SIZE = "x-amz-mp-object-size";
    MP_PARTS_COUNT = "x-amz-mp-parts-count";
    OBJECT_LOCK_LEGAL_HOLD = "x-amz-object-lock-legal-hold";
    OBJECT_LOCK_MODE = "x-amz-object-lock-mode";
    OBJECT_LOCK_RETAIN_UNTIL = "x-amz-object-lock-retain-until-date";
    RESTORE = "x-amz-restore";
    SDK_CHECKSUM_ALGORITHM = "x-amz-sdk-checksum-algorithm";
    SSE = "x-amz-server-side-encryption";
    SSE_BUCKET_KEY = "x-amz-server-side-encryption-bucket-key-enabled";
    SSE_KMS_KEY_ID = "x-amz-server-side-encryption-aws-kms-key-id";
    STORAGE_CLASS = "x-amz-storage-class";
    TAGGING = "x-amz-tagging";
    TAGGING_COUNT = "x-amz-tagging-count";
    TAGGING_DIRECTIVE = "x-amz-tagging-directive";
    VERSION_ID = "x-amz-version-id";
    WEBSITE_REDIRECT = "x-amz-website-redirect-location";
    SSEC_ALGORITHM = "x-amz-server-side-encryption-customer-algorithm";
    SSEC_KEY = "x-amz-server-side-encryption-customer-key";
    SSEC_KEY_MD5 = "x-amz-server-side-encryption-customer-key-md5";
    SOURCE_SSEC_ALGORITHM = "x-amz-copy-source-server-side-encryption-customer-algorithm";
    SOURCE_SSEC_KEY = "x-amz-copy-source-server-side-encryption-customer-key";
    SOURCE_SSEC_KEY_MD5 = "x-amz-copy-source-server-side-encryption-customer-key-md5";
}

/// Prefix of user metadata.
pub(crate) const METADATA_PREFIX: &str = "x-amz-meta-";

/// The headers of a request that is being built.
#[derive(Debug, Default)]
pub(crate) struct Headers(pub(crate) Vec<(HeaderName, HeaderValue)>);

impl Headers {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self(Vec::with_capacity(capacity))
    }

    /// Adds a fixed value.
    pub(crate) fn fixed(&mut self, name: &HeaderName, value: &'static str) {
        self.0.push((name.clone(), HeaderValue::from_static(value)));
    }

    /// Adds a text as its UTF-8 bytes, which is how S3 takes values that are not ASCII. Control
    /// characters cannot travel in a header: an error.
    pub(crate) fn text(&mut self, name: &HeaderName, value: &str) -> Result<()> {
        let header =
            HeaderValue::from_bytes(value.as_bytes()).map_err(|_| cannot_travel(name, value))?;
        self.0.push((name.clone(), header));
        Ok(())
    }

    /// Adds a text that is there.
    pub(crate) fn maybe(&mut self, name: &HeaderName, value: Option<&str>) -> Result<()> {
        value.map_or(Ok(()), |value| self.text(name, value))
    }

    /// Adds user metadata.
    pub(crate) fn metadata(&mut self, metadata: &[(String, String)]) -> Result<()> {
        let mut full = String::with_capacity(64);
        for (name, value) in metadata {
            full.clear();
            full.push_str(METADATA_PREFIX);
            full.push_str(name);
            let header = HeaderName::from_bytes(full.as_bytes()).map_err(|_| {
                Error::new(ErrorKind::Config, format!("`{name}` cannot name metadata"))
            })?;
            self.text(&header, value)?;
        }
        Ok(())
    }

    /// Adds the key of SSE-C.
    pub(crate) fn customer_key(&mut self, key: Option<&CustomerKey>) -> Result<()> {
        self.key(key, [&SSEC_ALGORITHM, &SSEC_KEY, &SSEC_KEY_MD5])
    }

    /// Adds the key of SSE-C of a copy's source.
    pub(crate) fn source_customer_key(&mut self, key: Option<&CustomerKey>) -> Result<()> {
        self.key(key, [&SOURCE_SSEC_ALGORITHM, &SOURCE_SSEC_KEY, &SOURCE_SSEC_KEY_MD5])
    }

    fn key(&mut self, key: Option<&CustomerKey>, names: [&HeaderName; 3]) -> Result<()> {
        let Some(key) = key else { return Ok(()) };
        let (value, md5) = key.encoded();
        self.text(names[0], &key.algorithm)?;
        for (name, value) in [(names[1], value), (names[2], md5)] {
            self.text(name, &value)?;
            if let Some((_, value)) = self.0.last_mut() {
                value.set_sensitive(true);
            }
        }
        Ok(())
    }
}

fn cannot_travel(name: &HeaderName, value: &str) -> Error {
    Error::new(
        ErrorKind::Config,
        format!("the value {value:?} of `{name}` holds characters that no header can carry"),
    )
}

/// Text of a header; bytes that are not UTF-8 are taken as Latin-1.
pub(crate) fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(value_text)
}

/// Text of a header's value; bytes that are not UTF-8 are taken as Latin-1.
pub(crate) fn value_text(value: &HeaderValue) -> String {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => value.as_bytes().iter().copied().map(char::from).collect(),
    }
}

/// Number in a header.
pub(crate) fn number<T: std::str::FromStr>(headers: &HeaderMap, name: &HeaderName) -> Option<T> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}
