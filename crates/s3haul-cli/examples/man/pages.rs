//! The man pages, made from the definition of the command line.

use std::io;

use clap::Command;
use clap_mangen::Man;

/// File names and pages of the program and of all its commands.
pub(crate) fn all() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut definition = s3haul_cli::command().disable_help_subcommand(true);
    definition.build();
    let mut pages = Vec::new();
    push(&definition, &mut pages)?;
    Ok(pages)
}

fn push(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let version = concat!("s3haul ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(version).manual("s3haul");
    let mut page = Vec::new();
    man.render(&mut page)?;
    pages.push((man.get_filename(), page));
    // `s3 cp` is `cp`.
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        push(inner, pages)?;
    }
    Ok(())
}
