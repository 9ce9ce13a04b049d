//! What `check-server` prints.

use std::time::Duration;

use s3haul::probe::{Finding, Group, Outcome, Report, Weight};
use serde::Serialize;

use super::escape::push_name;
use super::json;

/// What was found, and at what cost.
pub(crate) struct Checked<'a> {
    /// What the user calls the service.
    pub(crate) name: Option<&'a str>,
    /// Where it is, unless it is Amazon's.
    pub(crate) endpoint: Option<&'a str>,
    /// What was found.
    pub(crate) report: &'a Report,
    /// Requests sent.
    pub(crate) requests: u64,
    /// Time from the first request to the last.
    pub(crate) elapsed: Duration,
    /// What could not be removed.
    pub(crate) left: &'a [String],
}

impl Checked<'_> {
    /// The name of the service: what the user says, what it says itself, or where it is.
    fn service(&self) -> &str {
        let header = Some(self.report.server.as_str()).filter(|server| !server.is_empty());
        self.name.or(header).or(self.endpoint).unwrap_or("Amazon S3")
    }
}

/// Characters of the column with names.
const NAME_WIDTH: usize = 22;

/// A table, what follows in words, a profile where one is needed, and the row of the matrix.
pub(crate) fn push_text(buffer: &mut Vec<u8>, checked: &Checked<'_>, escape: bool) {
    let report = checked.report;
    for group in Group::ALL {
        push_name(buffer, &format!("{}\n", group.name()), false);
        for finding in report.findings.iter().filter(|finding| finding.probe.group == group) {
            push_line(buffer, finding, escape);
        }
    }
    let (holding, skipped) = (report.holding(), report.skipped());
    let asked = report.findings.len() - skipped;
    let seconds = checked.elapsed.as_secs_f64();
    let others = |count: usize, what: &str| match count {
        0 => String::new(),
        count => format!(", {count} {what}"),
    };
    let others = others(report.unknown(), "had no answer") + &others(skipped, "could not be asked");
    let summary = format!(
        "\n{}: {holding} of {asked} hold{others} ({} requests, {seconds:.1} s)\n",
        checked.service(),
        checked.requests
    );
    push_lines(buffer, &summary, escape);
    push_consequences(buffer, report);
    let profile = report.profile();
    if !profile.is_empty() {
        push_lines(buffer, "\nin the profile of this service (~/.aws/config):\n", false);
        for line in profile {
            push_lines(buffer, &format!("  {line}\n"), false);
        }
    }
    let row = format!(
        "\nrow of the matrix of services:\n{}\n{}\n",
        Report::matrix_head(),
        report.matrix_row(checked.service())
    );
    push_lines(buffer, &row, escape);
}

fn push_line(buffer: &mut Vec<u8>, finding: &Finding, escape: bool) {
    let mark = match finding.outcome {
        Outcome::Holds => "ok   ",
        Outcome::Fails(_) => "FAILS",
        Outcome::Skipped(_) => "-    ",
        Outcome::Unknown(_) => "?    ",
    };
    let probe = finding.probe;
    let line = format!("  {mark}  {:NAME_WIDTH$}  {}\n", probe.name, probe.expects);
    push_lines(buffer, &line, false);
    let detail = finding.outcome.detail();
    if !detail.is_empty() {
        push_lines(buffer, &format!("         {:NAME_WIDTH$}  found: {detail}\n", ""), escape);
    }
}

/// What follows for s3haul and its user, the worst first.
fn push_consequences(buffer: &mut Vec<u8>, report: &Report) {
    let titles = [
        (Weight::Data, "\nbeware: data is at stake\n"),
        (Weight::Feature, "\nwhat of s3haul will not work, or not as well\n"),
        (Weight::Nothing, "\ns3haul does without, but you should know\n"),
    ];
    let failing = report.failing();
    for (weight, title) in titles {
        let mut of_weight = failing.iter().filter(|it| it.probe.weight == weight).peekable();
        if of_weight.peek().is_some() {
            push_lines(buffer, title, false);
        }
        for finding in of_weight {
            let line = format!("  {}: {}\n", finding.probe.name, finding.probe.without);
            push_lines(buffer, &line, false);
        }
    }
    if report.is_sound() {
        push_lines(buffer, "all that s3haul relies on is there\n", false);
    }
}

/// Appends lines; what stands within them is escaped.
fn push_lines(buffer: &mut Vec<u8>, lines: &str, escape: bool) {
    for line in lines.split_inclusive('\n') {
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        push_name(buffer, text, escape);
        buffer.extend_from_slice(end.as_bytes());
    }
}

/// The row of the matrix.
pub(crate) fn push_markdown(buffer: &mut Vec<u8>, checked: &Checked<'_>) {
    let row = checked.report.matrix_row(checked.service());
    buffer.extend_from_slice(row.as_bytes());
    buffer.push(b'\n');
}

#[derive(Serialize)]
struct Document<'a> {
    service: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint_url: Option<&'a str>,
    server: &'a str,
    sound: bool,
    holding: usize,
    probes: Vec<Row<'a>>,
    profile: Vec<&'static str>,
    row: String,
    requests: u64,
    elapsed_ms: u64,
    left: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'static str,
    group: &'static str,
    outcome: &'static str,
    weight: &'static str,
    expects: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    found: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    without: &'static str,
}

/// One document.
pub(crate) fn push_json(buffer: &mut Vec<u8>, checked: &Checked<'_>) {
    let report = checked.report;
    let probes = report.findings.iter().map(|finding| {
        let probe = finding.probe;
        let holds = finding.outcome == Outcome::Holds;
        Row {
            name: probe.name,
            group: probe.group.name(),
            outcome: finding.outcome.name(),
            weight: probe.weight.name(),
            expects: probe.expects,
            found: finding.outcome.detail(),
            without: if holds { "" } else { probe.without },
        }
    });
    let document = Document {
        service: checked.service(),
        endpoint_url: checked.endpoint,
        server: &report.server,
        sound: report.is_sound(),
        holding: report.holding(),
        probes: probes.collect(),
        profile: report.profile(),
        row: report.matrix_row(checked.service()),
        requests: checked.requests,
        elapsed_ms: u64::try_from(checked.elapsed.as_millis()).unwrap_or(u64::MAX),
        left: checked.left,
    };
    json::push(buffer, "check_server", document);
}

#[cfg(test)]
mod tests {
    use s3haul::probe::catalogue;

    use super::*;

    #[test]
    fn what_follows_is_said_also_where_s3haul_does_without() {
        let findings = catalogue().map(|probe| {
            let outcome = match probe.name {
                "signature" => Outcome::Fails("it returns the object".to_owned()),
                "versions" => Outcome::Skipped("it is named".to_owned()),
                _ => Outcome::Holds,
            };
            Finding { probe, outcome }
        });
        let report = Report { server: String::new(), findings: findings.collect() };
        let checked = Checked {
            name: Some("it"),
            endpoint: None,
            report: &report,
            requests: 1,
            elapsed: Duration::ZERO,
            left: &[],
        };
        let mut buffer = Vec::new();
        push_text(&mut buffer, &checked, false);
        let text = String::from_utf8(buffer).unwrap();
        let all = report.findings.len();
        let expected = format!(
            "\nit: {} of {} hold, 1 could not be asked (1 requests, 0.0 s)\n\n\
             s3haul does without, but you should know\n  signature: Anyone on the network of the \
             service can read and change the data.\nall that s3haul relies on is there\n",
            all - 2,
            all - 1
        );
        assert!(text.contains(&expected), "{text}");
    }
}
