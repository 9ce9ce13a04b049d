//! Weather: what is taken as a scenario can be lived through.

use std::time::Duration;

use crate::classify::Target;
use crate::clock::Clock;
use crate::scenario::{FaultPlan, Link, RequestInfo, Scenario};
use crate::xml::iso_time;

/// A scenario file: refused, or such that requests at any time get a decision.
///
/// # Panics
///
/// Where a decision does.
pub fn scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(scenario) = Scenario::parse(&text) else { return };
    assert!((0.0..=1.0).contains(&scenario.no_continue));
    let clock = Clock::new(false, scenario.clock_skew_ms);
    assert!(iso_time(clock.now_ms()).ends_with('Z'));
    let _ = clock.http_date();
    let mut link = Link::new(scenario.bandwidth.connection_bytes_per_s);
    assert!(link.step() > 0);
    assert!(link.take(Duration::from_secs(1), 1 << 20) >= Duration::from_secs(1));
    let plan = FaultPlan::new(scenario);
    for now_us in [0, 1, 1_000_000, 3_600_000_000] {
        for (operation, key) in [("PutObject", "a"), ("GetObject", "b/c"), ("ListObjectsV2", "")] {
            let target = Target {
                operation,
                bucket: "b".to_owned(),
                key: key.to_owned(),
                ..Target::default()
            };
            for is_conditional in [false, true] {
                let decision = plan.decide(&RequestInfo {
                    target: &target,
                    now_us,
                    signer: "me",
                    is_conditional,
                });
                assert!(decision.page.share.is_none_or(|share| (0.0..1.0).contains(&share)));
            }
        }
        let _ = plan.withholds_continue(now_us);
    }
}
