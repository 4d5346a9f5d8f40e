//! Command-line options of a compilation, shared by all tools that compile.

use crate::{
    bundle::{AddressMode, LoopMode},
    codes,
    hint::TileCount,
    import::{Precision, Rounding},
    kernel::{FixedNumberKind, KernelMode},
    layout::StickStrategy,
    pipeline::CompileOptions,
    validate::ValidationMode,
};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use cost::Objective;
use program::SymbolicCount;
use sdsc_check::Profile;
use strum::VariantNames;

/// Headings of the options in `--help`.
const INPUT: &str = "Input";
const HINTS: &str = "Hints";
pub(super) const OPTIMIZATION: &str = "Optimization";
const TARGET: &str = "Target";

/// Returns the parser of an option with these values, which are the pipeline's names.
fn names(names: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(names)
}

/// Returns the parser of a kind of parameters that tuning may search without a knob.
pub(super) fn kinds() -> impl TypedValueParser<Value = FixedNumberKind> {
    names(FixedNumberKind::VARIANTS).try_map(|name| name.parse::<FixedNumberKind>())
}

/// Returns the parser of a validation mode.
pub(super) fn modes() -> impl TypedValueParser<Value = ValidationMode> {
    names(ValidationMode::VARIANTS).try_map(|name| name.parse::<ValidationMode>())
}

/// Options of a compilation that the user may set.
#[derive(Args)]
pub(super) struct PipelineArguments {
    /// Function to compile, if several are public
    #[arg(long, value_name = "NAME", help_heading = INPUT)]
    entry: Option<String>,
    /// Size of a dynamic dimension (arg0.0=128, NAME=128); MAX:STEP defers it to the launch
    #[arg(long, value_name = "DIM=SIZE", value_delimiter = ',', help_heading = INPUT)]
    dim_size: Vec<String>,
    /// f32 beside f16: 16 bits (device), angles kept (mixed), reject (strict)
    #[arg(long, value_name = "MODE", default_value = "mixed", value_parser = names(Precision::VARIANTS), help_heading = INPUT)]
    precision: String,
    /// Keep f32-f16-f32 round trips (exact) or drop them (relaxed)
    #[arg(long, value_name = "MODE", default_value = "exact", value_parser = names(Rounding::VARIANTS), help_heading = INPUT)]
    rounding: String,
    /// Name the dimensions of an argument in storage order; NAME@SIZE declares the size
    #[arg(long, value_name = "ARG=NAME:NAME", value_delimiter = ',', help_heading = HINTS)]
    dims: Vec<String>,
    /// Tile the whole function along named dimensions, outermost first
    #[arg(long, value_name = "NAME=COUNT", value_delimiter = ',', help_heading = HINTS)]
    tiles: Vec<String>,
    /// Value of a symbolic tile count
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',', help_heading = HINTS)]
    bind: Vec<String>,
    /// Value of a tunable kernel parameter
    #[arg(long, value_name = "KERNEL.KNOB=VALUE", value_delimiter = ',', help_heading = HINTS)]
    knobs: Vec<String>,
    /// Minimize modeled time or HBM bytes: time, bytes
    #[arg(long, value_name = "WHAT", default_value = "time", value_parser = names(Objective::VARIANTS), help_heading = OPTIMIZATION)]
    objective: String,
    /// Search tilings for ops without hints: auto, none [default: auto with --joint]
    #[arg(long, value_name = "MODE", value_parser = ["auto", "none"], help_heading = OPTIMIZATION)]
    tile_search: Option<String>,
    /// Search budget: ops evaluated per 64 ops of the program [default: 3000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = OPTIMIZATION)]
    tile_steps: Option<String>,
    /// Choose core splits and LX allocation together [default without --lx-planner]
    #[arg(long, help_heading = OPTIMIZATION)]
    joint: bool,
    /// LX allocator: none, greedy, first-fit, best-fit, exact [default: exact with --joint]
    #[arg(long, value_name = "PLANNER", value_parser = ["none", "greedy", "first-fit", "best-fit", "exact"], help_heading = OPTIMIZATION)]
    lx_planner: Option<String>,
    /// Kernel fusion: fuse, form (and create kernels), separate [default: fuse with --joint]
    #[arg(long, value_name = "MODE", value_parser = names(KernelMode::VARIANTS), help_heading = OPTIMIZATION)]
    kernels: Option<String>,
    /// Choose stick dimensions jointly or op by op: global, greedy
    #[arg(long, value_name = "MODE", default_value = "global", value_parser = names(StickStrategy::VARIANTS), help_heading = OPTIMIZATION)]
    sticks: String,
    /// Override machine parameters, such as {"cores": 4}
    #[arg(long, value_name = "FILE.json", help_heading = TARGET)]
    target: Option<String>,
    /// Number of cores to use [default: all 32]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = TARGET)]
    cores: Option<String>,
    /// Usable LX bytes per core [default: 1625344]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = TARGET)]
    lx_bytes: Option<String>,
    /// Addresses of launch arguments: symbolic, or absolute (baked)
    #[arg(long, value_name = "MODE", default_value = "symbolic", value_parser = names(AddressMode::VARIANTS), help_heading = TARGET)]
    addresses: String,
    /// Emit scf.for or one execute per iteration: keep, unroll
    #[arg(long, value_name = "MODE", default_value = "keep", value_parser = names(LoopMode::VARIANTS), help_heading = TARGET)]
    loops: String,
    /// Format of the bundle files, such as 1.0
    #[arg(long, value_name = "FORMAT", default_value = "torch-spyre-2026-08", value_parser = names(Profile::VARIANTS), help_heading = TARGET)]
    bundle_format: String,
}

impl PipelineArguments {
    /// Converts the arguments to options, which are not yet checked against one another.
    pub(super) fn to_options(&self) -> Result<CompileOptions, String> {
        let mut options = CompileOptions::default();
        let one = [
            ("entry", &self.entry),
            ("cores", &self.cores),
            ("target", &self.target),
            ("lx-planner", &self.lx_planner),
            ("lx-bytes", &self.lx_bytes),
            ("addresses", &Some(self.addresses.clone())),
            ("loops", &Some(self.loops.clone())),
            ("bundle-format", &Some(self.bundle_format.clone())),
            ("tile-search", &self.tile_search),
            ("tile-steps", &self.tile_steps),
            ("kernels", &self.kernels),
            ("objective", &Some(self.objective.clone())),
            ("precision", &Some(self.precision.clone())),
            ("rounding", &Some(self.rounding.clone())),
            ("sticks", &Some(self.sticks.clone())),
        ];
        one.into_iter()
            .try_for_each(|(name, value)| value.as_ref().map_or(Ok(()), |value| options.set(name, value)))?;
        let lists = [
            ("dim-size", &self.dim_size),
            ("tiles", &self.tiles),
            ("bind", &self.bind),
            ("knobs", &self.knobs),
            ("dims", &self.dims),
        ];
        for (name, values) in lists {
            values.iter().try_for_each(|value| options.set(name, value))?;
        }
        if self.joint {
            options.joint = Some(true);
        }
        self.check_numbers(&options)?;
        Ok(options)
    }

    /// Rejects numbers below 1. A pass would interpret them as a request for its default.
    fn check_numbers(&self, options: &CompileOptions) -> Result<(), String> {
        if self.cores.is_some() && options.cores < 1 {
            return Err(codes::OPTION_VALUE.format(format_args!(
                "option 'cores': expected 1 to 32 cores, found {}; remove the option to use all",
                options.cores
            )));
        }
        if self.lx_bytes.is_some() && options.lx_bytes < 0 {
            let advice = "remove the option to use all of LX";
            return Err(codes::OPTION_VALUE.format(format_args!(
                "option 'lx-bytes': expected a nonnegative number of bytes, found {}; {advice}",
                options.lx_bytes
            )));
        }
        check_tiles(&options.tiles)
    }
}

/// Rejects two tile hints for one dimension name: they would be nested loops over the same dimension.
fn check_tiles(tiles: &[TileCount]) -> Result<(), String> {
    for (position, tile) in tiles.iter().enumerate() {
        let Some(first) = tiles[..position].iter().find(|first| first.dim == tile.dim) else { continue };
        let advice = match (&first.count, &tile.count) {
            (SymbolicCount::Number(one), SymbolicCount::Number(other)) => {
                format!("use '{}={}'", tile.dim, one.saturating_mul(*other))
            }
            _ => "give one count".to_owned(),
        };
        return Err(codes::TILES_TWICE.format(format_args!(
            "option 'tiles': dimension '{}' is given twice, as '{first}' and '{tile}'; {advice}",
            tile.dim
        )));
    }
    Ok(())
}
