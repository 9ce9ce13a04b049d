//! The page of a job: how far it got, and what failed.

use jiff::Timestamp;
use s3haul_wire::units::LocalTime;

use super::{Fact, Page, Section, Unit, render};

/// Failures that are listed at most.
pub(crate) const FAILURES_MAX: u32 = 1000;

/// How a job stands.
pub(crate) struct JobPage {
    /// Its id, or its folder.
    pub(crate) name: String,
    /// What it does.
    pub(crate) task: String,
    /// In a word.
    pub(crate) state: &'static str,
    /// Objects that are done.
    pub(crate) done: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Objects of which nothing had to be done.
    pub(crate) skipped: u64,
    /// Objects that failed.
    pub(crate) failed: u64,
    /// Warnings, as of objects that were skipped; 0 where they are not counted.
    pub(crate) warnings: u64,
    /// What is left, and what it is called.
    pub(crate) left: (&'static str, u64),
    /// The command that goes on with it.
    pub(crate) resume: Option<String>,
    /// Which of the failures are listed: the first, or the last.
    pub(crate) listed: &'static str,
}

/// What failed.
pub(crate) struct JobFailure<'a> {
    pub(crate) subject: &'a str,
    pub(crate) action: &'a str,
    pub(crate) error: &'a str,
}

/// The page as a file.
pub(crate) fn page<'a>(
    job: JobPage,
    failures: impl IntoIterator<Item = JobFailure<'a>>,
) -> Vec<u8> {
    let made = LocalTime::utc().iso(Timestamp::now().as_second());
    let columns = [("Objects", Unit::Text), ("Number", Unit::Count)];
    let mut progress = Section::new("Progress", &columns).with_bars();
    for (name, number) in [("done", job.done), ("not needed", job.skipped), ("failed", job.failed)]
    {
        progress.push([name.into(), number.into()]);
    }
    if job.warnings > 0 {
        progress.push(["warnings".into(), job.warnings.into()]);
    }
    let columns = [("What", Unit::Text), ("Command", Unit::Command)];
    let mut next = Section::new("What to do", &columns);
    if let Some(command) = job.resume {
        next.push(["Continue, or retry what failed".into(), command.into()]);
    }
    let columns = [("Object", Unit::Name), ("Action", Unit::Text), ("Error", Unit::Name)];
    let mut failed = Section::new("Failures", &columns)
        .with_note(format!("At most the {} {FAILURES_MAX} are listed.", job.listed));
    for failure in failures.into_iter().take(FAILURES_MAX as usize) {
        let JobFailure { subject, action, error } = failure;
        failed.push([subject.into(), action.into(), error.into()]);
    }
    let mut sections = vec![next, progress, failed];
    sections.retain(|section| !section.is_empty());
    render(&Page {
        title: job.name,
        kind: format!("Job, {}", job.state),
        made: format!("Made by s3haul jobs show at {made}."),
        currency: String::new(),
        facts: vec![
            Fact::new("State", Unit::Text, job.state),
            Fact::new("Done", Unit::Count, job.done),
            Fact::new("Bytes", Unit::Bytes, job.bytes),
            Fact::new("Failed", Unit::Count, job.failed),
            Fact::new(job.left.0, Unit::Count, job.left.1),
            Fact::new("Task", Unit::Name, job.task),
        ],
        tree: None,
        sections,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_which_failures_it_has() {
        for listed in ["first", "last"] {
            let job = JobPage {
                name: "a".to_owned(),
                task: "rm".to_owned(),
                state: "done",
                done: 0,
                bytes: 0,
                skipped: 0,
                failed: 1,
                warnings: 3,
                left: ("In work", 0),
                resume: None,
                listed,
            };
            let page = page(job, [JobFailure { subject: "k", action: "delete", error: "no" }]);
            let text = String::from_utf8(page).unwrap();
            assert!(text.contains("warnings"), "{text}");
            assert!(text.contains(&format!("At most the {listed} 1000 are listed.")), "{text}");
        }
    }
}
