//! What can be listed: a source returns one page a request, in the order of the keys' bytes.
//!
//! [`Source`] is all that the lister knows of a store. A closure from [`Query`] to a future of
//! [`Answer`] is a source; the type is implemented by hand where a store has peculiarities.

use std::error;
use std::fmt;
use std::future::Future;
use std::io;

use crate::notice::Notice;
use crate::page::{Merged, Page};
use crate::request::ListRequest;

/// Separates folders in requests for their names.
const FOLDER_DELIMITER: &str = "/";

/// A request for one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query<C = String> {
    /// Only keys that start so.
    pub prefix: String,
    /// Groups keys that have this after the prefix into common prefixes.
    pub delimiter: Option<String>,
    /// Only names strictly after this one; empty: from the first.
    pub start_after: String,
    /// What the page before returned as [`Answer::next`], if this one follows another. It says all
    /// that `start_after` does, so that a source uses one of the two.
    pub cursor: Option<C>,
    /// Names a page at most; none: as many as the source likes.
    pub page_size: Option<u32>,
}

impl<C> Query<C> {
    /// A request for the names of a prefix's folders.
    pub(crate) fn folders(prefix: &str, after: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
            delimiter: Some(FOLDER_DELIMITER.to_owned()),
            start_after: after.to_owned(),
            cursor: None,
            page_size: None,
        }
    }
}

/// A page, and where the next one begins.
#[derive(Clone, Debug, Default)]
pub struct Answer<P, C = String> {
    /// Keys and common prefixes.
    pub page: P,
    /// [`Query::cursor`] of the next page; none: this page is the last.
    pub next: Option<C>,
    /// The source is one that may leave keys out of pages that start after a key: then nothing
    /// but its cursors is used.
    pub may_leave_out: bool,
}

impl<P, C> Answer<P, C> {
    /// A page of a source that leaves nothing out.
    pub fn new(page: P, next: Option<C>) -> Self {
        Self { page, next, may_leave_out: false }
    }
}

/// Names of folders; good for guessing where keys lie, so that a part of them does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderNames {
    /// Common prefixes, in order.
    pub names: Vec<String>,
    /// The last name of the answer, where more names follow.
    pub last: Option<String>,
}

impl FolderNames {
    /// The folders of a page that was listed up to `/`; none if it is out of order.
    pub fn of_page<P: Page>(page: &P, is_truncated: bool) -> Self {
        let merged = Merged::new(page, "");
        if !merged.is_ascending() {
            return Self::default();
        }
        let last = merged.last().filter(|_| is_truncated).map(str::to_owned);
        Self { names: page.common_prefixes().to_vec(), last }
    }
}

/// A store whose keys can be listed from any key on.
///
/// Requests are sent side by side. A source returns errors that are worth a retry only after it
/// retried: the first error ends the listing.
pub trait Source: Send + Sync + 'static {
    /// A page of names.
    type Page: Page;
    /// Where a page ended: an opaque token, or the last key.
    type Cursor: Clone + PartialEq + fmt::Debug + Send + Sync + 'static;
    /// Why a request failed, or what is wrong with an answer.
    type Error: From<Fault> + fmt::Display + Send + 'static;

    /// Lists one page.
    fn page(
        &self,
        query: Query<Self::Cursor>,
    ) -> impl Future<Output = Result<Answer<Self::Page, Self::Cursor>, Self::Error>> + Send;

    /// Names of the folders of a prefix, up to `/` and after a name. None of them is as good an
    /// answer as all.
    fn folders(
        &self,
        prefix: &str,
        after: &str,
    ) -> impl Future<Output = Result<FolderNames, Self::Error>> + Send {
        let query = Query::folders(prefix, after);
        async move {
            let answer = self.page(query).await?;
            Ok(FolderNames::of_page(&answer.page, answer.next.is_some()))
        }
    }

    /// Adds to an error that it happened to a request for keys after `after`.
    fn explain(&self, error: Self::Error, _request: &ListRequest, _after: &str) -> Self::Error {
        error
    }

    /// Whether the source lists in an order of its own and only from its beginning. Then it may
    /// also return keys outside the prefix, which are dropped.
    fn is_unordered(&self) -> bool {
        false
    }

    /// Whether a page that started after a key and is said to be the last may not be. Then the
    /// listing goes on after its last key.
    fn is_last_doubtful(&self, _page: &Self::Page, _page_size: Option<u32>) -> bool {
        false
    }

    /// Whether a page that begins at a cursor may begin with the last key of the page before:
    /// versions of one key may be on several pages.
    fn may_repeat_key(_cursor: &Self::Cursor) -> bool {
        false
    }
}

impl<F, A, P, E> Source for F
where
    F: Fn(Query) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Answer<P>, E>> + Send,
    P: Page,
    E: From<Fault> + fmt::Display + Send + 'static,
{
    type Page = P;
    type Cursor = String;
    type Error = E;

    fn page(&self, query: Query) -> impl Future<Output = Result<Answer<P>, E>> + Send {
        self(query)
    }
}

/// What is wrong with the answers of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A page returned the cursor that it was asked with.
    DoesNotAdvance,
    /// So many pages in a row had no name and announced more.
    Endless(u32),
    /// A name outside the prefix.
    OutsidePrefix(String),
    /// The source can only be listed one page after the other, for the reason of the notice or
    /// because it may leave keys out, and pages were handed out before that was seen.
    CannotGoOn(Option<Notice>),
    /// The lister itself did not come to an end.
    Stopped,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DoesNotAdvance => f.write_str(
                "listing does not advance: the continuation token is the same as before",
            ),
            Self::Endless(pages) => write!(
                f,
                "the listing does not end: {pages} pages in a row had no key and announced more"
            ),
            Self::OutsidePrefix(name) => write!(
                f,
                "the server listed `{name}`, which does not start with the prefix asked for"
            ),
            Self::CannotGoOn(notice) => {
                let why = match notice {
                    None => "may leave keys out of a listing that starts within a folder",
                    Some(Notice::NoStart) => "ignores the start key of a listing",
                    _ => "does not list keys in the order of their bytes",
                };
                write!(
                    f,
                    "the server {why}, which was noticed only after pages had been returned: list \
                     with `--serial`"
                )
            }
            Self::Stopped => {
                f.write_str("the listing stopped before its end, which is a fault of this program")
            }
        }
    }
}

impl error::Error for Fault {}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::other(fault)
    }
}
