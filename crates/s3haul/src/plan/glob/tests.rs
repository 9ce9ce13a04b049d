//! The matcher against a naive model, against fixed answers of Python, and against Python itself.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

/// Names that every pattern of [`ANSWERS`] was tried on.
const NAMES: &[&str] = &[
    "", "a", "b", "-", "!", "]", "x", "z", "ab", "a-", "é", "[", "^", "\\", "~", "|", "&", "[a",
    "[]", "a]", "c", "y", " ", "A",
];

/// Patterns and those of the names that Python 3.11 `fnmatch.fnmatchcase` matches.
const ANSWERS: &[(&str, &[&str])] = &[
    ("[b-a]", &[]),
    (
        "[!b-a]",
        &[
            "a", "b", "-", "!", "]", "x", "z", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ",
            "A",
        ],
    ),
    (
        "[b-a!]",
        &[
            "a", "b", "-", "!", "]", "x", "z", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ",
            "A",
        ],
    ),
    (
        "[b-a!-z]",
        &["a", "b", "!", "]", "x", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ", "A"],
    ),
    ("[!b-ax-z]", &["a", "b", "-", "!", "]", "é", "[", "^", "\\", "~", "|", "&", "c", " ", "A"]),
    ("[]", &["[]"]),
    ("[!]", &[]),
    ("[]]", &["]"]),
    (
        "[!]]",
        &["a", "b", "-", "!", "x", "z", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ", "A"],
    ),
    ("[]-a]", &["a", "]", "^"]),
    ("[a-]", &["a", "-"]),
    ("[-a]", &["a", "-"]),
    ("[!-a]", &["b", "!", "]", "x", "z", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ", "A"]),
    ("[a-c-e]", &["a", "b", "-", "c"]),
    ("[--a]", &["a", "-", "]", "[", "^", "\\", "A"]),
    ("[a--]", &[]),
    ("[^a]", &["a", "^"]),
    ("[[]", &["["]),
    ("[\\\\]", &["\\"]),
    ("[&&a]", &["a", "&"]),
    ("[a-b-c]", &["a", "b", "-", "c"]),
    ("[]a-]", &["a", "-", "]"]),
    (
        "[!!]",
        &["a", "b", "-", "]", "x", "z", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ", "A"],
    ),
    ("[a", &["[a"]),
    ("[!a", &[]),
    ("a[", &[]),
    ("[é-z]", &[]),
    ("[z-é]", &["z", "é", "~", "|"]),
    ("[x-a-c]", &["-", "c"]),
    ("[~~]", &["~"]),
    ("[||b]", &["b", "|"]),
    ("[c-a]x", &[]),
    ("[-]", &["-"]),
    (
        "[!-]",
        &["a", "b", "!", "]", "x", "z", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ", "A"],
    ),
    ("[---]", &["-"]),
    ("[a-a]", &["a"]),
    (
        "**",
        &[
            "", "a", "b", "-", "!", "]", "x", "z", "ab", "a-", "é", "[", "^", "\\", "~", "|", "&",
            "[a", "[]", "a]", "c", "y", " ", "A",
        ],
    ),
    (
        "*?",
        &[
            "a", "b", "-", "!", "]", "x", "z", "ab", "a-", "é", "[", "^", "\\", "~", "|", "&",
            "[a", "[]", "a]", "c", "y", " ", "A",
        ],
    ),
    ("?*?", &["ab", "a-", "[a", "[]", "a]"]),
    ("*a*", &["a", "ab", "a-", "[a", "a]"]),
    ("a*b*", &["ab"]),
    ("[]!]", &["!", "]"]),
    ("[!]a-]", &["b", "!", "x", "z", "é", "[", "^", "\\", "~", "|", "&", "c", "y", " ", "A"]),
    ("[^-a]", &["a", "^"]),
    ("[z-a-z]", &["-", "z"]),
];

fn fnmatch(name: &str, pattern: &str) -> bool {
    matches(&compile_fnmatch(pattern), Text::new(name, ""))
}

/// The obvious matcher for patterns without sets: tries everything.
fn naive(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=name.len()).any(|taken| naive(rest, &name[taken..])),
        (['?', rest @ ..], [_, tail @ ..]) => naive(rest, tail),
        ([same, rest @ ..], [first, tail @ ..]) => same == first && naive(rest, tail),
        _ => false,
    }
}

#[test]
fn fixed_answers_of_python() {
    for (pattern, matching) in ANSWERS {
        for name in NAMES {
            assert_eq!(fnmatch(name, pattern), matching.contains(name), "{name:?} {pattern:?}");
        }
    }
}

#[test]
fn stars_cross_slashes_and_newlines() {
    assert!(fnmatch("a/b/c.txt", "a*.txt"));
    assert!(fnmatch("a\nb", "a?b"));
    assert!(!fnmatch("A", "a"));
}

#[test]
fn hopeless_patterns_end_soon() {
    let name = "a".repeat(2_000);
    assert!(!fnmatch(&name, &format!("{}b", "*a".repeat(200))));
}

/// Asks the Python of this machine, if it has one of the right age.
fn ask_python(cases: &[(String, String)]) -> Option<Vec<bool>> {
    const SCRIPT: &str = "import sys, fnmatch\n\
        if sys.version_info < (3, 11): sys.exit(3)\n\
        u = lambda h: bytes.fromhex(h).decode()\n\
        for line in sys.stdin:\n\
        \x20   n, p = line.rstrip('\\n').split(',')\n\
        \x20   print(int(fnmatch.fnmatchcase(u(n), u(p))))\n";
    let hex = |text: &str| {
        text.bytes().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    };
    let lines = cases.iter().map(|(name, pattern)| [hex(name), hex(pattern)].join(","));
    let input = lines.collect::<Vec<_>>().join("\n");
    let mut child = Command::new("python3")
        .args(["-W", "ignore", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    let answers = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| answers.lines().map(|line| line == "1").collect())
}

#[test]
fn agrees_with_the_python_of_this_machine() {
    let seed = 0x5eed;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = |alphabet: &[char], length: usize| -> String {
        let length = random.usize(0..=length);
        (0..length).map(|_| alphabet[random.usize(..alphabet.len())]).collect()
    };
    let pattern = ['[', '[', ']', ']', '!', '-', '-', 'a', 'b', 'c', 'é', '*', '?', '^', '\\', '/'];
    let name = ['[', ']', '!', '-', 'a', 'b', 'c', 'é', '^', '\\', '/'];
    let cases: Vec<(String, String)> =
        (0..60_000).map(|_| (text(&name, 4), text(&pattern, 9))).collect();
    let Some(answers) = ask_python(&cases) else {
        println!("skipped: no Python 3.11 or newer here");
        return;
    };
    assert_eq!(answers.len(), cases.len());
    for ((name, pattern), expected) in cases.iter().zip(answers) {
        assert_eq!(fnmatch(name, pattern), expected, "{name:?} {pattern:?} seed {seed}");
    }
}

proptest! {
    #[test]
    fn agrees_with_the_naive_matcher(
        pattern in "[ab/é*?]{0,10}",
        name in "[ab/é]{0,12}",
        cut in 0..13_usize,
    ) {
        let characters = |text: &str| text.chars().collect::<Vec<_>>();
        let expected = naive(&characters(&pattern), &characters(&name));
        let cut = name.char_indices().map(|(index, _)| index).nth(cut).unwrap_or(name.len());
        let text = Text::new(&name[..cut], &name[cut..]);
        prop_assert_eq!(matches(&compile_fnmatch(&pattern), text), expected);
        prop_assert_eq!(matches(&compile_wildcard(&pattern), text), expected);
    }
}
