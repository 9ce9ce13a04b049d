//! From a page of objects to actions: what patterns and conditions include, what scripts choose,
//! and new names.

use std::sync::Arc;

use crate::engine::core::Engine;
use crate::engine::limits::blocking;
use crate::event::ActionKind;
use crate::event::ObjectEvent;
use crate::event::Outcome;
use crate::job::names::COLLISION;
use crate::job::prepare::Prepared;
use crate::location::Location;
use crate::plan::conditions::ObjectFacts;
use crate::select::rename::Candidate;
use crate::select::rename::Choice;
use crate::select::rename::Chooser;
use s3haul_wire::ObjectHead;
use s3haul_wire::error::Error;
use s3haul_wire::error::ErrorKind;
use s3haul_wire::error::Result;
use s3haul_wire::ops::ListPage;
use s3haul_wire::ops::ListedObject;

/// An object found, before it is an action.
pub(crate) struct Found<'a> {
    pub(crate) object: ListedObject<'a>,
    /// Version; the current one where absent.
    pub(crate) version_id: Option<&'a str>,
    /// Name below the source.
    pub(crate) relative: &'a str,
    /// Name at the target, where a script or template made one.
    pub(crate) name: Option<String>,
    /// Headers, where the object was asked for by itself.
    pub(crate) head: Option<Box<ObjectHead>>,
}

/// Makes the action of an object; nothing when it is left out.
pub(crate) type MakeAction<A> =
    Box<dyn Fn(&Prepared, &Engine, Found<'_>) -> Option<A> + Send + Sync>;

/// Plans a page of objects; `heads` has the headers of those that were asked for by themselves.
pub(crate) async fn plan_page<A>(
    job: &Prepared,
    engine: &Engine,
    page: ListPage,
    mut heads: Vec<Option<Box<ObjectHead>>>,
    make: &MakeAction<A>,
) -> Result<Vec<A>> {
    let wanted = wanted(job, &page);
    let (page, chosen) = choose(job, engine, page, wanted).await?;
    let action = |(index, name): (usize, Option<String>)| {
        let object = page.get(index)?;
        let relative = job.relative(object.key)?;
        let version_id = page.version_id(index);
        let head = heads.get_mut(index).and_then(Option::take);
        make(job, engine, Found { object, version_id, relative, name, head })
    };
    Ok(chosen.into_iter().filter_map(action).collect())
}

/// What conditions are asked about an object.
pub(crate) fn facts_of<'a>(object: &ListedObject<'a>) -> ObjectFacts<'a> {
    ObjectFacts {
        size: Some(object.size),
        modified_s: object.last_modified_s,
        storage_class: Some(object.storage_class),
    }
}

/// Indices of the objects of a page that patterns and conditions include.
pub(crate) fn wanted(job: &Prepared, page: &ListPage) -> Vec<usize> {
    let is_in_place = job.acts_in_place();
    let is_meant = |index: usize, object: &ListedObject<'_>, below: &str| {
        let mut facts = facts_of(object);
        if page.is_delete_marker(index) {
            facts = ObjectFacts { size: None, storage_class: None, ..facts };
        }
        job.filter.includes(below) && job.spec.conditions.takes(below, &facts)
    };
    // A job on versions never takes an object in place of one.
    let is_of_kind = |index| job.spec.versions.is_none() || page.version_id(index).is_some();
    let is_wanted = |(index, object): &(usize, ListedObject<'_>)| {
        is_of_kind(*index)
            && (is_in_place || object.size > 0 || !object.key.ends_with('/'))
            && job.wildcard.as_ref().is_none_or(|wildcard| wildcard.matches(object.key))
            && job.relative(object.key).is_some_and(|below| is_meant(*index, object, below))
    };
    let wanted = (0..).zip(page.iter()).filter(is_wanted);
    wanted.map(|(index, _)| index).collect()
}

/// Objects of a page by their indices, and new names where they get some.
pub(crate) type Chosen = Vec<(usize, Option<String>)>;

/// Decides on one object.
pub(crate) async fn choose_one(
    job: &Prepared,
    engine: &Engine,
    object: ListedObject<'_>,
) -> Result<Chosen> {
    let page = ListPage::from_objects([object])?;
    if let Some(chooser) = job.chooser.as_ref().filter(|chooser| Chooser::needs_sources(chooser)) {
        Chooser::learn(chooser, page.iter())?;
    }
    Ok(choose(job, engine, page, vec![0]).await?.1)
}

/// Applies scripts and templates to objects of a page; collisions are reported as failures.
pub(crate) async fn choose(
    job: &Prepared,
    engine: &Engine,
    page: ListPage,
    indices: Vec<usize>,
) -> Result<(ListPage, Chosen)> {
    let Some(chooser) = &job.chooser else {
        return Ok((page, indices.into_iter().map(|index| (index, None)).collect()));
    };
    let name = |index: usize| {
        let key = page.get(index)?.key;
        let relative = job.relative(key).unwrap_or_else(|| job.plan.single_name());
        Some((index, job.target_name(relative).into_owned()))
    };
    let named: Vec<_> = indices.into_iter().filter_map(name).collect();
    let chooser = Arc::clone(chooser);
    // A script may take its time.
    let (page, named, choices) = blocking(move || {
        let choices = {
            let candidates: Vec<_> = named
                .iter()
                .filter_map(|(index, name)| Some(Candidate { object: page.get(*index)?, name }))
                .collect();
            Chooser::choose(&chooser, &candidates)
        };
        (page, named, choices)
    })
    .await;
    let mut chosen = Chosen::with_capacity(named.len());
    for ((index, _), choice) in named.into_iter().zip(choices?) {
        match choice {
            Choice::Leave => {}
            Choice::Take => chosen.push((index, None)),
            Choice::Rename(name) => chosen.push((index, Some(name))),
            Choice::Collides(name) => {
                if let Some(object) = page.get(index) {
                    let version_id = page.version_id(index).map(str::to_owned);
                    let source = engine.source_version(object.key.to_owned(), version_id);
                    report_collision(job, engine, source, &name, object.size);
                }
            }
        }
    }
    Ok((page, chosen))
}

/// Reports that an object is not transferred, because its new name is that of another.
pub(crate) fn report_collision(
    job: &Prepared,
    engine: &Engine,
    source: Location,
    name: &str,
    bytes: u64,
) {
    let target = match job.plan.target_directory() {
        Some(folder) if job.plan.action == ActionKind::Download => {
            Location::Local(folder.join(name))
        }
        _ => engine.target_object(name.to_owned()),
    };
    tell_collision(job, engine, source, target, name, bytes);
}

/// The same of a target.
pub(crate) fn tell_collision(
    job: &Prepared,
    engine: &Engine,
    source: Location,
    target: Location,
    name: &str,
    bytes: u64,
) {
    let message = format!(
        "the new name `{name}` is also that of another object of this job: nothing was written"
    );
    engine.report.planned(bytes);
    engine.report.object(ObjectEvent {
        action: job.plan.action,
        is_move: engine.settings.is_move,
        source,
        target: Some(target),
        bytes,
        reason: Some(COLLISION),
        outcome: Outcome::Failed(Error::new(ErrorKind::Config, message)),
    });
}
