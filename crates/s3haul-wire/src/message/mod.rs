//! What requests and answers consist of: headers, payloads, checksums, properties of objects, and
//! what makes an answer believable. Knows no connection.

pub(crate) mod answer;
pub(crate) mod checksum;
pub(crate) mod headers;
pub(crate) mod payload;
pub(crate) mod properties;
pub(crate) mod request;
pub(crate) mod retention;
pub(crate) mod streamed;
