//! The commands in README and on every page of `docs` are those of the command.
//!
//! The `sh` blocks of a page run in order, in one shell and an empty folder, against a server in
//! memory that the environment names. What a page takes for granted is made by the lines of its
//! comment `<!-- setup … -->`. A block that cannot run here says why behind `sh`, as in
//! `sh (needs a cluster)`; of its commands the words are parsed. Links are the business of
//! `cargo xtask tidy`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{BINARY, Bench, stderr, stdout};

/// Pages that others write: tables of benchmarks, and what is tested by Python.
const LEFT_OUT: [&str; 3] = ["docs/bench/", "docs/python.md", "docs/python-reference.md"];

/// A block of commands.
struct Block {
    commands: String,
    /// Why it is not run.
    reason: Option<String>,
}

/// A page with commands.
struct Page {
    name: String,
    setup: String,
    blocks: Vec<Block>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Markdown files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

fn pages() -> Vec<Page> {
    let mut found = vec![root().join("README.md")];
    files(&root().join("docs"), &mut found);
    found.sort();
    let named = found.iter().map(|path| {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    });
    let named = named.filter(|(name, _)| !LEFT_OUT.iter().any(|start| name.starts_with(start)));
    named.map(|(name, text)| page(name, &text)).filter(|page| !page.blocks.is_empty()).collect()
}

fn page(name: String, text: &str) -> Page {
    let setup = text.split_once("<!-- setup\n").and_then(|(_, rest)| rest.split_once("-->"));
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("```") {
        assert!(before.is_empty() || before.ends_with('\n') || !after.starts_with("sh"), "{name}");
        let (info, after) = after.split_once('\n').unwrap();
        let (commands, after) = after.split_once("```").unwrap_or_else(|| panic!("{name}: {info}"));
        if let Some(reason) = info.strip_prefix("sh") {
            let reason = reason.trim().trim_matches(['(', ')']);
            let reason = Some(reason).filter(|reason| !reason.is_empty());
            let reason =
                reason.or_else(|| is_build(commands).then_some("a build")).map(str::to_owned);
            blocks.push(Block { commands: commands.to_owned(), reason });
        }
        rest = after;
    }
    Page { name, setup: setup.map(|(setup, _)| setup.to_owned()).unwrap_or_default(), blocks }
}

/// Whether a block only builds and installs, which is too much for a test.
fn is_build(commands: &str) -> bool {
    let mut lines = commands.lines();
    lines.all(|line| ["make ", "cargo ", "pip "].iter().any(|start| line.starts_with(start)))
}

#[test]
fn the_commands_of_every_page_run_as_written() {
    let mut failed = Vec::new();
    for page in pages() {
        let runs = page.blocks.iter().filter(|block| block.reason.is_none());
        let commands: String = runs.map(|block| block.commands.as_str()).collect();
        if commands.is_empty() {
            continue;
        }
        let bench = Bench::new();
        let programs = tempfile::tempdir().unwrap();
        symlink(BINARY, programs.path().join("s3haul")).unwrap();
        let path = [programs.path(), "/usr/bin".as_ref(), "/bin".as_ref()];
        let script = format!(
            "set -e -o pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{}\nset -v\n\
             {commands}",
            page.setup
        );
        let mut bash = bench.program("bash");
        bash.args(["-c", &script]).env("PATH", std::env::join_paths(path).unwrap());
        let output = bash.output().unwrap();
        if !output.status.success() {
            let said = stderr(&output);
            let last: Vec<_> = said.lines().rev().take(12).collect();
            let last: Vec<_> = last.into_iter().rev().collect();
            failed.push(format!("== {}\n{}\n{}", page.name, stdout(&output), last.join("\n")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Commands of a block: the words of each line that begins with `s3haul`, up to a pipe or the like.
fn command_lines(commands: &str) -> Vec<Vec<String>> {
    let whole = commands.replace("\\\n", " ");
    let lines = whole.lines().map(str::trim).filter(|line| line.starts_with("s3haul "));
    lines.map(words).collect()
}

/// Words of a line as a shell splits them; variables stay.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut is_begun = false;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => (quote, is_begun) = (Some(character), true),
            (None, '|' | '>' | '<' | ';' | '&' | '#') if !is_begun => break,
            (None, ' ') => {
                if is_begun {
                    words.push(std::mem::take(&mut word));
                }
                is_begun = false;
            }
            _ => {
                is_begun = true;
                word.push(character);
            }
        }
    }
    if is_begun {
        words.push(word);
    }
    words
}

#[test]
fn what_cannot_run_parses() {
    let mut count = 0;
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.reason.is_some()) {
            for words in command_lines(&block.commands) {
                count += 1;
                let parsed = s3haul_cli::command().try_get_matches_from(&words);
                if let Err(error) = parsed.map_err(|error| error.to_string()) {
                    panic!("{}: {}\n{error}", page.name, words.join(" "));
                }
            }
        }
    }
    assert!(count > 0, "some blocks are not run");
}

#[test]
fn thirty_questions_have_an_answer_each() {
    let text = std::fs::read_to_string(root().join("docs/questions.md")).unwrap();
    let questions: Vec<_> = text.lines().filter(|line| line.contains("? |")).collect();
    assert!(questions.len() >= 30, "{}", questions.len());
    for question in questions {
        assert!(question.contains("](") && question.contains(".md"), "{question}");
    }
}

/// Rust files below a folder, as one text.
fn sources(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = entries.map(|path| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(extension) if extension == "rs" => std::fs::read_to_string(path).unwrap(),
        _ => String::new(),
    });
    texts.collect()
}

#[test]
fn the_tests_of_promises_exist() {
    let text = std::fs::read_to_string(root().join("docs/promises.md")).unwrap();
    let sources = sources(&root().join("crates"));
    let mut count = 0;
    for row in text.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let tests = row.rsplit(" | ").next().unwrap();
        for name in tests.split('`').skip(1).step_by(2) {
            count += 1;
            assert!(sources.contains(&format!("fn {name}(")), "there is no test `{name}`");
        }
    }
    assert!(count > 30, "{count}");
}

/// Otherwise a block that is left out without a reason would go unnoticed.
#[test]
fn most_commands_run() {
    let lines = |is_run: bool| -> usize {
        let pages = pages();
        let blocks = pages.iter().flat_map(|page| &page.blocks);
        let blocks = blocks.filter(|block| block.reason.is_none() == is_run);
        blocks.map(|block| command_lines(&block.commands).len()).sum()
    };
    assert!(lines(true) > 4 * lines(false), "{} run, {} do not", lines(true), lines(false));
}
