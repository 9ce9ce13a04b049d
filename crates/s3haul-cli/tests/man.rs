//! The man pages are what groff takes without a warning, one for each command.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/man/pages.rs"]
mod pages;

use std::io::Write as _;
use std::process::{Command, Stdio};

/// A page as a terminal shows it; `None` if groff is not installed.
fn shown(page: &[u8]) -> Option<String> {
    let mut groff = Command::new("groff");
    groff.args(["-man", "-ww", "-Tutf8", "-Kutf8", "-P-c", "-rLL=100n"]);
    groff.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut groff = groff.spawn().ok()?;
    groff.stdin.take().unwrap().write_all(page).unwrap();
    let output = groff.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    // Bold and underlined characters are struck twice.
    let mut plain = String::new();
    for character in text.chars() {
        if character == '\u{8}' {
            plain.pop();
        } else {
            plain.push(character);
        }
    }
    Some(plain)
}

#[test]
fn each_command_has_a_page_that_groff_takes_without_a_warning() {
    let pages = pages::all().unwrap();
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["s3haul.1", "s3haul-sync.1", "s3haul-tag-get.1", "s3haul-completions.1"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("-s3") || name.contains("-help")), "{names:?}");
    for (name, page) in &pages {
        let Some(text) = shown(page) else {
            println!("groff is not installed: no page was rendered");
            return;
        };
        let command = name.strip_suffix(".1").unwrap();
        assert!(text.contains(&format!("NAME\n       {command}")), "{name}: {text}");
        assert!(text.contains("--profile"), "{name} has the flags of all commands");
    }
    let (_, page) = pages.iter().find(|(name, _)| name == "s3haul-sync.1").unwrap();
    let text = shown(page).unwrap();
    for words in ["--max-delete", "Copy what differs", "s3haul sync"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}
