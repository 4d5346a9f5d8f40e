//! A program with its tunable parameters, and the cost of a candidate.

use crate::{
    codes::{self, Code},
    compile::{compile, compile_watched},
    dialect::{ComputeOp, ods::attr, phase_of, target_of},
    kernel::{
        FixedKind, KernelMode, KnobValue,
        ir::{OpenKernel, open_kernels},
    },
    mlir::{Collected, Module, Op, OpExt, Session, TensorType, Type, ValueLike, bugs_of, collect, escaped, functions_of},
    pipeline::{self, Options, Phase},
    plan_file::{VERSION, key_of},
    report::Report,
    tune::{Dimension, Judge, Key, Measured, Point, Rejection, Space},
};
use cost::Cost;
use machine::Target;

/// Program with tunable parameters.
pub(in crate::tool) struct Program {
    /// Name of the function.
    pub(in crate::tool) name: String,
    /// Search space of the program's tunable parameters.
    pub(in crate::tool) space: Space,
    /// Target machine.
    pub(super) target: Target,
    /// Cache key: searches with equal keys are equivalent.
    pub(in crate::tool) key: Key,
    /// Program as MLIR text, which every thread parses in its own context.
    text: String,
    options: Options,
    kernels: Vec<OpenKernel>,
    /// Meaning of each dimension of the space.
    open: Vec<Open>,
}

/// Tunable parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Knob of the kernels of one name, or a kernel parameter without a knob.
    Knob { kernel: usize, knob: usize },
    /// Kernel mode: how much may move into kernels.
    Kernels,
}

/// Kernel modes, ordered by how much may move into kernels.
const MODES: [KernelMode; 3] = [KernelMode::Separate, KernelMode::Fuse, KernelMode::Form];

impl Program {
    /// Reads the tunable parameters of a module, and its kernel parameters of the kinds `open`, which have no knob. The
    /// options must be valid.
    ///
    /// # Errors
    /// An empty message if the module cannot be imported, which has been reported.
    pub(super) fn read(module: &Module<'_>, options: &Options, open: &[FixedKind]) -> Result<Self, String> {
        if let Some(phase) = phase_of(module.op()) {
            return Err(codes::TUNE_NOTHING
                .says(format_args!("expected a module before the import, found one after phase '{phase}'; give the source program")));
        }
        let importing = Options { compile_to: Phase::Import, plan: String::new(), notes_plan: false, proves: false, ..options.clone() };
        let mut imported: Option<Imported> = None;
        let mut import = |module: &mut Module<'_>| {
            let mut note = |_: Phase, module: &Module<'_>| {
                imported.get_or_insert_with(|| Imported::of(module.op(), open));
            };
            compile_watched(module, &importing, "", &mut note).is_some()
        };
        let (is_done, _) = collect(module.session().context(), || import(&mut module.duplicate()));
        // A failed import is repeated to report its errors.
        if !is_done && !import(&mut module.duplicate()) {
            return Err(String::new());
        }
        let imported = imported.ok_or_else(|| "the program was not imported".to_owned())?;
        Ok(Self::of(imported, module.op().to_string(), options))
    }

    fn of(imported: Imported, text: String, options: &Options) -> Self {
        let Imported { name, kernels, key, target } = imported;
        let (mut dimensions, mut open) = (Vec::new(), Vec::new());
        for (kernel, OpenKernel { name, knobs, .. }) in kernels.iter().enumerate() {
            for (number, knob) in knobs.iter().enumerate() {
                // Knobs that the user sets are not searched.
                let is_given = options.knobs.iter().any(|given| given.kernel == *name && given.knob == knob.name);
                let Some(untuned) = knob.choices.iter().position(|choice| *choice == knob.value).filter(|_| !is_given) else { continue };
                let choices = knob.choices.iter().map(i64::to_string).collect();
                dimensions.push(Dimension { name: format!("{name}.{}", knob.name), choices, untuned });
                open.push(Open::Knob { kernel, knob: number });
            }
        }
        if options.kernels.is_none() && options.is_joint() {
            let untuned = MODES.into_iter().position(|mode| mode == options.kernel_mode()).unwrap_or_default();
            dimensions.push(Dimension { name: "kernels".to_owned(), choices: MODES.map(|mode| mode.to_string()).to_vec(), untuned });
            open.push(Open::Kernels);
        }
        let space = Space::new(dimensions);
        let is_elsewhere = |name: &str| ["target", "cores", "lx-bytes", "objective", "plan", "notes-plan", "proves"].contains(&name);
        let given = options.given().into_iter().filter(|(name, _)| !is_elsewhere(name));
        let given: Vec<String> = given.map(|(name, value)| format!("{name}={}", escaped(&value))).collect();
        let key = Key { space: space.to_string(), options: given.join(" "), objective: options.objective, ..key };
        Self { name, space, target, key, text, options: options.clone(), kernels, open }
    }

    /// Returns the options of a compilation with the choices of a point.
    pub(in crate::tool) fn options_at(&self, point: &Point) -> Options {
        let mut options = self.options.clone();
        for (open, choice) in self.open.iter().zip(&point.0) {
            match *open {
                Open::Knob { kernel, knob } => {
                    let OpenKernel { name, knobs, .. } = &self.kernels[kernel];
                    let value = knobs[knob].choices[*choice];
                    options.knobs.push(KnobValue { kernel: name.clone(), knob: knobs[knob].name.clone(), value });
                }
                Open::Kernels => options.kernels = Some(MODES[*choice]),
            }
        }
        options
    }

    /// Returns the command-line options that select the choices of a point.
    pub(in crate::tool) fn line_at(&self, point: &Point) -> String {
        let Options { knobs, kernels, .. } = self.options_at(point);
        let knobs: Vec<String> = knobs.iter().map(ToString::to_string).collect();
        let knobs = if knobs.is_empty() { String::new() } else { format!("--knobs {}", knobs.join(",")) };
        let kernels = kernels.map_or_else(String::new, |mode| format!("--kernels {mode}"));
        [knobs, kernels].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the values of a kernel's knobs at a point.
    fn values(&self, kernel: usize, point: &Point) -> Vec<i64> {
        let knobs = &self.kernels[kernel].knobs;
        let mut values: Vec<i64> = knobs.iter().map(|knob| knob.value).collect();
        for (open, choice) in self.open.iter().zip(&point.0) {
            if let Open::Knob { kernel: of, knob } = *open
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
    static SESSION: Session = pipeline::session();
}

impl Judge for Program {
    fn breaks(&self, point: &Point) -> Option<Rejection> {
        let refuse = |reason: &str, message: String| Some(Rejection { reason: reason.to_owned(), message });
        for (kernel, open) in self.kernels.iter().enumerate() {
            let values = self.values(kernel, point);
            if let Some(condition) = open.broken_condition(&values) {
                return refuse("condition", format!("kernel '{}' has the condition \"{condition}\"", open.name));
            }
            if let Some(message) = open.uneven(&values) {
                return refuse(DIVISIBILITY, format!("kernel '{}': {message}", open.name));
            }
            if let Some(message) = open.same_order(&values) {
                return refuse("order", format!("kernel '{}': {message}", open.name));
            }
        }
        None
    }

    fn measure(&self, point: &Point) -> Result<Measured, Rejection> {
        // Plans and proofs are recorded for the winner only: they take time, and do not change the result.
        let options = Options { compile_to: Phase::Bundle, notes_plan: false, proves: false, ..self.options_at(point) };
        SESSION.with(|session| {
            let compiled = || {
                let mut module = Module::parse(session, &self.text)?;
                let n_bugs = bugs_of(module.op());
                let report = compile(&mut module, &options, "");
                Some((report, bugs_of(module.op()) > n_bugs))
            };
            let (compiled, said) = collect(session.context(), compiled);
            match compiled {
                Some((Some(report), _)) => Ok(measured(&report)),
                Some((None, true)) => Err(Rejection { reason: BUG.to_owned(), message: first_error(&said) }),
                _ => {
                    let code = said.iter().find(|said| said.severity == "error").and_then(|error| error.code);
                    Err(Rejection { reason: reason_of(code).to_owned(), message: first_error(&said) })
                }
            }
        })
    }
}

/// Rejection reason of a candidate that a compiler bug has stopped.
pub(super) const BUG: &str = "compiler bug";

const DIVISIBILITY: &str = "divisibility";

/// Returns the modeled cost of a compilation, and a lower bound on the cost of any plan.
fn measured(report: &Report) -> Measured {
    let bound = &report.lower_bound;
    let least = bound.hbm_of_any_indices.max(bound.products);
    Measured { cost: cost_of(report), bound: Cost { ns: bound.us * 1000.0, hbm_bytes: least } }
}

/// Returns the modeled cost of a compilation: time in ns, HBM traffic in bytes.
pub(in crate::tool) fn cost_of(report: &Report) -> Cost {
    Cost { ns: report.time.estimate_us * 1000.0, hbm_bytes: report.total.hbm() }
}

fn first_error(said: &[Collected]) -> String {
    let error = said.iter().find(|said| said.severity == "error");
    error.map_or_else(|| "it cannot be compiled".to_owned(), |error| error.message.clone())
}

/// Returns the kind of reason for which a program does not compile.
const fn reason_of(code: Option<Code>) -> &'static str {
    match code {
        Some(codes::TILE_STICK) => "sticks",
        Some(codes::TILE_COUNT) => DIVISIBILITY,
        Some(codes::SPAN) => "span",
        Some(codes::SPLIT_DIVISOR | codes::SPLIT_BLOCKED | codes::SPLIT_CORES) => "splits",
        Some(codes::POOL_FULL) => "pool",
        Some(codes::LX_PLACE) => "LX",
        _ => "other",
    }
}

/// Properties of a program after import: it consists of `spyre` ops, and its kernels are still present.
struct Imported {
    name: String,
    kernels: Vec<OpenKernel>,
    key: Key,
    target: Target,
}

impl Imported {
    fn of(module: Op<'_>, open: &[FixedKind]) -> Self {
        let functions = functions_of(module);
        let name = functions.first().map_or_else(String::new, |function| function.text_attr(attr::SYM_NAME).to_owned());
        let target = target_of(module).unwrap_or_else(|_| Target::spyre());
        let types: Vec<Type<'_>> = functions
            .iter()
            .flat_map(|function| function.body_args().into_iter().chain(function.yielded()))
            .map(|value| value.r#type())
            .collect();
        let (shapes, layouts): (Vec<String>, Vec<String>) = types.into_iter().map(shape_and_layout).unzip();
        let numbers: Vec<String> = target.numbers().into_iter().map(|(name, number)| format!("{name} {number}")).collect();
        let key = Key {
            program: key_of(&module.to_string()),
            body: key_of(&functions_in(module).join(" ")),
            shapes: shapes.join(" "),
            layouts: layouts.join(" ").trim().to_owned(),
            machine: numbers.join(" "),
            model: key_of(&format!("{:?}", target.time)),
            version: VERSION.to_owned(),
            ..Key::default()
        };
        Self { name, kernels: open_kernels(module, open, target.cores), key, target }
    }
}

/// Returns the shape and element type of a tensor, and its device layout; the text of other types.
fn shape_and_layout(of: Type<'_>) -> (String, String) {
    let Some(tensor) = TensorType::of(of) else { return (of.to_string(), String::new()) };
    let sizes: Vec<String> = tensor.shape.iter().map(i64::to_string).collect();
    let layout = tensor.encoding.map_or_else(String::new, |layout| layout.to_string());
    (format!("{}x{}", sizes.join("x"), tensor.element), layout)
}

/// Returns the names and functions of the ops of a module, in order.
fn functions_in(module: Op<'_>) -> Vec<String> {
    let function_of = |op: Op<'_>| {
        ComputeOp::of(op).map_or_else(|| op.full_name().to_owned(), |compute| format!("{} {}", op.full_name(), compute.function()))
    };
    module.nested().into_iter().map(function_of).collect()
}
