//! What a dry run would cost: requests by kind, and their price at a table.

use s3haul::job::Summary;
use s3haul::plan::charges::{Charge, Charges};
use s3haul::plan::price::PriceTable;
use s3haul_wire::units::RequestCounts;
use serde::Serialize;

use super::json;

/// Requests and their price, for programs.
#[derive(Serialize)]
struct Priced {
    #[serde(flatten)]
    requests: Requests,
    price: f64,
}

/// Requests by kind.
#[derive(Serialize)]
pub(crate) struct Requests {
    put_copy_post_list: u64,
    get_head: u64,
    delete: u64,
}

#[derive(Serialize)]
struct EstimateLine<'a> {
    would_send: Priced,
    sent: Priced,
    #[serde(flatten)]
    changes: Changes,
    currency: &'a str,
    prices: &'a str,
}

impl Requests {
    /// Those of a count.
    pub(crate) fn of(counts: RequestCounts) -> Self {
        let RequestCounts { write, read, delete } = counts;
        Self { put_copy_post_list: write, get_head: read, delete }
    }
}

/// All requests of the command: what a dry run sends, to list and to ask, is sent again by the
/// real run.
fn whole(summary: &Summary) -> RequestCounts {
    summary.requests_planned + summary.requests_sent
}

/// What all requests of the command cost: those of its objects as they write to their class, and
/// those that list and ask.
fn whole_cost(summary: &Summary, changes: &Charges, table: &PriceTable) -> f64 {
    let writing = table.clone().writing(changes.written_class());
    writing.cost(summary.requests_planned) + table.cost(summary.requests_sent)
}

/// The lines for people.
pub(crate) fn lines(summary: &Summary, changes: &Charges, table: &PriceTable) -> Vec<String> {
    let cost = whole_cost(summary, changes, table);
    let (name, whole) = (&table.name, priced_text(whole(summary), cost, table));
    let mut lines = vec![format!(
        "estimate: the command would send {whole} ({name}, without the data's transfer)"
    )];
    lines.extend(charges(changes, table).into_iter().map(|line| format!("estimate: {line}")));
    let sent = priced_text(summary.requests_sent, table.cost(summary.requests_sent), table);
    lines.push(format!("estimate: this dry run sent {sent}"));
    lines
}

/// The line of a plan.
pub(crate) fn of_plan(summary: &Summary, changes: &Charges, table: &PriceTable) -> String {
    let cost = whole_cost(summary, changes, table);
    let text = priced_text(summary.requests_planned, cost, table);
    format!("requests: {text} ({}, without the data's transfer)", table.name)
}

/// The lines of what storage costs that the job changes.
pub(crate) fn charges(charges: &Charges, table: &PriceTable) -> Vec<String> {
    let currency = &table.currency;
    let storage = charges.storage(table).into_iter().map(|charge| {
        let Charge { class, stored, cost, days_min } = charge;
        let least =
            if days_min > 0 { format!(", {days_min} days at least") } else { String::new() };
        let (bytes, cost) = (stored.billed_bytes, amount(cost));
        format!(
            "storage: {bytes} bytes billed in {class} for what is written, about \
             {cost} {currency} a month{least}"
        )
    });
    let unpriced = charges.unpriced(table).into_iter();
    let unpriced = unpriced.map(|class| format!("storage: {class} has no price in {}", table.name));
    let retrieval = charges.retrieval(table).into_iter().map(|charge| {
        let Charge { class, stored, cost, .. } = charge;
        let (bytes, cost) = (stored.billed_bytes, amount(cost));
        format!("retrieval: {bytes} bytes from {class}, about {cost} {currency}")
    });
    let early = charges.early(table).into_iter().map(|charge| {
        let Charge { class, stored, cost, days_min } = charge;
        let (objects, cost) = (stored.objects, amount(cost));
        let noun = if objects == 1 { "object leaves" } else { "objects leave" };
        format!(
            "early removal: {objects} {noun} {class} before the {days_min} days that it bills, up \
             to {cost} {currency}"
        )
    });
    storage.chain(unpriced).chain(retrieval).chain(early).collect()
}

fn priced_text(counts: RequestCounts, cost: f64, table: &PriceTable) -> String {
    let RequestCounts { write, read, delete } = counts;
    let (cost, currency) = (amount(cost), &table.currency);
    format!(
        "{write} PUT/COPY/POST/LIST, {read} GET/HEAD and {delete} DELETE requests, about {cost} \
         {currency}"
    )
}

/// What a job changes of what storage costs, for programs.
#[derive(Serialize)]
pub(crate) struct Changes {
    /// A month of what is written; nothing where a class of it has no price.
    storage_month: Option<f64>,
    retrieval: f64,
    early_removal: f64,
}

impl Changes {
    /// At the prices of a table.
    pub(crate) fn of(charges: &Charges, table: &PriceTable) -> Self {
        let is_priced = charges.unpriced(table).is_empty();
        Self {
            storage_month: is_priced.then(|| sum(charges.storage(table))),
            retrieval: sum(charges.retrieval(table)),
            early_removal: sum(charges.early(table)),
        }
    }
}

/// The line for programs.
pub(crate) fn push_json(
    buffer: &mut Vec<u8>,
    summary: &Summary,
    changes: &Charges,
    table: &PriceTable,
) {
    let priced = |counts, price| Priced { requests: Requests::of(counts), price };
    let fields = EstimateLine {
        would_send: priced(whole(summary), whole_cost(summary, changes, table)),
        sent: priced(summary.requests_sent, table.cost(summary.requests_sent)),
        changes: Changes::of(changes, table),
        currency: &table.currency,
        prices: &table.name,
    };
    json::push(buffer, "estimate", fields);
}

fn sum<'a>(charges: impl IntoIterator<Item = Charge<'a>>) -> f64 {
    charges.into_iter().fold(0.0, |sum, charge| sum + charge.cost)
}

/// An amount with as many digits as it is worth.
pub(crate) fn amount(cost: f64) -> String {
    match cost {
        1.0.. | 0.0 => format!("{cost:.2}"),
        0.000_000_5.. => format!("{cost:.6}"),
        _ => "less than 0.000001".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_for_people_and_for_programs() {
        let summary = Summary {
            requests_planned: RequestCounts { write: 300_000, read: 0, delete: 2 },
            requests_sent: RequestCounts { write: 3, read: 0, delete: 0 },
            ..Summary::default()
        };
        let table = PriceTable::default();
        assert_eq!(
            lines(&summary, &Charges::default(), &table),
            [
                "estimate: the command would send 300003 PUT/COPY/POST/LIST, 0 GET/HEAD and 2 \
                 DELETE requests, about 1.50 USD (S3 in us-east-1, without the data's \
                 transfer)",
                "estimate: this dry run sent 3 PUT/COPY/POST/LIST, 0 GET/HEAD and 0 DELETE \
                 requests, about 0.000015 USD",
            ]
        );
        let mut buffer = Vec::new();
        push_json(
            &mut buffer,
            &summary,
            &Charges::default(),
            &PriceTable { write: 1000.0, ..table },
        );
        assert_eq!(
            String::from_utf8(buffer).unwrap(),
            "{\"v\":1,\"event\":\"estimate\",\"would_send\":{\"put_copy_post_list\":300003,\
             \"get_head\":0,\"delete\":2,\"price\":300003.0},\"sent\":{\"put_copy_post_list\":3,\
             \"get_head\":0,\"delete\":0,\"price\":3.0},\"storage_month\":0.0,\"retrieval\":0.0,\
             \"early_removal\":0.0,\"currency\":\"USD\",\
             \"prices\":\"S3 in us-east-1\"}\n"
        );
    }
}
