//! Lists a bucket with many requests in flight, without knowing its keys beforehand.
//!
//! S3 lists 1,000 keys a request, each page from where the one before ended. [`keyspace`] is the
//! pure part of doing better: it learns from the keys it sees where others lie, cuts the key space
//! into segments and says what to ask next. [`list`] and [`list_versions`] drive it over a client
//! and hand out pages, in any order or in the order of the keys.
//!
//! - A listing of one page costs one request; [`ListRequest::is_eager`] guesses beside it.
//! - Each key comes once. A [`PageRange`] says which range of keys it settles.
//! - Pages received and not taken are bounded: until some are taken, no more are requested.
//! - Dropping a [`Listing`] ends it, with all its requests.
//! - The first error ends the listing and is returned once.
//! - Servers differ: those without `start-after` or without version 2 of the API are listed by
//!   version 1; those that list in an order of their own are listed one page after the other, which
//!   a [`Notice`] reports. Where pages were handed out before the disorder was seen, the listing
//!   ends with an error instead of leaving keys out; [`ListRequest::is_serial`] lists such servers.
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
//! use s3haul_list::{ListRequest, Order, list};
//!
//! let request = ListRequest { order: Order::Ascending, ..ListRequest::new("synthetic") };
//! let mut listing = list(client, request);
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
//! use s3haul_list::{KeyRange, ListRequest, list};
//!
//! let halves = [
//!     KeyRange { after: String::new(), through: Some("8".to_owned()) },
//!     KeyRange { after: "8".to_owned(), through: None },
//! ];
//! let mut objects = 0;
//! for range in halves {
//!     let request = ListRequest { range, ..ListRequest::new("synthetic") };
//!     let mut listing = list(client.clone(), request);
//!     while let Some(page_range) = listing.next().await {
//!         objects += page_range?.page.len();
//!     }
//! }
//! assert_eq!(objects, 5_000);
//!
//! let mut listing = list(client, ListRequest::new("synthetic"));
//! let first = listing.next().await.expect("there is a page")?;
//! drop(listing);
//! assert_eq!(first.page.len(), 1_000);
//! # server.shutdown().await;
//! # Ok(()) }
//! ```

mod driver;
mod fetch;
pub mod keyspace;
mod lister;
mod notice;
mod page;
mod range;
mod reorder;
mod request;
mod serial;

pub use crate::request::{ListRequest, Order, PageRange};
pub use fetch::is_doubtful;
pub use lister::{Listing, list, list_versions};
pub use notice::Notice;
pub use range::KeyRange;
