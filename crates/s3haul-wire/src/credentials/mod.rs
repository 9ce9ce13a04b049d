//! Where credentials come from: the files in `~/.aws`, which nothing else reads, and the sources
//! that these and the environment name, in the order of the AWS tools.

pub(crate) mod cache;
pub(crate) mod chain;
pub(crate) mod context;
pub(crate) mod imds;
pub(crate) mod ini;
pub(crate) mod login;
pub(crate) mod process;
pub(crate) mod profile;
pub(crate) mod program;
pub(crate) mod session;
pub(crate) mod sso;
pub(crate) mod sts;
