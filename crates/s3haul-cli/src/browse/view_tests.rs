//! Screens as lines, of small and large terminals; no text of others gives orders.

use ratatui_core::backend::TestBackend;
use ratatui_core::buffer::Cell;
use ratatui_core::layout::Rect;
use ratatui_core::style::Color;
use ratatui_core::terminal::Terminal;

use super::*;
use crate::browse::app::{Answer, Place};
use crate::browse::panes::{Listed, Outcome, Planned, Preview, VersionRow};
use crate::browse::tree::{Object, Tree};
use crate::terminal::Key;

const SIZES: [(u16, u16); 4] = [(40, 10), (200, 60), (16, 5), (3, 2)];
/// Orders to a terminal, and characters that turn lines around.
const ORDERS: &str =
    "\u{1b}[31m\u{1b}]0;t\u{7}\r\n\t\u{7f}\u{9b}1m\u{202e}\u{2066}\u{200f}\u{2028}";

fn tree() -> Tree {
    let mut tree = Tree::new("logs/");
    let hostile = format!("logs/{ORDERS}end");
    for (key, size) in
        [("logs/2026/a", 3 << 30), ("logs/2026/b", 1 << 30), ("logs/x", 5), (&hostile, 7)]
    {
        tree.add(&Object { key, size, modified_s: Some(0), class: "GLACIER" });
    }
    tree
}

fn app(tree: &Tree) -> App {
    let label = "s3://bucket/".to_owned();
    let place = Place { bucket: Some("bucket".to_owned()), address: label.clone(), label };
    let mut app = App::new(place, tree);
    app.refresh(tree, true);
    app
}

/// The screen as lines, without what is empty at their ends.
fn screen(app: &mut App, (columns, rows): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let mut look = Look { color: true, unicode: false, zone: LocalTime::utc() };
    terminal.draw(|frame| draw(app, &mut look, frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let cells = |y: u16| (0..columns).map(move |x| buffer.cell((x, y)).unwrap().symbol());
    let lines: Vec<String> = (0..rows).map(|y| cells(y).collect::<String>()).collect();
    let is_tame = |c: char| !c.is_control() && (c.is_ascii() || !ORDERS.contains(c));
    assert!(lines.iter().all(|line| line.chars().all(is_tame)), "{lines:?}");
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn small_terminals_have_the_most_important_columns() {
    let mut tree = tree();
    let mut app = app(&tree);
    let lines = screen(&mut app, (40, 10));
    assert_eq!(lines[0], "s3://bucket/logs/       still listing: 4");
    assert_eq!(lines[1], "  Name                   Size v");
    assert_eq!(lines[2], "  2026/                 4.0 GiB ########");
    assert_eq!(lines[3], r"  \u{1b}[31m\u{1b}]~    7 Bytes #.......");
    assert_eq!(lines[9], "?:help q:leave /:filter s:sort space:ma~");
    tree.listing = Listing::Complete;
    app.refresh(&tree, true);
    assert_eq!(screen(&mut app, (40, 10))[0], "s3://bucket/logs/     4.0 GiB, 4 objects");
}

#[test]
fn large_terminals_have_all_columns() {
    let tree = tree();
    let mut app = app(&tree);
    let lines = screen(&mut app, (200, 60));
    for heading in ["Name", "Size v", "Objects", "Modified", "Class"] {
        assert!(lines[1].contains(heading), "{}", lines[1]);
    }
    let words: Vec<_> = lines[2].split_whitespace().collect();
    assert_eq!(words, ["2026/", "4.0", "GiB", "########", "2", "1970-01-01", "00:00", "GLACIER"]);
    assert!(lines[3].contains("end"), "{}", lines[3]);
}

#[test]
fn long_addresses_keep_their_end() {
    let mut tree = Tree::new("");
    let key = format!("{}/deep/k", "x".repeat(100));
    tree.add(&Object { key: &key, ..Object::default() });
    let mut app = app(&tree);
    for _ in 0..2 {
        app.press(Key::Enter);
        app.refresh(&tree, false);
    }
    let line = &screen(&mut app, (40, 10))[0];
    assert!(line.starts_with('~') && line.contains("x/deep/  still listing: 1"), "{line}");
}

#[test]
fn the_cursor_is_always_on_the_screen() {
    let mut tree = Tree::new("");
    for number in 0..100 {
        tree.add(&Object { key: &format!("{number:03}"), ..Object::default() });
    }
    let mut app = app(&tree);
    for (key, shown) in [(Key::End, "099"), (Key::PageUp, "093"), (Key::Home, "000")] {
        app.press(key);
        assert!(screen(&mut app, (40, 10)).iter().any(|line| line.contains(shown)), "{shown}");
    }
}

#[test]
fn an_incomplete_listing_says_so() {
    let mut tree = tree();
    tree.listing = Listing::Failed(format!("access denied {ORDERS}"));
    let mut app = app(&tree);
    let lines = screen(&mut app, (60, 10));
    assert!(lines[0].ends_with("incomplete: 4"), "{}", lines[0]);
    assert!(lines[9].contains(r"\u{202e}") && !lines[9].contains("help"), "{}", lines[9]);
    assert!(lines[8].starts_with("the listing ended early: access denied \\u{1b}"), "{}", lines[8]);
}

/// Every pane on every size, with all texts hostile.
#[test]
fn panes_fit_and_give_no_orders() {
    let tree = tree();
    let text = || ORDERS.to_owned();
    let keys = |app: &mut App, keys: &[Key]| keys.iter().for_each(|key| drop(app.press(*key)));
    for size in SIZES {
        let mut app = app(&tree);
        keys(&mut app, &[Key::Down, Key::Enter]);
        let key = format!("logs/{ORDERS}end");
        let preview = Preview { fields: vec![(text(), text())], content: vec!["line".to_owned()] };
        app.take(Answer::Preview { key: key.clone(), preview: Ok(preview) });
        app.take(Answer::Tags { key: key.clone(), tags: Ok(vec![(text(), text())]) });
        let lines = screen(&mut app, size).join("\n");
        assert!(size.1 < 10 || (lines.contains("Tag") && lines.contains("Content")), "{lines}");
        keys(&mut app, &[Key::Escape, Key::Character('v')]);
        let row = VersionRow {
            key: key.clone(),
            version_id: text(),
            class: text(),
            ..VersionRow::default()
        };
        app.take(Answer::Versions {
            path: key,
            listed: Ok(Listed { rows: vec![row], next: None }),
        });
        assert!(size.1 < 10 || screen(&mut app, size).join("\n").contains("old"));
        keys(&mut app, &[Key::Escape, Key::Character('t')]);
        keys(&mut app, &ORDERS.chars().map(Key::Character).collect::<Vec<_>>());
        screen(&mut app, size);
        keys(&mut app, &[Key::Enter]);
        screen(&mut app, size);
        let planned = Planned { commands: vec![text()], lines: vec![text()], actions: 1 };
        app.take(Answer::Planned(Ok(planned)));
        screen(&mut app, size);
        keys(&mut app, &[Key::Character('Y'), Key::Enter]);
        keys(&mut app, &"yes".chars().map(Key::Character).collect::<Vec<_>>());
        keys(&mut app, &[Key::Enter]);
        assert!(size.1 < 10 || screen(&mut app, size).join("\n").contains("0 of 1 object"));
        app.take(Answer::Applied(Outcome { done: 0, failed: 1, messages: vec![text()] }));
        assert!(size.1 < 10 || screen(&mut app, size).join("\n").contains("not tried: 1"));
        keys(&mut app, &[Key::Enter, Key::Character('?')]);
        screen(&mut app, size);
    }
}

#[test]
fn without_colours_there_are_none() {
    let tree = tree();
    let mut app = app(&tree);
    for color in [false, true] {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 20));
        draw(&mut app, &mut Look { color, unicode: true, zone: LocalTime::utc() }, &mut buffer);
        let is_plain = |cell: &Cell| cell.fg == Color::Reset && cell.bg == Color::Reset;
        assert_eq!(buffer.content().iter().all(is_plain), !color);
    }
}
