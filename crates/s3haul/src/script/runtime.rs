//! Programs over batches of objects: one crossing into the engine a batch.

use rquickjs::{Array, Ctx, Function, IntoJs, Object, Value};

use super::engine::{Engine, Limits, Thrown};
use super::error::ScriptError;
use super::program::Program;
use super::role::Role;
use s3haul_wire::ops::ListedObject;

/// An engine with programs loaded, at most one of each role. It may move between threads.
///
/// Where a filter is loaded, the other programs are called for the objects it selects only.
pub struct Runtime {
    engine: Engine,
    programs: Vec<Program>,
    /// Whether programs see more of an object than its key.
    needs_objects: bool,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("programs", &self.programs).finish_non_exhaustive()
    }
}

impl Runtime {
    /// An engine for these programs.
    pub fn new(programs: &[Program], limits: Limits) -> Result<Self, ScriptError> {
        let engine = Engine::new(limits)?;
        let mut needs_objects = false;
        for program in programs {
            needs_objects |= engine.load(program)?;
        }
        Ok(Self { engine, programs: programs.to_vec(), needs_objects })
    }

    /// Whether a program of that role is loaded.
    pub fn has(&self, role: Role) -> bool {
        self.programs.iter().any(|program| program.role() == role)
    }

    /// Numbers of the objects that the filter selects, ascending.
    pub fn select<'a, I>(&mut self, objects: I) -> Result<Vec<usize>, ScriptError>
    where
        I: Iterator<Item = ListedObject<'a>> + Clone,
    {
        self.call("select", objects, |select, columns| select.call((columns,)))
    }

    /// New keys of objects; none for those to be left out, because the filter does not select
    /// them or the program returned `null`, `undefined` or `false`.
    ///
    /// `names` are the keys that the program receives, one for each object: those that the objects
    /// would have at the target.
    pub fn rename<'a, I, N>(
        &mut self,
        objects: I,
        names: N,
    ) -> Result<Vec<Option<String>>, ScriptError>
    where
        I: Iterator<Item = ListedObject<'a>> + Clone,
        N: Iterator<Item = &'a str>,
    {
        let keys = objects.clone();
        let given: Vec<_> = names.collect();
        let names: Vec<Name> = self.call("rename", objects, |rename, columns| {
            columns.set("names", given)?;
            let names: Array<'_> = rename.call((columns,))?;
            names.iter::<Value<'_>>().map(|name| Ok(text(&name?))).collect()
        })?;
        names
            .into_iter()
            .zip(keys)
            .map(|(name, object)| match name {
                Name::None => Ok(None),
                Name::Some(name) => Ok(Some(name)),
                Name::NotUnicode => Err(self.not_unicode(object.key)),
            })
            .collect()
    }

    /// What `Map` makes of each object, as lines: strings as they are (quoted with `json`), other
    /// values as JSON, nothing for `null` and `undefined`. Without a program: the objects.
    pub fn map<'a, I>(&mut self, objects: I, json: bool) -> Result<Vec<String>, ScriptError>
    where
        I: Iterator<Item = ListedObject<'a>> + Clone,
    {
        self.lines("map", objects, json)
    }

    /// What `Each` or `EachList` prints and returns, as lines, like [`Self::map`].
    pub fn each<'a, I>(&mut self, objects: I, json: bool) -> Result<Vec<String>, ScriptError>
    where
        I: Iterator<Item = ListedObject<'a>> + Clone,
    {
        let how = if self.has(Role::EachList) { "eachList" } else { "each" };
        self.lines(how, objects, json)
    }

    /// Takes objects into what [`Self::finish`] returns: maps each, then joins it with what is
    /// there by `Reduce`. Without that program all values are collected, arrays flattened and
    /// `null` and `undefined` left out.
    pub fn fold<'a, I>(&mut self, objects: I) -> Result<(), ScriptError>
    where
        I: Iterator<Item = ListedObject<'a>> + Clone,
    {
        self.call("fold", objects, |fold, columns| fold.call((columns,)))
    }

    /// What `Finally` makes of all that was taken, as a line; nothing when no object was.
    pub fn finish(&mut self, json: bool) -> Result<Option<String>, ScriptError> {
        let done = self.engine.run(|_, prelude| {
            let lines: Vec<rquickjs::String<'_>> =
                prelude.get::<_, Function<'_>>("finish")?.call((json,))?;
            lines.first().map(rquickjs::String::to_string).transpose()
        });
        done.map_err(|thrown| self.engine.error(&thrown, &self.programs, None))
    }

    fn lines<'a, I>(
        &mut self,
        how: &str,
        objects: I,
        json: bool,
    ) -> Result<Vec<String>, ScriptError>
    where
        I: Iterator<Item = ListedObject<'a>> + Clone,
    {
        self.call(how, objects, |lines, columns| {
            let lines: Array<'_> = lines.call((columns, json))?;
            lines.iter::<String>().collect()
        })
    }

    /// Calls a function of our part over objects.
    fn call<'a, I, T>(
        &mut self,
        name: &str,
        objects: I,
        work: impl for<'js> FnOnce(Function<'js>, Object<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, ScriptError>
    where
        I: Iterator<Item = ListedObject<'a>> + Clone,
    {
        let rows = objects.clone();
        // Where nothing maps them, the objects themselves are the values.
        let maps = matches!(name, "map" | "fold") && !self.has(Role::Map);
        let needs_objects = self.needs_objects || maps;
        let done = self.engine.run(|ctx, prelude| {
            let columns = columns(ctx, rows, needs_objects)?;
            work(prelude.get(name)?, columns)
        });
        done.map_err(|thrown| self.error(&thrown, objects))
    }

    fn error<'a>(
        &self,
        thrown: &Thrown,
        mut objects: impl Iterator<Item = ListedObject<'a>>,
    ) -> ScriptError {
        let key = thrown.row.and_then(|row| objects.nth(row)).map(|object| object.key.to_owned());
        self.engine.error(thrown, &self.programs, key)
    }

    fn not_unicode(&self, key: &str) -> ScriptError {
        let thrown = Thrown::result(Role::ToKey, "it returned half a character: no valid Unicode");
        self.engine.error(&thrown, &self.programs, Some(key.to_owned()))
    }
}

/// A string that a program returned.
enum Name {
    None,
    Some(String),
    NotUnicode,
}

fn text(value: &Value<'_>) -> Name {
    match value.as_string().map(rquickjs::String::to_string) {
        None => Name::None,
        Some(Ok(name)) => Name::Some(name),
        Some(Err(_)) => Name::NotUnicode,
    }
}

/// Objects in columns, as our part inside the engine reads them.
fn columns<'js, 'a>(
    ctx: &Ctx<'js>,
    objects: impl Iterator<Item = ListedObject<'a>>,
    needs_objects: bool,
) -> rquickjs::Result<Object<'js>> {
    let new = || Array::new(ctx.clone());
    let (keys, sizes, times, etags, classes) = (new()?, new()?, new()?, new()?, new()?);
    let mut class: (&str, Value<'js>) = ("", Value::new_undefined(ctx.clone()));
    for (index, object) in objects.enumerate() {
        keys.set(index, object.key)?;
        if !needs_objects {
            continue;
        }
        sizes.set(index, object.size)?;
        times.set(index, object.last_modified_s.saturating_mul(1000))?;
        etags.set(index, (!object.etag.is_empty()).then_some(object.etag))?;
        if class.0 != object.storage_class {
            let name = Some(object.storage_class).filter(|name| !name.is_empty());
            class = (object.storage_class, name.into_js(ctx)?);
        }
        classes.set(index, class.1.clone())?;
    }
    let columns = Object::new(ctx.clone())?;
    columns.set("keys", keys)?;
    columns.set("sizes", sizes)?;
    columns.set("times", times)?;
    columns.set("etags", etags)?;
    columns.set("classes", classes)?;
    Ok(columns)
}
