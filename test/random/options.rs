//! Random compile configurations: the options of `spyre-compile`, and machines.

use crate::random::choices::Choices;
use cost::Objective;
use machine::Target;
use sdsc_check::Profile;
use spyre_compiler::{
    bundle::{AddressMode, LoopMode},
    import::{Precision, Rounding},
    layout::StickStrategy,
    pipeline::{CompileOptions, Phase},
};
use std::{env, path::Path};

const LX_BYTES: [i64; 8] = [-1, 256, 1024, 4096, 8192, 65536, 262_144, 1_048_576];
/// The empty name is no option.
const PLANNERS: [&str; 6] = ["", "none", "greedy", "first-fit", "best-fit", "exact"];

/// Options of `spyre-compile` that are drawn, here or with the hints.
pub(crate) const DRAWN_OPTIONS: [&str; 18] = [
    "--cores",
    "--target",
    "--tiles",
    "--bind",
    "--dims",
    "--lx-planner",
    "--joint",
    "--lx-bytes",
    "--addresses",
    "--loops",
    "--objective",
    "--precision",
    "--rounding",
    "--sticks",
    "--tile-search",
    "--tile-steps",
    "--validate",
    "--bundle-format",
];

/// Options that do not change the output for a program of one function and of static sizes: output paths, the last
/// phase, verbosity, and the selection of function and sizes. `test/random_kernels.rs` draws options of kernels.
#[cfg(test)]
pub(crate) const UNDRAWN_OPTIONS: [&str; 25] = [
    "--certificate",
    "--compare",
    "--compile-to",
    "--dim-size",
    "--entry",
    "--format",
    "--kernels",
    "--knobs",
    "--open",
    "--plan",
    "--quiet",
    "--remarks-filter",
    "--remarks-filter-analysis",
    "--remarks-filter-missed",
    "--remarks-filter-passed",
    "--remarks-output-file",
    "--report",
    "--trace",
    "--tune",
    "--verbose",
    "--write-plan",
    "--help",
    "--explain",
    "--help-all",
    "--version",
];

/// Compile configuration.
#[derive(Clone, Debug)]
pub(crate) struct CompileConfig {
    pub(crate) options: CompileOptions,
    /// Non-default machine.
    machine: Option<Target>,
    /// Whether files are written only if validation succeeds.
    pub(crate) is_validated: bool,
}

/// Returns whether every compilation is validated, instead of one in twelve.
fn is_always_validated() -> bool {
    env::var_os("SPYRE_RANDOM_VALIDATE").is_some()
}

impl CompileConfig {
    /// Draws every choice at random; the first alternative of each is the default.
    pub(crate) fn draw(choices: &mut Choices) -> Self {
        let cores = if choices.one_in(2) { 1 + choices.below(32) } else { 0 };
        let planner = choices.one_in(2).then(|| *choices.pick(&PLANNERS)).filter(|name| !name.is_empty());
        let lx_bytes = if choices.one_in(3) { *choices.pick(&LX_BYTES) } else { -1 };
        let joint = if planner == Some("exact") { *choices.pick(&[None, Some(true), Some(false)]) } else { None };
        let options = CompileOptions {
            cores: i64::try_from(cores).unwrap(),
            lx_planner: planner.map(|planner| planner.parse().unwrap()),
            joint,
            lx_bytes,
            addresses: if choices.one_in(5) { AddressMode::Baked } else { AddressMode::Symbolic },
            loops: if choices.one_in(3) { LoopMode::Unroll } else { LoopMode::Keep },
            // Between 16-bit numbers it is mostly rejected.
            precision: if choices.one_in(16) { Precision::Strict } else { Precision::Device },
            sticks: if choices.one_in(4) { StickStrategy::Greedy } else { StickStrategy::Global },
            compile_to: Phase::Emit,
            ..CompileOptions::default()
        };
        let mut way = Self { options, machine: None, is_validated: choices.one_in(12) || is_always_validated() };
        if choices.one_in(10) {
            way.machine = Some(Target {
                cores: *choices.pick(&[32, 8, 3, 64]),
                lx_bytes: *choices.pick(&[1_625_344, 4096, 32768]),
                core_span_bytes: *choices.pick(&[65_535 * 4096, 65536, 16384]),
                ..Target::spyre()
            });
            // The limits of the machine are not exceeded.
            (way.options.cores, way.options.lx_bytes) = (0, -1);
        }
        if choices.one_in(6) {
            way.options.tile_search = Some(false);
        } else if choices.one_in(3) {
            way.options.tile_steps = Some(*choices.pick(&[0, 1, 40, 200]));
        }
        // Derived without a draw, so that cases keep their numbers.
        if way.options.tile_steps == Some(200) && way.options.is_joint() {
            way.options.objective = Objective::Bytes;
        }
        way.options.bundle_format = match way.options.tile_steps {
            Some(1) => Profile::TorchSpyre2026_09,
            Some(40) => Profile::Release1_0,
            _ => Profile::default(),
        };
        // Unrolling does not change programs that compile without it.
        if way.options.loops == LoopMode::Unroll {
            way.options.rounding = Rounding::Relaxed;
        }
        way
    }

    /// Returns the machine for which the files are.
    pub(crate) fn target(&self) -> Target {
        self.machine.clone().unwrap_or_else(Target::spyre)
    }

    pub(crate) const fn has_machine(&self) -> bool {
        self.machine.is_some()
    }

    /// Returns the options; writes the file of the machine to a folder.
    pub(crate) fn options_in(&self, folder: &Path) -> CompileOptions {
        let mut options = self.options.clone();
        if let Some(machine) = &self.machine {
            let path = folder.join("machine.json");
            std::fs::write(&path, serde_json::to_string(machine).unwrap()).unwrap();
            options.target = path.to_string_lossy().into_owned();
        }
        options
    }

    /// Formats the non-default options as arguments of `spyre-compile`.
    pub(crate) fn words(&self, options: &CompileOptions) -> Vec<String> {
        // Settings of the planner without a command-line option.
        let is_word = |(name, value): &(&str, String)| *name != "joint" || value == "true";
        let as_words = |(name, value)| match name {
            "joint" => vec!["--joint".to_owned()],
            _ => vec![format!("--{name}"), value],
        };
        let mut words: Vec<String> =
            options.explicit_options().into_iter().filter(is_word).flat_map(as_words).collect();
        words.push(if self.is_validated { "--validate" } else { "--validate=off" }.to_owned());
        words
    }

    /// Returns the options as command-line text, for the report of a case.
    pub(crate) fn text(&self) -> String {
        let mut options = self.options.clone();
        if let Some(Target { cores, lx_bytes, core_span_bytes, .. }) = &self.machine {
            options.target = format!(
                "<(echo '{{\"cores\": {cores}, \"lx_bytes\": {lx_bytes}, \"core_span_bytes\": {core_span_bytes}}}')"
            );
        }
        self.words(&options).join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, process::Command};

    /// Fails for a new option until it is drawn or listed as irrelevant.
    #[test]
    fn draws_every_tool_option() {
        let help = Command::new(env!("CARGO_BIN_EXE_spyre-compile")).arg("--help-all").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let is_option = |word: &&str| word.starts_with("--") && word.len() > 2;
        let of_line = |line: &str| line.split([' ', ',', '<', '[']).find(is_option).map(str::to_owned);
        let has: BTreeSet<String> =
            help.lines().filter(|line| line.trim_start().starts_with('-')).filter_map(of_line).collect();
        let known: BTreeSet<String> =
            DRAWN_OPTIONS.iter().chain(&UNDRAWN_OPTIONS).map(|&name| name.to_owned()).collect();
        assert_eq!(has, known);
    }
}
