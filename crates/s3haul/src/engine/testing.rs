//! An engine for tests, over a scripted server.

use std::sync::Arc;

use super::core::{Ended, Engine};
use super::settings::{Settings, Tuning};
use crate::engine::reporter::Reporter;
use crate::event::NoEvents;
use s3haul_wire::testing::{World, client};

/// An engine whose both sides are one scripted server.
pub(crate) fn engine(world: &World, tuning: Tuning) -> (Arc<Engine>, Ended) {
    engine_with(world, Settings { tuning, ..Settings::default() })
}

/// The same with other settings, but for its buckets.
pub(crate) fn engine_with(world: &World, settings: Settings) -> (Arc<Engine>, Ended) {
    let (source_bucket, target_bucket) = ("source".to_owned(), "target".to_owned());
    let settings = Settings { source_bucket, target_bucket, ..settings };
    let report = Arc::new(Reporter::new(Arc::new(NoEvents)));
    Engine::new(settings, client(world), client(world), report)
}
