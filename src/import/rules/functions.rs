//! Table of the scalar operations of a body and their lowerings. It drives the import and
//! `docs/reference/supported-ops.md`.

mod constant_folding;

use super::{
    angles,
    body::{max_or_nan, min_or_nan},
    fold::{IntegerWidths, MAX_WIDTH},
    nan_comparison, powers, recognize, rounding,
    rule_helpers::{common_element_type, neg},
    trigonometry,
};
use crate::codes;
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph, table_lookup};
use constant_folding::ConstantFolding;
use std::cmp::Ordering;

/// Lowering of an operation on runtime values.
#[derive(Clone, Copy)]
enum RuntimeLowering {
    /// A device function of the same operands; the result has their element type.
    Function(&'static str),
    /// A device function whose result is a truth value.
    Comparison(&'static str),
    /// A comparison whose result for a NaN operand differs from that of the device function.
    Unordered(&'static str),
    /// Several device functions, or one that depends on the operands.
    Rule(fn(&mut ValueGraph, &[NodeId], NodeElementType) -> Result<NodeId, String>),
    /// No lowering: the operation is supported on constant operands, or as part of an index.
    Integer,
}

/// Scalar operation of a body.
#[derive(Clone, Copy)]
pub struct ScalarFunction {
    /// MLIR's name, followed by the predicate for comparisons.
    pub name: &'static str,
    /// Description of the lowering, if it has more than one device function.
    text: &'static str,
    fold: ConstantFolding,
    run: RuntimeLowering,
}

/// Truth value of a comparison.
const fn truth_value(condition: bool) -> f64 {
    if condition { 1.0 } else { 0.0 }
}

const fn new_row(
    name: &'static str,
    text: &'static str,
    evaluate: fn(&[f64]) -> f64,
    run: RuntimeLowering,
) -> ScalarFunction {
    ScalarFunction { name, text, fold: ConstantFolding::Numbers(evaluate), run }
}

const fn new_function(name: &'static str, function: &'static str, evaluate: fn(&[f64]) -> f64) -> ScalarFunction {
    new_row(name, "", evaluate, RuntimeLowering::Function(function))
}

const fn new_comparison(name: &'static str, function: &'static str, evaluate: fn(&[f64]) -> f64) -> ScalarFunction {
    new_row(name, "", evaluate, RuntimeLowering::Comparison(function))
}

const INTEGER_TEXT: &str = "a number known at compile time, a part of an index, or as below";

const fn new_integer(name: &'static str) -> ScalarFunction {
    ScalarFunction { name, text: INTEGER_TEXT, fold: ConstantFolding::Integers, run: RuntimeLowering::Integer }
}

const fn new_bitwise(
    name: &'static str,
    text: &'static str,
    rule: fn(&mut ValueGraph, &[NodeId], NodeElementType) -> Result<NodeId, String>,
) -> ScalarFunction {
    ScalarFunction { name, text, fold: ConstantFolding::Integers, run: RuntimeLowering::Rule(rule) }
}

const ANGLE_TEXT: &str = "`realdiv` of the smaller by the larger operand, and a polynomial";

/// All supported scalar operations. Others are rejected if their result is used.
pub const SCALAR_FUNCTIONS: &[ScalarFunction] = &[
    new_row("arith.addf", "`add`", |x| x[0] + x[1], RuntimeLowering::Rule(recognize::add)),
    new_row("arith.subf", "`sub`; `neg` of 0 - x", |x| x[0] - x[1], RuntimeLowering::Rule(recognize::sub)),
    new_row(
        "arith.mulf",
        "`mul`; the last step of `silu`, `gelufwd`, `sigmoid` and `mean`",
        |x| x[0] * x[1],
        RuntimeLowering::Rule(recognize::mul),
    ),
    new_row(
        "arith.divf",
        "`realdiv`, `reciprocal`, or `mul` by a power of two; `sigmoid`, `silu`, `mean`",
        |x| x[0] / x[1],
        RuntimeLowering::Rule(recognize::div),
    ),
    new_row("arith.negf", "`neg`", |x| -x[0], RuntimeLowering::Rule(neg)),
    new_row(
        "arith.maximumf",
        "`maximum`; `relufwd` and `clip` with constants",
        |x| max_or_nan(x[0], x[1]),
        RuntimeLowering::Rule(recognize::maximum),
    ),
    new_row(
        "arith.maxnumf",
        "`greaterequal` and `where3`, twice if both operands may be NaN",
        |x| x[0].max(x[1]),
        RuntimeLowering::Rule(recognize::build_maxnum),
    ),
    new_row(
        "arith.minimumf",
        "`minimum`; `clip` with constants",
        |x| min_or_nan(x[0], x[1]),
        RuntimeLowering::Rule(recognize::minimum),
    ),
    new_row(
        "arith.minnumf",
        "`lesserequal` and `where3`, twice if both operands may be NaN",
        |x| x[0].min(x[1]),
        RuntimeLowering::Rule(recognize::build_minnum),
    ),
    new_row(
        "arith.remf",
        "`realdiv`, `floor`, `mul`, `sub`, and one correction step",
        |x| x[0] % x[1],
        RuntimeLowering::Rule(rounding::build_remainder),
    ),
    new_comparison("arith.cmpf oeq", "equal", |x| truth_value(x[0] == x[1])),
    new_row(
        "arith.cmpf ueq",
        "`equal` of `greaterthan` and `lesserthan`; true for NaN",
        |x| truth_value(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less | Ordering::Greater))),
        RuntimeLowering::Unordered("equal"),
    ),
    new_row(
        "arith.cmpf one",
        "`notequal` of `greaterthan` and `lesserthan`; false for NaN",
        |x| truth_value(matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less | Ordering::Greater))),
        RuntimeLowering::Unordered("notequal"),
    ),
    new_comparison("arith.cmpf une", "notequal", |x| truth_value(x[0] != x[1])),
    new_comparison("arith.cmpf ogt", "greaterthan", |x| truth_value(x[0] > x[1])),
    new_row(
        "arith.cmpf ugt",
        "`notequal` of `lesserequal` and 1; true for NaN",
        |x| truth_value(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less | Ordering::Equal))),
        RuntimeLowering::Unordered("greaterthan"),
    ),
    new_comparison("arith.cmpf oge", "greaterequal", |x| truth_value(x[0] >= x[1])),
    new_row(
        "arith.cmpf uge",
        "`notequal` of `lesserthan` and 1; true for NaN",
        |x| truth_value(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less))),
        RuntimeLowering::Unordered("greaterequal"),
    ),
    new_comparison("arith.cmpf olt", "lesserthan", |x| truth_value(x[0] < x[1])),
    new_row(
        "arith.cmpf ult",
        "`notequal` of `greaterequal` and 1; true for NaN",
        |x| truth_value(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Greater | Ordering::Equal))),
        RuntimeLowering::Unordered("lesserthan"),
    ),
    new_comparison("arith.cmpf ole", "lesserequal", |x| truth_value(x[0] <= x[1])),
    new_row(
        "arith.cmpf ule",
        "`notequal` of `greaterthan` and 1; true for NaN",
        |x| truth_value(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Greater))),
        RuntimeLowering::Unordered("lesserequal"),
    ),
    new_row(
        "arith.cmpf uno",
        "`notequal` of x and x",
        |x| truth_value(x[0].is_nan() || x[1].is_nan()),
        RuntimeLowering::Rule(recognize::build_unordered),
    ),
    new_row(
        "arith.cmpf ord",
        "`equal` of x and x",
        |x| truth_value(!(x[0].is_nan() || x[1].is_nan())),
        RuntimeLowering::Rule(recognize::build_ordered),
    ),
    ScalarFunction {
        name: "arith.select",
        text: "`where3`; `maximum` or `minimum` of x > y ? x : y; the last step of a safe softmax",
        fold: ConstantFolding::Select,
        run: RuntimeLowering::Rule(recognize::select),
    },
    new_function("math.absf", "abs", |x| x[0].abs()),
    new_row("math.ceil", "`neg`, `floor`, `neg`", |x| x[0].ceil(), RuntimeLowering::Rule(recognize::ceil)),
    new_row(
        "math.clampf",
        "`clip` with constants, otherwise `maximum` and `minimum`",
        |x| min_or_nan(max_or_nan(x[0], x[1]), x[2]),
        RuntimeLowering::Rule(recognize::clamp),
    ),
    new_row(
        "math.erf",
        "part of `gelufwd`; otherwise the approximation of Abramowitz and Stegun (7.1.26)",
        |x| recognize::evaluate_erf(x[0]),
        RuntimeLowering::Rule(recognize::erf),
    ),
    new_function("math.exp", "exp", |x| x[0].exp()),
    new_row("math.exp2", "`exp` of x ln 2", |x| x[0].exp2(), RuntimeLowering::Rule(recognize::exp2)),
    new_row("math.expm1", "`exp`, `sub`", |x| x[0].exp_m1(), RuntimeLowering::Rule(recognize::expm1)),
    new_function("math.floor", "floor", |x| x[0].floor()),
    new_row("math.fma", "`mul`, `add`", |x| x[0] * x[1] + x[2], RuntimeLowering::Rule(recognize::fma)),
    new_row(
        "math.fpowi",
        "`mul`, `reciprocal`; the exponent must be a constant",
        |x| x[0].powf(x[1]),
        RuntimeLowering::Rule(powers::build_power),
    ),
    new_row("math.log", "`log`; the last step of `softplus`", |x| x[0].ln(), RuntimeLowering::Rule(recognize::log)),
    new_row(
        "math.log1p",
        "`log` of 1 + x; the last step of `softplus`",
        |x| x[0].ln_1p(),
        RuntimeLowering::Rule(recognize::log1p),
    ),
    new_row("math.log2", "`log`, `mul`", |x| x[0].log2(), RuntimeLowering::Rule(recognize::log2)),
    new_row(
        "math.powf",
        "`mul`, `sqrt`, `rsqrt`, `reciprocal` for constant exponents; otherwise `exp` of a multiple of `log`, and NaN for negative bases",
        |x| x[0].powf(x[1]),
        RuntimeLowering::Rule(powers::build_power),
    ),
    new_function("math.rsqrt", "rsqrt", |x| 1.0 / x[0].sqrt()),
    new_function("math.sqrt", "sqrt", |x| x[0].sqrt()),
    new_function("math.tanh", "tanh", |x| x[0].tanh()),
    new_row(
        "math.sin",
        "range reduction and a polynomial; NaN beyond 1024, in f32 beyond 131072",
        |x| x[0].sin(),
        RuntimeLowering::Rule(trigonometry::sin),
    ),
    new_row(
        "math.cos",
        "range reduction and a polynomial; NaN beyond 1024, in f32 beyond 131072",
        |x| x[0].cos(),
        RuntimeLowering::Rule(trigonometry::cos),
    ),
    new_row("math.tan", "sine divided by cosine", |x| x[0].tan(), RuntimeLowering::Rule(angles::tan)),
    new_row("math.atan", ANGLE_TEXT, |x| x[0].atan(), RuntimeLowering::Rule(angles::atan)),
    new_row("math.atan2", ANGLE_TEXT, |x| x[0].atan2(x[1]), RuntimeLowering::Rule(angles::atan2)),
    new_row(
        "math.asin",
        "`sqrt` of (1 - x) (1 + x), then like `math.atan2`",
        |x| x[0].asin(),
        RuntimeLowering::Rule(angles::asin),
    ),
    new_row("math.acos", "like `math.asin`", |x| x[0].acos(), RuntimeLowering::Rule(angles::acos)),
    new_row("math.asinh", "`sqrt`, `log`", |x| x[0].asinh(), RuntimeLowering::Rule(angles::asinh)),
    new_row("math.acosh", "`sqrt`, `log`", |x| x[0].acosh(), RuntimeLowering::Rule(angles::acosh)),
    new_row("math.atanh", "`realdiv`, `log`", |x| x[0].atanh(), RuntimeLowering::Rule(angles::atanh)),
    new_row("math.erfc", "1 + erf(-x)", |x| 1.0 - recognize::evaluate_erf(x[0]), RuntimeLowering::Rule(angles::erfc)),
    new_row(
        "math.round",
        "`floor`, plus 1 if the remainder exceeds a half",
        |x| x[0].round(),
        RuntimeLowering::Rule(rounding::round),
    ),
    new_row(
        "math.roundeven",
        "`floor`, plus 1 if the remainder exceeds a half",
        |x| x[0].round_ties_even(),
        RuntimeLowering::Rule(rounding::round_even),
    ),
    new_row(
        "math.trunc",
        "`floor` of the magnitude, with the sign",
        |x| x[0].trunc(),
        RuntimeLowering::Rule(rounding::trunc),
    ),
    new_row(
        "math.copysign",
        "`abs`, `neg`, `where3`",
        |x| x[0].copysign(x[1]),
        RuntimeLowering::Rule(rounding::copy_sign),
    ),
    new_row("math.sinh", "`exp`s", |x| x[0].sinh(), RuntimeLowering::Rule(powers::sinh)),
    new_row("math.cosh", "`exp`s", |x| x[0].cosh(), RuntimeLowering::Rule(powers::cosh)),
    new_row("math.log10", "`log`, `mul`", |x| x[0].log10(), RuntimeLowering::Rule(powers::log10)),
    new_row("math.cbrt", "`exp` of a third of the `log`", |x| x[0].cbrt(), RuntimeLowering::Rule(powers::cbrt)),
    new_bitwise("arith.andi", "`mul` of truth values", recognize::and),
    new_bitwise("arith.ori", "`maximum` of truth values", recognize::or),
    new_bitwise("arith.xori", "`notequal` of truth values", recognize::xor),
    ScalarFunction {
        name: "arith.uitofp",
        text: "nothing, for a truth value; of a byte, 256 more where it is negative",
        fold: ConstantFolding::ToNumber { is_signed: false },
        run: RuntimeLowering::Rule(recognize::convert_truth),
    },
    ScalarFunction {
        name: "arith.sitofp",
        text: "`neg`, for a truth value",
        fold: ConstantFolding::ToNumber { is_signed: true },
        run: RuntimeLowering::Rule(recognize::convert_signed_truth),
    },
    ScalarFunction {
        name: "arith.fptosi",
        text: "as `math.trunc`",
        fold: ConstantFolding::ToInteger { is_signed: true },
        run: RuntimeLowering::Integer,
    },
    ScalarFunction {
        name: "arith.fptoui",
        text: INTEGER_TEXT,
        fold: ConstantFolding::ToInteger { is_signed: false },
        run: RuntimeLowering::Integer,
    },
    new_integer("math.absi"),
    new_integer("arith.addi"),
    new_integer("arith.subi"),
    new_integer("arith.muli"),
    new_integer("arith.divsi"),
    new_integer("arith.divui"),
    new_integer("arith.floordivsi"),
    new_integer("arith.ceildivsi"),
    new_integer("arith.ceildivui"),
    new_integer("arith.remsi"),
    new_integer("arith.remui"),
    new_integer("arith.maxsi"),
    new_integer("arith.maxui"),
    new_integer("arith.minsi"),
    new_integer("arith.minui"),
    new_integer("arith.shli"),
    new_integer("arith.shrsi"),
    new_integer("arith.shrui"),
    new_integer("arith.cmpi eq"),
    new_integer("arith.cmpi ne"),
    new_integer("arith.cmpi slt"),
    new_integer("arith.cmpi sle"),
    new_integer("arith.cmpi sgt"),
    new_integer("arith.cmpi sge"),
    new_integer("arith.cmpi ult"),
    new_integer("arith.cmpi ule"),
    new_integer("arith.cmpi ugt"),
    new_integer("arith.cmpi uge"),
    new_integer("arith.index_cast"),
    new_integer("arith.index_castui"),
    new_integer("arith.extsi"),
    new_integer("arith.extui"),
    new_integer("arith.trunci"),
];

impl ScalarFunction {
    /// Returns the operation of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        SCALAR_FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// Returns the lowering as the documentation shows it.
    #[must_use]
    pub fn describe_lowering(&self) -> String {
        match self.run {
            RuntimeLowering::Function(function) | RuntimeLowering::Comparison(function) => format!("`{function}`"),
            RuntimeLowering::Unordered(_) | RuntimeLowering::Rule(_) | RuntimeLowering::Integer => self.text.to_owned(),
        }
    }

    /// Returns whether the operation on `inputs` reads integers of a runtime tensor that the device only uses to select
    /// rows.
    #[must_use]
    pub fn computes_indices(&self, graph: &ValueGraph, inputs: &[NodeId]) -> bool {
        let is_known = inputs.iter().all(|&input| graph.as_constant(input).is_some());
        let elements = graph.collect_element_types(inputs);
        // Constant integers that a condition selects from have no element type in `elements`.
        let chooses_integers = self.name == "arith.select"
            && inputs.iter().any(|&input| graph.node(input).element == NodeElementType::Int);
        !is_known
            && (matches!(self.run, RuntimeLowering::Integer)
                || elements.contains(&NodeElementType::Int)
                || chooses_integers)
    }

    /// Returns whether rounding an operand to a device format would change the result.
    fn is_transcendental(&self) -> bool {
        const EXACT_FUNCTIONS: [&str; 10] = [
            "math.absf",
            "math.absi",
            "math.ceil",
            "math.clampf",
            "math.copysign",
            "math.floor",
            "math.fma",
            "math.round",
            "math.roundeven",
            "math.trunc",
        ];
        self.name.starts_with("math.") && !EXACT_FUNCTIONS.contains(&self.name)
    }

    /// Builds the node of the operation on `inputs`, with element type `element` unless an input is a runtime
    /// floating-point number.
    ///
    /// # Errors
    /// Returns the reason why the device cannot compute it.
    pub fn build(
        &'static self,
        graph: &mut ValueGraph,
        inputs: &[NodeId],
        element: NodeElementType,
        widths: IntegerWidths,
    ) -> Result<NodeId, String> {
        if inputs.iter().all(|&input| graph.as_constant(input).is_some()) {
            let folded = self.fold(graph, inputs, element, widths)?;
            return match folded.undefined {
                Some((_, reason)) => Err(reason.to_string()),
                None => Ok(graph.add_constant(folded.known, folded.shape, element)),
            };
        }
        let of_rows = match (self.run, element) {
            (RuntimeLowering::Comparison(_) | RuntimeLowering::Unordered(_), _) => NodeElementType::Bool,
            // A lookup yields a number, regardless of its element type.
            (_, NodeElementType::Int) => graph.integers.element(),
            _ => element,
        };
        let of_table = if element == NodeElementType::Int { element } else { of_rows };
        if let Some(found) = table_lookup::apply_to_tables(graph, inputs, of_rows, |graph, tables| {
            self.fold_tables(graph, tables, of_table, widths)
        }) {
            if element == NodeElementType::Int && graph.as_constant(found).is_none() {
                graph.record_integers(found);
            }
            return Ok(found);
        }
        if self.is_transcendental() {
            graph.require_tables_if_integer_only(inputs);
        }
        let elements = graph.collect_element_types(inputs);
        match self.run {
            RuntimeLowering::Function(function) => {
                Ok(graph.add_pointwise(function, inputs, common_element_type(&elements)?))
            }
            RuntimeLowering::Comparison(function) => {
                common_element_type(&elements)?;
                Ok(graph.add_pointwise(function, inputs, NodeElementType::Bool))
            }
            RuntimeLowering::Unordered(function) => {
                common_element_type(&elements)?;
                Ok(nan_comparison::build_comparison(graph, function, inputs))
            }
            RuntimeLowering::Rule(rule) => {
                let given = if element.is_float() { element } else { elements.first().copied().unwrap_or(element) };
                let element = elements.iter().copied().find(|element| element.is_float()).unwrap_or(given);
                rule(graph, inputs, element)
            }
            RuntimeLowering::Integer => Err(codes::INTEGER_RUNTIME
                .format("is not supported on integers at runtime; compute it at compile time or on floats")),
        }
    }
}

impl ValueGraph {
    /// Builds an operation by its name, for rules that compose operations; integers have 64 bits.
    pub(in crate::import) fn apply(
        &mut self,
        name: &str,
        inputs: &[NodeId],
        element: NodeElementType,
    ) -> Result<NodeId, String> {
        let function =
            ScalarFunction::from_name(name).ok_or_else(|| format!("'{name}' is not in the table of operations"))?;
        function.build(self, inputs, element, IntegerWidths::uniform(MAX_WIDTH))
    }

    /// Returns the inputs of a node that is this elementwise device function.
    pub(in crate::import) fn as_pointwise(&self, id: NodeId, function: &str) -> Option<&[NodeId]> {
        let node = self.node(id);
        matches!(node.kind, NodeKind::Pointwise(name, _) if name == function).then_some(node.inputs.as_slice())
    }
}

#[cfg(test)]
mod tests;
