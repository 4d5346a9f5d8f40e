//! The copy of the tree, and its mutants.

use crate::{
    MUTANT, read,
    sites::{Site, mutate_file, sites_of},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The stages whose lines are broken.
const STAGES: [&str; 4] = ["src/tile", "src/work", "src/lx", "src/bundle"];

/// Copies what git knows of the tree; files that did not change keep their times, so that a build goes on where it was.
pub(crate) fn copy(root: &Path, copy: &Path) -> Result<(), String> {
    for path in files(root)? {
        let (from, to) = (root.join(&path), copy.join(&path));
        let Ok(bytes) = fs::read(&from) else { continue };
        if fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(copy);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&to, bytes));
        written.map_err(|error| format!("cannot write {}: {error}", to.display()))?;
    }
    Ok(())
}

/// The files of the tree, also new ones that git does not ignore.
fn files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new("git");
    command.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = command.output().map_err(|error| format!("cannot run git: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect())
}

/// Puts mutants into the copy, spread evenly over all places where there could be one.
pub(crate) fn mutate(copy: &Path, sample: usize) -> Result<Vec<Site>, String> {
    let sources: Vec<PathBuf> = files_below(copy)?;
    let mut all = Vec::new();
    for path in &sources {
        let text = read(&copy.join(path))?;
        all.extend(sites_of(&text, path).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    let step = (all.len() / sample.max(1)).max(1);
    let mut chosen: Vec<Site> = all.into_iter().step_by(step).take(sample).collect();
    chosen.iter_mut().enumerate().for_each(|(number, site)| site.number = number);
    for path in sources.iter().collect::<BTreeSet<_>>() {
        let own: Vec<&Site> = chosen.iter().filter(|site| site.path == *path).collect();
        if !own.is_empty() {
            let text = mutate_file(&read(&copy.join(path))?, &own)?;
            fs::write(copy.join(path), text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
    }
    add_switch(copy)?;
    Ok(chosen)
}

fn files_below(copy: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = STAGES.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(copy.join(&folder)).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = folder.join(entry.file_name());
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.contains("test") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Adds the function that says whether this process is a mutant.
fn add_switch(copy: &Path) -> Result<(), String> {
    let path = copy.join("src/lib.rs");
    let switch = format!(
        "\n/// Which mutant this process is.\npub(crate) mod mutant {{\n    static NUMBER: std::sync::LazyLock<Option<usize>> =\n        \
         std::sync::LazyLock::new(|| std::env::var({MUTANT:?}).ok()?.parse().ok());\n    \
         pub(crate) fn is(number: usize) -> bool {{\n        *NUMBER == Some(number)\n    }}\n}}\n"
    );
    let text = read(&path)?;
    let written = if text.contains("mod mutant {") { Ok(()) } else { fs::write(&path, text + &switch) };
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}
