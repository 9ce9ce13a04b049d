//! What a seed stands for: objects, a command, which process is killed and when. Pure.

use std::fmt;
use std::time::Duration;

use super::tree::{Contents, bytes};
use support::dice::Dice;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Copy,
    Sync,
    Move,
    Remove,
    Tag,
}

/// Where it reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Folder to bucket.
    Up,
    /// Bucket to folder.
    Down,
    /// Bucket to bucket.
    Over,
    /// Objects stay where they are, or go.
    InPlace,
}

/// The process that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    Client,
    /// The server, which is back so much later while the client goes on.
    ServerBackAfter(Duration),
    /// The server, which is back when the client has given up.
    ServerGone,
}

/// When.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// So many lines were printed: one for each object that is done.
    pub(super) lines: u64,
    /// And then so much time passed.
    pub(super) further: Duration,
}

/// A job, and what happens to it.
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) verb: Verb,
    pub(super) route: Route,
    /// `sync --delete`.
    pub(super) deletes: bool,
    pub(super) source: Contents,
    /// What is at the target before.
    pub(super) target: Contents,
    pub(super) victim: Victim,
    pub(super) moment: Moment,
}

impl Plan {
    /// The plan of a seed.
    pub(super) fn of(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let dice = &mut dice;
        let verb = match dice.below(20) {
            0..6 => Verb::Copy,
            6..12 => Verb::Sync,
            12..18 => Verb::Move,
            18 => Verb::Remove,
            _ => Verb::Tag,
        };
        let route = match verb {
            Verb::Remove | Verb::Tag => Route::InPlace,
            _ => *dice.pick(&[Route::Up, Route::Down, Route::Over]),
        };
        let source = contents(dice, route);
        let target = if route == Route::InPlace { Contents::new() } else { earlier(dice, &source) };
        let victim = match dice.below(100) {
            0..50 => Victim::Client,
            50..75 => Victim::ServerBackAfter(Duration::ZERO),
            75..98 => Victim::ServerBackAfter(Duration::from_millis(dice.between(50, 2_000))),
            _ => Victim::ServerGone,
        };
        let moment = moment(dice, verb, source.len() as u64);
        let deletes = verb == Verb::Sync && dice.below(3) > 0;
        Self { seed, verb, route, deletes, source, target, victim, moment }
    }

    /// Whether workers can do the job in shards.
    pub(super) fn can_be_cut(&self) -> bool {
        !(self.deletes && self.route == Route::Down)
    }

    /// The arguments of the command.
    pub(super) fn arguments(&self) -> Vec<&'static str> {
        let (source, target) = match self.route {
            Route::Up => ("in", "s3://box/to"),
            Route::Down => ("s3://box/from", "out"),
            Route::Over => ("s3://box/from", "s3://box/to"),
            Route::InPlace => ("s3://box/from/", ""),
        };
        let mut arguments = match self.verb {
            Verb::Copy => vec!["cp", "--recursive", source, target],
            Verb::Move => vec!["mv", "--recursive", source, target],
            Verb::Sync => vec!["sync", source, target],
            Verb::Remove => vec!["rm", "--recursive", source],
            Verb::Tag => vec!["tag", "set", "--recursive", source, "--tags", "colour=blue"],
        };
        if self.deletes {
            arguments.push("--delete");
        }
        arguments
    }

    /// Command and way.
    pub(super) fn title(&self) -> String {
        let way = match self.route {
            Route::Up => " up",
            Route::Down => " down",
            Route::Over => " s3 to s3",
            Route::InPlace => "",
        };
        let deletes = if self.deletes { " --delete" } else { "" };
        format!("{}{way}{deletes}", self.arguments()[0])
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seed, title, victim) = (self.seed, self.title(), self.victim);
        let (count, Moment { lines, further }) = (self.source.len(), self.moment);
        write!(f, "seed {seed}: {title}, {count} objects, {victim:?} killed after {lines} lines ")?;
        write!(f, "and {} ms", further.as_millis())
    }
}

/// Most jobs print a line for each object that is done. Removals are done all at once.
fn moment(dice: &mut Dice, verb: Verb, objects: u64) -> Moment {
    let is_early = verb == Verb::Remove || dice.below(6) == 0;
    let lines = if is_early { 0 } else { dice.below(objects) };
    let further_max = if is_early { 150 } else { *dice.pick(&[2, 20, 200]) };
    Moment { lines, further: Duration::from_millis(dice.below(further_max)) }
}

/// A name that is no folder of another.
fn name(dice: &mut Dice, number: u64) -> String {
    let folder = dice.pick(&["", "a/", "a/b c/", "ü/", "a+b/c/d/"]);
    format!("{folder}{number:03}.{}", dice.pick(&["txt", "bin", "ö"]))
}

fn contents(dice: &mut Dice, route: Route) -> Contents {
    let count = dice.between(50, 150);
    let large = if route == Route::InPlace { 0 } else { dice.below(3) };
    let mut contents = Contents::new();
    for number in 0..count {
        let size = match dice.below(20) {
            _ if number < large => dice.between(6_000_000, 12_000_000),
            0 => 0,
            1..15 => dice.below(5_000),
            _ => dice.below(200_000),
        };
        contents.insert(name(dice, number), bytes(dice, size));
    }
    contents
}

/// What the target has before: some of the source's, the same or of another size, and others.
fn earlier(dice: &mut Dice, source: &Contents) -> Contents {
    let mut target = Contents::new();
    for (name, content) in source {
        match dice.below(6) {
            0 => _ = target.insert(name.clone(), content.clone()),
            1 => {
                let size = content.len() as u64 + 7;
                target.insert(name.clone(), bytes(dice, size));
            }
            _ => {}
        }
    }
    for number in 0..dice.below(20) {
        let size = dice.below(10_000);
        target.insert(name(dice, 900 + number), bytes(dice, size));
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_stand_for_the_same_and_cover_everything() {
        let plans: Vec<_> = (0..200).map(Plan::of).collect();
        assert_eq!(plans[7].source, Plan::of(7).source);
        for verb in [Verb::Copy, Verb::Sync, Verb::Move, Verb::Remove, Verb::Tag] {
            assert!(plans.iter().any(|plan| plan.verb == verb), "{verb:?}");
        }
        assert!(plans.iter().any(|plan| plan.victim == Victim::ServerGone));
        assert!(plans.iter().any(|plan| plan.deletes && plan.route == Route::Down));
        for plan in plans {
            let is_folder =
                |name: &String| plan.source.keys().any(|key| key.starts_with(&format!("{name}/")));
            assert!(!plan.source.keys().any(is_folder));
        }
    }
}
