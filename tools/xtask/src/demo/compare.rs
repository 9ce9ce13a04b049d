//! Compares two trees byte for byte with `diff`, so that the demo does not trust the code it shows.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use support::process;

/// Lines of a difference that are shown.
const SHOWN_MAX: usize = 8;

/// Fails unless both trees have the same names and the same bytes.
pub(super) fn trees(left: &Path, right: &Path) -> Result<()> {
    let mut diff = Command::new("diff");
    diff.args(["--recursive", "--brief", "--no-dereference"]).args([left, right]);
    let output = process::output(diff.env("LC_ALL", "C"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).context("`diff` printed no UTF-8")?;
    let shown: Vec<String> =
        text.lines().take(SHOWN_MAX).map(|line| line.escape_debug().to_string()).collect();
    bail!("{} files differ, among them:\n  {}", text.lines().count(), shown.join("\n  "))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_kind_of_difference_is_seen() {
        let scratch = tempfile::tempdir().unwrap();
        let (left, right) = (scratch.path().join("left"), scratch.path().join("right"));
        for (folder, files) in [
            (&left, &[("same", "x"), ("bytes", "abc"), ("size", "ab"), ("gone", "")][..]),
            (&right, &[("same", "x"), ("bytes", "abd"), ("size", "abc"), ("extra", "")][..]),
        ] {
            fs::create_dir_all(folder).unwrap();
            for (name, text) in files {
                fs::write(folder.join(name), text).unwrap();
            }
        }
        let error = trees(&left, &right).unwrap_err().to_string();
        for part in ["4 files", "left: gone", "right: extra", "left/size and", "left/bytes and"] {
            assert!(error.contains(part), "`{part}` is not in {error}");
        }
        trees(&left, &left).unwrap();
    }
}
