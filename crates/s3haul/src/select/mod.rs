//! Which entries are taken and what they are called: filters, conditions, scripts, templates.

pub(crate) mod choose;
pub(crate) mod script;
