//! Who may use whom: modules inside the library, and crates of the workspace.
//!
//! Knows `crate::` and `super::` paths, in `use` trees and in expressions. A `super::` inside an
//! inline module is taken one module too high, which can only matter where a submodule is named
//! as a forbidden module is.

use super::Violation;
use super::source::{Source, line_of};

const LIBRARY: &str = "crates/s3haul/src/";

/// Layer 0: used by everybody, and by each other.
const GROUND: [&str; 5] = ["error", "units", "event", "env", "location"];

/// The layers above: module, layer, what it may use beside [`GROUND`] and itself.
const MODULES: [(&str, u8, &[&str]); 10] = [
    ("controller", 1, &[]),
    ("s3", 1, &["controller"]),
    ("fs", 1, &[]),
    ("plan", 2, &[]),
    ("list", 2, &["s3"]),
    ("script", 2, &["s3"]),
    ("summary", 2, &["s3"]),
    ("transfer", 2, &["controller", "plan", "s3", "fs"]),
    ("job", 3, &["s3", "fs", "plan", "list", "script", "summary", "transfer"]),
    ("fuzzing", 3, &["s3", "fs", "plan"]),
];

/// Edges inside a module that must not exist: from, to, why.
const INSIDE: [(&str, &str, &str); 1] =
    [("s3::client", "s3::ops", "the client sends requests, it knows no operation")];

/// Crates of ours that a crate may depend on: manifest, in all builds, in tests only.
const CRATES: [(&str, &[&str], &[&str]); 7] = [
    ("crates/s3haul/Cargo.toml", &[], &["s3haul-mutate", "s3haul-sim"]),
    ("crates/s3haul-bare/Cargo.toml", &[], &[]),
    ("crates/s3haul-budgets/Cargo.toml", &["s3haul"], &[]),
    ("crates/s3haul-mutate/Cargo.toml", &[], &[]),
    ("crates/s3haul-sim/Cargo.toml", &[], &["s3haul-mutate"]),
    ("crates/s3haul-cli/Cargo.toml", &["s3haul-command"], &["s3haul"]),
    ("crates/s3haul-command/Cargo.toml", &["s3haul", "s3haul-sim"], &["s3haul-mutate"]),
];

/// Adds what breaks the tables above.
pub(super) fn check(file: &Source, violations: &mut Vec<Violation>) {
    check_manifest(file, violations);
    let Some(module) = module_of(&file.path) else { return };
    let mut report = |offset: usize, rule: String| {
        let line = line_of(&file.code, offset);
        violations.push(Violation { file: file.path.clone(), line, rule });
    };
    if !is_known(&module[0]) {
        report(0, format!("module `{}` is not in the layer table of xtask", module[0]));
        return;
    }
    for (offset, path) in references(&file.code, &module) {
        if let Some(rule) = broken_rule(&module, &path) {
            report(offset, rule);
        }
    }
}

fn broken_rule(from: &[String], path: &[String]) -> Option<String> {
    let to = path.first()?;
    if is_known(to) && !may_use(&from[0], to) {
        let from = from[0].as_str();
        return Some(format!(
            "`{from}` (layer {}) must not use `{to}` (layer {})",
            layer_of(from),
            layer_of(to),
        ));
    }
    let inside = INSIDE
        .iter()
        .find(|(source, target, _)| starts_with(from, source) && starts_with(path, target))?;
    Some(format!("`{}` must not use `{}`: {}", inside.0, inside.1, inside.2))
}

fn starts_with(path: &[String], prefix: &str) -> bool {
    let mut segments = path.iter();
    prefix.split("::").all(|wanted| segments.next().is_some_and(|segment| segment == wanted))
}

fn is_known(module: &str) -> bool {
    GROUND.contains(&module) || MODULES.iter().any(|(name, ..)| *name == module)
}

fn layer_of(module: &str) -> u8 {
    MODULES.iter().find(|(name, ..)| *name == module).map_or(0, |(_, layer, _)| *layer)
}

fn may_use(from: &str, to: &str) -> bool {
    let below = MODULES.iter().find(|(name, ..)| *name == from).map_or(&[][..], |row| row.2);
    from == to || GROUND.contains(&to) || below.contains(&to)
}

/// Module path of a file of the library; none for the crate's root and for other files.
fn module_of(path: &str) -> Option<Vec<String>> {
    let inner = path.strip_prefix(LIBRARY)?.strip_suffix(".rs")?;
    let mut segments: Vec<String> = inner.split('/').map(str::to_owned).collect();
    if segments.last().is_some_and(|last| last == "mod") {
        segments.pop();
    }
    (segments != ["lib"]).then_some(segments)
}

/// Paths from the crate's root that the code names, with where.
fn references(code: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for (offset, _) in code.match_indices("crate::").filter(|(at, _)| starts_word(code, *at)) {
        collect(code, offset + "crate::".len(), &[], &mut found);
    }
    for (offset, _) in code.match_indices("super::").filter(|(at, _)| starts_word(code, *at)) {
        if code[..offset].ends_with("super::") {
            continue;
        }
        let mut at = offset;
        let mut base = module.to_vec();
        while code[at..].starts_with("super::") {
            base.pop();
            at += "super::".len();
        }
        collect(code, at, &base, &mut found);
    }
    found
}

fn starts_word(code: &str, at: usize) -> bool {
    !code[..at].ends_with(|character: char| character.is_alphanumeric() || character == '_')
}

/// Reads a path or a `use` tree; answers the offset after it.
fn collect(
    code: &str,
    start: usize,
    base: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let mut path = base.to_vec();
    let mut at = start;
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        if code[at..].starts_with('{') {
            return collect_group(code, at + 1, &path, found);
        }
        let rest = &code[at..];
        let length = rest
            .find(|character: char| !(character.is_alphanumeric() || character == '_'))
            .unwrap_or(rest.len());
        if length > 0 {
            path.push(rest[..length].to_owned());
        }
        at += length;
        if !code[at..].starts_with("::") {
            found.push((start, path));
            return at;
        }
        at += 2;
    }
}

fn collect_group(
    code: &str,
    start: usize,
    base: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let mut at = start;
    while let Some(character) = code[at..].chars().next() {
        match character {
            '}' => return at + 1,
            ',' | '*' => at += 1,
            _ if character.is_whitespace() => at += character.len_utf8(),
            _ => {
                let end = collect(code, at, base, found).max(at + character.len_utf8());
                // What is left of the entry, such as `as Name`, names nothing new.
                at = code[end..].find([',', '}']).map_or(code.len(), |length| end + length);
            }
        }
    }
    at
}

fn check_manifest(file: &Source, violations: &mut Vec<Violation>) {
    let Some((_, always, in_tests)) = CRATES.iter().find(|row| row.0 == file.path) else {
        return;
    };
    let mut section = String::new();
    for (index, line) in file.text.lines().enumerate() {
        let line = line.trim();
        let name = if let Some(header) = line.strip_prefix('[') {
            header.trim_end_matches(']').clone_into(&mut section);
            // `[dependencies.name]` is a section of its own.
            section.rsplit_once("dependencies.").map_or("", |(_, name)| name).to_owned()
        } else if section.ends_with("dependencies") {
            line.split(['.', '=', ' ']).next().unwrap_or_default().to_owned()
        } else {
            continue;
        };
        let is_ours = CRATES.iter().any(|row| row.0 == format!("crates/{name}/Cargo.toml"));
        let is_dev = section.contains("dev-dependencies");
        let allowed =
            always.contains(&name.as_str()) || (is_dev && in_tests.contains(&name.as_str()));
        if is_ours && !allowed {
            let rule = format!("this crate must not depend on `{name}`");
            violations.push(Violation { file: file.path.clone(), line: index + 1, rule });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::violations_of;

    fn in_library(file: &str, text: &str) -> Vec<String> {
        violations_of(&format!("{}{file}", super::LIBRARY), &format!("//! A module.\n{text}\n"))
    }

    #[test]
    fn an_edge_upwards_is_found_with_its_line() {
        let found = in_library("s3/pool.rs", "use crate::error::Error;\nuse crate::job::Job;");
        let rule = "crates/s3haul/src/s3/pool.rs:3: `s3` (layer 1) must not use `job` (layer 3)";
        assert_eq!(found, [rule]);
    }

    #[test]
    fn neighbours_that_must_not_know_each_other_do_not() {
        assert_eq!(in_library("s3/mod.rs", "use crate::fs::walk;").len(), 1);
        assert_eq!(in_library("fs/mod.rs", "use crate::s3::Client;").len(), 1);
        assert_eq!(in_library("plan/filter.rs", "fn f(c: &crate::s3::Client) {}").len(), 1);
        assert_eq!(in_library("plan/mod.rs", "use crate::transfer;").len(), 1);
        assert_eq!(in_library("error.rs", "use crate::s3::Client;").len(), 1);
    }

    #[test]
    fn edges_downwards_are_fine() {
        let text = "use crate::{error::{Error, Result}, fs, plan::Filter, s3::Client};";
        assert!(in_library("transfer/upload.rs", text).is_empty());
        assert!(in_library("job/mod.rs", "use crate::transfer::Engine;").is_empty());
        assert!(in_library("event.rs", "use crate::error::Error;").is_empty());
        assert!(in_library("lib.rs", "pub use crate::job::Job;").is_empty());
    }

    #[test]
    fn trees_over_several_lines_are_read() {
        let text = "use crate::{\n    error::{Error as E, Result},\n    job::{self, Job},\n};";
        assert_eq!(in_library("fs/walk.rs", text).len(), 1);
    }

    #[test]
    fn paths_through_super_are_resolved() {
        assert_eq!(in_library("plan/mod.rs", "use super::s3::Client;").len(), 1);
        assert_eq!(in_library("plan/filter.rs", "use super::super::s3::Client;").len(), 1);
        assert!(in_library("s3/ops/get.rs", "use super::super::client::Client;").is_empty());
    }

    #[test]
    fn the_client_does_not_know_operations() {
        assert_eq!(in_library("s3/client.rs", "use crate::s3::ops::get;").len(), 1);
        assert_eq!(in_library("s3/client/send.rs", "use crate::s3::{xml, ops};").len(), 1);
        assert_eq!(in_library("s3/client.rs", "use super::ops;").len(), 1);
        assert!(in_library("s3/ops/get.rs", "use crate::s3::client::Client;").is_empty());
    }

    #[test]
    fn prose_and_strings_are_no_edges() {
        let text = "/// See [`crate::job`].\nconst A: &str = \"crate::job\";";
        assert!(in_library("s3/mod.rs", text).is_empty());
    }

    #[test]
    fn a_module_outside_the_table_is_asked_for() {
        assert_eq!(in_library("surprise/mod.rs", "").len(), 1);
    }

    #[test]
    fn crates_depend_only_as_the_table_says() {
        let path = "crates/s3haul-sim/Cargo.toml";
        assert_eq!(violations_of(path, "[dependencies]\ns3haul.workspace = true\n").len(), 1);
        assert_eq!(violations_of(path, "[dev-dependencies]\ns3haul = \"0\"\n").len(), 1);
        assert_eq!(violations_of(path, "[dependencies.s3haul]\npath = \"x\"\n").len(), 1);
        assert!(violations_of(path, "[dependencies]\ns3s.workspace = true\n").is_empty());
        let path = "crates/s3haul/Cargo.toml";
        assert_eq!(violations_of(path, "[dependencies]\ns3haul-sim.workspace = true\n").len(), 1);
        assert!(
            violations_of(path, "[dev-dependencies]\ns3haul-sim.workspace = true\n").is_empty()
        );
    }
}
