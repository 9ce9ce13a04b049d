//! Flags that say what a written object carries.

use clap::Args;

use super::Secret;

/// Properties of the objects written.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ObjectArgs {
    /// Set this canned access control list.
    #[arg(long, value_name = "ACL")]
    #[arg(value_parser = ["private", "public-read", "public-read-write", "authenticated-read",
        "aws-exec-read", "bucket-owner-read", "bucket-owner-full-control", "log-delivery-write"])]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) acl: Option<String>,
    /// Grant permissions, each as PERMISSION=TYPE=GRANTEE, where the permission is read, readacl,
    /// writeacl or full and the type is id, uri or emailaddress.
    #[arg(long, num_args = 1.., value_name = "GRANT")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) grants: Vec<String>,
    /// Store the objects in this class.
    #[arg(long, value_name = "CLASS")]
    #[arg(value_parser = ["STANDARD", "REDUCED_REDUNDANCY", "STANDARD_IA", "ONEZONE_IA",
        "INTELLIGENT_TIERING", "GLACIER", "DEEP_ARCHIVE", "GLACIER_IR"])]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) storage_class: Option<String>,
    /// Encrypt on the server, with keys of S3 (AES256, also if no value is given) or of KMS
    /// (aws:kms).
    #[arg(long, num_args = 0..=1, default_missing_value = "AES256", value_name = "METHOD")]
    #[arg(value_parser = ["AES256", "aws:kms"])]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) sse: Option<String>,
    /// Encrypt with this KMS key; needs --sse aws:kms.
    #[arg(long, value_name = "ID")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) sse_kms_key_id: Option<String>,
    /// Set this Content-Type instead of guessing it from the name.
    #[arg(long, value_name = "TYPE")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) content_type: Option<String>,
    /// Set Content-Encoding.
    #[arg(long, value_name = "ENCODING")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) content_encoding: Option<String>,
    /// Set Content-Language.
    #[arg(long, value_name = "LANGUAGE")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) content_language: Option<String>,
    /// Set Content-Disposition.
    #[arg(long, value_name = "DISPOSITION")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) content_disposition: Option<String>,
    /// Set Cache-Control.
    #[arg(long, value_name = "DIRECTIVES")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) cache_control: Option<String>,
    /// Set the time after which the object must no longer be cached, as an ISO 8601 or HTTP date.
    #[arg(long, value_name = "TIME")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) expires: Option<String>,
    /// Store this metadata, as name=value,name2=value2 or as a JSON object. For copies it implies
    /// --metadata-directive REPLACE.
    #[arg(long, value_name = "MAP")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) metadata: Option<String>,
    /// Redirect readers of a bucket's website to this object or URL.
    #[arg(long, value_name = "LOCATION")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) website_redirect: Option<String>,
    /// Guess Content-Type from the name, which is the default except for standard input, whose type
    /// is never guessed.
    #[arg(long, overrides_with = "no_guess_mime_type")]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) guess_mime_type: bool,
    /// Do not guess Content-Type from the name.
    #[arg(long)]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) no_guess_mime_type: bool,
    /// Compute a checksum with this algorithm, send it, and have it stored with the object.
    #[arg(long, value_name = "ALGORITHM")]
    #[arg(value_parser = ["CRC64NVME", "CRC32", "CRC32C", "SHA1", "SHA256", "SHA512", "XXHASH64",
        "XXHASH3", "XXHASH128"])]
    #[arg(help_heading = "Properties of the objects written")]
    pub(crate) checksum_algorithm: Option<String>,
}

/// Encryption with a key that only the caller has.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CustomerKeyArgs {
    /// Encrypt or decrypt with the key of --sse-c-key. AES256 is the only method.
    #[arg(long, num_args = 0..=1, default_missing_value = "AES256", value_name = "METHOD")]
    #[arg(value_parser = ["AES256"])]
    #[arg(help_heading = "Encryption with your own key")]
    pub(crate) sse_c: Option<String>,
    /// The key for --sse-c: its 32 bytes as text, or `fileb://` and the path of a file that holds
    /// them.
    #[arg(long, value_name = "KEY")]
    #[arg(help_heading = "Encryption with your own key")]
    pub(crate) sse_c_key: Option<Secret>,
}
