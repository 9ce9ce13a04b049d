//! `set`: flags into a job, and that into an [`ObjectChange`].

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use s3haul::job::value::{LockUntil, Moment, Objects, RetentionMode, SetTask, Task, WriteOptions};
use s3haul::job::{ObjectChange, TransferCommand};
use s3haul_wire::units::local_zone;
use s3haul_wire::{LockMode, ObjectProperties, Retention};

use super::frame::Frame;
use super::job::objects;
use super::object::{properties, write_options};
use super::shorthand;
use super::timestamp::timestamp;
use super::transfer::require_object;
use super::{JobRequest, Settings, TransferSettings};
use crate::args::{ChangeArgs, ObjectArgs, SetArgs};
use crate::failure::Failure;

impl JobRequest {
    /// For `set`.
    pub(crate) fn set(settings: &Settings, args: &SetArgs) -> Result<Self, Failure> {
        let task = task(objects(&args.selection)?, &args.change, Timestamp::now())?;
        Ok(Self::in_place(settings, &args.selection, Task::Set(Box::new(task))))
    }
}

impl TransferSettings {
    /// For `set`.
    pub(super) fn set(frame: Frame, task: &SetTask) -> Result<Self, Failure> {
        let change = change(task, Timestamp::now())?;
        let objects = task.objects();
        let mut transfer = Self::in_place(frame, TransferCommand::Set, "set", &objects)?;
        require_object(&objects)?;
        transfer.spec.change = Box::new(change);
        Ok(transfer)
    }
}

fn task(objects: Objects, args: &ChangeArgs, now: Timestamp) -> Result<SetTask, Failure> {
    let expires = args.expires.as_deref();
    let object = ObjectArgs {
        acl: args.acl.clone(),
        storage_class: args.storage_class.clone(),
        sse: args.sse.clone(),
        sse_kms_key_id: args.sse_kms_key_id.clone(),
        content_type: args.content_type.clone(),
        content_encoding: args.content_encoding.clone(),
        content_language: args.content_language.clone(),
        content_disposition: args.content_disposition.clone(),
        cache_control: args.cache_control.clone(),
        expires: expires.filter(|text| !text.is_empty()).map(str::to_owned),
        metadata: args.metadata.clone(),
        ..ObjectArgs::default()
    };
    let write = write_options(&object)?;
    // An empty text removes it.
    let removed = expires.filter(|text| text.is_empty()).map(str::to_owned);
    let added = args.add_metadata.as_deref();
    let added = added.map_or(Ok(Vec::new()), |text| shorthand::map("--add-metadata", text))?;
    Ok(SetTask {
        storage_class: write.storage_class,
        encryption: write.encryption,
        content_type: write.content_type,
        content_encoding: write.content_encoding,
        content_language: write.content_language,
        content_disposition: write.content_disposition,
        cache_control: write.cache_control,
        expires: write.expires.or(removed),
        metadata: write.metadata,
        add_metadata: added.into_iter().collect(),
        remove_metadata: removed_names(args)?,
        acl: write.acl,
        keep_acl: args.keep_acl,
        retention: retention(args, now)?,
        bypass_governance: args.bypass_governance,
        legal_hold: args.legal_hold.as_deref().map(|state| state == "on"),
        ..objects.into()
    })
}

fn change(task: &SetTask, now: Timestamp) -> Result<ObjectChange, Failure> {
    if task.content_type.as_deref() == Some("") {
        return Err(Failure::usage("--content-type needs a type: an object always has one"));
    }
    let change = ObjectChange {
        properties: ObjectProperties {
            retention: task.retention.map(|lock| wire_retention(lock, now)).transpose()?,
            legal_hold: task.legal_hold,
            ..properties(&write(task), None)?
        },
        add_metadata: task.add_metadata.clone().into_iter().collect(),
        remove_metadata: task.remove_metadata.clone(),
        bypass_governance: task.bypass_governance,
        keep_acl: task.keep_acl,
    };
    change.check().map_err(|error| Failure::usage(error.to_string()))?;
    Ok(change)
}

/// Whether objects are copied for what is changed.
pub(crate) fn set_copies(task: &SetTask) -> bool {
    // A plan may be older than what it locks until.
    change(task, Timestamp::MIN).is_ok_and(|change| change.copies())
}

/// What other commands set, too.
fn write(task: &SetTask) -> WriteOptions {
    WriteOptions {
        acl: task.acl.clone(),
        storage_class: task.storage_class.clone(),
        encryption: task.encryption.clone(),
        content_type: task.content_type.clone(),
        content_encoding: task.content_encoding.clone(),
        content_language: task.content_language.clone(),
        content_disposition: task.content_disposition.clone(),
        cache_control: task.cache_control.clone(),
        expires: task.expires.clone(),
        metadata: task.metadata.clone(),
        ..WriteOptions::default()
    }
}

fn removed_names(args: &ChangeArgs) -> Result<Vec<String>, Failure> {
    let names = args.remove_metadata.as_deref().into_iter().flat_map(|text| text.split(','));
    let names: Vec<_> = names.map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(Failure::usage("--remove-metadata: a name is missing"));
    }
    Ok(names)
}

fn retention(args: &ChangeArgs, now: Timestamp) -> Result<Option<LockUntil>, Failure> {
    let mode = match args.retention.as_deref() {
        None => return Ok(None),
        Some("compliance") => RetentionMode::Compliance,
        Some(_) => RetentionMode::Governance,
    };
    let until = match (&args.retain_until, args.retain_days) {
        (Some(text), _) => timestamp(text, &local_zone())?,
        (None, days) => end_of_day(now, days.unwrap_or_default())?,
    };
    Ok(Some(LockUntil { mode, until: Moment::from_seconds(until.as_second()) }))
}

fn wire_retention(lock: LockUntil, now: Timestamp) -> Result<Retention, Failure> {
    let LockUntil { mode, until } = lock;
    if until.seconds() <= now.as_second() {
        let until = String::from(until);
        return Err(Failure::usage(format!("--retain-until {until} is in the past")));
    }
    let mode = match mode {
        RetentionMode::Governance => LockMode::Governance,
        RetentionMode::Compliance => LockMode::Compliance,
    };
    Ok(Retention { mode, until_s: until.seconds() })
}

/// The end of the day that comes so many days from now.
fn end_of_day(now: Timestamp, days: u32) -> Result<Timestamp, Failure> {
    let time = now.to_zoned(TimeZone::UTC);
    let day = time.checked_add(Span::new().days(i64::from(days) + 1));
    let end = day.and_then(|day| day.start_of_day());
    let end = end.map_err(|error| Failure::usage(format!("--retain-days: {error}")))?;
    Ok(end.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn args(change: impl FnOnce(&mut ChangeArgs)) -> ChangeArgs {
        let mut args = ChangeArgs::default();
        change(&mut args);
        args
    }

    fn changed(args: &ChangeArgs) -> Result<ObjectChange, Failure> {
        let now = at("2026-01-31T10:00:00Z");
        change(&task(Objects::default(), args, now)?, now)
    }

    fn refusal(args: &ChangeArgs) -> String {
        changed(args).unwrap_err().message
    }

    #[test]
    fn days_end_with_the_day() {
        let days = |now| end_of_day(at(now), 30).unwrap().to_string();
        assert_eq!(days("2026-01-31T10:00:00Z"), "2026-03-03T00:00:00Z");
        assert_eq!(days("2026-01-31T23:59:59Z"), "2026-03-03T00:00:00Z");
        assert_eq!(days("2026-02-01T00:00:00Z"), "2026-03-04T00:00:00Z");
    }

    #[test]
    fn nonsense_is_refused() {
        let past = args(|args| {
            args.retention = Some("governance".into());
            args.retain_until = Some("2026-01-31T09:59:59Z".into());
        });
        assert!(refusal(&past).contains("is in the past"));
        assert!(refusal(&args(|args| args.content_type = Some(String::new()))).contains("a type"));
        assert!(refusal(&args(|args| args.add_metadata = Some("a".into()))).contains("'='"));
        assert!(refusal(&args(|args| args.remove_metadata = Some("a,,b".into()))).contains("name"));
        let both = args(|args| {
            args.add_metadata = Some("a=1".into());
            args.remove_metadata = Some("A".into());
        });
        assert!(refusal(&both).contains("named twice"));
    }

    #[test]
    fn empty_texts_remove() {
        let args = args(|args| {
            args.expires = Some(String::new());
            args.metadata = Some(String::new());
        });
        let found = changed(&args).unwrap().properties;
        assert_eq!((found.expires.as_deref(), found.metadata), (Some(""), Some(Vec::new())));
    }
}
