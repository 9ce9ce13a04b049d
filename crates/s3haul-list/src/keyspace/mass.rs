//! Positions in the mass of keys that the model expects, and keys at positions.

use super::distribution::END;
use super::model::Model;
use super::place::Place;
use super::utf8;

/// Smallest mass at which positions can be distinguished.
const MASS_MIN: f64 = 1e-15;

/// A part of the keys that start with `base`: those after `from`, up to `through` or to the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'a> {
    /// What all keys meant start with.
    pub(super) base: &'a str,
    pub(super) from: &'a str,
    pub(super) through: Option<&'a str>,
}

impl<'a> Span<'a> {
    /// From a key to another or to the end of the folder that it is in. The base is as long as
    /// it can be.
    pub(super) fn new(folder: &'a str, from: &'a str, through: Option<&'a str>) -> Self {
        let from = from.max(folder);
        let common = through.map_or(0, |through| utf8::common_prefix(from, through));
        let base = from.floor_char_boundary(common.max(folder.len()));
        Self { base: &from[..base], from, through }
    }

    /// Where a span's ends lie in the mass of its base.
    pub(super) fn ends(&self, model: &Model) -> (f64, f64) {
        let from = model.position(self.base, self.from);
        (from, self.through.map_or(1.0, |through| model.position(self.base, through)))
    }

    /// The key at the share `share` of the mass between the ends; shorter with more tolerance (a
    /// share of the mass). None where nothing lies strictly inside.
    pub(super) fn key_at(&self, model: &Model, share: f64, tolerance: f64) -> Option<String> {
        let (from, through) = self.ends(model);
        let mass = through - from;
        if mass <= 0.0 {
            return None;
        }
        let tolerance = tolerance.min(share / 4.0 + 1e-4);
        let key = model.quantile(self, from + mass * share, mass * tolerance)?;
        let is_inside =
            key.as_str() > self.from && self.through.is_none_or(|through| key.as_str() < through);
        is_inside.then_some(key)
    }
}

impl Model {
    /// Mass of the keys up to `key` among those that start with `base`, from 0 to 1.
    pub(super) fn position(&self, base: &str, key: &str) -> f64 {
        let Some(rest) = key.strip_prefix(base) else {
            return if key < base { 0.0 } else { 1.0 };
        };
        let mut place = Place::after(base.as_bytes());
        let (mut before, mut width) = (0.0, 1.0);
        for byte in rest.bytes() {
            let (before_byte, mass) = self.next_byte(place).mass_at(byte);
            before += width * before_byte;
            width *= mass;
            if width < MASS_MIN {
                break;
            }
            place = place.step(byte);
        }
        before
    }

    /// A key about at a position, after the span's beginning if at all possible.
    fn quantile(&self, span: &Span<'_>, position: f64, tolerance: f64) -> Option<String> {
        const KEY_LEN_MAX: usize = 1_024;
        let mut place = Place::after(span.base.as_bytes());
        let mut key = span.base.as_bytes().to_vec();
        let (mut before, mut width) = (0.0, 1.0_f64);
        while key.len() < KEY_LEN_MAX {
            let is_after = key.as_slice() > span.from.as_bytes();
            if width < tolerance && is_after {
                break;
            }
            let mixture = self.next_byte(place);
            let is_within = place.pending > 0;
            let sums = if is_within { mixture.sums_of_continuation() } else { mixture.sums() };
            let mut byte = sums.at((position - before) / width.max(f64::MIN_POSITIVE));
            if byte == END {
                if is_after {
                    break;
                }
                byte = sums.next(END)?;
            }
            before += width * sums.before(byte);
            width *= sums.mass(byte);
            place = place.step(byte);
            key.push(byte);
        }
        utf8::complete(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_at_shares_come_back_at_their_positions() {
        let mut model = Model::new();
        let keys: Vec<String> = (0..1_000).map(|day| format!("logs/{day:03}/写.txt")).collect();
        model.learn("", keys.iter().map(String::as_str));
        let span = Span::new("logs/", "logs/100/", Some("logs/900/"));
        for percent in [10, 25, 50, 75, 90] {
            let share = f64::from(percent) / 100.0;
            let key = span.key_at(&model, share, 0.005).unwrap();
            let day: f64 = key["logs/".len()..]
                .chars()
                .take(3)
                .fold(0.0, |sum, digit| sum * 10.0 + f64::from(digit.to_digit(10).unwrap()));
            assert!((day - 100.0 - 800.0 * share).abs() < 40.0, "{percent}: {key}");
        }
    }

    #[test]
    fn nothing_lies_between_neighbours() {
        let model = Model::new();
        assert_eq!(Span::new("", "a", Some("a")).key_at(&model, 0.5, 0.01), None);
        let last = "\u{10FFFF}".repeat(256);
        assert_eq!(Span::new("", &last, None).key_at(&model, 0.5, 0.01), None);
    }
}
