//! What a shell has of a command line that is being typed, and what it wants back. Pure.
//!
//! Zsh and fish split lines as they run them. Bash hands over words with their quotes, cut at every
//! `:` and `=`, and wants of the last word what stands behind the last cut.

use std::ffi::OsString;

use crate::args::Shell;
use crate::batch::split_words;

/// A command line up to the cursor, the program's name first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Words as the program would get them; the last one is completed and may be empty.
    pub(super) words: Vec<String>,
    /// What the shell keeps of the last word, as it was typed: candidates are given without it.
    kept: String,
    shell: Shell,
}

impl Line {
    /// The line of a shell; `current` is what bash takes for the word to be completed. `None` if
    /// the last word is quoted or left to the shell.
    pub(super) fn new(shell: Shell, current: &str, words: &[String]) -> Option<Self> {
        if shell != Shell::Bash {
            return Some(Self { words: words.to_vec(), kept: String::new(), shell });
        }
        let mut typed = joined(words);
        let last = typed.pop()?;
        // Bash takes what stands behind a quote for the word to be completed.
        if last.contains(['\'', '"']) {
            return None;
        }
        // The rest of the last word stands behind the cursor.
        let kept = match words.last()?.as_str() {
            cut if is_cut(cut) => last.clone(),
            word => last[..last.len() - word.len()].to_owned(),
        };
        let is_cut_last = words.last().is_some_and(|word| is_cut(word));
        let last = if is_cut_last { last } else { format!("{kept}{current}") };
        if last.starts_with('~') || last.contains(['$', '`', '*', '?', '[', '{']) {
            return None;
        }
        let unquoted = |word: String| match split_words(&word) {
            Ok(parts) => parts.concat(),
            Err(_) => word,
        };
        let mut words: Vec<String> = typed.into_iter().map(unquoted).collect();
        words.push(split_words(&last).ok()?.concat());
        Some(Self { words, kept, shell })
    }

    /// The arguments of the program, its name first, without the word `plan` before a command: what
    /// follows it is the command.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let is_planned = self.words.get(1).is_some_and(|word| word == "plan")
            && self.words.len() > 3
            && self.words[2] != "show";
        let words = self.words.iter().enumerate();
        let words = words.filter(|(index, _)| !(is_planned && *index == 1));
        words.map(|(_, word)| word.into()).collect()
    }

    /// A candidate as the shell wants it; `None` if it does not go on from what was typed.
    pub(super) fn written(&self, value: &str, about: Option<&str>) -> Option<String> {
        if self.shell == Shell::Bash {
            return escaped(value).strip_prefix(&self.kept).map(str::to_owned);
        }
        let about = about.map(|about| format!("\t{about}")).unwrap_or_default();
        Some(format!("{value}{about}"))
    }
}

/// Whether bash made this word by cutting another one.
fn is_cut(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| matches!(byte, b':' | b'='))
}

/// Words of bash without its cuts.
fn joined(words: &[String]) -> Vec<String> {
    let mut typed: Vec<String> = Vec::new();
    let mut goes_on = false;
    for word in words {
        let is_cut = is_cut(word);
        match typed.last_mut() {
            Some(last) if is_cut || goes_on => last.push_str(word),
            _ => typed.push(word.clone()),
        }
        goes_on = is_cut;
    }
    typed
}

/// A word with backslashes before what bash would not take as it is.
fn escaped(value: &str) -> String {
    let is_plain =
        |character: char| character.is_alphanumeric() || "-_./:=@%+,".contains(character);
    let mut word = String::with_capacity(value.len());
    for character in value.chars() {
        if !is_plain(character) {
            word.push('\\');
        }
        word.push(character);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|word| (*word).to_owned()).collect()
    }

    fn bash(current: &str, all: &[&str]) -> Option<Line> {
        Line::new(Shell::Bash, current, &words(all))
    }

    #[test]
    fn words_that_bash_cut_are_whole_again() {
        for (current, typed, whole, kept) in [
            ("l", &["s3haul", "l"][..], &["s3haul", "l"][..], ""),
            ("//b", &["s3haul", "ls", "s3", ":", "//b"], &["s3haul", "ls", "s3://b"], "s3:"),
            ("", &["s3haul", "ls", "s3", ":"], &["s3haul", "ls", "s3:"], "s3:"),
            ("", &["s3haul", "--profile", "="], &["s3haul", "--profile="], "--profile="),
            ("w", &["s3haul", "--profile", "=", "w"], &["s3haul", "--profile=w"], "--profile="),
            ("", &["s3haul", "ls", ""], &["s3haul", "ls", ""], ""),
            ("a\\ b", &["s3haul", "cp", "'x y'", "a\\ bc"], &["s3haul", "cp", "x y", "a b"], ""),
        ] {
            let line = bash(current, typed).unwrap();
            assert_eq!((line.words, &*line.kept), (words(whole), kept), "{typed:?}");
        }
        for last in ["~/x", "$HOME/", "a*"] {
            assert_eq!(bash(last, &["s3haul", "cp", last]), None, "{last}");
        }
    }

    #[test]
    fn words_in_quotes_are_left_to_bash() {
        for (current, last) in [
            ("a", &["'a"][..]),
            ("s3://b/fo", &["\"s3://b/fo"]),
            ("a b", &["s3", ":", "//b/'a b"]),
            ("", &["\""]),
        ] {
            let typed = [&["s3haul", "cp"], last].concat();
            assert_eq!(bash(current, &typed), None, "{typed:?}");
        }
    }

    #[test]
    fn candidates_go_on_from_what_bash_kept() {
        let line = bash("//b", &["s3haul", "ls", "s3", ":", "//b"]).unwrap();
        assert_eq!(line.written("s3://b/a b/", None).unwrap(), "//b/a\\ b/");
        assert_eq!(line.written("local", None), None);
        let line = Line::new(Shell::Zsh, "", &words(&["s3haul", "ls", "s3:"])).unwrap();
        assert_eq!(line.written("s3://b c/", Some("bucket")).unwrap(), "s3://b c/\tbucket");
    }

    #[test]
    fn the_command_behind_plan_is_completed() {
        let arguments = |all: &[&str]| {
            let line = Line::new(Shell::Fish, "", &words(all)).unwrap();
            line.arguments().into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(arguments(&["s3haul", "plan", "sync", "s3:"]), ["s3haul", "sync", "s3:"]);
        assert_eq!(arguments(&["s3haul", "plan", "sy"]), ["s3haul", "plan", "sy"]);
        assert_eq!(arguments(&["s3haul", "plan", "show", "p"]), ["s3haul", "plan", "show", "p"]);
    }
}
