//! Guesses against fixed answers, and against the Python of this machine.

use std::process::Command;

use super::*;

#[test]
fn known_endings() {
    for (name, expected) in [
        ("a.txt", Some("text/plain")),
        ("A.HTML", Some("text/html")),
        ("/x.d/photo.JPeG", Some("image/jpeg")),
        ("/x.txt/photo", None),
        ("a.tar.gz", Some("application/x-tar")),
        ("a.json.gz", Some("application/json")),
        ("a.gz", None),
        ("a.tgz", Some("application/x-tar")),
        ("a.TGZ", Some("application/x-tar")),
        ("a.svgz", Some("image/svg+xml")),
        ("a.txt.GZ", Some("application/gzip")),
        ("a.txt.Z", Some("text/plain")),
        (".txt", None),
        ("...txt", None),
        ("a.", None),
        ("", None),
        ("a", None),
        ("logs:2024/a.txt", Some("text/plain")),
        ("a.unknown", None),
        ("a.gz.gz", Some("application/gzip")),
        ("a.js", Some("text/javascript")),
        ("a.docx", Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document")),
    ] {
        assert_eq!(guess_content_type(name), expected, "{name}");
    }
}

#[test]
fn the_table_is_sorted() {
    assert!(table::TYPES.is_sorted_by(|(a, _), (b, _)| a < b));
}

/// Python reads no type tables of the system here, as they differ from one to the next; the one
/// type that it may be too old to know is added.
#[test]
fn agrees_with_the_rules_of_python() {
    const SCRIPT: &str = "import sys, mimetypes\n\
        m = mimetypes.MimeTypes(filenames=())\n\
        m.add_type('application/gzip', '.gz')\n\
        for name in sys.argv[1:]: print(m.guess_type(name)[0])";
    let endings = ["", ".gz", ".GZ", ".tgz", ".tar", ".svgz", ".txz", ".txt", ".", ".br", "/", ":"];
    let mut names = Vec::new();
    for first in endings {
        for second in endings {
            for start in ["a", "", "..", "d.txt/b", "c:"] {
                names.push(format!("{start}{first}{second}"));
            }
        }
    }
    let answer = Command::new("python3").args(["-c", SCRIPT]).args(&names).output();
    let Some(output) = answer.ok().filter(|output| output.status.success()) else {
        println!("skipped: no Python here");
        return;
    };
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(answers.lines().count(), names.len());
    for (name, expected) in names.iter().zip(answers.lines()) {
        assert_eq!(guess_content_type(name).unwrap_or("None"), expected, "{name:?}");
    }
}

#[test]
fn tables_of_the_system_win() {
    let mut types = ContentTypes::builtin();
    types.add_table(
        "# comment\ntext/javascript  js mjs # and more js\n\nimage/x-new new NEW\nempty/type\n",
    );
    assert_eq!(types.guess("a.js"), Some("text/javascript"));
    assert_eq!(types.guess("a.new"), Some("image/x-new"));
    assert_eq!(types.guess("a.new.gz"), Some("image/x-new"));
    assert_eq!(types.guess("a.txt"), Some("text/plain"));
    assert_eq!(types.guess("a.and"), None);
    assert_eq!(types.guess("a"), None);
    types.add_table("text/other js");
    assert_eq!(types.guess("a.js"), Some("text/other"));
}
