//! Random command lines through the real `aws s3` and through the command under test.

use std::time::Duration;

use crate::harness::{Ctx, cases};
use crate::tools;

cases!["differential": random_commands_end_as_with_aws];

/// Sequences of commands a server; `S3HAUL_TEST_SEQUENCES` sets another number.
const SEQUENCES: &str = "100";
/// Longest time that one may take on a busy machine.
const A_SEQUENCE: Duration = Duration::from_secs(10);

fn random_commands_end_as_with_aws(ctx: &Ctx<'_>) {
    let Some(python) = ctx.python_with(include_str!("../peers/differential.py")) else { return };
    let sequences = std::env::var("S3HAUL_TEST_SEQUENCES");
    let sequences = sequences.as_deref().unwrap_or(SEQUENCES);
    let count: u32 = sequences.parse().unwrap();
    let beside = if ctx.server.features.key_beside_folder { "1" } else { "0" };
    let done = python
        .variable("TEST_SUBJECT", tools::subject())
        .variable("TEST_SEED", std::env::var("S3HAUL_TEST_SEED").unwrap_or_default())
        .variable("TEST_SEQUENCES", sequences)
        .variable("TEST_KEY_BESIDE_FOLDER", beside)
        .deadline(Duration::from_mins(10) + A_SEQUENCE * count)
        .run()
        .ok();
    println!("{}", done.out());
    assert!(done.out().trim_end().ends_with("passed"), "{}", done.report());
}
