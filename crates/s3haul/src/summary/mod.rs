//! Figures of a bucket from the pages of its listing, in bounded memory.
//!
//! A [`Summary`] takes pages in any order, also several of them on several threads, and merges
//! with others into the same figures. Totals, classes, ages, sizes, rankings and names are exact
//! in any order. Folders and extensions are exact up to a limit of them; beyond it small ones are
//! merged into what lies above, and the figures that remain state by how much they may be short.
//! Percentiles of sizes come from a histogram whose buckets are narrower than 2 %. Pages come
//! from the caller: nothing here sends a request but those that list
//! multipart uploads, such as [`open_uploads`].
//!
//! ```
//! use s3haul_wire::ops::{ListPage, ListedObject};
//! use s3haul::summary::{Summary, SummaryOptions};
//!
//! let object = |key, size| ListedObject {
//!     key,
//!     size,
//!     last_modified_s: 1_800_000_000,
//!     ..ListedObject::default()
//! };
//! let page = ListPage::from_objects([object("a/1.jpg", 10), object("b/2.JPG", 20)])?;
//! let mut summary = Summary::new(SummaryOptions::default());
//! summary.add_page(&page);
//! let mut other = Summary::new(SummaryOptions::default());
//! other.add_objects([object("a/3", 5)]);
//! summary.merge(other);
//!
//! let figures = summary.figures();
//! assert_eq!((figures.total.objects, figures.total.bytes), (3, 35));
//! assert_eq!((figures.folders[0].name.as_str(), figures.folders[0].counts.bytes), ("b/", 20));
//! assert_eq!(figures.extensions[0].name, "jpg");
//! # Ok::<(), s3haul::Error>(())
//! ```

mod ages;
mod bloom;
mod counts;
mod details;
mod figures;
mod groups;
mod names;
mod ranking;
mod sizes;
mod summarize;
#[cfg(test)]
mod tests;
mod tree;
mod uploads;

pub use ages::{AGE_LIMITS, age_index};
pub use counts::Counts;
pub use details::{Details, IdleCounts};
pub use figures::{
    AgeFigures, ClassFigures, Figures, FolderFigures, LengthFigures, NameFigures, OddityFigures,
    Percentile, SizeFigures, SizeRange, SmallFigures, VersionFigures,
};
pub use names::Oddity;
pub use ranking::RankedObject;
pub use summarize::{Summary, SummaryOptions, VersionRow};
pub use tree::{Contents, FolderTree, KindCounts, TreeFolder, TreeObject};
pub(crate) use uploads::measure_upload;
pub use uploads::{OpenUpload, UploadFigures, open_uploads};
