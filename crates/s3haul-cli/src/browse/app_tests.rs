//! Keys and answers: what they ask of the service, and what is shown then.

use super::*;
use crate::browse::tree::Object;

fn place(bucket: Option<&str>) -> Place {
    let bucket = bucket.map(str::to_owned);
    Place { bucket, label: "s3://b/".to_owned(), address: "s3://b/".to_owned() }
}

fn tree(keys: &[&str]) -> Tree {
    let mut tree = Tree::new("");
    for (size, key) in (1..).zip(keys) {
        tree.add(&Object { key, size, ..Object::default() });
    }
    tree
}

fn app(tree: &Tree) -> App {
    let mut app = App::new(place(Some("b")), tree);
    assert_eq!(app.refresh(tree, true), None);
    app
}

/// Types words and names of keys between spaces; gives what was asked for last.
fn press(app: &mut App, tree: &Tree, keys: &str) -> Option<Ask> {
    let mut last = None;
    for word in keys.split(' ') {
        let special = match word {
            "Enter" => Some(Key::Enter),
            "Esc" => Some(Key::Escape),
            "Up" => Some(Key::Up),
            "Down" => Some(Key::Down),
            "Left" => Some(Key::Left),
            "Back" => Some(Key::Backspace),
            "Ctrl-C" => Some(Key::Interrupt),
            "Space" => Some(Key::Character(' ')),
            _ => None,
        };
        let typed =
            special.map_or_else(|| word.chars().map(Key::Character).collect(), |key| vec![key]);
        for key in typed {
            let asked = app.press(key);
            last = asked.or(app.refresh(tree, false)).or(last);
        }
    }
    last
}

fn names(app: &App) -> Vec<String> {
    app.shown_rows().map(|row| row.path("")).collect()
}

fn step(words: &str) -> Step {
    Step { words: words.split(' ').map(str::to_owned).collect(), keys: Vec::new() }
}

const KEYS: [&str; 6] = ["a/x", "a/y/z", "b/1", "b/2", "c", "Cd"];

#[test]
fn folders_are_entered_and_left_again() {
    let tree = tree(&KEYS);
    let mut app = app(&tree);
    assert_eq!(names(&app), ["b/", "Cd", "c", "a/"], "by size");
    assert_eq!(press(&mut app, &tree, "1 Down Enter"), None);
    assert_eq!((app.path.as_str(), names(&app)), ("b/", vec!["1".to_owned(), "2".to_owned()]));
    press(&mut app, &tree, "Left");
    assert_eq!((app.path.as_str(), &*app.row().unwrap().name), ("", "b"), "where one came from");
    press(&mut app, &tree, "Left");
    assert_eq!(app.path, "", "there is nothing above");
    press(&mut app, &tree, "Up l Down");
    assert_eq!(press(&mut app, &tree, "y"), Some(Ask::Copy("s3://b/a/x".to_owned(), false)));
    assert_eq!(press(&mut app, &tree, "q"), Some(Ask::Leave));
}

#[test]
fn the_cursor_stays_on_its_row_while_rows_come() {
    let mut tree = tree(&KEYS);
    let mut app = app(&tree);
    press(&mut app, &tree, "Down Down");
    assert_eq!(&*app.row().unwrap().name, "c");
    tree.add(&Object { key: "large", size: 1000, ..Object::default() });
    assert_eq!(app.refresh(&tree, false), None);
    assert_eq!(app.shown_rows().len(), 4, "nothing is due");
    app.refresh(&tree, true);
    assert_eq!((app.shown_rows().len(), app.cursor, &*app.row().unwrap().name), (5, 3, "c"));
    press(&mut app, &tree, "Up Up Up");
    tree.add(&Object { key: "larger", size: 2000, ..Object::default() });
    app.refresh(&tree, true);
    assert_eq!(&*app.row().unwrap().name, "larger", "the cursor stays at the top");
}

#[test]
fn a_filter_shows_what_holds_the_text() {
    let tree = tree(&KEYS);
    let mut app = app(&tree);
    press(&mut app, &tree, "1 /c");
    assert_eq!(names(&app), ["Cd", "c"]);
    press(&mut app, &tree, "q");
    assert!(app.is_filtering && names(&app).is_empty(), "q is a letter here");
    press(&mut app, &tree, "Back Enter a");
    assert_eq!(app.marks.targets().objects, ["Cd", "c"]);
    assert_eq!(press(&mut app, &tree, "Esc"), None);
    assert_eq!((names(&app).len(), app.marks.len()), (4, 2));
    assert_eq!(press(&mut app, &tree, "Esc"), None);
    assert!(app.marks.is_empty());
    assert_eq!(press(&mut app, &tree, "Esc"), Some(Ask::Leave));
}

#[test]
fn only_the_number_of_objects_begins_a_removal() {
    let tree = tree(&KEYS);
    let mut app = app(&tree);
    let asked = press(&mut app, &tree, "1 Space Down Space d");
    let expected = vec![step("rm --recursive s3://b/a/"), step("rm s3://b/Cd")];
    assert_eq!(asked, Some(Ask::Plan(expected)));
    let planned = Planned { actions: 3, ..Planned::default() };
    app.take(Answer::Planned(Ok(planned.clone())));
    for typed in ["Enter", "yes Enter", "Back Back Back 30 Enter"] {
        assert_eq!(press(&mut app, &tree, typed), None, "{typed}");
        assert!(app.status.contains("before you type 3"), "{}", app.status);
    }
    assert_eq!(press(&mut app, &tree, "Back Enter"), Some(Ask::Apply));
    app.take(Answer::Ended(2));
    assert!(matches!(&app.pane, Pane::Running(pane) if pane.ended == 2));
    assert_eq!(press(&mut app, &tree, "q Enter"), None, "what runs is not left");
    assert_eq!(press(&mut app, &tree, "Esc"), Some(Ask::Cancel));
    app.take(Answer::Applied(Outcome { done: 2, failed: 1, messages: Vec::new() }));
    press(&mut app, &tree, "Enter");
    assert!(matches!(app.pane, Pane::None));
    assert!(app.marks.is_empty(), "one failed, and the others are gone: none stays");
    assert_eq!(press(&mut app, &tree, "d"), Some(Ask::Plan(vec![step("rm s3://b/c")])));
    app.take(Answer::Planned(Ok(planned)));
    assert_eq!(press(&mut app, &tree, "3 Esc"), None);
    assert!(matches!(app.pane, Pane::None), "it was left");
}

#[test]
fn other_actions_take_a_yes() {
    let tree = tree(&KEYS);
    let mut app = app(&tree);
    assert_eq!(press(&mut app, &tree, "1 c Enter"), None, "nothing was typed");
    let asked = press(&mut app, &tree, "glacier Enter");
    let expected = step("set --storage-class=GLACIER --recursive s3://b/a/");
    assert_eq!(asked, Some(Ask::Plan(vec![expected])));
    app.take(Answer::Planned(Ok(Planned { actions: 2, ..Planned::default() })));
    assert_eq!(press(&mut app, &tree, "2 Enter"), None);
    assert_eq!(press(&mut app, &tree, "Back yes Enter"), Some(Ask::Apply));
}

#[test]
fn a_plan_that_fails_or_comes_too_late_does_nothing() {
    let tree = tree(&KEYS);
    let mut app = app(&tree);
    press(&mut app, &tree, "d");
    app.take(Answer::Planned(Err("no".to_owned())));
    assert_eq!(app.status, "no");
    assert!(matches!(app.pane, Pane::None));
    press(&mut app, &tree, "d");
    assert_eq!(press(&mut app, &tree, "Esc"), Some(Ask::Cancel));
    app.take(Answer::Planned(Ok(Planned { actions: 1, ..Planned::default() })));
    assert!(matches!(app.pane, Pane::None));
    press(&mut app, &tree, "d");
    app.take(Answer::Planned(Ok(Planned::default())));
    assert_eq!(press(&mut app, &tree, "0 Enter"), None, "there is nothing to do");
}

#[test]
fn previews_and_versions_are_asked_for() {
    let tree = tree(&KEYS);
    let mut app = app(&tree);
    let asked = press(&mut app, &tree, "Down Enter");
    let key = "Cd".to_owned();
    assert_eq!(asked, Some(Ask::Preview { key: key.clone(), version_id: None }));
    app.take(Answer::Preview { key: "other".to_owned(), preview: Err("late".to_owned()) });
    assert!(matches!(&app.pane, Pane::Preview(pane) if pane.preview.is_none()));
    assert_eq!(press(&mut app, &tree, "T"), Some(Ask::Tags { key: key.clone(), version_id: None }));
    assert_eq!(
        press(&mut app, &tree, "Esc v"),
        Some(Ask::Versions { path: key.clone(), is_folder: false })
    );
    let row = VersionRow { key: key.clone(), version_id: "v1".to_owned(), ..VersionRow::default() };
    let listed = Listed { rows: vec![row], next: None };
    app.take(Answer::Versions { path: key.clone(), listed: Ok(listed.clone()) });
    let version_id = Some("v1".to_owned());
    assert_eq!(
        press(&mut app, &tree, "Enter"),
        Some(Ask::Preview { key: key.clone(), version_id })
    );
    press(&mut app, &tree, "Esc v");
    app.take(Answer::Versions { path: key, listed: Ok(listed) });
    let asked = press(&mut app, &tree, "D");
    assert_eq!(asked, Some(Ask::Plan(vec![step("rm --versions s3://b/Cd")])));
}

#[test]
fn a_folded_folder_is_listed_by_itself_once() {
    let mut tree = tree(&["a/x"]);
    let mut app = app(&tree);
    // Nothing of it is in the tree, as if there had been no room.
    app.path = "far/".to_owned();
    app.is_stale = true;
    let path = "far/".to_owned();
    assert_eq!(app.refresh(&tree, false), Some(Ask::Open { path: path.clone(), from: None }));
    app.is_stale = true;
    assert_eq!(app.refresh(&tree, false), None, "it was asked for");
    let rows = vec![Row::unknown_folder("deep"), Row::unknown_folder("other")];
    let listed = Listed { rows, next: Some("token".to_owned()) };
    app.take(Answer::Opened { path: "elsewhere/".to_owned(), listed: Err("late".to_owned()) });
    app.take(Answer::Opened { path: path.clone(), listed: Ok(listed) });
    assert_eq!(app.refresh(&tree, false), None);
    assert_eq!(names(&app), ["deep/", "other/"]);
    assert!(app.opened_note().unwrap().contains("n shows"));
    let from = Some("token".to_owned());
    assert_eq!(press(&mut app, &tree, "n"), Some(Ask::Open { path: path.clone(), from }));
    tree.add(&Object { key: "far/deep/k", size: 7, ..Object::default() });
    let rows = vec![Row::unknown_folder("deep")];
    app.take(Answer::Opened { path, listed: Ok(Listed { rows, next: None }) });
    app.refresh(&tree, false);
    assert_eq!(names(&app), ["deep/"], "the tree has all of it now");
}

#[test]
fn nothing_is_done_about_a_saved_listing() {
    let tree = tree(&KEYS);
    let mut app = App::new(place(None), &tree);
    app.refresh(&tree, true);
    press(&mut app, &tree, "1 Down Down Space Up");
    for keys in ["d", "t", "c", "r", "g", "v", "Enter"] {
        assert_eq!(press(&mut app, &tree, keys), None, "{keys}");
        assert_eq!(app.status, NEEDS_SERVICE, "{keys}");
        assert!(matches!(app.pane, Pane::None), "{keys}");
    }
}

#[test]
fn control_characters_are_not_copied() {
    let tree = tree(&["a\nrm -rf ~"]);
    let mut app = app(&tree);
    assert_eq!(press(&mut app, &tree, "y"), None);
    assert!(app.status.contains("not copied"), "{}", app.status);
}

#[test]
fn help_ends_with_any_other_key() {
    let tree = tree(&KEYS);
    let mut app = app(&tree);
    assert_eq!(press(&mut app, &tree, "? Down"), None);
    assert_eq!(app.help, Some(1));
    assert_eq!(press(&mut app, &tree, "q"), None);
    assert_eq!(app.help, None);
}
