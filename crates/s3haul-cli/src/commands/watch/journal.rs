//! A job of this machine, as its journal has it.

use std::path::PathBuf;
use std::time::Duration;

use s3haul::journal::{self, JobStatus, LearntRate, Live};
use s3haul_wire::controller::Class;

use super::Watched;
use crate::commands::jobs::{FAILURES_MAX, in_work, looked, state};
use crate::failure::Failure;
use crate::render::failures::{Failures, NAMED_MAX};
use crate::settings::resume_command;
use crate::terminal::number_of;
use crate::watch::{Reading, Slowest, Whole};

/// Time between two looks: journals are written once a second.
const PAUSE: Duration = Duration::from_millis(500);
/// Key ranges that are shown.
const RANGES_MAX: usize = 10;

/// A job with a journal.
pub(in crate::commands) struct JournalJob {
    pub(in crate::commands) folder: PathBuf,
    pub(in crate::commands) id: String,
    /// The folder, where the command named it.
    pub(in crate::commands) named_folder: Option<PathBuf>,
}

impl Watched for JournalJob {
    fn name(&self) -> String {
        self.id.clone()
    }

    fn pause(&self) -> Duration {
        PAUSE
    }

    async fn look(&mut self) -> Result<Reading, Failure> {
        let (folder, id, named) = (self.folder.clone(), self.id.clone(), self.named_folder.clone());
        let look = move || {
            let job = journal::status(&folder, &id)?;
            let failures = journal::failures(&folder, &id, FAILURES_MAX)?;
            let rates = journal::rates(&folder, &id)?;
            let resume = job.is_resumable().then(|| resume_command(&id, named.as_deref()));
            Ok(Reading { resume, ..reading(job, &failures, &rates) })
        };
        tokio::task::spawn_blocking(look)
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

fn reading(job: JobStatus, failures: &[journal::Failed], rates: &[LearntRate]) -> Reading {
    let texts = failures.iter().map(|failed| (&*failed.subject, &*failed.error));
    let named = failures.iter().take(NAMED_MAX);
    let live = job.live;
    let looked_at = match &*job.looked {
        "" => "no names yet".to_owned(),
        position => looked(&job.command, position),
    };
    let facts = vec![
        ("not needed", number_of(job.totals.skipped, "object")),
        (
            "in work",
            format!("{}, {} of them in parts", number_of(in_work(&job), "object"), job.in_parts),
        ),
        ("looked at", looked_at),
        ("started in", job.directory.display().to_string()),
    ];
    Reading {
        state: state(&job),
        is_over: job.process.is_none(),
        stamp: job.updated_ms,
        objects: job.totals.objects,
        // What was moved of large objects counts before they end.
        bytes: live.map_or(job.totals.bytes, |live| live.moved_bytes.max(job.totals.bytes)),
        failed: job.totals.failed,
        requests: live.map(|live| (live.requests, live.refused)),
        whole: live.map(whole),
        facts,
        workers: Vec::new(),
        slowest: slowest(rates),
        failures: Failures::of_texts(texts),
        failed_named: named.map(|failed| (failed.subject.clone(), failed.error.clone())).collect(),
        failed_title: "last failures",
        resume: None,
        task: job.command,
    }
}

fn whole(live: Live) -> Whole {
    let Live { planned_objects, planned_bytes, ended_objects, is_planned, .. } = live;
    // That of an older s3haul has no settled bytes.
    let settled_bytes = live.settled_bytes.max(live.moved_bytes);
    Whole {
        noun: "object",
        done: ended_objects,
        all: planned_objects,
        bytes: (planned_bytes > 0).then_some((settled_bytes, planned_bytes)),
        is_final: is_planned,
        seconds_left: None,
    }
}

/// Ranges of keys by the requests that the service was found to take: the smallest figure that a
/// journal has about places. How long each took is not kept.
fn slowest(rates: &[LearntRate]) -> Slowest {
    let mut limited: Vec<_> = rates
        .iter()
        .filter_map(|rate| Some((rate.range.per_second?, rate.class, &rate.range.start)))
        .collect();
    limited.sort_by(|one, other| one.0.total_cmp(&other.0));
    let row = |(per_second, class, start): (f64, Class, &Vec<u8>)| {
        let noun = if class == Class::Read { "reads" } else { "writes" };
        let place = format!("from s3://{}", String::from_utf8_lossy(start));
        (place, format!("{per_second:.0} {noun}/s"))
    };
    Slowest {
        title: "slowest key ranges, by what the service takes of each",
        rows: limited.into_iter().take(RANGES_MAX).map(row).collect(),
        none: "the service has refused nothing: no range is known to be slow",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use s3haul_wire::controller::LearntRange;

    #[test]
    fn what_was_given_up_moves_the_bar() {
        let live = Live { planned_bytes: 9, moved_bytes: 2, settled_bytes: 5, ..Live::default() };
        assert_eq!(whole(live).bytes, Some((5, 9)));
        let older = Live { settled_bytes: 0, ..live };
        assert_eq!(whole(older).bytes, Some((2, 9)));
    }

    #[test]
    fn the_slowest_ranges_are_those_that_take_least() {
        let rate = |class, start: &str, per_second| LearntRate {
            class,
            range: LearntRange { start: start.into(), per_second },
        };
        let rates = [
            rate(Class::Read, "b/a", None),
            rate(Class::Read, "b/m", Some(512.4)),
            rate(Class::Write, "b/\u{1b}z", Some(35.0)),
        ];
        let rows = slowest(&rates).rows;
        let shown = rows.iter().map(|(place, figure)| (place.as_str(), figure.as_str()));
        let expected = [("from s3://b/\u{1b}z", "35 writes/s"), ("from s3://b/m", "512 reads/s")];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(slowest(&rates[..1]).rows, []);
    }
}
