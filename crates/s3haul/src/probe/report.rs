//! What probes found, and what that means. Pure.

use std::fmt::Write as _;

use super::judged::Outcome;
use super::question::{Group, Probe, Weight};

/// A probe with its outcome.
pub struct Finding {
    /// The probe.
    pub probe: &'static Probe,
    /// What came out.
    pub outcome: Outcome,
}

/// All findings about a service.
pub struct Report {
    /// What the service calls itself in its `Server` header; empty where it does not.
    pub server: String,
    /// In the order of the catalogue.
    pub findings: Vec<Finding>,
}

impl Report {
    /// How many probes hold.
    pub fn holding(&self) -> usize {
        self.findings.iter().filter(|finding| finding.outcome == Outcome::Holds).count()
    }

    /// How many had no answer.
    pub fn unknown(&self) -> usize {
        let is_unknown = |finding: &&Finding| matches!(finding.outcome, Outcome::Unknown(_));
        self.findings.iter().filter(is_unknown).count()
    }

    /// How many were not asked.
    pub fn skipped(&self) -> usize {
        self.findings.iter().filter(|finding| finding.outcome.is_skipped()).count()
    }

    /// What does not hold, the worst first.
    pub fn failing(&self) -> Vec<&Finding> {
        let fails = |finding: &&Finding| matches!(finding.outcome, Outcome::Fails(_));
        let mut found: Vec<_> = self.findings.iter().filter(fails).collect();
        found.sort_by_key(|finding| finding.probe.weight);
        found
    }

    /// Whether nothing that s3haul relies on is missing or had no answer.
    pub fn is_sound(&self) -> bool {
        let is_sound = |finding: &Finding| {
            matches!(finding.outcome, Outcome::Holds | Outcome::Skipped(_))
                || finding.probe.weight == Weight::Nothing
        };
        self.findings.iter().all(is_sound)
    }

    /// Lines for the profile of the service in `~/.aws/config`; none where the defaults work.
    pub fn profile(&self) -> Vec<&'static str> {
        let outcome = |name| {
            let is_it = |finding: &&Finding| finding.probe.name == name;
            self.findings.iter().find(is_it).map(|finding| &finding.outcome)
        };
        // Where nothing is written at all, it is not the checksum.
        let is_written = outcome("object") == Some(&Outcome::Holds);
        if is_written && matches!(outcome("upload-checksum"), Some(Outcome::Fails(_))) {
            return vec!["request_checksum_calculation = when_required"];
        }
        Vec::new()
    }

    /// A row of the matrix of services: for each group how much holds of what was asked, then the
    /// names of the probes that do not.
    pub fn matrix_row(&self, service: &str) -> String {
        let mut row = format!("| {service} |");
        for group in Group::ALL {
            let of_group = self.findings.iter().filter(|finding| finding.probe.group == group);
            let (mut all, mut holding) = (0, 0);
            for finding in of_group.filter(|finding| !finding.outcome.is_skipped()) {
                all += 1;
                holding += usize::from(finding.outcome == Outcome::Holds);
            }
            if all == holding {
                row.push_str(" all |");
            } else {
                _ = write!(row, " {holding} of {all} |");
            }
        }
        let names: Vec<_> =
            self.failing().iter().map(|finding| format!("`{}`", finding.probe.name)).collect();
        _ = write!(row, " {} |", if names.is_empty() { "–".into() } else { names.join(", ") });
        row
    }

    /// The first two lines of the matrix of services.
    pub fn matrix_head() -> String {
        let mut head = "| service |".to_owned();
        let mut rule = "|---|".to_owned();
        for group in Group::ALL {
            _ = write!(head, " {} |", group.name());
            rule.push_str("---|");
        }
        format!("{head} does not hold |\n{rule}---|")
    }
}
