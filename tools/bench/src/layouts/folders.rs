//! Folders of very different sizes, and letters beyond ASCII.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Next;
use super::made::{civil, put, put_uuid, whole};
use support::dice::Dice;

const WORDS: &[&str] = &[
    "amber", "anchor", "april", "audit", "autumn", "bamboo", "basin", "batch", "beacon", "birch",
    "bridge", "cache", "canyon", "cedar", "claims", "cloud", "cobalt", "coral", "daily", "delta",
    "draft", "ember", "events", "export", "falcon", "fleet", "forest", "garnet", "glacier",
    "harbor", "import", "indigo", "island", "ivory", "jasper", "journal", "kernel", "lagoon",
    "ledger", "maple", "media", "metrics", "mirror", "nectar", "north", "ocean", "onyx", "orders",
    "payroll", "pearl", "photos", "quartz", "raven", "report", "river", "sales", "scans", "sierra",
    "sound", "summit", "thumbs", "umber", "users", "valley", "violet", "willow", "zephyr",
];
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 2019-01-01 in days since 1970.
const DAYS_TO_2019: u64 = 17_897;

fn put_base62(dice: &mut Dice, key: &mut String, length: u32) {
    for _ in 0..length {
        key.push(char::from(*dice.pick(BASE62)));
    }
}

fn word(dice: &mut Dice) -> &'static str {
    dice.pick::<&str>(WORDS)
}

pub(super) fn onebig(count: u64, dice: &mut Dice) -> Next {
    let big = count / 10 * 9;
    let folders: Vec<String> =
        (0..5000).map(|_| format!("{}-{}/{}/", word(dice), word(dice), word(dice))).collect();
    let mut number = 0;
    Box::new(move |dice, key| {
        if number < big {
            key.push_str("uploads/");
            put_base62(dice, key, 16);
            key.push_str(".bin");
        } else {
            key.push_str(dice.pick::<String>(&folders));
            put!(key, "f{:06}.txt", dice.below(1_000_000));
        }
        number += 1;
    })
}

pub(super) fn cjk(_count: u64, dice: &mut Dice) -> Next {
    const TOPS: [&str; 14] = [
        "写真",
        "動画",
        "文書",
        "データ",
        "音楽",
        "图片",
        "文件",
        "사진",
        "фото",
        "документы",
        "😀",
        "🚀emoji",
        "plain",
        "Ärzte",
    ];
    const WEIGHTS: [u32; 14] = [30, 15, 10, 10, 5, 5, 5, 5, 4, 3, 3, 2, 2, 1];
    let letter = |code: u64| u32::try_from(code).ok().and_then(char::from_u32).unwrap_or('字');
    let han: Vec<char> = (0..1500).map(|_| letter(dice.between(0x4e00, 0x9fa4))).collect();
    let kana: Vec<char> = ('\u{3041}'..='\u{3096}').collect();
    let emoji: Vec<char> = ('\u{1f300}'..='\u{1f5fe}').collect();
    Box::new(move |dice, key| {
        let (top, year) = (TOPS[dice.weighted(&WEIGHTS)], dice.between(2015, 2024));
        put!(key, "{top}/{year}/{}{}/", dice.pick(&han), dice.pick(&han));
        for _ in 0..5 {
            let letters = if dice.below(10) < 6 { &han } else { &kana };
            key.push(*dice.pick(letters));
        }
        if dice.below(10) == 0 {
            key.push(*dice.pick(&emoji));
        }
        key.push_str(".jpg");
    })
}

pub(super) fn trie(_count: u64, _dice: &mut Dice) -> Next {
    const LETTERS: [char; 8] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const WEIGHTS: [u32; 8] = [32, 16, 8, 8, 4, 2, 1, 1];
    Box::new(|dice, key| {
        for _ in 0..dice.between(8, 14) {
            key.push(LETTERS[dice.weighted(&WEIGHTS)]);
            key.push('/');
        }
        put!(key, "{:05}", dice.below(100_000));
    })
}

/// A folder and the number of its keys.
struct Folder {
    name: String,
    size: u64,
    kind: u64,
}

/// Gives each folder its share of the keys, at least one.
fn share_out(count: u64, weights: &[f64], folders: &mut [Folder]) {
    let total: f64 = weights.iter().sum();
    let wanted = f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    for (folder, weight) in folders.iter_mut().zip(weights) {
        folder.size = whole(wanted * weight / total).max(1);
    }
}

/// Keys folder by folder, then those that fill up the number.
fn by_folder(
    folders: Vec<Folder>,
    put_name: fn(&Folder, u64, &mut Dice, &mut String),
    rest: &'static str,
) -> Next {
    let mut folders = folders.into_iter();
    let mut current = folders.next();
    let mut number = 0;
    Box::new(move |dice, key| {
        while current.as_ref().is_some_and(|folder| number == folder.size) {
            current = folders.next();
            number = 0;
        }
        if let Some(folder) = &current {
            key.push_str(&folder.name);
            put_name(folder, number, dice, key);
            number += 1;
        } else {
            key.push_str(rest);
            put_base62(dice, key, 12);
        }
    })
}

pub(super) fn heavy(count: u64, dice: &mut Dice) -> Next {
    let mut names = BTreeSet::new();
    while names.len() < 20_000 {
        names.insert(format!("{}_{}_{}/", word(dice), word(dice), dice.below(1000)));
    }
    let mut names: Vec<String> = names.into_iter().collect();
    dice.shuffle(&mut names);
    let mut folders: Vec<Folder> =
        names.into_iter().map(|name| Folder { name, size: 0, kind: dice.below(3) }).collect();
    let weights: Vec<f64> = folders.iter().map(|_| dice.pareto(1.0)).collect();
    share_out(count, &weights, &mut folders);
    by_folder(folders, put_heavy, "zz/")
}

fn put_heavy(folder: &Folder, number: u64, dice: &mut Dice, key: &mut String) {
    match folder.kind {
        0 => put!(key, "part-{number:05}.parquet"),
        1 => put_base62(dice, key, 12),
        _ => {
            let (year, month) = (dice.between(2015, 2024), dice.between(1, 12));
            put!(key, "{year:04}/{month:02}/{:08x}.json", dice.bits() >> 32);
        }
    }
}

pub(super) fn hive(count: u64, dice: &mut Dice) -> Next {
    let table = |dice: &mut Dice| {
        let name = format!("warehouse/{}.db/{}_{}/", word(dice), word(dice), word(dice));
        Folder { name, size: 0, kind: dice.below(3) }
    };
    let mut tables: Vec<Folder> = (0..150).map(|_| table(dice)).collect();
    let weights: Vec<f64> = tables.iter().map(|_| dice.pareto(0.9)).collect();
    share_out(count, &weights, &mut tables);
    by_folder(tables, put_hive, "warehouse/tmp/")
}

fn put_hive(table: &Folder, _number: u64, dice: &mut Dice, key: &mut String) {
    match table.kind {
        0 => {}
        1 => {
            let (year, month, day) = civil(DAYS_TO_2019 + dice.below(2000));
            put!(key, "dt={year}-{month:02}-{day:02}/");
        }
        _ => {
            let (year, month) = (dice.between(2019, 2024), dice.between(1, 12));
            put!(key, "year={year}/month={month}/day={}/", dice.between(1, 28));
        }
    }
    put!(key, "part-{:05}-", dice.below(200));
    put_uuid(dice, key);
    key.push_str("-c000.snappy.parquet");
}
