//! Rust files that the guide names exist: a walk through the code must not lead to a file that was
//! renamed.

use std::path::Path;

use super::source::{Source, Violation};

/// The document that says where code is. Those about measurements keep the names of their time.
const GUIDE: &str = "ARCHITECTURE.md";

/// Adds names in the guide that no file has.
pub(super) fn check(files: &[Source], violations: &mut Vec<Violation>) {
    for guide in files.iter().filter(|file| file.path == GUIDE) {
        for (line, text) in (1..).zip(guide.text.lines()) {
            for name in text.split('`').skip(1).step_by(2).filter(|name| is_rust(name)) {
                if !files.iter().any(|file| is_named(&file.path, name)) {
                    let rule = format!("no file is named `{name}`");
                    violations.push(Violation { file: guide.path.clone(), line, rule });
                }
            }
        }
    }
}

fn is_rust(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "rs")
}

/// Whether a name, with as many folders as it has, is that of a file.
fn is_named(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_broken_by(guide: &str) -> usize {
        let file = |path: &str, text: &str| Source::new(path, text.to_owned());
        let files = [file("ARCHITECTURE.md", guide), file("crates/a/src/net/pool.rs", "")];
        let mut violations = Vec::new();
        check(&files, &mut violations);
        violations.len()
    }

    #[test]
    fn a_guide_names_only_files_that_exist() {
        assert_eq!(rules_broken_by("from `net/pool.rs` to `pool.rs`\n"), 0);
        assert_eq!(rules_broken_by("from `net/pool.rs` to `spool.rs`, `ool.rs` and `a.md`\n"), 2);
    }
}
