//! What requests and storage cost: an estimate at the prices of a table.
//!
//! `prices.json` has the tables of some regions, and [docs/prices.md] where its figures are from.
//! Storage is priced at the first tier of its volume, which is the dearest.
//!
//! [docs/prices.md]: https://github.com/s3haul/s3haul/blob/main/docs/prices.md

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use s3haul_wire::ops::RestoreTier;
use s3haul_wire::units::RequestCounts;

/// Where prices are from when the region is not known, or has none built in.
const REGION: &str = "us-east-1";
/// The tables that are built in.
const BUILT_IN: &str = include_str!("prices.json");
/// The day on which they were last checked.
pub const CHECKED: &str = "2026-11-25";
/// A gigabyte as S3 bills it (<https://aws.amazon.com/s3/faqs/#Billing>).
const GB: f64 = (1 << 30) as f64;
/// Bytes that an archived object is billed for beside its own: in its class, and as STANDARD
/// (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/archived-objects.html>).
const ARCHIVE_BYTES: [u64; 2] = [32 * 1024, 8 * 1024];
/// What S3 means where it names no class.
pub const STANDARD: &str = "STANDARD";
/// Classes that bill at least [`BILLED_BYTES_MIN`] for an object
/// (<https://aws.amazon.com/s3/storage-classes/>).
const CLASSES_WITH_MINIMUM: [&str; 3] = ["STANDARD_IA", "ONEZONE_IA", "GLACIER_IR"];
/// What such an object is billed as at least.
pub(crate) const BILLED_BYTES_MIN: u64 = 128 * 1024;
/// Days of a month.
const MONTH_DAYS: f64 = 30.0;

/// Prices of a region, or of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceTable {
    /// What the prices are of, for people.
    pub name: String,
    /// Currency, such as `USD`.
    pub currency: String,
    /// A thousand PUT, COPY, POST or LIST requests.
    pub write: f64,
    /// A thousand GET, HEAD and other requests.
    pub read: f64,
    /// A thousand DELETE requests.
    pub delete: f64,
    /// Storage by class; of classes that are not in it nothing is known.
    pub storage: BTreeMap<String, StoragePrice>,
}

/// Prices of a storage class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoragePrice {
    /// A gigabyte for a month.
    pub gb_month: f64,
    /// A thousand PUT, COPY or POST requests that write objects of this class.
    #[serde(default)]
    pub write: f64,
    /// A thousand GET requests.
    #[serde(default)]
    pub read: f64,
    /// A thousand requests that restore objects at the standard speed.
    #[serde(default)]
    pub restore: f64,
    /// Reading a gigabyte, or restoring it at the standard speed.
    #[serde(default)]
    pub retrieval_gb: f64,
    /// Restoring at the lowest speed, where that has prices of its own.
    #[serde(default)]
    pub bulk: Option<RestorePrice>,
    /// Restoring at the highest speed, where that is possible.
    #[serde(default)]
    pub expedited: Option<RestorePrice>,
    /// A thousand objects of 128 KiB and more for a month, beside their bytes.
    #[serde(default)]
    pub objects_month: f64,
    /// Days that are billed at least, also when an object is removed or changed before.
    #[serde(default)]
    pub days_min: u32,
    /// Whether objects are billed for more bytes than their own, and must be restored.
    #[serde(default)]
    pub is_archive: bool,
}

/// Prices of restoring archived objects at one speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestorePrice {
    /// A thousand requests.
    pub restore: f64,
    /// A gigabyte.
    pub retrieval_gb: f64,
}

impl StoragePrice {
    /// Whether any price is negative.
    pub fn is_negative(&self) -> bool {
        let Self { gb_month, write, read, objects_month, bulk, expedited, .. } = *self;
        let restores = [Some(self.restoring(RestoreTier::Standard)), bulk, expedited];
        let restores = restores.into_iter().flatten();
        let restores = restores.flat_map(|price| [price.restore, price.retrieval_gb]);
        [gb_month, write, read, objects_month].into_iter().chain(restores).any(|p| p < 0.0)
    }

    /// What restoring costs at a speed; that of the standard where it has no other.
    pub fn restoring(&self, tier: RestoreTier) -> RestorePrice {
        let Self { restore, retrieval_gb, bulk, expedited, .. } = *self;
        let other = match tier {
            RestoreTier::Bulk => bulk,
            RestoreTier::Expedited => expedited,
            RestoreTier::Standard => None,
        };
        other.unwrap_or(RestorePrice { restore, retrieval_gb })
    }
}

/// Objects of a class as they are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// Objects.
    pub objects: u64,
    /// Those of 128 KiB and more: `INTELLIGENT_TIERING` monitors no others.
    pub large_objects: u64,
    /// Bytes, small objects as the bytes that are billed for them.
    pub billed_bytes: u64,
}

impl Stored {
    /// Adds an object of a class.
    pub fn add(&mut self, class: &str, size: u64) {
        self.objects += 1;
        self.large_objects += u64::from(size >= BILLED_BYTES_MIN);
        self.billed_bytes = self.billed_bytes.saturating_add(billed_bytes(class, size));
    }
}

/// What an object of a class is billed as.
pub fn billed_bytes(class: &str, size: u64) -> u64 {
    if size >= BILLED_BYTES_MIN || !CLASSES_WITH_MINIMUM.contains(&class) {
        return size;
    }
    BILLED_BYTES_MIN
}

#[derive(Deserialize)]
struct BuiltIn {
    currency: String,
    regions: BTreeMap<String, Region>,
}

#[derive(Deserialize)]
struct Region {
    put_copy_post_list: f64,
    get_head: f64,
    storage: BTreeMap<String, StoragePrice>,
}

impl Default for PriceTable {
    /// Those of us-east-1.
    fn default() -> Self {
        Self::of_region(None)
    }
}

impl PriceTable {
    /// The prices of a region, those of us-east-1 where it has none built in; the name says so.
    pub fn of_region(region: Option<&str>) -> Self {
        let mut built_in = built_in();
        let known = region.filter(|region| built_in.regions.contains_key(*region));
        let prices = built_in.regions.remove(known.unwrap_or(REGION));
        let name = match (region, known) {
            (_, Some(region)) => format!("S3 in {region}"),
            (None, None) => format!("S3 in {REGION}"),
            (Some(region), None) => format!("S3 in {REGION}, as {region} is not built in"),
        };
        let Region { put_copy_post_list, get_head, storage } = prices.unwrap_or(Region {
            put_copy_post_list: 0.0,
            get_head: 0.0,
            storage: BTreeMap::new(),
        });
        let (write, read, currency) = (put_copy_post_list, get_head, built_in.currency);
        Self { name, currency, write, read, delete: 0.0, storage }
    }

    /// The prices of requests that write objects of a class, where they are known.
    #[must_use]
    pub fn writing(self, class: Option<&str>) -> Self {
        let known = class.filter(|class| *class != STANDARD);
        let price = known.and_then(|class| Some((class, self.storage.get(class)?.write)));
        match price {
            Some((class, write)) if write > 0.0 => {
                Self { name: format!("{class} of {}", self.name), write, ..self }
            }
            _ => self,
        }
    }

    /// Regions that are built in.
    pub fn regions() -> Vec<String> {
        built_in().regions.into_keys().collect()
    }

    /// What requests cost.
    pub fn cost(&self, requests: RequestCounts) -> f64 {
        let RequestCounts { write, read, delete } = requests;
        thousands(write) * self.write
            + thousands(read) * self.read
            + thousands(delete) * self.delete
    }

    /// Whether anything is known of storage.
    pub fn has_storage(&self) -> bool {
        !self.storage.is_empty()
    }

    /// What objects of a class cost a month; none of a class without a price.
    pub fn month(&self, class: &str, stored: Stored) -> Option<f64> {
        let price = self.storage.get(class)?;
        let Stored { objects, large_objects, billed_bytes } = stored;
        let mut cost = gigabytes(billed_bytes) * price.gb_month;
        cost += thousands(large_objects) * price.objects_month;
        if price.is_archive {
            let [own, standard] = ARCHIVE_BYTES.map(|bytes| gigabytes(bytes) * count(objects));
            let standard_price = self.storage.get(STANDARD).map_or(0.0, |price| price.gb_month);
            cost += own * price.gb_month + standard * standard_price;
        }
        Some(cost)
    }

    /// What it costs to move objects to a class by copying them: a request for each, and their
    /// retrieval from the class they are in.
    pub fn change(&self, from: &str, to: &str, stored: Stored) -> Option<f64> {
        let (from, to) = (self.storage.get(from)?, self.storage.get(to)?);
        let Stored { objects, billed_bytes, .. } = stored;
        Some(thousands(objects) * to.write + gigabytes(billed_bytes) * from.retrieval_gb)
    }

    /// What is billed for removing or changing objects of a class that have been in it for so
    /// long.
    pub fn early(&self, class: &str, stored: Stored, age_s: u64) -> Option<f64> {
        let price = self.storage.get(class)?;
        let left_days = f64::from(price.days_min) - count(age_s) / 86_400.0;
        Some(self.month(class, stored)? * left_days.max(0.0) / MONTH_DAYS)
    }

    /// What it costs to read objects of a class beyond what reading others does, or to restore
    /// them where that is needed, at a speed: their bytes, and a request for each.
    pub fn retrieval(&self, class: &str, stored: Stored, tier: RestoreTier) -> Option<f64> {
        let price = self.storage.get(class)?;
        let (gigabyte, request, usual) = if price.is_archive {
            let RestorePrice { restore, retrieval_gb } = price.restoring(tier);
            (retrieval_gb, restore, self.write)
        } else {
            (price.retrieval_gb, price.read, self.read)
        };
        let requests = thousands(stored.objects) * (request - usual).max(0.0);
        Some(gigabytes(stored.billed_bytes) * gigabyte + requests)
    }

    /// Size below which an object is cheaper in STANDARD than in a class that bills small objects
    /// as larger ones.
    pub fn break_even_bytes(&self, class: &str) -> Option<u64> {
        let [own, standard] = [class, STANDARD].map(|class| self.storage.get(class));
        let share = own?.gb_month / standard?.gb_month;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let bytes = (count(BILLED_BYTES_MIN) * share.clamp(0.0, 1.0)) as u64;
        Some(bytes)
    }
}

/// The tables of `prices.json`, which a test reads.
fn built_in() -> BuiltIn {
    let none = |_| BuiltIn { currency: String::new(), regions: BTreeMap::new() };
    serde_json::from_str(BUILT_IN).unwrap_or_else(none)
}

fn thousands(number: u64) -> f64 {
    count(number) / 1000.0
}

fn gigabytes(bytes: u64) -> f64 {
    count(bytes) / GB
}

#[expect(clippy::cast_precision_loss, reason = "an estimate, and exact below 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn each_kind_of_request_has_its_price() {
        let table = PriceTable { delete: 0.001, ..PriceTable::default() };
        let cost = |write, read, delete| table.cost(RequestCounts { write, read, delete });
        is_near(cost(0, 0, 0), 0.0);
        is_near(cost(1_000_000, 0, 0), 5.0);
        is_near(cost(0, 1_000_000, 0), 0.4);
        is_near(cost(0, 0, 1_000_000), 1.0);
        is_near(cost(1, 10, 0), 0.000_009);
    }

    #[test]
    fn storage_costs_by_its_class() {
        let table = PriceTable::default();
        let gigabyte = Stored { objects: 1000, large_objects: 1000, billed_bytes: 1 << 30 };
        let month = |class| table.month(class, gigabyte).unwrap();
        is_near(month("STANDARD"), 0.023);
        is_near(month("INTELLIGENT_TIERING"), 0.0255);
        let small = Stored { large_objects: 0, ..gigabyte };
        is_near(table.month("INTELLIGENT_TIERING", small).unwrap(), 0.023);
        let archived = 1000.0 * 1024.0 / GB;
        is_near(month("DEEP_ARCHIVE"), 0.00099 * (1.0 + 32.0 * archived) + 0.023 * 8.0 * archived);
        assert_eq!(table.month("SNOW", gigabyte), None);
        is_near(table.change("STANDARD", "GLACIER_IR", gigabyte).unwrap(), 0.02);
        is_near(table.change("STANDARD_IA", "STANDARD", gigabyte).unwrap(), 0.015);
        is_near(table.early("STANDARD_IA", gigabyte, 15 * 86_400).unwrap(), 0.00625);
        is_near(table.early("STANDARD_IA", gigabyte, 31 * 86_400).unwrap(), 0.0);
        is_near(table.early("DEEP_ARCHIVE", gigabyte, 0).unwrap(), 6.0 * month("DEEP_ARCHIVE"));
        let read = |class, tier| table.retrieval(class, gigabyte, tier).unwrap();
        let [bulk, standard, expedited] =
            [RestoreTier::Bulk, RestoreTier::Standard, RestoreTier::Expedited];
        for tier in [bulk, standard, expedited] {
            is_near(read("STANDARD", tier), 0.0);
            is_near(read("GLACIER_IR", tier), 0.03 + 0.01 - 0.0004);
        }
        is_near(read("DEEP_ARCHIVE", standard), 0.02 + 0.1 - 0.005);
        is_near(read("DEEP_ARCHIVE", bulk), 0.0025 + 0.025 - 0.005);
        is_near(read("GLACIER", bulk), 0.0);
        is_near(read("GLACIER", expedited), 0.03 + 10.0 - 0.005);
        assert_eq!(table.break_even_bytes("GLACIER_IR"), Some(22_795));
        assert_eq!(table.break_even_bytes("STANDARD_IA"), Some(71_234));
        let archiving = table.clone().writing(Some("DEEP_ARCHIVE"));
        assert_eq!(archiving.name, "DEEP_ARCHIVE of S3 in us-east-1");
        is_near(archiving.cost(RequestCounts { write: 1000, ..RequestCounts::default() }), 0.05);
        assert_eq!(table.clone().writing(Some("SNOW")), table);
    }

    #[test]
    fn regions_have_their_own_prices_or_say_that_they_have_none() {
        for region in PriceTable::regions() {
            let table = PriceTable::of_region(Some(&region));
            assert_eq!(table.name, format!("S3 in {region}"));
            assert!(table.storage["STANDARD"].gb_month > table.storage["GLACIER"].gb_month);
            assert_eq!(table.storage.len(), PriceTable::default().storage.len(), "{region}");
        }
        let elsewhere = PriceTable::of_region(Some("mars-1"));
        assert_eq!(elsewhere.name, "S3 in us-east-1, as mars-1 is not built in");
        assert_eq!(elsewhere.storage, PriceTable::default().storage);
    }

    /// The document has the same figures as the tables.
    #[test]
    fn prices_are_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/prices.md");
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(CHECKED), "the day on which prices were checked");
        for region in PriceTable::regions() {
            let (_, section) = text.split_once(&format!("### {region}\n")).unwrap();
            let section = section.split("\n##").next().unwrap();
            for (class, price) in PriceTable::of_region(Some(&region)).storage {
                let StoragePrice { gb_month, write, read, restore, .. } = price;
                let StoragePrice { retrieval_gb, objects_month, days_min, .. } = price;
                let row = format!(
                    "| {class} | {gb_month} | {write} | {read} | {restore} | {retrieval_gb} | \
                     {objects_month} | {days_min} |\n"
                );
                assert!(section.contains(&row), "{region}: {row}");
                for (speed, other) in [("bulk", price.bulk), ("expedited", price.expedited)] {
                    let Some(RestorePrice { restore, retrieval_gb }) = other else { continue };
                    let row = format!("| {class} | {speed} | {restore} | {retrieval_gb} |\n");
                    assert!(text.contains(&row), "{region}: {row}");
                }
            }
        }
    }
}
