//! Pure rules: what paths mean, which names match, what things are called.
//!
//! Nothing here waits, reads a file or knows a clock; what must be known of the local file system
//! is handed in as plain facts. Every rule follows the AWS tools, quirks included, because scripts
//! depend on them; where a rule is ours the module says so.

pub(crate) mod action;
pub mod change;
pub mod charges;
pub mod compare;
pub mod conditions;
pub mod content;
pub mod content_type;
pub mod encoded_words;
pub mod expected;
pub mod filter;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod glob;
pub mod join;
pub mod paths;
pub mod preserve;
pub mod price;
pub mod removals;
pub mod restore;
pub mod s3_uri;
pub mod tags;
pub mod versions;
pub mod wildcard;
