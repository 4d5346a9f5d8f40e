//! Copy of the source tree, and its mutants.

use crate::{
    MUTANT, REACHED, read_file,
    sites::{MutationSite, find_sites, mutate_file},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Stages with mutants. Each has an equal share of a sample, and the stages alternate, so that a prefix of a sample
/// covers all of them.
pub(crate) const STAGES: [&str; 7] =
    ["src/tile", "src/work", "src/bundle", "src/launch", "src/lx", "src/search", "crates/scratchpad/src"];

/// Root files of the crates with mutants; each defines the function that returns the mutant of a process.
const SWITCHES: [&str; 2] = ["src/lib.rs", "crates/scratchpad/src/lib.rs"];

/// Copies the files of the tree that git tracks, except those that [`write_mutants`] writes. Unchanged files keep their
/// timestamps, so that builds are incremental.
pub(crate) fn copy_tree(root: &Path, copy: &Path, places: &[Vec<MutationSite>]) -> Result<(), String> {
    let mutated: BTreeSet<&Path> =
        places.iter().flatten().map(|site| site.path.as_path()).chain(SWITCHES.map(Path::new)).collect();
    for path in list_files(root)?.into_iter().filter(|path| !mutated.contains(path.as_path())) {
        let (from, to) = (root.join(&path), copy.join(&path));
        // git still lists a file that was deleted from the folder only.
        if let Ok(bytes) = fs::read(&from) {
            write_changed(&to, &bytes)?;
        }
    }
    Ok(())
}

fn write_changed(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, bytes));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Lists the files of the tree, including new files that git does not ignore.
fn list_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new("git");
    command.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = command.output().map_err(|error| format!("cannot run git: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect())
}

/// Returns every site of the stages, stage by stage.
pub(crate) fn find_sites_by_stage(root: &Path) -> Result<Vec<Vec<MutationSite>>, String> {
    STAGES.iter().map(|stage| find_sites_of_stage(root, stage)).collect()
}

fn find_sites_of_stage(root: &Path, stage: &str) -> Result<Vec<MutationSite>, String> {
    let mut all = Vec::new();
    for path in list_files_below(root, stage)? {
        let text = read_file(&root.join(&path))?;
        all.extend(find_sites(&text, &path).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    Ok(all)
}

/// Position of a site: its stage, and its index among the sites of the stage.
pub(crate) type SitePosition = (usize, usize);

/// Samples this many sites of each stage, spread evenly over the stage; the stages alternate. A site in `broken`, which
/// does not compile, is replaced by the next one.
pub(crate) fn sample_sites(num_places: &[usize], sample: usize, broken: &BTreeSet<SitePosition>) -> Vec<SitePosition> {
    let share = sample.div_ceil(num_places.len());
    let mut chosen = Vec::new();
    for (turn, (stage, num_places)) in
        (0..share).flat_map(|turn| num_places.iter().enumerate().map(move |stage| (turn, stage))).take(sample)
    {
        let wanted = turn * num_places / share;
        let place = (wanted..*num_places)
            .map(|place| (stage, place))
            .find(|place| !broken.contains(place) && !chosen.contains(place));
        chosen.extend(place);
    }
    chosen
}

/// Writes the sampled mutants into the copy; returns them with their numbers.
pub(crate) fn write_mutants(
    root: &Path,
    copy: &Path,
    places: &[Vec<MutationSite>],
    sampled: &[SitePosition],
) -> Result<Vec<MutationSite>, String> {
    let chosen: Vec<MutationSite> =
        sampled.iter().enumerate().map(|(number, (stage, place))| places[*stage][*place].with_number(number)).collect();
    for path in places.iter().flatten().map(|site| &site.path).collect::<BTreeSet<_>>() {
        let own: Vec<&MutationSite> = chosen.iter().filter(|site| site.path == *path).collect();
        let text = read_file(&root.join(path))?;
        let text = if own.is_empty() { text } else { mutate_file(&text, &own)? };
        write_changed(&copy.join(path), text.as_bytes())?;
    }
    add_switch(root, copy)?;
    Ok(chosen)
}

fn list_files_below(root: &Path, stage: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(stage)];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(root.join(&folder)).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
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

/// Adds the function that returns whether this process is a mutant.
fn add_switch(root: &Path, copy: &Path) -> Result<(), String> {
    let switch = FUNCTION.replace("{MUTANT}", MUTANT).replace("{REACHED}", REACHED);
    SWITCHES
        .iter()
        .try_for_each(|path| write_changed(&copy.join(path), (read_file(&root.join(path))? + &switch).as_bytes()))
}

/// Function that every mutated site calls. It creates a file for each mutant whose site it was called from, once.
const FUNCTION: &str = r#"
/// Which mutant this process is.
pub(crate) mod mutant {
    use std::{collections::BTreeSet, env, fs::File, path::PathBuf, sync::{LazyLock, Mutex}};

    static NUMBER: LazyLock<Option<usize>> = LazyLock::new(|| env::var("{MUTANT}").ok()?.parse().ok());
    static REACHED: LazyLock<Option<PathBuf>> = LazyLock::new(|| env::var_os("{REACHED}").map(PathBuf::from));
    static SEEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

    pub(crate) fn is(number: usize) -> bool {
        if let Some(folder) = &*REACHED
            && SEEN.lock().unwrap().insert(number)
        {
            File::create(folder.join(number.to_string())).unwrap();
        }
        *NUMBER == Some(number)
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternates_stages() {
        assert_eq!(sample_sites(&[4, 10], 4, &BTreeSet::new()), [(0, 0), (1, 0), (0, 2), (1, 5)]);
        assert_eq!(sample_sites(&[1, 9], 6, &BTreeSet::new()), [(0, 0), (1, 0), (1, 3), (1, 6)]);
    }

    #[test]
    fn replaces_site_that_does_not_compile() {
        let broken = BTreeSet::from([2, 8, 9].map(|place| (0, place)));
        assert_eq!(sample_sites(&[10], 5, &broken), [0, 3, 4, 6].map(|place| (0, place)));
    }
}
