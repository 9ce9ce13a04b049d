//! What may and what may not have become of a job: the reference. Pure.

use super::plan::{Plan, Route, Verb};
use super::tree::Contents;

/// How the command names files that it has not finished.
const TEMPORARY_END: &str = ".s3haul-tmp";
/// How many problems a message names.
const SHOWN_MAX: usize = 6;

/// What is there.
pub(super) struct State {
    pub(super) source: Contents,
    pub(super) target: Contents,
    /// All else in the bucket and the folder.
    pub(super) others: Contents,
}

/// Contents that no job has any business with.
pub(super) fn bystanders() -> Contents {
    let names = ["from.txt", "fromage/x", "to.txt", "tomorrow/y"];
    names.into_iter().map(|name| (name.to_owned(), name.as_bytes().to_vec())).collect()
}

/// All that is wrong when the kill has struck; empty where nothing is.
pub(super) fn after_kill(plan: &Plan, state: &State) -> Vec<String> {
    let mut wrong = strangers(plan, state);
    for (name, content) in &plan.source {
        wrong.extend(of_object(plan, state, name, content).map(|what| format!("{name}: {what}")));
    }
    for (name, content) in plan.target.iter().filter(|(name, _)| !plan.source.contains_key(*name)) {
        match state.target.get(name) {
            Some(found) if found != content => wrong.push(format!("{name}: torn")),
            None if !plan.deletes => wrong.push(format!("{name}: LOST, nothing removes it")),
            _ => {}
        }
    }
    wrong.truncate(SHOWN_MAX);
    wrong
}

/// An object and its copy are the old or the new, whole, and one of them is there.
fn of_object(plan: &Plan, state: &State, name: &str, content: &Vec<u8>) -> Option<String> {
    let (source, target) = (state.source.get(name), state.target.get(name));
    let has_arrived = target == Some(content);
    match source {
        Some(found) if found != content => return Some(difference("the source", found, content)),
        None if plan.verb == Verb::Remove => {}
        None if plan.verb != Verb::Move => return Some("LOST: the source is gone".to_owned()),
        None if !has_arrived => return Some("LOST: the source is gone, not arrived".to_owned()),
        _ => {}
    }
    if has_arrived || target == plan.target.get(name) {
        return None;
    }
    Some(match target {
        Some(found) => difference("the target", found, content),
        None => "LOST: what the target had is gone".to_owned(),
    })
}

fn difference(what: &str, found: &[u8], expected: &[u8]) -> String {
    let at = found.iter().zip(expected).position(|(left, right)| left != right);
    format!("{what} is torn: {} bytes for {}, apart at {at:?}", found.len(), expected.len())
}

/// All that is wrong when the command ran to its end, after all.
pub(super) fn at_end(plan: &Plan, state: &State) -> Vec<String> {
    let mut wrong = after_kill(plan, state);
    for (name, content) in &plan.source {
        let takes_source = matches!(plan.verb, Verb::Move | Verb::Remove);
        if takes_source && state.source.contains_key(name) {
            wrong.push(format!("{name}: the source is still there"));
        }
        if plan.route != Route::InPlace && state.target.get(name) != Some(content) {
            wrong.push(format!("{name}: not at the target"));
        }
    }
    let stays =
        |name: &&String| !plan.source.contains_key(*name) && plan.target.contains_key(*name);
    if plan.deletes {
        wrong.extend(state.target.keys().filter(stays).map(|name| format!("{name}: still there")));
    }
    wrong.extend(temporary_files(state).map(|name| format!("{name}: left behind")));
    wrong.truncate(SHOWN_MAX);
    wrong
}

/// Names of unfinished files.
pub(super) fn temporary_files(state: &State) -> impl Iterator<Item = &String> {
    state.target.keys().filter(|name| name.ends_with(TEMPORARY_END))
}

fn strangers(plan: &Plan, state: &State) -> Vec<String> {
    let is_known = |name: &String| {
        let is_temporary = plan.route == Route::Down && name.ends_with(TEMPORARY_END);
        plan.source.contains_key(name) || plan.target.contains_key(name) || is_temporary
    };
    let names = state.source.keys().chain(state.target.keys());
    let unknown =
        names.filter(|name| !is_known(name)).map(|name| format!("{name}: origin unknown"));
    let mut wrong: Vec<_> = unknown.collect();
    if state.others != bystanders() {
        wrong.push(format!("bystanders: {:?}", state.others.keys().collect::<Vec<_>>()));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(matches: impl Fn(&Plan) -> bool) -> (Plan, State) {
        let plan = (0..1000).map(Plan::of).find(|plan| matches(plan)).unwrap();
        let (source, target) = (plan.source.clone(), plan.target.clone());
        (plan, State { source, target, others: bystanders() })
    }

    #[test]
    fn a_job_that_did_nothing_harmed_nothing_and_is_not_done() {
        let (plan, state) = plan(|plan| plan.verb == Verb::Move && !plan.target.is_empty());
        assert!(after_kill(&plan, &state).is_empty());
        assert!(!at_end(&plan, &state).is_empty());
    }

    #[test]
    fn a_job_that_is_done_is_right() {
        let (plan, mut state) = plan(|plan| plan.verb == Verb::Move);
        state.target.append(&mut state.source);
        assert_eq!(at_end(&plan, &state), [""; 0]);
        state.target.insert(".x.s3haul-tmp".to_owned(), Vec::new());
        assert!(!at_end(&plan, &state).is_empty());
    }

    #[test]
    fn what_is_lost_torn_or_strange_is_seen() {
        let check = |spoil: fn(&Plan, &mut State)| {
            let (plan, mut state) = plan(|plan| {
                plan.verb == Verb::Move && plan.target.keys().any(|name| name.contains("90"))
            });
            spoil(&plan, &mut state);
            after_kill(&plan, &state).join(" ")
        };
        assert!(check(|_, state| _ = state.source.pop_first()).contains("LOST"));
        assert!(check(|_, state| state.target.clear()).contains("LOST"));
        let torn = check(|_, state| state.source.values_mut().for_each(|bytes| bytes.push(0)));
        assert!(torn.contains("torn"));
        let torn = check(|_, state| state.target.values_mut().for_each(|bytes| bytes.push(0)));
        assert!(torn.contains("torn"));
        assert!(check(|_, state| state.others.clear()).contains("bystanders"));
        let strange = check(|_, state| _ = state.target.insert("new".to_owned(), Vec::new()));
        assert!(strange.contains("origin unknown"));
    }
}
