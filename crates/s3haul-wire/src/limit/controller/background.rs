//! Refusals that come whatever the rate.
//!
//! A limit refuses what is beyond it, so that a lower rate has a smaller share refused. Where a
//! quarter of the rate has the same share refused, there is another cause: a service in trouble, or
//! other clients that take more than it has. A lower rate does not help then. That share becomes
//! the background, and only refusals beyond it say something about the rate.

use super::flow::Sums;

/// Of the share at a rate, what must be refused at a quarter of it where the rate does not matter.
/// Of a limit that much is left only where the rate was nine times as high.
const SAME: f64 = 0.5;
/// The background is a share of one moment: others differ by so much from it.
const VARIES: f64 = 0.2;
/// And by so many standard deviations.
const ABOVE_CHANCE: f64 = 4.0;
const BELOW_CHANCE: f64 = 3.0;
/// More than this is no background but an outage: what is sent is in vain, and little is enough.
const SHARE_MAX: f64 = 0.9;
/// An outage is over when less is refused of so many requests.
const OVER_BELOW: f64 = 0.85;
const OVER_SENT: f64 = 8.0;
/// A share that is not worth knowing.
const SHARE_MIN: f64 = 0.005;
/// Refusals that a comparison should have, and those without which it says nothing.
const REFUSALS: f64 = 16.0;
const REFUSALS_MIN: f64 = 2.0;

/// The share that is refused whatever the rate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Background {
    share: f64,
}

/// What refuses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// A limit, so that the rate matters.
    Limit,
    /// Something else.
    Background(Background),
    /// Something else, and nearly all.
    Outage,
}

impl Background {
    /// Whether there is one.
    pub(super) fn is_there(self) -> bool {
        self.share > 0.0
    }

    /// Refusals that it does not explain.
    pub(super) fn excess(self, sums: Sums) -> f64 {
        let usual = sums.sent * self.share;
        sums.refused - usual * (1.0 + VARIES) - ABOVE_CHANCE * self.deviation(sums.sent)
    }

    /// What would be admitted of a stretch without it, and no refusal counted that is its.
    pub(super) fn without(self, sums: Sums) -> Sums {
        let admitted = (sums.sent - sums.refused).max(0.0) / (1.0 - self.share);
        Sums { refused: (sums.sent - admitted).max(0.0), ..sums }
    }

    /// Lowers the share to that of a stretch with clearly fewer refusals; `true` if it did.
    pub(super) fn decrease(&mut self, sums: Sums) -> bool {
        let usual = sums.sent * self.share;
        let is_less = self.is_there()
            && sums.refused < usual * (1.0 - VARIES) - BELOW_CHANCE * self.deviation(sums.sent);
        if is_less {
            *self = Self::of(sums);
        }
        is_less
    }

    /// What two stretches say, the second of them at a quarter of the rate of the first.
    pub(super) fn compared(high: Sums, low: Sums) -> Verdict {
        let expected = low.sent * high.refused_share();
        let both = high.and(low);
        if low.refused < (expected * SAME).max(REFUSALS_MIN) {
            Verdict::Limit
        } else if low.refused_share().min(both.refused_share()) > SHARE_MAX {
            Verdict::Outage
        } else {
            // What came before may not have been of it.
            let is_more = low.refused_share() > both.refused_share() * (1.0 + VARIES);
            Verdict::Background(Self::of(if is_more { low } else { both }))
        }
    }

    /// Whether an outage is over.
    pub(super) fn is_over(lately: Sums) -> bool {
        lately.sent >= OVER_SENT && lately.refused_share() < OVER_BELOW
    }

    /// Part of what a comparison should have that is there.
    pub(super) fn known(high: Sums, low: Sums) -> f64 {
        low.sent * high.refused_share() / REFUSALS
    }

    fn of(sums: Sums) -> Self {
        let share = sums.refused_share().min(SHARE_MAX);
        Self { share: if share < SHARE_MIN { 0.0 } else { share } }
    }

    fn deviation(self, sent: f64) -> f64 {
        (sent * self.share * (1.0 - self.share)).sqrt()
    }
}
