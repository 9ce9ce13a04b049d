//! The life of a request: where it goes (`bucket_endpoint`), one attempt, retries, and a second
//! request beside one that is late.
//!
//! An operation → `retry_loop` (attempts, and what to do about a failure: `retry` decides) →
//! `hedged_request` (waits until an answer is late, then races a second request) → `attempt` (puts
//! it into the form in which it is sent) → `limit::limiter` (waits for room and rate) →
//! `net::pool`.

pub(crate) mod attempt;
pub(crate) mod bucket_endpoint;
pub(crate) mod counts;
pub(crate) mod failure;
pub(crate) mod hedge;
pub(crate) mod hedged_request;
pub(crate) mod retry;
pub(crate) mod retry_loop;
pub(crate) mod shared;
pub(crate) mod watch;
