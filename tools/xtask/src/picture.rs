//! `cargo xtask picture`: what a terminal shows of a real run, as `docs/terminal.svg`.
//!
//! The lines appear one after the other where motion is welcome, and stand there at once elsewhere.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};

use support::server::Server;
use support::{process, term};

/// Where it goes.
const FILE: &str = "docs/terminal.svg";
/// What is typed.
const SESSION: [&str; 5] = [
    "s3haul cp --recursive ./camera s3://photos/2026/ | tail -2",
    "s3haul du s3://photos --depth 2 | head -8",
    "rm camera/may/0004.jpg; s3haul sync --delete --dryrun ./camera s3://photos/2026/",
    "s3haul find s3://photos --name '*.raw' --min-size 900KB | wc -l",
    "s3haul verify ./camera s3://photos/2026/ | tail -6",
];
/// Columns of the terminal; what is longer is refused.
const COLUMNS: usize = 92;
const LINE_HEIGHT: usize = 19;
const HEAD: usize = 44;
/// Seconds from a command to its output, between two lines of it, and to the next command.
const PAUSES_S: [f64; 3] = [0.9, 0.06, 1.6];

const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;\
fill:#d8dee9;white-space:pre}\
.p{fill:#a3be8c}.c{fill:#eceff4;font-weight:600}\
@media (prefers-reduced-motion:no-preference){g text{opacity:0;animation:s .01s forwards}}\
@keyframes s{to{opacity:1}}";

/// Runs the session with this command, or one that is built, and draws it.
pub(crate) fn run(binary: Option<&Path>) -> Result<()> {
    let binary = process::s3haul(binary, false)?;
    let scratch = tempfile::Builder::new().prefix("s3haul-picture-").tempdir()?;
    make_files(scratch.path()).context("could not make the files")?;
    let server = Server::start(&binary, &["--memory"])?;
    let shell = |line: &str| {
        let folders = [binary.parent().unwrap_or(Path::new("/")), Path::new("/usr/bin")];
        let path = std::env::join_paths(folders.into_iter().chain([Path::new("/bin")]))?;
        let mut shell = server.command(Path::new("sh"));
        shell.args(["-c", line]).current_dir(scratch.path());
        shell.env("PATH", path).env("LC_ALL", "C.UTF-8");
        process::run_quietly(&mut shell)
    };
    shell("s3haul mb s3://photos")?;
    let mut lines = Vec::new();
    for typed in SESSION {
        let shown = shell(typed)?;
        lines.push((typed.to_owned(), true));
        lines.extend(shown.lines().map(|line| (line.trim_end().to_owned(), false)));
    }
    server.stop()?;
    let long = lines.iter().find(|(line, _)| line.chars().count() > COLUMNS);
    ensure!(long.is_none(), "a line is too long: {long:?}");
    fs::write(process::root().join(FILE), drawn(&lines))?;
    term::line(&format!("{} lines in {FILE}", lines.len()));
    Ok(())
}

/// What a camera has after three months.
fn make_files(folder: &Path) -> Result<()> {
    for (month, count) in [("april", 40_usize), ("may", 90), ("june", 25)] {
        let folder = folder.join("camera").join(month);
        fs::create_dir_all(&folder)?;
        for number in 0..count {
            write(&folder, number, "jpg", 30_000 + 900 * number)?;
            if number % 8 == 0 {
                write(&folder, number, "raw", 800_000 + 7000 * number)?;
            }
        }
    }
    Ok(())
}

/// A file of yesterday: the objects made of it are newer.
fn write(folder: &Path, number: usize, extension: &str, size: usize) -> Result<()> {
    let path = folder.join(format!("{number:04}.{extension}"));
    fs::write(&path, vec![extension.as_bytes()[0]; size])?;
    let yesterday = SystemTime::now() - Duration::from_hours(24);
    Ok(fs::File::options().append(true).open(path)?.set_modified(yesterday)?)
}

/// The lines of a session as a picture; those that were typed have a prompt.
fn drawn(lines: &[(String, bool)]) -> String {
    let (width, height) = (COLUMNS * 9 + 20, HEAD + lines.len() * LINE_HEIGHT + 14);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"A terminal session with s3haul\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"9\" fill=\"#242933\"/>\n"
    );
    for (index, colour) in ["#bf616a", "#ebcb8b", "#a3be8c"].iter().enumerate() {
        let x = 20 + 20 * index;
        _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"18\" r=\"6\" fill=\"{colour}\"/>");
    }
    svg.push_str("<g>\n");
    let (mut at_s, mut was_typed) = (0.3, false);
    for (index, (line, is_typed)) in lines.iter().enumerate() {
        let [to_output, to_line, to_command] = PAUSES_S;
        at_s += match (was_typed, is_typed) {
            _ if index == 0 => 0.0,
            (_, true) => to_command,
            (true, false) => to_output,
            (false, false) => to_line,
        };
        was_typed = *is_typed;
        let y = HEAD + index * LINE_HEIGHT;
        let text = escaped(line);
        let text = match is_typed {
            true => format!("<tspan class=\"p\">$ </tspan><tspan class=\"c\">{text}</tspan>"),
            false => text,
        };
        let style = format!("animation-delay:{at_s:.2}s");
        _ = writeln!(svg, "<text x=\"14\" y=\"{y}\" style=\"{style}\">{text}</text>");
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_in_order_and_escaped() {
        let svg = drawn(&[("a < b".to_owned(), true), ("c & d".to_owned(), false)]);
        let typed = svg.find("a &lt; b").unwrap();
        assert!(typed < svg.find("c &amp; d").unwrap(), "{svg}");
        assert_eq!(svg.matches("<text ").count(), 2);
        assert!(svg.contains("animation-delay:1.20s"), "{svg}");
    }
}
