//! Properties of whole listings against a simulated server, and figures that must not get worse.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::{Boundary, Expected, Recorder};

/// An entry of a listing: a key (or common prefix) and the number of its version.
type Entry = (String, u32);

/// What the server does besides answering.
#[derive(Clone, Copy, Debug, Default)]
struct Weather {
    /// Percent of pages that are shorter than asked for, even empty.
    short_percent: u8,
    /// Every third key or so comes and goes.
    is_flickering: bool,
}

struct Page(Vec<Entry>);

impl Keys for Page {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn key(&self, index: usize) -> &str {
        &self.0[index].0
    }
}

/// A listing under way: keyspace and server.
struct Run {
    keyspace: Keyspace,
    options: KeyspaceOptions,
    stable: BTreeSet<Entry>,
    flickering: Vec<Entry>,
    present: BTreeSet<Entry>,
    page_size: usize,
    weather: Weather,
    random: fastrand::Rng,
    in_flight: Vec<Ask>,
    tokens: BTreeMap<SegmentId, Entry>,
    taken: Vec<Entry>,
    covers: Vec<KeyRange>,
    handed_on: String,
    requests: u64,
    probes: u64,
    recorder: Recorder,
}

impl Run {
    fn new(options: KeyspaceOptions, keys: &[Entry], page_size: usize, seed: u64) -> Self {
        Self {
            keyspace: Keyspace::new(options.clone()),
            handed_on: options.range.after.clone(),
            options,
            stable: keys.iter().cloned().collect(),
            flickering: Vec::new(),
            present: keys.iter().cloned().collect(),
            page_size,
            weather: Weather::default(),
            random: fastrand::Rng::with_seed(seed),
            in_flight: Vec::new(),
            tokens: BTreeMap::new(),
            taken: Vec::new(),
            covers: Vec::new(),
            requests: 0,
            probes: 0,
            recorder: Recorder::default(),
        }
    }

    fn with_weather(mut self, weather: Weather) -> Self {
        self.weather = weather;
        if weather.is_flickering {
            let present = std::mem::take(&mut self.present);
            let (flickering, stable): (Vec<_>, Vec<_>) =
                present.into_iter().partition(|(key, _)| key.len() % 3 == 0);
            self.flickering = flickering;
            self.stable = stable.into_iter().collect();
            self.present = self.stable.clone();
        }
        self
    }

    /// Until all is listed; the answers come in any order.
    fn finish(mut self) -> Self {
        while !self.keyspace.is_done() {
            self.ask();
            assert!(!self.in_flight.is_empty(), "a listing that is not done asks for something");
            assert!(self.requests < 200_000, "it does not end");
            for key in &self.flickering {
                if self.random.u8(..4) == 0 && !self.present.remove(key) {
                    self.present.insert(key.clone());
                }
            }
            let ask = self.in_flight.swap_remove(self.random.usize(..self.in_flight.len()));
            self.answer(ask);
            let through = self.options.range.through.as_deref();
            let through = through.and_then(|it| it.strip_prefix(self.options.prefix.as_str()));
            self.keyspace.segments.check(through);
        }
        self.check_end();
        self
    }

    fn held_pages(&self) -> usize {
        self.covers.iter().filter(|covers| covers.after > self.handed_on).count()
    }

    fn ask(&mut self) {
        loop {
            let held = if self.options.window_pages.is_some() { self.held_pages() } else { 0 };
            let head = self.keyspace.segments.head();
            let Some(ask) = self.keyspace.next_ask(held) else { break };
            let is_head = matches!(ask, Ask::Page { segment, .. } if Some(segment) == head);
            let window = self.options.window_pages.unwrap_or(usize::MAX);
            assert!(is_head || held + self.in_flight.len() < window, "the window holds");
            self.check_ask(&ask);
            self.requests += 1;
            self.in_flight.push(ask);
            assert!(self.in_flight.len() <= self.options.concurrency.max(1));
            assert_eq!(self.in_flight.len(), self.keyspace.in_flight());
        }
    }

    fn check_ask(&mut self, ask: &Ask) {
        match ask {
            Ask::Page { segment, after, is_first: true } if segment.0 > 0 => {
                let rest = after.strip_prefix(&self.options.prefix).expect("it has the prefix");
                assert!(after.len() <= 1_024 && self.options.range.contains(after), "{after:?}");
                let delimiter = self.options.delimiter.as_deref();
                assert!(delimiter.is_none_or(|delimiter| !rest.contains(delimiter)), "{after:?}");
            }
            Ask::Page { .. } => {}
            Ask::Folders { folder, .. } => {
                self.probes += 1;
                assert!(self.options.may_ask_folders);
                assert!(folder.ends_with('/') || *folder == self.options.prefix);
            }
        }
    }

    /// Entries under a prefix, grouped.
    fn entries(&self, prefix: &str, delimiter: Option<&str>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for (key, version) in self.present.iter().filter(|(key, _)| key.starts_with(prefix)) {
            let group = delimiter.and_then(|it| Some(key[prefix.len()..].find(it)? + it.len()));
            match group {
                Some(len) => entries.push((key[..prefix.len() + len].to_owned(), 0)),
                None => entries.push((key.clone(), *version)),
            }
        }
        entries.dedup();
        entries
    }

    fn answer(&mut self, ask: Ask) {
        let size = match self.random.u8(..100) {
            percent if percent < self.weather.short_percent => self.random.usize(..=self.page_size),
            _ => self.page_size,
        };
        match ask {
            Ask::Page { segment, after, is_first } => {
                let token = self.tokens.get(&segment).filter(|_| !is_first);
                let entries = self.entries(&self.options.prefix, self.options.delimiter.as_deref());
                let mut rest: Vec<Entry> = entries
                    .into_iter()
                    .filter(|entry| token.map_or(entry.0 > after, |token| entry > token))
                    .collect();
                let is_truncated = rest.len() > size;
                rest.truncate(size);
                self.take(segment, after, rest, is_truncated);
            }
            Ask::Folders { probe, folder, after } => {
                let mut entries = self.entries(&folder, Some("/"));
                entries.retain(|(name, _)| *name > after);
                let is_truncated = entries.len() > size.max(1);
                entries.truncate(size.max(1));
                let last = entries.last().map(|(name, _)| name.clone());
                let names: Vec<String> = entries
                    .into_iter()
                    .map(|(name, _)| name)
                    .filter(|name| name.len() > folder.len() && name.ends_with('/'))
                    .collect();
                let truncated_at = last.filter(|_| is_truncated);
                self.keyspace.on_folders(probe, &names, truncated_at.as_deref());
            }
        }
    }

    fn take(&mut self, segment: SegmentId, after: String, page: Vec<Entry>, is_truncated: bool) {
        let last = page.last().cloned();
        let page = Page(page);
        let taken = self.keyspace.on_page(segment, &page, is_truncated);
        if let Some(last) = last {
            self.tokens.insert(segment, last);
        } else {
            // An empty page's token is at its beginning.
            self.tokens.entry(segment).or_insert((after, u32::MAX));
        }
        for entry in &page.0[..taken.count] {
            assert!(taken.covers.reaches(&entry.0) && entry.0 >= taken.covers.after);
        }
        self.recorder.page(&taken.covers, &page, taken.count);
        self.taken.extend(page.0.into_iter().take(taken.count));
        self.covers.push(taken.covers);
        while let Some(next) = self.covers.iter().find(|covers| {
            covers.after == self.handed_on && covers.through.as_ref() > Some(&self.handed_on)
        }) {
            self.handed_on = next.through.clone().expect("it is some");
        }
    }

    fn check_end(&mut self) {
        self.taken.sort();
        assert!(self.taken.windows(2).all(|pair| pair[0] < pair[1]), "no entry twice");
        let taken: BTreeSet<&Entry> = self.taken.iter().collect();
        self.present.clone_from(&self.stable);
        let range = &self.options.range;
        let expected = self.entries(&self.options.prefix, self.options.delimiter.as_deref());
        for entry in expected.iter().filter(|entry| range.contains(&entry.0)) {
            assert!(taken.contains(entry), "{entry:?} is missing");
        }
        assert!(self.taken.iter().all(|entry| range.contains(&entry.0)), "nothing from beyond");
        self.check_covers();
    }

    /// The ranges settled are disjoint and together the whole.
    fn check_covers(&mut self) {
        let range = &self.options.range;
        self.covers.retain(|covers| covers.through.as_ref() != Some(&covers.after));
        self.covers.sort_by(|left, right| left.after.cmp(&right.after));
        if self.covers.is_empty() {
            return;
        }
        assert_eq!(self.covers[0].after, range.after);
        assert_eq!(self.covers[self.covers.len() - 1].through, range.through);
        for pair in self.covers.windows(2) {
            assert_eq!(pair[0].through.as_ref(), Some(&pair[1].after));
        }
    }
}

fn options() -> KeyspaceOptions {
    KeyspaceOptions {
        prefix: String::new(),
        range: KeyRange::default(),
        delimiter: None,
        may_ask_folders: true,
        is_eager: true,
        concurrency: 8,
        boundaries: Vec::new(),
        expected: None,
        page_size: 20,
        window_pages: None,
    }
}

/// Boundaries that have nothing to do with what is listed.
fn any_boundaries() -> impl Strategy<Value = Vec<Boundary>> {
    let key = prop::sample::select(vec![
        "a", "a/", "a/1", "a/100", "a/2", "aa", "b/b", "c0c", "longlong", "z", "é", "0",
    ]);
    let keys = prop_oneof![4 => 0..100_u64, 1 => any::<u64>()];
    let boundaries = prop::collection::btree_map(key, keys, 1..8);
    let boundaries = boundaries.prop_map(|boundaries| {
        let boundary = |(key, keys): (&str, u64)| Boundary { key: key.to_owned(), keys };
        boundaries.into_iter().map(boundary).collect()
    });
    prop_oneof![1 => Just(Vec::new()), 1 => boundaries]
}

fn any_keys() -> impl Strategy<Value = Vec<Entry>> {
    let character = prop_oneof![
        4 => prop::char::ranges(vec!['a'..='c', '0'..='1'].into()),
        2 => Just('/'),
        1 => prop::sample::select(vec![
            '\u{1}', ' ', '~', '-', '.', 'é', '写', '\u{D7FF}', '\u{FFFE}', '🚀', '\u{10FFFF}',
        ]),
    ];
    let name = prop::collection::vec(character, 1..8).prop_map(String::from_iter);
    let common = prop_oneof![
        4 => Just(String::new()),
        1 => Just("long".repeat(250)),
        1 => Just("\u{10FFFF}".repeat(240)),
        1 => Just("a/b/c/".repeat(20)),
    ];
    let numbered = (0..300_u32).prop_map(|number| format!("a/{number:03}"));
    let key = prop_oneof![3 => name, 1 => numbered];
    (common, prop::collection::vec((key, 0..3_u32), 0..300)).prop_map(|(common, names)| {
        let mut keys: Vec<Entry> = names
            .into_iter()
            .map(|(name, version)| (format!("{common}{name}"), version))
            .filter(|(key, _)| key.len() <= 1_024)
            .collect();
        keys.sort();
        keys.dedup();
        keys
    })
}

fn any_options() -> impl Strategy<Value = KeyspaceOptions> {
    let prefix = prop::sample::select(vec!["", "", "", "a", "a/", "a/b", "long", "b/"]);
    let after = prop::sample::select(vec!["", "", "", "a", "a/1", "b", "longlo"]);
    let through = prop::sample::select(vec!["", "", "", "a/2", "b", "c", "longlonz", "0"]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of(1..20_usize));
    (prefix, after, through, flags, 1..64_usize, any_boundaries()).prop_map(
        |(
            prefix,
            after,
            through,
            (is_eager, is_grouped, is_expected, window_pages),
            concurrency,
            boundaries,
        )| {
            let (boundaries, expected) = if is_expected {
                (Vec::new(), Some(Expected::new(move || boundaries.clone())))
            } else {
                (boundaries, None)
            };
            KeyspaceOptions {
                prefix: prefix.to_owned(),
                range: KeyRange {
                    after: after.to_owned(),
                    through: Some(through.to_owned()).filter(|through| !through.is_empty()),
                },
                delimiter: is_grouped.then(|| "/".to_owned()),
                may_ask_folders: !is_grouped,
                is_eager,
                concurrency,
                boundaries,
                expected,
                page_size: 20,
                window_pages,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_key_comes_exactly_once(
        keys in any_keys(),
        options in any_options(),
        page_size in prop_oneof![1..10_usize, 1..1_000_usize],
        seed in any::<u64>(),
    ) {
        let run = Run::new(options, &keys, page_size, seed).finish();
        // A page that ends with the range's last key does not show that it is the last.
        let serial = (run.taken.len() / page_size + 1) as u64;
        let splits = run.keyspace.segments.made() - 1;
        prop_assert!(run.requests <= serial + 2 * splits + run.probes);
    }

    #[test]
    fn short_and_empty_pages_and_keys_that_come_and_go_harm_nothing(
        keys in any_keys(),
        options in any_options(),
        page_size in 1..10_usize,
        short_percent in 0..60_u8,
        is_flickering in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let is_flickering = is_flickering && options.delimiter.is_none();
        let weather = Weather { short_percent, is_flickering };
        Run::new(options, &keys, page_size, seed).with_weather(weather).finish();
    }
}

#[test]
fn a_listing_of_one_page_is_one_request() {
    let keys: Vec<Entry> = (0..999).map(|number| (format!("a/{number}"), 0)).collect();
    let options = KeyspaceOptions { is_eager: false, concurrency: 64, ..options() };
    assert_eq!(Run::new(options, &keys, 1_000, 1).finish().requests, 1);
}

#[test]
fn an_empty_range_asks_for_nothing() {
    for (after, through) in [("b", None), ("a/5", Some("a/5")), ("", Some("Z"))] {
        let range = KeyRange { after: after.to_owned(), through: through.map(str::to_owned) };
        let options = KeyspaceOptions { prefix: "a/".to_owned(), range, ..options() };
        let mut keyspace = Keyspace::new(options);
        assert!(keyspace.is_done() && keyspace.next_ask(0).is_none(), "{after} {through:?}");
    }
}

/// A second listing takes hardly more requests than there are pages, also where a tenth of the keys
/// is new; the figures for whole buckets are in `docs/design/01-listing.md`.
#[test]
fn what_a_listing_learns_is_of_use_to_the_next() {
    let mut random = fastrand::Rng::with_seed(11);
    let random_keys = (0..8_000).map(|_| format!("{:032x}", random.u128(..))).collect::<Vec<_>>();
    let folders = (0..8_000).map(|n| format!("pool/{}/{n:05}", "x".repeat(n % 97))).collect();
    for keys in [random_keys, folders] {
        let mut keys: Vec<Entry> = keys.into_iter().map(|key| (key, 0)).collect();
        keys.sort();
        let first = Run::new(options(), &keys, 20, 7).finish();
        let boundaries = first.recorder.boundaries(20);
        assert!(boundaries.len() > 50, "{}", boundaries.len());
        let mut again = |keys: &[Entry]| {
            let options = KeyspaceOptions { boundaries: boundaries.clone(), ..options() };
            let run = Run::new(options, keys, 20, random.u64(..)).finish();
            (run.requests, keys.len().div_ceil(20) as u64)
        };
        let (requests, pages) = again(&keys);
        assert!(requests * 100 <= pages * 105, "{requests} for {pages} pages");
        assert!(requests < first.requests);
        keys.extend((0..800).map(|n| (format!("{:02x}/new/{n}", n % 256), 0)));
        keys.sort();
        let (requests, pages) = again(&keys);
        assert!(requests * 100 <= pages * 125, "{requests} for {pages} pages");
    }
}

/// A target that is expected to hold what the source holds, and has nothing or little so far.
#[test]
fn a_copy_that_is_short_costs_few_requests() {
    let keys: Vec<Entry> = (0..8_000).map(|key| (format!("{key:07}"), 0)).collect();
    let boundaries = Run::new(options(), &keys, 20, 7).finish().recorder.boundaries(20);
    let requests = |keys: &[Entry], boundaries: &[Boundary], window_pages| {
        let boundaries = boundaries.to_vec();
        let options = KeyspaceOptions {
            expected: Some(Expected::new(move || boundaries.clone())),
            is_eager: false,
            concurrency: 16,
            window_pages,
            ..options()
        };
        Run::new(options, keys, 20, 5).finish().requests
    };
    for window_pages in [None, Some(128)] {
        assert_eq!(requests(&[], &boundaries, window_pages), 1);
        let partial = requests(&keys[..30], &boundaries, window_pages);
        assert!(partial <= 6, "{partial} requests for 2 pages");
        let whole = requests(&keys, &boundaries, window_pages);
        assert!(whole * 100 <= 400 * 110, "{whole}");
        // Nothing is known of the original either: as any listing that may be short.
        let short = requests(&keys[..100], &[], window_pages);
        assert!(short <= 6, "{short} requests for 5 pages");
    }
}

/// Of a large bucket few keys are known: between them it is guessed as ever, and in the order of
/// keys the requests go on being made side by side.
#[test]
fn between_distant_boundaries_cuts_are_guessed() {
    const PAGES: u64 = 500;
    let keys: Vec<Entry> = (0..PAGES * 20).map(|key| (format!("{key:07}"), 0)).collect();
    let boundary = |number: u64| Boundary { key: format!("{:07}", number * 2_000), keys: 2_000 };
    let boundaries = (1..PAGES / 100).map(boundary).collect();
    let options = KeyspaceOptions { boundaries, window_pages: Some(64), ..options() };
    let mut run = Run::new(options, &keys, 20, 3);
    let mut idle = 0;
    while !run.keyspace.is_done() {
        run.ask();
        idle += 8 - run.in_flight.len() as u64;
        // The oldest: all take one round.
        let ask = run.in_flight.remove(0);
        run.answer(ask);
    }
    run.check_end();
    let requests = run.requests;
    assert!(requests * 100 <= PAGES * 115, "{requests} requests");
    assert!(idle * 100 <= requests * 8 * 25, "{idle} of {} were idle", requests * 8);
}

/// Requests for a layout, with a fixed seed.
fn requests(keys: impl Iterator<Item = String>, prefix: &str, concurrency: usize) -> u64 {
    let mut keys: Vec<Entry> = keys.map(|key| (key, 0)).collect();
    keys.sort();
    keys.dedup();
    let options = KeyspaceOptions { prefix: prefix.to_owned(), concurrency, ..options() };
    Run::new(options, &keys, 20, 7).finish().requests
}

/// Few requests more than the 100 that 2,000 keys in pages of 20 need at least; the figures for
/// whole buckets are in `docs/design/01-listing.md`. Of random keys it is the mean over some seeds:
/// one seed differs from another by up to 12 requests.
#[test]
fn requests_stay_within_their_bounds() {
    const SEEDS: u64 = 8;
    let uuids = |prefix: &str| {
        let of_seed = |seed| {
            let mut random = fastrand::Rng::with_seed(seed);
            let keys = (0..2_000).map(|_| format!("{prefix}{:032x}", random.u128(..)));
            requests(keys, prefix, 8)
        };
        (1..=SEEDS).map(of_seed).sum::<u64>().div_ceil(SEEDS)
    };
    let padded = (0..2_000).map(|number| format!("data/batch/file-{number:012}.json"));
    let dates = (0..2_000).map(|number| {
        format!("logs/2024/{:02}/{:02}/{:04}.gz", number / 170 + 1, number / 6 % 28 + 1, number)
    });
    for (name, requests, most) in [
        ("uuids", uuids(""), 120),
        ("padded", requests(padded, "", 8), 130),
        ("dates", requests(dates, "", 8), 130),
        ("prefixed", uuids("a-long/prefix-"), 120),
    ] {
        assert!(requests <= most, "{name}: {requests} requests");
    }
}
