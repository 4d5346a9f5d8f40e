//! Circles between the files of a crate that lead from one folder into another.

use crate::{
    graph::{Edge, circle_text, module_of, shortest_way},
    imports::{Imports, Module, imports},
    source::Source,
};
use std::collections::{BTreeMap, BTreeSet};

/// What the files of a crate name, by their modules.
struct Files<'a>(BTreeMap<Module, (&'a Source, Imports)>);

/// A line for each circle of imports between files that do not all stand in one folder. A name counts where it is defined, however it is
/// handed on; that a module hands on what is below it makes no circle. Imports between two rooms are left to the order of rooms,
/// and of circles that share a file the first speaks for all.
pub(crate) fn circles_of_folders(sources: &[Source], room_of: impl Fn(&[String]) -> String) -> Vec<String> {
    let modules: BTreeSet<Module> = sources.iter().map(|source| module_of(&source.path)).collect();
    let is_module = |path: &[String]| path.is_empty() || modules.contains(path);
    let files = sources.iter().map(|source| {
        let module = module_of(&source.path);
        (module.clone(), (source, imports(module, &source.shipped, &is_module)))
    });
    let edges = Files(files.collect()).edges();
    let is_in_room = |edge: &&Edge| room_of(&module_of(&edge.from)) == room_of(&module_of(&edge.to));
    let edges: Vec<&Edge> = edges.iter().filter(is_in_room).collect();
    let folders: BTreeSet<String> = sources.iter().map(|source| folder_of(&source.path).to_owned()).collect();
    let folder = |path: &str| {
        [path.trim_end_matches(".rs"), folder_of(path)].into_iter().find(|folder| folders.contains(*folder)).map(str::to_owned)
    };
    let (mut found, mut named) = (Vec::new(), BTreeSet::new());
    for edge in edges.iter().filter(|edge| folder(&edge.from) != folder(&edge.to)) {
        let Some(back) = shortest_way(&edges, &edge.to, &edge.from) else { continue };
        let circle = [&[*edge], back.as_slice()].concat();
        let is_new = circle.iter().all(|edge| !named.contains(&edge.from));
        named.extend(circle.iter().map(|edge| edge.from.clone()));
        if is_new {
            found.push(circle_text(&circle));
        }
    }
    found
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

impl Files<'_> {
    fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (module, (source, imports)) in &self.0 {
            for import in &imports.found {
                let Some(defined) = self.definition(&import.path) else { continue };
                let is_own = import.is_handed_on && defined.starts_with(module);
                if defined != *module && !is_own {
                    edges.push(Edge::of(&source.path, &self.0[&defined].0.path, source, import));
                }
            }
        }
        edges
    }

    /// The module that defines what a path names: what is handed on is followed.
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

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        circles_of_folders(&files.iter().map(|(path, text)| Source::new(format!("src/{path}"), text)).collect::<Vec<_>>(), |_| {
            String::new()
        })
    }

    #[test]
    fn a_circle_between_folders_is_found_behind_what_hands_names_on() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod error; mod inner; pub use error::Error; pub use inner::Label;"),
            ("a/error.rs", "use super::Label;"),
            ("a/inner/mod.rs", "mod label; pub use label::Label;"),
            ("a/inner/label.rs", "use crate::a::Error;"),
        ];
        let circle = "a circle: src/a/error.rs -> src/a/inner/label.rs (src/a/error.rs:1), src/a/inner/label.rs -> src/a/error.rs \
                      (src/a/inner/label.rs:1)";
        assert_eq!(found(&files), [circle]);
    }

    #[test]
    fn circles_in_one_folder_are_let_be() {
        assert_eq!(
            found(&[("a/mod.rs", "mod b; mod c;"), ("a/b.rs", "use super::c::X;"), ("a/c.rs", "use super::b::Y;")]),
            Vec::<String>::new()
        );
        let files = [("a.rs", "mod b; fn f() { b::g() }"), ("a/b.rs", "use super::X;")];
        assert_eq!(found(&files), Vec::<String>::new(), "a file and the folder of its name are one");
        let files = [("a/mod.rs", "pub mod b; fn f() {}"), ("a/b/mod.rs", "use super::f;")];
        assert_eq!(found(&files), Vec::<String>::new(), "a folder may use what stands around it");
    }
}
