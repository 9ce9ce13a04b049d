//! Which files and objects a workload has: names and sizes, and how they follow the scale.

use support::term::count;

/// Bytes of a KiB.
pub(crate) const KIB: u64 = 1 << 10;
/// Bytes of a MiB.
pub(super) const MIB: u64 = 1 << 20;
/// Bytes of a GiB.
pub(super) const GIB: u64 = 1 << 30;

/// A power of two to each: 512 KiB, 1 MiB, …, 256 MiB.
const CLASSES: u32 = 10;
/// Files of a folder where there are many.
const FOLDER_FILES: u64 = 256;
/// Sizes of [`Shape::Mixed`], in turn: many small ones and a few that are not.
const MIXED_BYTES: [u64; 8] =
    [512, 2 * KIB, 4 * KIB, 7 * KIB, 13 * KIB, 24 * KIB, 48 * KIB, 100 * KIB];

/// A set of files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Folders with files of one size; the scale is for the files in each.
    Folders { folders: u64, files: u64, bytes: u64 },
    /// A few large files in one folder; the scale is for their size.
    Large { files: u64, bytes: u64 },
    /// Files of mixed sizes; the scale is for their number.
    Mixed { files: u64 },
    /// Classes of files, each of half as many files of twice the size as the one before; both
    /// follow the square root of the scale.
    Classes { files: u64, bytes: u64 },
    /// Files of one size in one folder, their names numbers; the scale is for their number.
    Numbered { files: u64, bytes: u64 },
    /// The same with large files; number and size follow the square root of the scale.
    NumberedLarge { files: u64, bytes: u64 },
}

impl Shape {
    /// The same at a share of its size.
    pub(crate) fn scaled(self, scale: f64) -> Self {
        let root = scale.sqrt();
        match self {
            Self::Folders { folders, files, bytes } => {
                Self::Folders { folders, files: times(files, scale), bytes }
            }
            Self::Large { files, bytes } => Self::Large { files, bytes: times(bytes, scale) },
            Self::Mixed { files } => Self::Mixed { files: times(files, scale).max(16) },
            Self::Classes { files, bytes } => {
                Self::Classes { files: times(files, root), bytes: times(bytes, root) }
            }
            Self::Numbered { files, bytes } => Self::Numbered { files: times(files, scale), bytes },
            Self::NumberedLarge { files, bytes } => {
                Self::NumberedLarge { files: times(files, root), bytes: times(bytes, root) }
            }
        }
    }

    /// Names with `/` between folders, and sizes.
    pub(crate) fn files(self) -> Vec<(String, u64)> {
        match self {
            Self::Folders { folders, files, bytes } => {
                let of = |folder| {
                    (0..files)
                        .map(move |file| (format!("{}/file-{file:05}", letters(folder)), bytes))
                };
                (0..folders).flat_map(of).collect()
            }
            Self::Large { files, bytes } => {
                (0..files).map(|file| (format!("large-{file}.bin"), bytes)).collect()
            }
            Self::Mixed { files } => {
                (0..files).map(|file| (in_folder(file), mixed(file))).collect()
            }
            Self::Classes { files, bytes } => {
                let of = |class: u32| {
                    let name =
                        move |file| (format!("class-{class}/{}", in_folder(file)), bytes << class);
                    (0..(files >> class).max(1)).map(name)
                };
                (0..CLASSES).flat_map(of).collect()
            }
            Self::Numbered { files, bytes } | Self::NumberedLarge { files, bytes } => {
                (0..files).map(|file| (number_name(file), bytes)).collect()
            }
        }
    }

    /// Bytes of all files.
    pub(crate) fn bytes(self) -> u64 {
        self.files().iter().map(|(_, bytes)| bytes).sum()
    }

    /// For titles: `26 folders of 256 files of 32 KiB`.
    pub(crate) fn about(self) -> String {
        match self {
            Self::Folders { folders, files, bytes } => {
                format!("{folders} folders of {}", files_of(files, bytes))
            }
            Self::Large { files, bytes }
            | Self::Numbered { files, bytes }
            | Self::NumberedLarge { files, bytes } => files_of(files, bytes),
            Self::Mixed { files } => format!(
                "{} files of {} to {}",
                count(files),
                size(MIXED_BYTES[0]),
                size(MIXED_BYTES[MIXED_BYTES.len() - 1])
            ),
            Self::Classes { bytes, .. } => format!(
                "{} files of {} to {}",
                count(self.files().len() as u64),
                size(bytes),
                size(bytes << (CLASSES - 1))
            ),
        }
    }
}

/// Name of a numbered object, as the bare sender has it too.
pub(super) fn number_name(number: u64) -> String {
    format!("{number:012}")
}

fn in_folder(file: u64) -> String {
    format!("{:04}/file-{:03}.bin", file / FOLDER_FILES, file % FOLDER_FILES)
}

fn mixed(file: u64) -> u64 {
    MIXED_BYTES[usize::try_from(file % MIXED_BYTES.len() as u64).unwrap_or_default()]
}

/// `a` to `z`, then `ba` and so on.
fn letters(number: u64) -> String {
    let letter = char::from(b'a' + u8::try_from(number % 26).unwrap_or_default());
    if number < 26 { letter.to_string() } else { format!("{}{letter}", letters(number / 26)) }
}

/// A share of a number, at least 1.
pub(crate) fn times(number: u64, scale: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "sizes of benchmarks are far below 2^52 and above 0"
    )]
    let share = (number as f64 * scale).round() as u64;
    share.max(1)
}

fn files_of(files: u64, bytes: u64) -> String {
    format!("{} {} of {}", count(files), if files == 1 { "file" } else { "files" }, size(bytes))
}

/// A size as people write it: `32 KiB`, `1.5 MiB`.
pub(super) fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..KIB => (1, "bytes"),
        KIB..MIB => (KIB, "KiB"),
        MIB..GIB => (MIB, "MiB"),
        _ => (GIB, "GiB"),
    };
    let tenths = (bytes * 10 + unit / 2) / unit;
    if tenths.is_multiple_of(10) {
        format!("{} {name}", tenths / 10)
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(shape: Shape) -> (usize, u64) {
        let files = shape.files();
        let names: std::collections::BTreeSet<_> = files.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), files.len(), "{shape:?}");
        (files.len(), files.iter().map(|(_, bytes)| bytes).sum())
    }

    #[test]
    fn the_published_sizes_are_those_of_scale_one() {
        let folders = Shape::Folders { folders: 26, files: 2048, bytes: 32 * KIB };
        assert_eq!(total(folders.scaled(1.0)), (53_248, 53_248 * 32 * KIB));
        let classes = Shape::Classes { files: 8192, bytes: 512 * KIB };
        assert_eq!(total(classes.scaled(1.0)), (16_368, 40 * GIB));
        assert!(classes.files().iter().any(|(_, bytes)| *bytes == 256 * MIB));
        assert_eq!(total(Shape::Mixed { files: 65_537 }).0, 65_537);
    }

    #[test]
    fn a_scale_makes_them_smaller_but_never_nothing() {
        let scaled = |shape: Shape, scale| total(shape.scaled(scale));
        let folders = Shape::Folders { folders: 26, files: 2048, bytes: 32 * KIB };
        assert_eq!(scaled(folders, 0.125), (26 * 256, 26 * 256 * 32 * KIB));
        assert_eq!(scaled(folders, 1e-9).0, 26);
        assert_eq!(scaled(Shape::Large { files: 5, bytes: 2 * GIB }, 0.5), (5, 5 * GIB));
        let (files, bytes) = scaled(Shape::Classes { files: 8192, bytes: 512 * KIB }, 0.01);
        assert!((1600..1700).contains(&files), "{files}");
        assert!((380 * MIB..420 * MIB).contains(&bytes), "{bytes}");
        assert_eq!(scaled(Shape::Numbered { files: 1000, bytes: 4 }, 0.1), (100, 400));
    }

    #[test]
    fn sizes_are_told_as_people_write_them() {
        let told = [0, 512, 32 * KIB, 1536 * KIB, 2 * GIB, 4_294_967].map(size);
        assert_eq!(told, ["0 bytes", "512 bytes", "32 KiB", "1.5 MiB", "2 GiB", "4.1 MiB"]);
        let shape = Shape::Folders { folders: 26, files: 2048, bytes: 32 * KIB };
        assert_eq!(shape.about(), "26 folders of 2,048 files of 32 KiB");
    }
}
