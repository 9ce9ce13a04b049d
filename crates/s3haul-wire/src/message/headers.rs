//! Names of the `x-amz-*` headers, and putting texts into headers and getting them out.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::{Error, ErrorKind, Result};

macro_rules! names {
    ($($constant:ident = $name:literal;)*) => {
        $(pub(crate) static $constant: HeaderName = HeaderName::from_static($name);)*
    };
}

names! {
    ACL = "x-amz-acl";
    BUCKET_OBJECT_LOCK = "x-amz-bucket-object-lock-enabled";
    BUCKET_REGION = "x-amz-bucket-region";
    BYPASS_GOVERNANCE = "x-amz-bypass-governance-retention";
    CHECKSUM_ALGORITHM = "x-amz-checksum-algorithm";
    CHECKSUM_MODE = "x-amz-checksum-mode";
    CHECKSUM_TYPE = "x-amz-checksum-type";
    COPY_SOURCE = "x-amz-copy-source";
    COPY_SOURCE_IF_MATCH = "x-amz-copy-source-if-match";
    COPY_SOURCE_RANGE = "x-amz-copy-source-range";
    DECODED_LENGTH = "x-amz-decoded-content-length";
    GRANT_FULL_CONTROL = "x-amz-grant-full-control";
    GRANT_READ = "x-amz-grant-read";
    GRANT_READ_ACP = "x-amz-grant-read-acp";
    GRANT_WRITE_ACP = "x-amz-grant-write-acp";
    METADATA_DIRECTIVE = "x-amz-metadata-directive";
    MP_OBJECT_SIZE = "x-amz-mp-object-size";
    OBJECT_LOCK_LEGAL_HOLD = "x-amz-object-lock-legal-hold";
    OBJECT_LOCK_MODE = "x-amz-object-lock-mode";
    OBJECT_LOCK_RETAIN_UNTIL = "x-amz-object-lock-retain-until-date";
    SDK_CHECKSUM_ALGORITHM = "x-amz-sdk-checksum-algorithm";
    SSE = "x-amz-server-side-encryption";
    SSE_BUCKET_KEY = "x-amz-server-side-encryption-bucket-key-enabled";
    SSE_KMS_KEY_ID = "x-amz-server-side-encryption-aws-kms-key-id";
    STORAGE_CLASS = "x-amz-storage-class";
    TAGGING = "x-amz-tagging";
    TAGGING_DIRECTIVE = "x-amz-tagging-directive";
    TRAILER = "x-amz-trailer";
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
}

fn cannot_travel(name: &HeaderName, value: &str) -> Error {
    Error::new(
        ErrorKind::Config,
        format!(
            "the value {value:?} of `{name}` holds characters that are not allowed in a header"
        ),
    )
}

/// Maps of headers that are used again: the one of a request becomes that of its answer, which can
/// become that of the next request. A map is too large for an allocator to have it at hand.
#[derive(Debug, Default)]
pub(crate) struct SpareMaps(Mutex<Vec<HeaderMap>>);

/// Maps kept at most.
const SPARE_MAPS_MAX: usize = 64;
/// Values that a map that is kept may have room for.
const SPARE_CAPACITY_MAX: usize = 64;

impl SpareMaps {
    /// An empty map with room for so many values.
    pub(crate) fn take(&self, capacity: usize) -> HeaderMap {
        match self.lock().pop() {
            Some(map) => map,
            None => HeaderMap::with_capacity(capacity),
        }
    }

    /// Keeps a map that is no longer used.
    pub(crate) fn keep(&self, mut map: HeaderMap) {
        if map.capacity() > SPARE_CAPACITY_MAX {
            return;
        }
        map.clear();
        let mut kept = self.lock();
        if kept.len() < SPARE_MAPS_MAX {
            kept.push(map);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<HeaderMap>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

/// Declares the headers of an answer that are asked for, and how to find all in one pass: a lookup
/// of each in the map hashes its name, and most are not there.
macro_rules! find_headers {
    ($(#[$about:meta])* $found:ident { $($field:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Default)]
        struct $found<'h> {
            $($field: Option<&'h http::HeaderValue>,)*
        }

        impl<'h> $found<'h> {
            /// Of several values of a name the first counts.
            fn among(headers: &'h http::HeaderMap) -> Self {
                let mut found = Self::default();
                for (name, value) in headers {
                    let place = match name.as_str() {
                        $($name => &mut found.$field,)*
                        _ => continue,
                    };
                    place.get_or_insert(value);
                }
                found
            }
        }
    };
}
pub(crate) use find_headers;

/// Number in a header.
pub(crate) fn number<T: std::str::FromStr>(headers: &HeaderMap, name: &HeaderName) -> Option<T> {
    value_number(headers.get(name)?)
}

/// Number in a header's value.
pub(crate) fn value_number<T: std::str::FromStr>(value: &HeaderValue) -> Option<T> {
    value.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_is_used_again_is_empty() {
        let spare = SpareMaps::default();
        let mut map = spare.take(10);
        map.append(&SSEC_KEY, HeaderValue::from_static("secret"));
        map.append(&SSEC_KEY, HeaderValue::from_static("another"));
        let capacity = map.capacity();
        spare.keep(map);
        let again = spare.take(1);
        assert_eq!((again.len(), again.capacity()), (0, capacity));
        assert!(again.get(&SSEC_KEY).is_none());
    }

    #[test]
    fn large_maps_and_many_are_not_kept() {
        let spare = SpareMaps::default();
        spare.keep(HeaderMap::with_capacity(10 * SPARE_CAPACITY_MAX));
        assert!(spare.lock().is_empty());
        (0..2 * SPARE_MAPS_MAX).for_each(|_| spare.keep(HeaderMap::with_capacity(10)));
        assert_eq!(spare.lock().len(), SPARE_MAPS_MAX);
    }

    #[test]
    fn of_several_values_the_first_counts() {
        find_headers! {
            /// Two that may be there.
            Found {
                etag = "etag",
                version = "x-amz-version-id",
            }
        }
        let mut map = HeaderMap::new();
        map.append(http::header::ETAG, HeaderValue::from_static("a"));
        map.append(http::header::ETAG, HeaderValue::from_static("b"));
        let found = Found::among(&map);
        assert_eq!(found.etag, map.get(http::header::ETAG));
        assert_eq!(found.version, None);
    }
}
