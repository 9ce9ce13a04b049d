//! What keeps an object from being read, changed or removed: access control lists, object lock,
//! and archives with their restores.

#![expect(clippy::needless_pass_by_value, reason = "the signatures are those of the trait")]

use s3s::dto::{
    GetObjectAclInput, GetObjectAclOutput, GetObjectLegalHoldInput, GetObjectLegalHoldOutput,
    GetObjectLockConfigurationInput, GetObjectLockConfigurationOutput, GetObjectRetentionInput,
    GetObjectRetentionOutput, Grant, Grantee, ObjectCannedACL, ObjectLockConfiguration,
    ObjectLockEnabled, ObjectLockLegalHold, ObjectLockLegalHoldStatus, ObjectLockRetention,
    ObjectLockRetentionMode, ObjectLockRule, Permission, PutObjectAclInput, PutObjectAclOutput,
    PutObjectLegalHoldInput, PutObjectLegalHoldOutput, PutObjectLockConfigurationInput,
    PutObjectLockConfigurationOutput, PutObjectRetentionInput, PutObjectRetentionOutput,
    RestoreObjectInput, RestoreObjectOutput, Tier, Type,
};
use s3s::{S3Error, S3Request, S3Response, S3Result, s3_error};

use super::SimService;
use super::convert::{OWNER_ID, owner, timestamp, to_ms};
use crate::store::{AclEntry, Bucket, DefaultRetention, Protection, Restore, Version, Versioning};

const ALL_USERS: &str = "http://acs.amazonaws.com/groups/global/AllUsers";
const AUTHENTICATED_USERS: &str = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers";
const DAY_MS: i64 = 86_400_000;
/// Longest default retention in days, and in years.
const RETENTION_DAYS_MAX: i32 = 36_500;
const RETENTION_YEARS_MAX: i32 = 100;

/// The grants that a request names; the inputs share their field names.
macro_rules! grants_of {
    ($input:expr) => {
        [
            ("FULL_CONTROL", $input.grant_full_control.as_deref()),
            ("READ", $input.grant_read.as_deref()),
            ("READ_ACP", $input.grant_read_acp.as_deref()),
            ("WRITE_ACP", $input.grant_write_acp.as_deref()),
        ]
    };
}
pub(super) use grants_of;

/// The protection that a request for a new object names; the inputs share their field names.
macro_rules! protection_of {
    ($input:expr, $settings:expr, $now_ms:expr) => {
        $crate::service::protect::Said {
            acl: $input.acl.as_ref(),
            grants: $crate::service::protect::grants_of!($input),
            lock_mode: $input.object_lock_mode.as_ref().map(|mode| mode.as_str().to_owned()),
            retain_until_ms: $input
                .object_lock_retain_until_date
                .as_ref()
                .and_then($crate::service::convert::to_ms),
            legal_hold: $input
                .object_lock_legal_hold_status
                .as_ref()
                .map(|status| status.as_str() == "ON"),
        }
        .protection($settings, $now_ms)
    };
}
pub(super) use protection_of;

/// What a request says.
pub(super) struct Said<'a> {
    pub(super) acl: Option<&'a ObjectCannedACL>,
    pub(super) grants: [(&'static str, Option<&'a str>); 4],
    pub(super) lock_mode: Option<String>,
    pub(super) retain_until_ms: Option<i64>,
    pub(super) legal_hold: Option<bool>,
}

impl Said<'_> {
    pub(super) fn protection(
        self,
        settings: &Bucket,
        now_ms: i64,
    ) -> S3Result<Option<Box<Protection>>> {
        let acl = acl_of(self.acl, &self.grants)?;
        let has_retention = self.lock_mode.is_some() || self.retain_until_ms.is_some();
        if has_retention || self.legal_hold.is_some() {
            check_lock(settings)?;
        }
        let mut protection = Protection {
            acl,
            lock_mode: self.lock_mode,
            retain_until_ms: self.retain_until_ms,
            legal_hold: self.legal_hold,
            restore: None,
        };
        if has_retention {
            check_retention(&protection, now_ms)?;
        } else if let Some(default) = &settings.default_retention {
            protection.lock_mode = Some(default.mode.clone());
            protection.retain_until_ms = Some(default.end_ms(now_ms));
        }
        Ok((protection != Protection::default()).then(|| Box::new(protection)))
    }
}

/// Checks the retention that the headers of a new object name.
fn check_retention(protection: &Protection, now_ms: i64) -> S3Result<()> {
    let (Some(mode), Some(until_ms)) = (&protection.lock_mode, protection.retain_until_ms) else {
        return Err(s3_error!(
            InvalidArgument,
            "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied"
        ));
    };
    if !is_lock_mode(mode) {
        return Err(s3_error!(InvalidArgument, "Unknown wormMode directive."));
    }
    if until_ms <= now_ms {
        return Err(past_retention());
    }
    Ok(())
}

fn is_lock_mode(mode: &str) -> bool {
    matches!(mode, ObjectLockRetentionMode::GOVERNANCE | ObjectLockRetentionMode::COMPLIANCE)
}

fn past_retention() -> S3Error {
    s3_error!(InvalidArgument, "The retain until date must be in the future!")
}

impl DefaultRetention {
    /// Reads the rule of a configuration.
    fn parse(rule: ObjectLockRule) -> S3Result<Self> {
        let given = rule.default_retention.ok_or_else(|| s3_error!(MalformedXML))?;
        let mode = given.mode.filter(|mode| is_lock_mode(mode.as_str()));
        let mode = mode.ok_or_else(|| s3_error!(MalformedXML))?.as_str().to_owned();
        let (period, most) = match (given.days, given.years) {
            (Some(days), None) => (days, RETENTION_DAYS_MAX),
            (None, Some(years)) => (years, RETENTION_YEARS_MAX),
            _ => return Err(s3_error!(MalformedXML)),
        };
        if period <= 0 {
            return Err(s3_error!(
                InvalidArgument,
                "Default retention period must be a positive integer value."
            ));
        }
        if period > most {
            return Err(s3_error!(
                InvalidArgument,
                "Default retention period too large. Max is {most}."
            ));
        }
        Ok(Self { mode, days: given.days, years: given.years })
    }

    /// The end of the retention of an object made now.
    fn end_ms(&self, now_ms: i64) -> i64 {
        let days = self.days.or(self.years.map(|years| years.saturating_mul(365)));
        now_ms.saturating_add(i64::from(days.unwrap_or_default()).saturating_mul(DAY_MS))
    }

    fn shown(&self) -> ObjectLockRule {
        let mode = Some(ObjectLockRetentionMode::from(self.mode.clone()));
        let (days, years) = (self.days, self.years);
        ObjectLockRule { default_retention: Some(s3s::dto::DefaultRetention { days, mode, years }) }
    }
}

impl Protection {
    /// Whether a version may be removed: not while it is held or retained.
    pub(super) fn check_removal(&self, now_ms: i64, may_bypass: bool) -> S3Result<()> {
        let is_retained = self.retain_until_ms.is_some_and(|until_ms| until_ms > now_ms);
        let is_strict = self.lock_mode.as_deref() == Some("COMPLIANCE");
        if self.legal_hold == Some(true) || (is_retained && (is_strict || !may_bypass)) {
            return Err(locked());
        }
        Ok(())
    }
}

fn locked() -> S3Error {
    s3_error!(AccessDenied, "Access Denied because object protected by object lock.")
}

fn check_lock(settings: &Bucket) -> S3Result<()> {
    if settings.object_lock {
        return Ok(());
    }
    Err(s3_error!(InvalidRequest, "Bucket is missing Object Lock Configuration"))
}

/// The permissions of a canned list or of grants; none where only the owner has some.
pub(super) fn acl_of(
    canned: Option<&ObjectCannedACL>,
    grants: &[(&'static str, Option<&str>)],
) -> S3Result<Option<Vec<AclEntry>>> {
    let given: Vec<_> = grants.iter().filter_map(|(name, text)| Some((*name, (*text)?))).collect();
    if canned.is_some() && !given.is_empty() {
        return Err(s3_error!(
            InvalidRequest,
            "Specifying both Canned ACLs and Header Grants is not allowed"
        ));
    }
    if !given.is_empty() {
        let entries = given.into_iter().flat_map(|(permission, grantees)| {
            grantees.split(',').map(move |grantee| parse_grantee(permission, grantee))
        });
        return entries.collect::<S3Result<Vec<_>>>().map(Some);
    }
    let group = |uri: &str, permission: &str| AclEntry::new(permission, "uri", uri);
    let beside_owner = match canned.map(ObjectCannedACL::as_str) {
        Some("public-read") => vec![group(ALL_USERS, "READ")],
        Some("public-read-write") => vec![group(ALL_USERS, "READ"), group(ALL_USERS, "WRITE")],
        Some("authenticated-read") => vec![group(AUTHENTICATED_USERS, "READ")],
        _ => return Ok(None),
    };
    Ok(Some([vec![owners()], beside_owner].concat()))
}

fn owners() -> AclEntry {
    AclEntry::new("FULL_CONTROL", "id", OWNER_ID)
}

/// Reads `id="…"`, `uri="…"` or `emailAddress="…"`.
fn parse_grantee(permission: &str, text: &str) -> S3Result<AclEntry> {
    let pair = text.trim().split_once('=');
    let known = pair.filter(|(kind, _)| matches!(*kind, "id" | "uri" | "emailAddress"));
    let Some((kind, value)) = known else {
        return Err(s3_error!(InvalidArgument, "Argument format not recognized"));
    };
    Ok(AclEntry::new(permission, kind, value.trim_matches('"')))
}

fn shown_grant(entry: &AclEntry) -> Grant {
    let value = |kind: &str| (entry.kind == kind).then(|| entry.grantee.clone());
    let type_ = match entry.kind.as_str() {
        "uri" => Type::GROUP,
        "id" => Type::CANONICAL_USER,
        _ => Type::AMAZON_CUSTOMER_BY_EMAIL,
    };
    let grantee = Grantee {
        display_name: None,
        email_address: value("emailAddress"),
        id: value("id"),
        type_: Type::from_static(type_),
        uri: value("uri"),
    };
    Grant { grantee: Some(grantee), permission: Some(Permission::from(entry.permission.clone())) }
}

impl Version {
    /// Whether the storage class is one that cannot be read at once.
    fn is_archive(&self) -> bool {
        matches!(self.storage_class.as_deref(), Some("GLACIER" | "DEEP_ARCHIVE"))
    }

    fn restore_at(&self, now_ms: i64) -> Option<Restore> {
        let restore = self.protection.as_ref()?.restore?;
        (now_ms < restore.expiry_ms).then_some(restore)
    }

    /// `x-amz-restore`.
    pub(super) fn shown_restore(&self, now_ms: i64) -> Option<String> {
        let restore = self.restore_at(now_ms)?;
        if now_ms < restore.ready_ms {
            return Some("ongoing-request=\"true\"".to_owned());
        }
        let mut date = Vec::new();
        let format = s3s::dto::TimestampFormat::HttpDate;
        timestamp(restore.expiry_ms).format(format, &mut date).ok()?;
        let date = String::from_utf8(date).ok()?;
        Some(format!("ongoing-request=\"false\", expiry-date=\"{date}\""))
    }
}

impl SimService {
    /// Refuses to read what is archived and not restored.
    pub(super) fn check_readable(&self, version: &Version) -> S3Result<()> {
        let now_ms = self.now_ms();
        let is_restored =
            version.restore_at(now_ms).is_some_and(|restore| now_ms >= restore.ready_ms);
        if !version.is_archive() || is_restored {
            return Ok(());
        }
        Err(s3_error!(
            InvalidObjectState,
            "The operation is not valid for the object's storage class"
        ))
    }

    /// Changes what protects a version.
    fn protect(
        &self,
        name: (&str, &str, Option<&str>),
        change: impl Fn(&mut Protection) -> S3Result<()>,
    ) -> S3Result<()> {
        let (bucket, key, id) = name;
        self.change_version(bucket, key, id, |version| {
            change(version.protection.get_or_insert_default())
        })?;
        Ok(())
    }

    pub(super) fn get_object_acl(
        &self,
        req: S3Request<GetObjectAclInput>,
    ) -> S3Result<S3Response<GetObjectAclOutput>> {
        let input = &req.input;
        self.bucket_settings(&input.bucket)?;
        let version = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        let entries = version.protection.as_ref().and_then(|protection| protection.acl.clone());
        let grants = entries.unwrap_or_else(|| vec![owners()]);
        let grants = Some(grants.iter().map(shown_grant).collect());
        Ok(S3Response::new(GetObjectAclOutput {
            grants,
            owner: Some(owner()),
            ..GetObjectAclOutput::default()
        }))
    }

    pub(super) fn put_object_acl(
        &self,
        req: S3Request<PutObjectAclInput>,
    ) -> S3Result<S3Response<PutObjectAclOutput>> {
        let input = &req.input;
        self.bucket_settings(&input.bucket)?;
        if input.access_control_policy.is_some() {
            return Err(s3_error!(NotImplemented, "Only canned ACLs and grants are implemented"));
        }
        let grants = grants_of!(input);
        if input.acl.is_none() && grants.iter().all(|(_, grantees)| grantees.is_none()) {
            return Err(s3_error!(
                MissingSecurityHeader,
                "Your request was missing a required header"
            ));
        }
        let acl = acl_of(input.acl.as_ref(), &grants)?;
        let name = (input.bucket.as_str(), input.key.as_str(), input.version_id.as_deref());
        self.protect(name, |protection| {
            protection.acl.clone_from(&acl);
            Ok(())
        })?;
        Ok(S3Response::new(PutObjectAclOutput::default()))
    }

    pub(super) fn get_object_lock_configuration(
        &self,
        req: S3Request<GetObjectLockConfigurationInput>,
    ) -> S3Result<S3Response<GetObjectLockConfigurationOutput>> {
        let settings = self.bucket_settings(&req.input.bucket)?;
        if !settings.object_lock {
            return Err(s3_error!(
                ObjectLockConfigurationNotFoundError,
                "Object Lock configuration does not exist for this bucket"
            ));
        }
        let object_lock_configuration = Some(ObjectLockConfiguration {
            object_lock_enabled: Some(ObjectLockEnabled::from_static(ObjectLockEnabled::ENABLED)),
            rule: settings.default_retention.as_ref().map(DefaultRetention::shown),
        });
        Ok(S3Response::new(GetObjectLockConfigurationOutput { object_lock_configuration }))
    }

    pub(super) fn put_object_lock_configuration(
        &self,
        req: S3Request<PutObjectLockConfigurationInput>,
    ) -> S3Result<S3Response<PutObjectLockConfigurationOutput>> {
        let mut settings = self.bucket_settings(&req.input.bucket)?;
        let given = req.input.object_lock_configuration.ok_or_else(|| s3_error!(MalformedXML))?;
        let enabled = given.object_lock_enabled.as_ref().map(ObjectLockEnabled::as_str);
        if enabled != Some(ObjectLockEnabled::ENABLED) {
            return Err(s3_error!(MalformedXML));
        }
        settings.default_retention = given.rule.map(DefaultRetention::parse).transpose()?;
        if settings.versioning != Versioning::Enabled {
            return Err(s3_error!(
                InvalidBucketState,
                "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration"
            ));
        }
        settings.object_lock = true;
        self.store.put_bucket(&req.input.bucket, settings)?;
        Ok(S3Response::new(PutObjectLockConfigurationOutput::default()))
    }

    pub(super) fn get_object_retention(
        &self,
        req: S3Request<GetObjectRetentionInput>,
    ) -> S3Result<S3Response<GetObjectRetentionOutput>> {
        let input = &req.input;
        check_lock(&self.bucket_settings(&input.bucket)?)?;
        let version = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        let protection = version.protection.clone().unwrap_or_default();
        let (Some(mode), Some(until_ms)) = (protection.lock_mode, protection.retain_until_ms)
        else {
            return Err(no_lock());
        };
        let retention = Some(ObjectLockRetention {
            mode: Some(ObjectLockRetentionMode::from(mode)),
            retain_until_date: Some(timestamp(until_ms)),
        });
        Ok(S3Response::new(GetObjectRetentionOutput { retention }))
    }

    pub(super) fn put_object_retention(
        &self,
        req: S3Request<PutObjectRetentionInput>,
    ) -> S3Result<S3Response<PutObjectRetentionOutput>> {
        let input = &req.input;
        check_lock(&self.bucket_settings(&input.bucket)?)?;
        let retention = input.retention.clone().unwrap_or_default();
        let mode = retention.mode.map(|mode| mode.as_str().to_owned());
        let until_ms = retention.retain_until_date.as_ref().and_then(to_ms);
        if mode.is_some() != until_ms.is_some() || mode.as_deref().is_some_and(|m| !is_lock_mode(m))
        {
            return Err(s3_error!(MalformedXML));
        }
        let now_ms = self.now_ms();
        if until_ms.is_some_and(|until_ms| until_ms <= now_ms) {
            return Err(past_retention());
        }
        let may_bypass = input.bypass_governance_retention.unwrap_or_default();
        let name = (input.bucket.as_str(), input.key.as_str(), input.version_id.as_deref());
        self.protect(name, |protection| {
            let present_ms = protection.retain_until_ms.filter(|until_ms| *until_ms > now_ms);
            let is_strict = protection.lock_mode.as_deref() == Some("COMPLIANCE");
            let weakens = present_ms.is_some_and(|present_ms| {
                until_ms.is_none_or(|until_ms| until_ms < present_ms)
                    || (is_strict && mode != protection.lock_mode)
            });
            if weakens && (is_strict || !may_bypass) {
                return Err(locked());
            }
            protection.lock_mode.clone_from(&mode);
            protection.retain_until_ms = until_ms;
            Ok(())
        })?;
        Ok(S3Response::new(PutObjectRetentionOutput::default()))
    }

    pub(super) fn get_object_legal_hold(
        &self,
        req: S3Request<GetObjectLegalHoldInput>,
    ) -> S3Result<S3Response<GetObjectLegalHoldOutput>> {
        let input = &req.input;
        check_lock(&self.bucket_settings(&input.bucket)?)?;
        let version = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        let held = version.protection.as_ref().and_then(|protection| protection.legal_hold);
        let is_on = held.ok_or_else(no_lock)?;
        let legal_hold = Some(ObjectLockLegalHold { status: Some(hold_status(is_on)) });
        Ok(S3Response::new(GetObjectLegalHoldOutput { legal_hold }))
    }

    pub(super) fn put_object_legal_hold(
        &self,
        req: S3Request<PutObjectLegalHoldInput>,
    ) -> S3Result<S3Response<PutObjectLegalHoldOutput>> {
        let input = &req.input;
        check_lock(&self.bucket_settings(&input.bucket)?)?;
        let status = input.legal_hold.as_ref().and_then(|hold| hold.status.as_ref());
        let is_on = match status.map(ObjectLockLegalHoldStatus::as_str) {
            Some(ObjectLockLegalHoldStatus::ON) => true,
            Some(ObjectLockLegalHoldStatus::OFF) => false,
            _ => return Err(s3_error!(MalformedXML)),
        };
        let name = (input.bucket.as_str(), input.key.as_str(), input.version_id.as_deref());
        self.protect(name, |protection| {
            protection.legal_hold = Some(is_on);
            Ok(())
        })?;
        Ok(S3Response::new(PutObjectLegalHoldOutput::default()))
    }

    pub(super) fn restore_object(
        &self,
        req: S3Request<RestoreObjectInput>,
    ) -> S3Result<S3Response<RestoreObjectOutput>> {
        let input = &req.input;
        self.bucket_settings(&input.bucket)?;
        let version = self.find(&input.bucket, &input.key, input.version_id.as_deref())?;
        let request = input.restore_request.as_ref().ok_or_else(|| s3_error!(MalformedXML))?;
        let days = request.days.filter(|days| *days > 0).ok_or_else(|| s3_error!(MalformedXML))?;
        if !version.is_archive() {
            return Err(s3_error!(
                InvalidObjectState,
                "Restore is not allowed for the object's current storage class"
            ));
        }
        let tier = request.glacier_job_parameters.as_ref().map(|parameters| &parameters.tier);
        let is_deep = version.storage_class.as_deref() == Some("DEEP_ARCHIVE");
        if is_deep && tier.is_some_and(|tier| tier.as_str() == Tier::EXPEDITED) {
            return Err(s3_error!(
                InvalidArgument,
                "Retrieval option is not supported by this storage class"
            ));
        }
        let now_ms = self.now_ms();
        let present = version.restore_at(now_ms);
        if present.is_some_and(|restore| now_ms < restore.ready_ms) {
            return Err(s3_error!(
                RestoreAlreadyInProgress,
                "Object restore is already in progress"
            ));
        }
        let takes_ms = i64::try_from(self.limits.restore_time.as_millis()).unwrap_or(i64::MAX);
        let ready_ms = present.map_or(now_ms.saturating_add(takes_ms), |restore| restore.ready_ms);
        // Copies go at midnight.
        let until_ms = ready_ms.max(now_ms).saturating_add(i64::from(days) * DAY_MS);
        let expiry_ms = (until_ms / DAY_MS).saturating_add(1).saturating_mul(DAY_MS);
        let name = (input.bucket.as_str(), input.key.as_str(), Some(version.id.as_str()));
        self.protect(name, |protection| {
            protection.restore = Some(Restore { ready_ms, expiry_ms });
            Ok(())
        })?;
        // S3 says 202 to the first and 200 to those that find it restored; `s3s` always says 200.
        Ok(S3Response::new(RestoreObjectOutput::default()))
    }
}

fn no_lock() -> s3s::S3Error {
    s3_error!(
        NoSuchObjectLockConfiguration,
        "The specified object does not have a ObjectLock configuration"
    )
}

/// `ON` or `OFF`.
pub(super) fn hold_status(is_on: bool) -> ObjectLockLegalHoldStatus {
    ObjectLockLegalHoldStatus::from_static(if is_on {
        ObjectLockLegalHoldStatus::ON
    } else {
        ObjectLockLegalHoldStatus::OFF
    })
}
