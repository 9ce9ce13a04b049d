//! Writes a man page for each command into a folder: `cargo xtask man`.
//!
//! An example, so that what makes them is not in the command.

mod pages;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| "target/man".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for (name, page) in pages::all()? {
        std::fs::write(folder.join(name), page)?;
    }
    Ok(())
}
