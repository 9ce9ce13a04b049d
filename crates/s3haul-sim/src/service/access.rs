//! Authorization, and which requests bypass `s3s`'s XML: the listings, whose pages are the one
//! answer where writing through generated types would cost more than everything else.

use http::{Extensions, HeaderMap, HeaderValue, Method, Uri};
use s3s::access::{S3Access, S3AccessContext};
use s3s::route::S3Route;
use s3s::{Body, S3Request, S3Response, S3Result, s3_error};

use super::SimService;
use crate::scenario::PageWeather;

/// Refuses unsigned requests unless they are allowed.
pub(crate) struct Admission {
    pub(crate) anonymous: bool,
}

#[async_trait::async_trait]
impl S3Access for Admission {
    async fn check(&self, context: &mut S3AccessContext<'_>) -> S3Result<()> {
        admit(self.anonymous || context.credentials().is_some())
    }
}

fn admit(allowed: bool) -> S3Result<()> {
    if allowed { Ok(()) } else { Err(s3_error!(AccessDenied, "Access Denied")) }
}

/// The listings answered by `ListRoute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listing {
    /// `ListObjects`.
    Objects,
    /// `ListObjectsV2`.
    ObjectsV2,
    /// `ListObjectVersions`.
    Versions,
}

impl Listing {
    /// The listing of that name.
    pub(crate) fn of(operation: &str) -> Option<Self> {
        match operation {
            "ListObjects" => Some(Self::Objects),
            "ListObjectsV2" => Some(Self::ObjectsV2),
            "ListObjectVersions" => Some(Self::Versions),
            _ => None,
        }
    }
}

/// Answers listings after `s3s` has verified the signature.
pub(crate) struct ListRoute {
    pub(crate) service: SimService,
    pub(crate) anonymous: bool,
}

#[async_trait::async_trait]
impl S3Route for ListRoute {
    fn is_match(
        &self,
        _method: &Method,
        _uri: &Uri,
        _headers: &HeaderMap,
        extensions: &mut Extensions,
    ) -> bool {
        extensions.get::<Listing>().is_some()
    }

    async fn check_access(&self, request: &mut S3Request<Body>) -> S3Result<()> {
        admit(self.anonymous || request.credentials.is_some())
    }

    async fn call(&self, request: S3Request<Body>) -> S3Result<S3Response<Body>> {
        let listing = request.extensions.get::<Listing>().copied().unwrap_or(Listing::Objects);
        let weather = request.extensions.get::<PageWeather>().copied().unwrap_or_default();
        let text = self.service.list_xml(listing, &request.uri, weather)?;
        let mut response = S3Response::new(Body::from(text));
        let kind = HeaderValue::from_static("application/xml");
        response.headers.insert(http::header::CONTENT_TYPE, kind);
        Ok(response)
    }
}
