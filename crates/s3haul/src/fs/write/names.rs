//! Which relative names may be written, and how temporary files are named. Pure.

use std::borrow::Cow;
use std::fmt;

use crate::fs::warning;

/// Longest name of one path component on common file systems, in bytes.
pub(super) const NAME_LENGTH_MAX: usize = 255;
/// How a temporary name ends. It begins with a dot.
const TEMPORARY_END: &str = ".s3haul-tmp";
/// Length of the random piece of a temporary name: a dot and eight hexadecimal digits.
const RANDOM_LENGTH: usize = 9;

/// A key that cannot be written below the target root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escape {
    /// The relative name.
    pub name: String,
    /// Why it is refused.
    pub reason: EscapeReason,
}

/// Why a relative name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeReason {
    /// A component is `..`.
    Parent,
    /// It starts with `/`.
    Absolute,
    /// A component is empty or `.`, and [`collapse`] could not help: it is the last.
    EmptyComponent,
    /// It holds a NUL byte.
    Nul,
    /// A symbolic link on the way leads out of the root.
    Link,
    /// A symbolic link on the way leads to another folder below the root.
    LinkInside,
    /// A symbolic link is on the way to what is to be removed.
    LinkOnTheWay,
    /// It is a name of files that are being written.
    Temporary,
    /// It is to be removed and is being written.
    InUse,
}

impl Escape {
    /// What follows `warning: `, in the words of the AWS tools where they have the case.
    pub fn warning(&self) -> String {
        warning::skipping(&self.name, self.reason.text())
    }
}

impl EscapeReason {
    fn text(self) -> &'static str {
        match self {
            Self::Parent => warning::PARENT_REFERENCE,
            Self::Absolute => "Key is an absolute path and would leave the target directory.",
            Self::EmptyComponent => {
                "Key has an empty or `.` component, which a local path cannot express."
            }
            Self::Nul => "Key has a NUL byte, which a local path cannot hold.",
            Self::LinkOnTheWay => "It is not removed, because a symbolic link is on its path.",
            Self::Temporary => "Such names are kept for files that are being written.",
            Self::InUse => "It is not removed, because it is being written.",
            Self::LinkInside => {
                "A symbolic link on its path leads to another folder of the target directory."
            }
            Self::Link => "A symbolic link on its path leads out of the target directory.",
        }
    }
}

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason.text())
    }
}

impl std::error::Error for Escape {}

/// Splits a relative name into its directory (empty for the root) and its last component, after
/// checking that it stays below the root.
pub(in crate::fs) fn split_checked(relative: &str) -> Result<(&str, &str), Escape> {
    let (directory, name) = split_removable(relative)?;
    if is_temporary(name) {
        return Err(Escape { name: relative.to_owned(), reason: EscapeReason::Temporary });
    }
    Ok((directory, name))
}

/// Why a relative name will not be written below a root, as far as the name says; `None` if it may
/// be.
pub fn refused(relative: &str) -> Option<Escape> {
    split_checked(relative).err()
}

/// As [`split_checked`], for what is to be removed, which may be a temporary file.
pub(in crate::fs) fn split_removable(relative: &str) -> Result<(&str, &str), Escape> {
    check(relative).map_err(|reason| Escape { name: relative.to_owned(), reason })?;
    Ok(relative.rsplit_once('/').unwrap_or(("", relative)))
}

/// Leaves out the empty and `.` components of a relative name that is written below a root, as the
/// AWS tools do: `a//b` and `a/./b` are `a/b`, so several keys share one file, and the caller sees
/// to it that none is lost. A name that is refused for another reason, or that ends in such a
/// component and so names no file, is given back as it is.
pub fn collapse(relative: &str) -> Cow<'_, str> {
    let is_void = |component: &str| component.is_empty() || component == ".";
    let last = relative.rsplit('/').next().unwrap_or(relative);
    if relative.starts_with('/') || is_void(last) || !relative.split('/').any(is_void) {
        return Cow::Borrowed(relative);
    }
    let kept: Vec<_> = relative.split('/').filter(|component| !is_void(component)).collect();
    Cow::Owned(kept.join("/"))
}

fn check(relative: &str) -> Result<(), EscapeReason> {
    // Checked first: a key that is wrong in two ways is reported as the more dangerous one.
    if relative.split('/').any(|component| component == "..") {
        return Err(EscapeReason::Parent);
    }
    if relative.starts_with('/') {
        return Err(EscapeReason::Absolute);
    }
    if memchr::memchr(0, relative.as_bytes()).is_some() {
        return Err(EscapeReason::Nul);
    }
    if relative.split('/').any(|component| component.is_empty() || component == ".") {
        return Err(EscapeReason::EmptyComponent);
    }
    Ok(())
}

/// `.<name>.s3haul-tmp`, or with eight hexadecimal digits before the end where that name is taken;
/// the name cut at a character so that the whole fits a file system.
pub(in crate::fs) fn temporary_name(name: &str, random: Option<u32>) -> String {
    let mut end = name.len().min(NAME_LENGTH_MAX - 1 - RANDOM_LENGTH - TEMPORARY_END.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let start = &name[..end];
    match random {
        None => [".", start, TEMPORARY_END].concat(),
        Some(random) => format!(".{start}.{random:08x}{TEMPORARY_END}"),
    }
}

/// Whether a file's name (without folders) is one of [`temporary_name`].
pub(in crate::fs) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.len() > TEMPORARY_END.len() && name.ends_with(TEMPORARY_END)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_would_leave_the_root_are_refused() {
        let reason = |name: &str| split_checked(name).unwrap_err().reason;
        assert_eq!(reason("../a"), EscapeReason::Parent);
        assert_eq!(reason("a/../b"), EscapeReason::Parent);
        assert_eq!(reason("a/.."), EscapeReason::Parent);
        assert_eq!(reason(".."), EscapeReason::Parent);
        assert_eq!(reason("/etc/passwd"), EscapeReason::Absolute);
        assert_eq!(reason("/../x"), EscapeReason::Parent);
        assert_eq!(reason(""), EscapeReason::EmptyComponent);
        assert_eq!(reason("a//b"), EscapeReason::EmptyComponent);
        assert_eq!(reason("a/"), EscapeReason::EmptyComponent);
        assert_eq!(reason("./a"), EscapeReason::EmptyComponent);
        assert_eq!(reason("a\0b"), EscapeReason::Nul);
        assert_eq!(reason("a/.b.s3haul-tmp"), EscapeReason::Temporary);
        assert_eq!(split_checked(".b.s3haul-tmp/a").unwrap(), (".b.s3haul-tmp", "a"));
        assert_eq!(split_checked("b.s3haul-tmp").unwrap(), ("", "b.s3haul-tmp"));
        assert_eq!(split_checked(".s3haul-tmp").unwrap(), ("", ".s3haul-tmp"));
        assert_eq!(split_checked("..a/b..").unwrap(), ("..a", "b.."));
        assert_eq!(split_checked("f").unwrap(), ("", "f"));
    }

    #[test]
    fn void_components_collapse() {
        let table = [
            ("a//b", "a/b"),
            ("a/./b", "a/b"),
            ("././/a", "a"),
            ("a/b", "a/b"),
            ("a..b/.c", "a..b/.c"),
            ("/a//b", "/a//b"),
            ("a//", "a//"),
            ("a//.", "a//."),
            ("", ""),
        ];
        for (relative, expected) in table {
            assert_eq!(collapse(relative), expected, "{relative}");
        }
        assert_eq!(split_checked(&collapse("a//../b")).unwrap_err().reason, EscapeReason::Parent);
    }

    #[test]
    fn parent_references_are_worded_as_scripts_know_them() {
        let escape = split_checked("../../a").unwrap_err();
        assert_eq!(escape.warning(), "Skipping file ../../a. File references a parent directory.");
    }

    proptest! {
        #[test]
        fn collapsing_only_ever_leaves_out_void_components(relative in "[a./]{0,12}") {
            let collapsed = collapse(&relative);
            prop_assert_eq!(collapse(&collapsed), &*collapsed, "once is enough");
            let named = |text: &str| -> Vec<String> {
                let components = text.split('/').map(str::to_owned);
                components.filter(|name| !name.is_empty() && name != ".").collect()
            };
            prop_assert_eq!(named(&relative), named(&collapsed));
            if matches!(collapsed, Cow::Owned(_)) {
                let reason = check(&collapsed).err();
                prop_assert!(matches!(reason, None | Some(EscapeReason::Parent)));
            }
        }

        #[test]
        fn temporary_names_fit_and_keep_the_start(name in "[a-zé漢😀]{1,200}", random: u32) {
            for random in [None, Some(random)] {
                let temporary = temporary_name(&name, random);
                prop_assert!(temporary.len() <= NAME_LENGTH_MAX);
                prop_assert!(is_temporary(&temporary));
                let (start, _) = temporary[1..].split_once('.').unwrap();
                prop_assert!(name.starts_with(start));
                // Nothing is cut needlessly: one more character might not have fitted.
                prop_assert!(start == name || start.len() + 35 > NAME_LENGTH_MAX - 1);
            }
            prop_assert!(!is_temporary(&name));
        }
    }
}
