//! Output of a comparison: a line for each name, and sums.

use std::ops::ControlFlow;

use crate::plan::compare::Facts;
use crate::plan::content::Evidence;
use s3haul_wire::error::Error;

/// What was found under one name.
#[derive(Debug)]
pub struct Compared {
    /// Name below the roots.
    pub name: String,
    /// What the source has.
    pub source: Option<Facts>,
    /// What the target has.
    pub target: Option<Facts>,
    /// How they compare.
    pub status: Status,
}

/// How two things of one name compare.
#[derive(Debug)]
pub enum Status {
    /// Only the source has it.
    OnlySource,
    /// Only the target has it.
    OnlyTarget,
    /// They differ.
    Different(Difference),
    /// They are the same, as far as was asked for.
    Same(Evidence),
    /// It could not be found out.
    Failed(Error),
}

/// In what two things differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The bytes, as this shows.
    Bytes(Evidence),
    /// The times.
    Time,
}

impl Difference {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes(evidence) => evidence.name(),
            Self::Time => "time",
        }
    }
}

impl Status {
    /// The word for it in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OnlySource => "only-source",
            Self::OnlyTarget => "only-target",
            Self::Different(_) => "different",
            Self::Same(_) => "same",
            Self::Failed(_) => "failed",
        }
    }

    /// What it rests on; nothing where there was nothing to compare.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Different(difference) => difference.name(),
            Self::Same(evidence) => evidence.name(),
            Self::OnlySource | Self::OnlyTarget | Self::Failed(_) => "",
        }
    }
}

/// Receives the results of a comparison.
pub trait CompareSink: Send + Sync {
    /// Receives the result for one name, in the order of names. Returns `Break` to end the
    /// comparison.
    fn compared(&self, compared: &Compared) -> ControlFlow<()>;
    /// Takes something to know that is no failure.
    fn warning(&self, message: &str);
}

/// A number of names and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Files or objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, facts: Option<Facts>) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(facts.map_or(0, |facts| facts.size));
    }
}

/// How a comparison ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompareSummary {
    /// Only in the source.
    pub only_source: Tally,
    /// Only in the target.
    pub only_target: Tally,
    /// Different; the bytes are those of the source.
    pub different: Tally,
    /// Different; the bytes are those of the target.
    pub different_in_target: Tally,
    /// The same, by what shows it, in the order of [`Evidence::ALL`].
    pub same: [Tally; 4],
    /// Could not be compared.
    pub failed: Tally,
    /// Warnings.
    pub warnings: u64,
    /// The comparison was cancelled, or the sink ended it.
    pub cancelled: bool,
}

impl CompareSummary {
    /// Whether there was nothing to compare, on neither side.
    pub fn is_empty(&self) -> bool {
        let tallies = [self.only_source, self.only_target, self.different, self.failed];
        tallies.iter().chain(&self.same).all(|tally| tally.objects == 0)
    }

    /// Whether nothing was found on one side alone, and nothing that differs.
    pub fn is_same(&self) -> bool {
        [self.only_source, self.only_target, self.different].iter().all(|tally| tally.objects == 0)
    }

    /// All that is the same.
    pub fn same_total(&self) -> Tally {
        self.same.iter().fold(Tally::default(), |sum, tally| Tally {
            objects: sum.objects + tally.objects,
            bytes: sum.bytes.saturating_add(tally.bytes),
        })
    }

    pub(crate) fn count(&mut self, compared: &Compared) {
        let Compared { source, target, status, .. } = compared;
        match status {
            Status::OnlySource => self.only_source.add(*source),
            Status::OnlyTarget => self.only_target.add(*target),
            Status::Different(_) => {
                self.different.add(*source);
                self.different_in_target.add(*target);
            }
            Status::Same(evidence) => self.same[*evidence as usize].add(*source),
            Status::Failed(_) => self.failed.add(*source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_by_evidence() {
        let facts = |size| Some(Facts { size, modified_us: 0 });
        let mut summary = CompareSummary::default();
        assert!(summary.is_same() && summary.is_empty());
        let mut count = |status, source, target| {
            summary.count(&Compared { name: String::new(), source, target, status });
        };
        for evidence in Evidence::ALL {
            count(Status::Same(evidence), facts(evidence as u64 + 1), facts(1));
        }
        count(Status::OnlyTarget, None, facts(7));
        count(Status::Different(Difference::Time), facts(5), facts(6));
        assert_eq!(summary.same.map(|tally| tally.bytes), [1, 2, 3, 4]);
        assert_eq!(summary.same_total(), Tally { objects: 4, bytes: 10 });
        assert_eq!(summary.only_target, Tally { objects: 1, bytes: 7 });
        assert_eq!(summary.different.bytes + summary.different_in_target.bytes, 11);
        assert!(!summary.is_same() && !summary.is_empty());
    }
}
