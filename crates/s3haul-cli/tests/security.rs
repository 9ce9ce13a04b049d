//! What docs/security.md promises, asked of the real binary.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "security/echo.rs"]
mod echo;
#[path = "security/escapes.rs"]
mod escapes;
#[path = "security/hostile.rs"]
mod hostile;
#[path = "security/masks.rs"]
mod masks;
#[path = "security/secrets.rs"]
mod secrets;
#[path = "security/serve_tls.rs"]
mod serve_tls;
#[path = "security/signatures.rs"]
mod signatures;
#[path = "security/sources.rs"]
mod sources;
#[expect(dead_code, reason = "helpers that other tests use")]
mod support;
#[path = "security/terminal.rs"]
mod terminal;
#[path = "security/trust.rs"]
mod trust;
