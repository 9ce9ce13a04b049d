//! One listing in simulated time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use std::time::{Duration, Instant};

use s3haul_list::keyspace::Keyspace;
use s3haul_list::keyspace::{Ask, KeyspaceOptions, ProbeId, SegmentId};
use s3haul_list::{Boundary, KeyRange, Recorder};

use crate::bucket::{Bucket, PAGE_KEYS, Page};

/// How to list.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) concurrency: usize,
    pub(crate) has_jitter: bool,
    pub(crate) is_ordered: bool,
    pub(crate) is_eager: bool,
    pub(crate) prefix: String,
    /// What an earlier listing found.
    pub(crate) boundaries: Vec<Boundary>,
    pub(crate) seed: u64,
}

/// What a listing took.
pub(crate) struct Figures {
    pub(crate) requests: u64,
    /// Least possible requests.
    pub(crate) pages: f64,
    pub(crate) rounds: f64,
    /// Least possible rounds.
    pub(crate) rounds_ideal: f64,
    pub(crate) micros_a_page: f64,
    pub(crate) contexts_max: usize,
    pub(crate) probes: u64,
    pub(crate) held_pages_max: usize,
    /// What it found, for the next one.
    pub(crate) boundaries: Vec<Boundary>,
    /// `ok`, or what is wrong.
    pub(crate) verdict: String,
}

impl Figures {
    /// Requests ÷ the least possible.
    pub(crate) fn ratio(&self) -> f64 {
        self.requests as f64 / self.pages
    }
}

/// Lists a bucket.
pub(crate) fn run(bucket: &Bucket, settings: &Settings) -> Figures {
    let pages = bucket.range.len().div_ceil(PAGE_KEYS).max(1) as f64;
    let window = 8 * settings.concurrency;
    let mut keyspace = Keyspace::new(KeyspaceOptions {
        prefix: settings.prefix.clone(),
        range: KeyRange::default(),
        delimiter: None,
        may_ask_folders: true,
        is_eager: settings.is_eager,
        concurrency: settings.concurrency,
        boundaries: settings.boundaries.clone(),
        expected: None,
        page_size: PAGE_KEYS as u32,
        window_pages: settings.is_ordered.then_some(window),
    });
    let mut simulation = Simulation {
        handed_on: bucket.range.start,
        bucket,
        random: fastrand::Rng::with_seed(settings.seed),
        has_jitter: settings.has_jitter,
        now: 0,
        requests: 0,
        probes: 0,
        due: BinaryHeap::new(),
        answers: BTreeMap::new(),
        taken: BTreeMap::new(),
        held_pages_max: 0,
        cpu: Duration::ZERO,
        contexts_max: 0,
        recorder: Recorder::default(),
        warm: 0,
    };
    simulation.run(&mut keyspace, settings.is_ordered);
    Figures {
        requests: simulation.requests,
        pages,
        rounds: simulation.now as f64 / ROUND,
        rounds_ideal: (pages / settings.concurrency as f64).max(1.0),
        micros_a_page: simulation.cpu.as_secs_f64() * 1e6 / pages,
        contexts_max: simulation.contexts_max,
        probes: simulation.probes,
        held_pages_max: simulation.held_pages_max,
        verdict: simulation.verdict(&keyspace),
        boundaries: simulation.recorder.boundaries(PAGE_KEYS as u32),
    }
}

enum Answer {
    Page(SegmentId, Range<usize>, bool),
    Folders(ProbeId, Vec<String>, Option<String>),
}

struct Simulation<'a> {
    bucket: &'a Bucket,
    random: fastrand::Rng,
    has_jitter: bool,
    now: u64,
    requests: u64,
    probes: u64,
    due: BinaryHeap<Reverse<(u64, u64)>>,
    answers: BTreeMap<u64, Answer>,
    taken: BTreeMap<usize, usize>,
    handed_on: usize,
    held_pages_max: usize,
    cpu: Duration,
    contexts_max: usize,
    recorder: Recorder,
    warm: u8,
}

const ROUND: f64 = 1e6;

impl Simulation<'_> {
    fn send(&mut self, ask: Ask) {
        self.requests += 1;
        let at = self.now + self.latency();
        let answer = match ask {
            Ask::Page { segment, after, .. } => {
                let (range, is_truncated) = self.bucket.page(&after);
                Answer::Page(segment, range, is_truncated)
            }
            Ask::Folders { probe, folder, after } => {
                self.probes += 1;
                let (names, truncated_at) = self.bucket.folders(&folder, &after);
                Answer::Folders(probe, names, truncated_at)
            }
        };
        self.due.push(Reverse((at, self.requests)));
        self.answers.insert(self.requests, answer);
    }

    fn latency(&mut self) -> u64 {
        if !self.has_jitter {
            return ROUND as u64;
        }
        let (radius, angle) = (self.random.f64(), self.random.f64());
        let normal = (-2.0 * (1.0 - radius).ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
        let tail = if self.random.f64() < 0.02 { 8.0 } else { 1.0 };
        ((0.3 * normal - 0.045).exp() * tail * ROUND) as u64
    }

    fn held_pages(&self) -> usize {
        self.taken.range(self.handed_on..).count()
    }

    fn answer(&mut self, keyspace: &mut Keyspace, request: u64) {
        let answer = self.answers.remove(&request).expect("it was sent");
        let begin = Instant::now();
        match answer {
            Answer::Page(segment, range, is_truncated) => {
                let page = Page(self.bucket, range.clone());
                // A page that was just read is in the cache.
                self.warm ^= range
                    .clone()
                    .flat_map(|index| page.0.key(index).bytes())
                    .fold(0, |sum, byte| sum ^ byte);
                let begin = Instant::now();
                let taken = keyspace.on_page(segment, &page, is_truncated);
                self.recorder.page(&taken.covers, &page, taken.count);
                self.cpu += begin.elapsed();
                if taken.count > 0 {
                    self.taken.insert(range.start, range.start + taken.count);
                }
                while let Some(end) = self.taken.get(&self.handed_on) {
                    self.handed_on = *end;
                }
            }
            Answer::Folders(probe, names, truncated_at) => {
                keyspace.on_folders(probe, &names, truncated_at.as_deref());
                self.cpu += begin.elapsed();
            }
        }
    }

    fn run(&mut self, keyspace: &mut Keyspace, is_ordered: bool) {
        loop {
            let held_pages = if is_ordered { self.held_pages() } else { 0 };
            self.held_pages_max = self.held_pages_max.max(held_pages);
            let begin = Instant::now();
            let asks: Vec<Ask> = std::iter::from_fn(|| keyspace.next_ask(held_pages)).collect();
            self.cpu += begin.elapsed();
            for ask in asks {
                self.send(ask);
            }
            self.contexts_max = self.contexts_max.max(keyspace.contexts());
            let Some(Reverse((now, request))) = self.due.pop() else { return };
            self.now = now;
            self.answer(keyspace, request);
            while let Some(Reverse((_, request))) =
                self.due.peek().copied().filter(|next| next.0.0 == now)
            {
                self.due.pop();
                self.answer(keyspace, request);
            }
        }
    }

    fn verdict(&self, keyspace: &Keyspace) -> String {
        let mut position = self.bucket.range.start;
        for (from, to) in &self.taken {
            if *from != position {
                return format!("a hole or an overlap at {position}, the next is {from}");
            }
            position = *to;
        }
        if position != self.bucket.range.end || !keyspace.is_done() {
            return format!("ends at {position}");
        }
        "ok".to_owned()
    }
}
