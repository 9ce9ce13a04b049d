//! Metrics of a running command, for Prometheus: served over HTTP (`--metrics-listen`), and written
//! to a file that the textfile collector of Prometheus's node exporter reads (`--metrics-file`);
//! and for OpenTelemetry, with traces: sent to a collector (`--otlp-endpoint`).
//!
//! `names` has every metric, with its type and labels; docs/metrics.md and the dashboard in
//! docs/grafana are held against it. `families` fills them from what the observer of the process
//! sees, and `otlp` makes the documents of OpenTelemetry from that. `export` runs while a command
//! does; `listen` answers the scrapes, `push` sends to a collector.

mod export;
mod families;
mod listen;
mod names;
mod otlp;
mod push;

pub(crate) use export::Export;
