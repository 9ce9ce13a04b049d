//! Screens as lines, of small and large terminals; no text of others gives orders.

use std::time::Duration;

use ratatui_core::buffer::Cell;
use ratatui_core::layout::Rect;

use super::*;
use crate::render::failures::Failures;
use crate::terminal::Key;

/// Orders to a terminal, and characters that turn lines around.
const ORDERS: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\r\n\t\u{7f}\u{9b}1m\u{202e}\u{2066}\u{200f}";

fn whole(done: u64, is_final: bool) -> Whole {
    let bytes = Some((done << 20, 400 << 20));
    Whole { noun: "object", done, all: 400, bytes, is_final, seconds_left: None }
}

fn reading(stamp: i64, done: u64) -> Reading {
    let denied = format!("An error occurred (AccessDenied) when {ORDERS}");
    let subject = format!("s3://b/{ORDERS}");
    Reading {
        state: "running",
        task: format!("s3haul cp {ORDERS}"),
        stamp,
        objects: done,
        bytes: done << 20,
        failed: 2,
        requests: Some((done * 2, done / 10)),
        whole: Some(whole(done, false)),
        facts: vec![("looked at", ORDERS.to_owned())],
        slowest: Slowest {
            title: "slowest prefixes",
            rows: vec![(format!("s3://b/slow{ORDERS}"), "350 writes/s".to_owned())],
            none: "none",
        },
        failures: Failures::of_texts(
            [(&*subject, &*denied), ("s3://b/2", "timed out")].into_iter(),
        ),
        failed_named: vec![(subject, denied)],
        failed_title: "last failures",
        workers: vec![WorkerRow {
            name: format!("host-1{ORDERS}"),
            state: format!("after {ORDERS}"),
            shards: 3,
            objects: 30,
            bytes: 3 << 20,
            seconds: 3.0,
        }],
        ..Reading::default()
    }
}

/// A job that was looked at five times, two seconds apart.
fn watch() -> Watch {
    let mut watch = Watch::new(format!("job{ORDERS}"), reading(0, 0), false);
    for look in 1..=5 {
        let done = u64::try_from(look).unwrap() * 20;
        watch.take(Ok(reading(look, done)), Duration::from_secs(done / 10));
    }
    watch
}

fn screen(watch: &mut Watch, (columns, rows): (u16, u16)) -> Vec<String> {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    draw(watch, true, &mut buffer);
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>();
    let lines: Vec<_> = buffer.content.chunks(usize::from(columns)).map(row).collect();
    let text = lines.concat();
    assert!(
        !text.chars().any(|c| c.is_control() || c == '\u{202e}' || c == '\u{200f}'),
        "{text:?}"
    );
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn a_large_screen_has_all_of_it() {
    let lines = screen(&mut watch(), (200, 60));
    let text = lines.join("\n");
    assert!(lines[0].starts_with("job\\u{1b}") && lines[0].ends_with("running"), "{text}");
    assert!(lines[1].starts_with("####") && lines[1].ends_with(". ~25%"), "{text}");
    for expected in [
        "100.0 MiB of ~400.0 MiB, 100 of ~400 objects (as far as known)",
        "100 objects done, 100.0 MiB, 2 failed",
        "10.0 MiB/s, 10 objects/s, ends in 00:30 or later",
        "failures by cause",
        "        1 access denied (403)",
        "        1 timed out",
        "last failures",
        "slowest prefixes",
        "        350 writes/s  s3://b/slow",
        "workers: 1",
        "1.0 MiB/s  3 shards, 30 objects  after",
        "job: s3haul cp",
        "looked at: ",
    ] {
        assert!(text.contains(expected), "no `{expected}` in {text}");
    }
    let requests = lines.iter().find(|line| line.starts_with("requests ")).unwrap();
    assert!(requests.ends_with(" ##### 20/s") || requests.contains("#####"), "{requests}");
    assert!(lines.iter().any(|line| line.starts_with("refused ") && line.ends_with("1/s")));
}

#[test]
fn a_small_screen_is_moved_through() {
    let mut watch = watch();
    let lines = screen(&mut watch, (40, 10));
    assert_eq!(lines.len(), 10);
    assert!(lines[8].starts_with("rows 1 to 7 of "), "{lines:?}");
    assert!(!watch.press(Key::PageDown));
    let next = screen(&mut watch, (40, 10));
    assert!(next[8].starts_with("rows 8 to 14 of "), "{next:?}");
    assert!(!watch.press(Key::End));
    let end = screen(&mut watch, (40, 10));
    assert!(end[7].starts_with("looked at: "), "{end:?}");
    assert!(!watch.press(Key::Home));
    assert_eq!(screen(&mut watch, (40, 10)), lines);
    for size in [(16, 5), (3, 2), (1, 1), (400, 3)] {
        screen(&mut watch, size);
    }
}

#[test]
fn keys_show_the_help_and_leave() {
    let mut watch = watch();
    assert!(!watch.press(Key::Character('?')));
    let lines = screen(&mut watch, (60, 12));
    assert!(lines.iter().any(|line| line.contains("leave: the job goes on")), "{lines:?}");
    assert!(!watch.press(Key::Character('q')), "it takes the help away");
    assert!(watch.press(Key::Character('q')));
    for key in [Key::Escape, Key::Interrupt] {
        assert!(self::watch().press(key), "{key:?}");
    }
    assert!(!watch.press(Key::Character('x')));
}

#[test]
fn figures_stay_where_a_look_fails_and_the_end_is_told() {
    let mut watch = watch();
    watch.take(Err(format!("no {ORDERS}")), Duration::from_secs(20));
    let lines = screen(&mut watch, (80, 30));
    assert!(lines[28].starts_with("cannot look, and tries again: no "), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("100 objects done")), "{lines:?}");
    let resume = Some("s3haul jobs resume X".to_owned());
    let over = Reading { state: "failed", is_over: true, resume, ..reading(9, 400) };
    watch.take(Ok(over), Duration::from_secs(22));
    let lines = screen(&mut watch, (80, 30));
    assert_eq!(lines[28], "the job has ended: failed");
    assert!(lines.contains(&"to go on: s3haul jobs resume X".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.contains("ends in")), "{lines:?}");
}

#[test]
fn what_is_not_known_is_not_shown_as_nothing() {
    let plain = || Reading { state: "running", ..Reading::default() };
    let mut watch = Watch::new("x".to_owned(), plain(), true);
    watch.take(Ok(Reading { stamp: 1, objects: 4, ..plain() }), Duration::from_secs(2));
    let text = screen(&mut watch, (80, 30)).join("\n");
    assert!(!text.contains("requests") && !text.contains('%'), "{text}");
    assert!(text.contains("0 Bytes/s, 2 objects/s, end not known"), "{text}");
}
