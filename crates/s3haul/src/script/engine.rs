//! The engine (`QuickJS`) with limits: creates one, runs programs in it, and reports what went
//! wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::object::Property;
use rquickjs::{Context, Ctx, Exception, Object, Value};

use super::error::{Position, ScriptError, ScriptErrorKind};
use super::program::Program;
use super::role::Role;

/// Our own part inside the engine.
const PRELUDE: &str = include_str!("prelude.js");
/// Name under which it is kept; hidden from enumeration and unchangeable.
const PRELUDE_NAME: &str = "__s3haul";
/// What each text stands behind when it is read, so that it is an expression.
const OPENING: &str = "(";
/// Hint for programs that take the object for the key.
const CALL_HINT: &str =
    "a function of one parameter receives the object: write `(key, object) => ...` for the key";
/// How the engine says so.
const OUT_OF_MEMORY: &str = "out of memory";
/// No batch is running.
const IDLE: u64 = u64::MAX;

/// What a script can do: language only.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// What a runtime may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory of all its values.
    pub memory_bytes: usize,
    /// Depth of its calls.
    pub stack_bytes: usize,
    /// Time of a batch. It is looked at between steps of the script, not within one built-in.
    pub batch_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory_bytes: 64 << 20, stack_bytes: 256 << 10, batch_time: Duration::from_secs(10) }
    }
}

/// An engine with our part loaded.
pub(super) struct Engine {
    context: Context,
    clock: Arc<Clock>,
    limits: Limits,
}

/// When the present batch must end, in nanoseconds of a clock that starts with the engine.
struct Clock {
    start: Instant,
    deadline_ns: AtomicU64,
}

impl Clock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(IDLE)
    }

    fn is_over(&self) -> bool {
        self.now_ns() > self.deadline_ns.load(Ordering::Relaxed)
    }
}

/// What went wrong, before it is known for which program: the thrown value's texts.
#[derive(Debug, Default)]
pub(super) struct Thrown {
    message: String,
    stack: String,
    /// Name of the role that our own part blames.
    role: String,
    is_not_a_function: bool,
    is_result: bool,
    /// Row of the batch.
    pub(super) row: Option<usize>,
}

impl Thrown {
    /// A result of a program that makes no sense.
    pub(super) fn result(role: Role, message: &str) -> Self {
        let (message, role) = (message.to_owned(), role.name().to_owned());
        Self { message, role, is_result: true, ..Self::default() }
    }
}

impl Engine {
    pub(super) fn new(limits: Limits) -> Result<Self, ScriptError> {
        let clock = Arc::new(Clock { start: Instant::now(), deadline_ns: AtomicU64::new(IDLE) });
        let context = prepare(limits, Arc::clone(&clock)).map_err(|error| {
            let message = format!("the script engine could not start: {error}");
            ScriptError::new(ScriptErrorKind::Memory, Role::Filter, message)
        })?;
        Ok(Self { context, clock, limits })
    }

    /// Does one batch within the limits.
    pub(super) fn run<T>(
        &self,
        work: impl for<'js> FnOnce(&Ctx<'js>, &Object<'js>) -> rquickjs::Result<T>,
    ) -> Result<T, Thrown> {
        let batch_ns = u64::try_from(self.limits.batch_time.as_nanos()).unwrap_or(IDLE);
        let deadline_ns = self.clock.now_ns().saturating_add(batch_ns);
        self.clock.deadline_ns.store(deadline_ns, Ordering::Relaxed);
        self.context.with(|ctx| {
            let prelude: Object<'_> =
                ctx.globals().get(PRELUDE_NAME).map_err(|error| broken(&error))?;
            let result = work(&ctx, &prelude);
            result.map_err(|error| take_thrown(&ctx, &prelude, &error))
        })
    }

    /// Loads a program into the engine. Returns whether it is called with objects.
    pub(super) fn load(&self, program: &Program) -> Result<bool, ScriptError> {
        let role = program.role();
        let takes_rows = !matches!(role, Role::EachList | Role::Reduce | Role::Finally);
        let loaded = self.run(|ctx, prelude| {
            let mut options = EvalOptions::default();
            options.filename = Some(role.name().to_owned());
            let code = format!("{OPENING}{}\n)", program.text());
            let user: Value<'_> = ctx.eval_with_options(code, options)?;
            let load: rquickjs::Function<'_> = prelude.get("load")?;
            let kinds = (role.prefers_object(), role.takes_pattern(), takes_rows);
            load.call((role.name(), user, kinds.0, kinds.1, kinds.2))
        });
        loaded.map_err(|thrown| self.error(&thrown, std::slice::from_ref(program), None))
    }

    /// The error for what was thrown while programs ran.
    pub(super) fn error(
        &self,
        thrown: &Thrown,
        programs: &[Program],
        key: Option<String>,
    ) -> ScriptError {
        let found = programs.iter().find_map(|program| {
            place(&thrown.stack, program.role().name()).map(|place| (program, place))
        });
        let told = programs.iter().find(|program| program.role().name() == thrown.role);
        let blamed = found.map(|(program, _)| program).or(told).or(programs.first());
        let role = blamed.map_or(Role::Filter, Program::role);
        let kind = self.kind(thrown);
        let position = found.and_then(|(program, (line, column))| position(program, line, column));
        let is_call = thrown.message.starts_with("TypeError")
            && thrown.message.ends_with("not a function")
            && role.prefers_object();
        ScriptError::new(kind, role, self.message(kind, &thrown.message))
            .at(position)
            .for_key(key)
            .with_hint((kind == ScriptErrorKind::Threw && is_call).then_some(CALL_HINT))
    }

    fn kind(&self, thrown: &Thrown) -> ScriptErrorKind {
        if self.clock.is_over() && thrown.message.contains("interrupted") {
            return ScriptErrorKind::Time;
        }
        if thrown.is_not_a_function {
            return ScriptErrorKind::NotAFunction;
        }
        if thrown.is_result {
            return ScriptErrorKind::Result;
        }
        if thrown.message.ends_with(OUT_OF_MEMORY) {
            return ScriptErrorKind::Memory;
        }
        let is_syntax = thrown.message.starts_with("SyntaxError") && thrown.row.is_none();
        if is_syntax { ScriptErrorKind::Syntax } else { ScriptErrorKind::Threw }
    }

    fn message(&self, kind: ScriptErrorKind, message: &str) -> String {
        match kind {
            ScriptErrorKind::Time => {
                let seconds = self.limits.batch_time.as_secs_f64();
                format!("it ran for more than {seconds} s over one page of objects")
            }
            ScriptErrorKind::Memory => {
                let mib = self.limits.memory_bytes >> 20;
                format!(
                    "it needs more than its {mib} MiB of memory, or threw `null`, which looks \
                     the same"
                )
            }
            ScriptErrorKind::NotAFunction | ScriptErrorKind::Result => {
                message.strip_prefix("TypeError: ").unwrap_or(message).to_owned()
            }
            ScriptErrorKind::Syntax => {
                message.strip_prefix("SyntaxError: ").unwrap_or(message).to_owned()
            }
            ScriptErrorKind::Threw => message.to_owned(),
        }
    }
}

fn prepare(limits: Limits, clock: Arc<Clock>) -> rquickjs::Result<Context> {
    let runtime = rquickjs::Runtime::new()?;
    runtime.set_memory_limit(limits.memory_bytes);
    runtime.set_max_stack_size(limits.stack_bytes);
    runtime.set_interrupt_handler(Some(Box::new(move || clock.is_over())));
    let context = Context::custom::<Intrinsics>(&runtime)?;
    context.with(|ctx| {
        let mut options = EvalOptions::default();
        options.filename = Some("s3haul".to_owned());
        let prelude: Object<'_> = ctx.eval_with_options(PRELUDE, options)?;
        ctx.globals().prop(PRELUDE_NAME, Property::from(prelude))
    })?;
    Ok(context)
}

fn broken(error: &rquickjs::Error) -> Thrown {
    Thrown { message: error.to_string(), ..Thrown::default() }
}

/// Takes what was thrown out of the engine.
fn take_thrown(ctx: &Ctx<'_>, prelude: &Object<'_>, error: &rquickjs::Error) -> Thrown {
    let row = row(prelude);
    if !error.is_exception() {
        return Thrown { message: error.to_string(), row, ..Thrown::default() };
    }
    let value = ctx.catch();
    if value.is_null() {
        // Not even the error could be made. A script that throws null looks the same.
        return Thrown { message: OUT_OF_MEMORY.to_owned(), row, ..Thrown::default() };
    }
    let Some(exception) = value.clone().into_object().and_then(Exception::from_object) else {
        return Thrown { message: text_of(ctx, value), row, ..Thrown::default() };
    };
    let object = exception.as_object();
    let name: String = object.get("name").unwrap_or_default();
    let message = exception.message().unwrap_or_default();
    Thrown {
        message: if name.is_empty() { message } else { format!("{name}: {message}") },
        stack: exception.stack().unwrap_or_default(),
        role: object.get("role").unwrap_or_default(),
        is_not_a_function: object.get("isNotAFunction").unwrap_or_default(),
        is_result: object.get("isResult").unwrap_or_default(),
        row,
    }
}

/// Row that our part was at.
fn row(prelude: &Object<'_>) -> Option<usize> {
    let state: Object<'_> = prelude.get("state").ok()?;
    let at: i64 = state.get("at").ok()?;
    state.set("at", -1).ok()?;
    usize::try_from(at).ok()
}

/// A thrown value that is no error, as text.
fn text_of<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> String {
    let text = ctx.json_stringify(value).ok().flatten().and_then(|text| text.to_string().ok());
    text.map_or_else(|| "it threw".to_owned(), |text| format!("it threw {text}"))
}

/// Line and column of the innermost call in a file, as the engine writes them: `file:line:column`.
fn place(stack: &str, file: &str) -> Option<(usize, usize)> {
    stack.lines().find_map(|line| {
        let (before, rest) = line.split_once(&format!("{file}:"))?;
        if !before.ends_with(['(', ' ']) {
            return None;
        }
        let (row, column) = rest.trim_end_matches(')').split_once(':')?;
        Some((row.parse().ok()?, column.parse().ok()?))
    })
}

/// The place in the text as it was typed.
fn position(program: &Program, line: usize, column: usize) -> Option<Position> {
    let Some(text) = program.text().lines().nth(line.checked_sub(1)?).map(str::to_owned) else {
        // The text ends too early.
        let (line, text) = program.text().lines().enumerate().last()?;
        let column = text.chars().count() + 1;
        return Some(Position { line: line + 1, column, text: text.to_owned() });
    };
    // The engine counts bytes, people count characters.
    let before = if line == 1 { column.saturating_sub(OPENING.len()) } else { column };
    let bytes = before.saturating_sub(1);
    let column = text.char_indices().take_while(|(at, _)| *at < bytes).count() + 1;
    Some(Position { line, column, text })
}
