//! The runs themselves: that they are the same again, and that a failure is reported; and the files
//! of `fuzz/`.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

/// Most files of all corpora together, and most bytes.
const FILES_MAX: usize = 300;
const BYTES_MAX: u64 = 1 << 20;

fn names(folder: &Path, ending: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect()
}

#[test]
fn every_target_is_a_program_with_a_corpus_and_a_dictionary() {
    let targets = names(&folder().join("fuzz_targets"), ".rs");
    assert!(targets.len() > 10);
    assert_eq!(targets, names(&folder().join("corpus"), ""));
    assert_eq!(targets, names(&folder().join("dictionaries"), ".dict"));
    let manifest = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    let programs = manifest.split("[[bin]]").skip(1);
    let name = |text: &str| text.split('"').nth(1).map(str::to_owned);
    assert_eq!(targets, programs.filter_map(name).collect());
    for target in targets {
        let path = folder().join("fuzz_targets").join(format!("{target}.rs"));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("::fuzzing::{target}(data)")), "{target}");
    }
}

#[test]
fn the_corpus_stays_small() {
    let (mut files, mut bytes) = (0, 0);
    for name in names(&folder().join("corpus"), "") {
        for entry in std::fs::read_dir(folder().join("corpus").join(name)).unwrap() {
            files += 1;
            bytes += entry.unwrap().metadata().unwrap().len();
        }
    }
    assert!(files <= FILES_MAX && bytes <= BYTES_MAX, "{files} files of {bytes} bytes");
}

#[test]
fn words_are_read_as_libfuzzer_reads_them() {
    assert_eq!(corpus::word(r#""a\x00\"\\b""#).unwrap(), b"a\0\"\\b");
    for line in ["a", "\"a", r#""\n""#, r#""\x0""#, r#""a"b""#] {
        assert_eq!(corpus::word(line), None, "{line}");
    }
}

#[test]
fn the_same_seed_makes_the_same_inputs() {
    let inputs = vec![("a".to_owned(), b"<a>12</a>".to_vec()), ("b".to_owned(), Vec::new())];
    let corpus = Corpus { inputs, words: vec![b"<b>".to_vec()] };
    let made = |seed| {
        let mut changer = Changer::new(&corpus, fastrand::Rng::with_seed(seed));
        let mut made: Vec<_> = (0..500).map(|_| changer.changed()).collect();
        made.push(changer.long(10_000));
        made
    };
    assert_eq!(made(1), made(1));
    assert_ne!(made(1), made(2));
    let different: BTreeSet<_> = made(1).into_iter().collect();
    assert!(different.len() > 300, "{}", different.len());
    assert!(different.iter().any(|input| input.len() >= 10_000));
}

#[test]
fn a_failure_tells_the_seed_and_keeps_the_input() {
    let text = told("some", 7, "run 3", b"\0\xff");
    assert!(text.contains("`some`") && text.contains("S3HAUL_TEST_SEED=7, run 3"), "{text}");
    assert!(text.ends_with("in base64: AP8="), "{text}");
    let path = text.split('`').nth(3).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"\0\xff");
    std::fs::remove_file(path).unwrap();
    let panicked = catch_unwind(|| run(|_| panic!("planted"), b"", String::new));
    assert!(panicked.is_err());
}
