//! Writing below a root, on a real file system.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use super::directories::{Directories, open_root};
use super::*;
use s3haul_wire::error::ErrorKind;

struct Place {
    dir: tempfile::TempDir,
    root: TargetRoot,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let root = TargetRoot::open(&dir.path().join("root")).unwrap();
    Place { dir, root }
}

impl Place {
    fn write(&self, relative: &str, bytes: &[u8]) {
        let pending = self.root.create(relative).unwrap();
        pending.write_at(0, bytes).unwrap();
        assert_eq!(pending.commit(Finish::default()).unwrap(), Committed::default());
    }

    fn read(&self, relative: &str) -> Vec<u8> {
        fs::read(self.root.path_of(relative)).unwrap()
    }

    /// All names in a directory below the root.
    fn names(&self, relative: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.path_of(relative)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn escape(&self, relative: &str) -> EscapeReason {
        match self.root.create(relative) {
            Err(CreateError::Escape(escape)) => {
                assert_eq!(escape.name, relative);
                escape.reason
            }
            other => panic!("{relative}: {other:?}"),
        }
    }
}

fn failure(result: Result<PendingFile, CreateError>) -> String {
    match result {
        Err(CreateError::Failed(error)) => {
            assert_eq!(error.kind(), ErrorKind::Local);
            error.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_appear_only_when_committed() {
    let place = place();
    place.write("a/b/f", b"old");
    let pending = place.root.create("a/b/f").unwrap();
    pending.preallocate(9).unwrap();
    pending.write_at(4, b"tents").unwrap();
    assert_eq!(place.read("a/b/f"), b"old");
    assert_eq!(place.names("a/b").len(), 2, "the temporary file is beside the target");
    pending.write_at(0, b"cont").unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_750);
    assert_eq!(pending.commit(time.into()).unwrap().warning, None);
    assert_eq!(place.names("a/b"), ["f"]);
    let metadata = fs::metadata(place.root.path_of("a/b/f")).unwrap();
    let whole = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    assert_eq!(metadata.modified().unwrap(), whole, "whole seconds, as the AWS tools set");
    assert_eq!(metadata.accessed().unwrap(), whole);
    assert_eq!(place.read("a/b/f"), b"conttents");
}

#[test]
fn dropped_files_leave_nothing() {
    let place = place();
    let pending = place.root.create("f").unwrap();
    pending.write_at(0, b"half").unwrap();
    assert_eq!(place.names(""), [".f.s3haul-tmp"]);
    drop(pending);
    assert!(place.names("").is_empty());
}

/// What a killed process left has its name and no lock.
#[test]
fn leftovers_are_removed_by_the_next_write_of_the_name() {
    let place = place();
    fs::write(place.root.path_of(".f.s3haul-tmp"), b"much more than what comes").unwrap();
    place.write("f", b"new");
    assert_eq!(place.names(""), ["f"]);
    assert_eq!(place.read("f"), b"new");
}

#[test]
fn two_that_write_one_name_do_not_meet() {
    let place = place();
    let [first, second] = [b"first", b"other"].map(|bytes| {
        let pending = place.root.create("f").unwrap();
        pending.write_at(0, bytes).unwrap();
        pending
    });
    assert_eq!(place.names("").len(), 2);
    _ = first.commit(Finish::default()).unwrap();
    assert_eq!(place.read("f"), b"first");
    _ = second.commit(Finish::default()).unwrap();
    assert_eq!(place.read("f"), b"other");
    assert_eq!(place.names(""), ["f"]);
}

/// Locks of another machine may not be seen here, nor ours there.
#[test]
fn what_another_machine_writes_under_the_same_temporary_name_is_not_renamed() {
    let place = place();
    fs::write(place.root.path_of("f"), b"old").unwrap();
    for is_committed in [true, false] {
        let pending = place.root.create("f").unwrap();
        pending.write_at(0, b"whole").unwrap();
        fs::remove_file(place.root.path_of(".f.s3haul-tmp")).unwrap();
        fs::write(place.root.path_of(".f.s3haul-tmp"), b"torn").unwrap();
        if is_committed {
            pending.commit(Finish::default()).unwrap_err();
        } else {
            drop(pending);
        }
        assert_eq!((&*place.read("f"), &*place.read(".f.s3haul-tmp")), (&b"old"[..], &b"torn"[..]));
    }
}

/// A link or FIFO of that name is not ours: it stays, and nothing waits for it.
#[test]
fn what_only_has_the_name_of_a_leftover_stays() {
    let place = place();
    fs::write(place.root.path_of("other"), b"precious").unwrap();
    symlink("other", place.root.path_of(".f.s3haul-tmp")).unwrap();
    let fifo = place.root.path_of(".g.s3haul-tmp");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    place.write("f", b"1");
    place.write("g", b"2");
    assert_eq!(place.read("other"), b"precious");
    assert_eq!(place.names(""), [".f.s3haul-tmp", ".g.s3haul-tmp", "f", "g", "other"]);
}

#[test]
fn only_leftovers_are_removed_and_no_key_has_their_names() {
    let place = place();
    fs::write(place.root.path_of(".old.s3haul-tmp"), b"").unwrap();
    place.root.remove(".old.s3haul-tmp").unwrap();
    let pending = place.root.create("f").unwrap();
    match place.root.remove(".f.s3haul-tmp") {
        Err(CreateError::Escape(escape)) => assert_eq!(escape.reason, EscapeReason::InUse),
        other => panic!("{other:?}"),
    }
    _ = pending.commit(Finish::default()).unwrap();
    assert_eq!(place.names(""), ["f"]);
    assert_eq!(place.escape("a/.f.s3haul-tmp"), EscapeReason::Temporary);
}

/// Each takes what the others leave for a leftover, if it ever lets go of it.
#[test]
fn many_that_write_one_name_at_once_leave_one_whole_file() {
    let place = place();
    std::thread::scope(|scope| {
        for byte in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for _ in 0..200 {
                    let pending = place.root.create("f").unwrap();
                    pending.write_at(0, &[byte; 512]).unwrap();
                    pending.write_at(512, &[byte; 512]).unwrap();
                    _ = pending.commit(Finish::default()).unwrap();
                    let found = place.read("f");
                    assert!(found.len() == 1024 && found.iter().all(|other| *other == found[0]));
                }
            });
        }
    });
    assert_eq!(place.names(""), ["f"]);
}

#[test]
fn permissions_are_those_of_any_new_file() {
    let place = place();
    place.write("f", b"");
    fs::write(place.root.path_of("g"), b"").unwrap();
    let mode = |name| fs::metadata(place.root.path_of(name)).unwrap().permissions().mode();
    assert_eq!(mode("f"), mode("g"));
}

/// A file whose permissions come with the object is private to its owner before it has them.
#[test]
fn a_file_is_unreadable_before_it_has_its_permissions() {
    let place = place();
    let mode =
        |name: &str| fs::metadata(place.root.path_of(name)).unwrap().permissions().mode() & 0o777;
    fs::write(place.root.path_of("usual"), b"").unwrap();
    for (permissions, expected) in [(Some(0o640), 0o640), (None, mode("usual"))] {
        let pending = place.root.create_for("f", Access::Owner).unwrap();
        let names = place.names("");
        let temporary = names.iter().find(|name| name.starts_with(".f.")).unwrap();
        assert_eq!(mode(temporary), 0o600);
        let _ = pending.commit(Finish { permissions, ..Finish::default() }).unwrap();
        assert_eq!(mode("f"), expected);
        assert_eq!(place.names(""), ["f", "usual"]);
    }
}

/// `--no-overwrite` replaced a file that appeared while its object was received.
#[test]
fn a_file_that_must_be_new_replaces_none_that_appeared() {
    let place = place();
    let is_new = Finish { is_new: true, ..Finish::default() };
    let pending = place.root.create("f").unwrap();
    pending.write_at(0, b"received").unwrap();
    fs::write(place.root.path_of("f"), b"appeared").unwrap();
    let error = pending.commit(is_new).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed);
    assert_eq!(fs::read(place.root.path_of("f")).unwrap(), b"appeared");
    symlink("nowhere", place.root.path_of("link")).unwrap();
    assert!(place.root.create("link").unwrap().commit(is_new).is_err());
    let _ = place.root.create("g").unwrap().commit(is_new).unwrap();
    // A directory is nothing that would be overwritten.
    let pending = place.root.create("h").unwrap();
    let _ = place.root.create("h/below").unwrap().commit(is_new).unwrap();
    let error = pending.commit(is_new).unwrap_err();
    assert!(error.to_string().contains("a directory is in the way of"), "{error}");
    assert_eq!(place.names(""), ["f", "g", "h", "link"]);
}

#[test]
fn names_that_lead_out_are_distinguished() {
    let place = place();
    assert_eq!(place.escape("../f"), EscapeReason::Parent);
    assert_eq!(place.escape("a/../f"), EscapeReason::Parent);
    assert_eq!(place.escape("/f"), EscapeReason::Absolute);
    assert_eq!(place.escape("a//f"), EscapeReason::EmptyComponent);
    assert_eq!(place.escape("a\0f"), EscapeReason::Nul);
    assert!(place.names("").is_empty(), "nothing was created on the way");
}

/// Links out of the root, by an absolute path and by `..`, with and without `openat2`.
#[test]
fn links_out_of_the_root_are_refused() {
    let place = place();
    let outside = place.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, place.root.path_of("absolute")).unwrap();
    symlink("../outside", place.root.path_of("parent")).unwrap();
    symlink("itself", place.root.path_of("itself")).unwrap();
    for key in ["absolute/f", "parent/f", "absolute/new/f", "itself/f"] {
        assert_eq!(place.escape(key), EscapeReason::Link, "{key}");
    }
    let plain = Directories::new(Some(open_root(place.root.path()).unwrap()), "root".into());
    let plain = plain.without_openat2();
    for directory in ["absolute", "parent", "parent/new", "itself"] {
        let error = plain.create(directory).unwrap_err();
        assert!(matches!(error, CreateError::Escape(_)), "{directory}: {error:?}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

/// They are looked through and not written through.
#[test]
fn links_within_the_root_are_refused_too() {
    let place = place();
    fs::create_dir(place.root.path_of("real")).unwrap();
    symlink("real", place.root.path_of("link")).unwrap();
    place.write("real/f", b"1");
    let reason = place.escape("link/new/f");
    // Old kernels and sandboxes follow none at all.
    if let Ok(found) = place.root.exists("link/f") {
        assert!(found);
        assert_eq!(reason, EscapeReason::LinkInside);
    }
    assert!(matches!(place.escape("link/f"), EscapeReason::LinkInside | EscapeReason::Link));
    for (link, leads_to) in [("to-file", "real/f"), ("to-nothing", "nowhere")] {
        symlink(leads_to, place.root.path_of(link)).unwrap();
        let failed = place.root.create(&format!("{link}/f")).err().unwrap();
        assert!(reason != EscapeReason::LinkInside || matches!(failed, CreateError::Failed(_)));
    }
    assert_eq!(place.names("real"), ["f"]);
}

#[test]
fn a_link_in_the_place_of_the_target_is_replaced_not_followed() {
    let place = place();
    let outside = place.dir.path().join("precious");
    fs::write(&outside, b"keep").unwrap();
    symlink(&outside, place.root.path_of("f")).unwrap();
    place.write("f", b"new");
    assert_eq!(fs::read(&outside).unwrap(), b"keep");
    assert_eq!(place.read("f"), b"new");
}

#[test]
fn without_openat2_directories_are_made_all_the_same() {
    let place = place();
    let plain = Directories::new(Some(open_root(place.root.path()).unwrap()), "root".into());
    let plain = plain.without_openat2();
    plain.create("a/b/c").unwrap();
    assert!(place.root.path_of("a/b/c").is_dir());
    assert!(plain.find("a/b/missing").unwrap().is_none());
}

#[test]
fn keys_that_need_one_name_for_file_and_directory_fail_each_for_itself() {
    let place = place();
    place.write("a", b"1");
    let text = failure(place.root.create("a/b"));
    assert!(text.contains("a file is where a directory is needed"), "{text}");
    place.write("d/f", b"1");
    let text = failure(place.root.create("d"));
    assert!(text.contains("a directory is in the way of"), "{text}");
    let pending = place.root.create("late").unwrap();
    fs::create_dir(place.root.path_of("late")).unwrap();
    let error = pending.commit(Finish::default()).unwrap_err();
    assert!(error.to_string().contains("could not replace"), "{error}");
    assert_eq!(place.names(""), ["a", "d", "late"], "no temporary file is left");
}

#[test]
fn long_names_work_up_to_the_limit() {
    let place = place();
    let longest = "é".repeat(127);
    place.write(&longest, b"x");
    assert_eq!(place.names(""), [longest]);
    let text = failure(place.root.create(&"x".repeat(256)));
    assert!(text.contains("could not create"), "{text}");
    let text = failure(place.root.create(&format!("{}/f", "x".repeat(256))));
    assert!(text.contains("could not create directory"), "{text}");
}

/// It was waited for in a thread that nothing could end.
#[test]
fn a_named_fifo_whose_reader_is_gone_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p");
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, 0o600.into(), 0).unwrap();
    let error = PendingFile::at_for(&path, Access::ByUmask).err().unwrap().to_string();
    assert!(error.contains("nothing reads from the FIFO"), "{error}");
}

#[test]
fn special_files_are_written_in_order() {
    let pending = PendingFile::at(std::path::Path::new("/dev/null")).unwrap();
    assert!(pending.is_sequential());
    pending.preallocate(1 << 40).unwrap();
    pending.write_at(0, b"abc").unwrap();
    assert!(pending.write_at(5, b"x").is_err(), "a gap");
    pending.write_at(3, b"de").unwrap();
    assert_eq!(pending.commit(SystemTime::now().into()).unwrap(), Committed::default());
    assert!(std::path::Path::new("/dev/null").exists());
}

#[test]
fn an_exact_target_gets_its_parents() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("some/where/file");
    let pending = PendingFile::at(&path).unwrap();
    pending.write_at(0, b"x").unwrap();
    let _ = pending.commit(Finish::default()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"x");
}

#[test]
fn existence_and_removal() {
    let place = place();
    place.write("d/f", b"x");
    assert!(place.root.exists("d/f").unwrap());
    assert!(place.root.exists("d").unwrap());
    assert!(!place.root.exists("d/g").unwrap());
    assert!(!place.root.exists("e/f").unwrap());
    assert!(!place.root.exists("d/f/g").unwrap());
    assert!(matches!(place.root.exists("../x"), Err(CreateError::Escape(_))));
    place.root.remove("d/f").unwrap();
    assert!(!place.root.exists("d/f").unwrap());
    assert!(place.root.remove("d/f").is_err());
    assert!(place.root.remove("d").is_err(), "directories stay");
    assert_eq!(place.names(""), ["d"]);
}

#[test]
fn directories_that_vanish_are_made_again() {
    let place = place();
    place.write("d/f", b"1");
    fs::remove_dir_all(place.root.path_of("d")).unwrap();
    place.write("d/f", b"2");
    assert_eq!(place.read("d/f"), b"2");
}

#[test]
fn few_directories_stay_open() {
    let place = place();
    let directories = Directories::new(Some(open_root(place.root.path()).unwrap()), "root".into());
    for index in 0..300 {
        directories.create(&format!("{index}/x")).unwrap();
    }
    assert!(directories.open_count() <= 64);
}

#[test]
fn many_threads_may_create_the_same_tree() {
    let place = place();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let root = place.root.clone();
            scope.spawn(move || {
                for index in 0..50 {
                    let pending = root.create(&format!("a/b/{index}/{thread}")).unwrap();
                    pending.write_at(0, b"x").unwrap();
                    let _ = pending.commit(Finish::default()).unwrap();
                }
            });
        }
    });
    assert_eq!(place.names("a/b").len(), 50);
    assert_eq!(place.names("a/b/7"), ["0", "1", "2", "3"]);
}
