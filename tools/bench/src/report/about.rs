//! What the runs of a folder were made with: the machine, the tools, and each session's day and
//! command.

use anyhow::{Result, bail};

const MACHINE: &str = "Machine: ";
const SESSIONS: &str = "Measured:";

/// The text of a folder, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct About {
    pub(super) machine: String,
    /// Name, version and settings of each.
    pub(super) tools: Vec<String>,
    /// Day and command of each.
    pub(super) sessions: Vec<String>,
}

impl About {
    /// Reads what [`Self::text`] has written; of other texts the lines that it knows.
    pub(super) fn parse(text: &str) -> Self {
        let mut about = Self::default();
        let mut is_behind = false;
        for line in text.lines() {
            if let Some(machine) = line.strip_prefix(MACHINE) {
                machine.trim_end_matches('.').clone_into(&mut about.machine);
            } else if line == SESSIONS {
                is_behind = true;
            } else if let Some(item) = line.strip_prefix("- ") {
                let list = if is_behind { &mut about.sessions } else { &mut about.tools };
                list.push(item.to_owned());
            } else if line.starts_with('`') {
                about.sessions.push(line.to_owned());
            }
        }
        about
    }

    /// A later session behind this one. The last version of a tool stands for it.
    pub(super) fn joined(mut self, later: Self) -> Result<Self> {
        if !self.machine.is_empty() && self.machine != later.machine {
            bail!(
                "the runs that are there are of another machine ({}); without `--append` and \
                 `--missing` they are replaced, with `--output` these go elsewhere",
                self.machine
            );
        }
        for tool in later.tools {
            match self.tools.iter_mut().find(|old| name(old) == name(&tool)) {
                Some(old) => *old = tool,
                None => self.tools.push(tool),
            }
        }
        self.sessions.extend(later.sessions);
        Ok(Self { machine: later.machine, ..self })
    }

    pub(super) fn text(&self) -> String {
        let Self { machine, tools, sessions } = self;
        let [tools, sessions] = [tools, sessions].map(|lines| lines.join("\n- "));
        format!("{MACHINE}{machine}.\n\n- {tools}\n\n{SESSIONS}\n\n- {sessions}\n")
    }
}

/// An argument without where things lie on this machine: `NAME=/a/b/c` is `NAME=…/c`.
pub(super) fn shown(argument: &str) -> String {
    let (name, value) =
        argument.split_once('=').map_or(("", argument), |(name, value)| (name, value));
    match value.rsplit_once('/') {
        Some((before, last)) if before.is_empty() || before.starts_with('/') => {
            let equals = if name.is_empty() { "" } else { "=" };
            format!("{name}{equals}…/{last}")
        }
        _ => argument.to_owned(),
    }
}

/// What a tool's line begins with.
fn name(tool: &str) -> &str {
    tool.split([' ', ':']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(tools: &[&str], session: &str) -> About {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        About { machine: "m".to_owned(), tools: own(tools), sessions: own(&[session]) }
    }

    #[test]
    fn sessions_are_joined_and_tools_told_as_they_were_last() {
        let first = about(&["s3haul 1: its defaults", "aws 1: x"], "day 1: `bench`");
        assert_eq!(About::parse(&first.text()), first);
        let later = about(&["s3haul 2: its defaults", "mc: not installed"], "day 2: `bench`");
        let joined = About::parse(&first.text()).joined(later).unwrap();
        assert_eq!(joined.tools, ["s3haul 2: its defaults", "aws 1: x", "mc: not installed"]);
        assert_eq!(joined.sessions, ["day 1: `bench`", "day 2: `bench`"]);
    }

    #[test]
    fn a_command_is_told_without_the_folders_of_this_machine() {
        let told = ["--only", "a,b", "/home/x/s3haul", "aws=/opt/aws", "docs/bench"].map(shown);
        assert_eq!(told, ["--only", "a,b", "…/s3haul", "aws=…/aws", "docs/bench"]);
    }

    #[test]
    fn runs_of_another_machine_are_not_joined() {
        let first = About { machine: "other".to_owned(), ..About::default() };
        assert!(first.joined(about(&[], "x")).is_err());
    }
}
