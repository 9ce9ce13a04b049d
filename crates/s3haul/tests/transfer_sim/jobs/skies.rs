//! Random weather for whole jobs.

#![expect(unreachable_pub, reason = "a test has no outside")]

use s3haul_sim::{
    Bandwidth, Bursts, FaultKind, FaultRule, Latency, ListingWeather, Partitions, Scenario,
};

/// How bad it may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sky {
    /// Nothing fails.
    Fair,
    /// All that fails passes: a job that retries does everything.
    Passing,
    /// Some of it does not pass: objects may fail, and must be safe.
    Foul,
}

/// What passes.
const PASSING: [(FaultKind, &[&str]); 13] = [
    (FaultKind::SlowDown, &["any"]),
    (FaultKind::InternalError, &["any"]),
    (FaultKind::ResetBefore, &["any"]),
    (FaultKind::ResetRequest, &["PutObject", "UploadPart", "CompleteMultipartUpload"]),
    (FaultKind::LostResponse, &["write", "delete"]),
    (FaultKind::ResetBody, &["any"]),
    (FaultKind::Truncate, &["any"]),
    (FaultKind::OkWithError, &["any"]),
    (FaultKind::Corrupt, &["GetObject"]),
    (FaultKind::SlowFirstByte, &["any"]),
    (FaultKind::PauseBody, &["any"]),
    // Operations that may rightly be silent for long are waited for too long to try again.
    (FaultKind::Stall, &["GetObject"]),
    (FaultKind::Stall, &["PutObject", "UploadPart"]),
];

/// What does not.
const FOUL: [(FaultKind, &[&str]); 5] = [
    (FaultKind::NotFound, &["any"]),
    (FaultKind::Changed, &["any"]),
    (FaultKind::Respond, &["any"]),
    (FaultKind::Stall, &["any"]),
    (FaultKind::Respond, &["write", "delete"]),
];

fn rule(
    random: &mut fastrand::Rng,
    (fault, requests): (FaultKind, &[&str]),
    probability_max: f64,
) -> FaultRule {
    let most = if fault == FaultKind::Stall { 0.01 } else { probability_max };
    let mut rule = FaultRule::new(fault, random.f64() * most).of(requests);
    rule.bytes_max = [10, 2_000, 6_000_000][random.usize(0..3)];
    // Two minutes are longer than anybody waits: the body stalls.
    rule.pause_ms_max = [5_000, 5_000, 120_000][random.usize(0..3)];
    if fault == FaultKind::Respond {
        (rule.status, rule.code) = (403, "AccessDenied".to_owned());
    }
    rule
}

fn faults(sky: Sky, random: &mut fastrand::Rng) -> Vec<FaultRule> {
    let probability_max = [0.05, 0.2, 0.6][random.usize(0..3)];
    let mut kinds = PASSING.to_vec();
    random.shuffle(&mut kinds);
    kinds.truncate(random.usize(1..6));
    if sky == Sky::Foul {
        let count = random.usize(1..3);
        let foul = random.choose_multiple(FOUL, count);
        kinds.splice(0..0, foul);
    }
    kinds.into_iter().map(|kind| rule(random, kind, probability_max)).collect()
}

/// Milliseconds, short times as often as long ones.
fn magnitude(random: &mut fastrand::Rng, most: u64) -> u64 {
    let most = most >> random.u32(0..10);
    1 + random.u64(0..most.max(1))
}

/// The sky of a seed, and its weather.
pub fn draw(random: &mut fastrand::Rng) -> (Sky, Scenario) {
    let sky = match random.u8(0..100) {
        0..10 => Sky::Fair,
        10..70 => Sky::Passing,
        _ => Sky::Foul,
    };
    let mut one_in = |count: u8| random.u8(0..count) == 0;
    let (is_slow, is_thin, is_throttled, has_bursts) = (one_in(2), one_in(4), one_in(5), one_in(3));
    let (closes, is_skewed, is_odd) = (one_in(4), one_in(6), one_in(2));
    let has_no_continue = one_in(8);
    let expires = sky == Sky::Foul && one_in(4);
    let mut scenario = Scenario { seed: random.u64(..), ..Scenario::default() };
    if is_slow {
        let median_ms = random.f64() * 100.0;
        let (sigma, tail_factor) = (random.f64(), 20.0);
        scenario.latency =
            Latency { median_ms, sigma, tail_probability: 0.02, tail_factor, max_ms: 5_000.0 };
    }
    if is_thin {
        let rate = random.u64(200_000..5_000_000);
        scenario.bandwidth =
            Bandwidth { connection_bytes_per_s: rate, total_bytes_per_s: rate * 4 };
    }
    if is_throttled {
        // Below the least rate of the client (5 a second) more is refused than ten attempts get
        // over: of 20,000 jobs two failed where 1.1 and 1.5 a second were allowed.
        let least = if sky == Sky::Passing { 5.0 } else { 1.0 };
        let per_s = least + random.f64() * 20.0;
        scenario.partitions = Some(Partitions {
            writes_per_s: per_s,
            reads_per_s: per_s * 1.5,
            split_after_s: [0.2, 5.0][random.usize(0..2)],
            partitions_max: 4,
        });
    }
    if has_bursts {
        let calm_s = [0.01, 0.2, 2.0][random.usize(0..3)];
        scenario.bursts = Some(Bursts { calm_s, rough_s: calm_s / 2.0, factor: 5.0 });
    }
    if closes {
        scenario.idle_close_ms = magnitude(random, 3_000);
    }
    if is_skewed {
        scenario.clock_skew_ms = random.i64(-3_600_000..3_600_000);
    }
    if is_odd {
        let mut share = || if random.bool() { random.f64() * 0.5 } else { 0.0 };
        scenario.listing =
            ListingWeather { empty_page: share(), short_page: share(), repeated_key: share() };
    }
    if expires {
        scenario.credentials_expire_ms = magnitude(random, 5_000);
    }
    if has_no_continue {
        scenario.no_continue = 0.5;
    }
    if sky != Sky::Fair {
        scenario.in_a_row_max =
            if sky == Sky::Foul && random.bool() { u32::MAX } else { random.u32(1..4) };
        scenario.faults = faults(sky, random);
    }
    (sky, scenario)
}
