//! The commands: settings and a printer in, exit code out. None reads flags or the environment, but
//! `dispatch`, which chooses the command.

mod asker;
mod browse;
mod buckets;
mod cat;
mod check_server;
mod compare;
mod completions;
mod confirm;
mod dispatch;
mod folder;
mod head;
mod inputs;
mod jobs;
mod list;
mod list_buckets;
mod listing;
mod ls;
mod object_reader;
mod plan;
mod presign;
mod ray;
mod run;
mod script;
mod serve;
mod shards;
mod shared;
mod summarize;
mod transfer;
mod uploads;
mod watch;

pub(crate) use dispatch::{Work, dispatch, job, prepare, request, work};
pub(crate) use list::{Totals, list_through};
pub(crate) use listing::{Entries, PageWorker, SelectedPage};
pub use object_reader::ObjectReader;
pub(crate) use serve::start as start_server;
pub(crate) use shards::is_folder as is_job_folder;
pub(crate) use shared::{SharedClients, client, clients};
pub(crate) use transfer::run_observed;
