//! The page and the dashboard are held against the names.

use std::collections::BTreeSet;

use super::*;
use crate::settings::RESERVED_LABELS;

fn read(path: &str) -> String {
    let path = format!("{}/../../docs/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn names_are_as_prometheus_has_them() {
    let mut seen = BTreeSet::new();
    for metric in ALL {
        assert!(seen.insert(metric.name), "{} is there twice", metric.name);
        let is_counter = metric.kind == MetricType::COUNTER;
        assert_eq!(metric.name.ends_with("_total"), is_counter, "{}", metric.name);
        for label in metric.labels {
            assert!(RESERVED_LABELS.contains(label), "{label} of {}", metric.name);
        }
    }
}

/// Each metric has a row with its type, its labels and its meaning, and no other has one.
#[test]
fn the_page_has_each_metric() {
    let page = read("metrics.md");
    let row = |metric: &Metric| {
        let kind = format!("{:?}", metric.kind).to_lowercase();
        let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let help = metric.help.trim_end_matches('.');
        format!("| `{}` | {kind} | {} | {help} |", metric.name, labels.join(", "))
    };
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| `s3haul_")).collect();
    for metric in ALL {
        assert!(rows.contains(&&*row(metric)), "docs/metrics.md lacks:\n{}", row(metric));
    }
    assert_eq!(rows.len(), ALL.len());
}

/// The names that a text holds.
fn names_in(text: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_name(c));
    words.filter(|word| word.starts_with("s3haul_")).collect()
}

#[test]
fn the_dashboard_and_the_page_use_only_names_that_exist() {
    let dashboard: serde_json::Value = serde_json::from_str(&read("grafana/s3haul.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let expressions: Vec<_> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(expressions.len() >= 10);
    let page = read("metrics.md");
    let mut used = BTreeSet::new();
    for text in expressions.iter().copied().chain([&*page]) {
        for name in names_in(text) {
            let is_known = ALL.iter().any(|metric| match metric.kind {
                MetricType::HISTOGRAM => {
                    let end = name.strip_prefix(metric.name);
                    matches!(end, Some("" | "_bucket" | "_sum" | "_count"))
                }
                _ => name == metric.name,
            });
            assert!(is_known, "no metric is called {name}: {text}");
            used.insert(name);
        }
    }
    assert!(used.len() > 10);
}
