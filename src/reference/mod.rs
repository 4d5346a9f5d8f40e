//! The numeric reference: the original module with its floating-point numbers in f64, run by MLIR's own JIT through
//! upstream passes.
//!
//! It shares no code with our compiler, so the two agree only if both are right, or wrong in unrelated ways. Computing
//! in f64 avoids rounding that the program does not request: a sum of 10,000 ones in f16 would be 2,048.

mod compare;
mod files;
mod rounding;
mod runnable;
mod verdict;

pub use compare::{ResultComparison, WorstElement, compare_arrays};
pub use files::{Agreement, ReferenceFiles, ReferenceOutcome, ReferenceRequest, answer_comparison};
pub use rounding::{RoundingErrors, find_poles, replace_numbers};
pub use runnable::ReferenceLimits;
pub use verdict::{ALLOWED_DIFFERENCE, ReferenceVerdict, check_against_reference};

use crate::dialect::ods::{attr, spyre, tm_tensor};
use crate::mlir::{
    BlockExt, JitArray, JitFunction, Module, Op, OpExt, ScalarType, Session, TensorType, Type, ValueLike, ValueMap,
    WidenMode, find_defined_functions, generalize_named_ops, i64_array_attribute, integers, is_public, lower_stablehlo,
    lower_tosa, make_entry, num_approximated_functions, partial_shape, specialize_dims, widen, wrap_scalars_in_tensors,
};
use machine::ElementType;
use referee::{ArrayElements, HostArray};

/// Results of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceResults {
    /// Results of the program as written.
    pub results: Vec<HostArray>,
    /// Results with the compiler's approximations of functions, each with its error or the opposite error; empty if the
    /// program has no approximated functions.
    pub approximated: Vec<Vec<HostArray>>,
    /// Results of the program in its own formats, of inputs as the device stores them: each result is rounded to its
    /// type, and a sum at its end.
    pub as_written: Vec<HostArray>,
    /// Properties of the module's numbers that affect rounding.
    pub numbers: NumberProperties,
}

/// Properties of the numbers in a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberProperties {
    /// Whether some have 16 bits. In other programs, the device uses 16 bits only at the user's request, or where it
    /// has no wider function.
    pub has_sixteen_bits: bool,
    /// Whether numbers that depend on arguments are compared or converted to integers: a rounding may then change a
    /// result by any amount.
    pub are_compared: bool,
}

impl NumberProperties {
    fn from_module(module: Op<'_>) -> Self {
        let is_half = |of: Type<'_>| {
            let element = TensorType::from_type(of).map_or(of, |tensor| tensor.element);
            matches!(ScalarType::from_type(element), ScalarType::F16 | ScalarType::Bf16)
        };
        let ops = module.nested();
        let given = collect_argument_dependents(module);
        let is_given = |op: &Op<'_>| op.inputs().into_iter().any(|value| given.get(value).is_some());
        Self {
            has_sixteen_bits: ops.iter().flat_map(|op| op.inputs()).any(|value| is_half(value.r#type())),
            are_compared: ops.iter().any(|op| COMPARISON_OPS.contains(&op.full_name()) && is_given(op)),
        }
    }
}

/// Returns the values that depend on arguments of the functions: all others are constants.
fn collect_argument_dependents(module: Op<'_>) -> ValueMap<()> {
    let mut given = ValueMap::default();
    for argument in find_defined_functions(module).into_iter().flat_map(OpExt::body_args) {
        given.insert(argument, ());
    }
    // A value that a loop carries may become one in a later pass over its body.
    loop {
        let mut is_settled = true;
        for op in module.nested().into_iter().filter(|op| !op.is("func.func")) {
            let arguments = op.bodies().into_iter().flat_map(BlockExt::args).collect::<Vec<_>>();
            let reads: Vec<bool> = op.inputs().into_iter().map(|value| given.get(value).is_some()).collect();
            let inside = op.nested().into_iter().flat_map(OpExt::inputs).any(|value| given.get(value).is_some());
            let is_linalg = op.full_name().starts_with("linalg.");
            // The arguments of a linalg body are elements of the operands, in order; other bodies may read any of them.
            let of_body = arguments
                .into_iter()
                .enumerate()
                .filter(|(index, _)| if is_linalg { reads.get(*index) == Some(&true) } else { reads.contains(&true) });
            let results = op.outputs().into_iter().filter(|_| inside || reads.contains(&true));
            for value in of_body.map(|(_, argument)| argument).chain(results) {
                is_settled &= given.insert(value, ()).is_some();
            }
        }
        if is_settled {
            return given;
        }
    }
}

/// Ops that compare numbers, or convert them to integers.
const COMPARISON_OPS: [&str; 12] = [
    "arith.cmpf",
    "arith.fptosi",
    "arith.fptoui",
    "arith.remf",
    "math.ceil",
    "math.floor",
    "math.round",
    "math.roundeven",
    "math.trunc",
    tm_tensor::SCATTER,
    tm_tensor::SORT,
    tm_tensor::TOPK,
];

/// Maximum number of approximation patterns to run. With as many patterns as functions, one of them has at least the
/// root of the sum of squares of the errors of the single functions.
const MAX_PATTERNS: u32 = 4;

impl ReferenceResults {
    /// Runs the function `name` of the module in `path`, or its only public one, on `inputs`, one per argument. Inputs
    /// set the dynamic sizes of argument types.
    ///
    /// # Errors
    /// As [`run_reference`].
    pub fn compute(path: &str, name: &str, inputs: &[HostArray], listen: &dyn Fn(&Session)) -> Result<Self, String> {
        let original = OriginalModule { path, name, effort: ReferenceLimits::default(), listen };
        let ReferenceExecution { results, num_approximated, numbers } = original.run(inputs, WidenMode::Exact)?;
        let approximated = approximation_patterns(num_approximated)
            .map(|pattern| Ok(original.run(inputs, WidenMode::Approximated(pattern))?.results));
        let approximated = approximated.collect::<Result<_, String>>()?;
        let stored: Vec<HostArray> = inputs.iter().map(rounding::round_to_device_format).collect();
        let as_written = original.run(&stored, WidenMode::RoundedAsWritten)?.results;
        Ok(Self { results, approximated, as_written, numbers })
    }

    /// Returns a result as computed with each of the approximations.
    #[must_use]
    pub fn approximated_result(&self, result: usize) -> Vec<&HostArray> {
        self.approximated.iter().map(|results| &results[result]).collect()
    }
}

/// Checks that the module in `path` accepts these inputs; called before a long simulation.
///
/// # Errors
/// As [`ReferenceResults::compute`].
pub fn check_module_accepts(
    path: &str,
    name: &str,
    inputs: &[HostArray],
    listen: &dyn Fn(&Session),
) -> Result<(), String> {
    let session = Session::new_for_reference();
    let source = session.open_source(path).map_err(|reason| format!("cannot read '{path}': {reason}"))?;
    listen(&session);
    let module = source.parse().ok_or_else(String::new)?;
    let named = |found: String| if found.is_empty() { found } else { format!("'{path}': {found}") };
    reduce_to_entry(&module, name, inputs).map_err(named)?;
    check_inputs(find_public_function(&module, path)?, inputs).map_err(named)
}

/// Returns the approximation patterns to run for this number of approximated functions.
fn approximation_patterns(num_approximated: u32) -> impl Iterator<Item = u32> {
    (0..num_approximated.next_power_of_two().min(MAX_PATTERNS)).filter(move |_| num_approximated > 0)
}

/// Runs the only public function of the module in `path` on `inputs`, one per argument, and returns its results.
///
/// # Errors
/// A message about a module that cannot be read or inputs that do not fit; an empty one if MLIR has reported the error.
pub fn run_reference(path: &str, inputs: &[HostArray]) -> Result<Vec<HostArray>, String> {
    Ok(OriginalModule { path, name: "", effort: ReferenceLimits::default(), listen: &|_| {} }
        .run(inputs, WidenMode::Exact)?
        .results)
}

/// Run of a module.
struct ReferenceExecution {
    results: Vec<HostArray>,
    /// Number of functions with an approximation.
    num_approximated: u32,
    numbers: NumberProperties,
}

/// Module in a file, with the function to run.
struct OriginalModule<'a> {
    path: &'a str,
    /// Name of the function; if no function has this name, the only public one is used.
    name: &'a str,
    effort: ReferenceLimits,
    /// Installs handlers for MLIR's diagnostics.
    listen: &'a dyn Fn(&Session),
}

impl OriginalModule<'_> {
    fn run(&self, inputs: &[HostArray], how: WidenMode) -> Result<ReferenceExecution, String> {
        let Self { path, name, effort, listen } = *self;
        let session = Session::new_for_reference();
        let source = session.open_source(path).map_err(|reason| format!("cannot read '{path}': {reason}"))?;
        listen(&session);
        let module = source.parse().ok_or_else(String::new)?;
        reduce_to_entry(&module, name, inputs)
            .map_err(|found| if found.is_empty() { found } else { format!("'{path}' {found}") })?;
        let (num_approximated, numbers) =
            (num_approximated_functions(&module), NumberProperties::from_module(module.op()));
        strip_dialect_ops(module.op()).map_err(|found| format!("'{path}' {found}"))?;
        let optimizes = runnable::check_runnable(module.op(), &effort).map_err(|found| format!("'{path}' {found}"))?;
        check_inputs(find_public_function(&module, path)?, inputs)?;
        normalize_unit_slice_strides(module.op());
        if how == WidenMode::RoundedAsWritten {
            // The bodies of named ops cannot be changed.
            find_defined_functions(module.op()).into_iter().for_each(generalize_named_ops);
        }
        if !widen(&module, how) {
            return Err(String::new());
        }
        let function = find_public_function(&module, path)?;
        let name = function.text_attr("sym_name").to_owned();
        let results = zero_results(function)?;
        let widened =
            inputs.iter().map(|input| JitArray::new(&input.shape, &widen_elements(&input.elements).to_bytes()));
        let mut arrays: Vec<JitArray> = widened.collect();
        arrays.extend(results.iter().map(|result| JitArray::new(&result.shape, &result.elements.to_bytes())));
        JitFunction::new(&module, &name, optimizes)?.call(&mut arrays)?;
        let written = results.into_iter().zip(arrays.into_iter().skip(inputs.len()));
        let array = |(mut result, array): (HostArray, JitArray)| {
            result.elements.set_bytes(&array.bytes());
            result
        };
        Ok(ReferenceExecution { results: written.map(array).collect(), num_approximated, numbers })
    }
}

fn find_public_function<'c>(module: &'c Module<'_>, path: &str) -> Result<Op<'c>, String> {
    let function = find_defined_functions(module.op()).into_iter().find(|function| is_public(*function));
    function.ok_or_else(|| format!("'{path}' has no public function to run"))
}

/// Reduces the module to the function of that name, or the only public one, with the sizes of its inputs, as linalg on
/// tensors.
fn reduce_to_entry(module: &Module<'_>, name: &str, inputs: &[HostArray]) -> Result<(), String> {
    let functions = find_defined_functions(module.op());
    let public: Vec<Op<'_>> = functions.iter().copied().filter(|function| is_public(*function)).collect();
    let named = functions.iter().find(|function| function.text_attr("sym_name") == name);
    let entry = match (named, public.as_slice()) {
        (Some(named), _) => *named,
        (None, [only]) => *only,
        (None, []) => return Err("has no public function to run".to_owned()),
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|function| function.text_attr("sym_name")).collect();
            let names = names.join("', '");
            return Err(format!(
                "expected the function '{name}' of the bundle, found '{names}'; give the module that was compiled"
            ));
        }
    };
    make_entry(module.op(), entry);
    wrap_scalars_in_tensors(entry);
    let shapes: Vec<Vec<Option<i64>>> =
        entry.body_args().into_iter().map(|argument| partial_shape(argument.r#type()).unwrap_or_default()).collect();
    let fits =
        shapes.len() == inputs.len() && shapes.iter().zip(inputs).all(|(open, input)| open.len() == input.shape.len());
    let dims = shapes.iter().flatten().zip(inputs.iter().flat_map(|input| &input.shape));
    let sizes: Vec<i64> = dims.filter_map(|(known, size)| known.is_none().then_some(*size)).collect();
    // Inputs that do not fit are reported by `check_inputs`.
    if fits && !sizes.is_empty() {
        specialize_dims(entry, &sizes).map_err(|_| String::new())?;
    }
    lower_stablehlo(module.op()).and_then(|()| lower_tosa(module.op())).map_err(|_| String::new())
}

/// Returns floating-point elements as f64, and others unchanged.
fn widen_elements(elements: &ArrayElements) -> ArrayElements {
    match elements {
        ArrayElements::F16(_)
        | ArrayElements::Bf16(_)
        | ArrayElements::F32(_)
        | ArrayElements::F64(_)
        | ArrayElements::F8E4M3Fn(_)
        | ArrayElements::F8E5M2(_) => {
            ArrayElements::F64((0..elements.len()).map(|index| elements.get(index)).collect())
        }
        ArrayElements::I8(_) | ArrayElements::I32(_) | ArrayElements::I64(_) | ArrayElements::Bool(_) => {
            elements.clone()
        }
    }
}

/// Returns the name of the first op that is not upstream's, hint scopes excepted: MLIR's JIT cannot run it.
#[must_use]
pub fn find_dialect_op(module: Op<'_>) -> Option<String> {
    let is_ours = |name: &str| name.starts_with("spyre.") || name.starts_with("sdsc");
    let is_scope = |op: &Op<'_>| op.is(spyre::HINT) || op.is(spyre::YIELD);
    let ops = module.nested().into_iter().filter(|op| !is_scope(op));
    ops.map(|op| op.full_name().to_owned()).find(|name| is_ours(name))
}

/// Inlines hint scopes and removes attributes that only our compiler reads; neither changes results.
///
/// # Errors
/// A message about the first other op of our dialects.
fn strip_dialect_ops(module: Op<'_>) -> Result<(), String> {
    // Reversed: inner scopes are inlined before outer scopes.
    module.nested().into_iter().rev().filter(|op| op.is(spyre::HINT)).for_each(OpExt::inline_body);
    for op in module.nested() {
        let name = op.full_name();
        if name.starts_with("spyre.") || name.starts_with("sdsc") {
            return Err(format!(
                "has '{name}' at {}: MLIR's JIT runs linalg on tensors, so check against the program before it was imported",
                op.loc()
            ));
        }
        for attribute in [attr::SPYRE_TARGET, attr::SPYRE_PHASE, attr::SPYRE_DIM_SIZES, attr::SPYRE_SYMBOLS] {
            op.remove_attr(attribute);
        }
        if op.is("func.func") {
            // Dimension names, and attributes of other front ends, have no meaning for the JIT.
            op.remove_attr("arg_attrs");
        }
    }
    Ok(())
}

/// Sets the stride of slices of size 1 to 1, which is equivalent: MLIR's bufferization of rank-reducing slices requires
/// it.
fn normalize_unit_slice_strides(module: Op<'_>) {
    for op in module.nested().into_iter().filter(|op| op.is("tensor.extract_slice") || op.is("tensor.insert_slice")) {
        let list = |name: &str| op.attr(name).and_then(integers);
        let (Some(sizes), Some(strides)) = (list("static_sizes"), list("static_strides")) else { continue };
        let steps: Vec<i64> =
            sizes.iter().zip(&strides).map(|(&size, &stride)| if size == 1 { 1 } else { stride }).collect();
        // Negative entries mark dynamic strides, which have operands.
        if steps != strides && strides.iter().all(|stride| *stride > 0) {
            op.set_attr("static_strides", i64_array_attribute(op.ctx(), &steps));
        }
    }
}

fn check_inputs(function: Op<'_>, inputs: &[HostArray]) -> Result<(), String> {
    let arguments = function.body_args();
    if arguments.len() != inputs.len() {
        return Err(format!(
            "expected a module with as many arguments as the bundle ({}), found {}; give the module from which the bundle was compiled",
            inputs.len(),
            arguments.len()
        ));
    }
    for (position, (argument, input)) in arguments.iter().zip(inputs).enumerate() {
        let expected = argument.r#type();
        let found = TensorType::from_type(expected).filter(|tensor| tensor.shape == input.shape);
        // Results of another run of the reference are in f64.
        let is_exact = matches!(input.elements, ArrayElements::F64(_));
        let given = input.elements.element_type();
        let takes = |element: ElementType| element == given || (is_exact && element.is_float());
        if !found.and_then(|tensor| ScalarType::from_type(tensor.element).element_type()).is_some_and(takes) {
            return Err(format!(
                "expected argument {position} of shape {:?} and type {given}, as in the bundle, found {expected} in the module; give the \
                 module from which the bundle was compiled",
                input.shape
            ));
        }
    }
    Ok(())
}

/// Returns arrays of zeros of the function's result types.
fn zero_results(function: Op<'_>) -> Result<Vec<HostArray>, String> {
    let terminator = function.body_ops().pop().ok_or("the function is empty")?;
    let array = |value: crate::mlir::Value<'_>| {
        let tensor =
            TensorType::from_type(value.r#type()).ok_or_else(|| format!("the function returns {}", value.r#type()))?;
        let length: i64 = tensor.shape.iter().product();
        let element = ScalarType::from_type(tensor.element).element_type();
        let element = element.ok_or_else(|| format!("unsupported element type '{}'", tensor.element))?;
        let elements = ArrayElements::zeros(element, usize::try_from(length).unwrap_or(0));
        Ok(HostArray { shape: tensor.shape, elements })
    };
    terminator.inputs().into_iter().map(array).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_sums_in_f64_by_upstream_passes() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("sum.mlir");
        let program = "func.func @sum(%x: tensor<2x3xf16>, %y: tensor<2x3xf16>) -> tensor<2x3xf16> {
          %empty = tensor.empty() : tensor<2x3xf16>
          %z = linalg.add ins(%x, %y : tensor<2x3xf16>, tensor<2x3xf16>) outs(%empty : tensor<2x3xf16>) -> tensor<2x3xf16>
          return %z : tensor<2x3xf16>
        }";
        std::fs::write(&path, program).unwrap();
        let array = |first: u16| {
            let halves = (0..6).map(|step| referee::f16_from_f32(f32::from(first + step))).collect();
            HostArray { shape: vec![2, 3], elements: ArrayElements::F16(halves) }
        };
        let results = run_reference(path.to_str().unwrap(), &[array(1), array(10)]).unwrap();
        let found: Vec<f64> = (0..6).map(|index| results[0].elements.get(index)).collect();
        assert_eq!(found, [11.0, 13.0, 15.0, 17.0, 19.0, 21.0]);
        let rejected = run_reference(path.to_str().unwrap(), &[array(1)]).unwrap_err();
        assert_eq!(
            rejected,
            "expected a module with as many arguments as the bundle (1), found 2; give the module from which the bundle was compiled"
        );
    }
}
