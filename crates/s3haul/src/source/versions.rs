//! What a versioned bucket adds to a source: whether it can be read as it was, the one version that
//! a single key had, and how much a removal would take before it takes anything.

use std::collections::{BTreeSet, HashMap};

use crate::engine::core::Engine;
use crate::job::prepare::Prepared;
use crate::plan::removals::RemovalLimit;
use crate::plan::versions::{VersionRule, VersionSelector};
use crate::source::listing::{NameListing, NamesRequest};
use s3haul_list::{KeyRange, ListRequest, Order, list, versions};
use s3haul_wire::error::{Error, ErrorKind, Result, ServiceError};
use s3haul_wire::ops::{ListedVersion, Versioning};

/// What the one version is called that is of no version.
pub(crate) const NO_VERSION: &str = "null";

/// Refuses to read a bucket as it was, or to bring back what was removed from it, where it never
/// kept what it had: of what was replaced since nothing is left, and it would look as if it had not
/// been there.
pub(crate) async fn refuse_unversioned(job: &Prepared, engine: &Engine) -> Result<()> {
    let why = match job.spec.versions {
        Some(VersionRule::AsOf { .. }) => "what it held at another time is not known (--as-of)",
        Some(VersionRule::Hiding { .. }) => "nothing that was removed can be brought back",
        _ => return Ok(()),
    };
    if job.spec.names.is_some() {
        return Ok(());
    }
    let bucket = &engine.settings.source_bucket;
    let found = engine.send(|| engine.source.get_bucket_versioning(bucket)).await;
    match found {
        Ok(Versioning::Off) => {
            let message = format!("`s3://{bucket}` has no versions: {why}");
            Err(Error::new(ErrorKind::Request, message))
        }
        Err(error) if is_untold(&error) => {
            engine.report.warning(format!(
                "cannot determine whether `s3://{bucket}` keeps versions; if it does not, {why}: \
                 {error}"
            ));
            Ok(())
        }
        // Any other error is reported by the listing.
        _ => Ok(()),
    }
}

/// Whether the question itself was refused.
fn is_untold(error: &Error) -> bool {
    error.kind() == ErrorKind::AccessDenied
        || error.code() == "NotImplemented"
        || error.service_error().is_some_and(|service| matches!(service.status, 405 | 501))
}

/// The version that the job reads of its one source; nothing where it reads the current one.
pub(crate) async fn version_of_source(job: &Prepared, engine: &Engine) -> Result<Option<String>> {
    let Some(rule) = job.spec.versions else { return Ok(None) };
    let key = job.source_key();
    if let Some(version_id) = find_version(job, engine, key, rule).await? {
        return Ok(Some(version_id));
    }
    let service = ServiceError {
        status: 404,
        code: "404".to_owned(),
        message: format!("Key \"{key}\" did not exist at that time"),
        ..ServiceError::default()
    };
    Err(Error::service(ErrorKind::NotFound, "ListObjectVersions", service))
}

/// The first version of a key that a rule takes.
pub(crate) async fn find_version(
    job: &Prepared,
    engine: &Engine,
    key: &str,
    rule: VersionRule,
) -> Result<Option<String>> {
    let mut listing = NameListing::new(engine, one_key(job, key, rule));
    while let Some(page) = listing.next().await? {
        if let Some(version_id) = page.version_id(0) {
            return Ok(Some(version_id.to_owned()));
        }
    }
    Ok(None)
}

/// A version or delete marker, and whether it is taken.
pub(crate) struct FoundVersion {
    pub(crate) listed: ListedVersion,
    /// By the rule that was given.
    pub(crate) is_taken: bool,
    /// By the job's own, with its times and numbers.
    pub(crate) is_taken_now: bool,
}

/// What is listed of a key.
pub(crate) struct FoundVersions {
    /// Those that were looked for, by their ids.
    pub(crate) found: HashMap<String, FoundVersion>,
    /// The first that the rule takes, if it is none of these.
    pub(crate) other_top: Option<String>,
}

/// Looks for some versions and delete markers of a key. Nothing is listed once all are found.
pub(crate) async fn look_up(
    job: &Prepared,
    engine: &Engine,
    (key, rule): (&str, VersionRule),
    wanted: &BTreeSet<&str>,
) -> Result<FoundVersions> {
    let request = ListRequest {
        prefix: key.to_owned(),
        range: KeyRange { after: String::new(), through: Some(key.to_owned()) },
        order: Order::Ascending,
        concurrency: 1,
        page_size: job.spec.page_size,
        permits: Some(engine.limits.requests()),
        ..ListRequest::default()
    };
    let bucket = engine.settings.source_bucket.as_str();
    let mut listing = list(versions(engine.source.clone(), bucket), request);
    let mut selector = VersionSelector::new(rule);
    let mut selector_now = VersionSelector::new(job.spec.versions.unwrap_or(rule));
    let (mut found, mut top) = (HashMap::new(), None);
    while found.len() < wanted.len()
        && let Some(listed) = listing.next().await.transpose()?
    {
        let of_key = listed.page.versions.into_iter().filter(|version| version.key == key);
        for version in of_key {
            let is_taken = selector.takes_listed(&version)?;
            let is_taken_now = selector_now.takes_listed(&version)?;
            let id = Some(version.version_id.clone()).filter(|id| !id.is_empty());
            let id = id.unwrap_or_else(|| NO_VERSION.to_owned());
            let is_wanted = wanted.contains(&*id);
            if is_taken {
                top.get_or_insert_with(|| (!is_wanted).then(|| id.clone()));
            }
            if is_wanted {
                found.insert(id, FoundVersion { listed: version, is_taken, is_taken_now });
            }
        }
    }
    Ok(FoundVersions { found, other_top: top.flatten() })
}

fn one_key<'a>(job: &'a Prepared, key: &'a str, rule: VersionRule) -> NamesRequest<'a> {
    NamesRequest {
        root: key,
        prefix: key,
        is_one: true,
        versions: Some(rule),
        ..NamesRequest::of_source(job)
    }
}

/// Refuses removals beyond `--max-delete` before the first of them: `wanted` of `names` that were
/// listed. Gives the limit that holds while they are done, as the bucket may grow meanwhile.
pub(crate) fn check_limit(job: &Prepared, wanted: u64, names: u64) -> Result<RemovalLimit> {
    let limit = job.spec.sync.max_delete;
    if limit.allows(wanted, names) {
        return Ok(match limit {
            RemovalLimit::Percent(_) => RemovalLimit::Count(wanted),
            limit => limit,
        });
    }
    let what = if job.removes_versions() { "versions and delete markers" } else { "objects" };
    let message = match limit {
        RemovalLimit::Percent(percent) => format!(
            "{wanted} of {names} {what} would be removed, more than {percent} % (--max-delete): \
             nothing was removed"
        ),
        _ => format!(
            "{wanted} {what} would be removed, more than --max-delete allows: nothing was removed"
        ),
    };
    Err(Error::new(ErrorKind::RemovalRefused, message))
}

/// Error for names that appeared during the removals and exceed the limit.
pub(crate) fn limit_reached() -> Error {
    let message = "--max-delete was reached, because more appeared during the removal: the rest \
                   was left in place";
    Error::new(ErrorKind::RemovalRefused, message)
}
