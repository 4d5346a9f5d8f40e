//! Operations on runtime integers: on numbers that the device's formats represent exactly, or as table rows if one
//! operand is an index.
//!
//! Sums, differences, products, comparisons and selects are exact if the numbers fit in the significand of the format;
//! the range of an integer argument (`range.rs`) ensures that. Other operations are looked up.

use super::{
    digit_arithmetic, digits,
    fold::IntegerWidths,
    functions::ScalarFunction,
    quotients, recognize, rounding,
    rule_helpers::{NodeResult, neg},
};
use crate::{
    codes,
    import::graph::{NodeElementType, NodeId, ValueGraph, table_lookup},
};

/// Lowers an operation whose operands or result are integers. `element` is the element type of a result that is not an
/// integer.
///
/// # Errors
/// Returns the reason why the operation cannot be computed.
pub(in crate::import) fn build_integer_op(
    graph: &mut ValueGraph,
    function: &'static ScalarFunction,
    inputs: &[NodeId],
    element: NodeElementType,
    widths: IntegerWidths,
) -> NodeResult {
    let digits = inputs.iter().copied().find(|&input| graph.find_digits(input).is_some());
    if let Some(digits) = digits {
        // The digits' node holds the rejection of uses that digits do not support.
        let rejected = graph.required_inputs(digits)[0];
        let exact = |graph: &mut ValueGraph, integers: &[NodeId]| {
            build_integer_op(graph, function, integers, element, widths).ok()
        };
        let found =
            digit_arithmetic::build_digit_op(graph, function.name, inputs, (element, widths.result), rejected, exact);
        return found.ok_or_else(|| codes::INTEGER_RANGE.format(DIGIT_OP_MESSAGE));
    }
    let is_truth: Vec<bool> = inputs.iter().map(|&input| graph.node(input).element == NodeElementType::Bool).collect();
    let mut numbers = Vec::with_capacity(inputs.len());
    for (position, &input) in inputs.iter().enumerate() {
        // A select keeps its condition.
        let is_condition = position == 0 && function.name == "arith.select";
        let number = if is_condition { Ok(input) } else { graph.convert_to_numbers(input) };
        numbers.push(number.map_err(|_| RUNTIME_INTEGER_MESSAGE.to_owned())?);
    }
    let as_numbers = graph.integers.element();
    let of_rows = if element == NodeElementType::Int { as_numbers } else { element };
    let looked_up = table_lookup::apply_to_tables(graph, &numbers, of_rows, |graph, tables| {
        function.fold_tables(graph, tables, element, widths)
    });
    let built = match looked_up {
        Some(found) => found,
        None if element == NodeElementType::Int
            && let Some(chosen) = quotients::fold_select_operands(
                graph,
                &numbers,
                |known| function.fold_integers(known, widths),
                as_numbers,
            ) =>
        {
            chosen
        }
        None if is_truth[0] && function.name != "arith.select" => {
            build_truth_op(graph, function.name, inputs, &numbers, as_numbers)?
        }
        None => build_number_op(graph, function.name, &numbers, as_numbers, (element, widths)).inspect_err(|_| {
            numbers.iter().for_each(|&number| graph.require_table(number));
        })?,
    };
    if element == NodeElementType::Int && graph.as_constant(built).is_none() {
        graph.record_integers(built);
    }
    Ok(built)
}

/// Message that rejects an operation on integers that are represented by digits.
const DIGIT_OP_MESSAGE: &str = "computes with integers above 1024, which the 16-bit format stores as two digits: expected a sum, a difference, a \
                         comparison, a select, or integers of a wider type; reduce a smaller dimension, or compute in f32";

/// Message that rejects an operation on runtime integers.
const RUNTIME_INTEGER_MESSAGE: &str =
    "of runtime integers is not supported; compute them outside of the program, or from constants";

/// Converts a byte whose bits are stored as signed to its unsigned number, 0 to 255, as an element of a type.
///
/// # Errors
/// Returns an error if the device does not compute with it, or the type does not represent the number.
pub(in crate::import) fn convert_unsigned_byte(
    graph: &mut ValueGraph,
    function: &'static ScalarFunction,
    signed: NodeId,
    element: NodeElementType,
    widths: IntegerWidths,
) -> NodeResult {
    let number = graph.convert_to_numbers(signed).map_err(|_| RUNTIME_INTEGER_MESSAGE.to_owned())?;
    let as_numbers = graph.integers.element();
    if table_lookup::as_lookup(graph, number).is_some() {
        return build_integer_op(graph, function, &[signed], element, widths);
    }
    if element != NodeElementType::Int && element != as_numbers {
        return Err(RUNTIME_INTEGER_MESSAGE.to_owned());
    }
    let (zero, all) = (graph.add_scalar(0.0), graph.add_scalar(256.0));
    let is_negative = graph.add_pointwise("lesserthan", &[number, zero], NodeElementType::Bool);
    let turned = graph.add_pointwise("add", &[number, all], as_numbers);
    let byte = graph.add_pointwise("where3", &[is_negative, turned, number], as_numbers);
    graph.record_integers(byte);
    Ok(byte)
}

/// Builds an operation on truth values as integers of one bit, where true is -1 if signed and 1 if unsigned.
fn build_truth_op(
    graph: &mut ValueGraph,
    name: &str,
    truths: &[NodeId],
    numbers: &[NodeId],
    as_numbers: NodeElementType,
) -> NodeResult {
    let function = match name {
        "arith.extui" | "arith.uitofp" | "arith.index_castui" => return Ok(numbers[0]),
        "arith.extsi" | "arith.sitofp" | "arith.index_cast" => return neg(graph, numbers, as_numbers),
        "arith.addi" | "arith.subi" | "arith.cmpi ne" => "notequal",
        "arith.muli" | "arith.maxsi" | "arith.minui" => "mul",
        "arith.minsi" | "arith.maxui" => "maximum",
        "arith.cmpi eq" => "equal",
        "arith.cmpi ult" | "arith.cmpi sgt" => "lesserthan",
        "arith.cmpi ule" | "arith.cmpi sge" => "lesserequal",
        "arith.cmpi ugt" | "arith.cmpi slt" => "greaterthan",
        "arith.cmpi uge" | "arith.cmpi sle" => "greaterequal",
        _ => return Err(RUNTIME_INTEGER_MESSAGE.to_owned()),
    };
    Ok(graph.add_pointwise(function, truths, NodeElementType::Bool))
}

fn build_number_op(
    graph: &mut ValueGraph,
    name: &str,
    numbers: &[NodeId],
    as_numbers: NodeElementType,
    (element, widths): (NodeElementType, IntegerWidths),
) -> NodeResult {
    if let Some(found) = digits::compare_by_digits(graph, name, numbers) {
        return Ok(found);
    }
    if let Some(found) = quotients::build_division(graph, name, numbers, as_numbers)
        .or_else(|| quotients::build_shift(graph, name, numbers, as_numbers, widths.result))
    {
        return found;
    }
    if let Some(predicate) = name.strip_prefix("arith.cmpi ") {
        return compare_integers(graph, predicate, numbers);
    }
    if let ("arith.maxui" | "arith.minui", Some((x, negative))) = (name, split_negative_operand(graph, numbers)) {
        let is_below = compare_with_negative(graph, "ult", x, negative);
        let [chosen, other] = if name == "arith.minui" { [x, negative] } else { [negative, x] };
        return recognize::select(graph, &[is_below, chosen, other], as_numbers);
    }
    if matches!(name, "arith.maxui" | "arith.minui" | "arith.extui" | "arith.uitofp" | "arith.index_castui") {
        quotients::require_unsigned(graph, numbers)?;
    }
    let found = match name {
        "arith.addi" => recognize::add(graph, numbers, as_numbers)?,
        "arith.subi" => recognize::sub(graph, numbers, as_numbers)?,
        "arith.muli" => recognize::mul(graph, numbers, as_numbers)?,
        "arith.maxsi" | "arith.maxui" => return recognize::maximum(graph, numbers, as_numbers),
        "arith.minsi" | "arith.minui" => return recognize::minimum(graph, numbers, as_numbers),
        "arith.select" => return recognize::select(graph, numbers, as_numbers),
        "math.absi" => graph.add_pointwise("abs", numbers, as_numbers),
        "arith.extsi" => return Ok(numbers[0]),
        "arith.index_cast" | "arith.index_castui" | "arith.trunci" | "arith.extui"
            if element != NodeElementType::Bool =>
        {
            numbers[0]
        }
        "arith.sitofp" | "arith.uitofp" if element == as_numbers => return Ok(numbers[0]),
        "arith.fptosi" if element != NodeElementType::Bool => return rounding::trunc(graph, numbers, as_numbers),
        _ => return Err(RUNTIME_INTEGER_MESSAGE.to_owned()),
    };
    if widths.result < widths.operand || !name.starts_with("arith.index_cast") && name != "arith.extui" {
        graph.record_width(found, widths.result);
    }
    Ok(found)
}

/// Builds a comparison of integers, by its predicate.
fn compare_integers(graph: &mut ValueGraph, predicate: &str, numbers: &[NodeId]) -> NodeResult {
    let function = digits::comparison_function(predicate);
    if !predicate.starts_with('u') {
        return Ok(graph.add_pointwise(function, numbers, NodeElementType::Bool));
    }
    let Some((x, negative)) = split_negative_operand(graph, numbers) else {
        quotients::require_unsigned(graph, numbers)?;
        return Ok(graph.add_pointwise(function, numbers, NodeElementType::Bool));
    };
    let predicate = match predicate {
        _ if numbers[1] == negative => predicate,
        "ult" => "ugt",
        "ule" => "uge",
        "ugt" => "ult",
        _ => "ule",
    };
    Ok(compare_with_negative(graph, predicate, x, negative))
}

/// Returns the operands of a binary operation of which exactly one is a negative constant: the other one, and the
/// constant.
fn split_negative_operand(graph: &ValueGraph, numbers: &[NodeId]) -> Option<(NodeId, NodeId)> {
    let &[one, other] = numbers else { return None };
    let is_negative = |id: NodeId| graph.as_integer_scalar(id).is_some_and(|number| number < 0);
    match [one, other].map(is_negative) {
        [false, true] => Some((one, other)),
        [true, false] => Some((other, one)),
        _ => None,
    }
}

/// Builds the unsigned comparison of a number with a negative constant: as unsigned numbers, nonnegative integers are
/// below negative ones, and negative ones keep their order.
fn compare_with_negative(graph: &mut ValueGraph, predicate: &str, x: NodeId, negative: NodeId) -> NodeId {
    let zero = graph.add_scalar(0.0);
    let is_below = predicate.starts_with("ul");
    let sign =
        graph.add_pointwise(if is_below { "greaterequal" } else { "lesserthan" }, &[x, zero], NodeElementType::Bool);
    let ordered = graph.add_pointwise(digits::comparison_function(predicate), &[x, negative], NodeElementType::Bool);
    graph.add_pointwise(if is_below { "maximum" } else { "mul" }, &[sign, ordered], NodeElementType::Bool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::NodeKind;

    #[test]
    fn treats_signed_true_as_minus_one() {
        let mut graph = ValueGraph::default();
        let truths = [0, 1].map(|number| graph.add_tensor(number, vec![4], NodeElementType::Bool));
        let mut build = |name: &str| {
            let function = ScalarFunction::from_name(name).unwrap();
            let node =
                build_integer_op(&mut graph, function, &truths, NodeElementType::Bool, IntegerWidths::uniform(1))
                    .unwrap();
            graph.node(node).kind.clone()
        };
        for (name, function) in [
            ("arith.cmpi slt", "greaterthan"),
            ("arith.cmpi ult", "lesserthan"),
            ("arith.addi", "notequal"),
            ("arith.maxsi", "mul"),
            ("arith.maxui", "maximum"),
        ] {
            assert_eq!(build(name), NodeKind::Pointwise(function, Vec::new()), "{name}");
        }
    }
}
