//! The table of budgets, and what a count means beside it.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// How far a count may be from its budget. Repeated counts differ by much less; changes of
/// dependencies may not.
pub(super) const TOLERANCE_PERCENT: u64 = 10;

/// All budgets.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Table {
    pub(super) budgets: Vec<Budget>,
}

/// Instructions of one path.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Budget {
    pub(super) path: String,
    pub(super) about: String,
    pub(super) instructions: u64,
}

/// What a count means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Within,
    FarBelow,
    Over,
}

impl Table {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("could not read `{}`", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("`{}`", path.display()))
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(path, text).with_context(|| format!("could not write `{}`", path.display()))
    }

    pub(super) fn of(&self, path: &str) -> Result<u64> {
        let budget = self.budgets.iter().find(|budget| budget.path == path);
        let budget = budget
            .with_context(|| format!("no budget for `{path}`: cargo xtask budgets --bless"))?;
        Ok(budget.instructions)
    }
}

pub(super) fn verdict(now: u64, budget: u64) -> Verdict {
    let margin = budget * TOLERANCE_PERCENT / 100;
    if now > budget + margin {
        Verdict::Over
    } else if now + margin < budget {
        Verdict::FarBelow
    } else {
        Verdict::Within
    }
}

pub(super) fn percent(now: u64, budget: u64) -> f64 {
    let float = |count: u64| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    (float(now) / float(budget).max(1.0) - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_far_from_its_budget_is_told_of() {
        for (now, meant) in [
            (900, Verdict::Within),
            (1_100, Verdict::Within),
            (899, Verdict::FarBelow),
            (1_101, Verdict::Over),
        ] {
            assert_eq!(verdict(now, 1_000), meant, "{now}");
        }
    }
}
