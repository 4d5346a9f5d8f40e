//! Operations on runtime integers: on numbers that the device's formats represent exactly, or as table rows if one operand is an index.
//!
//! Sums, differences, products, comparisons and selects are exact if the numbers fit in the significand of the format; the range of an
//! integer argument (`range.rs`) ensures that. Other operations are looked up.

use super::{
    digit_arithmetic, digits,
    fold::Widths,
    functions::ScalarFunction,
    plain::{Built, neg},
    quotients, recognize, steps,
};
use crate::{
    codes,
    import::graph::{Element, Graph, NodeId, rows},
};

/// Lowers an operation whose operands or result are integers. `element` is the element type of a result that is not an
/// integer.
///
/// # Errors
/// Returns the reason why the operation cannot be computed.
pub(in crate::import) fn computed(
    graph: &mut Graph,
    function: &'static ScalarFunction,
    inputs: &[NodeId],
    element: Element,
    widths: Widths,
) -> Built {
    let digits = inputs.iter().copied().find(|&input| graph.digits_of(input).is_some());
    if let Some(digits) = digits {
        // Another use than the digits allow is rejected where they are made.
        let refused = graph.needs(digits)[0];
        let exact = |graph: &mut Graph, integers: &[NodeId]| computed(graph, function, integers, element, widths).ok();
        let found = digit_arithmetic::computed(graph, function.name, inputs, (element, widths.result), refused, exact);
        return found.ok_or_else(|| codes::INTEGER_RANGE.says(ON_DIGITS));
    }
    let is_truth: Vec<bool> = inputs.iter().map(|&input| graph.node(input).element == Element::Bool).collect();
    let mut numbers = Vec::with_capacity(inputs.len());
    for (position, &input) in inputs.iter().enumerate() {
        // A select keeps its condition.
        let is_condition = position == 0 && function.name == "arith.select";
        let number = if is_condition { Ok(input) } else { graph.numbers_of(input) };
        numbers.push(number.map_err(|_| AT_RUN_TIME.to_owned())?);
    }
    let as_numbers = graph.integers.element();
    let of_rows = if element == Element::Int { as_numbers } else { element };
    let looked_up = rows::applied(graph, &numbers, of_rows, |graph, tables| function.row_table(graph, tables, element, widths));
    let built = match looked_up {
        Some(found) => found,
        None if element == Element::Int
            && let Some(chosen) = quotients::of_choice(graph, &numbers, |known| function.fold_integers(known, widths), as_numbers) =>
        {
            chosen
        }
        None if is_truth[0] && function.name != "arith.select" => on_truths(graph, function.name, inputs, &numbers, as_numbers)?,
        None => on_numbers(graph, function.name, &numbers, as_numbers, (element, widths)).inspect_err(|_| {
            numbers.iter().for_each(|&number| graph.want_rows(number));
        })?,
    };
    if element == Element::Int && graph.known_of(built).is_none() {
        graph.note_integers(built);
    }
    Ok(built)
}

/// Reason to reject an operation on integers that are known by their digits.
const ON_DIGITS: &str = "computes with integers above 1024, which the 16-bit format stores as two digits: expected a sum, a difference, a \
                         comparison, a select, or integers of a wider type; reduce a smaller dimension, or compute in f32";

/// Returns the reason to reject an operation on runtime integers.
const AT_RUN_TIME: &str = "of runtime integers is not supported; compute them outside of the program, or from constants";

/// Converts a byte whose bits are stored as signed to its unsigned number, 0 to 255, as an element of a type.
///
/// # Errors
/// Returns an error if the device does not compute with it, or the type does not represent the number.
pub(in crate::import) fn byte(
    graph: &mut Graph,
    function: &'static ScalarFunction,
    signed: NodeId,
    element: Element,
    widths: Widths,
) -> Built {
    let number = graph.numbers_of(signed).map_err(|_| AT_RUN_TIME.to_owned())?;
    let as_numbers = graph.integers.element();
    if rows::parts(graph, number).is_some() {
        return computed(graph, function, &[signed], element, widths);
    }
    if element != Element::Int && element != as_numbers {
        return Err(AT_RUN_TIME.to_owned());
    }
    let (zero, all) = (graph.number(0.0), graph.number(256.0));
    let is_negative = graph.pointwise("lesserthan", &[number, zero], Element::Bool);
    let turned = graph.pointwise("add", &[number, all], as_numbers);
    let byte = graph.pointwise("where3", &[is_negative, turned, number], as_numbers);
    graph.note_integers(byte);
    Ok(byte)
}

/// Builds an operation on truth values as integers of one bit, of which a true one is -1 when signed and 1 when unsigned.
fn on_truths(graph: &mut Graph, name: &str, truths: &[NodeId], numbers: &[NodeId], as_numbers: Element) -> Built {
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
        _ => return Err(AT_RUN_TIME.to_owned()),
    };
    Ok(graph.pointwise(function, truths, Element::Bool))
}

fn on_numbers(graph: &mut Graph, name: &str, numbers: &[NodeId], as_numbers: Element, (element, widths): (Element, Widths)) -> Built {
    if let Some(found) = digits::compared(graph, name, numbers) {
        return Ok(found);
    }
    if let Some(found) =
        quotients::divided(graph, name, numbers, as_numbers).or_else(|| quotients::shifted(graph, name, numbers, as_numbers, widths.result))
    {
        return found;
    }
    if let Some(predicate) = name.strip_prefix("arith.cmpi ") {
        return compared(graph, predicate, numbers);
    }
    if let ("arith.maxui" | "arith.minui", Some((x, negative))) = (name, with_negative(graph, numbers)) {
        let is_below = compared_with_negative(graph, "ult", x, negative);
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
        "math.absi" => graph.pointwise("abs", numbers, as_numbers),
        "arith.extsi" => return Ok(numbers[0]),
        "arith.index_cast" | "arith.index_castui" | "arith.trunci" | "arith.extui" if element != Element::Bool => numbers[0],
        "arith.sitofp" | "arith.uitofp" if element == as_numbers => return Ok(numbers[0]),
        "arith.fptosi" if element != Element::Bool => return steps::trunc(graph, numbers, as_numbers),
        _ => return Err(AT_RUN_TIME.to_owned()),
    };
    if widths.result < widths.operand || !name.starts_with("arith.index_cast") && name != "arith.extui" {
        graph.note_width(found, widths.result);
    }
    Ok(found)
}

/// Builds a comparison of integers, by its predicate.
fn compared(graph: &mut Graph, predicate: &str, numbers: &[NodeId]) -> Built {
    let function = digits::comparison(predicate);
    if !predicate.starts_with('u') {
        return Ok(graph.pointwise(function, numbers, Element::Bool));
    }
    let Some((x, negative)) = with_negative(graph, numbers) else {
        quotients::require_unsigned(graph, numbers)?;
        return Ok(graph.pointwise(function, numbers, Element::Bool));
    };
    let predicate = match predicate {
        _ if numbers[1] == negative => predicate,
        "ult" => "ugt",
        "ule" => "uge",
        "ugt" => "ult",
        _ => "ule",
    };
    Ok(compared_with_negative(graph, predicate, x, negative))
}

/// Returns the operands of a binary operation of which exactly one is a negative constant: the other one, and the constant.
fn with_negative(graph: &Graph, numbers: &[NodeId]) -> Option<(NodeId, NodeId)> {
    let &[one, other] = numbers else { return None };
    let is_negative = |id: NodeId| graph.integer_of(id).is_some_and(|number| number < 0);
    match [one, other].map(is_negative) {
        [false, true] => Some((one, other)),
        [true, false] => Some((other, one)),
        _ => None,
    }
}

/// Builds the unsigned comparison of a number with a negative constant: as unsigned numbers, nonnegative integers are below negative ones,
/// and negative ones keep their order.
fn compared_with_negative(graph: &mut Graph, predicate: &str, x: NodeId, negative: NodeId) -> NodeId {
    let zero = graph.number(0.0);
    let is_below = predicate.starts_with("ul");
    let sign = graph.pointwise(if is_below { "greaterequal" } else { "lesserthan" }, &[x, zero], Element::Bool);
    let ordered = graph.pointwise(digits::comparison(predicate), &[x, negative], Element::Bool);
    graph.pointwise(if is_below { "maximum" } else { "mul" }, &[sign, ordered], Element::Bool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::Kind;

    #[test]
    fn a_true_bit_is_minus_one_with_a_sign() {
        let mut graph = Graph::default();
        let truths = [0, 1].map(|number| graph.tensor(number, vec![4], Element::Bool));
        let mut build = |name: &str| {
            let function = ScalarFunction::named(name).unwrap();
            let node = computed(&mut graph, function, &truths, Element::Bool, Widths::same(1)).unwrap();
            graph.node(node).kind.clone()
        };
        for (name, function) in [
            ("arith.cmpi slt", "greaterthan"),
            ("arith.cmpi ult", "lesserthan"),
            ("arith.addi", "notequal"),
            ("arith.maxsi", "mul"),
            ("arith.maxui", "maximum"),
        ] {
            assert_eq!(build(name), Kind::Pointwise(function, Vec::new()), "{name}");
        }
    }
}
