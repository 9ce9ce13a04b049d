//! `--include` and `--exclude`, whose order on the command line counts.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use s3haul::job::FilterRule;

/// The filters in command-line order. Written by hand because derive would lose the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FilterArgs {
    /// Rules in the order they were given.
    pub(crate) rules: Vec<FilterRule>,
}

/// What makes a rule of a pattern.
type MakeRule = fn(String) -> FilterRule;

const NAMES: [(&str, MakeRule); 2] =
    [("include", FilterRule::Include), ("exclude", FilterRule::Exclude)];

impl Args for FilterArgs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(pattern_arg("exclude").help(
                "Leave out what matches this pattern: * matches anything, also slashes, ? one \
                 character, [abc] one of several. Filters count in the order they are given; the \
                 last one that matches decides",
            ))
            .arg(
                pattern_arg("include").help(
                    "Take what matches this pattern although an --exclude before left it out",
                ),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn pattern_arg(name: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("PATTERN").num_args(1).action(ArgAction::Append)
}

impl FromArgMatches for FilterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut found: Vec<(usize, FilterRule)> = Vec::new();
        for (name, rule) in NAMES {
            let indices = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<String>(name).into_iter().flatten();
            found
                .extend(indices.zip(values).map(|(index, pattern)| (index, rule(pattern.clone()))));
        }
        found.sort_by_key(|(index, _)| *index);
        Ok(Self { rules: found.into_iter().map(|(_, rule)| rule).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.rules.extend(Self::from_arg_matches(matches)?.rules);
        Ok(())
    }
}
