//! Random command lines through the real `aws s3` and through the command under test.

use std::time::Duration;

use crate::harness::{Ctx, cases};
use crate::tools;

cases!["differential": random_commands_end_as_with_aws, more_random_commands_do];

/// Sequences of commands a server; `S3HAUL_TEST_SEQUENCES` sets another number.
const SEQUENCES: u32 = 100;
/// Longest time that one may take on a busy machine.
const A_SEQUENCE: Duration = Duration::from_secs(10);

fn random_commands_end_as_with_aws(ctx: &Ctx<'_>) {
    sequences(ctx, 0);
}

/// The other half of the sequences: two processes need half the time.
fn more_random_commands_do(ctx: &Ctx<'_>) {
    sequences(ctx, 1);
}

/// Every other sequence, from this one on.
fn sequences(ctx: &Ctx<'_>, first: u32) {
    let Some(python) = ctx.python_with(include_str!("../peers/differential.py")) else { return };
    let count = std::env::var("S3HAUL_TEST_SEQUENCES");
    let count = count.map_or(SEQUENCES, |count| count.parse().unwrap());
    let beside = if ctx.server.features.key_beside_folder { "1" } else { "0" };
    let done = python
        .variable("TEST_SUBJECT", tools::subject())
        .variable("TEST_SEED", std::env::var("S3HAUL_TEST_SEED").unwrap_or_default())
        .variable("TEST_FIRST", first.to_string())
        .variable("TEST_SEQUENCES", count.to_string())
        .variable("TEST_KEY_BESIDE_FOLDER", beside)
        .deadline(Duration::from_mins(10) + A_SEQUENCE * count)
        .run()
        .ok();
    println!("{}", done.out());
    assert!(done.out().trim_end().ends_with("passed"), "{}", done.report());
}
