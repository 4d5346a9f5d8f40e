//! The order of the passes: the only place that knows it.
//!
//! Order constraints, each with its reason: layouts before tiling (a tile must not cut a stick); tiling before work division (cores divide
//! one iteration's work); work division before LX planning (sizes are per core); loops before bundles (a loop is never split over two
//! launches). After each phase `spyre-verify-phase` refuses what should be gone.

use crate::{
    bundle, gate, hint, import, joint, launch, layout, lx,
    mlir::{Hooks, Pass, Session},
    sdsc, search, tile, validate, work,
};
use cost::Objective;
use scratchpad::planner_named;

pub use crate::phase::Phase;

/// Every pass, in the order in which a program meets them.
pub static PASSES: &[Pass] = &[
    import::ir::check_input::PASS,
    import::ir::set_target::PASS,
    import::ir::import_linalg::PASS,
    hint::ir::flatten_hints::PASS,
    import::ir::expand_functions::PASS,
    layout::ir::defer_divisions::PASS,
    layout::ir::materialize_views::PASS,
    layout::ir::lay_out_tables::PASS,
    layout::ir::pad_contractions::PASS,
    layout::ir::propagate_layouts::PASS,
    layout::ir::insert_restickify::PASS,
    layout::ir::split_views::PASS,
    layout::ir::own_results::PASS,
    hint::ir::propagate_dims::PASS,
    search::ir::choose_tiles::PASS,
    tile::ir::coarse_tile::PASS,
    tile::ir::make_online::PASS,
    tile::ir::settle_loops::PASS,
    work::ir::reduce_span::PASS,
    work::ir::divide_work::PASS,
    joint::ir::divide_jointly::PASS,
    lx::ir::clone_inputs::PASS,
    lx::ir::plan_lx::PASS,
    bundle::ir::form_bundles::PASS,
    bundle::ir::lower_to_sdsc::PASS,
    launch::ir::lower_to_sdscbundle::PASS,
    sdsc::ir::emit_bundle::PASS,
    gate::verify_phase::PASS,
];

/// What MLIR is told of the compiler.
pub static HOOKS: Hooks = Hooks { passes: PASSES, expand, observe: validate::observe };

/// A session with the compiler's dialects, passes and pipeline.
#[must_use]
pub fn session() -> Session {
    Session::new(&HOOKS)
}

/// What a user may choose. Values are checked by the passes that they are for, so that a mistake has one message wherever it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Cores to use; 0 for all that the machine has.
    pub cores: String,
    /// A file that describes another machine; empty for Spyre.
    pub target: String,
    /// `NAME=COUNT` around every function, outermost first.
    pub tiles: Vec<String>,
    /// `NAME=NUMBER`, what the name of a count in `tiles` or in a hint scope stands for.
    pub bind: Vec<String>,
    /// `ARG=NAME:NAME` or `ARG=NAME@SIZE:NAME`.
    pub dims: Vec<String>,
    /// The LX planner; empty for the best: `exact`, with splits and placement chosen together.
    pub lx_planner: String,
    /// `true` to choose splits and placement together, or `false`; empty for what goes with the planner.
    pub joint: String,
    /// Usable LX bytes per core; -1 for the machine's.
    pub lx_bytes: String,
    /// `symbolic` or `baked`.
    pub addresses: String,
    /// `keep` or `unroll`.
    pub loops: String,
    /// `auto` to choose tiles for ops without hints, or `none`; empty for `auto` where that is possible.
    pub tile_search: String,
    /// The most ops that the search for tiles may judge in a part of a program; empty for the usual number.
    pub tile_steps: String,
    /// What plans are compared by: `time` or `bytes`.
    pub objective: String,
    /// A plan file to follow, or to write what was chosen to, if there is none; empty for neither.
    pub plan: String,
    /// `device` or `strict`.
    pub precision: String,
    /// `global` or `greedy`.
    pub sticks: String,
    /// The last phase.
    pub compile_to: Phase,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cores: "0".to_owned(),
            target: String::new(),
            tiles: Vec::new(),
            bind: Vec::new(),
            dims: Vec::new(),
            lx_planner: String::new(),
            joint: String::new(),
            lx_bytes: "-1".to_owned(),
            addresses: "symbolic".to_owned(),
            loops: "keep".to_owned(),
            tile_search: String::new(),
            tile_steps: String::new(),
            objective: "time".to_owned(),
            plan: String::new(),
            precision: "device".to_owned(),
            sticks: "global".to_owned(),
            compile_to: Phase::Bundle,
        }
    }
}

impl Options {
    /// Reads `key=value key=value`, the options of `--spyre-compile`.
    ///
    /// # Errors
    /// A message about the option that does not exist.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("expected key=value, found '{word}'"))?;
            let list = || value.split(',').map(str::to_owned);
            match key {
                "cores" => options.cores = value.to_owned(),
                "target" => options.target = value.to_owned(),
                "tiles" => options.tiles.extend(list()),
                "bind" => options.bind.extend(list()),
                "dims" => options.dims.extend(list()),
                "lx-planner" => options.lx_planner = value.to_owned(),
                "joint" => options.joint = value.to_owned(),
                "lx-bytes" => options.lx_bytes = value.to_owned(),
                "addresses" => options.addresses = value.to_owned(),
                "loops" => options.loops = value.to_owned(),
                "tile-search" => options.tile_search = value.to_owned(),
                "tile-steps" => options.tile_steps = value.to_owned(),
                "objective" => options.objective = value.to_owned(),
                "plan" => options.plan = value.to_owned(),
                "precision" => options.precision = value.to_owned(),
                "sticks" => options.sticks = value.to_owned(),
                "compile-to" => options.compile_to = value.parse()?,
                _ => return Err(format!("unknown option '{key}'")),
            }
        }
        options.check()?;
        Ok(options)
    }

    /// The LX planner by name.
    #[must_use]
    pub fn planner(&self) -> &str {
        if self.lx_planner.is_empty() { "exact" } else { &self.lx_planner }
    }

    /// Whether the planner chooses what is copied into LX, and out.
    fn chooses_stays(&self) -> bool {
        planner_named(self.planner()).is_ok_and(|planner| planner.chooses_stays())
    }

    /// Whether splits and placement are chosen together.
    #[must_use]
    pub fn is_joint(&self) -> bool {
        self.joint == "true" || self.joint.is_empty() && self.lx_planner.is_empty()
    }

    /// Whether tiles are chosen for ops without hints: their gain is known where splits and placement are chosen together, and baked addresses
    /// cannot say what advances in a loop.
    #[must_use]
    pub fn searches_tiles(&self) -> bool {
        self.tile_search == "auto" || self.tile_search.is_empty() && self.is_joint() && self.can_say_loops()
    }

    fn can_say_loops(&self) -> bool {
        self.addresses != "baked" || self.loops == "unroll"
    }

    /// Refuses a value that no pass would take, before anything is read. The passes check again, for whoever runs them alone.
    ///
    /// # Errors
    /// The option, the value found and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let number = |name: &str, value: &str| match value.parse::<i64>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("option '{name}': expected a number, found '{value}'")),
        };
        number("cores", &self.cores)?;
        number("lx-bytes", &self.lx_bytes)?;
        if !["", "true", "false"].contains(&self.joint.as_str()) {
            return Err(format!("option 'joint': expected 'true' or 'false', found '{}'", self.joint));
        }
        if self.is_joint() && !self.chooses_stays() {
            return Err(format!("option 'joint' needs the LX planner 'exact', found '{}'", self.planner()));
        }
        self.check_tile_search()?;
        self.check_objective()?;
        if self.planner() != "none" {
            planner_named(self.planner()).map_err(|error| error.to_string())?;
        }
        self.tiles
            .iter()
            .try_for_each(|tile| tile.parse::<hint::TileCount>().map(|_| ()).map_err(|error| format!("option 'tiles': {error}")))?;
        self.bind
            .iter()
            .try_for_each(|bind| bind.parse::<hint::Binding>().map(|_| ()).map_err(|error| format!("option 'bind': {error}")))?;
        self.dims
            .iter()
            .try_for_each(|dims| dims.parse::<hint::DimNames>().map(|_| ()).map_err(|error| format!("option 'dims': {error}")))?;
        self.addresses.parse::<bundle::Addresses>()?;
        self.loops.parse::<bundle::Loops>()?;
        self.precision.parse::<import::Precision>()?;
        self.sticks.parse::<layout::Strategy>()?;
        Ok(())
    }

    fn check_tile_search(&self) -> Result<(), String> {
        let is_number = self.tile_steps.is_empty() || self.tile_steps.parse::<u32>().is_ok();
        if !is_number {
            return Err(format!("option 'tile-steps': expected a number that is not negative, found '{}'", self.tile_steps));
        }
        match self.tile_search.as_str() {
            "" | "none" => Ok(()),
            "auto" if !self.is_joint() => Err("option 'tile-search=auto' needs splits and placement to be chosen together: leave out 'lx-planner', or give '--joint'".to_owned()),
            "auto" if !self.can_say_loops() => Err("option 'tile-search=auto' needs symbolic addresses or '--loops unroll': baked addresses cannot say what advances in a loop".to_owned()),
            "auto" => Ok(()),
            other => Err(format!("option 'tile-search': expected 'auto' or 'none', found '{other}'")),
        }
    }

    /// An objective decides where splits and placement are chosen together; there only.
    fn check_objective(&self) -> Result<(), String> {
        let objective: Objective = self.objective.parse()?;
        if objective == Objective::Bytes && !self.is_joint() {
            return Err(
                "option 'objective=bytes' needs splits and placement to be chosen together: leave out 'lx-planner', or give '--joint'"
                    .to_owned(),
            );
        }
        let can_follow = self.is_joint() && self.searches_tiles();
        if !self.plan.is_empty() && !can_follow {
            return Err(
                "option 'plan' needs what it is of to be chosen: leave out 'lx-planner' and '--tile-search none', or give '--joint'"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// The options that have no effect on a module that has a phase behind it, but for what they say already.
    #[must_use]
    pub fn without_effect(&self, done: Phase) -> Vec<&'static str> {
        let usual = Self::default();
        let options = [
            ("target", Phase::Import, self.target != usual.target),
            ("cores", Phase::Import, self.cores != usual.cores),
            ("lx-bytes", Phase::Import, self.lx_bytes != usual.lx_bytes),
            ("tiles", Phase::Import, self.tiles != usual.tiles),
            ("bind", Phase::Import, self.bind != usual.bind),
            ("precision", Phase::Layout, self.precision != usual.precision),
            ("sticks", Phase::Layout, self.sticks != usual.sticks),
            ("dims", Phase::Hint, self.dims != usual.dims),
            ("tile-search", Phase::Hint, self.tile_search != usual.tile_search),
            ("tile-steps", Phase::Hint, self.tile_steps != usual.tile_steps),
            ("plan", Phase::Work, self.plan != usual.plan),
            ("objective", Phase::Work, self.objective != usual.objective),
            ("joint", Phase::Work, self.joint != usual.joint),
            ("lx-planner", Phase::Lx, self.lx_planner != usual.lx_planner),
            ("addresses", Phase::Bundle, self.addresses != usual.addresses),
            ("loops", Phase::Bundle, self.loops != usual.loops),
        ];
        options.into_iter().filter(|(_, phase, is_given)| *is_given && *phase <= done).map(|(name, ..)| name).collect()
    }

    /// The passes of one phase as text, with the check behind them, for a program that has come through all phases before it. `output` is
    /// the directory to emit.
    #[must_use]
    pub fn passes_of(&self, phase: Phase, output: &str) -> Vec<String> {
        let mut passes = match phase {
            Phase::Import => self.import_passes(),
            Phase::Layout => self.layout_passes(),
            Phase::Hint => self.hint_passes(),
            Phase::Tile => ["spyre-coarse-tile", "spyre-make-online", "spyre-settle-loops"].map(str::to_owned).to_vec(),
            Phase::Work if self.is_joint() => {
                vec!["spyre-reduce-span".to_owned(), format!("spyre-divide-jointly{{objective={}{}}}", self.objective, self.plan_option())]
            }
            Phase::Work => ["spyre-reduce-span", "spyre-divide-work"].map(str::to_owned).to_vec(),
            Phase::Lx => self.lx_passes(),
            Phase::Bundle => vec![
                format!("spyre-form-bundles{{addresses={}}}", self.addresses),
                "spyre-lower-to-sdsc".to_owned(),
                format!("spyre-lower-to-sdscbundle{{addresses={} loops={}}}", self.addresses, self.loops),
            ],
            Phase::Emit => return vec![emission(output, true)],
        };
        passes.push(format!("spyre-verify-phase{{phase={phase}}}"));
        passes
    }

    /// What is written in more ops, so that it may live in LX, is of use to a planner that knows what to do with it.
    fn import_passes(&self) -> Vec<String> {
        let mut passes = vec![
            // Later passes take their names from what is not supported.
            "spyre-check-input".to_owned(),
            format!("spyre-set-target{{file={} cores={} lx-bytes={}}}", quoted(&self.target), self.cores, self.lx_bytes),
            // JAX calls helper functions. Folding would round numbers that a referee asks for.
            "inline{default-pipeline=}".to_owned(),
            "symbol-dce".to_owned(),
            format!("spyre-import-linalg{{precision={}}}", self.precision),
            // Producers leave reshapes that cancel and results that nobody uses.
            "canonicalize".to_owned(),
            "cse".to_owned(),
            format!("spyre-flatten-hints{{tiles={} bind={}}}", self.tiles.join(","), self.bind.join(",")),
        ];
        if self.chooses_stays() {
            passes.push("spyre-expand-functions".to_owned());
        }
        passes
    }

    /// A division behind a product rounds differently from one in front of it.
    fn layout_passes(&self) -> Vec<String> {
        let mut passes = vec![
            "spyre-materialize-views".to_owned(),
            "spyre-lay-out-tables".to_owned(),
            "spyre-pad-contractions".to_owned(),
            format!("spyre-propagate-layouts{{sticks={}}}", self.sticks),
            "spyre-insert-restickify".to_owned(),
            "spyre-split-views".to_owned(),
            // Views that lead to split ones are not needed any more.
            "canonicalize".to_owned(),
            "cse".to_owned(),
            // Copies of one value have become one.
            "spyre-own-results".to_owned(),
        ];
        if self.precision.parse() == Ok(import::Precision::Device) {
            passes.insert(0, "spyre-defer-divisions".to_owned());
        }
        passes
    }

    /// What a tiling gains is found by choosing splits and placement together.
    fn hint_passes(&self) -> Vec<String> {
        let mut passes = vec![format!("spyre-propagate-dims{{dims={}}}", self.dims.join(","))];
        if self.searches_tiles() {
            let steps = if self.tile_steps.is_empty() { String::new() } else { format!("steps={} ", self.tile_steps) };
            passes.push(format!("spyre-choose-tiles{{{steps}objective={}{}}}", self.objective, self.plan_option()));
        }
        passes
    }

    fn plan_option(&self) -> String {
        if self.plan.is_empty() { String::new() } else { format!(" plan={}", quoted(&self.plan)) }
    }

    /// A copy of an input is of use in LX only; a planner that chooses stays chooses them itself.
    fn lx_passes(&self) -> Vec<String> {
        let plan = format!("spyre-plan-lx{{planner={}}}", self.planner());
        if self.planner() == "none" || self.chooses_stays() { vec![plan] } else { vec!["spyre-clone-inputs".to_owned(), plan] }
    }

    /// The pipeline of the phases `phases`, as text for a module.
    #[must_use]
    pub fn pipeline(&self, phases: impl IntoIterator<Item = Phase>, output: &str) -> String {
        let passes: Vec<String> = phases.into_iter().flat_map(|phase| self.passes_of(phase, output)).collect();
        passes.join(",")
    }

    /// The phases up to the one that the user wants, files excepted.
    pub fn phases(&self) -> impl Iterator<Item = Phase> + use<> {
        let last = self.compile_to.min(Phase::Bundle);
        Phase::ALL.into_iter().take_while(move |phase| *phase <= last)
    }
}

/// A path as the value of a pass option.
fn quoted(path: &str) -> String {
    format!("{{{path}}}")
}

/// The pass that writes files into the directory `output`. What breaks a rule of the format is a bug of ours if the program has come through
/// all of our passes (`is_compiled`), and else the mistake of whoever has written IR of a later phase.
#[must_use]
pub fn emission(output: &str, is_compiled: bool) -> String {
    format!("spyre-emit-bundle{{output={} compiled={is_compiled}}}", quoted(output))
}

/// The passes that write `sdsc` or `sdscbundle` IR into the directory `output`.
#[must_use]
pub fn emit_pipeline(output: &str) -> String {
    format!("spyre-lower-to-sdscbundle,spyre-emit-bundle{{output={}}}", quoted(output))
}

/// Expands the options of `--spyre-compile` to a pass pipeline.
///
/// # Errors
/// A message about the option that is wrong.
pub fn expand(options: &str) -> Result<String, String> {
    let options = Options::parse(options)?;
    Ok(options.pipeline(options.phases(), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_stops_the_pipeline_behind_its_check() {
        let text = expand("compile-to=layout cores=4").unwrap();
        assert!(text.contains("spyre-set-target{file={} cores=4 lx-bytes=-1}"), "{text}");
        assert!(text.ends_with("canonicalize,cse,spyre-own-results,spyre-verify-phase{phase=layout}"), "{text}");
    }

    #[test]
    fn without_a_planner_nothing_is_copied_or_expanded() {
        for pass in ["spyre-expand-functions", "spyre-divide-jointly"] {
            assert!(expand("").unwrap().contains(pass));
            assert!(!expand("lx-planner=none").unwrap().contains(pass));
        }
        for (planner, is_copied_before) in [("none", false), ("exact", false), ("first-fit", true)] {
            assert_eq!(expand(&format!("lx-planner={planner}")).unwrap().contains("spyre-clone-inputs"), is_copied_before, "{planner}");
        }
    }

    #[test]
    fn the_best_is_the_default_and_parts_of_it_can_be_had() {
        for (options, is_joint, planner) in [
            ("", true, "exact"),
            ("joint=true", true, "exact"),
            ("joint=false", false, "exact"),
            ("lx-planner=exact", false, "exact"),
            ("lx-planner=exact joint=true", true, "exact"),
            ("lx-planner=first-fit", false, "first-fit"),
        ] {
            let text = expand(options).unwrap();
            assert_eq!(text.contains("spyre-divide-jointly"), is_joint, "{options}");
            assert!(text.contains(&format!("spyre-plan-lx{{planner={planner}}}")), "{options}");
        }
        let refused = expand("lx-planner=greedy joint=true").unwrap_err();
        assert_eq!(refused, "option 'joint' needs the LX planner 'exact', found 'greedy'");
    }

    #[test]
    fn unknown_options_and_phases_are_named() {
        assert_eq!(expand("core=4").unwrap_err(), "unknown option 'core'");
        assert!(expand("compile-to=lxx").unwrap_err().starts_with("unknown phase 'lxx': expected one of import, layout"));
        assert_eq!(expand("cores").unwrap_err(), "expected key=value, found 'cores'");
        for wrong in [
            "cores=x",
            "lx-bytes=1k",
            "lx-planner=worst",
            "joint=maybe",
            "tiles=A",
            "bind=T",
            "dims=A:B",
            "addresses=real",
            "loops=fuse",
            "precision=f64",
            "tile-search=yes",
            "tile-steps=-1",
            "objective=money",
            "sticks=best",
        ] {
            let value = wrong.split_once('=').unwrap().1;
            assert!(expand(wrong).is_err_and(|message| message.contains(&format!("'{value}'"))), "{wrong}");
        }
    }

    #[test]
    fn every_pass_of_the_pipeline_is_implemented() {
        let options = Options::default();
        let alone = Options { joint: "false".to_owned(), ..Options::default() };
        let simple = Options { lx_planner: "first-fit".to_owned(), ..Options::default() };
        let text = [options, alone, simple].map(|options| options.pipeline(Phase::ALL, "out")).concat();
        for pass in PASSES {
            assert!(text.contains(pass.argument), "'{}' is in no phase", pass.argument);
        }
    }
}
