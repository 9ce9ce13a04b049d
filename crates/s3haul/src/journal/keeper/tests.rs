//! Journals that break, that are shared, and that are looked at. What is stored is tested in
//! `store`.

use super::*;

fn description() -> Description {
    Description {
        command: String::new(),
        directory: PathBuf::new(),
        job: "{}".to_owned(),
        manifest: String::new(),
        seed: 7,
        created_ms: 0,
    }
}

fn journal(folder: &Path, id: &str) -> Journal {
    let none = (None, State::default());
    let journal = Journal::in_folder(folder.to_owned(), id.to_owned(), description(), none);
    Journal { from_beginning: true, ..journal }
}

fn object(number: u32) -> ObjectEvent {
    ObjectEvent {
        action: ActionKind::Upload,
        is_move: false,
        source: Location::Local(PathBuf::from(format!("/a/{number}"))),
        target: None,
        bytes: 1,
        reason: None,
        expected: None,
        outcome: Outcome::Done,
    }
}

#[test]
fn a_broken_journal_of_a_job_that_is_done_goes() {
    for (ending, is_left) in [(Ending::Done, false), (Ending::Failed, true)] {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path(), "20260101-000000-jobwhich");
        journal.begin(None);
        journal.ended(&object(1));
        let source = std::io::ErrorKind::StorageFull.into();
        let path = folder.path().to_owned();
        journal.end_with(&JournalError::Io { doing: "write", path, source });
        journal.finish(None, ending);
        assert_eq!(folder.path().read_dir().unwrap().count() > 0, is_left, "{ending:?}");
    }
}

#[test]
fn journals_that_are_too_old_or_too_many_go() {
    const DAY: Duration = Duration::from_hours(24);
    let folder = tempfile::tempdir().unwrap();
    let file = |id: &str| folder.path().join(format!("{id}.db"));
    let now = SystemTime::now();
    // What is kept of a job that was written so many days ago.
    for (number, (ending, days, is_left)) in [
        (Ending::Done, 6, true),
        (Ending::Done, 8, false),
        (Ending::Failed, 8, true),
        (Ending::Failed, 61, false),
        (Ending::Open, 61, false),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("20260101-{number:06}-jobwhich");
        let mut store = Store::create(&file(&id), &description()).unwrap();
        let age_ms = i64::try_from((DAY * days).as_millis()).unwrap();
        let updated_ms = now_ms() - age_ms;
        store.write(&Stored { ending, updated_ms, ..Stored::default() }, &[], None).unwrap();
        drop(store);
        let opened = File::options().write(true).open(file(&id)).unwrap();
        opened.set_modified(now - DAY * days).unwrap();
        let pruned = folder::prune(folder.path());
        assert_eq!(pruned.is_empty(), is_left, "{ending:?} after {days} days");
        assert_eq!(file(&id).exists(), is_left);
    }

    // The oldest go, the damaged and those of others never.
    let (kept, damaged) = ("20260101-000000-jobwhich", "20250101-000000-damagedd");
    std::fs::write(file(damaged), "no journal").unwrap();
    std::fs::write(file("another"), "no journal").unwrap();
    for number in 0..199 {
        std::fs::copy(file(kept), file(&format!("20260102-{number:06}-jobwhich"))).unwrap();
    }
    let pruned = folder::prune(folder.path());
    assert_eq!(pruned, ["20260101-000002-jobwhich", kept]);
    assert!(file(damaged).exists() && file("another").exists());
    assert_eq!(folder::prune(folder.path()), [""; 0]);
}

#[test]
fn removals_that_a_limit_counts_are_known_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let id = "20260101-000000-jobwhich";
    let killed = journal(folder.path(), id);
    killed.begin(None);
    killed.count_removals();
    for number in 0..100 {
        killed.ended(&ObjectEvent { action: ActionKind::Delete, ..object(number) });
    }
    // Neither a snapshot nor the end is written.
    assert_eq!(folder::status(folder.path(), id).unwrap().totals.removed, 100);
}

#[test]
fn those_that_look_while_a_job_begins_cost_it_no_journal() {
    let folder = tempfile::tempdir().unwrap();
    let has_ended = AtomicBool::new(false);
    let look = || {
        while !has_ended.load(Ordering::Relaxed) {
            folder::jobs(folder.path(), drop);
        }
    };
    let keep = |number: usize| {
        let journal = journal(folder.path(), &format!("20260101-{number:06}-jobwhich"));
        journal.begin(None);
        journal.ended(&object(1));
        journal.save(None, Ending::Open);
        let warning = journal.take_warning();
        journal.finish(None, Ending::Done);
        _ = folder::remove(folder.path(), journal.id());
        warning
    };
    let warnings: Vec<String> = std::thread::scope(|scope| {
        (0..3).for_each(|_| drop(scope.spawn(look)));
        let warnings = (0..150).filter_map(keep).collect();
        has_ended.store(true, Ordering::Relaxed);
        warnings
    });
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_journal_of_the_same_name_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    for has_ended in [false, true] {
        let id = if has_ended { "20260101-000000-endedjob" } else { "20260101-000000-jobwhich" };
        let first = journal(folder.path(), id);
        first.begin(None);
        first.ended(&object(1));
        if has_ended {
            first.finish(None, Ending::Failed);
        } else {
            first.save(None, Ending::Open);
        }
        let second = journal(folder.path(), id);
        second.begin(None);
        assert!(!second.is_kept());
        let warning = second.take_warning().unwrap();
        assert!(warning.contains("goes on without a journal"), "{warning}");
        second.finish(None, Ending::Done);
        let status = folder::status(folder.path(), id).unwrap();
        assert_eq!((status.totals.objects, status.process.is_none()), (1, has_ended));
    }
}
