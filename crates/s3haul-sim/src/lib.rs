//! An S3 server for trying and testing, with a request ledger and simulated weather.
//!
//! [`SimServer::builder`] makes a server over one of three stores: memory, files, or objects that
//! are computed. `s3s` does the routing, the XML and the verification of signatures; the rules of
//! S3 above it and everything around it are here. It shares no code with the client it judges.
//!
//! ```
//! # async fn example() -> Result<(), s3haul_sim::SimError> {
//! use s3haul_sim::{Effect, Fault, SimServer};
//! let server = SimServer::builder().bucket("b").bind("127.0.0.1:0").await?;
//! server.weather().push(Fault::new(Effect::slow_down()).operation("PutObject"));
//! println!("{}", server.endpoint_url());
//! assert_eq!(server.ledger().count("PutObject"), 0);
//! server.shutdown().await;
//! # Ok(()) }
//! ```

mod body;
mod body_timeouts;
mod builder;
mod classify;
mod clock;
mod config;
mod error;
#[doc(hidden)]
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod gate;
mod handler;
mod ignored_headers;
mod ledger;
mod listener;
mod request_limits;
mod scenario;
mod server;
mod service;
mod socket;
mod store;
mod weather;
mod wire;
mod xml;

pub use crate::builder::SimBuilder;
pub use crate::error::SimError;
pub use clock::Clock;
pub use config::{
    AccessKey, DEFAULT_ACCESS_KEY, DEFAULT_SECRET_KEY, DEFAULT_SYNTHETIC_BUCKET, Limits,
    ListQuirks, SimConfig, StoreKind,
};
pub use ledger::{LEDGER_RECORDS_DEFAULT, Ledger, Record};
pub use scenario::{
    Bandwidth, Bursts, FaultKind, FaultRule, Latency, ListingWeather, Partitions, Scenario,
    ScenarioError,
};
pub use server::{RunningServer, Sim, SimServer};
pub use socket::TlsFiles;
pub use store::synthetic::SyntheticError;
pub use weather::{Effect, Fault, Weather};
