//! The conclusions against things whose bytes are known.

use md5::{Digest as _, Md5};
use proptest::prelude::*;

use super::known::etag_digest;
use super::*;

/// Most steps that a conclusion may take.
const STEPS_MAX: usize = 12;

/// A file or object with all that a store would return about it.
#[derive(Clone, Debug)]
struct Thing {
    bytes: Vec<u8>,
    is_local: bool,
    /// Sizes of its parts; none for an object written at once.
    parts: Vec<usize>,
    has_opaque_etag: bool,
    tells_etags: bool,
    tells_part_sizes: bool,
    checksums: Vec<(Algorithm, bool)>,
}

fn digit(value: u8) -> char {
    char::from_digit(value.into(), 16).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

/// A digest without collisions, except those that a weak one may have: none here.
fn digest(algorithm: Algorithm, bytes: &[u8]) -> Vec<u8> {
    match algorithm {
        Algorithm::Md5 => Md5::digest(bytes).to_vec(),
        other => format!("{other:?}[{bytes:?}]").into_bytes(),
    }
}

fn text(algorithm: Algorithm, digest: &[u8]) -> String {
    match algorithm {
        Algorithm::Md5 => hex(digest),
        _ => String::from_utf8(digest.to_vec()).unwrap(),
    }
}

fn of_parts<'a>(algorithm: Algorithm, parts: impl Iterator<Item = &'a [u8]>) -> String {
    let digests: Vec<u8> = parts.flat_map(|part| digest(algorithm, part)).collect();
    text(algorithm, &digest(algorithm, &digests))
}

impl Thing {
    fn split(&self) -> Vec<&[u8]> {
        let mut rest = self.bytes.as_slice();
        let mut parts = Vec::new();
        for size in &self.parts {
            let (part, others) = rest.split_at(*size.min(&rest.len()));
            rest = others;
            parts.extend((!part.is_empty()).then_some(part));
        }
        parts.extend((!rest.is_empty()).then_some(rest));
        parts
    }

    fn is_multipart(&self) -> bool {
        !self.parts.is_empty() && !self.bytes.is_empty()
    }

    fn etag(&self) -> String {
        if !self.tells_etags {
            return String::new();
        }
        let parts = self.split();
        let mut etag = if self.is_multipart() {
            of_parts(Algorithm::Md5, parts.iter().copied())
        } else {
            hex(&Md5::digest(&self.bytes))
        };
        if self.has_opaque_etag {
            // No two encrypted objects have the same.
            etag = hex(&Md5::digest(format!("{self:?}")));
        }
        let count = if self.is_multipart() { format!("-{}", parts.len()) } else { String::new() };
        format!("\"{etag}{count}\"")
    }

    fn known(&self) -> Known {
        let size = self.bytes.len() as u64;
        if self.is_local { Known::of_file(size) } else { Known::of_object(size, &self.etag()) }
    }

    fn stored(&self) -> Vec<StoredChecksum> {
        let stored = |(algorithm, composite): &(Algorithm, bool)| {
            let parts = self.split();
            if *composite && self.is_multipart() {
                let value = of_parts(*algorithm, parts.iter().copied());
                let value = format!("{value}-{}", parts.len());
                return StoredChecksum { algorithm: *algorithm, value, is_full_object: false };
            }
            let value = text(*algorithm, &digest(*algorithm, &self.bytes));
            StoredChecksum { algorithm: *algorithm, value, is_full_object: true }
        };
        self.checksums.iter().map(stored).collect()
    }

    fn learn(&self, known: &mut Known, step: Step) {
        match step {
            Step::Headers(_) => {
                assert!(!self.is_local && !known.has_headers);
                known.learn_headers(&self.etag(), !self.has_opaque_etag, self.stored());
            }
            Step::PartSize(_) => {
                assert!(!self.is_local && !known.has_part_size);
                let first = self.split().first().map(|part| part.len() as u64);
                known.learn_part_size(first.filter(|_| self.tells_part_sizes));
            }
            Step::Digest(_, Recipe { algorithm, part_size }) => {
                let value = match part_size {
                    None => text(algorithm, &digest(algorithm, &self.bytes)),
                    Some(size) => {
                        of_parts(algorithm, self.bytes.chunks(usize::try_from(size).unwrap()))
                    }
                };
                known.learn_digest(Recipe { algorithm, part_size }, value);
            }
        }
    }
}

/// Goes on to a conclusion; the steps that it took.
fn reach(source: &Thing, target: &Thing, depth: Depth) -> (Conclusion, Vec<Step>) {
    let (mut left, mut right) = (source.known(), target.known());
    let mut steps = Vec::new();
    loop {
        let conclusion = conclude(&left, &right, depth, PartSizes { configured: 8 * MIB, read: 5 });
        let Conclusion::Unknown(step) = conclusion else { return (conclusion, steps) };
        assert!(!steps.contains(&step), "{step:?} twice: {steps:?}");
        steps.push(step);
        assert!(steps.len() <= STEPS_MAX, "{steps:?}");
        let (Step::Headers(which) | Step::PartSize(which) | Step::Digest(which, _)) = step;
        match which {
            Which::Source => source.learn(&mut left, step),
            Which::Target => target.learn(&mut right, step),
        }
    }
}

fn file(bytes: &[u8]) -> Thing {
    Thing { is_local: true, ..object(bytes) }
}

fn object(bytes: &[u8]) -> Thing {
    Thing {
        bytes: bytes.to_vec(),
        is_local: false,
        parts: Vec::new(),
        has_opaque_etag: false,
        tells_etags: true,
        tells_part_sizes: true,
        checksums: Vec::new(),
    }
}

fn in_parts(bytes: &[u8], part_size: usize) -> Thing {
    let parts = vec![part_size; bytes.len().div_ceil(part_size)];
    Thing { parts, ..object(bytes) }
}

fn thing(bytes: Vec<u8>, may_be_uneven: bool) -> impl Strategy<Value = Thing> {
    let algorithm = prop::sample::select(Algorithm::BY_COST[..5].to_vec());
    let checksums = prop::collection::vec((algorithm, any::<bool>()), 0..3);
    let uneven = prop::collection::vec(1..6_usize, 0..6);
    let even = (0..7_usize).prop_map(|size| if size == 0 { vec![] } else { vec![size; 12] });
    let parts = if may_be_uneven { uneven.boxed() } else { even.boxed() };
    (parts, any::<[bool; 4]>(), checksums).prop_map(move |(parts, flags, checksums)| Thing {
        bytes: bytes.clone(),
        is_local: flags[0],
        parts,
        has_opaque_etag: flags[1],
        tells_etags: flags[2],
        tells_part_sizes: flags[3],
        checksums,
    })
}

fn pair(may_be_uneven: bool) -> impl Strategy<Value = (Thing, Thing)> {
    let bytes = prop::collection::vec(0..3_u8, 0..12);
    let contents =
        (bytes, any::<bool>(), any::<prop::sample::Index>()).prop_map(|(bytes, is_same, place)| {
            let mut other = bytes.clone();
            if !is_same && !other.is_empty() {
                let place = place.index(other.len());
                other[place] ^= 1;
            }
            (bytes, other)
        });
    contents.prop_flat_map(move |(left, right)| {
        (thing(left, may_be_uneven), thing(right, may_be_uneven))
    })
}

proptest! {
    #[test]
    fn conclusions_are_true((source, target) in pair(false)) {
        let is_same = source.bytes == target.bytes;
        for depth in [Depth::Checksums, Depth::Proof] {
            let (conclusion, steps) = reach(&source, &target, depth);
            let said = matches!(conclusion, Conclusion::Same(_));
            prop_assert_eq!(said, is_same, "{:?} {:?}", conclusion, steps);
        }
    }

    #[test]
    fn proofs_hold_for_parts_of_any_size((source, target) in pair(true)) {
        let is_same = source.bytes == target.bytes;
        let (conclusion, steps) = reach(&source, &target, Depth::Proof);
        let said = matches!(conclusion, Conclusion::Same(_));
        prop_assert_eq!(said, is_same, "{:?} {:?}", conclusion, steps);
        // Less may take the same for different, never different for the same.
        let (conclusion, _) = reach(&source, &target, Depth::Checksums);
        prop_assert!(is_same || matches!(conclusion, Conclusion::Different(_)));
    }

    #[test]
    fn listings_are_believed_and_nothing_is_read((source, target) in pair(true)) {
        let (conclusion, steps) = reach(&source, &target, Depth::Listed);
        prop_assert!(steps.iter().all(|step| matches!(step, Step::Headers(_))), "{:?}", steps);
        if source.bytes == target.bytes {
            prop_assert!(matches!(conclusion, Conclusion::Same(_)), "{:?}", conclusion);
        }
    }

    #[test]
    fn what_is_equal_in_its_listing_costs_nothing(
        bytes in prop::collection::vec(any::<u8>(), 1..9),
    ) {
        for depth in [Depth::Listed, Depth::Checksums, Depth::Proof] {
            let (left, right) = (in_parts(&bytes, 2), in_parts(&bytes, 2));
            let expected = (Conclusion::Same(Evidence::Etag), vec![]);
            prop_assert_eq!(reach(&left, &right, depth), expected);
        }
    }
}

#[test]
fn the_cheapest_way_is_taken() {
    let md5 = Recipe { algorithm: Algorithm::Md5, part_size: None };
    let crc = Recipe { algorithm: Algorithm::Crc64Nvme, part_size: None };
    let sha = Recipe { algorithm: Algorithm::Sha256, part_size: Some(5) };
    let ask = Step::Headers(Which::Target);
    let read = |recipe| Step::Digest(Which::Source, recipe);
    let local = file(b"abcdef");
    let steps = |target: &Thing| reach(&local, target, Depth::Checksums).1;
    assert_eq!(steps(&object(b"abcdef")), [read(md5)], "no request for what is the same");
    assert_eq!(steps(&object(b"abcdeg")), [read(md5), ask]);
    let summed = Thing { checksums: vec![(Algorithm::Crc64Nvme, false)], ..in_parts(b"abcdef", 4) };
    assert_eq!(steps(&summed), [ask, read(crc)], "no MD5 where there is a checksum");
    let size = Step::PartSize(Which::Target);
    let fours = Recipe { algorithm: Algorithm::Md5, part_size: Some(4) };
    assert_eq!(steps(&in_parts(b"abcdef", 4)), [ask, size, read(fours)]);
    let opaque = Thing { has_opaque_etag: true, ..object(b"abcdef") };
    let both = [read(md5), ask, read(sha), Step::Digest(Which::Target, sha)];
    assert_eq!(steps(&opaque), both, "an object is only read where nothing else says anything");
    let large = Thing { bytes: vec![1; 17 << 20], ..local.clone() };
    let stored = Thing { bytes: large.bytes.clone(), ..object(b"") };
    assert_eq!(reach(&large, &stored, Depth::Checksums).1, [ask, read(md5)]);
}

#[test]
fn one_of_two_objects_is_read_where_the_other_has_a_digest() {
    let (whole, parts) = (object(b"abcdef"), in_parts(b"abcdef", 4));
    let (conclusion, steps) = reach(&whole, &parts, Depth::Checksums);
    assert_eq!(conclusion, Conclusion::Same(Evidence::Etag));
    let read = |step: &Step| matches!(step, Step::Digest(..));
    assert_eq!(steps.iter().filter(|step| read(step)).count(), 1, "{steps:?}");
}

#[test]
fn thirty_two_bits_are_no_proof() {
    let weak = Thing { checksums: vec![(Algorithm::Crc32, false)], ..object(b"abc") };
    let weak = Thing { tells_etags: false, ..weak };
    let same = |depth| reach(&weak, &weak, depth).0;
    assert_eq!(same(Depth::Checksums), Conclusion::Same(Evidence::Checksum));
    assert_eq!(same(Depth::Proof), Conclusion::Same(Evidence::Content));
}

#[test]
fn only_the_form_of_an_md5_is_one() {
    for etag in ["", "\"\"", "\"abc\"", "\"0123456789abcdef0123456789abcdeg\"", "\"0-0\"", "x-y"] {
        assert_eq!(etag_digest(etag), None, "{etag}");
    }
    let parsed = etag_digest("\"0123456789ABCDEF0123456789abcdef-12\"").unwrap();
    assert_eq!(parsed.layout, Layout::Parts { count: 12, part_size: None });
    assert_eq!(parsed.value, "0123456789abcdef0123456789abcdef");
}

#[test]
fn etags_that_stand_for_none_prove_nothing() {
    let sizes = PartSizes::of(8 * MIB);
    for etag in [
        "\"00000000000000000000000000000000\"",
        "\"00000000000000000000000000000000-1\"",
        "\"d41d8cd98f00b204e9800998ecf8427e\"",
    ] {
        let known = Known::of_object(5, etag);
        let mut asked = known.clone();
        asked.learn_headers(etag, true, []);
        for depth in [Depth::Checksums, Depth::Proof] {
            for known in [&known, &asked] {
                let conclusion = conclude(known, known, depth, sizes);
                assert!(matches!(conclusion, Conclusion::Unknown(_)), "{etag} {conclusion:?}");
            }
        }
    }
}
