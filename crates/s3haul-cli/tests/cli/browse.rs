//! `browse` on a terminal: tmux types and reads the screen. Other commands check at the
//! server what was done.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{BINARY, Bench, stderr};
use crate::terminal::{DEADLINE, SIZES, Terminal, has_tmux};

/// Runs `browse` with some words.
fn browse(bench: &Bench, words: &str, size: (u16, u16)) -> Terminal {
    Terminal::start(bench, &format!("browse {words}"), size)
}

/// Confirms a plan with a word, and waits for its end.
fn confirm(terminal: &Terminal, word: &str, done: &str) {
    terminal.shows(&format!("type {word} to"));
    terminal.type_text(word);
    terminal.press(&["Enter"]);
    terminal.shows(done);
    terminal.press(&["Enter"]);
    terminal.shows("Name");
}

/// Rows of the screen that have a name in them, in order.
fn order<'a>(screen: &str, names: &[&'a str]) -> Vec<&'a str> {
    let place = |name: &&str| screen.lines().position(|line| line.contains(*name));
    let mut names: Vec<_> = names.iter().copied().filter(|name| place(name).is_some()).collect();
    names.sort_by_key(place);
    names
}

#[test]
fn a_bucket_is_browsed_and_tidied_up() {
    if !has_tmux() {
        return;
    }
    for size in SIZES {
        let keys = ["logs/a/1", "logs/a/2", "logs/b", "notes.txt", "z-long-name"];
        let bench = Bench::with_objects(&keys);
        let terminal = browse(&bench, "s3://box", size);
        let names = ["logs/", "notes.txt", "z-long-name"];
        let screen = terminal.until("all of it", |screen| screen.contains("5 objects"));
        assert_eq!(order(&screen, &names), ["logs/", "z-long-name", "notes.txt"], "{screen}");
        terminal.press(&["1", "1"]);
        let is_turned =
            |screen: &str| order(screen, &names) == ["logs/", "z-long-name", "notes.txt"];
        terminal.until("the names from the last", is_turned);
        terminal.press(&["1"]);
        let is_sorted = |screen: &str| order(screen, &names) == names;
        terminal.until("the names from the first", is_sorted);
        terminal.press(&["/", "n", "o", "t"]);
        terminal.until("the filter", |screen| order(screen, &names) == ["notes.txt"]);
        terminal.press(&["Enter", "Enter"]);
        terminal.shows("Content");
        terminal.press(&["Escape"]);
        terminal.shows("Name");
        terminal.press(&["Escape"]);
        terminal.until("all names", is_sorted);
        // A plan that is left does nothing.
        terminal.press(&["Home", "Space", "d"]);
        terminal.shows("type 3 to delete");
        terminal.type_text("yes");
        terminal.press(&["Enter"]);
        terminal.shows("nothing is done before you type 3");
        terminal.press(&["Escape"]);
        terminal.shows("nothing was done");
        assert_eq!(bench.lines("ls --recursive s3://box").len(), keys.len());
        terminal.press(&["Escape"]);
        let is_clear =
            |screen: &str| !screen.contains("nothing was done") && !screen.contains(" marked");
        terminal.until("no marks", is_clear);
        terminal.press(&["Space", "Space", "d"]);
        confirm(&terminal, "2", "done: 2 objects");
        let left = bench.ok("list s3://box --format keys --sort");
        assert_eq!(left, "logs/a/1\nlogs/a/2\nlogs/b\n", "{size:?}");
        terminal.shows("3 objects");
        terminal.leave("q");
    }
}

#[test]
fn what_is_marked_is_tagged_and_downloaded() {
    if !has_tmux() {
        return;
    }
    let bench = Bench::with_objects(&["p/a/1", "p/b", "p/c", "q"]);
    let terminal = browse(&bench, "s3://box/p/", SIZES[1]);
    terminal.shows("3 objects");
    terminal.press(&["1", "a", "t"]);
    terminal.type_text("kind=old");
    terminal.press(&["Enter"]);
    confirm(&terminal, "yes", "done: 3 objects");
    let tags = bench.ok("tag get --recursive s3://box");
    let tagged: Vec<_> = tags.lines().filter(|line| line.ends_with("kind=old")).collect();
    assert_eq!((tagged.len(), tags.lines().count()), (3, 4), "{tags}");
    // The folder and the objects beside it are two plans.
    terminal.press(&["a", "c"]);
    terminal.type_text("glacier_ir");
    terminal.press(&["Enter"]);
    terminal.shows("storage: 393216 bytes billed in GLACIER_IR");
    confirm(&terminal, "yes", "done: 3 objects");
    terminal.press(&["a", "g", "BSpace"]);
    terminal.type_text("down");
    terminal.press(&["Enter"]);
    confirm(&terminal, "yes", "done: 3 objects");
    for (file, text) in [("down/a/1", "p/a/1"), ("down/b", "p/b"), ("down/c", "p/c")] {
        assert_eq!(bench.read(file), text);
    }
    terminal.press(&["Down", "c"]);
    terminal.type_text("glacier");
    terminal.press(&["Enter"]);
    confirm(&terminal, "yes", "done: 1 object");
    assert!(bench.ok("head s3://box/p/b").contains("GLACIER"));
    terminal.tmux(&["set-option", "-s", "set-clipboard", "on"]);
    terminal.press(&["y"]);
    terminal.shows("copied: s3://box/p/b");
    terminal.until("a copy in the clipboard", |_| {
        let mut tmux = Command::new("tmux");
        let shown = tmux.arg("-S").arg(&terminal.socket).arg("show-buffer").output().unwrap();
        shown.stdout == b"s3://box/p/b"
    });
    terminal.leave("Escape");
}

#[test]
fn a_download_stays_below_its_folder_and_says_what_it_leaves_out() {
    if !has_tmux() {
        return;
    }
    let bench = Bench::with_objects(&["ok", "d/in"]);
    bench.file("f", "evil");
    for key in ["s3://box/../out", "s3://box/d/../out"] {
        bench.ok(&format!("cp f {key} --quiet"));
    }
    let terminal = browse(&bench, "s3://box", SIZES[1]);
    terminal.shows("4 objects");
    terminal.press(&["1", "a", "g", "BSpace"]);
    terminal.type_text("deep/down");
    terminal.press(&["Enter"]);
    terminal.shows("warning: Skipping file ../out");
    confirm(&terminal, "yes", "done: 2 objects");
    assert_eq!(
        (bench.read("deep/down/ok"), bench.read("deep/down/d/in")),
        ("ok".into(), "d/in".into())
    );
    assert_eq!(bench.names_in("deep"), ["down"]);
    terminal.leave("q");
}

#[test]
fn what_the_service_refuses_is_shown() {
    if !has_tmux() {
        return;
    }
    let bench = Bench::new();
    for size in SIZES {
        let terminal = browse(&bench, "s3://none", size);
        terminal.shows("NoSuchBucket");
        terminal.press(&["d"]);
        terminal.press(&["?"]);
        terminal.shows("move");
        terminal.press(&["x"]);
        terminal.shows("nothing here");
        terminal.leave("q");
    }
}

#[test]
fn what_was_removed_is_brought_back_and_versions_go_for_good() {
    if !has_tmux() {
        return;
    }
    let bench = Bench::with_objects(&["kept"]);
    bench.ok("versioning enable s3://box");
    assert!(bench.run_with_input("pipe s3://box/kept", "second").status.success());
    bench.ok("rm s3://box/kept");
    let terminal = browse(&bench, "s3://box", SIZES[1]);
    terminal.shows("nothing here");
    terminal.press(&["v"]);
    terminal.shows("removed");
    terminal.press(&["u"]);
    confirm(&terminal, "yes", "done: 1 object");
    assert_eq!(bench.ok("cat s3://box/kept"), "second");
    terminal.press(&["L"]);
    terminal.shows("1 object");
    terminal.press(&["v"]);
    terminal.shows("current");
    terminal.press(&["Down", "Enter"]);
    // What the old version holds.
    terminal.until("the old content", |screen| screen.lines().any(|line| line.trim() == "kept"));
    terminal.press(&["Escape"]);
    terminal.shows("Name");
    terminal.press(&["v"]);
    terminal.shows("current");
    terminal.press(&["D"]);
    confirm(&terminal, "2", "done: 2 objects");
    assert_eq!(bench.status("versions s3://box/kept"), 1, "there are none any more");
    terminal.leave("q");
}

#[test]
fn what_was_listed_stays_where_the_server_dies() {
    if !has_tmux() {
        return;
    }
    for size in SIZES {
        let mut bench = Bench::slow_synthetic("dates:2000000", "200ms");
        let terminal = browse(&bench, "s3://synthetic", size);
        terminal.until("some of it", |screen| {
            screen.contains("still listing: ") && screen.contains('/') && screen.contains("KiB")
        });
        bench.end();
        let screen = terminal.shows("the listing ended early");
        assert!(screen.contains("incomplete: "), "{screen}");
        terminal.press(&["Enter"]);
        terminal.until("the folder", |screen| !screen.starts_with("s3://synthetic/ "));
        terminal.press(&["Left"]);
        terminal.until("the folder above", |screen| screen.starts_with("s3://synthetic/ "));
        // A folder is listed anew for its plan, and that fails.
        terminal.press(&["d"]);
        terminal
            .until("a failure", |screen| screen.contains("Name") && screen.contains("fatal error"));
        terminal.leave("q");
    }
}

#[test]
fn a_saved_listing_needs_no_service() {
    if !has_tmux() {
        return;
    }
    let mut bench = Bench::with_objects(&["a/x", "a/y/z", "b"]);
    for (format, size) in [("parquet", SIZES[0]), ("csv", SIZES[1])] {
        bench.ok(&format!("list s3://box --format {format} --output-file saved.{format}"));
        let terminal = browse(&bench, &format!("saved.{format}"), size);
        terminal.until("all of it", |screen| screen.contains("9 Bytes, 3 objects"));
        terminal.press(&["1", "Enter"]);
        terminal.until("the folder", |screen| order(screen, &["y/", "x"]) == ["y/", "x"]);
        terminal.press(&["d"]);
        terminal.shows("this is a saved listing");
        terminal.leave("q");
    }
    bench.end();
}

#[test]
fn signals_leave_and_keys_give_no_orders() {
    if !has_tmux() {
        return;
    }
    let bench = Bench::new();
    bench.ok("mb s3://box");
    let mut put = bench.command("cp --only-show-errors f");
    bench.file("f", "text \u{1b}[2J");
    put.arg("s3://box/\u{1b}]2;title\u{7}\u{1b}[2Jkey");
    let output = put.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let terminal = browse(&bench, "s3://box", SIZES[1]);
    terminal.shows(r"\u{1b}]2;title\u{7}\u{1b}[2Jkey");
    terminal.press(&["Enter"]);
    terminal.shows(r"text \u{1b}[2J");
    terminal.press(&["y"]);
    terminal.shows("not copied");
    assert_ne!(terminal.tmux(&["display-message", "-p", "#{pane_title}"]).trim(), "title");
    terminal.tmux(&["resize-window", "-x", "60", "-y", "12"]);
    terminal
        .until("fewer lines", |screen| screen.lines().count() == 12 && screen.contains("Esc:back"));
    let killed = Command::new("kill").arg(bench.read("pid").trim()).status().unwrap();
    assert!(killed.success());
    terminal.is_left("status: 130");
}

#[test]
fn a_terminal_that_goes_ends_it() {
    if !has_tmux() {
        return;
    }
    let bench = Bench::with_objects(&["k"]);
    for ignores in ["", "trap '' HUP; "] {
        let inner = format!("{ignores}echo $$ > pid; exec {BINARY} browse");
        let terminal = Terminal::run(&bench, &format!("{inner} s3://box"), SIZES[1]);
        terminal.shows("1 object");
        drop(terminal);
        let start = Instant::now();
        let pid = bench.read("pid");
        let is_there =
            || Command::new("kill").args(["-0", pid.trim()]).output().unwrap().status.success();
        while is_there() {
            assert!(start.elapsed() < DEADLINE, "`browse` goes on without a terminal");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn without_a_terminal_there_is_nothing_to_browse() {
    let bench = Bench::new();
    let output = bench.run("browse s3://box");
    assert_eq!(output.status.code(), Some(255), "{output:?}");
    assert!(stderr(&output).contains("`browse` needs a terminal"), "{output:?}");
    assert!(output.stdout.is_empty());
}
