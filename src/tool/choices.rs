//! What a user may choose about a compilation, as the command line has it: the same for all tools that compile.

use crate::{
    bundle::{Addresses, Loops},
    codes,
    hint::{Count, TileCount},
    import::{Precision, Rounding},
    kernel::{FixedKind, KernelMode},
    layout::Strategy,
    pipeline::Options,
    validate::Mode,
};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use cost::Objective;
use strum::VariantNames;

/// Reads one of the names of an option, as the pipeline has them.
fn names(names: &'static [&'static str]) -> PossibleValuesParser {
    PossibleValuesParser::new(names)
}

/// Reads a kind of numbers that tuning may search without a knob.
pub(super) fn kinds() -> impl TypedValueParser<Value = FixedKind> {
    names(FixedKind::VARIANTS).try_map(|name| name.parse::<FixedKind>())
}

/// Reads when a compilation is validated.
pub(super) fn modes() -> impl TypedValueParser<Value = Mode> {
    names(Mode::VARIANTS).try_map(|name| name.parse::<Mode>())
}

/// What a user may choose about a compilation.
#[derive(Args)]
pub(super) struct Choices {
    /// The function to compile, where the module has several public ones
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// The size of a dimension that the program leaves open: argA.D=SIZE, or NAME=SIZE of a name in spyre.dims; MAX:STEP for SIZE leaves
    /// it to the launch: at most MAX, a multiple of STEP; repeatable
    #[arg(long, value_name = "argA.D=SIZE", value_delimiter = ',')]
    dim_size: Vec<String>,
    /// Cores to use, 1 to 32
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    cores: Option<String>,
    /// Another machine: a JSON file with any of the numbers of crates/machine/src/lib.rs
    #[arg(long, value_name = "FILE.json")]
    target: Option<String>,
    /// A hint around the whole function: NAME=COUNT[,...], outermost first; repeatable
    #[arg(long, value_name = "NAME=COUNT", value_delimiter = ',')]
    tiles: Vec<String>,
    /// The number that the name of a count stands for, in --tiles or in a hint scope: NAME=NUMBER[,...]; repeatable
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',')]
    bind: Vec<String>,
    /// The value of a knob of the kernels of one name: KERNEL.KNOB=VALUE[,...]; repeatable
    #[arg(long, value_name = "KERNEL.KNOB=VALUE", value_delimiter = ',')]
    knobs: Vec<String>,
    /// Move neighbours into kernels where that pays, make kernels of hint scopes and products too, or neither: fuse, form or separate
    /// [default: fuse with --joint]
    #[arg(long, value_name = "MODE", value_parser = names(KernelMode::VARIANTS))]
    kernels: Option<String>,
    /// Names an argument in storage order, outermost first: ARG=NAME:NAME[,...], NAME@SIZE where the shape does not say the size; repeatable
    #[arg(long, value_name = "ARG=NAME:NAME", value_delimiter = ',')]
    dims: Vec<String>,
    /// The scratchpad planner: none, greedy, first-fit, best-fit or exact [default: exact with --joint]
    #[arg(long, value_name = "PLANNER", value_parser = ["none", "greedy", "first-fit", "best-fit", "exact"])]
    lx_planner: Option<String>,
    /// Choose the division of work and the scratchpad together; needs the planner exact
    #[arg(long)]
    joint: bool,
    /// Usable LX bytes per core
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    lx_bytes: Option<String>,
    /// Kernel arguments as symbols, or absolute addresses: symbolic or baked
    #[arg(long, value_name = "MODE", default_value = "symbolic", value_parser = names(Addresses::VARIANTS))]
    addresses: String,
    /// scf.for, or one execute per iteration: keep or unroll
    #[arg(long, value_name = "MODE", default_value = "keep", value_parser = names(Loops::VARIANTS))]
    loops: String,
    /// Choose loops for ops without hints, where the scratchpad is too small for what is between them: auto or none [default: auto with --joint]
    #[arg(long, value_name = "MODE", value_parser = ["auto", "none"])]
    tile_search: Option<String>,
    /// The most ops that the search for loops may judge in each 64 ops of the program [default: 3000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    tile_steps: Option<String>,
    /// What plans are compared by: modelled time, or bytes to and from HBM: time or bytes
    #[arg(long, value_name = "WHAT", default_value = "time", value_parser = names(Objective::VARIANTS))]
    objective: String,
    /// Fold f32 islands between f16 values, or keep them: device or strict
    #[arg(long, value_name = "MODE", default_value = "device", value_parser = names(Precision::VARIANTS))]
    precision: String,
    /// Round as the program says, or leave out roundings that are widened again: exact or relaxed
    #[arg(long, value_name = "MODE", default_value = "exact", value_parser = names(Rounding::VARIANTS))]
    rounding: String,
    /// Chooses sticks for the whole program, or op by op: global or greedy
    #[arg(long, value_name = "MODE", default_value = "global", value_parser = names(Strategy::VARIANTS))]
    sticks: String,
}

impl Choices {
    /// As the pipeline has them, before they are checked against each other.
    pub(super) fn options(&self) -> Result<Options, String> {
        let mut options = Options::default();
        let one = [
            ("entry", &self.entry),
            ("cores", &self.cores),
            ("target", &self.target),
            ("lx-planner", &self.lx_planner),
            ("lx-bytes", &self.lx_bytes),
            ("addresses", &Some(self.addresses.clone())),
            ("loops", &Some(self.loops.clone())),
            ("tile-search", &self.tile_search),
            ("tile-steps", &self.tile_steps),
            ("kernels", &self.kernels),
            ("objective", &Some(self.objective.clone())),
            ("precision", &Some(self.precision.clone())),
            ("rounding", &Some(self.rounding.clone())),
            ("sticks", &Some(self.sticks.clone())),
        ];
        one.into_iter().try_for_each(|(name, value)| value.as_ref().map_or(Ok(()), |value| options.set(name, value)))?;
        let lists =
            [("dim-size", &self.dim_size), ("tiles", &self.tiles), ("bind", &self.bind), ("knobs", &self.knobs), ("dims", &self.dims)];
        for (name, values) in lists {
            values.iter().try_for_each(|value| options.set(name, value))?;
        }
        if self.joint {
            options.joint = Some(true);
        }
        self.check_numbers(&options)?;
        Ok(options)
    }

    /// Refuses what a pass would take for "as usual".
    fn check_numbers(&self, options: &Options) -> Result<(), String> {
        if self.cores.is_some() && options.cores < 1 {
            return Err(codes::OPTION_VALUE
                .says(format_args!("option 'cores': expected 1 to 32 cores, found {}; remove the option to use all", options.cores)));
        }
        if self.lx_bytes.is_some() && options.lx_bytes < 0 {
            let advice = "remove the option to use all of LX";
            return Err(codes::OPTION_VALUE
                .says(format_args!("option 'lx-bytes': expected a nonnegative number of bytes, found {}; {advice}", options.lx_bytes)));
        }
        check_tiles(&options.tiles)
    }
}

/// Two hints along one name would be loops within each other, which nobody means.
fn check_tiles(tiles: &[TileCount]) -> Result<(), String> {
    for (position, tile) in tiles.iter().enumerate() {
        let Some(first) = tiles[..position].iter().find(|first| first.dim == tile.dim) else { continue };
        let advice = match (&first.count, &tile.count) {
            (Count::Number(one), Count::Number(other)) => format!("use '{}={}'", tile.dim, one.saturating_mul(*other)),
            _ => "give one count".to_owned(),
        };
        return Err(codes::TILES_TWICE
            .says(format_args!("option 'tiles': dimension '{}' is given twice, as '{first}' and '{tile}'; {advice}", tile.dim)));
    }
    Ok(())
}
