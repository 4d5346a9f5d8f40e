//! Computes the import graph of rooms, and its violations.

use crate::{
    house::House,
    imports::{Import, Module, parse_imports},
    source::RustSource,
};
use std::collections::{BTreeMap, BTreeSet};

/// Import of one room by another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RoomImport {
    pub(crate) from: String,
    pub(crate) to: String,
    /// `file:line: from imports crate::parse_path`.
    text: String,
    /// `file:line`.
    place: String,
}

/// The rooms of `src` and their imports.
pub(crate) struct RoomGraph<'a> {
    house: &'a House,
    /// Lines of each room that has files.
    lines: BTreeMap<String, usize>,
    edges: Vec<RoomImport>,
}

impl RoomImport {
    /// Returns the edge of a path that a file names.
    pub(crate) fn from_import(from: &str, to: &str, source: &RustSource, import: &Import) -> Self {
        let place = source.location(import.offset);
        let text = format!("{place}: {from} imports crate::{}", import.path.join("::"));
        Self { from: from.to_owned(), to: to.to_owned(), text, place }
    }
}

/// Returns the module of a file below a folder `src`: `src/layout/ir/mod.rs` is `layout::ir`.
pub(crate) fn module_of(path: &str) -> Module {
    let inside = path.split_once("src/").map_or(path, |(_, inside)| inside);
    let inside = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    if ["lib", "main"].contains(&inside) { Vec::new() } else { inside.split('/').map(str::to_owned).collect() }
}

impl<'a> RoomGraph<'a> {
    /// Reads the graph of the files of `src`.
    pub(crate) fn from_sources(house: &'a House, sources: &[RustSource]) -> Self {
        let modules: BTreeSet<Module> = sources.iter().map(|source| module_of(&source.path)).collect();
        let is_module = |path: &[String]| modules.contains(path);
        let mut graph = Self { house, lines: BTreeMap::new(), edges: Vec::new() };
        // The root only declares the rooms.
        for source in sources.iter().filter(|source| source.path != "src/lib.rs") {
            let module = module_of(&source.path);
            let from = house.room_of(&module);
            *graph.lines.entry(from.clone()).or_default() += source.count_lines();
            for import in parse_imports(module, &source.shipped, &is_module).found {
                let to = house.room_of(&import.path);
                if to != from {
                    graph.edges.push(RoomImport::from_import(&from, &to, source, &import));
                }
            }
        }
        graph
    }

    /// Returns all violations, one line each.
    pub(crate) fn find_violations(&self) -> Vec<String> {
        let order = self.house.order();
        let unknown = self.lines.keys().filter(|room| !order.contains(room));
        let mut wrong: Vec<String> =
            unknown.map(|room| format!("src/{room}: has no row in ROOMS of tools/rooms/src/house.rs")).collect();
        let gone = order.iter().filter(|room| !room.contains('/') && !self.lines.contains_key(*room));
        wrong.extend(gone.map(|room| format!("ROOMS names '{room}', which src does not have")));
        let is_exception = |edge: &&RoomImport| {
            self.house.exceptions.iter().any(|known| (known.from, known.to) == (&*edge.from, &*edge.to))
        };
        let (listed, others): (Vec<&RoomImport>, Vec<&RoomImport>) = self.edges.iter().partition(is_exception);
        let backward: Vec<&RoomImport> =
            others.iter().copied().filter(|edge| !self.house.may_import(&edge.from, &edge.to)).collect();
        wrong.extend(
            backward
                .iter()
                .map(|edge| format!("{}, which {}", edge.text, self.house.explain_rejection(&edge.from, &edge.to))),
        );
        wrong.extend(find_cycles(&others, &backward));
        for known in self.house.exceptions {
            let is_used = listed.iter().any(|edge| (known.from, known.to) == (&*edge.from, &*edge.to));
            if !is_used || self.house.may_import(known.from, known.to) {
                wrong.push(format!(
                    "EXCEPTIONS names {} -> {} ({}), which is none any more",
                    known.from, known.to, known.reason
                ));
            }
        }
        wrong
    }

    /// Returns the rooms in flow order: lines of code, and the number of imports of each other room.
    pub(crate) fn table(&self) -> Vec<[String; 3]> {
        let order = self.house.order();
        let place = |name: &str| order.iter().position(|room| room == name).unwrap_or(order.len());
        let mut rows = Vec::new();
        for room in order.iter().filter(|room| self.lines.contains_key(*room)) {
            let mut counts: BTreeMap<(usize, &str), usize> = BTreeMap::new();
            for edge in self.edges.iter().filter(|edge| edge.from == *room) {
                *counts.entry((place(&edge.to), &edge.to)).or_default() += 1;
            }
            let counts: Vec<String> = counts.into_iter().map(|((_, name), count)| format!("{name} {count}")).collect();
            rows.push([room.clone(), self.lines[room].to_string(), counts.join(", ")]);
        }
        rows
    }
}

/// Returns a line for each pair of rooms whose import violates the order and closes a cycle: the shortest such cycle.
/// Every cycle has such a pair.
fn find_cycles(edges: &[&RoomImport], backward: &[&RoomImport]) -> Vec<String> {
    let mut pairs = BTreeSet::new();
    let new = backward.iter().filter(|edge| pairs.insert((&edge.from, &edge.to)));
    let close = |edge: &&RoomImport| {
        let back = find_shortest_path(edges, &edge.to, &edge.from)?;
        Some(format_cycle(&[&[*edge], back.as_slice()].concat()))
    };
    new.filter_map(close).collect()
}

/// Formats a cycle as text.
pub(crate) fn format_cycle(circle: &[&RoomImport]) -> String {
    let steps: Vec<String> =
        circle.iter().map(|edge| format!("{} -> {} ({})", edge.from, edge.to, edge.place)).collect();
    format!("a circle: {}", steps.join(", "))
}

/// Returns the imports of a shortest path from one room to another.
pub(crate) fn find_shortest_path<'e>(edges: &[&'e RoomImport], from: &str, to: &str) -> Option<Vec<&'e RoomImport>> {
    let mut ways: Vec<Vec<&RoomImport>> = vec![Vec::new()];
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let end = way.last().map_or(from, |edge| edge.to.as_str());
            for edge in edges.iter().filter(|edge| edge.from == end) {
                let extended = [way.as_slice(), &[*edge]].concat();
                if edge.to == to {
                    return Some(extended);
                }
                if reached.insert(&edge.to) {
                    longer.push(extended);
                }
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::{Exception, Room};

    const PLANTED: House = House {
        rooms: &[
            Room { name: "ground", is_stage: false },
            Room { name: "first", is_stage: true },
            Room { name: "second", is_stage: true },
            Room { name: "dialect", is_stage: false },
            Room { name: "roof", is_stage: false },
        ],
        exceptions: &[],
        packages: &[],
    };

    /// Returns the violations in a house of these files, with an empty file added for every room.
    fn find_violations_in(house: &House, files: &[(&str, &str)]) -> Vec<String> {
        let empty = house.rooms.iter().map(|room| RustSource::new(format!("src/{}.rs", room.name), ""));
        let sources: Vec<RustSource> =
            empty.chain(files.iter().map(|(path, text)| RustSource::new(*path, text))).collect();
        RoomGraph::from_sources(house, &sources).find_violations()
    }

    #[test]
    fn accepts_imports_of_preceding_rooms() {
        let files = [
            ("src/second/a.rs", "use crate::{first::X, ground};"),
            ("src/dialect/a.rs", "use crate::ground::X;"),
            ("src/first/ir/a.rs", "use crate::{dialect, first, ground::X};"),
            ("src/second/ir/a.rs", "use crate::first::ir::X; use super::super::Y;"),
            ("src/roof/a.rs", "use crate::second::ir::a::X;"),
        ];
        assert_eq!(find_violations_in(&PLANTED, &files), Vec::<String>::new());
    }

    #[test]
    fn names_import_of_later_room() {
        let expect = |path: &str, text: &str, expected: &str| {
            assert_eq!(find_violations_in(&PLANTED, &[(path, text)]), [expected])
        };
        expect(
            "src/first/a.rs",
            "\nuse crate::second::X;",
            "src/first/a.rs:2: first imports crate::second::X, which stands later",
        );
        expect(
            "src/first/a.rs",
            "use super::super::roof;",
            "src/first/a.rs:1: first imports crate::roof, which stands later",
        );
        expect(
            "src/second/a.rs",
            "use crate::dialect::X;",
            "src/second/a.rs:1: second imports crate::dialect::X, which stands later",
        );
        let of_ir = "src/first/ir/a.rs:1: first/ir imports crate::second::X, which stands later";
        expect("src/first/ir/a.rs", "fn f(x: crate::second::X) {}", of_ir);
        expect(
            "src/dialect/a.rs",
            "use crate::second::X;",
            "src/dialect/a.rs:1: dialect imports crate::second::X, which is a stage",
        );
        expect("src/lost/a.rs", "", "src/lost: has no row in ROOMS of tools/rooms/src/house.rs");
    }

    #[test]
    fn rejects_stage_import_of_own_ir() {
        let files = [("src/first/mod.rs", "pub use ir::X;"), ("src/first/ir/mod.rs", "")];
        assert_eq!(
            find_violations_in(&PLANTED, &files),
            ["src/first/mod.rs:1: first imports crate::first::ir::X, which stands later"]
        );
    }

    #[test]
    fn names_cycle_with_its_imports() {
        let files = [
            ("src/ground/a.rs", "use crate::second::X;"),
            ("src/second/a.rs", "use crate::first;"),
            ("src/first/a.rs", "use crate::ground;"),
        ];
        let found = find_violations_in(&PLANTED, &files);
        assert_eq!(
            found,
            [
                "src/ground/a.rs:1: ground imports crate::second::X, which stands later",
                "a circle: ground -> second (src/ground/a.rs:1), second -> first (src/second/a.rs:1), first -> ground (src/first/a.rs:1)",
            ]
        );
    }

    #[test]
    fn ignores_comments_strings_and_tests() {
        let text =
            "// crate::roof::X\nconst A: &str = \"crate::roof::X\";\n#[cfg(test)]\nmod tests { use crate::roof::X; }";
        assert_eq!(find_violations_in(&PLANTED, &[("src/ground/a.rs", text)]), Vec::<String>::new());
    }

    #[test]
    fn tolerates_exception_while_its_import_exists() {
        let known = House { exceptions: &[Exception { from: "ground", to: "roof", reason: "why" }], ..PLANTED };
        assert_eq!(
            find_violations_in(
                &known,
                &[("src/ground/a.rs", "use crate::roof;"), ("src/roof/a.rs", "use crate::ground;")]
            ),
            Vec::<String>::new()
        );
        assert_eq!(find_violations_in(&known, &[]), ["EXCEPTIONS names ground -> roof (why), which is none any more"]);
    }
}
