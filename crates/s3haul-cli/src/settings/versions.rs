//! Versions: which ones `rm` and `undelete` remove, the confirmation before, and `--as-of`.

use s3haul::job::value::{Moment, RemoveTask, RemovedVersions, UndeleteTask};
use s3haul::job::{RemovalLimit, Rule, TransferCommand, TransferSpec, VersionRule};
use s3haul::plan::s3_uri;

use super::frame::Frame;
use super::{JobRequest, Settings, TransferSettings};
use crate::args::VersionsArgs;
use crate::failure::Failure;
use crate::settings::check::address;

impl JobRequest {
    /// For `versions`: `list --versions --sort`, of one key where the address is one.
    pub(crate) fn versions(settings: &Settings, args: &VersionsArgs) -> Result<Self, Failure> {
        let mut list = args.list.clone();
        (list.versions, list.table.sort) = (true, true);
        let listing = &mut list.listing;
        let key = address(&listing.path)?.key;
        let has_pattern = !listing.raw && key.contains(['*', '?']);
        if has_pattern && args.recursive && !key.ends_with('*') {
            return Err(Failure::usage(
                "with a pattern, --recursive has no effect here: end the pattern with `*` to see \
                 what lies below its matches",
            ));
        }
        if !has_pattern && !key.is_empty() && !key.ends_with('/') {
            if args.recursive {
                listing.path.push('/');
            } else if listing.start_after.is_some() || listing.stop_at.is_some() {
                return Err(Failure::usage(
                    "--start-after and --stop-at need --recursive: the address is one key",
                ));
            } else {
                listing.stop_at = Some(key);
            }
        }
        Self::list(settings, &list)
    }
}

impl TransferSettings {
    /// For `undelete`.
    pub(super) fn undelete(frame: Frame, task: &UndeleteTask) -> Result<Self, Failure> {
        let command = TransferCommand::Undelete;
        let mut transfer = Self::in_place(frame, command, "undelete", &task.objects())?;
        let since_s = task.since.map(Moment::seconds);
        transfer.spec.versions = Some(VersionRule::Hiding { since_s });
        refuse_facts_of_markers(&transfer.spec)?;
        check_manifest(&transfer)?;
        check_address(&transfer.spec)?;
        Ok(transfer)
    }

    /// What `rm` has beside the flags of all commands on objects in place.
    pub(super) fn guarded(mut self, task: &RemoveTask) -> Result<Self, Failure> {
        // A version is as old as its end as the current one.
        let older_than_s = self.spec.conditions.older_than_s;
        self.spec.versions = task.versions.map(|versions| version_rule(versions, older_than_s));
        if self.spec.versions.is_some() {
            self.spec.conditions.older_than_s = None;
            refuse_facts_of_markers(&self.spec)?;
            check_manifest(&self)?;
            check_address(&self.spec)?;
        }
        self.spec.bypass_governance = task.bypass_governance;
        if let Some(limit) = &task.max_delete {
            self.spec.sync.max_delete = removal_limit(limit)?;
        }
        check_manifest(&self)?;
        let is_sure = task.yes || self.report.retry.is_some() || self.manifest.is_some();
        self.question = if is_sure { None } else { question(&self.spec) };
        Ok(self)
    }
}

fn version_rule(versions: RemovedVersions, older_than_s: Option<i64>) -> VersionRule {
    match versions {
        RemovedVersions::All => VersionRule::All { older_than_s },
        RemovedVersions::DeleteMarkers => VersionRule::DeleteMarkers { older_than_s },
        RemovedVersions::Noncurrent { keep } => VersionRule::Noncurrent { keep, older_than_s },
    }
}

/// Refuses what no version can be removed of.
fn check_address(spec: &TransferSpec) -> Result<(), Failure> {
    let name = address(&spec.source)?;
    if s3_uri::is_directory_bucket(&name.bucket) {
        return Err(Failure::usage("directory buckets have no versions"));
    }
    if name.key.is_empty() && !spec.recursive {
        return Err(Failure::usage(format!(
            "`{}` names no object: give --recursive for all objects of the bucket",
            spec.source
        )));
    }
    Ok(())
}

/// Refuses conditions that no delete marker could meet, where there is nothing else.
fn refuse_facts_of_markers(spec: &TransferSpec) -> Result<(), Failure> {
    let is_of_markers = matches!(
        spec.versions,
        Some(VersionRule::DeleteMarkers { .. } | VersionRule::Hiding { .. })
    );
    let conditions = &spec.conditions;
    let is_of_bytes = conditions.size_min.is_some()
        || conditions.size_max.is_some()
        || !conditions.storage_classes.is_empty();
    if is_of_markers && is_of_bytes {
        return Err(Failure::usage(
            "delete markers have neither a size nor a storage class: no such condition could be \
             met",
        ));
    }
    Ok(())
}

/// Refuses what cannot be had of objects that are named instead of listed.
pub(super) fn check_manifest(transfer: &TransferSettings) -> Result<(), Failure> {
    if transfer.manifest.is_none() {
        return Ok(());
    }
    if transfer.spec.versions.is_some() {
        return Err(Failure::usage(
            "--from names objects as they are now, not versions or delete markers",
        ));
    }
    if transfer.spec.sync.max_delete != RemovalLimit::None {
        return Err(Failure::usage(
            "--max-delete counts what a listing has, and --from names what to remove",
        ));
    }
    Ok(())
}

/// Question on a terminal before a removal that cannot be undone or empties a whole bucket.
fn question(spec: &TransferSpec) -> Option<String> {
    if spec.dry_run || spec.command != TransferCommand::Remove {
        return None;
    }
    let what = match spec.versions {
        Some(VersionRule::DeleteMarkers { .. }) => "the delete markers",
        Some(VersionRule::Noncurrent { .. }) => "versions that are not current",
        Some(_) => "all versions, for good,",
        None => "all objects",
    };
    let key = s3_uri::parse(&spec.source).ok()?.key;
    let is_all = |key: &str| {
        key.is_empty() || (!spec.raw && key.contains('*') && key.chars().all(|c| "*?".contains(c)))
    };
    let takes_all = (spec.recursive || !key.is_empty())
        && is_all(&key)
        && spec.filters.is_empty()
        && spec.conditions.is_empty()
        && spec.filter.is_none();
    let is_asked = takes_all || spec.versions.is_some();
    is_asked.then(|| format!("remove {what} of `{}`?", spec.source))
}

/// Reads a limit of removals.
pub(super) fn removal_limit(text: &str) -> Result<RemovalLimit, Failure> {
    let limit = match text.strip_suffix('%') {
        Some(percent) => percent
            .parse()
            .ok()
            .filter(|percent| (0.0..=100.0).contains(percent))
            .map(RemovalLimit::Percent),
        None => text.parse().ok().map(RemovalLimit::Count),
    };
    limit.ok_or_else(|| {
        Failure::usage(format!(
            "--max-delete takes a number, or a percentage from 0% to 100%, not `{text}`"
        ))
    })
}

/// Lets `cp` and `sync` read their source as it was.
pub(super) fn apply_as_of(spec: &mut TransferSpec, moment: Option<Moment>) -> Result<(), Failure> {
    let Some(moment) = moment else { return Ok(()) };
    if !s3_uri::is_s3(&spec.source) {
        return Err(Failure::usage("--as-of is for sources in S3, which may have versions"));
    }
    if s3_uri::is_directory_bucket(&address(&spec.source)?.bucket) {
        return Err(Failure::usage("--as-of: directory buckets have no versions"));
    }
    spec.versions = Some(VersionRule::AsOf { at_s: moment.seconds() });
    Ok(())
}

/// What counts as a difference where a source is read as it was and no flag says otherwise: old
/// versions are older than what replaced them, so that times say nothing of which is wanted.
pub(super) fn rule_as_of(spec: &TransferSpec, rule: Rule) -> Rule {
    let to_objects = spec.target.as_deref().is_some_and(s3_uri::is_s3);
    match rule {
        Rule::SizeAndTime if spec.versions.is_some() && to_objects => Rule::Content,
        Rule::SizeAndTime if spec.versions.is_some() => Rule::ExactSeconds,
        rule => rule,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_or_percentages() {
        assert_eq!(removal_limit("10").unwrap(), RemovalLimit::Count(10));
        assert_eq!(removal_limit("0").unwrap(), RemovalLimit::Count(0));
        assert_eq!(removal_limit("2.5%").unwrap(), RemovalLimit::Percent(2.5));
        for text in ["", "%", "-1", "101%", "ten", "NaN%", "1.5", "-1%"] {
            assert!(removal_limit(text).is_err(), "{text}");
        }
    }
}
