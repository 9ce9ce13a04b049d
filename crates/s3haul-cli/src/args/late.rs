//! Flags that are defined when their command is used: to define those of all commands takes most of
//! the time of a start.

use std::cell::Cell;
use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches};

thread_local! {
    /// Whether flags are to be defined at once.
    static AT_ONCE: Cell<bool> = const { Cell::new(false) };
}

/// The definition with the flags of all commands. Help needs it: where flags come late, those of
/// all commands stand before those of the command.
pub(super) fn whole<C: CommandFactory>() -> Command {
    AT_ONCE.set(true);
    let definition = C::command();
    AT_ONCE.set(false);
    definition
}

/// The flags of one command.
#[derive(Debug)]
pub(crate) struct Late<T>(Box<T>);

impl<T> Deref for Late<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Late<T> {
    fn augment_args(command: Command) -> Command {
        if AT_ONCE.get() {
            return T::augment_args(command);
        }
        command.defer(|command| {
            // What is said of the type is for the readers of the code.
            let about = Resettable::from(command.get_about().cloned());
            let long_about = Resettable::from(command.get_long_about().cloned());
            T::augment_args(command).about(about).long_about(long_about)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Late<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Box::new).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
