//! The estimator on made-up runs.

use super::*;

/// Steps through a run of `seconds` whose objects and bytes done are functions of the time.
fn left_at(seconds: u32, until: u32, done: impl Fn(f64) -> (u64, u64)) -> TimeLeft {
    let (planned_objects, planned_bytes) = done(f64::from(seconds));
    let mut estimator = Estimator::default();
    let mut left = TimeLeft::Unknown;
    for tick in 0..=until * 10 {
        let at = f64::from(tick) / 10.0;
        let (ended_objects, settled_bytes) = done(at);
        let is_final = true;
        let now = Snapshot {
            planned_objects,
            planned_bytes,
            ended_objects,
            settled_bytes,
            is_final,
            ..Snapshot::default()
        };
        left = estimator.step(Duration::from_secs_f64(at), &now);
    }
    left
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
fn whole(value: f64) -> u64 {
    value as u64
}

fn seconds(left: TimeLeft) -> f64 {
    let TimeLeft::About(time) = left else { panic!("{left:?}") };
    time.as_secs_f64()
}

#[test]
fn an_even_run_ends_when_it_seems_to() {
    let left = left_at(100, 20, |at| (whole(10.0 * at), whole(1e6 * at)));
    assert!((seconds(left) - 80.0).abs() < 2.0, "{left:?}");
    let removals = left_at(100, 20, |at| (whole(10.0 * at), 0));
    assert!((seconds(removals) - 80.0).abs() < 2.0, "{removals:?}");
}

#[test]
fn a_slow_start_is_left_behind() {
    let left = left_at(100, 20, |at| (0, whole(1e6 * at.min(4.0) * at.min(4.0) / 16.0 + 1e6 * at)));
    assert!((seconds(left) - 80.0).abs() < 8.0, "{left:?}");
}

#[test]
fn long_runs_keep_few_points() {
    let mut estimator = Estimator::default();
    for tick in 0..100_000_u32 {
        let now = Snapshot { ended_objects: u64::from(tick), ..Snapshot::default() };
        estimator.step(Duration::from_millis(100) * tick, &now);
        assert!(estimator.points.len() < POINTS_MAX);
    }
}

#[test]
fn nothing_is_promised_without_a_reason() {
    let now = Snapshot { planned_objects: 9, ..Snapshot::default() };
    let mut estimator = Estimator::default();
    assert_eq!(estimator.step(Duration::ZERO, &now), TimeLeft::Unknown);
    assert_eq!(estimator.step(Duration::from_secs(9), &now), TimeLeft::Unknown);
    let some = Snapshot { ended_objects: 3, ..now };
    let left = estimator.step(Duration::from_secs(18), &some);
    assert!(matches!(left, TimeLeft::AtLeast(_)), "{left:?}");
    assert_eq!(TimeLeft::AtLeast(Duration::from_secs(3723)).to_string(), "1:02:03+");
    assert_eq!(TimeLeft::About(Duration::from_secs(62)).to_string(), "01:02");
    assert_eq!(TimeLeft::Unknown.to_string(), "--:--");
}

/// A run that was recorded: milliseconds, planned objects and bytes, objects ended, bytes moved.
fn recorded(text: &str) -> Vec<(u64, Snapshot)> {
    let rows = text.lines().map(|line| {
        let mut numbers = line.split(',').map(|number| number.parse().unwrap());
        let [at, planned_objects, planned_bytes, ended_objects, settled_bytes] =
            std::array::from_fn(|_| numbers.next().unwrap());
        let now = Snapshot {
            planned_objects,
            planned_bytes,
            ended_objects,
            settled_bytes,
            ..Snapshot::default()
        };
        (at, now)
    });
    let mut rows: Vec<_> = rows.collect();
    let planned = rows.last().unwrap().1.planned_objects;
    for (_, row) in &mut rows {
        row.is_final = row.planned_objects == planned;
    }
    rows
}

/// How far the estimate is from the time that was left after a fifth of a run, as a part of it.
/// While the listing goes on it is the least: then it is wrong only where it is more.
fn error_after_a_fifth(text: &str) -> f64 {
    let rows = recorded(text);
    let end = Duration::from_millis(rows.last().unwrap().0);
    let mut estimator = Estimator::default();
    for (at, row) in &rows {
        let at = Duration::from_millis(*at);
        let left = estimator.step(at, row);
        if at >= end / 5 {
            let truth = end.saturating_sub(at).as_secs_f64();
            return match left {
                TimeLeft::Unknown => 1.0,
                TimeLeft::About(time) => (time.as_secs_f64() - truth) / truth,
                TimeLeft::AtLeast(time) => ((time.as_secs_f64() - truth) / truth).max(0.0),
            };
        }
    }
    unreachable!("a run has an end");
}

/// Runs of the benchmark's kinds, as `tests/fixtures/progress/record.py` recorded them.
#[test]
fn nine_of_ten_recorded_runs_end_when_it_was_said() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/progress");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let runs = files.filter(|path| path.extension().is_some_and(|end| end == "csv"));
    let error =
        |path: &std::path::Path| error_after_a_fifth(&std::fs::read_to_string(path).unwrap());
    let name = |path: &std::path::Path| path.file_stem().unwrap().display().to_string();
    let errors: Vec<_> = runs.map(|path| (name(&path), error(&path))).collect();
    assert!(errors.len() >= 12, "{errors:?}");
    let good = errors.iter().filter(|(_, error)| error.abs() <= 0.25).count();
    println!("{good} of {} are right within a quarter: {errors:.2?}", errors.len());
    assert!(10 * good >= 9 * errors.len(), "{errors:?}");
}
