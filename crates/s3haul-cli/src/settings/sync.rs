//! `sync`: what it has beside the options of `cp`.

use s3haul::job::value::{Compare, SyncTask};
use s3haul::job::{RemovalLimit, Rule, SyncOptions, TransferCommand};

use super::frame::Frame;
use super::transfer::{Copying, copying};
use super::versions::{apply_as_of, removal_limit, rule_as_of};
use super::{ReportSettings, TransferSettings, script};
use crate::failure::Failure;

impl TransferSettings {
    /// For `sync`.
    pub(super) fn sync(frame: Frame, task: &SyncTask) -> Result<Self, Failure> {
        let sync = SyncOptions {
            rule: rule(task),
            delete: task.delete,
            max_delete: task.max_delete.as_deref().map_or(Ok(RemovalLimit::None), removal_limit)?,
            allow_empty_source: task.allow_empty_source,
        };
        let reports = frame.reports.clone();
        let mut transfer = copying(frame, TransferCommand::Sync, &Copying::from(task))?;
        transfer.spec.sync = sync;
        apply_as_of(&mut transfer.spec, task.as_of)?;
        transfer.spec.sync.rule = rule_as_of(&transfer.spec, transfer.spec.sync.rule);
        transfer.spec.filter = script::filter(task.select.script.as_deref())?;
        transfer.spec.to_key = script::to_key(task.to_key.as_deref())?;
        // A sync has no patterns in its paths.
        transfer.spec.raw = true;
        transfer.report = ReportSettings::new(&reports, &transfer.spec)?;
        Ok(transfer)
    }
}

fn rule(task: &SyncTask) -> Rule {
    let rule = match task.compare {
        Compare::SizeAndTime => Rule::SizeAndTime,
        Compare::Newer => Rule::NewerSource,
        Compare::SizeOnly => Rule::SizeOnly,
        Compare::ExactTimestamps => Rule::ExactTimes,
        Compare::Checksum => Rule::Content,
    };
    if task.transfer.no_overwrite { Rule::Never } else { rule }
}
