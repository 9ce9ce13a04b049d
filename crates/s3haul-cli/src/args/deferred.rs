//! Flags that are defined when their command is used: defining those of all large commands takes
//! most of the time of a start.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, CommandFactory, FromArgMatches};

thread_local! {
    /// Whether flags are to be defined at once.
    static IS_EAGER: Cell<bool> = const { Cell::new(false) };
}

/// The definition with the flags of all commands. Help needs it: clap adds the flags that all
/// commands share before deferred ones, and shows them in that order.
pub(super) fn eager<C: CommandFactory>() -> Command {
    IS_EAGER.set(true);
    let definition = C::command();
    IS_EAGER.set(false);
    definition
}

/// The flags of one command.
#[derive(Debug)]
pub(crate) struct Deferred<T>(Box<T>);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Deferred<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        if IS_EAGER.get() {
            return T::augment_args(command);
        }
        command.defer(|command| {
            // Those of the command, which the comment on the type would replace.
            let about = Resettable::from(command.get_about().cloned());
            let long_about = Resettable::from(command.get_long_about().cloned());
            T::augment_args(command).about(about).long_about(long_about)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Box::new).map(Self)
    }

    // By default this one would clone them.
    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Box::new).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
