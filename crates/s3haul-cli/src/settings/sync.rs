//! `sync`: what it has beside the flags of `cp`.

use s3haul::job::{RemovalLimit, Rule, SyncOptions, TransferCommand};

use super::transfer::copying;
use super::versions::{apply_as_of, removal_limit, rule_as_of};
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
        apply_as_of(&mut transfer.spec, &args.as_of)?;
        transfer.spec.sync.rule = rule_as_of(&transfer.spec, transfer.spec.sync.rule);
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
