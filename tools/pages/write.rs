//! Man page and completion scripts of one tool.

use clap::Command;
use clap_complete::Shell;
use std::{error::Error, path::Path};

/// Shells with completion scripts.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes the man page of a tool.
pub(crate) fn man(command: Command, folder: &Path) -> Result<(), Box<dyn Error>> {
    spyre_compiler::tool::manual::write(command, folder).map_err(Into::into)
}

/// Writes the completion script of a tool for each shell.
pub(crate) fn completions(mut command: Command, folder: &Path) -> Result<(), Box<dyn Error>> {
    let name = command.get_name().to_owned();
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut command, &name, folder)?;
    }
    Ok(())
}
