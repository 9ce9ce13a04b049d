//! `sync`: what it has beside the flags of `cp`.

use s3haul::job::{RemovalLimit, Rule, SyncOptions, TransferCommand};

use super::transfer::copying;
use super::{ReportSettings, Settings, TransferSettings, script};
use crate::args::SyncArgs;
use crate::failure::Failure;

impl TransferSettings {
    /// For `sync`.
    pub(crate) fn sync(settings: Settings, args: &SyncArgs) -> Result<Self, Failure> {
        let sync = SyncOptions {
            rule: rule(args),
            delete: args.delete,
            max_delete: args.max_delete.as_deref().map_or(Ok(RemovalLimit::None), removal_limit)?,
            allow_empty_source: args.allow_empty_source,
        };
        let mut transfer = copying(settings, &args.copy, TransferCommand::Sync, false)?;
        transfer.spec.sync = sync;
        transfer.spec.filter = script::filter(args.filter.as_deref())?;
        transfer.spec.to_key = script::to_key(args.to_key.as_deref())?;
        // A sync has no patterns in its paths.
        transfer.spec.raw = true;
        transfer.report = ReportSettings::new(&args.copy.report, &transfer.spec)?;
        Ok(transfer)
    }
}

fn rule(args: &SyncArgs) -> Rule {
    let asked = [
        (args.newer, Rule::NewerSource),
        (args.size_only, Rule::SizeOnly),
        (args.exact_timestamps, Rule::ExactTimes),
        (args.checksum, Rule::Content),
        (args.copy.no_overwrite, Rule::Never),
    ];
    asked.into_iter().filter(|(given, _)| *given).map(|(_, rule)| rule).max().unwrap_or_default()
}

fn removal_limit(text: &str) -> Result<RemovalLimit, Failure> {
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
