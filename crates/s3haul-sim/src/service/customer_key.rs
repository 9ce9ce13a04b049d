//! Keys that customers bring (SSE-C). The bytes are stored as they came: what is kept is the MD5
//! of the key, and every request for the object must show the key that has it.
//!
//! Plain http is served too, where S3 refuses: this server is for trying and testing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use s3s::crypto::{Checksum as _, Md5};
use s3s::dto::ServerSideEncryption;
use s3s::{S3Error, S3Result, s3_error};

use crate::store::Attributes;

/// The one algorithm of SSE-C.
const ALGORITHM: &str = "AES256";
/// Length of its keys.
const KEY_BYTES: usize = 32;

/// The three headers of a key, as a request has them.
pub(super) struct CustomerKey<'a> {
    pub(super) algorithm: Option<&'a str>,
    pub(super) key: Option<&'a str>,
    pub(super) md5: Option<&'a str>,
}

/// The key for the object that a request names; the inputs share their field names.
macro_rules! customer_key {
    ($input:expr) => {
        $crate::service::customer_key::CustomerKey {
            algorithm: $input.sse_customer_algorithm.as_deref(),
            key: $input.sse_customer_key.as_deref(),
            md5: $input.sse_customer_key_md5.as_deref(),
        }
    };
}
pub(super) use customer_key;

/// The key for the source of a copy.
macro_rules! source_key {
    ($input:expr) => {
        $crate::service::customer_key::CustomerKey {
            algorithm: $input.copy_source_sse_customer_algorithm.as_deref(),
            key: $input.copy_source_sse_customer_key.as_deref(),
            md5: $input.copy_source_sse_customer_key_md5.as_deref(),
        }
    };
}
pub(super) use source_key;

impl CustomerKey<'_> {
    /// The MD5 of the key; `None` where the request has no key.
    fn checked(&self) -> S3Result<Option<&str>> {
        let Self { algorithm, key, md5 } = self;
        if algorithm.is_none() && key.is_none() && md5.is_none() {
            return Ok(None);
        }
        match *algorithm {
            None => return Err(lacks("a valid encryption algorithm")),
            Some(ALGORITHM) => {}
            Some(_) => {
                return Err(s3_error!(
                    InvalidEncryptionAlgorithmError,
                    "The Encryption request you specified is not valid. Supported value: \
                     {ALGORITHM}."
                ));
            }
        }
        let key = key.ok_or_else(|| lacks("an appropriate secret key"))?;
        let md5 = md5.ok_or_else(|| lacks("the client calculated MD5 of the secret key"))?;
        let key = BASE64.decode(key).ok().filter(|key| key.len() == KEY_BYTES);
        let key = key.ok_or_else(|| {
            s3_error!(InvalidArgument, "The secret key was invalid for the specified algorithm.")
        })?;
        if BASE64.encode(Md5::checksum(&key)) != md5 {
            return Err(s3_error!(
                InvalidArgument,
                "The calculated MD5 hash of the key did not match the hash that was provided."
            ));
        }
        Ok(Some(md5))
    }

    /// Checks the key of a new object or upload.
    pub(super) fn check_write(&self, other: Option<&ServerSideEncryption>) -> S3Result<()> {
        if self.checked()?.is_some() && other.is_some() {
            return Err(s3_error!(
                InvalidArgument,
                "Server Side Encryption with Customer provided key is incompatible with the \
                 encryption method specified"
            ));
        }
        Ok(())
    }

    /// Checks the key for an object that is read, or copied from.
    pub(super) fn check_read(&self, attributes: &Attributes) -> S3Result<()> {
        match (attributes.customer_key_md5.as_deref(), self.checked()?) {
            (None, None) => Ok(()),
            (Some(wanted), Some(given)) if wanted == given => Ok(()),
            (Some(_), Some(_)) => Err(s3_error!(
                AccessDenied,
                "Requests specifying Server Side Encryption with Customer provided keys must \
                 provide the correct secret key."
            )),
            (Some(_), None) => Err(s3_error!(
                InvalidRequest,
                "The object was stored using a form of Server Side Encryption. The correct \
                 parameters must be provided to retrieve the object."
            )),
            (None, Some(_)) => Err(s3_error!(
                InvalidRequest,
                "The encryption parameters are not applicable to this object."
            )),
        }
    }

    /// Checks the key that comes with a part, against that of the upload.
    pub(super) fn check_part(&self, attributes: &Attributes) -> S3Result<()> {
        match (attributes.customer_key_md5.as_deref(), self.checked()?) {
            (Some(_), None) => Err(s3_error!(
                InvalidRequest,
                "The multipart upload initiate requested encryption. Subsequent part requests \
                 must include the appropriate encryption parameters."
            )),
            (wanted, given) if wanted == given => Ok(()),
            _ => Err(mismatch()),
        }
    }

    /// Checks the key that a completion may bring, and need not.
    pub(super) fn check_completion(&self, attributes: &Attributes) -> S3Result<()> {
        let given = self.checked()?;
        let fits = given.is_none() || given == attributes.customer_key_md5.as_deref();
        if fits { Ok(()) } else { Err(mismatch()) }
    }
}

fn lacks(what: &str) -> S3Error {
    s3_error!(
        InvalidArgument,
        "Requests specifying Server Side Encryption with Customer provided keys must provide \
         {what}."
    )
}

fn mismatch() -> S3Error {
    s3_error!(
        InvalidRequest,
        "The provided encryption parameters did not match the ones used originally."
    )
}

impl Attributes {
    /// The `ETag` of bytes under these attributes: no MD5 where a customer's key encrypts them.
    pub(super) fn etag_of(&self, etag: String) -> String {
        if self.customer_key_md5.is_none() {
            return etag;
        }
        format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..))
    }
}
