//! Listing a bucket with many requests in flight, over keys that nobody knows beforehand.
//!
//! [`keyspace`] is the pure part: it cuts the key space into segments and says what to ask next.
//! [`list`] and [`list_versions`] drive it over a client and hand out pages, in any order or in
//! the order of the keys. Memory is bounded by pages, whatever the bucket's size.

pub mod keyspace;
mod lister;
mod range;

pub use lister::{ListRequest, Listing, Order, Piece, list};
pub use range::KeyRange;
