//! Man pages of the tools.

use clap::Command;
use std::{fs, path::Path};

/// Writes the man page of a tool as `NAME.1` into a folder.
///
/// # Errors
/// Returns the path and the I/O error if the page cannot be written.
pub fn write(command: Command, folder: &Path) -> Result<(), String> {
    let path = folder.join(format!("{}.1", command.get_name()));
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered
        .and_then(|()| fs::write(&path, page))
        .map_err(|error| format!("cannot write '{}': {error}", path.display()))
}
