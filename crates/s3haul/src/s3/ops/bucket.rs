//! Buckets.

use crate::error::{Error, ErrorKind, Result};
use crate::s3::Client;

/// A bucket of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Name.
    pub name: String,
    /// Creation in seconds since 1970.
    pub created_s: i64,
    /// Region, where the server tells it.
    pub region: Option<String>,
}

/// Input of ListBuckets.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListBuckets<'a> {
    /// Only names that start so.
    pub prefix: Option<&'a str>,
    /// Only buckets of this region.
    pub region: Option<&'a str>,
}

/// Input of CreateBucket.
#[derive(Clone, Copy, Debug, Default)]
pub struct CreateBucket<'a> {
    /// Name.
    pub bucket: &'a str,
    /// Tags (`mb --tags`).
    pub tags: &'a [(String, String)],
}

impl Client {
    /// All buckets (all pages).
    pub async fn list_buckets(&self, _input: ListBuckets<'_>) -> Result<Vec<Bucket>> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Creates a bucket in the client's region.
    pub async fn create_bucket(&self, _input: CreateBucket<'_>) -> Result<()> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Removes an empty bucket.
    pub async fn delete_bucket(&self, _bucket: &str) -> Result<()> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Whether a bucket exists and may be used; gives its region where the server tells it.
    pub async fn head_bucket(&self, _bucket: &str) -> Result<Option<String>> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }

    /// Region of a bucket.
    pub async fn get_bucket_location(&self, _bucket: &str) -> Result<String> {
        Err(Error::new(ErrorKind::Config, "not built yet"))
    }
}
