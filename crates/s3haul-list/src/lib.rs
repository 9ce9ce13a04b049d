//! Lists stores of sorted keys with many requests in flight, without knowing the keys beforehand.
//!
//! S3 and stores like it list 1,000 keys a request, each page from where the one before ended.
//! [`keyspace`] is the pure part of doing better: it infers from the keys it has seen where others
//! lie, cuts the key space into segments and decides what to request next. [`list`] drives it over
//! a [`Source`] and hands out pages, in any order or in the order of the keys. Sources are the
//! `objects` and `versions` of a bucket (feature `s3`, on by default), and any closure that lists
//! one page. `docs/lister.md` has the interface, an example, bounds and limits.
//!
//! - A listing of one page costs one request; [`ListRequest::is_eager`] sends speculative requests
//!   beside it.
//! - Each key comes once. A [`PageRange`] says which range of keys it settles.
//! - Pages received and not taken are bounded: until some are taken, no more are requested.
//! - Dropping a [`Listing`] ends it, with all its requests.
//! - The first error ends the listing and is returned once.
//! - Sources differ: those that ignore where to start or list in an order of their own are listed
//!   one page after the other, which a [`Notice`] reports. Where pages were handed out before the
//!   disorder was seen, the listing ends with an error instead of leaving keys out;
//!   [`ListRequest::is_serial`] lists such sources.
//!
//! # Keys in memory
//!
//! ```
//! use std::collections::BTreeSet;
//! use std::io;
//! use std::sync::Arc;
//!
//! use s3haul_list::{Answer, KeyPage, ListRequest, Query, list};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> io::Result<()> {
//! let keys: BTreeSet<String> = (0..10_000).map(|n| format!("key-{n:05}")).collect();
//! let keys = Arc::new(keys);
//! let source = move |query: Query| {
//!     let keys = Arc::clone(&keys);
//!     async move {
//!         let after = (std::ops::Bound::Excluded(query.start_after), std::ops::Bound::Unbounded);
//!         let found: Vec<_> = keys.range(after).take(101).map(|key| (key.clone(), ())).collect();
//!         let entries = found[..found.len().min(100)].to_vec();
//!         // Without common prefixes the names of folders are not known in advance: that is all.
//!         let next = (found.len() > 100).then(|| entries[99].0.clone());
//!         io::Result::Ok(Answer::new(KeyPage { entries, common_prefixes: Vec::new() }, next))
//!     }
//! };
//! let mut listing = list(source, ListRequest::default());
//! let mut count = 0;
//! while let Some(page_range) = listing.next().await {
//!     count += page_range?.page.entries.len();
//! }
//! assert_eq!(count, 10_000);
//! # Ok(()) }
//! ```
//!
//! # The objects of a prefix
//!
//! ```
//! # use s3haul_wire::{Client, ClientConfig, CredentialsConfig, EndpointConfig};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = s3haul_sim::SimServer::builder().synthetic("dates:5000").start().await?;
//! # let config = ClientConfig {
//! #     endpoint: EndpointConfig { url: Some(server.endpoint_url()), ..Default::default() },
//! #     credentials: CredentialsConfig::Static {
//! #         access_key_id: s3haul_sim::DEFAULT_ACCESS_KEY.to_owned(),
//! #         secret_access_key: s3haul_sim::DEFAULT_SECRET_KEY.to_owned(),
//! #         session_token: None,
//! #     },
//! #     ..Default::default()
//! # };
//! # let client = Client::new(config, s3haul_wire::env::Env::system())?;
//! use s3haul_list::{ListRequest, Order, list, objects};
//!
//! let request = ListRequest { order: Order::Ascending, ..ListRequest::default() };
//! let mut listing = list(objects(client, "synthetic"), request);
//! let (mut objects, mut bytes) = (0, 0);
//! while let Some(page_range) = listing.next().await {
//!     for object in page_range?.page.iter() {
//!         objects += 1;
//!         bytes += object.size;
//!     }
//! }
//! for notice in listing.take_notices() {
//!     println!("warning: {notice}");
//! }
//! assert_eq!((objects, bytes), (5_000, 5_000 * 1024));
//! # server.shutdown().await;
//! # Ok(()) }
//! ```
//!
//! # A part of a bucket, and no more than is wanted
//!
//! Ranges that follow one another can be listed by several machines. Dropping the listing ends it.
//!
//! ```
//! # use s3haul_wire::{Client, ClientConfig, CredentialsConfig, EndpointConfig};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = s3haul_sim::SimServer::builder().synthetic("hex:5000").start().await?;
//! # let config = ClientConfig {
//! #     endpoint: EndpointConfig { url: Some(server.endpoint_url()), ..Default::default() },
//! #     credentials: CredentialsConfig::Static {
//! #         access_key_id: s3haul_sim::DEFAULT_ACCESS_KEY.to_owned(),
//! #         secret_access_key: s3haul_sim::DEFAULT_SECRET_KEY.to_owned(),
//! #         session_token: None,
//! #     },
//! #     ..Default::default()
//! # };
//! # let client = Client::new(config, s3haul_wire::env::Env::system())?;
//! use s3haul_list::{KeyRange, ListRequest, list, objects};
//!
//! let halves = [
//!     KeyRange { after: String::new(), through: Some("8".to_owned()) },
//!     KeyRange { after: "8".to_owned(), through: None },
//! ];
//! let mut count = 0;
//! for range in halves {
//!     let request = ListRequest { range, ..ListRequest::default() };
//!     let mut listing = list(objects(client.clone(), "synthetic"), request);
//!     while let Some(page_range) = listing.next().await {
//!         count += page_range?.page.len();
//!     }
//! }
//! assert_eq!(count, 5_000);
//!
//! let mut listing = list(objects(client, "synthetic"), ListRequest::default());
//! let first = listing.next().await.expect("there is a page")?;
//! drop(listing);
//! assert_eq!(first.page.len(), 1_000);
//! # server.shutdown().await;
//! # Ok(()) }
//! ```

mod boundaries;
mod driver;
mod fetch;
pub mod keyspace;
mod lister;
mod notice;
mod page;
mod range;
mod reorder;
mod request;
#[cfg(feature = "s3")]
mod s3;
mod serial;
mod source;

pub use boundaries::{Boundary, Expected, Recorder};
pub use lister::{Listing, list};
pub use notice::Notice;
pub use page::{KeyPage, Page};
pub use range::KeyRange;
pub use request::{ListRequest, Order, PageRange};
#[cfg(feature = "s3")]
pub use s3::{ObjectCursor, Objects, VersionCursor, Versions, is_doubtful, objects, versions};
pub use source::{Answer, Fault, FolderNames, Query, Source};
