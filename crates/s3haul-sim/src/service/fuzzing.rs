//! The readers of this module's parts, for the fuzz targets.

use http::Uri;

use super::{convert, ingest, list_xml, multipart, protect};

/// Sizes that ranges are held against.
const SIZES: [u64; 3] = [0, 10, u64::MAX];

/// Gives a header's value to every reader of headers.
pub(crate) fn read_headers(text: &str) {
    for size in SIZES {
        if let Ok(range) = multipart::copy_range(Some(text), size) {
            assert!(range.start < range.end && range.end <= size);
        }
    }
    if let Ok(tags) = convert::parse_tagging(Some(text)) {
        assert!(tags.len() <= 10);
    }
    let _ = ingest::parse_md5(text);
    let _ = protect::acl_of(None, &[("READ", Some(text))]);
}

/// Reads the parameters of a listing.
pub(crate) fn read_listing(uri: &Uri) {
    if let Ok(parameters) = list_xml::Parameters::read(uri) {
        assert!(parameters.max_keys <= 1000);
    }
}
