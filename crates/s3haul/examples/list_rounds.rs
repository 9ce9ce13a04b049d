//! How many requests and rounds a listing takes, without any network: a simulated server over the
//! keys of a file, one key a line, sorted bytewise (`list_rounds --keys FILE`, or stdin).
//!
//! Every request takes one round, or with `--jitter` a log-normal time with a heavy tail of mean
//! about one. Prints one line: requests, requests ÷ the least possible, rounds, rounds ÷ the least
//! possible, microseconds a page spent deciding, contexts remembered at most, requests
//! for names of folders, pages held back at most, and `ok` or what is wrong.

#![expect(clippy::print_stdout, reason = "this is a program of its own")]
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures"
)]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::Read;
use std::ops::Range;
use std::time::{Duration, Instant};

use s3haul::list::KeyRange;
use s3haul::list::keyspace::{Ask, Keys, Keyspace, KeyspaceOptions, ProbeId, SegmentId};

const PAGE_KEYS: usize = 1_000;
const USAGE: &str = "list_rounds [--keys FILE] [--concurrency 64] [--jitter] [--ordered] \
                     [--lazy] [--prefix PREFIX] [--seed 1]";

struct Settings {
    keys: Option<String>,
    concurrency: usize,
    has_jitter: bool,
    is_ordered: bool,
    is_eager: bool,
    prefix: String,
    seed: u64,
}

impl Settings {
    fn from_arguments() -> Result<Self, String> {
        let mut settings = Self {
            keys: None,
            concurrency: 64,
            has_jitter: false,
            is_ordered: false,
            is_eager: true,
            prefix: String::new(),
            seed: 1,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| USAGE.to_owned());
            let number = |value: String| value.parse().map_err(|_| USAGE.to_owned());
            match name.as_str() {
                "--keys" => settings.keys = Some(value()?),
                "--concurrency" => settings.concurrency = number(value()?)?,
                "--seed" => settings.seed = number(value()?)? as u64,
                "--prefix" => settings.prefix = value()?,
                "--jitter" => settings.has_jitter = true,
                "--ordered" => settings.is_ordered = true,
                "--lazy" => settings.is_eager = false,
                _ => return Err(USAGE.to_owned()),
            }
        }
        Ok(settings)
    }
}

/// A bucket: sorted keys, one a line.
struct Bucket {
    text: String,
    starts: Vec<u32>,
    range: Range<usize>,
}

impl Bucket {
    fn new(text: String, prefix: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr_lines(&text));
        let mut bucket = Self { text, starts, range: 0..0 };
        let count = bucket.starts.len() - 1;
        let from = bucket.first(0..count, |key| key >= prefix);
        let to = bucket.first(from..count, |key| !key.starts_with(prefix));
        bucket.range = from..to;
        bucket
    }

    fn key(&self, index: usize) -> &str {
        &self.text[self.starts[index] as usize..self.starts[index + 1] as usize - 1]
    }

    /// The first index for which it is true.
    fn first(&self, range: Range<usize>, is_found: impl Fn(&str) -> bool) -> usize {
        let (mut from, mut to) = (range.start, range.end);
        while from < to {
            let middle = from.midpoint(to);
            if is_found(self.key(middle)) {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        from
    }

    fn page(&self, after: &str) -> (Range<usize>, bool) {
        let from = if after.is_empty() {
            self.range.start
        } else {
            self.first(self.range.clone(), |key| key > after)
        };
        let to = (from + PAGE_KEYS).min(self.range.end);
        (from..to, to < self.range.end)
    }

    fn folders(&self, folder: &str, after: &str) -> (Vec<String>, Option<String>) {
        let mut index = self.first(self.range.clone(), |key| key >= folder && key > after);
        let (mut names, mut entries, mut last) = (Vec::new(), 0, String::new());
        while index < self.range.end && self.key(index).starts_with(folder) {
            if entries == PAGE_KEYS {
                return (names, Some(last));
            }
            let key = self.key(index);
            let name = key[folder.len()..].find('/').map(|at| &key[..=folder.len() + at]);
            if let Some(name) = name {
                index = self.first(index..self.range.end, |key| !key.starts_with(name));
                if name <= after {
                    continue;
                }
                names.push(name.to_owned());
            } else {
                index += 1;
            }
            name.unwrap_or(key).clone_into(&mut last);
            entries += 1;
        }
        (names, None)
    }
}

fn memchr_lines(text: &str) -> impl Iterator<Item = u32> {
    text.bytes()
        .enumerate()
        .filter(|(_, byte)| *byte == b'\n')
        .map(|(at, _)| u32::try_from(at + 1).expect("a file of less than 4 GiB"))
}

struct Page<'a>(&'a Bucket, Range<usize>);

impl Keys for Page<'_> {
    fn len(&self) -> usize {
        self.1.len()
    }

    fn key(&self, index: usize) -> &str {
        self.0.key(self.1.start + index)
    }
}

enum Answer {
    Page(SegmentId, Range<usize>, bool),
    Folders(ProbeId, Vec<String>, Option<String>),
}

struct Simulation {
    bucket: Bucket,
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
    warm: u8,
}

const ROUND: f64 = 1e6;

impl Simulation {
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
                let page = Page(&self.bucket, range.clone());
                // A page that was just read is in the cache.
                self.warm ^= range
                    .clone()
                    .flat_map(|index| page.0.key(index).bytes())
                    .fold(0, |sum, byte| sum ^ byte);
                let begin = Instant::now();
                let taken = keyspace.on_page(segment, &page, is_truncated);
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

fn main() -> Result<(), String> {
    let settings = Settings::from_arguments()?;
    let mut text = String::new();
    match &settings.keys {
        Some(path) => text = std::fs::read_to_string(path).map_err(|error| error.to_string())?,
        None => drop(std::io::stdin().read_to_string(&mut text).map_err(|it| it.to_string())?),
    }
    let bucket = Bucket::new(text, &settings.prefix);
    let pages = bucket.range.len().div_ceil(PAGE_KEYS).max(1) as f64;
    let window = 8 * settings.concurrency;
    let mut keyspace = Keyspace::new(KeyspaceOptions {
        prefix: settings.prefix.clone(),
        range: KeyRange::default(),
        delimiter: None,
        may_ask_folders: true,
        is_eager: settings.is_eager,
        concurrency: settings.concurrency,
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
        warm: 0,
    };
    simulation.run(&mut keyspace, settings.is_ordered);
    let rounds = simulation.now as f64 / ROUND;
    let ideal = (pages / settings.concurrency as f64).max(1.0);
    println!(
        "requests={} ratio={:.3} rounds={rounds:.0} rounds/ideal={:.2} cpu_us/page={:.1} \
         contexts={} probes={} held={} {}",
        simulation.requests,
        simulation.requests as f64 / pages,
        rounds / ideal,
        simulation.cpu.as_secs_f64() * 1e6 / pages,
        simulation.contexts_max,
        simulation.probes,
        simulation.held_pages_max,
        simulation.verdict(&keyspace),
    );
    Ok(())
}
