//! Import rules for rooms and packages, defined only here.

/// Room: a folder of `src`, or a file there.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Its name in `crate::NAME`.
    pub name: &'static str,
    /// A stage has a folder `ir`, a separate room: [`House::may_import`] defines its allowed imports.
    pub is_stage: bool,
}

/// Package of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// Folder; empty for the project's own package.
    pub folder: &'static str,
    /// Packages of the workspace that it depends on, including those of its tests.
    pub needs: &'static [&'static str],
}

impl Package {
    /// Returns whether the package is in the folder `crates`: it then needs no MLIR.
    #[must_use]
    pub fn is_library(&self) -> bool {
        self.folder.starts_with("crates/")
    }
}

/// Phase of a compilation, as the picture of the architecture shows it.
#[derive(Clone, Copy, Debug)]
pub struct Phase {
    /// Name in `--compile-to`.
    pub name: &'static str,
    /// Decision that the phase writes into the IR.
    pub writes: &'static str,
    /// Stages whose passes run in the phase.
    pub stages: &'static [&'static str],
}

const fn phase(name: &'static str, writes: &'static str, stages: &'static [&'static str]) -> Phase {
    Phase { name, writes, stages }
}

/// Phases in the order in which they run. `test/tidy.rs` compares them with `spyre_compiler::phase`.
pub const PHASES: [Phase; 8] = [
    phase("import", "spyre ops", &["import", "kernel"]),
    phase("layout", "layouts", &["layout", "peel"]),
    phase("hint", "names, hints", &["hint", "search"]),
    phase("tile", "loops", &["tile"]),
    phase("work", "core splits", &["work", "joint"]),
    phase("lx", "places", &["lx"]),
    phase("bundle", "op specs", &["bundle", "launch"]),
    phase("emit", "files", &["sdsc"]),
];

/// Tolerated import that violates the order.
#[derive(Clone, Copy, Debug)]
pub struct Exception {
    /// Importing room.
    pub from: &'static str,
    /// Imported room.
    pub to: &'static str,
    /// Reason for the exception.
    pub reason: &'static str,
}

/// Rooms and packages with their order.
#[derive(Clone, Copy, Debug)]
pub struct House {
    /// Rooms of `src`; each imports only rooms that precede it.
    pub rooms: &'static [Room],
    /// Imports in `src` that violate that order.
    pub exceptions: &'static [Exception],
    /// Packages, each with all its dependencies in the workspace.
    pub packages: &'static [Package],
}

const fn stage(name: &'static str) -> Room {
    Room { name, is_stage: true }
}

const fn room(name: &'static str) -> Room {
    Room { name, is_stage: false }
}

const fn library(name: &'static str, folder: &'static str, needs: &'static [&'static str]) -> Package {
    Package { name, folder, needs }
}

/// The required order of rooms.
///
/// First the MLIR-free halves of the stages in the order in which a program passes through them, each next to the rooms
/// that it computes with; then `mlir`, `dialect` and the folders `ir` of the stages; then the rooms that process full
/// programs and run the stages.
pub const HOUSE: House = House {
    rooms: &[
        room("codes"),
        room("assignment"),
        room("plan_file"),
        stage("import"),
        stage("layout"),
        stage("hint"),
        stage("tile"),
        stage("work"),
        stage("lx"),
        stage("joint"),
        stage("search"),
        stage("kernel"),
        stage("peel"),
        stage("bundle"),
        room("traffic"),
        stage("launch"),
        stage("sdsc"),
        room("tune"),
        room("mlir"),
        room(IR_PREDECESSOR),
        room("interpret"),
        room("reference"),
        room("phase"),
        room("gate"),
        room("remark"),
        room("validate"),
        room("pipeline"),
        room("explain"),
        room("report"),
        room("compile"),
        room("translate"),
        room("tool"),
        room("plugin"),
    ],
    exceptions: &[],
    packages: &[
        library("spyre-cost", "crates/cost", &["spyre-machine"]),
        library("spyre-element", "crates/element", &["spyre-machine"]),
        library("spyre-files", "crates/files", &[]),
        library("spyre-machine", "crates/machine", &[]),
        library("spyre-program", "crates/program", &["spyre-cost", "spyre-machine"]),
        library(
            "spyre-referee",
            "crates/referee",
            &["spyre-cost", "spyre-element", "spyre-files", "spyre-machine", "spyre-sdsc-format"],
        ),
        library("spyre-scratchpad", "crates/scratchpad", &["spyre-machine", "spyre-scratchpad-verify"]),
        library("spyre-scratchpad-verify", "crates/scratchpad-verify", &[]),
        library("spyre-sdsc-check", "crates/sdsc-check", &["spyre-files", "spyre-machine", "spyre-sdsc-format"]),
        library("spyre-sdsc-format", "crates/sdsc-format", &["spyre-files"]),
        library(
            "spyre-compiler",
            "",
            &[
                "spyre-cost",
                "spyre-element",
                "spyre-files",
                "spyre-machine",
                "spyre-program",
                "spyre-referee",
                "rooms",
                "spyre-scratchpad",
                "spyre-scratchpad-verify",
                "spyre-sdsc-check",
                "spyre-sdsc-format",
                "spyre-tile-verify",
            ],
        ),
        library("spyre-tile-verify", "crates/tile-verify", &["spyre-cost", "spyre-machine"]),
        library("spyre", "spyre", &["spyre-compiler", "spyre-machine", "spyre-referee", "spyre-sdsc-format"]),
        library("spyre-c", "capi", &["spyre-compiler"]),
        library(
            "spyre-python",
            "python",
            &["spyre-machine", "spyre-referee", "spyre-scratchpad", "spyre-sdsc-format", "spyre-compiler"],
        ),
        library("mutate-passes", "tools/mutate-passes", &[]),
        library("rooms", "tools/rooms", &[]),
        library("xtask", "tools/xtask", &["rooms"]),
    ],
};

/// The room that precedes the folders `ir` of the stages, which are in the order of the stages.
const IR_PREDECESSOR: &str = "dialect";

/// Rooms that all stages use, and that therefore import none of them.
const STAGE_FREE_ROOMS: [&str; 2] = ["mlir", IR_PREDECESSOR];

/// Folder of a stage that is a separate room.
const IR: &str = "ir";

/// Position of a room: its row, and its position after that row.
type RoomPosition = (usize, usize);

impl House {
    /// Returns the packages of the folder `crates`, which need no MLIR.
    pub fn libraries(&self) -> impl Iterator<Item = &'static Package> + use<> {
        self.packages.iter().filter(|package| package.is_library())
    }

    /// Returns the names of all rooms in flow order, `ir` folders included: `layout`, and after `dialect` `layout/ir`.
    #[must_use]
    pub fn order(&self) -> Vec<String> {
        let mut order = Vec::new();
        for room in self.rooms {
            order.push(room.name.to_owned());
            if room.name == IR_PREDECESSOR {
                order.extend(self.stages().map(|stage| format!("{stage}/{IR}")));
            }
        }
        order
    }

    /// Returns the names of the stages, in flow order.
    pub fn stages(&self) -> impl Iterator<Item = &'static str> {
        self.rooms.iter().filter(|room| room.is_stage).map(|room| room.name)
    }

    /// Returns the room of a module: `layout/ir` for `layout::ir::program`.
    pub(crate) fn room_of(&self, module: &[String]) -> String {
        match module {
            [stage, folder, ..] if folder == IR && self.stages().any(|known| known == stage) => format!("{stage}/{IR}"),
            [name, ..] => name.clone(),
            [] => String::new(),
        }
    }

    /// Returns the row of a room; for a folder `ir`, the row of its stage.
    fn row(&self, name: &str) -> Option<usize> {
        let stage = name.split('/').next().unwrap_or(name);
        self.rooms.iter().position(|room| room.name == stage)
    }

    fn position(&self, name: &str) -> Option<RoomPosition> {
        let row = self.row(name)?;
        if !name.contains('/') {
            return Some((row, 0));
        }
        self.rooms[row].is_stage.then_some(())?;
        Some((self.row(IR_PREDECESSOR)?, 1 + row))
    }

    /// Returns whether room `from` may import room `to`: it may import all rooms that precede it. The folder `ir` of a
    /// stage, however, may import neither a later stage nor the rooms next to a later stage. Rooms that all stages use
    /// (`mlir`, `dialect`) import no stage.
    #[must_use]
    pub fn may_import(&self, from: &str, to: &str) -> bool {
        let (Some(above), Some(below)) = (self.position(from), self.position(to)) else { return false };
        if self.is_forbidden_stage(from, to) {
            return false;
        }
        let last_stage = self.rooms.iter().rposition(|room| room.is_stage);
        let is_of_flow = Some(below.0) <= last_stage;
        below < above && !(from.contains('/') && is_of_flow && self.row(to) > self.row(from))
    }

    /// Returns the reason why [`Self::may_import`] rejects an import.
    pub(crate) fn explain_rejection(&self, from: &str, to: &str) -> &'static str {
        if self.is_forbidden_stage(from, to) && self.position(to) < self.position(from) {
            "is a stage"
        } else {
            "stands later"
        }
    }

    fn is_forbidden_stage(&self, from: &str, to: &str) -> bool {
        STAGE_FREE_ROOMS.contains(&from) && self.row(to).is_some_and(|row| self.rooms[row].is_stage)
    }
}

#[cfg(test)]
mod tests {
    use super::HOUSE;

    #[test]
    fn rejects_stage_imports_of_dialects() {
        assert!(!HOUSE.may_import("dialect", "layout"), "a stage");
        assert!(HOUSE.may_import("dialect", "mlir") && HOUSE.may_import("layout/ir", "layout"));
    }
}
