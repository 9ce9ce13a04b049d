//! Metrics of a running command, for Prometheus: served over HTTP (`--metrics-listen`), and written
//! to a file that the textfile collector of Prometheus's node exporter reads (`--metrics-file`).
//!
//! `names` has every metric, with its type and labels; docs/metrics.md and the dashboard in
//! docs/grafana are held against it. `families` fills them from what the observer of the process
//! sees. `export` runs while a command does; `listen` answers the scrapes.

mod export;
mod families;
mod listen;
mod names;

pub(crate) use export::Export;
