//! Options of a compilation, parsed once into typed values.

use super::Phase;
use crate::{
    bundle::{AddressMode, LoopMode},
    codes,
    hint::{CountBinding, DimNames, TileCount},
    import::{DimSize, Precision, Rounding},
    kernel::{KernelMode, KnobValue},
    layout::StickStrategy,
    mlir::{escape, parse_enum, unescape},
};
use cost::Objective;
use scratchpad::find_planner;
use sdsc_check::Profile;
use std::{fmt, str::FromStr};
use strum::VariantNames;

/// Options of a compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// Function to compile; empty for the only public one.
    pub entry: String,
    /// Sizes of dimensions that the program leaves open.
    pub dim_sizes: Vec<DimSize>,
    /// Number of cores to use; 0 for all cores of the machine.
    pub cores: i64,
    /// File that describes another machine; empty for Spyre.
    pub target: String,
    /// Tiles around every function, outermost first.
    pub tiles: Vec<TileCount>,
    /// Values of the named counts in `tiles` or in a hint scope.
    pub bind: Vec<CountBinding>,
    /// Requested values of kernel knobs.
    pub knobs: Vec<KnobValue>,
    /// Treatment of kernels; `None` for fusion with joint planning, and for separate kernels otherwise.
    pub kernels: Option<KernelMode>,
    /// Names of arguments.
    pub dims: Vec<DimNames>,
    /// LX planner; `None` for the best one: `exact`, with joint choice of splits and placement.
    pub lx_planner: Option<PlannerName>,
    /// Whether splits and placement are chosen jointly; `None` for the planner's default.
    pub joint: Option<bool>,
    /// Usable LX bytes per core; -1 for the machine's.
    pub lx_bytes: i64,
    /// Whether kernel arguments have symbolic or absolute addresses.
    pub addresses: AddressMode,
    /// Launch form of counted loops: `scf.for`, or one execute per iteration.
    pub loops: LoopMode,
    /// Profile of the file format.
    pub bundle_format: Profile,
    /// Whether tiles are chosen for ops without hints; `None` to do so where possible.
    pub tile_search: Option<bool>,
    /// Maximum number of ops that the tile search may evaluate per program partition; `None` for the default.
    pub tile_steps: Option<u32>,
    /// Objective that plans are compared by.
    pub objective: Objective,
    /// Plan file to apply; if the file is missing, the chosen plan is written there. Empty for neither.
    pub plan: String,
    /// Whether decisions are recorded for a plan file.
    pub notes_plan: bool,
    /// Whether the tile search computes the savings of a larger LX.
    pub more_lx: bool,
    /// Whether a lower bound over all loop plans is proved, for a certificate.
    pub proves: bool,
    /// Treatment of f32 values between f16 values.
    pub precision: Precision,
    /// Treatment of values that are rounded to a narrower format and widened again.
    pub rounding: Rounding,
    /// Strategy for the choice of stick dimensions.
    pub sticks: StickStrategy,
    /// Last phase to run.
    pub compile_to: Phase,
}

/// Name of an LX planner, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannerName(String);

impl PlannerName {
    /// Returns the best planner.
    fn best() -> Self {
        Self("exact".to_owned())
    }

    /// Returns `none`: no value is in LX.
    #[must_use]
    pub fn none() -> Self {
        Self("none".to_owned())
    }

    /// Returns whether the planner chooses copies into and out of LX.
    fn chooses_residency(&self) -> bool {
        find_planner(&self.0).is_ok_and(|planner| planner.chooses_residency())
    }
}

impl FromStr for PlannerName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let name = Self(name.to_owned());
        if name != Self::none() {
            find_planner(&name.0).map_err(|error| error.to_string())?;
        }
        Ok(name)
    }
}

impl fmt::Display for PlannerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            entry: String::new(),
            dim_sizes: Vec::new(),
            cores: 0,
            target: String::new(),
            tiles: Vec::new(),
            bind: Vec::new(),
            knobs: Vec::new(),
            kernels: None,
            dims: Vec::new(),
            lx_planner: None,
            joint: None,
            lx_bytes: -1,
            addresses: AddressMode::Symbolic,
            loops: LoopMode::Keep,
            bundle_format: Profile::default(),
            tile_search: None,
            tile_steps: None,
            objective: Objective::Time,
            plan: String::new(),
            notes_plan: false,
            more_lx: false,
            proves: false,
            precision: Precision::Mixed,
            rounding: Rounding::Exact,
            sticks: StickStrategy::Global,
            compile_to: Phase::Bundle,
        }
    }
}

/// Names of the options in `--spyre-compile`.
const OPTION_NAMES: [&str; 26] = [
    "entry",
    "dim-size",
    "cores",
    "target",
    "tiles",
    "bind",
    "knobs",
    "kernels",
    "dims",
    "lx-planner",
    "joint",
    "lx-bytes",
    "addresses",
    "loops",
    "bundle-format",
    "tile-search",
    "tile-steps",
    "objective",
    "plan",
    "notes-plan",
    "more-lx",
    "proves",
    "precision",
    "rounding",
    "sticks",
    "compile-to",
];

/// Names of the list options.
const LIST_OPTIONS: [&str; 5] = ["dim-size", "tiles", "bind", "knobs", "dims"];

impl CompileOptions {
    /// Parses `key=value key=value`, the options of `--spyre-compile`, whose values [`crate::mlir::escape`] has
    /// escaped.
    ///
    /// # Errors
    /// A message about the unknown option or invalid value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for word in text.split_whitespace() {
            let expected = || {
                codes::USAGE
                    .format(format_args!("expected key=value, found '{word}'; write '\\20' for a blank in a value"))
            };
            let (key, written) = word.split_once('=').ok_or_else(expected)?;
            // Commas within elements are escaped; commas between elements are not.
            for element in if LIST_OPTIONS.contains(&key) { written.split(',').collect() } else { vec![written] } {
                let value = unescape(element).map_err(|error| format!("option '{key}': {error}"))?;
                options.add(key, &value)?;
            }
        }
        options.check()?;
        Ok(options)
    }

    /// Returns the explicit options in the syntax of [`CompileOptions::parse`], except the last phase.
    #[must_use]
    pub fn explicit_words(&self) -> Vec<String> {
        self.explicit_options().into_iter().map(|(name, value)| format!("{name}={}", escape(&value))).collect()
    }

    /// Sets one option; the elements of a list, separated by commas, are appended.
    ///
    /// # Errors
    /// The option, the value found and the legal values.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        if LIST_OPTIONS.contains(&key) {
            return value.split(',').try_for_each(|element| self.add(key, element));
        }
        self.add(key, value)
    }

    /// Sets one option; appends one element to a list.
    fn add(&mut self, key: &str, value: &str) -> Result<(), String> {
        let number = || {
            value.parse::<i64>().map_err(|_| {
                codes::OPTION_VALUE
                    .format(format_args!("option '{key}': expected a number, found '{value}'{}", suggest_number(value)))
            })
        };
        let either =
            |yes: &str, no: &str| match value {
                _ if value == yes => Ok(Some(true)),
                _ if value == no => Ok(Some(false)),
                _ => Err(codes::OPTION_VALUE
                    .format(format_args!("option '{key}': expected '{yes}' or '{no}', found '{value}'"))),
            };
        match key {
            "entry" => value.clone_into(&mut self.entry),
            "dim-size" => self.dim_sizes.push(parse_list_element(key, value)?),
            "cores" => self.cores = number()?,
            "target" => value.clone_into(&mut self.target),
            "tiles" => self.tiles.push(parse_list_element(key, value)?),
            "bind" => self.bind.push(parse_list_element(key, value)?),
            "knobs" => self.knobs.push(parse_list_element(key, value)?),
            "kernels" => self.kernels = Some(parse_enum_option(key, value)?),
            "dims" => self.dims.push(parse_list_element(key, value)?),
            "lx-planner" => self.lx_planner = Some(value.parse()?),
            "joint" => self.joint = either("true", "false")?,
            "lx-bytes" => self.lx_bytes = number()?,
            "addresses" => self.addresses = parse_enum_option(key, value)?,
            "loops" => self.loops = parse_enum_option(key, value)?,
            "bundle-format" => self.bundle_format = parse_enum_option(key, value)?,
            "tile-search" => self.tile_search = either("auto", "none")?,
            "tile-steps" => {
                let reject = |_| {
                    codes::OPTION_VALUE
                        .format(format_args!("option '{key}': expected a nonnegative number, found '{value}'"))
                };
                self.tile_steps = Some(value.parse().map_err(reject)?);
            }
            "objective" => self.objective = parse_enum_option(key, value)?,
            "plan" => value.clone_into(&mut self.plan),
            "notes-plan" => self.notes_plan = either("true", "false")? == Some(true),
            "more-lx" => self.more_lx = either("true", "false")? == Some(true),
            "proves" => self.proves = either("true", "false")? == Some(true),
            "precision" => self.precision = parse_enum_option(key, value)?,
            "rounding" => self.rounding = parse_enum_option(key, value)?,
            "sticks" => self.sticks = parse_enum_option(key, value)?,
            "compile-to" => self.compile_to = parse_enum_option(key, value)?,
            _ => return Err(format!("unknown option '{key}'{}", suggest_name(key, &OPTION_NAMES))),
        }
        Ok(())
    }

    /// Returns the options that differ from their defaults, by name and value, with one entry per list element. The
    /// last phase is excluded.
    #[must_use]
    pub fn explicit_options(&self) -> Vec<(&'static str, String)> {
        let usual = Self::default();
        let mut given: Vec<(&'static str, String)> = Vec::new();
        let mut add = |is_given: bool, name, value: String| given.extend(is_given.then_some((name, value)));
        add(!self.entry.is_empty(), "entry", self.entry.clone());
        self.dim_sizes.iter().for_each(|size| add(true, "dim-size", size.to_string()));
        add(self.cores != usual.cores, "cores", self.cores.to_string());
        add(self.target != usual.target, "target", self.target.clone());
        self.tiles.iter().for_each(|tile| add(true, "tiles", tile.to_string()));
        self.bind.iter().for_each(|binding| add(true, "bind", binding.to_string()));
        self.knobs.iter().for_each(|knob| add(true, "knobs", knob.to_string()));
        self.kernels.iter().for_each(|mode| add(true, "kernels", mode.to_string()));
        self.dims.iter().for_each(|names| add(true, "dims", names.to_string()));
        self.lx_planner.iter().for_each(|planner| add(true, "lx-planner", planner.to_string()));
        self.joint.iter().for_each(|joint| add(true, "joint", joint.to_string()));
        add(self.lx_bytes != usual.lx_bytes, "lx-bytes", self.lx_bytes.to_string());
        add(self.addresses != usual.addresses, "addresses", self.addresses.to_string());
        add(self.loops != usual.loops, "loops", self.loops.to_string());
        add(self.bundle_format != usual.bundle_format, "bundle-format", self.bundle_format.to_string());
        self.tile_search
            .iter()
            .for_each(|search| add(true, "tile-search", if *search { "auto" } else { "none" }.to_owned()));
        self.tile_steps.iter().for_each(|steps| add(true, "tile-steps", steps.to_string()));
        add(self.objective != usual.objective, "objective", self.objective.to_string());
        add(self.plan != usual.plan, "plan", self.plan.clone());
        add(self.notes_plan, "notes-plan", "true".to_owned());
        add(self.more_lx, "more-lx", "true".to_owned());
        add(self.proves, "proves", "true".to_owned());
        add(self.precision != usual.precision, "precision", self.precision.to_string());
        add(self.rounding != usual.rounding, "rounding", self.rounding.to_string());
        add(self.sticks != usual.sticks, "sticks", self.sticks.to_string());
        given
    }

    /// Returns the options that kernels depend on, as command-line words.
    #[must_use]
    pub fn kernel_words(&self) -> Vec<String> {
        let given =
            self.explicit_options().into_iter().filter(|(name, _)| ["knobs", "kernels", "objective"].contains(name));
        given.flat_map(|(name, value)| [format!("--{name}"), value]).collect()
    }

    /// Returns the LX planner.
    #[must_use]
    pub fn planner(&self) -> PlannerName {
        self.lx_planner.clone().unwrap_or_else(PlannerName::best)
    }

    /// Returns whether the planner chooses copies into and out of LX.
    pub(super) fn chooses_residency(&self) -> bool {
        self.planner().chooses_residency()
    }

    /// Returns whether splits and placement are chosen jointly.
    #[must_use]
    pub fn is_joint(&self) -> bool {
        self.joint.unwrap_or(self.lx_planner.is_none())
    }

    /// Returns whether tiles are chosen for ops without hints. The default requires joint planning, which determines
    /// the gain of tiles, and symbolic addresses, since baked ones cannot advance in a loop.
    #[must_use]
    pub fn searches_tiles(&self) -> bool {
        self.tile_search.unwrap_or(self.is_joint() && self.supports_loops())
    }

    /// Returns the treatment of kernels. The default fuses only with joint planning: only then is the saving of moving
    /// ops into kernels known.
    #[must_use]
    pub fn kernel_mode(&self) -> KernelMode {
        self.kernels.unwrap_or(if self.is_joint() { KernelMode::Fuse } else { KernelMode::Separate })
    }

    fn supports_loops(&self) -> bool {
        self.addresses != AddressMode::Baked || self.loops == LoopMode::Unroll
    }

    /// Rejects incompatible options.
    ///
    /// # Errors
    /// The option, the value found and its requirement.
    pub fn check(&self) -> Result<(), String> {
        if self.is_joint() && !self.chooses_residency() {
            return Err(codes::NEEDS_JOINT.format(format_args!(
                "option 'joint' requires '--lx-planner exact', found '{}'; remove '--joint', or '--lx-planner'",
                self.planner()
            )));
        }
        if self.tile_search == Some(true) && !self.is_joint() {
            let needs = "joint planning; remove '--lx-planner', or give '--joint'";
            return Err(codes::NEEDS_JOINT.format(format_args!("option 'tile-search=auto' requires {needs}")));
        }
        if self.tile_search == Some(true) && !self.supports_loops() {
            let needs = "symbolic addresses; remove '--addresses baked', or give '--loops unroll'";
            return Err(codes::ADDRESSES.format(format_args!("option 'tile-search=auto' requires {needs}")));
        }
        if self.objective == Objective::Bytes && !self.is_joint() {
            let needs = "joint planning; remove '--lx-planner', or give '--joint'";
            return Err(codes::NEEDS_JOINT.format(format_args!("option 'objective=bytes' requires {needs}")));
        }
        if self.kernels.is_some_and(|mode| mode != KernelMode::Separate) && !self.is_joint() {
            let needs = "joint planning; remove '--lx-planner', or give '--joint'";
            return Err(
                codes::NEEDS_JOINT.format(format_args!("option 'kernels={}' requires {needs}", self.kernel_mode()))
            );
        }
        let can_follow = self.is_joint() && self.searches_tiles();
        let of_plans = [(!self.plan.is_empty(), "plan"), (self.notes_plan, "write-plan"), (self.proves, "certificate")];
        if let Some((_, name)) = of_plans.into_iter().find(|(is_given, _)| *is_given && !can_follow) {
            let needs = "the tile search; remove '--tile-search none' and '--lx-planner', or give '--joint'";
            return Err(codes::NEEDS_SEARCH.format(format_args!("option '{name}' requires {needs}")));
        }
        Ok(())
    }

    /// Returns the options that have no effect on a module that has completed a phase, unless they have the same value
    /// already.
    #[must_use]
    pub fn ineffective_options(&self, done: Phase) -> Vec<&'static str> {
        // A report requests the savings of a larger LX wherever they can be computed.
        let is_without = |name: &&str| last_phase(name) <= done && *name != "more-lx";
        let mut names: Vec<&'static str> =
            self.explicit_options().into_iter().map(|(name, _)| name).filter(is_without).collect();
        names.sort_by_key(|name| last_phase(name));
        names.dedup();
        names
    }

    /// Returns the phases up to the requested one, except the phase that writes files.
    pub fn phases(&self) -> impl Iterator<Item = Phase> + use<> {
        let last = self.compile_to.min(Phase::Bundle);
        Phase::ALL.into_iter().take_while(move |phase| *phase <= last)
    }
}

/// Returns a hint for an invalid number: the value of a size with a unit, or the expected syntax.
fn suggest_number(value: &str) -> String {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
    let read =
        |(unit, shift): (&str, u32)| value.strip_suffix(unit)?.trim().parse::<i64>().ok()?.checked_mul(1 << shift);
    units
        .into_iter()
        .find_map(read)
        .map_or_else(|| "; give one such as 8".to_owned(), |bytes| format!("; give {bytes}"))
}

/// Returns a suggestion of the closest name, if one is similar.
fn suggest_name(found: &str, names: &[&str]) -> String {
    let likeness = |name: &&&str| strsim::jaro_winkler(found, name);
    let best =
        names.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other))).filter(|name| likeness(name) > 0.8);
    best.map_or_else(|| format!(": the options are {}", names.join(", ")), |name| format!(": did you mean '{name}'?"))
}

/// Parses an enumerated option value.
fn parse_enum_option<T: FromStr + VariantNames>(key: &str, value: &str) -> Result<T, String> {
    parse_enum(value).map_err(|error| format!("option '{key}': {error}"))
}

/// Parses an element of a list option.
fn parse_list_element<T: FromStr<Err = String>>(key: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|error| format!("option '{key}': {error}"))
}

/// Returns the last phase that an option affects.
fn last_phase(name: &str) -> Phase {
    match name {
        "precision" | "sticks" => Phase::Layout,
        "dims" | "tile-search" | "tile-steps" | "more-lx" | "proves" | "plan" | "notes-plan" => Phase::Hint,
        "joint" | "objective" => Phase::Work,
        "lx-planner" => Phase::Lx,
        "addresses" | "loops" => Phase::Bundle,
        "bundle-format" => Phase::Emit,
        _ => Phase::Import,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_explicit_options_back() {
        let text = "entry=main dim-size=arg0.0=7 dim-size=L=8 cores=4 target=m.json tiles=A=2 tiles=B=T bind=T=8 knobs=norm.T=4 \
         kernels=form dims=0=A:B@64 lx-planner=exact joint=true lx-bytes=128 \
                    addresses=baked loops=unroll bundle-format=1.0 tile-search=auto tile-steps=7 objective=bytes plan=p.json notes-plan=true \
                    more-lx=true proves=true precision=strict rounding=relaxed sticks=greedy";
        let options = CompileOptions::parse(text).unwrap();
        let given: Vec<String> =
            options.explicit_options().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(given.join(" "), text);
        assert_eq!(CompileOptions::default().explicit_options(), []);
    }

    #[test]
    fn suggests_similar_option_names() {
        assert_eq!(CompileOptions::parse("core=4").unwrap_err(), "unknown option 'core': did you mean 'cores'?");
        assert!(CompileOptions::parse("xyz=4").unwrap_err().contains(": the options are entry, dim-size"));
        for name in OPTION_NAMES {
            let rejected = CompileOptions::default().set(name, "?").err().unwrap_or_default();
            assert!(!rejected.contains("unknown option"), "{rejected}");
        }
        assert_eq!(
            CompileOptions::parse("lx-bytes=2KiB").unwrap_err(),
            "[SPY0007] option 'lx-bytes': expected a number, found '2KiB'; give 2048"
        );
    }

    #[test]
    fn reports_options_of_completed_phases_as_ineffective() {
        let options = CompileOptions::parse("sticks=greedy cores=4 loops=unroll tiles=A=2,B=2").unwrap();
        assert_eq!(options.ineffective_options(Phase::Import), ["cores", "tiles"]);
        assert_eq!(options.ineffective_options(Phase::Work), ["cores", "tiles", "sticks"]);
        assert_eq!(options.ineffective_options(Phase::Bundle), ["cores", "tiles", "sticks", "loops"]);
    }
}
