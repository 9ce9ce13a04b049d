//! What requests cost: an estimate at the prices of a table.

use s3haul_wire::units::RequestCounts;

/// Prices of a thousand requests of each kind.
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
}

impl Default for PriceTable {
    /// S3 Standard in us-east-1 as <https://aws.amazon.com/s3/pricing/> had it in 2025: 0.005 USD
    /// for 1,000 PUT, COPY, POST and LIST requests, 0.0004 USD for 1,000 GET and other requests,
    /// nothing for DELETE. Other storage classes and regions cost more.
    fn default() -> Self {
        Self {
            name: "S3 Standard in us-east-1".to_owned(),
            currency: "USD".to_owned(),
            write: 0.005,
            read: 0.0004,
            delete: 0.0,
        }
    }
}

impl PriceTable {
    /// What requests cost.
    #[expect(clippy::cast_precision_loss, reason = "an estimate, and exact below 2^53 requests")]
    pub fn cost(&self, requests: RequestCounts) -> f64 {
        let thousands = |count: u64| count as f64 / 1000.0;
        let RequestCounts { write, read, delete } = requests;
        thousands(write) * self.write
            + thousands(read) * self.read
            + thousands(delete) * self.delete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_price() {
        let table = PriceTable { delete: 0.001, ..PriceTable::default() };
        let cost = |write, read, delete| table.cost(RequestCounts { write, read, delete });
        for (found, expected) in [
            (cost(0, 0, 0), 0.0),
            (cost(1_000_000, 0, 0), 5.0),
            (cost(0, 1_000_000, 0), 0.4),
            (cost(0, 0, 1_000_000), 1.0),
            (cost(1, 10, 0), 0.000_009),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
