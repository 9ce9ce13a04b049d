//! `--prices`: prices of requests and storage from a file.

use std::collections::BTreeMap;
use std::path::Path;

use s3haul::plan::charges::DAYS_MAX;
use s3haul::plan::price::{PriceTable, StoragePrice};
use serde::Deserialize;

use crate::failure::Failure;

/// The file: prices of 1,000 requests, and of storage by class.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    name: Option<String>,
    currency: Option<String>,
    put_copy_post_list: f64,
    get_head: f64,
    #[serde(default)]
    delete: f64,
    #[serde(default)]
    storage: BTreeMap<String, StoragePrice>,
}

/// The prices of a file.
pub(super) fn price_table(path: &Path) -> Result<PriceTable, Failure> {
    let fail = |why: String| {
        Failure::usage(format!("the price table `{}` cannot be used: {why}", path.display()))
    };
    let text = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    let table: TableFile =
        serde_json::from_slice(&text).map_err(|error| fail(error.to_string()))?;
    let TableFile { name, currency, put_copy_post_list: write, get_head: read, .. } = table;
    let TableFile { delete, storage, .. } = table;
    if [write, read, delete].iter().any(|price| *price < 0.0)
        || storage.values().any(StoragePrice::is_negative)
    {
        return Err(fail("a price is negative".to_owned()));
    }
    if storage.values().any(|price| price.days_min > DAYS_MAX) {
        return Err(fail(format!("`days_min` is more than {DAYS_MAX}")));
    }
    let name = name.unwrap_or_else(|| path.display().to_string());
    let currency = currency.unwrap_or_else(|| PriceTable::default().currency);
    Ok(PriceTable { name, currency, write, read, delete, storage })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PriceTable, Failure> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        price_table(file.path())
    }

    #[test]
    fn a_table_has_prices_of_a_thousand_requests() {
        let table = read(
            "{\"name\":\"mine\",\"currency\":\"EUR\",\"put_copy_post_list\":1,\"get_head\":0.5}",
        );
        let (name, currency) = ("mine".to_owned(), "EUR".to_owned());
        let storage = BTreeMap::new();
        let expected = PriceTable { name, currency, write: 1.0, read: 0.5, delete: 0.0, storage };
        assert_eq!(table.unwrap(), expected);
        let table = read(
            "{\"put_copy_post_list\":0,\"get_head\":0,\"storage\":{\"COLD\":{\"gb_month\":2}}}",
        );
        assert!(table.unwrap().storage["COLD"].gb_month > 1.9);
        for text in [
            "",
            "{}",
            "{\"put_copy_post_list\":1}",
            "{\"put_copy_post_list\":-1,\"get_head\":0}",
            "{\"put_copy_post_list\":1,\"get_head\":0,\"gets\":1}",
            "{\"put_copy_post_list\":1,\"get_head\":0,\"storage\":{\"A\":{\"gb_month\":-1}}}",
            "{\"put_copy_post_list\":1,\"get_head\":0,\"storage\":{\"A\":{\"days\":1}}}",
            "{\"put_copy_post_list\":1,\"get_head\":0,\"storage\":{\"A\":{\"gb_month\":0,\
             \"days_min\":3651}}}",
        ] {
            let message = read(text).unwrap_err().message;
            assert!(message.starts_with("the price table `"), "{message}");
        }
        assert!(price_table(Path::new("/no/such/table")).is_err());
    }
}
