//! Connections: names and addresses, TLS, proxies, the pool, and bodies of answers as they come.

pub(crate) mod addresses;
pub(crate) mod body;
pub(crate) mod circuit;
pub(crate) mod connect;
pub(crate) mod connection;
pub(crate) mod fetch;
pub(crate) mod no_proxy;
pub(crate) mod pool;
pub(crate) mod proxy;
pub(crate) mod tls;
