//! Simulation of a program: reads its files, executes its launches on a machine, and returns its results.

mod launch_executor;

use crate::account::report::RunReport;
use crate::error::SimError;
use crate::load::directory::{self, LoadedBundle};
use crate::load::host::HostArray;
use crate::load::layout::DeviceLayout;
use crate::load::live_ranges::ExpirySchedule;
use crate::load::weight_blocks::expand_device_sizes;
use crate::machine::memory::MemoryRegion;
use crate::machine::{BufferExtent, Machine, RegionId};
use crate::plan::OpPlan;
use crate::run::digits::{self, ShadowResult};
use crate::run::lx_image::{LxImage, LxRange, read_lx_ranges};
use crate::run::shadow_memory::{ShadowArithmetic, ShadowMemory};
use crate::run::shadow_planes::{ShadowPlanes, can_hold_shadow, is_float};
use machine::Target;
use sdsc_format::program::{Program, Tensor};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program that was read from its files and is ready to run.
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) program: Program,
    pub(crate) bundles: BTreeMap<String, LoadedBundle>,
    /// Expiry schedule of each launch.
    expiry_schedules: Vec<ExpirySchedule>,
    /// Files of constants, by name.
    pub(crate) constants: BTreeMap<String, PathBuf>,
    /// Unrounded numbers of the constants that rounding changed.
    pub(crate) exact: BTreeMap<String, HostArray>,
    target: Target,
    /// Chosen symbolic sizes, by name; other sizes are the maximum.
    pub(crate) sizes: BTreeMap<String, i64>,
}

/// Options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Maximum number of element operations: points of iteration spaces on all cores, plus
    /// [`RunOptions::STATEMENT_STEPS`] for each iteration of a loop and each execution of an op.
    pub max_steps: u64,
    /// Maximum number of bytes of HBM.
    pub max_bytes: i64,
    /// Whether to poison the LX of every core before each launch. torch-spyre's planner assumes that LX is preserved.
    pub wipe_lx: bool,
    /// Initial contents of LX before the first launch, for bundles that are taken from a larger program.
    pub lx: Vec<LxImage>,
    /// Byte ranges of LX to read after the last launch into [`RunOutcome::lx`].
    pub observed_lx: Vec<LxRange>,
}

impl RunOptions {
    /// Number of element operations that an iteration of a loop, or an execution, counts as: about its cost.
    pub const STATEMENT_STEPS: u64 = 1024;
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { max_steps: 1 << 38, max_bytes: 4 << 30, wipe_lx: false, lx: Vec::new(), observed_lx: Vec::new() }
    }
}

/// Outcome of a run, with its results as companion elements.
pub type RunWithShadow<E> = (RunOutcome, Vec<ShadowResult<E>>);

/// Outcome of a run.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// The results in the order of the program.
    pub results: Vec<(String, HostArray)>,
    /// Contents of [`RunOptions::observed_lx`] after the last launch.
    pub lx: Vec<LxImage>,
    /// Statistics of the run.
    pub report: RunReport,
}

impl Simulation {
    /// Reads a directory with a `program.json`.
    ///
    /// # Errors
    /// A file is missing or malformed, or the simulator does not support an op.
    pub fn load(dir: &Path, target: &Target) -> Result<Self, SimError> {
        Self::with_program(directory::read_program(dir)?, dir, target)
    }

    /// Reads the bundles of a program that the caller describes. `dir` has their folders and the files of constants.
    ///
    /// # Errors
    /// See [`Self::load`].
    pub fn with_program(mut program: Program, dir: &Path, target: &Target) -> Result<Self, SimError> {
        let mut bundles: BTreeMap<String, LoadedBundle> = BTreeMap::new();
        let mut deaths = Vec::with_capacity(program.launches.len());
        for (number, launch) in program.launches.iter().enumerate() {
            if !bundles.contains_key(&launch.bundle) {
                bundles.insert(launch.bundle.clone(), directory::read_bundle(dir, &launch.bundle, target)?);
            }
            let found = bundles.get(&launch.bundle).map_or_else(
                || Ok(ExpirySchedule::default()),
                |loaded| ExpirySchedule::from_launch(launch, &loaded.bundle),
            );
            deaths.push(found.map_err(|message| {
                let message = format!(
                    "launch {number} has {message}; a live range has bytes, and is from one op of the launch to the same or a later one"
                );
                SimError::Malformed { file: program.name.clone(), message }
            })?);
            if let Some(name) =
                launch.arguments.iter().find(|name| !program.tensors().any(|tensor| tensor.name == **name))
            {
                let message = format!("launch '{}' names '{name}', which is no tensor of the program", launch.bundle);
                return Err(SimError::Malformed { file: program.name.clone(), message });
            }
        }
        expand_device_sizes(&mut program, &bundles);
        directory::check_buffer_placement(dir, &program)?;
        let constants = directory::find_constant_files(dir, &program)?;
        let exact = directory::read_exact_numbers(dir, &program, &mut bundles)?;
        Ok(Self {
            program,
            bundles,
            expiry_schedules: deaths,
            constants,
            exact,
            target: target.clone(),
            sizes: BTreeMap::new(),
        })
    }

    /// Returns the plans of the ops of all bundles.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &OpPlan> {
        self.bundles.values().flat_map(|bundle| bundle.plans.values().flatten().flatten().map(AsRef::as_ref))
    }

    /// Returns the description of the program.
    #[must_use]
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// Runs the program. Arguments, and constants without a file, must have a value; other tensors may have one.
    ///
    /// # Errors
    /// An execution violates a rule; the error is the first violation.
    pub fn run(&self, inputs: &BTreeMap<String, HostArray>, options: &RunOptions) -> Result<RunOutcome, SimError> {
        let mut machine = self.build_machine(options);
        let buffers = self.allocate_tensors(inputs, &mut machine, &mut ())?;
        let report = self.launch_all(&buffers, options, &mut machine, &mut ())?;
        Ok(RunOutcome {
            results: self.read_results(&buffers, &machine)?,
            lx: read_lx_ranges(&options.observed_lx, &machine)?,
            report,
        })
    }

    /// Implements [`Self::run_with`].
    pub(super) fn run_beside_with<A: ShadowArithmetic>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<RunWithShadow<A::Element>, SimError> {
        let mut planes = ShadowPlanes::new(arithmetic);
        let (machine, buffers, report) = self.run_with_shadow(&mut planes, inputs, options)?;
        let companions = self.read_shadow_results(&planes, &buffers, &machine)?;
        let of_results = self.program.results.iter().zip(companions);
        let companions =
            of_results.map(|(tensor, found)| digits::combine_shadow_digits(arithmetic, tensor, found)).collect();
        let lx = read_lx_ranges(&options.observed_lx, &machine)?;
        Ok((RunOutcome { results: self.read_results(&buffers, &machine)?, lx, report }, companions))
    }

    /// Implements [`Self::compute_elements`].
    pub(super) fn elements_with<A: ShadowArithmetic>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<Vec<ShadowResult<A::Element>>, SimError> {
        // An op that only moves integers may declare a floating-point format for them.
        let of_program = self
            .program
            .tensors()
            .map(|tensor| Ok(DeviceLayout::from_tensor(tensor)?.format))
            .collect::<Result<Vec<_>, SimError>>()?;
        let of_ops = self.plans().flat_map(|plan| &plan.tensors).map(|tensor| tensor.format);
        let has_integers = of_ops.chain(of_program).any(|format| !is_float(format));
        let mut planes =
            if has_integers { ShadowPlanes::new(arithmetic) } else { ShadowPlanes::new_standalone(arithmetic) };
        let (machine, buffers, _) = self.run_with_shadow(&mut planes, inputs, options)?;
        self.check_results(&buffers, &machine)?;
        self.read_shadow_results(&planes, &buffers, &machine)
    }

    fn run_with_shadow<A: ShadowArithmetic>(
        &self,
        planes: &mut ShadowPlanes<'_, A>,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
    ) -> Result<(Machine, BTreeMap<String, BufferExtent>, RunReport), SimError> {
        self.check_element_widths()?;
        let mut machine = self.build_machine(options);
        let buffers = self.allocate_tensors(inputs, &mut machine, planes)?;
        let report = self.launch_all(&buffers, options, &mut machine, planes)?;
        Ok((machine, buffers, report))
    }

    /// Rejects tensors whose elements have less than two bytes.
    pub(crate) fn check_element_widths(&self) -> Result<(), SimError> {
        for plan in self.plans() {
            if let Some(tensor) = plan.tensors.iter().find(|tensor| !can_hold_shadow(tensor.format)) {
                let what = format!("a comparison of elements of {}, which have one byte", tensor.format);
                return Err(SimError::NotSimulated { op: plan.name.clone(), what });
            }
        }
        Ok(())
    }

    fn read_shadow_results<A: ShadowArithmetic>(
        &self,
        planes: &ShadowPlanes<'_, A>,
        buffers: &BTreeMap<String, BufferExtent>,
        machine: &Machine,
    ) -> Result<Vec<ShadowResult<A::Element>>, SimError> {
        let of = |tensor: &Tensor| {
            let buffer = buffers.get(&tensor.name).map_or(0, |extent| extent.buffer);
            let (elements, device) =
                planes.read_array(RegionId::Hbm(buffer), &DeviceLayout::from_tensor(tensor)?, machine);
            Ok(ShadowResult { shape: tensor.shape.clone(), elements, device })
        };
        self.program.results.iter().map(of).collect()
    }

    /// Computes the report of [`Self::run`] without values: every address is computed and every access is checked, but
    /// no results are computed. Only arguments that are read as indices need a value. [`RunReport::steps`] and
    /// [`RunOptions::max_steps`] count statements only.
    ///
    /// # Errors
    /// See [`Self::run`]. In addition, the indices of an op are the result of another op.
    pub fn count(&self, inputs: &BTreeMap<String, HostArray>, options: &RunOptions) -> Result<RunReport, SimError> {
        Ok(self.count_with_shadow(inputs, options, &mut ())?.1)
    }

    /// Counts as [`Self::count`] does, and executes on the companion memory `beside` as well. Also returns the buffers
    /// by name.
    pub(crate) fn count_with_shadow<B: ShadowMemory>(
        &self,
        inputs: &BTreeMap<String, HostArray>,
        options: &RunOptions,
        beside: &mut B,
    ) -> Result<(BTreeMap<String, BufferExtent>, RunReport), SimError> {
        let mut machine = self.build_machine(options).without_values();
        let buffers = self.allocate_tensors(inputs, &mut machine, beside)?;
        let report = self.launch_all(&buffers, options, &mut machine, beside)?;
        self.check_results(&buffers, &machine)?;
        Ok((buffers, report))
    }

    /// Checks that all elements of the results are written.
    fn check_results(&self, buffers: &BTreeMap<String, BufferExtent>, machine: &Machine) -> Result<(), SimError> {
        for tensor in &self.program.results {
            let region = find_result_region(tensor, buffers, machine)?;
            DeviceLayout::from_tensor(tensor)?.check_written(region).map_err(|message| array_error(tensor, message))?;
        }
        Ok(())
    }

    fn build_machine(&self, options: &RunOptions) -> Machine {
        Machine::new(self.target.segment_bytes, self.target.lx_bytes, options.max_bytes)
    }

    fn read_results(
        &self,
        buffers: &BTreeMap<String, BufferExtent>,
        machine: &Machine,
    ) -> Result<Vec<(String, HostArray)>, SimError> {
        let read = |tensor: &Tensor| {
            let region = find_result_region(tensor, buffers, machine)?;
            let array = DeviceLayout::from_tensor(tensor)?
                .load_array(tensor, region)
                .map_err(|message| array_error(tensor, message))?;
            Ok((tensor.name.clone(), digits::combine_digits(tensor, array)))
        };
        self.program.results.iter().map(read).collect()
    }
}

pub(crate) fn array_error(tensor: &Tensor, message: String) -> SimError {
    SimError::Array { name: tensor.name.clone(), message }
}

fn find_result_region<'m>(
    tensor: &Tensor,
    buffers: &BTreeMap<String, BufferExtent>,
    machine: &'m Machine,
) -> Result<&'m MemoryRegion, SimError> {
    let region = buffers.get(&tensor.name).and_then(|extent| machine.region(RegionId::Hbm(extent.buffer)));
    region.ok_or_else(|| array_error(tensor, "has no buffer".to_owned()))
}
