//! The cases by topic.

mod bulk;
mod compare;
mod conditions;
mod copy;
mod differential;
mod failures;
mod integrity;
mod interrupts;
mod keys;
mod list;
mod listing;
mod models;
mod paths;
mod peers;
mod plans;
mod properties;
mod relay;
mod remove;
mod report;
mod secure;
mod set;
mod settings;
mod summary;
mod tags;
mod transfer;
mod uploads;
mod versions;

use crate::harness::Case;

/// Cases for every server that stores objects as S3 does.
pub(crate) fn all() -> Vec<Case> {
    let topics = [
        paths::CASES,
        transfer::CASES,
        keys::CASES,
        properties::CASES,
        copy::CASES,
        relay::CASES,
        compare::CASES,
        remove::CASES,
        tags::CASES,
        conditions::CASES,
        set::CASES,
        uploads::CASES,
        versions::CASES,
        list::CASES,
        listing::CASES,
        summary::CASES,
        integrity::CASES,
        failures::CASES,
        interrupts::CASES,
        report::CASES,
        plans::CASES,
        bulk::CASES,
        settings::CASES,
    ];
    topics.concat()
}

/// Cases about our own command that do not depend on the server.
pub(crate) fn embedded_only() -> Vec<Case> {
    failures::EMBEDDED.to_vec()
}

/// Cases for servers that speak TLS.
pub(crate) fn secure() -> Vec<Case> {
    [secure::CASES, compare::SECURE, transfer::CASES, properties::CASES, copy::CASES].concat()
}

/// Cases for what only moto models.
pub(crate) fn moto_only() -> Vec<Case> {
    [models::CASES, report::MOTO, set::MOTO, transfer::MOTO, versions::MOTO].concat()
}

/// Random commands next to those of the real `aws`.
pub(crate) fn differential() -> Vec<Case> {
    differential::CASES.to_vec()
}

/// Cases in which others drive the embedded server.
pub(crate) fn peers_only() -> Vec<Case> {
    peers::CASES.to_vec()
}
