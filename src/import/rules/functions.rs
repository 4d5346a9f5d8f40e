//! Table of the scalar operations of a body and their lowerings. It drives the import and
//! `docs/reference/supported-ops.md`.

use super::{
    angles,
    body::{larger, smaller},
    fold::{MAX_WIDTH, Undefined, Widths, in_width, integer_function, to_integer, to_number},
    plain::{neg, same},
    powers, recognize, steps, trigonometry, unordered,
};
use crate::codes;
use crate::import::graph::{
    Element, Graph, Kind, NodeId,
    known::{Known, MOST_KNOWN_ELEMENTS, too_many_known},
    rows,
};
use std::cmp::Ordering;

/// Lowering of an operation on runtime values.
#[derive(Clone, Copy)]
enum Run {
    /// A device function of the same operands; the result has their element type.
    Function(&'static str),
    /// A device function whose result is a truth value.
    Comparison(&'static str),
    /// A comparison whose result for a NaN operand differs from that of the device function.
    Unordered(&'static str),
    /// Several device functions, or one that depends on the operands.
    Rule(fn(&mut Graph, &[NodeId], Element) -> Result<NodeId, String>),
    /// No lowering: the operation is supported on constant operands, or as part of an index.
    Integer,
}

/// Constant folding of an operation.
#[derive(Clone, Copy)]
enum Fold {
    /// Numbers from numbers.
    Numbers(fn(&[f64]) -> f64),
    /// Integers from integers, by [`integer_function`].
    Integers,
    /// A number from an integer, which is read as signed or unsigned.
    ToNumber { is_signed: bool },
    /// An integer from a number, signed or unsigned.
    ToInteger { is_signed: bool },
    /// The second or the third operand, of any type.
    Choice,
}

/// Scalar operation of a body.
#[derive(Clone, Copy)]
pub struct ScalarFunction {
    /// MLIR's name, followed by the predicate for comparisons.
    pub name: &'static str,
    /// Description of the lowering, if it has more than one device function.
    text: &'static str,
    fold: Fold,
    run: Run,
}

/// Folded result of an operation, and where it has no value.
pub(in crate::import) struct Folded {
    /// The elements; 0 where there is no value.
    pub(in crate::import) known: Known,
    /// The shape of the elements.
    pub(in crate::import) shape: Vec<i64>,
    /// For each element whether it has no value, and the reason for the first such element; None if all elements have one.
    pub(in crate::import) undefined: Option<(Vec<bool>, Undefined)>,
}

/// Truth value of a comparison.
const fn truth(condition: bool) -> f64 {
    if condition { 1.0 } else { 0.0 }
}

const fn row(name: &'static str, text: &'static str, evaluate: fn(&[f64]) -> f64, run: Run) -> ScalarFunction {
    ScalarFunction { name, text, fold: Fold::Numbers(evaluate), run }
}

const fn function(name: &'static str, function: &'static str, evaluate: fn(&[f64]) -> f64) -> ScalarFunction {
    row(name, "", evaluate, Run::Function(function))
}

const fn compared(name: &'static str, function: &'static str, evaluate: fn(&[f64]) -> f64) -> ScalarFunction {
    row(name, "", evaluate, Run::Comparison(function))
}

const INTEGER: &str = "a number known at compile time, a part of an index, or as below";

const fn integer(name: &'static str) -> ScalarFunction {
    ScalarFunction { name, text: INTEGER, fold: Fold::Integers, run: Run::Integer }
}

const fn bitwise(
    name: &'static str,
    text: &'static str,
    rule: fn(&mut Graph, &[NodeId], Element) -> Result<NodeId, String>,
) -> ScalarFunction {
    ScalarFunction { name, text, fold: Fold::Integers, run: Run::Rule(rule) }
}

const ANGLE: &str = "`realdiv` of the smaller by the larger operand, and a polynomial";

/// All supported scalar operations. Others are rejected if their result is used.
pub const SCALAR_FUNCTIONS: &[ScalarFunction] = &[
    row("arith.addf", "`add`", |x| x[0] + x[1], Run::Rule(recognize::add)),
    row("arith.subf", "`sub`; `neg` of 0 - x", |x| x[0] - x[1], Run::Rule(recognize::sub)),
    row("arith.mulf", "`mul`; the last step of `silu`, `gelufwd`, `sigmoid` and `mean`", |x| x[0] * x[1], Run::Rule(recognize::mul)),
    row(
        "arith.divf",
        "`realdiv`, `reciprocal`, or `mul` by a power of two; `sigmoid`, `silu`, `mean`",
        |x| x[0] / x[1],
        Run::Rule(recognize::div),
    ),
    row("arith.negf", "`neg`", |x| -x[0], Run::Rule(neg)),
    row("arith.maximumf", "`maximum`; `relufwd` and `clip` with constants", |x| larger(x[0], x[1]), Run::Rule(recognize::maximum)),
    row(
        "arith.maxnumf",
        "`greaterequal` and `where3`, twice if both operands may be NaN",
        |x| x[0].max(x[1]),
        Run::Rule(recognize::larger_number),
    ),
    row("arith.minimumf", "`minimum`; `clip` with constants", |x| smaller(x[0], x[1]), Run::Rule(recognize::minimum)),
    row(
        "arith.minnumf",
        "`lesserequal` and `where3`, twice if both operands may be NaN",
        |x| x[0].min(x[1]),
        Run::Rule(recognize::smaller_number),
    ),
    row("arith.remf", "`realdiv`, `floor`, `mul`, `sub`, and one correction step", |x| x[0] % x[1], Run::Rule(steps::remainder)),
    compared("arith.cmpf oeq", "equal", |x| truth(x[0] == x[1])),
    row(
        "arith.cmpf ueq",
        "`equal` of `greaterthan` and `lesserthan`; true for NaN",
        |x| truth(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less | Ordering::Greater))),
        Run::Unordered("equal"),
    ),
    row(
        "arith.cmpf one",
        "`notequal` of `greaterthan` and `lesserthan`; false for NaN",
        |x| truth(matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less | Ordering::Greater))),
        Run::Unordered("notequal"),
    ),
    compared("arith.cmpf une", "notequal", |x| truth(x[0] != x[1])),
    compared("arith.cmpf ogt", "greaterthan", |x| truth(x[0] > x[1])),
    row(
        "arith.cmpf ugt",
        "`notequal` of `lesserequal` and 1; true for NaN",
        |x| truth(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less | Ordering::Equal))),
        Run::Unordered("greaterthan"),
    ),
    compared("arith.cmpf oge", "greaterequal", |x| truth(x[0] >= x[1])),
    row(
        "arith.cmpf uge",
        "`notequal` of `lesserthan` and 1; true for NaN",
        |x| truth(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Less))),
        Run::Unordered("greaterequal"),
    ),
    compared("arith.cmpf olt", "lesserthan", |x| truth(x[0] < x[1])),
    row(
        "arith.cmpf ult",
        "`notequal` of `greaterequal` and 1; true for NaN",
        |x| truth(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Greater | Ordering::Equal))),
        Run::Unordered("lesserthan"),
    ),
    compared("arith.cmpf ole", "lesserequal", |x| truth(x[0] <= x[1])),
    row(
        "arith.cmpf ule",
        "`notequal` of `greaterthan` and 1; true for NaN",
        |x| truth(!matches!(x[0].partial_cmp(&x[1]), Some(Ordering::Greater))),
        Run::Unordered("lesserequal"),
    ),
    row("arith.cmpf uno", "`notequal` of x and x", |x| truth(x[0].is_nan() || x[1].is_nan()), Run::Rule(recognize::unordered)),
    row("arith.cmpf ord", "`equal` of x and x", |x| truth(!(x[0].is_nan() || x[1].is_nan())), Run::Rule(recognize::ordered)),
    ScalarFunction {
        name: "arith.select",
        text: "`where3`; `maximum` or `minimum` of x > y ? x : y; the last step of a safe softmax",
        fold: Fold::Choice,
        run: Run::Rule(recognize::select),
    },
    function("math.absf", "abs", |x| x[0].abs()),
    row("math.ceil", "`neg`, `floor`, `neg`", |x| x[0].ceil(), Run::Rule(recognize::ceil)),
    row(
        "math.clampf",
        "`clip` with constants, otherwise `maximum` and `minimum`",
        |x| smaller(larger(x[0], x[1]), x[2]),
        Run::Rule(recognize::clamp),
    ),
    row(
        "math.erf",
        "part of `gelufwd`; otherwise the approximation of Abramowitz and Stegun (7.1.26)",
        |x| recognize::erf_of(x[0]),
        Run::Rule(recognize::erf),
    ),
    function("math.exp", "exp", |x| x[0].exp()),
    row("math.exp2", "`exp` of x ln 2", |x| x[0].exp2(), Run::Rule(recognize::exp2)),
    row("math.expm1", "`exp`, `sub`", |x| x[0].exp_m1(), Run::Rule(recognize::expm1)),
    function("math.floor", "floor", |x| x[0].floor()),
    row("math.fma", "`mul`, `add`", |x| x[0] * x[1] + x[2], Run::Rule(recognize::fma)),
    row("math.fpowi", "`mul`, `reciprocal`; the exponent must be a constant", |x| x[0].powf(x[1]), Run::Rule(powers::power)),
    row("math.log", "`log`; the last step of `softplus`", |x| x[0].ln(), Run::Rule(recognize::log)),
    row("math.log1p", "`log` of 1 + x; the last step of `softplus`", |x| x[0].ln_1p(), Run::Rule(recognize::log1p)),
    row("math.log2", "`log`, `mul`", |x| x[0].log2(), Run::Rule(recognize::log2)),
    row(
        "math.powf",
        "`mul`, `sqrt`, `rsqrt`, `reciprocal` for constant exponents; otherwise `exp` of a multiple of `log`, and NaN for negative bases",
        |x| x[0].powf(x[1]),
        Run::Rule(powers::power),
    ),
    function("math.rsqrt", "rsqrt", |x| 1.0 / x[0].sqrt()),
    function("math.sqrt", "sqrt", |x| x[0].sqrt()),
    function("math.tanh", "tanh", |x| x[0].tanh()),
    row(
        "math.sin",
        "range reduction and a polynomial; NaN beyond 1024, in f32 beyond 131072",
        |x| x[0].sin(),
        Run::Rule(trigonometry::sin),
    ),
    row(
        "math.cos",
        "range reduction and a polynomial; NaN beyond 1024, in f32 beyond 131072",
        |x| x[0].cos(),
        Run::Rule(trigonometry::cos),
    ),
    row("math.tan", "sine divided by cosine", |x| x[0].tan(), Run::Rule(angles::tan)),
    row("math.atan", ANGLE, |x| x[0].atan(), Run::Rule(angles::atan)),
    row("math.atan2", ANGLE, |x| x[0].atan2(x[1]), Run::Rule(angles::atan2)),
    row("math.asin", "`sqrt` of (1 - x) (1 + x), then like `math.atan2`", |x| x[0].asin(), Run::Rule(angles::asin)),
    row("math.acos", "like `math.asin`", |x| x[0].acos(), Run::Rule(angles::acos)),
    row("math.asinh", "`sqrt`, `log`", |x| x[0].asinh(), Run::Rule(angles::asinh)),
    row("math.acosh", "`sqrt`, `log`", |x| x[0].acosh(), Run::Rule(angles::acosh)),
    row("math.atanh", "`realdiv`, `log`", |x| x[0].atanh(), Run::Rule(angles::atanh)),
    row("math.erfc", "1 + erf(-x)", |x| 1.0 - recognize::erf_of(x[0]), Run::Rule(angles::erfc)),
    row("math.round", "`floor`, plus 1 if the remainder exceeds a half", |x| x[0].round(), Run::Rule(steps::round)),
    row("math.roundeven", "`floor`, plus 1 if the remainder exceeds a half", |x| x[0].round_ties_even(), Run::Rule(steps::round_even)),
    row("math.trunc", "`floor` of the magnitude, with the sign", |x| x[0].trunc(), Run::Rule(steps::trunc)),
    row("math.copysign", "`abs`, `neg`, `where3`", |x| x[0].copysign(x[1]), Run::Rule(steps::copy_sign)),
    row("math.sinh", "`exp`s", |x| x[0].sinh(), Run::Rule(powers::sinh)),
    row("math.cosh", "`exp`s", |x| x[0].cosh(), Run::Rule(powers::cosh)),
    row("math.log10", "`log`, `mul`", |x| x[0].log10(), Run::Rule(powers::log10)),
    row("math.cbrt", "`exp` of a third of the `log`", |x| x[0].cbrt(), Run::Rule(powers::cbrt)),
    bitwise("arith.andi", "`mul` of truth values", recognize::and),
    bitwise("arith.ori", "`maximum` of truth values", recognize::or),
    bitwise("arith.xori", "`notequal` of truth values", recognize::xor),
    ScalarFunction {
        name: "arith.uitofp",
        text: "nothing, for a truth value; of a byte, 256 more where it is negative",
        fold: Fold::ToNumber { is_signed: false },
        run: Run::Rule(recognize::number_of_truth),
    },
    ScalarFunction {
        name: "arith.sitofp",
        text: "`neg`, for a truth value",
        fold: Fold::ToNumber { is_signed: true },
        run: Run::Rule(recognize::negative_number_of_truth),
    },
    ScalarFunction { name: "arith.fptosi", text: "as `math.trunc`", fold: Fold::ToInteger { is_signed: true }, run: Run::Integer },
    ScalarFunction { name: "arith.fptoui", text: INTEGER, fold: Fold::ToInteger { is_signed: false }, run: Run::Integer },
    integer("math.absi"),
    integer("arith.addi"),
    integer("arith.subi"),
    integer("arith.muli"),
    integer("arith.divsi"),
    integer("arith.divui"),
    integer("arith.floordivsi"),
    integer("arith.ceildivsi"),
    integer("arith.ceildivui"),
    integer("arith.remsi"),
    integer("arith.remui"),
    integer("arith.maxsi"),
    integer("arith.maxui"),
    integer("arith.minsi"),
    integer("arith.minui"),
    integer("arith.shli"),
    integer("arith.shrsi"),
    integer("arith.shrui"),
    integer("arith.cmpi eq"),
    integer("arith.cmpi ne"),
    integer("arith.cmpi slt"),
    integer("arith.cmpi sle"),
    integer("arith.cmpi sgt"),
    integer("arith.cmpi sge"),
    integer("arith.cmpi ult"),
    integer("arith.cmpi ule"),
    integer("arith.cmpi ugt"),
    integer("arith.cmpi uge"),
    integer("arith.index_cast"),
    integer("arith.index_castui"),
    integer("arith.extsi"),
    integer("arith.extui"),
    integer("arith.trunci"),
];

impl ScalarFunction {
    /// Returns the operation of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        SCALAR_FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// Returns the lowering as the documentation shows it.
    #[must_use]
    pub fn becomes(&self) -> String {
        match self.run {
            Run::Function(function) | Run::Comparison(function) => format!("`{function}`"),
            Run::Unordered(_) | Run::Rule(_) | Run::Integer => self.text.to_owned(),
        }
    }

    /// Returns whether the operation on `inputs` reads integers of a runtime tensor that the device only uses to select rows.
    #[must_use]
    pub fn computes_indices(&self, graph: &Graph, inputs: &[NodeId]) -> bool {
        let is_known = inputs.iter().all(|&input| graph.known_of(input).is_some());
        let elements = graph.elements_of(inputs);
        // Constant integers that a condition selects from have no element type in `elements`.
        let chooses_integers = self.name == "arith.select" && inputs.iter().any(|&input| graph.node(input).element == Element::Int);
        !is_known && (matches!(self.run, Run::Integer) || elements.contains(&Element::Int) || chooses_integers)
    }

    /// Returns whether rounding an operand to a device format would change the result.
    fn is_transcendental(&self) -> bool {
        const STEPS: [&str; 10] = [
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
        self.name.starts_with("math.") && !STEPS.contains(&self.name)
    }

    /// Builds the node of the operation on `inputs`, with element type `element` unless an input is a runtime floating-point number.
    ///
    /// # Errors
    /// Returns the reason why the device cannot compute it.
    pub fn build(&'static self, graph: &mut Graph, inputs: &[NodeId], element: Element, widths: Widths) -> Result<NodeId, String> {
        if inputs.iter().all(|&input| graph.known_of(input).is_some()) {
            let folded = self.fold(graph, inputs, element, widths)?;
            return match folded.undefined {
                Some((_, reason)) => Err(reason.to_string()),
                None => Ok(graph.known(folded.known, folded.shape, element)),
            };
        }
        let of_rows = match (self.run, element) {
            (Run::Comparison(_) | Run::Unordered(_), _) => Element::Bool,
            // A lookup yields a number, regardless of its element type.
            (_, Element::Int) => graph.integers.element(),
            _ => element,
        };
        let of_table = if element == Element::Int { element } else { of_rows };
        if let Some(found) = rows::applied(graph, inputs, of_rows, |graph, tables| self.row_table(graph, tables, of_table, widths)) {
            if element == Element::Int && graph.known_of(found).is_none() {
                graph.note_integers(found);
            }
            return Ok(found);
        }
        if self.is_transcendental() {
            graph.want_rows_alone(inputs);
        }
        let elements = graph.elements_of(inputs);
        match self.run {
            Run::Function(function) => Ok(graph.pointwise(function, inputs, same(&elements)?)),
            Run::Comparison(function) => {
                same(&elements)?;
                Ok(graph.pointwise(function, inputs, Element::Bool))
            }
            Run::Unordered(function) => {
                same(&elements)?;
                Ok(unordered::comparison(graph, function, inputs))
            }
            Run::Rule(rule) => {
                let given = if element.is_float() { element } else { elements.first().copied().unwrap_or(element) };
                let element = elements.iter().copied().find(|element| element.is_float()).unwrap_or(given);
                rule(graph, inputs, element)
            }
            Run::Integer => {
                Err(codes::INTEGER_RUNTIME.says("is not supported on integers at runtime; compute it at compile time or on floats"))
            }
        }
    }

    /// Applies the operation to tables with one row per value of an index. A row without a value is one that no program may select.
    ///
    /// # Errors
    /// Returns an error if there are too many elements.
    pub(super) fn row_table(&self, graph: &mut Graph, tables: &[NodeId], element: Element, widths: Widths) -> Result<NodeId, String> {
        let Folded { known, shape, .. } = self.fold(graph, tables, element, widths)?;
        Ok(graph.known(known, shape, element))
    }

    /// Folds the operation on one integer per operand; returns None if there is no value.
    pub(super) fn fold_integers(&self, operands: &[i64], widths: Widths) -> Option<i64> {
        match self.fold {
            Fold::Integers => integer_function(self.name)?(operands, widths).ok(),
            Fold::Choice => operands.get(if operands[0] == 0 { 2 } else { 1 }).copied(),
            Fold::Numbers(_) | Fold::ToNumber { .. } | Fold::ToInteger { .. } => None,
        }
    }

    /// Folds the operation on constant operands, with elements of type `element`.
    ///
    /// # Errors
    /// Returns an error if there are too many elements.
    pub(in crate::import) fn fold(&self, graph: &Graph, inputs: &[NodeId], element: Element, widths: Widths) -> Result<Folded, String> {
        let shape = graph.broadcast_shape(inputs);
        let n_elements: i64 = shape.iter().product();
        if n_elements > MOST_KNOWN_ELEMENTS {
            return Err(too_many_known(n_elements));
        }
        let operands = known_operands(graph, inputs);
        let (mut position, mut undefined) = (0_usize, None);
        let mut integer = |found: Result<i64, Undefined>| {
            position += 1;
            match found {
                // A truth value is 0 or 1; as an integer of one bit, true is -1.
                Ok(found) => {
                    if element == Element::Bool {
                        found & 1
                    } else {
                        found
                    }
                }
                Err(reason) => {
                    let (places, _) = undefined.get_or_insert_with(|| (Vec::new(), reason));
                    places.push(position - 1);
                    0
                }
            }
        };
        let known = match self.fold {
            Fold::Numbers(evaluate) => Known::combined(&operands, &shape, evaluate),
            Fold::Integers => {
                let function = integer_function(self.name).ok_or_else(|| format!("'{}' is not folded", self.name))?;
                let mut own = vec![0; operands.len()];
                Known::combined_integers(&operands, &shape, |given| {
                    own.iter_mut().zip(given).for_each(|(own, &given)| *own = in_width(given, widths.operand));
                    integer(function(&own, widths))
                })
            }
            Fold::ToNumber { is_signed } => Known::numbers_of_integers(&operands, &shape, |given| {
                to_number(in_width(given[0], widths.operand), widths.operand, is_signed)
            }),
            Fold::ToInteger { is_signed } => {
                Known::integers_of_numbers(&operands, &shape, |given| integer(to_integer(given[0], widths.result, is_signed)))
            }
            Fold::Choice if element == Element::Int => {
                Known::combined_integers(&operands, &shape, |given| if given[0] == 0 { given[2] } else { given[1] })
            }
            Fold::Choice => Known::combined(&operands, &shape, |given| if given[0] == 0.0 { given[2] } else { given[1] }),
        };
        let undefined = undefined.map(|(places, reason)| {
            let mut is_undefined = vec![false; position];
            places.into_iter().for_each(|place| is_undefined[place] = true);
            (is_undefined, reason)
        });
        Ok(Folded { known, shape, undefined })
    }

    /// Returns numbers that were folded exactly, with those of the program where the exact ones are not finite. `round` rounds to the type
    /// of the result.
    pub(in crate::import) fn rounded_as_written(&self, graph: &Graph, inputs: &[NodeId], folded: Folded, round: fn(f64) -> f64) -> Folded {
        let Fold::Numbers(evaluate) = self.fold else { return folded };
        let (operands, may_cancel) = (known_operands(graph, inputs), matches!(self.name, "arith.addf" | "arith.subf"));
        let known = Known::rounded_as_written(folded.known, &operands, &folded.shape, (evaluate, may_cancel), round);
        Folded { known, ..folded }
    }
}

fn known_operands<'g>(graph: &'g Graph, inputs: &[NodeId]) -> Vec<(&'g Known, &'g [i64])> {
    inputs.iter().filter_map(|&input| Some((graph.known_of(input)?, graph.node(input).shape.as_slice()))).collect()
}

impl Graph {
    /// Builds an operation without a name in `linalg`, composed from others; its integers have 64 bits.
    pub(in crate::import) fn apply(&mut self, name: &str, inputs: &[NodeId], element: Element) -> Result<NodeId, String> {
        let function = ScalarFunction::named(name).ok_or_else(|| format!("'{name}' is not in the table of operations"))?;
        function.build(self, inputs, element, Widths::same(MAX_WIDTH))
    }

    /// Returns the inputs of a node that is this elementwise device function.
    pub(in crate::import) fn as_pointwise(&self, id: NodeId, function: &str) -> Option<&[NodeId]> {
        let node = self.node(id);
        matches!(node.kind, Kind::Pointwise(name, _) if name == function).then_some(node.inputs.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_stands_once() {
        for (position, function) in SCALAR_FUNCTIONS.iter().enumerate() {
            assert!(!SCALAR_FUNCTIONS[..position].iter().any(|other| other.name == function.name), "{}", function.name);
        }
    }

    #[test]
    fn every_integer_operation_is_folded() {
        for function in SCALAR_FUNCTIONS {
            assert!(!matches!(function.fold, Fold::Integers) || integer_function(function.name).is_some(), "{}", function.name);
        }
    }

    #[test]
    fn what_has_no_value_is_told_element_by_element() {
        let mut graph = Graph::default();
        let ten = graph.known(Known::integer(10), Vec::new(), Element::Int);
        let by = graph.known(Known::counting(0, 3), vec![3], Element::Int);
        let divide = ScalarFunction::named("arith.divsi").unwrap();
        let folded = divide.fold(&graph, &[ten, by], Element::Int, Widths::same(32)).unwrap();
        assert_eq!(folded.known.integers().collect::<Vec<_>>(), [0, 10, 5]);
        assert_eq!(folded.undefined, Some((vec![true, false, false], Undefined::DivisionByZero)));
        assert!(divide.build(&mut graph, &[ten, by], Element::Int, Widths::same(32)).is_err_and(|message| message.contains("by 0")));
    }

    #[test]
    fn known_operands_are_computed_at_once() {
        let mut graph = Graph::default();
        let (two, three) = (graph.number(2.0), graph.number(3.0));
        let power = graph.apply("math.powf", &[two, three], Element::F32).unwrap();
        assert_eq!(graph.number_of(power), Some(8.0));
        let sine = graph.apply("math.sin", &[two], Element::F32).unwrap();
        assert_eq!(graph.number_of(sine), Some(2.0_f64.sin()), "what the device lacks may be computed beforehand");
    }

    #[test]
    fn truth_is_minus_one_as_a_signed_number() {
        let mut graph = Graph::default();
        let truth = graph.known(Known::table(&[1.0, 0.0]), vec![2], Element::Bool);
        let numbers = |graph: &mut Graph, name| {
            let function = ScalarFunction::named(name).unwrap();
            let node = function.build(graph, &[truth], Element::F32, Widths { operand: 1, result: 32 }).unwrap();
            graph.known_of(node).unwrap().numbers().collect::<Vec<_>>()
        };
        assert_eq!(numbers(&mut graph, "arith.sitofp"), [-1.0, 0.0]);
        assert_eq!(numbers(&mut graph, "arith.uitofp"), [1.0, 0.0]);
    }

    #[test]
    fn run_time_values_need_a_device_function() {
        let mut graph = Graph::default();
        let x = graph.tensor(0, vec![64], Element::F16);
        assert!(graph.apply("arith.shli", &[x, x], Element::F16).unwrap_err().contains("runtime"));
        let y = graph.tensor(1, vec![64], Element::Bf16);
        assert_eq!(
            graph.apply("arith.cmpf ogt", &[x, y], Element::F16).unwrap_err(),
            "expected operands of one element type, found f16 and bf16; convert one of them"
        );
    }
}
