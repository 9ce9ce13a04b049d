//! What may and what may not have become of a job: the reference.

#![expect(unreachable_pub, reason = "a test has no outside")]

use std::collections::BTreeMap;

use s3haul::job::TransferCommand;
use s3haul_sim::FaultKind;

use super::plan::{Plan, Route};
use super::run::{Aftermath, End, bystanders};
use crate::world::PART;

/// Attempts of a request that a client makes at most, and times that an object is begun anew.
const ATTEMPTS_MAX: usize = 10 * 3;
/// Faults after which a server may have begun an upload of which the client does not know.
const LOSES_ANSWERS: [&str; 6] =
    ["lost-response", "reset-after", "truncate", "pause", "stall", "corrupt-byte"];

/// All that is wrong; empty where nothing is.
pub fn violations(plan: &Plan, after: &Aftermath) -> Vec<String> {
    let mut wrong = Vec::new();
    if after.is_hung {
        wrong.push("the job does not end".to_owned());
    }
    for name in plan.source.keys() {
        wrong.extend(of_object(plan, after, name).map(|problem| format!("{name}: {problem}")));
    }
    for (name, content) in &plan.target {
        if !plan.source.contains_key(name) {
            let problem = of_extra(plan, after, name, content);
            wrong.extend(problem.map(|problem| format!("{name}: {problem}")));
        }
    }
    wrong.extend(of_strangers(plan, after));
    wrong.extend(of_summary(plan, after));
    wrong.extend(of_requests(plan, after));
    wrong.extend(of_memory(plan, after));
    wrong
}

fn ends<'a>(ends: &'a BTreeMap<String, Vec<End>>, name: &str) -> &'a [End] {
    ends.get(name).map_or(&[], Vec::as_slice)
}

/// Contents that an object of the source was given, the last one last.
fn versions<'a>(plan: &'a Plan, name: &str) -> Vec<&'a Vec<u8>> {
    let meddled = plan.meddling.as_ref().filter(|meddling| meddling.name == name);
    plan.source.get(name).into_iter().chain(meddled.map(|meddling| &meddling.content)).collect()
}

/// Where a content differs from each of those that it could be.
fn apart(found: &[u8], versions: &[&Vec<u8>]) -> String {
    let place = |version: &&Vec<u8>| {
        let differs = |at: &usize| found.get(*at) != version.get(*at);
        let count = (0..found.len().max(version.len())).filter(differs).count();
        let first = (0..found.len().max(version.len())).find(differs);
        format!("{} bytes, {count} differ, the first at {first:?}", version.len())
    };
    format!("{} bytes of {:?}", found.len(), versions.iter().map(place).collect::<Vec<_>>())
}

/// What is wrong with an object of the source.
fn of_object(plan: &Plan, after: &Aftermath, name: &str) -> Option<String> {
    if plan.route == Route::InPlace {
        return of_object_in_place(plan, after, name);
    }
    let versions = versions(plan, name);
    let (source, target) = (after.source.get(name), after.target.get(name));
    let before = plan.target.get(name);
    let reported = ends(&after.reported.transfers, name);
    let is_new = target.is_some_and(|found| versions.contains(&found));
    if target != before && !is_new {
        return Some(match target {
            None => "what the target had is lost".to_owned(),
            Some(found) => {
                format!("the target is torn, reported {reported:?}: {}", apart(found, &versions))
            }
        });
    }
    match source {
        Some(source) if !versions.contains(&source) => {
            return Some("the source is torn".to_owned());
        }
        None if plan.command != TransferCommand::Move => return Some("the source is gone".into()),
        None if !is_new => return Some("LOST: the source is gone and never arrived".to_owned()),
        None if after.is_meddled && versions.len() > 1 && target != versions.last().copied() => {
            return Some("LOST: what replaced the source is gone".to_owned());
        }
        _ => {}
    }
    if reported.len() > 1 {
        return Some(format!("reported {reported:?}"));
    }
    let is_done = reported.contains(&End::Done);
    if is_done && !is_new {
        return Some("reported done but is not".to_owned());
    }
    if plan.keeps && before.is_some() && target != before {
        return Some("replaced, and should have been kept".to_owned());
    }
    // A server that calls an object missing that is there has it its way: it stays.
    let lies = plan.scenario.faults.iter().any(|rule| rule.fault == FaultKind::NotFound);
    let stays = source.is_some() && versions.len() == 1 && !lies;
    if plan.command == TransferCommand::Move && is_done && stays {
        return Some("reported moved but still there".to_owned());
    }
    if plan.must_finish() && reported.contains(&End::Failed) {
        return Some(format!("failed although all passes: {:?}", after.reported.failures));
    }
    if plan.must_finish() && !is_new && !(plan.keeps && before.is_some()) {
        let is_same_size = before.is_some_and(|old| old.len() == plan.source[name].len());
        if !(plan.command == TransferCommand::Sync && is_same_size) {
            return Some(format!(
                "not there, reported {reported:?}: {:?}",
                after.reported.failures
            ));
        }
    }
    None
}

fn of_object_in_place(plan: &Plan, after: &Aftermath, name: &str) -> Option<String> {
    let found = after.source.get(name);
    if found.is_some_and(|found| *found != plan.source[name]) {
        return Some("torn".to_owned());
    }
    let is_removal = plan.command == TransferCommand::Remove;
    let reported =
        ends(if is_removal { &after.reported.removals } else { &after.reported.transfers }, name);
    let is_done = reported == [End::Done];
    let has_happened = if is_removal {
        found.is_none()
    } else if found.is_none() {
        return Some("gone".to_owned());
    } else {
        after.tagged.iter().any(|tagged| tagged == name)
    };
    if is_done && !has_happened {
        return Some("reported done but is not".to_owned());
    }
    if plan.must_finish() && !is_done {
        return Some(format!("not done, reported {reported:?}: {:?}", after.reported.failures));
    }
    None
}

/// What is wrong with an object that only the target had.
fn of_extra(plan: &Plan, after: &Aftermath, name: &str, content: &[u8]) -> Option<String> {
    let reported = ends(&after.reported.removals, name);
    match after.target.get(name) {
        Some(found) if found != content => Some("torn".to_owned()),
        Some(_) if reported.contains(&End::Done) => {
            Some("reported removed but still there".to_owned())
        }
        Some(_) if plan.deletes && plan.must_finish() => {
            Some(format!("still there: {:?}", after.reported.failures))
        }
        None if !plan.deletes => Some("LOST: removed".to_owned()),
        None if reported.is_empty() && plan.cancelled_after.is_none() => {
            Some("removed but not reported".to_owned())
        }
        _ => None,
    }
}

/// Uploads that the client may not know of, or could not abort.
pub fn unknown_uploads(records: &[s3haul_sim::Record]) -> usize {
    let may_be_unknown = |record: &&s3haul_sim::Record| {
        let is_cleanup =
            record.operation == "AbortMultipartUpload" && ![204, 404].contains(&record.status);
        let begins = record.operation == "CreateMultipartUpload";
        is_cleanup || (begins && LOSES_ANSWERS.contains(&record.fault))
    };
    records.iter().filter(may_be_unknown).count()
}

/// Names that should not be there, or should.
fn of_strangers(plan: &Plan, after: &Aftermath) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut expected = bystanders();
    expected.sort();
    let mut others = after.others.clone();
    others.sort();
    if others != expected {
        wrong.push(format!("instead of the bystanders there are {others:?}"));
    }
    let is_known =
        |name: &&String| plan.source.contains_key(*name) || plan.target.contains_key(*name);
    for name in after.source.keys().chain(after.target.keys()).filter(|name| !is_known(name)) {
        wrong.push(format!("left behind: {name}"));
    }
    let unknown = unknown_uploads(&after.records);
    if after.open_uploads > unknown {
        wrong.push(format!("{} uploads are open, {unknown} may be", after.open_uploads));
    }
    wrong
}

fn of_summary(plan: &Plan, after: &Aftermath) -> Vec<String> {
    let mut wrong = Vec::new();
    let Some(summary) = &after.summary else {
        if plan.must_finish() {
            wrong.push(format!("nothing was begun: {:?}", after.reported.failures));
        }
        return wrong;
    };
    let all =
        || after.reported.transfers.values().chain(after.reported.removals.values()).flatten();
    let count = |end| all().filter(|reported| **reported == end).count() as u64;
    let reported =
        (count(End::Done), count(End::Failed), count(End::Skipped), after.reported.warnings);
    let failed = summary.failed + summary.not_tried;
    let summed = (summary.done, failed, summary.skipped, summary.warnings);
    if reported.0 != summed.0 || reported.1 != summed.1 || reported.2 != summed.2 {
        wrong.push(format!("reported {reported:?}, summed up {summed:?}"));
    }
    let (moved, removed) = (after.reported.bytes_moved, after.reported.bytes_removed);
    let is_exact = plan.command != TransferCommand::Tag;
    if (is_exact && after.reported.moved != moved as i64) || summary.bytes != moved + removed {
        wrong.push(format!(
            "{} bytes in progress, {moved} moved, {removed} removed, {} summed up",
            after.reported.moved, summary.bytes
        ));
    }
    if plan.must_finish() && (summary.fatal || summary.failed > 0) {
        wrong.push(format!("failed although all passes: {:?}", after.reported.failures));
    }
    let sent = summary.requests_sent;
    let sent = sent.read + sent.write + sent.delete;
    let arrived = after.records.len() as u64;
    // A request over a connection that the server has left never arrives, nor one that was given up
    // in the moment of its sending.
    let closes = after.records.iter().any(|record| record.status == 0 || !record.fault.is_empty());
    let may_be_lost = closes || plan.scenario.idle_close_ms > 0 || plan.cancelled_after.is_some();
    if sent < arrived || (sent != arrived && !may_be_lost) {
        wrong.push(format!("{sent} requests were counted, {arrived} arrived"));
    }
    wrong
}

fn of_requests(plan: &Plan, after: &Aftermath) -> Vec<String> {
    let mut wrong = Vec::new();
    // What the client has given up may be under way at the server for a moment.
    let is_left = |record: &s3haul_sim::Record| record.status == 0 || record.fault == "pause";
    let counts = plan.cancelled_after.is_none() && !after.records.iter().any(is_left);
    if counts && after.in_flight_max as usize > plan.requests_max {
        wrong.push(format!("{} requests at once", after.in_flight_max));
    }
    let mut tries: BTreeMap<_, usize> = BTreeMap::new();
    for record in &after.records {
        let what = (record.operation, &record.key, &record.prefix, &record.position);
        *tries.entry(what).or_default() += 1;
    }
    let many = plan.source.len() + plan.target.len();
    for ((operation, key, ..), count) in tries {
        let parts = if operation == "DeleteObjects" { many } else { 3 };
        if count > ATTEMPTS_MAX * parts {
            wrong.push(format!("{count} times {operation} {key}"));
        }
    }
    wrong
}

/// Small objects are held in memory from before they are asked for until after they are written:
/// the bytes that are on their way at once are no more than the budget.
fn of_memory(plan: &Plan, after: &Aftermath) -> Option<String> {
    if after.records.iter().any(|record| !record.fault.is_empty() || !record.ended) {
        // What the client has given up is none of its memory.
        return None;
    }
    let is_small = |key: &str| {
        let name = key.split_once('/').map_or(key, |(_, name)| name);
        plan.source.get(name).is_some_and(|content| (content.len() as u64) < PART)
    };
    let mut steps = Vec::new();
    for record in &after.records {
        let bytes = match record.operation {
            "GetObject" => record.response_bytes,
            "PutObject" => record.request_bytes,
            _ => 0,
        };
        if bytes > 0 && is_small(&record.key) {
            steps.push((record.at_us, bytes as i64));
            steps.push((record.at_us + record.duration_us, -(bytes as i64)));
        }
    }
    // What ends at a moment is gone before what begins at it.
    steps.sort_unstable();
    let (mut held, mut most) = (0, 0);
    for (_, bytes) in steps {
        held += bytes;
        most = most.max(held);
    }
    let budget = plan.memory_budget as i64;
    (most > budget).then(|| format!("{most} bytes at once, {budget} are the budget"))
}
