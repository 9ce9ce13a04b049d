//! The module graph of each crate: production code, file by file, with re-exports followed to the
//! module that defines a name. Which crate may use which is cargo's business.
//!
//! Two rules: no import cycle has more than [`CYCLE_FILES_MAX`] files, and folders that lie side
//! by side use each other in one direction only. A declaration or re-export by a parent is no use
//! of its child.

mod paths;

use std::collections::{BTreeMap, BTreeSet};

use self::paths::{ModulePath, Names};
use super::source::{Source, Violation};

/// Files of the largest import cycle that is accepted.
const CYCLE_FILES_MAX: usize = 3;

/// Where crates lie.
const CRATES: [&str; 2] = ["crates/", "tools/"];

type Graph = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// Adds the cycles and the folders that break the rules.
pub(super) fn check(files: &[Source], violations: &mut Vec<Violation>) {
    let mut crates: BTreeMap<&str, Vec<(ModulePath, &Source)>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        if let Some((name, module)) = module_of(&file.path) {
            crates.entry(name).or_default().push((module, file));
        }
    }
    for modules in crates.values() {
        let graph = graph_of(modules);
        let file_of = |module: &ModulePath| {
            modules.iter().find(|(path, _)| path == module).map_or("", |(_, file)| &file.path)
        };
        check_cycles(&graph, file_of, violations);
        check_folders(&graph, file_of, violations);
    }
}

/// The crate's folder and the module path of a file; `None` where it is no source of a crate.
fn module_of(path: &str) -> Option<(&str, ModulePath)> {
    let path = CRATES.iter().find_map(|folder| path.strip_prefix(folder))?;
    let (name, inner) = path.split_once("/src/")?;
    let mut segments: ModulePath =
        inner.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if segments.last().is_some_and(|last| last == "mod") {
        segments.pop();
    }
    if segments == ["lib"] || segments == ["main"] {
        segments.clear();
    }
    Some((name, segments))
}

fn graph_of(modules: &[(ModulePath, &Source)]) -> Graph {
    let mut all = BTreeMap::new();
    for (path, file) in modules {
        // The compiler says what is wrong with those that cannot be parsed.
        if let Ok(names) = Names::of(&file.text) {
            all.insert(path.clone(), names);
        }
    }
    let is_test = |path: &ModulePath| {
        (1..=path.len()).any(|length| {
            let parent = all.get(&path[..length - 1]);
            parent.is_some_and(|names| names.test_modules.contains(&path[length - 1]))
        })
    };
    let mut graph = Graph::new();
    for (path, names) in all.iter().filter(|(path, _)| !is_test(path)) {
        let used = names.uses.iter().filter_map(|name| paths::definer(&all, path, name));
        let used = used.filter(|module| module != path && !is_test(module));
        graph.insert(path.clone(), used.collect());
    }
    graph
}

fn check_cycles<'f>(
    graph: &Graph,
    file_of: impl Fn(&ModulePath) -> &'f str,
    violations: &mut Vec<Violation>,
) {
    for cycle in cycles(graph).into_iter().filter(|cycle| cycle.len() > CYCLE_FILES_MAX) {
        let names: Vec<String> = cycle.iter().map(|module| module.join("::")).collect();
        violations.push(Violation {
            file: file_of(&cycle[0]).to_owned(),
            line: 1,
            rule: format!(
                "an import cycle of {} files, of which {CYCLE_FILES_MAX} are accepted: {}",
                names.len(),
                names.join(", ")
            ),
        });
    }
}

/// Folders side by side that use each other, directly or through others.
fn check_folders<'f>(
    graph: &Graph,
    file_of: impl Fn(&ModulePath) -> &'f str,
    violations: &mut Vec<Violation>,
) {
    let mut levels: BTreeMap<ModulePath, Graph> = BTreeMap::new();
    // A use, with the deepest folder that both lie in and the folder of each within it.
    let mut origin = BTreeMap::new();
    for (from, uses) in graph {
        for to in uses {
            let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            // Files that lie in no folder of their own beside the other have no direction.
            if from.len() < shared + 2 || to.len() < shared + 2 {
                continue;
            }
            let (a, b) = (from[..=shared].to_vec(), to[..=shared].to_vec());
            let level = levels.entry(from[..shared].to_vec()).or_default();
            level.entry(a.clone()).or_default().insert(b.clone());
            origin.entry((a, b)).or_insert((from, to));
        }
    }
    for level in levels.values() {
        for folders in cycles(level) {
            let within = |folder: &ModulePath| folders.contains(folder);
            for ((a, b), (from, to)) in origin.iter().filter(|((a, b), _)| within(a) && within(b)) {
                violations.push(Violation {
                    file: file_of(from).to_owned(),
                    line: 1,
                    rule: format!(
                        "folders in a circle: `{}` uses `{}` here through `{}`",
                        a.join("/"),
                        b.join("/"),
                        to.join("::")
                    ),
                });
            }
        }
    }
}

/// Strongly connected components of more than one node: those that reach each other.
fn cycles(graph: &Graph) -> Vec<Vec<ModulePath>> {
    let reached: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> =
        graph.keys().map(|node| (node, reachable(graph, node))).collect();
    let mut found: BTreeSet<Vec<ModulePath>> = BTreeSet::new();
    for (node, ahead) in &reached {
        let back =
            ahead.iter().filter(|other| reached.get(*other).is_some_and(|r| r.contains(node)));
        let cycle: Vec<ModulePath> = back.map(|other| (*other).clone()).collect();
        if cycle.len() > 1 {
            found.insert(cycle);
        }
    }
    found.into_iter().collect()
}

fn reachable<'g>(graph: &'g Graph, from: &ModulePath) -> BTreeSet<&'g ModulePath> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&ModulePath> = graph[from].iter().collect();
    while let Some(node) = open.pop() {
        if reached.insert(node) {
            open.extend(graph.get(node).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), (*text).to_owned()))
            .collect();
        let mut violations = Vec::new();
        check(&files, &mut violations);
        violations.iter().map(ToString::to_string).collect()
    }

    /// A ring of files, each of which uses the next one.
    fn ring(length: usize) -> Vec<(String, String)> {
        let file = |n: usize| (format!("f{n}.rs"), format!("use crate::f{}::X;", (n + 1) % length));
        (0..length).map(file).collect()
    }

    #[test]
    fn a_cycle_of_too_many_files_is_found_once() {
        for (length, found) in [(CYCLE_FILES_MAX, 0), (CYCLE_FILES_MAX + 1, 1)] {
            let files = ring(length);
            let files: Vec<_> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!(violations(&files).len(), found, "{length}");
        }
    }

    #[test]
    fn folders_that_use_each_other_are_found_through_re_exports() {
        let there = ("a/one.rs", "use crate::b::Two;");
        let exports = ("b/mod.rs", "mod two; pub use two::Two;");
        let back = ("b/two.rs", "fn f() -> crate::a::one::X { loop {} }");
        let found = violations(&[there, exports, back]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/x/src/a/one.rs:1: folders in a circle"), "{found:?}");
        assert_eq!(violations(&[there, exports]), [""; 0]);
    }

    #[test]
    fn tests_parents_and_prose_are_no_uses() {
        let there = ("a/one.rs", "use crate::b::two::Two;");
        for back in [
            "#[cfg(test)] mod tests { use crate::a::one::X; }",
            "#[cfg(test)] use crate::a::one::X;",
            "//! crate::a::one::X\n",
            "const TEXT: &str = \"crate::a::one::X\";",
        ] {
            assert_eq!(violations(&[there, ("b/two.rs", back)]), [""; 0], "{back}");
        }
        let test_file = ("b/two.rs", "#[cfg(test)] mod tests;");
        let tests = ("b/two/tests.rs", "use crate::a::one::X;");
        assert_eq!(violations(&[there, test_file, tests]), [""; 0]);
    }

    #[test]
    fn paths_in_macros_expressions_and_through_super_are_uses() {
        let there = ("a/one.rs", "use crate::b::two::Two;");
        for back in [
            "fn f() { assert!(crate::a::one::x()); }",
            "use super::super::a::{one::{self, X}};",
            "mod inner { use super::super::super::a::one::X; }",
            "impl From<crate::a::one::X> for Y {}",
        ] {
            assert_eq!(violations(&[there, ("b/two.rs", back)]).len(), 2, "{back}");
        }
    }
}
