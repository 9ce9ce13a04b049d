//! Random conditions: a scenario file and a seed decide what happens to each request.
//!
//! [`settings`] is the content of a scenario file, [`fault_plan`] decides for each request. Draws
//! depend on the seed, on what is requested and on how often it was requested before, not on the
//! order in which requests for different objects arrive: a job that does the same again meets the
//! same weather. Bursts and partitions depend on time and load instead. `docs/weather.md` has every
//! setting, and what is left out because no client could notice it.

mod bursts;
mod draws;
mod fault_plan;
mod link;
mod partitions;
mod settings;

pub(crate) use fault_plan::{FaultPlan, PageWeather, RequestInfo};
pub(crate) use link::Link;
pub use settings::{
    Bandwidth, Bursts, FaultKind, FaultRule, Latency, ListingWeather, Partitions, Scenario,
    ScenarioError,
};
