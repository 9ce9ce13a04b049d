//! JavaScript functions over keys and objects, and the plain templates that spare one.
//!
//! A [`Program`] is a checked text: a function expression after `js:`, or a regular expression.
//! A [`Runtime`] runs programs over batches of objects, one crossing into the engine (`QuickJS`) a
//! batch. Scripts compute and nothing else: there are no modules, files, network or timers.
//!
//! Limits: memory, stack and time of a batch ([`Limits`]). A script that exceeds one, throws, or
//! returns an invalid value ends in a [`ScriptError`] with line, column and key; no
//! object is ever left out silently.
//!
//! Runtimes share nothing: a function that keeps state keeps it once for each runtime.
//!
//! ```
//! use s3haul_wire::ops::ListedObject;
//! use s3haul::script::{Limits, Program, Role, Runtime};
//!
//! let large = Program::compile(Role::Filter, "js:({Size}) => Size > 1024")?;
//! let mut runtime = Runtime::new(&[large], Limits::default())?;
//! let objects = [("a.jpg", 80_000), ("b.txt", 9)].map(|(key, size)| ListedObject {
//!     key,
//!     size,
//!     last_modified_s: 1_586_822_400,
//!     ..ListedObject::default()
//! });
//! assert_eq!(runtime.select(objects.into_iter())?, [0]);
//! # Ok::<(), s3haul::script::ScriptError>(())
//! ```

mod engine;
mod error;
mod program;
pub(crate) mod rename;
mod role;
mod runtime;
mod template;

#[cfg(test)]
mod tests;

pub use engine::Limits;
pub use error::{ScriptError, ScriptErrorKind};
pub use program::{Program, SCHEME, is_script};
pub use role::Role;
pub use runtime::Runtime;
pub use template::{Template, TemplateError};
