//! What a job changes of what is stored, as far as a bill shows it: what is stored from then on,
//! what is read from classes that charge for it, and what leaves its class before its minimum
//! duration.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use s3haul_wire::ops::RestoreTier;

use crate::event::ActionKind;
use crate::location::Location;
use crate::plan::expected::{Expected, State, TargetState};
use crate::plan::price::{PriceTable, STANDARD, Stored};

/// Seconds of a day.
const DAY_S: i64 = 86_400;
/// Days that are distinguished: no class has a longer minimum.
pub const DAYS_MAX: u32 = 3650;
/// Classes that are distinguished; S3 has about a dozen.
const CLASSES_MAX: usize = 64;

/// What a job does to every object, which its actions do not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The class of what is written; none for that of the service, which is STANDARD.
    pub written_class: Option<String>,
    /// Sources are removed once they are copied.
    pub is_move: bool,
    /// `set` copies objects onto themselves, for their headers, class or encryption.
    pub rewrites: bool,
    /// How quickly archived objects are restored; none for the standard speed.
    pub restore_tier: Option<RestoreTier>,
}

/// Sums over the actions of a job.
#[derive(Clone, Debug, Default)]
pub struct Charges {
    effect: Effect,
    now_s: i64,
    /// By class.
    written: BTreeMap<String, Stored>,
    /// By class.
    read: BTreeMap<String, Stored>,
    /// By class and age in days.
    removed: BTreeMap<(String, u32), Stored>,
}

/// A charge in the currency of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge<'a> {
    /// The class.
    pub class: &'a str,
    /// What it is for.
    pub stored: Stored,
    /// The amount.
    pub cost: f64,
    /// Days that the class bills at least.
    pub days_min: u32,
}

impl Charges {
    /// Of nothing yet, as of this time in seconds since 1970.
    pub fn new(effect: Effect, now_s: i64) -> Self {
        Self { effect, now_s, ..Self::default() }
    }

    /// Has the actions added from now on be those of another job, to be summed up with the others.
    /// Its class and its speed of restores then hold for all.
    pub fn begin_job(&mut self, effect: Effect, now_s: i64) {
        (self.effect, self.now_s) = (effect, now_s);
    }

    /// Adds an action.
    pub fn add(
        &mut self,
        action: ActionKind,
        source: &Location,
        target: Option<&Location>,
        expected: &Expected,
    ) {
        let is_object = |place: &Location| matches!(place, Location::Object(_));
        let (found, source_is_object) = (&expected.source, is_object(source));
        let is_rewritten = action == ActionKind::Set && self.effect.rewrites;
        if is_rewritten || target.is_some_and(is_object) {
            // What is changed where it is keeps its class.
            let usual = if is_rewritten { class_of(found) } else { STANDARD };
            let class = self.effect.written_class.as_deref().unwrap_or(usual);
            if let Some(written) = group(&mut self.written, class) {
                written.add(class, found.size);
            }
        }
        let is_read = match action {
            ActionKind::Download | ActionKind::Copy | ActionKind::Restore => true,
            ActionKind::Set => is_rewritten,
            _ => false,
        };
        if is_read && source_is_object {
            self.read(found, action == ActionKind::Restore);
        }
        if let (Some(_), TargetState::Found(target)) = (target, &expected.target) {
            self.removed(target);
        }
        let is_removed = action == ActionKind::Delete || is_rewritten || self.effect.is_move;
        if is_removed && source_is_object {
            self.removed(found);
        }
    }

    /// The class of what is written, where the job says one.
    pub fn written_class(&self) -> Option<&str> {
        self.effect.written_class.as_deref()
    }

    fn read(&mut self, found: &State, is_restored: bool) {
        // Of an archived object the restoring is charged for, and not the reading of the copy.
        let class = class_of(found);
        if is_archive(class) == is_restored
            && let Some(read) = group(&mut self.read, class)
        {
            read.objects += 1;
            read.billed_bytes = read.billed_bytes.saturating_add(found.size);
        }
    }

    fn removed(&mut self, found: &State) {
        let class = class_of(found);
        let age_s = self.now_s.saturating_sub(found.modified_ns / 1_000_000_000);
        let days = u32::try_from((age_s / DAY_S).max(0)).unwrap_or(DAYS_MAX).min(DAYS_MAX);
        let is_full = self.removed.len() >= CLASSES_MAX * DAYS_MAX as usize;
        let group = self.removed.entry((class.to_owned(), days));
        if !is_full || matches!(group, Entry::Occupied(_)) {
            group.or_default().add(class, found.size);
        }
    }

    /// What storing costs a month that is written, by class.
    pub fn storage(&self, prices: &PriceTable) -> Vec<Charge<'_>> {
        let mut charges = Vec::new();
        for (class, stored) in &self.written {
            let days_min = prices.storage.get(class).map_or(0, |price| price.days_min);
            let cost = prices.month(class, *stored);
            charges.extend(cost.map(|cost| Charge { class, stored: *stored, cost, days_min }));
        }
        charges
    }

    /// Classes of what is written that have no price, where others have.
    pub fn unpriced(&self, prices: &PriceTable) -> Vec<&str> {
        let classes = self.written.keys().filter(|class| !prices.storage.contains_key(*class));
        classes.filter(|_| prices.has_storage()).map(String::as_str).collect()
    }

    /// What reading costs, by class.
    pub fn retrieval(&self, prices: &PriceTable) -> Vec<Charge<'_>> {
        let mut charges = Vec::new();
        let tier = self.effect.restore_tier.unwrap_or(RestoreTier::Standard);
        for (class, stored) in &self.read {
            let cost = prices.retrieval(class, *stored, tier).filter(|cost| *cost > 0.0);
            charges.extend(cost.map(|cost| Charge { class, stored: *stored, cost, days_min: 0 }));
        }
        charges
    }

    /// What is billed for the rest of the minimum durations, by class. Where versions are kept,
    /// what is removed goes on to be stored instead: it is this at most.
    pub fn early(&self, prices: &PriceTable) -> Vec<Charge<'_>> {
        let mut charges: Vec<Charge<'_>> = Vec::new();
        for ((class, days), stored) in &self.removed {
            let age_s = u64::from(*days) * DAY_S.unsigned_abs();
            let Some(cost) = prices.early(class, *stored, age_s).filter(|cost| *cost > 0.0) else {
                continue;
            };
            if let Some(last) = charges.last_mut().filter(|last| last.class == class) {
                last.stored.objects += stored.objects;
                last.stored.billed_bytes += stored.billed_bytes;
                last.cost += cost;
                continue;
            }
            let days_min = prices.storage.get(class).map_or(0, |price| price.days_min);
            charges.push(Charge { class, stored: *stored, cost, days_min });
        }
        charges
    }
}

/// Whether objects of a class must be restored before they are read.
fn is_archive(class: &str) -> bool {
    matches!(class, "GLACIER" | "DEEP_ARCHIVE")
}

/// The class of what was found: S3 means STANDARD where it names none.
fn class_of(found: &State) -> &str {
    if found.storage_class.is_empty() { STANDARD } else { &found.storage_class }
}

/// The sum of a class, as long as there are not too many.
fn group<'a>(sums: &'a mut BTreeMap<String, Stored>, class: &str) -> Option<&'a mut Stored> {
    if sums.len() >= CLASSES_MAX && !sums.contains_key(class) {
        return None;
    }
    Some(sums.entry(class.to_owned()).or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::ObjectName;
    use crate::plan::price::StoragePrice;

    const NOW_S: i64 = 1_800_000_000;

    fn state(class: &str, size: u64, age_days: i64) -> State {
        let modified_ns = (NOW_S - age_days * DAY_S) * 1_000_000_000;
        State { size, modified_ns, storage_class: class.to_owned(), ..State::default() }
    }

    fn object(key: &str) -> Location {
        Location::Object(ObjectName::new("b", key))
    }

    /// Amounts in thousandths of a cent: of storage, retrieval and early removal.
    #[expect(clippy::cast_possible_truncation, reason = "small amounts")]
    fn amounts(charges: &Charges) -> [Vec<(String, i64)>; 3] {
        let table = PriceTable::default();
        let named = |charge: Charge<'_>| {
            (charge.class.to_owned(), (charge.cost * 100_000.0).round() as i64)
        };
        [
            charges.storage(&table).into_iter().map(named).collect(),
            charges.retrieval(&table).into_iter().map(named).collect(),
            charges.early(&table).into_iter().map(named).collect(),
        ]
    }

    fn named(class: &str, amount: i64) -> Vec<(String, i64)> {
        vec![(class.to_owned(), amount)]
    }

    #[test]
    fn what_leaves_its_class_early_is_billed_for_the_rest() {
        let gigabyte = 1 << 30;
        let mut charges = Charges::new(Effect::default(), NOW_S);
        let unknown = |source| Expected::new(source, TargetState::Unknown);
        let mut removes =
            |state| charges.add(ActionKind::Delete, &object("a"), None, &unknown(state));
        removes(state("STANDARD", gigabyte, 0));
        removes(state("STANDARD_IA", gigabyte, 15));
        removes(state("STANDARD_IA", gigabyte, 29));
        removes(state("STANDARD_IA", gigabyte, 30));
        removes(state("STANDARD_IA", gigabyte, -3));
        removes(state("", gigabyte, 0));
        let file = Location::Local("/a".into());
        charges.add(ActionKind::Delete, &file, None, &unknown(state("", 1, 0)));
        // 15, 1, 0 and 30 days of 30: 46 of 12.50 for 30.
        assert_eq!(amounts(&charges), [vec![], vec![], named("STANDARD_IA", 1917)]);
    }

    #[test]
    fn a_change_of_class_is_read_written_and_left_early() {
        let written_class = Some("GLACIER_IR".to_owned());
        let effect = Effect { written_class, rewrites: true, ..Effect::default() };
        let mut charges = Charges::new(effect, NOW_S);
        let expected = Expected::new(state("STANDARD_IA", 1 << 30, 0), TargetState::Unknown);
        charges.add(ActionKind::Set, &object("a"), None, &expected);
        let [storage, retrieval, early] = amounts(&charges);
        assert_eq!(storage, named("GLACIER_IR", 400));
        assert_eq!(retrieval, named("STANDARD_IA", 1000));
        assert_eq!(early, named("STANDARD_IA", 1250));
        let effect = Effect { rewrites: true, ..Effect::default() };
        let mut charges = Charges::new(effect, NOW_S);
        charges.add(ActionKind::Set, &object("a"), None, &expected);
        assert_eq!(amounts(&charges)[0], named("STANDARD_IA", 1250), "it keeps its class");
        let mut charges = Charges::new(Effect::default(), NOW_S);
        charges.add(ActionKind::Set, &object("a"), None, &expected);
        assert_eq!(amounts(&charges), [vec![], vec![], vec![]], "an ACL is no copy");
    }

    #[test]
    fn copies_read_their_source_and_replace_their_target() {
        let gigabyte = 1 << 30;
        let found = TargetState::Found(state("GLACIER_IR", gigabyte, 0));
        let expected = Expected::new(state("STANDARD_IA", gigabyte, 0), found);
        for is_move in [false, true] {
            let mut charges = Charges::new(Effect { is_move, ..Effect::default() }, NOW_S);
            charges.add(ActionKind::Copy, &object("a"), Some(&object("b")), &expected);
            let [storage, retrieval, early] = amounts(&charges);
            assert_eq!(storage, named("STANDARD", 2300));
            assert_eq!(retrieval, named("STANDARD_IA", 1000));
            let mut left = named("GLACIER_IR", 1200);
            left.extend(is_move.then_some(("STANDARD_IA".to_owned(), 1250)));
            assert_eq!(early, left);
        }
    }

    /// Restoring an archived object costs, and reading its restored copy does not.
    #[test]
    fn archives_are_charged_when_they_are_restored() {
        let expected = Expected::new(state("DEEP_ARCHIVE", 1 << 30, 0), TargetState::Unknown);
        let file = Location::Local("/a".into());
        // The bytes, and a request at its own price.
        for (action, cost) in [(ActionKind::Restore, 2010), (ActionKind::Download, 0)] {
            let mut charges = Charges::new(Effect::default(), NOW_S);
            let target = (action == ActionKind::Download).then_some(&file);
            charges.add(action, &object("a"), target, &expected);
            let expected = if cost > 0 { named("DEEP_ARCHIVE", cost) } else { vec![] };
            assert_eq!(amounts(&charges), [vec![], expected, vec![]]);
        }
    }

    #[test]
    fn other_services_charge_for_the_usual_class_or_have_no_price() {
        let price = StoragePrice { gb_month: 3.0, days_min: 90, ..StoragePrice::default() };
        let table =
            PriceTable { storage: [(STANDARD.to_owned(), price)].into(), ..PriceTable::default() };
        let written_class = Some("SNOW".to_owned());
        let mut charges = Charges::new(Effect { written_class, ..Effect::default() }, NOW_S);
        let expected = Expected::new(state("", 1 << 30, 60), TargetState::Unknown);
        charges.add(ActionKind::Delete, &object("a"), None, &expected);
        charges.add(ActionKind::Copy, &object("a"), Some(&object("b")), &expected);
        let early = charges.early(&table);
        assert_eq!((early.len(), early[0].class), (1, STANDARD));
        assert!((early[0].cost - 3.0).abs() < 1e-9);
        assert!(charges.storage(&table).is_empty());
        assert_eq!(charges.unpriced(&table), ["SNOW"]);
    }

    #[test]
    fn sums_are_bounded() {
        let mut charges = Charges::new(Effect::default(), NOW_S);
        for number in 0..1000 {
            let expected =
                Expected::new(state(&format!("C{number}"), 1, number % 400), TargetState::Unknown);
            charges.add(ActionKind::Copy, &object("a"), Some(&object("b")), &expected);
            for _ in 0..40 {
                charges.add(ActionKind::Delete, &object("a"), None, &expected);
            }
        }
        assert!(charges.read.len() <= CLASSES_MAX && charges.written.len() <= CLASSES_MAX);
        assert!(charges.removed.len() <= CLASSES_MAX * DAYS_MAX as usize);
    }
}
