//! What else could do a plan: more machines, or a service of Amazon's.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use s3haul::event::ActionKind;
use s3haul::job::value::{Job, TagAction, Task};
use s3haul::location::{Location, ObjectName};

use super::{Count, push_line};
use crate::exit;
use crate::failure::Failure;
use crate::plan::{PlanFile, PlanRow};
use crate::printer::Printer;

/// What a machine with 10 Gbit/s moves in a day, about.
const MACHINE_DAY_BYTES: u64 = 100 * TB;
const TB: u64 = 1_000_000_000_000;
/// With fewer objects, a service is not worth setting up.
const MANY_OBJECTS: u64 = 1_000_000;
/// Largest object that S3 Batch Operations copy:
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/batch-ops-copy-object.html>.
const BATCH_COPY_BYTES_MAX: u64 = 5_000_000_000;
/// Why a copy is left out that another job of S3 Batch Operations could do.
const OTHER_PLACE: &str = "a job of S3 Batch Operations puts all its copies behind one prefix of \
                           one bucket, and the first copy has another one";

/// All but what a manifest has as it is.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// What to consider before a plan is done. Nothing for those that one machine does in a day.
pub(super) fn advice(
    actions: &BTreeMap<&'static str, Count>,
    largest: u64,
    is_for_batch: bool,
) -> Vec<String> {
    let sum = |names: &[&str]| {
        let counts = names.iter().filter_map(|name| actions.get(name));
        counts.fold(Count::default(), |sum, count| Count {
            objects: sum.objects + count.objects,
            bytes: sum.bytes + count.bytes,
        })
    };
    let mut advice = Vec::new();
    let through = sum(&["upload", "download"]);
    if through.bytes > MACHINE_DAY_BYTES {
        let (terabytes, days) = (through.bytes / TB, through.bytes.div_ceil(MACHINE_DAY_BYTES));
        advice.push(format!(
            "{terabytes} TB come or go through the network of this machine, {days} days at 10 \
             Gbit/s: `s3haul job start` has several machines do the command; AWS DataSync is a \
             service that does it for a price by the byte"
        ));
    }
    let within = sum(&["copy", "tag", "restore"]);
    let others: u64 = actions.values().map(|count| count.objects).sum::<u64>() - within.objects;
    if within.objects >= MANY_OBJECTS {
        advice.push(
            "the requests are small, and the service limits them: more machines would not make it \
             faster, unless source and target are of different services"
                .to_owned(),
        );
        let is_possible = is_for_batch && others == 0 && largest <= BATCH_COPY_BYTES_MAX;
        if is_possible && actions.len() == 1 {
            advice.push(
                "S3 Batch Operations do this without a machine of yours, for 0.25 $ and 1 $ for \
                 each million objects beside the requests: `s3haul plan show --format s3-batch` \
                 writes the manifest"
                    .to_owned(),
            );
        }
    }
    advice
}

/// Prints the manifest of a plan for S3 Batch Operations: CSV without a header, of bucket, key and,
/// where they are named, versions, encoded as in URLs. Rows that cannot be done there are left out
/// with a warning. Blocks.
/// <https://docs.aws.amazon.com/AmazonS3/latest/userguide/batch-ops-create-job.html>
pub(super) fn print_manifest(plan: &PlanFile, printer: &Printer) -> Result<u8, Failure> {
    if let Some(why) = refused_job(plan) {
        return Err(Failure::other(why));
    }
    let mut left_out: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut first: Option<(ActionKind, bool)> = None;
    let mut place = None;
    for row in plan.rows().map_err(Failure::of_arguments)? {
        let row = row.map_err(Failure::of_arguments)?;
        let found = target_place(&row);
        let is_elsewhere = found.is_some() && place.as_ref().is_some_and(|place| found != *place);
        let other = is_elsewhere.then_some(OTHER_PLACE);
        if let Some(reason) = refusal(&row, found.is_some()).or(other) {
            *left_out.entry(reason).or_default() += 1;
            continue;
        }
        let Location::Object(ObjectName { bucket, key, version_id }) = &row.source else {
            continue;
        };
        place.get_or_insert(found);
        let (action, has_version) = *first.get_or_insert((row.action, version_id.is_some()));
        if action != row.action {
            return Err(Failure::other(
                "a manifest is for one operation, and the plan has several: take the rows of the \
                 others out first",
            ));
        }
        if has_version != version_id.is_some() {
            return Err(Failure::other(
                "a manifest has versions of all its objects or of none, and the plan of some",
            ));
        }
        let key = utf8_percent_encode(key, ENCODED);
        let version = version_id.as_ref().map(|id| format!(",{id}")).unwrap_or_default();
        let line = format!("{bucket},{key}{version}\n");
        printer.output(|buffer| buffer.extend_from_slice(line.as_bytes()));
    }
    for (reason, count) in &left_out {
        let text = format!("warning: {count} left out: {reason}");
        printer.error(|buffer| push_line(buffer, &text));
    }
    Ok(match first {
        None => exit::FAILED,
        Some(_) if left_out.is_empty() => exit::SUCCESS,
        Some(_) => exit::WARNED,
    })
}

/// Why S3 Batch Operations would not do what the job of a plan does, if so.
pub(super) fn refused_job(plan: &PlanFile) -> Option<&'static str> {
    let job = plan.job().and_then(|job| Job::from_json(job.as_bytes()).ok())?;
    match job.task {
        Task::Move(_) => Some("the plan is of `mv`, and S3 Batch Operations remove no source"),
        Task::Tag(task) if !matches!(task.action, TagAction::Set(_) | TagAction::Clear) => {
            Some("S3 Batch Operations replace all tags: they neither add to them nor remove some")
        }
        _ => None,
    }
}

/// Why S3 Batch Operations cannot do an action, if so.
fn refusal(row: &PlanRow, has_place: bool) -> Option<&'static str> {
    match row.action {
        ActionKind::Copy if row.expected.source.size > BATCH_COPY_BYTES_MAX => {
            Some("S3 Batch Operations copy no objects of more than 5 GB")
        }
        ActionKind::Copy if !has_place => {
            Some("S3 Batch Operations copy to the same key behind a prefix and no other")
        }
        ActionKind::Copy | ActionKind::Tag | ActionKind::Restore => None,
        _ => Some("S3 Batch Operations copy, tag and restore, and do nothing else of this"),
    }
}

/// The bucket of a copy and the folder, or nothing, that its key is put behind; none where it gets
/// another key.
fn target_place(row: &PlanRow) -> Option<(String, String)> {
    match (&row.source, &row.target) {
        (Location::Object(source), Some(Location::Object(target))) => {
            let folder = target.key.strip_suffix(&source.key)?;
            let is_folder = folder.is_empty() || folder.ends_with('/');
            is_folder.then(|| (target.bucket.clone(), folder.to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice_of(actions: &[(&'static str, u64, u64)], largest: u64) -> String {
        let count = |&(name, objects, bytes)| (name, Count { objects, bytes });
        advice(&actions.iter().map(count).collect(), largest, true).join("\n")
    }

    #[test]
    fn advice_is_given_where_something_else_would_be_better() {
        assert_eq!(advice_of(&[("upload", 50_000_000, 90 * TB), ("delete", 9, 0)], TB), "");
        let many = advice_of(&[("download", 1000, 250 * TB)], TB);
        assert!(many.contains("250 TB") && many.contains("3 days"), "{many}");
        let copies = advice_of(&[("copy", 2_000_000, 400 * TB)], 1000);
        assert!(copies.contains("would not make it faster"), "{copies}");
        assert!(copies.contains("s3-batch"), "{copies}");
        for (others, largest) in [(("delete", 1, 0), 1000), (("tag", 1, 0), 1000)] {
            let mixed = advice_of(&[("copy", 2_000_000, TB), others], largest);
            assert!(!mixed.contains("s3-batch"), "{mixed}");
        }
        let large = advice_of(&[("copy", 2_000_000, 400 * TB)], 6_000_000_000);
        assert!(!large.contains("s3-batch"), "{large}");
    }
}
