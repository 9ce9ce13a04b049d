//! `set`: flags into an [`ObjectChange`].

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use s3haul::job::{ObjectChange, TransferCommand};
use s3haul_wire::{LockMode, ObjectProperties, Retention};

use super::object::{properties, write_options};
use super::shorthand;
use super::timestamp::timestamp;
use super::transfer::require_object;
use super::{Settings, TransferSettings};
use crate::args::{ChangeArgs, ObjectArgs, SetArgs};
use crate::failure::Failure;

impl TransferSettings {
    /// For `set`.
    pub(crate) fn set(settings: Settings, args: &SetArgs) -> Result<Self, Failure> {
        let change = change(&args.change, Timestamp::now())?;
        let objects = &args.selection;
        let mut transfer = Self::in_place(settings, TransferCommand::Set, "set", objects)?;
        require_object(objects)?;
        transfer.spec.change = Box::new(change);
        Ok(transfer)
    }
}

fn change(args: &ChangeArgs, now: Timestamp) -> Result<ObjectChange, Failure> {
    if args.content_type.as_deref() == Some("") {
        return Err(Failure::usage("--content-type needs a type: an object always has one"));
    }
    let change = ObjectChange {
        properties: ObjectProperties {
            retention: retention(args, now)?,
            legal_hold: args.legal_hold.as_deref().map(|state| state == "on"),
            ..headers(args)?
        },
        add_metadata: args
            .add_metadata
            .as_deref()
            .map_or(Ok(Vec::new()), |text| shorthand::map("--add-metadata", text))?,
        remove_metadata: removed_names(args)?,
        bypass_governance: args.bypass_governance,
        keep_acl: args.keep_acl,
    };
    change.check().map_err(|error| Failure::usage(error.to_string()))?;
    Ok(change)
}

/// What other commands set, too.
fn headers(args: &ChangeArgs) -> Result<ObjectProperties, Failure> {
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
    let found = properties(&write_options(&object)?, None)?;
    // An empty text removes it.
    let removed = expires.filter(|text| text.is_empty()).map(str::to_owned);
    Ok(ObjectProperties { expires: found.expires.or(removed), ..found })
}

fn removed_names(args: &ChangeArgs) -> Result<Vec<String>, Failure> {
    let names = args.remove_metadata.as_deref().into_iter().flat_map(|text| text.split(','));
    let names: Vec<_> = names.map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err(Failure::usage("--remove-metadata: a name is missing"));
    }
    Ok(names)
}

fn retention(args: &ChangeArgs, now: Timestamp) -> Result<Option<Retention>, Failure> {
    let mode = match args.retention.as_deref() {
        None => return Ok(None),
        Some("compliance") => LockMode::Compliance,
        Some(_) => LockMode::Governance,
    };
    let until = match (&args.retain_until, args.retain_days) {
        (Some(text), _) => timestamp(text, &TimeZone::system())?,
        (None, days) => end_of_day(now, days.unwrap_or_default())?,
    };
    if until <= now {
        return Err(Failure::usage(format!("--retain-until {until} is in the past")));
    }
    Ok(Some(Retention { mode, until_s: until.as_second() }))
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

    fn refusal(args: &ChangeArgs) -> String {
        change(args, at("2026-01-31T10:00:00Z")).unwrap_err().message
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
        let found = change(&args, at("2026-01-31T10:00:00Z")).unwrap().properties;
        assert_eq!((found.expires.as_deref(), found.metadata), (Some(""), Some(Vec::new())));
    }
}
