//! What scripts and templates say of the objects of a job: which are taken, and under which names.
//!
//! Two sources that would land on one name are found here, before anything is written: the names
//! of the whole job are kept as hashes of 128 bits, some 20 to 40 bytes an object. That is the only
//! thing in a job that grows with its objects, and it is there only with `--to-key`, or where a
//! prefix is moved to one above or below it. Within one bucket a new name may be the key of another
//! source, and what is written may come along in the listing: there the keys of all sources are
//! learned first, and only these are sources.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Limits, Program, Runtime, Template};
use crate::fs::collapse;
use s3haul_wire::error::{Error, ErrorKind, Result};
use s3haul_wire::ops::ListedObject;

/// How new names of objects are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToKey {
    /// By a function.
    Script(Program),
    /// By a template.
    Template(Template),
}

/// What is done with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is left out.
    Skip,
    /// It keeps the name it would have.
    Keep,
    /// It gets this name.
    Rename(String),
    /// It would get this name, which is taken.
    Collides(String),
}

/// An object and the name it would have at the target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) object: ListedObject<'a>,
    pub(crate) name: &'a str,
}

/// What kind of names there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// Keys of another bucket.
    Keys,
    /// Keys of the bucket that the sources are in.
    KeysOfSameBucket,
    /// The same where names are kept, and moved to keys that begin with this, some of which may be
    /// sources.
    KeysOfSameTree(String),
    /// Paths below a folder, where `a//b` is `a/b`.
    Paths,
}

/// Decides on objects.
pub(crate) struct Chooser {
    runtime: Option<Runtime>,
    to_key: Option<ToKey>,
    has_filter: bool,
    names: Names,
    is_move: bool,
    targets: Seen,
    sources: Seen,
    /// Objects that the function of `to-key` was called with.
    called: u64,
    /// Those of them that it named.
    named: u64,
}

impl std::fmt::Debug for Chooser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chooser").field("to_key", &self.to_key).finish_non_exhaustive()
    }
}

/// A chooser of several tasks.
pub(crate) type SharedChooser = Arc<Mutex<Chooser>>;

impl Chooser {
    /// None where there is nothing to decide.
    pub(crate) fn new(
        filter: Option<&Program>,
        to_key: Option<&ToKey>,
        names: Names,
        is_move: bool,
    ) -> Result<Option<SharedChooser>> {
        let script = match to_key {
            Some(ToKey::Script(program)) => Some(program),
            _ => None,
        };
        let programs: Vec<_> = filter.into_iter().chain(script).cloned().collect();
        let is_same_tree = matches!(names, Names::KeysOfSameTree(_));
        if programs.is_empty() && to_key.is_none() && !is_same_tree {
            return Ok(None);
        }
        let runtime = (!programs.is_empty())
            .then(|| Runtime::new(&programs, Limits::default()))
            .transpose()?;
        let hashers = Hashers::default();
        let seen = || Seen { hashers: hashers.clone(), hashes: HashSet::new() };
        let chooser = Self {
            runtime,
            to_key: to_key.cloned(),
            has_filter: filter.is_some(),
            names,
            is_move,
            targets: seen(),
            sources: seen(),
            called: 0,
            named: 0,
        };
        Ok(Some(Arc::new(Mutex::new(chooser))))
    }

    /// Decides on objects that are planned together. Blocks for as long as scripts take.
    pub(crate) fn choose(
        shared: &SharedChooser,
        candidates: &[Candidate<'_>],
    ) -> Result<Vec<Decision>> {
        let mut chooser = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut decisions = chooser.decide(candidates)?;
        chooser.find_collisions(candidates, &mut decisions);
        Ok(decisions)
    }

    fn decide(&mut self, candidates: &[Candidate<'_>]) -> Result<Vec<Decision>> {
        let objects = candidates.iter().map(|candidate| candidate.object);
        if let (Some(ToKey::Script(_)), Some(runtime)) = (&self.to_key, &mut self.runtime) {
            let names = candidates.iter().map(|candidate| candidate.name);
            let renamed = runtime.rename(objects, names)?;
            self.called += renamed.len() as u64;
            self.named += renamed.iter().flatten().count() as u64;
            let decision = |name: Option<String>| name.map_or(Decision::Skip, Decision::Rename);
            return Ok(renamed.into_iter().map(decision).collect());
        }
        let mut decisions = vec![Decision::Skip; candidates.len()];
        let selected = match &mut self.runtime {
            Some(runtime) if self.has_filter => runtime.select(objects)?,
            _ => (0..candidates.len()).collect(),
        };
        for index in selected {
            let Candidate { object, name } = candidates[index];
            decisions[index] = match &self.to_key {
                Some(ToKey::Template(template)) => {
                    Decision::Rename(fill(template, name, object.last_modified_s)?)
                }
                _ => Decision::Keep,
            };
        }
        Ok(decisions)
    }

    fn find_collisions(&mut self, candidates: &[Candidate<'_>], decisions: &mut [Decision]) {
        for (candidate, decision) in candidates.iter().zip(decisions) {
            if let (Decision::Keep, Names::KeysOfSameTree(root)) = (&decision, &self.names) {
                let key = candidate.object.key;
                if key.starts_with(root.as_str()) && !self.sources.contains(key) {
                    // It was moved there a moment ago.
                    *decision = Decision::Skip;
                } else if self.sources.contains(candidate.name) {
                    *decision = Decision::Collides(candidate.name.to_owned());
                }
                continue;
            }
            let Decision::Rename(name) = decision else { continue };
            let place = match self.names {
                Names::Paths => collapse(name),
                _ => Cow::Borrowed(name.as_str()),
            };
            if self.learns() && !self.sources.contains(candidate.object.key) {
                // It was not there when the sources were learned.
                *decision = Decision::Skip;
            } else if self.learns() && candidate.object.key == place.as_ref() {
                // Moving it onto itself could only remove it.
                if self.is_move {
                    *decision = Decision::Skip;
                }
            } else if self.sources.contains(&place) || !self.targets.insert(&place) {
                *decision = Decision::Collides(std::mem::take(name));
            }
        }
    }

    /// What to say of a job that has ended: a function that names no object may be wrong.
    pub(crate) fn warning(shared: &SharedChooser) -> Option<String> {
        let chooser = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let (objects @ 1.., 0) = (chooser.called, chooser.named) else { return None };
        let by = if chooser.has_filter { "`filter` and `to-key`" } else { "`to-key`" };
        let all = match objects {
            1 => "the one object".to_owned(),
            objects => format!("all {objects} objects"),
        };
        Some(format!(
            "{by} left out {all}: the function of `to-key` is called with the key \
             as text, `(key, object) => …`, and returns the new one"
        ))
    }

    fn learns(&self) -> bool {
        match self.names {
            Names::KeysOfSameTree(_) => true,
            Names::KeysOfSameBucket => self.to_key.is_some(),
            _ => false,
        }
    }

    /// Whether all sources have to be learned before any is decided on.
    pub(crate) fn needs_sources(shared: &SharedChooser) -> bool {
        shared.lock().unwrap_or_else(PoisonError::into_inner).learns()
    }

    /// Learns that a key may be that of a source, whatever the filter says.
    pub(crate) fn learn_name(shared: &SharedChooser, key: &str) {
        let mut chooser = shared.lock().unwrap_or_else(PoisonError::into_inner);
        chooser.sources.insert(key);
    }

    /// Learns which objects are sources. Blocks for as long as the filter takes.
    pub(crate) fn learn<'a>(
        shared: &SharedChooser,
        objects: impl Iterator<Item = ListedObject<'a>> + Clone,
    ) -> Result<()> {
        let mut chooser = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let chooser = &mut *chooser;
        let selected = match &mut chooser.runtime {
            Some(runtime) if chooser.has_filter => Some(runtime.select(objects.clone())?),
            _ => None,
        };
        for (index, object) in objects.enumerate() {
            // No other key can be that of a target.
            let may_be_target = match &chooser.names {
                Names::KeysOfSameTree(root) => object.key.starts_with(root.as_str()),
                _ => true,
            };
            let is_taken = |selected: &Vec<usize>| selected.binary_search(&index).is_ok();
            if may_be_target && selected.as_ref().is_none_or(is_taken) {
                chooser.sources.insert(object.key);
            }
        }
        Ok(())
    }
}

/// The new name; a request for an empty key would be one about the bucket.
fn fill(template: &Template, name: &str, last_modified_s: i64) -> Result<String> {
    let new_name = template.render(name, last_modified_s);
    if new_name.is_empty() {
        let message = format!("the `to-key` template makes an empty key of `{name}`");
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(new_name)
}

/// Texts that were seen, as hashes that cannot be made to collide on purpose.
struct Seen {
    hashers: Hashers,
    hashes: HashSet<u128>,
}

#[derive(Clone, Default)]
struct Hashers(RandomState, RandomState);

impl Seen {
    /// Adds a text; false where it was there.
    fn insert(&mut self, text: &str) -> bool {
        let hash = self.hash(text);
        self.hashes.insert(hash)
    }

    fn contains(&self, text: &str) -> bool {
        self.hashes.contains(&self.hash(text))
    }

    fn hash(&self, text: &str) -> u128 {
        let Hashers(high, low) = &self.hashers;
        u128::from(high.hash_one(text)) << 64 | u128::from(low.hash_one(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Role;

    fn choose(chooser: &SharedChooser, keys: &[&str]) -> Vec<Decision> {
        let candidates: Vec<_> =
            objects(keys).map(|object| Candidate { object, name: object.key }).collect();
        Chooser::choose(chooser, &candidates).unwrap()
    }

    fn objects<'a>(keys: &'a [&str]) -> impl Iterator<Item = ListedObject<'a>> + Clone {
        keys.iter().map(|key| {
            let size = key.len() as u64;
            ListedObject { key, size, ..ListedObject::default() }
        })
    }

    fn to_key(text: &str) -> ToKey {
        if text.starts_with("js:") {
            ToKey::Script(Program::compile(Role::ToKey, text).unwrap())
        } else {
            ToKey::Template(Template::parse(text).unwrap())
        }
    }

    fn renamed(name: &str) -> Decision {
        Decision::Rename(name.to_owned())
    }

    fn collides(name: &str) -> Decision {
        Decision::Collides(name.to_owned())
    }

    #[test]
    fn scripts_and_templates_name_what_the_filter_takes() {
        let filter = Program::compile(Role::Filter, "js:({Size}) => Size > 1").unwrap();
        for text in ["js:key => key + '.b'", "{key}.b"] {
            let chooser = Chooser::new(Some(&filter), Some(&to_key(text)), Names::Keys, true);
            let decisions = choose(&chooser.unwrap().unwrap(), &["a", "bb"]);
            assert_eq!(decisions, [Decision::Skip, renamed("bb.b")], "{text}");
        }
        let chooser = Chooser::new(Some(&filter), None, Names::Keys, true).unwrap().unwrap();
        assert_eq!(choose(&chooser, &["a", "bb"]), [Decision::Skip, Decision::Keep]);
        assert!(Chooser::new(None, None, Names::Keys, true).unwrap().is_none());
    }

    #[test]
    fn the_second_object_on_a_name_collides_also_in_a_later_batch() {
        let chooser =
            Chooser::new(None, Some(&to_key("{name}")), Names::Keys, true).unwrap().unwrap();
        assert_eq!(
            choose(&chooser, &["a/x", "b/x", "c"]),
            [renamed("x"), collides("x"), renamed("c")]
        );
        assert_eq!(choose(&chooser, &["d/c", "e"]), [collides("c"), renamed("e")]);
    }

    #[test]
    fn a_function_that_names_no_object_at_all_is_warned_of() {
        let warning = |function: &str, keys: &[&[&str]]| {
            let chooser = Chooser::new(None, Some(&to_key(function)), Names::Keys, true);
            let chooser = chooser.unwrap().unwrap();
            for keys in keys {
                choose(&chooser, keys);
            }
            Chooser::warning(&chooser)
        };
        let said = warning("js:object => object.key", &[&["a", "b"], &["c"]]).unwrap();
        assert!(said.starts_with("`to-key` left out all 3 objects: "), "{said}");
        assert_eq!(warning("js:object => object.key", &[]), None);
        assert_eq!(warning("js:key => key === 'c' && key", &[&["a", "b"], &["c"]]), None);
        assert_eq!(warning("{key}", &[&["a"]]), None);
    }

    #[test]
    fn an_empty_name_is_an_error() {
        let chooser = Chooser::new(None, Some(&to_key("{ext}")), Names::Keys, true);
        let chooser = chooser.unwrap().unwrap();
        let candidate = |object| Candidate { object, name: "a" };
        let candidates: Vec<_> = objects(&["a"]).map(candidate).collect();
        let error = Chooser::choose(&chooser, &candidates).unwrap_err();
        assert!(error.to_string().contains("empty key of `a`"), "{error}");
    }

    #[test]
    fn paths_that_are_one_file_collide() {
        let script = to_key("js:key => key[0] === '1' ? 'a//b' : './a/b'");
        let chooser = Chooser::new(None, Some(&script), Names::Paths, true).unwrap().unwrap();
        assert_eq!(choose(&chooser, &["1", "2"]), [renamed("a//b"), collides("./a/b")]);
    }

    #[test]
    fn within_a_bucket_no_source_is_a_target_and_nothing_new_a_source() {
        let next = to_key("js:key => key.replace(/\\d+/, n => +n + 1)");
        let odd = Program::compile(Role::Filter, "js:key => !/4/.test(key.Key)").unwrap();
        let chooser = Chooser::new(Some(&odd), Some(&next), Names::KeysOfSameBucket, true);
        let chooser = chooser.unwrap().unwrap();
        assert!(Chooser::needs_sources(&chooser));
        Chooser::learn(&chooser, objects(&["f1", "f2", "f3", "f4", "f7"])).unwrap();
        let decisions = choose(&chooser, &["f1", "f2"]);
        assert_eq!(decisions, [collides("f2"), collides("f3")]);
        // The filter leaves `f4` out, and `f8` came while the job ran.
        let decisions = choose(&chooser, &["f3", "f4", "f7", "f8"]);
        assert_eq!(decisions, [renamed("f4"), Decision::Skip, renamed("f8"), Decision::Skip]);
        let other = Chooser::new(None, Some(&next), Names::Keys, true).unwrap().unwrap();
        assert!(!Chooser::needs_sources(&other));
        assert_eq!(choose(&other, &["f1", "f2"]), [renamed("f2"), renamed("f3")]);
    }

    #[test]
    fn within_a_tree_no_source_is_a_target_and_what_was_moved_is_no_source() {
        let names = Names::KeysOfSameTree("a/old/".to_owned());
        let chooser = Chooser::new(None, None, names, true).unwrap().unwrap();
        assert!(Chooser::needs_sources(&chooser));
        Chooser::learn(&chooser, objects(&["a/f", "a/g", "a/old/f"])).unwrap();
        let moved = |key| Candidate {
            object: ListedObject { key, ..ListedObject::default() },
            name: match key {
                "a/f" => "a/old/f",
                "a/g" => "a/old/g",
                "a/old/f" => "a/old/old/f",
                _ => "a/old/old/g",
            },
        };
        let decisions =
            Chooser::choose(&chooser, &["a/f", "a/g", "a/old/f", "a/old/g"].map(moved)).unwrap();
        let keep = Decision::Keep;
        assert_eq!(decisions, [collides("a/old/f"), keep.clone(), keep, Decision::Skip]);
    }

    #[test]
    fn what_keeps_its_key_is_copied_but_not_moved() {
        for (is_move, expected) in [(true, Decision::Skip), (false, renamed("a"))] {
            let same = to_key("{key}");
            let chooser = Chooser::new(None, Some(&same), Names::KeysOfSameBucket, is_move);
            let chooser = chooser.unwrap().unwrap();
            Chooser::learn(&chooser, objects(&["a"])).unwrap();
            assert_eq!(choose(&chooser, &["a"]), [expected]);
        }
    }
}
