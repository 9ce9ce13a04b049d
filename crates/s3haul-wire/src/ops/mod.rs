//! The operations: what each sends and what it expects back.
//!
//! Inputs borrow; outputs own. Every method retries inside, so an error that comes out is final.
//! The shapes follow <https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html>.

mod acl;
mod bucket;
mod build;
mod delete;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod list;
mod lock;
mod multipart;
mod object;
mod plain;
mod presign;
mod restore;
mod tagging;

pub use crate::xml::list_page::{ListPage, ListedObject, ListedVersion, VersionPage};
pub use acl::{Acl, AclGrant, Grantee};
pub use bucket::{Bucket, CreateBucket, ListBuckets, Versioning, Website};
pub use delete::{DeleteObject, DeleteObjects, DeleteOutcome, DeleteRefused, ObjectIdentifier};
pub use list::{ListObjects, ListVersions};
pub use multipart::{
    BegunUpload, CompleteMultipart, CompletedPart, CreateMultipart, ListParts, MultipartUpload,
    PartPage, UploadPage, UploadPart, UploadPartCopy,
};
pub use object::{
    Conditions, CopyObject, CopySource, GetObject, HeadObject, ObjectBody, PutObject, Written,
};
pub use plain::{PlainAnswer, PlainRequest};
pub use presign::PresignedPut;
pub use restore::{RestoreObject, RestoreTier, Restoring};

#[cfg(test)]
mod tests;
