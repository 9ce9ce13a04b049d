//! Walks over real trees.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;

fn tree(names: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name.as_bytes()).unwrap();
    }
    dir
}

fn batches(mut walk: Walk) -> Vec<FileBatch> {
    std::iter::from_fn(|| walk.next_batch()).collect()
}

/// Keys and warnings of a walk; the root is shown as `ROOT`.
fn walk(root: &Path, options: WalkOptions) -> (Vec<String>, Vec<String>) {
    let (mut keys, mut warnings) = (Vec::new(), Vec::new());
    for batch in batches(Walk::tree(root, options)) {
        for file in (0..batch.len()).filter_map(|row| batch.get(row)) {
            assert_eq!(file.path(), root.join(file.relative));
            keys.push(file.relative.to_owned());
        }
        let shown = |text: &String| text.replace(&*root.to_string_lossy(), "ROOT");
        warnings.extend(batch.warnings.iter().map(shown));
    }
    (keys, warnings)
}

#[test]
fn keys_come_in_the_order_of_s3() {
    let dir = tree(&["a/b", "a.txt", "a0", "a/b.c/d", "a-b/x", "B", "é", "z", "a/b-"]);
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    let mut sorted = keys.clone();
    sorted.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    assert_eq!(keys, sorted);
    assert_eq!(keys.len(), 9);
    assert!(warnings.is_empty());
}

#[test]
fn temporary_files_of_downloads_are_no_files() {
    let dir = tree(&["a/.f.s3haul-tmp", "a/f", ".s3haul-tmp", "g.s3haul-tmp", ".d.s3haul-tmp/f"]);
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    assert_eq!(keys, [".d.s3haul-tmp/f", ".s3haul-tmp", "a/f", "g.s3haul-tmp"]);
    assert!(warnings.is_empty());
    let (all, _) =
        walk(dir.path(), WalkOptions { takes_temporary: true, ..WalkOptions::default() });
    assert_eq!(all.len(), 5);
}

#[test]
fn the_store_of_a_server_is_left_out() {
    let private = ["d/.s3haul/meta/box/k.json", "d/.s3haul/buckets/box.json", "d/.s3haul/tmp/x"];
    let others = ["d/mine/box/f", "d/-/f", "d/f", "box/f", "e/.s3haul/notes", "e/box/f"];
    let dir = tree(&[&private[..], &others[..], &["d/box/k"]].concat());
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    let mut expected = others;
    expected.sort_unstable();
    assert_eq!(keys, expected, "another's `.s3haul` is a folder like any");
    let named_once = [format!("Skipping file ROOT/d. {}", warning::SERVER_STORE)];
    assert_eq!(warnings, named_once);
    let (keys, warnings) = walk(&dir.path().join("d/box"), WalkOptions::default());
    assert_eq!((keys, warnings), (vec!["k".to_owned()], Vec::new()), "asked for by name");
    let prune: Prune = Arc::new(|key| key.starts_with("d/.s3haul/"));
    let options = WalkOptions { prune: Some(prune), ..WalkOptions::default() };
    assert_eq!(walk(dir.path(), options).1, named_once);
    // A download says nothing of it, but what is left out is still marked.
    let options = WalkOptions { is_written_to: true, ..WalkOptions::default() };
    assert_eq!(walk(dir.path(), options.clone()).1, [""; 0]);
    let [batch] = &batches(Walk::tree(dir.path(), options))[..] else { panic!() };
    assert_eq!(batch.gaps, ["d/.s3haul/", "d/box/"]);
    assert!(batch.warnings.is_empty());
}

#[test]
fn facts_are_those_of_the_file() {
    let dir = tree(&["d/f"]);
    let path = dir.path().join("d/f");
    let time = SystemTime::UNIX_EPOCH + Duration::new(1_234_567_890, 123_456_000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    for walk in
        [Walk::tree(dir.path(), WalkOptions::default()), Walk::file(&path, WalkOptions::default())]
    {
        let [batch] = &batches(walk)[..] else { panic!() };
        let file = batch.get(0).unwrap();
        assert_eq!((file.size, file.modified, &file.path()), (3, time, &path));
        assert_eq!(file.mode & 0o170_000, 0o100_000);
    }
}

#[test]
fn a_missing_or_mistaken_root_is_a_warning() {
    let dir = tree(&["f"]);
    let missing = "Skipping file ROOT/. File does not exist.";
    for root in [dir.path().join("none"), dir.path().join("f")] {
        assert_eq!(walk(&root, WalkOptions::default()), (vec![], vec![missing.to_owned()]));
    }
    let none = Walk::file(&dir.path().join("none"), WalkOptions::default());
    let [batch] = &batches(none)[..] else { panic!() };
    assert!(batch.is_empty());
    assert_eq!((&batch.gaps[..], batch.warnings.len()), (&["none".to_owned()][..], 1));
}

#[test]
fn a_directory_taken_for_a_file_is_left_to_fail_when_it_is_read() {
    let dir = tree(&["d/f"]);
    let path = PathBuf::from(format!("{}/d/", dir.path().display()));
    let [batch] = &batches(Walk::file(&path, WalkOptions::default()))[..] else { panic!() };
    let file = batch.get(0).unwrap();
    assert_eq!(file.relative, "");
    let error = crate::fs::read_whole(&file.path(), file.size).unwrap_err();
    assert!(error.to_string().contains("Is a directory"), "{error}");
}

#[test]
fn special_files_and_dead_links_are_warned_of_in_the_known_words() {
    let dir = tree(&["a", "z"]);
    let fifo = dir.path().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    symlink("nowhere", dir.path().join("dead")).unwrap();
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    assert_eq!(keys, ["a", "z"]);
    assert_eq!(
        warnings,
        [
            "Skipping file ROOT/dead. File does not exist.",
            "Skipping file ROOT/fifo. File is character special device, block special device, \
             FIFO, or socket."
        ]
    );
}

#[test]
fn links_are_followed_or_left_out() {
    let dir = tree(&["real/f", "g"]);
    symlink("real", dir.path().join("link")).unwrap();
    symlink("g", dir.path().join("h")).unwrap();
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    assert_eq!(keys, ["g", "h", "link/f", "real/f"]);
    assert!(warnings.is_empty());
    let plain = WalkOptions { follow_symlinks: false, ..WalkOptions::default() };
    assert_eq!(walk(dir.path(), plain.clone()).0, ["g", "real/f"]);
    for root in ["link", "link/"] {
        assert_eq!(walk(&dir.path().join(root), plain.clone()), (vec![], vec![]));
    }
    assert!(batches(Walk::file(&dir.path().join("h"), plain)).is_empty());
}

#[test]
fn loops_end() {
    let dir = tree(&["a/b/f"]);
    symlink("../..", dir.path().join("a/b/up")).unwrap();
    symlink(".", dir.path().join("a/self")).unwrap();
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    assert_eq!(keys, ["a/b/f"]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("Skipping file ROOT/a/b/up. Directory is a link"));
}

/// It was warned of once more for each link that leads back.
#[test]
fn names_of_a_loop_are_warned_of_once() {
    let dir = tree(&["x/f"]);
    symlink("../", dir.path().join("x/up")).unwrap();
    if fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"bad\xff")), b"x").is_err() {
        return; // This file system holds no such names.
    }
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    assert_eq!(keys, ["x/f"]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("Skipping file b'bad\\xff'"), "{warnings:?}");
    assert!(warnings[1].starts_with("Skipping file ROOT/x/up. Directory is a link"));
}

#[test]
fn names_that_are_no_text_are_skipped() {
    let dir = tree(&["ok"]);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    if fs::write(dir.path().join(name), b"x").is_err() {
        return; // This file system holds no such names.
    }
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    assert_eq!(keys, ["ok"]);
    assert_eq!(
        warnings,
        ["Skipping file b'caf\\xe9'. There was an error trying to decode the the file \
          b'caf\\xe9' in directory \"ROOT\". \nPlease check your locale settings.  The filename \
          was decoded as: utf-8\nOn posix platforms, check the LC_CTYPE environment variable."]
    );
}

#[test]
fn unreadable_things_are_warned_of_and_the_rest_goes_on() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tree(&["a", "closed/f", "secret", "z"]);
    for name in ["closed", "secret"] {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    if fs::read(dir.path().join("secret")).is_ok() {
        return; // The superuser reads everything.
    }
    let (keys, warnings) = walk(dir.path(), WalkOptions::default());
    fs::set_permissions(dir.path().join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(keys, ["a", "z"]);
    assert_eq!(
        warnings,
        [
            "Skipping file ROOT/closed. File/Directory is not readable.",
            "Skipping file ROOT/secret. File/Directory is not readable."
        ]
    );
}

#[test]
fn directories_can_be_left_out_unread() {
    let dir = tree(&["a/skip/x", "a/keep", "skip/y", "z/skip"]);
    let prune: Prune = Arc::new(|directory| directory.ends_with("skip/"));
    let options = WalkOptions { prune: Some(prune), ..WalkOptions::default() };
    assert_eq!(walk(dir.path(), options).0, ["a/keep", "z/skip"]);
}

#[test]
fn batches_are_bounded_and_complete() {
    let names: Vec<String> = (0..600).map(|index| format!("{}/{index}", index % 7)).collect();
    let dir = tree(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut walk = Walk::tree(dir.path(), WalkOptions::default());
    let sizes: Vec<usize> = std::iter::from_fn(|| walk.next_batch()).map(|b| b.len()).collect();
    assert_eq!(sizes, [256, 256, 88]);
}

#[test]
fn deep_trees_do_not_hold_every_directory_open() {
    let deep = vec!["d"; 84].join("/");
    let dir = tree(&[&format!("{deep}/f"), "a"]);
    assert_eq!(walk(dir.path(), WalkOptions::default()).0, ["a".to_owned(), format!("{deep}/f")]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_tree_comes_whole_and_sorted(
        names in proptest::collection::btree_set("[ab.!0/é]{1,8}", 1..30),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut expected = std::collections::BTreeSet::new();
        for name in names {
            let parts: Vec<&str> =
                name.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
            let relative = parts.join("/");
            let path = dir.path().join(&relative);
            let parent = path.parent().unwrap();
            let room = !relative.is_empty() && fs::create_dir_all(parent).is_ok();
            if room && fs::write(&path, b"").is_ok() {
                expected.insert(relative);
            }
        }
        let (keys, warnings) = walk(dir.path(), WalkOptions::default());
        prop_assert_eq!(keys, expected.into_iter().collect::<Vec<_>>());
        prop_assert!(warnings.is_empty());
    }
}

#[test]
fn a_range_of_names_is_walked_and_no_more() {
    let dir = tree(&["a/b", "a.txt", "a0", "a/b.c/d", "a-b/x", "B", "é", "z", "a/b-"]);
    let (all, _) = walk(dir.path(), WalkOptions::default());
    let more = ["", "a", "a/", "a/b.c", "a/b.c/", "a-", "zz"];
    let bounds: Vec<_> = all.iter().map(String::as_str).chain(more).collect();
    for after in &bounds {
        for through in &bounds {
            let through = Some((*through).to_owned());
            let options = WalkOptions { after: (*after).to_owned(), through, ..Default::default() };
            let through = options.through.clone().unwrap_or_default();
            let (found, _) = walk(dir.path(), options);
            let wanted = all.iter().filter(|key| key.as_str() > *after && **key <= through);
            let found_wanted = found.iter().filter(|key| key.as_str() > *after);
            assert!(wanted.eq(found_wanted), "{after} to {through}: {found:?}");
        }
    }
}
