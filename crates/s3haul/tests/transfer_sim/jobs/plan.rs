//! What a seed stands for: objects, a command, limits, weather, and what others do meanwhile.

#![expect(unreachable_pub, reason = "a test has no outside")]

use std::collections::BTreeMap;
use std::time::Duration;

use s3haul::job::TransferCommand;
use s3haul_sim::{FaultKind, Scenario};

use super::skies::{self, Sky};
use crate::world::{PART, bytes};

/// Names and contents.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// Where a job reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Folder to bucket.
    Up,
    /// Bucket to folder.
    Down,
    /// Bucket to bucket.
    Over,
    /// Objects stay where they are, or go.
    InPlace,
}

/// An object of the source is replaced.
#[derive(Clone)]
pub struct Meddling {
    pub name: String,
    pub content: Vec<u8>,
    /// So many requests for it have to arrive first.
    pub requests: u64,
    /// And then so much time passes.
    pub after: Duration,
}

/// A job and its world.
#[derive(Clone)]
pub struct Plan {
    pub seed: u64,
    pub command: TransferCommand,
    pub route: Route,
    pub deletes: bool,
    /// Removals wait for the end, because there may be no more than a share of the names.
    pub holds_removals: bool,
    pub keeps: bool,
    pub streams: bool,
    pub source: Contents,
    pub target: Contents,
    pub page_size: Option<u32>,
    pub requests_max: usize,
    pub memory_budget: u64,
    pub sky: Sky,
    pub scenario: Scenario,
    /// Another content that an object of the source gets meanwhile.
    pub meddling: Option<Meddling>,
    pub cancelled_after: Option<Duration>,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sizes = |contents: &Contents| {
            contents.iter().map(|(name, bytes)| (name.clone(), bytes.len())).collect::<Vec<_>>()
        };
        writeln!(f, "{:?} {:?} {:?}", self.command, self.route, self.sky)?;
        let (deletes, holds_removals) = (self.deletes, self.holds_removals);
        writeln!(f, "  deletes {deletes} and holds them {holds_removals}")?;
        writeln!(f, "  keeps {} streams {}", self.keeps, self.streams)?;
        writeln!(f, "  {} requests, {} bytes", self.requests_max, self.memory_budget)?;
        writeln!(f, "  source {:?}", sizes(&self.source))?;
        writeln!(f, "  target {:?}", sizes(&self.target))?;
        let meddling = self.meddling.as_ref();
        let meddling = meddling.map(|it| (&it.name, it.requests, it.after, it.content.len()));
        writeln!(f, "  meddling {meddling:?}, cancelled after {:?}", self.cancelled_after)?;
        write!(f, "  {:?}", self.scenario)
    }
}

/// A name that is no folder of another: folders have none of these endings.
fn name(random: &mut fastrand::Rng, number: usize) -> String {
    const FOLDERS: [&str; 6] = ["a", "b c", "ü", "a+b", "100%", "a!"];
    let depth = random.usize(0..4);
    let folders = (0..depth).map(|_| format!("{}/", FOLDERS[random.usize(0..FOLDERS.len())]));
    format!("{}{number}.{}", folders.collect::<String>(), ["txt", "bin", "ö&="][random.usize(0..3)])
}

fn contents(random: &mut fastrand::Rng, count: usize, has_large: bool) -> Contents {
    let mut size = |number: usize| match random.u8(0..10) {
        _ if has_large && number == 0 => random.usize(PART as usize..2 * PART as usize + 1000),
        0 => 0,
        1..8 => random.usize(1..3_000),
        _ => random.usize(3_000..100_000),
    };
    let sizes: Vec<_> = (0..count).map(&mut size).collect();
    let content = |(number, size)| (name(random, number), bytes(size, random.u64(..)));
    sizes.into_iter().enumerate().map(content).collect()
}

/// What the target has before: some of the source's, the same or of another size, and others.
fn earlier(random: &mut fastrand::Rng, source: &Contents) -> Contents {
    let mut target = Contents::new();
    for (name, content) in source {
        match random.u8(0..6) {
            0 => _ = target.insert(name.clone(), content.clone()),
            1 => _ = target.insert(name.clone(), bytes(content.len() / 2 + 1, random.u64(..))),
            _ => {}
        }
    }
    for number in 0..random.usize(0..8) {
        target.insert(name(random, 9_000 + number), bytes(random.usize(0..500), random.u64(..)));
    }
    target
}

impl Plan {
    /// The plan of a seed.
    pub fn of(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let random = &mut random;
        let (command, route) = match random.u8(0..20) {
            0..6 => (TransferCommand::Copy, random.choice([Route::Up, Route::Down, Route::Over])),
            6..12 => (TransferCommand::Sync, random.choice([Route::Up, Route::Down, Route::Over])),
            12..17 => (TransferCommand::Move, random.choice([Route::Up, Route::Down, Route::Over])),
            17..19 => (TransferCommand::Remove, Some(Route::InPlace)),
            _ => (TransferCommand::Tag, Some(Route::InPlace)),
        };
        let route = route.unwrap_or(Route::Over);
        let has_large = route != Route::InPlace && random.u8(0..5) == 0;
        let count_end = if random.u8(0..10) == 0 { 60 } else { 16 };
        let count = random.usize(1..count_end);
        let source = contents(random, count, has_large);
        let target =
            if route == Route::InPlace { Contents::new() } else { earlier(random, &source) };
        let (sky, scenario) = skies::draw(random);
        let reads_objects = matches!(route, Route::Down | Route::Over);
        let moment_end = [50, 500, 5_000][random.usize(0..3)];
        let moment = Duration::from_millis(random.u64(0..moment_end));
        let meddling = (reads_objects && random.u8(0..3) == 0).then(|| {
            let names: Vec<_> = source.keys().cloned().collect();
            let name = names[random.usize(0..names.len())].clone();
            let content = bytes(source[&name].len() + 1 + random.usize(0..50), random.u64(..));
            let requests = random.u64(0..4);
            let after = if requests == 0 { moment } else { moment / 50 };
            Meddling { name, content, requests, after }
        });
        let cancelled_after = (random.u8(0..10) == 0).then_some(moment);
        let deletes = command == TransferCommand::Sync && random.bool();
        Self {
            seed,
            command,
            route,
            deletes,
            holds_removals: deletes && seed.is_multiple_of(2),
            keeps: command != TransferCommand::Sync && random.u8(0..8) == 0,
            streams: route == Route::Over && random.u8(0..4) == 0,
            source,
            target,
            page_size: random.bool().then(|| random.u32(2..20)),
            requests_max: random.usize(1..17),
            memory_budget: 1 << random.u32(18..26),
            sky,
            scenario,
            meddling,
            cancelled_after,
        }
    }

    /// Whether the whole job must succeed.
    pub fn must_finish(&self) -> bool {
        let rages = |fault| self.scenario.faults.iter().any(|rule| rule.fault == fault);
        // The checksum of a large object is known when all of it is there: it is not read again.
        let has_large = self.source.values().any(|content| content.len() as u64 >= PART);
        self.sky != Sky::Foul
            && self.cancelled_after.is_none()
            && self.meddling.is_none()
            && !rages(FaultKind::Stall)
            && !(rages(FaultKind::Corrupt) && has_large)
    }
}
