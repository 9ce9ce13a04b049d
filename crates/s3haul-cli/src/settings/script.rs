//! Scripts and templates, and the commands that are nothing but scripts.

use s3haul::job::ToKey;
use s3haul::script::{Program, Role, Template, is_script};
use s3haul_list::Order;

use super::{ListingSettings, Settings};
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

impl ScriptSettings {
    /// For `map`.
    pub(crate) fn map(settings: &Settings, args: &MapArgs) -> Result<Self, Failure> {
        let joins = args.reduce.is_some() || args.finally.is_some();
        if args.map.is_none() && !joins {
            return Err(Failure::usage("map needs a script: --map, --reduce or --finally"));
        }
        let default = args.default.clone();
        let how = if joins { How::Reduce { default } } else { How::Map { default } };
        let scripts =
            [(Role::Map, &args.map), (Role::Reduce, &args.reduce), (Role::Finally, &args.finally)];
        let listing = ListingSettings::new(settings, &args.listing, "map")?;
        Self::new(listing, how, args.sort, &scripts)
    }

    /// For `each`.
    pub(crate) fn each(settings: &Settings, args: &EachArgs) -> Result<Self, Failure> {
        let scripts = [(Role::Each, &args.each), (Role::EachList, &args.map_list)];
        let listing = ListingSettings::new(settings, &args.listing, "each")?;
        Self::new(listing, How::Each, args.sort, &scripts)
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
