//! Jobs that are killed at any step and resumed from what is on the disk.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::journal::log;

const BOOT: &str = "a boot";

/// A job over numbered names that is killed and resumed.
#[derive(Default)]
struct World {
    /// What is on the disk.
    stored: Snapshot,
    log: Vec<Change>,
    /// How often each name was done.
    done: BTreeMap<u32, u32>,
    /// Names that the runs looked at.
    looked_at: usize,
}

fn name(number: u32) -> String {
    format!("{number:05}")
}

fn mark(number: u32) -> Mark {
    Mark(u128::from(number) + 1)
}

impl World {
    fn change(&mut self, state: &mut State, change: Change) {
        if !state.ignores(&change) {
            state.apply(&change);
            self.log.push(change);
            let has_other = |mark: &Mark| state.pending.contains_key(&mark.missing());
            assert!(!state.pending.keys().any(has_other), "two marks of one are pending");
        }
    }

    /// What a run finds that begins now: through the bytes of the log.
    fn recovered(&self) -> Snapshot {
        let mut state = State::restored(self.stored.clone());
        let bytes = log::encoded(&self.log, BOOT);
        log::read(&bytes, BOOT).for_each(|change| state.apply(&change));
        state.snapshot()
    }

    /// One run, which is killed after so many steps; whether it came to its end. `choices` say what
    /// happens next.
    fn run(&mut self, names: u32, mut choices: impl Iterator<Item = u8>, steps_max: usize) -> bool {
        let recovered = self.recovered();
        let left = Left::of(&recovered);
        let mut state = State::resumed(recovered);
        (self.stored, self.log) = (state.snapshot(), Vec::new());
        let mut source = (0..names).filter(|number| name(*number) > left.settled.name).peekable();
        let mut queue: Vec<u32> = Vec::new();
        for _ in 0..steps_max {
            let choice = choices.next().unwrap_or(1);
            match choice % 4 {
                0 if source.peek().is_some() => {
                    let batch: Vec<u32> =
                        source.by_ref().take(usize::from(choice) / 8 + 1).collect();
                    self.looked_at += batch.len();
                    let begun: Vec<u32> = batch
                        .iter()
                        .copied()
                        .filter(|n| !left.has_settled(&name(*n), mark(*n), false))
                        // One in seven needs nothing.
                        .filter(|n| n % 7 != 0)
                        .collect();
                    let marks = begun.iter().map(|number| mark(*number)).collect();
                    self.change(&mut state, Change::Begun(marks));
                    let last = name(*batch.last().expect("there is one"));
                    let position = Position { name: last, ..Position::default() };
                    self.change(&mut state, Change::Looked(position));
                    queue.extend(begun);
                }
                3 if choice > 200 => (self.stored, self.log) = (state.snapshot(), Vec::new()),
                _ if !queue.is_empty() => {
                    let number = queue.swap_remove(usize::from(choice) % queue.len());
                    if choice == 77 {
                        self.change(&mut state, Change::Failed(mark(number)));
                    } else if choice == 78 {
                        self.change(&mut state, Change::Failed(mark(number).missing()));
                    } else {
                        *self.done.entry(number).or_default() += 1;
                        let done = Conclusion::Done(1);
                        self.change(&mut state, Change::Concluded(mark(number), done));
                    }
                }
                _ => {}
            }
            if source.peek().is_none() && queue.is_empty() {
                return self.recovered().pending.is_empty();
            }
        }
        false
    }
}

proptest! {
    #[test]
    fn whatever_kills_a_job_everything_is_done_once(
        names in 1_u32..300,
        choices in proptest::collection::vec(any::<u8>(), 2_000),
        kills in proptest::collection::vec(1_usize..200, 0..8),
    ) {
        let mut world = World::default();
        let mut choices = choices.into_iter();
        for steps in kills {
            world.run(names, choices.by_ref(), steps);
        }
        // At last nothing fails.
        let kind = |step: usize| u8::from(!step.is_multiple_of(3));
        prop_assert!(world.run(names, (0..).map(kind), 10_000));
        for number in 0..names {
            let expected = u32::from(number % 7 != 0);
            let done = world.done.get(&number).copied().unwrap_or(0);
            prop_assert_eq!(done, expected, "{} of {}", number, names);
        }
    }

    #[test]
    fn a_log_that_is_cut_off_loses_its_end_only(
        numbers in proptest::collection::vec(0_u32..50, 0..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let change = |number: &u32| match number % 6 {
            0 => Change::Begun((0..*number).map(mark).collect()),
            1 => Change::Looked(Position { name: name(*number), source_seen: 7, target_seen: 9 }),
            2 => Change::Concluded(mark(*number), Conclusion::Done(u64::from(*number))),
            3 => Change::Failed(mark(*number)),
            4 => Change::PartDone {
                target: name(*number),
                part: PartDone { number: *number, checksum: "AAAA".to_owned() },
            },
            _ => Change::PartsEnded { target: name(*number) },
        };
        let changes: Vec<_> = numbers.iter().map(change).collect();
        let bytes = log::encoded(&changes, BOOT);
        let read: Vec<_> = log::read(&bytes, BOOT).collect();
        prop_assert_eq!(&read, &changes);
        let cut: Vec<_> = log::read(&bytes[..cut.index(bytes.len())], BOOT).collect();
        prop_assert_eq!(&changes[..cut.len()], &cut[..]);
        prop_assert_eq!(log::read(&bytes, "another boot").count(), 0);
    }
}

#[test]
fn what_is_in_work_keeps_the_job_from_going_on_behind_it() {
    let mut state = State::default();
    let look = |number| Change::Looked(Position { name: name(number), ..Position::default() });
    state.apply(&Change::Begun(vec![mark(1)]));
    state.apply(&look(1));
    state.apply(&Change::Begun(vec![mark(2), mark(3)]));
    state.apply(&look(3));
    state.apply(&Change::Concluded(mark(2), Conclusion::Done(5)));
    assert_eq!(state.snapshot().settled.name, "");
    state.apply(&Change::Concluded(mark(1), Conclusion::Done(5)));
    assert_eq!(state.snapshot().settled.name, name(1));
    state.apply(&Change::Failed(mark(3)));
    assert_eq!(state.snapshot().settled.name, name(1), "what failed is tried again");
    assert_eq!(state.snapshot().totals.objects, 2);
}

/// Where one that was missing was begun, nothing behind it is settled; once it is done, all is.
#[test]
fn what_was_missing_is_pending_where_it_was_begun() {
    let mut state = State::default();
    let look = |number| Change::Looked(Position { name: name(number), ..Position::default() });
    state.apply(&Change::Begun(vec![mark(1)]));
    state.apply(&look(1));
    state.apply(&Change::Begun(vec![mark(2)]));
    state.apply(&look(2));
    state.apply(&Change::Failed(mark(1).missing()));
    state.apply(&Change::Concluded(mark(2), Conclusion::Done(5)));
    let snapshot = state.snapshot();
    assert_eq!(
        (snapshot.settled.name.as_str(), snapshot.pending.as_slice()),
        ("", &[mark(1).missing()][..])
    );
    let left = Left::of(&snapshot);
    assert!(!left.has_settled(&name(1), mark(1), false) && !left.has_begun(mark(1)));
    let mut resumed = State::resumed(snapshot);
    resumed.apply(&Change::Begun(vec![mark(1)]));
    resumed.apply(&Change::Concluded(mark(1), Conclusion::Done(5)));
    assert_eq!(resumed.snapshot().pending, []);
}

#[test]
fn a_source_without_order_is_looked_through_from_its_beginning() {
    let mut state = State::default();
    state.apply(&Change::Begun(vec![mark(5)]));
    state.apply(&Change::Looked(Position { name: name(5), ..Position::default() }));
    state.apply(&Change::Begun(vec![mark(6)]));
    state.apply(&Change::Looked(Position::default()));
    let Snapshot { settled, looked, .. } = state.snapshot();
    assert_eq!((settled.name.as_str(), looked.as_str()), ("", ""));
}

/// The name of the key that is the prefix itself is empty, as is the name where nothing was seen.
#[test]
fn a_run_that_has_looked_at_nothing_has_not_settled_the_empty_name() {
    let mut snapshot = Snapshot::default();
    assert!(!Left::of(&snapshot).has_settled("", mark(1), false));
    snapshot.looked = name(1);
    assert!(Left::of(&snapshot).has_settled("", mark(1), false), "it is the first of all");
    snapshot.pending.push(mark(1));
    assert!(!Left::of(&snapshot).has_settled("", mark(1), false));
}

#[test]
fn a_resumed_run_knows_how_far_the_one_before_looked() {
    let position = |number| Position { name: name(number), ..Position::default() };
    let snapshot = Snapshot {
        settled: position(3),
        position: position(9),
        looked: name(9),
        pending: vec![mark(5)],
        ..Snapshot::default()
    };
    let mut state = State::resumed(snapshot);
    let again = Change::Looked(position(2));
    assert!(state.ignores(&again), "it may meet names again that are settled");
    state.apply(&Change::Looked(position(4)));
    assert_eq!(state.snapshot().looked, name(9));
    assert_eq!(state.snapshot().settled.name, name(3), "what was in work comes up again");
    state.apply(&Change::Begun(vec![mark(5)]));
    state.apply(&Change::Looked(position(9)));
    assert_eq!(state.snapshot().settled.name, name(4));
    state.apply(&Change::Concluded(mark(5), Conclusion::Done(1)));
    assert_eq!(state.snapshot().settled.name, name(9));
}
