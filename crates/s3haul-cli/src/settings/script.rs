//! Scripts and templates, and the commands that are nothing but scripts.

use s3haul::job::ToKey;
use s3haul::job::value::{EachTask, MapTask, Task};
use s3haul::script::{Program, Role, Template, is_script};
use s3haul_list::Order;

use super::frame::Frame;
use super::list::of_args;
use super::{JobRequest, ListingSettings, Settings};
use crate::args::{EachArgs, MapArgs};
use crate::failure::Failure;

/// A script for a role.
fn program(role: Role, text: &str) -> Result<Program, Failure> {
    Program::compile(role, text).map_err(|error| Failure::usage(format!("{error:#}")))
}

/// `--filter`.
pub(super) fn filter(text: Option<&str>) -> Result<Option<Program>, Failure> {
    text.map(|text| program(Role::Filter, text)).transpose()
}

/// `--to-key`.
pub(super) fn to_key(text: Option<&str>) -> Result<Option<ToKey>, Failure> {
    let Some(text) = text else { return Ok(None) };
    if is_script(text) {
        return program(Role::ToKey, text).map(|program| Some(ToKey::Script(program)));
    }
    let template = Template::parse(text)
        .map_err(|error| Failure::usage(format!("--to-key `{text}`: {error}")))?;
    Ok(Some(ToKey::Template(template)))
}

/// `map` and `each`.
#[derive(Debug)]
pub(crate) struct ScriptSettings {
    /// What to list.
    pub(crate) listing: ListingSettings,
    /// Scripts, the filter among them.
    pub(crate) programs: Vec<Program>,
    /// What is done with them.
    pub(crate) how: How,
    /// Order of the objects.
    pub(crate) order: Order,
}

/// What is done with scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// What they make of objects is printed.
    Map {
        /// Printed where there is nothing to print.
        default: Option<String>,
    },
    /// It is joined, and printed in the end.
    Reduce {
        /// Printed where there is no object.
        default: Option<String>,
    },
    /// They print themselves.
    Each,
}

impl JobRequest {
    /// For `map`.
    pub(crate) fn map(settings: &Settings, args: &MapArgs) -> Result<Self, Failure> {
        let task = MapTask {
            listing: of_args(&args.listing)?,
            map: args.map.clone(),
            reduce: args.reduce.clone(),
            finally: args.finally.clone(),
            default: args.default.clone(),
            sort: args.sort,
        };
        let request_payer = args.listing.requests.payer.is_requester();
        Ok(Self::reading(settings, request_payer, Task::Map(Box::new(task))))
    }

    /// For `each`.
    pub(crate) fn each(settings: &Settings, args: &EachArgs) -> Result<Self, Failure> {
        let task = EachTask {
            listing: of_args(&args.listing)?,
            each: args.each.clone(),
            map_list: args.map_list.clone(),
            sort: args.sort,
        };
        let request_payer = args.listing.requests.payer.is_requester();
        Ok(Self::reading(settings, request_payer, Task::Each(Box::new(task))))
    }
}

impl ScriptSettings {
    /// For a job of `map`.
    pub(crate) fn map(frame: Frame, task: &MapTask) -> Result<Self, Failure> {
        let joins = task.reduce.is_some() || task.finally.is_some();
        if task.map.is_none() && !joins {
            return Err(Failure::usage("map needs a script: --map, --reduce or --finally"));
        }
        let default = task.default.clone();
        let how = if joins { How::Reduce { default } } else { How::Map { default } };
        let scripts =
            [(Role::Map, &task.map), (Role::Reduce, &task.reduce), (Role::Finally, &task.finally)];
        let listing = ListingSettings::new(frame, &task.listing, "map")?;
        Self::new(listing, how, task.sort, &scripts)
    }

    /// For a job of `each`.
    pub(crate) fn each(frame: Frame, task: &EachTask) -> Result<Self, Failure> {
        if task.each.is_some() == task.map_list.is_some() {
            return Err(Failure::usage("each needs one script: --each or --map-list"));
        }
        let scripts = [(Role::Each, &task.each), (Role::EachList, &task.map_list)];
        let listing = ListingSettings::new(frame, &task.listing, "each")?;
        Self::new(listing, How::Each, task.sort, &scripts)
    }

    fn new(
        mut listing: ListingSettings,
        how: How,
        sort: bool,
        scripts: &[(Role, &Option<String>)],
    ) -> Result<Self, Failure> {
        // It runs where the other scripts do, so that objects are handed over once.
        let mut programs: Vec<_> = listing.selection.script.take().into_iter().collect();
        for (role, text) in scripts {
            if let Some(text) = text {
                programs.push(program(*role, text)?);
            }
        }
        let order = if sort { Order::Ascending } else { Order::Any };
        Ok(Self { listing, programs, how, order })
    }
}
