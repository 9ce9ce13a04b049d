//! The tools of a run: ours, the bare sender behind it, and the peers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::bare::{self, Bare};
use super::environment::{Environment, Slot};
use super::libraries::Library;
use super::options::{Options, Programs};
use crate::peers::{self, Found, Peer, Search};
use support::process;

/// A tool.
pub(crate) enum Tool {
    /// Ours or a peer.
    Peer(Peer),
    /// The bare sender, in one of its forms.
    Bare(Bare),
    /// A Python library, by its script.
    Library(Library),
    /// It is not here: why.
    Missing { name: &'static str, why: String },
}

/// A command, or why there is none.
pub(crate) enum Line {
    Runs(Command),
    /// The tool does not do such work.
    Cannot(String),
    /// There is nothing to set beside the others.
    Nothing,
}

impl Tool {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Peer(peer) => peer.name,
            Self::Bare(bare) => bare.name(),
            Self::Library(library) => library.name,
            Self::Missing { name, .. } => name,
        }
    }

    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::Peer(peer) => peer.version.clone(),
            Self::Library(library) => Some(library.version.clone()),
            Self::Bare(_) | Self::Missing { .. } => None,
        }
    }

    /// Its name, its version and how it is set.
    pub(crate) fn about(&self) -> String {
        match self {
            Self::Peer(Peer { name, version, about, .. }) => {
                let version = version.as_deref().unwrap_or("of unknown version");
                format!("{name} {version}: {about}")
            }
            Self::Library(Library { name, version, about, .. }) => {
                format!("{name} {version}: {about}")
            }
            Self::Bare(bare) => bare.about().to_owned(),
            Self::Missing { name, why } => format!("{name}: {}", why.replace('\n', " ")),
        }
    }

    pub(super) fn is_bare(&self) -> bool {
        matches!(self, Self::Bare(_))
    }

    /// Its command for a run.
    pub(super) fn line(&self, environment: &Environment<'_>, slot: &Slot) -> Result<Line> {
        Ok(match self {
            Self::Peer(peer) => {
                let endpoint = &environment.server.endpoint;
                let task = environment.task(slot).ok_or("has no library of its own".to_owned());
                match task.and_then(|task| peer.command(&task, endpoint)) {
                    Ok(command) => Line::Runs(command),
                    Err(why) => Line::Cannot(why),
                }
            }
            Self::Bare(bare) => bare.command(environment, slot)?.map_or(Line::Nothing, Line::Runs),
            Self::Library(library) => match library.reason(environment.job.kind) {
                Some(why) => Line::Cannot(why.to_owned()),
                None => Line::Runs(library.command(environment, slot)?),
            },
            Self::Missing { why, .. } => Line::Cannot(why.clone()),
        })
    }
}

/// All tools that are asked for, ours first.
pub(super) fn find(options: &Options, programs: Programs, s3haul: &Path) -> Result<Vec<Tool>> {
    let without_bare = |names: &Vec<String>| -> Vec<String> {
        names.iter().filter(|name| !bare::NAMES.contains(&name.as_str())).cloned().collect()
    };
    let found = peers::find(&Search {
        s3haul: s3haul.to_owned(),
        paths: programs.tool_paths,
        only: options.tools.as_ref().map(without_bare),
        install: !options.no_install,
    })?;
    let mut tools: Vec<Tool> = found
        .into_iter()
        .map(|found| match found {
            Found::Here(peer) => Tool::Peer(peer),
            Found::Missing { name, why } => Tool::Missing { name, why },
        })
        .collect();
    let place = usize::from(tools.first().is_some_and(|tool| tool.name() == "s3haul"));
    let names: Vec<&'static str> =
        bare::NAMES.into_iter().filter(|name| options.wants_tool(name)).collect();
    if !names.is_empty() {
        let program = find_bare(options, programs.bare).map_err(|error| format!("{error:#}"));
        tools.splice(place..place, names.into_iter().map(|name| bare_tool(name, &program)));
    }
    Ok(tools)
}

fn bare_tool(name: &'static str, program: &Result<PathBuf, String>) -> Tool {
    match program {
        Ok(program) => Tool::Bare(Bare::new(name, program)),
        Err(why) => Tool::Missing { name, why: why.clone() },
    }
}

fn find_bare(options: &Options, given: Option<PathBuf>) -> Result<PathBuf> {
    let beside = options.binary.as_ref().map(|binary| binary.with_file_name("bare"));
    if let Some(path) = given.or(beside.filter(|path| path.is_file())) {
        return Ok(path);
    }
    let step = ["--release", "--quiet", "-p", "s3haul-bare"];
    process::run(&mut process::bench_cargo("build", &step))?;
    Ok(process::target().join("release/bare"))
}
