//! `restore`: flags into a job, and that into a [`RestoreTask`].

use std::num::NonZeroU32;

use s3haul::job::value::{self, RestoreAction, RestoreSpeed, Task};
use s3haul::job::{RestoreTask, TransferCommand};
use s3haul_wire::ops::RestoreTier;

use super::frame::Frame;
use super::job::objects;
use super::transfer::require_object;
use super::{JobRequest, Settings, TransferSettings};
use crate::args::RestoreArgs;
use crate::failure::Failure;

impl JobRequest {
    /// For `restore`.
    pub(crate) fn restore(settings: &Settings, args: &RestoreArgs) -> Result<Self, Failure> {
        let tier = args.tier.as_deref().map(|tier| match tier {
            "bulk" => RestoreSpeed::Bulk,
            "expedited" => RestoreSpeed::Expedited,
            _ => RestoreSpeed::Standard,
        });
        let action = match args.days.and_then(NonZeroU32::new) {
            Some(days) => RestoreAction::Begin { days, tier, wait: args.wait },
            None => RestoreAction::Status,
        };
        let task = value::RestoreTask { action, ..objects(&args.selection)?.into() };
        Ok(Self::in_place(settings, &args.selection, Task::Restore(Box::new(task))))
    }
}

impl TransferSettings {
    /// For `restore`.
    pub(super) fn restore(frame: Frame, task: &value::RestoreTask) -> Result<Self, Failure> {
        let objects = task.objects();
        let mut transfer = Self::in_place(frame, TransferCommand::Restore, "restore", &objects)?;
        require_object(&objects)?;
        transfer.spec.restore = match task.action {
            RestoreAction::Status => RestoreTask::Tell,
            RestoreAction::Begin { days, wait, .. } => RestoreTask::Begin {
                days: days.get(),
                tier: restore_tier(task.action),
                waits: wait,
            },
        };
        transfer.output.archive_states = task.action == RestoreAction::Status;
        Ok(transfer)
    }
}

/// The tier that a job asks for.
pub(crate) fn restore_tier(action: RestoreAction) -> Option<RestoreTier> {
    let RestoreAction::Begin { tier, .. } = action else { return None };
    tier.map(|speed| match speed {
        RestoreSpeed::Bulk => RestoreTier::Bulk,
        RestoreSpeed::Standard => RestoreTier::Standard,
        RestoreSpeed::Expedited => RestoreTier::Expedited,
    })
}
