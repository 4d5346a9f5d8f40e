//! Checks which packages of the workspace and which rooms of `src` import each other.
//!
//! A room is a folder or file of `src`; the folder `ir` of a stage is a separate room. `house.rs` alone defines the
//! order of rooms and the dependencies of packages. No package may have import cycles between files.
//! `cargo xtask rooms` prints the imports, and the test `tidy` fails on violations. Files are tokenized, not parsed as
//! Rust, so code in macros counts; code under `#[cfg(test)]` does not.

mod files;
mod graph;
mod house;
mod imports;
mod packages;
mod picture;
mod source;

pub use house::{Exception, HOUSE, House, PHASES, Package, Phase, Room};
pub use picture::render_architecture;
pub use source::RustSource;

use graph::RoomGraph;
use packages::Packages;
use std::{fmt::Write, path::Path};

/// Import structure of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rooms {
    /// Tables of packages and rooms.
    pub text: String,
    /// All violations, one line each.
    pub wrong: Vec<String>,
}

/// Reads the project in the folder `root`.
///
/// # Errors
/// A file cannot be read.
pub fn read_rooms(root: &Path) -> Result<Rooms, String> {
    let packages = Packages::read(root)?;
    let sources = RustSource::read_all(root, &["src"])?;
    let graph = RoomGraph::from_sources(&HOUSE, &sources);
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{}", line.trim_end()).map_err(|error| error.to_string());
    line(format!("{:<20}{:<30}{:>6}  depends on", "package", "folder", "lines"))?;
    for [name, folder, lines, needs] in packages.table(&HOUSE, root)? {
        line(format!("{name:<20}{folder:<30}{lines:>6}  {needs}"))?;
    }
    line(String::new())?;
    line(format!("{:<20}{:>6}  imports, with the number of places", "room of src", "lines"))?;
    for [room, lines, counts] in graph.table() {
        line(format!("{room:<20}{lines:>6}  {counts}"))?;
    }
    let mut wrong = packages.find_violations(&HOUSE);
    wrong.extend(graph.find_violations());
    for package in HOUSE.packages {
        let folder = Path::new(package.folder).join("src");
        let room_of = |module: &[String]| if package.folder.is_empty() { HOUSE.room_of(module) } else { String::new() };
        wrong.extend(files::find_file_cycles(&RustSource::read_all(root, &[&folder.to_string_lossy()])?, room_of));
    }
    Ok(Rooms { text, wrong })
}
