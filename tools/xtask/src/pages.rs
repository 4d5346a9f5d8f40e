//! `cargo xtask man FOLDER` and `cargo xtask completions FOLDER`.

use crate::{setup, step};
use std::{env, path::PathBuf};

/// Writes the pages of one kind, `man` or `completions`, to a folder.
pub(crate) fn run(kind: &str, folder: &str) -> Result<(), String> {
    setup::run()?;
    // Relative folders refer to the directory of the invocation.
    let here = env::current_dir().map_err(|error| format!("cannot tell the current folder: {error}"))?;
    let folder: PathBuf = here.join(folder);
    step::run(
        kind,
        step::cargo(["run", "--quiet", "--features", "manual", "--example", "pages", "--", kind]).arg(&folder),
    )?;
    println!("{}", folder.display());
    Ok(())
}
