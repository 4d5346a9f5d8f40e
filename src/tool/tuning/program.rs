//! A program with its tunable parameters, and the cost of a candidate.

use crate::{
    codes::{self, Code},
    compile::{compile, compile_watched},
    dialect::{ComputeOp, ods::attr, phase_of, target_of},
    kernel::{
        FixedNumberKind, KernelMode, KnobValue,
        ir::{OpenKernel, collect_open_kernels},
    },
    mlir::{
        CollectedDiagnostic, Module, Op, OpExt, Session, TensorType, Type, ValueLike, collect_diagnostics, escape,
        find_defined_functions, num_bugs,
    },
    pipeline::{self, CompileOptions, Phase},
    plan_file::{VERSION, compute_program_key},
    report::Report,
    tune::{BoundedCost, PointEvaluator, Rejection, TuneDimension, TuneKey, TunePoint, TuneSpace},
};
use cost::ModeledCost;
use machine::Target;

/// Program with tunable parameters.
pub(in crate::tool) struct TunableProgram {
    /// Name of the function.
    pub(in crate::tool) name: String,
    /// Search space of the program's tunable parameters.
    pub(in crate::tool) space: TuneSpace,
    /// Target machine.
    pub(super) target: Target,
    /// Cache key: searches with equal keys are equivalent.
    pub(in crate::tool) key: TuneKey,
    /// Program as MLIR text, which every thread parses in its own context.
    text: String,
    options: CompileOptions,
    kernels: Vec<OpenKernel>,
    /// Meaning of each dimension of the space.
    open: Vec<TunableParameter>,
}

/// Tunable parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TunableParameter {
    /// Knob of all kernels with one name, or a kernel parameter without a knob.
    Knob { kernel: usize, knob: usize },
    /// Kernel mode: limits which ops may be fused into kernels.
    Kernels,
}

/// Kernel modes, in ascending order of the ops that may be fused into kernels.
const KERNEL_MODES: [KernelMode; 3] = [KernelMode::Separate, KernelMode::Fuse, KernelMode::Form];

impl TunableProgram {
    /// Reads the tunable parameters of a module, and its kernel parameters of the kinds `open`, which have no knob. The
    /// options must be valid.
    ///
    /// # Errors
    /// Returns an empty message if the import fails, because its errors have been reported.
    pub(super) fn read(
        module: &Module<'_>,
        options: &CompileOptions,
        open: &[FixedNumberKind],
    ) -> Result<Self, String> {
        if let Some(phase) = phase_of(module.op()) {
            return Err(codes::TUNE_NOTHING.format(format_args!(
                "expected a module before the import, found one after phase '{phase}'; give the source program"
            )));
        }
        let importing = CompileOptions {
            compile_to: Phase::Import,
            plan: String::new(),
            notes_plan: false,
            proves: false,
            ..options.clone()
        };
        let mut imported: Option<ImportedProperties> = None;
        let mut import = |module: &mut Module<'_>| {
            let mut note = |_: Phase, module: &Module<'_>| {
                imported.get_or_insert_with(|| ImportedProperties::from_module(module.op(), open));
            };
            compile_watched(module, &importing, "", &mut note).is_some()
        };
        let (is_done, _) = collect_diagnostics(module.session().context(), || import(&mut module.duplicate()));
        // A failed import is repeated to report its errors.
        if !is_done && !import(&mut module.duplicate()) {
            return Err(String::new());
        }
        let imported = imported.ok_or_else(|| "the program was not imported".to_owned())?;
        Ok(Self::from_imported(imported, module.op().to_string(), options))
    }

    fn from_imported(imported: ImportedProperties, text: String, options: &CompileOptions) -> Self {
        let ImportedProperties { name, kernels, key, target } = imported;
        let (mut dimensions, mut open) = (Vec::new(), Vec::new());
        for (kernel, OpenKernel { name, knobs, .. }) in kernels.iter().enumerate() {
            for (number, knob) in knobs.iter().enumerate() {
                // Knobs that the user sets are not searched.
                let is_given = options.knobs.iter().any(|given| given.kernel == *name && given.knob == knob.name);
                let Some(untuned) = knob.choices.iter().position(|choice| *choice == knob.value).filter(|_| !is_given)
                else {
                    continue;
                };
                let choices = knob.choices.iter().map(i64::to_string).collect();
                dimensions.push(TuneDimension { name: format!("{name}.{}", knob.name), choices, untuned });
                open.push(TunableParameter::Knob { kernel, knob: number });
            }
        }
        if options.kernels.is_none() && options.is_joint() {
            let untuned = KERNEL_MODES.into_iter().position(|mode| mode == options.kernel_mode()).unwrap_or_default();
            dimensions.push(TuneDimension {
                name: "kernels".to_owned(),
                choices: KERNEL_MODES.map(|mode| mode.to_string()).to_vec(),
                untuned,
            });
            open.push(TunableParameter::Kernels);
        }
        let space = TuneSpace::new(dimensions);
        let is_elsewhere =
            |name: &str| ["target", "cores", "lx-bytes", "objective", "plan", "notes-plan", "proves"].contains(&name);
        let given = options.explicit_options().into_iter().filter(|(name, _)| !is_elsewhere(name));
        let given: Vec<String> = given.map(|(name, value)| format!("{name}={}", escape(&value))).collect();
        let key = TuneKey { space: space.to_string(), options: given.join(" "), objective: options.objective, ..key };
        Self { name, space, target, key, text, options: options.clone(), kernels, open }
    }

    /// Returns the options of a compilation with the choices of a point.
    pub(in crate::tool) fn options_at(&self, point: &TunePoint) -> CompileOptions {
        let mut options = self.options.clone();
        for (open, choice) in self.open.iter().zip(&point.0) {
            match *open {
                TunableParameter::Knob { kernel, knob } => {
                    let OpenKernel { name, knobs, .. } = &self.kernels[kernel];
                    let value = knobs[knob].choices[*choice];
                    options.knobs.push(KnobValue { kernel: name.clone(), knob: knobs[knob].name.clone(), value });
                }
                TunableParameter::Kernels => options.kernels = Some(KERNEL_MODES[*choice]),
            }
        }
        options
    }

    /// Returns the command-line options that select the choices of a point.
    pub(in crate::tool) fn format_options_at(&self, point: &TunePoint) -> String {
        let CompileOptions { knobs, kernels, .. } = self.options_at(point);
        let knobs: Vec<String> = knobs.iter().map(ToString::to_string).collect();
        let knobs = if knobs.is_empty() { String::new() } else { format!("--knobs {}", knobs.join(",")) };
        let kernels = kernels.map_or_else(String::new, |mode| format!("--kernels {mode}"));
        [knobs, kernels].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the values of a kernel's knobs at a point.
    fn knob_values(&self, kernel: usize, point: &TunePoint) -> Vec<i64> {
        let knobs = &self.kernels[kernel].knobs;
        let mut values: Vec<i64> = knobs.iter().map(|knob| knob.value).collect();
        for (open, choice) in self.open.iter().zip(&point.0) {
            if let TunableParameter::Knob { kernel: of, knob } = *open
                && of == kernel
            {
                values[knob] = knobs[knob].choices[*choice];
            }
        }
        values
    }
}

thread_local! {
    /// Session of each thread that compiles.
    static SESSION: Session = pipeline::create_session();
}

impl PointEvaluator for TunableProgram {
    fn find_violation(&self, point: &TunePoint) -> Option<Rejection> {
        let reject = |reason: &str, message: String| Some(Rejection { reason: reason.to_owned(), message });
        for (kernel, open) in self.kernels.iter().enumerate() {
            let values = self.knob_values(kernel, point);
            if let Some(condition) = open.find_violated_condition(&values) {
                return reject("condition", format!("kernel '{}' has the condition \"{condition}\"", open.name));
            }
            if let Some(message) = open.divisibility_error(&values) {
                return reject(DIVISIBILITY_REASON, format!("kernel '{}': {message}", open.name));
            }
            if let Some(message) = open.find_equivalent_order(&values) {
                return reject("order", format!("kernel '{}': {message}", open.name));
            }
        }
        None
    }

    fn compute_cost(&self, point: &TunePoint) -> Result<BoundedCost, Rejection> {
        // Plans and proofs are recorded for the winner only, because they take time and do not change the cost.
        let options =
            CompileOptions { compile_to: Phase::Bundle, notes_plan: false, proves: false, ..self.options_at(point) };
        SESSION.with(|session| {
            let compiled = || {
                let mut module = Module::parse(session, &self.text)?;
                let bugs_of = num_bugs(module.op());
                let report = compile(&mut module, &options, "");
                Some((report, num_bugs(module.op()) > bugs_of))
            };
            let (compiled, said) = collect_diagnostics(session.context(), compiled);
            match compiled {
                Some((Some(report), _)) => Ok(measure_report(&report)),
                Some((None, true)) => {
                    Err(Rejection { reason: BUG_REASON.to_owned(), message: find_first_error(&said) })
                }
                _ => {
                    let code = said.iter().find(|said| said.severity == "error").and_then(|error| error.code);
                    Err(Rejection { reason: classify_rejection(code).to_owned(), message: find_first_error(&said) })
                }
            }
        })
    }
}

/// Rejection reason of a candidate that a compiler bug has stopped.
pub(super) const BUG_REASON: &str = "compiler bug";

const DIVISIBILITY_REASON: &str = "divisibility";

/// Returns the modeled cost of a compilation, and a lower bound on the cost of any plan.
fn measure_report(report: &Report) -> BoundedCost {
    let bound = &report.lower_bound;
    let least = bound.hbm_of_any_indices.max(bound.products);
    BoundedCost { cost: modeled_cost(report), bound: ModeledCost { ns: bound.us * 1000.0, hbm_bytes: least } }
}

/// Returns the modeled cost of a compilation: time in ns, HBM traffic in bytes.
pub(in crate::tool) fn modeled_cost(report: &Report) -> ModeledCost {
    ModeledCost { ns: report.time.estimate_us * 1000.0, hbm_bytes: report.total.hbm() }
}

fn find_first_error(said: &[CollectedDiagnostic]) -> String {
    let error = said.iter().find(|said| said.severity == "error");
    error.map_or_else(|| "it cannot be compiled".to_owned(), |error| error.message.clone())
}

/// Returns the rejection reason for a message code.
const fn classify_rejection(code: Option<Code>) -> &'static str {
    match code {
        Some(codes::TILE_STICK) => "sticks",
        Some(codes::TILE_COUNT) => DIVISIBILITY_REASON,
        Some(codes::SPAN) => "span",
        Some(codes::SPLIT_DIVISOR | codes::SPLIT_BLOCKED | codes::SPLIT_CORES) => "splits",
        Some(codes::POOL_FULL) => "pool",
        Some(codes::LX_PLACE) => "LX",
        _ => "other",
    }
}

/// Properties of a program after import: it consists of `spyre` ops, and its kernels are still present.
struct ImportedProperties {
    name: String,
    kernels: Vec<OpenKernel>,
    key: TuneKey,
    target: Target,
}

impl ImportedProperties {
    fn from_module(module: Op<'_>, open: &[FixedNumberKind]) -> Self {
        let functions = find_defined_functions(module);
        let name = functions.first().map_or_else(String::new, |function| function.text_attr(attr::SYM_NAME).to_owned());
        let target = target_of(module).unwrap_or_else(|_| Target::spyre());
        let types: Vec<Type<'_>> = functions
            .iter()
            .flat_map(|function| function.body_args().into_iter().chain(function.yielded()))
            .map(|value| value.r#type())
            .collect();
        let (shapes, layouts): (Vec<String>, Vec<String>) = types.into_iter().map(describe_type).unzip();
        let numbers: Vec<String> =
            target.named_parameters().into_iter().map(|(name, number)| format!("{name} {number}")).collect();
        let key = TuneKey {
            program: compute_program_key(&module.to_string()),
            body: compute_program_key(&list_op_functions(module).join(" ")),
            shapes: shapes.join(" "),
            layouts: layouts.join(" ").trim().to_owned(),
            machine: numbers.join(" "),
            model: compute_program_key(&format!("{:?}", target.time)),
            version: VERSION.to_owned(),
            ..TuneKey::default()
        };
        Self { name, kernels: collect_open_kernels(module, open, target.cores), key, target }
    }
}

/// Returns a tensor's shape and element type, and its device layout. Other types are described by their text.
fn describe_type(of: Type<'_>) -> (String, String) {
    let Some(tensor) = TensorType::from_type(of) else { return (of.to_string(), String::new()) };
    let sizes: Vec<String> = tensor.shape.iter().map(i64::to_string).collect();
    let layout = tensor.encoding.map_or_else(String::new, |layout| layout.to_string());
    (format!("{}x{}", sizes.join("x"), tensor.element), layout)
}

/// Returns the names and functions of the ops of a module, in order.
fn list_op_functions(module: Op<'_>) -> Vec<String> {
    let function_of = |op: Op<'_>| {
        ComputeOp::from_op(op)
            .map_or_else(|| op.full_name().to_owned(), |compute| format!("{} {}", op.full_name(), compute.function()))
    };
    module.nested().into_iter().map(function_of).collect()
}
