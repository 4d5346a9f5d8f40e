//! Import cycles between the files of a crate.

use crate::{
    graph::{RoomImport, find_shortest_path, format_cycle, module_of},
    imports::{Imports, Module, parse_imports},
    source::RustSource,
};
use std::collections::{BTreeMap, BTreeSet};

/// Files of a crate and the paths that they name, by module.
struct CrateFiles<'a>(BTreeMap<Module, (&'a RustSource, Imports)>);

/// Returns a line for each import cycle between files. A name belongs to the file that defines it, even if it is
/// re-exported. The file of a folder and the files in the folder count as one, so imports between them form no cycle.
/// The order of rooms covers imports between rooms. Of cycles that share a file only the first is reported.
pub(crate) fn find_file_cycles(sources: &[RustSource], room_of: impl Fn(&[String]) -> String) -> Vec<String> {
    let modules: BTreeSet<Module> = sources.iter().map(|source| module_of(&source.path)).collect();
    let is_module = |path: &[String]| path.is_empty() || modules.contains(path);
    let files = sources.iter().map(|source| {
        let module = module_of(&source.path);
        (module.clone(), (source, parse_imports(module, &source.shipped, &is_module)))
    });
    let edges = CrateFiles(files.collect()).edges();
    let is_in_room = |edge: &&RoomImport| room_of(&module_of(&edge.from)) == room_of(&module_of(&edge.to));
    let folders: BTreeSet<&str> = sources.iter().map(|source| folder_of(&source.path)).collect();
    let folder = |path: &str| {
        let own = path.trim_end_matches(".rs");
        if folders.contains(own) { own.to_owned() } else { folder_of(path).to_owned() }
    };
    let is_of_folder = |edge: &&RoomImport| {
        module_of(&edge.from).starts_with(&module_of(&edge.to)) && folder(&edge.from) == folder(&edge.to)
    };
    let edges: Vec<&RoomImport> = edges.iter().filter(is_in_room).filter(|edge| !is_of_folder(edge)).collect();
    let (mut found, mut named) = (Vec::new(), BTreeSet::new());
    for edge in &edges {
        let Some(back) = find_shortest_path(&edges, &edge.to, &edge.from) else { continue };
        let circle = [&[*edge], back.as_slice()].concat();
        let is_new = circle.iter().all(|edge| !named.contains(&edge.from));
        named.extend(circle.iter().map(|edge| edge.from.clone()));
        if is_new {
            found.push(format_cycle(&circle));
        }
    }
    found
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl CrateFiles<'_> {
    fn edges(&self) -> Vec<RoomImport> {
        let mut edges = Vec::new();
        for (module, (source, imports)) in &self.0 {
            for import in &imports.found {
                let Some(defined) = self.definition(&import.path) else { continue };
                let is_own = import.is_handed_on && defined.starts_with(module);
                if defined != *module && !is_own {
                    edges.push(RoomImport::from_import(&source.path, &self.0[&defined].0.path, source, import));
                }
            }
        }
        edges
    }

    /// Returns the module that defines the target of a path, and follows re-exports.
    fn definition(&self, path: &[String]) -> Option<Module> {
        let (mut path, mut followed) = (path.to_vec(), BTreeSet::new());
        loop {
            let length = (0..=path.len()).rev().find(|&length| self.0.contains_key(&path[..length]))?;
            let (module, rest) = path.split_at(length);
            let target = rest.first().and_then(|name| self.0[module].1.names.get(name));
            match target {
                Some(target) if followed.insert(path.clone()) => path = [target, &rest[1..]].concat(),
                _ => return Some(module.to_vec()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_cycles(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<RustSource> =
            files.iter().map(|(path, text)| RustSource::new(format!("src/{path}"), text)).collect();
        find_file_cycles(&sources, |module| {
            module.first().filter(|room| room.starts_with("room")).cloned().unwrap_or_default()
        })
    }

    #[test]
    fn finds_cycle_between_folders_through_reexports() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod error; mod inner; pub use error::Error; pub use inner::Label;"),
            ("a/error.rs", "use super::Label;"),
            ("a/inner/mod.rs", "mod label; pub use label::Label;"),
            ("a/inner/label.rs", "use crate::a::Error;"),
        ];
        let circle = "a circle: src/a/error.rs -> src/a/inner/label.rs (src/a/error.rs:1), src/a/inner/label.rs -> src/a/error.rs \
                      (src/a/inner/label.rs:1)";
        assert_eq!(find_cycles(&files), [circle]);
    }

    #[test]
    fn finds_cycle_in_one_folder() {
        let files =
            [("a/mod.rs", "mod b; mod c;"), ("a/b.rs", "use super::c::X;"), ("a/c.rs", "fn f() -> super::b::Y {}")];
        assert_eq!(
            find_cycles(&files),
            ["a circle: src/a/b.rs -> src/a/c.rs (src/a/b.rs:1), src/a/c.rs -> src/a/b.rs (src/a/c.rs:1)"]
        );
        let of_three = [("b.rs", "use crate::c::X;"), ("c.rs", "use crate::d::X;"), ("d.rs", "use crate::b::X;")];
        assert_eq!(find_cycles(&of_three).len(), 1);
    }

    #[test]
    fn merges_file_of_folder_with_files_in_it() {
        let files = [("a.rs", "mod b; fn f() { b::g() }"), ("a/b.rs", "use super::X;")];
        assert_eq!(find_cycles(&files), Vec::<String>::new());
        let files = [("a/mod.rs", "mod b; fn f() { b::g() }"), ("a/b.rs", "use super::X;")];
        assert_eq!(find_cycles(&files), Vec::<String>::new());
        let files = [("a/mod.rs", "pub mod b; fn f() {}"), ("a/b/mod.rs", "use super::f;")];
        assert_eq!(find_cycles(&files), Vec::<String>::new(), "a folder may use what stands around it");
        let files = [("a/mod.rs", "pub mod b; fn f() { b::g() }"), ("a/b/mod.rs", "use super::f;")];
        assert_eq!(find_cycles(&files).len(), 1, "but not both");
    }

    #[test]
    fn ignores_cycles_between_rooms() {
        let files = [("room_a/x.rs", "use crate::room_b::y::Y;"), ("room_b/y.rs", "use crate::room_a::x::X;")];
        assert_eq!(find_cycles(&files), Vec::<String>::new());
    }
}
