//! What must hold for any answer of a server, and for any request that is signed.

mod config;
mod endpoints;
mod key_codec;
mod signature;

pub use config::config;
pub use endpoints::endpoints;
pub use key_codec::key_codec;
pub use signature::signature;

pub use super::ops::fuzzing::{answers, headers};
use crate::xml::document::{self, Element};
use crate::xml::list_page::ListPage;
use crate::xml::list_reader;

/// Objects of a page that are looked at one by one.
const OBJECTS_MAX: usize = 40;

/// The strict reader of XML: bounded in depth, number and bytes; what it read, written again, is
/// read as the same; an error answer is one that it reads, too.
///
/// # Panics
///
/// Where that does not hold.
pub fn xml(data: &[u8]) {
    let parsed = Element::parse(data);
    if let Some(error) = document::parse_error(data) {
        let root = parsed.as_ref().expect("an error answer is a document");
        assert!(root.name == "Error" || root.child("Error").is_some());
        assert!(error.code.len() + error.message.len() <= data.len());
    }
    let Ok(root) = parsed else { return };
    let mut measured = Measured::default();
    measured.add(&root, 1);
    assert!(measured.depth <= document::DEPTH_MAX && measured.elements <= document::ELEMENTS_MAX);
    assert!(measured.bytes <= data.len(), "more text than there was");
    if measured.is_plain {
        let mut text = String::new();
        write(&root, &mut text);
        assert_eq!(Element::parse(text.as_bytes()).expect("it was read before"), root);
    }
}

/// What a document holds.
struct Measured {
    elements: usize,
    depth: usize,
    bytes: usize,
    /// Names are such that they can be written again.
    is_plain: bool,
}

impl Default for Measured {
    fn default() -> Self {
        Self { elements: 0, depth: 0, bytes: 0, is_plain: true }
    }
}

impl Measured {
    fn add(&mut self, element: &Element, depth: usize) {
        self.elements += 1;
        self.depth = self.depth.max(depth);
        self.bytes += element.name.len() + element.text.len();
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric();
        self.is_plain &= !element.name.is_empty() && element.name.bytes().all(is_letter);
        element.children.iter().for_each(|child| self.add(child, depth + 1));
    }
}

/// Writes a document with every character of a text as a reference.
fn write(element: &Element, text: &mut String) {
    use std::fmt::Write as _;
    let _ = write!(text, "<{}>", element.name);
    for character in element.text.chars() {
        let _ = write!(text, "&#{};", u32::from(character));
    }
    element.children.iter().for_each(|child| write(child, text));
    let _ = write!(text, "</{}>", element.name);
}

/// The reader of listings and the tree of a page: both say the same.
///
/// # Panics
///
/// Where they differ.
pub fn listing(data: &[u8]) {
    let (page, tree) = (list_reader::objects(data), list_reader::strict(data));
    // A tree has a limit of elements, which those of entries written alike do not count for.
    let may_have_too_many = data.len() > 4 * document::ELEMENTS_MAX;
    if tree.is_ok() || !may_have_too_many {
        assert_eq!(page.as_ref().ok(), tree.as_ref().ok());
    }
    if let Ok(page) = page {
        check_page(&page, data.len());
    }
    if let Ok(page) = list_reader::versions(data) {
        let bytes = |text: &String| text.len();
        let keys: usize = page.versions.iter().map(|version| bytes(&version.key)).sum();
        assert!(keys + page.common_prefixes.iter().map(bytes).sum::<usize>() <= data.len());
        let versions = ListPage::from_versions(&page.versions).expect("columns hold what rows do");
        assert_eq!(versions.len(), page.versions.len());
    }
}

/// The columns of a page say the same in every way of asking.
fn check_page(page: &ListPage, bytes: usize) {
    let held: usize = page.iter().map(|object| object.key.len() + object.etag.len()).sum();
    assert!(held <= bytes);
    for (index, object) in page.iter().enumerate().take(OBJECTS_MAX) {
        assert_eq!(page.get(index), Some(object));
    }
    if page.len() <= OBJECTS_MAX {
        let half = page.len() / 2;
        let mut cut = page.clone();
        cut.truncate(half);
        assert!(cut.iter().eq(page.iter().take(half)));
        let is_wanted = |key: &str| key.len().is_multiple_of(2);
        let mut kept = page.clone();
        kept.retain(is_wanted);
        assert!(kept.iter().eq(page.iter().filter(|object| is_wanted(object.key))));
    }
}

#[cfg(test)]
mod tests {
    use s3haul_mutate::short_run;

    #[test]
    fn answers() {
        short_run("answers", super::answers);
    }

    #[test]
    fn config() {
        short_run("config", super::config);
    }

    #[test]
    fn endpoints() {
        short_run("endpoints", super::endpoints);
    }

    #[test]
    fn headers() {
        short_run("headers", super::headers);
    }

    #[test]
    fn key_codec() {
        short_run("key_codec", super::key_codec);
    }

    #[test]
    fn listing() {
        short_run("listing", super::listing);
    }

    #[test]
    fn signature() {
        short_run("signature", super::signature);
    }

    #[test]
    fn xml() {
        short_run("xml", super::xml);
    }
}
