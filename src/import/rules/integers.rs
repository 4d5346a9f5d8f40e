//! Operations on integers of run time: in numbers that the device's formats hold exactly, or as rows of a table where one of them is an index.
//!
//! Sums, differences, products, comparisons and choices are as exact on the device as the numbers fit in the significand of the format; that they
//! do is worked out from the range that the integers of an argument must keep to (`range.rs`). Other operations are looked up.

use super::{
    digits,
    functions::ScalarFunction,
    index::decided,
    plain::{Built, neg},
    quotients, recognize, steps,
};
use crate::import::graph::{Element, Graph, NodeId, known::Known, rows};

/// What computes an operation of which operands or the result are integers; its element is `element`, if that is no integer.
///
/// # Errors
/// Why nothing does.
pub(in crate::import) fn computed(graph: &mut Graph, function: &'static ScalarFunction, inputs: &[NodeId], element: Element) -> Built {
    // Another type of integers has the same digits.
    if let &[integer] = inputs
        && graph.digits_of(integer).is_some()
        && element == Element::Int
        && matches!(function.name, "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "arith.trunci")
    {
        return Ok(integer);
    }
    // What is known by its digits only is compared at compile time, where that can be.
    if inputs.iter().any(|&input| graph.digits_of(input).is_some())
        && let Some(truth) = decided(graph, function.name, inputs)
    {
        return Ok(graph.known(Known::table(&[f64::from(u8::from(truth))]), Vec::new(), Element::Bool));
    }
    let is_truth: Vec<bool> = inputs.iter().map(|&input| graph.node(input).element == Element::Bool).collect();
    let mut numbers = Vec::with_capacity(inputs.len());
    for (position, &input) in inputs.iter().enumerate() {
        // A choice keeps its condition.
        let is_condition = position == 0 && function.name == "arith.select";
        let number = if is_condition { Ok(input) } else { graph.numbers_of(input) };
        if let (Err(refused), Some(_)) = (&number, graph.digits_of(input)) {
            return Ok(*refused);
        }
        numbers.push(number.map_err(|_| "computes integers of a run-time value: not supported yet".to_owned())?);
    }
    let as_numbers = graph.integers.element();
    let of_table = if element == Element::Int { as_numbers } else { element };
    let looked_up = rows::applied(graph, &numbers, of_table, |graph, tables| function.build(graph, tables, of_table));
    let built = match looked_up {
        Some(found) => found,
        None if element == Element::Int
            && let Some(chosen) = quotients::of_choice(graph, &numbers, function.evaluate, as_numbers) =>
        {
            chosen
        }
        None => on_numbers(graph, function.name, &numbers, &is_truth, as_numbers, element).inspect_err(|_| {
            numbers.iter().for_each(|&number| graph.want_rows(number));
        })?,
    };
    if element == Element::Int {
        graph.note_integers(built);
    }
    Ok(built)
}

/// Known integers of `width` bits as the numbers without a sign that have the same bits.
pub(in crate::import) fn without_sign(graph: &mut Graph, id: NodeId, width: u32) -> NodeId {
    let Some(known) = graph.known_of(id).cloned() else { return id };
    if known.numbers().all(|number| number >= 0.0) {
        return id;
    }
    let (shape, element) = (graph.node(id).shape.clone(), graph.node(id).element);
    let turned = Known::combined(&[(&known, &shape)], &shape, |x| if x[0] < 0.0 { x[0] + 2_f64.powi(width.cast_signed()) } else { x[0] });
    graph.known(turned, shape, element)
}

/// The number of a byte that stands for 0 to 255, where its bits are those of a signed one: as an element of a type.
///
/// # Errors
/// If it is nothing that the device computes with, or no number in that type.
pub(in crate::import) fn byte(graph: &mut Graph, signed: NodeId, element: Element) -> Built {
    let number = graph.numbers_of(signed).map_err(|_| "computes integers of a run-time value: not supported yet".to_owned())?;
    let as_numbers = graph.integers.element();
    if element != Element::Int && element != as_numbers {
        return Err("computes integers of a run-time value: not supported yet".to_owned());
    }
    let (zero, all) = (graph.number(0.0), graph.number(256.0));
    let is_negative = graph.pointwise("lesserthan", &[number, zero], Element::Bool);
    let turned = graph.pointwise("add", &[number, all], as_numbers);
    let byte = graph.pointwise("where3", &[is_negative, turned, number], as_numbers);
    graph.note_integers(byte);
    Ok(byte)
}

fn on_numbers(graph: &mut Graph, name: &str, numbers: &[NodeId], is_truth: &[bool], as_numbers: Element, element: Element) -> Built {
    if let Some(found) = digits::compared(graph, name, numbers) {
        return Ok(found);
    }
    if let Some(found) =
        quotients::divided(graph, name, numbers, as_numbers).or_else(|| quotients::shifted(graph, name, numbers, as_numbers))
    {
        return found;
    }
    let compared = |graph: &mut Graph, function| Ok(graph.pointwise(function, numbers, Element::Bool));
    match name {
        "arith.addi" => recognize::add(graph, numbers, as_numbers),
        "arith.subi" => recognize::sub(graph, numbers, as_numbers),
        "arith.muli" => recognize::mul(graph, numbers, as_numbers),
        "arith.maxsi" => recognize::maximum(graph, numbers, as_numbers),
        "arith.minsi" => recognize::minimum(graph, numbers, as_numbers),
        "arith.select" => recognize::select(graph, numbers, as_numbers),
        "arith.index_cast" => Ok(numbers[0]),
        "arith.extui" | "arith.uitofp" | "arith.index_castui" if is_truth[0] => Ok(numbers[0]),
        // As a signed integer of one bit, true is -1.
        "arith.extsi" | "arith.sitofp" if is_truth[0] => neg(graph, numbers, as_numbers),
        "arith.extsi" => Ok(numbers[0]),
        "arith.trunci" if element != Element::Bool => Ok(numbers[0]),
        "arith.sitofp" if element == as_numbers => Ok(numbers[0]),
        "arith.fptosi" => steps::trunc(graph, numbers, as_numbers),
        "math.absi" => Ok(graph.pointwise("abs", numbers, as_numbers)),
        "arith.cmpi eq" => compared(graph, "equal"),
        "arith.cmpi ne" => compared(graph, "notequal"),
        "arith.cmpi slt" => compared(graph, "lesserthan"),
        "arith.cmpi sle" => compared(graph, "lesserequal"),
        "arith.cmpi sgt" => compared(graph, "greaterthan"),
        "arith.cmpi sge" => compared(graph, "greaterequal"),
        "arith.cmpi ult" | "arith.cmpi ule" | "arith.cmpi ugt" | "arith.cmpi uge" => {
            numbers.iter().for_each(|&number| graph.note_unsigned(number));
            compared(
                graph,
                match name.rsplit(' ').next() {
                    Some("ult") => "lesserthan",
                    Some("ule") => "lesserequal",
                    Some("ugt") => "greaterthan",
                    _ => "greaterequal",
                },
            )
        }
        _ => Err("computes integers of a run-time value: not supported yet".to_owned()),
    }
}
