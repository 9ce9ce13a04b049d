//! Which entries are taken and what they are called: scripts, templates, new names.

pub(crate) mod rename;
pub(crate) mod script;
