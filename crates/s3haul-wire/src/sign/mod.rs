//! Signatures, the credentials that make them, and keeping both out of messages. Pure.

pub(crate) mod redact;
pub(crate) mod signature;
