//! `restore`: flags into a [`RestoreTask`].

use s3haul::job::{RestoreTask, TransferCommand};
use s3haul_wire::ops::RestoreTier;

use super::transfer::require_object;
use super::{Settings, TransferSettings};
use crate::args::RestoreArgs;
use crate::failure::Failure;

impl TransferSettings {
    /// For `restore`.
    pub(crate) fn restore(settings: Settings, args: &RestoreArgs) -> Result<Self, Failure> {
        let objects = &args.selection;
        let mut transfer = Self::in_place(settings, TransferCommand::Restore, "restore", objects)?;
        require_object(objects)?;
        let tier = args.tier.as_deref().map(|tier| match tier {
            "bulk" => RestoreTier::Bulk,
            "expedited" => RestoreTier::Expedited,
            _ => RestoreTier::Standard,
        });
        transfer.spec.restore = match args.days {
            Some(days) => RestoreTask::Begin { days, tier, waits: args.wait },
            None => RestoreTask::Tell,
        };
        transfer.output.archive_states = args.status;
        Ok(transfer)
    }
}
