//! Random conditions: a scenario file and a seed decide what happens to each request.
//!
//! [`settings`] is what a file may say, [`sky`] decides for a request. What is drawn depends on the
//! seed, on what the request asks for and on how often that was asked before, not on the order in
//! which requests of different objects arrive: a job that does the same again meets the same
//! weather. Bursts and partitions depend on time and load instead. `docs/weather.md` has every
//! setting, and what is left out because no client could notice it.

mod bursts;
mod draws;
mod link;
mod partitions;
mod settings;
mod sky;

pub(crate) use link::Link;
pub use settings::{
    Bandwidth, Bursts, FaultKind, FaultRule, Latency, ListingWeather, Partitions, Scenario,
    ScenarioError,
};
pub(crate) use sky::{PageWeather, Sky, Visit};
