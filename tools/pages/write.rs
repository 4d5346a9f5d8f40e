//! A man page or completions of a tool.

use clap::Command;
use clap_complete::Shell;
use std::{error::Error, fs, path::Path};

/// The shells that complete the tools' options.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// The page of a tool.
pub(crate) fn man(command: Command, folder: &Path) -> Result<(), Box<dyn Error>> {
    let path = folder.join(format!("{}.1", command.get_name()));
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    fs::write(&path, page).map_err(|error| format!("cannot write '{}': {error}", path.display()).into())
}

/// What each shell reads to complete the options of a tool.
pub(crate) fn completions(mut command: Command, folder: &Path) -> Result<(), Box<dyn Error>> {
    let name = command.get_name().to_owned();
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut command, &name, folder)?;
    }
    Ok(())
}
