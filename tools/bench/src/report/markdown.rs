//! The page that people read: an overview of ratios, then a table for each workload.

use std::fmt::Write as _;

use super::figures::{BARE, Figures, Group, OURS, Row, Table};
use crate::record::Place;
use support::term;

const INTRODUCTION: &str = "\
# Benchmarks

Made by `make bench`: each tool in turn (A B C A B C …) behind a warm-up round, client and server \
on one machine, files in memory (`/dev/shm`) up to 2 GiB of them. The medians of the rounds are \
shown; all runs are in `runs.jsonl`, the figures of the tables in `results.json`. What takes long \
runs once only (`--once-above`, 3 s unless a command below says otherwise). Where several \
commands are below, tools of one table may have run at different times. Of each run it is checked \
that objects arrived under their names and with their sizes, that as many were deleted or listed \
as there are, of syncs also that nothing else was written, and of downloads some of the content. \
`bare` is a loop that does only what must be done (hash, sign, send, receive), without planning, \
checking, files of many objects, retries and output; `bare-files` also opens, reads or writes and \
closes each small file. CPU time is the client's, user and system; requests are those that \
reached the server, where it counts them. A ratio of 3 is three times what `s3haul` (or `bare`) \
needs for the same amount of work.
";

/// The whole page; `about` is what the runs were made with.
pub(super) fn page(tables: &[Table], about: &str) -> String {
    let mut page = String::from(INTRODUCTION);
    if !about.is_empty() {
        let _ = write!(page, "\n{}\n", about.trim());
    }
    overview(tables, &mut page);
    for table in tables {
        section(table, &mut page);
    }
    page
}

/// Ratios to ours of every tool, a line for each workload and place.
fn overview(tables: &[Table], page: &mut String) {
    let mut tools: Vec<&str> = Vec::new();
    for row in tables.iter().flat_map(|table| &table.groups).flat_map(|group| &group.rows) {
        let is_peer = row.tool != OURS && row.figures.is_some();
        if is_peer && !tools.contains(&row.tool.as_str()) {
            tools.push(&row.tool);
        }
    }
    page.push_str("\n## Overview: wall time / CPU time next to s3haul's\n\n| workload | at |");
    page.extend(tools.iter().map(|tool| format!(" {tool} |")));
    page.push_str("\n|---|---|");
    page.push_str(&"---|".repeat(tools.len()));
    page.push('\n');
    for table in tables {
        for group in table.groups.iter().filter(|group| group.of(OURS).is_some()) {
            let _ = write!(page, "| {} | {} |", table.workload, place(&group.place));
            for tool in &tools {
                let text = group.of(tool).map_or_else(String::new, ratios);
                let _ = write!(page, " {text} |");
            }
            page.push('\n');
        }
    }
}

fn ratios(figures: &Figures) -> String {
    format!("{} / {}", times(figures.wall_to_ours), times(figures.cpu_to_ours))
}

/// The table of a workload; where the bare loop has no part in it, without the ratio to that.
pub(crate) fn section(table: &Table, page: &mut String) {
    let has_bare = table.groups.iter().any(|group| group.of(BARE).is_some());
    let _ = writeln!(page, "\n## {}: {}", table.workload, escaped(&table.title));
    for group in &table.groups {
        let other =
            if group.title == table.title { String::new() } else { format!(" ({})", group.title) };
        let _ = write!(page, "\n{}{}:\n\n", place(&group.place), escaped(&other));
        let _ = writeln!(
            page,
            "| tool | wall s | {} | peak MiB | requests | wall to s3haul | CPU to s3haul |{} |\n\
             |---|---|---|---|---|---|---|{}---|",
            table.cpu_unit(),
            if has_bare { " CPU to bare |" } else { "" },
            if has_bare { "---|" } else { "" },
        );
        for row in &group.rows {
            page.push_str(&line(group, row, has_bare));
        }
    }
}

fn line(group: &Group, row: &Row, has_bare: bool) -> String {
    let mut remarks: Vec<String> = row.remark.iter().map(|text| escaped(text)).collect();
    let reference = group.rows.iter().find(|row| row.tool == OURS).map(|row| row.amount);
    if row.figures.is_some() && reference.is_some_and(|amount| amount > row.amount) {
        remarks.push(format!("with {} only", amount(row.amount)));
    }
    if row.figures.as_ref().is_some_and(|figures| figures.rounds == 1) {
        remarks.push("one run".to_owned());
    }
    let remark = remarks.join("; ");
    let Some(figures) = &row.figures else {
        let bare = if has_bare { " |" } else { "" };
        return format!("| {} | | | | | | |{bare} {remark} |\n", row.tool);
    };
    let to_bare = if row.tool == BARE { String::new() } else { times(figures.cpu_to_bare) };
    let requests = figures.requests.map_or_else(String::new, term::count);
    format!(
        "| {} | {} | {} | {:.0} | {requests} | {} | {} |{} {remark} |\n",
        row.tool,
        seconds(figures.wall_s.median),
        short(figures.cpu_each),
        figures.peak_mib,
        times(figures.wall_to_ours),
        times(figures.cpu_to_ours),
        if has_bare { format!(" {to_bare} |") } else { String::new() },
    )
}

/// `embedded, 10 ms, TLS`.
pub(super) fn place(place: &Place) -> String {
    let tls = if place.is_tls { ", TLS" } else { "" };
    format!("{}, {} ms{tls}", place.server, place.latency_ms)
}

/// Seconds, with more digits of few.
fn seconds(value: f64) -> String {
    if value < 0.1 { format!("{value:.4}") } else { format!("{value:.2}") }
}

/// Three digits or a little more.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// A ratio, with two or three digits; empty where there is none.
pub(crate) fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(String::new, |ratio| match ratio {
        ratio if ratio >= 20.0 => format!("{ratio:.0}"),
        ratio if ratio >= 3.0 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.2}"),
    })
}

fn amount(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { short(value) }
}

/// Text of tools in a table's cell.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('<', "\\<").replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_about_three_digits() {
        assert_eq!([3801.2, 52.34, 1.234, 0.1234].map(short), ["3801", "52.3", "1.23", "0.123"]);
        assert_eq!([61.26, 4.26, 1.299].map(|ratio| times(Some(ratio))), ["61", "4.3", "1.30"]);
    }

    #[test]
    fn text_of_tools_cannot_leave_its_cell() {
        assert_eq!(escaped("a|b\nc<d"), "a\\|b c\\<d");
    }
}
