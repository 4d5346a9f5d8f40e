//! Writes the man pages or the completion scripts of the tools to a folder: `cargo xtask man FOLDER`,
//! `cargo xtask completions FOLDER`.

mod write;

use std::{env, error::Error, ffi::OsString, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let [kind, folder] = words.as_slice() else { return Err("expected 'man FOLDER' or 'completions FOLDER'".into()) };
    let folder = Path::new(folder);
    fs::create_dir_all(folder).map_err(|error| format!("cannot make the folder '{}': {error}", folder.display()))?;
    let write = match kind.to_str() {
        Some("man") => write::man,
        Some("completions") => write::completions,
        _ => return Err(format!("expected 'man' or 'completions', found {}", kind.display()).into()),
    };
    spyre_compiler::tool::commands::tool_commands().into_iter().try_for_each(|command| write(command, folder))
}
