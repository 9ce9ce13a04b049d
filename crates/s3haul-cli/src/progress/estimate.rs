//! How long a job still takes, from how it went so far. Pure.
//!
//! An object costs time, and so does each of its bytes; how much of each is fitted to the steps of
//! the run but for its start. The sum is then scaled so that what was done in them would have taken
//! as long as it did. Rates of the last seconds make worse estimates: services and networks change
//! their minds, and large objects end together. While more is planned than is known, what is known
//! of is the least.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use super::Snapshot;
use crate::render::numbers::clock;

/// Points that are kept of a run; when there are as many, every other one goes.
const POINTS_MAX: usize = 128;
/// Time between points at first.
const STEP_MIN: Duration = Duration::from_millis(200);
/// Share of a run that counts as its start: requests in flight grow at first.
const START_SHARE: f64 = 0.05;
/// Time before the first estimate.
const ELAPSED_MIN: Duration = Duration::from_secs(1);
/// Bytes that take as long as the fixed cost of an object, before anything is measured.
const OBJECT_BYTES: f64 = 65_536.0;
/// Weight of that against what was measured: just enough to decide where objects are alike.
const PRIOR: f64 = 0.003;

/// An object costs at most as much as this many times those bytes.
const RATIO_MAX: f64 = 1000.0;

/// Time that a job still takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeLeft {
    /// Nothing is known.
    Unknown,
    /// For all that is left.
    About(Duration),
    /// For what is known of: the listing is not complete.
    AtLeast(Duration),
}

impl fmt::Display for TimeLeft {
    /// `1:02:03` or `02:03`; with a plus where it is the least.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, more) = match self {
            Self::Unknown => return f.write_str("--:--"),
            Self::About(time) => (time, ""),
            Self::AtLeast(time) => (time, "+"),
        };
        write!(f, "{}{more}", clock(time.as_secs()))
    }
}

/// What was done at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    at: f64,
    bytes: f64,
    objects: f64,
}

impl Point {
    fn since(&self, earlier: &Self) -> Self {
        Self {
            at: self.at - earlier.at,
            bytes: self.bytes - earlier.bytes,
            objects: self.objects - earlier.objects,
        }
    }
}

/// Estimates the time left.
#[derive(Debug)]
pub(crate) struct Estimator {
    points: VecDeque<Point>,
    step: f64,
}

impl Default for Estimator {
    fn default() -> Self {
        Self { points: VecDeque::new(), step: STEP_MIN.as_secs_f64() }
    }
}

impl Estimator {
    /// Takes in how far the job is and gives the time left.
    pub(crate) fn step(&mut self, elapsed: Duration, now: &Snapshot) -> TimeLeft {
        let point = Point {
            at: elapsed.as_secs_f64(),
            bytes: float(now.settled_bytes),
            objects: float(now.ended_objects),
        };
        self.keep(point);
        let left = Point {
            at: 0.0,
            bytes: float(now.planned_bytes.saturating_sub(now.settled_bytes)),
            objects: float(now.objects_left()),
        };
        if elapsed < ELAPSED_MIN {
            return TimeLeft::Unknown;
        }
        let seconds = self.seconds(&point, &left);
        let Some(time) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        else {
            return TimeLeft::Unknown;
        };
        if now.is_final { TimeLeft::About(time) } else { TimeLeft::AtLeast(time) }
    }

    fn keep(&mut self, point: Point) {
        if self.points.back().is_some_and(|last| point.at - last.at < self.step) {
            return;
        }
        self.points.push_back(point);
        if self.points.len() == POINTS_MAX {
            let mut is_kept = false;
            self.points.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.step *= 2.0;
        }
    }

    fn seconds(&self, now: &Point, left: &Point) -> Option<f64> {
        let began = now.at * START_SHARE;
        let from = self.points.iter().rposition(|point| point.at <= began).unwrap_or(0);
        let run = now.since(self.points.get(from)?);
        let per_object = self.object_bytes(from);
        let work = |of: &Point| of.bytes + per_object * of.objects;
        (work(&run) > 0.0).then(|| work(left) * run.at / work(&run))
    }

    /// Bytes that take as long as an object does beside its own, by least squares.
    fn object_bytes(&self, from: usize) -> f64 {
        let mut sums = Sums::default();
        let recent = self.points.iter().skip(from);
        for (earlier, later) in recent.clone().zip(recent.skip(1)) {
            sums.add(&later.since(earlier));
        }
        sums.object_bytes()
    }
}

/// Sums of products over steps.
#[derive(Debug, Default)]
struct Sums {
    bytes_bytes: f64,
    bytes_objects: f64,
    objects_objects: f64,
    bytes_time: f64,
    objects_time: f64,
}

impl Sums {
    fn add(&mut self, step: &Point) {
        self.bytes_bytes += step.bytes * step.bytes;
        self.bytes_objects += step.bytes * step.objects;
        self.objects_objects += step.objects * step.objects;
        self.bytes_time += step.bytes * step.at;
        self.objects_time += step.objects * step.at;
    }

    /// The ratio of the times that an object and a byte take.
    fn object_bytes(&self) -> f64 {
        // In units of the prior an object is worth 1 and so are so many bytes.
        let (bb, bo) = (self.bytes_bytes / OBJECT_BYTES.powi(2), self.bytes_objects / OBJECT_BYTES);
        let (oo, bt, ot) =
            (self.objects_objects, self.bytes_time / OBJECT_BYTES, self.objects_time);
        // As one number times (1, 1), which the prior pulls to.
        let alike = bb + 2.0 * bo + oo;
        if alike <= 0.0 {
            return OBJECT_BYTES;
        }
        let (both, pull) = ((bt + ot) / alike, PRIOR * (bb + oo));
        let (bb, oo) = (bb + pull, oo + pull);
        let (bt, ot) = (bt + pull * both, ot + pull * both);
        let determinant = bb * oo - bo * bo;
        let (byte, object) = (bt * oo - ot * bo, ot * bb - bt * bo);
        if determinant <= 0.0 {
            return OBJECT_BYTES;
        }
        let ratio = match (byte > 0.0, object > 0.0) {
            (true, true) => object / byte,
            (true, false) => 0.0,
            (false, _) => RATIO_MAX,
        };
        ratio.min(RATIO_MAX) * OBJECT_BYTES
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
