//! Requests that no operation of the API makes.

use http::Method;

use crate::message::payload::Payload;
use crate::message::request::Expects;
use crate::message::request::{Operation, Request};

/// An operation on objects.
pub(crate) fn operation(name: &'static str) -> Operation {
    Operation { name, slow: false, error_in_200: false, expects: Expects::Object }
}

pub(crate) fn request(method: Method, key: &str) -> Request<'_> {
    Request::new(operation("TestObject"), method, "bucket", Some(key))
}

pub(crate) fn get() -> Request<'static> {
    request(Method::GET, "key")
}

pub(crate) fn put(bytes: &'static [u8]) -> Request<'static> {
    let payload = Payload::from_bytes(bytes::Bytes::from_static(bytes));
    Request { payload, ..request(Method::PUT, "key") }
}
